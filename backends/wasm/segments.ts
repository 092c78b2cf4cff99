/**
 * Kernels as jobs: a loop kernel that is mapped to threads becomes a function, with the number of units that threads
 * may divide among themselves. Kernels that run by blocks become one function, whose units are blocks; values between
 * them are in scratch memory of the thread.
 */
import { add, type Dim, floorDiv, freeSymbols, mod, mul, product } from "../../lib/sym/expr.ts";
import type {
  Blocks,
  BufferId,
  BufferView,
  ExternKernel,
  Kernel,
  LoopKernel,
  Program,
} from "../../lib/loops/ir.ts";
import { boundsWithin } from "../../lib/codegen/value_bounds.ts";
import type { FunctionBody } from "./function_body.ts";
import { KernelWriter } from "./kernel.ts";
import type { Functions } from "./functions.ts";
import { grainOf } from "./loops.ts";
import { itemSize } from "../../lib/base/dtype.ts";
import { InternalError } from "../../lib/base/errors.ts";
import { axisOf } from "../../lib/codegen/strip_mining.ts";
import { wrapLoops } from "../../lib/loops/nest.ts";
import { countersOf } from "../../lib/loops/kernel_groups.ts";
import { usesOf } from "../../lib/loops/uses.ts";
import { GEMM_PARAMS, GEMM_SCRATCH, GEMM_SLACK, IMPORTED_GEMM } from "./gemm.ts";

/** A kernel as a function. */
export interface Segment {
  readonly body: FunctionBody;
  /** Buffers whose addresses its description holds, in order. */
  readonly buffers: readonly BufferId[];
  /** Number of iterations that may be divided; undefined if it runs as one. */
  readonly units: Dim | undefined;
  /** Iterations that stay together. */
  readonly grain: number;
  /** As in LoopKernel. */
  readonly work: Dim;
  /** Bytes of memory that each thread needs for itself. */
  readonly scratch: Dim;
}

/** Context for printing kernels. */
export interface Printing {
  readonly program: Program;
  readonly room: Functions;
  /** Every size is below this. */
  readonly limit: number;
}

/** A kernel as a function. Equal kernels over other buffers become equal functions. */
export function segmentOf({ body, work = 0 }: LoopKernel, { program, room, limit }: Printing): Segment {
  const bounds = boundsWithin(body, program.sizes, limit);
  const writer = new KernelWriter({ program, bounds }, room), last = body.at(-1);
  const { buffers } = writer.at;
  const loop = last?.kind === "loop" && last.share === "team" ? last : undefined;
  writer.kernel(loop ? body.slice(0, -1) : body, loop);
  return {
    body: writer.body,
    buffers,
    units: loop?.axis.size,
    grain: loop ? grainOf(loop) : 1,
    work,
    scratch: 0,
  };
}

/** Bytes of an element of products. */
const FLOAT = 4;

/** Bytes rounded up to a multiple of 64, plus slack that loads may read. */
const paddedSize = (bytes: Dim): Dim => mul(floorDiv(add(bytes, 127), 64), 64);

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
    scratch = add(scratch, paddedSize(mul(buffer.length, itemSize(buffer.dtype))));
  }
  // An operand that is the same for all blocks is packed once
  const packed = new Map<Kernel, Dim>();
  for (const kernel of kernels) {
    const [a] = kernel.kind === "extern" ? kernel.inputs : [];
    if (!a || !isShared(a, kernels, blocks)) continue;
    packed.set(kernel, scratch);
    writePacking(writer, a, { packAll: IMPORTED_GEMM.packAll, to: scratch });
    scratch = add(scratch, paddedSize(mul(product(a.shape), FLOAT)));
  }
  const each = () => {
    for (const kernel of kernels) {
      if (kernel.kind === "loops") writer.kernel(kernel.body);
      else writeProduct(writer, kernel, { gemm: IMPORTED_GEMM.gemm, scratch, packed: packed.get(kernel) });
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

/** Returns whether a matrix is the same for all blocks. */
function isShared({ buffer, offset }: BufferView, kernels: readonly Kernel[], blocks: Blocks): boolean {
  const symbols = freeSymbols(offset);
  return !kernels.some((kernel) => usesOf(kernel).written.has(buffer)) &&
    !countersOf(blocks).some(({ symbol }) => symbols.has(symbol));
}

/** A matrix as arguments of the library's functions: its address and strides. */
function matrixOf({ at }: KernelWriter, { buffer, offset, strides }: BufferView) {
  const stride = (dim: -1 | -2) => () => at.pushIndex(mul(strides.at(dim) ?? 0, FLOAT), "i32");
  const address = () => {
    at.push(buffer, offset);
  };
  return { address, row: stride(-2), column: stride(-1) };
}

/** A call of the library that packs a matrix. */
function writePacking(
  writer: KernelWriter,
  view: BufferView,
  { packAll, to }: { readonly packAll: number; readonly to: Dim },
): void {
  const { address, row, column } = matrixOf(writer, view), [m = 1, k = 1] = view.shape.slice(-2);
  for (const push of [address, row, column]) push();
  for (const size of [m, k]) writer.at.pushIndex(size, "i32");
  writer.pushScratch(to);
  writer.body.call(packAll);
}

/** A call of the library's product for one matrix. */
function writeProduct(
  writer: KernelWriter,
  { name, call, inputs, outputs }: ExternKernel,
  { gemm, scratch, packed }: {
    readonly gemm: number;
    readonly scratch: Dim;
    /** Where the packed first operand lies; undefined if it is not packed. */
    readonly packed: Dim | undefined;
  },
): void {
  const [left, right] = inputs, [result] = outputs;
  if (call.op !== "matmul" || !left || !right || !result) {
    throw new InternalError(`Expected a product but found ${name}`);
  }
  const index = (value: Dim) => () => writer.at.pushIndex(value, "i32");
  const [a, b, out] = [matrixOf(writer, left), matrixOf(writer, right), matrixOf(writer, result)];
  const [m = 1, n = 1] = result.shape.slice(-2);
  const values: Readonly<Record<(typeof GEMM_PARAMS)[number], () => void>> = {
    a: packed === undefined ? a.address : () => writer.pushScratch(packed),
    b: b.address,
    out: out.address,
    m: index(m),
    n: index(n),
    k: index(left.shape.at(-1) ?? 1),
    aRow: a.row,
    aColumn: a.column,
    bRow: b.row,
    bColumn: b.column,
    outRow: out.row,
    outColumn: out.column,
    scratch: () => writer.pushScratch(scratch),
    accumulate: index(call.accumulate ? 1 : 0),
    packed: index(packed === undefined ? 0 : 1),
  };
  for (const name of GEMM_PARAMS) values[name]();
  writer.body.call(gemm);
}
