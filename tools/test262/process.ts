/**
 * A process of the conformance suite that is started anew whenever a test has spoilt it. Input: runs; output: their
 * reports. Invariant: a run's process has clean builtins; one that does not answer is ended, and that is its report.
 */
import { fileURLToPath } from "node:url";
import type { Report } from "./engine.ts";
import type { Run } from "./suite.ts";

/** How long a run may take, in milliseconds. */
const PATIENCE = 30_000;

interface Started {
  readonly child: Deno.ChildProcess;
  readonly input: WritableStreamDefaultWriter<Uint8Array>;
  readonly output: ReadableStreamDefaultReader<string>;
  rest: string;
}

export class Process {
  #started: Started | null = null;

  constructor(private readonly harness: string, private readonly mode: "plain" | "compiled") {}

  async report(run: Run): Promise<Report> {
    const started = this.#started ??= this.#start();
    try {
      await started.input.write(new TextEncoder().encode(`${JSON.stringify(run)}\n`));
    } catch (error) {
      // It ended behind its last report.
      if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
      await this.end();
      return await this.report(run);
    }
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<null>((resolve) => timer = setTimeout(() => resolve(null), PATIENCE));
    const line = await Promise.race([nextLine(started), late]);
    clearTimeout(timer);
    const report: Report = line === null
      ? { outcome: "ends the process or does not end", breaks: [], uncompiled: [], graphs: 0, changed: "" }
      : JSON.parse(line);
    if (report.changed !== null) await this.end();
    return report;
  }

  /** Ends the process. */
  async end(): Promise<void> {
    const started = this.#started;
    this.#started = null;
    if (!started) return;
    try {
      started.child.kill("SIGKILL");
    } catch (error) {
      // It has ended by itself.
      if (!(error instanceof TypeError)) throw error;
    }
    await started.child.status;
    await started.output.cancel();
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
    const text = child.stdout.pipeThrough(new TextDecoderStream());
    return { child, input: child.stdin.getWriter(), output: text.getReader(), rest: "" };
  }
}

/** The next line that a process writes; null where it ends. */
async function nextLine(started: Started): Promise<string | null> {
  while (true) {
    const end = started.rest.indexOf("\n");
    if (end >= 0) {
      const line = started.rest.slice(0, end);
      started.rest = started.rest.slice(end + 1);
      return line;
    }
    const { value, done } = await started.output.read();
    if (done) return null;
    started.rest += value;
  }
}
