/**
 * Rolls back the changes of a graph's run: elements, versions, layouts and histories of tensors that existed before,
 * and the state of the random generator. Tensors are registered before they are written. Invariant: values that the
 * run has created are left to the collector.
 */
import { startedCollectives } from "../base/pending_collectives.ts";
import { metadataChanges } from "./metadata_version.ts";
import { defaultGenerator } from "./random.ts";
import { deviceNamed, lastSerial, type Storage } from "./storage.ts";
import type { Tensor } from "./tensor.ts";
import { viewOf } from "./view_state.ts";

/** The changes of one run. */
export class UndoLog {
  readonly #start = lastSerial();
  readonly #begun = startedCollectives();
  readonly #generator = defaultGenerator.state;
  readonly #storages = new Set<Storage>();
  readonly #tensors = new Set<Tensor>();
  readonly #restore: (() => void)[] = [];
  #complete = true;

  /** Call before a tensor is written in place. */
  willWrite(tensor: Tensor): void {
    this.#rememberTensor(tensor);
    const base = viewOf(tensor)?.base;
    if (base) this.#rememberTensor(base);
    const { storage } = tensor;
    if (storage.serial > this.#start || this.#storages.has(storage) || !storage.filled) return;
    this.#storages.add(storage);
    const device = deviceNamed(storage.device);
    if (!device.synchronousReads) {
      this.#complete = false;
      return;
    }
    const { memory, version } = storage;
    const bytes = device.readSync(memory, 0, memory.byteLength);
    this.#restore.push(() => {
      device.write(memory, 0, bytes);
      storage.version = version;
    });
  }

  /** Restores everything; false if that is impossible, as with a collective call that other processes have joined. */
  rollBack(): boolean {
    for (const restore of this.#restore.toReversed()) restore();
    defaultGenerator.state = this.#generator;
    return this.#complete && startedCollectives() === this.#begun;
  }

  #rememberTensor(tensor: Tensor): void {
    if (this.#tensors.has(tensor)) return;
    this.#tensors.add(tensor);
    const { state, viewState, layout, offset } = tensor;
    const fields = state && { ...state }, version = viewState?.version;
    this.#restore.push(() => {
      tensor.layout = layout;
      tensor.offset = offset;
      tensor.state = state && fields ? Object.assign(state, fields) : null;
      tensor.viewState = viewState;
      metadataChanges(tensor);
      if (viewState && version !== undefined) viewState.version = version;
    });
  }
}
