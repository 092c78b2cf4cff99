/**
 * Softmax and its relatives along one dimension. Invariant: the largest score is subtracted first, so that nothing
 * overflows; rows of −∞ alone give NaN, except in safeSoftmax.
 */
import type { DType } from "../../base/dtype.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import { isEqual } from "../../sym/decide.ts";
import { type Exposure, type OpDefinition, type Sample, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { nullable, type Param, type Params, required } from "../params.ts";
import { checkCategory, t } from "../pointwise.ts";
import { normalizeDim } from "../shapes.ts";
import { composeWideOp } from "../wide.ts";

interface SoftmaxParams extends Params {
  readonly self: Param<"tensor", false>;
  readonly dim: Param<"int", false>;
  readonly dtype: Param<"dtype", true>;
}

const SAMPLES: readonly Sample[] = [
  { args: [t(3, 5), 1] },
  { args: [t(3, 5), 0] },
  { args: [t(2, 3, 4), -2] },
  { args: [t(), 0] },
  { args: [{ tensor: [4, 3], transposed: true }, -1] },
];

/** A map along one dimension whose gradient reads its result. */
function alongDim(
  name: string,
  doc: string,
  { compose, derivative, exposure = { namespaces: ["nn.functional"] } }: {
    compose<T extends TensorLike>(o: OpApi<T>, x: T, dim: number): T;
    derivative<T extends TensorLike>(o: OpApi<T>, at: { grad: T; out: T; dim: number }): T;
    readonly exposure?: Exposure;
  },
): OpDefinition<SoftmaxParams> {
  const resultType = (self: { dtype: DType }, dtype: DType | null) => dtype ?? self.dtype;
  return composeWideOp({
    name,
    doc,
    params: { self: required("tensor"), dim: required("int"), dtype: nullable("dtype") },
    exposure,
    infer({ self, dim, dtype }) {
      normalizeDim(dim, self.shape.length);
      const result = resultType(self, dtype);
      checkCategory(name, result, ["float"]);
      return contiguousMeta(self.shape, result, self.device);
    },
    compose(o, { self, dim, dtype }) {
      const result = resultType(self, dtype);
      const x = o.to(self, result);
      const size = x.shape[normalizeDim(dim, x.shape.length)] ?? 1;
      // Without elements there is no maximum score
      return x.shape.includes(0) || isEqual(size, 0) ? o.clone(x) : compose(o, x, dim);
    },
    gradient: {
      saves: ["out"],
      single(o, grad, { args: { self, dim }, out: [out] }) {
        if (!out) return {};
        return { self: o.to(derivative(o, { grad, out, dim }), self.dtype) };
      },
    },
    samples: SAMPLES,
    errors: [{ args: [t(3, 5), 2], message: "Expected dim in [-2, 1] but found 2" }],
  });
}

/** dx = y·(g − Σ g·y) */
function softmaxDerivative<T extends TensorLike>(
  o: OpApi<T>,
  { grad, out, dim }: { readonly grad: T; readonly out: T; readonly dim: number },
): T {
  const weighted = o.mul(grad, out);
  return o.sub(weighted, o.mul(out, o.sum(weighted, dim, true)));
}

const softmax = alongDim("softmax", "exp(self) / Σ exp(self) along `dim`, as `torch.softmax`.", {
  compose(o, x, dim) {
    const e = o.exp(o.sub(x, o.amax(x, dim, true)));
    // The sum is in [1, n], so its reciprocal is safe, and one division per row is enough
    return o.mul(e, o.reciprocal(o.sum(e, dim, true)));
  },
  derivative: softmaxDerivative,
});

const safeSoftmax = alongDim(
  "safeSoftmax",
  "softmax, but 0 in rows that are −∞ everywhere, and so are their gradients, as `torch._safe_softmax`.",
  {
    compose(o, x, dim) {
      const most = o.amax(x, dim, true), empty = o.eq(most, -Infinity);
      const e = o.exp(o.sub(x, o.where(empty, 0, most)));
      return o.mul(e, o.reciprocal(o.where(empty, 1, o.sum(e, dim, true))));
    },
    derivative: softmaxDerivative,
    exposure: { method: false, free: false },
  },
);

const logSoftmax = alongDim("logSoftmax", "self − log Σ exp(self) along `dim`, as `torch.log_softmax`.", {
  compose(o, x, dim) {
    const shifted = o.sub(x, o.amax(x, dim, true));
    return o.sub(shifted, o.log(o.sum(o.exp(shifted), dim, true)));
  },
  // dx = g − exp(y)·Σ g
  derivative: (o, { grad, out, dim }) => o.sub(grad, o.mul(o.exp(out), o.sum(grad, dim, true))),
});

const softmin = composeWideOp({
  name: "softmin",
  doc: "softmax(−self) along `dim`, as `nn.functional.softmin`.",
  params: { self: required("tensor"), dim: required("int"), dtype: nullable("dtype") },
  exposure: { method: false, free: false, namespaces: ["nn.functional"] },
  infer({ self, dim, dtype }) {
    normalizeDim(dim, self.shape.length);
    return contiguousMeta(self.shape, dtype ?? self.dtype, self.device);
  },
  compose: (o, { self, dim, dtype }) => o.softmax(o.neg(self), dim, dtype === null ? {} : { dtype }),
  samples: SAMPLES,
});

export const softmaxes = { softmax, safeSoftmax, logSoftmax, softmin } as const;
