/** Handles of hooks on the tape. Invariant: removing a hook twice changes nothing. */
import type { HookHandle } from "../base/hook_list.ts";
import { metadataChanges } from "../tensor/metadata_version.ts";
import type { Tensor } from "../tensor/tensor.ts";

/** A hook of a tensor. All handles share one method, by which traces recognise that a hook is removed. */
export class TapeHook implements HookHandle {
  readonly #tensor: Tensor;
  readonly #drop: () => void;

  constructor(tensor: Tensor, drop: () => void) {
    this.#tensor = tensor;
    this.#drop = drop;
    metadataChanges(tensor);
  }

  remove(): void {
    this.#drop();
    metadataChanges(this.#tensor);
  }
}
