/**
 * Runs packaged programs by WebGPU, in Deno and in browsers. Invariant: weights stay in the device's memory between
 * calls; resources that depend on the sizes of a call are created once for these sizes; work that the device rejects is
 * an error of its call.
 */
import { itemSize } from "../lib/base/dtype.ts";
import { DynError, messageOf } from "../lib/base/errors.ts";
import type { Plain } from "../lib/base/recording.ts";
import type { Dim } from "../lib/sym/expr.ts";
import { evaluate } from "../lib/sym/expr.ts";
import type { Symbols } from "../lib/sym/stored/symbols.ts";
import { type WebGpuForm, webGpuForm } from "../backends/webgpu/form.ts";
import { pipelineDescriptor, sourceOf } from "../backends/webgpu/pipeline_worker.ts";
import type { BoundMemory } from "../backends/webgpu/print/bindings.ts";
import type { Shader } from "../backends/webgpu/print/entry.ts";
import { writeParameters } from "../backends/webgpu/print/parameters.ts";
import type { SessionCall } from "./wasm_session.ts";

/** Runs one program, asynchronously. */
export interface LaterSession {
  run(call: SessionCall): Promise<void>;
}

/** Maximum number of cached sets of sizes. */
const KEPT_SIZES = 4;
/** Workgroups along one dimension of a grid. */
const MAX_GRID = 65535;
/** Shaders may access whole vectors. */
const roomFor = (bytes: number): number => Math.max(16, Math.ceil(bytes / 16) * 16);

/** A part of a buffer. */
interface Place {
  readonly buffer: GPUBuffer;
  readonly offset: number;
}

interface Dispatch {
  readonly pipeline: GPUComputePipeline;
  readonly bindGroup: GPUBindGroup;
  readonly groups: readonly [number, number];
}

/** Resources shared by calls of the same sizes. */
interface Prepared {
  /** By position among the inputs. */
  readonly inputs: readonly Place[];
  /** By position among the outputs; `at`: the offset in the staging buffer. */
  readonly outputs: readonly { readonly buffer: GPUBuffer; readonly bytes: number; readonly at: number }[];
  readonly dispatches: readonly Dispatch[];
  readonly staging: GPUBuffer;
  /** All buffers to destroy when other sizes replace these. */
  readonly own: readonly GPUBuffer[];
  /** Inputs that have been uploaded. */
  readonly written: Set<number>;
}

/** A program on the adapter of this machine; null if there is none. Throws DynError for shaders that it rejects. */
export async function webGpuSession(form: Plain, symbols: Symbols): Promise<LaterSession | null> {
  const adapter = "gpu" in navigator
    ? await navigator.gpu.requestAdapter({ powerPreference: "high-performance" })
    : null;
  if (!adapter) return null;
  const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits;
  const device = await adapter.requestDevice({
    requiredLimits: { maxBufferSize, maxStorageBufferBindingSize },
  });
  const read = webGpuForm.read(form, symbols);
  try {
    const pipelines = await Promise.all(
      read.shaders.map((shader) =>
        device.createComputePipelineAsync(pipelineDescriptor(device, sourceOf(shader), shader.name))
      ),
    );
    return new WebGpuSession(device, read, pipelines);
  } catch (thrown) {
    throw new DynError(`Expected shaders that the device takes but found: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  }
}

class WebGpuSession implements LaterSession {
  readonly #prepared = new Map<string, Prepared>();
  /** Weights, by position among the inputs. */
  readonly #weights = new Map<number, GPUBuffer>();

  constructor(
    readonly device: GPUDevice,
    readonly form: WebGpuForm,
    readonly pipelines: readonly GPUComputePipeline[],
  ) {}

  async run(call: SessionCall): Promise<void> {
    const { device } = this;
    for (const filter of ["validation", "out-of-memory"] as const) device.pushErrorScope(filter);
    const prepared = this.#preparedFor(call), { staging } = prepared;
    this.#upload(call, prepared);
    this.#submit(prepared);
    const refused = await Promise.all([device.popErrorScope(), device.popErrorScope()]);
    const error = refused.find((each) => each !== null);
    if (error) {
      this.#forget(prepared);
      throw new DynError(`Expected the device to accept the work but found ${error.message}`);
    }
    await staging.mapAsync(GPUMapMode.READ);
    const bytes = new Uint8Array(staging.getMappedRange());
    prepared.outputs.forEach(({ at, bytes: length }, place) => {
      call.outputs[place]?.set(bytes.subarray(at, at + length));
    });
    staging.unmap();
  }

  #preparedFor(call: SessionCall): Prepared {
    const key = `${call.sizes}`, known = this.#prepared.get(key);
    if (known) this.#prepared.delete(key);
    const prepared = known ?? this.#prepare(call);
    this.#prepared.set(key, prepared);
    const [oldest] = this.#prepared.values();
    if (this.#prepared.size > KEPT_SIZES && oldest) this.#forget(oldest);
    return prepared;
  }

  #forget(prepared: Prepared): void {
    for (const [key, each] of this.#prepared) if (each === prepared) this.#prepared.delete(key);
    for (const buffer of prepared.own) buffer.destroy();
  }

  #prepare(call: SessionCall): Prepared {
    const { device, form: { frame, shaders, packed } } = this, own: GPUBuffer[] = [];
    const value = (size: Dim): number =>
      evaluate(size, (symbol) => call.sizes[frame.sizes.indexOf(symbol)] ?? 0);
    const bytesOf = (id: number): number => {
      const declared = frame.buffers[id];
      return declared ? value(declared.length) * itemSize(declared.dtype) : 0;
    };
    const make = (bytes: number, usage: number): GPUBuffer => {
      const buffer = device.createBuffer({ size: roomFor(bytes), usage });
      own.push(buffer);
      return buffer;
    };
    const { STORAGE, COPY_DST, COPY_SRC, MAP_READ } = GPUBufferUsage;
    let end = 0;
    const starts = frame.inputs.map((id) => {
      const start = end;
      if (packed.includes(id)) end += roomFor(bytesOf(id));
      return start;
    });
    const pack = end > 0 ? make(end, STORAGE | COPY_DST) : undefined;
    const inputs = frame.inputs.map((id, place): Place => {
      if (pack && packed.includes(id)) return { buffer: pack, offset: starts[place] ?? 0 };
      if (!call.inputs[place]?.kept) {
        return { buffer: make(bytesOf(id), STORAGE | COPY_DST), offset: 0 };
      }
      const weights = this.#weights.get(place) ??
        device.createBuffer({ size: roomFor(bytesOf(id)), usage: STORAGE | COPY_DST });
      return { buffer: weights, offset: 0 };
    });
    let read = 0;
    const outputs = frame.outputs.map((id) => {
      const bytes = bytesOf(id), at = read;
      read += roomFor(bytes);
      return { buffer: make(bytes, STORAGE | COPY_SRC), bytes, at };
    });
    const arenaBytes = value(frame.arenaBytes),
      arena = arenaBytes > 0 ? make(arenaBytes, STORAGE) : undefined;
    const places = {
      program: frame,
      sizes: call.sizes,
      byteOffsets: [...inputs.map(({ offset }) => offset), ...outputs.map(() => 0)],
    };
    const bufferOf = (memory: BoundMemory): GPUBuffer | undefined => {
      switch (memory.kind) {
        case "input":
          return inputs[memory.position]?.buffer;
        case "output":
          return outputs[memory.position]?.buffer;
        case "arena":
          return arena;
        case "pack":
          return pack;
        default:
          return memory satisfies never;
      }
    };
    const dispatchOf = (shader: Shader, at: number): readonly Dispatch[] => {
      const { words, memories, workgroups } = shader, pipeline = this.pipelines[at];
      const count = Math.ceil(value(workgroups.items) / workgroups.each), x = Math.min(count, MAX_GRID);
      if (count === 0 || !pipeline) return [];
      const parameters = new Int32Array(Math.max(4, words.length + 1));
      writeParameters(parameters, words, places);
      const handed = make(parameters.byteLength, STORAGE | COPY_DST);
      device.queue.writeBuffer(handed, 0, parameters);
      const bindGroup = device.createBindGroup({
        layout: pipeline.getBindGroupLayout(0),
        entries: [handed, ...memories.map(bufferOf)].map((buffer, binding) => {
          if (buffer) return { binding, resource: { buffer } };
          throw new DynError(`Expected memory for every binding of ${shader.name} but found none`);
        }),
      });
      return [{ pipeline, bindGroup, groups: [x, Math.ceil(count / x)] }];
    };
    const dispatches = shaders.flatMap(dispatchOf);
    return { inputs, outputs, dispatches, staging: make(read, COPY_DST | MAP_READ), own, written: new Set() };
  }

  /** Copies inputs to the device; weights once. */
  #upload({ inputs }: SessionCall, { inputs: places, written }: Prepared): void {
    const { device: { queue }, form: { frame, packed } } = this;
    inputs.forEach(({ bytes, kept }, at) => {
      const place = places[at], isPacked = packed.includes(frame.inputs[at] ?? -1);
      if (!place || (kept && (isPacked ? written.has(at) : this.#weights.has(at)))) return;
      const whole = bytes.length % 4 === 0 ? bytes : new Uint8Array(Math.ceil(bytes.length / 4) * 4);
      if (whole !== bytes) whole.set(bytes);
      queue.writeBuffer(place.buffer, place.offset, whole as Uint8Array<ArrayBuffer>);
      if (kept && !isPacked) this.#weights.set(at, place.buffer);
      written.add(at);
    });
  }

  /** Issues all work of a call, and copies of its results. */
  #submit({ dispatches, outputs, staging }: Prepared): void {
    const encoder = this.device.createCommandEncoder(), pass = encoder.beginComputePass();
    for (const { pipeline, bindGroup, groups: [x, y] } of dispatches) {
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, bindGroup);
      pass.dispatchWorkgroups(x, y);
    }
    pass.end();
    for (const { buffer, bytes, at } of outputs) {
      if (bytes > 0) encoder.copyBufferToBuffer(buffer, 0, staging, at, Math.ceil(bytes / 4) * 4);
    }
    this.device.queue.submit([encoder.finish()]);
  }
}
