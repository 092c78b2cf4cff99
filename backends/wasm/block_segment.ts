/**
 * Kernels that run by blocks as one job, whose units are blocks: the statements and products of a block run in
 * sequence and pass values to each other in scratch memory of the thread. Invariant: elements are computed in the
 * same order as by the separate kernels.
 */
import { itemSize } from "../../lib/base/dtype.ts";
import { InternalError } from "../../lib/base/errors.ts";
import { axisOf } from "../../lib/codegen/cut_loop.ts";
import { boundsWithin } from "../../lib/codegen/index_bounds.ts";
import type { Blocks, BufferView, ExternKernel, Kernel } from "../../lib/loops/ir.ts";
import { wrapLoops } from "../../lib/loops/nest.ts";
import { countersOf } from "../../lib/loops/together.ts";
import { usesOf } from "../../lib/loops/uses.ts";
import { add, type Dim, floorDiv, mod, mul, product } from "../../lib/sym/expr.ts";
import { GEMM_PARAMS, GEMM_SCRATCH, GEMM_SLACK } from "./gemm.ts";
import { KernelWriter } from "./kernel.ts";
import type { Printing, Segment } from "./segments.ts";

/** Bytes of an element of products. */
const FLOAT = 4;

/** Bytes up to the next multiple of 64, with some that loads may reach. */
const roomy = (bytes: Dim): Dim => mul(floorDiv(add(bytes, 127), 64), 64);

/** Kernels of the same blocks as a function. */
export function blockSegment(
  kernels: readonly Kernel[],
  blocks: Blocks,
  { program, room, limit }: Printing,
): Segment {
  const { axes, work, inOrder = axisOf("p", 1) } = blocks, units = product(axes.map(({ size }) => size));
  const block = axisOf("w", units), nests = kernels.flatMap((k) => k.kind === "loops" ? k.body : []);
  const bounds = boundsWithin(wrapLoops([block, ...countersOf(blocks)], nests), program.sizes, limit);
  const writer = new KernelWriter({ program, bounds }, room), { at, body } = writer;
  let scratch: Dim = 0;
  for (const id of new Set(kernels.flatMap((kernel) => [...usesOf(kernel).all]))) {
    const buffer = program.buffers[id];
    if (buffer?.role.kind !== "local") continue;
    const offset = scratch;
    at.place(id, () => writer.pushScratch(offset));
    scratch = add(scratch, roomy(mul(buffer.length, itemSize(buffer.dtype))));
  }
  const each = () => {
    for (const kernel of kernels) {
      if (kernel.kind === "loops") writer.kernel(kernel.body);
      else writeProduct(writer, kernel, { gemm: room.product(), scratch });
    }
  };
  writer.divided(block, () => {
    axes.forEach(({ symbol, size }, n) => {
      const below = product(axes.slice(n + 1).map((axis) => axis.size)),
        place = floorDiv(block.symbol, below);
      at.assign({ symbol, size }, n === 0 ? place : mod(place, size));
    });
    const { type } = at.counter(inOrder.symbol, inOrder.size);
    const range = { from: () => void body.integer(type, 0), to: () => at.pushIndex(inOrder.size, type) };
    at.iterate(inOrder.symbol, range, each);
  });
  return {
    body,
    buffers: at.buffers,
    units,
    grain: 1,
    work,
    scratch: add(scratch, GEMM_SCRATCH + GEMM_SLACK),
  };
}

/** A call of the library's product for one matrix. */
function writeProduct(
  writer: KernelWriter,
  { name, call, inputs: [a, b], outputs: [out] }: ExternKernel,
  { gemm, scratch }: { readonly gemm: number; readonly scratch: Dim },
): void {
  const { body, at } = writer;
  if (call.op !== "matmul" || !a || !b || !out) {
    throw new InternalError(`Expected a product but found ${name}`);
  }
  const index = (value: Dim) => () => at.pushIndex(value, "i32");
  const address = ({ buffer, offset }: BufferView) => () => at.push(buffer, offset);
  const stride = ({ strides }: BufferView, dim: -1 | -2) => index(mul(strides.at(dim) ?? 0, FLOAT));
  const [m = 1, n = 1] = out.shape.slice(-2);
  const values: Readonly<Record<(typeof GEMM_PARAMS)[number], () => void>> = {
    a: address(a),
    b: address(b),
    out: address(out),
    m: index(m),
    n: index(n),
    k: index(a.shape.at(-1) ?? 1),
    aRow: stride(a, -2),
    aColumn: stride(a, -1),
    bRow: stride(b, -2),
    bColumn: stride(b, -1),
    outRow: stride(out, -2),
    outColumn: stride(out, -1),
    scratch: () => writer.pushScratch(scratch),
    accumulate: index(call.accumulate ? 1 : 0),
    packed: index(0),
  };
  for (const name of GEMM_PARAMS) values[name]();
  body.call(gemm);
}
