/**
 * The report of a trace folder as one HTML page. Input: processes as trace_format.ts reads them; output: a page
 * that needs nothing besides itself: an index of compilations, breaks and recompilations with their reasons, and
 * below it each compilation's times and texts. Invariant: whatever texts hold, they are shown, never run.
 */
import type { LineOf, TracedCompile, TracedProcess } from "./trace_format.ts";

/** What a report is about, counted. */
export interface ReportCounts {
  readonly processes: number;
  readonly compiles: number;
  readonly graphs: number;
  readonly breaks: number;
  readonly recompiles: number;
  readonly failures: number;
}

const real = (compiles: readonly TracedCompile[]) => compiles.filter(({ begin }) => begin !== null);

const named = (name: string, { artifacts }: TracedCompile) => artifacts.filter((each) => each.name === name);

/** Places where graphs end, or reasons why calls run uncompiled: each once, with the first compilation that told it. */
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

/** Counts what happened in all processes. */
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
  const of = (n: number, noun: string, plural = `${noun}s`) => `${n} ${n === 1 ? noun : plural}`;
  return [
    of(counts.processes, "process", "processes"),
    of(counts.compiles, "compilation"),
    of(counts.graphs, "graph"),
    of(counts.breaks, "graph break"),
    of(counts.recompiles, "recompilation"),
    ...(counts.failures > 0 ? [of(counts.failures, "failure")] : []),
  ].join(", ");
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text as HTML shows it, in elements and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (found) => ENTITIES[found] ?? found);
}

const STYLE = `
body { font: 14px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: #222; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 2.2rem; border-bottom: 1px solid #ddd; }
table { border-collapse: collapse; } td, th { text-align: left; vertical-align: top; padding: .2rem .8rem .2rem 0; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
pre { background: #f6f6f4; padding: .6rem .8rem; overflow-x: auto; margin: .3rem 0 .8rem; }
summary { cursor: pointer; } .bar { background: #7aa5d8; height: .7rem; min-width: 1px; }
.error { color: #a40000; } .dim { color: #666; } nav a { margin-right: .8rem; }
`;

/** A place in the page: of a compilation, or of a text of it. */
const anchor = (process: number, compile: TracedCompile, artifact?: number): string =>
  `p${process}-${compile.begin?.compile.replace("/", "-") ?? "outside"}${
    artifact === undefined ? "" : `-a${artifact}`
  }`;

const titleOf = ({ begin }: TracedCompile): string =>
  begin ? `[${begin.compile}] ${begin.name || "<anonymous>"}` : "Outside of compilations";

const placeOf = ({ begin }: TracedCompile): string => begin?.file ? `${begin.file}:${begin.line ?? "?"}` : "";

const milliseconds = (micro: number): string => `${(micro / 1000).toFixed(2)} ms`;

const link = (target: string, text: string): string => `<a href="#${target}">${escapeHtml(text)}</a>`;

/** The whole page; `title` names what was traced. */
export function renderReport(title: string, processes: readonly TracedProcess[]): string {
  return [
    "<!doctype html>",
    `<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>`,
    `<style>${STYLE}</style></head><body>`,
    `<h1>${escapeHtml(title)}</h1>`,
    `<p>${escapeHtml(countsText(countTrace(processes)))}</p>`,
    ...processes.flatMap(processSection),
    "</body></html>",
    "",
  ].join("\n");
}

function processSection(process: TracedProcess, at: number): string[] {
  const { process: about, log, skipped } = process;
  const head = about
    ? `Process ${about.pid}, ${new Date(about.time / 1000).toISOString()}, Deno ${about.deno}`
    : `Process of ${log}`;
  const cut = skipped > 0 ? [`<p class="error">${skipped} lines could not be read</p>`] : [];
  return [
    `<h2>${escapeHtml(head)}</h2>`,
    `<p class="dim">${escapeHtml([about?.script ?? "", ...about?.args ?? []].join(" "))} (${
      escapeHtml(log)
    })</p>`,
    ...cut,
    ...indexOf(process, at),
    ...reasonsOf(process, at),
    ...process.compiles.flatMap((compile) => compileSection(compile, at)),
  ];
}

const totalOf = ({ phases }: TracedCompile): number =>
  phases.find(({ name }) => name === "compile")?.duration ?? 0;

/** Libraries taken from the kernel cache and compiled, as their records count them. */
function cacheText(compile: TracedCompile): string {
  const sum = (key: string) =>
    named("kernel_cache", compile).reduce((all, { meta }) => all + Number(meta[key] ?? 0), 0);
  return named("kernel_cache", compile).length === 0 ? "" : `${sum("hits")} / ${sum("misses")}`;
}

function indexOf({ compiles }: TracedProcess, at: number): string[] {
  const rows = real(compiles).map((compile) => {
    const error = compile.end === undefined ? "did not end" : compile.end.error === null ? "" : "failed";
    const outcome = error === "" ? "" : ` <span class="error">${error}</span>`;
    return `<tr><td>${link(anchor(at, compile), titleOf(compile))}${outcome}</td><td>${
      escapeHtml(placeOf(compile))
    }</td><td class="number">${milliseconds(totalOf(compile))}</td><td class="number">${
      named("graph_breaks", compile).length
    }</td><td>${cacheText(compile)}</td><td>${escapeHtml(compile.begin?.reasons.join("\n") ?? "")}</td></tr>`;
  });
  const columns = [
    "Compilation",
    "Where",
    "Time",
    "Breaks",
    "Kernel cache hits / misses",
    "Recompiled because",
  ];
  return [
    "<h3>Compilations</h3>",
    `<table><tr>${columns.map((c) => `<th>${c}</th>`).join("")}</tr>`,
    ...rows,
    "</table>",
  ];
}

/** Breaks and recompilations of a process, with links to where they happened. */
function reasonsOf({ compiles }: TracedProcess, at: number): string[] {
  const listed = (heading: string, found: readonly (readonly [TracedCompile, string])[]): string[] =>
    found.length === 0 ? [] : [
      `<h3>${heading}</h3>`,
      ...found.map(([compile, text]) =>
        `<p>${link(anchor(at, compile), titleOf(compile))}</p><pre>${escapeHtml(text)}</pre>`
      ),
    ];
  const again = real(compiles).flatMap((compile) => {
    const reasons = compile.begin?.reasons ?? [];
    return reasons.length === 0 ? [] : [[compile, reasons.join("\n")] as const];
  });
  return [
    ...listed("Graph breaks", breaksOf(compiles, { uncompiled: false })),
    ...listed("Uncompiled", breaksOf(compiles, { uncompiled: true })),
    ...listed("Recompilations", again),
  ];
}

function compileSection(compile: TracedCompile, at: number): string[] {
  const { begin, end, artifacts } = compile;
  const links = artifacts.map((each, i) => link(anchor(at, compile, i), artifactTitle(each)));
  return [
    `<h2 id="${anchor(at, compile)}">${escapeHtml(titleOf(compile))}</h2>`,
    ...(begin ? [`<p class="dim">${escapeHtml(placeOf(compile))}</p>`] : []),
    ...(end && end.error !== null ? [`<pre class="error">${escapeHtml(end.error)}</pre>`] : []),
    ...phaseTable(compile),
    ...(links.length > 0 ? [`<nav>${links.join("\n")}</nav>`] : []),
    ...artifacts.map((each, i) => artifactSection(each, anchor(at, compile, i))),
  ];
}

const artifactTitle = ({ name, part }: LineOf<"artifact">): string =>
  part === null ? name : `${part}: ${name}`;

function artifactSection(artifact: LineOf<"artifact">, id: string): string {
  return `<details id="${id}" open><summary>${escapeHtml(artifactTitle(artifact))}</summary><pre>${
    escapeHtml(artifact.text.trimEnd())
  }</pre></details>`;
}

/** Phases in the order of their beginnings, those inside others indented, with bars on one scale. */
function phaseTable(compile: TracedCompile): string[] {
  const phases = compile.phases.toSorted((a, b) => a.start - b.start || b.duration - a.duration);
  const first = phases[0];
  if (!first) return [];
  const end = Math.max(...phases.map((p) => p.start + p.duration));
  const span = Math.max(1, end - first.start);
  const percent = (micro: number) => `${(100 * micro / span).toFixed(2)}%`;
  const open: LineOf<"phase">[] = [];
  const rows = phases.map((phase) => {
    while (open.length > 0 && ends(open.at(-1)) < ends(phase)) open.pop();
    const depth = open.length;
    open.push(phase);
    const bar = `<div class="bar" style="margin-left:${percent(phase.start - first.start)};width:${
      percent(phase.duration)
    }"></div>`;
    return `<tr><td style="padding-left:${depth}rem">${escapeHtml(phase.name)}</td><td class="number">${
      milliseconds(phase.duration)
    }</td><td style="width:30rem">${bar}</td></tr>`;
  });
  return [`<table>`, ...rows, "</table>"];
}

const ends = (phase: LineOf<"phase"> | undefined): number => phase ? phase.start + phase.duration : 0;
