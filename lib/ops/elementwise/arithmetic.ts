/**
 * Arithmetic of two operands, with broadcasting and type promotion, and ops composed of it. Invariant: names, types
 * and gradients follow PyTorch.
 */
import { DynError, invariant } from "../../base/errors.ts";
import { categoryOf, type DType, isFloat, isInteger } from "../../base/dtype.ts";
import type { Body } from "../../loops/body.ts";
import type { ScalarOps } from "../../loops/scalar.ts";
import type { TensorMeta } from "../../graph/meta.ts";
import { composeOp, lowerOp, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { nullable, optional, required } from "../params.ts";
import { isLess } from "../../sym/decide.ts";
import { Sym } from "../../sym/expr.ts";
import { checkHeld, isTensor } from "../promotion.ts";
import { knownNumber } from "../shapes.ts";
import { GENERAL_POWERS, knownPower } from "./known_power.ts";
import {
  binary,
  binarySamples,
  checkDivisor,
  DIVISOR,
  type OperandOf,
  pointwise,
  pointwiseMeta,
  reduceTo,
  t,
  typesOf,
} from "../pointwise.ts";
import { lowerWideOp } from "../wide.ts";

/** a · alpha, or a itself if alpha is 1. */
function scaled<T extends TensorLike>(o: OpApi<T>, value: T, alpha: OperandOf<T>): T {
  return alpha === 1 ? value : o.mul(value, alpha);
}

function checkAlpha(result: { dtype: DType }, alpha: OperandOf<TensorLike>): void {
  if (!isFloat(result.dtype) && typeof alpha === "number" && !Number.isInteger(alpha)) {
    throw new DynError(`Expected alpha to be an integer for ${result.dtype} tensors but found ${alpha}`);
  }
  const isTruth = typeof alpha === "boolean";
  if (alpha !== 1 && isTruth !== (result.dtype === "bool")) {
    const wanted = isTruth ? "a number" : "a boolean";
    throw new DynError(`Expected alpha to be ${wanted} for ${result.dtype} tensors but found ${alpha}`);
  }
  checkHeld(alpha, result.dtype);
}

/** Returns whether an operand is bool: sums of bools are logical, as in PyTorch. */
const isBool = (x: OperandOf<TensorMeta>): boolean =>
  isTensor(x) ? x.dtype === "bool" : typeof x === "boolean";

function addition(name: "add" | "sub") {
  return lowerOp({
    name,
    doc: name === "add"
      ? "self + alpha · other, broadcast and promoted, as `torch.add`."
      : "self − alpha · other, broadcast and promoted, as `torch.sub`.",
    params: {
      self: required("tensor"),
      other: required("operand", { late: true }),
      alpha: optional("scalarOperand", 1, { keyword: true, loadable: true, changes: {} }),
    },
    inplace: true,
    exposure: { aliases: name === "sub" ? ["subtract"] : [] },
    elementwise: true,
    infer({ self, other, alpha }) {
      const { result } = typesOf("promote", [self, other]);
      if (name === "sub" && (isBool(self) || isBool(other))) {
        throw new DynError("Expected sub of numbers but found bool tensors; use logicalXor or logicalNot");
      }
      checkAlpha({ dtype: result }, alpha);
      return pointwiseMeta([self, other], result);
    },
    lower({ self, other, alpha }, [result]) {
      const { compute } = typesOf("promote", [self, other]);
      return pointwise(result, {
        operands: [self, other, alpha],
        compute,
        body: (o, [a, b, k]) => {
          invariant(a !== undefined && b !== undefined && k !== undefined, "Expected operands");
          if (compute === "bool") return o.or(a, alpha === 1 ? b : o.and(b, k));
          const right = alpha === 1 ? b : o.mul(b, k);
          return name === "add" ? o.add(a, right) : o.sub(a, right);
        },
      });
    },
    gradient: {
      saves: ["alpha"],
      single(o, grad, { args: { self, other, alpha }, needs }) {
        const right = () => scaled(o, name === "add" ? grad : o.neg(grad), alpha);
        return {
          self: needs("self") ? reduceTo(o, grad, self) : null,
          other: isTensor(other) && needs("other") ? reduceTo(o, right(), other) : null,
        };
      },
    },
    samples: [
      ...binarySamples(),
      { args: [t(3), t(3)], options: { alpha: 2 } },
      { args: [{ tensor: [3], dtype: "int64" }, 2] },
    ],
    errors: [{ args: [t(3, 4), t(3, 5)], message: "broadcast" }],
  });
}

const add = addition("add");
const sub = addition("sub");

const rsub = composeOp({
  name: "rsub",
  doc: "other − alpha · self, as `torch.rsub`.",
  params: {
    self: required("tensor"),
    other: required("operand", { late: true }),
    alpha: optional("scalarOperand", 1, { keyword: true, loadable: true, changes: {} }),
  },
  infer: ({ self, other, alpha }) => {
    const { result } = typesOf("promote", [self, other]);
    if (isBool(self) || isBool(other)) {
      throw new DynError("Expected rsub of numbers but found bool tensors");
    }
    checkAlpha({ dtype: result }, alpha);
    return pointwiseMeta([self, other], result);
  },
  compose(o, { self, other, alpha }) {
    const { result } = typesOf("promote", [self, other]);
    // Unsigned integers cannot be negated, so they are converted to the type of the result first
    const wide = self.dtype === result ? self : o.to(self, result);
    return o.add(o.neg(scaled(o, wide, alpha)), other);
  },
  samples: [...binarySamples(), { args: [{ tensor: [3], dtype: "uint8" }, t(3)] }, {
    args: [{ tensor: [3], dtype: "uint8" }, 1.5],
  }],
});

const mul = binary({
  name: "mul",
  oneStep: true,
  doc: "self · other, broadcast and promoted, as `torch.mul`.",
  rule: "promote",
  body: (o, a, b) => o.dtypeOf(a) === "bool" ? o.and(a, b) : o.mul(a, b),
  derivative: {
    reads: ["self", "other"],
    self: (o, { grad, other }) => o.mul(grad, other),
    other: (o, { grad, self }) => o.mul(grad, self),
  },
  exposure: { aliases: ["multiply"] },
});

/** floor(a / b) of floats, exact if a is a multiple of b, as Python's float floor division. */
function floorDivide<V>(o: ScalarOps<V>, a: V, b: V): V {
  const dtype = o.dtypeOf(a);
  const zero = o.constant(0, dtype), one = o.constant(1, dtype), half = o.constant(0.5, dtype);
  const rest = o.truncMod(a, b);
  const exact = o.div(o.sub(a, rest), b);
  const crosses = o.and(o.ne(rest, zero), o.ne(o.lt(b, zero), o.lt(rest, zero)));
  const quotient = o.select(crosses, o.sub(exact, one), exact);
  const floor = o.floor(quotient);
  const near = o.select(o.gt(o.sub(quotient, floor), half), o.add(floor, one), floor);
  return o.select(o.eq(b, zero), o.div(a, b), near);
}

/** a / b in the given rounding mode, both of one type. */
function divide<V>(o: Body<V>, a: V, b: V, mode: string | null): V {
  const integers = isInteger(o.dtypeOf(a));
  if (mode === null) return o.div(a, b);
  if (mode === "trunc") return integers ? o.truncDiv(a, b) : o.trunc(o.div(a, b));
  return integers ? o.floorDiv(a, b) : floorDivide(o, a, b);
}

const div = lowerWideOp({
  name: "div",
  graphName: "truediv",
  doc: 'self / other; integers give floats unless `roundingMode` is "trunc" or "floor". As `torch.div`.',
  params: {
    self: required("tensor"),
    other: required("operand", DIVISOR),
    roundingMode: nullable("string", { keyword: true, oneOf: ["trunc", "floor"] }),
  },
  inplace: true,
  exposure: { aliases: ["divide", "trueDivide"] },
  elementwise: true,
  infer({ self, other, roundingMode }) {
    const { result } = typesOf(roundingMode === null ? "float" : "promote", [self, other]);
    if (result === "bool") throw new DynError("Expected rounded division of numbers but found bool tensors");
    if (roundingMode !== null) checkDivisor(result, other);
    return pointwiseMeta([self, other], result);
  },
  lower: ({ self, other, roundingMode }, [result]) =>
    pointwise(result, {
      operands: [self, other],
      compute: typesOf(roundingMode === null ? "float" : "promote", [self, other]).compute,
      body: (o, [a, b]) => divide(o, a, b, roundingMode),
    }),
  gradient: {
    saves: ["self", "other"],
    single(o, grad, { args: { self, other, roundingMode }, needs }) {
      if (roundingMode !== null) {
        return {
          self: needs("self") ? o.zerosLike(self) : null,
          other: isTensor(other) && needs("other") ? o.zerosLike(other) : null,
        };
      }
      return {
        self: needs("self") ? reduceTo(o, o.div(grad, other), self) : null,
        other: isTensor(other) && needs("other")
          ? reduceTo(o, o.mul(o.neg(grad), o.div(o.div(self, other), other)), other)
          : null,
      };
    },
  },
  samples: [
    ...binarySamples([0.5, 2]),
    { args: [{ tensor: [3], dtype: "int64" }, 2] },
    { args: [t(3), { tensor: [3], range: [1, 2] }], options: { roundingMode: "floor" } },
  ],
  errors: [{ args: [t(3, 4), t(3, 5)], message: "broadcast" }],
});

const floorDivideOp = binary({
  name: "floorDivide",
  graphName: "floordiv",
  doc: "floor(self / other) in the promoted type, as `torch.floor_divide`.",
  rule: "promote",
  accepts: ["integer", "float"],
  divides: true,
  body: (o, a, b) => divide(o, a, b, "floor"),
  derivative: "it is constant almost everywhere",
  range: [0.5, 3],
});

const remainder = binary({
  name: "remainder",
  doc: "self − other · floor(self / other): the remainder with the sign of `other`, as `torch.remainder`.",
  rule: "promote",
  accepts: ["integer", "float"],
  divides: true,
  body: (o, a, b) => o.floorMod(a, b),
  derivative: {
    reads: ["self", "other"],
    self: (_o, { grad }) => grad,
    other: (o, { grad, self, other }) => o.mul(o.neg(grad), o.div(self, other, { roundingMode: "floor" })),
  },
  range: [0.5, 3],
});

const fmod = binary({
  name: "fmod",
  doc: "The remainder with the sign of `self`, as `torch.fmod`.",
  rule: "promote",
  accepts: ["integer", "float"],
  divides: true,
  body: (o, a, b) => o.truncMod(a, b),
  derivative: {
    reads: ["self", "other"],
    self: (_o, { grad }) => grad,
    other: (o, { grad, self, other }) => o.mul(o.neg(grad), o.div(self, other, { roundingMode: "trunc" })),
  },
  range: [0.5, 3],
});

const pow = lowerWideOp({
  name: "pow",
  doc: "self to the power `exponent`, broadcast and promoted, as `torch.pow`. One of them may be a number.",
  params: {
    self: required("operand"),
    exponent: required("operand", { loadable: "natural", changes: GENERAL_POWERS }),
  },
  inplace: true,
  exposure: { method: true },
  elementwise: true,
  infer({ self, exponent }) {
    const { result } = typesOf("promote", [self, exponent]);
    const size = typeof exponent === "number" || exponent instanceof Sym ? exponent : 0;
    if (categoryOf(result) === "integer" && isLess(size, 0)) {
      throw new DynError(`Expected a non-negative exponent for integers but found ${exponent}`);
    }
    if (result === "bool" && typeof exponent !== "boolean") {
      throw new DynError("Expected numbers for pow but found bool tensors");
    }
    return pointwiseMeta([self, exponent], result);
  },
  lower: ({ self, exponent }, [result]) =>
    pointwise(result, {
      operands: [self, exponent],
      compute: result?.dtype ?? "float32",
      body: (o, [a, b]) => {
        if (typeof exponent === "boolean") return exponent ? a : o.constant(1, o.dtypeOf(a));
        return knownPower(o, a, exponent) ?? o.pow(a, b);
      },
    }),
  gradient: {
    saves: ["self", "exponent", "out"],
    single(o, grad, { args: { self, exponent }, out: [out], needs }) {
      if (!out) return {};
      const gradSelf = () => {
        if (isTensor(exponent)) {
          const isFlat = o.eq(exponent, 0), slope = o.mul(o.pow(self, o.sub(exponent, 1)), exponent);
          return o.where(isFlat, 0, o.mul(grad, o.where(isFlat, 0, slope)));
        }
        const power = knownNumber(exponent);
        if (power === 0) return o.zerosLike(grad);
        if (power === 1) return grad;
        return o.mul(grad, o.mul(o.pow(self, power - 1), power));
      };
      const gradExponent = () => {
        if (isTensor(self)) {
          const flat = o.logicalAnd(o.eq(self, 0), o.ge(exponent as typeof self, 0));
          return o.mul(grad, o.where(flat, 0, o.mul(out, o.log(self))));
        }
        const base = knownNumber(self);
        if (base === 0) {
          return o.where(o.ge(exponent as typeof grad, 0), 0, o.mul(grad, o.mul(out, -Infinity)));
        }
        return o.mul(grad, o.mul(out, Math.log(base)));
      };
      return {
        self: isTensor(self) && needs("self") ? reduceTo(o, gradSelf(), self) : null,
        exponent: isTensor(exponent) && needs("exponent") ? reduceTo(o, gradExponent(), exponent) : null,
      };
    },
  },
  samples: [
    ...binarySamples([0.2, 2]),
    { args: [2, t(3)] },
    { args: [t(3), 2] },
    { args: [{ tensor: [3], dtype: "int64" }, 2] },
    { args: [{ tensor: [3], dtype: "bool" }, 2] },
    { args: [{ tensor: [3], dtype: "bool" }, false] },
  ],
  errors: [{ args: [{ tensor: [3], dtype: "int64" }, -1], message: "negative" }],
});

const floatPower = composeOp({
  name: "floatPower",
  doc: "As pow, computed in float64, as `torch.float_power`.",
  params: { self: required("operand"), exponent: required("operand", { changes: GENERAL_POWERS }) },
  inplace: true,
  infer: ({ self, exponent }) => pointwiseMeta([self, exponent], "float64"),
  compose(o, { self, exponent }) {
    const wide = (x: typeof self) => isTensor(x) ? o.to(x, "float64") : x;
    return o.to(o.pow(wide(self), wide(exponent)), "float64");
  },
  samples: binarySamples([0.2, 2]),
});

export const arithmetic = {
  add,
  sub,
  rsub,
  mul,
  div,
  floorDivide: floorDivideOp,
  remainder,
  fmod,
  pow,
  floatPower,
} as const;
