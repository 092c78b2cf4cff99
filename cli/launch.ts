/**
 * `launch`: runs a script on several processes of this machine, connected by MPI.
 *
 * Each line of output is prefixed by its rank. Invariants: when one process fails all are ended, the rank that failed
 * first is named with its error, and later output of the others is omitted; the exit code is that rank's.
 */
import { parseArgs } from "@std/cli";
import { constants } from "node:os";
import { DynError } from "../lib/base/errors.ts";
import { endWithSignals } from "./children.ts";
import { type Command, UsageError } from "./command.ts";
import { isUrl, scriptUrl } from "./script_source.ts";

/** One rank: its output goes where `launch` reads it, and its failure is appended to earlier ones. */
const WORKER = `
folder=$1
shift
rank=\${OMPI_COMM_WORLD_RANK:-\${PMI_RANK:-\${PMIX_RANK:-0}}}
export RANK=$rank LOCAL_RANK=$rank
"$@" >"$folder/$rank.out" 2>"$folder/$rank.err"
code=$?
[ $code -eq 0 ] || echo "$rank $code" >>"$folder/failed"
exit $code
`;

/** Number of final lines of error output repeated for the rank that failed. */
const LAST_LINES = 20;

interface Failure {
  readonly rank: number;
  readonly code: number;
}

/** The rank that failed first, if one has. */
function firstFailure(folder: string): Failure | undefined {
  try {
    const [line = ""] = Deno.readTextFileSync(`${folder}/failed`).split("\n"),
      [rank, code] = line.split(" ").map(Number);
    return rank === undefined || code === undefined ? undefined : { rank, code };
  } catch {
    return undefined;
  }
}

/** One stream of a rank. */
class Stream {
  #isOpen = false;
  readonly #path: string;
  readonly #ended: Promise<void>;

  constructor(path: string, onLine: (line: string) => void) {
    this.#path = path;
    this.#ended = this.#read(onLine);
  }

  async #read(onLine: (line: string) => void): Promise<void> {
    const file = await Deno.open(this.#path);
    this.#isOpen = true;
    let rest = "";
    for await (const text of file.readable.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      lines.forEach(onLine);
    }
    if (rest !== "") onLine(rest);
  }

  /** Waits for its end; a stream without a writer ends immediately. */
  async end(): Promise<void> {
    if (!this.#isOpen) (await Deno.open(this.#path, { write: true })).close();
    await this.#ended;
  }
}

/** Environment for launchers: more ranks than cores, unpinned threads, running as root allowed. */
function environment(ranks: number): Record<string, string> {
  const threads = Math.max(1, Math.floor(navigator.hardwareConcurrency / ranks));
  return {
    OMPI_MCA_rmaps_base_oversubscribe: "1",
    PRTE_MCA_rmaps_default_mapping_policy: ":oversubscribe",
    OMPI_MCA_hwloc_base_binding_policy: "none",
    WORLD_SIZE: `${ranks}`,
    DYN_NUM_THREADS: Deno.env.get("DYN_NUM_THREADS") ?? `${threads}`,
    ...Deno.uid() === 0 ? { OMPI_ALLOW_RUN_AS_ROOT: "1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: "1" } : {},
  };
}

/** Describes how a rank ended, by its shell exit code: above 128 it was a signal. */
function howItEnded(code: number): string {
  const [signal] = Object.entries(constants.signals).find(([, number]) => number === code - 128) ?? [];
  if (signal === undefined) return `failed first, with code ${code}`;
  return `was killed first, by ${signal}${
    signal === "SIGKILL" ? " (systems do so when memory runs out)" : ""
  }`;
}

/** Starts the ranks and shows their output. Returns the exit code. */
async function launch(ranks: number, words: readonly string[], folder: string): Promise<number> {
  const pipes = Array.from(
    { length: ranks },
    (_, rank) => [`${folder}/${rank}.out`, `${folder}/${rank}.err`],
  );
  await new Deno.Command("mkfifo", { args: pipes.flat() }).output();
  const own = new URL("../cli.ts", import.meta.url).href;
  const worker = [Deno.execPath(), "run", "-A", "--no-check", own, "run", ...words];
  const launcher = Deno.env.get("MPIRUN") || "mpirun";
  let child: Deno.ChildProcess;
  try {
    child = new Deno.Command(launcher, {
      args: ["-n", `${ranks}`, "sh", "-c", WORKER, "worker", folder, ...worker],
      env: environment(ranks),
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  } catch (cause) {
    throw new DynError(`Expected ${launcher} on the PATH but found none; install Open MPI or MPICH`, {
      cause,
    });
  }
  endWithSignals(() => child);
  const errors = pipes.map((): string[] => []);
  const streams = pipes.flatMap(([out = "", err = ""], rank) => [
    new Stream(out, (line) => console.log(`[${rank}] ${line}`)),
    new Stream(err, (line) => {
      const failure = firstFailure(folder);
      if (failure && failure.rank !== rank) return;
      console.error(`[${rank}] ${line}`);
      errors[rank]?.push(line);
    }),
  ]);
  const { code, stderr } = await child.output();
  await Promise.all(streams.map((stream) => stream.end()));
  const failure = firstFailure(folder);
  if (failure) {
    const last = (errors[failure.rank] ?? []).slice(-LAST_LINES).map((line) => `  ${line}`);
    console.error([`error: Rank ${failure.rank} ${howItEnded(failure.code)}`, ...last].join("\n"));
    return failure.code;
  }
  if (code !== 0) console.error(new TextDecoder().decode(stderr).trimEnd());
  return code;
}

/** `dyn launch`. */
export const launchCommand: Command = {
  name: "launch",
  usage: "launch -n <ranks> <script> [arguments]",
  summary: "Run a script on several processes that distributed.initProcessGroup() connects",
  help:
    "The processes run on this machine, under mpirun (or what MPIRUN names), with the cores divided among them. Lines of " +
    "output stand\nbehind the rank that printed them. When one fails the others are ended. RANK, LOCAL_RANK and WORLD_SIZE " +
    "are set, as torchrun does.",
  takesFlags: false,
  run: async (args) => {
    const { n, _: words } = parseArgs(args, { string: ["_", "n"], stopEarly: true });
    const ranks = Number(n ?? NaN), [script] = words;
    if (!Number.isInteger(ranks) || ranks < 1) {
      throw new UsageError(`Expected -n with a positive number of processes but found ${n ?? "nothing"}`);
    }
    if (script === undefined) throw new UsageError("Expected a script but found nothing");
    if (!isUrl(script)) scriptUrl(script);
    const folder = await Deno.makeTempDir({ prefix: "dyn-launch-" });
    try {
      return await launch(ranks, words, folder);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
};
