/**
 * `autograd.Function`: operations with a user-written gradient; a subclass with `forward` and `backward` gets
 * `apply`. Invariant: `forward` runs unrecorded; `backward` is recorded when the pass creates a graph, so it is
 * differentiable itself.
 */
import { withOwnLists } from "../base/inherited_elements.ts";
import { asProgram } from "../base/own_builtins.ts";
import { refuseValue } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { isDifferentiable } from "../base/dtype.ts";
import { OPS } from "../ops/table.ts";
import { aliasOf, ops } from "../tensor/eager.ts";
import { checkLeaf, noteSharedResult } from "../tensor/inplace.ts";
import type { Layout } from "../tensor/layout.ts";
import { requiresGradBeneath, wholeBeneath } from "../tensor/levels.ts";
import { ambient, enableGrad, isGradEnabled, noGrad } from "../tensor/modes.ts";
import { carryTangents, hasTangents, type TangentLevel } from "../tensor/tangents.ts";
import { isTensor, modes, recordsGrad, type Tensor } from "../tensor/tensor.ts";
import { viewOf } from "../tensor/view_state.ts";
import { grad } from "./entry_points.ts";
import { ForwardMode } from "./forward/mode.ts";
import { pushedThrough } from "./forward/rules.ts";
import { type ApplyOptions, gradientEdge, isBroadcast, Node, setHistory } from "./node.ts";
import { SavedTensor } from "./saved.ts";
import { recordInplace } from "./tape.ts";

/** Returns what is saved: a tensor, or null for none. Throws DynError for other values, which fields can hold. */
function savable(value: Tensor | null | undefined, owner: string): Tensor | null {
  if (value === null || value === undefined || isTensor(value)) return value ?? null;
  refuseValue(`tensors for ${owner}`, value, "; other values can be fields of the context");
}

/**
 * The context that `forward` and `backward` of one call share. Any further fields may be set on it. `S` is the type of
 * the saved tensors, where some are null.
 */
export class FunctionContext<S extends readonly (Tensor | null)[] = Tensor[]> {
  [field: string]: unknown;
  /** For each argument of `apply`, whether its gradient is wanted. */
  needsInputGrad: readonly boolean[] = [];
  #saved: readonly (Tensor | null)[] = [];
  /** Tensors saved for `jvp`; null once it has run. */
  #forward: readonly (Tensor | null)[] | null = null;
  #kept: readonly (SavedTensor | null)[] | null = null;
  #nonDifferentiable = new Set<Tensor>();
  #dirty = new Set<Tensor>();
  #materialize = true;

  /** Saves tensors for `backward`; later writes to them are detected. Call it once, in forward or setupContext. */
  saveForBackward(...tensors: readonly (Tensor | null | undefined)[]): void {
    this.#saved = tensors.map((each) => savable(each, "saveForBackward"));
  }

  /** Saves tensors for `jvp`, if it reads others than `backward`. */
  saveForForward(...tensors: readonly (Tensor | null | undefined)[]): void {
    this.#forward = tensors.map((each) => savable(each, "saveForForward"));
  }

  /** The saved tensors. */
  get savedTensors(): S {
    const saved = this.#forward ?? this.#kept ?? this.#saved;
    const tensors: readonly (Tensor | null)[] = saved.map((each) =>
      each instanceof SavedTensor ? each.unpack("a custom Function") : each
    );
    return tensors as S;
  }

  /** Marks results without gradient. */
  markNonDifferentiable(...tensors: readonly Tensor[]): void {
    for (const each of tensors) this.#nonDifferentiable.add(each);
  }

  /** Marks arguments that forward wrote to and returns. */
  markDirty(...tensors: readonly Tensor[]): void {
    for (const each of tensors) this.#dirty.add(each);
  }

  /** Sets whether missing gradients are passed to backward as zeros (default) or as null. */
  setMaterializeGrads(value: boolean): void {
    this.#materialize = value;
  }

  /** For the node: the settings that `forward` made. */
  static settle(context: FunctionContext, node: Node, results: readonly unknown[]): FunctionSettings {
    const settings = FunctionContext.settings(context);
    context.#kept = context.#saved.map((each) => {
      if (each === null) return null;
      // A result that is returned several times has its history from the last of them
      const output = takesHistory(each, settings) ? results.lastIndexOf(each) : -1;
      return output < 0 ? new SavedTensor(each) : new SavedTensor(each, { node, output });
    });
    context.#saved = [];
    return settings;
  }

  /** For the node: releases the saved tensors. */
  static release(context: FunctionContext): void {
    context.#kept?.forEach((each) => each?.release());
  }

  /** For `apply`: the settings that `forward` has made so far. */
  static settings(context: FunctionContext): FunctionSettings {
    return {
      nonDifferentiable: context.#nonDifferentiable,
      dirty: context.#dirty,
      materialize: context.#materialize,
    };
  }

  /** For `apply`: the tensors that the call has saved. */
  static savedBy(context: FunctionContext): readonly Tensor[] {
    return context.#saved.filter((each) => each !== null);
  }

  /** For `apply`: releases the tensors saved for `jvp`, which has run. */
  static forwardDone(context: FunctionContext): void {
    context.#forward = null;
  }

  /** For `apply`: the tensors that forward marked as written. */
  static dirtyOf(context: FunctionContext): ReadonlySet<Tensor> {
    return context.#dirty;
  }
}

interface FunctionSettings {
  readonly nonDifferentiable: ReadonlySet<Tensor>;
  readonly dirty: ReadonlySet<Tensor>;
  readonly materialize: boolean;
}

/** Returns whether a result gets the history of its call: one that is marked, or of integers, has no gradient. */
export function takesHistory(
  result: unknown,
  { nonDifferentiable }: Pick<FunctionSettings, "nonDifferentiable">,
): result is Tensor {
  return isTensor(result) && isDifferentiable(result.dtype) && !nonDifferentiable.has(result);
}

/** The static side of a Function subclass, as `apply` uses it. */
export interface FunctionClass {
  readonly name: string;
  forward(...args: never[]): unknown;
  setupContext(context: FunctionContext<never>, inputs: never, output: never): void;
  backward(context: FunctionContext<never>, ...grads: never[]): unknown;
  jvp(context: FunctionContext<never>, ...tangents: never[]): unknown;
}

/**
 * Base of operations with their own gradient, like `torch.autograd.Function`. Either `forward(ctx, …args)`, or
 * `forward(…args)` together with `setupContext(ctx, inputs, output)`; and `backward(ctx, …grads)`, which is given one
 * gradient per result (null for results that are not tensors) and returns one per argument (null for none).
 * `jvp(ctx, …tangents)` returns one tangent per result (null for zeros), given those of the arguments, for forward-mode
 * differentiation.
 */
export class Function {
  /** Computes the results: a tensor or an array of values. */
  static forward(..._args: never[]): unknown {
    throw new DynError(`Expected a static forward on ${this.name} but found none`);
  }

  /** Saves tensors for backward, if forward takes no context. */
  static setupContext(_context: FunctionContext<never>, _inputs: never, _output: never): void {}

  /** Returns gradients of the arguments, given those of the results. */
  static backward(_context: FunctionContext<never>, ..._grads: never[]): unknown {
    throw new DynError(`Expected a static backward on ${this.name} but found none`);
  }

  /**
   * Returns tangents of the results, given those of the arguments; by default computed by differentiating `backward`.
   */
  static jvp(_context: FunctionContext<never>, ..._tangents: never[]): unknown {
    throw new DynError(`Expected a static jvp on ${this.name} but found none`);
  }

  /** Runs forward and records backward. */
  static apply<C extends FunctionClass>(this: C, ...args: readonly unknown[]): ReturnType<C["forward"]> {
    if (typeof this !== "function") {
      refuseValue(
        "a subclass of Function to call apply on",
        this,
        "; as a value, write (...args) => Square.apply(...args)",
      );
    }
    return withOwnLists(() => checked(this, applyFunction(this, args)));
  }
}

/** Throws DynError if forward has returned nothing. */
function checked<C extends FunctionClass>(of: C, result: unknown): ReturnType<C["forward"]> {
  if (!isResult<C>(result)) refuseValue(`forward of ${of.name} to return a value`, result);
  return result;
}

function isResult<C extends FunctionClass>(value: unknown): value is ReturnType<C["forward"]> {
  return value !== undefined;
}

/** Calls a static method of a Function. */
export function invoke(method: unknown, of: object, args: readonly unknown[]): unknown {
  if (typeof method !== "function") throw new DynError("Expected a static method of a Function");
  return asProgram(() => Reflect.apply(method, of, args));
}

function applyFunction(of: FunctionClass, args: readonly unknown[]): unknown {
  const { output, context } = applyAtLevels(of, args);
  FunctionContext.forwardDone(context);
  return output;
}

/** Applies a Function beneath all levels whose tangents reach its arguments, from the outermost on. */
function applyAtLevels(
  of: FunctionClass,
  args: readonly unknown[],
  inner: readonly TangentLevel[] = [],
): Applied {
  const { top: level } = modes;
  if (!(level instanceof ForwardMode)) {
    if (level !== null && args.some((a) => isTensor(a) && hasTangents(wholeBeneath(a), inner))) {
      throw new DynError(
        `Expected no tangents through a whole batch, or a log, for ${of.name} but found a tensor that has one outside of it; ` +
          "take derivatives inside of the function that runs there",
      );
    }
    return applyRecorded(of, args);
  }
  return level.below(() => {
    const applied = applyAtLevels(of, args, [...inner, level.level]), { output, context } = applied;
    if (!args.some((a) => isTensor(a) && level.tangentOf(a))) return applied;
    const results = resultsOf(output);
    const dirty = FunctionContext.dirtyOf(context), isDefault = of.jvp === Function.jvp;
    if (isDefault && dirty.size > 0) {
      throw new DynError(
        `Expected a static jvp on ${of.name}, which writes to its arguments, but found none`,
      );
    }
    const tangents = isDefault ? pushed(of, args, level) : asked(of, { args, context, level });
    if (tangents.length !== results.length) {
      throw new DynError(
        `Expected ${results.length} tangents from ${of.name}.jvp but found ${tangents.length}`,
      );
    }
    const { nonDifferentiable } = FunctionContext.settings(context);
    const carried = results.flatMap((result, k) => {
      const found = tangents[k] ?? null;
      if (found !== null && !isTensor(found)) {
        throw new DynError(`Expected tensors or null from ${of.name}.jvp but found ${typeof found}`);
      }
      if (!isTensor(result)) return [];
      const tangent = nonDifferentiable.has(result) ? null : found;
      if (!dirty.has(result)) return [{ result, tangent }];
      level.overwrite(result, tangent);
      return [];
    });
    level.carry(
      args.filter(isTensor),
      carried.map((each) => each.result),
      carried.map((each) => each.tangent),
    );
    return applied;
  });
}

/** Calls `jvp`: an argument without a tangent gets zeros, unless those are not to be materialised. */
function asked(
  of: FunctionClass,
  { args, context, level }: {
    readonly args: readonly unknown[];
    readonly context: FunctionContext;
    readonly level: ForwardMode;
  },
): readonly unknown[] {
  const { materialize } = FunctionContext.settings(context);
  const tangents = args.map((each) => {
    if (!isTensor(each)) return null;
    const known = level.tangentOf(each), zeros = materialize && isDifferentiable(each.dtype);
    return known ?? (zeros ? ops.zerosLike(each) : null);
  });
  return [invoke(of.jvp, of, [context, ...tangents])].flat();
}

/** Computes tangents by transposing `backward`. Throws DynError if it is not a recorded function of its gradients. */
function pushed(of: FunctionClass, args: readonly unknown[], level: ForwardMode): readonly unknown[] {
  const given = args.filter(isTensor), tangents = given.flatMap((each) => level.tangentOf(each) ?? []);
  const again = ambient.gradEnabled && recordsGrad([...given, ...tangents]);
  return enableGrad(() => {
    const own = args.map((each) => {
      if (!isTensor(each) || !level.tangentOf(each)) return each;
      return again && each.requiresGrad
        ? ops.viewAs(each, each)
        : carryTangents(each, aliasOf(each)).requiresGrad_();
    });
    const { output } = applyAtLevels(of, own, [level.level]);
    const isUsed = (each: unknown): each is Tensor => isTensor(each) && each.requiresGrad;
    const results = resultsOf(output), used = results.filter(isUsed);
    const cotangents = results.map((each) => isUsed(each) ? ops.onesLike(each).requiresGrad_() : null);
    const inputs = own.filter((each, k): each is Tensor => isTensor(each) && each !== args[k]);
    const found = used.length === 0 ? [] : grad(used, inputs, cotangents.filter(isTensor), {
      createGraph: true,
      allowUnused: true,
    });
    const pairs = found.flatMap((pulled, k) => {
      const tangent = tangents[k];
      return pulled && tangent ? [{ pulled, tangent }] : [];
    });
    return pushedThrough(of.name, { cotangents, pairs, again });
  });
}

interface Applied {
  readonly output: unknown;
  readonly context: FunctionContext;
}

function applyRecorded(of: FunctionClass, args: readonly unknown[]): Applied {
  const context = new FunctionContext();
  const tensors = args.map((a) => isTensor(a) ? a : null);
  const records = recordsGrad(tensors);
  if (ambient.gradEnabled && tensors.some((t) => t !== null && !t.requiresGrad && requiresGradBeneath(t))) {
    throw new DynError(
      `Expected no gradients through a whole batch for ${of.name} but found a tensor that requires grad outside of vmap; ` +
        "take gradients inside of the function that runs over the batch",
    );
  }
  context.needsInputGrad = tensors.map((t) => t !== null && ambient.gradEnabled && t.requiresGrad);
  // edges are those before forward, which may write into its arguments
  const node = records ? new FunctionNode(of, context, tensors) : undefined;
  const returned = runForward(of, context, args), dirty = FunctionContext.dirtyOf(context);
  checkWritten(of, returned, dirty);
  for (const each of dirty) each.storage.version++;
  const output = freshResults(returned, args, context);
  node?.finish(resultsOf(output), tensors);
  return { output, context };
}

function runForward(of: FunctionClass, context: FunctionContext, args: readonly unknown[]): unknown {
  const separate = of.setupContext !== Function.setupContext;
  return noGrad(() => {
    const result = invoke(of.forward, of, separate ? args : [context, ...args]);
    if (separate) invoke(of.setupContext, of, [context, args, result]);
    return result;
  });
}

/** Throws DynError if forward does not return what it marks as written, or if that may not be written to. */
function checkWritten(of: FunctionClass, returned: unknown, dirty: ReadonlySet<Tensor>): void {
  const results = resultsOf(returned);
  for (const each of dirty) {
    if (!results.includes(each)) {
      throw new DynError(`Expected forward of ${of.name} to return the tensors that it marks as written`);
    }
    if (isGradEnabled()) checkLeaf(each);
  }
}

/**
 * Returns the results of forward, with aliases in place of arguments that it returns without having written to them, or
 * as results without gradient: an argument keeps the history that it has. Other results without gradient lose theirs,
 * which forward may have given them by recording.
 */
function freshResults(returned: unknown, args: readonly unknown[], context: FunctionContext): unknown {
  const { dirty, nonDifferentiable } = FunctionContext.settings(context);
  const fresh = (value: unknown): unknown => {
    if (!isTensor(value)) return value;
    const isMarked = nonDifferentiable.has(value), isWritten = dirty.has(value);
    if (!args.includes(value)) return isMarked && value.requiresGrad ? value.detach_() : value;
    if (isWritten && !(isMarked && value.requiresGrad)) return value;
    if (!isMarked) return noGrad(() => ops.viewAs(value, value));
    const result = ops.detach(value);
    context.markNonDifferentiable(result);
    return result;
  };
  return Array.isArray(returned) ? returned.map(fresh) : fresh(returned);
}

/**
 * Runs `forward` where no level observes it, and the history of its results, if any, is given to them later: what the
 * tracer follows of `apply`.
 */
export function applyForward(
  of: FunctionClass,
  args: readonly unknown[],
  needsInputGrad: readonly boolean[],
): { readonly output: unknown; readonly context: FunctionContext } {
  const context = new FunctionContext();
  context.needsInputGrad = needsInputGrad;
  const returned = runForward(of, context, args), dirty = FunctionContext.dirtyOf(context);
  checkWritten(of, returned, dirty);
  return { output: checked(of, freshResults(returned, args, context)), context };
}

/** The results of a call, by the positions of their gradients. */
export function resultsOf(output: unknown): readonly unknown[] {
  return Array.isArray(output) ? output : [output];
}

/** The node of a Function call. One edge per argument of `apply`. */
export class FunctionNode extends Node {
  readonly name: string;
  readonly inputs: readonly (Layout | null)[];
  override readonly ownsTemporaries = false;
  override readonly keepsGradients = true;
  #settings: FunctionSettings | undefined;
  /** Null for results that are not tensors. */
  #results: readonly (Layout | null)[] = [];

  constructor(
    readonly of: Pick<FunctionClass, "name" | "backward">,
    readonly context: FunctionContext,
    tensors: readonly (Tensor | null)[],
  ) {
    super(tensors.map((t) => t === null ? null : gradientEdge(t)));
    this.name = `${of.name}Backward`;
    this.inputs = tensors.map((t) => t?.layout ?? null);
  }

  finish(results: readonly unknown[], args: readonly (Tensor | null)[]): void {
    this.#results = results.map((r) => isTensor(r) ? r.layout : null);
    const settings = FunctionContext.settle(this.context, this, results);
    this.#settings = settings;
    results.forEach((result, output) => {
      if (!takesHistory(result, settings)) return;
      const isView = viewOf(result) !== null, isDirty = settings.dirty.has(result);
      if (isView && isDirty) return this.#writePart(result, output);
      const others = [...args, ...results.filter((each) => each !== result)];
      const isShared = others.some((other) => isTensor(other) && other.storage === result.storage);
      if (isView && isShared) noteSharedResult(result, `a view from ${this.of.name}`);
      else if (isView) result.viewState = null;
      setHistory(result, this, output);
    });
  }

  /** A write to part of a base is part of the base's history: as a copy of what the call computed. */
  #writePart(target: Tensor, output: number): void {
    const src = noGrad(() => ops.clone(target));
    setHistory(src, this, output);
    recordInplace(
      { definition: OPS.copy, args: { self: target, src, nonBlocking: false } },
      target,
      () => {},
    );
  }

  apply(grads: readonly (Tensor | null)[], _options: ApplyOptions): readonly (Tensor | null)[] {
    const given = this.#results.map((layout, k) => {
      const grad = grads[k] ?? null;
      return grad === null && layout && this.#settings?.materialize ? zerosOf(layout) : grad;
    });
    const returned = invoke(this.of.backward, this.of, [this.context, ...given]);
    const { edges, inputs } = this;
    return checkedGradients(this.of.name, returned, {
      needed: edges.map((edge) => edge !== null),
      shapes: inputs.map((layout) => layout?.shape ?? null),
    });
  }

  release(): void {
    FunctionContext.release(this.context);
  }
}

/**
 * Returns what `backward` has returned as one gradient for each argument, null for those that need none. Throws DynError
 * for gradients that do not fit; `shapes` has null for arguments that are no tensors.
 */
export function checkedGradients(
  name: string,
  returned: unknown,
  { needed, shapes }: {
    readonly needed: readonly boolean[];
    readonly shapes: readonly (readonly number[] | null)[];
  },
): readonly (Tensor | null)[] {
  const list: readonly unknown[] = Array.isArray(returned) ? returned : [returned];
  const from = `from ${name}.backward`;
  const isLacking = list.length < needed.lastIndexOf(true) + 1;
  if (isLacking || list.slice(needed.length).some((extra) => extra !== null && extra !== undefined)) {
    throw new DynError(`Expected ${needed.length} gradients ${from} but found ${list.length}`);
  }
  return needed.map((isNeeded, k) => {
    const grad = list[k] ?? null, shape = shapes[k];
    if (grad === null) return null;
    if (!isTensor(grad)) refuseValue(`tensors or null ${from}`, grad);
    if (shape && !isBroadcast(shape, grad.shape)) {
      throw new DynError(`Expected gradient ${k} ${from} of shape [${shape}] but found [${grad.shape}]`);
    }
    return isNeeded ? grad : null;
  });
}

function zerosOf({ shape, dtype, device }: Layout): Tensor {
  return ops.zeros(shape, { dtype, device });
}
