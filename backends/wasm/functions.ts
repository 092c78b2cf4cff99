/**
 * The functions of a module that its kernels call, by number. Invariant: each is written on first use, at most once for
 * four elements and once for one vector.
 */
import type { ValueType } from "../../lib/base/dtype.ts";
import { functionOf, fusedFunction } from "../../lib/loops/math/function.ts";
import type { ScalarOpName } from "../../lib/loops/scalar.ts";
import type { ModuleWriter } from "./binary.ts";
import { FunctionBody } from "./function_body.ts";
import { HELPERS } from "./lane_functions.ts";
import { type HelperName, Lanes, type Room } from "./lanes.ts";
import { apply } from "./straight_line.ts";
import { type LaneValue, partOf, vectorsOf } from "./values.ts";

const vectors = (count: number) => new Array<"v128">(count).fill("v128");

/** The functions of one module. */
export class Functions implements Room {
  readonly #known = new Map<string, number>();

  constructor(readonly module: ModuleWriter, readonly fuses: boolean) {}

  helper(name: HelperName): number {
    return this.#once(name, HELPERS[name]);
  }

  scalarFunction(op: ScalarOpName, dtype: ValueType, four: boolean): number {
    return this.#once(`${op} ${dtype} ${four}`, () => this.#scalar(op, dtype, four));
  }

  #once(key: string, write: () => FunctionBody): number {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const made = this.module.add(write());
    this.#known.set(key, made);
    return made;
  }

  #scalar(op: ScalarOpName, dtype: ValueType, four: boolean): FunctionBody {
    const made = op === "fma" ? fusedFunction(dtype) : functionOf(op, dtype);
    const count = (type: ValueType) => four ? vectorsOf(type) : 1, each = count(dtype);
    const body = new FunctionBody(vectors(each * made.parameters.length), vectors(count(made.result.dtype)));
    const args = made.parameters.map((_, n): LaneValue => ({
      type: dtype,
      parts: Array.from({ length: each }, (_, part) => n * each + part),
      equal: false,
    }));
    const lanes = new Lanes(body, this);
    lanes.budget = 0;
    const result = apply(lanes, made, { args, four });
    for (let part = 0; part < count(made.result.dtype); part++) body.get(partOf(result, part));
    return body;
  }
}
