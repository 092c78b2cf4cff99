/**
 * What compiled functions do with calls that no entry serves: the ambient stance. Input: scoped changes; output:
 * the stance in force. Invariant: disposing of a change restores what was in force before it.
 */
import { DynError } from "../base/errors.ts";

/** As `torch.compiler.set_stance`. */
export type Stance = "default" | "force_eager" | "eager_on_recompile" | "fail_on_recompile" | "run_only";

const STANCES: readonly Stance[] = [
  "default",
  "force_eager",
  "eager_on_recompile",
  "fail_on_recompile",
  "run_only",
];

let current: Stance = "default";

/** The stance in force. */
export function currentStance(): Stance {
  return current;
}

/** Changes the stance; disposing of the result restores the former one. */
export function setStance(stance: Stance): Disposable {
  if (!STANCES.includes(stance)) {
    throw new DynError(`Expected a stance out of ${STANCES.join(", ")} but found ${String(stance)}`);
  }
  const former = current;
  current = stance;
  return {
    [Symbol.dispose]() {
      current = former;
    },
  };
}
