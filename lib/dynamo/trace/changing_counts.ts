/**
 * Loops whose count differs between calls. Invariant: a loop with the same count in all calls is part of the graph,
 * as often as it runs; beyond a few counts the graph ends where the program decides on another pass.
 */
import { config } from "../../base/config.ts";
import { breakGraph } from "../break_reasons.ts";
import type { Instruction } from "../bytecode/instruction.ts";
import { leftLoop } from "../bytecode/loop_exits.ts";
import type { Value } from "../variables/value.ts";
import type { Frame, Interpreter } from "./interpreter.ts";
import { openTruth } from "./operators.ts";
import { placeIn } from "./positions.ts";

/** The first visit of a jump in a trace: the numbers that it compares, and the instruction's number. */
interface Visit {
  readonly count: string;
  readonly step: number;
}

const visits = new WeakMap<Interpreter, Map<Instruction, Visit>>();

/**
 * Breaks the graph at a jump that has ended it before, in this version of the code around it or in another one: nothing
 * behind it is looked at, which could make constants of other numbers.
 */
export function refuseEnded(m: Interpreter, frame: Frame, test: Value): void {
  const jump = frame.code.instructions[frame.pc], { mayBreak, endedLoops } = m.wrapper.settings;
  if (endedLoops.size === 0 || !jump || !endedLoops.has(jump) || !openTruth(m, test) || !mayBreak()) return;
  endAt(m, frame);
}

/**
 * Breaks the graph at a jump that leaves a loop or not, by a number of the call, if many counts have versions; of
 * functions that call themselves, at their first such call.
 */
export function refuseCount(m: Interpreter, frame: Frame, test: Value): void {
  const { code, pc } = frame, jump = code.instructions[pc], open = jump ? openTruth(m, test) : null;
  if (!jump || !open) return;
  const isLoop = leftLoop(code, pc) !== null;
  if (!isLoop && m.callers.filter((each) => each.code === code).length < 2) return;
  const { mayBreak, history, endedLoops, version } = m.wrapper.settings;
  if (!mayBreak()) return;
  const known = visits.get(m) ?? new Map<Instruction, Visit>();
  visits.set(m, known);
  const met = known.get(jump);
  const first = met ?? { count: open.compared?.join() ?? `version ${version}`, step: m.steps - 1 };
  known.set(jump, first);
  const { cacheSizeLimit } = config, half = Math.floor(cacheSizeLimit / 2), place = placeIn(m.callers);
  // A pass that ends within the loop needs few versions, unless there are others for each
  if (!met && version < Math.max(half, 3)) return;
  // With versions of a constant count, and of all others, half of the limit; other conditions of functions that call
  // themselves have versions, too
  const most = Math.max(0, half - (isLoop ? 2 : 1));
  if (!history.needsOne(`passes at ${place}, ${pc}`, first.count, most)) return;
  if (!endedLoops.values().some((ended) => ended === place)) {
    history.tellOnce(
      place,
      `${most + 1} counts of the ${
        isLoop ? "loop" : "recursion"
      } at ${place} have a version each. For further ` +
        `ones the graph ends there; for versions of these, too, raise config.cacheSizeLimit above ${cacheSizeLimit}`,
    );
  }
  endedLoops.set(jump, place);
  if (isLoop) m.restartAt(first.step, { kind: "changingCount", detail: place });
  endAt(m, frame);
}

function endAt(m: Interpreter, frame: Frame): void {
  const detail = placeIn(m.callers);
  if (leftLoop(frame.code, frame.pc)) return breakGraph("changingCount", detail);
  const [outer, inner] = m.callers.filter(({ code }) => code === frame.code),
    step = outer?.waitingSince ?? null;
  if (inner && step !== null) m.restartAt(step, { kind: "changingCount", detail });
}
