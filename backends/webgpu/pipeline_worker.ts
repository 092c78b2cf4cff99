/**
 * The scripts of threads that compile shaders in the background, which run wherever the modules of this program are.
 * Messages to the first thread are `ThreadRequest`s, which it answers with `OPENED`. The others take shaders from the
 * lists of jobs and compile them with their own devices; a message reports why one could not continue.
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
interface CompileJob {
  readonly sources: readonly ShaderSource[];
  /** State words, indexed by `WORD`. */
  readonly words: SharedArrayBuffer;
}

/** A message to the first thread. */
export interface ThreadRequest {
  /** Number of threads that work on the job. Without one, as many are started. */
  readonly threads: number;
  /** Whether they open their devices only for a later request. */
  readonly isIdle?: boolean;
  readonly job?: CompileJob;
}

/** Words that the threads share. */
export const WORD = {
  /** Number of shaders that threads have compiled, or failed to. */
  done: 0,
  /** From here on, the state of each shader. */
  each: 1,
} as const;

/** States of a shader: initially no thread has taken it. */
export const STATE = { free: 0, taken: 1, done: 2 } as const;

/** Takes a shader unless a thread has it already. Its source text is inserted into the script, as that below is. */
export function takes(words: Int32Array, at: number): boolean {
  return Atomics.compareExchange(words, 1 + at, 0, 1) === 0;
}

/** A new job. */
export const compileJob = (sources: readonly ShaderSource[]): CompileJob => ({
  sources,
  words: new SharedArrayBuffer(4 * (WORD.each + sources.length)),
});

/** The message of the first thread that all threads have opened their devices, or failed to. */
export const OPENED = null;

/** Messages to a thread before any job: the first one, which Deno delivers half a second late, and to open its device. */
const WAKE = 0, OPEN = 1;

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

/** The script of a thread with a device, a module. Messages are `WAKE`, `OPEN` and jobs. */
const compilerSource = (limits: DeviceLimits): string => `
const pipelineDescriptor = ${pipelineDescriptor};
const takes = ${takes};
const stopped = (because) => postMessage(String(because));

let opened;

async function open() {
  const adapter = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
  return adapter.requestDevice({ requiredLimits: ${JSON.stringify(limits)} });
}

async function work({ sources, words }) {
  const device = await opened, counts = new Int32Array(words);
  for (let at = 0; at < sources.length; at++) {
    if (!takes(counts, at)) continue;
    try {
      device.createComputePipeline(pipelineDescriptor(device, sources[at], "compiled beside"));
    } finally {
      Atomics.store(counts, ${WORD.each} + at, ${STATE.done});
      Atomics.add(counts, ${WORD.done}, 1);
      Atomics.notify(counts, ${WORD.done});
    }
  }
}

onmessage = ({ data }) => {
  if (data === ${WAKE}) return;
  if (data !== ${OPEN}) return work(data).catch(stopped);
  opened = open();
  opened.catch(stopped).then(() => postMessage(${OPENED}));
};
`;

/**
 * The script of the first thread, which only starts the others and hands them what it gets: a thread that opens a
 * device, which takes the driver a second, does nothing else meanwhile, nor do those that it has started. The others
 * are workers of the web, of which one starts four times as fast as one of node:worker_threads.
 */
export const workerSource = (limits: DeviceLimits): string => `
const { parentPort } = require("node:worker_threads"), others = [];
const script = "data:text/javascript," + ${JSON.stringify(encodeURIComponent(compilerSource(limits)))};
const told = new Set(), opening = new Set();

function start() {
  const worker = new Worker(script, { type: "module" });
  worker.postMessage(${WAKE});
  worker.onerror = (event) => {
    event.preventDefault();
    parentPort.postMessage(event.message);
    answer(worker);
  };
  worker.onmessage = ({ data }) => data === ${OPENED} ? answer(worker) : parentPort.postMessage(data);
  return worker;
}

function answer(opened) {
  opening.delete(opened);
  if (opening.size === 0) parentPort.postMessage(${OPENED});
}

function open(worker) {
  if (told.has(worker)) return;
  told.add(worker);
  opening.add(worker);
  worker.postMessage(${OPEN});
}

parentPort.on("message", ({ threads, isIdle, job }) => {
  while (others.length < threads) others.push(start());
  if (isIdle) return;
  for (const each of others.slice(0, threads)) {
    open(each);
    if (job) each.postMessage(job);
  }
  answer();
});
`;
