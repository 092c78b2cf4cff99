/**
 * Expands the operations of programs that are not primitive into the statements of their functions: the program
 * computes the same, to the bit, with primitive operations only.
 */
import { fail } from "@std/assert";
import type { ValueType } from "../../lib/base/dtype.ts";
import type { Program, Statement, ValueId } from "../../lib/loops/ir.ts";
import { functionOf, isPrimitive } from "../../lib/loops/math/function.ts";
import { valueTypes } from "../../lib/loops/value_types.ts";

/** Expands every kernel. */
export function expanded(program: Program): Program {
  return {
    ...program,
    kernels: program.kernels.map((kernel) => {
      if (kernel.kind !== "loops") return kernel;
      const types = valueTypes(kernel.body);
      let next = Math.max(-1, ...types.keys()) + 1;
      return { ...kernel, body: expandAll(kernel.body, { types, fresh: () => next++ }) };
    }),
  };
}

interface Context {
  readonly types: Map<ValueId, ValueType>;
  readonly fresh: () => ValueId;
}

function expandAll(body: readonly Statement[], context: Context): Statement[] {
  return body.flatMap((s): Statement[] => {
    if (s.kind === "loop" || s.kind === "masked") return [{ ...s, body: expandAll(s.body, context) }];
    if (s.kind !== "scalar") return [s];
    const dtype = context.types.get(s.args[0] ?? -1) ?? fail(`No type of v${s.args[0]}`);
    if (isPrimitive(s.op, dtype)) return [s];
    const made = functionOf(s.op, dtype), names = new Map<ValueId, ValueId>();
    made.parameters.forEach((p, n) => names.set(p.id, s.args[n] ?? -1));
    const statements = renamed(made.body, names, context);
    const result: Statement = {
      kind: "cast",
      id: s.id,
      value: names.get(made.result.id) ?? -1,
      dtype: s.dtype,
    };
    return [...expandAll(statements, context), result];
  });
}

/** Statements of a function under names of their own. */
function renamed(body: readonly Statement[], names: Map<ValueId, ValueId>, context: Context): Statement[] {
  const at = (id: ValueId): ValueId => names.get(id) ?? fail(`No value v${id}`);
  const define = (id: ValueId, dtype: ValueType): ValueId => {
    const now = context.fresh();
    names.set(id, now);
    context.types.set(now, dtype);
    return now;
  };
  return body.map((s): Statement => {
    switch (s.kind) {
      case "constant":
        return { ...s, id: define(s.id, s.dtype) };
      case "scalar":
        return { ...s, args: s.args.map(at), id: define(s.id, s.dtype) };
      case "cast":
        return { ...s, value: at(s.value), id: define(s.id, s.dtype) };
      case "select": {
        const [condition, then, otherwise] = [at(s.condition), at(s.then), at(s.otherwise)];
        return { ...s, condition, then, otherwise, id: define(s.id, s.dtype) };
      }
      case "masked": {
        const [condition, otherwise] = [at(s.condition), at(s.otherwise)];
        const inner = renamed(s.body, names, context);
        return { ...s, condition, otherwise, body: inner, value: at(s.value), id: define(s.id, s.dtype) };
      }
      case "index":
      case "load":
      case "store":
      case "loop":
        return fail(`Expected a function of operations but found a ${s.kind}`);
      default:
        return s satisfies never;
    }
  });
}
