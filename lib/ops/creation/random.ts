/**
 * Random elements, drawn by a counter-based generator from the call's two keys and the flat index of each element.
 * Invariant: equal keys produce equal elements on every device, so a compiler may draw them again instead of saving
 * them.
 */
import { checkAtLeast, checkPositive, checkShare } from "../../base/checked_numbers.ts";
import { DynError } from "../../base/errors.ts";
import { type DType, getDefaultDtype, isFloat, valueType } from "../../base/dtype.ts";
import { isAtMost, isLess, sizeText } from "../../sym/decide.ts";
import { type Dim, sub, Sym } from "../../sym/expr.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import type { Body, Lowered, Operand } from "../../loops/body.ts";
import { composeOp, defineOp } from "../definition.ts";
import { floatFill, INPLACE_ONLY, OVERWRITTEN } from "./fill_parts.ts";
import { type Formula, type NumberOf, valueOfNumbers } from "../numbers.ts";
import { nullable, optional, required } from "../params.ts";
import { castTo, isTensor, numberValue } from "../promotion.ts";
import { checkCategory, t } from "../pointwise.ts";
import { zeroUnless } from "../refusals.ts";
import { broadcastIndex, checkSizes, flatIndex, shapeText } from "../shapes.ts";

const NO_GRADIENT = "it reads no elements";

const options = {
  dtype: nullable("dtype", { keyword: true }),
  device: nullable("device", { keyword: true }),
} as const;

type Keys = readonly [Operand, Operand];

/** 32 random bits for an index; the same keys give a separate sequence for each `stream`. */
function bits<V>(o: Body<V>, keys: Keys, at: { readonly flat: Dim; readonly stream: number }): V {
  const key0 = o.load(keys[0], []), key1 = o.load(keys[1], []);
  const mixed = at.stream === 0 ? key1 : o.xor(key1, o.constant(STREAMS[at.stream] ?? 0, "int32"));
  return o.random(key0, mixed, o.index(at.flat, "int32"));
}

/** Constants that separate the streams of one call. */
const STREAMS = [0, 0x5bd1e995, 0x2545f491, 0x6c078965] as const;

/** Digits of the types that are computed in float32. */
const DIGITS: Partial<Record<DType, number>> = { float16: 11, bfloat16: 8 };

/** A number in [0, 1), of as many random bits as the type has digits: none is rounded up to 1. */
function unit<V>(
  o: Body<V>,
  keys: Keys,
  at: { readonly flat: Dim; readonly stream: number; readonly dtype: DType },
): V {
  const low = (stream: number, mask: number) =>
    o.and(bits(o, keys, { flat: at.flat, stream }), o.constant(mask, "int32"));
  if (at.dtype !== "float64") {
    const range = 2 ** (DIGITS[at.dtype] ?? 24);
    return o.mul(o.cast(low(at.stream, range - 1), at.dtype), o.constant(1 / range, at.dtype));
  }
  const high = o.cast(low(at.stream, 0x3ffffff), "float64"),
    rest = o.cast(low(at.stream + 1, 0x7ffffff), "float64");
  return o.mul(o.add(o.mul(high, o.constant(2 ** 27, "float64")), rest), o.constant(2 ** -53, "float64"));
}

/** A number of the standard normal distribution, by Box and Muller. */
function normalOf<V>(o: Body<V>, keys: Keys, at: { readonly flat: Dim; readonly dtype: DType }): V {
  const { flat, dtype } = at, k = (value: number) => o.constant(value, dtype);
  const radius = o.sqrt(o.mul(k(-2), o.log(o.sub(k(1), unit(o, keys, { flat, stream: 0, dtype })))));
  const angle = o.mul(k(2 * Math.PI), unit(o, keys, { flat, stream: 2, dtype }));
  return o.mul(radius, o.cos(angle));
}

/** Elements from their flat index. */
function drawn(
  result: TensorMeta | undefined,
  element: <V>(o: Body<V>, flat: Dim, index: readonly Dim[]) => V,
): Lowered[] {
  if (!result) return [];
  const { shape, dtype } = result;
  return [{
    kind: "pointwise",
    shape,
    dtype,
    element: (o, index) => o.narrow(element(o, flatIndex(index, shape), index), dtype),
  }];
}

const floatOf = (dtype: DType | undefined): DType => dtype === "float64" ? "float64" : "float32";

function floatMeta(name: string, meta: TensorMeta): TensorMeta {
  checkSizes(meta.shape);
  checkCategory(name, meta.dtype, ["float"]);
  return meta;
}

/** rand and randn. */
function sampled(name: "rand" | "randn", distribution: string) {
  return defineOp({
    name,
    takesGenerator: true,
    doc: `Numbers of ${distribution}, as \`torch.${name}\`.`,
    params: { size: required("sizes", { variadic: true }), ...options },
    exposure: { method: false },
    infer: ({ size, dtype, device }) =>
      floatMeta(name, contiguousMeta(size, dtype ?? getDefaultDtype(), device ?? "cpu")),
    implementation: {
      kind: "random",
      lower: (_args, [result], keys) =>
        drawn(result, (o, flat) => draw(o, name, keys, { flat, dtype: result?.dtype ?? "float32" })),
    },
    gradient: { kind: "none", because: NO_GRADIENT },
    samples: [{ args: [[2, 3]] }],
  });
}

function draw<V>(
  o: Body<V>,
  name: "rand" | "randn",
  keys: Keys,
  at: { readonly flat: Dim; readonly dtype: DType },
): V {
  return name === "rand"
    ? unit(o, keys, { ...at, stream: 0 })
    : normalOf(o, keys, { ...at, dtype: valueType(at.dtype) });
}

/** randLike and randnLike. */
function sampledLike(name: "randLike" | "randnLike", base: "rand" | "randn") {
  return defineOp({
    name,
    takesGenerator: true,
    doc: `As ${base}, of the shape, type and device of \`self\`.`,
    params: { self: required("tensor"), ...options },
    exposure: { method: false },
    infer: ({ self, dtype, device }) =>
      floatMeta(name, contiguousMeta(self.shape, dtype ?? self.dtype, device ?? self.device)),
    implementation: {
      kind: "random",
      lower: (_args, [result], keys) =>
        drawn(result, (o, flat) => draw(o, base, keys, { flat, dtype: result?.dtype ?? "float32" })),
    },
    gradient: { kind: "none", because: NO_GRADIENT },
    samples: [{ args: [t(2, 3)] }],
  });
}

/** Integers of [low, high) from 32 bits, or from 64 for wider ranges. */
function integer<V>(
  o: Body<V>,
  keys: Keys,
  at: { readonly flat: Dim; readonly low: Dim; readonly high: Dim },
): V {
  const range = sub(at.high, at.low), low = () => numberValue(o, at.low, "int64");
  if (isAtMost(range, 2 ** 30)) {
    // x mod range from x's upper 31 bits and the last one, so that all values are nonnegative 32-bit integers
    const x = bits(o, keys, { flat: at.flat, stream: 0 }), size = numberValue(o, range, "int32");
    const upper = o.floorMod(o.and(o.shr(x, o.constant(1, "int32")), o.constant(0x7fffffff, "int32")), size);
    const whole = o.add(o.add(upper, upper), o.and(x, o.constant(1, "int32")));
    return o.add(o.cast(o.floorMod(whole, size), "int64"), low());
  }
  const word = (stream: number) =>
    o.and(o.cast(bits(o, keys, { flat: at.flat, stream }), "int64"), o.constant(0xffffffff, "int64"));
  const wide = isLess(2 ** 31, range)
    ? o.xor(word(0), o.shl(o.and(word(1), o.constant(0x7fffffff, "int64")), o.constant(32, "int64")))
    : word(0);
  return o.add(o.floorMod(wide, numberValue(o, range, "int64")), low());
}

function checkRange(low: Dim, high: Dim): void {
  if (isLess(low, high)) return;
  throw new DynError(`Expected low below high but found ${sizeText(low)} and ${sizeText(high)}`);
}

const randint = defineOp({
  name: "randint",
  takesGenerator: true,
  doc: "randint(high, size), randint(low, high, size): integers of [low, high), as `torch.randint`.",
  params: {
    low: required("size"),
    high: nullable("sizeOrSizes"),
    size: nullable("sizes"),
    ...options,
  },
  exposure: { method: false },
  infer({ dtype, device, ...given }) {
    const { low, high, size } = randintArguments(given);
    checkRange(low, high);
    checkSizes(size);
    return contiguousMeta(size, dtype ?? "int64", device ?? "cpu");
  },
  implementation: {
    kind: "random",
    lower(args, [result], keys) {
      const { low, high } = randintArguments(args);
      return drawn(result, (o, flat) => integer(o, keys, { flat, low, high }));
    },
  },
  gradient: { kind: "none", because: NO_GRADIENT },
  samples: [{ args: [0, 5, [2, 3]] }],
  errors: [{ args: [5, 5, [2]], message: "low below high" }],
});

/** randint(high, size) has its arguments one position earlier. */
function randintArguments(
  args: { low: Dim; high: Dim | readonly Dim[] | null; size: readonly Dim[] | null },
): { low: Dim; high: Dim; size: readonly Dim[] } {
  const { low, high, size } = args;
  if (typeof high === "number" || high instanceof Sym) {
    if (size === null) throw new DynError("Expected a size of randint but found nothing");
    return { low, high, size };
  }
  const given = high ?? size;
  if (given === null) throw new DynError("Expected a size of randint but found nothing");
  return { low: 0, high: low, size: given };
}

const randintLike = defineOp({
  name: "randintLike",
  takesGenerator: true,
  doc: "randintLike(x, high), randintLike(x, low, high): integers of [low, high) in the shape of a tensor.",
  params: { self: required("tensor"), low: required("size"), high: nullable("size"), ...options },
  exposure: { method: false },
  infer({ self, low, high, dtype, device }) {
    checkRange(high === null ? 0 : low, high ?? low);
    return contiguousMeta(self.shape, dtype ?? self.dtype, device ?? self.device);
  },
  implementation: {
    kind: "random",
    lower: ({ low, high }, [result], keys) =>
      drawn(result, (o, flat) => integer(o, keys, { flat, low: high === null ? 0 : low, high: high ?? low })),
  },
  gradient: { kind: "none", because: NO_GRADIENT },
  samples: [{ args: [t(2, 3), 5] }],
});

const randperm = composeOp({
  name: "randperm",
  takesGenerator: true,
  doc: "The integers below n in random order, as `torch.randperm`.",
  params: { n: required("size"), ...options },
  exposure: { method: false },
  infer({ n, dtype, device }) {
    checkSizes([n]);
    return contiguousMeta([n], dtype ?? "int64", device ?? "cpu");
  },
  compose: (o, { n, dtype, device }) =>
    o.to(o.argsort(o.rand([n], { dtype: "float64", device: device ?? "cpu" })), dtype ?? "int64"),
  gradient: { kind: "none", because: NO_GRADIENT },
  samples: [{ args: [5] }],
});

const bernoulli = defineOp({
  name: "bernoulli",
  takesGenerator: true,
  doc:
    "1 with the probability in `self` (or p), else 0, as `torch.bernoulli`; `bernoulli_` has p = 0.5 unless it is given. " +
    "Elements outside of [0, 1] are refused on the CPU.",
  params: {
    self: required("tensor"),
    p: nullable("operand", { changes: { atLeast: 0, atMost: 1 } }),
  },
  checksNumbers: true,
  bounds: ({ p }) => ({ [p === null ? "self" : "p"]: [0, 1] }),
  inplace: true,
  inplaceDefaults: { p: 0.5 },
  infer({ self, p }) {
    if (p === null) checkCategory("bernoulli", self.dtype, ["float"]);
    if (typeof p === "number") checkShare("p of bernoulli", p);
    return contiguousMeta(self.shape, self.dtype, self.device);
  },
  implementation: {
    kind: "random",
    lower: ({ self, p }, [result], keys) =>
      drawn(result, (o, flat, index) => {
        const dtype = floatOf(isFloat(self.dtype) ? self.dtype : "float32");
        const source = p ?? self;
        const chance = isTensor(source)
          ? castTo(o, o.load(source, broadcastIndex(source.shape, index)), dtype)
          : numberValue(o, source, dtype);
        return o.lt(unit(o, keys, { flat, stream: 0, dtype }), chance);
      }),
  },
  gradient: OVERWRITTEN,
  samples: [{ args: [{ tensor: [2, 3], range: [0, 1] }] }, { args: [t(2, 3), 0.5] }],
});

/** The place and the numbers of one element of a distribution. */
interface DrawnAt {
  readonly flat: Dim;
  readonly dtype: DType;
  readonly a: NumberOf<Operand>;
  readonly b: NumberOf<Operand>;
}

/** Draws one element of a distribution that exists only as an in-place method. */
type Draw = <V>(o: Body<V>, keys: Keys, at: DrawnAt) => V;

/** Elements of a distribution with two numbers, in the shape and type of a tensor. */
function drawnLike(
  self: Operand,
  keys: Keys,
  spec: Pick<DrawnAt, "a"> & Partial<Pick<DrawnAt, "b" | "dtype">> & { readonly draw: Draw },
): Lowered[] {
  const meta = contiguousMeta(self.shape, self.dtype, "cpu");
  const { a, b = 0, dtype = floatOf(self.dtype), draw } = spec;
  return drawn(meta, (o, flat) => draw(o, keys, { flat, dtype, a, b }));
}

/** A number, as it is. */
const itself: Formula<readonly [unknown]> = (_, x) => x;

const uniform = defineOp({
  name: "uniform",
  takesGenerator: true,
  doc: "Numbers of [from, to); `uniform_` fills a tensor with them, as `Tensor.uniform_`.",
  params: {
    self: required("tensor"),
    from: optional("floatOperand", 0, { changes: { notAbove: "to" } }),
    to: optional("floatOperand", 1, { changes: { notBelow: "from" } }),
  },
  inplace: true,
  exposure: INPLACE_ONLY,
  infer({ self, from, to }) {
    if (typeof from === "number" && typeof to === "number" && from > to) {
      throw new DynError(`Expected from at most to but found ${from} and ${to}`);
    }
    return floatFill("uniform", self);
  },
  implementation: {
    kind: "random",
    lower: ({ self, from, to }, _out, keys) =>
      drawnLike(self, keys, {
        a: from,
        b: to,
        dtype: self.dtype,
        draw: (o, k, { flat, dtype, a, b }) =>
          o.fma(
            unit(o, k, { flat, stream: 0, dtype }),
            valueOfNumbers(o, dtype, [a, b], (m, from, to) => m.sub(to, from)),
            valueOfNumbers(o, dtype, [a], itself),
          ),
      }),
  },
  gradient: OVERWRITTEN,
  samples: [{ args: [t(2, 3), -1, 1] }],
});

const normalFill = defineOp({
  name: "normal",
  takesGenerator: true,
  doc: "Numbers of a normal distribution; `normal_` fills a tensor with them, as `Tensor.normal_`.",
  params: {
    self: required("tensor"),
    mean: optional("floatOperand", 0, { changes: {} }),
    std: optional("floatOperand", 1, { changes: { atLeast: 0 } }),
  },
  inplace: true,
  exposure: INPLACE_ONLY,
  infer({ self, std }) {
    checkAtLeast("std", std, 0);
    return floatFill("normal", self);
  },
  implementation: {
    kind: "random",
    lower: ({ self, mean, std }, _out, keys) =>
      drawnLike(self, keys, {
        a: mean,
        b: std,
        draw: (o, k, { flat, dtype, a, b }) =>
          o.fma(
            normalOf(o, k, { flat, dtype }),
            valueOfNumbers(o, dtype, [b], itself),
            valueOfNumbers(o, dtype, [a], itself),
          ),
      }),
  },
  gradient: OVERWRITTEN,
  samples: [{ args: [t(2, 3)] }],
});

const exponentialFill = defineOp({
  name: "exponential",
  takesGenerator: true,
  doc: "Numbers of an exponential distribution; `exponential_` fills a tensor, as `Tensor.exponential_`.",
  params: { self: required("tensor"), lambd: optional("floatOperand", 1, { changes: { above: 0 } }) },
  inplace: true,
  exposure: INPLACE_ONLY,
  infer({ self, lambd }) {
    checkPositive("lambd", lambd);
    return floatFill("exponential", self);
  },
  implementation: {
    kind: "random",
    lower: ({ self, lambd }, _out, keys) =>
      drawnLike(self, keys, {
        a: lambd,
        draw: (o, k, { flat, dtype, a }) =>
          o.mul(
            o.log(o.sub(o.constant(1, dtype), unit(o, k, { flat, stream: 0, dtype }))),
            valueOfNumbers(o, dtype, [a], (m, rate) => m.div(m.constant(-1), rate)),
          ),
      }),
  },
  gradient: OVERWRITTEN,
  samples: [{ args: [t(2, 3)] }],
});

const multinomial = composeOp({
  name: "multinomial",
  takesGenerator: true,
  doc:
    "Indices drawn from rows of weights, with or without replacement, as `torch.multinomial`. Throws DynError for a row that is all zero, and for weights that are negative or not finite.",
  params: {
    self: required("tensor"),
    numSamples: required("size"),
    replacement: optional("bool", false),
  },
  infer({ self, numSamples, replacement }) {
    checkCategory("multinomial", self.dtype, ["float"]);
    if (self.shape.length < 1 || self.shape.length > 2) {
      throw new DynError(`Expected weights in 1 or 2 dimensions but found ${shapeText(self.shape)}`);
    }
    const categories = self.shape.at(-1) ?? 1;
    if (isLess(numSamples, 1) || (!replacement && isLess(categories, numSamples))) {
      throw new DynError(
        `Expected a number of samples in [1, ${sizeText(categories)}] but found ${sizeText(numSamples)}`,
      );
    }
    return contiguousMeta([...self.shape.slice(0, -1), numSamples], "int64", self.device);
  },
  compose(o, { self, numSamples, replacement }) {
    const given = o.detach(self);
    const isWeight = o.logicalAnd(o.ge(given, 0), o.isfinite(given));
    const isRow = o.gt(o.sum(given, [-1], true), 0);
    const weights = o.add(
      given,
      zeroUnless(o, o.logicalNot(o.logicalAnd(isWeight, isRow)), {
        like: given,
        expected: "weights that are finite, not negative and not all zero in a row but found others",
      }),
    );
    if (!replacement) {
      // The largest of w / e, with e exponential, is at w with probability w: a draw without replacement
      const races = o.div(weights, o.exponential(o.emptyLike(weights)));
      const [, indices] = o.topk(races, numSamples);
      return indices;
    }
    const sums = o.cumsum(weights, -1);
    const total = o.slice(sums, -1, -1, null);
    const rows = self.shape.slice(0, -1);
    const spots = o.mul(
      o.rand([...rows, numSamples], {
        dtype: self.dtype === "float64" ? "float64" : "float32",
        device: self.device,
      }),
      total,
    );
    return o.clamp(
      o.searchsorted(o.contiguous(sums), spots, { right: true }),
      0,
      sub(self.shape.at(-1) ?? 1, 1),
    );
  },
  gradient: { kind: "none", because: "its result is made of indices" },
  samples: [{ args: [{ tensor: [4], range: [0.1, 1] }, 2] }, {
    args: [{ tensor: [2, 4], range: [0.1, 1] }, 5],
    options: { replacement: true },
  }],
  errors: [{ args: [t(3), 4], message: "number of samples" }],
});

const dropoutMask = defineOp({
  name: "dropoutMask",
  doc: "1 / (1 − p) with probability 1 − p, else 0, in the shape and type of `self`.",
  params: { self: required("tensor"), p: required("floatOperand") },
  exposure: INPLACE_ONLY,
  infer: ({ self }) => floatFill("dropout", self),
  implementation: {
    kind: "random",
    lower: ({ self, p }, _out, keys) =>
      drawnLike(self, keys, {
        a: p,
        draw: (o, k, { flat, dtype, a }) =>
          o.select(
            o.ge(unit(o, k, { flat, stream: 0, dtype }), valueOfNumbers(o, dtype, [a], itself)),
            valueOfNumbers(o, dtype, [a], (m, share) => m.div(m.constant(1), m.sub(m.constant(1), share))),
            o.constant(0, dtype),
          ),
      }),
  },
  gradient: { kind: "none", because: "it reads no elements" },
  samples: [{ args: [t(2, 3), 0.5] }],
});

export const random = {
  rand: sampled("rand", "the uniform distribution on [0, 1)"),
  randn: sampled("randn", "the standard normal distribution"),
  randLike: sampledLike("randLike", "rand"),
  randnLike: sampledLike("randnLike", "randn"),
  randint,
  randintLike,
  randperm,
  bernoulli,
  uniform,
  normal: normalFill,
  exponential: exponentialFill,
  multinomial,
  dropoutMask,
} as const;
