/**
 * Tensors saved for backward passes. Input: a tensor at the time of a call; output: the same tensor later, with
 * the place in the graph that it had. Invariant: elements that were written in place since are never handed out.
 */
import { DynError } from "../base/errors.ts";
import { aliasOf } from "../tensor/eager.ts";
import { Tensor } from "../tensor/tensor.ts";
import { type Edge, gradientEdge, setHistory } from "./node.ts";

/** One saved tensor. */
export class SavedTensor {
  readonly #version: number;
  readonly #edge: Edge | null;
  #tensor: Tensor | null;

  /** Saves a tensor; `edge` is its place in the graph where that is not yet known to it. */
  constructor(tensor: Tensor, edge: Edge | null = gradientEdge(tensor)) {
    this.#tensor = tensor;
    this.#version = tensor.storage.version;
    this.#edge = edge;
  }

  /** The tensor. Throws where it was released or has changed since. */
  unpack(node: string): Tensor {
    const tensor = this.#tensor;
    if (tensor === null) throw releasedError();
    if (tensor.storage.version !== this.#version) {
      throw new DynError(
        "One of the variables needed for gradient computation has been modified by an inplace operation: " +
          `[${tensor.dtype} [${tensor.shape}]], needed by ${node}, is at version ${tensor.storage.version}; ` +
          `expected version ${this.#version} instead`,
      );
    }
    const now = gradientEdge(tensor);
    if (now?.node === this.#edge?.node && now?.output === this.#edge?.output) return tensor;
    const alias = aliasOf(tensor);
    if (this.#edge !== null) setHistory(alias, this.#edge.node, this.#edge.output);
    return alias;
  }

  release(): void {
    this.#tensor = null;
  }
}

/** What a second pass over a released graph throws. */
export function releasedError(): DynError {
  return new DynError(
    "Trying to backward through the graph a second time, or to read saved tensors after they were freed; " +
      "specify retainGraph: true for the first pass",
  );
}
