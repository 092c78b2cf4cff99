/**
 * Traces conditions that only select between numbers: `v > 0 ? a : b`, `if (v > most) v = most`. The graph selects by
 * conditions on elements, and generated code by those on numbers that differ between calls; the trace continues where
 * the branches meet. Invariant: a branch that does more than compute is traced one way, with a guard or a break.
 */
import { config } from "../../base/config.ts";
import type { Instruction } from "../bytecode/instruction.ts";
import { BreakSignal } from "../break_reasons.ts";
import { isDecision, type Value } from "../variables/value.ts";
import type { Frame, Interpreter } from "./interpreter.ts";
import { NotPure, openJump, PurePaths } from "./pure_paths.ts";

/** Jumps that each trace has found to do more than select. */
const refused = new WeakMap<Interpreter, Set<Instruction>>();

/**
 * Continues after the jump at this point with numbers that are selected; returns false if its condition is known, or if
 * its branches do more than compute numbers.
 */
export function select(m: Interpreter, frame: Frame, value: Value): boolean {
  const isOpen = value.kind === "item"
    ? config.captureScalarOutputs
    : value.kind === "number" || isDecision(value);
  if (!isOpen) return false;
  const instruction = frame.code.instructions[frame.pc], known = refused.get(m) ?? new Set();
  if (!instruction || known.has(instruction)) return false;
  const jump = openJump(m, frame, { at: frame.pc, value });
  if (!jump) return false;
  try {
    new PurePaths(m).take(frame, jump);
    return true;
  } catch (signal) {
    if (!(signal instanceof BreakSignal) && !(signal instanceof NotPure)) throw signal;
    refused.set(m, known.add(instruction));
    return false;
  }
}
