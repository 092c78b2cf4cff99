/**
 * Dependences between the results of one graph, which form one node on the tape: which results are computed from which,
 * and which saved values a pass releases. Invariant: positions refer to the lists of inputs and results.
 */
import { type GraphValue, tensorArguments } from "../ops/graph_builder.ts";
import type { Recorder } from "../autograd/recorder.ts";
import type { TapeEntry } from "../autograd/gradient_tape.ts";

/** Positions as the bits of a number. */
type Places = bigint;

/** Calls whose gradients read the same saved values; a pass reads all of these or none. */
export interface Reading {
  /** Results whose gradients flow into the calls. */
  readonly from: Places;
  /** Inputs that the calls pass gradients on to. */
  readonly inputs: Places;
  /** Results that the calls pass gradients on to. */
  readonly results: Places;
}

/** Relations between results, by position. */
export interface Connections {
  /** The other results whose gradients flow through each. */
  readonly dependents: readonly (readonly number[])[];
  /** Saved values that backward passes release. */
  readonly readings: readonly Reading[];
}

type Entry = TapeEntry<GraphValue>;

/** A bit set of some positions. */
export function placesOf(positions: Iterable<number>): Places {
  let found = 0n;
  for (const each of positions) found |= 1n << BigInt(each);
  return found;
}

/** Follows the tape between inputs and results; `reading`: the calls whose gradients read saved values. */
export function connectionsOf(
  recorder: Recorder,
  { inputs, results, reading }: {
    readonly inputs: readonly (GraphValue | undefined)[];
    readonly results: readonly GraphValue[];
    readonly reading: ReadonlySet<Entry>;
  },
): Connections {
  const { tape } = recorder;
  // A tensor that was written without recording keeps its place on the tape: a gradient reaches both values or neither
  const former = new Map<GraphValue, GraphValue>();
  for (const entry of tape) if (entry.kind === "same") former.set(entry.to, entry.from);
  const first = (value: GraphValue): GraphValue => {
    const before = former.get(value);
    return before ? first(before) : value;
  };
  const mapOf = (values: readonly (GraphValue | undefined)[]) => new PlaceMap(values, first);
  const arriving = mapOf(results), toResults = mapOf(results), toInputs = mapOf(inputs);
  for (const entry of tape) {
    const { sources, made } = endsOf(entry, recorder);
    for (const leads of [toResults, toInputs]) leads.add(made, leads.all(sources));
  }
  for (const entry of tape.toReversed()) {
    const { sources, made } = endsOf(entry, recorder);
    arriving.add(sources, arriving.all(made));
  }
  const readings = new Map<string, Reading>();
  for (const entry of reading) {
    const { sources, made } = endsOf(entry, recorder);
    const from = arriving.all(made), to = toInputs.all(sources), inside = toResults.all(sources);
    readings.set(`${from} ${to} ${inside}`, { from, inputs: to, results: inside });
  }
  return {
    dependents: results.map((value, a) => {
      const from = arriving.all([value]);
      return results.flatMap((_, b) => b !== a && from & placesOf([b]) ? [b] : []);
    }),
    readings: [...readings.values()],
  };
}

/** Sets of positions by value. */
class PlaceMap {
  readonly #places = new Map<GraphValue, Places>();

  /** Each value has its own position; `first`: the value that shares its position with others. */
  constructor(
    values: readonly (GraphValue | undefined)[],
    private readonly first: (value: GraphValue) => GraphValue,
  ) {
    values.forEach((value, k) => value && this.add([value], placesOf([k])));
  }

  add(values: readonly GraphValue[], places: Places): void {
    for (const value of values) this.#places.set(this.first(value), this.all([value]) | places);
  }

  all(values: readonly GraphValue[]): Places {
    return values.reduce((found, value) => found | (this.#places.get(this.first(value)) ?? 0n), 0n);
  }
}

/** Returns the values from which a gradient enters an entry of the tape, and those to which it leaves. */
function endsOf(
  entry: Entry,
  { requiring }: Recorder,
): { readonly sources: readonly GraphValue[]; readonly made: readonly GraphValue[] } {
  if (entry.kind === "same") {
    return { sources: requiring.has(entry.from) ? [entry.from] : [], made: [entry.to] };
  }
  const sources = tensorArguments(entry.args).flatMap(({ value }) => requiring.has(value) ? value : []);
  return { sources, made: entry.outs };
}

/** The values, and everything to which gradients flow from them. */
export function historyOf(recorder: Recorder, values: Iterable<GraphValue>): ReadonlySet<GraphValue> {
  const seen = new Set(values);
  for (const entry of recorder.tape.toReversed()) {
    const { sources, made } = endsOf(entry, recorder);
    if (made.some((each) => seen.has(each))) { for (const source of sources) seen.add(source); }
  }
  return seen;
}
