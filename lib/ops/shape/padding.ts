/**
 * Padding of the last dimensions (last one first); negative amounts crop. Invariant: each mode is a pointwise read,
 * masked or redirected.
 */
import { DynError } from "../../base/errors.ts";
import { add, type Dim, max, min, mod, mul, sub } from "../../sym/expr.ts";
import { isAtMost, isLess } from "../../sym/decide.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import type { Body, Operand } from "../../loops/body.ts";
import { composeOp, lowerOp } from "../definition.ts";
import { nullable, optional, required } from "../params.ts";
import { checkHeld, elementOf } from "../promotion.ts";
import { elements, type OperandOf, t } from "../pointwise.ts";
import { addBack, within } from "./scatter_views.ts";
import { shapeText } from "../shapes.ts";

type Pads = readonly { readonly before: Dim; readonly after: Dim }[];

/** Padding by dimension, first dimension first. */
function padsOf(shape: readonly Dim[], pad: readonly Dim[]): Pads {
  if (pad.length % 2 !== 0 || pad.length > 2 * shape.length) {
    throw new DynError(
      `Expected pairs of padding for at most ${shape.length} dimensions but found ${shapeText(pad)}`,
    );
  }
  return shape.map((_, d) => {
    const at = 2 * (shape.length - 1 - d);
    return { before: pad[at] ?? 0, after: pad[at + 1] ?? 0 };
  });
}

function paddedShape(shape: readonly Dim[], pads: Pads): Dim[] {
  return shape.map((size, d) => {
    const padded = add(size, add(pads[d]?.before ?? 0, pads[d]?.after ?? 0));
    if (isLess(padded, 0)) {
      throw new DynError(`Expected non-negative sizes but found ${padded} at dimension ${d}`);
    }
    return padded;
  });
}

const constantPadNd = lowerOp({
  name: "constantPadNd",
  doc: "Padded with one value, as `torch.constant_pad_nd`.",
  params: {
    self: required("tensor"),
    pad: required("sizes"),
    value: optional("scalarOperand", 0, { changes: {} }),
  },
  exposure: { method: false },
  infer({ self, pad, value }) {
    checkHeld(value, self.dtype);
    return contiguousMeta(paddedShape(self.shape, padsOf(self.shape, pad)), self.dtype, self.device);
  },
  lower({ self, pad, value }, [result]) {
    const pads = padsOf(self.shape, pad);
    return elements(result, (o, index) => padded(o, self, { index, pads, value }));
  },
  gradient: {
    saves: [],
    single: (o, grad, { args: { pad } }) => ({ self: o.constantPadNd(grad, pad.map((p) => mul(p, -1)), 0) }),
  },
  samples: [{ args: [t(2, 3), [1, 2]] }, { args: [t(2, 3), [1, -1, 0, 2], 1.5] }],
  errors: [{ args: [t(3), [1, 1, 1, 1]], message: "at most 1" }],
});

function padded<V>(
  o: Body<V>,
  self: Operand,
  at: { readonly index: readonly Dim[]; readonly pads: Pads; readonly value: OperandOf<Operand> },
): V {
  let inside: V | undefined;
  const source = at.index.map((i, d) => {
    const { before, after } = at.pads[d] ?? { before: 0, after: 0 };
    const from = sub(i, before);
    if (before !== 0 || after !== 0) {
      const here = within(o, from, 0, self.shape[d] ?? 1);
      inside = inside === undefined ? here : o.and(inside, here);
    }
    return from;
  });
  const read = () => o.load(self, source);
  return inside === undefined
    ? read()
    : o.masked(inside, read, elementOf(o, at.value, { index: [], dtype: self.dtype }));
}

/** Returns the index that a padded position reads, for the modes that repeat elements. */
function sourceOf(mode: string, { position, size }: { readonly position: Dim; readonly size: Dim }): Dim {
  if (mode === "circular") return mod(position, size);
  const last = sub(size, 1);
  if (mode === "replicate") return min(max(position, 0), last);
  // reflect: fold at both ends; padding is smaller than the size, so that one fold is enough
  const before = max(position, mul(position, -1));
  return max(min(before, sub(mul(last, 2), before)), 0);
}

const padBy = lowerOp({
  name: "padBy",
  doc: "Padded with elements of the tensor: reflect, replicate or circular.",
  params: {
    self: required("tensor"),
    pad: required("sizes"),
    mode: required("string", { oneOf: ["reflect", "replicate", "circular"] }),
  },
  exposure: { method: false, free: false },
  infer({ self, pad, mode }) {
    const pads = padsOf(self.shape, pad), rank = self.shape.length, count = pad.length / 2;
    if (count > 3 || (rank !== count + 1 && rank !== count + 2)) {
      throw new DynError(
        `Expected an input of ${count + 1} or ${count + 2} dimensions to pad in ${count} but found ${rank}`,
      );
    }
    self.shape.forEach((size, d) => {
      const { before, after } = pads[d] ?? { before: 0, after: 0 };
      const none = before === 0 && after === 0;
      const fits = none
        ? true
        : mode === "reflect"
        ? isLess(before, size) && isLess(after, size)
        : mode === "circular"
        ? isAtMost(before, size) && isAtMost(after, size)
        : isLess(0, size);
      if (!fits) {
        throw new DynError(`Expected padding that fits size ${size} but found ${before} and ${after}`);
      }
    });
    return contiguousMeta(paddedShape(self.shape, pads), self.dtype, self.device);
  },
  lower({ self, pad, mode }, [result]) {
    const pads = padsOf(self.shape, pad);
    return elements(result, (o, index) => o.load(self, redirect(mode, { index, pads, shape: self.shape })));
  },
  gradient: {
    saves: [],
    single: (o, grad, { args: { self, pad, mode } }) => ({
      self: o.padByBackward(grad, self.shape, pad, mode as "reflect"),
    }),
  },
  samples: [{ args: [t(2, 1, 4), [1, 2], "reflect"] }, { args: [t(2, 1, 4), [1, 2], "replicate"] }],
  errors: [
    { args: [t(2, 1, 4), [4, 0], "reflect"], message: "fits" },
    { args: [t(2, 1, 0), [1, 1], "replicate"], message: "fits size 0" },
  ],
});

function redirect(
  mode: string,
  at: { readonly index: readonly Dim[]; readonly pads: Pads; readonly shape: readonly Dim[] },
): Dim[] {
  return at.index.map((i, d) => {
    const { before, after } = at.pads[d] ?? { before: 0, after: 0 };
    if (before === 0 && after === 0) return i;
    return sourceOf(mode, { position: sub(i, before), size: at.shape[d] ?? 1 });
  });
}

const padByBackward = lowerOp({
  name: "padByBackward",
  doc: "Adds the elements of a padded gradient to where padBy read them.",
  params: {
    grad: required("tensor"),
    inputSizes: required("sizes"),
    pad: required("sizes"),
    mode: required("string", { oneOf: ["reflect", "replicate", "circular"] }),
  },
  exposure: { method: false, free: false },
  infer: ({ grad, inputSizes }) => contiguousMeta(inputSizes, grad.dtype, grad.device),
  lower({ grad, inputSizes, pad, mode }, [result]) {
    if (!result) return [];
    return [
      addBack(
        grad,
        result,
        (_o, index) => redirect(mode, { index, pads: padsOf(inputSizes, pad), shape: inputSizes }),
      ),
    ];
  },
  gradient: {
    saves: [],
    single: (o, grad, { args: { pad, mode } }) => ({ grad: o.padBy(grad, pad, mode as "reflect") }),
  },
  samples: [{ args: [t(2, 1, 7), [2, 1, 4], [1, 2], "reflect"] }],
});

const pad = composeOp({
  name: "pad",
  doc:
    "Padded by `pad` = [before, after] of the last dimension, then of the one before it, …; mode constant, " +
    "reflect, replicate or circular. As `nn.functional.pad`.",
  params: {
    self: required("tensor"),
    pad: required("sizes"),
    mode: optional("string", "constant", { oneOf: ["constant", "reflect", "replicate", "circular"] }),
    value: nullable("scalarOperand", { changes: {} }),
  },
  exposure: { method: false, free: false, namespaces: ["nn.functional"] },
  infer: ({ self, pad }) =>
    contiguousMeta(paddedShape(self.shape, padsOf(self.shape, pad)), self.dtype, self.device),
  compose(o, { self, pad, mode, value }) {
    if (mode === "constant") return o.constantPadNd(self, pad, value ?? 0);
    if (value !== null && value !== 0) {
      throw new DynError(`Expected no value to pad with in mode ${mode} but found ${String(value)}`);
    }
    // Elements that are cropped at one end cannot be repeated at the other
    const cropped = mode === "circular" && pad.some((p) => isLess(p, 0))
      ? o.constantPadNd(self, pad.map((p) => isLess(p, 0) ? p : 0), 0)
      : self;
    return o.padBy(cropped, pad.map((p) => cropped !== self && isLess(p, 0) ? 0 : p), mode as "reflect");
  },
  samples: [{ args: [t(2, 3), [1, 2]] }, { args: [t(2, 1, 4), [1, 2], "reflect"] }],
});

export const padding = { constantPadNd, padBy, padByBackward, pad } as const;
