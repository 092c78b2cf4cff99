/**
 * Analyses whether a generator may receive a return() while it is already returning. Invariant: all possible paths are
 * followed; only the exit of a `finally` is known, since the register that selects it is set before.
 */
import type { CodeObject } from "../bytecode/code.ts";
import type { ConstantValue, Instruction, Offset, Register } from "../bytecode/instruction.ts";
import { handlersAt, mayThrow, successors, writes } from "../bytecode/effects.ts";

/** Known contents of registers. */
type Held = ReadonlyMap<Register, ConstantValue>;

const noticesReturn = (i: Instruction | undefined): boolean =>
  (i?.op === "yield" || i?.op === "yieldDelegate") && i.onReturn !== null;

/** Maximum number of states. */
const MOST_STATES = 2000;

const known = new WeakMap<CodeObject, boolean>();

/** Returns whether a detected return() may be followed by another one. */
export function noticesAgain(code: CodeObject): boolean {
  let found = known.get(code);
  if (found === undefined) known.set(code, found = find(code));
  return found;
}

function find(code: CodeObject): boolean {
  const left = code.instructions.flatMap((i): [Offset, Held][] => {
    if ((i.op !== "yield" && i.op !== "yieldDelegate") || i.onReturn === null) return [];
    // The value of a return() has been awaited
    const isAwaited = code.instructions[i.onReturn]?.op === "await";
    return [[isAwaited ? i.onReturn + 1 : i.onReturn, new Map()]];
  });
  const seen = new Set<string>();
  for (let state = left.pop(); state; state = left.pop()) {
    const [at, held] = state, instruction = code.instructions[at];
    const key = `${at} ${
      [...held].sort(([a], [b]) => a - b).map(([r, value]) => `${r}:${typeof value} ${value}`)
    }`;
    if (!instruction || seen.has(key)) continue;
    if (noticesReturn(instruction) || seen.size >= MOST_STATES) return true;
    seen.add(key);
    const then = after(instruction, held);
    const [handler] = handlersAt(code, at);
    if (handler && mayThrow(instruction)) left.push([handler.target, held]);
    for (const next of nextOf(code, at, held)) left.push([next, then]);
  }
  return false;
}

/** Returns the successors: only one if the register that decides is known. */
function nextOf(code: CodeObject, at: Offset, held: Held): readonly Offset[] {
  const i = code.instructions[at];
  if (i?.op !== "jumpIf" || !held.has(i.test)) return successors(code, at);
  const value = held.get(i.test);
  if (i.condition === "truthy") return [value ? i.target : at + 1];
  return i.condition === "falsy" ? [value ? at + 1 : i.target] : successors(code, at);
}

/** Returns the known contents after an instruction. */
function after(i: Instruction, held: Held): Held {
  const then = new Map(held);
  for (const register of writes(i)) then.delete(register);
  if (i.op === "const") then.set(i.dst, i.value);
  else if (i.op === "binary" && i.operator === "===" && held.has(i.left) && held.has(i.right)) {
    then.set(i.dst, held.get(i.left) === held.get(i.right));
  }
  return then;
}
