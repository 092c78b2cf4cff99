/**
 * Copies with moved elements: reversed, rolled, repeated, joined, padded. Invariant: each is a pointwise read at
 * another index, so that it fuses with its readers.
 */
import { DynError, invariant } from "../../base/errors.ts";
import { add, type Dim, mod, mul, sub, Sym } from "../../sym/expr.ts";
import { isEqual, isLess, sizeText } from "../../sym/decide.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import type { Body, Operand } from "../../loops/body.ts";
import { composeOp, lowerOp } from "../definition.ts";
import { nullable, optional, required } from "../params.ts";
import { castTo, isTensor, resultTypeOf } from "../promotion.ts";
import { deviceOf, elements, t } from "../pointwise.ts";
import { checkSizeAtLeast, normalizeDim, normalizeDims, sameShape, shapeText, withSize } from "../shapes.ts";
import { checkIndex } from "../indexing/indexing.ts";
import { readAt } from "./views.ts";

const flip = lowerOp({
  name: "flip",
  doc: "Reversed along dimensions, as `torch.flip`.",
  params: { self: required("tensor"), dims: required("dims", { variadic: true }) },
  infer({ self, dims }) {
    normalizeDims(dims, self.shape.length);
    return contiguousMeta(self.shape, self.dtype, self.device);
  },
  lower({ self, dims }, [out]) {
    const reversed = normalizeDims(dims, self.shape.length);
    return readAt(
      self,
      out,
      (index) => index.map((i, d) => reversed.includes(d) ? sub(sub(self.shape[d] ?? 1, 1), i) : i),
    );
  },
  gradient: {
    saves: [],
    single: (o, grad, { args: { dims } }) => ({ self: o.flip(grad, dims) }),
  },
  samples: [{ args: [t(3, 4), [0]] }, { args: [t(3, 4), [0, -1]] }],
  errors: [{ args: [t(3, 4), [2]], message: "Expected dim in [-2, 1]" }],
});

/** fliplr and flipud. */
function flipAlong(name: "fliplr" | "flipud", dim: number) {
  return composeOp({
    name,
    doc: `Reversed along dimension ${dim}, as \`torch.${name}\`.`,
    params: { self: required("tensor") },
    infer({ self }) {
      if (self.shape.length <= dim) {
        throw new DynError(`Expected at least ${dim + 1} dimensions but found ${self.shape.length}`);
      }
      return contiguousMeta(self.shape, self.dtype, self.device);
    },
    compose: (o, { self }) => o.flip(self, [dim]),
    samples: [{ args: [t(3, 4)] }],
    errors: [{ args: [t()], message: "at least" }],
  });
}

/** Shifts by dimension; without dims of the flattened tensor. */
function rolls(
  shape: readonly Dim[],
  shifts: readonly Dim[],
  dims: readonly number[],
): Map<number, Dim> {
  const moves = new Map<number, Dim>();
  dims.forEach((dim, i) => {
    if (shape.length === 0) throw new DynError(`Expected no dims for a 0-d tensor but found ${dim}`);
    const d = normalizeDim(dim, shape.length);
    moves.set(d, add(moves.get(d) ?? 0, shifts[i] ?? 0));
  });
  return moves;
}

const isOne = (value: Dim | readonly Dim[]): value is Dim =>
  typeof value === "number" || value instanceof Sym;

/** The place that an element comes from which was moved by `by` places along a dimension. */
function origin(i: Dim, by: Dim, size: Dim): Dim {
  if (typeof by !== "number") return mod(sub(i, mod(by, size)), size);
  return typeof size === "number"
    ? mod(sub(i, by % size), size)
    : mod(add(sub(i, by), mul(size, Math.max(0, by))), size);
}

const list = <D extends Dim>(value: D | readonly D[] | null): readonly D[] =>
  value === null ? [] : isOne(value) ? [value] : value;

const roll = composeOp({
  name: "roll",
  doc: "Rolled along dimensions, by default along the flattened tensor, as `torch.roll`.",
  params: { self: required("tensor"), shifts: required("sizeOrSizes"), dims: nullable("dims") },
  infer({ self, shifts, dims }) {
    const wanted = list(dims).length;
    if (list(shifts).length !== (wanted || 1)) {
      const found = list(shifts).length;
      throw new DynError(`Expected as many shifts as dims, or 1 for none, but found ${found} for ${wanted}`);
    }
    rolls(self.shape, list(shifts), list(dims));
    return contiguousMeta(self.shape, self.dtype, self.device);
  },
  compose(o, { self, shifts, dims }) {
    if (list(dims).length > 0) return o.rollDims(self, list(shifts), list(dims));
    return o.reshape(o.rollDims(o.reshape(self, [-1]), list(shifts), [0]), self.shape);
  },
  samples: [{ args: [t(3, 4), 1] }, { args: [t(3, 4), [1, -2], [0, 1]] }],
  errors: [{ args: [t(3), [1, 2], [0]], message: "as many" }],
});

const rollDims = lowerOp({
  name: "rollDims",
  doc: "Shifted around along dimensions.",
  params: { self: required("tensor"), shifts: required("sizes"), dims: required("ints") },
  exposure: { method: false, free: false },
  infer: ({ self }) => contiguousMeta(self.shape, self.dtype, self.device),
  lower({ self, shifts, dims }, [out]) {
    const moves = rolls(self.shape, shifts, dims);
    return readAt(self, out, (index) =>
      index.map((i, d) => {
        const by = moves.get(d);
        const size = self.shape[d] ?? 1;
        return by === undefined || size === 0 ? i : origin(i, by, size);
      }));
  },
  gradient: {
    saves: [],
    single: (o, grad, { args: { shifts, dims } }) => ({
      self: o.rollDims(grad, shifts.map((s) => sub(0, s)), dims),
    }),
  },
  samples: [{ args: [t(3, 4), [1], [0]] }],
});

/** Sizes of a repetition: leading ones are new dimensions. */
function repeated(shape: readonly Dim[], repeats: readonly Dim[]): Dim[] {
  if (repeats.length < shape.length) {
    throw new DynError(`Expected at least ${shape.length} repeats but found ${repeats.length}`);
  }
  const lead = repeats.length - shape.length;
  return repeats.map((r, d) => {
    if (isLess(r, 0)) {
      throw new DynError(`Expected non-negative repeats but found ${shapeText(repeats)}`);
    }
    return d < lead ? r : mul(r, shape[d - lead] ?? 1);
  });
}

const repeat = lowerOp({
  name: "repeat",
  doc: "Copies side by side, so many along each dimension, as `Tensor.repeat`.",
  params: { self: required("tensor"), repeats: required("sizes", { variadic: true }) },
  exposure: { free: false },
  infer: ({ self, repeats }) => contiguousMeta(repeated(self.shape, repeats), self.dtype, self.device),
  lower({ self, repeats }, [out]) {
    const lead = repeats.length - self.shape.length;
    return readAt(self, out, (index) =>
      self.shape.map((size, d) => {
        const i = index[lead + d] ?? 0;
        return repeats[lead + d] === 1 ? i : size === 0 ? i : mod(i, size);
      }));
  },
  gradient: {
    saves: [],
    single(o, grad, { args: { self, repeats } }) {
      const lead = repeats.length - self.shape.length;
      const split: Dim[] = [], over: number[] = [];
      repeats.forEach((r, d) => {
        over.push(split.length);
        split.push(r);
        if (d >= lead) split.push(self.shape[d - lead] ?? 1);
      });
      return { self: over.length === 0 ? grad : o.sum(o.reshape(grad, split), over) };
    },
  },
  samples: [{ args: [t(2, 3), [2, 1, 2]] }, { args: [t(3), [2]] }],
  errors: [{ args: [t(2, 3), [2]], message: "at least 2" }],
});

const tile = composeOp({
  name: "tile",
  doc: "As repeat, with missing leading repeats taken as 1, as `torch.tile`.",
  params: { self: required("tensor"), dims: required("sizes", { variadic: true }) },
  infer: ({ self, dims }) =>
    contiguousMeta(repeated(self.shape, tiled(self.shape, dims)), self.dtype, self.device),
  compose: (o, { self, dims }) => o.repeat(self, tiled(self.shape, dims)),
  samples: [{ args: [t(2, 3), [2]] }],
});

function tiled(shape: readonly Dim[], dims: readonly Dim[]): Dim[] {
  return [...new Array<Dim>(Math.max(0, shape.length - dims.length)).fill(1), ...dims];
}

const repeatInterleave = composeOp({
  name: "repeatInterleave",
  doc:
    "Each element (along `dim`, or flattened) repeated in place; one number, or one for each (the size of the result " +
    "then depends on elements, unless `outputSize` states it). Without `repeats` the index of each element, as often as " +
    "it says. As `torch.repeat_interleave`.",
  params: {
    self: required("tensor"),
    repeats: nullable("operand"),
    dim: nullable("int"),
    outputSize: nullable("size", { keyword: true }),
  },
  dataDependent: ({ repeats, outputSize }) => outputSize === null && (repeats === null || isTensor(repeats)),
  infer({ self, repeats, dim, outputSize }) {
    const shape = dim === null && repeats !== null ? [self.shape.reduce<Dim>(mul, 1)] : self.shape;
    const at = normalizeDim(dim ?? 0, shape.length);
    if (typeof repeats !== "number" && !(repeats instanceof Sym)) {
      if (outputSize === null) throw new DynError("Expected a number of repeats but found a tensor");
      return contiguousMeta(withSize(shape, at, outputSize), self.dtype, self.device);
    }
    checkSizeAtLeast("repeats", repeats, 0);
    const size = mul(shape[at] ?? 1, repeats);
    if (outputSize !== null && !isEqual(size, outputSize)) {
      throw new DynError(
        `Expected repeats that sum to an outputSize of ${sizeText(outputSize)} but found ${sizeText(size)}`,
      );
    }
    return contiguousMeta(withSize(shape, at, size), self.dtype, self.device);
  },
  compose(o, { self, repeats, dim, outputSize }) {
    if (repeats === null) {
      checkIndex("repeatInterleave", self);
      return o.to(o.repeatedIndices(self, self.shape[0] ?? 1, outputSize), self.dtype);
    }
    const flat = dim === null ? o.reshape(self, [-1]) : self;
    const at = normalizeDim(dim ?? 0, flat.shape.length);
    if (isTensor(repeats)) {
      return o.indexSelect(flat, at, o.repeatedIndices(repeats, flat.shape[at] ?? 1, outputSize));
    }
    const many = repeats instanceof Sym ? repeats : Number(repeats);
    const wide = o.expand(o.unsqueeze(flat, at + 1), flat.shape.toSpliced(at + 1, 0, many));
    return o.reshape(o.clone(wide), withSize(flat.shape, at, mul(flat.shape[at] ?? 1, many)));
  },
  samples: [{ args: [t(2, 3), 2] }, { args: [t(2, 3), 3, 1] }],
  errors: [
    { args: [t(2), -1], message: "at least 0" },
    { args: [t(2, 3), 2], options: { outputSize: 5 }, message: "an outputSize of 5 but found 12" },
  ],
});

const rot90 = composeOp({
  name: "rot90",
  doc: "Turned by k quarters in the plane of two dimensions, as `torch.rot90`.",
  params: { self: required("tensor"), k: optional("int", 1), dims: optional("ints", [0, 1]) },
  infer({ self, k, dims }) {
    const [a, b] = planeOf(self.shape, dims);
    const shape = k % 2 === 0
      ? self.shape
      : self.shape.map((s, d) => self.shape[d === a ? b : d === b ? a : d] ?? s);
    return contiguousMeta(shape, self.dtype, self.device);
  },
  compose(o, { self, k, dims }) {
    const [a, b] = planeOf(self.shape, dims);
    const turns = ((k % 4) + 4) % 4;
    if (turns === 0) return o.clone(self);
    if (turns === 1) return o.transpose(o.flip(self, [b]), a, b);
    return turns === 2 ? o.flip(self, [a, b]) : o.flip(o.transpose(self, a, b), [b]);
  },
  samples: [{ args: [t(2, 3)] }, { args: [t(2, 3), 3] }, { args: [t(2, 3, 4), 2, [0, 2]] }],
  errors: [{ args: [t(2, 3), 1, [0]], message: "two dims" }],
});

function planeOf(shape: readonly Dim[], dims: readonly number[]): [number, number] {
  const [a, b] = dims;
  if (a === undefined || b === undefined || dims.length !== 2) {
    throw new DynError(`Expected two dims but found ${dims.length}`);
  }
  if (shape.length < 2) throw new DynError(`Expected at least 2 dimensions but found ${shape.length}`);
  const plane: [number, number] = [normalizeDim(a, shape.length), normalizeDim(b, shape.length)];
  if (plane[0] === plane[1]) throw new DynError(`Expected two different dims but found ${plane[0]} twice`);
  return plane;
}

/** tril and triu: a triangle kept, the rest 0. */
function triangle(name: "tril" | "triu") {
  return lowerOp({
    name,
    doc: `The ${
      name === "tril" ? "lower" : "upper"
    } triangle of matrices from a diagonal on, as \`torch.${name}\`.`,
    params: { self: required("tensor"), diagonal: optional("size", 0) },
    inplace: true,
    infer({ self }) {
      if (self.shape.length < 2) {
        throw new DynError(`Expected at least 2 dimensions but found ${self.shape.length}`);
      }
      return contiguousMeta(self.shape, self.dtype, self.device);
    },
    lower({ self, diagonal }, [result]) {
      return elements(result, (o, index) => {
        const row = o.index(index.at(-2) ?? 0, "int64");
        const column = o.index(sub(index.at(-1) ?? 0, diagonal), "int64");
        const kept = name === "tril" ? o.le(column, row) : o.ge(column, row);
        return o.select(
          kept,
          o.load(self, index),
          o.constant(self.dtype === "bool" ? false : 0, self.dtype),
        );
      });
    },
    gradient: {
      saves: [],
      single: (o, grad, { args: { diagonal } }) => ({ self: o[name](grad, diagonal) }),
    },
    samples: [{ args: [t(3, 4)] }, { args: [t(2, 3, 3), 1] }, { args: [t(3, 3), -1] }],
    errors: [{ args: [t(3)], message: "at least 2" }],
  });
}

const diag = composeOp({
  name: "diag",
  doc: "The diagonal of a matrix, or the matrix that has a vector on its diagonal, as `torch.diag`.",
  params: { self: required("tensor"), diagonal: optional("int", 0) },
  infer({ self, diagonal }) {
    const [rows, columns] = self.shape;
    if (rows === undefined || self.shape.length > 2) {
      throw new DynError(`Expected a vector or matrix but found ${self.shape.length} dimensions`);
    }
    if (columns === undefined) {
      const side = add(rows, Math.abs(diagonal));
      return contiguousMeta([side, side], self.dtype, self.device);
    }
    const height = sub(rows, Math.max(0, -diagonal)), width = sub(columns, Math.max(0, diagonal));
    const length = isLess(height, width) ? height : width;
    return contiguousMeta([isLess(length, 0) ? 0 : length], self.dtype, self.device);
  },
  compose: (o, { self, diagonal }) =>
    self.shape.length === 1 ? o.diagEmbed(self, diagonal) : o.clone(o.diagonal(self, diagonal)),
  samples: [{ args: [t(3)] }, { args: [t(3, 4), 1] }],
  errors: [{ args: [t(2, 2, 2)], message: "vector or matrix" }],
});

/** The tensors that a concatenation joins; empty vectors, which fit any shape, are skipped. */
function joined<T extends { readonly shape: readonly Dim[] }>(tensors: readonly T[]): readonly T[] {
  const full = tensors.filter((x) => !(x.shape.length === 1 && isEqual(x.shape[0] ?? 1, 0)));
  return full.length > 0 ? full : tensors.slice(0, 1);
}

const cat = lowerOp({
  name: "cat",
  doc: "Tensors one after the other along a dimension, as `torch.cat`.",
  params: { tensors: required("tensors"), dim: optional("int", 0) },
  exposure: { method: false, aliases: ["concat", "concatenate"] },
  infer({ tensors, dim }) {
    const [first, ...rest] = joined(tensors);
    if (!first) throw new DynError("Expected at least one tensor to cat but found none");
    if (tensors.some((x) => x.shape.length === 0)) {
      throw new DynError("Expected tensors with dimensions to cat but found a 0-d one");
    }
    const at = normalizeDim(dim, first.shape.length);
    let size = first.shape[at] ?? 1;
    for (const each of rest) {
      if (
        each.shape.length !== first.shape.length ||
        !sameShape(withSize(each.shape, at, 1), withSize(first.shape, at, 1))
      ) {
        throw new DynError(
          `Expected shapes that agree except at dimension ${at} but found ${shapeText(first.shape)} and ` +
            `${shapeText(each.shape)}`,
        );
      }
      size = add(size, each.shape[at] ?? 1);
    }
    return contiguousMeta(withSize(first.shape, at, size), resultTypeOf(tensors), deviceOf(tensors));
  },
  lower({ tensors, dim }, [result]) {
    if (!result) return [];
    const parts = joined(tensors), at = normalizeDim(dim, result.shape.length);
    return elements(result, (o, index) => pick(o, parts, { index, at, dtype: result.dtype }));
  },
  gradient: {
    saves: [],
    single(o, grad, { args: { tensors, dim } }) {
      const used = new Set(joined(tensors));
      const at = normalizeDim(dim, grad.shape.length);
      let from: Dim = 0;
      return {
        tensors: tensors.map((x) => {
          if (!used.has(x)) return o.zerosLike(x);
          const start = from;
          from = add(from, x.shape[at] ?? 1);
          const part = o.slice(grad, at, start, from);
          return part.dtype === x.dtype ? part : o.to(part, x.dtype);
        }),
      };
    },
  },
  samples: [{ args: [[t(2, 3), t(1, 3)]] }, { args: [[t(2, 3), t(2, 2)], 1] }, { args: [[t(0), t(2, 3)]] }],
  errors: [{ args: [[t(2, 3), t(3, 2)]], message: "agree" }],
});

/** Maximum number of parts whose reads form a chain; longer lists are halved first, which bounds the nesting. */
const LONGEST_CHAIN = 16;

/** The element of the part that contains the index, by nested masked reads. */
function pick<V>(
  o: Body<V>,
  parts: readonly Operand[],
  at: { readonly index: readonly Dim[]; readonly at: number; readonly dtype: TensorMeta["dtype"] },
): V {
  const along = at.index[at.at] ?? 0, zero = o.constant(at.dtype === "bool" ? false : 0, at.dtype);
  let end: Dim = 0;
  const placed = parts.map((operand) => {
    const start = end, size = operand.shape[at.at] ?? 1;
    end = add(start, size);
    return { operand, start, end, isEmpty: size === 0 };
  });
  const full = placed.filter((part) => !part.isEmpty);
  const of = (list: typeof placed): V => {
    const [first, ...others] = list, cut = list.length > LONGEST_CHAIN ? list.length >> 1 : 1;
    invariant(first, "Expected at least one tensor to cat but found none");
    if (others.length === 0) {
      return castTo(o, o.load(first.operand, withSize(at.index, at.at, sub(along, first.start))), at.dtype);
    }
    const here = o.lt(o.index(along, "int64"), o.index(list[cut]?.start ?? first.end, "int64"));
    // Neither branch may read outside its parts
    const rest = o.masked(o.not(here), () => of(list.slice(cut)), zero);
    return o.masked(here, () => of(list.slice(0, cut)), rest);
  };
  return of(full.length > 0 ? full : placed.slice(0, 1));
}

const stack = composeOp({
  name: "stack",
  doc: "Tensors of one shape along a new dimension, as `torch.stack`.",
  params: { tensors: required("tensors"), dim: optional("int", 0) },
  exposure: { method: false },
  infer({ tensors, dim }) {
    const [first] = tensors;
    if (!first) throw new DynError("Expected at least one tensor to stack but found none");
    for (const each of tensors) {
      if (!sameShape(each.shape, first.shape)) {
        throw new DynError(
          `Expected tensors of one shape but found ${shapeText(first.shape)} and ${shapeText(each.shape)}`,
        );
      }
    }
    const at = normalizeDim(dim, first.shape.length + 1);
    return contiguousMeta(
      first.shape.toSpliced(at, 0, tensors.length),
      resultTypeOf(tensors),
      deviceOf(tensors),
    );
  },
  compose(o, { tensors, dim }) {
    const at = normalizeDim(dim, (tensors[0]?.shape.length ?? 0) + 1);
    return o.cat(tensors.map((x) => o.unsqueeze(x, at)), at);
  },
  samples: [{ args: [[t(2, 3), t(2, 3)]] }, { args: [[t(2), t(2), t(2)], -1] }],
  errors: [{ args: [[t(2), t(3)]], message: "one shape" }],
});

export const copies = {
  flip,
  fliplr: flipAlong("fliplr", 1),
  flipud: flipAlong("flipud", 0),
  roll,
  rollDims,
  repeat,
  tile,
  repeatInterleave,
  rot90,
  tril: triangle("tril"),
  triu: triangle("triu"),
  diag,
  cat,
  stack,
} as const;
