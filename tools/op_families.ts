/**
 * The families of ops, as pages of the documentation. Invariant: every op is on one page.
 */
import type { OpDefinition } from "../lib/ops/definition.ts";
import { activations } from "../lib/ops/elementwise/activation.ts";
import { adaptivePooling } from "../lib/ops/nn/adaptive.ts";
import { advancedIndexing } from "../lib/ops/indexing/advanced_indexing.ts";
import { arithmetic } from "../lib/ops/elementwise/arithmetic.ts";
import { attention } from "../lib/ops/nn/attention.ts";
import { averagePooling } from "../lib/ops/nn/average_pooling.ts";
import { classLosses } from "../lib/ops/nn/class_losses.ts";
import { comparisons } from "../lib/ops/elementwise/comparison.ts";
import { complexFunctions } from "../lib/ops/complex/function_op.ts";
import { partOps } from "../lib/ops/complex/parts_ops.ts";
import { complexViews } from "../lib/ops/complex/views.ts";
import { convolutions } from "../lib/ops/nn/convolution.ts";
import { copies } from "../lib/ops/shape/copies.ts";
import { counting } from "../lib/ops/reductions/counting.ts";
import { covariances } from "../lib/ops/reductions/covariance.ts";
import { creation } from "../lib/ops/creation/creation.ts";
import { ctcLossOps } from "../lib/ops/nn/ctc.ts";
import { cumulative } from "../lib/ops/reductions/cumulative.ts";
import { contractions } from "../lib/ops/linalg/einsum.ts";
import { elementwise } from "../lib/ops/elementwise/elementwise.ts";
import { embeddings } from "../lib/ops/indexing/embedding.ts";
import { embeddingBags } from "../lib/ops/indexing/embedding_bag.ts";
import { extremes } from "../lib/ops/elementwise/extremes.ts";
import { factorOps } from "../lib/ops/factors/mod.ts";
import { floatParts } from "../lib/ops/elementwise/float_parts.ts";
import { folding } from "../lib/ops/nn/folding.ts";
import { shortTimeTransforms } from "../lib/ops/fourier/short_time.ts";
import { fourierTransform } from "../lib/ops/fourier/transform.ts";
import { fourierTransforms } from "../lib/ops/fourier/transforms.ts";
import { windowFunctions } from "../lib/ops/fourier/window_functions.ts";
import { fractionalPooling } from "../lib/ops/nn/fractional_pooling.ts";
import { gridSampling } from "../lib/ops/nn/grid_sampling.ts";
import { histograms } from "../lib/ops/reductions/histograms.ts";
import { hostOps } from "../lib/ops/host.ts";
import { indexing } from "../lib/ops/indexing/indexing.ts";
import { joining } from "../lib/ops/shape/joining.ts";
import { linearAlgebra } from "../lib/ops/linalg/linear_algebra.ts";
import { losses } from "../lib/ops/nn/losses.ts";
import { marginLosses } from "../lib/ops/nn/margin_losses.ts";
import { matrix } from "../lib/ops/linalg/matrix.ts";
import { maxPooling } from "../lib/ops/nn/max_pooling.ts";
import { nativeNormalizations } from "../lib/ops/nn/native_normalization.ts";
import { dropouts } from "../lib/ops/creation/dropout.ts";
import { noise } from "../lib/ops/creation/noise.ts";
import { normalizations } from "../lib/ops/nn/normalization.ts";
import { padding } from "../lib/ops/shape/padding.ts";
import { polynomials } from "../lib/ops/special/polynomials.ts";
import { powerPooling } from "../lib/ops/nn/power_pooling.ts";
import { fills } from "../lib/ops/creation/fills.ts";
import { random } from "../lib/ops/creation/random.ts";
import { rearrange } from "../lib/ops/shape/rearrange.ts";
import { rectifiers } from "../lib/ops/elementwise/rectifiers.ts";
import { reductions } from "../lib/ops/reductions/reductions.ts";
import { resampling } from "../lib/ops/nn/resampling.ts";
import { scatterReductions } from "../lib/ops/indexing/scatter_reduce.ts";
import { bitViews } from "../lib/ops/shape/bit_views.ts";
import { scatterViews } from "../lib/ops/shape/scatter_views.ts";
import { searching } from "../lib/ops/reductions/searching.ts";
import { segmentOps } from "../lib/ops/reductions/segments.ts";
import { selection } from "../lib/ops/reductions/selection.ts";
import { singularValueOps } from "../lib/ops/linalg/singular_values.ts";
import { softmaxes } from "../lib/ops/reductions/softmax.ts";
import { solving } from "../lib/ops/linalg/solving.ts";
import { specialOps } from "../lib/ops/special/mod.ts";
import { statistics } from "../lib/ops/reductions/statistics.ts";
import { stridedViews } from "../lib/ops/shape/strided_views.ts";
import { transfer } from "../lib/ops/shape/transfer.ts";
import { transposedConvolutions } from "../lib/ops/nn/transposed_convolution.ts";
import { unaryOps } from "../lib/ops/elementwise/unary.ts";
import { vectorIndexing } from "../lib/ops/indexing/vector_indexing.ts";
import { viewCopies } from "../lib/ops/shape/view_copies.ts";
import { views } from "../lib/ops/shape/views.ts";

/** A page of the documentation. */
export interface Family {
  /** The name of its file. */
  readonly name: string;
  readonly title: string;
  readonly definitions: readonly OpDefinition[];
}

const family = (
  name: string,
  title: string,
  ...parts: readonly Readonly<Record<string, OpDefinition>>[]
): Family => ({
  name,
  title,
  definitions: parts.flatMap((part) => Object.values(part)),
});

/** The pages, in the order of their list. */
export const FAMILIES: readonly Family[] = [
  family("arithmetic", "Arithmetic and elementary functions", arithmetic, unaryOps, elementwise, floatParts),
  family("comparison", "Comparison and selection", comparisons, selection, searching, extremes),
  family("special", "Special functions", specialOps),
  family(
    "reductions",
    "Reductions, statistics and cumulative ops",
    reductions,
    statistics,
    segmentOps,
    cumulative,
    counting,
    histograms,
    covariances,
  ),
  family(
    "views",
    "Views, joining and rearranging",
    views,
    stridedViews,
    viewCopies,
    rearrange,
    copies,
    complexViews,
    bitViews,
    joining,
  ),
  family(
    "indexing",
    "Indexing and scattering",
    indexing,
    vectorIndexing,
    advancedIndexing,
    scatterViews,
    scatterReductions,
    hostOps,
  ),
  family(
    "creation",
    "Creation, random numbers and devices",
    creation,
    random,
    fills,
    windowFunctions,
    transfer,
  ),
  family("activations", "Activations and noise", rectifiers, activations, softmaxes, dropouts, noise),
  family(
    "convolution",
    "Convolution, pooling, padding and resampling",
    convolutions,
    transposedConvolutions,
    maxPooling,
    averagePooling,
    powerPooling,
    fractionalPooling,
    adaptivePooling,
    folding,
    padding,
    resampling,
    gridSampling,
  ),
  family(
    "layers",
    "Normalisation, attention and embeddings",
    normalizations,
    nativeNormalizations,
    attention,
    embeddings,
    embeddingBags,
  ),
  family("losses", "Losses", losses, marginLosses, classLosses, ctcLossOps),
  family(
    "linear_algebra",
    "Linear algebra",
    matrix,
    contractions,
    linearAlgebra,
    solving,
    singularValueOps,
    factorOps,
    polynomials,
  ),
  family(
    "fourier",
    "Fourier transforms and complex numbers",
    fourierTransform,
    fourierTransforms,
    shortTimeTransforms,
    complexFunctions,
    partOps,
  ),
];
