/**
 * Structured trace files, `DYN_TRACE=<folder>`, which `dyn report` reads: for each process one log of JSON lines
 * (trace_format.ts) and one file of Chrome trace events with the phases, for chrome://tracing and Perfetto.
 * Invariant: both files are valid after every record, however the process ends; a process that records nothing leaves
 * no file.
 */
import { join } from "node:path";
import { DynError, messageOf } from "../base/errors.ts";
import type { CompileRecord, PhaseRecord, Recorder } from "../base/recording.ts";
import { EVENTS_SUFFIX, LOG_SUFFIX, type TraceLine } from "./trace_format.ts";

/** Artifacts for debug folders only, since the report derives them. */
const LEFT_OUT: ReadonlySet<string> = new Set(["graph", "graph_diagram", "kernel_code"]);

const encoder = new TextEncoder();

function append(file: Deno.FsFile, text: string): void {
  const bytes = encoder.encode(text);
  for (let written = 0; written < bytes.length;) written += file.writeSync(bytes.subarray(written));
}

/** The two files of one process. */
class TraceFiles {
  readonly #log: Deno.FsFile;
  readonly #events: Deno.FsFile;
  #empty = true;

  constructor(folder: string) {
    const { log, stem } = createLog(folder);
    this.#log = log;
    this.#events = Deno.openSync(join(folder, stem + EVENTS_SUFFIX), { write: true, create: true });
    append(this.#events, "[\n]");
    this.line({
      kind: "process",
      time: performance.timeOrigin * 1000,
      pid: Deno.pid,
      deno: Deno.version.deno,
      script: Deno.mainModule,
      args: [...Deno.args],
    });
    this.event({ name: "process_name", ph: "M", args: { name: `dyn ${Deno.mainModule.split("/").at(-1)}` } });
  }

  line(line: TraceLine): void {
    append(this.#log, JSON.stringify(line) + "\n");
  }

  /** Adds an event before the closing bracket. */
  event(event: Readonly<Record<string, unknown>>): void {
    this.#events.seekSync(-2, Deno.SeekMode.End);
    const text = JSON.stringify({ ...event, pid: Deno.pid, tid: 1 });
    append(this.#events, `${this.#empty ? "\n" : ",\n"}${text}\n]`);
    this.#empty = false;
  }
}

/** Creates a log file that no other process or worker uses. */
function createLog(folder: string): { readonly log: Deno.FsFile; readonly stem: string } {
  for (let attempt = 0;; attempt++) {
    const stem = `dyn-${Math.round(performance.timeOrigin)}-${Deno.pid}${attempt === 0 ? "" : `-${attempt}`}`;
    try {
      return { log: Deno.openSync(join(folder, stem + LOG_SUFFIX), { write: true, createNew: true }), stem };
    } catch (thrown) {
      if (!(thrown instanceof Deno.errors.AlreadyExists)) throw thrown;
    }
  }
}

/** A recorder whose files accept further lines. */
interface TraceRecorder extends Recorder {
  write(line: TraceLine): void;
}

/** A recorder that writes trace files into a folder, which it creates. Throws DynError if that fails. */
export function traceRecorder(folder: string): TraceRecorder {
  try {
    Deno.mkdirSync(folder, { recursive: true });
  } catch (thrown) {
    throw new DynError(
      `Expected a folder for trace files but found ${JSON.stringify(folder)}: ${messageOf(thrown)}`,
    );
  }
  let files: TraceFiles | undefined;
  const open = (): TraceFiles => files ??= new TraceFiles(folder);
  const now = (): number => (performance.timeOrigin + performance.now()) * 1000;
  return {
    write: (line) => open().line(line),
    active: () => true,
    wants: (name) => !LEFT_OUT.has(name),
    begin({ id, name, place, reasons }) {
      open().line({
        kind: "begin",
        time: now(),
        compile: id,
        name,
        file: place?.file ?? null,
        line: place?.line ?? null,
        reasons,
      });
    },
    end({ id }, error) {
      open().line({ kind: "end", time: now(), compile: id, error });
    },
    artifact({ name, part, text, meta }, compile) {
      open().line({
        kind: "artifact",
        time: now(),
        compile: compile?.id ?? null,
        name,
        part: part ?? null,
        text,
        meta: meta ?? {},
      });
      if (name === "graph_breaks" || name === "recompiles") {
        open().event({
          name,
          ph: "i",
          s: "p",
          ts: now() - performance.timeOrigin * 1000,
          args: { compile: compile?.id ?? null, text },
        });
      }
    },
    phase(phase, compile) {
      const { name, start, duration, meta = {} } = phase;
      open().line({ kind: "phase", compile: compile?.id ?? null, name, start, duration, meta });
      open().event(completeEvent(phase, compile));
    },
  };
}

/** A span in the Trace Event Format. */
function completeEvent({ name, start, duration, meta }: PhaseRecord, compile: CompileRecord | null) {
  return {
    name,
    cat: "compile",
    ph: "X",
    ts: start - performance.timeOrigin * 1000,
    dur: duration,
    args: { ...(compile ? { compile: compile.id, function: compile.name } : {}), ...meta },
  };
}
