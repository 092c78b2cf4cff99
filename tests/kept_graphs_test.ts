/**
 * Compiled graphs between processes: what a second process reuses, bit for bit and without compiling anything; what
 * makes it compile anew; damaged and foreign files; several processes at once.
 */
import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { identityOf } from "../lib/base/own_sources.ts";
import { addressesOf } from "../lib/base/portable_addresses.ts";
import { testInTurn } from "./support/costly_tests.ts";
import { SKIP_NATIVE } from "./support/native.ts";
import { runProgram, withFolder } from "./support/process.ts";
import { sampleBySeed } from "./support/sampling.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Counts by name. */
type Counts = Readonly<Record<string, number>>;

interface Told {
  readonly results: Readonly<Record<string, readonly (number | string)[]>>;
  readonly kept: Counts;
  readonly aot: Counts;
  readonly inductor: Counts;
  readonly tiers: Counts;
  readonly logged: string;
}

/** Graphs of the program, and functional graphs that they become. */
const GRAPHS = 8, FUNCTIONAL = 10;

/** Functional graphs that are called again: of the others nobody prints the C++. */
const CALLED_AGAIN = 5;

/** Runs kept/graphs.ts in a process of its own. */
async function run(
  cache: string,
  { args = [], env = {} }: {
    readonly args?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
  } = {},
): Promise<Told> {
  const command = [
    "run",
    "-A",
    "--no-check",
    "--config",
    here("../deno.json"),
    here("kept/graphs.ts"),
    ...args,
  ];
  const { code, stdout, stderr } = await runProgram(Deno.execPath(), command, {
    env: {
      DYN_CACHE_DIR: cache,
      DYN_GRAPH_CACHE: "1",
      DYN_TIER: "",
      // Compiled code is waited for unless a tier is named, so that counts do not depend on what is found meanwhile
      DYN_ERROR_ON_FALLBACK: "1",
      DYN_LOGS: "cache",
      ...env,
    },
  });
  assertEquals(code, 0, stderr);
  return { ...JSON.parse(stdout), logged: stderr };
}

const tests: Deno.TestDefinition[] = [];

function test(name: string, fn: (folder: string) => Promise<void>): void {
  tests.push({ name, ignore: SKIP_NATIVE, fn: () => withFolder(fn) });
}

let filled: Promise<{ readonly cache: string; readonly cold: Told }> | undefined;

/** A cache that one process has filled, and what that process told; the first test that wants one waits for it. */
function fillCache(): NonNullable<typeof filled> {
  return filled ??= (async () => {
    const cache = await Deno.makeTempDir({ prefix: "dyn-test-filled-" });
    return { cache, cold: await run(cache) };
  })();
}

/** A test with a copy of that cache. */
function testFilled(name: string, fn: (folder: string, cold: Told) => Promise<void>): void {
  test(name, async (folder) => {
    const { cache, cold } = await fillCache();
    const { code, stderr } = await runProgram("cp", ["-a", `${cache}/.`, folder]);
    assertEquals(code, 0, stderr);
    await fn(folder, cold);
  });
}

Deno.test.afterAll(async () => {
  if (filled) await Deno.remove((await filled).cache, { recursive: true });
});

/** The work of aot: one of the graphs has a region. */
const DIFFERENTIATED = { joint_graphs: GRAPHS, regions: 1 };
const COMPILED = { misses: GRAPHS, stored: GRAPHS };

const entriesIn = (folder: string): string[] =>
  [...Deno.readDirSync(join(folder, "graphs"))].map(({ name }) => join(folder, "graphs", name)).sort();

testFilled(
  "a second process differentiates and lowers nothing, and gives the same bits",
  async (folder, cold) => {
    const warm = await run(folder);
    assertEquals([cold.kept, cold.aot], [COMPILED, DIFFERENTIATED]);
    assertEquals([cold.inductor.lowered, cold.inductor.graphs], [FUNCTIONAL, FUNCTIONAL]);
    const { lowered: _, regions, ...same } = cold.inductor;
    assertEquals(regions, 2);
    assertEquals([warm.kept, warm.aot, warm.inductor], [{ hits: GRAPHS }, {}, same]);
    assertEquals(warm.results, cold.results);
    assertEquals(warm.results.error, ["Expected index in [0, 4] but found 5"]);
  },
);

testFilled("other settings, and no cache, compile anew with the same results", async (folder, cold) => {
  const unfused = await run(folder, { args: ["unfused"] });
  assertEquals(unfused.kept, COMPILED);
  assertMatch(
    unfused.logged,
    /^\[cache\] graphs: compiled; the nearest saved entry has identity\.settings\.fusion true instead of false$/m,
  );
  const off = await run(folder, { env: { DYN_GRAPH_CACHE: "0" } });
  assertEquals([off.kept, off.aot, off.results], [{}, DIFFERENTIATED, cold.results]);
  // Who wants to read what the stages say has them run
  const read = await run(folder, { env: { DYN_LOGS: "output_code" } });
  assertEquals(read.aot, DIFFERENTIATED);
  assertMatch(read.logged, /^\[output_code\]/m);
});

testFilled("tensors that a graph holds are those of the program that runs", async (folder, cold) => {
  const shifted = await run(folder, { args: ["shifted"] });
  const plain = await run(folder, { args: ["shifted"], env: { DYN_GRAPH_CACHE: "0" } });
  assertEquals([shifted.kept, shifted.results], [{ hits: GRAPHS }, plain.results]);
  assertNotEquals(shifted.results.kinds, cold.results.kinds);
});

test("what a device does not keep as code is kept as loops", async (folder) => {
  const env = { DYN_TIER: "wasm" };
  const cold = await run(folder, { env }), warm = await run(folder, { env });
  assertEquals([cold.kept, cold.inductor.lowered], [COMPILED, FUNCTIONAL]);
  assertEquals([warm.kept, warm.aot, warm.inductor.lowered], [{ hits: GRAPHS }, {}, undefined]);
  assertEquals(warm.results, cold.results);
});

test("what was kept as loops is kept as code once a process has found it compiled, and is not printed again", async (folder) => {
  const env = { DYN_TIER: "background" };
  const cold = await run(folder, { env });
  // Compiles the same code, and waits for it
  await run(folder);
  const found = await run(folder, { env }), again = await run(folder, { env });
  // What is printed meanwhile is stored as well, as soon as the compiler is known
  assertEquals([cold.kept.misses, cold.inductor.lowered], [GRAPHS, FUNCTIONAL]);
  for (const { kept: { hits, misses }, aot, inductor } of [found, again]) {
    assertEquals([hits, misses, aot, inductor.lowered], [GRAPHS, undefined, {}, undefined]);
  }
  assertEquals(again.tiers.native_restored, CALLED_AGAIN);
});

testFilled("damaged files are dropped and made again, foreign ones are not used", async (folder, cold) => {
  const files = entriesIn(folder);
  assertEquals(files.length, GRAPHS);
  const [flipped = "", cut = "", foreign = "", other = "", open = "", empty = ""] = files;
  const bytes = Deno.readFileSync(flipped);
  bytes[100] = (bytes[100] ?? 0) ^ 1;
  Deno.writeFileSync(flipped, bytes);
  Deno.writeFileSync(cut, Deno.readFileSync(cut).subarray(0, -10));
  Deno.writeFileSync(empty, new Uint8Array());
  // A whole file, but of another key
  Deno.writeFileSync(foreign, Deno.readFileSync(other));
  if (Deno.build.os !== "windows") Deno.chmodSync(open, 0o666);
  const again = await run(folder);
  const unused = Deno.build.os === "windows" ? 4 : 5;
  assertEquals(again.kept, { damaged: 3, misses: unused, stored: unused, hits: GRAPHS - unused });
  assertEquals(again.results, cold.results);
  const healed = await run(folder);
  assertEquals([healed.kept.hits, healed.results], [GRAPHS, cold.results]);
});

testFilled("libraries that are gone are compiled again from what was kept", async (folder, cold) => {
  Deno.removeSync(join(folder, "cpu"), { recursive: true });
  const warm = await run(folder);
  assertEquals([warm.kept, warm.aot, warm.results], [{ hits: GRAPHS }, {}, cold.results]);
});

tests.push({
  name: "M54: artifacts that a program saves serve it with another cache, and damaged ones are refused",
  fn: () =>
    withFolder(async (folder) => {
      const path = join(folder, "saved");
      const told = async (action: string, cache: string) => {
        const args = [
          "run",
          "-A",
          "--no-check",
          "--config",
          here("../deno.json"),
          here("kept/artifacts.ts"),
          action,
          path,
        ];
        const env = { DYN_CACHE_DIR: join(folder, cache), DYN_GRAPH_CACHE: "1", DYN_TIER: "wasm" };
        const { code, stdout, stderr } = await runProgram(Deno.execPath(), args, { env });
        return code === 0 ? JSON.parse(stdout) : stderr;
      };
      const saved = await told("save", "first");
      assertEquals(saved.hits, [false, false]);
      assertEquals(await told("load", "second"), { ...saved, hits: [true, true] });
      const bytes = await Deno.readFile(path);
      bytes.set([(bytes.at(-1) ?? 0) ^ 1], bytes.length - 1);
      await Deno.writeFile(path, bytes);
      assertMatch(await told("load", "third"), /Expected \w+\/\S+ with the SHA-256 \w+ but found \w+/);
    }),
});

test("processes that fill one cache at the same time do not disturb each other", async (folder) => {
  const [first, second] = await Promise.all([run(folder), run(folder)]);
  assertEquals(first?.results, second?.results);
  const third = await run(folder);
  assertEquals([third.kept, third.results], [{ hits: GRAPHS }, first?.results]);
  assertEquals(entriesIn(folder).filter((name) => !name.endsWith(".json")), []);
});

// Each runs several processes
testInTurn("graphs between processes", ...sampleBySeed(tests, 1));

Deno.test("dyn's identity changes with its sources", () =>
  withFolder(async (folder) => {
    for (const room of ["lib", "backends"]) {
      await Deno.mkdir(join(folder, room, "inner"), { recursive: true });
    }
    const root = `${pathToFileURL(folder).href}/`, identity = () => identityOf(root);
    const write = async (path: string, text: string, secondsAgo: number) => {
      const time = Date.now() / 1000 - secondsAgo;
      await Deno.writeTextFile(join(folder, path), text);
      await Deno.utime(join(folder, path), time, time);
    };
    await write("lib/inner/one.ts", "1", 5000);
    const one = identity();
    assert(one !== null);
    assertEquals(identity(), one);
    await write("lib/inner/one.ts", "2", 4000);
    const written = identity();
    assertNotEquals(written, one);
    await write("backends/two.ts", "", 4000);
    assertNotEquals(identity(), written);
    // An edit during a process does not affect what the process runs
    await Deno.writeTextFile(join(folder, "lib/inner/one.ts"), "3");
    assertEquals(identity(), null);
    await write("lib/inner/one.ts", "3", 3000);
    assert(identity() !== null);
    // From an address, only what names a version says what it is
    const named = "https://example.org/dyn@0.1.0/", unnamed = "https://example.org/dyn/main/";
    assertEquals([identityOf(named)?.includes(named), identityOf(unnamed)], [true, null]);
    await Deno.remove(join(folder, "backends"), { recursive: true });
    assertEquals(identity(), null);
  }));

Deno.test("addresses below a relocatable folder are stored relative to it", () => {
  const one = addressesOf("/one/at home"), two = addressesOf("/two"), still = addressesOf(null);
  const below = ["file:///one/at%20home/program/a.ts", "/one/at home/dyn/mod.ts"];
  const other = ["file:///one/at%20home2/a.ts", "/one/at", "jsr:@x/dyn", "", "part of /one/at home/a.ts"];
  assertEquals(below.map((each) => two.found(one.kept(each))), [
    "file:///two/program/a.ts",
    "/two/dyn/mod.ts",
  ]);
  assertEquals([...below, ...other].map((each) => one.found(one.kept(each))), [...below, ...other]);
  assertEquals(other.map((each) => one.kept(each)), other);
  assertEquals(below.map((each) => still.found(still.kept(each))), below);
});
