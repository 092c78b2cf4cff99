/**
 * Generates the ends of functions that wait: generated code returns the wait, with a continuation for each of its
 * outcomes. Invariant: between a call that is left to plain code and the wait for its result nothing else runs.
 */
import { invariant } from "../../base/errors.ts";
import type { CodeObject } from "../bytecode/code.ts";
import type { InstructionOf, Offset, Register } from "../bytecode/instruction.ts";
import { handlersAt } from "../bytecode/effects.ts";
import { liveRegisters } from "../bytecode/liveness.ts";
import type { ModifiedCode } from "../codegen/modified.ts";
import { awaitKind } from "./steps.ts";
import { asyncCall, asyncGeneratorOf, generatorOf, type Waiting, waiting } from "./suspension.ts";
import type { Frame } from "../trace/interpreter.ts";
import type { Value } from "../variables/value.ts";
import {
  callersOf,
  callText,
  type End,
  type Handled,
  handlerWay,
  type Tail,
  valuesOf,
  type Way,
  wayOn,
} from "./ways.ts";
import { describe, plainStatements, type PlainStep, plainStep } from "./plain_steps.ts";

/**
 * The statements for a function that waits or becomes a generator, with a continuation for each outcome of the wait; if
 * it was called in the trace, its callers continue with its promise. Null if it does neither.
 */
export function waitTail(end: End): Tail | null {
  const { frames } = end, frame = frames.at(-1);
  invariant(frame, "Expected a frame");
  const { unit, modes: { entered } } = end;
  // Later calls of it run in other modes
  const inner: End = { unit, frames: [frame], modes: { now: entered, entered } };
  const wait = pieceAt(inner, frame) ?? stepAndWait(inner, frame, () => plainStep(end));
  if (!wait || frames.length === 1) return wait;
  const callers = callersOf(end);
  if (!callers) return null;
  const makesPromise = frame.completion.kind === "promise";
  return {
    needed: [...wait.needed, ...valuesOf(callers.way)],
    write: (out) => {
      const made = out.names.fresh(makesPromise ? "promise" : "generator");
      const [open, close] = makesPromise
        ? [`${out.constants.name(asyncCall, "$async")}(() => {`, "});"]
        : ["(() => {", "})();"];
      return [
        `const ${made} = ${open}`,
        ...wait.write(out).map((line) => `  ${line}`),
        close,
        callText(callers.way, out, callers.given(made)),
      ];
    },
  };
}

/** Returns the tail for a function that waits, becomes a generator, or ends as an async function that was called. */
function pieceAt(end: End, frame: Frame): Tail | null {
  const { code, pc, callee } = frame, instruction = code.instructions[pc];
  switch (instruction?.op) {
    case "return": {
      const value = frame.read(instruction.src);
      if (frame.completion.kind !== "promise" || !value) return null;
      return { needed: [value], write: ({ rebuild }) => [`return ${rebuild.value(value)};`] };
    }
    case "generatorStart": {
      const way = wayOn(end, { depth: 1, pc: pc + 1, given: [] });
      if (!way || !callee) return null;
      return {
        needed: [...valuesOf(way), callee],
        write: (out) => {
          const make = out.constants.name(code.async ? asyncGeneratorOf : generatorOf, "$generator");
          return [
            `return ${make}(${out.rebuild.value(callee)}, () => { ${callText(way, out, new Map())} });`,
          ];
        },
      };
    }
    case "await":
      return waitOn(frame, instruction.src, waitFor(end, frame, awaitAt(code, pc, instruction)));
    case "yield": {
      const { src, dst, onReturn } = instruction;
      return waitOn(frame, src, waitFor(end, frame, { kind: "yield", at: pc, dst, onReturn }));
    }
    case "yieldDelegate": {
      const { source, dst, onReturn } = instruction;
      return waitOn(frame, source, waitFor(end, frame, { kind: "delegate", at: pc, dst, onReturn }));
    }
    default:
      return null;
  }
}

/**
 * The tail for plain code whose result its function awaits next, which needs no unit in between. Null for other
 * instructions.
 */
function stepAndWait(end: End, frame: Frame, stepAt: () => PlainStep | null): Tail | null {
  const { code, pc } = frame, next = code.instructions[pc + 1], step = next?.op === "await" ? stepAt() : null;
  if (next?.op !== "await" || !step || step.writes.length !== 1 || !step.writes.includes(next.src)) {
    return null;
  }
  const handlers = [pc, pc + 1].map((at) => handlersAt(code, at)[0]?.target), [target] = handlers;
  // What it gives is in no register of the trace
  const isRead = [pc + 2, ...(target === undefined ? [] : [target])].some((at) =>
    next.src !== next.dst && liveRegisters(code, at).has(next.src)
  );
  if (isRead || target !== handlers[1]) return null;
  const wait = waitFor(end, frame, awaitAt(code, pc + 1, next));
  if (!wait) return null;
  const { src } = next, live = new Set([src]), { thrown } = wait;
  return {
    needed: [...step.needed, ...wait.needed],
    write: (out) => [
      ...step.before(out),
      ...plainStatements(out, { frame, writes: step.writes, live, thrown }, {
        call: step.call(out),
        rest: (given) => wait.write(out, given.get(src) ?? ""),
      }),
    ],
  };
}

/** A wait of a function: its kind, its place, and the register of its outcome. */
interface WaitAt {
  readonly kind: Waiting["kind"];
  readonly at: Offset;
  readonly dst: Register;
  readonly onReturn: Offset | null;
}

const awaitAt = (code: CodeObject, at: Offset, { dst }: InstructionOf<"await">): WaitAt => ({
  kind: awaitKind(code, at),
  at,
  dst,
  onReturn: null,
});

/** A wait with its continuations, for the text of what it waits for. */
interface WaitTail {
  readonly needed: readonly Value[];
  readonly thrown: Handled | null;
  readonly write: (out: ModifiedCode, operand: string) => readonly string[];
}

/** The tail for a wait for a value of the trace. */
function waitOn(frame: Frame, on: Register, wait: WaitTail | null): Tail | null {
  const value = frame.read(on);
  return wait && value
    ? { needed: [value, ...wait.needed], write: (out) => wait.write(out, out.rebuild.value(value)) }
    : null;
}

function waitFor(end: End, frame: Frame, { kind, at, dst, onReturn }: WaitAt): WaitTail | null {
  const way = wayOn(end, { depth: 1, pc: at + 1, given: [dst] });
  const thrown = handlerWay(end);
  const returned = onReturn === null ? null : wayOn(end, { depth: 1, pc: onReturn, given: [dst] });
  if (!way || thrown === "none" || (onReturn !== null && !returned)) return null;
  return {
    needed: [...valuesOf(way), ...valuesOf(thrown?.way ?? null), ...valuesOf(returned)],
    thrown,
    write: (out, operand) => {
      const { constants, names } = out, given = names.fresh("given");
      const wait = constants.name(waiting, "$wait");
      const goOn = (to: Way, register: Register) => callText(to, out, new Map([[register, given]]));
      return [
        `// ${describe(frame.code, at)}`,
        `return ${wait}(${JSON.stringify(kind)}, ${operand}, {`,
        `  next: (${given}) => { ${goOn(way, dst)} },`,
        `  throw: (${given}) => { ${thrown ? goOn(thrown.way, thrown.register) : `throw ${given};`} },`,
        `  return: ${returned ? `(${given}) => { ${goOn(returned, dst)} }` : "null"},`,
        "});",
      ];
    },
  };
}
