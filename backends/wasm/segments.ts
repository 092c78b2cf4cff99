/**
 * Kernels as jobs: a loop kernel that is mapped to threads becomes a function, with the number of units that threads
 * may divide among themselves.
 */
import type { Dim } from "../../lib/sym/expr.ts";
import type { BufferId, LoopKernel, Program } from "../../lib/loops/ir.ts";
import { boundsWithin } from "../../lib/codegen/index_bounds.ts";
import type { FunctionBody } from "./function_body.ts";
import { KernelWriter } from "./kernel.ts";
import type { Functions } from "./functions.ts";
import { grainOf } from "./loops.ts";

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
