/** Checks that a gradient fits its tensor. */
import type { DType } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";

/** The properties that a gradient shares with its tensor. */
interface Described {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly device: string;
}

/** Throws DynError unless `found`, which `owner` returned, has the type, shape and device of `expected`. */
export function checkGradient(found: Described, expected: Described, owner: string): void {
  const [given, wanted] = [textOf(found), textOf(expected)];
  if (given !== wanted) throw new DynError(`Expected ${owner} of ${wanted} but found ${given}`);
}

function textOf({ dtype, shape, device }: Described): string {
  return `type ${dtype}, shape [${shape}] and device ${device}`;
}
