/**
 * The larger and the smaller of operands, clamping and replacing. Input: tensors and bounds; output: one tensor of
 * the promoted type. Invariant: NaN wins in maximum, minimum and clamp, and loses in fmax and fmin.
 */
import { DynError } from "../base/errors.ts";
import { isFloat } from "../base/dtype.ts";
import { defineOp } from "./definition.ts";
import { nullable, required } from "./params.ts";
import { elementOf, isTensor } from "./promotion.ts";
import { binary, type OperandOf, pointwise, pointwiseMeta, reduceTo, t, typesOf } from "./pointwise.ts";
import type { TensorMeta } from "../graph/meta.ts";
import type { Lowered, Operand } from "../loops/body.ts";

/** maximum and minimum: equal operands share the gradient. */
function extreme(name: "maximum" | "minimum") {
  const loses = name === "maximum" ? "lt" : "gt";
  return binary({
    name,
    doc: `The ${name} of two operands, NaN where either is, as \`torch.${name}\`.`,
    rule: "promote",
    body: (o, a, b) => o[name](a, b),
    derivative: {
      reads: ["self", "other"],
      self: (o, { grad, self, other }) =>
        o.where(o.eq(self, other), o.mul(grad, 0.5), o.where(o[loses](self, other), 0, grad)),
      other: (o, { grad, self, other }) =>
        o.where(o.eq(self, other), o.mul(grad, 0.5), o.where(o[loses](self, other), grad, 0)),
    },
    inplace: false,
    tensorsOnly: true,
  });
}

/** fmax and fmin: a number wins over NaN. */
function extremeNumber(name: "fmax" | "fmin") {
  const inner = name === "fmax" ? "maximum" : "minimum", wins = name === "fmax" ? "ge" : "le";
  return binary({
    name,
    doc: `The ${inner} of two operands, the other one where one is NaN, as \`torch.${name}\`.`,
    rule: "promote",
    body(o, a, b) {
      if (!isFloat(o.dtypeOf(a))) return o[inner](a, b);
      return o.select(o.isNan(a), b, o.select(o.isNan(b), a, o[inner](a, b)));
    },
    derivative: {
      reads: ["self", "other"],
      self: (o, { grad, self, other }) =>
        o.where(
          isTensor(other) ? o.logicalOr(o[wins](self, other), o.isnan(other)) : o[wins](self, other),
          grad,
          0,
        ),
      other: (o, { grad, self, other }) =>
        o.where(
          isTensor(other) ? o.logicalOr(o[wins](self, other), o.isnan(other)) : o[wins](self, other),
          0,
          grad,
        ),
    },
    inplace: false,
    tensorsOnly: true,
  });
}

/** The operands of a clamp that are there. */
function given<T>(self: T, ...bounds: readonly (OperandOf<T> | null)[]): OperandOf<T>[] {
  return [self, ...bounds.filter((b) => b !== null)];
}

function lowerClamp(
  args: { self: Operand; min: OperandOf<Operand> | null; max: OperandOf<Operand> | null },
  result: TensorMeta | undefined,
): Lowered[] {
  if (!result) return [];
  const { shape, dtype } = result, { self, min, max } = args;
  return [{
    kind: "pointwise",
    shape,
    dtype,
    element(o, index) {
      let x = elementOf(o, self, { index, dtype });
      if (min !== null) x = o.maximum(x, elementOf(o, min, { index, dtype }));
      if (max !== null) x = o.minimum(x, elementOf(o, max, { index, dtype }));
      return x;
    },
  }];
}

const clamp = defineOp({
  name: "clamp",
  doc: "self limited to [min, max]; either bound may be a number, a tensor or left out. As `torch.clamp`.",
  params: { self: required("tensor"), min: nullable("operand"), max: nullable("operand") },
  inplace: true,
  exposure: { aliases: ["clip"] },
  infer({ self, min, max }) {
    if (min === null && max === null) throw new DynError("Expected min or max of clamp but found neither");
    const operands = given(self, min, max);
    const { result } = typesOf("promote", operands);
    if (result === "bool") throw new DynError("Expected clamp of numbers but found bool tensors");
    return pointwiseMeta(operands, result);
  },
  implementation: { kind: "lower", lower: (args, [result]) => lowerClamp(args, result) },
  gradient: {
    kind: "rule",
    saves: ["self", "min", "max"],
    rule(o, { args: { self, min, max }, grads: [grad], needs }) {
      if (!grad) return {};
      const above = min === null ? null : o.ge(self, min), below = max === null ? null : o.le(self, max);
      const inside = above && below ? o.logicalAnd(above, below) : above ?? below;
      return {
        self: needs("self") && inside ? reduceTo(o, o.where(inside, grad, 0), self) : null,
        min: isTensor(min) && needs("min")
          ? reduceTo(
            o,
            o.where(
              max === null ? o.lt(self, min) : o.logicalAnd(o.lt(self, min), o.lt(min, max)),
              grad,
              0,
            ),
            min,
          )
          : null,
        max: isTensor(max) && needs("max")
          ? reduceTo(
            o,
            o.where(
              min === null ? o.gt(self, max) : o.logicalOr(o.gt(self, max), o.gt(min as typeof max, max)),
              grad,
              0,
            ),
            max,
          )
          : null,
      };
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

/** clampMin and clampMax. */
function clampOne(name: "clampMin" | "clampMax") {
  const lower = name === "clampMin";
  return defineOp({
    name,
    doc: `self limited ${lower ? "from below" : "from above"}, as \`torch.${
      lower ? "clamp_min" : "clamp_max"
    }\`.`,
    params: { self: required("tensor"), bound: required("operand") },
    inplace: true,
    infer: ({ self, bound }) => pointwiseMeta([self, bound], typesOf("promote", [self, bound]).result),
    implementation: {
      kind: "composite",
      compose(o, { self, bound }) {
        if (self.dtype === "bool" && isTensor(bound) && bound.dtype === "bool") {
          return lower ? o.logicalOr(self, bound) : o.logicalAnd(self, bound);
        }
        return lower ? o.clamp(self, bound, null) : o.clamp(self, null, bound);
      },
    },
    gradient: { kind: "composite" },
    samples: [{ args: [t(3, 4), 0.5] }, { args: [t(3, 4), t(4)] }],
  });
}

const nanToNum = defineOp({
  name: "nanToNum",
  doc: "NaN and the infinities replaced by numbers: 0 and the extremes of the type where not given. As " +
    "`torch.nan_to_num`.",
  params: {
    self: required("tensor"),
    nan: nullable("float"),
    posinf: nullable("float"),
    neginf: nullable("float"),
  },
  inplace: true,
  infer: ({ self }) => pointwiseMeta([self], self.dtype),
  implementation: {
    kind: "lower",
    lower: ({ self, nan, posinf, neginf }, [result]) =>
      pointwise(result, {
        operands: [self],
        compute: self.dtype,
        body(o, [x]) {
          if (x === undefined) throw new DynError("Expected an operand");
          if (!isFloat(self.dtype)) return x;
          const largest = self.dtype === "float64" ? Number.MAX_VALUE : MAX_FLOAT32;
          const k = (value: number) => o.constant(value, self.dtype);
          const finite = o.select(
            o.eq(x, k(Infinity)),
            k(posinf ?? largest),
            o.select(o.eq(x, k(-Infinity)), k(neginf ?? -largest), x),
          );
          return o.select(o.isNan(x), k(nan ?? 0), finite);
        },
      }),
  },
  gradient: {
    kind: "rule",
    saves: ["self"],
    rule: (o, { args: { self }, grads: [grad] }) => grad ? { self: o.where(o.isfinite(self), grad, 0) } : {},
  },
  samples: [{ args: [t(3, 4)] }, { args: [t(3), 1] }],
});

const MAX_FLOAT32 = (2 - 2 ** -23) * 2 ** 127;

const heaviside = binary({
  name: "heaviside",
  doc: "0 below 0, 1 above, `other` at 0, as `torch.heaviside`.",
  rule: "promote",
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
  clampMin: clampOne("clampMin"),
  clampMax: clampOne("clampMax"),
  nanToNum,
  heaviside,
} as const;
