/**
 * Repacks convolution filters: by taps with output channels adjacent, for devices that convolve patches of images, or
 * transformed (Winograd 1980), for devices that save products that way, with transforms of images in workgroups or in
 * memory. This includes gradients with respect to images, which are convolutions of output gradients with flipped
 * filters. Invariant: sums are over the same products, in an order that depends only on sizes.
 */
import { InternalError } from "../base/errors.ts";
import { add, type Dim, mul, product, sub } from "../sym/expr.ts";
import type { BufferView, ExternKernel, Kernel, LoopKernel, Program } from "../loops/ir.ts";
import { axesOf, wrapLoops } from "../loops/nest.ts";
import { flatIndex, loadBufferOperand, Recorder, type Value } from "../loops/record.ts";
import { isOfFloats, type MakeTemporary, replaceWithTemporaries, roomIn, rowMajor } from "./kernels.ts";
import type { Target } from "./target.ts";
import { transformedKernels } from "./winograd.ts";

/** Repacks filters into the layouts that the target chooses. */
export function packedFilters(program: Program, { grid, kernelBuffers }: Target): Program {
  if (!grid) return program;
  return replaceWithTemporaries(program, (kernel, temporary) => {
    const isWeight = kernel.kind === "extern" && kernel.call.op === "convBackwardWeight";
    const forward = kernel.kind === "loops" ? undefined : isWeight ? kernel : asForward(kernel);
    if (!forward || !isOfFloats(forward, program) || !("groups" in forward.call)) return [kernel];
    const side = grid.transforms(forward, roomIn(program, grid)), { call } = forward;
    if (side) return transformedKernels({ ...forward, call }, { side, temporary, kernelBuffers });
    const layout = isWeight ? undefined : grid.filters(forward);
    return layout ? withPacked(forward, layout, temporary) : [kernel];
  }, "replaced");
}

/** A convolution, or the gradient of an image as one; undefined for other calls. */
export function asForward(kernel: ExternKernel): ExternKernel | undefined {
  const { call, inputs: [grad, weight] } = kernel;
  if (call.op === "convForward") return kernel;
  if (call.op !== "convBackwardInput" || !grad || !weight) return undefined;
  const isDepthwise = call.groups === weight.shape[0] && weight.shape[1] === 1;
  if (call.groups !== 1 && !isDepthwise) return undefined;
  const [down, across] = weight.shape.slice(2), [py, px] = call.padding, [dy, dx] = call.dilation;
  const isPlain = call.stride.every((stride) => stride === 1);
  if (!isPlain || typeof down !== "number" || typeof across !== "number") return undefined;
  const padding = [dy * (down - 1) - py, dx * (across - 1) - px] as const;
  if (padding.some((p) => p < 0)) return undefined;
  return {
    ...kernel,
    call: { ...call, op: "convForward", padding },
    inputs: [grad, turnedFilter(weight, isDepthwise)],
  };
}

/** A filter with input and output channels swapped, unless each channel has its own, and taps reversed. */
function turnedFilter({ buffer, offset, shape, strides }: BufferView, isDepthwise: boolean): BufferView {
  const [outputs = 1, inputs = 1, down = 1, across = 1] = shape;
  const [ofOutput = 0, ofInput = 0, line = 0, step = 0] = strides;
  return {
    buffer,
    offset: add(offset, add(mul(sub(down, 1), line), mul(sub(across, 1), step))),
    shape: [...isDepthwise ? [outputs, inputs] : [inputs, outputs], down, across],
    strides: [...isDepthwise ? [ofOutput, ofInput] : [ofInput, ofOutput], mul(line, -1), mul(step, -1)],
  };
}

/** A convolution after the kernel that copies its filter. */
function withPacked(
  kernel: ExternKernel,
  layout: "taps" | 32 | 64,
  temporary: MakeTemporary,
): readonly Kernel[] {
  const [input, weight, ...others] = kernel.inputs;
  if (!input || !weight) return [kernel];
  const isTransformed = layout !== "taps";
  const [outputs = 1, inputs = 1, ...taps] = weight.shape, places = isTransformed ? [4, 4] : taps;
  const order: readonly Dim[] = isTransformed ? [...places, inputs, outputs] : [inputs, ...places, outputs];
  const packed = rowMajor(temporary("float32", product(order)), order);
  const axes = axesOf(isTransformed ? [inputs, outputs] : order);
  const counters = axes.map(({ symbol }) => symbol), [of = 0] = counters, at = counters.at(-1) ?? 0;
  const recorder = new Recorder(loadBufferOperand);
  const load = (taps: readonly Dim[]) =>
    recorder.loadBuffer(weight.buffer, flatIndex(weight, [at, of, ...taps]), "float32");
  const store = (index: readonly Dim[], value: Value) =>
    recorder.store({ buffer: packed.buffer, dtype: "float32" }, flatIndex(packed, index), { value });
  if (isTransformed) {
    const lines = [0, 1, 2].map((y) => transformed(recorder, [0, 1, 2].map((x) => load([y, x]))));
    for (const x of [0, 1, 2, 3]) {
      const column = transformed(recorder, lines.flatMap((line) => line.slice(x, x + 1)));
      column.forEach((value, y) => store([y, x, of, at], value));
    }
  } else store(counters, load(counters.slice(1, -1)));
  const copy: LoopKernel = {
    kind: "loops",
    name: `${kernel.name}_filter`,
    body: wrapLoops(axes, recorder.statements),
    origins: kernel.origins,
    originals: kernel.originals,
  };
  const [y = 0, x = 0, ofInput = 0, ofOutput = 0] = isTransformed
    ? packed.strides
    : [1, 2, 0, 3].map((d) => packed.strides[d] ?? 0);
  const view = { ...packed, shape: weight.shape, strides: [ofOutput, ofInput, y, x] };
  return [copy, { ...kernel, inputs: [input, view, ...others], ...isTransformed && { transformed: layout } }];
}

/** Three taps of a row or column, as the four factors of F(2, 3) (Lavin and Gray 2016). */
function transformed(recorder: Recorder, [first, second, third]: readonly Value[]): readonly Value[] {
  if (!first || !second || !third) throw new InternalError("Expected three taps");
  const ends = recorder.add(first, third), half = recorder.constant(0.5, "float32");
  const halfOf = (sum: Value) => recorder.mul(sum, half);
  return [first, halfOf(recorder.add(ends, second)), halfOf(recorder.sub(ends, second)), third];
}
