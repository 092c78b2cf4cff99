/**
 * Operations, conversions and choices on lanes, and whole functions of them. Invariant: an operation that is not
 * primitive is the function of lib/loops/math, inlined if it is short or within the body's budget, else called.
 */
import { InternalError } from "../../lib/base/errors.ts";
import type { Statement, ValueId } from "../../lib/loops/ir.ts";
import { functionOf, isPrimitive, type ScalarFunction } from "../../lib/loops/math/function.ts";
import type { ScalarOpName } from "../../lib/loops/scalar.ts";
import { resultType } from "../../lib/loops/scalar.ts";
import { primitive } from "./arithmetic.ts";
import { cast } from "./casts.ts";
import { allEqual, type Lanes, type LaneValue, partOf } from "./lanes.ts";

/** Functions up to this weight are inlined wherever they are used. */
const SHORT = 12;

/** The result of an operation. */
export function scalar(
  lanes: Lanes,
  op: ScalarOpName,
  { args, four }: { readonly args: readonly LaneValue[]; readonly four: boolean },
): LaneValue {
  const [first] = args;
  if (!first) throw new InternalError(`Expected operands of ${op} but found none`);
  const { type } = first;
  if (isPrimitive(op, type)) return primitive(lanes, op, { args, four });
  const made = functionOf(op, type), full = four && !allEqual(args);
  if (made.weight <= SHORT || (full && made.weight <= lanes.budget)) {
    if (full) lanes.budget -= made.weight;
    return apply(lanes, made, { args, four: full });
  }
  return lanes.call(lanes.room.scalarFunction(op, type, full), args, { type: resultType(op, type), four });
}

/** A statement that computes a value by itself. */
type Plain = Statement & { readonly kind: "constant" | "scalar" | "cast" | "select" };

/** Returns the value of such a statement. */
export function plain(
  lanes: Lanes,
  s: Plain,
  { value, four }: { readonly value: (id: ValueId) => LaneValue; readonly four: boolean },
): LaneValue {
  switch (s.kind) {
    case "constant":
      return lanes.constant(s.value, s.dtype);
    case "scalar":
      return scalar(lanes, s.op, { args: s.args.map(value), four });
    case "cast":
      return cast(lanes, value(s.value), { to: s.dtype, four });
    case "select":
      return lanes.select(value(s.condition), [value(s.then), value(s.otherwise)], four);
    default:
      return s satisfies never;
  }
}

/** Inlines a function. */
export function apply(
  lanes: Lanes,
  { parameters, body, result }: ScalarFunction,
  { args, four }: { readonly args: readonly LaneValue[]; readonly four: boolean },
): LaneValue {
  const values = new Map<ValueId, LaneValue>();
  const value = (id: ValueId): LaneValue => {
    const found = values.get(id);
    if (!found) throw new InternalError(`Expected value ${id} of a function to be defined before its use`);
    return found;
  };
  const run = (list: readonly Statement[]): void => {
    for (const s of list) {
      switch (s.kind) {
        case "constant":
        case "scalar":
        case "cast":
        case "select":
          values.set(s.id, plain(lanes, s, { value, four }));
          break;
        case "masked": {
          const condition = value(s.condition), otherwise = value(s.otherwise);
          const made = lanes.variable(s.dtype, { four, equal: allEqual(args) });
          lanes.assign(made, otherwise);
          lanes.body.get(partOf(condition, 0)).simd("anyTrue").when(() => {
            run(s.body);
            lanes.assign(made, lanes.select(condition, [value(s.value), otherwise], four));
          });
          values.set(s.id, made);
          break;
        }
        case "index":
        case "load":
        case "store":
        case "loop":
          throw new InternalError(`Expected a function of operations but found a ${s.kind}`);
        default:
          return s satisfies never;
      }
    }
  };
  parameters.forEach((p, n) => {
    const arg = args[n];
    if (!arg) throw new InternalError(`Expected ${parameters.length} arguments but found ${args.length}`);
    values.set(p.id, arg);
  });
  run(body);
  return value(result.id);
}
