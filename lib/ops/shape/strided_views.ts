/**
 * Views that address their input by explicit strides: windows and arbitrary strides, as metadata of the alias and as
 * index arithmetic. Invariant: gradients add up where elements are visible more than once.
 */
import { checkPositive } from "../../base/checked_numbers.ts";
import { DynError } from "../../base/errors.ts";
import { add, type Dim, mul, sub } from "../../sym/expr.ts";
import { contiguousStrides, isDense, isNonOverlapping, SHARED_ELEMENTS } from "../../graph/meta.ts";
import { isLess, sizeText, specialize } from "../../sym/decide.ts";
import { viewOp } from "../definition.ts";
import { required } from "../params.ts";
import { t } from "../pointwise.ts";
import { checkSizeAtLeast, normalizeDim, sliceLength, unravel, withSize } from "../shapes.ts";
import { addressed, checkAddressing } from "./addressing.ts";
import { scatterViews, STRIDED } from "./scatter_views.ts";
import { readAt } from "./views.ts";

/** The count of windows of an unfolding. */
function windows(size: Dim, length: Dim, step: Dim): Dim {
  if (isLess(step, 1)) checkPositive("step of unfold", specialize(step));
  if (isLess(length, 0) || isLess(size, length)) {
    throw new DynError(
      `Expected a window of at most ${sizeText(size)} elements but found ${sizeText(length)}`,
    );
  }
  return sliceLength({ start: 0, end: add(sub(size, length), 1) }, step);
}

const unfold = viewOp({
  name: "unfold",
  doc:
    "All windows of `size` elements along a dimension, each `step` after the last, as a new last dimension. As " +
    "`Tensor.unfold`.",
  params: {
    self: required("tensor"),
    dimension: required("int"),
    size: required("size"),
    step: required("size"),
  },
  infer({ self, dimension, size, step }) {
    const at = normalizeDim(dimension, self.shape.length);
    const stride = self.strides[at] ?? 1;
    checkSizeAtLeast("size of unfold", size, 0);
    if (self.shape.length === 0) {
      if (isLess(1, size)) {
        throw new DynError(`Expected a window of at most 1 element but found ${sizeText(size)}`);
      }
      return { ...self, shape: [size], strides: [1] };
    }
    return {
      ...self,
      shape: [...withSize(self.shape, at, windows(self.shape[at] ?? 1, size, step)), size],
      strides: [...withSize(self.strides, at, mul(stride, step)), stride],
    };
  },
  lower({ self, dimension, step }, [out]) {
    const at = normalizeDim(dimension, self.shape.length);
    return readAt(self, out, (index) => {
      const inside = index.at(-1) ?? 0, rest = index.slice(0, -1);
      return withSize(rest, at, add(mul(rest[at] ?? 0, step), inside));
    });
  },
  writeBack(o, { self, dimension, size, step }, { value }) {
    const at = normalizeDim(dimension, self.shape.length);
    const overlap = isLess(step, size) && self.shape.length > 0 &&
      isLess(1, windows(self.shape[at] ?? 1, size, step));
    if (overlap) throw new DynError(SHARED_ELEMENTS);
    const dense = contiguousStrides(self.shape), stride = dense[at] ?? 1;
    const strides = self.shape.length === 0 ? [1] : [...withSize(dense, at, mul(stride, step)), stride];
    return o.writeStrided(self, value, value.shape, strides, 0);
  },
  gradient: {
    saves: [],
    single: (o, grad, { args: { self, dimension, size, step } }) => ({
      self: o.unfoldBackward(grad, self.shape, dimension, size, step),
    }),
  },
  exposure: { free: false },
  samples: [{ args: [t(7), 0, 3, 2] }, { args: [t(2, 5), 1, 2, 1] }],
  errors: [{ args: [t(3), 0, 4, 1], message: "at most 3" }],
});

const asStrided = viewOp({
  name: "asStrided",
  doc: "The storage of a tensor under other sizes, strides and offset, in elements, as `torch.as_strided`.",
  params: { self: required("tensor"), ...STRIDED },
  inplace: "layout",
  infer({ self, size, stride, storageOffset }) {
    checkAddressing({ size, stride, storageOffset });
    return { ...self, shape: size, strides: stride, offset: storageOffset ?? self.offset };
  },
  lower: ({ self, stride, storageOffset }, [out]) =>
    readAt(self, out, (index) => unravel(addressed(index, { stride, storageOffset }), self.shape)),
  addresses: true,
  onValues: scatterViews.readStrided,
  writeBack(o, { self, size, stride, storageOffset }, { value }) {
    // A layout that is dense whatever its sizes leaves them symbolic
    const isApart = isDense({ shape: size, strides: stride }) ||
      isNonOverlapping(size.map(specialize), stride.map(specialize));
    if (!isApart) {
      throw new DynError(SHARED_ELEMENTS);
    }
    return o.writeStrided(self, value, size, stride, storageOffset);
  },
  gradient: {
    saves: [],
    single: (o, grad, { args: { self, size, stride, storageOffset } }) => ({
      self: o.asStridedBackward(grad, self.shape, size, stride, storageOffset),
    }),
  },
  samples: [{ args: [t(6), [2, 2], [2, 1], 1] }],
  errors: [{ args: [t(6), [2, 2], [1]], message: "as many strides" }],
});

export const stridedViews = { unfold, asStrided } as const;
