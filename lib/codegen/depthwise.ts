/**
 * Depthwise convolutions as loops, for grids: an invocation computes a run of results below each other, so that it reads
 * each pixel once for all of them, and each tap once for the run, while its neighbours read the pixels beside those.
 * This includes gradients with respect to images, which are convolutions with flipped filters, and those of filters,
 * whose taps an invocation adds up together, run by run. Invariant: sums are over taps, by columns, or over
 * runs in an order that depends only on sizes.
 */
import { InternalError } from "../base/errors.ts";
import { add, floorDiv, mod, mul, product, sub } from "../sym/expr.ts";
import type { BufferView, ConvGeometry, ExternKernel, Kernel, LoopKernel, Program } from "../loops/ir.ts";
import { axesOf, loopOver, symbolsOf, wrapLoops } from "../loops/nest.ts";
import { flatIndex, loadBufferOperand, Recorder, type Value } from "../loops/record.ts";
import { pixelOrZero, resultKernels } from "./convolution_results.ts";
import { isOfFloats, replaceKernels } from "./kernels.ts";
import { asForward } from "./packed_filters.ts";
import { axisOf } from "./strip_mining.ts";
import type { Target } from "./target.ts";

/** Longest run, and the number of invocations that fills a device. */
const LONGEST = 8, BUSY = 1 << 15;
/** Maximum number of taps, which are written out. */
const MOST_TAPS = 64;

/** Replaces the depthwise convolutions of a program. */
export function depthwiseConvolutions(program: Program, { grid, kernelBuffers }: Target): Program {
  if (!grid) return program;
  return replaceKernels(program, (kernel) => {
    if (kernel.kind === "extern" && isOfFilters(kernel, program)) return [ofFilters(kernel)];
    const forward = kernel.kind === "extern" ? asForward(kernel) : undefined;
    const run = forward && runOf(forward, program);
    if (!run || forward.call.op !== "convForward") return [kernel];
    return inRuns({ ...forward, call: forward.call }, run, kernelBuffers);
  });
}

type Convolution = ExternKernel & { readonly call: ConvGeometry };

/** Returns whether filters have one channel for each group, and few enough taps. */
const isDepthwise = (filter: BufferView | undefined, { groups }: ConvGeometry): boolean =>
  filter?.shape[0] === groups && filter.shape[1] === 1 && Number(product(filter.shape.slice(2))) <= MOST_TAPS;

/** Lengths of runs that divide images of this height, from the longest on. */
const runsOf = (height: number): readonly number[] =>
  Array.from({ length: LONGEST }, (_, i) => LONGEST - i).filter((run) => height % run === 0);

/** The length of runs that divides images; undefined for other calls, and for images of other heights. */
function runOf(kernel: ExternKernel, program: Program): number | undefined {
  const { call, inputs: [, filter], outputs: [out], prologues } = kernel;
  if (call.op !== "convForward" || prologues || !isOfFloats(kernel, program)) return undefined;
  const height = out?.shape[2];
  if (!out || !isDepthwise(filter, call) || typeof height !== "number") return undefined;
  const results = Number(product(out.shape)), runs = runsOf(height);
  return runs.find((run) => results >= run * BUSY) ?? runs.at(-1);
}

/** Returns whether a call is the gradient of filters, for images of known heights. */
function isOfFilters(kernel: ExternKernel, program: Program): kernel is Convolution {
  const { call, inputs: [grad], outputs: [out], prologues, epilogue } = kernel;
  return call.op === "convBackwardWeight" && !prologues && !epilogue && isOfFloats(kernel, program) &&
    isDepthwise(out, call) && typeof grad?.shape[2] === "number";
}

/** The gradient of filters: one reduction over the runs of all images. */
function ofFilters(
  { call, inputs: [grad, image], outputs: [out], name, origins, originals }: Convolution,
): LoopKernel {
  if (!grad || !image || !out) throw new InternalError("Expected two operands and a result");
  const { stride: [sy, sx], padding: [py, px], dilation: [dy, dx] } = call;
  const [images = 1, channels = 1, height = 1, width = 1] = grad.shape,
    [, , down = 1, across = 1] = out.shape;
  const [run = 1] = runsOf(Number(height)), tall = floorDiv(height, run);
  const axes = axesOf([channels]),
    [c = 0] = symbolsOf(axes),
    runs = axisOf("r", product([images, tall, width]));
  const x = mod(runs.symbol, width), line = floorDiv(runs.symbol, width), first = mul(mod(line, tall), run);
  const n = floorDiv(line, tall), o = new Recorder(loadBufferOperand);
  const taps = [...Array(Number(down)).keys()].flatMap((y) =>
    [...Array(Number(across)).keys()].map((x) => ({ x, y }))
  );
  const { statements, result } = o.nested(() =>
    taps.map((tap) => {
      let sum: Value | undefined;
      for (let row = 0; row < run; row++) {
        const at = flatIndex(grad, [n, c, add(first, row), x]), reached = row * sy + tap.y * dy;
        const pixel = o.memo(`pixel ${reached} ${tap.x}`, () => {
          const place = [sub(mul(first, sy), py), sub(mul(x, sx), px)];
          return pixelOrZero(o, image, [n, c, add(place[0] ?? 0, reached), add(place[1] ?? 0, tap.x * dx)]);
        });
        const given = o.loadBuffer(grad.buffer, at, "float32");
        sum = sum ? o.fma(pixel, given, sum) : o.mul(pixel, given);
      }
      return {
        tap,
        sum: sum ?? o.constant(0, "float32"),
        total: { id: o.ids.next(), dtype: "float32" } as const,
      };
    })
  );
  const reductions = result.map(({ sum, total: { id, dtype } }) =>
    ({ id, op: "sum", value: sum.id, dtype }) as const
  );
  o.push(loopOver(runs, statements, { order: "reduction", reductions }));
  for (const { tap, total } of result) {
    o.store({ buffer: out.buffer, dtype: "float32" }, flatIndex(out, [c, 0, tap.y, tap.x]), { value: total });
  }
  return { kind: "loops", name, body: wrapLoops(axes, o.statements), origins, originals };
}

/** Such a convolution in runs of rows. */
function inRuns(kernel: Convolution, run: number, kernelBuffers: number): readonly Kernel[] {
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
