/**
 * Reductions over segments of a dimension, given by lengths or offsets: one element for each segment, as in
 * torch.segment_reduce. Invariant: only the lengths are read on the host; elements are combined on their device.
 */
import { checkAtLeast } from "../../base/checked_numbers.ts";
import { DynError } from "../../base/errors.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import type { Dim } from "../../sym/expr.ts";
import { hostOp, type HostTensor, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { nullable, optional, required } from "../params.ts";
import { checkCategory, t } from "../pointwise.ts";
import { knownSize, normalizeDim, sameShape, shapeText } from "../shapes.ts";
import { composeWideOp } from "../wide.ts";

/** The segment of each element; elements outside all segments have the number of segments. */
function numbersOf(
  { shape, data }: HostTensor,
  { size, areOffsets, unsafe }: {
    readonly size: number;
    readonly areOffsets: boolean;
    readonly unsafe: boolean;
  },
): BigInt64Array {
  const width = shape.at(-1) ?? 0, rows = shape.slice(0, -1).reduce((a, b) => a * b, 1);
  const count = areOffsets ? width - 1 : width, numbers = new BigInt64Array(rows * size).fill(BigInt(count));
  for (let row = 0; row < rows; row++) {
    const given = (k: number) => Number(data[row * width + k]);
    let end = areOffsets ? given(0) : 0;
    if (!unsafe && end !== 0) {
      throw new DynError(`Expected offsets of segmentReduce to start at 0 but found ${end}`);
    }
    for (let segment = 0; segment < count; segment++) {
      const start = end, length = areOffsets ? given(segment + 1) - start : given(segment);
      checkAtLeast("lengths of segmentReduce", length, 0);
      end += length;
      if (end > size || start < 0) break;
      numbers.fill(BigInt(segment), row * size + start, row * size + end);
    }
    if (end > size || !unsafe && end < size) {
      throw new DynError(`Expected lengths of segmentReduce to sum to ${size} but found ${end}`);
    }
  }
  return numbers;
}

const segmentNumbers = hostOp({
  name: "segmentNumbers",
  doc: "For each of `size` elements the number of its segment.",
  params: {
    bounds: required("tensor"),
    size: required("int"),
    areOffsets: required("bool"),
    unsafe: required("bool"),
  },
  exposure: { method: false, free: false },
  infer: ({ bounds, size }) => contiguousMeta([...bounds.shape.slice(0, -1), size], "int64", bounds.device),
  compute: ({ bounds, size, areOffsets, unsafe }) => [{
    shape: [...bounds.shape.slice(0, -1), size],
    dtype: "int64",
    data: numbersOf(bounds, { size, areOffsets, unsafe }),
  }],
  gradient: { kind: "none", because: "its result is made of indices" },
  samples: [],
});

const REDUCES = ["sum", "mean", "max", "min", "prod"] as const;

/** Default initial values of a segment. */
const STARTS = { sum: 0, mean: 0, prod: 1, max: -Infinity, min: Infinity } as const;

/** The reduction that combines the elements. */
const COMBINED = { sum: "sum", mean: "sum", prod: "prod", max: "amax", min: "amin" } as const;

interface Segments<T> {
  readonly bounds: T;
  readonly areOffsets: boolean;
}

function segmentsOf<T extends TensorLike>(lengths: T | null, offsets: T | null): Segments<T> {
  const bounds = lengths ?? offsets;
  if (!bounds || lengths && offsets) {
    throw new DynError(
      `Expected lengths or offsets in segmentReduce but found ${bounds ? "both" : "neither"}`,
    );
  }
  if (bounds.dtype !== "int64" && bounds.dtype !== "int32") {
    throw new DynError(`Expected integers as lengths or offsets but found ${bounds.dtype}`);
  }
  return { bounds, areOffsets: !lengths };
}

/** The number of segments in the last dimension of lengths or offsets. */
function countOf({ bounds, areOffsets }: Segments<TensorLike>): number {
  const width = knownSize(bounds.shape.at(-1) ?? 0) - (areOffsets ? 1 : 0);
  if (bounds.shape.length === 0 || width < 0) {
    throw new DynError(`Expected at least one dimension with bounds but found ${shapeText(bounds.shape)}`);
  }
  return width;
}

/** A tensor [...leading] with dimensions added to broadcast against [...leading, ...trailing]. */
function spread<T extends TensorLike>(o: OpApi<T>, x: T, trailing: readonly Dim[]): T {
  return trailing.reduce<T>((found) => o.unsqueeze(found, -1), x);
}

const segmentReduce = composeWideOp({
  name: "segmentReduce",
  doc:
    'Sums, means, maxima, minima or products ("sum", "mean", "max", "min", "prod") of the segments of a dimension, by ' +
    "their lengths or by offsets, where each begins and the last one ends; `initial` is combined with each. Elements " +
    "must all be in a segment unless it is `unsafe`. As `torch.segment_reduce`.",
  params: {
    data: required("tensor"),
    reduce: required("string", { oneOf: REDUCES }),
    lengths: nullable("tensor", { keyword: true }),
    offsets: nullable("tensor", { keyword: true }),
    axis: optional("int", 0, { keyword: true }),
    unsafe: optional("bool", false, { keyword: true }),
    initial: nullable("scalar", { keyword: true }),
  },
  exposure: { method: false },
  hostParts: true,
  infer({ data, lengths, offsets, axis }) {
    const segments = segmentsOf(lengths, offsets), at = normalizeDim(axis, data.shape.length);
    checkCategory("segmentReduce", data.dtype, ["float"]);
    const count = countOf(segments), leading = segments.bounds.shape.slice(0, -1);
    if (!sameShape(leading, data.shape.slice(0, at))) {
      throw new DynError(
        `Expected bounds for the dimensions before axis ${at} of ${shapeText(data.shape)} but found ` +
          shapeText(segments.bounds.shape),
      );
    }
    return contiguousMeta([...leading, count, ...data.shape.slice(at + 1)], data.dtype, data.device);
  },
  compose(o, { data, reduce, lengths, offsets, axis, unsafe, initial }) {
    const segments = segmentsOf(lengths, offsets), at = normalizeDim(axis, data.shape.length);
    const count = countOf(segments), trailing = data.shape.slice(at + 1);
    const numbers = o.segmentNumbers(
      segments.bounds,
      knownSize(data.shape[at] ?? 1),
      segments.areOffsets,
      unsafe,
    );
    const index = o.expand(spread(o, numbers, trailing), data.shape);
    // One more, for elements outside all segments
    const shape = [...data.shape.slice(0, at), count + 1, ...trailing],
      options = { dtype: data.dtype, device: data.device };
    const kind = reduce as keyof typeof STARTS, isExtreme = kind === "max" || kind === "min";
    const start = o.full(shape, isExtreme ? STARTS[kind] : initial ?? STARTS[kind], options);
    const combined = o.narrow(o.scatterReduce(start, at, index, data, COMBINED[kind]), at, 0, count);
    if (isExtreme && initial !== null) {
      // Elements equal to the initial value receive all of the gradient
      return o.where(kind === "max" ? o.ge(combined, initial) : o.le(combined, initial), combined, initial);
    }
    if (kind !== "mean") return combined;
    const hits = o.scatterAdd(o.zeros(shape, options), at, index, o.onesLike(data));
    const lengthOf = o.narrow(hits, at, 0, count);
    return o.div(combined, initial === null ? lengthOf : o.clamp(lengthOf, 1, null));
  },
  samples: [],
  errors: [
    { args: [t(3), "sum"], message: "neither" },
    {
      args: [t(3), "sum"],
      options: { lengths: { tensor: [2, 2], dtype: "int64", range: [1, 2] } },
      message: "dimensions before axis 0",
    },
  ],
});

export const segmentOps = { segmentNumbers, segmentReduce } as const;
