/**
 * Runs the language part of ECMAScript's conformance suite, or the one of its builtins, each test plain and compiled,
 * and compares: `deno run -A tools/test262.ts <folder of test262> [--of=built-ins] [--only=expressions/class]
 * [--sample=500] [--seed=7] [--part=1/4] [--report=file]`.
 *
 * The suite is not part of this repository. It prints every difference, then counts: run, equal, different, with
 * breaks, given up; with `--report` a line of JSON for each run. Invariant: both runs of a test start with unchanged
 * builtins.
 */
import { parseArgs } from "@std/cli";
import { join } from "node:path";
import { Process } from "./test262/process.ts";
import { NO_FUNCTION, type Report } from "./test262/engine.ts";
import { type Run, runsOf } from "./test262/suite.ts";

/** Tests that are one script. */
const BATCH = 40;

/** Paths of the suite's tests, sorted. */
function testsBelow(folder: string, below: string): string[] {
  const found: string[] = [];
  for (const { name, isDirectory } of Deno.readDirSync(join(folder, below))) {
    const path = `${below}/${name}`;
    if (isDirectory) found.push(...testsBelow(folder, path));
    else if (name.endsWith(".js") && !name.includes("_FIXTURE")) found.push(path);
  }
  return found.sort();
}

/** Returns the requested number of items, in an order that the seed determines. */
function sampled<T>(items: readonly T[], count: number, seed: number): T[] {
  const rest = [...items], chosen: T[] = [];
  let state = seed >>> 0;
  while (chosen.length < count && rest.length > 0) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const [item] = rest.splice(Math.floor(state / 2 ** 32 * rest.length), 1);
    if (item !== undefined) chosen.push(item);
  }
  return chosen;
}

const counted = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);

function table(title: string, counts: ReadonlyMap<string, number>): string {
  const lines = [...counts].sort(([, a], [, b]) => b - a).map(([key, n]) => `  ${n} ${key}`);
  return lines.length > 0 ? `${title}\n${lines.join("\n")}` : "";
}

/** The identifier and category of a cause, without details of its place. */
const classOf = (cause: string): string => String(cause).split("\n", 1).join().slice(0, 120);

const { _: [folder = ""], ...options } = parseArgs(Deno.args, {
  string: ["of", "only", "sample", "seed", "part", "report"],
});
const root = String(folder);
const [part = 1, parts = 1] = (options.part ?? "1/1").split("/").map(Number);
const seed = Number(options.seed ?? Date.now() % 100000);
const all = testsBelow(join(root, "test"), options.of ?? "language").filter((path) =>
  path.includes(options.only ?? "")
);
const chosen = sampled(all, options.sample === undefined ? all.length : Number(options.sample), seed)
  .filter((_, i) => i % parts === part - 1);
console.log(`${chosen.length} of ${all.length} tests, seed ${seed}`);

const plain = new Process(join(root, "harness"), "plain");
const compiled = new Process(join(root, "harness"), "compiled");
const total = { run: 0, equal: 0, different: 0, broken: 0, uncompiled: 0 };
const unsuited = new Map<string, number>(),
  causes = new Map<string, number>(),
  given = new Map<string, number>();
const report = options.report === undefined
  ? null
  : await Deno.open(options.report, { write: true, create: true, truncate: true });

function note(run: Run, expected: Report, found: Report): void {
  total.run++;
  const isEqual = expected.outcome === found.outcome;
  total[isEqual ? "equal" : "different"]++;
  if (found.breaks.length > 0) total.broken++;
  if (found.uncompiled.length > 0) total.uncompiled++;
  for (const cause of new Set(found.breaks.map(classOf))) counted(causes, cause);
  for (const cause of new Set(found.uncompiled.map(classOf))) counted(given, cause);
  if (!isEqual) {
    console.log(`${run.path} (${run.mode})\n  plain:    ${expected.outcome}\n  compiled: ${found.outcome}`);
  }
  const line = { path: run.path, mode: run.mode, isEqual, expected: expected.outcome, ...found };
  report?.writeSync(new TextEncoder().encode(`${JSON.stringify(line)}\n`));
}

const runs: Run[] = [];
for (const path of chosen) {
  const suited = runsOf(path, await Deno.readTextFile(join(root, "test", path)));
  if ("unsuited" in suited) counted(unsuited, suited.unsuited);
  else runs.push(...suited.runs);
}
for (let at = 0; at < runs.length; at += BATCH) {
  const batch = runs.slice(at, at + BATCH);
  const expected = new Map((await plain.reports(batch)).map((report, i) => [batch[i], report]));
  const functions = batch.filter((run) => !expected.get(run)?.outcome.startsWith(NO_FUNCTION));
  for (let i = functions.length; i < batch.length; i++) counted(unsuited, "no function body");
  const found = await compiled.reports(functions);
  for (const [i, run] of functions.entries()) {
    const one = expected.get(run), other = found[i];
    if (!one || !other) continue;
    if (one.outcome !== other.outcome && (await compiled.reports([run]))[0]?.outcome === one.outcome) {
      // A loaded machine stops slow tests, and the engine itself may end a process.
      counted(unsuited, `once different: ${run.path} (${run.mode}) ${other.outcome}`);
      continue;
    }
    // The outcome of some tests depends on other activity of the process.
    const isDecided = one.outcome === other.outcome ||
      (await plain.reports([run]))[0]?.outcome === one.outcome;
    if (isDecided) note(run, one, other);
    else counted(unsuited, "different outcomes of plain runs");
  }
}
await plain.end();
await compiled.end();
console.log(
  `run ${total.run}, equal ${total.equal}, different ${total.different}, with a break ${total.broken}, ` +
    `uncompiled in part ${total.uncompiled}`,
);
for (const text of [table("Not run:", unsuited), table("Breaks:", causes), table("Uncompiled:", given)]) {
  if (text) console.log(text);
}
Deno.exit(total.different > 0 ? 1 : 0);
