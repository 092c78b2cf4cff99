/**
 * Fuzzes in separate processes, one after another: a process that grows, hangs or dies is replaced, which counts as a
 * finding too. Findings are reported as they arrive, then counts. Invariant: it imports only errors from dyn, so that
 * the command line stays light.
 */
import { stripVTControlCharacters } from "node:util";
import { DynError } from "../../lib/base/errors.ts";
import type { CampaignEvent, WorkerTask } from "./protocol.ts";

/** The programs to run, and the time limit. */
export interface FuzzOptions extends WorkerTask {
  /** The module that a process runs; default: that of the fuzzers. */
  readonly worker?: string;
  /** Called immediately for each finding of a new kind. */
  readonly onFinding?: (finding: Finding) => void;
}

/** A difference that was found. */
export interface Finding {
  readonly signature: string;
  /** The difference, how to reproduce it, and a file that shows it. */
  readonly text: string;
}

/** The results of a fuzzing run. */
export interface FuzzReport {
  readonly findings: readonly Finding[];
  readonly counts: Readonly<Record<string, number>>;
}

/** A process without output for this long counts as hanging. */
const MOST_SILENCE_MS = 180_000;

/** Returns the command line that reproduces a program. */
export function repeatLine(
  { fuzzer, tier, without }: Pick<FuzzOptions, "fuzzer" | "tier" | "without">,
  at: { readonly seed: number; readonly path: string },
): string {
  const left = without.length > 0 ? ` --without ${without.join(",")}` : "";
  return `deno run -A cli.ts fuzz --fuzzer ${fuzzer} --tier ${tier} --seed ${at.seed} --path ${at.path}${left}`;
}

/** Returns the path of the worker module; null if this copy of dyn has no files. */
export function workerPath(): string | null {
  const url = new URL("./worker.ts", import.meta.url);
  if (url.protocol !== "file:") return url.href;
  try {
    return Deno.statSync(url).isFile ? url.href : null;
  } catch {
    return null;
  }
}

/** Runs processes until the limits are reached. */
export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const findings = new Map<string, Finding>();
  const counts: Record<string, number> = {};
  const add = (finding: Finding) => {
    counts["findings"] = (counts["findings"] ?? 0) + 1;
    if (findings.has(finding.signature)) return;
    findings.set(finding.signature, finding);
    options.onFinding?.(finding);
  };
  const end = performance.now() + 1000 * options.seconds;
  let { seed } = options, left = options.programs;
  while (left > 0) {
    const seconds = (end - performance.now()) / 1000;
    if (seconds <= 0) break;
    const ran = await runWorker({ ...options, seed, programs: left, seconds }, add);
    for (const [name, count] of Object.entries(ran.counts)) counts[name] = (counts[name] ?? 0) + count;
    left -= Math.max(1, ran.started);
    seed = ran.nextSeed;
    if (options.path !== undefined) break;
  }
  return { findings: [...findings.values()], counts };
}

/** The results of one process. */
interface Run {
  readonly started: number;
  readonly nextSeed: number;
  readonly counts: Readonly<Record<string, number>>;
}

async function runWorker(options: FuzzOptions, add: (finding: Finding) => void): Promise<Run> {
  const { onFinding: _, worker = workerPath(), ...rest } = options;
  const task: WorkerTask = rest;
  if (worker === null) {
    throw new DynError("Expected the files of the fuzzer but found none in this copy of dyn");
  }
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--quiet", worker, JSON.stringify(task)],
    // The tier is set, too, so that no notice of a missing compiler is taken for output of programs
    env: options.tier === "native" ? {} : { DYN_CXX: "/nonexistent", DYN_TIER: "wasm" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const errors = new Response(child.stderr).text();
  let last: CampaignEvent & { readonly event: "program" } | undefined;
  let run: Run | undefined;
  let started = 0, hangs = false;
  const silence = () =>
    setTimeout(() => {
      hangs = true;
      child.kill("SIGKILL");
    }, MOST_SILENCE_MS);
  let timer = silence();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(new LineStream());
  for await (const line of lines) {
    clearTimeout(timer);
    timer = silence();
    const event = parseEvent(line);
    if (event?.event === "program") {
      last = event;
      started++;
    } else if (event?.event === "finding") {
      const { failure, signature, file } = event;
      const text = `${options.fuzzer} on ${options.tier}: ${failure.text}\nSee it again: ${
        repeatLine(options, event)
      }\n\n${file}`;
      add({ signature, text });
    } else if (event?.event === "end") run = { started, nextSeed: event.nextSeed, counts: event.counts };
  }
  clearTimeout(timer);
  const { code, signal } = await child.status;
  if (run) return run;
  const what = hangs ? "hung" : `died with ${signal ?? `code ${code}`}`;
  const tail = stripVTControlCharacters(await errors).trim().split("\n").slice(-12).join("\n");
  if (!last) {
    const message = tail.match(/^error: (.*)$/m)?.[1] ?? tail;
    throw new DynError(`Expected a process that fuzzes but it ${what} at once: ${message}`);
  }
  add({
    signature: `process ${what}: ${tail.split("\n")[0]}`,
    text: `${options.fuzzer} on ${options.tier}: the process ${what} in a program\nSee it again: ${
      repeatLine(options, { seed: last.seed, path: `${last.index}` })
    }\n${tail}`,
  });
  return { started, nextSeed: last.seed + 1, counts: {} };
}

function parseEvent(line: string): CampaignEvent | undefined {
  if (!line.startsWith('{"event":')) return undefined;
  const event: CampaignEvent = JSON.parse(line);
  return event;
}

/** Splits text into lines. */
class LineStream extends TransformStream<string, string> {
  constructor() {
    let rest = "";
    super({
      transform(chunk, controller) {
        const parts = (rest + chunk).split("\n");
        rest = parts.pop() ?? "";
        for (const part of parts) controller.enqueue(part);
      },
    });
  }
}
