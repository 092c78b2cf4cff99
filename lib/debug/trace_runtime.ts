/**
 * Records the kernels of a traced program with their times and costs, and memory in use, as lines of the trace log
 * with running totals. Invariant: memory and log size grow with the number of kernels and the logarithm of the time,
 * not with the number of calls. Kernels are timed where the host shares their memory; elsewhere timing would change
 * the measurement, and they are only counted.
 */
import { findDevice, type ProgramCall, type TimeSpan } from "../loops/device.ts";
import { type Launch, launches } from "../loops/launch.ts";
import type { Sym } from "../sym/expr.ts";
import { evaluate } from "../sym/expr.ts";
import type { LineOf, TracedKernel } from "./trace_format.ts";

/** Number of memory samples beyond which every second one is dropped. */
const MOST_SAMPLES = 1024;
/** Maximum number of kernels that are written, the longest first. */
const MOST_KERNELS = 500;
/** Milliseconds until the first line; each later one waits twice as long. */
const FIRST_WAIT = 1000;

type Counted = { -readonly [K in keyof TracedKernel]: TracedKernel[K] };

/** Starts recording and writes totals: at intervals, and at the end of the process. */
export function traceRuns(write: (line: LineOf<"runtime">) => void): void {
  const kernels = new Map<string, Counted>();
  let memory: LineOf<"runtime">["memory"] = [], every = 1, since = 0, changed = false;
  let wait = FIRST_WAIT, next = performance.now() + wait;
  const flush = () => {
    if (!changed) return;
    changed = false;
    const longest = [...kernels.values()].toSorted((a, b) => b.time - a.time).slice(0, MOST_KERNELS);
    write({ kind: "runtime", kernels: longest, kernelCount: kernels.size, memory });
  };
  const sample = ({ device }: Launch) => {
    if (since++ % every !== 0) return;
    const { allocated = 0 } = findDevice(device)?.memoryUse ?? {};
    memory = [...memory, [performance.timeOrigin * 1000 + performance.now() * 1000, device, allocated]];
    if (memory.length < MOST_SAMPLES) return;
    memory = memory.filter((_, at) => at % 2 === 0);
    every *= 2;
  };
  const count = (launch: Launch, call: ProgramCall, at: number, duration: number) => {
    const { costs, device } = launch, cost = costs?.kernels[at];
    const name = cost?.name ?? `kernel ${at}`, compile = costs?.compile ?? null, part = costs?.name ?? "";
    const key = `${device} ${compile} ${part} ${name}`;
    const known = kernels.get(key) ??
      { name, part, compile, device, calls: 0, time: 0, bytes: 0, operations: 0 };
    kernels.set(key, known);
    known.calls++;
    known.time += duration * 1000;
    if (!cost) return;
    const sizeOf = (symbol: Sym): number => call.sizes[costs?.sizes.indexOf(symbol) ?? -1] ?? 0;
    known.bytes += evaluate(cost.bytesRead, sizeOf) + evaluate(cost.bytesWritten, sizeOf);
    known.operations += evaluate(cost.operations, sizeOf);
  };
  launches.watcher = (launch, call) => {
    const { program, device, costs } = launch, isTimed = findDevice(device)?.hostReadable === true;
    // Fused kernels share one time, that of the first
    const times = new Map<number, number>();
    const clock = {
      ran(ran: readonly number[], span: TimeSpan) {
        const [first = 0, ...others] = ran;
        times.set(first, (times.get(first) ?? 0) + span.duration);
        for (const other of others) times.set(other, times.get(other) ?? 0);
        call.clock?.ran(ran, span);
      },
    };
    const passed = program.run(isTimed ? { ...call, clock } : call);
    if (isTimed) { for (const [at, duration] of times) count(launch, call, at, duration); }
    else costs?.kernels.forEach((_, at) => count(launch, call, at, 0));
    changed = true;
    sample(launch);
    if (performance.now() > next) {
      flush();
      next = performance.now() + (wait *= 2);
    }
    return passed;
  };
  globalThis.addEventListener("unload", flush);
}
