/**
 * The script of a thread that compiles shaders in the background, which works wherever the modules of this program
 * are. `workerData` is `DeviceLimits`, and messages are `CompileJob`s: the thread takes shaders off their lists and
 * compiles them with its own device; a message reports why it could not continue. The pipelines are dropped; they
 * remain in the driver's cache, where the program's device finds them. Invariant: the thread stays, and its device
 * with it.
 */
import type { Shader } from "./print/entry.ts";

/** A shader, and how what it binds behind the parameter words is used. */
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
}

/** Words that the threads share. */
export const WORD = {
  /** The next shader that nobody has taken. */
  next: 0,
  /** Shaders that threads have compiled, or could not. */
  done: 1,
} as const;

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

/** The script. */
export const workerSource = `
const { parentPort, workerData: limits } = require("node:worker_threads");
const pipelineDescriptor = ${pipelineDescriptor};

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
      Atomics.add(counts, ${WORD.done}, 1);
      Atomics.notify(counts, ${WORD.done});
    }
  }
}

parentPort.on("message", (job) => work(job).catch((error) => parentPort.postMessage(String(error))));
`;
