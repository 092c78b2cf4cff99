/**
 * Convolutions, activations and distances of complex tensors. Invariant: convolutions are bilinear, so that each is four
 * of real tensors; distances are real.
 */
import { isFloat, partType } from "../../base/dtype.ts";
import type { TensorLike } from "../definition.ts";
import { activations } from "../elementwise/activation.ts";
import { elementwise } from "../elementwise/elementwise.ts";
import { unaryOps } from "../elementwise/unary.ts";
import type { OpApi } from "../generated.ts";
import { convolutions } from "../nn/convolution.ts";
import { isEqual } from "../../sym/decide.ts";
import { checkSameType } from "../promotion.ts";
import { reducedDims } from "../shapes.ts";
import { statistics } from "../reductions/statistics.ts";
import { isComplexTensor, joined, type Parts, partsOf } from "./parts.ts";
import { type ComplexRule, rule } from "./rule.ts";

/** The bilinear map of complex operands by that of their parts. */
function bilinear<T extends TensorLike>(
  o: OpApi<T>,
  { a, b }: { readonly a: Parts<T>; readonly b: Parts<T> },
  map: (x: T, y: T) => T,
): Parts<T> {
  return {
    re: o.sub(map(a.re, b.re), map(a.im, b.im)),
    im: o.add(map(a.re, b.im), map(a.im, b.re)),
  };
}

export const layerRules: readonly ComplexRule[] = [
  rule(convolutions.convolution, (o, { input, weight, bias, stride, padding, dilation, groups }) => {
    checkSameType("convolution", input, weight);
    if (bias) checkSameType("convolution", input, bias);
    const { re, im } = bilinear(
      o,
      { a: partsOf(o, input), b: partsOf(o, weight) },
      (x, w) => o.convolution(x, w, null, stride, padding, dilation, groups),
    );
    const found = joined(o, { re, im });
    return bias ? o.add(found, o.reshape(bias, [-1, 1, 1])) : found;
  }),
  rule(convolutions.convolutionBackwardInput, (o, args) => {
    const { grad, weight, inputSizes, stride, padding, dilation, groups } = args;
    checkSameType("convolution", grad, weight);
    return joined(
      o,
      bilinear(
        o,
        { a: partsOf(o, grad), b: partsOf(o, weight) },
        (x, w) => o.convolutionBackwardInput(x, w, inputSizes, stride, padding, dilation, groups),
      ),
    );
  }),
  rule(activations.softsign, (o, { self }) => o.div(self, o.add(o.abs(self), 1))),
  rule(activations.tanhshrink, (o, { self }) => o.sub(self, o.tanh(self))),
  rule(activations.silu, (o, { self }) => o.mul(self, o.sigmoid(self))),
  rule(unaryOps.sinc, (o, { self }) => {
    const isZero = o.eq(self, 0), angle = o.mul(o.where(isZero, 1, self), Math.PI);
    return o.where(isZero, 1, o.div(o.sin(angle), angle));
  }),
  rule(elementwise.ldexp, (o, { self, other }) => {
    const isWhole = !isFloat(other.dtype) && !isComplexTensor(other);
    return o.mul(self, o.pow(2, isWhole ? o.to(other, partType(self.dtype)) : other));
  }),
  rule(statistics.logsumexp, (o, { self, dim, keepdim }) => {
    const dims = reducedDims(dim, self.shape.length);
    if (dims.some((d) => isEqual(self.shape[d] ?? 1, 0))) return o.log(o.sum(o.exp(self), dims, keepdim));
    const highest = o.amax(o.detach(partsOf(o, self).re), dims, true);
    // Shifting by an infinite maximum would give NaN
    const shift = o.where(o.isfinite(highest), highest, 0);
    const sums = o.log(o.sum(o.exp(o.sub(self, shift)), dims, true));
    const found = o.add(sums, shift);
    return keepdim ? found : o.sum(found, dims);
  }),
  rule(
    statistics.pairwiseDistance,
    (o, { x1, x2, p, eps, keepdim }) => o.norm(o.add(o.sub(x1, x2), eps), p, -1, keepdim),
  ),
];
