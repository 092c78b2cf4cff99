/**
 * Views that copy: `expandCopy` is `expand` into memory of its own. Input: the definitions of views; output: one
 * definition each. Invariant: shapes, gradients and errors are those of the view.
 */
import { contiguousMeta, type TensorMeta } from "../graph/meta.ts";
import { defineOp, type Implementation, type OpDefinition, type TensorLike } from "./definition.ts";
import type { OpApi } from "./generated.ts";
import type { ArgsOf, Params } from "./params.ts";
import { rearrange } from "./rearrange.ts";
import { views } from "./views.ts";

/** A view's results in memory of their own, under another name. */
function copyOf(name: string, view: OpDefinition): OpDefinition {
  const { params, results, resultList, gradient, samples, errors } = view;
  return defineOp<Params>({
    name,
    doc: `As ${view.name}, into memory of its own.`,
    params,
    ...(results ? { results } : {}),
    ...(resultList ? { resultList } : {}),
    exposure: { method: false },
    infer(args) {
      const inferred = view.infer(args);
      return isList(inferred) ? inferred.map(fresh) : fresh(inferred);
    },
    implementation: copying(view.implementation),
    gradient,
    samples,
    ...(errors ? { errors } : {}),
  });
}

const fresh = ({ shape, dtype, device }: TensorMeta): TensorMeta => contiguousMeta(shape, dtype, device);

function isList<T extends object>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}

function copying(of: Implementation<Params>): Implementation<Params> {
  if (of.kind === "view") return { kind: "lower", lower: (args, out) => of.lower(args, out) };
  if (of.kind !== "composite") return of;
  return {
    kind: "composite",
    compose<T extends TensorLike>(o: OpApi<T>, args: ArgsOf<Params, T>): T | readonly T[] {
      const viewed = of.compose(o, args);
      return isList(viewed) ? viewed.map((each) => o.clone(each)) : o.clone(viewed);
    },
  };
}

/** Views that copy, in the names of `torch.*_copy`, and the splits whose parts are not tracked as views. */
export const viewCopies = {
  aliasCopy: copyOf("aliasCopy", views.alias),
  asStridedCopy: copyOf("asStridedCopy", views.asStrided),
  diagonalCopy: copyOf("diagonalCopy", views.diagonal),
  expandCopy: copyOf("expandCopy", views.expand),
  narrowCopy: copyOf("narrowCopy", rearrange.narrow),
  permuteCopy: copyOf("permuteCopy", views.permute),
  selectCopy: copyOf("selectCopy", views.select),
  sliceCopy: copyOf("sliceCopy", views.slice),
  splitCopy: copyOf("splitCopy", rearrange.split),
  splitWithSizesCopy: copyOf("splitWithSizesCopy", rearrange.splitWithSizes),
  squeezeCopy: copyOf("squeezeCopy", views.squeeze),
  tCopy: copyOf("tCopy", rearrange.t),
  transposeCopy: copyOf("transposeCopy", rearrange.transpose),
  unbindCopy: copyOf("unbindCopy", rearrange.unbind),
  unfoldCopy: copyOf("unfoldCopy", views.unfold),
  unsqueezeCopy: copyOf("unsqueezeCopy", views.unsqueeze),
  viewCopy: copyOf("viewCopy", views.view),
  unsafeSplit: copyOf("unsafeSplit", rearrange.split),
  unsafeChunk: copyOf("unsafeChunk", rearrange.chunk),
} as const;
