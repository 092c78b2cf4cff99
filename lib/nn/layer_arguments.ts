/** Arguments of layers, some of which are counts. Invariant: a layer of −1 features is an error where it is created. */
import { argumentsOf, type Signature, type WithFlags } from "../base/arguments.ts";
import { checkInteger } from "../base/checked_numbers.ts";

/** The arguments of a layer. */
interface LayerSignature<R, O> extends Signature<R, O> {
  /** Those that count something, such as features. */
  readonly counts: readonly ((keyof R | keyof O) & string)[];
}

/** Like `argumentsOf`. Throws DynError also for a count that is not an integer of at least 0. */
export function layerArguments<R extends object, O extends object>(
  layer: string,
  signature: LayerSignature<R, O> & WithFlags<R & O>,
  given: readonly unknown[],
): R & Partial<O> {
  const found = argumentsOf<R, O>(layer, signature, given);
  for (const name of signature.counts) {
    const value: unknown = found[name];
    if (value !== undefined) checkInteger(`${name} of ${layer}`, value, 0);
  }
  return found;
}
