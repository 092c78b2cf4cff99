/**
 * How the results of one graph hang together on the tape of which they are one node. Input: a recorded tape and
 * values of it; output: which results are computed from which, and which cannot be differentiated one after the
 * other. Invariant: positions are those of the list of values.
 */
import { InternalError } from "../base/errors.ts";
import { type GraphValue, tensorArguments } from "../ops/graph_builder.ts";
import type { Recorder } from "../autograd/recorder.ts";
import type { TapeEntry } from "../autograd/gradient_tape.ts";

/** What holds between results, by position. */
export interface Connections {
  /** The other results whose gradients flow through each. */
  readonly dependents: readonly (readonly number[])[];
  /** The results, mostly itself included, whose gradients read what the backward pass of each lets go of. */
  readonly sharing: readonly (readonly number[])[];
}

type Entry = TapeEntry<GraphValue>;

/** Follows the tape from each value to the calls that it comes from; `reading`: those that read what was saved. */
export function connectionsOf(
  recorder: Recorder,
  values: readonly GraphValue[],
  reading: ReadonlySet<Entry>,
): Connections {
  const makers = makersOf(recorder.tape);
  const histories = values.map((value) => {
    const seen = historyOf(recorder, [value], makers);
    const calls = new Set<Entry>();
    for (const each of seen) {
      for (const entry of makers.get(each) ?? []) if (reading.has(entry)) calls.add(entry);
    }
    return { seen, calls };
  });
  const others = (holds: (a: number, b: number) => boolean) =>
    values.map((_, a) => values.flatMap((_, b) => holds(a, b) ? [b] : []));
  const at = (k: number) => histories[k] ?? raise(k);
  return {
    dependents: others((a, b) => {
      const value = values[a];
      return a !== b && value !== undefined && at(b).seen.has(value);
    }),
    sharing: others((a, b) => !at(a).calls.isDisjointFrom(at(b).calls)),
  };
}

/** The entries of a tape by what they make. */
function makersOf(tape: readonly Entry[]): ReadonlyMap<GraphValue, readonly Entry[]> {
  const makers = new Map<GraphValue, Entry[]>();
  const note = (value: GraphValue, entry: Entry) => makers.set(value, [...makers.get(value) ?? [], entry]);
  for (const entry of tape) {
    if (entry.kind === "same") note(entry.to, entry);
    else for (const out of entry.outs) note(out, entry);
  }
  return makers;
}

/** The values, and all that gradients flow to from them. */
export function historyOf(
  { tape, requiring }: Recorder,
  values: Iterable<GraphValue>,
  makers = makersOf(tape),
): ReadonlySet<GraphValue> {
  const sources = (entry: Entry): readonly GraphValue[] =>
    entry.kind === "same" ? [entry.from] : tensorArguments(entry.args).map(({ value }) => value);
  const seen = new Set(values);
  for (const each of seen) {
    for (const entry of makers.get(each) ?? []) {
      for (const source of sources(entry)) if (requiring.has(source)) seen.add(source);
    }
  }
  return seen;
}

function raise(k: number): never {
  throw new InternalError(`Expected the history of result ${k}`);
}
