/**
 * The complete table of ops, looked up by public name, by graph name or by the name of an in-place call. Invariant:
 * names are unique, and an op's name in a family is its own.
 */
import { InternalError } from "../base/errors.ts";
import { apart } from "../base/isolated_objects.ts";
import { advancedIndexing } from "./indexing/advanced_indexing.ts";
import { copies } from "./shape/copies.ts";
import { cumulative } from "./reductions/cumulative.ts";
import { elementwise } from "./elementwise/elementwise.ts";
import { hostOps } from "./host.ts";
import { padding } from "./shape/padding.ts";
import { scatterReductions } from "./indexing/scatter_reduce.ts";
import { searching } from "./reductions/searching.ts";
import { segmentOps } from "./reductions/segments.ts";
import { selection } from "./reductions/selection.ts";
import { specialOps } from "./special/mod.ts";
import { activations } from "./elementwise/activation.ts";
import { averagePooling } from "./nn/average_pooling.ts";
import { maxPooling } from "./nn/max_pooling.ts";
import { dropouts } from "./creation/dropout.ts";
import { random } from "./creation/random.ts";
import { statistics } from "./reductions/statistics.ts";
import { embeddings } from "./indexing/embedding.ts";
import { embeddingBags } from "./indexing/embedding_bag.ts";
import { ctcLossOps } from "./nn/ctc.ts";
import { attention } from "./nn/attention.ts";
import { contractions } from "./linalg/einsum.ts";
import { joining } from "./shape/joining.ts";
import { adaptivePooling } from "./nn/adaptive.ts";
import { gridSampling } from "./nn/grid_sampling.ts";
import { classLosses } from "./nn/class_losses.ts";
import { folding } from "./nn/folding.ts";
import { fractionalPooling } from "./nn/fractional_pooling.ts";
import { noise } from "./creation/noise.ts";
import { powerPooling } from "./nn/power_pooling.ts";
import { resampling } from "./nn/resampling.ts";
import { marginLosses } from "./nn/margin_losses.ts";
import { polynomials } from "./special/polynomials.ts";
import { covariances } from "./reductions/covariance.ts";
import { linearAlgebra } from "./linalg/linear_algebra.ts";
import { solving } from "./linalg/solving.ts";
import { singularValueOps } from "./linalg/singular_values.ts";
import { histograms } from "./reductions/histograms.ts";
import { complexFunctions } from "./complex/function_op.ts";
import { partOps } from "./complex/parts_ops.ts";
import { bitViews } from "./shape/bit_views.ts";
import { complexViews } from "./complex/views.ts";
import { shortTimeTransforms } from "./fourier/short_time.ts";
import { fourierTransform } from "./fourier/transform.ts";
import { fourierTransforms } from "./fourier/transforms.ts";
import { windowFunctions } from "./fourier/window_functions.ts";
import { counting } from "./reductions/counting.ts";
import { factorOps } from "./factors/mod.ts";
import { floatParts } from "./elementwise/float_parts.ts";
import { nativeNormalizations } from "./nn/native_normalization.ts";
import { stridedViews } from "./shape/strided_views.ts";
import { vectorIndexing } from "./indexing/vector_indexing.ts";
import { arithmetic } from "./elementwise/arithmetic.ts";
import { comparisons } from "./elementwise/comparison.ts";
import { convolutions } from "./nn/convolution.ts";
import { creation } from "./creation/creation.ts";
import type { OpDefinition } from "./definition.ts";
import type { OpName } from "./generated.ts";
import { extremes } from "./elementwise/extremes.ts";
import { fills } from "./creation/fills.ts";
import { indexing } from "./indexing/indexing.ts";
import { losses } from "./nn/losses.ts";
import { matrix } from "./linalg/matrix.ts";
import { normalizations } from "./nn/normalization.ts";
import { rearrange } from "./shape/rearrange.ts";
import { reductions } from "./reductions/reductions.ts";
import { scatterViews } from "./shape/scatter_views.ts";
import { rectifiers } from "./elementwise/rectifiers.ts";
import { softmaxes } from "./reductions/softmax.ts";
import { transposedConvolutions } from "./nn/transposed_convolution.ts";
import { transfer } from "./shape/transfer.ts";
import { unaryOps } from "./elementwise/unary.ts";
import { viewCopies } from "./shape/view_copies.ts";
import { views } from "./shape/views.ts";

/** Every op by its public name. */
export const OPS: Readonly<Record<OpName, OpDefinition>> = {
  ...arithmetic,
  ...comparisons,
  ...unaryOps,
  ...extremes,
  ...rectifiers,
  ...reductions,
  ...creation,
  ...views,
  ...stridedViews,
  ...viewCopies,
  ...scatterViews,
  ...rearrange,
  ...indexing,
  ...vectorIndexing,
  ...advancedIndexing,
  ...copies,
  ...cumulative,
  ...elementwise,
  ...hostOps,
  ...padding,
  ...scatterReductions,
  ...selection,
  ...searching,
  ...specialOps,
  ...activations,
  ...maxPooling,
  ...averagePooling,
  ...powerPooling,
  ...fractionalPooling,
  ...fills,
  ...random,
  ...dropouts,
  ...noise,
  ...statistics,
  ...segmentOps,
  ...embeddings,
  ...embeddingBags,
  ...attention,
  ...contractions,
  ...joining,
  ...resampling,
  ...folding,
  ...gridSampling,
  ...marginLosses,
  ...classLosses,
  ...ctcLossOps,
  ...polynomials,
  ...linearAlgebra,
  ...solving,
  ...covariances,
  ...singularValueOps,
  ...counting,
  ...histograms,
  ...factorOps,
  ...floatParts,
  ...nativeNormalizations,
  ...matrix,
  ...convolutions,
  ...transposedConvolutions,
  ...adaptivePooling,
  ...softmaxes,
  ...normalizations,
  ...losses,
  ...transfer,
  ...bitViews,
  ...complexViews,
  ...complexFunctions,
  ...partOps,
  ...fourierTransform,
  ...fourierTransforms,
  ...shortTimeTransforms,
  ...windowFunctions,
} satisfies Record<OpName, OpDefinition>;

/** The op of a call target, and the form of the call. */
export interface CallTarget {
  readonly definition: OpDefinition;
  /** Whether the result is written into the first tensor. */
  readonly inplace: boolean;
}

const targets = new Map<string, CallTarget>();
const definitions = new Map<string, OpDefinition>(Object.entries(OPS));

for (const [name, definition] of definitions) {
  // Missing fields must not be found on Object.prototype, which programs can extend
  for (const each of [definition, definition.params, ...Object.values(definition.params)]) apart(each);
  if (name !== definition.name) {
    throw new InternalError(
      `Expected the op ${definition.name} under its own name but found it under ${name}`,
    );
  }
  const graphName = definition.graphName ?? name;
  for (const each of new Set([name, graphName])) {
    const known = targets.get(each);
    // a public name takes precedence over another op's graph name
    if (!known || each === name) targets.set(each, { definition, inplace: false });
    if (definition.inplace) targets.set(`${each}_`, { definition, inplace: true });
  }
}
for (const definition of definitions.values()) {
  for (const alias of definition.exposure?.aliases ?? []) {
    if (!targets.has(alias)) targets.set(alias, { definition, inplace: false });
    if (definition.inplace && !targets.has(`${alias}_`)) {
      targets.set(`${alias}_`, { definition, inplace: true });
    }
  }
}

/** All ops, in the order of the table. */
export const ALL_OPS: readonly OpDefinition[] = [...definitions.values()];

/** The op of this public name. Throws InternalError for an unknown name. */
export function opNamed(name: string): OpDefinition {
  const found = definitions.get(name);
  if (!found) throw new InternalError(`Expected the name of an op but found ${name}`);
  return found;
}

/** Returns the op of a public name, alias, graph name or in-place name ("add_"), or undefined. */
export function findTarget(name: string): CallTarget | undefined {
  return targets.get(name);
}
