/**
 * Kernels as jobs. Input: a loop kernel that is mapped to threads; output: a function, with the number of units that
 * threads may divide among themselves.
 */
import type { Dim } from "../../lib/sym/expr.ts";
import type { LoopKernel, Program } from "../../lib/loops/ir.ts";
import { boundsWithin } from "../../lib/codegen/index_bounds.ts";
import { valueTypes } from "../../lib/loops/value_types.ts";
import type { FunctionBody } from "./function_body.ts";
import { KernelWriter } from "./kernel.ts";
import type { Room } from "./lanes.ts";

/** A kernel as a function. */
export interface Segment {
  readonly body: FunctionBody;
  /** Iterations that may be divided; undefined where it runs as one. */
  readonly units: Dim | undefined;
  /** Iterations that stay together. */
  readonly grain: number;
  /** As LoopKernel has it. */
  readonly work: Dim;
}

/** Where kernels are printed. */
export interface Printing {
  readonly program: Program;
  readonly room: Room;
  /** Every size is below this. */
  readonly limit: number;
}

/** A kernel as a function. */
export function segmentOf({ body, work = 0 }: LoopKernel, { program, room, limit }: Printing): Segment {
  const bounds = boundsWithin(body, program.sizes, limit);
  const writer = new KernelWriter({ program, bounds, types: valueTypes(body) }, room), last = body.at(-1);
  const loop = last?.kind === "loop" && last.share === "team" ? last : undefined;
  writer.statements(loop ? body.slice(0, -1) : body, { width: "equal" });
  if (loop) writer.divided(loop);
  return { body: writer.body, units: loop?.axis.size, grain: loop?.vector ? 16 : 1, work };
}
