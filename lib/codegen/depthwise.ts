/**
 * Depthwise convolutions as loops, for grids: an invocation computes a run of results below each other, so that it reads
 * each pixel once for all of them, and each tap once for the run, while its neighbours read the pixels beside those.
 * This includes gradients with respect to images, which are convolutions with flipped filters. Invariant: sums are over
 * taps, by columns.
 */
import { InternalError } from "../base/errors.ts";
import { add, floorDiv, mul, sub } from "../sym/expr.ts";
import type { ConvGeometry, ExternKernel, Kernel, Program } from "../loops/ir.ts";
import { axesOf, symbolsOf } from "../loops/nest.ts";
import { flatIndex, type Value } from "../loops/record.ts";
import { resultKernels } from "./convolution_results.ts";
import { replaceKernels } from "./kernels.ts";
import { asForward } from "./packed_filters.ts";
import { pixelOrZero } from "./pixels.ts";
import type { Target } from "./target.ts";

/** Longest run, the number of invocations that fills a device, and of taps that are written out. */
const LONGEST = 8, BUSY = 1 << 15, MOST_TAPS = 64;

/** Replaces the depthwise convolutions of a program. */
export function depthwiseConvolutions(program: Program, { grid, kernelBuffers }: Target): Program {
  if (!grid) return program;
  return replaceKernels(program, (kernel) => {
    const forward = kernel.kind === "extern" ? asForward(kernel) : undefined;
    const run = forward && runOf(forward, program);
    if (!run || forward.call.op !== "convForward") return [kernel];
    return inRuns({ ...forward, call: forward.call }, run, kernelBuffers);
  });
}

/** The length of runs that divides images; undefined for other calls, and for images of other heights. */
function runOf(
  { call, inputs, outputs: [out], prologues }: ExternKernel,
  program: Program,
): number | undefined {
  const [, filter] = inputs, [channels, each, down, across] = filter?.shape ?? [];
  if (call.op !== "convForward" || prologues || !out || call.groups !== channels || each !== 1) {
    return undefined;
  }
  if ([...inputs, out].some(({ buffer }) => program.buffers[buffer]?.dtype !== "float32")) return undefined;
  const [images, , height, width] = out.shape;
  if (!(Number(down) * Number(across) <= MOST_TAPS) || typeof height !== "number") return undefined;
  const results = Number(images) * channels * height * Number(width);
  const runs = Array.from({ length: LONGEST }, (_, i) => LONGEST - i).filter((run) => height % run === 0);
  return runs.find((run) => results >= run * BUSY) ?? runs.at(-1);
}

/** Such a convolution in runs of rows. */
function inRuns(
  kernel: ExternKernel & { readonly call: ConvGeometry },
  run: number,
  kernelBuffers: number,
): readonly Kernel[] {
  const { call, inputs: [image, filter], outputs: [out] } = kernel;
  if (!image || !filter || !out) throw new InternalError("Expected the operands of a convolution");
  const [images = 1, channels = 1, height = 1, width = 1] = out.shape, [, , down, across] = filter.shape;
  const { stride: [sy, sx], padding: [py, px], dilation: [dy, dx] } = call;
  return resultKernels(kernel, kernelBuffers, {
    record(o, store) {
      const axes = axesOf([images, channels, floorDiv(height, run), width]);
      const [n = 0, c = 0, part = 0, x = 0] = symbolsOf(axes),
        first = mul(part, run),
        top = sub(mul(first, sy), py);
      const sums: (Value | undefined)[] = Array.from({ length: run });
      for (let column = 0; column < Number(across); column++) {
        const left = add(sub(mul(x, sx), px), column * dx);
        for (let tap = 0; tap < Number(down); tap++) {
          const by = o.loadBuffer(filter.buffer, flatIndex(filter, [c, 0, tap, column]), "float32");
          for (const [row, sum] of sums.entries()) {
            const line = row * sy + tap * dy;
            const pixel = o.memo(
              `pixel ${line} ${column}`,
              () => pixelOrZero(o, image, [n, c, add(top, line), left]),
            );
            sums[row] = sum ? o.fma(pixel, by, sum) : o.mul(pixel, by);
          }
        }
      }
      sums.forEach((sum, row) => sum && store([n, c, add(first, row), x], sum));
      return axes;
    },
  });
}
