/**
 * The interface of devices for the layers above: memory, copies and compiled programs. Implemented in backends/ and
 * registered at start-up; nothing above checks which device it has. Invariant: work on one device is ordered as
 * issued; reading memory waits for what was issued before.
 */
import { optionsOf } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import type { DType } from "../base/dtype.ts";
import type { Plain } from "../base/recording.ts";
import type { Symbols } from "../sym/stored/symbols.ts";
import type { Program } from "./ir.ts";

/** Name of a device as users write it: "cpu", "webgpu". */
export type DeviceName = string;

/** A flat piece of device memory. Freed by `Device.free` or, when nothing refers to it, by the collector. */
export interface Memory {
  readonly device: DeviceName;
  readonly byteLength: number;
}

/** Facts about a device's memory when an allocation fails. */
export interface Shortage {
  /** Bytes of the device that the program holds already. */
  readonly held?: number;
  /** The most that it may hold. */
  readonly limit?: number;
  /** The purpose of the allocation, as in "float32 [3, 4]". */
  readonly what?: string;
}

/** A device has no room for what was asked. */
export class OutOfMemory extends DynError {
  /** The name of the class. */
  override readonly name: string = "OutOfMemory";

  /** `bytes`: those that were asked for. */
  constructor(
    readonly device: DeviceName,
    readonly bytes: number,
    readonly shortage: Shortage = {},
    options?: ErrorOptions,
  ) {
    const { held, limit, what } = optionsOf("OutOfMemory", shortage);
    const asked = what === undefined ? `${bytes} bytes` : `${what} (${bytes} bytes)`;
    const already = held === undefined ? "" : `, where ${held} bytes are held`;
    const most = limit === undefined ? "" : `${already === "" ? "," : ""} of at most ${limit}`;
    super(`Expected room for ${asked} on ${device} but found none${already}${most}`, options);
  }
}

/** Memory of a device in use, in bytes. */
export interface MemoryUse {
  /** Bytes of tensors. Dropped tensors count until the collector finds them. */
  readonly allocated: number;
  /** That plus memory kept for later allocations. */
  readonly reserved: number;
  /** The most that `allocated` was since the peaks were reset. */
  readonly mostAllocated: number;
  /** The same of `reserved`. */
  readonly mostReserved: number;
  /** The most that `reserved` may be; undefined where only the device itself sets a limit. */
  limit: number | undefined;
  /** Lets the peaks start from what is now. */
  resetPeaks(): void;
  /** Finds everything that the program dropped, and gives back to the system what nothing uses. */
  giveBack(): void;
}

/** A program ready to run. */
export interface CompiledProgram {
  /**
   * Runs the whole program. Memories in `Program.inputs` and `Program.outputs` order; `byteOffsets` (same
   * order, inputs then outputs) shift the start of each, default 0; `sizes` are the values of `Program.sizes`.
   * Returns false where the program's guard stopped it: then nothing was written but outputs.
   */
  run(call: ProgramCall): boolean;
  /** Does what its first run would do before it runs. */
  readonly prepare?: () => void;
  /** The generated source, for logs. */
  readonly source: string;
  /** The language of the source, as file names end. */
  readonly language: "cpp" | "wgsl" | "txt";
  /** Kernel launches (loop nests and library calls) in one run. */
  readonly kernelCount: number;
  /**
   * The form from which the device's `restore` recreates it in a later process. Absent: each process compiles the
   * program itself.
   */
  readonly kept?: ((symbols: Symbols) => Plain) | undefined;
  /** Has somebody told when `kept` has more to write than it had. */
  readonly whenKeptChanges?: (tell: () => void) => void;
  /** Whether a later process may find that gone, so that the program is kept beside it. */
  readonly mayBeGone?: boolean;
}

/** When something ran, in milliseconds as `performance.now` counts them. */
export interface TimeSpan {
  readonly start: number;
  readonly duration: number;
}

/** Told how long the kernels of a call took. */
export interface KernelClock {
  /** Kernels of the program, by their numbers, ran together; one that runs in parts is told of for each. */
  ran(kernels: readonly number[], span: TimeSpan): void;
}

export interface ProgramCall {
  readonly inputs: readonly Memory[];
  readonly outputs: readonly Memory[];
  readonly byteOffsets?: readonly number[];
  readonly sizes: readonly number[];
  /** The caller knows that the guard will not stop the program; a device need not wait to find out. */
  readonly passes?: boolean;
  /** Who wants to know how long each kernel takes, which costs time; a device that cannot tell says nothing. */
  readonly clock?: KernelClock | undefined;
}

/** A program that a device may know of former processes, so that it need not be made. */
export interface ClassSource {
  readonly name: string;
  readonly kernelCount: number;
  readonly program: () => Program;
  /** The form that a former process kept, or null. */
  readonly kept: Plain | null;
  /** Keeps what a later process gets as `kept`, in place of what was kept before. */
  readonly keep: (form: () => Plain) => void;
}

/** One form of a program: every kernel in it is one of the same place in the others. */
export interface ProgramForm {
  /** Name of the choice of loop cuts. */
  readonly name: string;
  readonly program: Program;
}

/** The same program in several forms, the usual one first. */
export type ProgramForms = readonly [ProgramForm, ...ProgramForm[]];

/** How a graph's program is to run. */
export interface CompileChoices {
  /** Keep the commands of calls, so that the next one with the same memories only encodes them. */
  readonly record?: boolean;
}

/** A kernel that a user has written, for tensors of some types. */
export interface KernelSource {
  /** Of its op. */
  readonly name: string;
  /** Its text in each language that it has. */
  readonly cpp: string | null;
  readonly wgsl: string | null;
  readonly inputs: readonly DType[];
  readonly outputs: readonly DType[];
}

/** One run of such a kernel. */
export interface KernelCall {
  /** Memories of inputs, then of outputs, whose elements begin at their start and lie in row-major order. */
  readonly memories: readonly Memory[];
  /** Bytes of their elements. */
  readonly bytes: readonly number[];
  readonly numbers: readonly number[];
  /** Along x and y, for devices that run kernels in workgroups. */
  readonly workgroups: readonly [x: number, y: number];
}

export interface Device {
  readonly name: DeviceName;
  /** Uninitialised memory of at least `byteLength` bytes, from a pool where one fits. Throws `OutOfMemory`. */
  allocate(byteLength: number): Memory;
  /** Returns whether all bytes of memory that has just been allocated are 0. Absent: that is not known. */
  isClear?(memory: Memory): boolean;
  /** Gives memory back for reuse. The caller promises that nothing refers to it any more. */
  free(memory: Memory): void;
  /** Memory over a buffer of a multiple of 64 bytes, which it keeps. Absent: the device has only memory of its own. */
  readonly adopt?: (buffer: ArrayBuffer | SharedArrayBuffer) => Memory;
  /** Memory in use. */
  readonly memoryUse: MemoryUse;
  /** Host → device. */
  write(memory: Memory, byteOffset: number, bytes: Uint8Array): void;
  /** Device → host, waiting for earlier work. Throws where the device cannot wait (message says what to do). */
  readSync(memory: Memory, byteOffset: number, byteLength: number): Uint8Array;
  read(memory: Memory, byteOffset: number, byteLength: number): Promise<Uint8Array>;
  /** For single ops run at once: cheap to make, decent to run. Callers cache the result. */
  compileEager(program: Program): CompiledProgram;
  /**
   * For single ops with symbolic sizes, run at once and perhaps very often. Absent: the device has its ops by shape.
   */
  readonly compileClass?: (source: ClassSource) => CompiledProgram;
  /** For graphs: as fast as can be. Uses the kernel cache. */
  compile(program: Program, choices?: CompileChoices): CompiledProgram;
  /** Whether it can keep the commands of calls. */
  readonly records?: boolean;
  /** Returns what its cached programs depend on besides their text. Absent: it caches none. */
  readonly identity?: () => string;
  /**
   * A program that `kept` told of in a process of the same identity; null where it has to be compiled anew. `loops` reads
   * the program itself, null where that was not kept.
   */
  readonly restore?: (kept: Plain, symbols: Symbols, loops: (() => Program) | null) => CompiledProgram | null;
  /** Compiles a kernel that a user has written. Throws DynError where it has no text for the device. Absent: none run there. */
  readonly compileSource?: (source: KernelSource) => (call: KernelCall) => void;
  /** The program with each kernel in the form that is fastest; undefined where that cannot be told here. */
  choose?(forms: ProgramForms): Program | undefined;
  /** Whether the host reads its memory without a round trip, so that checking elements is cheap. */
  readonly hostReadable?: boolean;
  /** Whether its tensors have shapes and types and no elements: nothing is computed. */
  readonly shapesOnly?: boolean;
  /** Whether `readSync` can wait for the device; elsewhere elements are there only later. */
  readonly synchronousReads: boolean;
  /** Whether it cannot compute in float64. */
  readonly lacksFloat64?: boolean;
  /**
   * Whether it costs to look at products of matrices once more: they are in memory as a whole then. Absent: they are finished
   * row by row, while they are in caches.
   */
  readonly costlyRowSums?: boolean;
  /** Maximum number of buffers of one kernel, where the device sets a limit. */
  readonly maxKernelBuffers?: number;
  /** Waits until everything issued is done. */
  synchronize(): void;
}

const devices = new Map<DeviceName, Device>();

/** Makes a device known by its name; the last one registered wins. */
export function registerDevice(device: Device): void {
  devices.set(device.name, device);
}

/** The device of this name, or undefined where it is not initialised. */
export function findDevice(name: DeviceName): Device | undefined {
  return devices.get(name);
}
