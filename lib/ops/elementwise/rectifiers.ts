/**
 * Piecewise linear activations. Invariant: gradients read the result or a comparison, so that they fuse with their
 * neighbours.
 */
import { checkAtLeast } from "../../base/checked_numbers.ts";
import type { Body, Operand } from "../../loops/body.ts";
import { DynError } from "../../base/errors.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import { FUNCTIONAL, type Sample } from "../definition.ts";
import { numberIn, type NumberOf, numberOf } from "../numbers.ts";
import { optional, required } from "../params.ts";
import { acceptedMeta, eachElement, k, pointwise, t, unary, unarySamples } from "../pointwise.ts";
import { composeWideOp, lowerWideOp } from "../wide.ts";

/** x unless it is below the bound (so that −0 and NaN stay), else the bound. */
const atLeast = <V>(o: Body<V>, x: V, bound: NumberOf<Operand>): V =>
  o.select(o.lt(x, numberIn(o, x, bound)), numberIn(o, x, bound), x);
const atMost = <V>(o: Body<V>, x: V, bound: NumberOf<Operand>): V =>
  o.select(o.gt(x, numberIn(o, x, bound)), numberIn(o, x, bound), x);

const relu = unary({
  name: "relu",
  doc: "max(self, 0), where −0 and NaN stay what they are, as `torch.relu`.",
  rule: "promote",
  accepts: ["integer", "float"],
  body: (o, x) => atLeast(o, x, 0),
  derivative: { reads: ["out"], of: (o, { grad, out }) => o.thresholdBackward(grad, out, 0) },
  exposure: { namespaces: ["nn.functional"] },
});

const thresholdBackward = lowerWideOp({
  name: "thresholdBackward",
  doc: "The gradient where `self` is above the threshold (or NaN), else 0.",
  params: { grad: required("tensor"), self: required("tensor"), threshold: required("floatOperand") },
  exposure: { method: false, free: false },
  elementwise: true,
  infer: ({ grad, self }) => contiguousMeta(self.shape, grad.dtype, grad.device),
  lower: ({ grad, self, threshold }, [result]) =>
    pointwise(result, {
      operands: [grad, self],
      compute: grad.dtype,
      body: (o, [g, x]) => o.select(o.le(x, numberIn(o, x, threshold)), k(o, g, 0), g),
    }),
  gradient: {
    kind: "rule",
    saves: ["self", "threshold"],
    rule: (o, { args: { self, threshold }, grads: [grad], needs }) =>
      grad && needs("grad") ? { grad: o.thresholdBackward(grad, self, threshold) } : {},
  },
  samples: [{ args: [t(3, 4), t(3, 4), 0] }],
});

const SAMPLES: readonly Sample[] = unarySamples([-4, 4]);

const relu6 = unary({
  name: "relu6",
  doc: "min(max(self, 0), 6), as `nn.functional.relu6`.",
  rule: "promote",
  accepts: ["integer", "float"],
  body: (o, x) => atMost(o, atLeast(o, x, 0), 6),
  derivative: {
    reads: ["self"],
    of: (o, { grad, self }) => o.where(o.logicalAnd(o.gt(self, 0), o.lt(self, 6)), grad, 0),
  },
  range: [-3, 8],
  exposure: FUNCTIONAL,
});

const hardtanh = lowerWideOp({
  name: "hardtanh",
  doc: "self limited to [minVal, maxVal], as `nn.functional.hardtanh`.",
  params: {
    self: required("tensor"),
    minVal: optional("floatOperand", -1, { changes: { notAbove: "maxVal" } }),
    maxVal: optional("floatOperand", 1, { changes: { notBelow: "minVal" } }),
  },
  inplace: true,
  exposure: FUNCTIONAL,
  elementwise: true,
  infer({ self, minVal, maxVal }) {
    if (typeof minVal === "number" && typeof maxVal === "number" && minVal > maxVal) {
      throw new DynError(`Expected minVal at most maxVal but found ${minVal} and ${maxVal}`);
    }
    return acceptedMeta("hardtanh", self, ["integer", "float"]);
  },
  lower: ({ self, minVal, maxVal }, [result]) =>
    eachElement(self, result, (o, x) => atMost(o, atLeast(o, x, minVal), maxVal)),
  gradient: {
    saves: ["self", "minVal", "maxVal"],
    single: (o, grad, { args: { self, minVal, maxVal } }) => ({
      self: o.where(o.logicalAnd(o.gt(self, minVal), o.lt(self, maxVal)), grad, 0),
    }),
  },
  samples: SAMPLES,
});

const leakyRelu = lowerWideOp({
  name: "leakyRelu",
  doc: "self above 0, negativeSlope · self below, as `nn.functional.leaky_relu`.",
  params: { self: required("tensor"), negativeSlope: optional("floatOperand", 0.01, { changes: {} }) },
  inplace: true,
  exposure: FUNCTIONAL,
  elementwise: true,
  infer: ({ self }) => acceptedMeta("leakyRelu", self),
  lower: ({ self, negativeSlope }, [result]) =>
    eachElement(
      self,
      result,
      (o, x) => o.select(o.gt(x, k(o, x, 0)), x, o.mul(x, numberIn(o, x, negativeSlope))),
    ),
  gradient: {
    saves: ["self", "negativeSlope"],
    single: (o, grad, { args: { self, negativeSlope } }) => ({
      self: o.where(o.gt(self, 0), grad, o.mul(grad, negativeSlope)),
    }),
  },
  samples: SAMPLES,
});

const threshold = lowerWideOp({
  name: "threshold",
  doc: "self above the threshold, else `value`, as `nn.functional.threshold`.",
  params: {
    self: required("tensor"),
    threshold: required("floatOperand", { changes: {} }),
    value: required("floatOperand", { changes: {} }),
  },
  inplace: true,
  exposure: { method: false, namespaces: ["nn.functional"] },
  elementwise: true,
  infer: ({ self }) => acceptedMeta("threshold", self, ["integer", "float"]),
  lower: ({ self, threshold, value }, [result]) =>
    eachElement(
      self,
      result,
      (o, x) => o.select(o.le(x, numberIn(o, x, threshold)), numberIn(o, x, value), x),
    ),
  gradient: {
    saves: ["self", "threshold"],
    single: (o, grad, { args: { self, threshold } }) => ({
      self: o.thresholdBackward(grad, self, threshold),
    }),
  },
  samples: [{ args: [t(3, 4), 0.5, -1] }],
});

const prelu = composeWideOp({
  name: "prelu",
  doc: "self above 0, weight · self below, one weight or one a channel (dimension 1), as `torch.prelu`.",
  params: { self: required("tensor"), weight: required("tensor") },
  exposure: { namespaces: ["nn.functional"] },
  infer({ self, weight }) {
    const channels = self.shape.length > 1 ? self.shape[1] ?? 1 : 1;
    if (weight.shape.length > 1) {
      throw new DynError(`Expected a weight of at most 1 dimension but found ${weight.shape.length}`);
    }
    const count = weight.shape[0] ?? 1;
    if (count !== 1 && count !== channels) {
      throw new DynError(`Expected one weight or one for each of ${channels} channels but found ${count}`);
    }
    return contiguousMeta(self.shape, self.dtype, self.device);
  },
  compose(o, { self, weight }) {
    const perChannel = weight.shape.length === 1 && self.shape.length > 1;
    const shape = self.shape.map((_, d) => d === 1 ? weight.shape[0] ?? 1 : 1);
    const slope = perChannel ? o.reshape(weight, shape) : o.reshape(weight, []);
    return o.where(o.gt(self, 0), self, o.mul(self, slope));
  },
  samples: [{ args: [t(2, 3, 4), t(3)] }, { args: [t(3), t(1)] }],
  errors: [{ args: [t(2, 3), t(2)], message: "channels" }],
});

const hardsigmoid = unary({
  name: "hardsigmoid",
  doc: "min(max(self + 3, 0), 6) / 6, as `nn.functional.hardsigmoid`.",
  rule: "promote",
  accepts: ["float"],
  body: (o, x) => o.mul(o.minimum(o.maximum(o.add(x, k(o, x, 3)), k(o, x, 0)), k(o, x, 6)), k(o, x, 1 / 6)),
  derivative: {
    reads: ["self"],
    of: (o, { grad, self }) => o.where(o.logicalAnd(o.gt(self, -3), o.lt(self, 3)), o.mul(grad, 1 / 6), 0),
  },
  range: [-5, 5],
  exposure: FUNCTIONAL,
});

const hardswish = unary({
  name: "hardswish",
  doc: "self · hardsigmoid(self), as `nn.functional.hardswish`.",
  rule: "promote",
  accepts: ["float"],
  body: (o, x) =>
    o.mul(x, o.mul(o.minimum(o.maximum(o.add(x, k(o, x, 3)), k(o, x, 0)), k(o, x, 6)), k(o, x, 1 / 6))),
  derivative: {
    reads: ["self"],
    of(o, { grad, self }) {
      const isFlat = o.le(self, -3), slope = o.where(o.lt(self, 3), o.add(o.div(self, 3), 0.5), 1);
      return o.where(isFlat, 0, o.mul(grad, o.where(isFlat, 0, slope)));
    },
  },
  range: [-5, 5],
  exposure: FUNCTIONAL,
});

function shrink(name: "softshrink" | "hardshrink") {
  const soft = name === "softshrink";
  return lowerWideOp({
    name,
    doc: `0 within lambd of 0, else self${
      soft ? " brought nearer by lambd" : ""
    }, as \`nn.functional.${name}\`.`,
    params: {
      self: required("tensor"),
      lambd: optional("floatOperand", 0.5, { changes: soft ? { atLeast: 0 } : {} }),
    },
    exposure: soft ? FUNCTIONAL : { method: true, free: true, namespaces: ["nn.functional"] },
    elementwise: true,
    infer({ self, lambd }) {
      if (soft) checkAtLeast("lambd of softshrink", lambd, 0);
      return acceptedMeta(name, self);
    },
    lower: ({ self, lambd }, [result]) =>
      eachElement(self, result, (o, x) => {
        const bound = numberIn(o, x, lambd), zero = k(o, x, 0);
        const inside = o.and(o.ge(x, o.neg(bound)), o.le(x, bound));
        const outside = soft ? o.select(o.gt(x, zero), o.sub(x, bound), o.add(x, bound)) : x;
        return o.select(inside, zero, outside);
      }),
    gradient: {
      saves: ["self", "lambd"],
      single(o, grad, { args: { self, lambd } }) {
        const below = o.lt(self, numberOf(o, [lambd], (m, bound) => m.neg(bound)));
        return { self: o.where(o.logicalOr(below, o.gt(self, lambd)), grad, 0) };
      },
    },
    samples: SAMPLES,
  });
}

export const rectifiers = {
  relu,
  thresholdBackward,
  relu6,
  hardtanh,
  leakyRelu,
  threshold,
  prelu,
  hardsigmoid,
  hardswish,
  softshrink: shrink("softshrink"),
  hardshrink: shrink("hardshrink"),
} as const;
