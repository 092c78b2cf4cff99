/**
 * Library calls in JavaScript: matrix products, convolutions, sorting. Input: strided host views; output: written
 * views. Invariant: results do not depend on the layout of the operands; float32 sums run in double precision.
 */
import { type DType, type HostArray, isFloat } from "../../lib/base/dtype.ts";
import { InternalError } from "../../lib/base/errors.ts";
import type { ConvGeometry, ExternOp } from "../../lib/loops/ir.ts";

/** A strided view of host memory. */
export interface HostView {
  readonly data: HostArray;
  readonly dtype: DType;
  readonly offset: number;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
}

/** Runs one library call. */
export function runExtern(
  call: ExternOp,
  { inputs, outputs }: { readonly inputs: readonly HostView[]; readonly outputs: readonly HostView[] },
): void {
  const [a, b, c] = inputs, [out, out2] = outputs;
  if (!a || !out) throw new InternalError(`Expected operands of ${call.op} but found none`);
  switch (call.op) {
    case "matmul":
      if (!b) throw new InternalError("Expected two operands of matmul but found one");
      return matmul(a, b, { out, accumulate: call.accumulate });
    case "convForward":
      if (!b) throw new InternalError("Expected a weight for convForward but found none");
      return convForward({ input: a, weight: b, bias: c, out }, call);
    case "convBackwardInput":
      if (!b) throw new InternalError("Expected a weight for convBackwardInput but found none");
      return convBackwardInput({ gradOutput: a, weight: b, out }, call);
    case "convBackwardWeight":
      if (!b) throw new InternalError("Expected an input for convBackwardWeight but found none");
      return convBackwardWeight({ gradOutput: a, input: b, out }, call);
    case "sort":
      if (!out2) throw new InternalError("Expected two results of sort but found one");
      return sort(a, { values: out, indices: out2, descending: call.descending });
    default:
      return call satisfies never;
  }
}

/** Calls `visit` with the offset into each view for every index of their common leading shape. */
function eachOuter(
  shape: readonly number[],
  views: readonly { readonly offset: number; readonly strides: readonly number[] }[],
  visit: (offsets: readonly number[]) => void,
): void {
  const rank = shape.length;
  if (shape.some((n) => n === 0)) return;
  const index = new Array<number>(rank).fill(0), at = views.map((v) => v.offset);
  for (;;) {
    visit(at);
    let d = rank - 1;
    for (; d >= 0; d--) {
      const size = shape[d] ?? 1, i = (index[d] ?? 0) + 1;
      index[d] = i < size ? i : 0;
      const step = i < size ? 1 : 1 - size;
      views.forEach((v, k) => at[k] = (at[k] ?? 0) + step * (v.strides[d] ?? 0));
      if (i < size) break;
    }
    if (d < 0) return;
  }
}

/** Copies a [rows, columns] view into row-major doubles. */
function packDoubles(view: HostView, at: number, rows: number, columns: number): Float64Array {
  const packed = new Float64Array(rows * columns);
  const rank = view.strides.length, sr = view.strides[rank - 2] ?? 0, sc = view.strides[rank - 1] ?? 0;
  const { data } = view;
  if (data instanceof BigInt64Array) {
    for (let i = 0; i < rows; i++) {
      for (let j = 0; j < columns; j++) packed[i * columns + j] = Number(data[at + i * sr + j * sc]);
    }
    return packed;
  }
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) packed[i * columns + j] = data[at + i * sr + j * sc] ?? 0;
  }
  return packed;
}

function matmul(a: HostView, b: HostView, { out, accumulate }: { out: HostView; accumulate: boolean }): void {
  const rank = out.shape.length;
  const m = out.shape[rank - 2] ?? 0, n = out.shape[rank - 1] ?? 0, k = a.shape[a.shape.length - 1] ?? 0;
  const batch = out.shape.slice(0, rank - 2);
  const lead = (v: HostView) => ({ offset: v.offset, strides: v.strides.slice(0, rank - 2) });
  const rowStride = out.strides[rank - 2] ?? 0, columnStride = out.strides[rank - 1] ?? 0;
  if (out.data instanceof BigInt64Array) {
    return matmulBig(a, b, { out, accumulate, batch });
  }
  const data = out.data, sums = new Float64Array(m * n);
  eachOuter(batch, [lead(a), lead(b), lead(out)], ([atA = 0, atB = 0, atOut = 0]) => {
    const left = packDoubles(a, atA, m, k), right = packDoubles(b, atB, k, n);
    productInto(sums, left, right, [m, n, k]);
    for (let i = 0; i < m; i++) {
      for (let j = 0; j < n; j++) {
        const at = atOut + i * rowStride + j * columnStride, sum = sums[i * n + j] ?? 0;
        data[at] = accumulate ? (data[at] ?? 0) + sum : sum;
      }
    }
  });
}

/** sums = left · right, row-major, four rows at a time so that each row of `right` is read once for four. */
function productInto(
  sums: Float64Array,
  left: Float64Array,
  right: Float64Array,
  [m, n, k]: readonly [number, number, number],
): void {
  sums.fill(0);
  let i = 0;
  for (; i + 4 <= m; i += 4) {
    const r0 = i * n, r1 = r0 + n, r2 = r1 + n, r3 = r2 + n;
    for (let p = 0; p < k; p++) {
      const x0 = left[i * k + p]!, x1 = left[(i + 1) * k + p]!;
      const x2 = left[(i + 2) * k + p]!, x3 = left[(i + 3) * k + p]!;
      const from = p * n;
      for (let j = 0; j < n; j++) {
        const y = right[from + j]!;
        sums[r0 + j]! += x0 * y;
        sums[r1 + j]! += x1 * y;
        sums[r2 + j]! += x2 * y;
        sums[r3 + j]! += x3 * y;
      }
    }
  }
  for (; i < m; i++) {
    for (let p = 0; p < k; p++) {
      const x = left[i * k + p]!, from = p * n;
      for (let j = 0; j < n; j++) sums[i * n + j]! += x * right[from + j]!;
    }
  }
}

function matmulBig(
  a: HostView,
  b: HostView,
  { out, accumulate, batch }: { out: HostView; accumulate: boolean; batch: readonly number[] },
): void {
  const rank = out.shape.length;
  const m = out.shape[rank - 2] ?? 0, n = out.shape[rank - 1] ?? 0, k = a.shape[rank - 1] ?? 0;
  const lead = (v: HostView) => ({ offset: v.offset, strides: v.strides.slice(0, rank - 2) });
  const [ad, bd, od] = [a.data, b.data, out.data];
  if (!(ad instanceof BigInt64Array && bd instanceof BigInt64Array && od instanceof BigInt64Array)) {
    throw new InternalError("Expected int64 operands of an int64 matmul");
  }
  const stride = (v: HostView, back: number) => v.strides[rank - back] ?? 0;
  eachOuter(batch, [lead(a), lead(b), lead(out)], ([atA = 0, atB = 0, atOut = 0]) => {
    for (let i = 0; i < m; i++) {
      for (let j = 0; j < n; j++) {
        const at = atOut + i * stride(out, 2) + j * stride(out, 1);
        let sum = accumulate ? od[at] ?? 0n : 0n;
        for (let p = 0; p < k; p++) {
          sum += (ad[atA + i * stride(a, 2) + p * stride(a, 1)] ?? 0n) *
            (bd[atB + p * stride(b, 2) + j * stride(b, 1)] ?? 0n);
        }
        od[at] = sum;
      }
    }
  });
}

/** Elements as numbers; integers up to 2⁵³ are exact. */
function numeric(view: HostView): Exclude<HostArray, BigInt64Array> {
  return view.data instanceof BigInt64Array ? Float64Array.from(view.data, Number) : view.data;
}

/** Writes packed sums into the result of a convolution. */
function unpack(sums: Float64Array, out: HostView): void {
  const { size, stride } = image(out);
  const [, c = 0, h = 0, w = 0] = size, { data } = out;
  eachOuter(
    size,
    [{ offset: out.offset, strides: stride }, { offset: 0, strides: [c * h * w, h * w, w, 1] }],
    ([at = 0, from = 0]) => {
      const sum = sums[from] ?? 0;
      if (data instanceof BigInt64Array) data[at] = BigInt(sum);
      else data[at] = sum;
    },
  );
}

/** The four sizes and strides of an image view; a view of rank 3 has height 1. */
function image(view: HostView): { size: readonly number[]; stride: readonly number[] } {
  const { shape, strides } = view;
  if (shape.length !== 3) return { size: shape, stride: strides };
  const [n = 0, c = 0, w = 0] = shape, [sn = 0, sc = 0, sw = 0] = strides;
  return { size: [n, c, 1, w], stride: [sn, sc, 0, sw] };
}

/**
 * Calls `row` once for each (image, group's output channel, input channel, kernel position, output row): the
 * innermost loop over output columns is the caller's. `from` and `to` bound the columns inside the image.
 */
interface ConvRow {
  readonly image: number;
  readonly outChannel: number;
  readonly inChannel: number;
  readonly weightAt: number;
  readonly outRow: number;
  readonly inRow: number;
  readonly from: number;
  readonly to: number;
  /** Column of the input for output column 0. */
  readonly shift: number;
}

function eachConvRow(
  sizes: { readonly input: readonly number[]; readonly out: readonly number[]; readonly weight: HostView },
  geometry: ConvGeometry,
  row: (r: ConvRow) => void,
): void {
  const [batch = 0, , height = 0, width = 0] = sizes.input, [, channels = 0, outH = 0, outW = 0] = sizes.out;
  const weight = image(sizes.weight);
  const [, perGroup = 0, kh = 0, kw = 0] = weight.size, [so = 0, si = 0, sh = 0, sw = 0] = weight.stride;
  const { stride: [strideH, strideW], padding: [padH, padW], dilation: [dilH, dilW], groups } = geometry;
  const outPerGroup = channels / groups;
  for (let n = 0; n < batch; n++) {
    for (let oc = 0; oc < channels; oc++) {
      const firstIn = Math.floor(oc / outPerGroup) * perGroup;
      for (let c = 0; c < perGroup; c++) {
        for (let y = 0; y < kh; y++) {
          for (let x = 0; x < kw; x++) {
            const shift = x * dilW - padW;
            const from = Math.max(0, Math.ceil(-shift / strideW));
            const to = Math.min(outW, Math.floor((width - 1 - shift) / strideW) + 1);
            if (from >= to) continue;
            const weightAt = sizes.weight.offset + oc * so + c * si + y * sh + x * sw;
            for (let oh = 0; oh < outH; oh++) {
              const ih = oh * strideH + y * dilH - padH;
              if (ih < 0 || ih >= height) continue;
              row({
                image: n,
                outChannel: oc,
                inChannel: firstIn + c,
                weightAt,
                outRow: oh,
                inRow: ih,
                from,
                to,
                shift,
              });
            }
          }
        }
      }
    }
  }
}

const at4 = (offset: number, s: readonly number[], n: number, c: number, h: number): number =>
  offset + n * (s[0] ?? 0) + c * (s[1] ?? 0) + h * (s[2] ?? 0);

function convForward(
  { input, weight, bias, out }: {
    input: HostView;
    weight: HostView;
    bias: HostView | undefined;
    out: HostView;
  },
  geometry: ConvGeometry,
): void {
  const x = numeric(input), w = numeric(weight), b = bias && numeric(bias);
  const from = image(input), to = image(out);
  const [n = 0, channels = 0, h = 0, width = 0] = to.size;
  const sums = new Float64Array(n * channels * h * width);
  if (b && bias) {
    for (let k = 0; k < n * channels; k++) {
      const value = b[bias.offset + (k % channels) * (bias.strides[0] ?? 0)] ?? 0;
      sums.fill(value, k * h * width, (k + 1) * h * width);
    }
  }
  const inStep = (from.stride[3] ?? 0) * geometry.stride[1], inUnit = from.stride[3] ?? 0;
  eachConvRow({ input: from.size, out: to.size, weight }, geometry, (r) => {
    const factor = w[r.weightAt]!;
    const source = at4(input.offset, from.stride, r.image, r.inChannel, r.inRow) + r.shift * inUnit;
    const target = ((r.image * channels + r.outChannel) * h + r.outRow) * width;
    for (let j = r.from; j < r.to; j++) sums[target + j]! += factor * x[source + j * inStep]!;
  });
  unpack(sums, out);
}

function convBackwardInput(
  { gradOutput, weight, out }: { gradOutput: HostView; weight: HostView; out: HostView },
  geometry: ConvGeometry,
): void {
  const g = numeric(gradOutput), w = numeric(weight);
  const from = image(gradOutput), to = image(out);
  const [n = 0, channels = 0, h = 0, width = 0] = to.size;
  const sums = new Float64Array(n * channels * h * width);
  const unit = from.stride[3] ?? 0, step = geometry.stride[1];
  eachConvRow({ input: to.size, out: from.size, weight }, geometry, (r) => {
    const factor = w[r.weightAt]!;
    const source = at4(gradOutput.offset, from.stride, r.image, r.outChannel, r.outRow);
    const target = ((r.image * channels + r.inChannel) * h + r.inRow) * width + r.shift;
    for (let j = r.from; j < r.to; j++) sums[target + j * step]! += factor * g[source + j * unit]!;
  });
  unpack(sums, out);
}

function convBackwardWeight(
  { gradOutput, input, out }: { gradOutput: HostView; input: HostView; out: HostView },
  geometry: ConvGeometry,
): void {
  const g = numeric(gradOutput), x = numeric(input);
  const grads = image(gradOutput), images = image(input);
  const size = out.shape.reduce((a, b) => a * b, 1);
  const [, c = 0, kh = 0, kw = 0] = image(out).size;
  const sums = new Float64Array(size);
  const packed: HostView = {
    ...out,
    data: sums,
    offset: 0,
    shape: image(out).size,
    strides: [c * kh * kw, kh * kw, kw, 1],
  };
  const unit = grads.stride[3] ?? 0, inUnit = images.stride[3] ?? 0, step = inUnit * geometry.stride[1];
  eachConvRow({ input: images.size, out: grads.size, weight: packed }, geometry, (r) => {
    const a = at4(gradOutput.offset, grads.stride, r.image, r.outChannel, r.outRow);
    const b = at4(input.offset, images.stride, r.image, r.inChannel, r.inRow) + r.shift * inUnit;
    let sum = 0;
    for (let j = r.from; j < r.to; j++) sum += g[a + j * unit]! * x[b + j * step]!;
    sums[r.weightAt]! += sum;
  });
  unpack(sums, out);
}

/** Stable; NaN is greatest, so it comes last ascending and first descending. */
function sort(
  input: HostView,
  { values, indices, descending }: { values: HostView; indices: HostView; descending: boolean },
): void {
  const rank = input.shape.length, length = rank === 0 ? 1 : input.shape[rank - 1] ?? 0;
  const step = (v: HostView) => rank === 0 ? 0 : v.strides[rank - 1] ?? 0;
  const outer = input.shape.slice(0, Math.max(0, rank - 1));
  const [si, sv, sx] = [step(input), step(values), step(indices)];
  const target = indices.data;
  if (!(target instanceof BigInt64Array)) throw new InternalError("Expected int64 indices of sort");
  const order = new Array<number>(length), float = isFloat(input.dtype);
  const sign = descending ? -1 : 1;
  eachOuter(outer, [input, values, indices], ([atIn = 0, atValues = 0, atIndices = 0]) => {
    const line = Array.from({ length }, (_, k) => input.data[atIn + k * si] ?? 0);
    for (let k = 0; k < length; k++) order[k] = k;
    order.sort((p, q) => {
      const a = line[p] ?? 0, b = line[q] ?? 0;
      if (float && (a !== a || b !== b)) return sign * (Number(a !== a) - Number(b !== b)) || p - q;
      return a < b ? -sign : a > b ? sign : p - q;
    });
    order.forEach((from, to) => {
      const value = line[from] ?? 0;
      if (values.data instanceof BigInt64Array) values.data[atValues + to * sv] = BigInt(value);
      else values.data[atValues + to * sv] = Number(value);
      target[atIndices + to * sx] = BigInt(from);
    });
  });
}
