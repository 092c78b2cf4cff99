/**
 * Loops whose count differs between calls. Invariant: a loop with the same count in all calls is part of the graph,
 * as often as it runs; beyond a few counts the graph ends where the program decides on another pass.
 */
import { config } from "../../base/config.ts";
import { breakGraph } from "../break_reasons.ts";
import { leftLoop } from "../bytecode/loop_exits.ts";
import type { Value } from "../variables/value.ts";
import type { Frame, Interpreter } from "./interpreter.ts";
import { openTruth } from "./operators.ts";
import { positionOf } from "./positions.ts";

/** Breaks the graph at a jump that leaves a loop or not, by a number of the call, if many counts have versions. */
export function refuseCount(m: Interpreter, { code, pc }: Frame, test: Value): void {
  const jump = code.instructions[pc];
  if (!jump || !openTruth(m, test) || !leftLoop(code, pc)) return;
  const { mayBreak, history, endedLoops, version } = m.wrapper.settings;
  if (!mayBreak()) return;
  const { file, line } = positionOf(code, pc), place = `${file}:${line}`;
  if (!endedLoops.has(jump)) {
    const { cacheSizeLimit } = config;
    // With the version of a constant count, and the one that serves all others, half of the limit
    const most = Math.max(0, Math.floor(cacheSizeLimit / 2) - 2);
    if (!history.needsOne(`passes at ${place}`, version, most)) return;
    endedLoops.add(jump);
    history.tellOnce(
      `Loop at ${place}: ${
        most + 1
      } counts have a version each. For further ones the graph ends before each ` +
        `pass; for versions of these, too, raise config.cacheSizeLimit above ${cacheSizeLimit}`,
    );
  }
  breakGraph("changingCount", place);
}
