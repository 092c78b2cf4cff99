/**
 * Positions of values in sorted sequences, and membership in sets. Invariant: nothing is sorted here; callers pass
 * sorted sequences.
 */
import { DynError } from "../../base/errors.ts";
import { isFloat } from "../../base/dtype.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import { composeOp, lowerOp } from "../definition.ts";
import { nullable, optional, required } from "../params.ts";
import { castTo, isTensor, resultTypeOf } from "../promotion.ts";
import { t } from "../pointwise.ts";
import { sameShape, shapeText } from "../shapes.ts";

const searchsorted = composeOp({
  name: "searchsorted",
  doc: "The indices at which values are inserted into sorted sequences (of the last dimension), as " +
    "`torch.searchsorted`.",
  params: {
    sortedSequence: required("tensor"),
    self: required("operand"),
    outInt32: optional("bool", false, { keyword: true }),
    right: optional("bool", false, { keyword: true }),
    side: nullable("string", { keyword: true, oneOf: ["left", "right"] }),
    sorter: nullable("tensor", { keyword: true }),
  },
  exposure: { method: false },
  infer({ sortedSequence, self, outInt32, right, side, sorter }) {
    if (sorter && !sameShape(sorter.shape, sortedSequence.shape)) {
      throw new DynError(
        `Expected a sorter of the shape of the sequence, ${shapeText(sortedSequence.shape)}, but found ` +
          shapeText(sorter.shape),
      );
    }
    if (side === "left" && right) {
      throw new DynError('Expected side and right to agree but found side "left" and right true');
    }
    const shape = isTensor(self) ? self.shape : [];
    const vector = sortedSequence.shape.length === 1;
    if (sortedSequence.shape.length === 0) {
      throw new DynError("Expected a sequence with dimensions but found a 0-d one");
    }
    if (!vector && !(isTensor(self) && sameShape(shape.slice(0, -1), sortedSequence.shape.slice(0, -1)))) {
      throw new DynError(
        `Expected values whose shape differs in the last dimension only but found ${shapeText(shape)} for ` +
          shapeText(sortedSequence.shape),
      );
    }
    return contiguousMeta(shape, outInt32 ? "int32" : "int64", sortedSequence.device);
  },
  compose(o, { sortedSequence, self, outInt32, right, side, sorter }) {
    const sequence = sorter ? o.gather(sortedSequence, -1, sorter) : sortedSequence;
    // A number has the type that it would have in a comparison
    const dtype = resultTypeOf([sequence, self]);
    const values = isTensor(self) ? self : o.full([], self, { dtype, device: sequence.device });
    return o.countBefore(sequence, values, right || side === "right", outInt32);
  },
  gradient: { kind: "none", because: "its result is made of indices" },
  samples: [{ args: [{ tensor: [4], dtype: "int64", range: [0, 1] }, t(2, 3)] }],
  errors: [
    { args: [t(2, 3), t(3, 2)], message: "last dimension only" },
    {
      args: [t(3), t(2)],
      options: { sorter: { tensor: [2], dtype: "int64", range: [0, 1] } },
      message: "Expected a sorter of the shape of the sequence",
    },
  ],
});

const countBefore = lowerOp({
  name: "countBefore",
  doc: "The number of elements of a sorted sequence before each value.",
  params: {
    sequence: required("tensor"),
    values: required("tensor"),
    right: required("bool"),
    int32: required("bool"),
  },
  exposure: { method: false, free: false },
  infer: ({ values, int32 }) => contiguousMeta(values.shape, int32 ? "int32" : "int64", values.device),
  lower({ sequence, values, right }, [result]) {
    if (!result) return [];
    const dtype = resultTypeOf([sequence, values]), vector = sequence.shape.length === 1;
    return [{
      kind: "reduction",
      shape: result.shape,
      dtype: result.dtype,
      op: "sum",
      over: [sequence.shape.at(-1) ?? 1],
      accumulator: "int64",
      element(o, index, [k]) {
        const value = castTo(o, o.load(values, index), dtype);
        const bound = castTo(
          o,
          o.load(sequence, vector ? [k ?? 0] : [...index.slice(0, -1), k ?? 0]),
          dtype,
        );
        // NaN comes after all numbers
        const before = right ? o.not(o.gt(bound, value)) : o.not(o.ge(bound, value));
        if (!isFloat(dtype)) return o.cast(before, "int64");
        const nanValue = o.isNan(value), nanBound = o.isNan(bound);
        const counts = o.select(
          nanBound,
          o.and(nanValue, o.constant(right, "bool")),
          o.or(nanValue, before),
        );
        return o.cast(counts, "int64");
      },
    }];
  },
  gradient: { kind: "none", because: "its result is made of indices" },
  samples: [{ args: [{ tensor: [4], dtype: "int64", range: [0, 1] }, t(2, 3), false, false] }],
});

const bucketize = composeOp({
  name: "bucketize",
  doc: "The index of the bucket between sorted boundaries for each value, as `torch.bucketize`.",
  params: {
    self: required("operand"),
    boundaries: required("tensor"),
    outInt32: optional("bool", false, { keyword: true }),
    right: optional("bool", false, { keyword: true }),
  },
  exposure: { method: false },
  infer({ self, boundaries, outInt32 }) {
    if (boundaries.shape.length !== 1) {
      throw new DynError(`Expected boundaries in 1 dimension but found ${shapeText(boundaries.shape)}`);
    }
    return contiguousMeta(isTensor(self) ? self.shape : [], outInt32 ? "int32" : "int64", boundaries.device);
  },
  compose: (o, { self, boundaries, outInt32, right }) =>
    o.searchsorted(boundaries, self, { outInt32, right }),
  gradient: { kind: "none", because: "its result is made of indices" },
  samples: [{ args: [t(2, 3), { tensor: [4], dtype: "int64", range: [0, 1] }] }],
});

const isin = composeOp({
  name: "isin",
  doc: "True for each element that is among the test elements, as `torch.isin`.",
  params: {
    elements: required("operand"),
    testElements: required("operand"),
    assumeUnique: optional("bool", false, { keyword: true }),
    invert: optional("bool", false, { keyword: true }),
  },
  otherNames: { element: "elements", testElement: "testElements" },
  exposure: { method: false },
  infer: ({ elements, testElements }) =>
    contiguousMeta(
      isTensor(elements) ? elements.shape : [],
      "bool",
      isTensor(elements) ? elements.device : isTensor(testElements) ? testElements.device : "cpu",
    ),
  compose(o, { elements, testElements, invert }) {
    const device = isTensor(elements)
      ? elements.device
      : isTensor(testElements)
      ? testElements.device
      : "cpu";
    // The new dimension must not change what 0-d tensors and numbers are compared as
    const dtype = resultTypeOf([elements, testElements]);
    const typed = (x: typeof elements) => isTensor(x) ? o.to(x, dtype) : o.full([], x, { dtype, device });
    const among = o.reshape(typed(testElements), [-1]);
    const found = o.any(o.eq(o.unsqueeze(typed(elements), -1), among), -1);
    return invert ? o.logicalNot(found) : found;
  },
  gradient: { kind: "none", because: "its result is not of a floating type" },
  samples: [{
    args: [{ tensor: [3, 2], dtype: "int64", range: [0, 4] }, { tensor: [3], dtype: "int64", range: [0, 4] }],
  }],
});

export const searching = { searchsorted, countBefore, bucketize, isin } as const;
