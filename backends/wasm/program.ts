/**
 * Programs on WebAssembly, for CPUs without a C++ compiler. Input: a Program over host memory; output: a
 * CompiledProgram. Loops become SIMD functions, library calls go to the library. Invariant: operands are copied into
 * the WebAssembly memory before the first kernel and written ones out after the last, so nothing stays there between
 * calls.
 */
import { generate } from "../../lib/codegen/generate.ts";
import { type HostArray, hostArray, itemSize } from "../../lib/base/dtype.ts";
import { InternalError } from "../../lib/base/errors.ts";
import { type Dim, evaluate, print as printDim, type Sym } from "../../lib/sym/expr.ts";
import { type CompiledProgram, type Memory, OutOfMemory, type ProgramCall } from "../../lib/loops/device.ts";
import type { BufferView, ExternKernel, Program } from "../../lib/loops/ir.ts";
import { printProgram } from "../../lib/loops/print.ts";
import { HostMemory, passedGuard } from "../cpu/host_memory.ts";
import { LOAD_SLACK } from "./access.ts";
import { descriptionBytes, sizeOffset } from "./addresses.ts";
import { ModuleWriter } from "./binary.ts";
import { SIZE_LIMIT } from "./bounds.ts";
import { Functions } from "./functions.ts";
import { engineFuses } from "./fused.ts";
import { libraryBytes, runLibrary } from "./library.ts";
import type { Operand, Operands, Shaped } from "./operands.ts";
import { type Segment, segmentsOf } from "./segments.ts";
import { wasmTarget } from "./target.ts";
import { type Code, type ThreadPool, wasmPool } from "./threads.ts";

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
  const generated = generate(program, wasmTarget);
  const small = loadCode(generated, pool, { limit: SIZE_LIMIT, fuses });
  let large: LoadedCode | undefined;
  return {
    source: sourceOf(generated),
    language: "txt",
    kernelCount: program.kernels.length,
    run(call) {
      const isSmall = call.sizes.every((size) => size < SIZE_LIMIT);
      const code = isSmall ? small : large ??= loadCode(generated, pool, { limit: Infinity, fuses });
      return runProgram(pool, { program: generated, code, call });
    },
  };
}

/** The loops of a program as a module. */
interface LoadedCode {
  readonly code: Code;
  /** The parts of each kernel, in order, with the names of their functions. */
  readonly segments: readonly (readonly { readonly name: string; readonly segment: Segment }[])[];
}

function loadCode(
  program: Program,
  pool: ThreadPool,
  { limit, fuses }: { readonly limit: number; readonly fuses: boolean },
): LoadedCode {
  const writer = new ModuleWriter(pool.memory.kind), room = new Functions(writer, fuses);
  const segments = program.kernels.map((kernel) =>
    kernel.kind === "extern" ? [] : segmentsOf(kernel, { program, room, limit }).map((segment) => {
      const index = writer.add(segment.body), name = `segment${index}`;
      writer.export(index, name);
      return { name, segment };
    })
  );
  return { code: pool.load(writer.finish()), segments };
}

/** One call of a program, as its kernels see it. */
interface Run {
  /** Byte addresses of all buffers. */
  readonly addresses: readonly number[];
  /** The value of a size symbol. */
  readonly value: (symbol: Sym) => number;
  /** Where the description of buffers and sizes is. */
  readonly description: number;
  /** First address of the scratch memory. */
  readonly free: number;
}

function runSegment(
  pool: ThreadPool,
  code: Code,
  { name, segment: { units, grain, work }, run: { description, value } }: {
    readonly name: string;
    readonly segment: Segment;
    readonly run: Run;
  },
): void {
  pool.run(code, name, {
    description,
    units: units === undefined ? 1 : evaluate(units, value),
    grain,
    work: units === undefined ? 0 : work(value),
  });
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

/** Runs a program in the pool's memory. Throws `OutOfMemory` where that has no room for it. */
function runProgram(
  pool: ThreadPool,
  { program, code: { code, segments }, call }: {
    readonly program: Program;
    readonly code: LoadedCode;
    readonly call: ProgramCall;
  },
): boolean {
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
  const described = Math.ceil((descriptionBytes(program) + LOAD_SLACK) / 64) * 64;
  const scratch = described + scratchOf(pool, program, (view) => viewIn(view, program, value));
  if (!memory.reserve(bytes, scratch)) {
    throw new OutOfMemory("cpu", bytes + scratch, { what: `${program.name} in WebAssembly` });
  }
  const { buffer } = memory.memory;
  const words = new DataView(buffer, memory.top, described);
  addresses.forEach((address, id) => words.setUint32(4 * id, address, true));
  call.sizes.forEach((size, n) => words.setBigInt64(sizeOffset(program, n), BigInt(size), true));
  const inside = program.buffers.map(({ dtype, length }, id) =>
    hostArray(dtype, buffer, { byteOffset: addresses[id], length: value(length) })
  );
  program.buffers.forEach(({ role }, id) => {
    if (role.kind === "input") copy(outside[id], inside[id]);
  });
  const run: Run = { addresses, value: symbol, description: memory.top, free: memory.top + described };
  const { guard } = program;
  for (const [at, kernel] of program.kernels.entries()) {
    if (guard?.after === at && inside[guard.flag]?.[0]) break;
    if (kernel.kind === "extern") {
      runLibrary(pool, kernel.call, { ...operandsOf(kernel, run, program), free: run.free });
    }
    for (const part of segments[at] ?? []) runSegment(pool, code, { ...part, run });
  }
  program.buffers.forEach(({ role }, id) => {
    if (role.kind === "output" || (role.kind === "input" && role.written)) copy(inside[id], outside[id]);
  });
  return passedGuard(program, call);
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

function sourceOf(program: Program): string {
  const head = `// WebAssembly SIMD, arena ${printDim(program.arenaBytes)} bytes`;
  const forms = program.kernels.map(({ name, kind }) =>
    `// ${name}: ${kind === "extern" ? "library" : "SIMD"}`
  );
  return [head, ...forms, printProgram(program)].join("\n");
}
