/**
 * A mode that finds where gradients become NaN, like `torch.autograd.detect_anomaly`: it records the calling lines of
 * operations, and throws where a gradient is NaN. Invariant: nothing is recorded while it is off.
 */
import { type RequiredFlag, requiredFlagOf } from "../base/arguments.ts";
import { optionsOf, refuseSurplus } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { scoped } from "../base/scoped.ts";
import { isFloat } from "../base/dtype.ts";
import { ops } from "../tensor/eager.ts";
import { noGrad } from "../tensor/modes.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { wholeBeneath } from "../tensor/levels.ts";

/** Options of anomaly detection. */
export interface AnomalyOptions {
  /** Whether NaN is an error; otherwise only places are recorded. Default true. */
  readonly checkNan?: boolean;
}

const state = { enabled: false, checksNan: true };

/** Turns the mode on or off, like `torch.autograd.set_detect_anomaly`. Throws DynError for no boolean. */
export function setDetectAnomaly(enabled: RequiredFlag<"mode">, options: AnomalyOptions = {}): void {
  if (arguments.length > 2) refuseSurplus("setDetectAnomaly", 2, arguments);
  const { checkNan = true } = optionsOf("setDetectAnomaly", options, ["checkNan"]);
  state.enabled = requiredFlagOf("setDetectAnomaly", "mode", enabled);
  state.checksNan = checkNan;
}

/** Returns whether the mode is on. */
export function isAnomalyEnabled(): boolean {
  if (arguments.length > 0) refuseSurplus("isAnomalyEnabled", 0, arguments);
  return state.enabled;
}

/** Runs `body` with the mode on. */
export function detectAnomaly<R>(body: () => R, options: AnomalyOptions = {}): R {
  if (arguments.length > 2) refuseSurplus("detectAnomaly", 2, arguments);
  const former = { ...state };
  setDetectAnomaly(true, options);
  return scoped(body, () => Object.assign(state, former));
}

/** Returns the stack of the current operation, for messages; null while the mode is off. */
export function placeNow(): string | null {
  return state.enabled ? new DynError("An operation").stack ?? null : null;
}

/** Throws DynError if an operation returned NaN, with the place of its call if that is known. */
export function checkGradients(
  name: string,
  place: string | null,
  gradients: readonly (Tensor | null)[],
): void {
  if (!state.enabled || !state.checksNan) return;
  gradients.forEach((gradient, k) => {
    const values = gradient && wholeBeneath(gradient);
    if (!values || !isFloat(values.dtype) || !noGrad(() => ops.any(ops.isnan(values))).item<boolean>()) {
      return;
    }
    const where = place === null
      ? "; the mode was off when it was called"
      : `, called here:\n${linesOf(place)}`;
    throw new DynError(
      `Expected gradients that are numbers but found NaN in gradient ${k} of ${name}${where}`,
    );
  });
}

/** The lines of a stack. */
function linesOf(stack: string): string {
  return stack.split("\n").filter((line) => /^\s+at /.test(line)).join("\n");
}
