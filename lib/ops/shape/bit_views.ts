/**
 * Memory as elements of another type: the alias, and its elements as values. Elements lie in memory with the least
 * significant byte first. Invariant: no bit changes, and no history leads through, as in PyTorch.
 */
import { checkDType, type DType, isComplex, isFloat, isInteger, itemSize } from "../../base/dtype.ts";
import { isPlainObject } from "../../base/tree.ts";
import { optionsOf } from "../../base/checked_input.ts";
import { DynError } from "../../base/errors.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import type { Body, Operand } from "../../loops/body.ts";
import { isEqual } from "../../sym/decide.ts";
import { add, type Dim, floorDiv, mod, mul } from "../../sym/expr.ts";
import { INTERNAL, lowerOp, viewOp } from "../definition.ts";
import { required } from "../params.ts";
import { elements, t } from "../pointwise.ts";
import { shapeText } from "../shapes.ts";

/** The argument of a call of the method `view` that names a type; undefined for a call with sizes. */
export function typeOfView(given: readonly unknown[]): unknown {
  // By its place: the program may have replaced the iterator of lists
  const only = given[0];
  if (given.length !== 1 || typeof only === "string") return given.length === 1 ? only : undefined;
  if (!isPlainObject(only) || !Object.hasOwn(only, "dtype")) return undefined;
  return optionsOf<{ dtype?: unknown }>("view", only, ["dtype"]).dtype;
}

const isPlain = (dtype: DType): boolean => isInteger(dtype) || dtype === "float32" || dtype === "float64";

/**
 * Returns whether kernels read elements of a type as another with every bit: a float16 or bfloat16 that is a signalling
 * NaN becomes a quiet one there, complex elements are pairs, and bools 0 or 1.
 */
export function keepsBits(from: DType, to: DType): boolean {
  return from === to ? !isComplex(from) : isPlain(from) && isPlain(to);
}

/**
 * The place of elements of another type in the same memory: smaller ones are more along the last dimension, larger ones
 * fewer. Throws DynError where they would not lie at whole positions.
 */
function bitMeta(self: TensorMeta, dtype: DType): TensorMeta {
  checkDType(dtype, "view");
  const { shape, strides, offset } = self, from = itemSize(self.dtype), to = itemSize(dtype);
  const refuse = (wanted: string, found: unknown): never => {
    throw new DynError(`Expected ${wanted} to view ${self.dtype} as ${dtype} but found ${found}`);
  };
  if (dtype === "bool" && self.dtype !== "bool") {
    throw new DynError(
      `Expected a bool tensor to view as bool, whose elements are 0 or 1, but found ${self.dtype}; use ne(0)`,
    );
  }
  if (from === to) return { ...self, dtype };
  const last = shape.at(-1);
  if (last === undefined) return refuse("a dimension", "a scalar");
  if (!isEqual(strides.at(-1) ?? 1, 1)) {
    refuse("a last dimension of stride 1", `strides ${shapeText(strides)}`);
  }
  const outer = strides.slice(0, -1);
  for (const [what, values] of Object.entries({ sizes: [last], strides: outer, offsets: [offset] })) {
    if (from > to || values.every((value) => isEqual(mod(value, to / from), 0))) continue;
    refuse(
      `${what} divisible by ${to / from}`,
      `${shapeText(shape)} with strides ${shapeText(strides)} from ${offset}`,
    );
  }
  const sized = (value: Dim): Dim => from > to ? mul(value, from / to) : floorDiv(value, to / from);
  return {
    ...self,
    dtype,
    shape: [...shape.slice(0, -1), sized(last)],
    strides: [...outer.map(sized), 1],
    offset: sized(offset),
  };
}

/** The bits of an element, as the integer that is as wide as its type in computations. */
const bitsOf = <V>(o: Body<V>, value: V, dtype: DType): V => isFloat(dtype) ? o.floatToBits(value) : value;

/** The type of the integers that have the bits of an element in computations. */
const integerOf = (dtype: DType): "int32" | "int64" => itemSize(dtype) === 8 ? "int64" : "int32";

/** The element with the low bits of an integer. */
function fromBits<V>(o: Body<V>, bits: V, dtype: DType): V {
  return isFloat(dtype) ? o.bitsToFloat(o.cast(bits, integerOf(dtype))) : o.cast(bits, dtype);
}

/** One of several elements that lie in one: its bits, moved to the lowest place. */
function part<V>(o: Body<V>, self: Operand, { index, dtype }: ReadPlace): V {
  const ratio = itemSize(self.dtype) / itemSize(dtype), last = index.at(-1) ?? 0;
  const whole = bitsOf(o, o.load(self, [...index.slice(0, -1), floorDiv(last, ratio)]), self.dtype);
  const place = mul(mod(last, ratio), 8 * itemSize(dtype));
  return fromBits(o, o.shr(whole, o.index(place, o.dtypeOf(whole))), dtype);
}

/** One element of several of `self`. */
function joined<V>(o: Body<V>, self: Operand, { index, dtype }: ReadPlace): V {
  const bytes = itemSize(self.dtype), ratio = itemSize(dtype) / bytes, first = mul(index.at(-1) ?? 0, ratio);
  const wide = integerOf(dtype);
  const parts = Array.from({ length: ratio }, (_, k) => {
    const bits = bitsOf(o, o.load(self, [...index.slice(0, -1), add(first, k)]), self.dtype);
    const low = o.and(o.cast(bits, wide), o.constant(2 ** (8 * bytes) - 1, wide));
    return o.shl(low, o.constant(8 * bytes * k, wide));
  });
  return fromBits(o, parts.reduce((a, b) => o.or(a, b)), dtype);
}

interface ReadPlace {
  readonly index: readonly Dim[];
  readonly dtype: DType;
}

function read<V>(o: Body<V>, self: Operand, place: ReadPlace): V {
  const from = itemSize(self.dtype), to = itemSize(place.dtype);
  if (from > to) return part(o, self, place);
  if (from < to) return joined(o, self, place);
  const value = o.load(self, place.index);
  return self.dtype === place.dtype ? value : fromBits(o, bitsOf(o, value, self.dtype), place.dtype);
}

const params = { self: required("tensor"), dtype: required("dtype") } as const;

const gradient = {
  kind: "none",
  because: "the bits of an element are no differentiable function of it",
} as const;

const readBits = lowerOp({
  name: "readBits",
  doc: "The elements that a view as another type shows of self, which is taken as row-major.",
  params,
  exposure: INTERNAL,
  infer({ self, dtype }) {
    if (!keepsBits(self.dtype, dtype)) {
      throw new DynError(`Expected types whose bits kernels keep but found ${self.dtype} as ${dtype}`);
    }
    const { shape } = bitMeta(contiguousMeta(self.shape, self.dtype, self.device), dtype);
    return contiguousMeta(shape, dtype, self.device);
  },
  lower: ({ self, dtype }, [out]) => elements(out, (o, index) => read(o, self, { index, dtype })),
  gradient,
  // None of eight bytes: devices with integers of 32 bits have none of them
  samples: [
    { args: [t(2, 3), "int32"] },
    { args: [t(2, 3), "int8"] },
    { args: [{ tensor: [2, 4], dtype: "int16" }, "float32"] },
    { args: [{ tensor: [8], dtype: "uint8" }, "float32"] },
    { args: [{ tensor: [2, 4], dtype: "int16" }, "int8"] },
  ],
  errors: [
    { args: [{ tensor: [3], dtype: "float16" }, "int16"], message: "bits kernels keep" },
    { args: [t(4), "bfloat16"], message: "bits kernels keep" },
    { args: [{ tensor: [3], dtype: "int16" }, "int32"], message: "sizes divisible by 2" },
  ],
});

const bitView = viewOp({
  name: "bitView",
  doc: "The memory of a tensor as elements of another type. As `Tensor.view` with a type.",
  params,
  exposure: INTERNAL,
  infer: ({ self, dtype }) => bitMeta(self, dtype),
  lower: ({ self, dtype }, [out]) => elements(out, (o, index) => read(o, self, { index, dtype })),
  onValues: readBits,
  writeBack: (o, { self }, { value }) => o.readBits(value, self.dtype),
  gradient,
  // Graphs have the values in its place, and batches refuse it
  samples: [],
  errors: [
    { args: [t(3), "int64"], message: "sizes divisible by 2" },
    { args: [{ tensor: [2, 2], transposed: true }, "int8"], message: "stride 1" },
    { args: [t(), "int8"], message: "a dimension" },
    { args: [t(3), "bool"], message: "use ne(0)" },
  ],
});

/** The alias, and its elements as values. */
export const bitViews = { readBits, bitView } as const;
