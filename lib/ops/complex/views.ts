/**
 * Views of complex numbers as pairs of real ones and back, and their parts. The elements of a complex tensor lie in
 * memory as two adjacent floats. Invariant: these two views are the only ops that read or produce complex elements
 * themselves; all other complex ops are composed of them and of ops on real tensors (form.ts), so that loops and
 * kernels never handle complex numbers.
 */
import { complexType, isComplex, partType } from "../../base/dtype.ts";
import { DynError, InternalError } from "../../base/errors.ts";
import { isEqual } from "../../sym/decide.ts";
import { type Dim, floorDiv, mod, mul } from "../../sym/expr.ts";
import type { TensorMeta } from "../../graph/meta.ts";
import { viewOp } from "../definition.ts";
import { required } from "../params.ts";
import { shapeText } from "../shapes.ts";

/** A complex tensor's elements as pairs: the metadata of its real view. */
export function pairsMeta(self: TensorMeta): TensorMeta {
  const { shape, strides, offset, dtype, device } = self;
  return {
    shape: [...shape, 2],
    strides: [...strides.map((stride) => mul(stride, 2)), 1],
    offset: mul(offset, 2),
    dtype: partType(dtype),
    device,
  };
}

/** A real tensor's pairs as complex elements. Throws DynError if they are not adjacent. */
export function complexMeta(self: TensorMeta): TensorMeta {
  const { shape, strides, offset, dtype, device } = self;
  if (dtype !== "float32" && dtype !== "float64") {
    throw new DynError(`Expected a tensor of float32 or float64 for viewAsComplex but found ${dtype}`);
  }
  if (shape.length === 0 || !isEqual(shape.at(-1) ?? 1, 2)) {
    throw new DynError(`Expected a last dimension of size 2 for viewAsComplex but found ${shapeText(shape)}`);
  }
  // Strides of no elements, or of a single one, lead nowhere
  const isEmpty = shape.includes(0);
  if (!isEmpty && !isEqual(strides.at(-1) ?? 1, 1)) {
    throw new DynError(
      `Expected a last dimension of stride 1 for viewAsComplex but found ${
        strides.at(-1)
      }; make it contiguous() first`,
    );
  }
  const isEven = (d: Dim) => isEqual(mod(d, 2), 0);
  const outer = shape.slice(0, -1), steps = strides.slice(0, -1);
  if (!steps.every((step, d) => isEmpty || outer[d] === 1 || isEven(step)) || !isEven(offset)) {
    throw new DynError(
      `Expected even strides and an even offset for viewAsComplex but found [${strides}] and ${offset}; make it ` +
        "contiguous() first",
    );
  }
  return {
    shape: outer,
    strides: steps.map((step) => floorDiv(step, 2)),
    offset: floorDiv(offset, 2),
    dtype: complexType(dtype),
    device,
  };
}

function neverLowered(): never {
  throw new InternalError("Expected complex tensors to be lowered as pairs");
}

const viewAsReal = viewOp({
  name: "viewAsReal",
  doc:
    "A complex tensor of shape [...] as a real one of shape [..., 2] over the same memory: real and imaginary " +
    "parts. As `torch.view_as_real`.",
  params: { self: required("tensor") },
  exposure: { method: false },
  infer({ self }) {
    if (!isComplex(self.dtype)) {
      throw new DynError(`Expected a complex tensor for viewAsReal but found ${self.dtype}`);
    }
    return pairsMeta(self);
  },
  lower: neverLowered,
  writeBack: (o, _args, { value }) => o.viewAsComplex(o.contiguous(value)),
  gradient: {
    saves: [],
    single: (o, grad) => ({ self: o.viewAsComplex(o.contiguous(grad)) }),
  },
  samples: [],
  errors: [{ args: [{ tensor: [3, 2] }], message: "complex tensor" }],
});

const viewAsComplex = viewOp({
  name: "viewAsComplex",
  doc:
    "A real tensor of shape [..., 2] as a complex one of shape [...] over the same memory, whose last dimension " +
    "must have stride 1. As `torch.view_as_complex`.",
  params: { self: required("tensor") },
  exposure: { method: false },
  infer: ({ self }) => complexMeta(self),
  lower: neverLowered,
  writeBack: (o, _args, { value }) => o.viewAsReal(value),
  gradient: {
    saves: [],
    single: (o, grad) => ({ self: o.viewAsReal(grad) }),
  },
  samples: [],
  errors: [
    { args: [{ tensor: [3, 3] }], message: "size 2" },
    { args: [{ tensor: [2, 2], transposed: true }], message: "stride 1" },
    { args: [{ tensor: [3, 2], dtype: "int64" }], message: "float32 or float64" },
  ],
});

/** The two views. */
export const complexViews = { viewAsReal, viewAsComplex } as const;
