/**
 * What a thread runs that compiles shaders beside the program: a script of its own, which works wherever the modules of
 * this program are. Input: `workerData` as `DeviceLimits`, and messages as `CompileJob`; output: shaders taken off their
 * lists and compiled by a device of its own; a message says why it could not go on. The pipelines are dropped; what stays
 * is the driver's cache, from which the program's device takes them. Invariant: the thread stays, and its device with it.
 */
import type { Shader } from "./print/entry.ts";

/** A shader, and how what it binds behind the parameter words is used. */
export interface ShaderSource {
  readonly code: string;
  readonly access: readonly ("storage" | "read-only-storage")[];
}

/** What a device is asked for. */
export type DeviceLimits = Readonly<Record<string, number>>;

/** Shaders that threads compile. */
export interface CompileJob {
  readonly sources: readonly ShaderSource[];
  /** By `WORD`. */
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

/** What a pipeline is made of. Its own text is a part of the script, so that it uses what it is handed and globals only. */
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
