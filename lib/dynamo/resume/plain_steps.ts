/**
 * Generates the instruction at which a trace has ended as plain JavaScript. Invariant: an exception reaches the handler
 * that it would reach in the program.
 */
import { invariant } from "../../base/errors.ts";
import type { CodeObject } from "../bytecode/code.ts";
import type { Opcode, Register } from "../bytecode/instruction.ts";
import { readsFrame } from "../bytecode/effects.ts";
import type { ModifiedCode } from "../codegen/modified.ts";
import { makeFunction, runningOf } from "./made_functions.ts";
import type { RegionModes } from "../../tensor/modes.ts";
import { stepCode } from "./printed.ts";
import type { Frame } from "../trace/interpreter.ts";
import { isOfLoop } from "../trace/resumed_iteration.ts";
import type { Value } from "../variables/value.ts";
import { caught, type End, type Handled, modesIn, modesText } from "./ways.ts";

const isOpaque = (value: Value): boolean => value.kind === "object" && value.exotic.kind === "opaque";

/** Instructions that are only valid inside their function. */
const SUSPENDS: ReadonlySet<Opcode> = new Set<Opcode>(["await", "yield", "yieldDelegate"]);

/** An instruction of the top frame as a call of plain code. */
export interface PlainStep {
  readonly reads: readonly Value[];
  readonly writes: readonly Register[];
  readonly needed: readonly Value[];
  /** The statements that precede the call. */
  readonly before: (out: ModifiedCode) => readonly string[];
  readonly call: (out: ModifiedCode) => string;
}

/** The instruction at which a trace has ended as plain code; null if it is only valid inside its function. */
export function plainStep(end: End): PlainStep | null {
  const { frames } = end, frame = frames.at(-1);
  invariant(frame, "Expected a frame");
  const { code, pc, info } = frame, instruction = code.instructions[pc], step = stepCode(code, pc);
  if (!step || !instruction || readsFrame(instruction) || SUSPENDS.has(instruction.op)) return null;
  const modes = modesIn(end, frames.length);
  const reads = step.reads.map((register) => {
    const value = frame.read(register);
    invariant(value, `Expected a value in register ${register}`);
    return value;
  });
  // The position of an iterator may be known in another call that the guards admit
  const advances = instruction.op === "iteratorNext" || instruction.op === "iteratorRest";
  const running = runningOf(frame);
  // The function that runs in a later call determines its variables
  const runs = running.kind === "each" ? frame.callee : null;
  return {
    reads,
    writes: step.writes,
    needed: [...reads, ...(info.kind === "made" ? info.free : []), ...(runs ? [runs] : [])],
    before: ({ rebuild }) =>
      reads.filter((v) => isOfLoop(v) || (advances && isOpaque(v))).map((v) =>
        `${rebuild.helper("forgetBegun")}(${rebuild.value(v)});`
      ),
    call: (out) => {
      const { rebuild, constants } = out;
      let callee = constants.name(makeFunction({ kind: "step", code, pc, running }), "$step");
      if (info.kind === "made") callee += `([${info.free.map((bound) => rebuild.value(bound)).join(", ")}])`;
      else if (runs) callee += `(${rebuild.value(runs)})`;
      return underText(`${callee}(${reads.map((v) => rebuild.value(v)).join(", ")})`, modes, out);
    },
  };
}

/** A call under the modes of the frame that makes it; null: those of the unit. */
export function underText(call: string, modes: RegionModes | null, { rebuild }: ModifiedCode): string {
  return modes === null ? call : `${rebuild.helper("underModes")}(${modesText(modes)}, () => ${call})`;
}

/** Plain code in place of an instruction of a frame: what it gives, and where an exception goes. */
interface Plain {
  readonly frame: Frame;
  readonly writes: readonly Register[];
  /** The registers that are read later. */
  readonly live: ReadonlySet<Register>;
  readonly thrown: Handled | null;
}

/** The statements of plain code; `then` are those that follow if it gives what is read later, `rest` the last. */
export function plainStatements(
  out: ModifiedCode,
  { frame: { code, pc }, writes, live, thrown }: Plain,
  { call, then, rest }: {
    readonly call: string;
    readonly then?: (given: ReadonlyMap<Register, string>) => readonly string[];
    readonly rest: (given: ReadonlyMap<Register, string>) => readonly string[];
  },
): readonly string[] {
  const { names } = out, given = new Map<Register, string>();
  const results = writes.map((register) => {
    const name = names.fresh(code.registers[register]?.name ?? "result");
    given.set(register, name);
    return name;
  });
  const wanted = writes.some((r) => live.has(r)), [only] = results;
  const pattern = results.length === 1 && only !== undefined
    ? only
    : `{ ${results.map((name, i) => `${i}: ${name}`).join(", ")} }`;
  const comment = `// ${describe(code, pc)}`;
  const after = [...(wanted ? then?.(given) ?? [] : []), ...rest(given)];
  if (!thrown) return [comment, wanted ? `const ${pattern} = ${call};` : `${call};`, ...after];
  const error = names.fresh("error");
  const assigned = results.length === 1 ? `${pattern} = ${call};` : `(${pattern} = ${call});`;
  return [
    comment,
    ...(wanted ? [`let ${results.join(", ")};`] : []),
    "try {",
    `  ${wanted ? assigned : `${call};`}`,
    `} catch (${error}) {`,
    ...caught(thrown, out, error),
    "}",
    ...after,
  ];
}

/** Returns the user's source at an instruction, in one line. */
export function describe(code: CodeObject, pc: number): string {
  const span = code.spans[pc] ?? code.span;
  const text = code.module.text.slice(span.start, span.end).replaceAll(/\s+/g, " ");
  return text.length > 120 ? `${text.slice(0, 117)}...` : text;
}
