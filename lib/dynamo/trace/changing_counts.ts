/**
 * Loops whose count differs between calls. Invariant: a loop with the same count in all calls is part of the graph,
 * as often as it runs; beyond a few counts the graph ends where the program decides on another pass.
 */
import { config } from "../../base/config.ts";
import { breakGraph } from "../break_reasons.ts";
import { leftLoop } from "../bytecode/loop_exits.ts";
import type { CodeObject } from "../bytecode/code.ts";
import type { Instruction, Offset } from "../bytecode/instruction.ts";
import type { Value } from "../variables/value.ts";
import type { Frame, Interpreter } from "./interpreter.ts";
import { openTruth } from "./operators.ts";
import { positionOf } from "./positions.ts";

/**
 * Breaks the graph at a jump that leaves a loop or not, by a number of the call, if many counts have versions; of
 * functions that call themselves, at their first such call.
 */
export function refuseCount(m: Interpreter, { code, pc }: Frame, test: Value): void {
  const jump = code.instructions[pc];
  if (!jump || !openTruth(m, test)) return;
  const { cacheSizeLimit } = config, most = Math.floor(cacheSizeLimit / 2);
  // With the version of a constant count, and the one that serves all others, half of the limit
  if (leftLoop(code, pc)) {
    const place = placeOf(code, pc);
    if (endsAt(m, jump, { what: "Loop", place, most: most - 2 })) breakGraph("changingCount", place);
    return;
  }
  const [outer, inner] = m.callers.filter((frame) => frame.code === code), step = outer?.waitingSince ?? null;
  if (!outer || !inner || step === null) return;
  // Other conditions have versions, too
  const place = placeOf(code, outer.pc);
  if (endsAt(m, jump, { what: "Recursion", place, most: most - 1 })) {
    m.restartAt(step, { kind: "changingCount", detail: place });
  }
}

function placeOf(code: CodeObject, pc: Offset): string {
  const { file, line } = positionOf(code, pc);
  return `${file}:${line}`;
}

/** Returns whether `most` versions are followed by ones that end before a jump, which is said once. */
function endsAt(m: Interpreter, jump: Instruction, { what, place, most }: {
  readonly what: "Loop" | "Recursion";
  readonly place: string;
  readonly most: number;
}): boolean {
  const { mayBreak, history, endedLoops, version } = m.wrapper.settings, { cacheSizeLimit } = config;
  if (!mayBreak()) return false;
  if (endedLoops.has(jump)) return true;
  if (!history.needsOne(`passes at ${place}`, version, Math.max(0, most))) return false;
  endedLoops.add(jump);
  history.tellOnce(
    `${what} at ${place}: ${
      Math.max(0, most) + 1
    } counts have a version each. For further ones the graph ends ` +
      `there; for versions of these, too, raise config.cacheSizeLimit above ${cacheSizeLimit}`,
  );
  return true;
}

/** Breaks the graph before a tensor is taken into parts as many as have differed in many calls. */
export function refuseParts(m: Interpreter, what: string, count: number): void {
  const { code, pc } = m.top, place = `${what} at ${placeOf(code, pc)}`;
  // Finding out how many there are has made it a constant
  if (m.wrapper.hasParts(place, count)) m.restartAt(m.steps - 1, { kind: "changingLength", detail: place });
}
