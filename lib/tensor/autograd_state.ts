/**
 * The autograd state of a tensor, and the interface to the autograd room, which loads later and installs itself.
 * Generic in the tensor type, so that the tensor class can build on it. Invariant: a tensor without this state does
 * not require grad and is not a differentiable view.
 */
import type { HookHandle } from "../base/hook_list.ts";
import type { CapturedCall } from "../graph/custom_gradient.ts";
import type { OpDefinition } from "../ops/definition.ts";
import type { ArgsOf, Params } from "../ops/params.ts";

/** Receives a gradient, and may return a replacement. */
export type TensorHook<T> = (grad: T) => T | void;

/** The operation that created a tensor. */
export interface GradFn<T> {
  /** The name that PyTorch prints: "AddBackward0". */
  readonly name: string;
  /** The operations that gradients flow to from here, each with the number of its result; null: none is wanted. */
  readonly nextFunctions: readonly (readonly [GradFn<T> | null, number])[];
  /** Of an accumulator: the leaf. */
  readonly variable?: T;
  /** Hooks on its results, by result and then by id. */
  readonly hooks: Map<number, Map<number, TensorHook<T>>>;
  /** Of an accumulator: functions to call after a gradient was added. */
  readonly after?: ReadonlyMap<number, (tensor: T) => void>;
  /** Results whose `.grad` is kept. */
  readonly retained: Map<number, T>;
  /** Whether it saves nothing: a backward pass to it fails. */
  readonly isLost?: true;
}

/** The autograd part of a tensor. */
export interface AutogradState<T> {
  /** Set by the user on a leaf. */
  requiresGrad: boolean;
  grad: T | null;
  /** Whether only this state refers to `grad`, and only `grad` to its storage. */
  ownsGrad: boolean;
  /** null: a leaf. */
  gradFn: GradFn<T> | null;
  /** Index of the tensor among the results of `gradFn`. */
  output: number;
  /** Of a leaf: the node that adds gradients into `.grad`, created on demand. */
  accumulator: GradFn<T> | null;
}

/** Returns the gradient, to which others may refer from now on. */
export function takeGradient<T>(state: AutogradState<T>): T | null {
  state.ownsGrad = false;
  return state.grad;
}

/** Sets the gradient, and frees the memory of the former one if nothing else refers to it. */
export function replaceGradient<T extends { readonly storage: { release(): void } }>(
  state: AutogradState<T>,
  grad: T | null,
): void {
  const { grad: former, ownsGrad } = state;
  state.grad = grad;
  state.ownsGrad = false;
  if (ownsGrad && former !== grad) former?.storage.release();
}

/** One view operation on the way from a base to a view. */
export interface ViewStep<T> {
  readonly definition: OpDefinition;
  readonly args: ArgsOf<Params, T>;
  /** Index of the result. */
  readonly index: number;
}

/** The base of a differentiable view, and the path to it. */
export interface ViewState<T> {
  readonly base: T;
  readonly steps: readonly ViewStep<T>[];
  /** The storage version for which `gradFn` is right; in-place writes to the base make it stale. */
  version: number;
  /** Whether the tensor itself was the base, until its layout was changed in place. */
  readonly succeeds?: true;
}

/** A call to be recorded on the tape. */
export interface RecordedCall<T> {
  readonly definition: OpDefinition;
  readonly args: ArgsOf<Params, T>;
  readonly results: readonly T[];
}

/** Options of a backward pass. */
export interface BackwardOptions {
  /** Whether saved tensors stay for another backward pass; default: `createGraph`. */
  readonly retainGraph?: boolean | undefined;
  /** Whether the gradients can be differentiated themselves; default false. */
  readonly createGraph?: boolean | undefined;
}

/** The services of autograd to tensors. */
export interface AutogradRuntime<T> {
  /** Gives results their history. Called only while recording, if an input requires grad. */
  record(call: RecordedCall<T>): void;
  /**
   * The same for an in-place call, which `write` makes: tensors for backward are saved before the write; afterwards the
   * history of `target`, and of its base if it is a view, starts from the call.
   */
  recordInplace(
    call: { definition: OpDefinition; args: ArgsOf<Params, T> },
    target: T,
    write: () => void,
  ): void;
  /** Gives the results of a call the history that leads to its inputs by its gradient. */
  giveHistory(call: CapturedCall<T>): void;
  /** The operation that created a tensor; that of a view is updated first. */
  gradFnOf(tensor: T): GradFn<T> | null;
  /** Calls `hook` with gradients of a tensor. */
  registerHook(tensor: T, hook: TensorHook<T>): HookHandle;
  /** Calls `hook` with a leaf after a gradient was added to its `.grad`. */
  registerAccumulationHook(tensor: T, hook: (tensor: T) => void): HookHandle;
  backward(
    roots: readonly T[],
    gradients: readonly (T | null)[],
    options: BackwardOptions & { readonly inputs?: T | readonly T[] | null | undefined },
  ): void;
  /** Gradients of outputs with respect to inputs, all of which contribute. */
  gradients(
    outputs: readonly T[],
    inputs: readonly T[],
    options: BackwardOptions & { readonly tangents: readonly (T | null)[] },
  ): readonly T[];
}
