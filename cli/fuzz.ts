/**
 * `fuzz`: searches for programs that behave differently when compiled.
 *
 * Each new kind of difference is printed, shrunk, with the command that reproduces it. Invariant: programs run in
 * separate processes, so that nothing they do affects this one.
 */
import { parseArgs } from "@std/cli";
import { type Command, refuseWord, UsageError } from "./command.ts";
import { FUZZER_NAMES, FUZZERS, TIERS } from "./fuzz/protocol.ts";
import { fuzz, workerPath } from "./fuzz/supervisor.ts";

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };

/** A limit that is never reached; infinity cannot be passed to another process. */
const UNLIMITED = 1e9;

/** Seconds of a text such as "90s", "10m" or "1h". */
function duration(text: string): number {
  const [, number, unit = "s"] = /^(\d+(?:\.\d+)?)([smh])?$/.exec(text) ?? [];
  if (number === undefined) throw new UsageError(`Expected a time such as 90s, 10m or 1h but found ${text}`);
  return Number(number) * (UNITS[unit] ?? 1);
}

function count(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text)) throw new UsageError(`Expected --${name} to be a whole number but found ${text}`);
  return Number(text);
}

function oneOf<T extends string>(what: string, names: readonly T[], text: string): T {
  return names.find((name) => name === text) ?? refuseWord(what, names, text);
}

const HELP = [
  "Options:",
  "  --for <time>        How long, all tiers together: 90s, 10m, 1h (default 1m)",
  "  --programs <n>      Number of programs for each tier",
  `  --tier <name>       ${TIERS.join(", ")}(default: all but webgpu)`,
  "  --seed <n>          The first seed (default: a new one each time)",
  "  --path <p>          With --seed and --tier: the single program that a finding names",
  "  --without <a,b>     Kinds of statements not to generate and of observations not to compare",
  "  --shrink <time>     Time limit for shrinking one failing program",
  "  --fuzzer <name>     What to run:",
  ...FUZZERS.map(({ name, summary }) => `                      ${name}: ${summary}`),
].join("\n");

/** `dyn fuzz`. */
export const fuzzCommand: Command = {
  name: "fuzz",
  usage: "fuzz [options]",
  summary: "Compare random programs, plain and compiled",
  help: HELP,
  takesFlags: false,
  run: async (args) => {
    if (workerPath() === null) {
      console.log("There is no fuzzer in this copy of dyn");
      return 1;
    }
    const given = parseArgs(args, {
      string: ["_", "for", "tier", "seed", "programs", "path", "without", "shrink", "fuzzer"],
      unknown: (arg) => {
        throw new UsageError(`Expected an option that dyn fuzz --help lists but found ${arg}`);
      },
    });
    const fuzzer = oneOf("--fuzzer", FUZZER_NAMES, given.fuzzer ?? FUZZERS[0].name);
    const known = FUZZERS.find(({ name }) => name === fuzzer)?.tiers ?? TIERS;
    const tiers = given.tier === undefined || given.tier === "all"
      // WebGPU only on request: in software a program takes a second
      ? known.filter((tier) => tier !== "webgpu")
      : [oneOf("--tier", known, given.tier)];
    const { path } = given;
    if (path !== undefined && (given.seed === undefined || tiers.length > 1)) {
      throw new UsageError("Expected --seed and one --tier with --path");
    }
    const programs = count("programs", given.programs);
    const seconds = given.for === undefined ? (programs === undefined ? 60 : UNLIMITED) : duration(given.for);
    const seed = count("seed", given.seed) ?? Math.floor(Math.random() * 2 ** 31);
    const without = (given.without ?? "").split(",").filter((name) => name !== "");
    console.log(`Seed ${seed}`);
    let found = 0;
    for (const tier of tiers) {
      const report = await fuzz({
        fuzzer,
        tier,
        seed,
        programs: path === undefined ? programs ?? UNLIMITED : 1,
        seconds: seconds / tiers.length,
        shrinkSeconds: given.shrink === undefined ? (tier === "native" ? 120 : 60) : duration(given.shrink),
        without,
        ...path === undefined ? {} : { path },
        onFinding: ({ text }) => console.log(`\n${text}`),
      });
      found += report.findings.length;
      const counts = Object.entries(report.counts).map(([name, value]) => `${name} ${value}`);
      console.log(`${fuzzer} on ${tier}: ${counts.join(", ")}`);
    }
    return found > 0 ? 1 : 0;
  },
};
