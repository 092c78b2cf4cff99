/** Library calls as products of matrices. Input: a call; output: the sizes of the matrices, where they are known. */
import { type Dim, floorDiv, mul, product } from "../sym/expr.ts";
import type { BufferView, ExternKernel } from "../loops/ir.ts";

/** The product [batch, rows, depth] · [batch, depth, columns]. */
export interface ProductSizes {
  readonly batch: number;
  readonly rows: number;
  readonly columns: number;
  readonly depth: number;
}

/** The product that a call computes; undefined for other calls and for sizes that change. */
export function productSizes(kernel: ExternKernel): ProductSizes | undefined {
  const dims = dimsOf(kernel);
  if (!dims) return undefined;
  const { batch, rows, columns, depth } = dims;
  if (typeof batch !== "number" || typeof rows !== "number") return undefined;
  if (typeof columns !== "number" || typeof depth !== "number") return undefined;
  return { batch, rows, columns, depth };
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
      const [channels = 1, inputs = 1, ...filter] = b.shape;
      const depth = mul(floorDiv(channels, call.groups), product(filter));
      return { batch: call.groups, rows: inputs, columns: places(out), depth };
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
      return undefined;
    default:
      return call satisfies never;
  }
}
