/**
 * What instructions read and write, and where control goes from them.
 *
 * Input: instructions. Output: registers and offsets.
 * Invariant: every register an instruction mentions is among what it reads or writes.
 */
import type {
  CodeObject,
  ExceptionEntry,
  Instruction,
  KeyOperand,
  ObjectMember,
  Offset,
  Opcode,
  Register,
} from "./code.ts";

function keyRegisters(key: KeyOperand): readonly Register[] {
  return key.kind === "register" ? [key.register] : [];
}

function memberRegisters(member: ObjectMember): readonly Register[] {
  if (member.kind === "spread" || member.kind === "proto") return [member.register];
  return [...keyRegisters(member.key), member.register];
}

/** What only a running function has: its arguments, what it was called on, itself. */
const FRAME_INPUTS: ReadonlySet<Opcode> = new Set<Opcode>([
  "loadThis",
  "loadArgument",
  "loadRest",
  "loadArguments",
  "loadNewTarget",
  "loadHome",
  "loadCallee",
  "generatorStart",
]);

/** Whether an instruction means nothing apart from the function that it begins. */
export function readsFrame({ op }: Instruction): boolean {
  return FRAME_INPUTS.has(op);
}

/** Registers an instruction reads, in the order in which it looks at them. */
export function reads(i: Instruction): readonly Register[] {
  switch (i.op) {
    case "const":
    case "regexp":
    case "uninitialized":
    case "throwError":
    case "loadThis":
    case "loadArgument":
    case "loadRest":
    case "loadArguments":
    case "loadNewTarget":
    case "loadCallee":
    case "loadHome":
    case "generatorStart":
    case "loadFree":
    case "loadGlobal":
    case "templateObject":
    case "jump":
    case "debugger":
      return [];
    case "move":
    case "checkTdz":
    case "storeFree":
    case "storeGlobal":
    case "unary":
    case "toNumeric":
    case "increment":
    case "toPropertyKey":
    case "toString":
    case "checkObjectCoercible":
    case "checkObject":
    case "checkSuperOnce":
    case "return":
    case "throw":
    case "yield":
    case "await":
    case "getDisposer":
      return [i.src];
    case "newCell":
      return i.src === null ? [] : [i.src];
    case "loadCell":
      return [i.cell];
    case "storeCell":
      return [i.cell, i.src];
    case "binary":
      return [i.left, i.right];
    case "template":
      return i.values;
    case "getProp":
    case "deleteProp":
      return [i.object, ...keyRegisters(i.key)];
    case "setProp":
      return [i.object, ...keyRegisters(i.key), i.value];
    case "getSuper":
      return [i.home, i.receiver, ...keyRegisters(i.key)];
    case "setSuper":
      return [i.home, i.receiver, ...keyRegisters(i.key), i.value];
    case "getPrivate":
    case "hasPrivate":
      return [i.object];
    case "setPrivate":
    case "definePrivate":
      return [i.object, i.value];
    case "array":
      return i.elements.flatMap((e) => (e.kind === "hole" ? [] : [e.register]));
    case "arrayAppend":
      return i.element.kind === "hole" ? [i.array] : [i.array, i.element.register];
    case "object":
      return i.members.flatMap(memberRegisters);
    case "define":
      return [i.object, ...memberRegisters(i.member)];
    case "objectRest":
      return [i.source, ...i.excluded.flatMap(keyRegisters)];
    case "closure":
      return [
        ...i.captures.flatMap((c) => (c.kind === "free" ? [] : [c.register])),
        ...(i.home === null ? [] : [i.home]),
        ...keyRegisters(i.name),
      ];
    case "class":
      return [
        ...(i.heritage === null ? [] : [i.heritage]),
        ...i.captures.flatMap((c) => (c.kind === "free" ? [] : [c.register])),
      ];
    case "call":
      return [i.callee, ...(i.self === null ? [] : [i.self]), ...i.args.map((a) => a.register)];
    case "new":
      return [i.callee, ...i.args.map((a) => a.register)];
    case "superCall":
      return [i.callee, i.newTarget, ...i.args.map((a) => a.register)];
    case "initFields":
      return [i.object, i.callee];
    case "import":
      return i.options === null ? [i.specifier] : [i.specifier, i.options];
    case "jumpIf":
      return [i.test];
    case "getIterator":
    case "yieldDelegate":
      return [i.source];
    case "iteratorNext":
    case "iteratorRest":
      return [i.done, i.iterator, i.next];
    case "iteratorResult":
      return [i.result];
    case "iteratorClose":
      return [i.iterator];
    case "forIn":
      return [i.object];
    case "forInNext":
      return [i.enumerator];
    case "suppressedError":
      return [i.error, i.suppressed];
    default:
      i satisfies never;
      return [];
  }
}

/** Registers an instruction writes. */
export function writes(i: Instruction): readonly Register[] {
  switch (i.op) {
    case "getIterator":
      return [i.iterator, i.next];
    case "iteratorNext":
    case "iteratorResult":
      return [i.done, i.value];
    case "iteratorRest":
      return [i.done, i.dst];
    case "forInNext":
      return [i.done, i.key];
    default:
      return "dst" in i ? [i.dst] : [];
  }
}

/** Offsets that control may go to from an instruction, exceptions aside. */
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

/** Whether the instruction can throw, suspend, or run code of others. */
export function mayThrow(i: Instruction): boolean {
  switch (i.op) {
    case "const":
    case "regexp":
    case "move":
    case "uninitialized":
    case "loadThis":
    case "loadArgument":
    case "loadRest":
    case "loadArguments":
    case "loadNewTarget":
    case "loadCallee":
    case "loadHome":
    case "generatorStart":
    case "newCell":
    case "loadCell":
    case "storeCell":
    case "increment":
    case "templateObject":
    case "closure":
    case "jump":
    case "jumpIf":
    case "return":
    case "suppressedError":
      return false;
    case "unary":
      return i.operator === "-" || i.operator === "+" || i.operator === "~";
    case "binary":
      return i.operator !== "===" && i.operator !== "!==";
    default:
      return true;
  }
}

/** The register that holds `true` once an instruction has thrown; null where an exception writes nothing. */
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
