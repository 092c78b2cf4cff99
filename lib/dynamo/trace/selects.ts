/**
 * Traces conditions on elements that only select between numbers: `v > 0 ? a : b`, `if (v > most) v = most`. The
 * graph selects the results of both branches, and the trace continues where the branches meet. Invariant: both
 * branches are pure arithmetic, which runs no code and throws nothing.
 */
import { config } from "../../base/config.ts";
import type { CodeObject } from "../bytecode/code.ts";
import type { Instruction, Offset, Register } from "../bytecode/instruction.ts";
import { successors } from "../bytecode/effects.ts";
import { liveRegisters } from "../bytecode/liveness.ts";
import { BreakSignal } from "../break_reasons.ts";
import { constant, type ItemValue, type Value } from "../variables/value.ts";
import { choose } from "./graph_numbers.ts";
import type { Frame, Interpreter } from "./interpreter.ts";
import { binary, unary } from "./operators.ts";

/** Maximum number of instructions of a branch. */
const LONGEST = 32;

type Jump = Extract<Instruction, { op: "jumpIf" }>;

/** Registers that a branch has written. */
type Written = ReadonlyMap<Register, Value>;

/**
 * Continues after a jump with numbers that the graph selects; returns false if its branches do more than compute
 * numbers.
 */
export function select(m: Interpreter, frame: Frame, jump: Jump, test: ItemValue): boolean {
  if (!config.captureScalarOutputs || (jump.condition !== "truthy" && jump.condition !== "falsy")) {
    return false;
  }
  const { code, pc } = frame;
  const passing = offsetsFrom(code, pc + 1), taking = offsetsFrom(code, jump.target);
  const meeting = taking.find((offset) => passing.includes(offset));
  if (meeting === undefined) return false;
  try {
    const passed = follow(m, frame, { from: pc + 1, to: meeting });
    const taken = follow(m, frame, { from: jump.target, to: meeting });
    if (!passed || !taken) return false;
    const [whenTrue, whenFalse] = jump.condition === "truthy" ? [taken, passed] : [passed, taken];
    const chosen = new Map<Register, Value>();
    for (const register of liveRegisters(code, meeting)) {
      const a = whenTrue.get(register) ?? frame.registers[register];
      const b = whenFalse.get(register) ?? frame.registers[register];
      if (a === b) continue;
      const either = a && b ? choose(m.output, test, [a, b]) : null;
      if (!either) return false;
      chosen.set(register, either);
    }
    for (const [register, value] of chosen) frame.registers[register] = value;
    frame.pc = meeting;
    return true;
  } catch (signal) {
    if (signal instanceof BreakSignal) return false;
    throw signal;
  }
}

/** Returns the path of a branch without further choices, offset by offset. */
function offsetsFrom(code: CodeObject, from: Offset): Offset[] {
  const found: Offset[] = [];
  for (let at = from; found.length < LONGEST && !found.includes(at);) {
    found.push(at);
    const [next, ...others] = successors(code, at);
    if (next === undefined || others.length > 0) break;
    at = next;
  }
  return found;
}

/** Returns the registers that a branch writes; null if it does anything but compute. */
function follow(
  m: Interpreter,
  frame: Frame,
  { from, to }: { readonly from: Offset; readonly to: Offset },
): Written | null {
  const written = new Map<Register, Value>();
  const read = (register: Register): Value | undefined => written.get(register) ?? frame.registers[register];
  for (let at = from; at !== to;) {
    const instruction = frame.code.instructions[at];
    switch (instruction?.op) {
      case "jump":
        at = instruction.target;
        continue;
      case "const":
        if (typeof instruction.value !== "number" && typeof instruction.value !== "boolean") return null;
        written.set(instruction.dst, constant(instruction.value));
        break;
      case "move": {
        const value = read(instruction.src);
        if (!value) return null;
        written.set(instruction.dst, value);
        break;
      }
      case "checkTdz":
        if (read(instruction.src)?.kind === "uninitialized") return null;
        break;
      case "unary": {
        const value = read(instruction.src), { dst, operator } = instruction;
        if (!value || !isNumber(value) || operator === "typeof") return null;
        unary(m, operator, value, (result) => void written.set(dst, result));
        break;
      }
      case "binary": {
        const left = read(instruction.left), right = read(instruction.right), { dst, operator } = instruction;
        if (!left || !right || !isNumber(left) || !isNumber(right)) return null;
        binary(m, operator, [left, right], (result) => void written.set(dst, result));
        break;
      }
      default:
        return null;
    }
    at++;
  }
  return written;
}

/** Returns whether arithmetic on a value neither runs code nor throws. */
function isNumber(value: Value): boolean {
  if (value.kind === "constant") return typeof value.value === "number" || typeof value.value === "boolean";
  return value.kind === "number" || (value.kind === "item" && value.type !== "integer");
}
