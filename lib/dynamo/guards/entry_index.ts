/**
 * Finds the entries that may serve a call without checking each, by the value at a place for which they expect
 * different values. Invariant: the lookup runs no code of the program; if a place cannot be inspected, no entry is
 * ruled out.
 */
import { withRuntimeBuiltins } from "../../base/own_builtins.ts";
import { codeOf } from "../functions/functions.ts";
import { tensorAt } from "./guard_reader.ts";
import { peekAt, UNKNOWN } from "./peek.ts";
import type { Source } from "../source.ts";
import type { Fact, Guard } from "./guard.ts";

/** The value of a place, or a part of it, that decides whether a fact holds. */
interface Place {
  readonly name: string;
  readonly read: (self: unknown, args: ArrayLike<unknown>) => unknown;
}

/** An entry's expectation at a place. */
interface Expectation {
  readonly place: Place;
  readonly value: unknown;
}

interface Guarded {
  readonly guards: readonly Guard[];
}

type Index<E> = readonly E[] | {
  readonly place: Place;
  /** Entries by the value at the place, each with those that do not depend on it. */
  readonly found: ReadonlyMap<unknown, Index<E>>;
  /** The entries that do not depend on the place. */
  readonly others: Index<E>;
  readonly all: readonly E[];
};

/** Number of entries up to which each is checked in turn. */
export const FEW_ENTRIES = 4;

/** Number of guards that are considered: those that distinguish entries come early. */
const MOST_GUARDS = 256;

/** Entries by the values that they expect. */
export class EntryIndex<E extends Guarded> {
  readonly #index: Index<E>;

  constructor(readonly entries: readonly E[]) {
    this.#index = build(entries.map((entry) => ({ entry, expected: expectationsOf(entry) })));
  }

  /** The entries that may serve a call. */
  candidates(self: unknown, args: ArrayLike<unknown>): readonly E[] {
    let at = this.#index;
    while ("place" in at) {
      const value = at.place.read(self, args);
      if (value === UNKNOWN) return at.all;
      const { found } = at;
      at = withRuntimeBuiltins(() => found.get(value)) ?? at.others;
    }
    return at;
  }
}

interface Known<E> {
  readonly entry: E;
  readonly expected: ReadonlyMap<string, Expectation>;
}

function build<E>(entries: readonly Known<E>[]): Index<E> {
  const all = entries.map(({ entry }) => entry);
  const place = entries.length > FEW_ENTRIES ? bestPlace(entries) : null;
  if (place === null) return all;
  const { name } = place, asks = ({ expected }: Known<E>) => expected.get(name);
  const values = new Set(entries.flatMap((each) => asks(each) ?? []).map(({ value }) => value));
  const found = new Map([...values].map((value) => {
    const left = entries.filter((each) => {
      const asked = asks(each);
      // Map equality: zeros of both signs are equal, and so is NaN
      return !asked || [value].includes(asked.value);
    });
    return [value, build(left)] as const;
  }));
  return { place, found, others: build(entries.filter((each) => !asks(each))), all };
}

/** The place that leaves the fewest entries on average; null if none rules any out. */
function bestPlace<E>(entries: readonly Known<E>[]): Place | null {
  const counts = new Map<string, { readonly place: Place; readonly asking: Map<unknown, number> }>();
  for (const { expected } of entries) {
    for (const { place, value } of expected.values()) {
      let counted = counts.get(place.name);
      if (!counted) counts.set(place.name, counted = { place, asking: new Map() });
      counted.asking.set(value, (counted.asking.get(value) ?? 0) + 1);
    }
  }
  let best: Place | null = null, fewest = entries.length;
  for (const { place, asking } of counts.values()) {
    if (asking.size < 2) continue;
    let asked = 0, squares = 0;
    for (const count of asking.values()) {
      asked += count;
      squares += count ** 2;
    }
    const left = entries.length - asked + squares / asked;
    if (left < fewest) [best, fewest] = [place, left];
  }
  return best;
}

function expectationsOf({ guards }: Guarded): Map<string, Expectation> {
  const found = new Map<string, Expectation>();
  for (const { fact } of guards.slice(0, MOST_GUARDS)) {
    const expectation = expectationOf(fact);
    if (expectation && !found.has(expectation.place.name)) found.set(expectation.place.name, expectation);
  }
  return found;
}

/** Returns the value that a fact requires of a place, if it is expressed by equality. */
function expectationOf(fact: Fact): Expectation | null {
  switch (fact.kind) {
    case "constant":
      return expectation("value", fact.source, fact.value, (value) => value);
    case "identity":
      return expectation("value", fact.source, fact.object, (value) => value);
    case "tensor":
      // Only tensors of constant sizes have a fixed layout
      return fact.expected.layout && expectation("layout", fact.source, fact.expected.layout, layoutOf);
    case "array":
      return expectation("length", fact.source, fact.length, lengthOf);
    case "code":
      return expectation("code", fact.source, fact.code, codeAt);
    case "argumentCount": {
      const read = (_self: unknown, args: ArrayLike<unknown>) => args.length;
      return { place: { name: "arguments", read }, value: fact.count };
    }
    default:
      return null;
  }
}

function expectation(
  what: string,
  source: Source,
  value: unknown,
  part: (value: unknown) => unknown,
): Expectation | null {
  // A place that never changes distinguishes no calls
  const peek = source.kind === "known" ? null : peekAt(source);
  if (peek === null) return null;
  const read: Place["read"] = (self, args) => {
    const found = peek(self, args);
    return found === UNKNOWN ? UNKNOWN : part(found);
  };
  return { place: { name: `${what} ${source.name}`, read }, value };
}

function layoutOf(value: unknown): unknown {
  return tensorAt(value)?.layout;
}

function codeAt(value: unknown): unknown {
  return typeof value === "function" ? codeOf(value) : null;
}

function lengthOf(value: unknown): unknown {
  return Array.isArray(value) ? value.length : null;
}
