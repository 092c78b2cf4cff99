/**
 * Library calls of eagerly run ops, by the native routines. Input: strided host views; output: written views.
 * Invariant: a call is taken only where the native routine has its element type and the work is worth leaving
 * JavaScript for; everything else stays with the JavaScript library.
 */
import { config } from "../../lib/base/config.ts";
import type { ConvGeometry, ExternKernel } from "../../lib/loops/ir.ts";
import type { HostView } from "../js/extern.ts";
import type { ExternViews } from "../js/program.ts";
import { addressOf, callAt } from "./ffi.ts";
import { type Routine, routineIfReady } from "./runtime_library.ts";
import { threadCount, toolchainStatus } from "./toolchain.ts";

/** Products below which JavaScript is as fast as the call, and waiting for a compiler is out of proportion. */
const WORTH = 30000;

type FloatType = "f32" | "f64";

function floatType(views: readonly HostView[]): FloatType | undefined {
  if (views.every((v) => v.dtype === "float32")) return "f32";
  return views.every((v) => v.dtype === "float64") ? "f64" : undefined;
}

const addressAt = (view: HostView): number => {
  const { buffer, byteOffset, BYTES_PER_ELEMENT } = view.data;
  return buffer instanceof ArrayBuffer ? addressOf(buffer) + byteOffset + view.offset * BYTES_PER_ELEMENT : 0;
};

const product = (sizes: readonly number[]): number => sizes.reduce((a, b) => a * b, 1);

/** Operands of the call under way: addresses are numbers, which do not keep their buffers from the collector. */
let held: readonly HostView[] = [];

/** Whether a call was made. */
export type NativeOutcome =
  | "done"
  /** It is little work, or of types that no routine has. */
  | "left"
  /** Its routine is being compiled. */
  | "later";

function call(
  routine: Routine,
  operands: readonly HostView[],
  words: () => readonly number[],
): NativeOutcome {
  const address = routineIfReady(routine);
  if (address === undefined) return "later";
  held = operands;
  callAt(address, BigInt64Array.from(words(), (w) => BigInt(w)));
  if (held === operands) held = [];
  return "done";
}

/** The native way to run a library call, or undefined where there is none. */
export function nativeLibrary(kernel: ExternKernel): ((views: ExternViews) => NativeOutcome) | undefined {
  if (toolchainStatus().kind !== "ready") return undefined;
  const op = kernel.call;
  switch (op.op) {
    case "matmul":
      return (views) => matmul(views, op.accumulate);
    case "convForward":
      return (views) => convolution(views, op, 0);
    case "convBackwardInput":
      return (views) => convolution(views, op, 1);
    case "convBackwardWeight":
      return (views) => convolution(views, op, 2);
    case "sort":
      return undefined;
    default:
      return op satisfies never;
  }
}

function matmul({ inputs, outputs }: ExternViews, accumulate: boolean): NativeOutcome {
  const [a, b] = inputs, [c] = outputs;
  if (!a || !b || !c) return "left";
  const type = floatType([a, b, c]), rank = c.shape.length;
  const size = (v: HostView, back: number): number => v.shape[v.shape.length - back] ?? 1;
  const stride = (v: HostView, back: number): number => v.strides[v.strides.length - back] ?? 0;
  const m = size(c, 2), n = size(c, 1), k = size(a, 1), batch = rank > 2 ? size(c, 3) : 1;
  if (type === undefined || rank > 3 || m * n * k * batch < WORTH) return "left";
  const strides = [a, b, c].flatMap((v) => [stride(v, 2), stride(v, 1), rank > 2 ? stride(v, 3) : 0]);
  return call(`gemm_${type}`, [a, b, c], () => [
    ...[addressAt(a), addressAt(b), addressAt(c), m, n, k, batch, ...strides],
    ...[accumulate ? 1 : 0, threadCount(config.inductor.cppThreads), 0, 0],
  ]);
}

function convolution(
  { inputs, outputs }: ExternViews,
  geometry: ConvGeometry,
  kind: 0 | 1 | 2,
): NativeOutcome {
  const [first, second, bias] = inputs, [out] = outputs;
  if (!first || !second || !out || first.shape.length !== 4) return "left";
  const [input, weight, result] = kind === 0
    ? [first, second, out]
    : kind === 1
    ? [out, second, first]
    : [second, out, first];
  const views = kind === 0 && bias ? [input, weight, result, bias] : [input, weight, result];
  const type = floatType(views);
  const [n = 0, , h = 0, w = 0] = input.shape, [, channels = 0, oh = 0, ow = 0] = result.shape;
  const [, cg = 0, r = 0, s = 0] = weight.shape, { groups } = geometry;
  if (type === undefined || product(result.shape) * cg * r * s < WORTH) return "left";
  return call(`conv_${type}`, views, () => [
    ...[addressAt(input), addressAt(weight), addressAt(result), kind === 0 && bias ? addressAt(bias) : 0],
    ...[kind, n, groups, cg, channels / groups, h, w, oh, ow, r, s],
    ...[
      ...input.strides,
      ...weight.strides,
      ...result.strides,
      kind === 0 && bias ? bias.strides[0] ?? 1 : 0,
    ],
    ...[...geometry.stride, ...geometry.padding, ...geometry.dilation],
    ...[threadCount(config.inductor.cppThreads), 0, 0],
  ]);
}
