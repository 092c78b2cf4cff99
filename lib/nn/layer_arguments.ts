/** Arguments of layers, some of which are counts. Invariant: a layer of −1 features is an error where it is created. */
import { argumentsOf, type Signature, type WithFlags } from "../base/arguments.ts";
import { checkInteger } from "../base/checked_numbers.ts";

/** Arguments that count something, by the names that all layers give them. */
const COUNTS: ReadonlySet<string> = new Set([
  "inFeatures",
  "outFeatures",
  "in1Features",
  "in2Features",
  "inChannels",
  "outChannels",
  "numFeatures",
  "numClasses",
  "numEmbeddings",
  "embeddingDim",
  "inputSize",
  "hiddenSize",
  "embedDim",
  "numHeads",
  "numGroups",
  "numChannels",
  "numLayers",
  "dModel",
  "nhead",
  "upscaleFactor",
  "downscaleFactor",
]);

/** Like `argumentsOf`. Throws DynError also for a count that is not an integer of at least 0. */
export function layerArguments<R extends object, O extends object>(
  layer: string,
  signature: Signature<R, O> & WithFlags<R & O>,
  given: readonly unknown[],
): R & Partial<O> {
  const found = argumentsOf<R, O>(layer, signature, given);
  for (const name of signature.required) {
    if (COUNTS.has(name)) checkInteger(`${name} of ${layer}`, found[name], 0);
  }
  for (const name of signature.positional) {
    const value: unknown = found[name];
    if (value !== undefined && COUNTS.has(name)) checkInteger(`${name} of ${layer}`, value, 0);
  }
  return found;
}
