/**
 * Modes that run one level of function transformations, which nest. Invariant: calls that a level makes below itself
 * are visible to outer levels but not to it.
 */
import { asResult } from "../tensor/eager.ts";
import type { DispatchMode, ResolvedCall } from "../tensor/modes.ts";
import { unwatched } from "../tensor/storage.ts";
import { modes, type Tensor } from "../tensor/tensor.ts";

/** A call out of place. */
export type LevelCall = Pick<ResolvedCall<Tensor>, "definition" | "args">;

/** One level. */
export abstract class FunctionLevel implements DispatchMode<Tensor> {
  readonly opByOp = true;
  /** The mode that receives the calls of this mode. */
  readonly #outer: DispatchMode<Tensor> | null = modes.top;

  /** Makes calls on this level. */
  run<R>(body: () => R): R {
    return modes.with(this, body);
  }

  /** Makes calls below this level. */
  below<R>(body: () => R): R {
    return unwatched(() => this.#outer === null ? modes.without(body) : modes.with(this.#outer, body));
  }

  call({ definition, args, inplace }: ResolvedCall<Tensor>): Tensor | readonly Tensor[] {
    if (inplace) return this.inPlace({ definition, args });
    return asResult(this.outOfPlace({ definition, args }), { definition, args });
  }

  /** Makes a call and writes its result into the target, its first tensor. */
  protected abstract inPlace(call: LevelCall): Tensor;

  protected abstract outOfPlace(call: LevelCall): readonly Tensor[];
}
