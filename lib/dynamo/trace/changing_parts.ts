/**
 * Tensors that are taken into as many parts as one of their sizes says, which differs between calls. Invariant: few
 * versions have a number of parts each; beyond them the call is outside of the graph, and gives a list of any length.
 */
import type { Interpreter } from "./interpreter.ts";
import { placeIn } from "./positions.ts";

/** Breaks the graph before a tensor is taken into parts as many as have differed in many calls. */
export function refuseParts(m: Interpreter, what: string, count: number): void {
  const place = `${what} at ${placeIn(m.callers)}`;
  // Finding out how many there are has made it a constant
  if (m.wrapper.changes.hasParts(place, count)) {
    m.restartAt(m.steps - 1, { kind: "changingLength", detail: place });
  }
}
