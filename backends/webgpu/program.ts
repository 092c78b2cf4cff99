/**
 * Programs ready to run: one pipeline per shader, bind groups by the memories of a call. Input: a Program; output:
 * a CompiledProgram. Invariant: a call encodes its dispatches in the order of the program's kernels.
 */
import { DynError, InternalError } from "../../lib/base/errors.ts";
import { evaluate } from "../../lib/sym/expr.ts";
import { externAsLoops } from "../../lib/loops/extern_loops.ts";
import type { CompiledProgram, Memory, ProgramCall } from "../../lib/loops/device.ts";
import type { ExternKernel, Program } from "../../lib/loops/ir.ts";
import { printMatmul } from "./matmul.ts";
import { type MemoryPool, WebGpuMemory } from "./memory.ts";
import { parameterWords } from "./print/bindings.ts";
import { printKernel, type Shader } from "./print/kernel.ts";
import type { CommandQueue } from "./queue.ts";

/** Bind groups kept for calls with the same memories. */
const KEPT_BIND_GROUPS = 64;
const MAX_GRID = 65535;

/** What programs share on one device. */
export interface ProgramContext {
  readonly device: GPUDevice;
  readonly pool: MemoryPool;
  readonly queue: CommandQueue;
  /** Compiled pipelines by shader text. */
  readonly pipelines: Map<string, GPUComputePipeline>;
}

/** The shaders of a whole program, in order. */
export function printProgram(program: Program): readonly Shader[] {
  return program.kernels.flatMap((kernel) =>
    kernel.kind === "loops"
      ? printKernel(kernel, program)
      : [...printExtern(kernel, program), ...(kernel.epilogue ? printKernel(kernel.epilogue, program) : [])]
  );
}

function printExtern(kernel: ExternKernel, program: Program): readonly Shader[] {
  if (kernel.call.op === "matmul") return [printMatmul(kernel, program)];
  const dtypeOf = (buffer: number) => program.buffers[buffer]?.dtype ?? "float32";
  return printKernel(externAsLoops(kernel, dtypeOf), program);
}

interface Stage {
  readonly shader: Shader;
  readonly pipeline: GPUComputePipeline;
}

export class WebGpuProgram implements CompiledProgram {
  readonly source: string;
  readonly kernelCount: number;
  readonly #stages: readonly Stage[];
  readonly #bindGroups = new Map<string, readonly GPUBindGroup[]>();
  readonly #parameters = new Map<string, GPUBuffer>();
  #arena: { readonly buffer: GPUBuffer; readonly bytes: number } | undefined;

  constructor(readonly program: Program, readonly context: ProgramContext) {
    const shaders = printProgram(program);
    this.source = shaders.map((s) => `// ${s.name}\n${s.code}`).join("\n");
    this.kernelCount = shaders.length;
    this.#stages = shaders.map((shader) => ({ shader, pipeline: pipelineOf(shader, context) }));
  }

  run(call: ProgramCall): void {
    const { program, context } = this;
    const inputs = call.inputs.map(own), outputs = call.outputs.map(own);
    const valueOf = sizeLookup(program, call.sizes);
    const arenaBytes = evaluate(program.arenaBytes, valueOf);
    const arena = this.#arenaOf(arenaBytes);
    const bindings = this.#bindGroupsFor({ call, inputs, outputs, arena });
    this.#stages.forEach(({ shader, pipeline }, i) => {
      const bindGroup = bindings[i];
      if (!bindGroup) throw new InternalError("Expected a bind group per shader");
      const count = Math.ceil(evaluate(shader.workgroups.items, valueOf) / shader.workgroups.each);
      if (count === 0) return;
      const x = Math.min(count, MAX_GRID);
      context.queue.dispatch({ pipeline, bindGroup, workgroups: [x, Math.ceil(count / x)] });
    });
  }

  #arenaOf(bytes: number): GPUBuffer | undefined {
    if (bytes === 0) return undefined;
    if (!this.#arena || this.#arena.bytes < bytes) {
      const memory = this.context.pool.allocate(bytes);
      this.#arena = { buffer: memory.buffer, bytes: memory.buffer.size };
      this.#bindGroups.clear();
      this.#kept = memory;
    }
    return this.#arena.buffer;
  }
  /** Keeps the arena from being collected. */
  #kept: WebGpuMemory | undefined;

  #bindGroupsFor(
    { call, inputs, outputs, arena }: {
      call: ProgramCall;
      inputs: readonly WebGpuMemory[];
      outputs: readonly WebGpuMemory[];
      arena: GPUBuffer | undefined;
    },
  ): readonly GPUBindGroup[] {
    const words = parameterWords(this.program, call.sizes, call.byteOffsets ?? []);
    const key = `${[...inputs, ...outputs].map((m) => m.id)};${words}`;
    const known = this.#bindGroups.get(key);
    if (known) return known;
    if (this.#bindGroups.size >= KEPT_BIND_GROUPS) this.#bindGroups.clear();
    const parameters = this.#parametersOf(words);
    const made = this.#stages.map(({ shader, pipeline }) => {
      const buffers = shader.memories.map((memory) =>
        memory.kind === "arena"
          ? arena
          : (memory.kind === "input" ? inputs : outputs)[memory.position]?.buffer
      );
      const distinct = this.#withoutConflicts(shader, buffers.map(present));
      return this.context.device.createBindGroup({
        layout: pipeline.getBindGroupLayout(0),
        entries: [parameters, ...distinct].map((buffer, binding) => ({ binding, resource: { buffer } })),
      });
    });
    // A group with private copies must not be reused: the copies were made for this call
    if (!this.#copied) this.#bindGroups.set(key, made);
    this.#copied = false;
    return made;
  }
  #copied = false;

  /** One buffer may not be bound for reading and for writing in one dispatch: readers get a copy. */
  #withoutConflicts(shader: Shader, buffers: readonly GPUBuffer[]): readonly GPUBuffer[] {
    const written = new Set(buffers.filter((_, i) => shader.memories[i]?.written));
    const seen = new Set<GPUBuffer>();
    return buffers.map((buffer, i) => {
      const writes = shader.memories[i]?.written ?? false;
      if (writes && seen.has(buffer)) {
        throw new DynError(
          "Expected distinct tensors for the written arguments of one kernel but found one twice",
        );
      }
      if (writes) seen.add(buffer);
      if (writes || !written.has(buffer)) return buffer;
      const copy = this.context.pool.allocate(buffer.size);
      this.context.queue.copy(buffer, copy.buffer, buffer.size);
      this.#copied = true;
      return copy.buffer;
    });
  }

  #parametersOf(words: Int32Array<ArrayBuffer>): GPUBuffer {
    const key = `${words}`;
    const known = this.#parameters.get(key);
    if (known) return known;
    const buffer = this.context.device.createBuffer({
      size: Math.max(16, words.byteLength),
      usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST,
      mappedAtCreation: true,
    });
    new Int32Array(buffer.getMappedRange()).set(words);
    buffer.unmap();
    this.#parameters.set(key, buffer);
    return buffer;
  }
}

function pipelineOf(shader: Shader, { device, pipelines }: ProgramContext): GPUComputePipeline {
  const known = pipelines.get(shader.code);
  if (known) return known;
  const bindings = shader.memories.length + 1;
  const limit = device.limits.maxStorageBuffersPerShaderStage;
  if (bindings > limit) {
    throw new DynError(
      `Expected at most ${limit - 1} tensors in one kernel on this adapter but found ${bindings - 1}`,
    );
  }
  const entries = [{ written: false }, ...shader.memories].map(({ written }, binding) => ({
    binding,
    visibility: GPUShaderStage.COMPUTE,
    buffer: { type: written ? "storage" : "read-only-storage" } as const,
  }));
  const layout = device.createPipelineLayout({
    bindGroupLayouts: [device.createBindGroupLayout({ entries })],
  });
  const module = device.createShaderModule({ code: shader.code, label: shader.name });
  const pipeline = device.createComputePipeline({ layout, compute: { module, entryPoint: "main" } });
  pipelines.set(shader.code, pipeline);
  return pipeline;
}

function own(memory: Memory): WebGpuMemory {
  if (memory instanceof WebGpuMemory) return memory;
  throw new DynError(`Expected all tensors on webgpu but found one on ${memory.device}`);
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new InternalError("Expected a memory for every binding");
  return value;
}

function sizeLookup(program: Program, sizes: readonly number[]) {
  return (symbol: (typeof program.sizes)[number]): number => {
    const value = sizes[program.sizes.indexOf(symbol)];
    if (value === undefined) throw new InternalError(`Expected a value for ${symbol}`);
    return value;
  };
}
