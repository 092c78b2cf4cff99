/**
 * The format of a trace log, and its parser: processes with their compilations. Invariant: a line that is truncated
 * (the process was killed during a write) or of an unknown kind is skipped and counted.
 */
import type { RowOf, Tagged } from "../base/tagged.ts";
import { isPlainObject } from "../base/tree.ts";
import type { Plain } from "../base/recording.ts";

/** Suffixes of the two files of a process. */
export const LOG_SUFFIX = ".jsonl";
export const EVENTS_SUFFIX = ".trace.json";

type Meta = Readonly<Record<string, Plain>>;

/** The lines of a log. Times are microseconds since 1970, durations microseconds. */
interface Lines {
  process: { time: number; pid: number; deno: string; script: string; args: readonly string[] };
  begin: {
    time: number;
    /** Frame and version: `0/1`. */
    compile: string;
    name: string;
    file: string | null;
    line: number | null;
    /** Guards that failed; empty for the first version. */
    reasons: readonly string[];
  };
  end: { time: number; compile: string; error: string | null };
  artifact: {
    time: number;
    compile: string | null;
    name: string;
    part: string | null;
    text: string;
    meta: Meta;
  };
  phase: { compile: string | null; name: string; start: number; duration: number; meta: Meta };
  /** Totals since the process began; later records replace former ones. */
  runtime: {
    kernels: readonly TracedKernel[];
    /** Number of kernels, including those omitted. */
    kernelCount: number;
    /** Microseconds since 1970, device, bytes in use. */
    memory: readonly (readonly [number, string, number])[];
  };
}

/** A line of one kind. */
export type LineOf<K extends keyof Lines> = RowOf<Lines, K>;

/** One line. */
export type TraceLine = Tagged<Lines>;

/** All runs of one kernel. */
export interface TracedKernel {
  readonly name: string;
  /** The graph or op that it is part of. */
  readonly part: string;
  readonly compile: string | null;
  readonly device: string;
  readonly calls: number;
  /** Microseconds; 0 if it was not timed. */
  readonly time: number;
  readonly bytes: number;
  readonly operations: number;
}

/** One compilation with its artifacts; `begin` is null for artifacts outside any compilation. */
export interface TracedCompile {
  readonly begin: LineOf<"begin"> | null;
  /** Absent if the process ended before. */
  end?: LineOf<"end">;
  readonly artifacts: LineOf<"artifact">[];
  readonly phases: LineOf<"phase">[];
}

/** One process. */
export interface TracedProcess {
  /** The log's file name. */
  readonly log: string;
  readonly process: LineOf<"process"> | null;
  /** In order of their beginnings; artifacts outside any compilation come last. */
  readonly compiles: readonly TracedCompile[];
  /** Null if no kernel ran. */
  readonly runtime: LineOf<"runtime"> | null;
  /** Lines that could not be read. */
  readonly skipped: number;
}

/** The fields that a line of each kind must have, by their types. */
const FIELDS: Readonly<Record<TraceLine["kind"], Readonly<Record<string, string>>>> = {
  process: { pid: "number", deno: "string", script: "string", args: "array" },
  begin: { compile: "string", name: "string", reasons: "array" },
  end: { compile: "string" },
  artifact: { name: "string", text: "string", meta: "object" },
  phase: { name: "string", start: "number", duration: "number", meta: "object" },
  runtime: { kernels: "array", kernelCount: "number", memory: "array" },
};

function isLine(value: unknown): value is TraceLine {
  if (!isPlainObject(value)) return false;
  const { kind } = value;
  if (typeof kind !== "string" || !Object.hasOwn(FIELDS, kind)) return false;
  const fields = FIELDS[kind as TraceLine["kind"]];
  return Object.entries(fields).every(([name, type]) => {
    const field: unknown = value[name];
    return type === "array" ? Array.isArray(field) : typeof field === type && field !== null;
  });
}

function parsed(text: string): TraceLine | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isLine(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Reads one log. */
export function readTrace(log: string, text: string): TracedProcess {
  const outside: TracedCompile = { begin: null, artifacts: [], phases: [] };
  const compiles = new Map<string, TracedCompile>();
  let process: LineOf<"process"> | null = null, runtime: LineOf<"runtime"> | null = null;
  let skipped = 0;
  for (const raw of text.split("\n")) {
    if (raw === "") continue;
    const line = parsed(raw);
    if (!line) {
      skipped++;
      continue;
    }
    if (line.kind === "process") {
      process = line;
      continue;
    }
    if (line.kind === "runtime") {
      runtime = line;
      continue;
    }
    if (line.kind === "begin") {
      compiles.set(line.compile, { begin: line, artifacts: [], phases: [] });
      continue;
    }
    const compile = (line.compile === null ? undefined : compiles.get(line.compile)) ?? outside;
    if (line.kind === "end") compile.end = line;
    else if (line.kind === "artifact") compile.artifacts.push(line);
    else compile.phases.push(line);
  }
  const rest = outside.artifacts.length + outside.phases.length > 0 ? [outside] : [];
  return { log, process, compiles: [...compiles.values(), ...rest], runtime, skipped };
}
