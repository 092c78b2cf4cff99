/**
 * PyTorch's own op samples, replayed: outputs, gradients and errors of every supported op, eager and compiled in C++
 * and in WebAssembly and by other backends, and eager once more in float64. tests/data/ops holds what PyTorch computed,
 * one file per namespace, tests/data/ops64.jsonl.gz the same for smaller samples with float64 arguments. Known
 * differences are listed by sample, with reasons, and so are samples that cannot be replayed; a listed sample that
 * agrees, or an op that was added or removed, fails the test. Each run replays some of the samples eagerly, and
 * compiles some.
 */
import { assertEquals } from "@std/assert";
import { compile, compiler, config } from "../mod.ts";
import { toolchainStatus } from "../backends/cpu/toolchain.ts";
import "./support/devices.ts";
import { testInTurn } from "./support/costly_tests.ts";
import { type Callable, findOp, type OpSample, readSamples, replay, sampleName } from "./support/replay.ts";
import { sampleBySeed, TAKES_ALL } from "./support/sampling.ts";

/** Samples that one run compiles, of the first of each op and variant: each is a compiler run or two. */
const COMPILED_AT_ONCE = 24;

/** Samples of those that one run compiles by another backend. */
const SAMPLES_OF_A_BACKEND = 6;

const TIES = "among equal elements PyTorch leaves open which one it names";
const NO_ERROR = "PyTorch's sample expects an error of its test helper, not of the op";

/** Samples that differ, in every mode. */
/** Vectors are found up to their signs; what does not depend on signs is tested with the decompositions. */
const SIGNS = "PyTorch's vectors have other signs";

const SIGNED = [
  ...["linalg.eigh float32 0", "linalg.eigh float32 6", "linalg.eigh float64 0"],
  ...["linalg.svd", "svd"].flatMap((op) => [`${op} float32 3`, `${op} float32 12`, `${op} float64 3`]),
];

const COARSE = "PyTorch's own error is 1e-9 and more; tests/special_functions_test.ts has exact numbers";
const BESSEL = ["airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1"];

const KNOWN: ReadonlyMap<string, string> = new Map([
  ["kthvalue int64 0", TIES],
  ["topk int64 0", TIES],
  ["clamp_max error Exception", NO_ERROR],
  ["clamp_min error Exception", NO_ERROR],
  ["native_layer_norm float32 6", "a gradient that is zero but for PyTorch's rounding errors"],
  ["nn.functional.hardsigmoid float64 0", "PyTorch multiplies by a sixth that is rounded to float32"],
  ...SIGNED.map((name) => [name, SIGNS] as const),
  ...BESSEL.map((name) => [`special.${name} float64 0`, COARSE] as const),
]);

Deno.test("differences from PyTorch's samples are documented", () => {
  const page = Deno.readTextFileSync(new URL("../docs/limits.md", import.meta.url)).toLowerCase();
  const ops = [...KNOWN.keys()].map((name) =>
    name.split(" ")[0]?.split(".").at(-1)?.replaceAll("_", "") ?? ""
  );
  assertEquals(ops.filter((op) => !page.includes(op.replace(/^(bessel|airy).*/, "$1"))), []);
});

const FILES = ["further", "linalg", "nn.functional", "special", "torch"];

let read: Promise<readonly OpSample[]> | undefined;

/** The samples of all files, which are long: read once. */
const allSamples = (): Promise<readonly OpSample[]> => read ??= readAll();

async function readAll(): Promise<readonly OpSample[]> {
  const lists = await Promise.all(
    FILES.map((name) => readSamples(new URL(`data/ops/${name}.jsonl.gz`, import.meta.url))),
  );
  const samples = lists.flat();
  const missing = new Set(samples.filter(({ op }) => !findOp(op)).map(({ op }) => op));
  assertEquals([...missing], []);
  return samples;
}

interface Replay {
  /** Wraps the op, to compile it. */
  readonly wrap: (op: Callable) => Callable;
  readonly device: string;
  readonly mode: string;
}

/** Replays samples; fails with the list of those that part from PyTorch unexpectedly, or agree unexpectedly. */
function replayAll(samples: readonly OpSample[], { wrap, device, mode }: Replay): void {
  const surprises: string[] = [];
  const failed = new Set<string>(), present = new Set<string>();
  let passed = 0;
  for (const sample of samples) {
    const op = findOp(sample.op), name = sampleName(sample);
    if (!op) throw new Error(`Expected the op ${sample.op}`);
    present.add(sample.op);
    try {
      replay(sample, op, { device, wrap, slack: 1 });
      passed++;
      if (KNOWN.has(name)) surprises.push(`${name}: agrees, though it is listed: ${KNOWN.get(name)}`);
    } catch (error) {
      failed.add(sample.op);
      if (!KNOWN.has(name)) surprises.push(`${name}: ${error instanceof Error ? error.message : error}`);
    }
  }
  console.log(
    `${mode}: ${present.size - failed.size} ops of ${present.size} agree in all samples (${passed} of ` +
      `${samples.length} samples)`,
  );
  assertEquals(surprises, []);
}

/** Samples that are compiled: some of one run's, by the seed, of which `salt` keeps tiers apart; or all of them. */
function compiledSamples(samples: readonly OpSample[], salt: number): readonly OpSample[] {
  const good = samples.filter(({ error }) => error === undefined);
  if (TAKES_ALL) return good;
  const groups = Map.groupBy(good, ({ op, variant }) => `${op} ${variant}`);
  const one = [...groups.values()].flatMap((group, k) => sampleBySeed(group, 1, k));
  return sampleBySeed(one, COMPILED_AT_ONCE, salt);
}

const compiledBy = (backend: string) => (op: Callable): Callable => {
  compiler.reset();
  const call = compile((f: Callable, args: readonly unknown[]) => f(...args), { backend });
  return (...args) => call(op, args);
};

const compiled = compiledBy("inductor");

/** Replays samples eagerly, without a compiler for the classes of their calls, which come once. */
function replayEagerly(samples: readonly OpSample[], mode: string): void {
  const inductor = { tier: "wasm" } as const;
  config.patch({ inductor }, () => replayAll(samples, { wrap: (op) => op, device: "cpu", mode }));
}

Deno.test("PyTorch's op samples, eager", async () => {
  const samples = await allSamples();
  replayEagerly(sampleBySeed(samples, Math.ceil(samples.length / 8)), "eager");
});

Deno.test("PyTorch's op samples in float64, eager", async () => {
  const samples = await readSamples(new URL("data/ops64.jsonl.gz", import.meta.url));
  replayEagerly(sampleBySeed(samples, Math.ceil(samples.length / 6)), "eager, float64");
});

testInTurn("samples of ops in C++", {
  name: "PyTorch's op samples, compiled to C++",
  ignore: toolchainStatus().kind !== "ready",
  fn: async () => {
    const samples = compiledSamples(await allSamples(), 1);
    replayAll(samples, { wrap: compiled, device: "cpu", mode: "C++" });
  },
});

Deno.test("PyTorch's op samples, compiled to WebAssembly", async () => {
  const samples = compiledSamples(await allSamples(), 2);
  replayAll(samples, { wrap: compiled, device: "wasm", mode: "WebAssembly" });
});

for (const [k, backend] of ["fuser", "aot_fuser", "ofi", "onednn", "onnxrt"].entries()) {
  const { missing = null } = compiler.describeBackends().find(({ name }) => name === backend) ?? {};
  Deno.test({
    name: `PyTorch's op samples on ${backend}`,
    // A backend that CI is to bring is missed there
    ignore: toolchainStatus().kind !== "ready" || (missing !== null && Deno.env.get("CI") !== "true"),
    fn: async () => {
      const samples = sampleBySeed(compiledSamples(await allSamples(), 3 + k), SAMPLES_OF_A_BACKEND, k);
      replayAll(samples, { wrap: compiledBy(backend), device: "cpu", mode: backend });
    },
  });
}
