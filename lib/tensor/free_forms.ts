/**
 * Free functions whose result is not a tensor, or that return as many tensors as they receive. Invariant: elements are
 * accessed only through ops.
 */
import { checkKind, refuseSurplus, refuseValue } from "../base/checked_input.ts";
import { checkTensor } from "./checked.ts";
import { argumentsOf, type Trailing, trailing } from "../base/arguments.ts";
import { isComplexNumber } from "../base/complex.ts";
import { complexType, type DType } from "../base/dtype.ts";
import { resultTypeOf } from "../ops/promotion.ts";
import { broadcastShapes as broadcast } from "../ops/shapes.ts";
import { DynError } from "../base/errors.ts";
import { named } from "../base/isolated_objects.ts";
import { oneLine } from "../base/console_text.ts";
import type { Dim } from "../sym/expr.ts";
import type { TensorOptions } from "./creation.ts";
import { ops } from "./eager.ts";
import type { Element } from "./host.ts";
import { isPlainObject } from "../base/tree.ts";
import { isTensor, type Tensor } from "./tensor.ts";
import type { Nearness, Tolerances } from "./tensor_options.ts";

/** Returns the tensor that `owner` is given by position or by name. */
function inputOf(owner: string, given: Tensor | { readonly input: Tensor }): Tensor {
  const input = isPlainObject(given)
    ? argumentsOf<{ readonly input: Tensor }, object>(owner, { required: ["input"], positional: [] }, [given])
      .input
    : given;
  checkTensor(input, owner);
  return input;
}

/** Two tensors by name. */
export interface NamedOperands {
  /** The first tensor. */
  readonly input: Tensor;
  /** The tensor it is compared with. */
  readonly other: Tensor;
}

/** Returns whether two tensors have the same shape and elements, like `torch.equal`. */
export function equal(
  ...given: readonly [self: Tensor, other: Tensor] | readonly [named: NamedOperands]
): boolean {
  if (given.length > 2) refuseSurplus("equal", 2, given);
  const { input, other } = argumentsOf<NamedOperands, object>("equal", {
    required: ["input", "other"],
    positional: [],
  }, given);
  checkTensor(input, "equal");
  return input.equal(other);
}

/**
 * Returns whether all elements are close to each other, like `torch.allclose`. Throws DynError for tensors of two
 * types.
 */
export function allclose(
  ...given:
    | readonly [self: Tensor, other: Tensor, ...tolerances: Tolerances]
    | readonly [named: NamedOperands & Nearness]
): boolean {
  const { input, other, ...tolerances } = argumentsOf<NamedOperands, Nearness>("allclose", {
    required: ["input", "other"],
    positional: ["rtol", "atol", "equalNan"],
    flags: { equalNan: true },
  }, given);
  checkTensor(input, "allclose");
  return input.allclose(other, tolerances);
}

/** The common shape that shapes broadcast to (a number is a shape of one dimension), as `torch.broadcast_shapes`. */
export function broadcastShapes(...shapes: readonly (number | readonly number[])[]): Dim[] {
  const lists = shapes.map((shape) => typeof shape === "number" ? [shape] : shape);
  for (const list of lists) {
    checkKind(list, "a list", "broadcastShapes");
    for (const size of list) checkKind(size, "a number", "a size in broadcastShapes");
  }
  return broadcast(...lists);
}

type Raise = (x: Tensor) => Tensor;

/** Applies a function to one tensor, or to several, spread or in a list, which gives a list. */
function each(raise: Raise, given: readonly (Tensor | readonly Tensor[])[]): Tensor | Tensor[] {
  const [first, ...others] = given;
  const alone = others.every((other) => other === undefined);
  return alone && isTensor(first) ? raise(first) : given.flat().map(raise);
}

/** The signatures of atleast1d, atleast2d and atleast3d. */
export interface AtLeast {
  (x: Tensor): Tensor;
  (tensors: readonly Tensor[]): Tensor[];
  (...tensors: readonly Tensor[]): Tensor[];
}

function forms(name: string, raise: Raise): AtLeast {
  function call(x: Tensor): Tensor;
  function call(tensors: readonly Tensor[]): Tensor[];
  function call(...tensors: readonly Tensor[]): Tensor[];
  function call(...given: readonly (Tensor | readonly Tensor[])[]): Tensor | Tensor[] {
    return each(raise, given);
  }
  return named(name, call);
}

/** With at least 1 dimension, as `torch.atleast_1d`. */
export const atleast1d: AtLeast = forms("atleast1d", (x) => ops.atleast1d(x));

/** With at least 2 dimensions, as `torch.atleast_2d`. */
export const atleast2d: AtLeast = forms("atleast2d", (x) => ops.atleast2d(x));

/** With at least 3 dimensions, as `torch.atleast_3d`. */
export const atleast3d: AtLeast = forms("atleast3d", (x) => ops.atleast3d(x));

/** Returns whether the elements of a tensor are complex numbers, like `torch.is_complex`. */
export function isComplex(input: Tensor | { readonly input: Tensor }): boolean {
  if (arguments.length > 1) refuseSurplus("isComplex", 1, arguments);
  return inputOf("isComplex", input).isComplex();
}

function checkOperand(value: unknown, owner: string): void {
  if (isTensor(value) || isComplexNumber(value) || ["number", "bigint", "boolean"].includes(typeof value)) {
    return;
  }
  refuseValue(`a tensor or a number for ${owner}`, value);
}

/** The type to which two operands promote, as `torch.result_type`. */
export function resultType(a: Tensor | Element, b: Tensor | Element): DType {
  if (arguments.length > 2) refuseSurplus("resultType", 2, arguments);
  for (const each of [a, b]) checkOperand(each, "resultType");
  const real = [a, b].flatMap((each) => isComplexNumber(each) ? [] : [each]);
  return real.length === 2 ? resultTypeOf(real) : complexType(resultTypeOf(real));
}

/** Number of elements, as `torch.numel`. */
export function numel(input: Tensor | { readonly input: Tensor }): number {
  if (arguments.length > 1) refuseSurplus("numel", 1, arguments);
  return inputOf("numel", input).numel();
}

/** Returns whether the type is a floating type, like `torch.is_floating_point`. */
export function isFloatingPoint(input: Tensor): boolean {
  if (arguments.length > 1) refuseSurplus("isFloatingPoint", 1, arguments);
  checkTensor(input, "isFloatingPoint");
  return input.isFloatingPoint();
}

/** Returns whether elements can be negative, like `torch.is_signed`. */
export function isSigned(input: Tensor): boolean {
  if (arguments.length > 1) refuseSurplus("isSigned", 1, arguments);
  checkTensor(input, "isSigned");
  return input.isSigned();
}

/**
 * Returns whether the one element is not 0, like `torch.is_nonzero`. Throws DynError for another number of elements.
 */
export function isNonzero(input: Tensor): boolean {
  if (arguments.length > 1) refuseSurplus("isNonzero", 1, arguments);
  checkTensor(input, "isNonzero");
  return input.isNonzero();
}

/** Returns whether two tensors have the same shape, like `torch.is_same_size`. */
export function isSameSize(input: Tensor, other: Tensor): boolean {
  if (arguments.length > 2) refuseSurplus("isSameSize", 2, arguments);
  checkTensor(input, "isSameSize");
  return input.isSameSize(other);
}

/** A matrix transposed and conjugated, as the property `x.H`. */
export function H(input: Tensor): Tensor {
  if (arguments.length > 1) refuseSurplus("H", 1, arguments);
  checkTensor(input, "H");
  return input.H;
}

/** The last two dimensions exchanged and conjugated, as the property `x.mH`. */
export function mH(input: Tensor): Tensor {
  if (arguments.length > 1) refuseSurplus("mH", 1, arguments);
  checkTensor(input, "mH");
  return input.mH;
}

/** The last two dimensions exchanged and conjugated, as `torch.adjoint`. */
export function adjoint(input: Tensor): Tensor {
  if (arguments.length > 1) refuseSurplus("adjoint", 1, arguments);
  checkTensor(input, "adjoint");
  return input.mH;
}

/** Options of `vander`. */
export interface VanderColumns {
  /** Number of columns; default: the number of elements. */
  readonly N?: number | null;
  /** Whether the lowest power is the first; default false. */
  readonly increasing?: boolean;
}

/**
 * Returns the Vandermonde matrix, like `torch.vander`: a row of powers of each element, the highest first unless
 * `increasing`.
 */
export function vander(x: Tensor, ...given: Trailing<VanderColumns, readonly ["N", "increasing"]>): Tensor {
  if (!isTensor(x) || x.ndim !== 1) {
    const found = isTensor(x) ? `the shape [${x.shape}]` : oneLine(x);
    throw new DynError(`Expected a vector for x of vander but found ${found}`);
  }
  const { N = null, increasing = false } = trailing<VanderColumns>("vander", {
    positional: ["N", "increasing"],
    flags: { increasing: true },
  }, given);
  const columns = N ?? x.numel(), powers = ops.arange(columns, null, 1, { device: x.device });
  const table = ops.pow(ops.unsqueeze(x, -1), powers);
  return increasing ? table : ops.flip(table, [-1]);
}

/** The product of several matrices, in the cheapest order, as `torch.chain_matmul` and `linalg.multiDot`. */
export function chainMatmul(...matrices: readonly Tensor[]): Tensor {
  const [first] = matrices;
  if (!first) throw new DynError("Expected matrices to multiply but found none");
  for (const each of matrices) checkTensor(each, "chainMatmul");
  return matrices.length === 1 ? first : ops.multiDot(matrices);
}

/**
 * An uninitialised tensor whose dimensions are in a given order in memory, the last with stride 1, as
 * `torch.empty_permuted`.
 */
export function emptyPermuted(
  size: readonly number[],
  physicalLayout: readonly number[],
  options: TensorOptions = {},
): Tensor {
  if (arguments.length > 3) refuseSurplus("emptyPermuted", 3, arguments);
  for (const list of [size, physicalLayout]) checkKind(list, "a list", "emptyPermuted");
  const { requiresGrad = false, ...place } = options, laid = physicalLayout.map((d) => size[d]);
  const isOrder = physicalLayout.length === size.length &&
    size.every((_, d) => physicalLayout.includes(d));
  if (!isOrder) {
    throw new DynError(`Expected an order of ${size.length} dimensions but found [${physicalLayout}]`);
  }
  const made = ops.empty(laid.map((each) => each ?? 0), place);
  return ops.permute(made, size.map((_, d) => physicalLayout.indexOf(d))).detach().requiresGrad_(
    requiresGrad,
  );
}
