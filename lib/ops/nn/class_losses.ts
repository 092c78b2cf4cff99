/**
 * Classification losses: with several labels for a sample, and fused with a linear layer. Invariant: all are
 * compositions.
 */
import { DynError } from "../../base/errors.ts";
import { isFloat } from "../../base/dtype.ts";
import { type Dim, product } from "../../sym/expr.ts";
import type { TensorMeta } from "../../graph/meta.ts";
import { composeOp, FUNCTIONAL } from "../definition.ts";
import { checkTarget, lossMeta, reductionParam, SMOOTHING } from "./losses.ts";
import { nullable, optional, required } from "../params.ts";
import { checkCategory, t } from "../pointwise.ts";
import { sameShape, shapeText } from "../shapes.ts";
import { composeWideOp } from "../wide.ts";

const multilabelMarginLoss = composeWideOp({
  name: "multilabelMarginLoss",
  doc: "The mean over pairs of a wanted class and another of max(0, 1 − x[wanted] + x[other]), as " +
    "`nn.functional.multilabel_margin_loss`; each row of targets ends at its first −1.",
  params: {
    self: required("tensor"),
    target: required("tensor"),
    sizeAverage: nullable("bool"),
    reduce: nullable("bool"),
    reduction: reductionParam,
  },
  exposure: FUNCTIONAL,
  infer({ self, target, reduction }) {
    checkCategory("multilabelMarginLoss", self.dtype, ["float"]);
    if (target.dtype !== "int64") {
      throw new DynError(`Expected targets of type int64 but found ${target.dtype}`);
    }
    if (self.shape.length > 2 || !sameShape(self.shape, target.shape)) {
      throw new DynError(
        `Expected scores of at most 2 dimensions and targets of their shape but found ${
          shapeText(self.shape)
        } and ` +
          shapeText(target.shape),
      );
    }
    return lossMeta(self.shape.slice(0, -1), self, reduction);
  },
  compose(o, { self, target, reduction }) {
    const classes = self.shape.at(-1) ?? 1;
    const rows = o.reshape(self, [-1, classes]), wanted = o.reshape(target, [-1, classes]);
    const given = o.eq(o.cumsum(o.to(o.lt(wanted, 0), "int64"), -1), 0);
    const safe = o.where(given, wanted, 0);
    // Whose indices are checked, those behind the end of a row too
    const scores = o.gather(rows, -1, o.where(o.eq(wanted, -1), 0, wanted));
    const counts = o.scatterAdd(o.zerosLike(wanted), -1, safe, o.to(given, "int64"));
    const gaps = o.add(o.rsub(o.unsqueeze(scores, -1), 1), o.unsqueeze(rows, -2));
    const counted = o.logicalAnd(o.unsqueeze(given, -1), o.unsqueeze(o.eq(counts, 0), -2));
    const losses = o.div(o.sum(o.where(counted, o.clampMin(gaps, 0), 0), [-2, -1]), classes);
    if (reduction === "none") return o.reshape(losses, self.shape.slice(0, -1));
    return reduction === "mean" ? o.mean(losses) : o.sum(losses);
  },
  samples: [{ args: [t(2, 4), { tensor: [2, 4], dtype: "int64", range: [-1, 4] }] }],
  errors: [{ args: [t(2, 4), t(2, 4)], message: "int64" }, {
    args: [t(2, 4), { tensor: [2, 4], dtype: "int64", range: [-4, -2] }],
    message: "Expected index in [0, 3]",
  }],
});

/** Checks the targets of a linear loss; returns whether they are probabilities. */
function linearTargets(
  { input, weight, target }: { input: Shaped; weight: Shaped; target: TensorMeta },
): { readonly features: readonly Dim[]; readonly probable: boolean } {
  const features = weight.shape.slice(1, -1), rank = input.shape.length;
  if (rank !== 1 && rank !== 2) {
    throw new DynError(`Expected an input of 1 or 2 dimensions but found ${shapeText(input.shape)}`);
  }
  if (weight.shape.length < 2) {
    throw new DynError(`Expected a weight of at least 2 dimensions but found ${shapeText(weight.shape)}`);
  }
  if (features.length > 0 && rank === 1) {
    throw new DynError("Expected a batch of inputs for losses of several dimensions but found one input");
  }
  const lead = input.shape.slice(0, -1), classes = weight.shape[0] ?? 1;
  const probable = target.shape.length === rank + features.length;
  const shape = probable ? [...lead, classes, ...features] : [...lead, ...features];
  checkTarget(target, shape);
  return { features, probable };
}

interface Shaped {
  readonly shape: readonly Dim[];
}

const linearCrossEntropy = composeOp({
  name: "linearCrossEntropy",
  doc: "The cross entropy of the linear map of inputs [N, in] by a weight [C, …, in], as " +
    "`nn.functional.linear_cross_entropy`.",
  params: {
    input: required("tensor"),
    linearWeight: required("tensor"),
    target: required("tensor"),
    linearBias: nullable("tensor", { keyword: true }),
    weight: nullable("tensor", { keyword: true }),
    reduction: optional("string", "mean", { oneOf: ["none", "mean", "sum"], keyword: true }),
    ignoreIndex: nullable("int", { keyword: true }),
    labelSmoothing: optional("floatOperand", 0, { keyword: true, changes: SMOOTHING }),
  },
  exposure: FUNCTIONAL,
  infer({ input, linearWeight, target, reduction, ignoreIndex }) {
    const { features, probable } = linearTargets({ input, weight: linearWeight, target });
    if (probable && ignoreIndex !== null) {
      throw new DynError(`Expected no ignoreIndex where targets are probabilities but found ${ignoreIndex}`);
    }
    if (probable !== isFloat(target.dtype)) {
      throw new DynError(
        `Expected ${
          probable ? "floats as probabilities" : "int64 classes"
        } but found targets of type ${target.dtype}`,
      );
    }
    return lossMeta([...input.shape.slice(0, -1), ...features], input, reduction);
  },
  compose(o, { input, linearWeight, target, linearBias, weight, reduction, ignoreIndex, labelSmoothing }) {
    const inside = linearWeight.shape.at(-1) ?? 1, lead = input.shape.slice(0, -1);
    const flat = o.reshape(linearWeight, [product(linearWeight.shape.slice(0, -1)), inside]);
    const logits = o.linear(input, flat, linearBias && o.reshape(linearBias, [-1]));
    const scores = o.reshape(logits, [...lead, ...linearWeight.shape.slice(0, -1)]);
    return o.crossEntropy(scores, target, {
      weight,
      reduction: reduction === "none" || reduction === "sum" ? reduction : "mean",
      ignoreIndex: ignoreIndex ?? -100,
      labelSmoothing,
    });
  },
  samples: [{ args: [t(3, 4), t(5, 4), { tensor: [3], dtype: "int64", range: [0, 5] }] }],
  errors: [{ args: [t(2, 3, 4), t(5, 4), t(2)], message: "1 or 2 dimensions" }],
});

export const classLosses = { multilabelMarginLoss, linearCrossEntropy } as const;
