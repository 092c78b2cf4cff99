/**
 * Classes of eager calls between processes: what a second process reuses, with the same bits and without creating
 * anything; sizes that the first one did not have; damaged files.
 */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { testInTurn } from "./support/costly_tests.ts";
import { SKIP_NATIVE } from "./support/native.ts";
import { runProgram, withFolder } from "./support/process.ts";
import { sampleBySeed } from "./support/sampling.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

interface Told {
  readonly told: Readonly<Record<string, string>>;
  readonly sources: readonly string[];
  readonly counts: Readonly<
    Record<"cached_classes" | "cached_programs" | "tiers", Readonly<Record<string, number>>>
  >;
}

/** Runs kept/classes.ts in a process of its own. */
async function run(
  cache: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Told> {
  const { code, stdout, stderr } = await runProgram(
    Deno.execPath(),
    ["run", "-A", "--no-check", "--config", here("../deno.json"), here("kept/classes.ts"), ...args],
    { env: { DYN_CACHE_DIR: cache, DYN_GRAPH_CACHE: "1", ...env } },
  );
  assertEquals(code, 0, stderr);
  return JSON.parse(stdout);
}

/** Tests of several processes each, of which a run takes some. */
const tests: Deno.TestDefinition[] = [];
const test = (name: string, fn: (cache: string) => Promise<void>, ignore = false): void =>
  void tests.push({ name, ignore, fn: () => withFolder(fn) });

/** On WebAssembly alone, so that no compiler is waited for. */
const WASM = { DYN_TIER: "wasm" };

const filesIn = (cache: string): string[] =>
  ["classes", "programs"].flatMap((kind) =>
    [...Deno.readDirSync(join(cache, kind))].map(({ name }) => join(cache, kind, name))
  );

test("a second process makes no class and no program, and gives the same bits", async (cache) => {
  const cold = await run(cache, ["source"], WASM), warm = await run(cache, ["source"], WASM);
  assert((cold.counts.cached_classes.stored ?? 0) > 10);
  assertEquals(cold.counts.cached_classes.hits, undefined);
  assertEquals(warm.counts.cached_classes, { hits: cold.counts.cached_classes.stored ?? 0 });
  assertEquals(warm.counts.cached_programs, { hits: cold.counts.cached_programs.stored ?? 0 });
  assertEquals(warm.told, cold.told);
  // Their texts are derived from the calls again
  assertEquals(warm.sources, cold.sources);
});

test("calls of other sizes run the programs of a former process as their own", async (cache) => {
  await run(cache, [], WASM);
  const kept = await run(cache, ["others", "source"], WASM),
    alone = await withFolder((empty) => run(empty, ["others"], WASM));
  assertEquals(kept.told, alone.told);
  assert((kept.counts.cached_classes.hits ?? 0) > 10);
  assert((kept.counts.cached_classes.stored ?? 0) < (alone.counts.cached_classes.stored ?? 0));
});

test("what is damaged is made again", async (cache) => {
  const cold = await run(cache, [], WASM);
  for (const file of filesIn(cache)) Deno.truncateSync(file, Deno.statSync(file).size - 7);
  const second = await run(cache, [], WASM);
  assertEquals(second.told, cold.told);
  assertEquals(second.counts.cached_classes.hits, undefined);
  assertEquals(second.counts.cached_classes.damaged, cold.counts.cached_classes.stored);
  assertEquals((await run(cache, [], WASM)).counts.cached_classes, {
    hits: cold.counts.cached_classes.stored ?? 0,
  });
});

test("where nothing is to be kept, nothing is", async (cache) => {
  assertEquals((await run(cache, [], { ...WASM, DYN_GRAPH_CACHE: "0" })).counts.cached_classes, {});
});

test("native code of a former process serves from the first call on", async (cache) => {
  const cold = await run(cache, ["few", "hot"]), warm = await run(cache, ["few"]);
  assert((cold.counts.tiers.eager_native ?? 0) >= 3);
  assert((warm.counts.tiers.eager_native ?? 0) >= (cold.counts.tiers.eager_native ?? 0));
  assertEquals(warm.told, cold.told);
}, SKIP_NATIVE);

testInTurn("classes between processes", ...sampleBySeed(tests, 2));
