/**
 * Optimizer states that are created before the steps that need them. Invariant: states that no step has written to are
 * removed, so that programs cannot observe them.
 */
import type { Tensor } from "../tensor/tensor.ts";
import type { ParamState } from "./optimizer.ts";

interface Created {
  readonly states: Map<Tensor, ParamState>;
  readonly param: Tensor;
  readonly state: ParamState;
  /** Its initial contents. */
  readonly held: readonly { readonly tensor: Tensor; readonly version: number }[];
}

/** The states that were created for one call. */
export class EarlyStates {
  readonly #created: Created[] = [];

  /** Returns whether there are no states to remove. */
  get isEmpty(): boolean {
    return this.#created.length === 0;
  }

  /** Adds a newly created state. */
  add(states: Map<Tensor, ParamState>, param: Tensor): void {
    const state = states.get(param);
    if (!state) return;
    const held = Object.values(state).map((tensor) => ({ tensor, version: tensor.version }));
    this.#created.push({ states, param, state, held });
  }

  /** Removes the states that are unchanged. */
  removeUnused(): void {
    for (const { states, param, state, held } of this.#created.splice(0)) {
      const now = Object.values(state);
      const untouched = now.length === held.length &&
        held.every(({ tensor, version }, k) => now[k] === tensor && tensor.version === version);
      if (untouched && states.get(param) === state) states.delete(param);
    }
  }
}
