/**
 * Methods that fill a tensor in place: with numbers of several distributions, and along the diagonal. Each is an op
 * that returns a tensor like its input, which `name_` writes into it; random fills use only the shape and type of the
 * input.
 */
import { checkPositive } from "../../base/checked_numbers.ts";
import type { DType } from "../../base/dtype.ts";
import { DynError } from "../../base/errors.ts";
import { isEqual } from "../../sym/decide.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import { composeOp, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { nullable, optional, required } from "../params.ts";
import { floatFill, INPLACE_ONLY, OVERWRITTEN } from "./fill_parts.ts";
import { t } from "../pointwise.ts";
import { shapeText } from "../shapes.ts";

const like = (self: TensorMeta): TensorMeta => contiguousMeta(self.shape, self.dtype, self.device);

const cauchy = composeOp({
  name: "cauchy",
  takesGenerator: true,
  doc: "Numbers of a Cauchy distribution; `cauchy_` fills a tensor with them, as `Tensor.cauchy_`.",
  params: {
    self: required("tensor"),
    median: optional("floatOperand", 0, { changes: {} }),
    sigma: optional("floatOperand", 1, { changes: { above: 0 } }),
  },
  inplace: true,
  exposure: INPLACE_ONLY,
  infer({ self, sigma }) {
    checkPositive("sigma", sigma);
    return floatFill("cauchy", self);
  },
  compose: (o, { self, median, sigma }) =>
    o.add(o.mul(o.tan(o.mul(o.uniform(o.emptyLike(self), -0.5, 0.5), Math.PI)), sigma), median),
  gradient: OVERWRITTEN,
  samples: [{ args: [t(2, 3), 1, 2] }],
  errors: [{ args: [t(2), 0, 0], message: "sigma to be positive" }],
});

const logNormal = composeOp({
  name: "logNormal",
  takesGenerator: true,
  doc:
    "Numbers whose logarithms are of a normal distribution; `logNormal_` fills a tensor with them, as `Tensor.log_normal_`.",
  params: {
    self: required("tensor"),
    mean: optional("floatOperand", 1, { changes: {} }),
    std: optional("floatOperand", 2, { changes: { above: 0 } }),
  },
  inplace: true,
  exposure: INPLACE_ONLY,
  infer({ self, std }) {
    checkPositive("std", std);
    return floatFill("logNormal", self);
  },
  compose: (o, { self, mean, std }) => o.exp(o.normal(o.emptyLike(self), mean, std)),
  gradient: OVERWRITTEN,
  samples: [{ args: [t(2, 3), 0, 1] }],
  errors: [{ args: [t(2), 0, -1], message: "std to be positive" }],
});

const geometric = composeOp({
  name: "geometric",
  takesGenerator: true,
  doc:
    "The number of trials of probability p until one succeeds; `geometric_` fills a tensor, as `Tensor.geometric_`.",
  params: { self: required("tensor"), p: required("float") },
  inplace: true,
  exposure: INPLACE_ONLY,
  infer({ self, p }) {
    if (!(p > 0 && p < 1)) throw new DynError(`Expected p between 0 and 1 but found ${p}`);
    return like(self);
  },
  compose(o, { self, p }) {
    const wide = self.dtype === "float64" ? "float64" : "float32";
    const waits = o.exponential(o.emptyLike(self, { dtype: wide }), -Math.log1p(-p));
    // A draw of exactly 0 counts as the first trial, too
    return o.to(o.clampMin(o.ceil(waits), 1), self.dtype);
  },
  gradient: { kind: "none", because: "its result counts" },
  samples: [{ args: [t(2, 3), 0.25] }],
  errors: [{ args: [t(2), 1], message: "p between 0 and 1" }],
});

/**
 * The largest integers that `random_` draws by default: the limits of a type, as far as JavaScript numbers are exact.
 */
const LIMITS: Readonly<Partial<Record<DType, number>>> = {
  float64: 2 ** 53 + 1,
  float32: 2 ** 24 + 1,
  float16: 2 ** 11 + 1,
  bfloat16: 2 ** 8 + 1,
  int64: 2 ** 53,
  int32: 2 ** 31,
  int16: 2 ** 15,
  int8: 2 ** 7,
  uint8: 2 ** 8,
  bool: 2,
};

const random = composeOp({
  name: "random",
  takesGenerator: true,
  doc:
    "random_(), random_(to), random_(from, to): fills a tensor with integers of [from, to), as `Tensor.random_`. Unless given they are those that the type holds without gaps, from 0 on.",
  params: { self: required("tensor"), from: optional("int", 0), to: nullable("int") },
  arrange: (given) => given.length === 2 ? [given[0], 0, given[1]] : given,
  inplace: true,
  exposure: INPLACE_ONLY,
  infer({ self, from, to }) {
    const most = to ?? LIMITS[self.dtype];
    if (most === undefined) throw new DynError(`Expected real numbers for random but found ${self.dtype}`);
    if (from >= most) throw new DynError(`Expected from below to but found ${from} and ${most}`);
    return like(self);
  },
  compose: (o, { self, from, to }) =>
    o.to(
      o.randint(from, to ?? LIMITS[self.dtype] ?? 1, self.shape, { device: self.device }),
      self.dtype,
    ),
  gradient: { kind: "none", because: "its result is random" },
  samples: [{ args: [t(2, 3), 2, 9] }],
  errors: [{ args: [t(2), 3, 3], message: "from below to" }],
});

/**
 * Returns a mask of the elements whose indices are all equal; with `wrap` the diagonal of a tall matrix starts again
 * below its end.
 */
function diagonalMask<T extends TensorLike>(o: OpApi<T>, self: T, wrap: boolean): T {
  const indices = self.shape.map((size, d) =>
    o.reshape(
      o.arange(size, { device: self.device }),
      self.shape.map((_, other) => other === d ? size : 1),
    )
  );
  const [first, ...others] = indices, columns = self.shape[1] ?? 1;
  if (!first) throw new DynError("Expected at least 2 dimensions but found 0");
  const rows = wrap && typeof columns === "number" ? o.remainder(first, columns + 1) : first;
  return others.map((each) => o.eq(rows, each)).reduce((a, b) => o.logicalAnd(a, b));
}

const fillDiagonal = composeOp({
  name: "fillDiagonal",
  doc:
    "A tensor with one number where all of its indices are equal; `fillDiagonal_` writes it, as `Tensor.fill_diagonal_`. More than two dimensions have to be of one size.",
  params: {
    self: required("tensor"),
    fillValue: required("scalarOperand", { late: true, changes: {} }),
    wrap: optional("bool", false),
  },
  inplace: true,
  exposure: INPLACE_ONLY,
  infer({ self, wrap }) {
    const { shape } = self, [first = 0] = shape;
    if (shape.length < 2) throw new DynError(`Expected at least 2 dimensions but found ${shape.length}`);
    if (shape.length > 2 && !shape.every((size) => isEqual(size, first))) {
      throw new DynError(`Expected dimensions of one size but found ${shapeText(shape)}`);
    }
    if (wrap && typeof shape[1] !== "number") throw new DynError("Expected known sizes to wrap a diagonal");
    return like(self);
  },
  compose: (o, { self, fillValue, wrap }) =>
    o.maskedFill(self, diagonalMask(o, self, wrap && self.shape.length === 2), fillValue),
  samples: [{ args: [t(3, 4), 2] }, { args: [t(7, 2), -1, true] }, { args: [t(2, 2, 2), 0.5] }],
  errors: [
    { args: [t(3), 1], message: "at least 2 dimensions" },
    { args: [t(2, 3, 2), 1], message: "dimensions of one size" },
  ],
});

/** The ops of this file. */
export const fills = { cauchy, logNormal, geometric, random, fillDiagonal };
