/**
 * Tensors that represent one element of a batch, for functions that run over a batch: without the batch dimension and
 * without elements. Each belongs to a level (one run of a function over a batch). Invariant: views of such a tensor
 * are found through the memory that they share with it.
 */
import { DynError } from "../base/errors.ts";
import { layoutOf } from "./layout.ts";
import { Storage } from "./storage.ts";
import { Tensor } from "./tensor.ts";

/** A run of a function over a batch. */
export interface Level {
  /** Its name in messages. */
  readonly name: string;
}

interface Held {
  readonly level: Level;
  readonly layout: Tensor["layout"];
  readonly offset: number;
  readonly whole: Tensor;
}

/** The batches of the tensors that represent one element. */
const byElement = new WeakMap<Tensor, Held>();

/** The same by storage: the tape makes further tensors over the memory of an element. */
const byStorage = new WeakMap<Storage, Held[]>();

function unreadable(level: Level): DynError {
  return new DynError(
    `Expected elements but found one tensor for a whole batch: a function under ${level.name} cannot read elements ` +
      "(item(), if, tolist()), and what it sees does not outlive the call; return it, or use where for what depends on elements",
  );
}

/** One element of a batch for a level. `of` is the element of the tensor that `whole` is a view of, if it is one. */
export function elementOf(level: Level, whole: Tensor, of?: Tensor): Tensor {
  const [, ...shape] = whole.shape, [, ...strides] = whole.strides;
  const layout = layoutOf({ shape, strides, dtype: whole.dtype, device: whole.device });
  const storage = of?.storage ?? new Storage(whole.device, null, () => unreadable(level));
  const offset = whole.storageOffset(), element = new Tensor(storage, layout, offset);
  const entry = { level, layout, offset, whole }, known = byStorage.get(storage) ?? [];
  byElement.set(element, entry);
  if (!known.some((each) => isSame(each, entry) && historyOf(each) === historyOf(entry))) {
    byStorage.set(storage, [...known, entry]);
  }
  return element;
}

function isSame(a: Held, b: Omit<Held, "whole">): boolean {
  return a.level === b.level && a.layout === b.layout && a.offset === b.offset;
}

/** The node or leaf that receives gradients of a whole batch. */
function historyOf({ whole }: Held): unknown {
  return whole.gradFn ?? (whole.requiresGrad ? whole : null);
}

/**
 * The batched tensor, batch first, whose elements a tensor represents at a level; undefined for other tensors. Throws
 * DynError if the tape has stacked it from elements whose gradients flow differently.
 */
export function wholeOf(element: Tensor, level: Level): Tensor | undefined {
  const { storage, layout, offset } = element, own = byElement.get(element);
  if (own !== undefined && isSame(own, { level, layout, offset })) return own.whole;
  const [found, ...others] =
    byStorage.get(storage)?.filter((each) => isSame(each, { level, layout, offset })) ?? [];
  if (others.length > 0) {
    throw new DynError(
      `Expected one history of a tensor under ${level.name} but found ${
        others.length + 1
      }, as detach and writes in place make ` +
        "them; write out of place",
    );
  }
  return found?.whole;
}

/** The tensor with elements below all levels; the tensor itself if it represents no element. */
export function wholeBeneath(tensor: Tensor): Tensor {
  const entry = byElement.get(tensor) ?? byStorage.get(tensor.storage)?.[0];
  return entry === undefined ? tensor : wholeBeneath(entry.whole);
}

/** Returns whether gradients flow through a tensor, or through the batch that it represents at any level. */
export function requiresGradBeneath(tensor: Tensor): boolean {
  if (tensor.requiresGrad) return true;
  const own = byElement.get(tensor);
  if (own !== undefined) return requiresGradBeneath(own.whole);
  return byStorage.get(tensor.storage)?.some(({ whole }) => requiresGradBeneath(whole)) ?? false;
}
