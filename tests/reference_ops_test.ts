/**
 * PyTorch's own op samples, replayed: outputs, gradients and errors of every op that is there, eagerly all of them and
 * compiled some in each run.
 * tests/data/ops holds what PyTorch computed, one file a namespace. What is known to differ is listed by sample,
 * with its reason; a listed sample that agrees fails the test, so that the list only shrinks.
 */
import { assertEquals } from "@std/assert";
import { compile, compiler } from "../mod.ts";
import {
  type Callable,
  findOp,
  hasKnownTypes,
  type OpSample,
  readSamples,
  replay,
  sampleName,
} from "./support/replay.ts";
import { sampleBySeed } from "./support/sampling.ts";

/** Samples per op and variant that are compiled, and how many of these one run takes: each is a compiler run or two. */
const COMPILED_SAMPLES = 1, COMPILED_AT_ONCE = 100;

const TIES = "among equal elements PyTorch leaves open which one it names";
const NO_ERROR = "PyTorch's sample expects an error of its test helper, not of the op";

/** Samples that differ, in every mode. */
const KNOWN: ReadonlyMap<string, string> = new Map([
  ["kthvalue int64 0", TIES],
  ["topk int64 0", TIES],
  ["clamp_max error Exception", NO_ERROR],
  ["clamp_min error Exception", NO_ERROR],
  ["native_layer_norm float32 6", "a gradient that is zero but for PyTorch's rounding errors"],
]);

const FILES = ["linalg", "nn.functional", "special", "torch"];

async function allSamples(): Promise<readonly OpSample[]> {
  const lists = await Promise.all(
    FILES.map((name) => readSamples(new URL(`data/ops/${name}.jsonl.gz`, import.meta.url))),
  );
  return lists.flat().filter(hasKnownTypes);
}

/** Replays samples; fails with the list of those that part from PyTorch unexpectedly, or agree unexpectedly. */
function replayAll(samples: readonly OpSample[], wrap: (op: Callable) => Callable): void {
  const surprises: string[] = [];
  const missing = new Set<string>(), failed = new Set<string>(), present = new Set<string>();
  let passed = 0;
  for (const sample of samples) {
    const op = findOp(sample.op), name = sampleName(sample);
    if (!op) {
      missing.add(sample.op);
      continue;
    }
    present.add(sample.op);
    try {
      replay(sample, op, { device: "cpu", wrap, slack: 1 });
      passed++;
      if (KNOWN.has(name)) surprises.push(`${name}: agrees, though it is listed: ${KNOWN.get(name)}`);
    } catch (error) {
      failed.add(sample.op);
      if (!KNOWN.has(name)) surprises.push(`${name}: ${error instanceof Error ? error.message : error}`);
    }
  }
  console.log(
    `${present.size - failed.size} ops of ${present.size} agree in all samples (${passed} samples); ` +
      `${missing.size} ops of PyTorch's are not there`,
  );
  assertEquals(surprises, []);
}

/** The first samples of each op and variant. */
function firstOf(samples: readonly OpSample[], count: number): readonly OpSample[] {
  const seen = new Map<string, number>();
  return samples.filter(({ op, variant, error }) => {
    const key = `${op} ${variant}`, before = seen.get(key) ?? 0;
    if (error === undefined) seen.set(key, before + 1);
    return error === undefined && before < count;
  });
}

Deno.test("PyTorch's op samples, eager", async () => {
  replayAll(await allSamples(), (op) => op);
});

Deno.test("PyTorch's op samples, compiled", async () => {
  replayAll(sampleBySeed(firstOf(await allSamples(), COMPILED_SAMPLES), COMPILED_AT_ONCE), (op) => {
    compiler.reset();
    const compiled = compile((f: Callable, args: readonly unknown[]) => f(...args), { backend: "inductor" });
    return (...args) => compiled(op, args);
  });
});
