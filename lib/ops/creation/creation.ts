/**
 * New tensors: constants, ranges and conversions. Results are fresh and contiguous. Invariant: types default as in
 * PyTorch, from the numbers or the default floating type.
 */
import { DynError } from "../../base/errors.ts";
import { type DType, getDefaultDtype, isFloat, isHalf, valueType } from "../../base/dtype.ts";
import { isEqual, isLess, sizeText } from "../../sym/decide.ts";
import { add, ceilDiv, type Dim, floorDiv, mul, sub, Sym } from "../../sym/expr.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import type { Body, Lowered, Operand } from "../../loops/body.ts";
import { isPlainObject } from "../../base/tree.ts";
import { composeOp, lowerOp } from "../definition.ts";
import { nullable, optional, required, type Scalar } from "../params.ts";
import { castTo, checkHeld, elementOf, isTensor, numberValue, typeOfNumber } from "../promotion.ts";
import { reduceTo, t } from "../pointwise.ts";
import { broadcastsTo, checkSizeAtLeast, checkSizes, shapeText } from "../shapes.ts";

const options = {
  dtype: nullable("dtype", { keyword: true }),
  device: nullable("device", { keyword: true }),
} as const;

const NO_INPUT = "it reads no elements";

/** Elements that depend only on their index. */
function fromIndex(
  result: TensorMeta | undefined,
  element: <V>(o: Body<V>, index: readonly Dim[]) => V,
): Lowered[] {
  if (!result) return [];
  const { shape, dtype } = result;
  return [{ kind: "pointwise", shape, dtype, element: (o, index) => o.narrow(element(o, index), dtype) }];
}

function fill(result: TensorMeta | undefined, value: Scalar | Dim): Lowered[] {
  return fromIndex(result, (o) => numberValue(o, value, result?.dtype ?? "float32"));
}

/** The metadata of a tensor filled with a number. Throws DynError if its type cannot hold the number. */
function filled(value: unknown, result: TensorMeta): TensorMeta {
  checkHeld(value, result.dtype);
  return result;
}

function freshMeta(size: readonly Dim[], dtype: DType | null, device: string | null): TensorMeta {
  checkSizes(size);
  return contiguousMeta(size, dtype ?? getDefaultDtype(), device ?? "cpu");
}

/** zeros, ones, empty: one value, sizes spread or in a list. */
function constant(name: "zeros" | "ones" | "empty", value: number) {
  return lowerOp({
    name,
    doc: name === "empty"
      ? "An uninitialised tensor, as `torch.empty`."
      : `A tensor of ${name}, as \`torch.${name}\`.`,
    params: { size: required("sizes", { variadic: true }), ...options },
    exposure: { method: false },
    infer: ({ size, dtype, device }) => freshMeta(size, dtype, device),
    lower: (_args, [result]) => fill(result, value),
    fills: value,
    gradient: { kind: "none", because: NO_INPUT },
    samples: [{ args: [[2, 3]] }, { args: [[]] }, { args: [[0, 2]], options: { dtype: "int64" } }],
    errors: [{ args: [[-1]], message: "non-negative" }],
  });
}

/** Defines an op that returns a constant tensor with the shape, type and device of another. */
function constantLike(name: "zerosLike" | "onesLike" | "emptyLike", value: number) {
  return lowerOp({
    name,
    doc: `As ${name.slice(0, -4)}, of the shape, type and device of \`self\`.`,
    params: { self: required("tensor"), ...options },
    exposure: { method: false },
    infer: ({ self, dtype, device }) =>
      contiguousMeta(self.shape, dtype ?? self.dtype, device ?? self.device),
    lower: (_args, [result]) => fill(result, value),
    fills: value,
    gradient: { kind: "none", because: NO_INPUT },
    samples: [{ args: [t(2, 3)] }, { args: [t()], options: { dtype: "int64" } }],
  });
}

/** Defines an op that returns a constant tensor of given sizes, with the type and device of another. */
function constantNew(name: "newZeros" | "newOnes" | "newEmpty", value: number) {
  return lowerOp({
    name,
    doc: `As ${name.slice(3).toLowerCase()}, of the type and device of \`self\`.`,
    params: { self: required("tensor"), size: required("sizes", { variadic: true }), ...options },
    exposure: { free: false },
    infer: ({ self, size, dtype, device }) => freshMeta(size, dtype ?? self.dtype, device ?? self.device),
    lower: (_args, [result]) => fill(result, value),
    fills: value,
    gradient: { kind: "none", because: NO_INPUT },
    samples: [{ args: [t(2), [2, 3]] }],
  });
}

const full = lowerOp({
  name: "full",
  doc: "A tensor of one value, by default of the number's type. As `torch.full`.",
  params: { size: required("sizes"), fillValue: required("scalar", { complex: true }), ...options },
  exposure: { method: false },
  infer: ({ size, fillValue, dtype, device }) =>
    filled(fillValue, freshMeta(size, dtype ?? typeOfNumber(fillValue), device)),
  lower: ({ fillValue }, [result]) => fill(result, fillValue),
  gradient: { kind: "none", because: NO_INPUT },
  samples: [{ args: [[2, 3], 1.5] }, { args: [[2], 3] }, { args: [[2], true] }],
});

const fullLike = lowerOp({
  name: "fullLike",
  doc: "As full, of the shape, type and device of `self`.",
  params: { self: required("tensor"), fillValue: required("scalar", { complex: true }), ...options },
  exposure: { method: false },
  infer: ({ self, fillValue, dtype, device }) =>
    filled(fillValue, contiguousMeta(self.shape, dtype ?? self.dtype, device ?? self.device)),
  lower: ({ fillValue }, [result]) => fill(result, fillValue),
  gradient: { kind: "none", because: NO_INPUT },
  samples: [{ args: [t(2, 3), 1.5] }],
});

const newFull = lowerOp({
  name: "newFull",
  doc: "As full, of the type and device of `self`.",
  params: {
    self: required("tensor"),
    size: required("sizes"),
    fillValue: required("scalar", { complex: true }),
    ...options,
  },
  exposure: { free: false },
  infer: ({ self, size, fillValue, dtype, device }) =>
    filled(fillValue, freshMeta(size, dtype ?? self.dtype, device ?? self.device)),
  lower: ({ fillValue }, [result]) => fill(result, fillValue),
  gradient: { kind: "none", because: NO_INPUT },
  samples: [{ args: [t(2), [3], 1.5] }],
});

const fillOp = lowerOp({
  name: "fill",
  doc: "A tensor of the shape and type of `self` with every element `value`, as `torch.fill`.",
  params: { self: required("tensor"), value: required("operand") },
  inplace: true,
  infer({ self, value }) {
    if (isTensor(value) && value.shape.length > 0) {
      throw new DynError(`Expected a 0-d value but found shape ${shapeText(value.shape)}`);
    }
    return filled(value, contiguousMeta(self.shape, self.dtype, self.device));
  },
  lower: ({ value }, [result]) =>
    fromIndex(result, (o, index) => elementOf(o, value, { index, dtype: result?.dtype ?? "float32" })),
  gradient: {
    saves: [],
    single: (o, grad, { args: { value }, needs }) => ({
      self: needs("self") ? o.zerosLike(grad) : null,
      value: isTensor(value) && needs("value") ? o.sum(grad) : null,
    }),
  },
  samples: [{ args: [t(2, 3), 1.5] }, { args: [t(2), t()] }],
});

const zero = lowerOp({
  name: "zero",
  doc: "Zeros of the shape and type of `self`; `zero_` clears a tensor.",
  params: { self: required("tensor") },
  inplace: true,
  exposure: { method: false, free: false },
  infer: ({ self }) => contiguousMeta(self.shape, self.dtype, self.device),
  lower: (_args, [result]) => fill(result, 0),
  gradient: {
    saves: [],
    single: (o, grad) => ({ self: o.zerosLike(grad) }),
  },
  samples: [{ args: [t(2, 3)] }],
});

/** Returns the number of elements of a range, and their type. */
function rangeOf(start: Scalar | Dim, end: Scalar | Dim, step: Scalar | Dim): { length: Dim; dtype: DType } {
  const all = [start, end, step];
  const dtype = all.some((x) => typeof x === "number" && !Number.isInteger(x)) ? getDefaultDtype() : "int64";
  if (all.some((x) => x instanceof Sym)) {
    // As many whole steps lead from the integer below a fraction to an integer as from the fraction itself
    const first = typeof start === "number" ? Math.floor(start) : start;
    if (!isSize(first) || !isSize(end) || !isSize(step) || (first !== start && !isLess(0, step))) {
      throw new DynError("Expected integers for a range with a symbolic size among them");
    }
    if (isEqual(step, 0)) throw new DynError("Expected a nonzero step but found 0");
    const forward = isLess(0, step), length = forward ? sub(end, first) : sub(first, end);
    if (isLess(length, 0)) {
      throw new DynError(
        `Expected a step towards the end but found ${isSize(start) ? sizeText(start) : start} to ${
          sizeText(end)
        } by ${sizeText(step)}`,
      );
    }
    return { length: ceilDiv(length, forward ? step : sub(0, step)), dtype };
  }
  const [from, to, by] = all.map(Number) as [number, number, number];
  if (by === 0) throw new DynError("Expected a nonzero step but found 0");
  if (!Number.isFinite(by)) throw new DynError(`Expected a finite step but found ${by}`);
  if (!Number.isFinite(from) || !Number.isFinite(to)) {
    throw new DynError(`Expected a finite range but found ${from} to ${to}`);
  }
  if ((by > 0 && to < from) || (by < 0 && to > from)) {
    throw new DynError(`Expected a step towards the end but found ${from} to ${to} by ${by}`);
  }
  return { length: Math.ceil((to - from) / by), dtype };
}

function isSize(value: Scalar | Dim): value is Dim {
  return value instanceof Sym || (typeof value === "number" && Number.isSafeInteger(value));
}

/** The bounds of arange(end), arange(start, end) and arange(start, end, step). */
function bounds(args: { start: Scalar | Dim; end: Scalar | Dim | null; step: Scalar | Dim }) {
  return args.end === null ? { start: 0, end: args.start, step: args.step } : { ...args, end: args.end };
}

/** A bound or step in the type of a range: its integer part for integers. */
function inType<T>(value: Scalar | Dim | T, dtype: DType): Scalar | Dim | T {
  return typeof value === "number" && !isFloat(dtype) ? Math.trunc(value) : value;
}

/** start + index · step as a value; in float64 until the end, as PyTorch accumulates. */
function stepped<V>(
  o: Body<V>,
  index: Dim,
  spec: { start: Scalar | Dim; step: Scalar | Dim; dtype: DType },
): V {
  const { start, step, dtype } = spec;
  if (isSize(start) && isSize(step)) {
    return castTo(o, o.index(add(start, mul(index, step)), "int64"), dtype);
  }
  const position = o.cast(o.index(index, "int64"), "float64");
  const value = o.add(numberValue(o, start, "float64"), o.mul(position, numberValue(o, step, "float64")));
  return castTo(o, value, dtype);
}

/** The arguments of a call that has only the end, by name. */
function startingAtZero(given: readonly unknown[]): readonly unknown[] {
  const [named] = given, hasEnd = given.length === 1 && isPlainObject(named) && Object.hasOwn(named, "end");
  return hasEnd && !Object.hasOwn(named, "start") ? [0, named] : given;
}

const arange = lowerOp({
  name: "arange",
  doc: "arange(end), arange(start, end, step): start, start + step, … before end, as `torch.arange`.",
  params: {
    start: required("scalar"),
    end: nullable("scalar"),
    step: optional("scalar", 1),
    ...options,
  },
  arrange: startingAtZero,
  exposure: { method: false },
  infer({ dtype, device, ...given }) {
    const { start, end, step } = bounds(given);
    const range = rangeOf(start, end, step);
    return contiguousMeta([range.length], dtype ?? range.dtype, device ?? "cpu");
  },
  lower(args, [result]) {
    const { start, step } = bounds(args), dtype = result?.dtype ?? "int64";
    const spec = { start: inType(start, dtype), step: inType(step, dtype), dtype };
    return fromIndex(result, (o, [i]) => stepped(o, i ?? 0, spec));
  },
  gradient: { kind: "none", because: NO_INPUT },
  samples: [{ args: [5] }, { args: [1, 6, 2] }, { args: [0, 1, 0.25] }, { args: [5, 0, -2] }],
  errors: [{ args: [0, 5, 0], message: "nonzero" }, { args: [5, 0], message: "towards the end" }],
});

const linspace = lowerOp({
  name: "linspace",
  doc: "`steps` numbers from start to end, both included, evenly spaced, as `torch.linspace`.",
  params: {
    start: required("scalarOperand", { changes: {} }),
    end: required("scalarOperand", { changes: {} }),
    steps: required("size"),
    ...options,
  },
  exposure: { method: false },
  infer({ steps, dtype, device }) {
    checkSizeAtLeast("the number of steps", steps, 0);
    return contiguousMeta([steps], dtype ?? getDefaultDtype(), device ?? "cpu");
  },
  lower({ start, end, steps }, [result]) {
    const dtype = result?.dtype ?? "float32", type = isFloat(dtype) ? valueType(dtype) : "float64";
    // From the nearer end with fma, as PyTorch on CPUs computes it: the same numbers, with both ends exact
    return fromIndex(result, (o, [i = 0]) => {
      const known = (value: Scalar | Dim | Operand) => {
        const made = elementOf(o, inType(value, dtype), { index: [], dtype: type });
        return isHalf(dtype) ? o.narrow(made, dtype) : made;
      };
      const first = known(start), last = known(end);
      if (isLess(steps, 2)) return o.cast(first, dtype);
      const step = o.div(o.sub(last, first), numberValue(o, sub(steps, 1), type));
      const position = o.index(i, "int64"), count = (index: Dim) => o.cast(o.index(index, "int64"), type);
      const forth = o.fma(step, count(i), first);
      const back = o.fma(o.neg(step), count(sub(sub(steps, 1), i)), last);
      return o.cast(
        o.select(o.lt(position, numberValue(o, floorDiv(steps, 2), "int64")), forth, back),
        dtype,
      );
    });
  },
  gradient: { kind: "none", because: NO_INPUT },
  samples: [{ args: [0, 1, 5] }, { args: [1, -1, 2] }, { args: [3, 4, 1] }, { args: [0, 1, 0] }],
  errors: [{ args: [0, 1, -1], message: "at least 0" }],
});

const logspace = composeOp({
  name: "logspace",
  doc: "base to the powers of linspace(start, end, steps), as `torch.logspace`.",
  params: {
    start: required("scalarOperand", { changes: {} }),
    end: required("scalarOperand", { changes: {} }),
    steps: required("size"),
    base: optional("float", 10),
    ...options,
  },
  exposure: { method: false },
  infer({ steps, dtype, device }) {
    checkSizeAtLeast("the number of steps", steps, 0);
    return contiguousMeta([steps], dtype ?? getDefaultDtype(), device ?? "cpu");
  },
  compose(o, { start, end, steps, base, dtype, device }) {
    const type = dtype ?? getDefaultDtype(), options = { dtype: "float64", device } as const;
    return o.to(o.pow(base, o.linspace(inType(start, type), inType(end, type), steps, options)), type);
  },
  gradient: { kind: "none", because: NO_INPUT },
  samples: [{ args: [0, 2, 3] }, { args: [0, 3, 4, 2] }],
});

const eye = lowerOp({
  name: "eye",
  doc: "Ones on the diagonal of an n × m matrix of zeros, as `torch.eye`.",
  params: { n: required("size"), m: nullable("size"), ...options },
  exposure: { method: false },
  infer: ({ n, m, dtype, device }) => freshMeta([n, m ?? n], dtype, device),
  lower: (_args, [result]) =>
    fromIndex(
      result,
      (o, [i, j]) =>
        castTo(o, o.eq(o.index(i ?? 0, "int64"), o.index(j ?? 0, "int64")), result?.dtype ?? "float32"),
    ),
  gradient: { kind: "none", because: NO_INPUT },
  samples: [{ args: [3] }, { args: [2, 4] }],
  errors: [{ args: [-1], message: "non-negative" }],
});

const convert = lowerOp({
  name: "convert",
  doc: "The elements in another type: floats truncate towards integers, and nonzero elements are true.",
  params: { self: required("tensor"), dtype: required("dtype") },
  exposure: { method: false, free: false },
  elementwise: true,
  infer: ({ self, dtype }) => contiguousMeta(self.shape, dtype, self.device),
  lower: ({ self, dtype }, [result]) =>
    fromIndex(result, (o, index) => castTo(o, o.load(self, index), dtype)),
  gradient: {
    kind: "rule",
    saves: [],
    rule: (o, { args: { self }, grads: [grad] }) =>
      grad && isFloat(self.dtype) ? { self: o.to(grad, self.dtype) } : {},
  },
  samples: [{ args: [t(2, 3), "int64"] }, { args: [t(3), "bool"] }, { args: [t(3), "float64"] }],
});

const to = composeOp({
  name: "to",
  doc: "Itself where the type is the same, else a copy in that type. The method `to` also takes devices.",
  params: { self: required("tensor"), dtype: required("dtype") },
  exposure: { method: false, free: false },
  infer: ({ self, dtype }) => self.dtype === dtype ? self : contiguousMeta(self.shape, dtype, self.device),
  isOneCall: true,
  compose: (o, { self, dtype }) => self.dtype === dtype ? self : o.convert(self, dtype),
  samples: [{ args: [t(2, 3), "int64"] }, { args: [t(3), "float32"] }],
});

/** x.float() and similar conversions. */
function conversion(name: string, dtype: DType) {
  return composeOp({
    name,
    doc: `The elements as ${dtype}, as \`Tensor.${name}\`.`,
    params: { self: required("tensor") },
    exposure: { free: false },
    infer: ({ self }) => self.dtype === dtype ? self : contiguousMeta(self.shape, dtype, self.device),
    isOneCall: true,
    compose: (o, { self }) => o.to(self, dtype),
    // Rounding is constant almost everywhere, but its gradient is that of the identity
    samples: [{ args: [t(2, 3)], frozen: isHalf(dtype) }],
  });
}

const clone = lowerOp({
  name: "clone",
  doc: "A copy of the elements, as `torch.clone`.",
  params: { self: required("tensor") },
  elementwise: true,
  infer: ({ self }) => contiguousMeta(self.shape, self.dtype, self.device),
  lower: ({ self }, [result]) => fromIndex(result, (o, index) => o.load(self, index)),
  gradient: { saves: [], single: (_o, grad) => ({ self: grad }) },
  samples: [{ args: [t(2, 3)] }, { args: [{ tensor: [3, 2], transposed: true }] }],
});

const copy = lowerOp({
  name: "copy",
  doc:
    "The elements of `src`, broadcast and converted to the shape and type of `self`; `copy_` writes them there.",
  params: {
    self: required("tensor"),
    src: required("operand"),
    nonBlocking: optional("bool", false),
  },
  inplace: true,
  crossesDevices: true,
  exposure: { method: false, free: false },
  infer({ self, src }) {
    if (isTensor(src) && !broadcastsTo(src.shape, self.shape)) {
      throw new DynError(
        `Expected a source that broadcasts to ${shapeText(self.shape)} but found ${shapeText(src.shape)}`,
      );
    }
    return contiguousMeta(self.shape, self.dtype, self.device);
  },
  lower: ({ src }, [result]) =>
    fromIndex(result, (o, index) => elementOf(o, src, { index, dtype: result?.dtype ?? "float32" })),
  gradient: {
    saves: [],
    single: (o, grad, { args: { self, src }, needs }) => ({
      self: needs("self") ? o.zerosLike(self) : null,
      src: isTensor(src) && needs("src") ? reduceTo(o, grad, src) : null,
    }),
  },
  samples: [{ args: [t(2, 3), t(3)] }, { args: [t(2), 1] }],
});

const scalarTensor = lowerOp({
  name: "scalarTensor",
  doc: "A 0-d tensor of a number, as `torch.scalar_tensor`.",
  params: { s: required("scalar"), ...options },
  exposure: { method: false },
  infer: ({ dtype, device }) => contiguousMeta([], dtype ?? getDefaultDtype(), device ?? "cpu"),
  lower: ({ s }, [result]) => fill(result, s),
  gradient: { kind: "none", because: NO_INPUT },
  samples: [{ args: [1.5] }],
});

export const creation = {
  zeros: constant("zeros", 0),
  ones: constant("ones", 1),
  empty: constant("empty", 0),
  zerosLike: constantLike("zerosLike", 0),
  onesLike: constantLike("onesLike", 1),
  emptyLike: constantLike("emptyLike", 0),
  newZeros: constantNew("newZeros", 0),
  newOnes: constantNew("newOnes", 1),
  newEmpty: constantNew("newEmpty", 0),
  full,
  fullLike,
  newFull,
  fill: fillOp,
  zero,
  arange,
  linspace,
  logspace,
  eye,
  scalarTensor,
  convert,
  to,
  float: conversion("float", "float32"),
  double: conversion("double", "float64"),
  long: conversion("long", "int64"),
  int: conversion("int", "int32"),
  half: conversion("half", "float16"),
  bfloat16: conversion("bfloat16", "bfloat16"),
  short: conversion("short", "int16"),
  char: conversion("char", "int8"),
  byte: conversion("byte", "uint8"),
  bool: conversion("bool", "bool"),
  clone,
  copy,
} as const;
