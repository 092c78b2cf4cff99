/**
 * The matrix library for eager operations, whose operands are ordinary host memory. Input: a library call; output:
 * a function over host views that says whether it did the call (not where memory is short). Invariant: operands are copied into the WebAssembly
 * memory before and results out of it after, elements between those of a result unchanged.
 */
import type { HostArray } from "../../lib/base/dtype.ts";
import type { ExternKernel, ExternOp } from "../../lib/loops/ir.ts";
import { libraryBytes, runLibrary } from "./library.ts";
import type { Operand, Operands, Shaped } from "./operands.ts";
import { wasmPool } from "./threads.ts";

/** A strided view of host memory; offset in elements. */
interface HostView extends Shaped {
  readonly data: HostArray;
  readonly offset: number;
}

type ExternViews = Operands<HostView>;

/** Does a library call on host memory; says whether it did. Undefined for what the library does not have. */
export const wasmLibrary = ({ call }: ExternKernel): ((views: ExternViews) => boolean) | undefined => {
  if (call.op === "sort") return undefined;
  return (views) =>
    [...views.inputs, ...views.outputs].every(({ dtype }) => dtype === "float32") && runOutside(views, call);
};

/** Elements from the first to the last of a view. */
function extent(view: HostView): number {
  if (view.shape.includes(0)) return 0;
  return 1 + view.shape.reduce((sum, n, d) => sum + (n - 1) * (view.strides[d] ?? 0), 0);
}

function runOutside(views: ExternViews, call: ExternOp): boolean {
  const pool = wasmPool(), { memory } = pool;
  let bytes = 0;
  const place = (view: HostView): Operand => {
    const address = memory.base + bytes;
    bytes += Math.ceil(4 * extent(view) / 64) * 64;
    return { dtype: view.dtype, shape: view.shape, strides: view.strides, address };
  };
  const inputs = views.inputs.map(place), outputs = views.outputs.map(place);
  if (!memory.reserve(bytes, libraryBytes(pool, call, views))) return false;
  const inside = ({ address }: Operand, view: HostView) =>
    new Float32Array(memory.memory.buffer, address, extent(view));
  const outside = ({ data, offset }: HostView, length: number): Float32Array => {
    if (data instanceof Float32Array) return data.subarray(offset, offset + length);
    throw new TypeError("Expected float32 elements");
  };
  const enter = (operand: Operand, view: HostView | undefined) => {
    if (!view) return;
    const to = inside(operand, view);
    to.set(outside(view, to.length));
  };
  inputs.forEach((operand, i) => enter(operand, views.inputs[i]));
  outputs.forEach((operand, i) => enter(operand, views.outputs[i]));
  runLibrary(pool, call, { inputs, outputs, free: memory.top });
  views.outputs.forEach((view, i) => {
    const operand = outputs[i];
    if (!operand) return;
    const from = inside(operand, view);
    outside(view, from.length).set(from);
  });
  return true;
}
