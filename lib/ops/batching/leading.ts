/**
 * Ops over the last dimensions, for which a batch is one more leading dimension. Invariant: sizes that such an op
 * reads from its arguments include the batch.
 */
import { isTensorLike, type TensorLike } from "../tensor_like.ts";
import type { ArgsOf, Params } from "../params.ts";
import type { BatchCall, BatchRule } from "./call.ts";

/** Parameters that hold the whole shape of a result. */
const WHOLE: ReadonlySet<string> = new Set(["inputSizes"]);

/** The tensors of a call with the batch first, and at least one dimension besides. */
function raisedArguments<T extends TensorLike>(call: BatchCall<Params, T>): ArgsOf<Params, T> {
  const changed: Record<string, ArgsOf<Params, T>[string]> = { ...call.args };
  for (const [name, value] of Object.entries(call.args)) {
    const { kind } = call.definition.params[name] ?? {};
    if ((kind === "tensor" || kind === "operand") && isTensorLike<T>(value)) {
      changed[name] = call.raised(value);
    } else if (WHOLE.has(name) && Array.isArray(value)) changed[name] = [call.size, ...value];
  }
  return changed;
}

/** The rule of ops over the last dimensions. */
export const leading: BatchRule = {
  apply: <T extends TensorLike>(call: BatchCall<Params, T>) => call.shapedRun(raisedArguments(call)),
};

/** The rule of ops along the dimension in a parameter. */
export function along(param: string): BatchRule {
  return {
    apply<T extends TensorLike>(call: BatchCall<Params, T>): readonly T[] | null {
      const dim = call.args[param], [first] = Object.keys(call.definition.params);
      const self = call.args[first ?? ""];
      if (typeof dim !== "number" || !isTensorLike<T>(self)) return null;
      return call.shapedRun({ ...raisedArguments(call), [param]: call.axis(dim, self) });
    },
  };
}
