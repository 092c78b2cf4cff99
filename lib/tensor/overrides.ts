/**
 * Programs' own behaviour of ops: modes that receive all calls of a region, and classes of tensors that receive the
 * calls on their instances. The namespace `overrides`, like `torch.overrides`. Invariant: a handler never receives the
 * calls that it makes itself, and compiled functions run op by op wherever a handler must see their calls.
 */
import { checkFunction } from "../base/checked_input.ts";
import { asProgram } from "../base/own_builtins.ts";
import { callParts, makeCall } from "./eager.ts";
import type { ResolvedCall } from "./modes.ts";
import { OpCall, type OpResult } from "./op_call.ts";
import { StackedMode } from "./stacked_mode.ts";
import { modes, type Tensor } from "./tensor.ts";

export type { OpArguments, OpCall, OpResult } from "./op_call.ts";
export { TensorSubclass } from "./tensor_subclass.ts";

/** Passes calls to a mode of the program. */
class ProgramMode extends StackedMode {
  readonly inlines = true;

  constructor(readonly mode: TensorDispatchMode) {
    super();
  }

  override get opByOp(): boolean {
    return true;
  }

  override call(resolved: ResolvedCall<Tensor>): OpResult {
    const call = new OpCall(resolved, {
      run: (call) => this.beneath(() => makeCall(call)),
      parts: (call) => modes.with(this, () => callParts(call)),
    });
    return this.beneath(() => call.answeredBy((call) => this.mode.dispatch(call)));
  }
}

/**
 * A mode that receives every call of an op in a region, like `torch.utils._python_dispatch.TorchDispatchMode`: it may
 * observe calls, change their arguments, or replace their results. Modes nest; the innermost receives calls first, and
 * the calls that it makes itself go to the next one. Compiled functions run op by op in the region. A backward pass in
 * it passes the calls of gradients, too.
 *
 * ```ts
 * import { nn, overrides, randn } from "jsr:@x/dyn";
 *
 * class Count extends overrides.TensorDispatchMode {
 *   readonly names: string[] = [];
 *   override dispatch(call: overrides.OpCall): overrides.OpResult {
 *     this.names.push(call.name);
 *     return call.run();
 *   }
 * }
 * const count = new Count();
 * count.run(() => new nn.Linear(3, 2).call(randn(4, 3)).relu());
 * console.log(count.names.slice(-2)); // [ "linear", "relu" ]
 * ```
 */
export abstract class TensorDispatchMode {
  /** Receives a call and returns its result, usually that of `call.run()`. */
  abstract dispatch(call: OpCall): OpResult;

  /** Runs `body` with this mode as the innermost one, for promises until they settle. */
  run<R>(body: () => R): R {
    checkFunction(body, "to run in a dispatch mode");
    return modes.with(new ProgramMode(this), () => asProgram(body));
  }
}
