/**
 * Traces clamping between numbers that may change, with the gradient for number bounds. Invariant: an element that
 * equals a number bound has no gradient, whereas one that equals a tensor bound, which is how the graph represents
 * the number, would share it with the bound.
 */
import type { OpDefinition } from "../../ops/definition.ts";
import { GraphValue } from "../../ops/graph_builder.ts";
import { OPS } from "../../ops/table.ts";
import type { Interpreter } from "./interpreter.ts";
import type { Resolved } from "./op_rule.ts";

/** The ops that clamp. */
const CLAMPS: ReadonlySet<OpDefinition> = new Set([OPS.clamp, OPS.clampMin, OPS.clampMax]);

/**
 * The result of an op that clamps, out of place; null for other ops, and if no gradient is recorded. `call`: makes a
 * call with one result.
 */
export function clampedByNumbers(
  m: Interpreter,
  definition: OpDefinition,
  args: Resolved,
  call: (definition: OpDefinition, args: Resolved) => GraphValue,
): GraphValue | null {
  const { self } = args;
  if (!CLAMPS.has(definition) || !m.gradEnabled || !(self instanceof GraphValue)) return null;
  if (!m.output.tensors.get(self.node)?.requiresGrad) return null;
  const bounds = [args["min"] ?? null, args["max"] ?? null];
  const isNumber = (bound: unknown) => !(bound instanceof GraphValue) || m.output.scalars.has(bound.node);
  if (!bounds.some((bound) => bound instanceof GraphValue) || !bounds.every(isNumber)) return null;
  const clamped = call(definition, { ...args, self: call(OPS.detach, { self }) });
  const [above = null, below = null] = [OPS.gt, OPS.lt].map((compare, k) => {
    const other = bounds[k] ?? null;
    return other === null ? null : call(compare, { self, other });
  });
  const inside = above && below ? call(OPS.logicalAnd, { self: above, other: below }) : above ?? below;
  return inside && call(OPS.where, { condition: inside, input: self, other: clamped });
}
