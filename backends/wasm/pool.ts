/**
 * The interface of pools, which run jobs: functions of WebAssembly modules over ranges of units, in one memory.
 * Invariant: all modules of a pool use its memory.
 */
import type { WasmMemory } from "./memory.ts";

/** The parameters of a job, all i32. */
export const JOB_PARAMS = ["description", "from", "to", "scratch"] as const;

/** A function of a module with these parameters. */
type JobFunction = (description: number, from: number, to: number, scratch: number) => void;

/** A loaded module. */
export interface Code {
  readonly functions: Readonly<Record<string, JobFunction>>;
  /** Exported functions in the module's order, by which other threads refer to them. */
  readonly order: readonly string[];
  /** Address of the module's bytes for other threads; undefined without threads or room. */
  readonly at: { readonly address: number; readonly length: number } | undefined;
}

/** The work of a job. */
export interface Job {
  readonly description: number;
  readonly units: number;
  /** Minimum number of units that are taken at once. */
  readonly grain?: number;
  /** Scratch memory: bytes for each thread, and the address of the first thread's. */
  readonly scratch?: { readonly bytes: number; readonly address: number };
  /** Estimated number of multiplications or similar operations; little work stays on this thread. */
  readonly work: number;
}

/** Loads modules and runs jobs. */
export interface JobPool {
  readonly memory: WasmMemory;
  /** Maximum number of threads at once. */
  readonly threads: number;
  /** Compiles a module of functions over the memory, which may import those of the library. */
  load(bytes: Uint8Array<ArrayBuffer>, library?: () => Code): Code;
  /** Runs all units of a job. */
  run(code: Code, name: string, job: Job): void;
}

/** The exported functions of a module over a memory, and the code whose functions it imports. */
export function functionsOf(
  bytes: Uint8Array<ArrayBuffer>,
  { memory }: WasmMemory,
  library?: () => Code,
): { readonly functions: Readonly<Record<string, JobFunction>>; readonly imported: Code | undefined } {
  const module = new WebAssembly.Module(bytes);
  const imported = WebAssembly.Module.imports(module).length > 1 ? library?.() : undefined;
  const { exports } = new WebAssembly.Instance(module, { host: { memory, ...imported?.functions } });
  const functions: Record<string, JobFunction> = {};
  for (const [name, value] of Object.entries(exports)) if (isJobFunction(value)) functions[name] = value;
  return { functions, imported };
}

function isJobFunction(value: unknown): value is JobFunction {
  return typeof value === "function";
}
