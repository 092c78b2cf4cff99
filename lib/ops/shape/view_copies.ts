/**
 * Copying versions of views, and splits without promises about aliasing. Results are fresh tensors. Invariant:
 * parameters and checks are those of the original op.
 */
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import { composeOp, type OpDefinition, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import type { ArgsOf, Params } from "../params.ts";
import { rearrange } from "./rearrange.ts";
import { stridedViews } from "./strided_views.ts";
import { views } from "./views.ts";

function isList<T>(result: T | readonly T[]): result is readonly T[] {
  return Array.isArray(result);
}

const fresh = (meta: TensorMeta): TensorMeta => contiguousMeta(meta.shape, meta.dtype, meta.device);

/** An op with another name whose results are copies. */
function copyOf<P extends Params>(
  name: string,
  base: OpDefinition<P>,
  call: <T extends TensorLike>(o: OpApi<T>, args: ArgsOf<P, T>) => T | readonly T[],
): OpDefinition<P> {
  return composeOp<P>({
    name,
    doc: `As ${base.name}, copied.`,
    params: base.params,
    ...(base.resultList ? { resultList: true } : {}),
    exposure: { method: false },
    infer(args) {
      const result = base.infer(args);
      return isList(result) ? result.map(fresh) : fresh(result);
    },
    compose(o, args) {
      const result = call(o, args);
      return isList(result) ? result.map((x) => o.clone(x)) : o.clone(result);
    },
    samples: base.samples,
    ...(base.errors ? { errors: base.errors } : {}),
  });
}

export const viewCopies = {
  aliasCopy: copyOf("aliasCopy", views.alias, (o, { self }) => o.alias(self)),
  asStridedCopy: copyOf(
    "asStridedCopy",
    stridedViews.asStrided,
    (o, { self, size, stride, storageOffset }) => o.asStrided(self, size, stride, storageOffset),
  ),
  diagonalCopy: copyOf(
    "diagonalCopy",
    views.diagonal,
    (o, { self, offset, dim1, dim2 }) => o.diagonal(self, offset, dim1, dim2),
  ),
  expandCopy: copyOf("expandCopy", views.expand, (o, { self, size }) => o.expand(self, size)),
  permuteCopy: copyOf("permuteCopy", views.permute, (o, { self, dims }) => o.permute(self, dims)),
  squeezeCopy: copyOf("squeezeCopy", views.squeeze, (o, { self, dim }) => o.squeeze(self, dim)),
  unfoldCopy: copyOf(
    "unfoldCopy",
    stridedViews.unfold,
    (o, { self, dimension, size, step }) => o.unfold(self, dimension, size, step),
  ),
  unsqueezeCopy: copyOf("unsqueezeCopy", views.unsqueeze, (o, { self, dim }) => o.unsqueeze(self, dim)),
  viewCopy: copyOf("viewCopy", views.view, (o, { self, size }) => o.view(self, size)),
  narrowCopy: copyOf(
    "narrowCopy",
    rearrange.narrow,
    (o, { self, dim, start, length }) => o.narrow(self, dim, start, length),
  ),
  splitWithSizesCopy: copyOf(
    "splitWithSizesCopy",
    rearrange.splitWithSizes,
    (o, { self, splitSizes, dim }) => o.splitWithSizes(self, splitSizes, dim),
  ),
  tCopy: copyOf("tCopy", rearrange.t, (o, { self }) => o.t(self)),
  transposeCopy: copyOf(
    "transposeCopy",
    rearrange.transpose,
    (o, { self, dim0, dim1 }) => o.transpose(self, dim0, dim1),
  ),
  unbindCopy: copyOf("unbindCopy", rearrange.unbind, (o, { self, dim }) => o.unbind(self, dim)),
  unsafeSplit: copyOf(
    "unsafeSplit",
    rearrange.split,
    (o, { self, splitSize, dim }) => o.split(self, splitSize, dim),
  ),
  unsafeChunk: copyOf(
    "unsafeChunk",
    rearrange.chunk,
    (o, { self, chunks, dim }) => o.chunk(self, chunks, dim),
  ),
} as const;
