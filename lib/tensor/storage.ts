/**
 * Storage: one piece of device memory that a tensor and its views share, with the version that in-place writes
 * advance. Invariant: memory is returned to its device only by code that knows that nothing refers to it any more.
 */
import { refuseValue } from "../base/checked_input.ts";
import { type DType, itemSize } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import { type Device, type DeviceName, findDevice, type Memory, OutOfMemory } from "../loops/device.ts";

let serial = 0;
let watched: Storage[] | null = null;

/** The number of the storage made last: later ones have greater `serial`. */
export function lastSerial(): number {
  return serial;
}

/** Runs `body` and says which storages it allocated. */
export function watchAllocations<R>(
  body: () => R,
): { readonly result: R; readonly allocated: readonly Storage[] } {
  const former = watched, allocated: Storage[] = [];
  watched = allocated;
  try {
    return { result: body(), allocated };
  } finally {
    watched = former;
    if (former) { for (const each of allocated) former.push(each); }
  }
}

/** Runs `body` hidden from observers of allocations: what it allocates is no temporary of the call. */
export function unwatched<R>(body: () => R): R {
  const former = watched;
  watched = null;
  try {
    return body();
  } finally {
    watched = former;
  }
}

/** Between which numbers the elements of a storage lie, both included. */
export interface ElementBounds {
  readonly least: number;
  readonly greatest: number;
}

/** Work that was put off: when it is done it reads storages, writes to them or gives them their first elements. */
export interface PendingWork {
  /** Does the work; from then on no storage waits for it. */
  settle(): void;
  /** A storage that waits is not used any more by anything but the work: it is released once the work is done. */
  drop(storage: Storage): void;
}

const UNCLONABLE: symbol = Symbol.for("A tensor, which tensor.clone() copies,");

/** Memory shared by tensors. */
export class Storage {
  /** Makes `structuredClone`, which would lose the memory, fail with a word of what to do instead. */
  readonly structuredClone = UNCLONABLE;
  /** When it was made, counted over all storages. */
  readonly serial: number = ++serial;
  /** Advanced by each in-place write through any tensor on it. */
  version = 0;
  /** The last look for shared memory that has met it. */
  met = 0;
  #memory: Memory | null;

  #missing: (() => Error) | undefined;
  #bounds: (ElementBounds & { readonly version: number }) | undefined;
  /** Whether the memory belongs to somebody else, who takes it back. */
  #isLent = false;
  /** Work that has to be done before anybody else sees the memory. */
  #pending: PendingWork | null = null;

  /** `missing` makes the error for reading a storage without memory. */
  constructor(readonly device: DeviceName, memory: Memory | null, missing?: () => Error) {
    this.#memory = memory;
    this.#missing = missing;
  }

  /** Storage over memory that its maker keeps and will `reclaim`; releasing it frees nothing. */
  static lent(device: DeviceName, memory: Memory): Storage {
    const storage = new Storage(device, memory);
    storage.#isLent = true;
    return storage;
  }

  /** Storage whose elements are the result of work that was put off, which will `fill` it. */
  static promised(device: DeviceName, work: PendingWork): Storage {
    const storage = new Storage(device, null);
    storage.#pending = work;
    if (watched !== null) watched.push(storage);
    return storage;
  }

  /** The work that is done before the memory is seen; null: none. */
  get pending(): PendingWork | null {
    return this.#pending;
  }

  /** Has work done before anybody sees the memory. Of one work only: another one's is done at once. */
  awaits(work: PendingWork): void {
    if (this.#pending !== work) this.#pending?.settle();
    this.#pending = work;
  }

  /** The work is being done: the memory is there as it is, and may be filled. */
  awaitsNothing(): void {
    this.#pending = null;
  }

  /** Gives promised elements. */
  fill(memory: Memory): void {
    this.#memory = memory;
  }

  /** Takes lent memory back: from here on `missing` makes the error for reading it, unless it was replaced. */
  reclaim(missing: () => Error): void {
    if (!this.#isLent) return;
    this.#pending?.settle();
    this.#memory = null;
    this.#missing = missing;
  }

  /** The memory. Throws if there is none: it was released, or the tensor has no elements. */
  get memory(): Memory {
    if (this.#pending !== null) this.#pending.settle();
    if (this.#memory === null) {
      if (this.#missing) throw this.#missing();
      throw new DynError(
        "Expected a tensor with elements but found one that was released or has metadata only",
      );
    }
    return this.#memory;
  }

  /** Throws if elements were released, even if a program would not read any. */
  requireKept(): void {
    if (this.#pending !== null) this.#pending.settle();
    if (this.#memory === null && this.#missing) throw this.#missing();
  }

  /** Whether it has elements, possibly computed on demand. */
  get filled(): boolean {
    return this.#memory !== null || this.#pending !== null;
  }

  get byteLength(): number {
    if (this.#memory === null && this.#pending !== null) this.#pending.settle();
    return this.#memory?.byteLength ?? 0;
  }

  /** Known bounds of the present elements, found without asking the device. */
  get bounds(): ElementBounds | undefined {
    return this.#bounds?.version === this.version ? this.#bounds : undefined;
  }

  /** Remembers bounds of the elements until they are written to. */
  noteBounds(bounds: ElementBounds): void {
    this.#bounds = { ...bounds, version: this.version };
  }

  /** Gives the memory back for reuse. The caller promises that no tensor on it is used again. */
  release(): void {
    if (this.#pending !== null) return this.#pending.drop(this);
    if (this.#memory === null) return;
    if (!this.#isLent) deviceNamed(this.device).free(this.#memory);
    this.#memory = null;
  }

  /** Takes over the memory of another storage (`x.data = y`). */
  replace(memory: Memory): void {
    this.#pending?.settle();
    this.#memory = memory;
    this.#isLent = false;
    this.version++;
  }
}

function allocate(
  device: DeviceName,
  byteLength: number,
  elements: { readonly dtype: DType; readonly shape?: readonly number[] } | undefined,
): Memory {
  try {
    return deviceNamed(device).allocate(byteLength);
  } catch (cause) {
    if (!(cause instanceof OutOfMemory) || !elements) throw cause;
    const { dtype, shape = [byteLength / itemSize(dtype)] } = elements;
    const what = `${dtype} [${shape.join(", ")}]`;
    throw new OutOfMemory(device, byteLength, { ...cause.shortage, what }, { cause });
  }
}

/**
 * Fresh uninitialised storage. Throws OutOfMemory if there is not enough memory, with the requested bytes and, if
 * given, their purpose: a tensor, or elements of a type.
 */
export function allocateStorage(
  device: DeviceName,
  byteLength: number,
  elements?: { readonly dtype: DType; readonly shape?: readonly number[] },
): Storage {
  const storage = new Storage(device, allocate(device, byteLength, elements));
  if (watched !== null) watched.push(storage);
  return storage;
}

/** Returns whether tensors of a device have no elements. */
export function isShapesOnly(name: DeviceName): boolean {
  return findDevice(name)?.shapesOnly === true;
}

/** The device of this name. Throws DynError where it is not registered. */
export function deviceNamed(name: DeviceName): Device {
  const device = findDevice(name);
  if (device) return device;
  if (name === "webgpu") {
    throw new DynError(
      `Expected an initialised device but found webgpu; call await init({ device: "webgpu" }) first`,
    );
  }
  const hint = /^(cuda|gpu|mps|xpu|hip)(:|$)/.test(name) ? "; GPUs of every make are reached as webgpu" : "";
  refuseValue("the device to be one of cpu, webgpu, meta", name, hint);
}
