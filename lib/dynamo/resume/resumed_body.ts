/**
 * The rest of a program as the body of a unit, by its plan: frames at the planned positions, and plain execution: the
 * printed rest of the innermost frame, whose result goes to the printed rest of the next. Invariant: an exception
 * reaches the handler that it would have reached in the original.
 */
import { isReference } from "../../base/tree.ts";
import { apply, withRuntimeBuiltins } from "../../base/own_builtins.ts";
import { invariant } from "../../base/errors.ts";
import type { FreeForm } from "../bytecode/print_types.ts";
import type { CodeObject } from "../bytecode/code.ts";
import type { Register } from "../bytecode/instruction.ts";
import { doneByThrowing } from "../bytecode/effects.ts";
import { UNINITIALIZED as TDZ } from "../bytecode/runtime.ts";
import { type CapturedValue, capturedValue } from "./captured.ts";
import { cellOfBox, isBox } from "./cells.ts";
import { infoOf } from "../functions/functions.ts";
import { noteBox, noteFunction } from "../disk_cache/noted_reads.ts";
import { type Printed, printRest } from "./printed.ts";
import { inSteps, type Wait } from "./steps.ts";
import type { Parameter, PlannedCompletion, PlannedFrame, ResumePlan } from "./resume_plan.ts";
import { argumentSource, knownSource } from "../source.ts";
import { cellValue } from "../trace/bindings.ts";
import { type Completion, Frame, type FrameBindings, type Interpreter } from "../trace/interpreter.ts";
import { positionOf } from "../trace/positions.ts";
import { throughRegions } from "../../tensor/modes.ts";
import { readsOf, takeResult } from "./iterator_results.ts";
import { asyncCall, waitsOf } from "./suspension.ts";
import type { UnitBody } from "../cache/unit.ts";
import { ObjectValue, UNDEFINED, UNINITIALIZED, type Value } from "../variables/value.ts";
import { liveRegisters } from "../bytecode/liveness.ts";

/** The body of a resumed unit. */
export function resumedBody(plan: ResumePlan, name: string): UnitBody {
  return {
    name,
    resumed: plan,
    parameters: plan.parameters.map((p) => p.name),
    scalars: new Set(plan.scalars),
    variables: new Set(plan.parameters.keys().filter((index) => isVariable(plan, index))),
    place() {
      const inner = plan.frames.at(-1);
      return inner ? positionOf(inner.code, inner.pc) : null;
    },
    begin: (m, _self, args) => beginFrames(m, plan, args),
    runPlain: (_self, args) => runPlain(plan, args),
  };
}

/** Returns whether a parameter is a variable that closures share. */
function isVariable({ frames, parameters }: ResumePlan, index: number): boolean {
  const parameter = parameters[index];
  return parameter?.kind === "captured" ? parameter.form === "cell" : parameter?.kind === "register" &&
    frames[parameter.frame]?.code.registers[parameter.register]?.cell === true;
}

/** The frames of the plan, with the arguments in place. */
function beginFrames(m: Interpreter, plan: ResumePlan, args: readonly unknown[]): readonly Frame[] | string {
  const wrapped = plan.parameters.map((parameter, i): Value =>
    wrapParameter(m, plan, { parameter, index: i, value: args[i] })
  );
  const frames: Frame[] = [];
  for (const [i, planned] of plan.frames.entries()) {
    const bindings = bindingsOf(plan, { frame: i, planned, wrapped, args });
    if (typeof bindings === "string") return bindings;
    const completion = completionOf(plan, i, wrapped);
    const callee = calleeOf(m, plan, i, wrapped);
    const frame = new Frame(bindings, planned.code, callee, UNDEFINED, [], UNDEFINED, completion);
    frame.pc = planned.pc;
    frame.rules = planned.rules;
    plan.given[i]?.registers.forEach((at, register) => frame.registers[register] = wrapped[at]);
    frames.push(frame);
  }
  return frames;
}

function wrapParameter(
  m: Interpreter,
  plan: ResumePlan,
  { parameter, index, value }: { parameter: Parameter; index: number; value: unknown },
): Value {
  const source = argumentSource(parameter.name, index);
  const code = plan.frames[parameter.frame]?.code;
  if (isVariable(plan, index) && isBox(value)) {
    noteBox(cellOfBox(value));
    const variable = parameter.kind === "captured"
      ? code?.free[parameter.index]?.name
      : parameter.kind === "register"
      ? code?.registers[parameter.register]?.name
      : null;
    return cellValue(m, variable ?? "cell", { kind: "box", cell: cellOfBox(value), source });
  }
  if (value === TDZ) {
    m.output.guard({ kind: "constant", source, value: TDZ });
    return UNINITIALIZED;
  }
  return m.wrapper.wrap(value, source);
}

function calleeOf(
  m: Interpreter,
  plan: ResumePlan,
  frame: number,
  wrapped: readonly Value[],
): ObjectValue | null {
  const known = plan.frames[frame]?.callee;
  if (known) {
    noteFunction(known);
    const value = m.wrapper.object(known, knownSource("callee", known));
    return value.kind === "object" ? value : null;
  }
  const value = wrapped[plan.given[frame]?.callee ?? -1];
  return value?.kind === "object" ? value : null;
}

function bindingsOf(
  plan: ResumePlan,
  { frame, planned, wrapped, args }: {
    frame: number;
    planned: PlannedFrame;
    wrapped: readonly Value[];
    args: readonly unknown[];
  },
): FrameBindings | string {
  if (planned.bindings === "made") {
    const captured = plan.given[frame]?.captured;
    const free = planned.code.free.map((_, index): Value => wrapped[captured?.get(index) ?? -1] ?? UNDEFINED);
    return { kind: "made", free };
  }
  if (planned.real) return planned.real;
  const fn = args[plan.given[frame]?.callee ?? -1];
  const info = typeof fn === "function" ? infoOf(fn) : null;
  return info?.kind === "function"
    ? { kind: "real", binding: info.binding }
    : "a function without accessible source";
}

function completionOf(plan: ResumePlan, frame: number, wrapped: readonly Value[]): Completion {
  const completion = plan.frames[frame]?.completion;
  invariant(completion, "Expected a completion");
  if (completion.kind !== "construct") return completion;
  const object = wrapped[plan.given[frame]?.construction ?? -1];
  invariant(object instanceof ObjectValue, "Expected the object under construction");
  return { kind: "construct", register: completion.register, object };
}

// ---- plain execution

/** The continuation of one frame in plain execution, with values for its registers. */
interface PlainFrame {
  readonly planned: PlannedFrame;
  readonly registers: Map<Register, unknown>;
  readonly free: readonly { readonly form: FreeForm; readonly value: unknown }[];
  readonly callee: unknown;
  readonly construction: unknown;
}

function plainFrame(plan: ResumePlan, frame: number, args: readonly unknown[]): PlainFrame {
  const planned = plan.frames[frame], given = plan.given[frame];
  invariant(planned && given, "Expected a frame");
  const registers = new Map<Register, unknown>();
  for (const [register, at] of given.registers) registers.set(register, args[at]);
  const callee = given.callee === null ? planned.callee ?? undefined : args[given.callee];
  const construction = given.construction === null ? undefined : args[given.construction];
  const info = planned.real ?? (typeof callee === "function" ? infoOf(callee) : null);
  const free = planned.code.free.map((_, index): CapturedValue => {
    if (planned.bindings === "made") {
      const at = given.captured.get(index) ?? -1;
      return { form: formOf(plan.parameters[at]) ?? "value", value: args[at] };
    }
    if (!info || !("binding" in info)) return { form: "value", value: undefined };
    return capturedValue(info.binding(index), (because) => {
      throw new TypeError(because);
    });
  });
  return { planned, registers, free, callee, construction };
}

/** How a parameter passes a captured variable; null for other parameters. */
const formOf = (parameter: Parameter | undefined): "value" | "cell" | null =>
  parameter?.kind === "captured" ? parameter.form : null;

/** The rest of a frame's function from an offset. Throws UnsupportedSyntax. */
function restOf(code: CodeObject, pc: number, forms: (index: number) => FreeForm): Printed {
  const steps = inSteps(code);
  return printRest(steps.code, {
    entry: steps.at(pc),
    parameters: [...liveRegisters(code, pc)],
    name: code.name || "rest",
    forms,
  });
}

/** Checks that a plan can run without tracing, whatever happens in it. Throws UnsupportedSyntax. */
export function checkPlain(plan: ResumePlan): void {
  plan.frames.forEach(({ code, pc, real }, frame) => {
    const forms = (index: number): FreeForm => {
      const captured = formOf(plan.parameters[plan.given[frame]?.captured.get(index) ?? -1]);
      if (captured) return captured;
      const found = real?.binding(index).kind ?? (code.free[index]?.reassigned ? "cell" : "value");
      return found === "cell" ? "live" : found === "private" ? "private" : "value";
    };
    restOf(code, frame === plan.frames.length - 1 ? pc : pc + 1, forms);
    for (const { start, end, target } of code.handlers) {
      if (start <= pc && pc < end) restOf(code, target, forms);
    }
  });
}

/** Runs the rest of one frame from an offset. */
function runRest(frame: PlainFrame, pc: number): unknown {
  const { code } = frame.planned;
  const { run, values } = withRuntimeBuiltins(() => {
    const printed = restOf(code, pc, (i) => frame.free[i]?.form ?? "value");
    const values = [...liveRegisters(code, pc)].map((r) => frame.registers.get(r));
    return { run: printed.make(frame.free.map((f) => f.value), frame.callee), values };
  });
  const result: unknown = apply(run, undefined, values);
  // Printed as a generator of its waits
  return code.async || code.generator ? waitsOf(result as Generator<Wait, unknown, unknown>) : result;
}

/**
 * Passes an error of the awaited value to the frame's handler and returns its offset. Throws the error if there is
 * none.
 */
function handle({ planned: { code, pc }, registers }: PlainFrame, error: unknown): number {
  const handler = code.handlers.find((h) => h.start <= pc && pc < h.end);
  if (!handler) throw error;
  const done = doneByThrowing(code.instructions[pc]);
  if (done !== null) registers.set(done, true);
  registers.set(handler.register, error);
  return handler.target;
}

/** Runs the plan without tracing. */
function runPlain(plan: ResumePlan, args: readonly unknown[]): unknown {
  return throughRegions((enter) =>
    runFrames(plan, args, ({ completion }) => {
      if (completion.kind === "ambientMode") enter(completion.former);
    })
  );
}

/** Runs the frames of a plan, each after the one above has ended; calls `ended` for each. */
function runFrames(
  plan: ResumePlan,
  args: readonly unknown[],
  ended: (frame: PlannedFrame) => void,
): unknown {
  let result: unknown, error: unknown, failed = false;
  const attempt = (action: () => void): void => {
    try {
      action();
    } catch (thrown) {
      failed = true;
      error = thrown;
    }
  };
  for (let i = plan.frames.length - 1; i >= 0; i--) {
    const frame = withRuntimeBuiltins(() => plainFrame(plan, i, args));
    // Beyond its end a list has the properties that the program gives all lists
    const above = i + 1 < plan.frames.length
      ? withRuntimeBuiltins(() => plainFrame(plan, i + 1, args))
      : null;
    const { planned: { pc, completion } } = frame;
    if (above) ended(above.planned);
    const run = (): unknown => {
      if (!above) return runRest(frame, pc);
      const { planned: { completion }, construction } = above;
      if (!failed) attempt(() => withRuntimeBuiltins(() => deliver(frame, completion, result, construction)));
      if (!failed) return runRest(frame, pc + 1);
      failed = false;
      return runRest(frame, withRuntimeBuiltins(() => handle(frame, error)));
    };
    attempt(() => result = completion.kind === "promise" ? asyncCall(run) : run());
  }
  if (failed) throw error;
  return result;
}

/** Delivers a callee's result to the waiting frame. */
function deliver(
  frame: PlainFrame,
  completion: PlannedCompletion,
  result: unknown,
  construction: unknown,
): void {
  const { registers } = frame;
  switch (completion.kind) {
    case "register":
    case "promise":
      registers.set(completion.register, result);
      return;
    case "construct":
      registers.set(completion.register, isReference(result) ? result : construction);
      return;
    case "step": {
      const [done, value] = takeResult(result, readsOf(completion));
      registers.set(completion.done, done);
      registers.set(completion.value, value);
      return;
    }
    case "close":
      takeResult(result, readsOf(completion));
      return;
    case "ambientMode":
      return deliver(frame, completion.outer, result, construction);
    case "discard":
    case "root":
      return;
    default:
      completion satisfies never;
  }
}
