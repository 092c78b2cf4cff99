/**
 * Programs on WebAssembly, for CPUs without a C++ compiler. Loops become SIMD functions, library calls go to the
 * library. Invariant: operands that do not live in the WebAssembly memory are copied there before the first kernel, and
 * written ones are copied back after the last.
 */
import { preferringOwnBuiltins } from "../../lib/base/own_builtins.ts";
import { generate } from "../../lib/codegen/generate.ts";
import { print as printDim } from "../../lib/sym/expr.ts";
import { type CompiledProgram, OutOfMemory, type ProgramCall } from "../../lib/loops/device.ts";
import type { Program } from "../../lib/loops/ir.ts";
import { kernelCount as kernelCountOf } from "../../lib/loops/regions.ts";
import { printProgram } from "../../lib/loops/print.ts";
import { flagOf, passedGuard } from "../cpu/host_memory.ts";
import type { WasmForm } from "./form.ts";
import { engineFuses, SIZE_LIMIT, wasmTarget } from "./target.ts";
import { addressesIn, enter, leave } from "./operand_copies.ts";
import { BySizes, WholeMemory } from "./placement.ts";
import { load, type LoadedCode, type Run, runOf, runSteps } from "./run_form.ts";
import { type ThreadPool, wasmPool } from "./threads.ts";
import { writeForm } from "./write_form.ts";

/** Options besides the pool. */
interface WasmOptions {
  /** Whether the engine's multiply-adds are taken to round once; tested by default. */
  readonly fuses?: boolean;
}

/** A program as WebAssembly for sizes below `SIZE_LIMIT`. */
export interface WasmParts {
  readonly small: WasmForm;
  /** The program, which is needed only to print it. */
  readonly program: () => Program;
  readonly kernelCount: number;
  /** Writes a form for all sizes; by default for this engine and its memory. */
  readonly large?: () => WasmForm;
}

/** Writes a program for this engine and its memory. */
export const formOf = (program: () => Program, limit: number = SIZE_LIMIT): WasmForm =>
  preferringOwnBuiltins(() =>
    writeForm(program(), { limit, fuses: engineFuses(), memory: wasmPool().memory.kind })
  );

/** Compiles a program for the threads and the memory of a pool. */
export function compileToWasm(
  program: Program,
  pool: ThreadPool = wasmPool(),
  { fuses = engineFuses() }: WasmOptions = {},
): CompiledProgram {
  const write = (limit: number) => writeForm(program, { limit, fuses, memory: pool.memory.kind });
  const small = write(SIZE_LIMIT), large = () => write(Infinity), kernelCount = kernelCountOf(program);
  return runnable({ small, large, program: () => program, kernelCount }, pool);
}

/** A program that has been written. */
export function runnable(
  { small, program, kernelCount, large = () => formOf(program, Infinity) }: WasmParts,
  pool: ThreadPool = wasmPool(),
): CompiledProgram {
  const below = load(small, pool);
  let all: LoadedCode | undefined;
  const whole = new WholeMemory(pool.memory), runs = new BySizes<Run>();
  return {
    get source() {
      return wasmSource(program());
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

/** Runs a program in the pool's memory. Throws `OutOfMemory` if it does not fit. */
function runProgram(
  whole: WholeMemory,
  { pool, loaded, call, run }: {
    readonly pool: ThreadPool;
    readonly loaded: LoadedCode;
    readonly call: ProgramCall;
    readonly run: Run;
  },
): boolean {
  const { frame: program } = loaded, { placed, scratch } = run;
  if (!whole.memory.reserve(placed.bytes, scratch)) {
    throw new OutOfMemory("cpu", placed.bytes + scratch, { what: `${program.name} in WebAssembly` });
  }
  const { bytes } = whole, running = { program, call, placed };
  const addresses = addressesIn(whole.memory, running);
  enter(bytes, addresses, running);
  runSteps(pool, loaded, { run, addresses, whole, clock: call.clock });
  leave(whole.bytes, addresses, running);
  return passedGuard(flagOf(program), call);
}

/** The text of a program, for logs. */
export function wasmSource(given: Program): string {
  const program = generate(given, wasmTarget(SIZE_LIMIT));
  const head = `// WebAssembly SIMD, arena ${printDim(program.arenaBytes)} bytes`;
  const forms = program.kernels.map(({ name, kind }) =>
    `// ${name}: ${kind === "extern" ? "library" : "SIMD"}`
  );
  return [head, ...forms, printProgram(program)].join("\n");
}
