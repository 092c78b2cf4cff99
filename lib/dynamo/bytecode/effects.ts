/**
 * Reads, writes and successors of instructions.
 *
 * Invariant: every register that an instruction mentions is read or written by it.
 */
import type { CodeObject, ExceptionEntry } from "./code.ts";
import type { Instruction, Offset, Register } from "./instruction.ts";
import { INSTRUCTIONS } from "./instructions.ts";

/** Returns whether an instruction depends on the function to which it belongs. */
export function readsFrame({ op }: Instruction): boolean {
  return INSTRUCTIONS[op].frame ?? false;
}

/** Registers that an instruction reads, in order. */
export function reads(i: Instruction): readonly Register[] {
  const found: Register[] = [];
  for (const field of INSTRUCTIONS[i.op].reads) collect(Reflect.get(i, field), found);
  return found;
}

/** The registers of an operand: a register, a list of them, or objects that hold a key or a register. */
function collect(operand: unknown, found: Register[]): void {
  if (typeof operand === "number") found.push(operand);
  else if (Array.isArray(operand)) { for (const each of operand) collect(each, found); }
  else if (typeof operand === "object" && operand !== null) {
    if ("key" in operand) collect(operand.key, found);
    if ("register" in operand) collect(operand.register, found);
  }
}

/** Registers an instruction writes. */
export function writes(i: Instruction): readonly Register[] {
  const { writes }: { readonly writes?: readonly string[] } = INSTRUCTIONS[i.op];
  if (!writes) return "dst" in i ? [i.dst] : [];
  const found: Register[] = [];
  for (const field of writes) collect(Reflect.get(i, field), found);
  return found;
}

/** Offsets to which control may go from an instruction, exceptions aside. */
export function successors(code: CodeObject, offset: Offset): readonly Offset[] {
  const i = code.instructions[offset];
  if (!i) return [];
  switch (i.op) {
    case "jump":
      return [i.target];
    case "jumpIf":
      return [offset + 1, i.target];
    case "return":
    case "throw":
    case "throwError":
      return [];
    case "yield":
    case "yieldDelegate":
      return i.onReturn === null ? [offset + 1] : [offset + 1, i.onReturn];
    default:
      return [offset + 1];
  }
}

/** Exception entries that cover an offset, innermost first. */
export function handlersAt(code: CodeObject, offset: Offset): readonly ExceptionEntry[] {
  return code.handlers.filter((h) => h.start <= offset && offset < h.end);
}

/** Returns whether the instruction can throw, suspend, or run other code. */
export function mayThrow(i: Instruction): boolean {
  switch (i.op) {
    case "unary":
      return i.operator === "-" || i.operator === "+" || i.operator === "~";
    case "binary":
      return i.operator !== "===" && i.operator !== "!==";
    default:
      return !INSTRUCTIONS[i.op].pure;
  }
}

/** The register that is `true` once an instruction has thrown; null if an exception writes nothing. */
export function doneByThrowing(instruction: Instruction | undefined): Register | null {
  switch (instruction?.op) {
    case "iteratorNext":
    case "iteratorResult":
    case "iteratorRest":
      return instruction.done;
    default:
      return null;
  }
}
