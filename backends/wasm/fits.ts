/**
 * Which kernels can be WebAssembly functions. Input: a kernel; output: whether every value of it has lanes of 32
 * bits, and the type of these lanes. Invariant: an int64 value becomes int32 only where its bounds fit in there.
 */
import type { DType } from "../../lib/base/dtype.ts";
import type { Loop, LoopKernel, Program, Reduction, Statement, ValueId } from "../../lib/loops/ir.ts";
import { type Dim, freeSymbols } from "../../lib/sym/expr.ts";
import { boundedIntegers } from "../js/integers.ts";
import { hasLanes } from "./lanes.ts";

/** Greatest magnitude of an integer in a lane. */
const LARGEST = 2 ** 31 - 1;

const REDUCTIONS: ReadonlySet<Reduction["op"]> = new Set<Reduction["op"]>([
  "sum",
  "prod",
  "max",
  "min",
  "any",
  "all",
]);

/** Types of values in lanes: bool is a mask. */
export type LaneType = "float32" | "int32" | "bool";

const isLaneType = (dtype: DType | undefined): dtype is LaneType =>
  dtype === "float32" || dtype === "int32" || dtype === "bool";

/** The lane type of every value of a kernel; undefined where one has none, or something cannot be done in lanes. */
export function laneValues(
  kernel: LoopKernel,
  program: Program,
): ReadonlyMap<ValueId, LaneType> | undefined {
  const check = new Check(program, boundedIntegers(kernel.body, LARGEST));
  return check.all(kernel.body) ? check.types : undefined;
}

class Check {
  readonly types = new Map<ValueId, LaneType>();

  constructor(readonly program: Program, readonly narrow: ReadonlySet<ValueId>) {}

  all(body: readonly Statement[]): boolean {
    return body.every((s) => this.#statement(s));
  }

  #define(id: ValueId, dtype: DType): boolean {
    const type = dtype === "int64" && this.narrow.has(id) ? "int32" : dtype;
    if (!isLaneType(type)) return false;
    this.types.set(id, type);
    return true;
  }

  #statement(s: Statement): boolean {
    switch (s.kind) {
      case "loop":
        return this.#loop(s);
      case "masked":
        return this.all(s.body) && this.#define(s.id, s.dtype) &&
          this.types.get(s.value) === this.types.get(s.otherwise);
      case "index":
        return plainIndex(s.index) && this.#define(s.id, s.dtype) && s.dtype !== "bool";
      case "store": {
        const dtype = this.program.buffers[s.buffer]?.dtype;
        return s.mode === "set" && (isLaneType(dtype) || dtype === "int64") && plainIndex(s.index);
      }
      case "load":
        return isLaneType(s.dtype) && this.#define(s.id, s.dtype) && plainIndex(s.index);
      case "scalar":
        return this.#define(s.id, s.dtype) && hasLanes(s.op, this.types.get(s.args[0] ?? -1) ?? "float64");
      case "cast":
      case "constant":
      case "select":
        return this.#define(s.id, s.dtype);
      default:
        return s satisfies never;
    }
  }

  #loop(s: Loop): boolean {
    if (!s.carried.every((c) => this.#define(c.id, c.dtype))) return false;
    if (!this.all(s.body)) return false;
    return s.reductions.every((r) => {
      if (!this.#define(r.id, r.dtype)) return false;
      // The order of results that do not depend on it is the printer's to choose
      if (!s.vector && s.order !== "reduction") return false;
      return REDUCTIONS.has(r.op) || this.types.get(r.value) !== "bool";
    });
  }
}

function plainIndex(index: Dim): boolean {
  return [...freeSymbols(index)].every((s) => s.node.kind === "symbol" && s.node.role.kind !== "value");
}
