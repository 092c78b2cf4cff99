/**
 * `bench`: the programs of `bench/`.
 *
 * Input: names of benchmarks and their arguments; output: theirs. Invariant: one benchmark runs per process, so
 * that none warms up or slows down another.
 */
import { type Command, UsageError } from "./command.ts";
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
  usage: "bench [<name> [arguments]]",
  summary: "List the benchmarks, or run one",
  takesFlags: true,
  run: async ([name, ...args]) => {
    const known = benchmarks();
    if (name === undefined) {
      console.log(known.length === 0 ? "There are no benchmarks in this copy of dyn" : known.join("\n"));
      return known.length === 0 ? 1 : 0;
    }
    if (!known.includes(name)) {
      throw new UsageError(`Expected a benchmark out of ${known.join(", ")} but found ${name}`);
    }
    await runScript(new URL(`${name}.ts`, FOLDER).pathname, args);
    return undefined;
  },
};
