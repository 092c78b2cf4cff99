/**
 * Assembles columns of windows [batch, channels · kernel, windows] into images [batch, channels, height, width], the
 * inverse of im2col. Invariant: composed of the gradients of the strided views that windows are.
 */
import { DynError } from "../../base/errors.ts";
import { isEqual, isLess, sizeText } from "../../sym/decide.ts";
import { add, type Dim, floorDiv, mod, mul, product, sub } from "../../sym/expr.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import { optional, required } from "../params.ts";
import { t } from "../pointwise.ts";
import { shapeText, spread } from "../shapes.ts";
import { composeWideOp } from "../wide.ts";
import { extentOf } from "./windows.ts";

interface Folding {
  /** Sizes of images, without and with padding. */
  readonly sizes: readonly Dim[];
  readonly wide: readonly Dim[];
  readonly kernel: readonly Dim[];
  /** Extent of a window, gaps included. */
  readonly reach: readonly Dim[];
  readonly dilation: readonly number[];
  readonly stride: readonly Dim[];
  readonly padding: readonly Dim[];
  /** Windows along each dimension. */
  readonly counts: readonly Dim[];
}

interface FoldArgs {
  readonly outputSize: Dim | readonly Dim[];
  readonly kernelSize: Dim | readonly Dim[];
  readonly dilation: number | readonly number[];
  readonly padding: Dim | readonly Dim[];
  readonly stride: Dim | readonly Dim[];
}

function foldingOf(args: FoldArgs): Folding {
  const pair = (value: Dim | readonly Dim[], name: string) => spread(value, 2, name);
  const sizes = spread(args.outputSize, 2, "outputSize"), kernel = pair(args.kernelSize, "kernelSize");
  const dilation = spread(args.dilation, 2, "dilation"), stride = pair(args.stride, "stride");
  const padding = pair(args.padding, "padding");
  const positive = [...sizes, ...kernel, ...dilation, ...stride];
  if (positive.some((v) => isLess(v, 1)) || padding.some((p) => isLess(p, 0))) {
    throw new DynError(
      `Expected positive sizes, kernel, dilation and stride, and non-negative padding but found sizes ` +
        `${shapeText(sizes)}, kernel ${shapeText(kernel)}, dilation ${shapeText(dilation)}, stride ${
          shapeText(stride)
        } and padding ${shapeText(padding)}`,
    );
  }
  const wide = sizes.map((size, d) => add(size, mul(2, padding[d] ?? 0)));
  const reach = kernel.map((size, d) => extentOf(size, dilation[d]));
  const counts = wide.map((size, d) => add(floorDiv(sub(size, reach[d] ?? 1), stride[d] ?? 1), 1));
  return { sizes, wide, kernel, reach, dilation, stride, padding, counts };
}

const col2im = composeWideOp({
  name: "col2im",
  doc:
    "Columns [batch, channels · kernel, windows] added up to images of outputSize, the adjoint of im2col, as " +
    "`nn.functional.fold`.",
  params: {
    self: required("tensor"),
    outputSize: required("sizeOrSizes"),
    kernelSize: required("sizeOrSizes"),
    dilation: optional("intOrInts", 1),
    padding: optional("sizeOrSizes", 0),
    stride: optional("sizeOrSizes", 1),
  },
  exposure: { method: false, free: false, namespaces: ["nn.functional"], aliases: ["fold"] },
  infer({ self, ...args }) {
    const { sizes, kernel, counts } = foldingOf(args);
    const [rows = 1, columns = 1] = self.shape.slice(-2), size = product(kernel);
    if (self.shape.length !== 2 && self.shape.length !== 3) {
      throw new DynError(`Expected columns of 2 or 3 dimensions but found ${shapeText(self.shape)}`);
    }
    if (counts.some((count) => isLess(count, 1)) || !isEqual(columns, product(counts))) {
      const windows = counts.map(sizeText).join(" · ");
      throw new DynError(`Expected ${windows} windows but found columns ${shapeText(self.shape)}`);
    }
    if (!isEqual(mod(rows, size), 0)) {
      throw new DynError(
        `Expected rows that the ${sizeText(size)} elements of a window divide but found ${sizeText(rows)}`,
      );
    }
    return contiguousMeta(
      [...self.shape.slice(0, -2), floorDiv(rows, size), ...sizes],
      self.dtype,
      self.device,
    );
  },
  compose(o, { self, ...args }) {
    const { sizes: [h = 1, w = 1], wide: [wh = 1, ww = 1], kernel: [kh = 1, kw = 1], ...f } = foldingOf(
      args,
    );
    const { reach: [rh = 1, rw = 1], dilation: [dh = 1, dw = 1], stride: [sh = 1, sw = 1], counts } = f;
    const [n0 = 1, n1 = 1] = counts, [ph = 0, pw = 0] = f.padding;
    const columns = self.shape.length === 2 ? o.unsqueeze(self, 0) : self, batch = columns.shape[0] ?? 1;
    const channels = floorDiv(columns.shape[1] ?? 1, mul(kh, kw)), lead = mul(batch, channels);
    let windows = o.permute(o.reshape(columns, [lead, kh, kw, n0, n1]), [0, 3, 4, 1, 2]);
    if (dh > 1) {
      windows = o.sliceScatter(o.newZeros(windows, [lead, n0, n1, rh, kw]), windows, 3, 0, null, dh);
    }
    if (dw > 1) {
      windows = o.sliceScatter(o.newZeros(windows, [lead, n0, n1, rh, rw]), windows, 4, 0, null, dw);
    }
    const rows = o.unfoldBackward(windows, [lead, n0, ww, rh], 2, rw, sw);
    const whole = o.unfoldBackward(rows, [lead, wh, ww], 1, rh, sh);
    const inner = o.narrow(o.narrow(whole, 1, ph, h), 2, pw, w);
    return o.reshape(inner, [...self.shape.slice(0, -2), channels, h, w]);
  },
  samples: [
    { args: [t(2, 12, 6), [4, 3], 2] },
    { args: [t(8, 4), 4, 2], options: { dilation: 2, padding: 1, stride: 2 } },
  ],
  errors: [{ args: [t(2, 12, 5), [4, 3], 2], message: "windows" }],
});

export const folding = { col2im } as const;
