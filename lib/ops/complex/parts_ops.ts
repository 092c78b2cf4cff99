/**
 * Ops that build complex tensors from real ones, and ops that return their parts, conjugates and directions.
 * Invariant: a real tensor is treated as a complex one without imaginary part; complex tensors have rules
 * (comparison.ts).
 */
import { complexType, isComplex } from "../../base/dtype.ts";
import { DynError } from "../../base/errors.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import { composeOp } from "../definition.ts";
import { required } from "../params.ts";
import { deviceOf, t } from "../pointwise.ts";
import { resultTypeOf } from "../promotion.ts";
import { broadcastShapes } from "../shapes.ts";

/** An op that returns real tensors themselves. */
function identity(name: string, doc: string) {
  return composeOp({
    name,
    doc,
    params: { self: required("tensor") },
    infer: ({ self }) => self,
    compose: (_o, { self }) => self,
    samples: [{ args: [t(3, 4)] }],
  });
}

/** Metadata of a complex tensor of two real ones. */
function pairMeta(name: string, a: TensorMeta, b: TensorMeta): TensorMeta {
  if (a.dtype !== b.dtype || (a.dtype !== "float32" && a.dtype !== "float64")) {
    throw new DynError(
      `Expected two tensors of float32 or of float64 for ${name} but found ${a.dtype} and ${b.dtype}`,
    );
  }
  return contiguousMeta(broadcastShapes(a.shape, b.shape), complexType(a.dtype), deviceOf([a, b]));
}

const PAIR_ERRORS = [
  { args: [t(3), { tensor: [3], dtype: "float64" }], message: "two tensors" },
  {
    args: [{ tensor: [3], dtype: "int64" }, { tensor: [3], dtype: "int64" }],
    message: "float32 or of float64",
  },
] as const;

const complex = composeOp({
  name: "complex",
  doc: "The complex tensor of real and imaginary parts, which are broadcast, as `torch.complex`.",
  params: { real: required("tensor"), imag: required("tensor") },
  exposure: { method: false },
  infer: ({ real, imag }) => pairMeta("complex", real, imag),
  compose: (o, { real, imag }) => o.viewAsComplex(o.stack(o.broadcastTensors([real, imag]), -1)),
  samples: [],
  errors: PAIR_ERRORS,
});

const polar = composeOp({
  name: "polar",
  doc: "abs · (cos angle + i · sin angle), broadcast, as `torch.polar`.",
  params: { abs: required("tensor"), angle: required("tensor") },
  exposure: { method: false },
  infer: ({ abs, angle }) => pairMeta("polar", abs, angle),
  compose: (o, { abs, angle }) => o.complex(o.mul(abs, o.cos(angle)), o.mul(abs, o.sin(angle))),
  samples: [],
  errors: PAIR_ERRORS,
});

const imag = composeOp({
  name: "imag",
  doc: "The imaginary part of a complex tensor, as a view; real tensors have none. As `torch.imag`.",
  params: { self: required("tensor") },
  infer({ self }): TensorMeta {
    if (isComplex(self.dtype)) return self;
    throw new DynError(`Expected a complex tensor for imag but found ${self.dtype}`);
  },
  compose: (o, { self }) => o.select(o.viewAsReal(self), -1, 1),
  samples: [],
  errors: [{ args: [t(3)], message: "complex tensor" }],
});

const sgn = composeOp({
  name: "sgn",
  doc: "z / |z|, 0 for 0; the sign of real numbers. As `torch.sgn`.",
  params: { self: required("tensor") },
  inplace: true,
  infer: ({ self }) => contiguousMeta(self.shape, self.dtype, self.device),
  compose: (o, { self }) => o.sign(self),
  samples: [{ args: [t(3, 4)] }],
});

const vdot = composeOp({
  name: "vdot",
  doc: "The sum of conj(self) · other of two vectors, as `torch.vdot`.",
  params: { self: required("tensor"), other: required("tensor") },
  infer({ self, other }) {
    if (self.shape.length !== 1 || other.shape.length !== 1) {
      throw new DynError(
        `Expected two vectors for vdot but found ${self.shape.length} and ${other.shape.length} dimensions`,
      );
    }
    return contiguousMeta([], resultTypeOf([self, other]), self.device);
  },
  compose: (o, { self, other }) => o.dot(o.conj(self), other),
  samples: [{ args: [t(4), t(4)] }],
  errors: [{ args: [t(2, 2), t(2)], message: "two vectors" }],
});

export const partOps = {
  complex,
  polar,
  real: identity(
    "real",
    "The real part, of a complex tensor as a view; of real tensors themselves. As `torch.real`.",
  ),
  imag,
  conj: identity(
    "conj",
    "The complex conjugate; real tensors themselves. Computed at once: there are no lazily conjugated tensors, so " +
      "that the result never shares memory with a complex operand. As `torch.conj`.",
  ),
  conjPhysical: identity(
    "conjPhysical",
    "The complex conjugate; real tensors themselves. As `torch.conj_physical`.",
  ),
  resolveConj: identity("resolveConj", "Itself: no tensor is conjugated lazily. As `torch.resolve_conj`."),
  resolveNeg: identity("resolveNeg", "Itself: no tensor is negated lazily. As `torch.resolve_neg`."),
  sgn,
  vdot,
} as const;
