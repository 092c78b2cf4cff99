/**
 * Multidimensional histograms of points in the last dimension: counts or sums of weights, and edges. Invariant:
 * composed of ops, so that it can be captured.
 */
import { optionsOf, refuseSurplus } from "../base/checked_input.ts";
import { checkTensor } from "./checked.ts";
import { DynError } from "../base/errors.ts";
import { ops } from "./eager.ts";
import { isTensor, type Tensor } from "./tensor.ts";

/** Bins of a grid: a number for all dimensions, one for each, or edges for each. */
export type GridBins = number | readonly number[] | readonly Tensor[];

/** Arguments of histogramdd by name. */
export interface HistogramddOptions {
  /** The bins, if they are not given by position. */
  readonly bins?: GridBins;
  /** Lower and upper end for each dimension, in one list; default: those of the points. */
  readonly range?: readonly number[] | null;
  /** A weight for each point. */
  readonly weight?: Tensor | null;
  /** Whether the result integrates to 1. */
  readonly density?: boolean;
}

const HISTOGRAMDD = ["bins", "range", "weight", "density"] as const;

/** The results of histogramdd: [bins…] and a vector of edges for each dimension. */
export type HistogramddResult = [hist: Tensor, binEdges: Tensor[]] & {
  readonly hist: Tensor;
  readonly binEdges: Tensor[];
};

const isOptions = (value: GridBins | HistogramddOptions): value is HistogramddOptions =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Counts the points [..., D] in each cell of a grid, like `torch.histogramdd`: `bins` is a number for all dimensions,
 * one for each, or edges for each. Throws DynError if bins are not given for D dimensions.
 */
export function histogramdd(
  input: Tensor,
  first: GridBins | HistogramddOptions,
  rest: HistogramddOptions = {},
): HistogramddResult {
  if (arguments.length > 3) refuseSurplus("histogramdd", 3, arguments);
  checkTensor(input, "histogramdd");
  const options = optionsOf("histogramdd", isOptions(first) ? first : rest, HISTOGRAMDD),
    bins = isOptions(first) ? first.bins : first;
  if (bins === undefined || bins === null) {
    throw new DynError(`Expected a number, numbers or tensors as bins of histogramdd but found ${bins}`);
  }
  const { range = null, weight = null, density = false } = options, dims = input.shape.at(-1);
  if (dims === undefined || input.ndim < 2) {
    throw new DynError(
      `Expected points in the last of at least 2 dimensions but found shape [${input.shape}]`,
    );
  }
  const given: readonly (number | Tensor)[] = typeof bins === "number"
    ? new Array<number>(dims).fill(bins)
    : bins;
  if (given.length !== dims) {
    throw new DynError(`Expected bins for ${dims} dimensions but found ${given.length}`);
  }
  if (range && range.length !== 2 * dims) {
    throw new DynError(`Expected ${2 * dims} ends of ranges but found ${range.length}`);
  }
  const points = input.reshape(-1, dims);
  const edges = given.map((each, d) =>
    isTensor(each) ? each : ops.binEdges(points.select(1, d), each, range && range.slice(2 * d, 2 * d + 2))
  );
  const hist = ops.binnedSums(points, edges, weight && weight.reshape(-1), density);
  const result: [Tensor, Tensor[]] = [hist, edges];
  return Object.assign(result, { hist, binEdges: edges });
}
