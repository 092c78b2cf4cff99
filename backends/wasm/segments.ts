/**
 * Kernels as jobs. Input: a kernel; output: functions to run in order, each with the number of units that threads
 * may divide among themselves. Invariant: only a parallel loop that shares no value with its neighbours and adds
 * nothing in place is divided.
 */
import { type Dim, evaluate, type Sym } from "../../lib/sym/expr.ts";
import { blockedSums } from "../../lib/codegen/blocked_sums.ts";
import type { Loop, LoopKernel, Program, Statement, ValueId } from "../../lib/loops/ir.ts";
import { SCALAR_OPS } from "../../lib/loops/scalar.ts";
import type { FunctionBody } from "./binary.ts";
import { laneValues } from "./fits.ts";
import { printStatements } from "./kernel.ts";

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

/** The parts of a kernel; undefined where it cannot be printed. */
export function segmentsOf(given: LoopKernel, program: Program): readonly Segment[] | undefined {
  const kernel = { ...given, body: blockedSums(given.body) };
  const types = laneValues(kernel, program);
  if (!types) return undefined;
  const segment = (body: readonly Statement[], divided: Loop | undefined): Segment => ({
    body: printStatements({ body, types, program, divided: divided !== undefined }),
    units: divided?.axis.size,
    grain: divided?.vector ? 16 : 1,
    work: (value) => workOf(body, value),
  });
  if (!kernel.body.every(standsAlone)) return [segment(kernel.body, undefined)];
  return kernel.body.map((s) => segment([s], s.kind === "loop" && isDivisible(s) ? s : undefined));
}

const isDivisible = (loop: Loop): boolean =>
  loop.order === "parallel" && loop.reductions.length === 0 && loop.carried.length === 0 && !adds(loop.body);

/** Whether something is added in place, which threads would do at the same time. */
const adds = (body: readonly Statement[]): boolean =>
  body.some((s) =>
    s.kind === "store" ? s.mode === "add" : s.kind === "loop" || s.kind === "masked" ? adds(s.body) : false
  );

/** Whether a statement uses no values but its own. */
function standsAlone(s: Statement): boolean {
  if (s.kind !== "loop") return false;
  const own = new Set<ValueId>();
  const known = (...ids: readonly ValueId[]) => ids.every((id) => own.has(id));
  const visit = (body: readonly Statement[]): boolean =>
    body.every((each) => {
      switch (each.kind) {
        case "loop": {
          if (!known(...each.carried.map((c) => c.initial))) return false;
          for (const c of each.carried) own.add(c.id);
          const fine = visit(each.body) && known(...each.carried.map((c) => c.next)) &&
            each.reductions.every((r) => known(r.value, ...(r.index === undefined ? [] : [r.index])));
          for (const r of each.reductions) own.add(r.id);
          return fine;
        }
        case "store":
          return known(each.value);
        case "masked": {
          const fine = known(each.condition, each.otherwise) && visit(each.body) && known(each.value);
          own.add(each.id);
          return fine;
        }
        case "scalar":
          return known(...each.args) && own.add(each.id) !== undefined;
        case "cast":
          return known(each.value) && own.add(each.id) !== undefined;
        case "select":
          return known(each.condition, each.then, each.otherwise) && own.add(each.id) !== undefined;
        case "constant":
        case "index":
        case "load":
          return own.add(each.id) !== undefined;
        default:
          return each satisfies never;
      }
    });
  return visit([s]);
}

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
