/**
 * Runs compilers within a time limit, in parallel while this process waits, or in the background, and returns one
 * ending per command, in order. Invariants: a failing compiler never throws here; a compiler that was awaited has
 * ended or was killed; one in the background ends with this process, and its folder is removed.
 */
import { constants } from "node:os";
import process from "node:process";
import { readText } from "./cache_directory.ts";

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
 * first. The sleeping process holds none of our pipes, and is ended by KILL: a process that has just been forked loses
 * other signals when it executes `sleep`. The limit on processor time is for children that a killed compiler leaves
 * running.
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

/** Maximum number of compilers in the background: they leave room for the program that waits for them. */
const LANES = Math.max(1, navigator.hardwareConcurrency >> 1);

/** The call of `job` for each command. */
function callsOf(commands: readonly Command[], seconds: number): string[] {
  return commands.map(({ words, log, output = "/dev/null" }, i) => {
    const args = [String(i), String(Math.ceil(seconds)), output, log, ...words];
    return `job ${args.map(quote).join(" ")}`;
  });
}

/** Runs a shell script and returns its output; throws if there is no shell. */
function shell(script: string, output: "piped" | "null"): string {
  const ended = new Deno.Command("sh", {
    args: ["-c", script],
    // Messages are searched for certain words, which must not be translated.
    env: { LC_ALL: "C" },
    stdin: "null",
    stdout: output,
    stderr: "null",
  }).outputSync();
  return output === "piped" ? new TextDecoder().decode(ended.stdout) : "";
}

/** Parses a script's report of its jobs into endings. */
function endingsOf(told: string, count: number, seconds: number): Ending[] {
  const lines = told.split("\n").map((line) => line.split(" "));
  return Array.from({ length: count }, (_, i): Ending => {
    const of = (word: string) => lines.find(([kind, number]) => kind === word && number === String(i));
    if (of("late")) return { kind: "timeout", seconds };
    const code = of("code")?.[2];
    return code === undefined
      ? { kind: "unstarted", because: "its shell ended first" }
      : endingOf(Number(code));
  });
}

/** Runs all commands at once and waits for all of them, for at most `seconds` each. */
export function runSideBySide(commands: readonly Command[], seconds: number): Ending[] {
  const calls = callsOf(commands, seconds).map((call) => `( ${call} ) &`);
  try {
    const told = shell([SCRIPT, ...calls, "wait"].join("\n"), "piped");
    return endingsOf(told, commands.length, seconds);
  } catch (thrown) {
    return commands.map(() => unstarted(thrown));
  }
}

function unstarted(thrown: unknown): Ending {
  return { kind: "unstarted", because: thrown instanceof Error ? thrown.message : String(thrown) };
}

/** Commands that run in the background. */
export interface BackgroundRun {
  /** Returns the endings once all have ended; reads one file. The object must not be used after that. */
  poll(): readonly Ending[] | undefined;
  /** Kills running commands and removes the folder. */
  stop(): void;
}

/**
 * Runs commands in the background, a few at a time; their files belong in `folder`, which only this run uses. It holds
 * no resource of the runtime and needs no turn of the event loop: a detached shell does the work, and checks once a
 * second whether this process is still alive.
 */
export function runInBackground(
  commands: readonly Command[],
  { seconds, folder }: { readonly seconds: number; readonly folder: string },
): BackgroundRun {
  const [told, group] = [`${folder}/told`, `${folder}/group`];
  // A process group of its own, if the system has the command for it, can be killed together with all that a compiler
  // has started.
  const calls = callsOf(commands, seconds);
  const lanes = Array.from(
    { length: Math.min(LANES, calls.length) },
    (_, lane) => calls.filter((_, i) => i % LANES === lane),
  );
  const script = [
    SCRIPT,
    `folder=${quote(folder)} parent=${Deno.pid}`,
    `export TMPDIR="$folder"`,
    `( while kill -0 $parent 2>/dev/null; do sleep 1 & wait $!; done; rm -rf "$folder"; [ -z "$GROUP" ] || kill -KILL -$$ ) &`,
    "watch=$!",
    ...lanes.map((calls) => `( ${calls.join("; ")} ) >>"$folder/telling" & lanes="$lanes $!"`),
    "wait $lanes",
    "kill -KILL $watch 2>/dev/null",
    `mv "$folder/telling" "$folder/told"`,
  ].join("\n");
  const start = `if command -v setsid >/dev/null 2>&1; then GROUP=1 setsid sh -c ${quote(script)} & ` +
    `echo $! >${quote(group)}; else sh -c ${quote(script)} & fi`;
  let failure: Ending | undefined;
  try {
    shell(start, "null");
  } catch (thrown) {
    failure = unstarted(thrown);
  }
  return {
    poll() {
      const ending = failure;
      if (ending) return commands.map(() => ending);
      const text = readText(told);
      return text === undefined ? undefined : endingsOf(text, commands.length, seconds);
    },
    stop() {
      const leader = Number(readText(group));
      try {
        if (leader > 1) process.kill(-leader, "SIGKILL");
      } catch {
        // It has already ended.
      }
      try {
        Deno.removeSync(folder, { recursive: true });
      } catch {
        // The shell was faster.
      }
    },
  };
}

/** Decodes a shell's exit code. */
function endingOf(code: number): Ending {
  if (code === 126 || code === 127) return { kind: "unstarted", because: "the system could not run it" };
  const signal = Object.entries(constants.signals).find(([, number]) => number === code - 128);
  return signal ? { kind: "signal", name: signal[0] } : { kind: "exit", code };
}
