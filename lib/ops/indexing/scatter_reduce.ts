/**
 * Scattering with reductions other than the sum. Invariant: the kernel gathers for each result, so that it needs no
 * atomics.
 */
import { DynError } from "../../base/errors.ts";
import { type DType, isFloat } from "../../base/dtype.ts";
import { type Dim, product } from "../../sym/expr.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import type { Body, Lowered } from "../../loops/body.ts";
import { composeOp, lowerOp, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { optional, required } from "../params.ts";
import { highest, lowest } from "../../base/dtype.ts";
import { castTo } from "../promotion.ts";
import { asRow, checkIndex, indexRange } from "./indexing.ts";
import { checkSource } from "./vector_indexing.ts";
import { t } from "../pointwise.ts";
import { normalizeDim, withSize } from "../shapes.ts";
import { within } from "../shape/scatter_views.ts";

const REDUCES = ["sum", "prod", "mean", "amax", "amin"] as const;
type ScatterReduction = "prod" | "amax" | "amin";

function neutralOf(reduce: ScatterReduction, dtype: DType): number | bigint | boolean {
  if (reduce === "prod") return dtype === "bool" ? true : 1;
  return reduce === "amax" ? lowest(dtype) : highest(dtype);
}

const LOOP_OPS = { prod: "prod", amax: "max", amin: "min" } as const;

const scatterCombined = lowerOp({
  name: "scatterCombined",
  doc:
    "For each element the product, maximum or minimum of the values that `index` sends to it; a neutral value " +
    "where there is none.",
  params: {
    self: required("tensor"),
    dim: required("int"),
    index: required("tensor"),
    src: required("tensor"),
    reduce: required("string", { oneOf: ["prod", "amax", "amin"] }),
  },
  exposure: { method: false, free: false },
  infer: ({ self }) => contiguousMeta(self.shape, self.dtype, self.device),
  lower({ self, dim, index, src, reduce }): Lowered[] {
    const at = normalizeDim(dim, self.shape.length), dtype = self.dtype;
    const kind = reduce as ScatterReduction;
    const element = <V>(o: Body<V>, place: readonly Dim[], [j]: readonly Dim[]): V => {
      const none = o.constant(neutralOf(kind, dtype), dtype);
      if (self.shape.length === 0) return castTo(o, o.load(src, src.shape.map(() => 0)), dtype);
      const position = withSize(place, at, j ?? 0);
      const matching = () =>
        o.select(
          o.eq(castTo(o, o.load(index, position), "int64"), o.index(place[at] ?? 0, "int64")),
          castTo(o, o.load(src, position), dtype),
          none,
        );
      let inside: V | undefined;
      position.forEach((p, d) => {
        if (d === at || index.shape[d] === self.shape[d]) return;
        const here = within(o, p, 0, index.shape[d] ?? 1);
        inside = inside === undefined ? here : o.and(inside, here);
      });
      return inside === undefined ? matching() : o.masked(inside, matching, none);
    };
    return [{
      kind: "reduction",
      shape: self.shape,
      dtype,
      op: LOOP_OPS[kind],
      over: [index.shape[at] ?? 1],
      accumulator: dtype,
      element,
    }];
  },
  gradient: { kind: "none", because: "scatterReduce has its own rule" },
  samples: [{
    args: [t(3, 4), 0, { tensor: [2, 4], dtype: "int64", range: [0, 3] }, t(2, 4), "amax"],
  }],
});

/** The leading part of a tensor, of the given sizes. */
function leading<T extends TensorLike>(o: OpApi<T>, x: T, shape: readonly Dim[]): T {
  return shape.reduce<T>((part, size, d) => part.shape[d] === size ? part : o.slice(part, d, 0, size), x);
}

/** Throws DynError for means of bools, which do not exist. */
function checkMean(name: string, { dtype }: TensorLike, reduce: string): void {
  if (reduce !== "mean" || dtype !== "bool") return;
  throw new DynError(`Expected numbers for means of ${name} but found bool tensors`);
}

const scatterReduce = composeOp({
  name: "scatterReduce",
  doc:
    "self combined with the values of src that `index` sends to each element: sum, prod, mean, amax or amin. As " +
    "`torch.scatter_reduce`.",
  params: {
    self: required("tensor"),
    dim: required("int"),
    index: required("tensor"),
    src: required("tensor"),
    reduce: required("string", { oneOf: REDUCES }),
    includeSelf: optional("bool", true, { keyword: true }),
  },
  inplace: true,
  infer({ self, dim, index, src, reduce }) {
    checkIndex("scatterReduce", index);
    normalizeDim(dim, self.shape.length);
    if (src.dtype !== self.dtype) {
      throw new DynError(`Expected src of scatterReduce of type ${self.dtype} but found ${src.dtype}`);
    }
    checkMean("scatterReduce", self, reduce);
    return contiguousMeta(self.shape, self.dtype, self.device);
  },
  ranges: (
    { self, dim, index },
  ) => [indexRange(index, self.shape[normalizeDim(dim, self.shape.length)] ?? 1)],
  compose(o, { self, dim, index: given, src, reduce, includeSelf }) {
    // Numbers are vectors of one element, which each may be where the other is one
    const index = asRow(o, given), values = leading(o, asRow(o, src), index.shape);
    const start = includeSelf ? self : o.scatterSet(self, dim, index, reduce === "prod" ? 1 : 0);
    if (reduce === "sum") return o.scatterAdd(start, dim, index, values);
    const hits = () => o.scatterAdd(o.zerosLike(self), dim, index, o.onesLike(values));
    if (reduce === "mean") {
      const total = o.scatterAdd(start, dim, index, values);
      const count = o.clamp(includeSelf ? o.add(hits(), 1) : hits(), 1, null);
      return isFloat(self.dtype) ? o.div(total, count) : o.div(total, count, { roundingMode: "floor" });
    }
    return o.scatterExtreme(self, dim, index, values, reduce as ScatterReduction, includeSelf);
  },
  samples: [{
    args: [t(3, 4), 0, { tensor: [2, 4], dtype: "int64", range: [0, 3] }, t(2, 4), "mean"],
  }, { args: [t(3), 0, { tensor: [1], dtype: "int64", range: [0, 3] }, t(), "amax"] }],
});

/**
 * For each value of src the product of all other factors of its element: their quotient, and for a zero, which
 * cannot be divided by, the product of the elements with ones in place of the zeros, if it is the only one.
 */
function otherFactors<T extends TensorLike>(
  o: OpApi<T>,
  { self, dim, index, src, includeSelf, out }: {
    readonly self: T;
    readonly dim: number;
    readonly index: T;
    readonly src: T;
    readonly includeSelf: boolean;
    readonly out: T;
  },
): T {
  const isZero = o.eq(src, 0), whole = o.where(isZero, 1, src);
  const zeros = o.gather(
    o.scatterAdd(o.zerosLike(self), dim, index, o.to(isZero, self.dtype)),
    dim,
    index,
  );
  const without = o.gather(o.scatterExtreme(self, dim, index, whole, "prod", includeSelf), dim, index);
  const only = o.where(o.eq(zeros, 1), without, 0);
  return o.where(isZero, only, o.div(o.gather(out, dim, index), whole));
}

const scatterExtreme = composeOp({
  name: "scatterExtreme",
  doc: "As scatterReduce with prod, amax or amin.",
  params: {
    self: required("tensor"),
    dim: required("int"),
    index: required("tensor"),
    src: required("tensor"),
    reduce: required("string", { oneOf: ["prod", "amax", "amin"] }),
    includeSelf: required("bool"),
  },
  exposure: { method: false, free: false },
  infer: ({ self }) => contiguousMeta(self.shape, self.dtype, self.device),
  compose(o, { self, dim, index, src, reduce, includeSelf }) {
    const combined = o.scatterCombined(self, dim, index, src, reduce as ScatterReduction);
    const hit = o.scatterSet(o.zerosLike(self, { dtype: "bool" }), dim, index, true);
    const joined = reduce === "prod"
      ? o.mul(self, combined)
      : reduce === "amax"
      ? o.maximum(self, combined)
      : o.minimum(self, combined);
    return o.where(hit, includeSelf ? joined : combined, self);
  },
  gradient: {
    saves: ["self", "index", "src", "out"],
    single(o, grad, { args: { self, dim, index, src, reduce, includeSelf }, out: [out], needs }) {
      if (!out) return {};
      const hit = () => o.scatterSet(o.zerosLike(self, { dtype: "bool" }), dim, index, true);
      if (reduce === "prod") {
        const values = () => o.scatterExtreme(o.onesLike(self), dim, index, src, "prod", true);
        return {
          self: needs("self") ? (includeSelf ? o.mul(grad, values()) : o.where(hit(), 0, grad)) : null,
          src: needs("src")
            ? o.mul(o.gather(grad, dim, index), otherFactors(o, { self, dim, index, src, includeSelf, out }))
            : null,
        };
      }
      const attained = o.to(o.eq(o.gather(out, dim, index), src), grad.dtype);
      const ownWins = o.to(o.eq(self, out), grad.dtype);
      const own = includeSelf ? ownWins : o.where(hit(), 0, ownWins);
      const count = o.scatterAdd(own, dim, index, attained);
      const portion = o.div(grad, count);
      return {
        self: needs("self") ? o.mul(own, portion) : null,
        src: needs("src") ? o.mul(attained, o.gather(portion, dim, index)) : null,
      };
    },
  },
  samples: [{
    args: [t(3, 4), 0, { tensor: [2, 4], dtype: "int64", range: [0, 3] }, t(2, 4), "amax", true],
  }],
});

const indexReduce = composeOp({
  name: "indexReduce",
  doc:
    "self combined with parts of source at a vector of indices: prod, mean, amax or amin. As `torch.index_reduce`.",
  params: {
    self: required("tensor"),
    dim: required("int"),
    index: required("tensor"),
    source: required("tensor"),
    reduce: required("string", { oneOf: ["prod", "mean", "amax", "amin"] }),
    includeSelf: optional("bool", true, { keyword: true }),
  },
  inplace: true,
  infer({ self, dim, index, source, reduce }) {
    const result = checkSource("indexReduce", { self, dim, index, source });
    checkMean("indexReduce", self, reduce);
    return result;
  },
  compose(o, { self, dim, index, source, reduce, includeSelf }) {
    const rank = self.shape.length, at = normalizeDim(dim, rank);
    const flat = rank === 0 ? o.reshape(self, [1]) : self,
      values = rank === 0 ? o.reshape(source, [1]) : source;
    const shape = flat.shape.map((_, d) => d === at ? product(index.shape) : 1);
    const wide = o.expand(o.reshape(index, shape), values.shape);
    const result = o.scatterReduce(flat, at, wide, values, reduce as "prod", { includeSelf });
    return rank === 0 ? o.reshape(result, []) : result;
  },
  samples: [{ args: [t(3, 4), 0, { tensor: [2], dtype: "int64", range: [0, 3] }, t(2, 4), "mean"] }],
});

export const scatterReductions = { scatterCombined, scatterReduce, scatterExtreme, indexReduce } as const;
