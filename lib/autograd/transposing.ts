/**
 * Linear ops of one tensor whose gradients are calls of such ops too: one definition serves the tape and graphs.
 * Invariant: the op is linear in its tensor.
 */
import { DynError } from "../base/errors.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";
import { type CustomOp, functionalised } from "./custom_op.ts";
import type { FunctionContext } from "./function.ts";
import { isConstant, registerSharedOp, type SharedOp } from "./shared_ops.ts";

/** Properties of an op besides its function. */
type Transposing =
  & Pick<SharedOp, "transposed">
  & Partial<Pick<SharedOp, "mostJoined" | "isCopy" | "runInPlace">>;

/** Defines an op with its gradient, and registers it for graphs. */
export function transposing(
  op: CustomOp,
  { transposed, mostJoined = () => 0, isCopy = false, runInPlace = null }: Transposing,
): SharedOp {
  op.registerAutograd((context: FunctionContext, grad: Tensor) => {
    const { rest } = context;
    const constants = Array.isArray(rest) ? rest.filter(isConstant) : [];
    const { op: other, rest: others, divisor } = transposed(constants);
    const [found] = other.run(grad, ...others);
    if (!isTensor(found)) {
      throw new DynError(`Expected a tensor from ${other.name} but found ${typeof found}`);
    }
    return [divisor === undefined ? found : found.div(divisor), ...constants.map(() => null)];
  }, {
    setupContext(context, [, ...rest]: readonly unknown[]) {
      context.rest = rest;
    },
  });
  const name = op.qualifiedName.replaceAll(/\W+/g, "_");
  const shared = { name, run: functionalised(op), runInPlace, transposed, mostJoined, isCopy };
  registerSharedOp(shared);
  return shared;
}
