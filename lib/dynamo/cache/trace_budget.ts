/**
 * Limits how much of a function without tensors is traced before the rest of it runs uncompiled: capture takes a
 * thousand times as long as plain JavaScript, and gains nothing there. Invariant: attempts that compute with tensors
 * cost nothing, and a function that creates tensors later is captured again.
 */
import { config } from "../../base/config.ts";
import { lastSerial } from "../../tensor/storage.ts";
import type { CountCall } from "./uncompiled.ts";

/** The cost of a version besides its steps, in steps. */
const STEPS_OF_VERSION = 30_000;

/** Findings of an attempt. Tensors that it only keeps or passes on make no part of a long loop worth its capture. */
export type Encounter = "computations" | "tensors" | "nothing";

export class TraceBudget {
  /** Whether the function is not captured any more. */
  isSpent = false;
  /** Whether any attempt has encountered a tensor, so that capture is useful. */
  hasTensors = false;
  /** Counts a call that runs plainly because the budget is spent; null before the first. */
  count: CountCall | null = null;
  #spent = 0;
  /** Doubled whenever a plain run creates tensors. */
  #allowances = 1;

  /** Records the end of an attempt of so many steps that `meets` tensors. */
  spend(steps: number, { meets }: { readonly meets: Encounter }): void {
    if (meets !== "nothing") this.hasTensors = true;
    if (meets === "computations") this.#spent = 0;
    else this.#spent += steps + (meets === "tensors" ? 0 : STEPS_OF_VERSION);
    this.isSpent = this.#spent >= config.tensorlessTraceLimit * this.#allowances;
  }

  /** Runs plain code of the function, and allows further attempts if it creates tensors. */
  observe<T>(run: () => T): T {
    const before = lastSerial();
    try {
      return run();
    } finally {
      if (lastSerial() !== before) {
        this.isSpent = false;
        this.#spent = 0;
        this.#allowances *= 2;
      }
    }
  }
}
