/**
 * Filters of convolutions laid out by taps, channels of results side by side, for devices that make such convolutions of
 * patches of images; gradients of images are among these, as convolutions of gradients of results with filters the other
 * way round. Input: a program for a grid; output: the same with copies of filters. Invariant: sums are over the same
 * products, in an order that sizes alone decide.
 */
import { add, type Dim, mul, product, sub } from "../sym/expr.ts";
import type { BufferView, ExternKernel, Kernel, LoopKernel, Program } from "../loops/ir.ts";
import { axesOf, wrapLoops } from "../loops/nest.ts";
import { flatIndex, loadBufferOperand, Recorder } from "../loops/record.ts";
import { type MakeTemporary, replaceWithTemporaries, rowMajor } from "./kernels.ts";
import type { Target } from "./target.ts";

/** The program with filters laid out by taps where the target asks for it. */
export function packedFilters(program: Program, { grid }: Target): Program {
  if (!grid) return program;
  return replaceWithTemporaries(program, (kernel, temporary) => {
    const forward = kernel.kind === "extern" ? asForward(kernel) : undefined;
    const isOfFloats = forward?.inputs.every(({ buffer }) => program.buffers[buffer]?.dtype === "float32");
    return forward && isOfFloats && grid.patches(forward) ? withPacked(forward, temporary) : [kernel];
  });
}

/** A convolution, or the gradient of an image as one; undefined for other calls. */
function asForward(kernel: ExternKernel): ExternKernel | undefined {
  const { call, inputs: [grad, weight] } = kernel;
  if (call.op === "convForward") return kernel;
  if (call.op !== "convBackwardInput" || call.groups !== 1 || !grad || !weight) return undefined;
  const [down, across] = weight.shape.slice(2), [py, px] = call.padding, [dy, dx] = call.dilation;
  const isPlain = call.stride.every((stride) => stride === 1);
  if (!isPlain || typeof down !== "number" || typeof across !== "number") return undefined;
  const padding = [dy * (down - 1) - py, dx * (across - 1) - px] as const;
  if (padding.some((p) => p < 0)) return undefined;
  return { ...kernel, call: { ...call, op: "convForward", padding }, inputs: [grad, turnedFilter(weight)] };
}

/** A filter whose channels have changed sides, taps from the last to the first. */
function turnedFilter({ buffer, offset, shape, strides }: BufferView): BufferView {
  const [outputs = 1, inputs = 1, down = 1, across = 1] = shape;
  const [ofOutput = 0, ofInput = 0, line = 0, step = 0] = strides;
  return {
    buffer,
    offset: add(offset, add(mul(sub(down, 1), line), mul(sub(across, 1), step))),
    shape: [inputs, outputs, down, across],
    strides: [ofInput, ofOutput, mul(line, -1), mul(step, -1)],
  };
}

/** A convolution behind the copy of its filter. */
function withPacked(kernel: ExternKernel, temporary: MakeTemporary): readonly Kernel[] {
  const [input, weight, ...others] = kernel.inputs;
  if (!input || !weight) return [kernel];
  const [outputs = 1, ...taps] = weight.shape, order: readonly Dim[] = [...taps, outputs];
  const packed = rowMajor(temporary("float32", product(order)), order), [last = 1] = packed.strides.slice(-1);
  const axes = axesOf(order), [at = 0] = axes.slice(-1).map(({ symbol }) => symbol);
  const recorder = new Recorder(loadBufferOperand);
  const index = [at, ...axes.slice(0, -1).map(({ symbol }) => symbol)];
  const value = recorder.loadBuffer(weight.buffer, flatIndex(weight, index), "float32");
  const place = flatIndex(packed, axes.map(({ symbol }) => symbol));
  recorder.store({ buffer: packed.buffer, dtype: "float32" }, place, { value });
  const copy: LoopKernel = {
    kind: "loops",
    name: `${kernel.name}_filter`,
    body: wrapLoops(axes, recorder.statements),
    origins: kernel.origins,
    given: kernel.given,
  };
  const view = { ...packed, shape: weight.shape, strides: [last, ...packed.strides.slice(0, -1)] };
  return [copy, { ...kernel, inputs: [input, view, ...others] }];
}
