/**
 * Numbers, texts and lengths that a call brings: constants of the trace, guarded, until a later call has brought others.
 * Invariant: a value that differs has a version for each of few values, and one for all others.
 */
import { breakGraph } from "../break_reasons.ts";
import { isSmallInteger } from "../../sym/integers.ts";
import type { SizeSource } from "../../sym/size_guards.ts";
import type { ChangeHistory, DynamicMode } from "../cache/automatic_dynamic.ts";
import { saidOf } from "../cache/dynamic_sources.ts";
import { leafKey } from "../guards/text.ts";
import { isAtIndex, isKnown, type Source, sourceText } from "../source.ts";
import type { OutputGraph } from "../trace/output_graph.ts";
import { hostText } from "./host_number.ts";
import { COUNTED_AS, kindOf, type ManyKinds, manyVersionsText, mostVersions } from "./many_versions.ts";
import { NumberValue } from "./number_value.ts";
import { constant, type Passed, PassedValue, type Primitive, type Value } from "./value.ts";

/** Settings and history that decide whether a value may differ between calls. */
export interface ChangeSettings {
  /** Returns whether the graph may end here, before the function does. */
  readonly mayBreak: () => boolean;
  readonly dynamic: DynamicMode;
  readonly history: ChangeHistory;
}

/** Makes values of primitives that a call brings. */
export class ChangingValues {
  constructor(private readonly output: OutputGraph, private readonly settings: ChangeSettings) {}

  /** A value that is the same in all calls. */
  constant(value: Primitive, source: Source): Value {
    this.output.guard({ kind: "constant", source, value });
    return constant(value);
  }

  /** Records the length of a list; returns whether earlier calls had another one. */
  lengthChanges(length: number, place: Source): boolean {
    // Caching the answer requires looking for the place
    this.output.rememberSource(place);
    return this.settings.history.numberChanges(place.name, length) === true;
  }

  /** The length of a list, if it differs between calls; null: it is a constant. */
  changingLength(length: number, place: Source): NumberValue | null {
    const { dynamic, history } = this.settings;
    if (!this.lengthChanges(length, place) || dynamic === "never") return null;
    if (length < 2 || history.isFixed(place.name)) return null;
    const value = this.number(length, place);
    return value.kind === "number" ? value : null;
  }

  /** Returns whether many versions have been specialised to values of a number. */
  hasMany({ expression, hint }: NumberValue): boolean {
    const computation = hostText(expression, leafKey);
    return this.needsMany(computation, hint);
  }

  /** A number: a constant until a call has passed another one. */
  number(value: number, source: Source): Value {
    const { dynamic, history } = this.settings;
    if (source.kind === "known") return this.constant(value, source);
    const said = saidOf(sourceText(source), null, value);
    if (said === "static" || (dynamic === "never" && said !== "dynamic")) {
      return this.constant(value, source);
    }
    const change = history.numberChanges(source.name, value),
      isOther = change !== false && change !== "alike";
    const variesAsSize = isOther || said !== null || dynamic === "always" || isAtIndex(source);
    if (history.isFixed(source.name)) return this.constant(value, source);
    const { output } = this, expression = { kind: "source", source } as const;
    if (isSmallInteger(value)) {
      if (!variesAsSize && change === false) return this.constant(value, source);
      output.rememberSource(source);
      const create = () => {
        output.guard({ kind: "integer", source });
        const place: SizeSource = { base: source.name, part: { kind: "value" } };
        return output.integers.create(place, { hint: value, variesAsSize });
      };
      const integer = change === "fraction" ? null : create();
      if (integer === null) output.guard({ kind: "type", source, type: "number" });
      const dim = () => output.integers.asSize(integer ?? create());
      return new NumberValue(expression, value, dim, { integer });
    }
    const changes = change !== false || said !== null || isAtIndex(source);
    if (!changes || Number.isNaN(value)) return this.constant(value, source);
    output.guard({ kind: "type", source, type: "number" });
    return new NumberValue(expression, value, null);
  }

  /**
   * A string, symbol, truth value or bigint that has differed between calls; null: it has been the same so far, and is a
   * constant.
   */
  passed(value: Passed, source: Source): PassedValue | null {
    const { dynamic, history } = this.settings;
    if (isKnown(source) || dynamic === "never") return null;
    // Caching the answer requires looking for the place
    this.output.rememberSource(source);
    if (history.numberChanges(source.name, value) === false && !isAtIndex(source)) return null;
    const made = new PassedValue(value, { kind: "source", source }, (mayEnd) => {
      if (mayEnd && typeof value !== "boolean" && this.hasKinds(kindOf(value), source, value)) {
        breakGraph("changingText", sourceText(source));
      }
      this.constant(value, source);
    });
    this.output.guard({ kind: "type", source, type: made.type });
    return made;
  }

  /**
   * Returns whether so many versions have been specialised to one value of a computation each that the graph ends
   * instead.
   */
  needsMany(computation: string, value: unknown, most?: number): boolean {
    const { mayBreak, history } = this.settings;
    return mayBreak() && history.needsOne(computation, value, most);
  }

  /** Returns whether so many versions have been specialised to lengths of a list that the graph ends instead. */
  hasLengths(source: Source, length: number): boolean {
    return this.hasKinds("lengths", source, length);
  }

  /** The same for the number of parts into which the program takes a tensor, at a place of the program. */
  hasParts(place: string, count: number): boolean {
    return this.#hasMost("counts", { name: place, text: place }, count);
  }

  /**
   * Like `needsMany`, for strings that programs inspect, functions that they receive, and lengths of lists that they go
   * through: a version for each value is best, but beyond the limit the function would run uncompiled, so the last
   * versions serve all further values.
   */
  hasKinds(what: Exclude<ManyKinds, "counts">, source: Source, value: unknown): boolean {
    return this.#hasMost(what, { name: source.name, text: sourceText(source) }, value);
  }

  #hasMost(
    what: ManyKinds,
    { name, text }: { readonly name: string; readonly text: string },
    value: unknown,
  ): boolean {
    const most = mostVersions(what);
    if (!this.needsMany(`${COUNTED_AS[what]} at ${name}`, value, most)) return false;
    const place = this.output.whereabouts.place();
    this.settings.history.tellOnce(
      `${what} of ${text}`,
      manyVersionsText({ what, text, most, place: place ?? null }),
    );
    return true;
  }
}
