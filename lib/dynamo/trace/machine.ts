/**
 * The symbolic interpreter: runs frames over traced values until the program returns, throws, or reaches something that
 * cannot be traced. Invariant: frames, values and graph always represent the state before or after the current
 * instruction, never in between.
 */
import type { EarlyStates } from "../../optim/early_states.ts";
import { InternalError, invariant, Unsupported, type UserFrame } from "../../base/errors.ts";
import { config } from "../../base/config.ts";
import { logs } from "../../base/logs.ts";
import type { SourcePosition } from "../../graph/node.ts";
import { type CallTarget, findTarget } from "../../ops/table.ts";
import { DataDependentSize } from "../../sym/decide.ts";
import { Tensor } from "../../tensor/tensor.ts";
import { type RegionModes, regionModes } from "../../tensor/modes.ts";
import { type BreakCause, breakGraph, breakReason, BreakSignal } from "../break_reasons.ts";
import type { CodeObject } from "../bytecode/code.ts";
import type { Opcode } from "../bytecode/instruction.ts";
import { doneByThrowing, readsFrame } from "../bytecode/effects.ts";
import { isErrorAt } from "../functions/error_on_break.ts";
import { missingInstructions } from "../functions/functions.ts";
import type { LiveCell } from "../frame/info.ts";
import { CellValue, constant, ObjectValue, type TensorValue, TRUE, type Value } from "../variables/value.ts";
import type { Wrapper } from "../variables/wrap.ts";
import { callFunction, codeOf, construct, generatorPrototype, makesPrivate } from "./calls.ts";
import { delegate } from "./delegation.ts";
import { execute } from "./execute.ts";
import { beginIteration } from "./execute_iteration.ts";
import {
  type BoundCode,
  type CallMemory,
  type CallRequest,
  type CallResult,
  type Completion,
  type ConstructRequest,
  Frame,
  type Interpreter,
  type LaterFunction,
  type OpenBatch,
  ProgramThrow,
  PUSHED,
} from "./interpreter.ts";
import { iteratorResult, takeApart } from "./iteration.ts";
import { endedCall } from "./later_calls.ts";
import { findProperty } from "./objects.ts";
import { newObject } from "./contents.ts";
import { newError } from "./builtins/errors.ts";
import { writeAs } from "./proxies.ts";
import {
  handlerOf,
  isHandled,
  isResumable,
  recursionStep,
  refuseLeavingRegion,
  refuseUnresumable,
} from "./resumable.ts";
import type { OutputGraph } from "./output_graph.ts";
import { positionsOf, userFrames } from "./positions.ts";
import { StandIns } from "./stand_ins.ts";
import { StepStart } from "./step_start.ts";
import { stepText } from "./step_text.ts";
import { guardRefusal } from "./refusals.ts";
import { arisesLater, type Interruption, Restart } from "./restart.ts";
import type { ExecutionContext } from "./step.ts";
import { rowsOf } from "./tensor_methods.ts";

/** The outcome of a trace. */
export type Outcome =
  | { readonly kind: "return"; readonly value: Value }
  /** A break at the instruction of the top frame, which has not been executed. */
  | { readonly kind: "break"; readonly frames: readonly Frame[]; readonly cause: BreakCause }
  /** At a jump of the top frame that the graph decides. */
  | { readonly kind: "branch"; readonly frames: readonly Frame[] }
  /** The trace would not end in reasonable time. */
  | { readonly kind: "endless"; readonly because: string }
  /** The program throws to its caller: it is left to plain JavaScript. */
  | {
    readonly kind: "escape";
    readonly because: string;
    /** Where it was thrown. */
    readonly stack: readonly UserFrame[];
    /** The thrown value, if the trace knows it. */
    readonly thrown: Value | null;
  };

/** The services that upper layers provide for the machine. */
export type MachineContext = Omit<ExecutionContext, "branch"> & {
  /** A function of polyfills.ts by its name. */
  internalFunction(name: string): object;
  /** Returns whether a function's frames are dyn's own. */
  isInternal(code: CodeObject): boolean;
};

/** Ends the trace at a jump. */
class BranchSignal extends Error {
  constructor() {
    super("A branch on a tensor");
  }
}

/** Instructions that determine where to continue. */
const CONTROL: ReadonlySet<Opcode> = new Set<Opcode>([
  "jump",
  "jumpIf",
  "return",
  "throw",
  "yield",
  "yieldDelegate",
  "await",
]);

const MOST_STEPS = 1_000_000, DEEPEST = 3000;

export class Machine implements Interpreter {
  readonly frames: Frame[] = [];
  readonly openIterators: ObjectValue[] = [];
  readonly deferred: CallRequest[] = [];
  readonly laterCalls: ObjectValue[] = [];
  readonly backwards: number[] = [];
  readonly regionDepths: number[] = [];
  later: LaterFunction | null = null;
  forwardTransforms = 0;
  #batch: OpenBatch | null = null;
  firstWrite = Infinity;
  readonly tensorPrototype: object = Tensor.prototype;
  readonly cells: Map<LiveCell, CellValue> = new Map();
  readonly standIns = new StandIns();
  /** The modes under which the trace begins. */
  readonly entered: RegionModes = regionModes();
  gradEnabled = this.entered.gradEnabled;
  inference = this.entered.inference;
  autocast: Interpreter["autocast"] = this.entered.autocast;
  /** Number of instructions started. */
  steps = 0;
  readonly #start = new StepStart();
  #returned: Value | null = null;
  /** Number of nested calls whose frames are to be marked. */
  #marking = 0;
  #async = false;
  /** An exception that was raised to determine whether it is handled. */
  #doubt: { readonly value: Value; readonly step: number; readonly cause: BreakCause } | null = null;
  readonly #execution: ExecutionContext;

  /** The innermost run over a batch; runs that an exception has left are over. */
  get batch(): OpenBatch | null {
    while (this.#batch !== null && this.frames.length <= this.#batch.depth) this.#batch = this.#batch.outer;
    return this.#batch;
  }

  set batch(batch: OpenBatch | null) {
    this.#batch = batch;
  }

  constructor(
    readonly output: OutputGraph,
    readonly wrapper: Wrapper,
    readonly context: MachineContext,
    /** Interruptions from earlier attempts, by number of the instruction. */
    readonly interruptions: ReadonlyMap<number, Interruption>,
    readonly earlyStates: EarlyStates,
    readonly memory: CallMemory,
  ) {
    this.#execution = {
      infoOf: (fn) => context.infoOf(fn),
      modelOf: (fn) => context.modelOf(fn),
      constructorOf: (fn) => context.constructorOf(fn),
      branch: () => {
        throw new BranchSignal();
      },
    };
  }

  /** Returns whether the function itself is async and not a generator. */
  get isAsync(): boolean {
    return this.#async;
  }

  get callers(): readonly Frame[] {
    return this.frames;
  }

  get top(): Frame {
    const top = this.frames.at(-1);
    invariant(top, "Expected a frame");
    return top;
  }

  /** Runs until the trace ends. Throws Restart and SymbolicLimit. */
  run(): Outcome {
    const outcome = this.#run(), doubt = this.#doubt;
    if (this.output.refusedSelection) throw this.output.refusedSelection;
    if (doubt && !(outcome.kind === "escape" && outcome.thrown === doubt.value)) {
      // The exception is handled, but it is unknown what the instruction had done before.
      throw new Restart(doubt.step, { kind: "break", cause: doubt.cause });
    }
    return outcome;
  }

  #run(): Outcome {
    const isFollowed = logs.enabled("dynamo", "debug");
    while (this.#returned === null) {
      const frame = this.top;
      const instruction = frame.code.instructions[frame.pc];
      // The message would be built for each instruction
      if (!instruction) {
        throw new InternalError(`Expected an instruction at ${frame.pc} of ${frame.code.name}`);
      }
      const step = this.steps++;
      frame.waitingSince = step;
      if (isFollowed) logs.emit("dynamo", () => stepText(this.frames, step), "debug");
      try {
        const planned = this.interruptions.get(step);
        if (planned?.kind === "break") {
          // Other breaks were refused where they arose, if necessary.
          if (arisesLater(planned.cause)) this.#refuse(planned.cause);
          return this.#breakHere(planned.cause);
        }
        if (planned?.kind === "raise") {
          if (planned.certain) guardRefusal(this, () => execute(this, this.#execution, frame, instruction));
          throw this.#exception(planned, step);
        }
        if (
          config.forceBreak === frame.pc && this.frames.length === 1 && step > 0 &&
          !CONTROL.has(instruction.op) && !readsFrame(instruction)
        ) {
          breakGraph("forced");
        }
        if (step > MOST_STEPS) {
          return { kind: "endless", because: `the trace exceeds ${MOST_STEPS} instructions` };
        }
        this.#start.note(this);
        execute(this, this.#execution, frame, instruction);
        if (frame.rules.runsOutside && this.#start.hasRecorded(this)) {
          this.restartAt(step, {
            kind: "disabled",
            detail: `${frame.code.name || "<anonymous>"}, without what it calls`,
          });
        }
      } catch (signal) {
        const outcome = this.#handle(signal);
        if (outcome) return outcome;
      }
    }
    return { kind: "return", value: this.#returned };
  }

  #handle(signal: unknown): Outcome | null {
    if (
      signal instanceof ProgramThrow || (signal instanceof BreakSignal && signal.reason.kind === "throws")
    ) {
      refuseLeavingRegion(this.frames, this.regionDepths.at(-1));
    }
    if (signal instanceof ProgramThrow) {
      const stack = userFrames(this.frames);
      if (this.#unwind(signal.value)) return null;
      const { value } = signal;
      const known = value.kind === "object" && value.exotic.kind === "thrown"
        ? value.exotic.cause.detail
        : "";
      return { kind: "escape", because: known, stack, thrown: value };
    }
    if (signal instanceof DataDependentSize) {
      return this.#handle(new BreakSignal({ kind: "dataDependentSize", detail: signal.message }));
    }
    if (signal instanceof BranchSignal) {
      this.#refuse({ kind: "genericJump", detail: "" });
      refuseUnresumable(this.frames, { kind: "genericJump", detail: "" }, (each) => this.#isResumable(each));
      return { kind: "branch", frames: [...this.frames] };
    }
    if (signal instanceof BreakSignal) {
      const { reason, refused, error } = signal;
      const now = this.steps - 1, top = this.frames.at(-1), began = top ? top.waitingSince : now;
      if (reason.kind === "throws") {
        if (!isHandled(this.frames)) {
          return { kind: "escape", because: reason.detail, stack: userFrames(this.frames), thrown: null };
        }
        if (began === now) throw new Restart(now, { kind: "raise", cause: reason, certain: refused, error });
      }
      this.#refuse(reason);
      // Callees have finished (the last breaks at its end if its caller waits since before the trace), or it recorded.
      if (began !== now || this.#start.hasChanged(this)) {
        throw new Restart(began ?? now, { kind: "break", cause: reason });
      }
      return this.#breakHere(reason);
    }
    throw signal;
  }

  /** Throws Unsupported if the program does not allow a break. */
  #refuse(cause: BreakCause): void {
    if (isErrorAt(this.frames)) throw new Unsupported(breakReason(cause, userFrames(this.frames)));
  }

  #breakHere(reason: BreakCause): Outcome {
    refuseUnresumable(this.frames, reason, (each) => this.#isResumable(each));
    return { kind: "break", frames: [...this.frames], cause: reason };
  }

  /** An error of the engine, or a stand-in for an exception that only plain JavaScript can create. */
  #exception(
    { cause, certain, error }: Extract<Interruption, { kind: "raise" }>,
    step: number,
  ): ProgramThrow {
    if (error) return new ProgramThrow(newError(this, error.constructor, [constant(error.message)]));
    const value = new ObjectValue({ kind: "thrown", step, cause }, null, null, null);
    if (!certain) this.#doubt ??= { value, step, cause };
    return new ProgramThrow(value);
  }

  /** Returns whether generated code can resume in a frame; it cannot initialise fields or private members. */
  #isResumable(frame: Frame): boolean {
    const { code, callee, pc } = frame;
    if (code.kind === "derivedConstructor") {
      if (callee && makesPrivate(this, this.context, callee)) return false;
      if (code.instructions.some(({ op }, offset) => offset >= pc && op === "initFields")) return false;
    }
    return isResumable(frame, this.standIns);
  }

  /** Finds the handler of an exception; returns false if it leaves the program. */
  #unwind(value: Value): boolean {
    while (true) {
      const frame = this.frames.at(-1);
      if (!frame) return false;
      const handler = handlerOf(frame);
      if (handler) {
        const done = doneByThrowing(frame.code.instructions[frame.pc]);
        if (done !== null) frame.registers[done] = TRUE;
        frame.registers[handler.register] = value;
        frame.pc = handler.target;
        return true;
      }
      if (frame.completion.kind === "promise") {
        this.#endAsync(frame.completion.register, this.#rejected(value));
        return true;
      }
      this.frames.pop();
      this.#leave(frame);
      if (frame.completion.kind === "root") return false;
    }
  }

  /**
   * The promise of an async function that an exception leaves; breaks the graph if only plain JavaScript can create it.
   */
  #rejected(value: Value): Value {
    if (value.kind !== "object" || value.exotic.kind !== "thrown") return endedCall(this, value, true);
    const { cause, step } = value.exotic;
    return this.restartAt(step, cause);
  }

  /** An async function that was called ends without a wait. */
  #endAsync(register: number, promise: Value): void {
    const frame = this.frames.pop();
    invariant(frame, "Expected a frame");
    this.#leave(frame);
    this.memory.refuse();
    this.complete({ kind: "register", register }, promise);
  }

  /** Cleans up after a frame in all cases. */
  #leave(frame: Frame): void {
    const exotic = frame.generator?.exotic;
    if (exotic?.kind === "generator") exotic.state = "completed";
    for (let c = frame.completion; c.kind === "ambientMode"; c = c.outer) Object.assign(this, c.former);
    this.memory.abandon(frame);
  }

  restartAt(step: number, cause: BreakCause): never {
    this.#refuse(cause);
    throw new Restart(step, { kind: "break", cause });
  }

  raise(value: Value): never {
    throw new ProgramThrow(value);
  }

  push(frame: Frame): void {
    this.output.followed.add(frame.code);
    const missing = missingInstructions(frame.code);
    if (missing !== null) breakGraph("syntax", missing);
    const cause = { kind: "depth", detail: `${DEEPEST} nested calls` } as const;
    if (this.frames.length >= DEEPEST) this.restartAt(recursionStep(this.frames), cause);
    const recalled = this.#marking === 0 ? this.memory.recall(this, frame) : null;
    if (recalled) return this.complete(frame.completion, recalled);
    this.memory.begin(this, frame);
    if (this.frames.length === 0 && frame.code.async && !frame.code.generator) this.#async = true;
    [frame.internal, frame.calledAt] = [this.context.isInternal(frame.code), this.steps - 1];
    this.frames.push(frame);
  }

  codeOf(callee: ObjectValue): BoundCode | null {
    return codeOf(this.context, callee);
  }

  call(request: CallRequest): void {
    callFunction(this, this.context, request);
  }

  callMarked(request: CallRequest, mark: (frame: Frame) => void): void {
    const caller = this.top;
    this.#marking++;
    try {
      this.call(request);
    } finally {
      this.#marking--;
    }
    if (this.top !== caller) mark(this.top);
  }

  construct(request: ConstructRequest): void {
    construct(this, this.context, request);
  }

  assign(object: ObjectValue, key: string | symbol, value: Value, then: () => void): void {
    writeAs(
      this,
      object,
      { key, value, receiver: object },
      (done) => done ? then() : breakGraph("throws", "a write that is refused"),
    );
  }

  returnFrom(value: Value): void {
    const { completion } = this.top;
    if (completion.kind === "promise") return this.#endAsync(completion.register, endedCall(this, value));
    const frame = this.frames.pop();
    invariant(frame, "Expected a frame");
    this.memory.end(this, frame, value);
    this.#leave(frame);
    const result = frame.generator ? iteratorResult(this, value, true) : value;
    this.complete(frame.completion, result);
  }

  complete(completion: Completion, value: Value): void {
    switch (completion.kind) {
      case "root":
        this.#returned = value;
        return;
      case "register":
        this.top.registers[completion.register] = value;
        this.top.pc++;
        return;
      case "discard":
        this.top.pc++;
        return;
      case "close":
        if (value.kind !== "object" && value.kind !== "tensor") {
          return breakGraph("throws", "Iterator result is not an object");
        }
        this.top.pc++;
        return;
      case "construct":
        this.top.registers[completion.register] = value.kind === "object" || value.kind === "tensor"
          ? value
          : completion.object;
        this.top.pc++;
        return;
      case "iterator":
        return beginIteration(this, this.top, completion, value);
      case "step": {
        const { done, value: item } = takeApart(this, value, completion);
        this.top.registers[completion.done] = constant(done);
        this.top.registers[completion.value] = item;
        this.top.pc++;
        return;
      }
      case "ambientMode":
        // A body that pushed no frame leaves none behind either.
        Object.assign(this, completion.former);
        return this.complete(completion.outer, value);
      case "inside":
        return completion.then(value);
      case "promise":
        throw new InternalError("Expected a promise to be made where its function waits or ends");
      default:
        return completion satisfies never;
    }
  }

  opNamed(name: string): CallTarget {
    const target = findTarget(name);
    return target ?? breakGraph("tensorMethod", `${name} is not an op`);
  }

  plainProperty(object: ObjectValue, key: string | symbol): Value | null {
    const found = findProperty(this, object, key);
    if (found.kind === "getter") return breakGraph("opaqueObject", `the accessor ${String(key)}`);
    return found.kind === "value" ? found.value : null;
  }

  options(entries: Readonly<Record<string, Value>>): ObjectValue {
    return newObject(this, Object.entries(entries));
  }

  rowsOf(tensor: TensorValue): ObjectValue {
    return rowsOf(this, tensor);
  }

  callInternal(name: string, request: CallRequest): CallResult {
    const callee = this.wrapper.known(this.context.internalFunction(name), name);
    invariant(callee.kind === "object", "Expected a function");
    this.call({ ...request, callee });
    return PUSHED;
  }

  // ---- generators

  startGenerator(): void {
    const frame = this.top;
    const { generator, callee } = frame;
    invariant(generator?.exotic.kind === "generator" && callee, "Expected a generator");
    generator.prototype = generatorPrototype(this, callee);
    frame.pc++;
    this.frames.pop();
    generator.exotic.frame = frame;
    this.complete(frame.completion, generator);
  }

  suspend(value: Value): void {
    this.suspendWith(iteratorResult(this, value, false));
  }

  suspendWith(result: Value): void {
    const frame = this.top;
    const { generator } = frame;
    if (generator?.exotic.kind !== "generator") return breakGraph("generator", "yield");
    this.frames.pop();
    generator.exotic.state = "suspendedYield";
    generator.exotic.frame = frame;
    this.complete(frame.completion, result);
  }

  delegate(source: Value, dst: number): void {
    delegate(this, source, dst);
  }

  /** User frames, innermost last. */
  stack(): readonly SourcePosition[] {
    return positionsOf(this.frames);
  }
}
