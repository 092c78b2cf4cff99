/**
 * Kernels as jobs. Input: a loop kernel; output: functions to run in order, each with the number of units that threads
 * may divide among themselves. Invariant: only a parallel loop that shares no value with its neighbours and adds
 * nothing in place is divided.
 */
import { type Dim, evaluate, type Sym } from "../../lib/sym/expr.ts";
import type { Loop, LoopKernel, Program, Statement } from "../../lib/loops/ir.ts";
import { SCALAR_OPS } from "../../lib/loops/scalar.ts";
import { collides } from "../../lib/loops/uses.ts";
import { valueTypes } from "../../lib/loops/value_types.ts";
import { boundsWithin } from "../../lib/codegen/index_bounds.ts";
import type { FunctionBody } from "./function_body.ts";
import { type KernelFacts, KernelWriter } from "./kernel.ts";
import type { Room } from "./lanes.ts";
import { standsAlone } from "./independence.ts";

/** A part of a kernel. */
export interface Segment {
  readonly body: FunctionBody;
  /** Iterations that may be divided; undefined where the part runs as one. */
  readonly units: Dim | undefined;
  /** Iterations that stay together. */
  readonly grain: number;
  /** About how many lane operations it takes, by the values of the sizes. */
  readonly work: (value: (symbol: Sym) => number) => number;
}

/** Where kernels are printed. */
export interface Printing {
  readonly program: Program;
  readonly room: Room;
  /** Every size is below this. */
  readonly limit: number;
}

/** The parts of a kernel. */
export function segmentsOf({ body }: LoopKernel, { program, room, limit }: Printing): readonly Segment[] {
  const facts: KernelFacts = {
    program,
    bounds: boundsWithin(body, program.sizes, limit),
    types: valueTypes(body),
  };
  const segment = (list: readonly Statement[], divided: Loop | undefined): Segment => {
    const writer = new KernelWriter(facts, room);
    if (divided) writer.divided(divided);
    else writer.statements(list, { width: "equal" });
    return {
      body: writer.body,
      units: divided?.axis.size,
      grain: divided?.vector ? 16 : 1,
      work: (value) => workOf(list, value),
    };
  };
  if (!body.every(standsAlone)) return [segment(body, undefined)];
  return body.map((s) => segment([s], s.kind === "loop" && isDivisible(s) ? s : undefined));
}

const isDivisible = (loop: Loop): boolean =>
  loop.order === "parallel" && loop.reductions.length === 0 && loop.carried.length === 0 &&
  !collides(loop.body);

/** Operations of statements; a vector takes as long as an element. */
function workOf(body: readonly Statement[], value: (symbol: Sym) => number): number {
  let work = 0;
  for (const s of body) {
    if (s.kind === "loop") {
      work += evaluate(s.axis.size, value) / (s.vector ? 4 : 1) * workOf(s.body, value);
    } else if (s.kind === "masked") work += workOf(s.body, value) + 4;
    else work += s.kind === "scalar" ? SCALAR_OPS[s.op].weight : 1;
  }
  return work;
}
