/**
 * The script of a thread that compiles shaders in the background, which runs wherever the modules of this program are.
 * `workerData` is the script and `DeviceLimits`, and messages are `CompileJob`s: the thread passes them on to others,
 * takes shaders from their lists and compiles them with its own device; a message reports why one could not continue.
 * The pipelines are dropped; they remain in the driver's cache, where the program's device finds them. Invariant: the
 * thread and its device are never destroyed.
 */
import type { Shader } from "./print/entry.ts";

/** A shader, and how its bindings after the parameter words are accessed. */
export interface ShaderSource {
  readonly code: string;
  readonly access: readonly ("storage" | "read-only-storage")[];
}

/** Limits requested from a device. */
export type DeviceLimits = Readonly<Record<string, number>>;

/** Shaders that threads compile. */
export interface CompileJob {
  readonly sources: readonly ShaderSource[];
  /** State words, indexed by `WORD`. */
  readonly words: SharedArrayBuffer;
  /** Number of threads that work on it: the one that receives it, and others to which this one passes it on. */
  readonly threads: number;
}

/** Words that the threads share. */
export const WORD = {
  /** Index of the next shader that no thread has taken. */
  next: 0,
  /** Number of shaders that threads have compiled, or failed to. */
  done: 1,
  /** From here on, for each shader, whether it is one of these. */
  each: 2,
} as const;

/** A new job. */
export const compileJob = (sources: readonly ShaderSource[]): Omit<CompileJob, "threads"> => ({
  sources,
  words: new SharedArrayBuffer(4 * (WORD.each + sources.length)),
});

/** The parameter words come first. */
export const sourceOf = ({ code, memories }: Shader): ShaderSource => ({
  code,
  access: [{ written: false }, ...memories].map(({ written }) => written ? "storage" : "read-only-storage"),
});

/**
 * Returns the descriptor of a pipeline. Its source text is inserted into the script, so it may use only its arguments
 * and globals.
 */
export function pipelineDescriptor(
  device: GPUDevice,
  { code, access }: ShaderSource,
  label: string,
): GPUComputePipelineDescriptor {
  const entries = access.map((type, binding) => ({
    binding,
    visibility: GPUShaderStage.COMPUTE,
    buffer: { type },
  }));
  const layout = device.createPipelineLayout({
    bindGroupLayouts: [device.createBindGroupLayout({ entries })],
  });
  const module = device.createShaderModule({ code, label });
  return { label, layout, compute: { module, entryPoint: "main" } };
}

/**
 * The script. Starting another thread blocks the thread that does it, so each starts at most two, which start the rest.
 */
export const workerSource = `
const { parentPort, Worker, workerData } = require("node:worker_threads");
const { script, limits } = workerData, others = [];
const pipelineDescriptor = ${pipelineDescriptor};

function start() {
  const worker = new Worker(script, { eval: true, workerData });
  const stopped = (because) => parentPort.postMessage(String(because));
  worker.on("error", stopped);
  worker.on("message", stopped);
  return worker;
}

async function handOn({ threads, ...job }) {
  const rest = threads - 1, half = rest >> 1;
  [rest - half, half].forEach((threads, at) => {
    if (threads > 0) (others[at] ??= start()).postMessage({ ...job, threads });
  });
}

async function open() {
  const adapter = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
  return adapter.requestDevice({ requiredLimits: limits });
}

let opened;

async function work({ sources, words }) {
  const device = await (opened ??= open()), counts = new Int32Array(words);
  for (;;) {
    const at = Atomics.add(counts, ${WORD.next}, 1);
    if (at >= sources.length) return;
    try {
      device.createComputePipeline(pipelineDescriptor(device, sources[at], "compiled beside"));
    } finally {
      Atomics.store(counts, ${WORD.each} + at, 1);
      Atomics.add(counts, ${WORD.done}, 1);
      Atomics.notify(counts, ${WORD.done});
    }
  }
}

parentPort.on("message", (job) => {
  for (const act of [handOn, work]) act(job).catch((error) => parentPort.postMessage(String(error)));
});
`;
