/**
 * Covariance and correlation of variables. Invariant: compositions over centred rows.
 */
import { DynError } from "../../base/errors.ts";
import { type DType, isComplex, isDifferentiable, isFloat, partType } from "../../base/dtype.ts";
import { adjoint } from "../factors/adjoint.ts";
import { sub } from "../../sym/expr.ts";
import { isEqual, isLess } from "../../sym/decide.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import type { TensorLike } from "../definition.ts";
import { resultTypeOf } from "../promotion.ts";
import { nullable, optional, required } from "../params.ts";
import { eachElement, t } from "../pointwise.ts";
import { shapeText } from "../shapes.ts";
import { composeWideOp, lowerWideOp } from "../wide.ts";

const frequencies = lowerWideOp({
  name: "frequencies",
  doc: "Integers, of which none may be negative.",
  params: { self: required("tensor") },
  exposure: { method: false, free: false },
  infer: ({ self }) => contiguousMeta(self.shape, self.dtype, self.device),
  ranges: ({ self }) => [{ values: self, low: 0, high: Number.MAX_SAFE_INTEGER, what: "a frequency" }],
  lower: ({ self }, [result]) =>
    eachElement(self, result, (_o, x) => {
      return x;
    }),
  gradient: { kind: "none", because: "integers" },
  samples: [{ args: [{ tensor: [4], dtype: "int64", range: [0, 4] }] }],
  errors: [{
    args: [{ tensor: [4], dtype: "int64", range: [-4, 0] }],
    message: "Expected a frequency in [0,",
  }],
});

/** The covariance of rows, with frequencies and weights of observations. */
const cov = composeWideOp({
  name: "cov",
  doc: "The covariance of rows over columns, with frequencies and weights, as `torch.cov`.",
  params: {
    self: required("tensor"),
    correction: optional("int", 1, { keyword: true }),
    fweights: nullable("tensor", { keyword: true }),
    aweights: nullable("tensor", { keyword: true }),
  },
  bounds: () => ({ aweights: [0, Infinity] }),
  infer({ self, fweights, aweights }) {
    if (self.shape.length > 2) {
      throw new DynError(`Expected at most 2 dimensions but found ${shapeText(self.shape)}`);
    }
    for (const weights of [fweights, aweights]) {
      if (weights && weights.shape.length > 1) {
        throw new DynError(`Expected weights in one dimension but found ${shapeText(weights.shape)}`);
      }
    }
    for (const weights of [fweights, aweights]) {
      const count = self.shape.at(-1) ?? 1;
      if (weights && !isEqual(weights.shape[0] ?? 1, count)) {
        throw new DynError(`Expected ${count} weights but found ${shapeText(weights.shape)}`);
      }
    }
    if (fweights && isFloat(fweights.dtype)) {
      throw new DynError(`Expected integer frequencies but found ${fweights.dtype}`);
    }
    if (aweights && !isFloat(aweights.dtype)) {
      throw new DynError(`Expected float weights but found ${aweights.dtype}`);
    }
    return betweenRows({ ...self, dtype: weightedType(self, aweights) });
  },
  compose(o, { self, correction, fweights: given, aweights }) {
    const fweights = given && o.frequencies(given);
    const x = self.shape.length < 2 ? o.reshape(self, [1, -1]) : self;
    const rows = o.to(x, weightedType(self, aweights)), real = partType(rows.dtype);
    const weights = fweights && aweights ? o.mul(fweights, aweights) : fweights ?? aweights;
    const total = weights ? o.to(o.sum(weights), real) : null;
    const count = rows.shape[1] ?? 1;
    const weighted = weights ? o.mul(rows, weights) : rows;
    const mean = total ? o.div(o.sum(weighted, 1, true), total) : o.mean(rows, 1, true);
    const centred = o.sub(rows, mean);
    const products = o.mm(weights ? o.mul(centred, o.to(weights, real)) : centred, adjoint(o, centred));
    const divisor = total
      ? o.sub(
        total,
        correction === 0
          ? 0
          : aweights
          ? o.mul(o.div(o.sum(o.mul(weights ?? aweights, aweights)), total), correction)
          : correction,
      )
      : isLess(correction, count)
      ? sub(count, correction)
      : 0;
    const scaled = o.div(
      products,
      typeof divisor === "object" && "shape" in divisor ? o.clamp(divisor, 0, null) : divisor,
    );
    return self.shape.length < 2 || isEqual(self.shape[0] ?? 1, 1) ? o.reshape(scaled, []) : scaled;
  },
  samples: [
    { args: [t(3, 5)] },
    { args: [t(4)] },
    { args: [t(2, 3)], options: { fweights: { tensor: [3], dtype: "int64", range: [1, 4] } } },
    { args: [t(2, 3)], options: { aweights: { tensor: [3], range: [0.5, 2] } } },
  ],
  errors: [
    { args: [t(2, 2, 2)], message: "at most 2" },
    {
      args: [t(2, 3)],
      options: { fweights: { tensor: [3], dtype: "int64", range: [-4, -1] } },
      message: "Expected a frequency in [0,",
    },
    {
      args: [t(2, 3)],
      options: { aweights: { tensor: [3], range: [-4, -1] } },
      message: "Expected elements of aweights of at least 0 for cov",
    },
  ],
});

/** The type of a covariance: that of the rows, which are floats, and of their weights. */
const weightedType = (rows: TensorLike, weights: TensorLike | null): DType =>
  resultTypeOf([
    { shape: rows.shape, dtype: isDifferentiable(rows.dtype) ? rows.dtype : "float32" },
    ...weights ? [weights] : [],
  ]);

/** The result for each pair of rows. */
function betweenRows({ shape, dtype, device }: TensorMeta): TensorMeta {
  const [rows = 1] = shape;
  return contiguousMeta(
    shape.length < 2 || isEqual(rows, 1) ? [] : [rows, rows],
    isFloat(dtype) ? dtype : "float32",
    device,
  );
}

const corrcoef = composeWideOp({
  name: "corrcoef",
  doc: "The correlation of rows over columns, as `torch.corrcoef`.",
  params: { self: required("tensor") },
  infer({ self }) {
    if (self.shape.length > 2) {
      throw new DynError(`Expected at most 2 dimensions but found ${shapeText(self.shape)}`);
    }
    return betweenRows(self);
  },
  compose(o, { self }) {
    const c = o.cov(self);
    if (c.shape.length === 0) return o.div(c, c);
    const variances = o.diagonal(c), deviation = o.sqrt(isComplex(c.dtype) ? o.real(variances) : variances);
    const found = o.div(o.div(c, o.unsqueeze(deviation, 1)), o.unsqueeze(deviation, 0));
    return isComplex(c.dtype) ? o.viewAsComplex(o.clamp(o.viewAsReal(found), -1, 1)) : o.clamp(found, -1, 1);
  },
  samples: [{ args: [t(3, 5)] }],
});

export const covariances = { frequencies, cov, corrcoef } as const;
