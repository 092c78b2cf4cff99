/**
 * Normalises arguments of calls for nodes, to the shortest lists that parse to the same call. Invariant: a graph
 * holds nodes, sizes and constants only.
 */
import { sameList } from "../../base/lists.ts";
import { type Argument, isList } from "../../graph/node.ts";
import type { OpDefinition } from "../../ops/definition.ts";
import { GraphValue } from "../../ops/graph_builder.ts";
import { Sym } from "../../sym/expr.ts";
import { breakGraph } from "../break_reasons.ts";
import type { Resolved } from "./op_rule.ts";

/** Positional and named arguments in the form that nodes hold: the shortest one that parses to the same. */
export function normalForm(
  definition: OpDefinition,
  args: Resolved,
): { positional: Argument[]; kwargs: Record<string, Argument> } {
  const positional: Argument[] = [];
  const kwargs: Record<string, Argument> = {};
  let skipped = false;
  for (const [name, param] of Object.entries(definition.params)) {
    const value = toArgument(args[name] ?? null);
    const standard: unknown = param.default;
    // -0 is another number than 0
    const left = Object.is(value, standard) || (value === null && param.nullable) ||
      (isList(value) && Array.isArray(standard) && sameList(value, standard));
    if (left) skipped = true;
    else if (skipped || param.keyword) kwargs[name] = value;
    else positional.push(value);
  }
  return { positional, kwargs };
}

/** An argument in the form that nodes hold: trees of lists whose leaves are nodes, sizes and constants. */
function toArgument(value: unknown): Argument {
  if (value instanceof GraphValue) return value.node;
  if (Array.isArray(value)) return value.map(toArgument);
  if (value instanceof Sym || value === null || value === undefined) return value;
  switch (typeof value) {
    case "number":
    case "bigint":
    case "boolean":
    case "string":
      return value;
    default:
      return breakGraph("opaqueObject", `an argument of type ${typeof value}`);
  }
}
