/**
 * Determines which operands and results of convolutions are accessed by vectors of four, and whether a filter has the
 * layout for patch convolutions.
 */
import { phasesOf } from "../../lib/codegen/product_sizes.ts";
import type { BufferView, ConvGeometry, ExternKernel, ExternOp, Program } from "../../lib/loops/ir.ts";
import { mul, product } from "../../lib/sym/expr.ts";
import { isOfFours } from "./vec4.ts";
import { size } from "./phases.ts";

/** The calls that are convolutions. */
export type ConvolutionOp = Extract<ExternOp, ConvGeometry>;

/** The parts of a convolution that may be accessed by vectors. */
interface Vectors {
  readonly operand: BufferView | undefined;
  readonly out: boolean;
}

/** Returns whether a float convolution has a filter with taps as matrices of input channels by output channels. */
export function liesByTaps({ inputs }: ExternKernel, { buffers }: Program): boolean {
  const [, filter] = inputs;
  if (!filter || !inputs.every(({ buffer }) => buffers[buffer]?.dtype === "float32")) return false;
  const [results = 1, , down = 1, across = 1] = filter.shape, line = mul(across, results);
  return [1, mul(down, line), line, results].every((stride, d) => filter.strides[d] === stride);
}

/** Returns the vectorisable parts of a patch convolution: a filter whose output channels are contiguous. */
export function vectorsOfPatch(
  { inputs: [, filter], outputs: [out] }: ExternKernel,
  program: Program,
): Vectors {
  const isOf = (view: BufferView | undefined, along: number): view is BufferView =>
    view !== undefined && program.buffers[view.buffer]?.dtype === "float32" && view.strides[along] === 1 &&
    [view.offset, view.shape[along], ...view.strides.toSpliced(along, 1)].every(isOfFours);
  return { operand: isOf(filter, 0) ? filter : undefined, out: isOf(out, 3) };
}

/** Returns the vectorisable parts of a convolution: an operand, and the result. */
export function vectorsOf(
  { inputs: [first, second], outputs: [out] }: ExternKernel,
  call: ConvolutionOp,
  program: Program,
): Vectors {
  const isOf = (view: BufferView | undefined, dimensions: readonly number[]): view is BufferView => {
    if (!view || program.buffers[view.buffer]?.dtype !== "float32") return false;
    const inner = product(dimensions.map((d) => size(view, d)));
    // The dimensions are adjacent, and the distances between the others are whole vectors
    const strides = dimensions.map((_, i) => product(dimensions.slice(i + 1).map((d) => size(view, d))));
    return isOfFours(inner) && isOfFours(view.offset) && view.strides.every((stride, d) => {
      const at = dimensions.indexOf(d);
      return at < 0 ? isOfFours(stride) : stride === strides[at] || size(view, d) === 1;
    });
  };
  const isOnePhase = product(phasesOf(call)) === 1;
  switch (call.op) {
    case "convForward":
      return { operand: isOf(second, [1, 2, 3]) ? second : undefined, out: isOf(out, [2, 3]) };
    case "convBackwardInput":
      return { operand: undefined, out: isOnePhase && isOf(out, [2, 3]) };
    case "convBackwardWeight":
      return {
        operand: isOf(first, [2, 3]) ? first : undefined,
        out: isOf(out, [1, 2, 3]),
      };
    default:
      return call satisfies never;
  }
}
