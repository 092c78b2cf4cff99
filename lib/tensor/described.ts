/**
 * Methods and properties of tensors that are defined in terms of others: PyTorch's names besides those of ops and of
 * the class itself. Implemented in `descriptions.ts`.
 */
import type { DType } from "../base/dtype.ts";
import type { Element, NestedElements } from "./host.ts";
import type { DataOf, TensorOptions, Tolerances } from "./tensor_options.ts";

/** Options of `nonzeroStatic`: the number of indices. */
export interface NonzeroStaticOptions {
  /** Number of rows of the result. */
  readonly size: number;
  /** The value of rows that no element fills; default −1. */
  readonly fillValue?: number;
}

/** The members, of tensors T. */
export interface Described<T> {
  /** Number of elements, as `numel`. */
  nelement(): number;
  /** Number of dimensions, as `dim`. */
  ndimension(): number;
  /** Bytes of one element. */
  readonly itemsize: number;
  /** Bytes of all elements. */
  readonly nbytes: number;
  /** Returns whether elements can be negative: those of signed integers, floating and complex types. */
  isSigned(): boolean;
  /** Returns whether elements are conjugated lazily: always false, `conj` computes them. */
  isConj(): boolean;
  /** Returns whether elements are negated lazily: always false. */
  isNeg(): boolean;
  /** Returns whether its one element is not 0. Throws DynError for another number of elements. */
  isNonzero(): boolean;
  /** Returns whether the other tensor has the same shape. */
  isSameSize(other: T): boolean;
  /** Returns whether both show the same elements of the same storage. */
  isSetTo(other: T): boolean;
  /** Whether it is on the CPU. */
  readonly isCpu: boolean;
  /** Whether it is on a CUDA device: always false, since GPUs are "webgpu". */
  readonly isCuda: boolean;
  /** Whether it has a shape but no elements. */
  readonly isMeta: boolean;
  /** Whether it is sparse: no tensor is. */
  readonly isSparse: boolean;
  /** Whether it is quantised: no tensor is. */
  readonly isQuantized: boolean;
  /** Number of the device among its kind: 0, and −1 for the CPU. */
  getDevice(): number;
  /** Whether `retainGrad` was called on it as a non-leaf. */
  readonly retainsGrad: boolean;
  /** Index among the results of its operation. */
  readonly outputNr: number;
  /** Returns whether the other tensor has the same shape and elements; NaN equals nothing. */
  equal(other: T): boolean;
  /** Returns whether all elements are close to the other's: |self − other| ≤ atol + rtol·|other|. */
  allclose(other: T, ...tolerances: Tolerances): boolean;
  /** All dimensions in reverse order. */
  readonly T: T;
  /** The last two dimensions exchanged. */
  readonly mT: T;
  /** The conjugate transpose, for real numbers the transpose. */
  readonly H: T;
  /** The last two dimensions exchanged and conjugated, for real numbers as `mT`. */
  readonly mH: T;
  /** The shape of another tensor, as `resize_`. */
  resizeAs_(other: T): T;
  /** The last two dimensions exchanged, and complex numbers conjugated, as `mH`. */
  adjoint(): T;
  /**
   * The indices of the first `size` nonzero elements, one row each; missing rows are filled. Its shape does not depend
   * on elements, as of `torch.nonzero_static`.
   */
  nonzeroStatic(options: NonzeroStaticOptions): T;
  /** With the type of another tensor, on its device. */
  typeAs(other: T): T;
  /** The name of its type. */
  type(): DType;
  /** With another type. */
  type(dtype: DType): T;
  /** Converts to complex numbers of float32. */
  cfloat(): T;
  /** Converts to complex numbers of float64. */
  cdouble(): T;
  /** Itself: memory of the CPU is not pinned. */
  pinMemory(): T;
  /** Returns whether its memory is pinned: always false. */
  isPinned(): boolean;
  /** A tensor of these elements with its type, on its device, unless the options name others. */
  newTensor(data: DataOf<T>, options?: TensorOptions): T;
  /** An uninitialised tensor of given strides with its type, on its device, unless the options name others. */
  newEmptyStrided(size: readonly number[], stride: readonly number[], options?: TensorOptions): T;
  /** A copy of a part of a dimension. */
  narrowCopy(dim: number, start: number, length: number): T;
  /** The polygamma function of an order: the derivative of that order of digamma. */
  polygamma(n: number): T;
  /** The same, in place. */
  polygamma_(n: number): T;
  /** The next floats towards those of another tensor, in place. */
  nextafter_(other: T): T;
  /** The product of Householder reflections, as `linalg.householderProduct`. */
  orgqr(tau: T): T;
  /** Throws DynError: use `toTypedArray`, `tolist` or `data` to read elements. */
  numpy(): never;
  /** The elements in the form of `tolist`, for `JSON.stringify`. */
  toJSON(): NestedElements;
  /** Replaces each element by a function of it, one by one, in place. Ops are faster except for tiny tensors. */
  apply_(fn: (element: Element) => Element): T;
  /** Replaces each element by a function of it and of the other tensor's element, in place. */
  map_(other: T, fn: (element: Element, other: Element) => Element): T;
  /** Makes this tensor show another tensor's elements, sharing its storage; its place in the autograd graph stays. */
  set_(source: T): T;
  /** Throws DynError: there are no CUDA devices. */
  cuda(): T;
}
