/**
 * Optimizer states that are created before the steps that need them. Invariant: a state remains only if the program
 * itself would have created it, so that programs cannot observe the others.
 */
import type { Tensor } from "../tensor/tensor.ts";
import type { ParamState } from "./optimizer.ts";

interface Created {
  readonly states: Map<Tensor, ParamState>;
  readonly param: Tensor;
  /** Its initial contents. */
  readonly held: readonly { readonly tensor: Tensor; readonly version: number }[];
  /** Whether the traced program creates it, too. */
  isReached: boolean;
}

/** The states that were created for one call. */
export class EarlyStates {
  #created = new Map<ParamState, Created>();

  /** Returns whether there are no states to remove. */
  get isEmpty(): boolean {
    return this.#created.size === 0;
  }

  /** Adds a newly created state, which the traced program creates here. */
  add(states: Map<Tensor, ParamState>, param: Tensor): void {
    const state = states.get(param);
    if (!state) return;
    const held = Object.values(state).map((tensor) => ({ tensor, version: tensor.version }));
    this.#created.set(state, { states, param, held, isReached: true });
  }

  /** Records that a trace begins again: it has not reached the places where the program creates the states. */
  beginTrace(): void {
    for (const created of this.#created.values()) created.isReached = false;
  }

  /** Records that the traced program creates a state here unless it exists. */
  reach(state: ParamState | undefined): void {
    const created = state && this.#created.get(state);
    if (created) created.isReached = true;
  }

  /** Returns all states, and has none from then on. */
  handOver(): EarlyStates {
    const others = new EarlyStates();
    others.#created = this.#created;
    this.#created = new Map();
    return others;
  }

  /** Keeps the states that the traced program has created now that it has run; removes the others. */
  commit(): void {
    for (const [state, { isReached }] of this.#created) if (isReached) this.#created.delete(state);
    this.removeUnused();
  }

  /** Removes the states that are unchanged. */
  removeUnused(): void {
    for (const [state, { states, param, held }] of this.#created) {
      const now = Object.values(state);
      const untouched = now.length === held.length &&
        held.every(({ tensor, version }, k) => now[k] === tensor && tensor.version === version);
      if (untouched && states.get(param) === state) states.delete(param);
    }
    this.#created.clear();
  }
}
