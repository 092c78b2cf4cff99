/**
 * Elementwise functions of two or three operands. Invariant: each has the numerically careful form where the plain
 * one overflows or cancels.
 */
import { DynError, invariant } from "../../base/errors.ts";
import { isFloat } from "../../base/dtype.ts";
import { type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { optional, required } from "../params.ts";
import { checkSameType, isTensor, resultTypeOf } from "../promotion.ts";
import { knownNumber } from "../shapes.ts";
import {
  binary,
  checkCategory,
  k,
  type OperandOf,
  pointwise,
  pointwiseMeta,
  reduceTo,
  t,
  typesOf,
} from "../pointwise.ts";
import { composeWideOp, lowerWideOp } from "../wide.ts";

const atan2 = binary({
  name: "atan2",
  doc: "The angle of the point (other, self), as `torch.atan2`.",
  rule: "float",
  body: (o, a, b) => o.atan2(a, b),
  derivative: {
    reads: ["self", "other"],
    self: (o, { grad, self, other }) => o.mul(grad, o.div(asTensor(o, other, self), squares(o, self, other))),
    other: (o, { grad, self, other }) => o.mul(grad, o.div(o.neg(self), squares(o, self, other))),
  },
  range: [0.3, 2],
  tensorsOnly: true,
  exposure: { aliases: ["arctan2"] },
});

/** self² + other², 1 where both are 0. */
function squares<T extends TensorLike>(o: OpApi<T>, self: T, other: OperandOf<T>): T {
  const total = o.add(o.mul(self, self), isTensor(other) ? o.mul(other, other) : knownNumber(other) ** 2);
  return o.where(o.eq(total, 0), 1, total);
}

function asTensor<T extends TensorLike>(o: OpApi<T>, value: OperandOf<T>, like: T): T {
  return isTensor(value) ? value : o.fullLike(like, value);
}

const hypot = binary({
  name: "hypot",
  doc: "√(self² + other²) without overflow, as `torch.hypot`.",
  rule: "promote",
  accepts: ["float"],
  body(o, a, b) {
    const x = o.abs(a), y = o.abs(b), zero = k(o, x, 0), one = k(o, x, 1);
    const high = o.maximum(x, y), low = o.minimum(x, y);
    const ratio = o.div(low, o.select(o.eq(high, zero), one, high));
    // With an infinite side the result is infinite, even if the other side is NaN
    const infinity = k(o, x, Infinity), infinite = o.or(o.eq(x, infinity), o.eq(y, infinity));
    return o.select(infinite, infinity, o.mul(high, o.sqrt(o.fma(ratio, ratio, one))));
  },
  derivative: {
    reads: ["self", "other", "out"],
    self: (o, { grad, self, out }) => o.mul(grad, o.div(self, out)),
    other: (o, { grad, other, out }) => o.mul(grad, o.div(asTensor(o, other, out), out)),
  },
  range: [0.3, 2],
});

const copysign = binary({
  name: "copysign",
  doc: "|self| with the sign of `other`, that of −0 included, as `torch.copysign`.",
  rule: "float",
  body(o, a, b) {
    const zero = k(o, a, 0), size = o.abs(a);
    const negative = o.or(o.lt(b, zero), o.and(o.eq(b, zero), o.lt(o.div(k(o, a, 1), b), zero)));
    return o.select(negative, o.neg(size), size);
  },
  derivative: {
    reads: ["self", "out"],
    self(o, { grad, self, out }) {
      const isZero = o.eq(self, 0);
      return o.where(isZero, 0, o.mul(grad, o.where(isZero, 1, o.div(out, self))));
    },
    other: (o, { grad }) => o.zerosLike(grad),
  },
});

/** self · log(other), or log(1 + other). */
function timesLog(name: "xlogy" | "xlog1py") {
  const isPlain = name === "xlogy", log = isPlain ? "log" : "log1p", least = isPlain ? 0 : -1;
  return lowerWideOp({
    name,
    doc: `self · ${log}(other), 0 where self is 0, as \`torch.${
      isPlain ? "" : "special."
    }${name}\`. One of them may be a number.`,
    params: { self: required("operand"), other: required("operand") },
    inplace: isPlain,
    exposure: isPlain ? { namespaces: ["special"] } : { method: false, free: false, namespaces: ["special"] },
    infer: ({ self, other }) => pointwiseMeta([self, other], typesOf("float", [self, other]).result),
    lower: ({ self, other }, [result]) =>
      pointwise(result, {
        operands: [self, other],
        compute: result?.dtype ?? "float32",
        body: (o, [x, y]) => {
          const value = o.select(o.eq(x, k(o, x, 0)), k(o, x, 0), o.mul(x, o[log](y)));
          return o.select(o.isNan(y), y, value);
        },
      }),
    gradient: {
      saves: ["self", "other"],
      single(o, grad, { args: { self, other }, needs }) {
        const isUndefined = (of: typeof grad) =>
          isTensor(other)
            ? o.logicalAnd(o.eq(of, 0), o.le(other, least))
            : o.eq(of, knownNumber(other) <= least ? 0 : NaN);
        return {
          self: isTensor(self) && needs("self")
            ? reduceTo(o, o.where(isUndefined(self), 0, o[name](grad, other)), self)
            : null,
          other: isTensor(other) && needs("other")
            ? reduceTo(
              o,
              o.mul(grad, o.div(asTensor(o, self, other), isPlain ? other : o.add(other, 1))),
              other,
            )
            : null,
        };
      },
    },
    samples: isPlain
      ? [{ args: [t(3), { tensor: [3], range: [0.2, 2] }] }, { args: [2, { tensor: [3], range: [0.2, 2] }] }]
      : [{ args: [t(3), { tensor: [3], range: [-0.5, 2] }] }],
  });
}

/** log(e^a + e^b), or with base 2. */
function logAddExp(name: "logaddexp" | "logaddexp2") {
  const two = name === "logaddexp2";
  return binary({
    name,
    doc: `log(${two ? "2" : "e"}^self + ${two ? "2" : "e"}^other) without overflow, as \`torch.${name}\`.`,
    rule: "promote",
    accepts: ["float"],
    body(o, a, b) {
      const high = o.maximum(a, b), low = o.minimum(a, b);
      const gap = o.sub(low, high);
      const more = two ? o.mul(o.log1p(o.exp2(gap)), k(o, a, Math.LOG2E)) : o.log1p(o.exp(gap));
      const infinite = o.eq(o.abs(high), k(o, a, Infinity));
      return o.select(infinite, high, o.add(high, more));
    },
    derivative: {
      reads: ["self", "other"],
      // Computed in the type of the result, since bools cannot be subtracted
      self: (o, { grad, self, other }) => {
        const wide = o.to(self, grad.dtype);
        return shareOf(
          o,
          grad,
          o.sub(asTensor(o, isTensor(other) ? o.to(other, grad.dtype) : other, wide), wide),
          two,
        );
      },
      other: (o, { grad, self, other }) =>
        shareOf(
          o,
          grad,
          o.sub(o.to(self, grad.dtype), isTensor(other) ? o.to(other, grad.dtype) : other),
          two,
        ),
    },
    inplace: false,
  });
}

/** grad / (1 + e^lead): the gradient of an operand that the other one exceeds by `lead`. */
function shareOf<T extends TensorLike>(o: OpApi<T>, grad: T, lead: T, two: boolean): T {
  return o.div(grad, o.add(two ? o.exp2(lead) : o.exp(lead), 1));
}

const lerp = lowerWideOp({
  name: "lerp",
  doc: "self + weight · (end − self), exact at both ends, as `torch.lerp`.",
  params: { self: required("tensor"), end: required("tensor"), weight: required("operand", { changes: {} }) },
  inplace: true,
  elementwise: true,
  infer({ self, end, weight }) {
    // A 0-d weight ranks as a number does
    checkSameType("lerp", self, end, ...isTensor(weight) && weight.shape.length > 0 ? [weight] : []);
    checkCategory("lerp", self.dtype, ["float"]);
    // Among numbers it has a rank of its own
    return pointwiseMeta(
      [self, end, weight],
      isTensor(weight) ? resultTypeOf([self, end, weight]) : self.dtype,
    );
  },
  lower: ({ self, end, weight }, [result]) =>
    pointwise(result, {
      operands: [self, end, weight],
      compute: result?.dtype ?? self.dtype,
      body: (o, [a, b, w]) => {
        const gap = o.sub(b, a);
        const near = o.lt(o.abs(w), k(o, w, 0.5));
        return o.select(near, o.add(a, o.mul(w, gap)), o.sub(b, o.mul(gap, o.sub(k(o, w, 1), w))));
      },
    }),
  gradient: {
    saves: ["self", "end", "weight"],
    single(o, grad, { args: { self, end, weight }, needs }) {
      const rest = isTensor(weight) ? o.rsub(weight, 1) : 1 - knownNumber(weight);
      return {
        self: needs("self") ? reduceTo(o, o.mul(grad, rest), self) : null,
        end: needs("end") ? reduceTo(o, o.mul(grad, weight), end) : null,
        weight: isTensor(weight) && needs("weight")
          ? reduceTo(o, o.mul(grad, o.sub(end, self)), weight)
          : null,
      };
    },
  },
  samples: [{ args: [t(3, 4), t(4), 0.3] }, { args: [t(3), t(3), t(3)] }],
  errors: [{ args: [t(3), { tensor: [3], dtype: "float64" }, 0.5], message: "one dtype" }],
});

/** addcmul and addcdiv: self + value · (tensor1 ∘ tensor2). */
function addCombined(name: "addcmul" | "addcdiv") {
  return lowerWideOp({
    name,
    doc: `self + value · tensor1 ${name === "addcmul" ? "·" : "/"} tensor2, as \`torch.${name}\`.`,
    params: {
      self: required("tensor"),
      tensor1: required("tensor"),
      tensor2: required("tensor"),
      value: optional("scalarOperand", 1, { keyword: true, loadable: true, changes: {} }),
    },
    inplace: true,
    elementwise: true,
    infer({ self, tensor1, tensor2, value }) {
      const { result } = typesOf("promote", [self, tensor1, tensor2]);
      checkCategory(name, result, ["integer", "float"]);
      if (name === "addcdiv" && !isFloat(result)) {
        throw new DynError(`Expected floats in addcdiv but found ${result}; use div with a rounding mode`);
      }
      if (!isFloat(result) && typeof value === "number" && !Number.isInteger(value)) {
        throw new DynError(`Expected an integer value for ${result} tensors but found ${value}`);
      }
      return pointwiseMeta([self, tensor1, tensor2], result);
    },
    lower: ({ self, tensor1, tensor2, value }, [result]) =>
      pointwise(result, {
        operands: [self, tensor1, tensor2, value],
        compute: result?.dtype ?? "float32",
        body: (o, [x, a, b, v]) => {
          invariant(
            x !== undefined && a !== undefined && b !== undefined && v !== undefined,
            "Expected operands",
          );
          const first = value === 1 ? a : o.mul(v, a);
          return o.add(x, name === "addcmul" ? o.mul(first, b) : o.div(first, b));
        },
      }),
    gradient: {
      saves: ["tensor1", "tensor2", "value"],
      single(o, grad, { args: { self, tensor1, tensor2, value }, needs }) {
        const g = value === 1 ? grad : o.mul(grad, value);
        const product = name === "addcmul";
        return {
          self: needs("self") ? reduceTo(o, grad, self) : null,
          tensor1: needs("tensor1")
            ? reduceTo(o, product ? o.mul(g, tensor2) : o.div(g, tensor2), tensor1)
            : null,
          tensor2: needs("tensor2")
            ? reduceTo(
              o,
              product ? o.mul(g, tensor1) : o.neg(o.mul(g, o.div(o.div(tensor1, tensor2), tensor2))),
              tensor2,
            )
            : null,
        };
      },
    },
    samples: [
      { args: [t(3, 4), t(4), { tensor: [3, 1], range: [0.5, 2] }] },
      { args: [t(3), t(3), { tensor: [3], range: [0.5, 2] }], options: { value: 0.5 } },
    ],
  });
}

const ldexp = composeWideOp({
  name: "ldexp",
  doc: "self · 2^other, as `torch.ldexp`.",
  params: { self: required("tensor"), other: required("tensor") },
  inplace: true,
  infer: ({ self, other }) => pointwiseMeta([self, other], typesOf("float", [self, other]).result),
  compose: (o, { self, other }) => o.mul(self, o.pow(2, o.to(other, typesOf("float", [self, other]).result))),
  samples: [{ args: [t(3), { tensor: [3], dtype: "int64" }] }],
});

export const elementwise = {
  atan2,
  hypot,
  copysign,
  xlogy: timesLog("xlogy"),
  xlog1py: timesLog("xlog1py"),
  logaddexp: logAddExp("logaddexp"),
  logaddexp2: logAddExp("logaddexp2"),
  lerp,
  addcmul: addCombined("addcmul"),
  addcdiv: addCombined("addcdiv"),
  ldexp,
} as const;
