/**
 * Members of tensors that are defined in terms of other members. Invariant: they have no state, so that in a trace,
 * in a graph or under a mode they behave as those members do.
 */
import { checkInteger } from "../base/checked_numbers.ts";
import { checkTensor } from "./checked.ts";
import type { DType } from "../base/dtype.ts";
import {
  checkFunction,
  checkInstance,
  checkKind,
  checkOptions,
  refuseSurplus,
} from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { oneLine } from "../base/console_text.ts";
import { defineOwn } from "../base/isolated_objects.ts";
import { asTensor, tensor, type TensorOptions } from "./creation.ts";
import type { Described, NonzeroStaticOptions } from "./described.ts";
import { ops } from "./eager.ts";
import type { Element } from "./host.ts";
import { isGradEnabled } from "./modes.ts";
import { isTensor, Tensor } from "./tensor.ts";
import type { Tolerances } from "./tensor_options.ts";

function type(this: Tensor): DType;
function type(this: Tensor, dtype: DType): Tensor;
function type(this: Tensor, dtype?: DType): Tensor | DType {
  if (arguments.length > 1) refuseSurplus("type", 1, arguments);
  return dtype === undefined ? this.dtype : this.to(dtype);
}

const MEMBERS: Described<Tensor> & ThisType<Tensor> = {
  nelement() {
    if (arguments.length > 0) refuseSurplus("nelement", 0, arguments);
    return this.numel();
  },
  ndimension() {
    if (arguments.length > 0) refuseSurplus("ndimension", 0, arguments);
    return this.dim();
  },
  get itemsize() {
    return this.elementSize();
  },
  get nbytes() {
    return this.elementSize() * this.numel();
  },
  isSigned() {
    if (arguments.length > 0) refuseSurplus("isSigned", 0, arguments);
    return this.dtype !== "uint8" && this.dtype !== "bool";
  },
  isConj() {
    if (arguments.length > 0) refuseSurplus("isConj", 0, arguments);
    return false;
  },
  isNeg() {
    if (arguments.length > 0) refuseSurplus("isNeg", 0, arguments);
    return false;
  },
  isNonzero() {
    if (arguments.length > 0) refuseSurplus("isNonzero", 0, arguments);
    return Boolean(this.ne(0).item<boolean>());
  },
  isSameSize(other: Tensor) {
    if (arguments.length > 1) refuseSurplus("isSameSize", 1, arguments);
    checkTensor(other, "isSameSize");
    return `${this.shape}` === `${other.shape}`;
  },
  isSetTo(other: Tensor) {
    if (arguments.length > 1) refuseSurplus("isSetTo", 1, arguments);
    checkTensor(other, "isSetTo");
    return this.storage === other.storage && this.offset === other.offset &&
      `${this.shape}` === `${other.shape}` && `${this.strides}` === `${other.strides}`;
  },
  equal(other: Tensor) {
    if (arguments.length > 1) refuseSurplus("equal", 1, arguments);
    checkInstance(other, Tensor, "equal");
    return `${this.shape}` === `${other.shape}` && this.eq(other).all().item<boolean>();
  },
  allclose(other: Tensor, ...tolerances: Tolerances) {
    return this.isclose(other, ...tolerances).all().item<boolean>();
  },
  get T() {
    return this.permute(this.shape.map((_, d) => this.ndim - 1 - d));
  },
  get mT() {
    return this.transpose(-2, -1);
  },
  get H() {
    if (this.ndim !== 2 && this.ndim !== 0) {
      throw new DynError(`Expected a matrix for H but found ${this.ndim} dimensions; mH is of batches`);
    }
    return this.isComplex() ? this.T.conj() : this.T;
  },
  get mH() {
    return this.isComplex() ? this.mT.conj() : this.mT;
  },
  resizeAs_(other: Tensor) {
    if (arguments.length > 1) refuseSurplus("resizeAs_", 1, arguments);
    checkInstance(other, Tensor, "resizeAs_");
    return this.resize_(other.shape);
  },
  get isCpu() {
    return this.device === "cpu";
  },
  get isCuda() {
    return false;
  },
  get isMeta() {
    return this.device === "meta";
  },
  get isSparse() {
    return false;
  },
  get isQuantized() {
    return false;
  },
  getDevice() {
    if (arguments.length > 0) refuseSurplus("getDevice", 0, arguments);
    return this.device === "cpu" ? -1 : 0;
  },
  get retainsGrad() {
    const { gradFn, state } = this;
    return gradFn?.retained.get(state?.output ?? 0) === this;
  },
  get outputNr() {
    return this.state?.output ?? 0;
  },
  adjoint() {
    if (arguments.length > 0) refuseSurplus("adjoint", 0, arguments);
    return this.mH;
  },
  nonzeroStatic(options: NonzeroStaticOptions) {
    if (arguments.length > 1) refuseSurplus("nonzeroStatic", 1, arguments);
    return nonzeroStatic(this, options);
  },
  typeAs(other: Tensor) {
    if (arguments.length > 1) refuseSurplus("typeAs", 1, arguments);
    if (isTensor(other)) return this.to(other);
    throw new DynError(
      `Expected a tensor for typeAs but found ${oneLine(other)}; to() takes a dtype by name`,
    );
  },
  type,
  cfloat() {
    if (arguments.length > 0) refuseSurplus("cfloat", 0, arguments);
    return this.to("complex64");
  },
  cdouble() {
    if (arguments.length > 0) refuseSurplus("cdouble", 0, arguments);
    return this.to("complex128");
  },
  pinMemory() {
    return this;
  },
  isPinned() {
    return false;
  },
  newTensor(data, options = {}) {
    if (arguments.length > 2) refuseSurplus("newTensor", 2, arguments);
    return tensor(data, { dtype: this.dtype, device: this.device, ...options });
  },
  newEmptyStrided(size: readonly number[], stride: readonly number[], options: TensorOptions = {}) {
    if (arguments.length > 3) refuseSurplus("newEmptyStrided", 3, arguments);
    return emptyStrided(size, stride, { dtype: this.dtype, device: this.device, ...options });
  },
  narrowCopy(dim: number, start: number, length: number) {
    if (arguments.length > 3) refuseSurplus("narrowCopy", 3, arguments);
    return this.narrow(dim, start, length).clone();
  },
  polygamma(n: number) {
    if (arguments.length > 1) refuseSurplus("polygamma", 1, arguments);
    return ops.polygamma(n, this);
  },
  polygamma_(n: number) {
    if (arguments.length > 1) refuseSurplus("polygamma_", 1, arguments);
    const result = ops.polygamma(n, ops.clone(this));
    if (result.dtype !== this.dtype) {
      throw new DynError(`Expected a result that can be cast to ${this.dtype} but found ${result.dtype}`);
    }
    return this.copy_(result);
  },
  nextafter_(other: Tensor) {
    if (arguments.length > 1) refuseSurplus("nextafter_", 1, arguments);
    return this.copy_(ops.nextafter(ops.clone(this), other));
  },
  orgqr(tau: Tensor) {
    if (arguments.length > 1) refuseSurplus("orgqr", 1, arguments);
    return ops.householderProduct(this, tau);
  },
  numpy() {
    throw new DynError(
      "Expected toTypedArray(), tolist() or await data() but found numpy(): there are no NumPy arrays",
    );
  },
  toJSON() {
    return this.tolist();
  },
  apply_(fn: (element: Element) => Element) {
    if (arguments.length > 1) refuseSurplus("apply_", 1, arguments);
    return written(this, [this], fn);
  },
  map_(other: Tensor, fn: (element: Element, other: Element) => Element) {
    if (arguments.length > 2) refuseSurplus("map_", 2, arguments);
    checkTensor(other, "map_");
    return written(this, [this, other.expandAs(this)], fn);
  },
  set_(source: Tensor) {
    if (arguments.length > 1) refuseSurplus("set_", 1, arguments);
    checkTensor(source, "set_");
    if (source.dtype !== this.dtype) {
      throw new DynError(`Expected a tensor of ${this.dtype} for set_ but found ${source.dtype}`);
    }
    this.replaceData(source);
    return this;
  },
  cuda() {
    return this.to(String("cuda"));
  },
};

/** Writes a function of the elements of several tensors at each position into the first. */
function written(
  target: Tensor,
  given: readonly Tensor[],
  fn: (...elements: [Element, Element]) => Element,
): Tensor {
  checkFunction(fn, "of elements");
  const [firsts = [], seconds = firsts] = given.map((each) =>
    each.detach().reshape([-1]).tolist<Element[]>()
  );
  const made = firsts.map((first, k) => fn(first, seconds[k] ?? first));
  return target.copy_(
    asTensor(made, { dtype: target.dtype, device: target.device }).reshape([...target.shape]),
  );
}

/** An uninitialised tensor whose elements lie at given strides, as `torch.empty_strided`. */
export function emptyStrided(
  size: readonly number[],
  stride: readonly number[],
  options: TensorOptions = {},
): Tensor {
  if (arguments.length > 3) refuseSurplus("emptyStrided", 3, arguments);
  for (const list of [size, stride]) checkKind(list, "a list", "emptyStrided");
  if (size.length !== stride.length) {
    throw new DynError(`Expected a stride for each of ${size.length} sizes but found ${stride.length}`);
  }
  const extent = size.includes(0) ? 0 : size.reduce((sum, n, d) => sum + (n - 1) * (stride[d] ?? 0), 1);
  const { requiresGrad = false, ...place } = options;
  const made = ops.asStrided(ops.empty([extent], place), size, stride);
  // A view has a history from its first write on if it was created while gradients are recorded, as a tensor has
  return requiresGrad || !isGradEnabled() ? made.detach().requiresGrad_(requiresGrad) : made;
}

/** The free form of the method. */
export function nonzeroStatic(input: Tensor, options: NonzeroStaticOptions): Tensor {
  if (arguments.length > 2) refuseSurplus("nonzeroStatic", 2, arguments);
  checkOptions("nonzeroStatic", { size: ["number"], fillValue: ["number"] }, options ?? {});
  const { size, fillValue = -1 } = options ?? {};
  checkInteger("size of nonzeroStatic", size, 0);
  const { device, ndim } = input, place = { dtype: "int64", device } as const;
  const isFound = input.ne(0).reshape([-1]), count = ops.cumsum(isFound, 0);
  // One extra row, for elements that do not fit
  const row = ops.where(isFound.logicalAnd(count.le(size)), count.sub(1), size);
  const flat = ops.arange(isFound.shape[0] ?? 0, null, 1, place);
  const columns = input.shape.map((length, d) => {
    const behind = input.shape.slice(d + 1).reduce((a, b) => a * b, 1);
    const at = flat.div(behind, { roundingMode: "floor" }).remainder(Math.max(length, 1));
    return ops.full([size + 1], fillValue, place).scatter(0, row, at);
  });
  return ndim === 0 ? ops.empty([size, 0], place) : ops.stack(columns, 1).narrow(0, 0, size);
}

/** Names of the members. */
export const DESCRIBED: ReadonlySet<string> = new Set(
  Object.keys(MEMBERS),
);

/** Installs the members in a class of tensors. */
export function installDescriptions(prototype: object): void {
  for (const key of DESCRIBED) {
    const descriptor = Reflect.getOwnPropertyDescriptor(MEMBERS, key);
    if (descriptor) defineOwn(prototype, key, { ...descriptor, enumerable: false });
  }
}
