/**
 * What parameters have to be. Input: a distribution and constraints of its parameters; output: none, or an error that names
 * the first value that does not meet one. Invariant: elements are read only where that costs no graph break and no mode
 * could be misled: neither in compiled functions nor under `vmap`.
 */
import { DynError, InternalError } from "../base/errors.ts";
import { noGrad } from "../tensor/modes.ts";
import { canReadElements, isTensor } from "../tensor/tensor.ts";
import type { ArgConstraints } from "./constraints.ts";

const checks = { areOn: true };

/** Whether parameters are looked at, as `Distribution.set_default_validate_args`: they are unless told otherwise. */
export function setDefaultValidateArgs(value: boolean): void {
  checks.areOn = value;
}

/** Throws DynError, which calls it by its class unless a name is given, where a parameter of a distribution is not what it has to be. */
export function checkParameters(
  distribution: object,
  wanted: ArgConstraints,
  name: string = distribution.constructor.name,
): void {
  if (!checks.areOn || !canReadElements()) return;
  for (const [parameter, constraint] of Object.entries(wanted)) {
    const value: unknown = Reflect.get(distribution, parameter);
    if (!isTensor(value)) throw new InternalError(`Expected a tensor for ${parameter}`);
    if (value.device === "meta") continue;
    noGrad(() => {
      const isMet = constraint.check(value);
      if (isMet.all().item<boolean>()) return;
      const found = value.detach().maskedSelect(isMet.logicalNot()).at(0).item();
      throw new DynError(
        `Expected ${parameter} of ${name} to be ${constraint.text} but found ${found}`,
      );
    });
  }
}
