/**
 * Programs on WebAssembly, for CPUs without a C++ compiler. Input: a Program over host memory; output: a
 * CompiledProgram. Kernels whose values have lanes become SIMD functions, library calls go to the library, others
 * run as JavaScript over the same memory. Invariant: operands are copied into the WebAssembly memory before the
 * first kernel and written ones out after the last, so nothing stays there between calls.
 */
import { type HostArray, hostArray, itemSize } from "../../lib/base/dtype.ts";
import { InternalError } from "../../lib/base/errors.ts";
import { reportFallback } from "../../lib/base/fallback.ts";
import { type Dim, evaluate, print as printDim, type Sym } from "../../lib/sym/expr.ts";
import type { CompiledProgram, Memory, ProgramCall } from "../../lib/loops/device.ts";
import type { BufferView, ExternKernel, Kernel, LoopKernel, Program } from "../../lib/loops/ir.ts";
import { printProgram } from "../../lib/loops/print.ts";
import { HostMemory, passedGuard } from "../cpu/host_memory.ts";
import { compileToJavaScript } from "../js/program.ts";
import { LOAD_SLACK } from "./access.ts";
import { SIZE_LIMIT } from "./bounds.ts";
import { ModuleWriter } from "./binary.ts";
import { javaScriptStep } from "./javascript.ts";
import {
  fitsLibrary,
  libraryBytes,
  type Operand,
  type Operands,
  runLibrary,
  type Shaped,
} from "./library.ts";
import type { Run } from "./run.ts";
import { type Segment, segmentsOf } from "./segments.ts";
import { type Code, type ThreadPool, wasmPool } from "./threads.ts";

/** One kernel. */
type Step = (run: Run) => void;

/** How a kernel runs, for listings. */
type Form = "SIMD" | "library" | "JavaScript";

/** Compiles a program for the threads and the memory of a pool. */
export function compileToWasm(program: Program, pool: ThreadPool = wasmPool()): CompiledProgram {
  const writer = new ModuleWriter(pool.memory.kind);
  const loopStep = (kernel: LoopKernel): Step | undefined => {
    const parts = segmentsOf(kernel, program)?.map((segment) => {
      const name = `segment${writer.add(segment.body)}`;
      writer.export(Number(name.slice(7)), name);
      return { segment, name };
    });
    return parts && ((run) => {
      for (const { segment, name } of parts) runSegment(pool, { code, name, segment, run });
    });
  };
  const made = program.kernels.map((kernel): { readonly step: Step; readonly form: Form } => {
    const loops = kernel.kind === "loops" ? kernel : kernel.epilogue;
    const after = loops && loopStep(loops);
    const plain = () => javaScriptStep(kernel, program, pool.memory);
    if (kernel.kind === "loops") {
      return after ? { step: within(after, plain), form: "SIMD" } : { step: plain(), form: "JavaScript" };
    }
    if (loops && !after) return { step: plain(), form: "JavaScript" };
    return { step: within(externStep(kernel, { program, pool, after, plain }), plain), form: "library" };
  });
  let plain: CompiledProgram | undefined;
  const withoutRoom = (call: ProgramCall): boolean => {
    if (!plain) {
      plain = compileToJavaScript(program);
      reportFallback(
        "memory",
        `${program.name} runs as JavaScript: WebAssembly has no room for its operands`,
      );
    }
    return plain.run(call);
  };
  const code = pool.load(writer.finish());
  const steps = made.map((m) => m.step);
  return {
    source: sourceOf(program, made.map((m) => m.form)),
    language: "txt",
    kernelCount: program.kernels.length,
    run: (call) => runProgram(pool, { program, steps, call }) ?? withoutRoom(call),
  };
}

/** A step where every size is below the limit, another where one is not. */
function within(step: Step, plain: () => Step): Step {
  let beyond: Step | undefined;
  return (run) => {
    if (run.sizes.every((size) => size < SIZE_LIMIT)) step(run);
    else (beyond ??= plain())(run);
  };
}

function runSegment(
  pool: ThreadPool,
  { code, name, segment, run }: { code: Code; name: string; segment: Segment; run: Run },
): void {
  const { units, grain } = segment;
  pool.run(code, name, {
    description: run.description,
    units: units === undefined ? 1 : evaluate(units, run.value),
    grain,
    work: units === undefined ? 0 : segment.work(run.value),
  });
}

/** A library call with its epilogue; where the library does not take it, JavaScript does both. */
function externStep(
  kernel: ExternKernel,
  { program, pool, after, plain }: {
    program: Program;
    pool: ThreadPool;
    after: Step | undefined;
    plain: () => Step;
  },
): Step {
  let fallback: Step | undefined;
  return (run) => {
    const operands = operandsOf(kernel, run, program);
    if (!fitsLibrary(kernel.call, operands)) return (fallback ??= plain())(run);
    runLibrary(pool, kernel.call, { ...operands, free: run.free });
    after?.(run);
  };
}

function viewIn(view: BufferView, program: Program, value: (d: Dim) => number): Shaped {
  const decl = program.buffers[view.buffer];
  if (!decl) throw new InternalError(`Expected a buffer ${view.buffer} but the program has none`);
  return { dtype: decl.dtype, shape: view.shape.map(value), strides: view.strides.map(value) };
}

function operandsOf(kernel: ExternKernel, run: Run, program: Program): Operands<Operand> {
  const value = (d: Dim) => evaluate(d, run.value);
  const at = (view: BufferView): Operand => {
    const shaped = viewIn(view, program, value);
    const address = (run.addresses[view.buffer] ?? 0) + value(view.offset) * itemSize(shaped.dtype);
    return { ...shaped, address };
  };
  return { inputs: kernel.inputs.map(at), outputs: kernel.outputs.map(at) };
}

/** Runs a program in the pool's memory; null, and nothing happened, where that has no room for it. */
function runProgram(
  pool: ThreadPool,
  { program, steps, call }: { program: Program; steps: readonly Step[]; call: ProgramCall },
): boolean | null {
  const { memory } = pool;
  const known = new Map<Sym, number>(program.sizes.map((s, i) => [s, call.sizes[i] ?? 0]));
  const symbol = (s: Sym) => known.get(s) ?? 0;
  const value = (d: Dim) => evaluate(d, symbol);
  const outside = outsideOf(program, call);
  // The arena first, then operands one after another
  let bytes = Math.ceil(value(program.arenaBytes) / 64) * 64;
  const addresses = program.buffers.map(({ role, dtype, length }) => {
    if (role.kind === "temporary") return memory.base + value(role.offset);
    const address = memory.base + bytes;
    bytes += Math.ceil(value(length) * itemSize(dtype) / 64) * 64;
    return address;
  });
  const words = [...addresses, ...call.sizes];
  const wordBytes = Math.ceil((4 * words.length + LOAD_SLACK) / 64) * 64;
  if (!memory.reserve(bytes, wordBytes + scratchOf(pool, program, value))) return null;
  const { buffer } = memory.memory;
  new Int32Array(buffer, memory.top, words.length).set(words);
  const inside = program.buffers.map(({ dtype, length }, id) =>
    hostArray(dtype, buffer, { byteOffset: addresses[id], length: value(length) })
  );
  program.buffers.forEach(({ role }, id) => {
    if (role.kind === "input") copy(outside[id], inside[id]);
  });
  const run: Run = {
    program,
    addresses,
    sizes: call.sizes,
    value: symbol,
    description: memory.top,
    free: memory.top + wordBytes,
  };
  const { guard } = program;
  for (const [at, step] of steps.entries()) {
    if (guard?.after === at && inside[guard.flag]?.[0]) break;
    step(run);
  }
  program.buffers.forEach(({ role }, id) => {
    if (role.kind === "output" || (role.kind === "input" && role.written)) copy(inside[id], outside[id]);
  });
  return passedGuard(program, call);
}

/** Bytes of scratch memory that the library calls of a program need. */
function scratchOf(pool: ThreadPool, program: Program, value: (d: Dim) => number): number {
  return program.kernels.reduce((most, kernel: Kernel) => {
    if (kernel.kind !== "extern") return most;
    const shaped = (view: BufferView) => viewIn(view, program, value);
    const operands = { inputs: kernel.inputs.map(shaped), outputs: kernel.outputs.map(shaped) };
    return Math.max(most, libraryBytes(pool, kernel.call, operands));
  }, 0);
}

/** Host arrays of the operands by buffer. */
function outsideOf(program: Program, call: ProgramCall): (HostArray | undefined)[] {
  const arrays: (HostArray | undefined)[] = program.buffers.map(() => undefined);
  const take = (id: number, memory: Memory | undefined, offset: number) => {
    if (!(memory instanceof HostMemory)) {
      throw new InternalError(`Expected host memory but found ${memory?.device}`);
    }
    const dtype = program.buffers[id]?.dtype ?? "float32";
    // A tensor without elements may begin behind the end of its memory
    const byteOffset = Math.min(offset, memory.byteLength);
    const count = (memory.byteLength - byteOffset) / itemSize(dtype);
    arrays[id] = hostArray(dtype, memory.buffer, { byteOffset, length: Math.floor(count) });
  };
  program.inputs.forEach((id, i) => take(id, call.inputs[i], call.byteOffsets?.[i] ?? 0));
  program.outputs.forEach((id, i) =>
    take(id, call.outputs[i], call.byteOffsets?.[program.inputs.length + i] ?? 0)
  );
  return arrays;
}

function copy(from: HostArray | undefined, to: HostArray | undefined): void {
  if (!from || !to) throw new InternalError("Expected memory for every operand");
  const count = Math.min(from.length, to.length);
  new Uint8Array(to.buffer, to.byteOffset, count * to.BYTES_PER_ELEMENT)
    .set(new Uint8Array(from.buffer, from.byteOffset, count * from.BYTES_PER_ELEMENT));
}

function sourceOf(program: Program, forms: readonly Form[]): string {
  const head = `// WebAssembly SIMD, arena ${printDim(program.arenaBytes)} bytes`;
  const names = program.kernels.map((k, i) => `// ${k.name}: ${forms[i]}`);
  return [head, ...names, printProgram(program)].join("\n");
}
