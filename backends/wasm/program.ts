/**
 * Programs on WebAssembly, for CPUs without a C++ compiler. Input: a Program over host memory; output: a
 * CompiledProgram. Kernels over float32 and int32 become SIMD functions; others run as JavaScript over the same
 * memory. Invariant: operands are copied into the WebAssembly memory before the first kernel and written ones out
 * after the last, so nothing stays there between calls.
 */
import { type HostArray, hostArray, itemSize } from "../../lib/base/dtype.ts";
import { InternalError } from "../../lib/base/errors.ts";
import { type Dim, evaluate, type Sym } from "../../lib/sym/expr.ts";
import type { CompiledProgram, Memory, ProgramCall } from "../../lib/loops/device.ts";
import type { BufferDecl, Kernel, LoopKernel, Program } from "../../lib/loops/ir.ts";
import { print as printDim } from "../../lib/sym/expr.ts";
import { HostMemory } from "../js/memory.ts";
import { compileToJavaScript } from "../js/program.ts";
import { printProgram } from "../../lib/loops/print.ts";
import { fitsLanes, printKernel } from "./kernel.ts";
import { instantiate, scratchBytes, wasmLibrary } from "./library.ts";
import { wasmMemory } from "./memory.ts";

/** One kernel, given addresses of all buffers and the sizes. */
type Step = (addresses: readonly number[], sizes: readonly number[]) => void;

/** Compiles a program. */
export function compileToWasm(program: Program): CompiledProgram {
  const loops = program.kernels.filter((k): k is LoopKernel => k.kind === "loops" && fitsLanes(k, program));
  const functions = instantiate(
    Object.fromEntries(loops.map((k, i) => [`kernel${i}`, printKernel(k, program)])),
  );
  const steps = program.kernels.map((kernel): Step => {
    const place = kernel.kind === "loops" ? loops.indexOf(kernel) : -1;
    const compiled = functions[`kernel${place}`];
    return compiled
      ? (addresses, sizes) => compiled(...addresses, ...sizes)
      : javaScriptStep(kernel, program);
  });
  return {
    source: sourceOf(program, loops),
    kernelCount: program.kernels.length,
    run: (call) => runProgram(program, steps, call),
  };
}

/** A kernel on its own as JavaScript: every buffer becomes an input at its address in the shared memory. */
function javaScriptStep(kernel: Kernel, program: Program): Step {
  const buffers = program.buffers.map((decl): BufferDecl => ({
    ...decl,
    role: { kind: "input", written: true },
  }));
  const alone: Program = {
    ...program,
    buffers,
    inputs: buffers.map((_, id) => id),
    outputs: [],
    arenaBytes: 0,
    kernels: [kernel],
  };
  const compiled = compileToJavaScript(alone, { library: wasmLibrary });
  let shared: HostMemory | undefined;
  return (addresses, sizes) => {
    const { buffer } = wasmMemory.memory;
    if (!(buffer instanceof ArrayBuffer)) throw new InternalError("Expected a memory of this thread alone");
    if (shared?.buffer !== buffer) shared = new HostMemory("cpu", buffer);
    const memory = shared;
    compiled.run({ inputs: buffers.map(() => memory), outputs: [], byteOffsets: addresses, sizes });
  };
}

function runProgram(program: Program, steps: readonly Step[], call: ProgramCall): void {
  const known = new Map<Sym, number>(program.sizes.map((s, i) => [s, call.sizes[i] ?? 0]));
  const value = (d: Dim) => evaluate(d, (s) => known.get(s) ?? 0);
  const outside = outsideOf(program, call);
  // The arena first, then operands one after another
  let bytes = Math.ceil(value(program.arenaBytes) / 64) * 64;
  const addresses = program.buffers.map(({ role, dtype, length }) => {
    if (role.kind === "temporary") return value(role.offset);
    const address = bytes;
    bytes += Math.ceil(value(length) * itemSize(dtype) / 64) * 64;
    return address;
  });
  wasmMemory.reserve(bytes, scratchOf(program, value));
  const inside = program.buffers.map(({ dtype, length }, id) =>
    hostArray(dtype, wasmMemory.memory.buffer, { byteOffset: addresses[id], length: value(length) })
  );
  program.buffers.forEach(({ role }, id) => {
    if (role.kind === "input") copy(outside[id], inside[id]);
  });
  for (const step of steps) step(addresses, call.sizes);
  program.buffers.forEach(({ role }, id) => {
    if (role.kind === "output" || (role.kind === "input" && role.written)) copy(inside[id], outside[id]);
  });
}

function scratchOf(program: Program, value: (d: Dim) => number): number {
  return program.kernels.reduce((most, kernel) => {
    if (kernel.kind !== "extern") return most;
    const shapes = [...kernel.inputs, ...kernel.outputs].map(({ shape }) => ({ shape: shape.map(value) }));
    return Math.max(most, scratchBytes(kernel.call, shapes));
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
    const count = (memory.byteLength - offset) / itemSize(dtype);
    arrays[id] = hostArray(dtype, memory.buffer, { byteOffset: offset, length: Math.floor(count) });
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

function sourceOf(program: Program, lanes: readonly LoopKernel[]): string {
  const head = `// WebAssembly SIMD, arena ${printDim(program.arenaBytes)} bytes`;
  const names = program.kernels.map((k) =>
    `// ${k.name}: ${lanes.some((l) => l === k) ? "SIMD" : "JavaScript"}`
  );
  return [head, ...names, printProgram(program)].join("\n");
}
