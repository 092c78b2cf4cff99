/**
 * Writes a profile in the Trace Event Format. Invariant: events of one track are nested or disjoint; asynchronous
 * events, which may overlap, are written as pairs of a beginning and an end.
 */
import type { EventKind, Recorded } from "./events.ts";

const CATEGORY: Readonly<Record<EventKind, string>> = {
  op: "cpu_op",
  backward: "cpu_op",
  compiled: "cpu_op",
  guards: "cpu_op",
  graph: "cpu_op",
  user: "user_annotation",
  step: "user_annotation",
  compile: "compile",
  kernel: "kernel",
  collective: "collective",
  wait: "wait",
};

/** The program's track; those of devices follow. */
const HOST = 1;

/** The text of a trace file. */
export function chromeTrace({ events, memory, origin }: Recorded): string {
  const pid = Deno.pid, devices = [...new Set(events.flatMap(({ device }) => device ?? []))];
  const named = (name: string, tid: number, text: string) => ({
    name,
    ph: "M",
    pid,
    tid,
    args: { name: text },
  });
  const lines: object[] = [
    named("process_name", HOST, "dyn"),
    named("thread_name", HOST, "program"),
    ...devices.map((device, at) => named("thread_name", HOST + 1 + at, `kernels of ${device}`)),
  ];
  for (
    const [id, { name, kind, start, duration, device, bytes, flops, memory, isAsync }] of events.entries()
  ) {
    const tid = device === null ? HOST : HOST + 1 + devices.indexOf(device);
    const shared = { name, cat: CATEGORY[kind], pid, tid };
    const args = {
      kind,
      ...kind === "collective" ? { bytes } : device === null ? { memory } : { device, bytes, flops },
    };
    if (!isAsync) lines.push({ ...shared, ph: "X", ts: start, dur: duration, args });
    else {
      lines.push({ ...shared, ph: "b", id, ts: start, args });
      lines.push({ ...shared, ph: "e", id, ts: start + duration });
    }
  }
  for (const { time, device, allocated, reserved } of memory) {
    lines.push({ name: `memory of ${device}`, ph: "C", pid, ts: time, args: { allocated, reserved } });
  }
  const head = JSON.stringify({ displayTimeUnit: "ms", baseTimeNanoseconds: Math.round(origin * 1000) });
  return `${head.slice(0, -1)},"traceEvents":[\n${
    lines.map((line) => JSON.stringify(line)).join(",\n")
  }\n]}\n`;
}
