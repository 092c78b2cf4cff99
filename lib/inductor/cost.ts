/**
 * Costs of formulas: weights of scalar operations in units of one addition, and the operands that an op reads
 * directly. Invariant: weights only choose between equivalent programs.
 */
import { valueType } from "../base/dtype.ts";
import type { Operand } from "../loops/body.ts";
import type { Statement } from "../loops/ir.ts";
import { Recorder, type Value } from "../loops/record.ts";
import { SCALAR_OPS } from "../loops/scalar.ts";
import { type Dim, operandsOf, type Sym } from "../sym/expr.ts";

const CHEAP = 1, DIVISION = 4, CONDITION = 8;

/** From this weight on a value that is used more than once is worth storing. */
export const HEAVY = 12;

/** The cost of one formula without its operands. */
export interface OwnCost {
  readonly weight: number;
  readonly operations: number;
  /** Operands in the order of first use. */
  readonly uses: readonly Operand[];
}

/** Runs a formula once with opaque operands and adds up what it records. */
export function ownCost(run: (recorder: Recorder) => void): OwnCost {
  const uses: Operand[] = [], divisions = new Set<Sym>();
  const recorder = new Recorder((o, operand, index): Value => {
    for (const d of index) divisionsOf(d, divisions);
    let at = uses.indexOf(operand);
    if (at < 0) at = uses.push(operand) - 1;
    const key = index.map((d) => typeof d === "number" ? d : `#${d.id}`).join();
    const dtype = valueType(operand.dtype);
    return o.emit(`use ${at} ${key}`, dtype, (id) => ({ kind: "load", id, buffer: at, index: 0, dtype }));
  });
  run(recorder);
  const own = weigh(recorder.statements);
  // Divisions in views do not count: they cancel, or the loops are cut along them
  return { ...own, weight: own.weight + (own.operations > 0 ? DIVISION * divisions.size : 0), uses };
}

function divisionsOf(d: Dim, into: Set<Sym>): void {
  if (typeof d === "number") return;
  if (d.node.kind === "floorDiv" || d.node.kind === "mod") into.add(d);
  for (const operand of operandsOf(d)) divisionsOf(operand, into);
}

/** The weight and number of operations of straight-line statements. */
export function weigh(statements: readonly Statement[]): { weight: number; operations: number } {
  let weight = 0, operations = 0;
  for (const s of statements) {
    if (s.kind === "scalar") {
      weight += SCALAR_OPS[s.op].weight;
      operations++;
    } else if (s.kind === "select" || s.kind === "cast") {
      weight += CHEAP;
      operations++;
    } else if (s.kind === "masked" || s.kind === "loop") {
      const inside = weigh(s.body);
      weight += inside.weight + (s.kind === "masked" ? CONDITION : 0);
      operations += inside.operations;
    }
  }
  return { weight, operations };
}
