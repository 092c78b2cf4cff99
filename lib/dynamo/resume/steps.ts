/**
 * Transforms functions that wait into generators of their waits: an async function or a generator becomes a generator
 * that yields lists of the kind of wait, its operand, and whether a return() there must be detected. Invariant:
 * everything else happens in the same order; offsets are mapped.
 */
import { invariant } from "../../base/errors.ts";
import type { CodeObject, ExceptionEntry, SourceSpan } from "../bytecode/code.ts";
import type { Instruction, Offset } from "../bytecode/instruction.ts";
import { handlersAt } from "../bytecode/effects.ts";

/**
 * The kind of wait. `delegate`: for each value of an iterable; `result`: an async generator, for its result;
 * `returned`: the same if code runs before it has returned.
 */
export type WaitKind = "await" | "yield" | "delegate" | "result" | "returned";

/** A wait, as yielded by a generator of waits. */
export type Wait = readonly [kind: WaitKind, value: unknown, noticesReturn: boolean];

/** The code, and a map of the original's offsets to it. */
export interface Steps {
  readonly code: CodeObject;
  readonly at: (offset: Offset) => Offset;
}

const known = new WeakMap<CodeObject, Steps>();

/** Splits a function that waits into steps; other code is unchanged. */
export function inSteps(code: CodeObject): Steps {
  if (!code.async && !code.generator) return { code, at: (offset) => offset };
  let steps = known.get(code);
  if (!steps) known.set(code, steps = build(code));
  return steps;
}

function build(code: CodeObject): Steps {
  const kind = code.registers.length, notices = kind + 1, list = kind + 2;
  const made: Instruction[] = [], spans: SourceSpan[] = [], offsets: Offset[] = [];
  code.instructions.forEach((instruction, offset) => {
    offsets.push(made.length);
    const wait = waitOf(instruction, awaitKind(code, offset));
    if (wait) {
      const { src, onReturn } = wait;
      made.push(
        { op: "const", dst: kind, value: wait.kind },
        { op: "const", dst: notices, value: onReturn !== null },
        {
          op: "array",
          dst: list,
          elements: [kind, src, notices].map((register) => ({ kind: "value", register })),
        },
        { op: "yield", dst: wait.dst, src: list, onReturn },
      );
    } else made.push(instruction);
    while (spans.length < made.length) spans.push(code.spans[offset] ?? code.span);
  });
  offsets.push(made.length);
  const at = (offset: Offset): Offset => {
    const found = offsets[offset];
    invariant(found !== undefined, `Expected an offset of ${code.name} but found ${offset}`);
    return found;
  };
  const nameless = { name: null, cell: false };
  return {
    at,
    code: derivedCode(code, {
      async: false,
      generator: true,
      instructions: made.map((instruction) => moved(instruction, at)),
      spans,
      handlers: code.handlers.map((entry): ExceptionEntry => ({
        ...entry,
        start: at(entry.start),
        end: at(entry.end),
        target: at(entry.target),
      })),
      registers: [...code.registers, nameless, nameless, nameless],
    }),
  };
}

/** Returns the kind of wait of an `await`. */
export function awaitKind(code: CodeObject, offset: Offset): "await" | "result" | "returned" {
  const wait = code.instructions[offset], next = code.instructions[offset + 1];
  if (wait?.op !== "await" || !wait.returns) return "await";
  const isLast = next?.op === "return" && next.src === wait.dst && handlersAt(code, offset).length === 0;
  return isLast ? "result" : "returned";
}

/** A wait of the original. */
function waitOf(instruction: Instruction, kind: ReturnType<typeof awaitKind>) {
  switch (instruction.op) {
    case "await": {
      const { src, dst } = instruction;
      return { kind, src, dst, onReturn: null } as const;
    }
    case "yield":
      return {
        kind: "yield",
        src: instruction.src,
        dst: instruction.dst,
        onReturn: instruction.onReturn,
      } as const;
    case "yieldDelegate": {
      const { source: src, dst, onReturn } = instruction;
      return { kind: "delegate", src, dst, onReturn } as const;
    }
    default:
      return null;
  }
}

function moved(instruction: Instruction, at: Steps["at"]): Instruction {
  switch (instruction.op) {
    case "jump":
    case "jumpIf":
      return { ...instruction, target: at(instruction.target) };
    case "yield":
      return { ...instruction, onReturn: instruction.onReturn === null ? null : at(instruction.onReturn) };
    default:
      return instruction;
  }
}

/** Derived from the original, so that the printer still finds the text of nested classes. */
export function derivedCode(code: CodeObject, changed: Partial<CodeObject>): CodeObject {
  return Object.create(
    code,
    Object.fromEntries(Object.entries(changed).map(([key, value]) => [key, { value, enumerable: true }])),
  );
}
