/**
 * Maximum, minimum, clamping and replacing of elements. Invariant: NaN wins in maximum, minimum and clamp, and loses
 * in fmax and fmin.
 */
import { DynError } from "../../base/errors.ts";
import { type DType, highest, isFloat, isInteger, lowest } from "../../base/dtype.ts";
import { finfo } from "../../base/type_info.ts";
import { composeOp, lowerOp, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { numberIn, type NumberOf } from "../numbers.ts";
import { nullable, required } from "../params.ts";
import { elementOf, isTensor } from "../promotion.ts";
import {
  binary,
  eachElement,
  elements,
  type OperandOf,
  pointwiseMeta,
  reduceTo,
  t,
  typesOf,
} from "../pointwise.ts";
import type { TensorMeta } from "../../graph/meta.ts";
import { max as greatest, min as least } from "../../sym/expr.ts";
import type { Lowered, Operand } from "../../loops/body.ts";

/** The gradient of the larger or smaller of two: equal operands share it. */
const shared = <T extends TensorLike>(
  o: OpApi<T>,
  grad: T,
  at: { readonly equal: T; readonly loses: T },
): T => o.where(at.equal, o.mul(grad, 0.5), o.where(at.loses, 0, grad));

/** maximum and minimum: where one is NaN, both get the gradient. */
function extreme(name: "maximum" | "minimum") {
  const [loses, wins] = name === "maximum" ? ["lt", "gt"] as const : ["gt", "lt"] as const;
  return binary({
    name,
    doc: `The ${name} of two operands, NaN where either is, as \`torch.${name}\`.`,
    rule: "promote",
    body: (o, a, b) => o[name](a, b),
    derivative: {
      reads: ["self", "other"],
      self: (o, { grad, self, other }) =>
        shared(o, grad, { equal: o.eq(self, other), loses: o[loses](self, other) }),
      other: (o, { grad, self, other }) =>
        shared(o, grad, { equal: o.eq(self, other), loses: o[wins](self, other) }),
    },
    inplace: false,
    tensorsOnly: true,
  });
}

/** fmax and fmin: a number wins over NaN, and the first of two NaN. */
function extremeNumber(name: "fmax" | "fmin") {
  const inner = name === "fmax" ? "maximum" : "minimum", wins = name === "fmax" ? "gt" : "lt";
  const firstWins = <T extends TensorLike>(o: OpApi<T>, self: T, other: OperandOf<T>): T => {
    const ahead = o[wins](self, other);
    return isTensor(other) ? o.logicalOr(ahead, o.isnan(other)) : ahead;
  };
  return binary({
    name,
    doc: `The ${inner} of two operands, ignoring NaN, as \`torch.${name}\`.`,
    rule: "promote",
    body(o, a, b) {
      if (!isFloat(o.dtypeOf(a))) return o[inner](a, b);
      return o.select(o.isNan(a), b, o.select(o.isNan(b), a, o[inner](a, b)));
    },
    derivative: {
      reads: ["self", "other"],
      self: (o, { grad, self, other }) =>
        shared(o, grad, { equal: o.eq(self, other), loses: o.logicalNot(firstWins(o, self, other)) }),
      other: (o, { grad, self, other }) =>
        shared(o, grad, { equal: o.eq(self, other), loses: firstWins(o, self, other) }),
    },
    inplace: false,
    tensorsOnly: true,
  });
}

/** The operands of a clamp that are not null. */
function given<T>(self: T, ...bounds: readonly (OperandOf<T> | null)[]): OperandOf<T>[] {
  return [self, ...bounds.filter((b) => b !== null)];
}

/** A bound as a number that the type can hold: a lower bound of −3 for uint8 becomes 0. */
function representable(bound: OperandOf<Operand>, dtype: DType): OperandOf<Operand> {
  if (isTensor(bound) || typeof bound === "boolean" || typeof bound === "bigint") return bound;
  if (!isInteger(dtype) || dtype === "int64") return bound;
  return least(greatest(bound, Number(lowest(dtype))), Number(highest(dtype)));
}

function lowerClamp(
  args: { self: Operand; min: OperandOf<Operand> | null; max: OperandOf<Operand> | null },
  result: TensorMeta | undefined,
): Lowered[] {
  if (!result) return [];
  const { dtype } = result, { self, min, max } = args;
  return elements(result, (o, index) => {
    let x = elementOf(o, self, { index, dtype });
    if (min !== null) x = o.maximum(x, elementOf(o, representable(min, dtype), { index, dtype }));
    if (max !== null) x = o.minimum(x, elementOf(o, representable(max, dtype), { index, dtype }));
    return x;
  });
}

/**
 * PyTorch's choices at the bounds: an element that equals a bound given as a number has no gradient, one that
 * equals a tensor shares it with the bound. NaN has one only where a tensor bounds it.
 */
function clampGradients<T extends TensorLike>(
  o: OpApi<T>,
  { self, min, max, grad, needs }: {
    readonly self: T;
    readonly min: OperandOf<T> | null;
    readonly max: OperandOf<T> | null;
    readonly grad: T;
    needs(param: string): boolean;
  },
): { self: T | null; min: T | null; max: T | null } {
  if (!isTensor(min) && !isTensor(max)) {
    const above = min === null ? null : o.gt(self, min), below = max === null ? null : o.lt(self, max);
    const inside = above && below ? o.logicalAnd(above, below) : above ?? below;
    return { self: needs("self") && inside ? o.where(inside, grad, 0) : null, min: null, max: null };
  }
  const half = o.mul(grad, 0.5);
  const crossed = min === null || max === null ? null : isTensor(min) ? o.gt(min, max) : o.lt(max as T, min);
  const both = min === null || max === null ? null : isTensor(min) ? o.eq(min, max) : o.eq(max as T, min);
  const own = () => {
    let part = grad;
    if (max !== null) part = o.where(o.gt(self, max), 0, o.where(o.eq(self, max), half, part));
    if (min !== null) part = o.where(o.lt(self, min), 0, o.where(o.eq(self, min), half, part));
    if (both) part = o.where(o.logicalAnd(both, o.eq(self, max as T)), grad, part);
    return crossed ? o.where(crossed, o.where(o.isnan(self), grad, 0), part) : part;
  };
  const ofMin = (bound: T) => {
    const part = o.where(o.lt(self, bound), grad, o.where(o.eq(self, bound), half, 0));
    if (max === null) return o.where(o.logicalOr(o.isnan(self), o.isnan(bound)), grad, part);
    return o.where(
      o.lt(bound, max),
      part,
      o.where(o.logicalAnd(o.eq(bound, max), o.lt(self, bound)), grad, 0),
    );
  };
  const ofMax = (bound: T) => {
    const part = o.where(o.gt(self, bound), grad, o.where(o.eq(self, bound), half, 0));
    if (min === null) return o.where(o.logicalOr(o.isnan(self), o.isnan(bound)), grad, part);
    const level = o.where(o.logicalAnd(o.eq(bound, min), o.gt(self, bound)), grad, 0);
    return o.where(o.lt(bound, min), grad, o.where(o.gt(bound, min), part, level));
  };
  return {
    self: needs("self") ? reduceTo(o, own(), self) : null,
    min: isTensor(min) && needs("min") ? reduceTo(o, ofMin(min), min) : null,
    max: isTensor(max) && needs("max") ? reduceTo(o, ofMax(max), max) : null,
  };
}

const clamp = lowerOp({
  name: "clamp",
  doc: "self limited to [min, max]; either bound may be a number, a tensor or left out. As `torch.clamp`.",
  params: { self: required("tensor"), min: nullable("operand"), max: nullable("operand") },
  inplace: true,
  exposure: { aliases: ["clip"] },
  elementwise: true,
  infer({ self, min, max }) {
    if (min === null && max === null) throw new DynError("Expected min or max of clamp but found neither");
    const operands = given(self, min, max);
    const { result } = typesOf("promote", operands);
    if (result === "bool") throw new DynError("Expected clamp of numbers but found bool tensors");
    return pointwiseMeta(operands, result);
  },
  lower: (args, [result]) => lowerClamp(args, result),
  gradient: {
    saves: ["self", "min", "max"],
    single(o, grad, { args: { self, min, max }, needs }) {
      return clampGradients(o, { self, min, max, grad, needs });
    },
  },
  samples: [
    { args: [t(3, 4), -0.5, 0.5] },
    { args: [t(3, 4), t(4)] },
    { args: [t(3, 4)], options: { max: 0.2 } },
    { args: [{ tensor: [3], dtype: "int64" }, 0, 1] },
  ],
  errors: [{ args: [t(3)], message: "neither" }],
});

const boundedMeta = (self: TensorMeta, bound: OperandOf<TensorMeta>): TensorMeta =>
  pointwiseMeta([self, bound], typesOf("promote", [self, bound]).result);

const areBools = <T extends TensorLike>(self: T, bound: OperandOf<T>): bound is T =>
  self.dtype === "bool" && isTensor(bound) && bound.dtype === "bool";

const BOUND_SAMPLES = [{ args: [t(3, 4), 0.5] }, { args: [t(3, 4), t(4)] }];

const clampMin = composeOp({
  name: "clampMin",
  doc: "self limited from below, as `torch.clamp_min`.",
  params: { self: required("tensor"), min: required("operand") },
  inplace: true,
  infer: ({ self, min }) => boundedMeta(self, min),
  compose: (o, { self, min }) => areBools(self, min) ? o.logicalOr(self, min) : o.clamp(self, min, null),
  samples: BOUND_SAMPLES,
});

const clampMax = composeOp({
  name: "clampMax",
  doc: "self limited from above, as `torch.clamp_max`.",
  params: { self: required("tensor"), max: required("operand") },
  inplace: true,
  infer: ({ self, max }) => boundedMeta(self, max),
  compose: (o, { self, max }) => areBools(self, max) ? o.logicalAnd(self, max) : o.clamp(self, null, max),
  samples: BOUND_SAMPLES,
});

const nanToNum = lowerOp({
  name: "nanToNum",
  doc: "NaN and the infinities replaced by numbers, by default 0 and the extremes of the type. As " +
    "`torch.nan_to_num`.",
  params: {
    self: required("tensor"),
    nan: nullable("floatOperand", { changes: {} }),
    posinf: nullable("floatOperand", { changes: {} }),
    neginf: nullable("floatOperand", { changes: {} }),
  },
  inplace: true,
  infer: ({ self }) => pointwiseMeta([self], self.dtype),
  lower: ({ self, nan, posinf, neginf }, [result]) =>
    eachElement(self, result, (o, x) => {
      if (!isFloat(self.dtype)) return x;
      const largest = finfo(self.dtype).max;
      const k = (value: NumberOf<Operand>) => numberIn(o, x, value);
      // A float16 that is computed but not stored yet may exceed the range of the type
      const finite = o.select(
        o.gt(x, k(largest)),
        k(posinf ?? largest),
        o.select(o.lt(x, k(-largest)), k(neginf ?? -largest), x),
      );
      return o.select(o.isNan(x), k(nan ?? 0), finite);
    }),
  gradient: {
    saves: ["self"],
    single: (o, grad, { args: { self } }) => ({ self: o.where(o.isfinite(self), grad, 0) }),
  },
  samples: [{ args: [t(3, 4)] }, { args: [t(3), 1] }],
});

const heaviside = binary({
  name: "heaviside",
  doc: "0 below 0, 1 above, `other` at 0, as `torch.heaviside`.",
  rule: "promote",
  otherNames: { values: "other" },
  body(o, x, values) {
    const dtype = o.dtypeOf(x), zero = o.constant(0, dtype), one = o.constant(1, dtype);
    const step = o.select(o.lt(x, zero), zero, one);
    const defined = isFloat(dtype) ? o.select(o.isNan(x), zero, step) : step;
    return o.select(o.eq(x, zero), values, defined);
  },
  derivative: "it is constant almost everywhere",
  tensorsOnly: true,
});

export const extremes = {
  maximum: extreme("maximum"),
  minimum: extreme("minimum"),
  fmax: extremeNumber("fmax"),
  fmin: extremeNumber("fmin"),
  clamp,
  clampMin,
  clampMax,
  nanToNum,
  heaviside,
} as const;
