/**
 * Validation of parameters and values of distributions: an error names the first that violates its constraint. Invariant:
 * elements are read only where that causes no graph break and cannot mislead a mode: not under `vmap`, and not in
 * compiled functions, whose graphs check marks of the violations instead.
 */
import { type RequiredFlag, requiredFlagOf } from "../base/arguments.ts";
import { checkFunction, refuseSurplus } from "../base/checked_input.ts";
import { DynError, InternalError } from "../base/errors.ts";
import { ops } from "../tensor/eager.ts";
import { isCaptured, noGrad } from "../tensor/modes.ts";
import { canReadElements, isTensor, type Tensor } from "../tensor/tensor.ts";
import { sameShape } from "../ops/shapes.ts";
import type { ArgConstraints, Constraint } from "./constraints.ts";

const checks = { areOn: true };

/** Whether to validate the parameters and the values of one distribution. */
export interface Validation {
  /** Default: as `setDefaultValidateArgs` says. */
  readonly validateArgs?: boolean | null | undefined;
}

/** Sets whether parameters and values are validated, like `Distribution.set_default_validate_args`; they are by default. */
export function setDefaultValidateArgs(value: RequiredFlag<"value">): void {
  if (arguments.length > 1) refuseSurplus("setDefaultValidateArgs", 1, arguments);
  checks.areOn = requiredFlagOf("setDefaultValidateArgs", "value", value);
}

/** A property that a distribution does not know. */
export class UnknownFigure extends DynError {}

/** Returns whether checks are asked for, and possible where they would run. */
const areChecked = (validateArgs: Validation["validateArgs"]): boolean =>
  (validateArgs ?? checks.areOn) && (canReadElements() || isCaptured());

/** Throws DynError unless a tensor is in a set; a call of a compiled function marks it, and is repeated uncompiled. */
function checkElements(value: Tensor, constraint: Constraint, subject: string): void {
  if (value.device === "meta") return;
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
    throw new DynError(`Expected ${subject} to be ${constraint.text} but found ${found}`);
  });
}

/**
 * Throws DynError if a parameter of a distribution violates its constraint. Messages name the class unless `name` is given.
 */
export function checkParameters(
  distribution: object,
  wanted: ArgConstraints,
  { validateArgs, name = distribution.constructor.name }: Validation & { readonly name?: string } = {},
): void {
  if (!areChecked(validateArgs)) return;
  for (const [parameter, constraint] of Object.entries(wanted)) {
    checkFunction(constraint?.check, `that checks ${parameter} of ${name}`);
    const value: unknown = Reflect.get(distribution, parameter);
    if (!isTensor(value)) throw new InternalError(`Expected a tensor for ${parameter}`);
    checkElements(value, constraint, `${parameter} of ${name}`);
  }
}

/** The properties of a distribution that decide which values it has. */
interface Checked extends Validation {
  readonly eventShape: readonly number[];
  /** The set of values. Throws UnknownFigure if it is not known. */
  readonly support: Constraint;
}

/** Throws DynError if a value of a distribution has another shape than its events, or is not in its support. */
export function checkValue(distribution: Checked, value: Tensor): void {
  const { validateArgs, eventShape, constructor: { name } } = distribution;
  if (!areChecked(validateArgs)) return;
  const own = value.shape.slice(Math.max(0, value.ndim - eventShape.length));
  if (!sameShape(own, eventShape)) {
    throw new DynError(
      `Expected values of ${name} whose last dimensions are [${eventShape}] but found shape [${value.shape}]`,
    );
  }
  const support = supportOf(distribution);
  if (support) checkElements(value, support, `a value of ${name}`);
}

/** The set of values of a distribution, or null where nothing is known of it. */
export function supportOf(distribution: Pick<Checked, "support">): Constraint | null {
  try {
    return distribution.support;
  } catch (error) {
    if (error instanceof UnknownFigure) return null;
    throw error;
  }
}
