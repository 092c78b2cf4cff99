/** The log of a trace: a line for each instruction, and one for each line of the program. */
import { invariant } from "../../base/errors.ts";
import { instructionText } from "../bytecode/disassemble.ts";
import type { Frame } from "./interpreter.ts";
import { positionOf } from "./positions.ts";

/** An instruction about to run: its line if it has changed, and its text. */
export function stepText(frames: readonly Frame[], step: number): string {
  const frame = frames.at(-1);
  const instruction = frame?.code.instructions[frame.pc];
  invariant(frame && instruction, "Expected a frame at an instruction");
  const { code, pc } = frame, { file, line, code: text } = positionOf(code, pc);
  const indent = "  ".repeat(frames.length - 1);
  const isNewLine = step === 0 || pc === 0 || positionOf(code, pc - 1).line !== line;
  const place = isNewLine ? `trace ${indent}${code.name || "<anonymous>"} (${file}:${line}) ${text}\n` : "";
  return `${place}trace ${indent}  ${pc} ${instructionText(code, instruction)}`;
}
