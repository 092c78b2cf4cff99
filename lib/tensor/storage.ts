/**
 * Storage: one piece of device memory that a tensor and its views share, with the version that in-place writes
 * advance. Invariant: memory is returned to its device only by code that knows that nothing refers to it any more.
 */
import { refuseValue } from "../base/checked_input.ts";
import { type DType, itemSize } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import {
  type Contents,
  type Device,
  type DeviceName,
  findDevice,
  type KeptForm,
  type Memory,
  OutOfMemory,
} from "../loops/device.ts";

let serial = 0;
let watched: Storage[] | null = null;

/** The serial number of the newest storage; later ones have greater numbers. */
export function lastSerial(): number {
  return serial;
}

/** Runs `body` and returns the storages that it allocated. */
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

/** Runs `body` hidden from observers of allocations: its allocations are not temporaries of the call. */
export function unwatched<R>(body: () => R): R {
  const former = watched;
  watched = null;
  try {
    return body();
  } finally {
    watched = former;
  }
}

/** Bounds of the elements of a storage, both inclusive. */
interface ElementBounds {
  readonly least: number;
  readonly greatest: number;
}

/** Deferred work, which will read storages, write to them or fill them. */
export interface PendingWork {
  /** Does the work; afterwards no storage waits for it. */
  settle(): void;
  /** Releases a storage, which only the work still uses, once the work is done. */
  drop(storage: Storage): void;
}

const UNCLONABLE: symbol = Symbol.for("A tensor, which tensor.clone() copies,");

/** Memory shared by tensors. */
export class Storage implements Contents {
  /** Makes `structuredClone`, which would lose the memory, fail with an error that names the alternative. */
  readonly structuredClone = UNCLONABLE;
  /** Serial number, counted over all storages. */
  readonly serial: number = ++serial;
  /** The last search for shared memory that has visited it. */
  met = 0;
  #memory: Memory | null;
  #version = 0;
  #contents = 0;
  #forms: Map<string, KeptForm> | null = null;
  #missing: (() => Error) | undefined;
  #extent: number | undefined;
  #bounds: (ElementBounds & { readonly contents: number }) | undefined;
  /** Whether tensors of several types lie on it, so that bounds of elements say nothing. */
  #isMixed = false;
  /** Whether the memory is owned elsewhere and will be reclaimed. */
  #isLent = false;
  /** Whether only the collector, or the program itself, frees the memory. */
  #isKept = false;
  /** Work that must be done before the memory is accessed. */
  #pending: PendingWork | null = null;

  /** `missing` creates the error for reading a storage without memory. */
  constructor(readonly device: DeviceName, memory: Memory | null, missing?: () => Error) {
    this.#memory = memory;
    this.#missing = missing;
  }

  /** Storage over memory that the creator owns and will `reclaim`; releasing it frees nothing. */
  static lent(device: DeviceName, memory: Memory, extent: number): Storage {
    const storage = new Storage(device, memory);
    storage.#extent = extent;
    storage.#isLent = true;
    return storage;
  }

  /** Storage whose elements are the result of deferred work, which will `fill` it. */
  static promised(device: DeviceName, work: PendingWork, extent: number): Storage {
    const storage = new Storage(device, null);
    storage.#extent = extent;
    storage.#pending = work;
    if (watched !== null) watched.push(storage);
    return storage;
  }

  /** Advanced by each in-place write through any tensor on it. */
  get version(): number {
    return this.#version;
  }
  set version(version: number) {
    this.#version = version;
    this.#contents++;
    if (this.#forms !== null) this.#freeForms();
  }

  /**
   * A number that differs for any two contents: unlike the version, it is advanced, too, where a write is undone. What is
   * known of elements is known of those with this number.
   */
  get contents(): number {
    return this.#contents;
  }

  /** Forms of the current elements that programs keep. */
  get forms(): Map<string, KeptForm> {
    return this.#forms ??= new Map();
  }

  #freeForms(): void {
    this.#forms?.forEach(({ memory }) => {
      if (memory !== null) deviceNamed(this.device).free(memory);
    });
    this.#forms = null;
  }

  /** The work that must be done before the memory is accessed; null: none. */
  get pending(): PendingWork | null {
    return this.#pending;
  }

  /** Makes accesses of the memory wait for work. Only one work may be pending: another one is done immediately. */
  awaitWork(work: PendingWork): void {
    if (this.#pending !== work) this.#pending?.settle();
    this.#pending = work;
  }

  /** Ends waiting, as the work is being done: the memory may be accessed and filled. */
  stopAwaiting(): void {
    this.#pending = null;
  }

  /** Sets the memory of promised elements. */
  fill(memory: Memory): void {
    this.#memory = memory;
  }

  /** Reclaims lent memory: from then on `missing` creates the error for reading it, unless it was replaced. */
  reclaim(missing: () => Error): void {
    if (!this.#isLent) return;
    this.#pending?.settle();
    this.#freeForms();
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
  requireElements(): void {
    if (this.#pending !== null) this.#pending.settle();
    if (this.#memory === null && this.#missing) throw this.#missing();
  }

  /** Whether it has elements, possibly computed on demand. */
  get filled(): boolean {
    return this.#memory !== null || this.#pending !== null;
  }

  /** Number of bytes that tensors may address, if the memory may have more; undefined without memory. */
  get extent(): number | undefined {
    return this.#extent ?? this.#memory?.byteLength;
  }
  set extent(extent: number) {
    this.#extent = extent;
  }

  get byteLength(): number {
    if (this.#memory === null && this.#pending !== null) this.#pending.settle();
    return this.#memory?.byteLength ?? 0;
  }

  /** Known bounds of the current elements; the device is not read for them. */
  get bounds(): ElementBounds | undefined {
    return this.#bounds?.contents === this.#contents && !this.#isMixed ? this.#bounds : undefined;
  }

  /** Says that tensors of another type lie on it from now on. */
  holdsSeveralTypes(): void {
    this.#isMixed = true;
  }

  /** Remembers bounds of the elements until they are written to. */
  noteBounds(bounds: ElementBounds): void {
    this.#bounds = { ...bounds, contents: this.#contents };
  }

  /** Whether the program may refer to it, besides by the tensors that dyn has returned. */
  get isKept(): boolean {
    return this.#isKept;
  }

  /** Says that the program may refer to it: from now on `release` leaves the memory to the collector. */
  keep(): void {
    this.#isKept = true;
  }

  /** Returns the memory for reuse, even if it is kept: the program itself says that it needs it no more. */
  dispose(): void {
    this.#isKept = false;
    this.release();
  }

  /** Returns the memory for reuse. The caller guarantees that no tensor on it is used again, unless it is kept. */
  release(): void {
    if (this.#isKept) return;
    if (this.#pending !== null) return this.#pending.drop(this);
    if (this.#memory === null) return;
    this.#freeForms();
    if (!this.#isLent) deviceNamed(this.device).free(this.#memory);
    this.#memory = null;
  }

  /** Replaces the memory (`x.data = y`). */
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
  storage.extent = byteLength;
  if (watched !== null) watched.push(storage);
  return storage;
}

/** Returns whether tensors of a device have no elements. */
export function isShapesOnly(name: DeviceName): boolean {
  return findDevice(name)?.shapesOnly === true;
}

/** The device of this name. Throws DynError if it is not registered. */
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
