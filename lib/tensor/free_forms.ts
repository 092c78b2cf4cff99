/**
 * Free functions whose result is no tensor, or several where they get several. Input: tensors or shapes; output:
 * booleans, shapes, tensors. Invariant: everything about elements is asked of ops.
 */
import { isComplexNumber } from "../base/complex.ts";
import { complexType, type DType } from "../base/dtype.ts";
import { resultTypeOf } from "../ops/promotion.ts";
import { broadcastShapes as broadcast } from "../ops/shapes.ts";
import type { Dim } from "../sym/expr.ts";
import { ops } from "./eager.ts";
import type { Element } from "./host.ts";
import { isTensor, type Tensor } from "./tensor.ts";
import type { Tolerances } from "./tensor_options.ts";

/** Whether two tensors have one shape and the same elements, as `torch.equal`. */
export function equal(self: Tensor, other: Tensor): boolean {
  return self.equal(other);
}

/** Whether all elements are near each other, as `torch.allclose`. Throws DynError for tensors of two types. */
export function allclose(self: Tensor, other: Tensor, ...tolerances: Tolerances): boolean {
  return self.allclose(other, ...tolerances);
}

/** The shape that shapes broadcast to (a number stands for one of one dimension), as `torch.broadcast_shapes`. */
export function broadcastShapes(...shapes: readonly (number | readonly number[])[]): Dim[] {
  return broadcast(...shapes.map((shape) => typeof shape === "number" ? [shape] : shape));
}

type Raise = (x: Tensor) => Tensor;

/** A tensor for one tensor, a list for several, spread or in a list. */
function each(raise: Raise, given: readonly (Tensor | readonly Tensor[])[]): Tensor | Tensor[] {
  const [first, ...others] = given;
  const alone = others.every((other) => other === undefined);
  return alone && isTensor(first) ? raise(first) : given.flat().map(raise);
}

/** What atleast1d and its like take and give. */
export interface AtLeast {
  (x: Tensor): Tensor;
  (tensors: readonly Tensor[]): Tensor[];
  (...tensors: readonly Tensor[]): Tensor[];
}

function forms(raise: Raise): AtLeast {
  function call(x: Tensor): Tensor;
  function call(tensors: readonly Tensor[]): Tensor[];
  function call(...tensors: readonly Tensor[]): Tensor[];
  function call(...given: readonly (Tensor | readonly Tensor[])[]): Tensor | Tensor[] {
    return each(raise, given);
  }
  return call;
}

/** With at least 1 dimension, as `torch.atleast_1d`. */
export const atleast1d: AtLeast = forms((x) => ops.atleast1d(x));

/** With at least 2 dimensions, as `torch.atleast_2d`. */
export const atleast2d: AtLeast = forms((x) => ops.atleast2d(x));

/** With at least 3 dimensions, as `torch.atleast_3d`. */
export const atleast3d: AtLeast = forms((x) => ops.atleast3d(x));

/** Whether the elements of a tensor are complex numbers, as `torch.is_complex`. */
export function isComplex(tensor: Tensor): boolean {
  return tensor.isComplex();
}

/** The type in which an op of these two would compute, as `torch.result_type`. */
export function resultType(a: Tensor | Element, b: Tensor | Element): DType {
  const real = [a, b].flatMap((each) => isComplexNumber(each) ? [] : [each]);
  return real.length === 2 ? resultTypeOf(real) : complexType(resultTypeOf(real));
}
