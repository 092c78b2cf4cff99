/**
 * Runs compilers side by side, each within a time limit, and says how each of them ended.
 * Input: commands; output: one ending per command, in order. Invariants: nothing here throws for a compiler that
 * fails in whichever way; when this returns, every compiler that was started has ended or was killed.
 */
import { constants } from "node:os";

/** One compiler to run. */
export interface Command {
  /** The program and its arguments. */
  readonly words: readonly string[];
  /** Where its error output goes. */
  readonly log: string;
  /** Where its output goes; nowhere unless given. */
  readonly output?: string;
}

/** How a process ended. */
export type Ending =
  | { readonly kind: "exit"; readonly code: number }
  | { readonly kind: "signal"; readonly name: string }
  | { readonly kind: "timeout"; readonly seconds: number }
  /** There was no way to start it. */
  | { readonly kind: "unstarted"; readonly because: string };

/**
 * Runs one command: `job number seconds output log word…`. A second process wakes up when the time is over and kills
 * the first. Its nap holds no pipe of ours, and ends by KILL: a process that was forked a moment ago would forget any
 * other signal when it turns into `sleep`. The limit on processor time is for what a killed compiler leaves running.
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

/** Runs all commands at once and waits for all of them, none longer than `seconds`. */
export function runSideBySide(commands: readonly Command[], seconds: number): Ending[] {
  const calls = commands.map(({ words, log, output = "/dev/null" }, i) => {
    const args = [String(i), String(Math.ceil(seconds)), output, log, ...words];
    return `( job ${args.map(quote).join(" ")} ) &`;
  });
  let told: string;
  try {
    const { stdout } = new Deno.Command("sh", {
      args: ["-c", [SCRIPT, ...calls, "wait"].join("\n")],
      // Messages are searched for a few words, which must not be translated.
      env: { LC_ALL: "C" },
      stdin: "null",
    }).outputSync();
    told = new TextDecoder().decode(stdout);
  } catch (thrown) {
    const because = thrown instanceof Error ? thrown.message : String(thrown);
    return commands.map(() => ({ kind: "unstarted", because }));
  }
  const lines = told.split("\n").map((line) => line.split(" "));
  return commands.map((_, i): Ending => {
    const of = (word: string) => lines.find(([kind, number]) => kind === word && number === String(i));
    if (of("late")) return { kind: "timeout", seconds };
    const code = of("code")?.[2];
    return code === undefined
      ? { kind: "unstarted", because: "its shell ended first" }
      : endingOf(Number(code));
  });
}

/** What a shell's exit code stands for. */
function endingOf(code: number): Ending {
  if (code === 126 || code === 127) return { kind: "unstarted", because: "the system could not run it" };
  const signal = Object.entries(constants.signals).find(([, number]) => number === code - 128);
  return signal ? { kind: "signal", name: signal[0] } : { kind: "exit", code };
}
