/**
 * Reading and writing whole parts of a tensor at a vector of indices along one dimension. Invariant: kernels clamp
 * indices, callers check them.
 */
import { valueType } from "../../base/dtype.ts";
import { DynError } from "../../base/errors.ts";
import type { Dim } from "../../sym/expr.ts";
import { isEqual } from "../../sym/decide.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import type { Body, Lowered, Operand } from "../../loops/body.ts";
import { lowerOp } from "../definition.ts";
import { optional, required } from "../params.ts";
import { checkHeld, elementOf, isTensor, numberValue } from "../promotion.ts";
import { checkIndex, indexRange, indirectIndex, sizeAt } from "./indexing.ts";
import { deviceOf, elements, t } from "../pointwise.ts";
import { normalizeDim, shapeText, withSize } from "../shapes.ts";

/** Checks a 1-d index tensor along a dimension. */
function checkVector(name: string, index: TensorMeta): void {
  checkIndex(name, index);
  if (index.shape.length > 1) {
    throw new DynError(
      `Expected indices of ${name} in at most 1 dimension but found ${shapeText(index.shape)}`,
    );
  }
}

const vectorAt = <V>(o: Body<V>, index: Operand, at: Dim): V =>
  o.load(index, index.shape.length === 0 ? [] : [at]);

const indexSelect = lowerOp({
  name: "indexSelect",
  doc: "The parts at the indices of a vector along a dimension, as `torch.index_select`.",
  params: { self: required("tensor"), dim: required("int"), index: required("tensor") },
  infer({ self, dim, index }) {
    checkVector("indexSelect", index);
    const at = normalizeDim(dim, self.shape.length);
    if (self.shape.length === 0) {
      if (!isEqual(index.shape[0] ?? 1, 1)) {
        throw new DynError(`Expected one index into a 0-d tensor but found ${shapeText(index.shape)}`);
      }
      return contiguousMeta([], self.dtype, deviceOf([self, index]));
    }
    return contiguousMeta(withSize(self.shape, at, index.shape[0] ?? 1), self.dtype, deviceOf([self, index]));
  },
  ranges: ({ self, dim, index }) => [indexRange(index, sizeAt(self, dim))],
  lower({ self, dim, index }, [result]) {
    const at = normalizeDim(dim, self.shape.length), size = self.shape[at] ?? 1;
    return elements(result, (o, position) =>
      o.load(
        self,
        withSize(position, at, indirectIndex(o, vectorAt(o, index, position[at] ?? 0), { size })),
      ));
  },
  gradient: {
    saves: ["index"],
    single: (o, grad, { args: { self, dim, index } }) => ({
      self: self.shape.length === 0 ? grad : o.indexAdd(o.newZeros(grad, self.shape), dim, index, grad),
    }),
  },
  samples: [{ args: [t(3, 4), 1, { tensor: [2], dtype: "int64", range: [0, 4] }] }],
  errors: [{ args: [t(3, 4), 1, t(2)], message: "int64" }],
});

/** Writes or adds parts of `source` at a vector of indices along a dimension. */
function vectorScatter(
  args: { self: Operand; dim: number; index: Operand },
  spec: {
    readonly mode: "set" | "add";
    /** Whether negative indices count from the end. */
    readonly wrap?: boolean;
    readonly value: <V>(o: Body<V>, position: readonly Dim[]) => V;
  },
): Lowered[] {
  const { self, index } = args;
  const at = normalizeDim(args.dim, self.shape.length), size = self.shape[at] ?? 1;
  return [{
    kind: "scatter",
    shape: self.shape,
    dtype: self.dtype,
    base: (o, position) => o.load(self, position),
    over: self.shape.length === 0 ? index.shape : withSize(self.shape, at, index.shape[0] ?? 1),
    mode: spec.mode,
    target: (o, position) =>
      self.shape.length === 0 ? [] : withSize(
        position,
        at,
        indirectIndex(o, vectorAt(o, index, position[at] ?? 0), { size, wrap: spec.wrap ?? false }),
      ),
    value: (o, position) => spec.value(o, position),
  }];
}

/** Checks the parts that are written at a vector of indices. */
export function checkSource(
  name: string,
  args: { self: TensorMeta; dim: number; index: TensorMeta; source: TensorMeta },
): TensorMeta {
  const { self, index, source } = args;
  checkVector(name, index);
  const at = normalizeDim(args.dim, self.shape.length);
  if (source.dtype !== self.dtype) {
    throw new DynError(`Expected source of ${name} of type ${self.dtype} but found ${source.dtype}`);
  }
  const count = index.shape[0] ?? 1;
  if (self.shape.length === 0 && !isEqual(count, 1)) {
    throw new DynError(`Expected one index into a 0-d tensor but found ${shapeText(index.shape)}`);
  }
  const expected = self.shape.length === 0 ? [] : withSize(self.shape, at, count);
  const fits = source.shape.length === 0
    ? isEqual(count, 1) && expected.every((s) => isEqual(s, 1))
    : Math.max(1, self.shape.length) === source.shape.length &&
      source.shape.every((s, d) => isEqual(s, expected[d] ?? count));
  if (!fits) {
    throw new DynError(
      `Expected source of ${name} of shape ${shapeText(expected)} for ${
        shapeText([count])
      } indices but found ` +
        shapeText(source.shape),
    );
  }
  return contiguousMeta(self.shape, self.dtype, deviceOf([self, index, source]));
}

/** An element of a source, which may have fewer dimensions if it has a single element. */
const sourceAt = <V>(o: Body<V>, source: Operand, position: readonly Dim[]): V =>
  o.load(source, source.shape.length === position.length ? position : source.shape.map(() => 0));

const vectorParams = { self: required("tensor"), dim: required("int"), index: required("tensor") } as const;
const bools = (...shape: readonly number[]) => ({ tensor: shape, dtype: "bool" } as const);
const VECTOR = { tensor: [2], dtype: "int64", range: [0, 3] } as const;

const indexAdd = lowerOp({
  name: "indexAdd",
  doc: "self with alpha · source added at a vector of indices along a dimension, as `torch.index_add`.",
  params: {
    ...vectorParams,
    source: required("tensor"),
    alpha: optional("scalarOperand", 1, { keyword: true, changes: {} }),
  },
  inplace: true,
  infer: (args) => checkSource("indexAdd", args),
  ranges: ({ self, dim, index }) => [indexRange(index, sizeAt(self, dim))],
  lower: (args) =>
    vectorScatter(args, {
      mode: "add",
      value: (o, position) => {
        const value = sourceAt(o, args.source, position);
        if (args.alpha === 1) return value;
        const factor = isTensor(args.alpha)
          ? elementOf(o, args.alpha, { index: [], dtype: valueType(args.self.dtype) })
          : numberValue(o, args.alpha, args.self.dtype);
        return args.self.dtype === "bool" ? o.and(value, factor) : o.mul(value, factor);
      },
    }),
  gradient: {
    saves: ["index", "alpha"],
    single(o, grad, { args: { dim, index, source, alpha }, needs }) {
      const part = () => o.reshape(o.indexSelect(grad, dim, index), source.shape);
      return { self: grad, source: needs("source") ? (alpha === 1 ? part() : o.mul(part(), alpha)) : null };
    },
  },
  samples: [
    { args: [t(3, 4), 0, VECTOR, t(2, 4)] },
    { args: [t(3), 0, VECTOR, t(2)], options: { alpha: 2 } },
    { args: [bools(3), 0, { ...VECTOR, tensor: [1] }, bools(1)] },
    { args: [bools(3), 0, VECTOR, bools(2)] },
  ],
  errors: [{ args: [t(3, 4), 0, VECTOR, t(2, 3)], message: "source" }],
});

const indexCopy = lowerOp({
  name: "indexCopy",
  doc: "self with source put at a vector of indices along a dimension, as `torch.index_copy`.",
  params: { ...vectorParams, source: required("tensor") },
  inplace: true,
  infer: (args) => checkSource("indexCopy", args),
  ranges: ({ self, dim, index }) => [indexRange(index, sizeAt(self, dim))],
  lower: (args) =>
    vectorScatter(args, { mode: "set", value: (o, position) => sourceAt(o, args.source, position) }),
  gradient: {
    saves: ["index"],
    single: (o, grad, { args: { dim, index, source }, needs }) => ({
      self: needs("self") ? o.indexFill(grad, dim, index, 0) : null,
      source: needs("source") ? o.reshape(o.indexSelect(grad, dim, index), source.shape) : null,
    }),
  },
  samples: [{ args: [t(3, 4), 0, VECTOR, t(2, 4)] }],
  errors: [{ args: [t(3, 4), 0, VECTOR, t(2, 3)], message: "source" }],
});

const indexFill = lowerOp({
  name: "indexFill",
  doc:
    "self with one value at a vector of indices, which may be negative, along a dimension, as `torch.index_fill`.",
  params: { ...vectorParams, value: required("operand", { changes: {} }) },
  inplace: true,
  infer({ self, dim, index, value }) {
    checkVector("indexFill", index);
    normalizeDim(dim, self.shape.length);
    if (isTensor(value) && value.shape.length > 0) {
      throw new DynError(`Expected a 0-d value but found shape ${shapeText(value.shape)}`);
    }
    checkHeld(value, self.dtype);
    return contiguousMeta(self.shape, self.dtype, deviceOf([self, index]));
  },
  ranges: ({ self, dim, index }) => [indexRange(index, sizeAt(self, dim), true)],
  lower: (args) =>
    vectorScatter(args, {
      mode: "set",
      wrap: true,
      value: (o) => elementOf(o, args.value, { index: [], dtype: args.self.dtype }),
    }),
  gradient: {
    saves: ["index"],
    single(o, grad, { args: { dim, index, value }, needs }) {
      // Repeated indices fill their part only once
      const filled = () => o.indexFill(o.zerosLike(grad, { dtype: "bool" }), dim, index, true);
      return {
        self: needs("self") ? o.indexFill(grad, dim, index, 0) : null,
        value: isTensor(value) && needs("value") ? o.sum(o.where(filled(), grad, 0)) : null,
      };
    },
  },
  samples: [
    { args: [t(3, 4), 0, VECTOR, 1.5] },
    { args: [t(3, 4), 1, { tensor: [3], dtype: "int64", range: [-4, 4] }, 1.5] },
  ],
});

export const vectorIndexing = { indexSelect, indexAdd, indexCopy, indexFill } as const;
