/**
 * The families of ops, as pages of the documentation. Input: the parts of the table; output: which page has which. Invariant:
 * every op is on one page.
 */
import type { OpDefinition } from "../lib/ops/definition.ts";
import { activations } from "../lib/ops/activation.ts";
import { adaptivePooling } from "../lib/ops/adaptive.ts";
import { advancedIndexing } from "../lib/ops/advanced_indexing.ts";
import { arithmetic } from "../lib/ops/arithmetic.ts";
import { attention } from "../lib/ops/attention.ts";
import { averagePooling } from "../lib/ops/average_pooling.ts";
import { classLosses } from "../lib/ops/class_losses.ts";
import { comparisons } from "../lib/ops/comparison.ts";
import { complexFunctions } from "../lib/ops/complex/function_op.ts";
import { partOps } from "../lib/ops/complex/parts_ops.ts";
import { complexViews } from "../lib/ops/complex/views.ts";
import { convolutions } from "../lib/ops/convolution.ts";
import { copies } from "../lib/ops/copies.ts";
import { counting } from "../lib/ops/counting.ts";
import { covariances } from "../lib/ops/covariance.ts";
import { creation } from "../lib/ops/creation.ts";
import { ctcLossOps } from "../lib/ops/ctc.ts";
import { cumulative } from "../lib/ops/cumulative.ts";
import { contractions } from "../lib/ops/einsum.ts";
import { elementwise } from "../lib/ops/elementwise.ts";
import { embeddings } from "../lib/ops/embedding.ts";
import { embeddingBags } from "../lib/ops/embedding_bag.ts";
import { extremes } from "../lib/ops/extremes.ts";
import { factorOps } from "../lib/ops/factors/mod.ts";
import { floatParts } from "../lib/ops/float_parts.ts";
import { folding } from "../lib/ops/folding.ts";
import { shortTimeTransforms } from "../lib/ops/fourier/short_time.ts";
import { fourierTransform } from "../lib/ops/fourier/transform.ts";
import { fourierTransforms } from "../lib/ops/fourier/transforms.ts";
import { windowFunctions } from "../lib/ops/fourier/window_functions.ts";
import { fractionalPooling } from "../lib/ops/fractional_pooling.ts";
import { gridSampling } from "../lib/ops/grid_sampling.ts";
import { histograms } from "../lib/ops/histograms.ts";
import { hostOps } from "../lib/ops/host.ts";
import { indexing } from "../lib/ops/indexing.ts";
import { joining } from "../lib/ops/joining.ts";
import { linearAlgebra } from "../lib/ops/linear_algebra.ts";
import { losses } from "../lib/ops/losses.ts";
import { marginLosses } from "../lib/ops/margin_losses.ts";
import { matrix } from "../lib/ops/matrix.ts";
import { maxPooling } from "../lib/ops/max_pooling.ts";
import { nativeNormalizations } from "../lib/ops/native_normalization.ts";
import { noise } from "../lib/ops/noise.ts";
import { normalizations } from "../lib/ops/normalization.ts";
import { padding } from "../lib/ops/padding.ts";
import { polynomials } from "../lib/ops/polynomials.ts";
import { powerPooling } from "../lib/ops/power_pooling.ts";
import { fills } from "../lib/ops/fills.ts";
import { random } from "../lib/ops/random.ts";
import { rearrange } from "../lib/ops/rearrange.ts";
import { rectifiers } from "../lib/ops/rectifiers.ts";
import { reductions } from "../lib/ops/reductions.ts";
import { resampling } from "../lib/ops/resampling.ts";
import { scatterReductions } from "../lib/ops/scatter_reduce.ts";
import { scatterViews } from "../lib/ops/scatter_views.ts";
import { searching } from "../lib/ops/searching.ts";
import { segmentOps } from "../lib/ops/segments.ts";
import { selection } from "../lib/ops/selection.ts";
import { singularValueOps } from "../lib/ops/singular_values.ts";
import { softmaxes } from "../lib/ops/softmax.ts";
import { solving } from "../lib/ops/solving.ts";
import { specialOps } from "../lib/ops/special/mod.ts";
import { statistics } from "../lib/ops/statistics.ts";
import { stridedViews } from "../lib/ops/strided_views.ts";
import { transfer } from "../lib/ops/transfer.ts";
import { transposedConvolutions } from "../lib/ops/transposed_convolution.ts";
import { unaryOps } from "../lib/ops/unary.ts";
import { vectorIndexing } from "../lib/ops/vector_indexing.ts";
import { viewCopies } from "../lib/ops/view_copies.ts";
import { views } from "../lib/ops/views.ts";

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
  family("activations", "Activations and noise", rectifiers, activations, softmaxes, noise),
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
