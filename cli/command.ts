/**
 * The interface of a command, and the flags that several commands share.
 *
 * A command returns an exit code, or nothing if the user's script continues. Invariant: a flag becomes the environment
 * variable with the same meaning before any part of dyn is imported, because settings are read from the environment at
 * that time.
 */
import { parseArgs } from "@std/cli";
import { DynError } from "../lib/base/errors.ts";
import { parseLogs } from "../lib/base/logs.ts";

/** One command. */
export interface Command {
  readonly name: string;
  /** The line after `dyn` in the help text: `run <script> [arguments]`. */
  readonly usage: string;
  /** Its purpose, in one line. */
  readonly summary: string;
  /** Additional text of its own `--help`. */
  readonly help?: string;
  /** Words that may come first, with arguments of their own; `--help` behind one is the command's. */
  readonly actions?: readonly string[];
  /** Whether it accepts the flags of `FLAGS`, before its own arguments. */
  readonly takesFlags: boolean;
  /** Runs it; the result is the exit code, or `undefined` if the script that it started determines it. */
  readonly run: (args: readonly string[]) => Promise<number | undefined>;
}

/** Thrown if the command line itself is wrong; shown without a stack, exit code 2. */
export class UsageError extends DynError {
  override readonly name: string = "UsageError";
}

/** Throws `UsageError`: `what` must be one of the known words. */
export function refuseWord(what: string, known: readonly string[], found: string): never {
  throw new UsageError(`Expected ${what} to be one of ${known.join(", ")} but found ${found}`);
}

/** The known word that differs from a given one by at most two letters; undefined if none does. */
export function nearestWord(known: readonly string[], given: string): string | undefined {
  const [nearest] = known.map((word) => ({ word, steps: editSteps(word, given) })).sort((a, b) =>
    a.steps - b.steps
  );
  return nearest && nearest.steps <= Math.min(2, given.length - 2) ? nearest.word : undefined;
}

/** The Levenshtein distance of two words. */
function editSteps(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const [left = 0, above = 0, diagonal = 0] = [next[j], row[j + 1], row[j]];
      next.push(Math.min(left + 1, above + 1, diagonal + (letter === b[j] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** A flag, the setting that it changes, and its value. */
interface Flag {
  readonly name: string;
  readonly value: string;
  readonly variable: string;
  readonly summary: string;
}

/** The flags before the script. */
export const FLAGS: readonly Flag[] = [
  {
    name: "backend",
    value: "<name>",
    variable: "DYN_BACKEND",
    summary: "Backend of compile: inductor, eager, aot_eager, …",
  },
  {
    name: "device",
    value: "<name>",
    variable: "DYN_DEVICE",
    summary: "Default device of tensors: cpu or webgpu",
  },
  {
    name: "logs",
    value: "<list>",
    variable: "DYN_LOGS",
    summary: "What to log: +dynamo,guards,graph_code,output_code,…",
  },
  {
    name: "trace",
    value: "<folder>",
    variable: "DYN_TRACE",
    summary: "Record compilations in a folder, for dyn report and Perfetto",
  },
  {
    name: "debug-function",
    value: "<name>",
    variable: "DYN_DEBUG_FUNCTION",
    summary: "Compile only functions of this name",
  },
];

/** The flags without values: other names of each, and its effect. */
export const SWITCHES: readonly (readonly [name: string, alias: string | null, summary: string])[] = [
  ["help", "h", "Show this text"],
  ["version", "V", "Show the version"],
  ["watch", null, "Run the script again whenever a source in its folder changes"],
];

/** Flags that were taken from the front, and the remaining arguments. */
export interface TakenFlags {
  readonly help: boolean;
  readonly version: boolean;
  /** Whether to run again after each change. */
  readonly watch: boolean;
  readonly rest: readonly string[];
}

/** Takes flags from the front of the arguments and puts them into the environment. Throws `UsageError`. */
export function takeFlags(args: readonly string[]): TakenFlags {
  const parsed = parseArgs(args, {
    boolean: ["help", "version", "watch"],
    string: ["_", ...FLAGS.map(({ name }) => name)],
    alias: { help: "h", version: "V" },
    stopEarly: true,
    unknown: (arg) => {
      const known = [...SWITCHES.map(([name]) => name), ...FLAGS.map(({ name }) => name)];
      refuseWord("a flag", known.map((name) => `--${name}`), arg);
    },
  });
  for (const { name, value, variable } of FLAGS) {
    const given = parsed[name];
    if (given === undefined) continue;
    if (given === "") throw new UsageError(`Expected --${name} ${value} but found no value`);
    if (name === "logs") checkLogs(given);
    Deno.env.set(variable, given);
  }
  return { help: parsed.help, version: parsed.version, watch: parsed.watch, rest: parsed._ };
}

/** Throws `UsageError` for a list that names unknown artifacts. */
function checkLogs(list: string): void {
  try {
    parseLogs(list);
  } catch (thrown) {
    throw thrown instanceof DynError ? new UsageError(thrown.message) : thrown;
  }
}

/** Throws `UsageError` if a command has more arguments than it accepts. */
export function expectNoMore(command: string, args: readonly string[]): void {
  if (args.length > 0) throw new UsageError(`Expected nothing after ${command} but found ${args.join(" ")}`);
}
