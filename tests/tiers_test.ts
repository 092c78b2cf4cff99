/**
 * Graphs and eager calls that run as WebAssembly while the C++ compiler works: the switch, its bits, faults of the
 * compiler in the background, and the traces of a process that ends meanwhile.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { counters } from "../lib/base/logs.ts";
import {
  areDeterministicAlgorithmsEnabled,
  compile,
  config,
  manualSeed,
  noGrad,
  randn,
  type Tensor,
  useDeterministicAlgorithms,
} from "../mod.ts";
import { SKIP_NATIVE } from "./support/native.ts";
import { type Outcome, runProgram, withFolder } from "./support/process.ts";
import { testInTurn } from "./support/costly_tests.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

interface End {
  /** Seconds that the compiler has. */
  readonly limit?: number;
  /** Whether the program waits for the compiler. */
  readonly end?: "settled" | "soon";
}

/** Runs faults/background.ts with a compiler of some mode. */
async function background(
  folder: string,
  mode: string,
  { limit = 60, end = "settled" }: End = {},
): Promise<Outcome> {
  const compiler = join(folder, "compiler");
  // A compiler file that changed would be another compiler to the cache.
  const options = { createNew: true, mode: 0o755 };
  await Deno.writeTextFile(compiler, await Deno.readTextFile(here("faults/compiler.sh")), options).catch(
    (thrown) => {
      if (!(thrown instanceof Deno.errors.AlreadyExists)) throw thrown;
    },
  );
  const env = {
    DYN_CXX: compiler,
    DYN_CACHE_DIR: join(folder, "cache"),
    DYN_ERROR_ON_FALLBACK: "0",
    DYN_LOGS: "tiers",
  };
  const script = [here("faults/background.ts"), folder, mode, String(limit), end];
  const args = ["run", "-A", "--no-check", "--config", here("../deno.json"), ...script];
  return await runProgram(Deno.execPath(), args, { env });
}

/** Returns leftover files of compilations in a cache. */
function leftovers(folder: string): string[] {
  return [...Deno.readDirSync(join(folder, "cache/cpu"))].map((entry) => entry.name)
    .filter((name) => name.includes(".tmp"));
}

interface Told {
  readonly first: readonly number[];
  readonly last: readonly number[];
  readonly tiers: Readonly<Record<string, number>>;
  readonly fallback: Readonly<Record<string, number>>;
  /** Whether the first call has tried the compiler. */
  readonly tried: boolean;
  /** The modules that the first call has loaded on demand. */
  readonly demanded: readonly string[];
}

const told = ({ stdout }: Outcome): Told => JSON.parse(stdout);

function definition(name: string, fn: (folder: string) => Promise<void>): Deno.TestDefinition {
  return { name, ignore: SKIP_NATIVE, fn: () => withFolder(fn) };
}

function test(name: string, fn: (folder: string) => Promise<void>): void {
  Deno.test(definition(name, fn));
}

test("a graph answers through WebAssembly and goes over to native code with the same bits", async (folder) => {
  const cold = await background(folder, "works");
  assertEquals(cold.code, 0, cold.stderr);
  const { first, last, tiers, fallback } = told(cold);
  assertEquals([last, tiers, fallback], [first, { wasm_first: 1, switched: 1 }, {}]);
  assertMatch(
    cold.stderr,
    /^\[tiers\] inference: WebAssembly after .* s\n\[tiers\] inference: C\+\+ is compiled in the background: graph$/m,
  );
  assertMatch(cold.stderr, /^\[tiers\] inference: native code after .* s, \d+ calls$/m);
  assertEquals(leftovers(folder), []);
  // The next process finds the code when it is called again.
  const warm = await background(folder, "killed");
  assertEquals([told(warm).last, told(warm).tiers], [first, { wasm_first: 1, native_at_once: 1 }]);
});

test("no call waits for a compiler that nobody has tried before, and the first does nothing for it", async (folder) => {
  const { code, stdout, stderr } = await background(folder, "gated");
  assertEquals(code, 0, stderr);
  const { first, last, tiers, fallback, tried, demanded } = told({ code, stdout, stderr });
  assertEquals([last, tiers, fallback, tried, demanded], [
    first,
    { wasm_first: 1, switched: 1 },
    {},
    false,
    [],
  ]);
  assertEquals(leftovers(folder), []);
});

testInTurn(
  "faults of compilers in the background",
  definition(
    "a compiler that fails in the background leaves the graph on WebAssembly, said once",
    async (folder) => {
      for (
        const [mode, kind] of [["killed", "killed"], ["rejects", "rejected"], ["hangs", "timeout"]] as const
      ) {
        const { code, stdout, stderr } = await background(folder, mode, { limit: mode === "hangs" ? 4 : 60 });
        assertEquals(code, 0, stderr);
        const { first, last, tiers, fallback } = told({ code, stdout, stderr });
        assertEquals([last, tiers, fallback], [first, { wasm_first: 1 }, { [kind]: 1 }], mode);
        assertEquals(stderr.match(/the inference graph runs as WebAssembly SIMD/g)?.length, 1, stderr);
        assertEquals(leftovers(folder), []);
      }
    },
  ),
);

test("a process that ends during a compilation leaves nothing of it", async (folder) => {
  // The compiler has a minute and uses all of it; the program is done after half a second.
  const ended = await background(folder, "hangs", { end: "soon" });
  assertEquals(
    [ended.code, told(ended).tiers, told(ended).fallback],
    [0, { wasm_first: 1 }, {}],
    ended.stderr,
  );
  assertEquals(leftovers(folder), []);
});

testInTurn("eager ops that become native", {
  name: "work that goes on becomes native code with the same bits",
  ignore: SKIP_NATIVE,
  fn: () => {
    manualSeed(5);
    // Small, so that the first calls are WebAssembly whatever the cache has
    const x = randn([256, 256]), y = randn([256]);
    const ops: readonly (() => Tensor)[] = [
      () => x.mul(y).add(1 + 1 / Deno.pid),
      () => x.abs().sqrt().div(y),
      () => x.exp(),
      () => x.tanh(),
      () => x.sin(),
      () => x.sum(1),
      () => x.amax(0),
      () => x.softmax(1),
    ];
    for (const op of ops) {
      noGrad(() => {
        const first = op().toTypedArray(), until = performance.now() + 300_000;
        // Former requests may never be called again
        const missing = () =>
          counters.get("tiers", "eager_requested") - counters.get("tiers", "eager_native");
        const native = () => counters.get("tiers", "eager_native"), before = native(), others = missing();
        let calls = 0;
        while (native() === before && calls++ < 2000 || missing() > others) {
          op();
          assert(performance.now() < until, "the compiler did not finish");
        }
        assertEquals(op().toTypedArray(), first);
      });
    }
    assert(counters.get("tiers", "eager_native") > 0);
  },
});

Deno.test({
  name: "who asks for the same results each time waits for native graphs, and eager products change no tier",
  ignore: SKIP_NATIVE,
  fn: () => {
    const requested = () => counters.get("tiers", "eager_requested"),
      first = () => counters.get("tiers", "wasm_first");
    const x = randn([40, 3000]), y = randn([3000, 33]), before = first();
    const product = (tier: "wait" | "background") =>
      config.patch(
        { inductor: { tier } },
        () => noGrad(() => compile((x: Tensor, y: Tensor) => x.matmul(y))(x, y)),
      );
    const native = product("wait").toTypedArray();
    useDeterministicAlgorithms(true);
    try {
      assertEquals(areDeterministicAlgorithmsEnabled(), true);
      assertEquals(product("background").toTypedArray(), native);
      assertEquals(first(), before);
      const eager = x.matmul(y).toTypedArray(), asked = requested();
      for (let call = 0; call < 30; call++) assertEquals(x.matmul(y).toTypedArray(), eager);
      assertEquals(requested(), asked);
    } finally {
      useDeterministicAlgorithms(false);
    }
    product("background");
    assertEquals(first(), before + 1);
  },
});

testInTurn(
  "native code of former processes",
  definition("an eager call runs native code at once where a former process did", async (folder) => {
    const env = { DYN_CACHE_DIR: join(folder, "cache"), DYN_GRAPH_CACHE: "1" };
    const call = async (mode: string): Promise<string> => {
      const args = [
        "run",
        "-A",
        "--no-check",
        "--config",
        here("../deno.json"),
        here("faults/eager_native.ts"),
        mode,
      ];
      const { code, stdout, stderr } = await runProgram(Deno.execPath(), args, { env });
      assertEquals(code, 0, stderr);
      return stdout.trim();
    };
    assertEquals(await call("wait"), "0");
    assertEquals(await call("once"), "1");
  }),
);
