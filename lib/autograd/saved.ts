/**
 * Tensors saved for backward passes, restored with their position in the graph. Invariant: a tensor that was written in
 * place since is never restored.
 */
import type { DType } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import { shapeText } from "../ops/shapes.ts";
import type { Dim } from "../sym/expr.ts";
import { aliasOf, elementlessLike } from "../tensor/eager.ts";
import type { Layout } from "../tensor/layout.ts";
import { carryTangents } from "../tensor/tangents.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { packed, type PackedTensor } from "./saved_hooks.ts";
import { type Edge, gradientEdge, setHistory } from "./node.ts";

/** One saved tensor. */
export class SavedTensor {
  readonly #version: number;
  readonly #edge: Edge | null;
  readonly layout: Layout;
  #tensor: Tensor | null;
  /** The value packed by hooks; null without hooks. */
  #packed: PackedTensor | null;

  /** Saves a tensor; `edge` is its position in the graph if the tensor does not know it yet. */
  constructor(tensor: Tensor, edge: Edge | null = gradientEdge(tensor)) {
    this.#packed = packed(tensor);
    this.#tensor = this.#packed === null ? tensor : null;
    this.#version = tensor.storage.version;
    this.layout = tensor.layout;
    this.#edge = edge;
  }

  /**
   * Returns the tensor. If it was released or has changed since, the returned one throws when its elements are read: a
   * rule may not need them in this pass.
   */
  unpack(node: string): Tensor {
    const tensor = this.#tensor, layout = this.layout;
    if (this.#packed !== null) return this.#withHistory(aliasOf(this.#packed.unpack(layout)));
    if (tensor === null) return elementlessLike({ device: layout.device, layout }, releasedError);
    if (this.overwritten) {
      const now = tensor.storage.version, then = this.#version;
      return elementlessLike(
        { device: layout.device, layout },
        () => overwrittenError(layout, { node, now, then }),
      );
    }
    const edge = gradientEdge(tensor);
    if (edge?.node === this.#edge?.node && edge?.output === this.#edge?.output) return tensor;
    return carryTangents(tensor, this.#withHistory(aliasOf(tensor)));
  }

  #withHistory(alias: Tensor): Tensor {
    if (this.#edge !== null) setHistory(alias, this.#edge.node, this.#edge.output);
    return alias;
  }

  /** Returns whether its elements, if it has any, were written in place since. */
  get overwritten(): boolean {
    return this.#tensor !== null && this.layout.numel !== 0 && this.#tensor.storage.version !== this.#version;
  }

  /** The tensor as it is now, for readers that use none of its elements; null if it was released or packed. */
  get present(): Tensor | null {
    return this.#tensor;
  }

  release(): void {
    this.#tensor = null;
    this.#packed = null;
  }
}

/** Returns the error for reading a saved tensor that was written in place since; versions count the writes. */
export function overwrittenError(
  { dtype, shape }: { readonly dtype: DType; readonly shape: readonly Dim[] },
  { node, now, then }: { readonly node: string; readonly now: number; readonly then: number },
): DynError {
  return new DynError(
    "One of the variables needed for gradient computation has been modified by an inplace operation: " +
      `[${dtype} ${
        shapeText(shape)
      }], needed by ${node}, is at version ${now}; expected version ${then} instead`,
  );
}

/** Returns the error for a second pass over a released graph. */
export function releasedError(): DynError {
  return new DynError(
    "Trying to backward through the graph a second time, or to read saved tensors after they were freed; " +
      "specify retainGraph: true for the first pass",
  );
}
