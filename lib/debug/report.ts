/**
 * The report of a trace folder as one self-contained HTML page: compilations, their causes and times, the user's
 * lines beside the graphs and kernels generated from them, and the kernels that ran. Invariant: texts are shown,
 * never run; the page stays below some megabytes: texts that do not fit are truncated with a note of their length, those
 * beside the lines last.
 */
import { htmlPage } from "./pages/page.ts";
import reportScript from "./pages/report.js" with { type: "text" };
import type { TracedCompile, TracedProcess } from "./trace_format.ts";
import { counted } from "../base/report_text.ts";

/** Counts for the summary of a report. */
interface ReportCounts {
  readonly processes: number;
  readonly compiles: number;
  readonly graphs: number;
  readonly breaks: number;
  readonly recompiles: number;
  readonly failures: number;
}

const real = (compiles: readonly TracedCompile[]) => compiles.filter(({ begin }) => begin !== null);

const named = (name: string, { artifacts }: TracedCompile) => artifacts.filter((each) => each.name === name);

/** Graph breaks, and reasons why calls run uncompiled: each once, with the first compilation that reported it. */
function breaksOf(
  compiles: readonly TracedCompile[],
  { uncompiled }: { readonly uncompiled: boolean },
): (readonly [TracedCompile, string])[] {
  const found = new Map<string, TracedCompile>();
  for (const compile of compiles) {
    for (const { text, meta } of named("graph_breaks", compile)) {
      if ((meta["uncompiled"] === true) === uncompiled && !found.has(text)) found.set(text, compile);
    }
  }
  return [...found].map(([text, compile]) => [compile, text]);
}

/** Counts the events of all processes. */
export function countTrace(processes: readonly TracedProcess[]): ReportCounts {
  const compiles = processes.flatMap((each) => real(each.compiles));
  const sum = (count: (compile: TracedCompile) => number) => compiles.reduce((all, c) => all + count(c), 0);
  return {
    processes: processes.length,
    compiles: compiles.length,
    graphs: sum((c) => named("graph_code", c).length),
    breaks: processes.reduce((all, each) => all + breaksOf(each.compiles, { uncompiled: false }).length, 0),
    recompiles: compiles.filter(({ begin }) => (begin?.reasons.length ?? 0) > 0).length,
    failures: compiles.filter(({ end }) => (end?.error ?? null) !== null).length,
  };
}

/** The counts in a line. */
export function countsText(counts: ReportCounts): string {
  return [
    counted(counts.processes, "process", "processes"),
    counted(counts.compiles, "compilation"),
    counted(counts.graphs, "graph"),
    counted(counts.breaks, "graph break"),
    counted(counts.recompiles, "recompilation"),
    ...(counts.failures > 0 ? [counted(counts.failures, "failure")] : []),
  ].join(", ");
}

/** Texts that are shown beside the program's lines; the others tell single passes apart. */
const PANEL_TEXTS: ReadonlySet<string> = new Set([
  "graph_code",
  "aot_joint_graph",
  "aot_graphs",
  "fx_graph_transformed",
  "ir_post_fusion",
  "output_code",
  "ir_pre_fusion",
]);

/** Maximum number of characters of such a text, of another, of all texts, and of each text beyond that. */
const PANEL_LIMIT = 1_000_000, TEXT_LIMIT = 60_000, PAGE_LIMIT = 24_000_000, CROWDED_LIMIT = 2_000;

/** Cuts a text of a page. */
type Cut = (text: string, limit?: number) => string;

/** Maximum rates of kernels, in bytes and operations per second, by device. */
export type DeviceLimits = Readonly<
  Record<string, { readonly bytesPerSecond: number; readonly operationsPerSecond: number }>
>;

/** The whole page; `title` names what was traced. */
export function renderReport(
  title: string,
  processes: readonly TracedProcess[],
  limits: DeviceLimits = {},
): string {
  let left = PAGE_LIMIT;
  const cut: Cut = (text, limit = TEXT_LIMIT) => {
    const whole = text.trimEnd(), most = left > 0 ? limit : CROWDED_LIMIT;
    const shown = whole.length > most
      ? `${whole.slice(0, most)}\n… ${whole.length - most} more characters`
      : whole;
    left -= shown.length;
    return shown;
  };
  const data = {
    title,
    counts: countsText(countTrace(processes)),
    limits,
    processes: processes.map((process) => ({
      heading: headingOf(process),
      command: [process.process?.script ?? "", ...process.process?.args ?? []].join(" "),
      log: process.log,
      skipped: process.skipped,
      runtime: process.runtime,
      breaks: (["graphs", "uncompiled"] as const).flatMap((kind) =>
        breaksOf(process.compiles, { uncompiled: kind === "uncompiled" }).map(([compile, text]) => ({
          kind,
          compile: compile.begin?.compile ?? null,
          text: cut(text),
        }))
      ),
      compiles: process.compiles.map((compile) => compileData(compile, cut)),
    })),
  };
  return htmlPage({ title, script: reportScript, data });
}

function headingOf({ process, log }: TracedProcess): string {
  if (!process) return `Process of ${log}`;
  return `Process ${process.pid}, ${new Date(process.time / 1000).toISOString()}, Deno ${process.deno}`;
}

/** The lines of the program that a compilation's graphs name, in order. */
function linesOf(compile: TracedCompile) {
  const found = new Map<string, { readonly file: string; readonly line: number; readonly code: string }>();
  for (const { text } of named("graph_code", compile)) {
    for (
      const [, file = "", line, code = ""] of text.matchAll(/\/\/ File: (.*?):(\d+) in .*?, code: (.*)/g)
    ) {
      found.set(`${file}:${line}`, { file, line: Number(line), code });
    }
  }
  return [...found.values()].sort((a, b) => a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line);
}

function compileData(compile: TracedCompile, cut: Cut) {
  const { begin, end, artifacts, phases } = compile;
  return {
    id: begin?.compile ?? null,
    name: begin ? begin.name || "<anonymous>" : "Outside of compilations",
    file: begin?.file ?? null,
    line: begin?.line ?? null,
    recompiles: (begin?.reasons ?? []).map(changeOf),
    error: begin && !end ? "did not end" : end?.error ?? null,
    lines: linesOf(compile),
    phases: phases.map(({ name, start, duration }) => ({ name, start, duration })),
    cache: artifacts.filter(({ name }) => name === "kernel_cache").map(({ meta }) => meta),
    texts: artifacts.filter(({ name }) => name !== "kernel_cache").map(({ name, part, text }) => ({
      name,
      part,
      text: cut(text, PANEL_TEXTS.has(name) ? PANEL_LIMIT : TEXT_LIMIT),
    })),
  };
}

/** Splits the text of a guard mismatch into the expected value, the value found, and the line that needs it. */
export function changeOf(
  reason: string,
): { readonly old: string; readonly found: string; readonly needs: string } {
  const hash = reason.lastIndexOf("  # "), what = hash < 0 ? reason : reason.slice(0, hash);
  const at = what.lastIndexOf(", found ");
  return {
    old: at < 0 ? what : what.slice(0, at),
    found: at < 0 ? "" : what.slice(at + ", found ".length),
    needs: hash < 0 ? "" : reason.slice(hash + "  # ".length),
  };
}
