/**
 * Elementwise calls of numbers that change between calls and, besides them, only tensors without dimensions. The numbers
 * of a graph are 0-d tensors of float64: beside other 0-d tensors they would decide on the type of the result, and
 * converted to that of the others they lose digits. Invariant: results and gradients are those of numbers.
 */
import { isFloat } from "../../base/dtype.ts";
import type { OpDefinition } from "../../ops/definition.ts";
import { ELEMENTWISE_COMPOSITIONS } from "../../ops/elementwise_compositions.ts";
import { type GraphValue, mapArguments, tensorArguments } from "../../ops/graph_builder.ts";
import { OPS } from "../../ops/table.ts";
import type { Interpreter } from "./interpreter.ts";
import type { Resolved } from "./op_rule.ts";

const compositions: ReadonlySet<OpDefinition> = new Set([
  ...ELEMENTWISE_COMPOSITIONS.map((name) => OPS[name]),
  OPS.rsub,
]);

/** Returns whether an elementwise op takes numbers that change, and besides them only floats without dimensions. */
export function besideNumbersOnly(m: Interpreter, definition: OpDefinition, args: Resolved): boolean {
  const all = tensorArguments(args), tensors = all.filter(({ value }) => !m.output.scalars.has(value.node));
  return (definition.elementwise || compositions.has(definition)) && tensors.length > 0 &&
    tensors.length < all.length &&
    tensors.every(({ value: { meta } }) => meta.shape.length === 0 && isFloat(meta.dtype));
}

/** Makes a call with one dimension for its tensors, beside which numbers rank as they do uncompiled. */
export function inOneDimension(
  m: Interpreter,
  definition: OpDefinition,
  args: Resolved,
  call: (definition: OpDefinition, args: Resolved) => GraphValue,
): GraphValue {
  const given = mapArguments(
    args,
    (self) => m.output.scalars.has(self.node) ? self : call(OPS.reshape, { self, shape: [1] }),
  );
  return call(OPS.reshape, { self: call(definition, given), shape: [] });
}
