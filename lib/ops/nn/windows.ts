/**
 * Windows that slide over the last dimensions: sizes, parameters, and which elements fall into which window.
 * Invariant: sizes that change between calls of one graph are compared through sym/decide.ts, so that its guards
 * record what the program assumes about windows.
 */
import { DynError } from "../../base/errors.ts";
import { add, boundsOf, ceilDiv, type Dim, floorDiv, mod, mul, sub } from "../../sym/expr.ts";
import { isEqual, isLess, sizeText } from "../../sym/decide.ts";
import { type TensorMeta } from "../../graph/meta.ts";
import type { Body, Lowered, Operand } from "../../loops/body.ts";
import { nullable, optional, required } from "../params.ts";
import { castTo } from "../promotion.ts";
import { within } from "../shape/scatter_views.ts";
import { shapeText, spread } from "../shapes.ts";

/** Windows over the last dimensions. */
export interface Windows {
  readonly kernel: readonly Dim[];
  readonly stride: readonly Dim[];
  readonly padding: readonly Dim[];
  readonly dilation: readonly Dim[];
  readonly ceilMode: boolean;
}

/** The extent of a window, gaps included, by the size of its kernel. */
export const extentOf = (kernel: Dim = 1, dilation: Dim = 1): Dim => add(mul(dilation, sub(kernel, 1)), 1);

/** The same along a dimension. */
const reachOf = (w: Windows, d: number): Dim => extentOf(w.kernel[d], w.dilation[d]);

/** Returns the number of windows along a dimension. The last one must start inside the input or its left padding. */
function windowCount(size: Dim, w: Windows, d: number): Dim {
  const stride = w.stride[d] ?? 1, padding = w.padding[d] ?? 0;
  const room = sub(add(size, mul(2, padding)), reachOf(w, d));
  const count = add(floorDiv(add(room, w.ceilMode ? sub(stride, 1) : 0), stride), 1);
  if (!w.ceilMode) return count;
  return isLess(mul(sub(count, 1), stride), add(size, padding)) ? count : sub(count, 1);
}

/** The output sizes of pooling over the last dimensions. */
export function pooledSizes(shape: readonly Dim[], w: Windows): Dim[] {
  const rank = w.kernel.length, lead = shape.length - rank;
  if ([...w.kernel, ...w.stride, ...w.dilation].some((v) => isLess(v, 1))) {
    const [kernel, stride, dilation] = [w.kernel, w.stride, w.dilation].map(shapeText);
    throw new DynError(
      `Expected a positive kernel size, stride and dilation but found ${kernel}, ${stride} and ${dilation}`,
    );
  }
  w.padding.forEach((p, d) => {
    if (isLess(p, 0) || isLess(reachOf(w, d), mul(2, p))) {
      const kernel = sizeText(w.kernel[d] ?? 1);
      throw new DynError(
        `Expected padding of at most half the kernel size ${kernel} but found ${sizeText(p)}`,
      );
    }
  });
  const out = w.kernel.map((_, d) => windowCount(shape[lead + d] ?? 1, w, d));
  if (out.some((size) => isLess(size, 1))) {
    throw new DynError(
      `Expected windows that fit into ${shapeText(shape)} but found kernel size ${shapeText(w.kernel)}`,
    );
  }
  return [...shape.slice(0, lead), ...out];
}

/** Parameters of windows in users' calls. */
export const windowParams = {
  kernelSize: required("sizeOrSizes"),
  stride: nullable("sizeOrSizes"),
  padding: optional("sizeOrSizes", 0),
} as const;

/** A user's windows, completed with defaults. */
export function windowsOf(
  args: {
    readonly kernelSize: Dim | readonly Dim[];
    readonly stride: Dim | readonly Dim[] | null;
    readonly padding: Dim | readonly Dim[];
    readonly dilation?: Dim | readonly Dim[];
    readonly ceilMode: boolean;
  },
  rank: number,
): Windows {
  const stride = args.stride === null || (Array.isArray(args.stride) && args.stride.length === 0)
    ? args.kernelSize
    : args.stride;
  return {
    kernel: spread(args.kernelSize, rank, "kernelSize"),
    stride: spread(stride, rank, "stride"),
    padding: spread(args.padding, rank, "padding"),
    dilation: spread(args.dilation ?? 1, rank, "dilation"),
    ceilMode: args.ceilMode,
  };
}

/** Checks that an input has a channel and the pooled dimensions, possibly a batch. */
export function checkPooled(name: string, self: TensorMeta, rank: number): void {
  if (self.shape.length !== rank + 1 && self.shape.length !== rank + 2) {
    throw new DynError(
      `Expected ${name} of ${rank + 1} or ${rank + 2} dimensions but found ${shapeText(self.shape)}`,
    );
  }
  if (self.shape.slice(self.shape.length === rank + 2 ? 1 : 0).some((s) => isEqual(s, 0))) {
    throw new DynError(`Expected nonzero sizes except for the batch but found ${shapeText(self.shape)}`);
  }
}

export const internalParams = {
  kernel: required("counts"),
  stride: required("counts"),
  padding: required("counts"),
  dilation: required("counts"),
  ceilMode: required("bool"),
} as const;

/** The element of a window, or another value outside the input. */
export function inWindow<V>(
  o: Body<V>,
  self: Operand,
  at: {
    readonly index: readonly Dim[];
    readonly offset: readonly Dim[];
    readonly windows: Windows;
    readonly outside: (o: Body<V>) => V;
  },
): V {
  const { index, offset, windows: w, outside } = at;
  const lead = index.length - w.kernel.length;
  let inside: V | undefined;
  const source = index.map((i, d) => {
    if (d < lead) return i;
    const axis = d - lead, padding = w.padding[axis] ?? 0;
    const place = add(
      sub(mul(i, w.stride[axis] ?? 1), padding),
      mul(offset[axis] ?? 0, w.dilation[axis] ?? 1),
    );
    if (padding !== 0 || w.ceilMode) {
      const here = within(o, place, 0, self.shape[d] ?? 1);
      inside = inside === undefined ? here : o.and(inside, here);
    }
    return place;
  });
  return inside === undefined
    ? o.load(self, source)
    : o.masked(inside, () => o.load(self, source), outside(o));
}

/** The flat position of an offset in a window. */
export const flatOffset = (offset: readonly Dim[], kernel: readonly Dim[]): Dim =>
  offset.reduce<Dim>((flat, i, d) => add(mul(flat, kernel[d] ?? 1), i), 0);

/** Returns the maximum number of windows that cover a position along a dimension. */
const candidatesAlong = (w: Windows, d: number): Dim => ceilDiv(reachOf(w, d), w.stride[d] ?? 1);

/**
 * Sums `part` of the window, and of the offset in it, over the windows that contain a position. With windows that do
 * not overlap there is one candidate, and the sum is not a loop.
 */
export function gatherWindows(
  result: TensorMeta,
  spec: {
    readonly windows: Windows;
    readonly pooled: readonly Dim[];
    readonly part: <V>(o: Body<V>, window: readonly Dim[], offset: readonly Dim[]) => V;
  },
): Lowered[] {
  const { windows: w, pooled, part } = spec, { shape, dtype } = result;
  const rank = w.kernel.length, lead = shape.length - rank;
  const counts = w.kernel.map((_, d) => candidatesAlong(w, d));
  const contribution = <V>(o: Body<V>, index: readonly Dim[], candidate: readonly Dim[]): V => {
    const window: Dim[] = index.slice(0, lead), offset: Dim[] = [];
    let holds: V | undefined;
    const also = (condition: V) => holds = holds === undefined ? condition : o.and(holds, condition);
    for (let d = 0; d < rank; d++) {
      const stride = w.stride[d] ?? 1, dilation = w.dilation[d] ?? 1, reach = reachOf(w, d);
      const place = add(index[lead + d] ?? 0, w.padding[d] ?? 0);
      const at = sub(floorDiv(place, stride), candidate[d] ?? 0);
      const distance = sub(place, mul(at, stride));
      window.push(at);
      offset.push(floorDiv(distance, dilation));
      const size = pooled[lead + d] ?? 1;
      const [low, high] = boundsOf(at);
      if (low < 0 || high >= boundsOf(size)[0]) also(within(o, at, 0, size));
      if (mul(counts[d] ?? 1, stride) !== reach || dilation !== 1) {
        also(o.lt(o.index(distance, "int64"), o.index(reach, "int64")));
      }
      if (dilation !== 1) also(o.eq(o.index(mod(distance, dilation), "int64"), o.constant(0, "int64")));
    }
    const zero = o.constant(0, dtype), value = () => castTo(o, part(o, window, offset), dtype);
    return holds === undefined ? value() : o.masked(holds, value, zero);
  };
  if (counts.every((c) => c === 1)) {
    return [{
      kind: "pointwise",
      shape,
      dtype,
      element: (o, index) => contribution(o, index, counts.map(() => 0)),
    }];
  }
  return [{
    kind: "reduction",
    shape,
    dtype,
    op: "sum",
    over: counts,
    accumulator: dtype,
    element: contribution,
  }];
}
