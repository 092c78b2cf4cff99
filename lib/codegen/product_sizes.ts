/** Sizes of the matrix product that a library call computes, if known. */
import { hintOf, isUnbacked } from "../sym/decide.ts";
import { ceilDiv, type Dim, floorDiv, mul, product } from "../sym/expr.ts";
import type { BufferView, ConvGeometry, ExternKernel } from "../loops/ir.ts";

/** The product [batch, rows, depth] · [batch, depth, columns]. */
interface ProductSizes {
  readonly batch: number;
  readonly rows: number;
  readonly columns: number;
  readonly depth: number;
}

/** The product that a call computes; undefined for other calls and for symbolic sizes. */
export function productSizes(kernel: ExternKernel): ProductSizes | undefined {
  const dims = dimsOf(kernel);
  if (!dims) return undefined;
  const { batch, rows, columns, depth } = dims;
  if (typeof batch !== "number" || typeof rows !== "number") return undefined;
  if (typeof columns !== "number" || typeof depth !== "number") return undefined;
  return { batch, rows, columns, depth };
}

/**
 * The gradient of the input is one product for each phase of the vertical and horizontal strides: positions a stride
 * apart meet the same taps of the filter, and no others. Dilated filters with strides are one product, with zeros in
 * between.
 */
export function phasesOf({ stride, dilation }: ConvGeometry): readonly [number, number] {
  return dilation.every((d) => d === 1) ? stride : [1, 1];
}

/** Maximum number of positions or taps per phase, of `size` in all. */
export const ofPhase = (size: Dim, phases: number): Dim => ceilDiv(size, phases);

/**
 * The product that a call computes in the call for which its program is compiled, if its sizes are symbolic: for
 * choices that are correct for any sizes. Undefined if sizes depend on elements of tensors.
 */
export function likelySizes(kernel: ExternKernel): ProductSizes | undefined {
  const dims = dimsOf(kernel);
  if (!dims || Object.values(dims).some(isUnbacked)) return undefined;
  const { batch, rows, columns, depth } = dims;
  return { batch: hintOf(batch), rows: hintOf(rows), columns: hintOf(columns), depth: hintOf(depth) };
}

type Dims = { readonly [K in keyof ProductSizes]: Dim };

function dimsOf({ call, inputs: [a, b], outputs: [out] }: ExternKernel): Dims | undefined {
  if (!a || !b || !out) return undefined;
  const places = ({ shape: [images = 1, , ...sizes] }: BufferView) => product([images, ...sizes]);
  switch (call.op) {
    case "matmul": {
      const [rows = 1, columns = 1] = out.shape.slice(-2);
      return { batch: product(out.shape.slice(0, -2)), rows, columns, depth: a.shape.at(-1) ?? 1 };
    }
    case "convForward": {
      const [channels = 1, ...filter] = b.shape;
      return {
        batch: call.groups,
        rows: floorDiv(channels, call.groups),
        columns: places(out),
        depth: product(filter),
      };
    }
    case "convBackwardInput": {
      const [channels = 1, inputs = 1, down = 1, across = 1] = b.shape, [images = 1, , ...sizes] = out.shape;
      const phases = phasesOf(call), places = sizes.map((size, axis) => ofPhase(size, phases[axis] ?? 1));
      const most = mul(ofPhase(down, phases[0]), ofPhase(across, phases[1]));
      // The largest depth of a phase, for as many phases as there are taps
      return {
        batch: mul(call.groups, ceilDiv(mul(down, across), most)),
        rows: inputs,
        columns: product([images, ...places]),
        depth: mul(floorDiv(channels, call.groups), most),
      };
    }
    case "convBackwardWeight": {
      const [channels = 1, ...filter] = out.shape;
      return {
        batch: call.groups,
        rows: floorDiv(channels, call.groups),
        columns: product(filter),
        depth: places(a),
      };
    }
    case "sort":
    case "region":
      return undefined;
    default:
      return call satisfies never;
  }
}
