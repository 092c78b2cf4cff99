/**
 * Programs on WebAssembly, for CPUs without a C++ compiler. Input: a Program over host memory; output: a
 * CompiledProgram. Loops become SIMD functions, library calls go to the library. Invariant: operands that do not live in
 * the WebAssembly memory are copied there before the first kernel and written ones out after the last.
 */
import { generate } from "../../lib/codegen/generate.ts";
import { itemSize } from "../../lib/base/dtype.ts";
import { InternalError } from "../../lib/base/errors.ts";
import { type Dim, print as printDim } from "../../lib/sym/expr.ts";
import { type CompiledProgram, OutOfMemory, type ProgramCall } from "../../lib/loops/device.ts";
import type { BufferId, BufferView, Program } from "../../lib/loops/ir.ts";
import { printProgram } from "../../lib/loops/print.ts";
import { flagOf, passedGuard } from "../cpu/host_memory.ts";
import { LOAD_SLACK } from "./access.ts";
import { addressOffset, sizeOffset } from "./addresses.ts";
import type { ProgramFrame } from "../../lib/loops/stored/program.ts";
import { moduleOf, type Step, type WasmForm, writeForm } from "./form.ts";
import { engineFuses } from "./fused.ts";
import { libraryBytes, runLibrary } from "./library.ts";
import { aligned, type Operand, type Operands, type Shaped } from "./operands.ts";
import { addressesIn, BySizes, enter, leave, place, type Placement, WholeMemory } from "./placement.ts";
import { SIZE_LIMIT, wasmTarget } from "./target.ts";
import { type Code, type Job, type ThreadPool, wasmPool } from "./threads.ts";

/** What can be chosen besides the pool. */
export interface WasmOptions {
  /** Whether the engine's multiplications with addition are taken to round once; found out unless told. */
  readonly fuses?: boolean;
}

/** A program as WebAssembly for sizes below `SIZE_LIMIT`, and what may be asked for besides. */
export interface WasmParts {
  readonly small: WasmForm;
  /** The same for all sizes. */
  readonly large: () => WasmForm;
  /** The text for logs. */
  readonly source: () => string;
  readonly kernelCount: number;
}

/** Compiles a program for the threads and the memory of a pool. */
export function compileToWasm(
  program: Program,
  pool: ThreadPool = wasmPool(),
  { fuses = engineFuses() }: WasmOptions = {},
): CompiledProgram {
  const write = (limit: number) => writeForm(program, { limit, fuses, memory: pool.memory.kind });
  return runnable({
    small: write(SIZE_LIMIT),
    large: () => write(Infinity),
    source: () => wasmSource(program),
    kernelCount: program.kernels.length,
  }, pool);
}

/** A program that is written down. */
export function runnable(
  { small, large, source, kernelCount }: WasmParts,
  pool: ThreadPool,
): CompiledProgram {
  const below = load(small, pool);
  let all: LoadedCode | undefined;
  const whole = new WholeMemory(pool.memory), runs = new BySizes<Run>();
  return {
    get source() {
      return source();
    },
    language: "txt",
    kernelCount,
    run(call) {
      const isSmall = call.sizes.every((size) => size < SIZE_LIMIT);
      const loaded = isSmall ? below : all ??= load(large(), pool);
      const run = runs.get(call.sizes, () => runOf(pool, loaded, call.sizes));
      return runProgram(whole, { pool, loaded, call, run });
    },
  };
}

/** The loops of a program as a module. */
interface LoadedCode {
  readonly frame: ProgramFrame;
  readonly steps: readonly Step[];
  readonly code: Code;
}

const load = (form: WasmForm, pool: ThreadPool): LoadedCode => ({
  frame: form.frame,
  steps: form.steps,
  code: pool.load(moduleOf(form)),
});

/** A call of given sizes, as its kernels see it. */
interface Run {
  readonly placed: Placement;
  /** Where the descriptions of sizes and buffers are, one for each step. */
  readonly description: number;
  /** What is written there, over the addresses of the placement. */
  readonly words: Uint8Array;
  /** The addresses in it: the word of each, from the start of the descriptions, and its buffer. */
  readonly addressed: readonly { readonly word: number; readonly buffer: BufferId }[];
  /** First address of the scratch memory. */
  readonly free: number;
  /** Bytes behind the operands. */
  readonly scratch: number;
  /** Of each step of loops. */
  readonly jobs: readonly (Job | undefined)[];
}

/** Units of work that a vector of four lanes does at once, as one instruction that loads or computes counts. */
const WORK_OF_LANES = 8;

function jobOf(
  { units, grain, work, scratch }: Step & { readonly kind: "loops" },
  { description, free, value }: {
    readonly description: number;
    readonly free: number;
    readonly value: (d: Dim) => number;
  },
): Job {
  return {
    description,
    units: units === null ? 1 : value(units),
    grain,
    work: units === null ? 0 : value(work) / WORK_OF_LANES,
    scratch: { bytes: aligned(value(scratch)), address: free },
  };
}

function viewIn(view: BufferView, program: ProgramFrame, value: (d: Dim) => number): Shaped {
  const decl = program.buffers[view.buffer];
  if (!decl) throw new InternalError(`Expected a buffer ${view.buffer} but the program has none`);
  return { dtype: decl.dtype, shape: view.shape.map(value), strides: view.strides.map(value) };
}

function operandsOf(
  step: Step & { readonly kind: "extern" },
  { value, addresses }: Pick<Placement, "value" | "addresses">,
  program: ProgramFrame,
): Operands<Operand> {
  const at = (view: BufferView): Operand => {
    const shaped = viewIn(view, program, value);
    const address = (addresses[view.buffer] ?? 0) + value(view.offset) * itemSize(shaped.dtype);
    return { ...shaped, address };
  };
  return { inputs: step.inputs.map(at), outputs: step.outputs.map(at) };
}

/** What calls of these sizes have in common. */
function runOf(
  pool: ThreadPool,
  { frame: program, steps }: LoadedCode,
  given: readonly number[],
): Run {
  const sizes = [...given], placed = place(program, sizes, pool.memory.base);
  let bytes = 0;
  const starts = steps.map((step) => {
    const start = bytes;
    if (step.kind === "loops") bytes += Math.ceil(addressOffset(program, step.buffers.length) / 8) * 8;
    return start;
  });
  const described = Math.ceil((bytes + LOAD_SLACK) / 64) * 64;
  const words = new Uint8Array(described), view = new DataView(words.buffer);
  const addressed: { readonly word: number; readonly buffer: BufferId }[] = [];
  steps.forEach((step, at) => {
    if (step.kind !== "loops") return;
    const start = starts[at] ?? 0;
    sizes.forEach((size, n) => view.setBigInt64(start + sizeOffset(n), BigInt(size), true));
    step.buffers.forEach((buffer, place) => {
      const offset = start + addressOffset(program, place);
      view.setUint32(offset, placed.addresses[buffer] ?? 0, true);
      addressed.push({ word: offset / 4, buffer });
    });
  });
  const description = pool.memory.base + Math.ceil(placed.bytes / 64) * 64;
  const free = description + described, { value } = placed;
  const jobs = steps.map((each, at) =>
    each.kind === "loops"
      ? jobOf(each, { description: description + (starts[at] ?? 0), free, value })
      : undefined
  );
  const own = Math.max(0, ...jobs.map((job) => pool.threads * (job?.scratch?.bytes ?? 0)));
  const libraries = scratchOf(pool, steps, (each) => viewIn(each, program, value));
  return { placed, description, words, addressed, free, scratch: described + Math.max(own, libraries), jobs };
}

/** Runs a program in the pool's memory. Throws `OutOfMemory` where that has no room for it. */
function runProgram(
  whole: WholeMemory,
  { pool, loaded: { frame: program, steps, code }, call, run }: {
    readonly pool: ThreadPool;
    readonly loaded: LoadedCode;
    readonly call: ProgramCall;
    readonly run: Run;
  },
): boolean {
  const { placed, scratch, words, addressed, description, free, jobs } = run;
  if (!whole.memory.reserve(placed.bytes, scratch)) {
    throw new OutOfMemory("cpu", placed.bytes + scratch, {
      what: `${program.name} in WebAssembly`,
    });
  }
  const { bytes } = whole, running = { program, call, placed };
  const addresses = addressesIn(whole.memory, running);
  enter(bytes, addresses, running);
  bytes.set(words, description);
  if (addresses !== placed.addresses) {
    const all = whole.words, first = description / 4;
    for (const { word, buffer } of addressed) all[first + word] = addresses[buffer] ?? 0;
  }
  const { guard } = program;
  for (let at = 0; at < steps.length; at++) {
    const step = steps[at], job = jobs[at];
    if (guard?.after === at && bytes[addresses[guard.flag] ?? 0] !== 0) break;
    const start = call.clock ? performance.now() : 0;
    if (step?.kind === "extern") {
      runLibrary(pool, step.call, {
        ...operandsOf(step, { value: placed.value, addresses }, program),
        free,
      });
    } else if (step && job) pool.run(code, step.name, job);
    if (step) call.clock?.ran(step.kernels, { start, duration: performance.now() - start });
  }
  leave(whole.bytes, addresses, running);
  return passedGuard(flagOf(program), call);
}

/** Bytes of scratch memory that the library calls of a program need. */
function scratchOf(
  pool: ThreadPool,
  steps: readonly Step[],
  shaped: (view: BufferView) => Shaped,
): number {
  return steps.reduce((most, step) => {
    if (step.kind !== "extern") return most;
    const operands = { inputs: step.inputs.map(shaped), outputs: step.outputs.map(shaped) };
    return Math.max(most, libraryBytes(pool, step.call, operands));
  }, 0);
}

/** A program as it is written down, for logs. */
export function wasmSource(given: Program): string {
  const program = generate(given, wasmTarget(SIZE_LIMIT));
  const head = `// WebAssembly SIMD, arena ${printDim(program.arenaBytes)} bytes`;
  const forms = program.kernels.map(({ name, kind }) =>
    `// ${name}: ${kind === "extern" ? "library" : "SIMD"}`
  );
  return [head, ...forms, printProgram(program)].join("\n");
}
