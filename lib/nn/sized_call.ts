/**
 * Calls of layers that accept the size of their output, by position or by name: `layer.call(x, { outputSize })`.
 */
import { type Trailing, trailing } from "../base/arguments.ts";
import { refuseValue } from "../base/checked_input.ts";

interface SizedCall {
  /** Sizes of the output; the last ones are used. */
  readonly outputSize?: readonly number[] | null;
}

const SIZED = ["outputSize"] as const;

/** Options after the tensors. */
export type SizedArguments = Trailing<SizedCall, typeof SIZED>;

/** The requested size. Throws DynError for other names. */
export function outputSizeOf(layer: object, given: SizedArguments): readonly number[] | null {
  const { name } = layer.constructor, { outputSize = null } = trailing<SizedCall>(name, SIZED, given);
  if (outputSize !== null && !Array.isArray(outputSize)) {
    refuseValue(`a list of sizes for outputSize of ${name}`, outputSize);
  }
  return outputSize;
}
