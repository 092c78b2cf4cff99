/**
 * The state of the symbolic interpreter and the interfaces between its parts. Invariant: a step changes nothing
 * before it is certain to complete; otherwise it breaks the graph and leaves the frame unchanged.
 */
import type { EarlyStates } from "../../optim/early_states.ts";
import type { BreakCause } from "../break_reasons.ts";
import type { AutocastType } from "../../ops/autocast.ts";
import type { CallTarget } from "../../ops/table.ts";
import type { CodeObject } from "../bytecode/code.ts";
import type { FreeBinding, LiveCell } from "../frame/info.ts";
import { type FrameRules, NO_RULES } from "../functions/frame_rules.ts";
import type { CellValue, ObjectValue, TensorValue, Value } from "../variables/value.ts";
import type { Wrapper } from "../variables/wrap.ts";
import type { Node } from "../../graph/node.ts";
import type { GraphValue } from "../../ops/graph_builder.ts";
import type { ArgsOf, Params } from "../../ops/params.ts";
import type { OutputGraph } from "./output_graph.ts";
import type { StandIns } from "./stand_ins.ts";
import type { RegionModes } from "../../tensor/modes.ts";

/** How the frame below receives a callee's result. */
export type Completion =
  /** Stored in a register; the caller continues after its instruction. */
  | { readonly kind: "register"; readonly register: number }
  /** Ignored (setters, field initialisers). */
  | { readonly kind: "discard" }
  /** `iteratorClose`: ignored, but it must be an object. */
  | { readonly kind: "close" }
  /** `new`: an object result replaces the object under construction. */
  | { readonly kind: "construct"; readonly register: number; readonly object: ObjectValue }
  /** `getIterator`: the result is the iterator. */
  | { readonly kind: "iterator"; readonly iterator: number; readonly next: number }
  /** `iteratorNext`: the result is unpacked; the value of an elided item is not read. */
  | { readonly kind: "step"; readonly done: number; readonly value: number; readonly elided: boolean }
  /** Gradients or autocast were switched for the callee; the former state is restored. */
  | { readonly kind: "ambientMode"; readonly former: RegionModes; readonly outer: Completion }
  /** An async function was called: its promise is stored in a register. */
  | { readonly kind: "promise"; readonly register: number }
  /** The unit ends with the result. `fixed`: its function is the same in all calls. */
  | { readonly kind: "root"; readonly fixed: boolean }
  /** Continues inside an operation of the interpreter, which generated code cannot enter in the middle. */
  | { readonly kind: "inside"; readonly then: (value: Value) => void };

/** The free variables of a frame: those of a real function, or the values captured by a closure of the trace. */
export type FrameBindings =
  | { readonly kind: "real"; readonly binding: (index: number) => FreeBinding }
  | { readonly kind: "made"; readonly free: readonly Value[] };

/** Code with its captures. */
export interface BoundCode {
  readonly code: CodeObject;
  readonly bindings: FrameBindings;
}

/** One activation of a function. */
export class Frame {
  /**
   * Grows as it is written: the number of registers is unknown if the code has no instructions, which `push` refuses.
   */
  readonly registers: (Value | undefined)[] = [];
  pc = 0;
  /** The generator to which this frame belongs, while it runs. */
  generator: ObjectValue | null = null;
  constructor(
    readonly info: FrameBindings,
    readonly code: CodeObject,
    readonly callee: ObjectValue | null,
    readonly self: Value,
    readonly args: readonly Value[],
    readonly newTarget: Value,
    public completion: Completion,
  ) {}

  /** The value of a register; undefined if nothing has been written to it. */
  read(register: number): Value | undefined {
    const { registers, later } = this, value = registers[register];
    if (value !== undefined || later?.register !== register) return value;
    this.later = null;
    return registers[register] = later.make();
  }

  /** The arguments object that the code has put into a register, until it is used as a whole. */
  later: { readonly register: number; readonly make: () => ObjectValue } | null = null;
  /** The iterator to which `yield*` delegates. */
  delegates: { readonly iterator: ObjectValue; readonly next: Value } | null = null;
  /** How the generator was resumed while `yield*` delegates. */
  received: { readonly mode: "next" | "throw" | "return"; readonly value: Value } | null = null;
  rules: FrameRules = NO_RULES;
  /** Number of the call if the program has marked the function as a region; otherwise null. */
  regionCall: number | null = null;
  /** Number of the call if the function is a checkpoint's; otherwise null. */
  recomputed: number | null = null;
  /** Frames of dyn's own JavaScript stand-ins for builtins are not shown to users. */
  internal = false;
  /** Number of the instruction that called the function. */
  calledAt = 0;
  /** Number of the instruction that waits for the frame above; null: it began to wait before the trace. */
  waitingSince: number | null = null;
}

/** A function call, as builtin models see it. */
export interface CallRequest {
  readonly callee: ObjectValue;
  readonly self: Value;
  readonly args: readonly Value[];
  readonly completion: Completion;
}

/** A construction. */
export interface ConstructRequest {
  readonly callee: ObjectValue;
  readonly args: readonly Value[];
  readonly newTarget: ObjectValue;
  readonly completion: Completion;
}

/** The result of a builtin model, or a marker that a frame will deliver it. */
export type CallResult = Value | typeof PUSHED;

/** A frame was pushed that will deliver the result. */
export const PUSHED: unique symbol = Symbol("pushed");

/** Models a builtin. */
export type BuiltinModel = (machine: Interpreter, request: CallRequest) => CallResult;

/** A run of a function over a batch: traces calls on tensors that represent one element of it. */
export interface OpenBatch {
  /** The run inside which this one began. */
  readonly outer: OpenBatch | null;
  /** Number of frames at that time. */
  readonly depth: number;
  /** Traces a call of an op. */
  call(target: CallTarget, args: ArgsOf<Params, GraphValue>): Value;
  /** Lets gradients flow to a tensor. */
  beginHistory(tensor: TensorValue): TensorValue;
  /** A tensor to differentiate with respect to. */
  ownHistory(tensor: TensorValue): TensorValue;
  /** The tensor of a node. */
  tensorAt(node: Node): TensorValue | undefined;
  /** The tensor with leading batch dimension that an element represents; null if it has no batch. */
  wholeOf(element: TensorValue): TensorValue | null;
  /** Traces a call of `autograd.grad`. */
  gradients(request: CallRequest): Value;
}

/** The trace's record of calls, so that an equal one need not be traced again. */
export interface CallMemory {
  /** The result of a call that repeats an earlier one; null: it has to be traced. */
  recall(m: Interpreter, frame: Frame): Value | null;
  /** Called when a call begins. */
  begin(m: Interpreter, frame: Frame): void;
  /** Called when it has returned a result. */
  end(m: Interpreter, frame: Frame, value: Value): void;
  /** Called when it was left in any other way. */
  abandon(frame: Frame): void;
  /** Called when a variable was read. */
  fetched(value: Value): void;
  /** Makes the calls in progress depend on something that may differ for equal modules. */
  refuse(): void;
}

/** A function that is being traced and runs later. */
export interface LaterFunction {
  /** The objects of the trace that others than the function can change until then. */
  readonly shared: ReadonlySet<Value>;
}

/** Calls an op on traced values. */
export type CallOp = (target: CallTarget, args: readonly Value[]) => Value;

/** The part of the machine that is visible to the parts of the interpreter. */
export interface Interpreter {
  readonly memory: CallMemory;
  readonly output: OutputGraph;
  readonly wrapper: Wrapper;
  /** Whether gradients are recorded at this point of the program. */
  gradEnabled: boolean;
  /** Whether this point is in a region of inference. */
  inference: boolean;
  /** The type of the region of autocast that this point is in; "" outside of one. */
  autocast: AutocastType | "";
  /** The op with a public name. */
  opNamed(name: string): CallTarget;
  /** States of optimizers that the trace has created for the call. */
  readonly earlyStates: EarlyStates;
  /** The prototype of tensors that operations create. */
  readonly tensorPrototype: object;
  /** The code of a function that a call enters; null for builtins, classes and functions without source. */
  codeOf(callee: ObjectValue): BoundCode | null;
  /** Calls a function; its result goes to the completion. */
  call(request: CallRequest): void;
  /** The same; marks the frame, if there is one. */
  callMarked(request: CallRequest, mark: (frame: Frame) => void): void;
  /** `new`; the object goes to the completion. */
  construct(request: ConstructRequest): void;
  /** object[key] = value in strict code, then continues. */
  assign(object: ObjectValue, key: string | symbol, value: Value, then: () => void): void;
  /** Delivers a result to the frame on top. */
  complete(completion: Completion, value: Value): void;
  push(frame: Frame): void;
  readonly top: Frame;
  /** Number of frames below each function that is becoming a separate graph, the innermost last. */
  readonly regionDepths: number[];
  /** The function being traced that runs later, if there is one: what it reads must not change until then. */
  later: LaterFunction | null;
  /** Number of forward-mode transforms in progress. */
  forwardTransforms: number;
  /** The innermost run over a batch in progress. */
  batch: OpenBatch | null;
  /** The active frames, the top one last. */
  readonly callers: readonly Frame[];
  /** Backward passes that became part of the graph: the numbers of their instructions. */
  readonly backwards: number[];
  /** Number of the first instruction that writes to a tensor while gradients are recorded. */
  firstWrite: number;
  /** Stand-ins for captured variables that are not available. */
  readonly standIns: StandIns;
  /** Restarts the trace, to break at an earlier instruction. */
  restartAt(step: number, cause: BreakCause): never;
  /** Number of the current instruction. */
  readonly steps: number;
  /** Calls of logging functions that may run after the graph. */
  readonly deferred: CallRequest[];
  /** The results of calls that generated code makes after the graph, in the program's order. */
  readonly laterCalls: ObjectValue[];
  /** Active iterators, which deletions have to adjust. */
  readonly openIterators: ObjectValue[];
  /** A property that is not an accessor; null if there is no such property. */
  plainProperty(object: ObjectValue, key: string | symbol): Value | null;
  /** An object of options for an op. */
  options(entries: Readonly<Record<string, Value>>): ObjectValue;
  /** The rows of a tensor as an array. */
  rowsOf(tensor: TensorValue): ObjectValue;
  /** The initial suspension of a generator: its caller receives the generator. */
  startGenerator(): void;
  /** `yield`. */
  suspend(value: Value): void;
  /** Like `suspend`, with the result object that `next` returns. */
  suspendWith(result: Value): void;
  /** `yield*`. */
  delegate(source: Value, dst: number): void;
  /** Every cell from outside that the trace has encountered. */
  readonly cells: Map<LiveCell, CellValue>;
  /** Ends the frame on top with a result. */
  returnFrom(value: Value): void;
  /** Raises an exception of the program. */
  raise(value: Value): never;
  /** Runs one of dyn's JavaScript stand-ins for builtins. */
  callInternal(name: string, request: CallRequest): CallResult;
}

/** Thrown by steps: the program throws this value. */
export class ProgramThrow extends Error {
  override readonly name = "ProgramThrow";
  constructor(readonly value: Value) {
    super("The traced program throws");
  }
}
