/**
 * Which kernels can be WebAssembly functions. Input: a kernel; output: whether every value of it has lanes of 32
 * bits, and the type of these lanes. Invariant: an int64 value becomes int32 where its bounds fit in there, or
 * where it is loaded and clamped to ±2³⁰ and every use of it comes out the same for the clamped value: as an index
 * (which lies in a tensor, hence far below), or compared with what is small. Sizes are taken to be below
 * `SIZE_LIMIT`, which whoever runs the kernel makes sure of.
 */
import { type DType, isSmall } from "../../lib/base/dtype.ts";
import type { Loop, LoopKernel, Program, Reduction, Statement, ValueId } from "../../lib/loops/ir.ts";
import type { ScalarOpName } from "../../lib/loops/scalar.ts";
import { boundedIntegers, type Bounds } from "../js/integers.ts";
import { CLAMP } from "./access.ts";
import { boundsWithin } from "./bounds.ts";
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
const COMPARISONS: ReadonlySet<ScalarOpName> = new Set<ScalarOpName>(["eq", "ne", "lt", "le", "gt", "ge"]);
const SHIFTS: ReadonlySet<ScalarOpName> = new Set<ScalarOpName>(["add", "sub", "minimum", "maximum"]);

/** Types of values in lanes: bool is a mask. */
export type LaneType = "float32" | "int32" | "bool";

const isLaneType = (dtype: DType | undefined): dtype is LaneType =>
  dtype === "float32" || dtype === "int32" || dtype === "bool";

/** The lane type of every value of a kernel; undefined where one has none, or something cannot be done in lanes. */
export function laneValues(
  kernel: LoopKernel,
  program: Program,
): ReadonlyMap<ValueId, LaneType> | undefined {
  const bounds = boundedIntegers(kernel.body, LARGEST, boundsWithin(kernel.body, program.sizes));
  const check = new Check(program, bounds);
  return check.all(kernel.body) ? check.types : undefined;
}

class Check {
  readonly types = new Map<ValueId, LaneType>();
  /** Clamped int64 values: how far they may lie from the clamped value that they were computed from. */
  readonly #clamped = new Map<ValueId, number>();

  constructor(readonly program: Program, readonly bounds: ReadonlyMap<ValueId, Bounds>) {}

  all(body: readonly Statement[]): boolean {
    return body.every((s) => this.#statement(s));
  }

  #define(id: ValueId, dtype: DType): boolean {
    const type = dtype === "int64" && this.bounds.has(id) ? "int32" : dtype;
    if (!isLaneType(type)) return false;
    this.types.set(id, type);
    return true;
  }

  /** A result that is clamped if one of its operands is. */
  #defineFrom(id: ValueId, dtype: DType, from: readonly ValueId[]): boolean {
    if (!from.some((each) => this.#clamped.has(each))) return this.#define(id, dtype);
    if (!from.every((each) => this.#clamped.has(each) || this.#magnitude(each) < CLAMP / 2)) return false;
    return this.#clamp(id, Math.max(...from.map((each) => this.#clamped.get(each) ?? 0)));
  }

  #clamp(id: ValueId, distance: number): boolean {
    this.#clamped.set(id, distance);
    this.types.set(id, "int32");
    return distance < CLAMP / 2;
  }

  #magnitude(id: ValueId): number {
    const bounds = this.bounds.get(id);
    return bounds ? Math.max(Math.abs(bounds[0]), Math.abs(bounds[1])) : Infinity;
  }

  /** None of them clamped: their exact value matters. */
  #exact(...ids: readonly ValueId[]): boolean {
    return !ids.some((id) => this.#clamped.has(id));
  }

  #statement(s: Statement): boolean {
    switch (s.kind) {
      case "loop":
        return this.#loop(s);
      case "masked":
        return this.all(s.body) && this.#exact(s.condition) &&
          this.#defineFrom(s.id, s.dtype, [s.value, s.otherwise]) &&
          this.types.get(s.value) === this.types.get(s.otherwise);
      case "index":
        return s.dtype !== "bool" && this.#define(s.id, s.dtype);
      case "store": {
        const dtype = this.program.buffers[s.buffer]?.dtype;
        return this.#exact(s.value) && (isLaneType(dtype) || (dtype === "int64" && s.mode === "set"));
      }
      case "load":
        if (isSmall(this.program.buffers[s.buffer]?.dtype ?? "float64")) return false;
        return s.dtype === "int64"
          ? this.#clamp(s.id, 0)
          : isLaneType(s.dtype) && this.#define(s.id, s.dtype);
      case "scalar":
        return this.#scalar(s) && hasLanes(s.op, this.types.get(s.args[0] ?? -1) ?? "float64");
      case "cast":
        return this.#exact(s.value) && this.#define(s.id, s.dtype);
      case "select":
        return this.#defineFrom(s.id, s.dtype, [s.then, s.otherwise]);
      case "constant":
        return this.#define(s.id, s.dtype);
      default:
        return s satisfies never;
    }
  }

  #scalar({ id, op, args, dtype }: Statement & { readonly kind: "scalar" }): boolean {
    const clamped = args.filter((a) => this.#clamped.has(a));
    if (clamped.length === 0) return this.#define(id, dtype);
    const distance = this.#clamped.get(clamped[0] ?? -1) ?? 0;
    const other = args.find((a) => !this.#clamped.has(a));
    if (clamped.length > 1 || other === undefined) return false;
    const room = CLAMP - distance - this.#magnitude(other);
    if (COMPARISONS.has(op)) return room > 0 && this.#define(id, dtype);
    if (!SHIFTS.has(op)) return false;
    return this.#clamp(id, distance + this.#magnitude(other));
  }

  #loop(s: Loop): boolean {
    if (!s.carried.every((c) => this.#exact(c.initial) && this.#define(c.id, c.dtype))) return false;
    if (!this.all(s.body) || !s.carried.every((c) => this.#exact(c.next))) return false;
    return s.reductions.every((r) => {
      if (!this.#exact(r.value, r.index ?? -1) || !this.#define(r.id, r.dtype)) return false;
      // The order of results that do not depend on it is the printer's to choose
      if (!s.vector && s.order !== "reduction") return false;
      return REDUCTIONS.has(r.op) || this.types.get(r.value) !== "bool";
    });
  }
}
