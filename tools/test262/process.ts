/**
 * A process of the conformance suite that is restarted whenever a test has changed it. Invariant: a run's process has
 * unchanged builtins; a process that does not answer is ended and reported.
 */
import { fileURLToPath } from "node:url";
import { Lines } from "./lines.ts";
import type { Report } from "./engine.ts";
import type { Run } from "./suite.ts";

/** Timeout of a run, in milliseconds. */
const PATIENCE = 30_000;

interface Started {
  readonly child: Deno.ChildProcess;
  readonly input: WritableStreamDefaultWriter<Uint8Array>;
  readonly output: Lines;
}

export class Process {
  #started: Started | null = null;

  constructor(private readonly harness: string, private readonly mode: "plain" | "compiled") {}

  /** Reports of runs, in order. */
  async reports(runs: readonly Run[]): Promise<Report[]> {
    const reports: Report[] = [];
    while (reports.length < runs.length) {
      const started = this.#started ??= this.#start();
      if (!await send(started, runs.slice(reports.length))) {
        // The process has ended after its last report.
        await this.end();
        continue;
      }
      while (reports.length < runs.length && this.#started) {
        const line = await withPatience(started.output.next());
        const report: Report = line === null ? NO_REPORT : JSON.parse(line);
        reports.push(report);
        if (report.changed !== null) await this.end();
      }
    }
    return reports;
  }

  /** Ends the process. */
  async end(): Promise<void> {
    const started = this.#started;
    this.#started = null;
    if (!started) return;
    try {
      started.child.kill("SIGKILL");
    } catch (error) {
      // It has already ended.
      if (!(error instanceof TypeError)) throw error;
    }
    await started.child.status;
    await started.output.end();
    await started.input.abort();
  }

  #start(): Started {
    const child = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        "--no-check",
        fileURLToPath(import.meta.resolve("./child.ts")),
        this.harness,
        this.mode,
      ],
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    return { child, input: child.stdin.getWriter(), output: new Lines(child.stdout) };
  }
}

/** The report of a run that ends its process, or does not end. */
const NO_REPORT: Report = {
  outcome: "ends the process or does not end",
  breaks: [],
  uncompiled: [],
  graphs: 0,
  changed: "",
};

/** Returns whether a process accepts a list of runs. */
async function send({ input }: Started, runs: readonly Run[]): Promise<boolean> {
  try {
    await input.write(new TextEncoder().encode(`${JSON.stringify(runs)}\n`));
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) return false;
    throw error;
  }
}

async function withPatience<T>(promise: Promise<T>): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((resolve) => timer = setTimeout(() => resolve(null), PATIENCE));
  const first = await Promise.race([promise, late]);
  clearTimeout(timer);
  return first;
}
