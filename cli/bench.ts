/**
 * `bench`: runs the programs of `bench/` by name.
 *
 * Invariant: each benchmark runs in a process of its own, so that none warms up or slows down another. Results are
 * appended to a file beside the cache.
 */
import { dirname, join } from "node:path";
import { cacheDirectory } from "../backends/cpu/cache_directory.ts";
import { benchPage } from "./bench_page.ts";
import { type Command, refuseWord, takeFlags } from "./command.ts";
import { runScript } from "./run.ts";

const FOLDER = new URL("../bench/", import.meta.url);

/** The programs that can be run, by name. */
function benchmarks(): string[] {
  try {
    return [...Deno.readDirSync(FOLDER)]
      .filter((entry) => entry.isFile && entry.name.endsWith(".ts"))
      .map((entry) => entry.name.slice(0, -".ts".length))
      .sort();
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return [];
    throw thrown;
  }
}

/** `dyn bench`. */
export const benchCommand: Command = {
  name: "bench",
  usage: "bench [--html] [<name> [arguments]]",
  summary: "List the benchmarks, or run one; --html writes a page of what they found so far",
  takesFlags: false,
  run: async (given) => {
    const isPage = given[0] === "--html", [name, ...args] = takeFlags(isPage ? given.slice(1) : given).rest;
    const known = benchmarks(), history = join(dirname(cacheDirectory()), "bench_history.jsonl");
    if (isPage && name === undefined) return writePage(history);
    if (name === undefined) {
      console.log(known.length === 0 ? "There are no benchmarks in this copy of dyn" : known.join("\n"));
      return known.length === 0 ? 1 : 0;
    }
    if (!known.includes(name)) refuseWord("a benchmark", known, name);
    Deno.mkdirSync(dirname(history), { recursive: true });
    Deno.env.set("DYN_BENCH_HISTORY", history);
    await runScript(new URL(`${name}.ts`, FOLDER).pathname, args);
    return isPage ? writePage(history) : undefined;
  },
};

/** Writes a page about the results on this machine, and on others that share its cache. */
function writePage(history: string): number {
  let text = "";
  try {
    text = Deno.readTextFileSync(history);
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
  }
  const page = join(Deno.cwd(), "bench.html");
  Deno.writeTextFileSync(page, benchPage(text));
  console.log(`Wrote ${page}`);
  return 0;
}
