/**
 * The interface of devices for the layers above: memory, copies and compiled programs. Implemented in backends/ and
 * registered at start-up; nothing above checks which device it has. Invariant: work on one device is ordered as
 * issued; reading memory waits for what was issued before.
 */
import { optionsOf } from "../base/checked_input.ts";
import { ownMap, valuesOf } from "../base/collections.ts";
import { DynError } from "../base/errors.ts";
import type { DType } from "../base/dtype.ts";
import type { Plain } from "../base/recording.ts";
import type { Symbols } from "../sym/stored/symbols.ts";
import type { Program } from "./ir.ts";

/** Name of a device as users write it: "cpu", "webgpu". */
export type DeviceName = string;

/** A flat piece of device memory. Freed by `Device.free`, or by garbage collection. */
export interface Memory {
  readonly device: DeviceName;
  readonly byteLength: number;
}

/** A form of contents that a program reads faster than the contents themselves, such as transformed weights. */
export interface KeptForm {
  /** Null: not kept. */
  memory: Memory | null;
  /** Whether the memory holds the form. */
  isFilled: boolean;
  /** Number of bytes, 0 if keeping it does not pay. */
  wanted: number;
}

/** The contents of a memory. */
export interface Contents {
  /** Their forms, by complete descriptions. Each write to the contents frees them. */
  readonly forms: Map<string, KeptForm>;
}

/** Facts about a device's memory when an allocation fails. */
export interface Shortage {
  /** Bytes of the device that the program already holds. */
  readonly held?: number;
  /** The maximum that it may hold. */
  readonly limit?: number;
  /** The purpose of the allocation, as in "float32 [3, 4]". */
  readonly what?: string;
}

/** A device has no room for an allocation. */
export class OutOfMemory extends DynError {
  /** The name of the class. */
  override readonly name: string = "OutOfMemory";

  /** `bytes`: the requested size. */
  constructor(
    readonly device: DeviceName,
    readonly bytes: number,
    readonly shortage: Shortage = {},
    options?: ErrorOptions,
  ) {
    const { held, limit, what } = optionsOf("OutOfMemory", shortage, ["held", "limit", "what"]);
    const asked = what === undefined ? `${bytes} bytes` : `${what} (${bytes} bytes)`;
    const already = held === undefined ? "" : `, where ${held} bytes are held`;
    const most = limit === undefined ? "" : `${already === "" ? "," : ""} of at most ${limit}`;
    super(`Expected room for ${asked} on ${device} but found none${already}${most}`, options);
  }
}

/** Memory of a device in use, in bytes. */
export interface MemoryUse {
  /** Bytes of tensors. Dropped tensors count until they are garbage-collected. */
  readonly allocated: number;
  /** `allocated`, plus memory cached for later allocations. */
  readonly reserved: number;
  /** The maximum of `allocated` since the peaks were reset. */
  readonly peakAllocated: number;
  /** The maximum of `reserved` since the peaks were reset. */
  readonly peakReserved: number;
  /** The limit of `reserved`; undefined if only the device itself sets one. */
  limit: number | undefined;
  /** Resets the peaks to the current values. */
  resetPeaks(): void;
  /** Collects dropped tensors, and returns unused memory to the system. */
  releaseUnused(): void;
}

/** Some bytes of a memory. */
export interface MemoryPiece {
  readonly memory: Memory;
  readonly byteOffset: number;
  readonly byteLength: number;
}

/** A program ready to run. */
export interface CompiledProgram {
  /**
   * Runs the whole program. Memories in `Program.inputs` and `Program.outputs` order; `byteOffsets` (same order, inputs
   * then outputs) shift the start of each, default 0; `sizes` are the values of `Program.sizes`. Returns false if the
   * program's guard stopped it: then only outputs were written.
   */
  run(call: ProgramCall): boolean;
  /** Prepares the first run ahead of time. */
  readonly prepare?: () => void;
  /** Whether calls profit from `ProgramCall.contents`. */
  readonly keepsForms?: boolean;
  /** The generated source, for logs. */
  readonly source: string;
  /** The language of the source, as its file extension. */
  readonly language: "cpp" | "wgsl" | "txt";
  /** Kernel launches (loop nests and library calls) in one run. */
  readonly kernelCount: number;
  /**
   * The form from which the device's `restore` recreates it in a later process. Absent: each process compiles the
   * program itself.
   */
  readonly serialize?: ((symbols: Symbols) => Plain) | undefined;
  /** Registers a listener that is called when `serialize` has more to write. */
  readonly whenMore?: (tell: () => void) => void;
  /** Whether a later process may find the compiled form missing, so that the program is stored with it. */
  readonly storesProgram?: boolean;
}

/** The time at which something ran, in milliseconds of `performance.now`. */
export interface TimeSpan {
  readonly start: number;
  readonly duration: number;
}

/** Receives the run times of a call's kernels. */
export interface KernelClock {
  /** Kernels of the program, by number, ran together; called for each part of one that runs in parts. */
  ran(kernels: readonly number[], span: TimeSpan): void;
}

export interface ProgramCall {
  readonly inputs: readonly Memory[];
  readonly outputs: readonly Memory[];
  readonly byteOffsets?: readonly number[];
  readonly sizes: readonly number[];
  /** The contents of the inputs. Absent: no forms of them are kept. */
  readonly contents?: readonly Contents[] | undefined;
  /** The caller knows that the guard will not stop the program, so a device need not wait for it. */
  readonly passes?: boolean;
  /** Receives the time of each kernel, which costs time; never called by a device that cannot measure it. */
  readonly clock?: KernelClock | undefined;
}

/** A program that a device may have cached in an earlier process, so that it need not be built. */
export interface ClassSource {
  readonly name: string;
  readonly kernelCount: number;
  readonly program: () => Program;
  /** The form that an earlier process saved, or null. */
  readonly cached: Plain | null;
  /** Saves the form that a later process receives as `cached`, replacing the earlier one. */
  readonly store: (form: () => Plain) => void;
}

/** One form of a program: its kernels correspond to those of the other forms by position. */
interface ProgramForm {
  /** Name of the choice of loop cuts. */
  readonly name: string;
  readonly program: Program;
}

/** The same program in several forms, the default first. */
export type ProgramForms = readonly [ProgramForm, ...ProgramForm[]];

/** Options of compiling a graph's program. */
export interface CompileChoices {
  /** Record the commands of calls, so that the next call with the same memories only encodes them. */
  readonly record?: boolean;
  /** Calls pass the contents of inputs, most of which stay the same: forms of them are worth keeping. */
  readonly keepsForms?: boolean;
}

/** A user-defined kernel, for tensors of some types. */
export interface KernelSource {
  /** The name of its op. */
  readonly name: string;
  /** Its source text in each supported language. */
  readonly cpp: string | null;
  readonly wgsl: string | null;
  readonly inputs: readonly DType[];
  readonly outputs: readonly DType[];
}

/** One run of a user-defined kernel. */
export interface KernelCall {
  /** Memories of inputs, then of outputs, whose elements start at the beginning and are in row-major order. */
  readonly memories: readonly Memory[];
  /** Bytes of their elements. */
  readonly bytes: readonly number[];
  readonly numbers: readonly number[];
  /** Along x and y, for devices that run kernels in workgroups. */
  readonly workgroups: readonly [x: number, y: number];
}

export interface Device {
  readonly name: DeviceName;
  /** Allocates uninitialised memory of at least `byteLength` bytes, from a pool if possible. Throws `OutOfMemory`. */
  allocate(byteLength: number): Memory;
  /** Returns whether all bytes of newly allocated memory are 0. Absent: unknown. */
  isClear?(memory: Memory): boolean;
  /** Returns memory to the pool. The caller guarantees that nothing refers to it any more. */
  free(memory: Memory): void;
  /**
   * Creates memory over a buffer whose size is a multiple of 64 bytes, which it owns from then on. Absent: the device
   * has only memory of its own.
   */
  readonly adopt?: (buffer: ArrayBuffer | SharedArrayBuffer) => Memory;
  /** Memory in use. */
  readonly memoryUse: MemoryUse;
  /** Host → device. */
  write(memory: Memory, byteOffset: number, bytes: Uint8Array): void;
  /** Device → host, waiting for earlier work. Throws if the device cannot wait; the message names an alternative. */
  readSync(memory: Memory, byteOffset: number, byteLength: number): Uint8Array;
  /** Like `readSync`, but waits once for all pieces. Absent: reading does not wait, so that each is read by itself. */
  readonly readTogether?: (pieces: readonly MemoryPiece[]) => readonly Uint8Array[];
  read(memory: Memory, byteOffset: number, byteLength: number): Promise<Uint8Array>;
  /** For single ops that run immediately: quick to compile, reasonably fast. Callers cache the result. */
  compileEager(program: Program): CompiledProgram;
  /**
   * For single ops with symbolic sizes that run immediately and perhaps very often. Absent: the device compiles its ops
   * per shape.
   */
  readonly compileClass?: (source: ClassSource) => CompiledProgram;
  /** For graphs: as fast as possible. Uses the kernel cache. */
  compile(program: Program, choices?: CompileChoices): CompiledProgram;
  /** Tells that a graph of many operations is being captured, which it may prepare for. */
  expectLargeGraph?(): void;
  /** Whether it can record the commands of calls. */
  readonly records?: boolean;
  /** Returns the dependencies of its cached programs besides their text. Absent: it caches none. */
  readonly identity?: () => string;
  /**
   * Recreates a program from the form that `serialize` returned in a process of the same identity; null if it has to be
   * compiled again. `loops` reads the program itself, null if that was not stored.
   */
  readonly restore?: (kept: Plain, symbols: Symbols, loops: (() => Program) | null) => CompiledProgram | null;
  /**
   * Compiles a user-defined kernel. Throws DynError if it has no source for the device. Absent: the device runs none.
   */
  readonly compileSource?: (source: KernelSource) => (call: KernelCall) => void;
  /** Returns the program with the fastest form of each kernel; undefined if that cannot be measured here. */
  choose?(forms: ProgramForms): Program | undefined;
  /** Whether the host reads its memory directly, so that checking elements is cheap. */
  readonly hostReadable?: boolean;
  /** Whether its tensors have shapes and types but no elements: nothing is computed. */
  readonly shapesOnly?: boolean;
  /** Whether `readSync` can wait for the device; otherwise elements can be read only asynchronously. */
  readonly synchronousReads: boolean;
  /** Whether it cannot compute in float64. */
  readonly lacksFloat64?: boolean;
  /**
   * Whether reading matrix products again is expensive, because they are in memory as a whole. Absent: they are
   * finished row by row, while they are in caches.
   */
  readonly costlyRowSums?: boolean;
  /** Maximum number of buffers of one kernel, where the device sets a limit. */
  readonly maxKernelBuffers?: number;
  /** Waits until all issued work is done. */
  synchronize(): void;
}

const devices = ownMap<DeviceName, Device>();
let replacements = 0;

/** Registers a device by its name; the last one registered wins. */
export function registerDevice(device: Device): void {
  if (devices.has(device.name)) replacements++;
  devices.set(device.name, device);
}

/**
 * Number of times that a device took the place of another. Programs that were compiled before the last one belong to a
 * device that is gone, so that caches of them compare it.
 */
export function deviceReplacements(): number {
  return replacements;
}

/** Waits until all work issued on any device is done. */
export function synchronizeDevices(): void {
  for (const device of valuesOf(devices)) device.synchronize();
}

/** Returns the device of this name, or undefined if it is not initialised. */
export function findDevice(name: DeviceName): Device | undefined {
  return devices.get(name);
}
