/**
 * The command line: `deno run -A cli.ts model.ts`, or `dyn model.ts` with the standalone executable.
 *
 * Flags come first, then a command or a script with its arguments. The exit code is 0, 1 when the user's program or a
 * check failed, 2 when the command line itself is wrong. Invariant: commands are in `cli/`, one per file; this file
 * only finds the right one and shows failures.
 */
import settings from "./deno.json" with { type: "json" };
import { type Command, FLAGS, nearestWord, SWITCHES, takeFlags, UsageError } from "./cli/command.ts";
import { runCommand } from "./cli/run.ts";
import { exists } from "./cli/script_source.ts";
import { DynError, errorText, passErrorsThroughImports } from "./lib/base/errors.ts";

/** The commands by name. Most starts run a script: the others are loaded when they are called. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  run: () => Promise.resolve(runCommand),
  launch: async () => (await import("./cli/launch.ts")).launchCommand,
  simulate: async () => (await import("./cli/simulate.ts")).simulateCommand,
  repl: async () => (await import("./cli/repl.ts")).replCommand,
  watch: async () => (await import("./cli/watch_runs.ts")).watchCommand,
  explain: async () => (await import("./cli/explain.ts")).explainCommand,
  numerics: async () => (await import("./cli/numerics.ts")).numericsCommand,
  report: async () => (await import("./cli/report.ts")).reportCommand,
  bisect: async () => (await import("./cli/bisect.ts")).bisectCommand,
  minify: async () => (await import("./cli/minify.ts")).minifyCommand,
  replay: async () => (await import("./cli/replay.ts")).replayCommand,
  new: async () => (await import("./cli/new.ts")).newCommand,
  package: async () => (await import("./cli/package.ts")).packageCommand,
  compile: async () => (await import("./cli/compile.ts")).compileCommand,
  doctor: async () => (await import("./cli/doctor.ts")).doctorCommand,
  verify: async () => (await import("./cli/verify.ts")).verifyCommand,
  tune: async () => (await import("./cli/tune.ts")).tuneCommand,
  backends: async () => (await import("./cli/backends.ts")).backendsCommand,
  bench: async () => (await import("./cli/bench.ts")).benchCommand,
  fuzz: async () => (await import("./cli/fuzz.ts")).fuzzCommand,
  cache: async () => (await import("./cli/cache.ts")).cacheCommand,
  completions: async () => (await import("./cli/completions.ts")).completionsCommand(allCommands),
};

const allCommands = (): Promise<readonly Command[]> =>
  Promise.all(Object.values(COMMANDS).map((load) => load()));

/** Columns of `--help` that a usage takes; what is longer has a line of its own. */
const USAGE_WIDTH = 34;

/** Returns the text of `--help`. */
async function helpText(): Promise<string> {
  const table = (rows: readonly (readonly [string, string])[]): string[] =>
    rows.map(([left, right]) =>
      `  ${
        left.length < USAGE_WIDTH ? left.padEnd(USAGE_WIDTH) : `${left}\n  ${" ".repeat(USAGE_WIDTH)}`
      }${right}`
    );
  return [
    "dyn: a compiler for tensor programs in TypeScript",
    "",
    "Usage: dyn [flags] <script> [arguments]",
    "       dyn [flags] <command> [arguments]",
    "",
    "Commands:",
    ...table((await allCommands()).map(({ usage, summary }) => [usage, summary])),
    "",
    "Flags, before the script:",
    ...table([
      ...FLAGS.map(({ name, value, summary }): [string, string] => [`--${name} ${value}`, summary]),
      ...SWITCHES.map(([name, alias, summary]): [string, string] => [
        alias === null ? `--${name}` : `-${alias}, --${name}`,
        summary,
      ]),
    ]),
    "",
    "A script is a file, a URL, or - for standard input; it imports dyn as jsr:@x/dyn.",
    "",
    "Environment: the flags are DYN_BACKEND, DYN_DEVICE, DYN_LOGS, DYN_TRACE and DYN_DEBUG_FUNCTION;",
    "DYN_COMPILE_DEBUG=1 or a folder writes what each compilation made; DYN_CACHE_DIR is where kernels are kept;",
    "DYN_CXX and DYN_NUM_THREADS choose compiler and threads; DYN_DISABLE=1 compiles nothing.",
    "",
    "When something is wrong: DYN_SHADOW=<share> compares that share of calls with their ops one by one;",
    "DYN_REPRO_AFTER=dynamo or aot writes programs that show what fails in compilation, to DYN_REPRO_DIR:",
    "DYN_REPRO_LEVEL=1 on errors, 2 on errors and minified, 3 always, 4 on wrong answers too; DYN_REPLAY_RECORD=1",
    "writes calls that throw, for dyn replay; DYN_VERBOSE=1 shows all frames of errors in compilation.",
  ].join("\n");
}

/** Throws UsageError for a word that is no file and nearly a command. */
function refuseMistyped(word: string): void {
  const nearest = nearestWord(Object.keys(COMMANDS), word);
  if (nearest === undefined || exists(word)) return;
  throw new UsageError(`Expected a command or a script but found ${word}; a command is called ${nearest}`);
}

/** Finds and runs the command. */
async function dispatch(args: readonly string[]): Promise<number | undefined> {
  const flags = takeFlags(args);
  if (flags.version) {
    console.log(`dyn ${settings.version} (deno ${Deno.version.deno}, v8 ${Deno.version.v8})`);
    return 0;
  }
  const [first, ...others] = flags.rest;
  if (flags.watch) {
    const isRun = first === "run" || first === "explain";
    const { watch } = await import("./cli/watch.ts");
    return await watch(args.filter((arg) => arg !== "--watch"), isRun ? others[0] : first);
  }
  const load = first !== undefined && Object.hasOwn(COMMANDS, first) ? COMMANDS[first] : undefined;
  if (flags.help || first === undefined) {
    console.log(await helpText());
    return flags.help ? 0 : 2;
  }
  if (!load) {
    refuseMistyped(first);
    return await runCommand.run(flags.rest);
  }
  const command = await load();
  const [asked] = command.actions?.includes(others[0] ?? "") ? others.slice(1) : others;
  const own = command.takesFlags
    ? takeFlags(others)
    : asked === "--help" || asked === "-h"
    ? takeFlags([asked])
    : undefined;
  if (own?.help) {
    console.log(
      [`Usage: dyn ${command.usage}`, command.summary, ...command.help ? [command.help] : []].join("\n\n"),
    );
    return 0;
  }
  return await command.run(own?.rest ?? others);
}

/** Restores the environment that the standalone executable's launcher changed for the runtime. */
function restoreEnvironment(): void {
  const denoDir = Deno.env.get("DYN_STANDALONE");
  if (denoDir === undefined) return;
  for (const name of ["DYN_STANDALONE", "DENO_DIR", "DENO_NO_PACKAGE_JSON", "DENO_NO_UPDATE_CHECK"]) {
    Deno.env.delete(name);
  }
  if (denoDir !== "") Deno.env.set("DENO_DIR", denoDir);
}

/** Returns whether the operating system has refused something, such as a file that a command was to write. */
const isOfSystem = (thrown: unknown): thrown is Error =>
  thrown instanceof Error && /\(os error \d+\)/.test(thrown.message);

/** Runs the command line and sets the exit code. */
export async function main(args: readonly string[]): Promise<void> {
  restoreEnvironment();
  passErrorsThroughImports();
  // The runtime stores compiled code of modules when its event loop turns, which short commands end without
  await new Promise((resolve) => setTimeout(resolve));
  try {
    const code = await dispatch(args);
    if (code !== undefined) Deno.exit(code);
  } catch (thrown) {
    if (thrown instanceof UsageError) {
      console.error(`error: ${thrown.message}\nSee dyn --help`);
      Deno.exit(2);
    }
    const isPlain = thrown instanceof DynError || isOfSystem(thrown);
    console.error(isPlain ? `error: ${thrown.message}` : errorText(thrown, { verbose: true }));
    Deno.exit(1);
  }
}

if (import.meta.main) await main(Deno.args);
