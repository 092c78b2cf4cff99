/**
 * Modes whose own calls are received by the modes around them. Invariant: such a mode never receives its own calls.
 */
import type { DispatchMode, ResolvedCall } from "./modes.ts";
import type { OpResult } from "./op_call.ts";
import { modes, type Tensor } from "./tensor.ts";

/** A mode above others, which receive its own calls. */
export abstract class StackedMode implements DispatchMode<Tensor> {
  /** The mode that receives the calls next: an outer region's, a batch, or tangents. */
  readonly #outer: DispatchMode<Tensor> | null = modes.top;

  get opByOp(): boolean {
    return this.#outer?.opByOp ?? false;
  }

  get apart(): DispatchMode<Tensor>["apart"] {
    return this.#outer?.apart?.bind(this.#outer);
  }

  /** Runs a body whose calls the outer modes receive. */
  protected beneath<R>(body: () => R): R {
    return this.#outer === null ? body() : modes.with(this.#outer, body);
  }

  abstract call(call: ResolvedCall<Tensor>): OpResult;
}
