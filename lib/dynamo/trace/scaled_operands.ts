/**
 * Rewrites calls that multiply an operand by a changing number, such as `p.add_(g, { alpha: -rate })`: the number
 * becomes a factor of a product before the call. Invariant: the product is rounded as the call itself rounds it, so
 * only floats of one type, none of them narrower than float32, are rewritten.
 */
import type { OpDefinition } from "../../ops/definition.ts";
import type { TensorValue, Value } from "../variables/value.ts";
import type { Interpreter } from "./interpreter.ts";
import { enumerableKeys } from "./object_keys.ts";

/** The number of tensors of an op, the one that a number multiplies first, and the number's name. */
interface Scaling {
  readonly tensors: number;
  readonly at: number;
  readonly by: string;
}

const SCALINGS: ReadonlyMap<string, Scaling> = new Map([
  ["add", { tensors: 2, at: 1, by: "alpha" }],
  ["sub", { tensors: 2, at: 1, by: "alpha" }],
  ["rsub", { tensors: 2, at: 0, by: "alpha" }],
  ["addcmul", { tensors: 3, at: 1, by: "value" }],
  ["addcdiv", { tensors: 3, at: 1, by: "value" }],
]);

/** The arguments of a call with one operand replaced by the result of `times`. */
export function withScaledOperand(
  m: Interpreter,
  { name }: OpDefinition,
  { args, times }: { readonly args: readonly Value[]; readonly times: (operand: Value, by: Value) => Value },
): readonly Value[] | null {
  const scaling = SCALINGS.get(name), options = args.at(-1);
  if (!scaling || args.length !== scaling.tensors + 1) return null;
  if (options?.kind !== "object" || options.exotic.kind !== "plain") return null;
  if (enumerableKeys(m, options).join() !== scaling.by) return null;
  const by = m.plainProperty(options, scaling.by), operands = args.slice(0, -1);
  if (by?.kind !== "number" || by.integer !== null || by.dim !== null || !areWholeFloats(operands)) {
    return null;
  }
  return operands.map((operand, at) => at === scaling.at ? times(operand, by) : operand);
}

/** Returns whether values are tensors of one type, in which the result of an op is rounded as within the op. */
function areWholeFloats(values: readonly Value[]): values is readonly TensorValue[] {
  const [first] = values;
  return values.every((each) =>
    each.kind === "tensor" && first?.kind === "tensor" && each.meta.dtype === first.meta.dtype &&
    (each.meta.dtype === "float32" || each.meta.dtype === "float64")
  );
}
