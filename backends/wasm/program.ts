/**
 * Programs on WebAssembly, for CPUs without a C++ compiler. Input: a Program over host memory; output: a
 * CompiledProgram. Loops become SIMD functions, library calls go to the library. Invariant: operands that do not live in
 * the WebAssembly memory are copied there before the first kernel and written ones out after the last.
 */
import { generate } from "../../lib/codegen/generate.ts";
import { itemSize } from "../../lib/base/dtype.ts";
import { InternalError } from "../../lib/base/errors.ts";
import { type Dim, evaluate, print as printDim, type Sym } from "../../lib/sym/expr.ts";
import { type CompiledProgram, OutOfMemory, type ProgramCall } from "../../lib/loops/device.ts";
import type { BufferView, ExternKernel, Program } from "../../lib/loops/ir.ts";
import { printProgram } from "../../lib/loops/print.ts";
import { flagOf, passedGuard } from "../cpu/host_memory.ts";
import { LOAD_SLACK } from "./access.ts";
import { descriptionBytes, sizeOffset } from "./addresses.ts";
import { ModuleWriter } from "./binary.ts";
import { Functions } from "./functions.ts";
import { engineFuses } from "./fused.ts";
import { libraryBytes, runLibrary } from "./library.ts";
import type { Operand, Operands, Shaped } from "./operands.ts";
import { addressesIn, BySizes, enter, leave, place, type Placement, WholeMemory } from "./placement.ts";
import { type Segment, segmentOf } from "./segments.ts";
import { SIZE_LIMIT, wasmTarget } from "./target.ts";
import { type Code, type Job, type ThreadPool, wasmPool } from "./threads.ts";

/** What can be chosen besides the pool. */
export interface WasmOptions {
  /** Whether the engine's multiplications with addition are taken to round once; found out unless told. */
  readonly fuses?: boolean;
}

/** Compiles a program for the threads and the memory of a pool. */
export function compileToWasm(
  program: Program,
  pool: ThreadPool = wasmPool(),
  { fuses = engineFuses() }: WasmOptions = {},
): CompiledProgram {
  const small = loadCode(program, pool, { limit: SIZE_LIMIT, fuses });
  let large: LoadedCode | undefined;
  const whole = new WholeMemory(pool.memory), runs = new BySizes<Run>();
  return {
    source: sourceOf(small.generated),
    language: "txt",
    kernelCount: program.kernels.length,
    run(call) {
      const isSmall = call.sizes.every((size) => size < SIZE_LIMIT);
      const loaded = isSmall ? small : large ??= loadCode(program, pool, { limit: Infinity, fuses });
      const run = runs.get(call.sizes, () => runOf(pool, loaded, call.sizes));
      return runProgram(whole, { pool, loaded, call, run });
    },
  };
}

/** The loops of a program as a module. */
interface LoadedCode {
  /** The program as it was printed. */
  readonly generated: Program;
  readonly code: Code;
  /** Each kernel of loops with the name of its function. */
  readonly segments: readonly ({ readonly name: string; readonly segment: Segment } | undefined)[];
}

function loadCode(
  program: Program,
  pool: ThreadPool,
  { limit, fuses }: { readonly limit: number; readonly fuses: boolean },
): LoadedCode {
  const generated = generate(program, wasmTarget(limit));
  const writer = new ModuleWriter(pool.memory.kind), room = new Functions(writer, fuses);
  const segments = generated.kernels.map((kernel) => {
    if (kernel.kind === "extern") return undefined;
    const segment = segmentOf(kernel, { program: generated, room, limit });
    const index = writer.add(segment.body), name = `segment${index}`;
    writer.export(index, name);
    return { name, segment };
  });
  return { generated, code: pool.load(writer.finish()), segments };
}

/** A call of given sizes, as its kernels see it. */
interface Run {
  readonly placed: Placement;
  /** Where the description of buffers and sizes is. */
  readonly description: number;
  /** What is written there. */
  readonly words: Uint8Array;
  /** First address of the scratch memory. */
  readonly free: number;
  /** Bytes behind the operands. */
  readonly scratch: number;
  /** Of each kernel of loops. */
  readonly jobs: readonly ({ readonly name: string; readonly job: Job } | undefined)[];
}

/** Units of work that a vector of four lanes does at once, as one instruction that loads or computes counts. */
const WORK_OF_LANES = 8;

function jobOf({ units, grain, work }: Segment, description: number, value: (symbol: Sym) => number): Job {
  return {
    description,
    units: units === undefined ? 1 : evaluate(units, value),
    grain,
    work: units === undefined ? 0 : evaluate(work, value) / WORK_OF_LANES,
  };
}

function viewIn(view: BufferView, program: Program, value: (d: Dim) => number): Shaped {
  const decl = program.buffers[view.buffer];
  if (!decl) throw new InternalError(`Expected a buffer ${view.buffer} but the program has none`);
  return { dtype: decl.dtype, shape: view.shape.map(value), strides: view.strides.map(value) };
}

function operandsOf(
  kernel: ExternKernel,
  { value, addresses }: Pick<Placement, "value" | "addresses">,
  program: Program,
): Operands<Operand> {
  const at = (view: BufferView): Operand => {
    const shaped = viewIn(view, program, value);
    const address = (addresses[view.buffer] ?? 0) + value(view.offset) * itemSize(shaped.dtype);
    return { ...shaped, address };
  };
  return { inputs: kernel.inputs.map(at), outputs: kernel.outputs.map(at) };
}

/** What calls of these sizes have in common. */
function runOf(
  pool: ThreadPool,
  { generated: program, segments }: LoadedCode,
  given: readonly number[],
): Run {
  const sizes = [...given], placed = place(program, sizes, pool.memory.base);
  const described = Math.ceil((descriptionBytes(program) + LOAD_SLACK) / 64) * 64;
  const words = new Uint8Array(described), view = new DataView(words.buffer);
  placed.addresses.forEach((address, id) => view.setUint32(4 * id, address, true));
  sizes.forEach((size, n) => view.setBigInt64(sizeOffset(program, n), BigInt(size), true));
  const description = pool.memory.base + Math.ceil(placed.bytes / 64) * 64;
  return {
    placed,
    description,
    words,
    free: description + described,
    scratch: described + scratchOf(pool, program, (each) => viewIn(each, program, placed.value)),
    jobs: segments.map((each) =>
      each && { name: each.name, job: jobOf(each.segment, description, placed.symbol) }
    ),
  };
}

/** Runs a program in the pool's memory. Throws `OutOfMemory` where that has no room for it. */
function runProgram(
  whole: WholeMemory,
  { pool, loaded: { generated: program, code }, call, run }: {
    readonly pool: ThreadPool;
    readonly loaded: LoadedCode;
    readonly call: ProgramCall;
    readonly run: Run;
  },
): boolean {
  const { placed, scratch, words, description, free, jobs } = run;
  if (!whole.memory.reserve(placed.bytes, scratch)) {
    throw new OutOfMemory("cpu", placed.bytes + scratch, {
      what: `${program.name} in WebAssembly`,
    });
  }
  const { bytes } = whole, running = { program, call, placed };
  const addresses = addressesIn(whole.memory, running);
  enter(bytes, addresses, running);
  bytes.set(words, description);
  if (addresses !== placed.addresses) whole.words.set(addresses, description / 4);
  const { guard, kernels } = program;
  for (let at = 0; at < kernels.length; at++) {
    const kernel = kernels[at];
    if (guard?.after === at && bytes[addresses[guard.flag] ?? 0] !== 0) break;
    if (kernel?.kind === "extern") {
      runLibrary(pool, kernel.call, {
        ...operandsOf(kernel, { value: placed.value, addresses }, program),
        free,
      });
    }
    const loops = jobs[at];
    if (loops) pool.run(code, loops.name, loops.job);
  }
  leave(whole.bytes, addresses, running);
  return passedGuard(flagOf(program), call);
}

/** Bytes of scratch memory that the library calls of a program need. */
function scratchOf(
  pool: ThreadPool,
  { kernels }: Program,
  shaped: (view: BufferView) => Shaped,
): number {
  return kernels.reduce((most, kernel) => {
    if (kernel.kind !== "extern") return most;
    const operands = { inputs: kernel.inputs.map(shaped), outputs: kernel.outputs.map(shaped) };
    return Math.max(most, libraryBytes(pool, kernel.call, operands));
  }, 0);
}

function sourceOf(program: Program): string {
  const head = `// WebAssembly SIMD, arena ${printDim(program.arenaBytes)} bytes`;
  const forms = program.kernels.map(({ name, kind }) =>
    `// ${name}: ${kind === "extern" ? "library" : "SIMD"}`
  );
  return [head, ...forms, printProgram(program)].join("\n");
}
