/**
 * The tensor class: a strided view of storage with a type, and its place in the autograd graph. Ops become methods
 * from the table when this module loads. Invariant: shape, strides and type are those of `layout`; two tensors share
 * elements only if they share storage.
 */
import { type Flag, flagOf } from "../base/arguments.ts";
import { checkFunction, checkInstance, refuseSurplus } from "../base/checked_input.ts";
import { checkGradType, type DType, type HostArray, isComplex, isFloat, itemSize } from "../base/dtype.ts";
import { showAsText } from "../base/console_text.ts";
import type { TypeOrDevice } from "../base/type_or_device.ts";
import { complexText } from "../base/complex.ts";
import { DynError } from "../base/errors.ts";
import type { HookHandle } from "../base/hook_list.ts";
import { besideElements, withOwnLists } from "../base/inherited_elements.ts";
import type { TensorMeta } from "../graph/meta.ts";
import type { DeviceName } from "../loops/device.ts";
import { typeOfView } from "../ops/shape/bit_views.ts";
import type { Dim } from "../sym/expr.ts";
import {
  type AutogradRuntime,
  type AutogradState,
  type GradFn,
  replaceGradient,
  takeGradient,
  type TensorHook,
  type ViewState,
} from "./autograd_state.ts";
import { type BackwardArguments, namedBackward } from "./backward_arguments.ts";
import type { Described } from "./described.ts";
import type { TensorMethods } from "./generated_methods.ts";
import {
  type Element,
  elementAt,
  elementReader,
  type NestedElements,
  nestedElements,
  readElements,
  readElementsLater,
} from "./host.ts";
import { checkGradient } from "./gradient_checks.ts";
import type { IndexArgument } from "./index_syntax.ts";
import { alongDim, type Layout, layoutOf } from "./layout.ts";
import { metadataChanges } from "./metadata_version.ts";
import { ambient, ModeStack } from "./modes.ts";
import { installMethods, refuseBrackets } from "./methods.ts";
import { tensorText } from "./print.ts";
import { LateBound, type TensorRuntime } from "./runtime.ts";
import { isShapesOnly, Storage } from "./storage.ts";
import type { ConversionOptions } from "./tensor_options.ts";

const dispatch = new LateBound<TensorRuntime<Tensor>>("eager dispatch");
const tape = new LateBound<AutogradRuntime<Tensor>>("autograd");

/** Installs dispatch and indexing. */
export function installTensorRuntime(runtime: TensorRuntime<Tensor>): void {
  dispatch.install(runtime);
}

/** Installs the tape. */
export function installAutograd(runtime: AutogradRuntime<Tensor>): void {
  tape.install(runtime);
}

/** The tape. Throws InternalError if it is not loaded. */
export function autograd(): AutogradRuntime<Tensor> {
  return tape.instance;
}

/** Modes that receive calls on tensors before they run. */
export const modes: ModeStack<Tensor> = new ModeStack<Tensor>();

/** Returns whether elements of tensors can be read: no mode intervenes, and nothing is being traced. */
export function canReadElements(): boolean {
  return modes.top === null;
}

/** Ops as methods; the class body defines some of them. */
export interface Tensor extends TensorMethods<Tensor>, Described<Tensor> {}

/** A multi-dimensional array, as `torch.Tensor`. */
export class Tensor {
  /**
   * Autograd state, or null. For the tensor and autograd rooms.
   *
   * @internal
   */
  state: AutogradState<Tensor> | null = null;
  /**
   * The tensor that it is a differentiable view of; null if it is not a view. For the tensor and autograd rooms.
   *
   * @internal
   */
  viewState: ViewState<Tensor> | null = null;

  /**
   * Users create tensors with `tensor`, `zeros` and the like. `offset` counts elements.
   *
   * @internal
   */
  constructor(
    /** @internal */
    public storage: Storage,
    /** @internal */
    public layout: Layout,
    /** @internal */
    public offset: number = 0,
  ) {
    // For programs in JavaScript, without type checks
    if (layout === undefined) {
      throw new DynError("Expected tensor(data) or zeros(shape) but found new Tensor");
    }
  }

  /** Proxies of tensors lack the private field, and testing for it runs none of their traps. */
  readonly #isInstance = true;

  /**
   * Returns whether a value was made by this class, and is not a proxy.
   *
   * @internal
   */
  static isInstance(value: unknown): value is Tensor {
    return typeof value === "object" && value !== null && #isInstance in value;
  }

  /**
   * A tensor with metadata and no elements.
   *
   * @internal
   */
  static elementless(meta: TensorMeta): Tensor {
    const layout = layoutOf(meta);
    return new Tensor(
      new Storage(meta.device, null),
      layout,
      typeof meta.offset === "number" ? meta.offset : 0,
    );
  }

  /** Sizes of the dimensions. */
  get shape(): readonly number[] {
    return this.layout.shape;
  }

  /** Strides in elements. */
  get strides(): readonly number[] {
    return this.layout.strides;
  }

  /** Element type. */
  get dtype(): DType {
    return this.layout.dtype;
  }

  /** Name of the device that holds the elements. */
  get device(): DeviceName {
    return this.layout.device;
  }

  /** Number of dimensions. */
  get ndim(): number {
    return this.layout.shape.length;
  }

  /**
   * Shape, strides, offset, type and device.
   *
   * @internal
   */
  get meta(): TensorMeta {
    const { meta } = this.layout;
    return this.offset === 0 ? meta : { ...meta, offset: this.offset };
  }

  /** Number of in-place writes to its elements, through it or any tensor that shares them. */
  get version(): number {
    return this.storage.version;
  }

  /** Number of dimensions, as `torch.Tensor.dim`. */
  dim(): number {
    if (arguments.length > 0) refuseSurplus("dim", 0, arguments);
    return this.layout.shape.length;
  }

  /** All sizes, or the size of one dimension. */
  size(): readonly number[];
  /** The size of a dimension. */
  size(dim: number | { readonly dim: number }): number;
  size(dim?: number | { readonly dim: number }): number | readonly number[] {
    if (arguments.length > 1) refuseSurplus("size", 1, arguments);
    return dim === undefined ? this.shape : alongDim(this.shape, dim, "size");
  }

  /** All strides in elements, or the stride of one dimension. */
  stride(): readonly number[];
  /** The stride of a dimension, in elements. */
  stride(dim: number | { readonly dim: number }): number;
  stride(dim?: number | { readonly dim: number }): number | readonly number[] {
    if (arguments.length > 1) refuseSurplus("stride", 1, arguments);
    return dim === undefined ? this.strides : alongDim(this.strides, dim, "stride");
  }

  /** Number of elements. */
  numel(): number {
    if (arguments.length > 0) refuseSurplus("numel", 0, arguments);
    return this.layout.numel;
  }

  /** Returns the position of the first element in the storage. */
  storageOffset(): number {
    if (arguments.length > 0) refuseSurplus("storageOffset", 0, arguments);
    return this.offset;
  }

  /** Bytes of one element. */
  elementSize(): number {
    if (arguments.length > 0) refuseSurplus("elementSize", 0, arguments);
    return itemSize(this.layout.dtype);
  }

  /** Returns whether elements are in row-major order without gaps. */
  isContiguous(): boolean {
    if (arguments.length > 0) refuseSurplus("isContiguous", 0, arguments);
    return this.layout.contiguous;
  }

  /** Returns whether its type is a floating type. */
  isFloatingPoint(): boolean {
    if (arguments.length > 0) refuseSurplus("isFloatingPoint", 0, arguments);
    return isFloat(this.layout.dtype);
  }

  /** Returns whether its elements are complex numbers. */
  isComplex(): boolean {
    if (arguments.length > 0) refuseSurplus("isComplex", 0, arguments);
    return isComplex(this.layout.dtype);
  }

  /** Whether gradients are recorded for it: it is a leaf that requires them, or was computed from one. */
  get requiresGrad(): boolean {
    const { state } = this;
    if (state !== null && (state.requiresGrad || state.gradFn !== null)) return true;
    return this.viewState !== null && this.gradFn !== null;
  }

  set requiresGrad(value: boolean) {
    this.requiresGrad_(value);
  }

  /** The recorded operation that created it; null for leaves. */
  get gradFn(): GradFn<Tensor> | null {
    if (this.viewState !== null) return autograd().gradFnOf(this);
    return this.state?.gradFn ?? null;
  }

  /** Whether it was created by the user rather than by a recorded operation. */
  get isLeaf(): boolean {
    return this.gradFn === null;
  }

  /** The gradient that backward passes accumulated; null before the first. */
  get grad(): Tensor | null {
    return this.state === null ? null : takeGradient(this.state);
  }

  set grad(value: Tensor | null) {
    if (value === this) throw new DynError("Expected another tensor as gradient but found the tensor itself");
    if (value !== null) checkGradient(value, this, "a gradient");
    if (value !== null || this.state !== null) replaceGradient(autogradStateOf(this), value);
  }

  /** Adopts the storage of another tensor, keeping its own place in the autograd graph. */
  replaceData(other: Tensor): void {
    checkInstance(other, Tensor, "replaceData");
    if (this.requiresGrad) checkGradType(other.dtype);
    this.storage = other.storage;
    this.layout = other.layout;
    this.offset = other.offset;
    metadataChanges(this);
  }

  /** The elements in row-major order as `toTypedArray`, once they are there. Works on every device. */
  data(): Promise<HostArray> {
    if (arguments.length > 0) refuseSurplus("data", 0, arguments);
    return readElementsLater(this);
  }

  /** Sets whether gradients are recorded for it, in place. Throws unless it is a leaf of a floating type. */
  requiresGrad_(requiresGrad: Flag<"requiresGrad"> = true): this {
    if (arguments.length > 1) refuseSurplus("requiresGrad_", 1, arguments);
    const value = flagOf("requiresGrad_", "requiresGrad", requiresGrad);
    if (value) checkGradType(this.dtype);
    if (!value && this.gradFn !== null) {
      throw new DynError(
        "Expected a leaf but found the result of an operation; use detach() for a tensor that does not require grad",
      );
    }
    if (value || this.state !== null) autogradStateOf(this).requiresGrad = value && this.gradFn === null;
    metadataChanges(this);
    return this;
  }

  /** Makes backward passes store `.grad` although it is not a leaf, as `torch.Tensor.retain_grad`. */
  retainGrad(): void {
    if (arguments.length > 0) refuseSurplus("retainGrad", 0, arguments);
    if (!this.requiresGrad) {
      throw new DynError("Expected a tensor that requires grad for retainGrad but found one that does not");
    }
    this.gradFn?.retained.set(this.state?.output ?? 0, this);
  }

  /**
   * Differentiates this tensor with respect to the leaves it was made from, adding into their `.grad`:
   * `backward(gradient, retainGraph, createGraph)`; trailing arguments also by name.
   */
  backward(...args: BackwardArguments<Tensor>): void {
    withOwnLists(() => {
      const { gradient = null, ...options } = namedBackward(args, (value) => value instanceof Tensor);
      autograd().backward([this], [gradient], options);
    });
  }

  /** Calls `hook` with each gradient of this tensor; a returned tensor replaces the gradient. */
  registerHook(hook: TensorHook<Tensor>): HookHandle {
    if (arguments.length > 1) refuseSurplus("registerHook", 1, arguments);
    if (!this.requiresGrad) {
      throw new DynError("Expected a tensor that requires grad for a hook but found one that does not");
    }
    checkFunction(hook, "as a hook");
    return autograd().registerHook(this, hook);
  }

  /**
   * Calls `hook` with this leaf whenever a backward pass has added to its `.grad`, as
   * `torch.Tensor.register_post_accumulate_grad_hook`. It replaces the gradient by assigning to `.grad`: the pass throws
   * DynError if it returns another tensor.
   */
  registerPostAccumulateGradHook(hook: (tensor: Tensor) => void): HookHandle {
    if (this.gradFn !== null || !this.requiresGrad) {
      throw new DynError(
        "Expected a leaf that requires grad for a hook after its gradient was added but found another tensor",
      );
    }
    return autograd().registerAccumulationHook(this, hook);
  }

  /** Makes it a leaf without history, in place. Throws for views. */
  detach_(): this {
    if (arguments.length > 0) refuseSurplus("detach_", 0, arguments);
    if (this.viewState !== null && !this.viewState.succeeds) {
      throw new DynError(
        "Expected a tensor with memory of its own for detach_ but found a view; use detach()",
      );
    }
    this.viewState = null;
    if (this.state !== null) {
      this.state.gradFn = null;
      this.state.requiresGrad = false;
      metadataChanges(this);
    }
    return this;
  }

  /** Frees its memory immediately. The tensor and all that share its elements must not be used afterwards. */
  [Symbol.dispose](): void {
    this.storage.dispose();
  }

  /**
   * The element of a one-element tensor: a number; a boolean for bool; a bigint for int64 if a number would not be
   * exact; `{ re, im }` for complex types. The type parameter states the other types: `item<boolean>()`,
   * `item<bigint>()`, `item<Complex>()`.
   */
  item(): number;
  /** The element, typed by the caller. */
  item<T extends Element>(): T;
  item(): Element {
    if (arguments.length > 0) refuseSurplus("item", 0, arguments);
    if (this.layout.numel !== 1) {
      throw new DynError(
        `Expected one element for item() but found ${this.layout.numel}, of shape [${this.shape.join(", ")}]`,
      );
    }
    return besideElements(() => elementAt(this, 0));
  }

  /**
   * All elements as nested arrays, or the element of a tensor without dimensions. The type parameter states which:
   * `tolist<number[][]>()` of a matrix has `map`.
   */
  tolist(): NestedElements;
  /** The elements, typed by the caller. */
  tolist<T extends NestedElements>(): T;
  tolist(): NestedElements {
    if (arguments.length > 0) refuseSurplus("tolist", 0, arguments);
    return besideElements(() => nestedElements(this));
  }

  /**
   * A copy of the elements in row-major order; bfloat16, for which there is no typed array, as float32; complex
   * elements as adjacent real and imaginary parts.
   */
  toTypedArray(): HostArray {
    if (arguments.length > 0) refuseSurplus("toTypedArray", 0, arguments);
    return besideElements(() => readElements(this));
  }

  /** Converts a one-element tensor to its element; in strings, any tensor to its text. */
  [Symbol.toPrimitive](hint: "number" | "string" | "default"): string | number | bigint | boolean {
    if (hint === "string" || (hint === "default" && this.layout.numel !== 1)) return this.toString();
    if (this.layout.numel !== 1) {
      throw new DynError(
        `Expected one element in an operator but found ${this.layout.numel}, of shape [${
          this.shape.join(", ")
        }]: ` +
          "operators take numbers, between tensors write x.mul(y) or x.lt(y)",
      );
    }
    const value: Element = this.item<Element>();
    if (typeof value === "object") {
      throw new DynError(`Expected a real number but found the complex ${complexText(value)}; use item()`);
    }
    return typeof value === "boolean" ? Number(value) : value;
  }

  /** Iterates over the first dimension. */
  *[Symbol.iterator](): IterableIterator<Tensor> {
    if (this.ndim === 0) {
      throw new DynError("Expected a tensor with dimensions to iterate over but found a 0-d one");
    }
    for (let i = 0; i < (this.shape[0] ?? 0); i++) yield this.at(i);
  }

  /** Size of the first dimension. */
  get length(): number {
    const [first] = this.shape;
    if (first === undefined) throw new DynError("Expected a tensor with dimensions but found a 0-d one");
    return first;
  }

  /**
   * Indexing: integers select, texts slice ("1:5:2", ":", "..."), and so do objects ({ start, stop, step }); null adds
   * a dimension; tensors and arrays of integers or bools gather: `x.at([0, 2])` is `x[[0, 2]]`. As Python's `x[...]`.
   */
  at(...index: readonly IndexArgument<Tensor>[]): Tensor {
    return dispatch.instance.at(this, index);
  }

  /**
   * Writes into the elements that `at` selects: an array holds the arguments of `at`, so that `x.set([0, 2], v)` is
   * `x[0, 2] = v` and `x.set([[0, 2]], v)` is `x[[0, 2]] = v`. `value` broadcasts.
   */
  set(index: IndexArgument<Tensor> | readonly IndexArgument<Tensor>[], value: Tensor | Element): Tensor {
    if (arguments.length > 2) refuseSurplus("set", 2, arguments);
    const list: readonly IndexArgument<Tensor>[] = isIndexList(index) ? index : [index];
    return dispatch.instance.set(this, list, value);
  }

  /** Its elements where the condition holds, those of `other` elsewhere: `torch.where(condition, self, other)`. */
  where(condition: Tensor, other: Tensor | Element): Tensor {
    if (arguments.length > 2) refuseSurplus("where", 2, arguments);
    return dispatch.instance.where(condition, this, other);
  }

  /** A copy on the CPU; itself if it is there already. */
  cpu(): Tensor {
    if (arguments.length > 0) refuseSurplus("cpu", 0, arguments);
    return dispatch.instance.to(this, ["cpu"]);
  }

  /** Converts to another type or device, or those of another tensor; returns itself if nothing changes. */
  to<T extends string | Tensor | ConversionOptions>(
    target: T extends string ? TypeOrDevice<T> : T,
    ...more: (DType | ConversionOptions | boolean)[]
  ): Tensor {
    return dispatch.instance.to(this, [target, ...more]);
  }

  /** Itself if its elements are in row-major order, else a row-major copy. */
  contiguous(): Tensor {
    if (arguments.length > 0) refuseSurplus("contiguous", 0, arguments);
    return this.layout.contiguous ? this : dispatch.instance.contiguous(this);
  }

  /**
   * The same memory as elements of another type, without a history: of smaller elements the last dimension has more, of
   * larger ones fewer.
   */
  view(dtype: DType | { readonly dtype: DType }): Tensor;
  /** The same elements in another shape, sharing memory; one size may be −1. */
  view(size: readonly Dim[] | { readonly size: readonly Dim[] }): Tensor;
  /** The same elements in another shape, sharing memory; one size may be −1. */
  view(...size: Dim[]): Tensor;
  view(
    ...given:
      | readonly [DType | { readonly dtype: DType }]
      | readonly [readonly Dim[] | { readonly size: readonly Dim[] }]
      | readonly Dim[]
  ): Tensor {
    const dtype = typeOfView(given);
    return dtype === undefined ? dispatch.instance.view(this, given) : dispatch.instance.bitView(this, dtype);
  }

  /**
   * Changes the shape over the same storage, row-major, in place; the storage grows if it is too small, uninitialised.
   */
  resize_(...shape: readonly number[] | readonly [readonly number[]]): this {
    dispatch.instance.resize(this, shape.flat());
    return this;
  }

  /** Returns the text that PyTorch prints. */
  toString(): string {
    return besideElements(() =>
      tensorText(this, isShapesOnly(this.device) ? null : () => elementReader(this))
    );
  }
}

// A tensor that was overwritten or disposed of has no elements, and the console must not throw
showAsText(Tensor.prototype, (x) => x.storage.filled ? String(x) : `Tensor(${x.dtype}[${x.shape}])`);

function isIndexList(
  index: IndexArgument<Tensor> | readonly IndexArgument<Tensor>[],
): index is readonly IndexArgument<Tensor>[] {
  return Array.isArray(index);
}

/** The autograd state of a tensor, created on demand. For the tensor and autograd rooms. */
export function autogradStateOf(tensor: Tensor): AutogradState<Tensor> {
  return tensor.state ??= {
    requiresGrad: false,
    grad: null,
    ownsGrad: false,
    gradFn: null,
    output: 0,
    accumulator: null,
  };
}

/** Returns whether a value is a tensor. */
export function isTensor(value: unknown): value is Tensor {
  return value instanceof Tensor;
}

/** Returns whether a call with these inputs must be recorded. */
export function recordsGrad(tensors: readonly (Tensor | null)[]): boolean {
  if (!ambient.gradEnabled) return false;
  for (const each of tensors) {
    if (each !== null && (each.state !== null || each.viewState !== null) && each.requiresGrad) return true;
  }
  return false;
}

refuseBrackets(Tensor.prototype);
installMethods(Tensor.prototype, (target, given) => dispatch.instance.call(target, given));
