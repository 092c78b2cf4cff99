/**
 * Distance and margin losses. Invariant: all are compositions.
 */
import { checkOneOf } from "../../base/checked_input.ts";
import { checkAtLeast, checkPositive } from "../../base/checked_numbers.ts";
import { DynError, invariant } from "../../base/errors.ts";
import { isFloat } from "../../base/dtype.ts";
import { type Dim, product } from "../../sym/expr.ts";
import { isEqual } from "../../sym/decide.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import { FUNCTIONAL, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { lossMeta, reductionParam } from "./losses.ts";
import { atLeastNumber, beside } from "../numbers.ts";
import { nullable, optional, required } from "../params.ts";
import { checkCategory, eachElement, t } from "../pointwise.ts";
import { isTensor, resultTypeOf } from "../promotion.ts";
import { broadcastShapes, sameShape, shapeText } from "../shapes.ts";
import { composeWideOp, lowerWideOp } from "../wide.ts";

function reduce<T extends TensorLike>(o: OpApi<T>, loss: T, reduction: string): T {
  if (reduction === "none") return loss;
  const total = o.sum(loss, null, false, { dtype: loss.dtype });
  if (reduction === "sum") return total;
  return o.div(total, product(loss.shape));
}

const promoted = (...all: readonly TensorMeta[]): TensorMeta => {
  const [first] = all;
  invariant(first, "Expected at least one tensor");
  return { ...first, dtype: resultTypeOf(all) };
};

const marginRankingLoss = composeWideOp({
  name: "marginRankingLoss",
  doc: "max(0, −target · (input1 − input2) + margin), as `nn.functional.margin_ranking_loss`.",
  params: {
    input1: required("tensor"),
    input2: required("tensor"),
    target: required("tensor"),
    margin: optional("floatOperand", 0, { changes: {} }),
    reduction: reductionParam,
  },
  exposure: FUNCTIONAL,
  infer({ input1, input2, target, reduction }) {
    if (input1.shape.length !== target.shape.length || input2.shape.length !== target.shape.length) {
      throw new DynError(
        `Expected tensors with the same number of dimensions but found ${
          [input1, input2, target].map((x) => shapeText(x.shape)).join(", ")
        }`,
      );
    }
    const like = promoted(input1, input2, target);
    return lossMeta(broadcastShapes(input1.shape, input2.shape, target.shape), {
      ...like,
      dtype: floating(like),
    }, reduction);
  },
  compose(o, { input1, input2, target, margin, reduction }) {
    const gap = o.mul(o.neg(target), o.sub(input1, input2));
    const wide = isFloat(gap.dtype) ? gap : o.to(gap, "float32"),
      short = o.add(wide, beside(o, wide, margin));
    return reduce(o, o.clampMin(short, 0), reduction);
  },
  samples: [{ args: [t(4), t(4), t(4)] }, { args: [t(4), t(4), t(4), 0.5, "none"] }],
});

const hingeEmbeddingLoss = composeWideOp({
  name: "hingeEmbeddingLoss",
  doc:
    "self where target is 1, max(0, margin − self) where it is −1, as `nn.functional.hinge_embedding_loss`.",
  params: {
    self: required("tensor"),
    target: required("tensor"),
    margin: optional("floatOperand", 1, { changes: {} }),
    reduction: reductionParam,
  },
  exposure: FUNCTIONAL,
  infer({ self, target, reduction }) {
    // Integers have no mean
    const accepts = reduction === "mean" ? ["float"] as const : ["float", "integer"] as const;
    checkCategory("hingeEmbeddingLoss", self.dtype, accepts);
    return lossMeta(broadcastShapes(self.shape, target.shape), self, reduction);
  },
  compose(o, { self, target, margin, reduction }) {
    const gap = typeof margin === "number"
      ? o.rsub(self, isFloat(self.dtype) ? margin : Math.trunc(margin))
      : o.rsub(self, margin);
    const apart = o.where(o.ne(target, 1), o.clampMin(gap, 0), 0);
    return reduce(o, o.add(apart, o.where(o.ne(target, -1), self, 0)), reduction);
  },
  samples: [{ args: [t(4), t(4)] }],
});

const cosineEmbeddingLoss = composeWideOp({
  name: "cosineEmbeddingLoss",
  doc:
    "1 − cos where target is 1, max(0, cos − margin) where it is −1, as `nn.functional.cosine_embedding_loss`.",
  params: {
    input1: required("tensor"),
    input2: required("tensor"),
    target: required("tensor"),
    margin: optional("floatOperand", 0, { changes: {} }),
    reduction: reductionParam,
  },
  exposure: FUNCTIONAL,
  infer({ input1, input2, target, reduction }) {
    const shape = broadcastShapes(input1.shape, input2.shape);
    if (input1.shape.length !== input2.shape.length) {
      throw new DynError(
        `Expected inputs with the same number of dimensions but found ${shapeText(input1.shape)} and ${
          shapeText(input2.shape)
        }`,
      );
    }
    if (target.shape.length + 1 !== shape.length || target.shape.length > 1) {
      throw new DynError(
        `Expected a target of one dimension less than inputs but found ${shapeText(target.shape)}`,
      );
    }
    return lossMeta(
      broadcastShapes(shape.slice(0, -1), target.shape),
      { ...input1, dtype: floating(promoted(input1, input2)) },
      reduction,
    );
  },
  compose(o, { input1, input2, target, margin, reduction }) {
    const product = o.sum(o.mul(input1, input2), -1), eps = 1e-12;
    const lengths = o.mul(o.add(o.sum(o.square(input1), -1), eps), o.add(o.sum(o.square(input2), -1), eps));
    const cosine = o.div(product, o.sqrt(lengths));
    const near = o.where(o.eq(target, 1), o.rsub(cosine, 1), 0);
    const apart = o.where(o.eq(target, -1), o.clampMin(o.sub(cosine, beside(o, cosine, margin)), 0), 0);
    return reduce(o, o.add(near, apart), reduction);
  },
  samples: [{ args: [t(4, 3), t(4, 3), t(4)] }],
  errors: [{ args: [t(4, 3), t(3), t(4)], message: "Expected inputs with the same number of dimensions" }],
});

const floating = (x: TensorMeta): TensorMeta["dtype"] => isFloat(x.dtype) ? x.dtype : "float32";

/** Makes elements outside of an op's bounds an error of compiled graphs too, which check ranges. */
const outlierMarks = lowerWideOp({
  name: "outlierMarks",
  doc: "Marks of elements outside of an op's bounds, of which none may be set.",
  params: { self: required("tensor") },
  exposure: { method: false, free: false },
  infer: ({ self }) => contiguousMeta(self.shape, self.dtype, self.device),
  ranges: ({ self }) => [{ values: self, low: 0, high: 1, what: "the mark of an outlier" }],
  lower: ({ self }, [result]) => eachElement(self, result, (_o, x) => x),
  gradient: { kind: "none", because: "integers" },
  samples: [{ args: [{ tensor: [4], dtype: "int64", range: [0, 0.5] }] }],
  errors: [{
    args: [{ tensor: [4], dtype: "int64", range: [-4, 0] }],
    message: "Expected the mark of an outlier in [0, 0]",
  }],
});

const gaussianNllLoss = composeWideOp({
  name: "gaussianNllLoss",
  doc:
    "½ (log var + (self − target)² / var), var at least eps, as `nn.functional.gaussian_nll_loss`. A negative variance " +
    "is refused on the CPU.",
  params: {
    self: required("tensor"),
    target: required("tensor"),
    var: required("operand", { changes: { atLeast: 0 } }),
    full: optional("bool", false),
    eps: optional("floatOperand", 1e-6, { changes: {} }),
    reduction: reductionParam,
  },
  exposure: FUNCTIONAL,
  bounds: () => ({ var: [0, Infinity] }),
  infer({ self, target, var: variance, reduction }) {
    const third = typeof variance === "object" && "shape" in variance ? variance.shape : [];
    const others = third.filter((size, d) => !isEqual(size, self.shape[d] ?? 1));
    const fits = third.length === 0 || sameShape(third, self.shape.slice(0, -1)) ||
      (third.length === self.shape.length && others.length <= 1 && others.every((size) => isEqual(size, 1)));
    if (!fits) {
      throw new DynError(
        `Expected a variance that fits ${shapeText(self.shape)} but found ${shapeText(third)}`,
      );
    }
    if (typeof variance === "number" && variance < 0) {
      throw new DynError(`Expected elements of var of at least 0 for gaussianNllLoss but found ${variance}`);
    }
    const given = typeof variance === "object" && "shape" in variance ? [variance] : [];
    for (const { dtype } of given) checkCategory("gaussianNllLoss with a variance", dtype, ["float"]);
    const like = promoted(self, target, ...given);
    return lossMeta(broadcastShapes(self.shape, target.shape), { ...like, dtype: floating(like) }, reduction);
  },
  compose(o, { self, target, var: given, full, eps, reduction }) {
    const like = isFloat(self.dtype) ? self : o.to(self, "float32");
    // A 0-d variance ranks as a number does
    let variance = !isTensor(given)
      ? o.fullLike(like, given)
      : given.shape.length === 0
      ? o.to(given, like.dtype)
      : given;
    const shorter = variance.shape.length === self.shape.length - 1 && variance.shape.length > 0;
    if (shorter) variance = o.unsqueeze(variance, -1);
    // A bounded variance keeps its gradient
    const least = atLeastNumber(o, variance, eps);
    const raised = o.add(variance, o.detach(o.sub(least, variance)));
    const kept = o.where(o.gt(least, variance), raised, variance);
    const loss = o.mul(o.add(o.log(kept), o.div(o.square(o.sub(self, target)), kept)), 0.5);
    return reduce(o, full ? o.add(loss, 0.5 * Math.log(2 * Math.PI)) : loss, reduction);
  },
  samples: [{ args: [t(3, 4), t(3, 4), { tensor: [3, 4], range: [0.5, 2] }] }],
});

const poissonNllLoss = composeWideOp({
  name: "poissonNllLoss",
  doc: "e^self − target · self (or of rates where logInput is false), as `nn.functional.poisson_nll_loss`.",
  params: {
    self: required("tensor"),
    target: required("tensor"),
    logInput: optional("bool", true),
    full: optional("bool", false),
    sizeAverage: nullable("bool"),
    eps: optional("floatOperand", 1e-8, { changes: {} }),
    reduce: nullable("bool"),
    reduction: reductionParam,
  },
  exposure: FUNCTIONAL,
  infer: ({ self, target, reduction }) => {
    const like = promoted(self, target);
    return lossMeta(broadcastShapes(self.shape, target.shape), { ...like, dtype: floating(like) }, reduction);
  },
  compose(o, { self, target, logInput, full, eps, reduction }) {
    let loss = logInput
      ? o.sub(o.exp(self), o.mul(target, self))
      : o.sub(self, o.mul(target, o.log(o.add(self, beside(o, self, eps)))));
    if (full) {
      const stirling = o.add(
        o.sub(o.mul(target, o.log(target)), target),
        o.mul(o.log(o.mul(target, 2 * Math.PI)), 0.5),
      );
      loss = o.add(loss, o.where(o.gt(target, 1), stirling, 0));
    }
    return reduce(o, loss, reduction);
  },
  samples: [{ args: [t(3, 4), { tensor: [3, 4], range: [0, 3] }] }],
});

const tripletMarginLoss = composeWideOp({
  name: "tripletMarginLoss",
  doc: "max(0, d(anchor, positive) − d(anchor, negative) + margin), as `nn.functional.triplet_margin_loss`.",
  params: {
    anchor: required("tensor"),
    positive: required("tensor"),
    negative: required("tensor"),
    margin: optional("floatOperand", 1, { changes: { above: 0 } }),
    p: optional("float", 2),
    eps: optional("floatOperand", 1e-6, { changes: {} }),
    swap: optional("bool", false),
    sizeAverage: nullable("bool"),
    reduce: nullable("bool"),
    reduction: reductionParam,
  },
  exposure: FUNCTIONAL,
  infer({ anchor, positive, negative, margin, reduction }) {
    const rank = anchor.shape.length;
    if (positive.shape.length !== rank || negative.shape.length !== rank) {
      throw new DynError(
        `Expected tensors with the same number of dimensions but found ${
          [anchor, positive, negative].map((x) => shapeText(x.shape)).join(", ")
        }`,
      );
    }
    checkPositive("margin", margin);
    const shape = broadcastShapes(anchor.shape, positive.shape, negative.shape);
    const like = promoted(anchor, positive, negative);
    return lossMeta(shape.slice(0, -1), { ...like, dtype: floating(like) }, reduction);
  },
  compose(o, { anchor, positive, negative, margin, p, eps, swap, reduction }) {
    const near = o.pairwiseDistance(anchor, positive, p, eps),
      far = o.pairwiseDistance(anchor, negative, p, eps);
    const apart = swap ? o.minimum(far, o.pairwiseDistance(positive, negative, p, eps)) : far;
    const gap = o.sub(near, apart);
    return reduce(o, o.clampMin(o.add(gap, beside(o, gap, margin)), 0), reduction);
  },
  samples: [{ args: [t(3, 4), t(3, 4), t(3, 4)] }],
});

function checkWeight(weight: TensorMeta | null, classes: Dim): void {
  if (weight && (weight.shape.length !== 1 || !isEqual(weight.shape[0] ?? 1, classes))) {
    throw new DynError(
      `Expected a weight for each of ${classes} classes but found ${shapeText(weight.shape)}`,
    );
  }
}

const multiMarginLoss = composeWideOp({
  name: "multiMarginLoss",
  doc:
    "The mean over wrong classes of max(0, margin − x[target] + x[class])^p, as `nn.functional.multi_margin_loss`.",
  params: {
    self: required("tensor"),
    target: required("tensor"),
    p: optional("int", 1),
    margin: optional("floatOperand", 1, { changes: {} }),
    weight: nullable("tensor"),
    sizeAverage: nullable("bool"),
    reduce: nullable("bool"),
    reduction: reductionParam,
  },
  exposure: FUNCTIONAL,
  infer({ self, target, p, weight, reduction }) {
    if (p !== 1 && p !== 2) throw new DynError(`Expected p of 1 or 2 but found ${p}`);
    checkCategory("multiMarginLoss", self.dtype, ["float"]);
    if (self.shape.length > 2 || target.dtype !== "int64") {
      throw new DynError(
        `Expected [batch, classes] and int64 targets but found ${shapeText(self.shape)} and ${target.dtype}`,
      );
    }
    const batch = self.shape.slice(0, -1);
    if (!sameShape(batch, target.shape) && !(batch.length === 0 && target.shape.length <= 1)) {
      throw new DynError(
        `Expected a target of shape ${shapeText(batch)} but found ${shapeText(target.shape)}`,
      );
    }
    checkWeight(weight, self.shape.at(-1) ?? 1);
    return lossMeta(target.shape.length === 0 ? [] : batch, self, reduction);
  },
  compose(o, { self, target, p, margin, weight, reduction }) {
    const rows = self.shape.length === 2 ? self : o.reshape(self, [1, -1]);
    const wanted = o.reshape(target, [-1, 1]);
    const right = o.gather(rows, 1, wanted);
    const short = o.clampMin(o.add(o.sub(rows, right), margin), 0);
    const raised = p === 1 ? short : o.square(short);
    const weighed = weight ? o.mul(raised, o.gather(o.expand(weight, rows.shape), 1, wanted)) : raised;
    const others = o.scatter(weighed, 1, wanted, 0);
    const loss = o.div(o.sum(others, 1), rows.shape[1] ?? 1);
    return reduce(
      o,
      self.shape.length === 2 ? loss : o.reshape(loss, target.shape.length === 0 ? [] : [1]),
      reduction,
    );
  },
  samples: [{ args: [t(3, 4), { tensor: [3], dtype: "int64", range: [0, 4] }] }],
});

const multilabelSoftMarginLoss = composeWideOp({
  name: "multilabelSoftMarginLoss",
  doc: "The mean over classes of the logistic loss, as `nn.functional.multilabel_soft_margin_loss`.",
  params: {
    self: required("tensor"),
    target: required("tensor"),
    weight: nullable("tensor"),
    sizeAverage: nullable("bool"),
    reduce: nullable("bool"),
    reduction: reductionParam,
  },
  exposure: FUNCTIONAL,
  infer({ self, target, weight, reduction }) {
    if (self.shape.length === 0) throw new DynError("Expected a tensor with dimensions but found a 0-d one");
    const shape = broadcastShapes(self.shape, target.shape);
    const like = promoted(self, target, ...weight ? [weight] : []);
    return lossMeta(shape.slice(0, -1), { ...like, dtype: floating(like) }, reduction);
  },
  compose(o, { self, target, weight, reduction }) {
    const loss = o.neg(
      o.add(o.mul(target, o.logsigmoid(self)), o.mul(o.rsub(target, 1), o.logsigmoid(o.neg(self)))),
    );
    return reduce(o, o.mean(weight ? o.mul(loss, weight) : loss, -1), reduction);
  },
  samples: [{ args: [t(3, 4), { tensor: [3, 4], range: [0, 1] }] }],
});

/** PyTorch's choices of an algorithm, which are taken without effect. */
const CDIST_MODES = [
  "use_mm_for_euclid_dist_if_necessary",
  "use_mm_for_euclid_dist",
  "donot_use_mm_for_euclid_dist",
];

const cdist = composeWideOp({
  name: "cdist",
  doc: "Distances between all rows of x1 and all rows of x2, as `torch.cdist`.",
  params: {
    x1: required("tensor"),
    x2: required("tensor"),
    p: optional("float", 2),
    computeMode: nullable("string"),
  },
  exposure: { method: false },
  infer({ x1, x2, p, computeMode }) {
    if (computeMode !== null) checkOneOf("computeMode of cdist", computeMode, CDIST_MODES);
    if (x1.shape.length < 2 || x2.shape.length < 2 || !isEqual(x1.shape.at(-1) ?? 1, x2.shape.at(-1) ?? 1)) {
      throw new DynError(
        `Expected rows of one length but found ${shapeText(x1.shape)} and ${shapeText(x2.shape)}`,
      );
    }
    checkAtLeast("p of cdist", p, 0);
    const batch = broadcastShapes(x1.shape.slice(0, -2), x2.shape.slice(0, -2));
    return contiguousMeta(
      [...batch, x1.shape.at(-2) ?? 1, x2.shape.at(-2) ?? 1],
      resultTypeOf([x1, x2]),
      x1.device,
    );
  },
  compose: (o, { x1, x2, p }) => {
    const gaps = o.sub(o.unsqueeze(x1, -2), o.unsqueeze(x2, -3));
    const empty = gaps.shape.includes(0) || isEqual(gaps.shape.at(-1) ?? 1, 0);
    return empty ? o.sum(gaps, -1) : o.vectorNorm(gaps, p, -1);
  },
  samples: [{ args: [t(3, 4), t(2, 4)] }, { args: [t(3, 4), t(2, 4), 1] }],
});

const pdist = composeWideOp({
  name: "pdist",
  doc: "Distances between all pairs of rows, i < j, as `nn.functional.pdist`.",
  params: { self: required("tensor"), p: optional("float", 2) },
  exposure: { method: false, namespaces: ["nn.functional"] },
  hostParts: true,
  infer({ self, p }) {
    const [n, m] = self.shape;
    if (typeof n !== "number" || m === undefined || self.shape.length !== 2 || p < 0) {
      throw new DynError(`Expected a matrix of known size but found ${shapeText(self.shape)}`);
    }
    return contiguousMeta([Math.max(0, n * (n - 1) / 2)], self.dtype, self.device);
  },
  compose(o, { self, p }) {
    const n = Number(self.shape[0]);
    const [rows, columns] = o.unbind(o.triuIndices(n, n, 1, { device: self.device }), 0);
    invariant(rows && columns, "Expected rows and columns of pairs");
    return o.vectorNorm(o.sub(o.indexSelect(self, 0, rows), o.indexSelect(self, 0, columns)), p, -1);
  },
  samples: [{ args: [t(4, 3)] }],
});

export const marginLosses = {
  marginRankingLoss,
  hingeEmbeddingLoss,
  cosineEmbeddingLoss,
  outlierMarks,
  gaussianNllLoss,
  poissonNllLoss,
  tripletMarginLoss,
  multiMarginLoss,
  multilabelSoftMarginLoss,
  cdist,
  pdist,
} as const;
