/**
 * Validation of distribution parameters: an error names the first value that violates its constraint. Invariant:
 * elements are read only where that causes no graph break and cannot mislead a mode: not under `vmap`, and not in
 * compiled functions, whose graphs check marks of the violations instead.
 */
import { type RequiredFlag, requiredFlagOf } from "../base/arguments.ts";
import { checkFunction, refuseSurplus } from "../base/checked_input.ts";
import { DynError, InternalError } from "../base/errors.ts";
import { ops } from "../tensor/eager.ts";
import { isCaptured, noGrad } from "../tensor/modes.ts";
import { canReadElements, isTensor } from "../tensor/tensor.ts";
import type { ArgConstraints } from "./constraints.ts";

const checks = { areOn: true };

/** Whether to validate the parameters of one distribution. */
export interface Validation {
  /** Default: as `setDefaultValidateArgs` says. */
  readonly validateArgs?: boolean | null | undefined;
}

/** Sets whether parameters are validated, like `Distribution.set_default_validate_args`; they are by default. */
export function setDefaultValidateArgs(value: RequiredFlag<"value">): void {
  if (arguments.length > 1) refuseSurplus("setDefaultValidateArgs", 1, arguments);
  checks.areOn = requiredFlagOf("setDefaultValidateArgs", "value", value);
}

/**
 * Throws DynError if a parameter of a distribution violates its constraint. Messages name the class unless `name` is given.
 */
export function checkParameters(
  distribution: object,
  wanted: ArgConstraints,
  { validateArgs, name = distribution.constructor.name }: Validation & { readonly name?: string } = {},
): void {
  if (!(validateArgs ?? checks.areOn) || !(canReadElements() || isCaptured())) return;
  for (const [parameter, constraint] of Object.entries(wanted)) {
    checkFunction(constraint?.check, `that checks ${parameter} of ${name}`);
    const value: unknown = Reflect.get(distribution, parameter);
    if (!isTensor(value)) throw new InternalError(`Expected a tensor for ${parameter}`);
    if (value.device === "meta") continue;
    noGrad(() => {
      const isMet = constraint.check(value);
      if (isCaptured()) {
        // A call in which a mark is set runs uncompiled, and throws there
        ops.outlierMarks(isMet.logicalNot().to("int64"));
        return;
      }
      if (isMet.all().item<boolean>()) return;
      const events = isMet.reshape([...isMet.shape, ...value.shape.slice(isMet.ndim).map(() => 1)]);
      const found = value.detach().maskedSelect(events.logicalNot()).at(0).item();
      throw new DynError(
        `Expected ${parameter} of ${name} to be ${constraint.text} but found ${found}`,
      );
    });
  }
}
