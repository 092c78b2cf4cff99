/**
 * Runs compilers within a time limit, in parallel while this process waits, or in the background, and returns one
 * ending per command, in order. Invariants: a failing compiler never throws here; a compiler that was awaited has
 * ended or was killed; one in the background ends with this process, and its folder is removed; each has its ending
 * within the time limits, also if its shell is killed.
 */
import { constants } from "node:os";
import { dirname } from "node:path";
import process from "node:process";
import { uniqueSuffix } from "../../lib/base/atomic_files.ts";
import { readText, removeIfThere } from "./cache_directory.ts";

/** One compiler to run. */
export interface Command {
  /** The program and its arguments. */
  readonly words: readonly string[];
  /** File for its error output. */
  readonly log: string;
  /** File for its output; default: discarded. */
  readonly output?: string;
}

/** How a process ended. */
export type Ending =
  | { readonly kind: "exit"; readonly code: number }
  | { readonly kind: "signal"; readonly name: string }
  | { readonly kind: "timeout"; readonly seconds: number }
  /** It could not be started. */
  | { readonly kind: "unstarted"; readonly because: string };

/**
 * Runs one command: `job number seconds output log word…`. A second process sleeps until the time is over and kills the
 * first. The sleeping process inherits no pipes, and is ended by KILL, because a process that has just been forked
 * loses other signals when it executes `sleep`. The limit on processor time is for children that a killed compiler
 * leaves running.
 */
const SCRIPT = `
job() {
  number=$1 seconds=$2 output=$3 log=$4
  shift 4
  ulimit -t $((seconds + 10)) 2>/dev/null
  "$@" </dev/null >"$output" 2>"$log" &
  work=$!
  (
    trap 'kill -KILL $! 2>/dev/null; exit 0' TERM
    sleep "$seconds" >/dev/null 2>&1 &
    wait $!
    kill -0 $work 2>/dev/null && echo "late $number" && kill -KILL $work 2>/dev/null
  ) &
  guard=$!
  wait $work
  code=$?
  kill $guard 2>/dev/null
  echo "code $number $code"
}
`;

const quote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** Maximum number of compilers in the background, which leaves processors to the running program. */
const BACKGROUND_LANES = Math.max(1, navigator.hardwareConcurrency >> 1);

/**
 * Number of compilers while the program waits: more than there are processors, since commands are assigned to lanes
 * before their durations are known, and few enough to fit into memory.
 */
const WAITED_LANES = 2 * navigator.hardwareConcurrency;

/**
 * The calls of `job` for all commands, distributed over at most `count` lanes, each a line that runs its commands in
 * sequence.
 */
function lanesOf(commands: readonly Command[], seconds: number, count: number): string[] {
  const calls = commands.map(({ words, log, output = "/dev/null" }, i) => {
    const args = [String(i), String(Math.ceil(seconds)), output, log, ...words];
    return `job ${args.map(quote).join(" ")}`;
  });
  return Array.from(
    { length: Math.min(count, calls.length) },
    (_, lane) => `( ${calls.filter((_, i) => i % count === lane).join("; ")} )`,
  );
}

/** Runs the shell; throws if there is none. */
function shell(args: string[], output: "piped" | "null"): Deno.CommandOutput {
  return new Deno.Command("sh", {
    args,
    // Messages are searched for certain words, which must not be translated.
    env: { LC_ALL: "C" },
    stdin: "null",
    stdout: output,
    stderr: "null",
  }).outputSync();
}

const SHELL_ENDED: Ending = { kind: "unstarted", because: "its shell ended first" };

/** Parses a script's report of its jobs into endings. */
function endingsOf(told: string, count: number, seconds: number): Ending[] {
  const lines = told.split("\n").map((line) => line.split(" "));
  return Array.from({ length: count }, (_, i): Ending => {
    const of = (word: string) => lines.find(([kind, number]) => kind === word && number === String(i));
    if (of("late")) return { kind: "timeout", seconds };
    const code = of("code")?.[2];
    return code === undefined ? SHELL_ENDED : endingOf(Number(code));
  });
}

/** Runs all commands in parallel and waits for all of them, none longer than `seconds`. */
export function runSideBySide(commands: readonly Command[], seconds: number): Ending[] {
  const [first] = commands;
  if (!first) return [];
  const lanes = lanesOf(commands, seconds, WAITED_LANES).map((lane) => `${lane} &`);
  // In a file, since systems limit the length of an argument.
  const script = `${dirname(first.log)}/script${uniqueSuffix()}`;
  try {
    Deno.writeTextFileSync(script, [SCRIPT, ...lanes, "wait"].join("\n"));
    const told = new TextDecoder().decode(shell([script], "piped").stdout);
    return endingsOf(told, commands.length, seconds);
  } catch (thrown) {
    return commands.map(() => unstarted(thrown));
  } finally {
    removeIfThere(script);
  }
}

function unstarted(thrown: unknown): Ending {
  return { kind: "unstarted", because: thrown instanceof Error ? thrown.message : String(thrown) };
}

/** Blocks the thread without running the event loop. */
export function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

/** Seconds for starting commands and for telling how they ended, besides their own. */
const LEEWAY = 30;

/** Commands that run in the background. */
export interface BackgroundRun {
  /** Returns the endings once all have ended; reads one file. The object must not be used after that. */
  poll(): readonly Ending[] | undefined;
  /** Kills running commands and removes the folder. */
  stop(): void;
}

/**
 * Runs commands in the background, a few at a time; their files belong in `folder`, which only this run uses. It holds
 * no resources of the runtime and does not depend on the event loop: a detached shell does the work, and checks once a
 * second whether this process is still alive.
 */
export function runInBackground(
  commands: readonly Command[],
  { seconds, folder }: { readonly seconds: number; readonly folder: string },
): BackgroundRun {
  const [telling, told, group] = [`${folder}/telling`, `${folder}/told`, `${folder}/group`];
  const rounds = Math.ceil(commands.length / BACKGROUND_LANES),
    deadline = performance.now() + 1000 * (rounds * seconds + LEEWAY);
  const lanes = lanesOf(commands, seconds, BACKGROUND_LANES);
  const script = [
    SCRIPT,
    `folder=${quote(folder)} parent=${Deno.pid}`,
    `export TMPDIR="$folder"`,
    `( while kill -0 $parent 2>/dev/null; do sleep 1 & wait $!; done; rm -rf "$folder"; [ -z "$GROUP" ] || kill -KILL -$$ ) &`,
    "watch=$!",
    ...lanes.map((lane) => `${lane} >>"$folder/telling" & lanes="$lanes $!"`),
    "wait $lanes",
    "kill -KILL $watch 2>/dev/null",
    `mv "$folder/telling" "$folder/told"`,
  ].join("\n");
  // If the system has the command, a separate group can be killed with all processes that a compiler has started.
  const path = quote(`${folder}/script`);
  const start = `if command -v setsid >/dev/null 2>&1; then GROUP=1 setsid sh ${path} & ` +
    `echo $! >${quote(group)}; else sh ${path} & fi`;
  let failure: Ending | undefined;
  try {
    Deno.writeTextFileSync(`${folder}/script`, script);
    if (!shell(["-c", start], "null").success) failure = SHELL_ENDED;
  } catch (thrown) {
    failure = unstarted(thrown);
  }
  return {
    poll() {
      const ending = failure;
      if (ending) return commands.map(() => ending);
      const isLate = performance.now() > deadline,
        text = readText(told) ?? (isLate ? readText(telling) ?? "" : undefined);
      return text === undefined ? undefined : endingsOf(text, commands.length, seconds);
    },
    stop() {
      const leader = Number(readText(group));
      try {
        if (leader > 1) process.kill(-leader, "SIGKILL");
      } catch {
        // It has already ended.
      }
      removeIfThere(folder);
    },
  };
}

/** Decodes a shell's exit code. */
function endingOf(code: number): Ending {
  if (code === 126 || code === 127) return { kind: "unstarted", because: "the system could not run it" };
  const signal = Object.entries(constants.signals).find(([, number]) => number === code - 128);
  return signal ? { kind: "signal", name: signal[0] } : { kind: "exit", code };
}
