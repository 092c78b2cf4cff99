/**
 * Compiles guards, in the order in which the tracer relied on them, to one function `check(self, args)`, which returns
 * −1 if all hold and otherwise the index of one that fails. Invariant: earlier guards have checked that the values that
 * a guard reads exist; a guard that throws counts as failed.
 *
 * The guards of a large model are written as functions of a bounded size: V8 does not optimise larger ones, and
 * optimised code reads a field of a constant object in a fraction of a nanosecond. Metadata of parameters is checked by
 * one comparison.
 */
import { invariant } from "../../base/errors.ts";
import { metadata } from "../../tensor/metadata_version.ts";
import { type CheckContext, type ConditionContext, ConditionWriter } from "./conditions.ts";
import type { Guard } from "./guard.ts";
import { relyOnTensors } from "./parameters.ts";
import { firstOther, isSettledAt, isSettledClass } from "./data_reads.ts";
import { callReader, type Care, Constants, itemPlace, type PlaceInList } from "./reader.ts";
import type { Primitive } from "../variables/primitive.ts";

/** −1: serves the call; otherwise the index of a failing guard. */
export type Check = (self: unknown, args: ArrayLike<unknown>) => number;

/** A compiled check. */
interface CompiledCheck {
  readonly check: Check;
  readonly text: string;
}

/** Number of guards in one function: enough to make calls negligible, few enough that V8 optimises it soon. */
const GUARDS_OF_PART = 64;

interface IndexedGuard {
  readonly guard: Guard;
  readonly index: number;
}

/** State shared by the parts of a check. */
interface Shared {
  readonly constants: Constants;
  readonly context: ConditionContext;
  /** Objects whose identity earlier parts have checked, by their places. */
  readonly found: Map<string, object>;
  /** Lists of entries that earlier parts have read, by the listed object. */
  readonly lists: Map<string, string>;
  /** Places that hold no proxies, and those whose properties are read in the usual way, as earlier parts have checked. */
  readonly inspected: Set<string>;
  readonly settled: Set<string>;
}

/** Compiles the check function of an entry. */
export function compileCheck(guards: readonly Guard[], context: CheckContext): CompiledCheck {
  const shared: Shared = {
    constants: new Constants(),
    context: { ...context, tests: new Map(), tested: new Map() },
    found: new Map(),
    lists: new Map(),
    inspected: new Set(),
    settled: new Set(),
  };
  const { constants, context: { tests } } = shared;
  const each: IndexedGuard[] = [], once: IndexedGuard[] = [];
  guards.forEach((guard, index) => (relyOnTensors(guard.fact) ? once : each).push({ guard, index }));
  const parts: string[] = [];
  const callsOf = (list: readonly IndexedGuard[]) =>
    slices(withRuns(list)).map((slice) => {
      const name = `part${parts.length}`;
      parts.push(partText(name, slice, shared));
      return `if ((failed = ${name}(self, args, lists)) !== -1) return failed;`;
    });
  const body = callsOf(each);
  if (once.length > 0) {
    const version = `${constants.name(metadata)}.version`;
    body.push(
      `if (${version} !== seen) {`,
      ...[...callsOf(once), `seen = ${version};`].map((line) => `  ${line}`),
      "}",
    );
  }
  const lists = shared.lists.size > 0 ? "[]" : "null";
  const check =
    `function check(self, args) {\n  const lists = ${lists};\n  let failed;\n  try {\n${
      indented(body, 4)
    }\n    return -1;\n  } catch {\n` +
    `    return ${guards.length};\n  }\n}`;
  const tested = Array.from(tests, ([test, name]) => `function ${name}(value) {\n  return ${test};\n}`);
  const text = [...tested, ...parts, ...once.length > 0 ? ["let seen = -1;"] : [], check].join("\n");
  const made = constants.evaluate(`(() => {\n${text}\nreturn check;\n})()`);
  invariant(isCheck(made), "Expected a function");
  return { check: made, text };
}

/** Constants that are successive items of one list: a loop compares them. */
interface Run {
  readonly index: number;
  readonly first: PlaceInList;
  readonly values: Primitive[];
}

/** From this many items on a loop compares them. */
const SHORTEST_RUN = 16;

/** Replaces guards of successive items by runs. */
function withRuns(list: readonly IndexedGuard[]): readonly (IndexedGuard | Run)[] {
  const units: (IndexedGuard | Run)[] = [];
  for (let at = 0; at < list.length;) {
    const run = runFrom(list, at), length = run?.values.length ?? 0, guard = list[at];
    if (run && length >= SHORTEST_RUN) units.push(run);
    else units.push(...list.slice(at, at + Math.max(1, length)));
    at += guard ? Math.max(1, length) : 1;
  }
  return units;
}

function runFrom(list: readonly IndexedGuard[], at: number): Run | null {
  const start = list[at], first = start && placeInList(start.guard);
  if (!first) return null;
  const values: Primitive[] = [];
  for (let next = list[at]; next; next = list[at + values.length]) {
    const { guard: { fact }, index } = next, place = placeInList(next.guard), n = values.length;
    const follows = place?.list === first.list && place.at === first.at + n && index === start.index + n;
    if (!follows || fact.kind !== "constant") break;
    values.push(fact.value);
  }
  return { index: start.index, first, values };
}

/** The place of an item that a guard compares with a constant; null for other guards. */
function placeInList({ fact }: Guard): PlaceInList | null {
  return fact.kind === "constant" ? itemPlace(fact.source) : null;
}

function slices<T>(list: readonly T[]): readonly T[][] {
  return Array.from(
    { length: Math.ceil(list.length / GUARDS_OF_PART) },
    (_, i) => list.slice(i * GUARDS_OF_PART, (i + 1) * GUARDS_OF_PART),
  );
}

/** A function that returns the index of the first guard of a slice that fails. */
function partText(
  name: string,
  slice: readonly (IndexedGuard | Run)[],
  { constants, context, found, lists, inspected, settled }: Shared,
): string {
  const lines: string[] = [];
  const { readCaptured } = context;
  let at = 0;
  const care: Care = {
    refuse: () => `return ${at};`,
    isSettled: (source) => settled.has(source.name) || isSettledAt(source, (name) => found.get(name)),
    inspected,
  };
  const reader = callReader(lines, { constants, readCaptured, care, shared: { found, lists } });
  const writer = new ConditionWriter(reader, constants, context);
  for (const unit of slice) {
    const { index } = unit;
    at = index;
    if ("values" in unit) {
      const [compared, values] = [firstOther, unit.values].map((each) => constants.name(each));
      lines.push(
        `const other${index} = ${compared}(${reader.listOf(unit.first)}, ${unit.first.at}, ${values});`,
        `if (other${index} !== -1) return ${index} + other${index};`,
      );
      continue;
    }
    const { fact } = unit.guard;
    const condition = writer.condition(fact);
    lines.push(`if (!(${condition})) return ${index};`);
    if (fact.kind === "identity") found.set(fact.source.name, fact.object);
    if (fact.kind === "tensor" || (fact.kind === "prototype" && isSettledClass(fact.prototype))) {
      settled.add(fact.source.name);
    }
  }
  return `function ${name}(self, args, lists) {\n${indented([...lines, "return -1;"], 2)}\n}`;
}

function indented(lines: readonly string[], by: number): string {
  return lines.map((line) => " ".repeat(by) + line).join("\n");
}

function isCheck(value: unknown): value is Check {
  return typeof value === "function";
}
