/**
 * Named log artifacts and event counters: the only channel by which stages report.
 *
 * `DYN_LOGS` (or `setLogs`) selects the artifacts to print; stages call `logs.emit`. Lines go to stderr, prefixed by
 * `[artifact]`, or to a test's sink; recorders get every text (recording.ts). Counters are always kept. Invariant: a
 * text passed as a function is built only if somebody will read it.
 */
import { refuseChoice, refuseSurplus } from "./checked_input.ts";
import { environmentVariable } from "./permissions.ts";
import { scoped } from "./scoped.ts";
import { type ArtifactRecord, recording } from "./recording.ts";

/** All names that `DYN_LOGS` accepts. */
export const ARTIFACTS = [
  "dynamo",
  "guards",
  "bytecode",
  "graph",
  "graph_code",
  "graph_breaks",
  "recompiles",
  "aot_joint_graph",
  "aot_graphs",
  "schedule",
  "fusion",
  "output_code",
  "kernel_code",
  "perf_hints",
  "dynamic",
  "fallback",
  "tiers",
  "cache",
  "shadow",
  "repro",
  "compiled_autograd",
  "usage",
] as const;

/** The name of a log artifact. */
export type Artifact = typeof ARTIFACTS[number];

/**
 * How much of an artifact is printed; each level includes those before it:
 * - "error", `-name`: wrong answers that were found, and tools that failed;
 * - "warning", printed by default: a program that will not run compiled any more, and why; likely mistakes;
 * - "info", `name`: the artifact itself;
 * - "debug", `+name`: how it came about, step by step.
 */
export type LogLevel = "error" | "warning" | "info" | "debug";

const RANK: Readonly<Record<LogLevel, number>> = { error: 0, warning: 1, info: 2, debug: 3 };

/** Details for recorders and sinks besides the text, and its level. */
export interface LogDetails extends Omit<ArtifactRecord, "name" | "text"> {
  /** "info" by default. */
  readonly level?: LogLevel;
}

/** Receives what would be printed, without the prefix. */
export type LogSink = (artifact: Artifact, text: string, details: LogDetails) => void;

/**
 * Parses the value of `DYN_LOGS`: names separated by commas, each with an optional `+` (more) or `-` (less); `all`
 * means every artifact. Throws `DynError` for a name that is not an artifact.
 */
export function parseLogs(spec: string): Map<Artifact, LogLevel> {
  const levels = new Map<Artifact, LogLevel>();
  for (const item of spec.split(",").map((part) => part.trim()).filter((part) => part !== "")) {
    const level = item.startsWith("+") ? "debug" : item.startsWith("-") ? "error" : "info";
    const name = item.replace(/^[+-]/, "");
    const named = name === "all" ? ARTIFACTS : ARTIFACTS.filter((artifact) => artifact === name);
    if (named.length === 0) refuseChoice("a log artifact", ["all", ...ARTIFACTS], name);
    for (const artifact of named) levels.set(artifact, level);
  }
  return levels;
}

/** The interface of `logs`. */
export interface Logs {
  /** Returns whether text of this artifact and level (by default `info`) will be read by anybody. */
  enabled(artifact: Artifact, level?: LogLevel): boolean;
  /**
   * Reports a text; pass a function if building the text is expensive. `about` is the level (by default `info`), or
   * details for recorders.
   */
  emit(
    artifact: Artifact,
    text: string | (() => string),
    about?: LogLevel | LogDetails,
  ): void;
  /**
   * Prints important information on one line, once per text, whatever is enabled; if the artifact is enabled, its own
   * text says it already.
   */
  announce(artifact: Artifact, text: string): void;
  /** Chooses what is printed from here on, in the form of `DYN_LOGS`. */
  set(spec: string): void;
  /** Runs `body` with a sink that gets everything of the given artifacts instead of stderr. */
  capture<T>(spec: string, sink: LogSink, body: () => T): T;
}

const encoder = new TextEncoder(), { error: toConsole } = console;

/** Returns whether the program is a notebook's kernel, whose stderr nobody sees. */
function isKernel(): boolean {
  try {
    return Reflect.get(Deno, "jupyter") !== undefined;
  } catch {
    return false;
  }
}

/** Writes synchronously, to preserve the order with the program's own output. */
const toStderr: LogSink = (artifact, text) => {
  const prefix = `[${artifact}] `;
  const lines = text.trimEnd().split("\n").map((line) => prefix + line).join("\n");
  if (isKernel()) return toConsole(lines);
  const bytes = encoder.encode(`${lines}\n`);
  try {
    for (let written = 0; written < bytes.length;) written += Deno.stderr.writeSync(bytes.subarray(written));
  } catch {
    // Nobody reads any more, or the disk is full: a program computes the same without its logs, as console.error has it
  }
};

let levels: ReadonlyMap<Artifact, LogLevel> | undefined;
/** Receivers of the enabled artifacts; warnings about others go to stderr. */
let sink: LogSink = toStderr;
const announced = new Set<string>();

/** The environment is read at the first use, so that an invalid `DYN_LOGS` fails in a call and not in an import. */
function levelOf(artifact: Artifact): LogLevel | undefined {
  levels ??= parseLogs(environmentVariable("DYN_LOGS") ?? "");
  return levels.get(artifact);
}

/** The log. */
export const logs: Logs = {
  enabled(artifact, level = "info") {
    return RANK[level] <= RANK[levelOf(artifact) ?? "warning"];
  },

  emit(artifact, text, about = "info") {
    const details: LogDetails = typeof about === "string" ? { level: about } : about;
    const { level = "info", ...more } = details;
    if (logs.enabled(artifact, level)) {
      const to = levelOf(artifact) === undefined ? toStderr : sink;
      to(artifact, typeof text === "string" ? text : text(), details);
    }
    // Steps are for reading along; only their results are recorded
    if (level !== "debug") recording.artifact(artifact, text, more);
  },

  announce(artifact, text) {
    if (logs.enabled(artifact) || !logs.enabled(artifact, "warning") || announced.has(text)) return;
    announced.add(text);
    sink(artifact, text, { level: "warning" });
  },

  set(spec) {
    if (arguments.length > 1) refuseSurplus("set", 1, arguments);
    levels = parseLogs(spec);
  },

  capture(spec, to, body) {
    if (arguments.length > 3) refuseSurplus("capture", 3, arguments);
    const former = { levels, sink };
    levels = parseLogs(spec);
    sink = to;
    return scoped(body, () => {
      levels = former.levels;
      sink = former.sink;
    });
  },
};

/** Named counts of what happened, grouped: `graph_break` by reason, `recompiles` by function, `frames` by fate. */
export class Counters {
  readonly #groups = new Map<string, Map<string, number>>();

  /** Adds `by` (by default 1) to a count. */
  add(group: string, name: string, by = 1): void {
    if (arguments.length > 3) refuseSurplus("add", 3, arguments);
    let counts = this.#groups.get(group);
    if (!counts) this.#groups.set(group, counts = new Map());
    counts.set(name, (counts.get(name) ?? 0) + by);
  }

  /** Returns one count, 0 if nothing was counted. */
  get(group: string, name: string): number {
    if (arguments.length > 2) refuseSurplus("get", 2, arguments);
    return this.#groups.get(group)?.get(name) ?? 0;
  }

  /** Returns the sum of a group. */
  total(group: string): number {
    if (arguments.length > 1) refuseSurplus("total", 1, arguments);
    let sum = 0;
    for (const count of this.#groups.get(group)?.values() ?? []) sum += count;
    return sum;
  }

  /** Returns a copy of a group's counts, largest first. */
  entries(group: string): [name: string, count: number][] {
    return [...this.#groups.get(group) ?? []].toSorted((a, b) => b[1] - a[1]);
  }

  /** The names of the groups that have counts. */
  groups(): string[] {
    return [...this.#groups.keys()];
  }

  /** Clears all counts. */
  clear(): void {
    if (arguments.length > 0) refuseSurplus("clear", 0, arguments);
    this.#groups.clear();
  }
}

/** The counts of this process. */
export const counters: Counters = new Counters();
