/** Samples of cases: the same for the same seed, different for others, and every case is sampled eventually. */
import { assert, assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { runProgram } from "./support/process.ts";
import { sampleBySeed, TAKES_ALL } from "./support/sampling.ts";

const items = Array.from({ length: 40 }, (_, i) => i);

Deno.test("a sample is some of the items in their order, and all of few", () => {
  const sample = sampleBySeed(items, 7);
  assertEquals(sample.length, TAKES_ALL ? 40 : 7);
  assertEquals([...sample], [...new Set(sample)].sort((a, b) => a - b));
  assertEquals(sampleBySeed(items, 7), sample);
  assertEquals(sampleBySeed(items, 40), items);
  assertEquals(sampleBySeed(items, 50), items);
});

Deno.test("seeds give different samples, which eventually cover every item, and can be given", async () => {
  const script = `import { sampleBySeed } from ${
    JSON.stringify(import.meta.resolve("./support/sampling.ts"))
  };
console.log(JSON.stringify(sampleBySeed([...Array(40).keys()], 8, Number(Deno.args[0]))));`;
  const run = async (env: Readonly<Record<string, string>>, salt = "0") => {
    const args = ["eval", "--config", fileURLToPath(new URL("../deno.json", import.meta.url)), script, salt];
    const { stdout, stderr } = await runProgram(Deno.execPath(), args, { env: { DYN_TEST_ALL: "", ...env } });
    assertEquals(stderr, "");
    return stdout.trim().split("\n");
  };
  const [told = "", drawn] = await run({ DYN_TEST_SEED: "" });
  const seed = /DYN_TEST_SEED=(\d+)/.exec(told)?.[1];
  assert(seed !== undefined, told);
  assertEquals(await run({ DYN_TEST_SEED: seed }), [drawn]);
  assertEquals(await run({ DYN_TEST_SEED: seed, DYN_TEST_ALL: "1" }), [JSON.stringify(items)]);
  assert((await run({ DYN_TEST_SEED: seed }, "1"))[0] !== drawn);
});

Deno.test("every item is in about as many samples as any other", () => {
  if (TAKES_ALL) return;
  const counts = items.map(() => 0);
  for (let salt = 0; salt < 2000; salt++) {
    for (const item of sampleBySeed(items, 8, salt)) counts[item] = (counts[item] ?? 0) + 1;
  }
  // 400 each are expected, with a deviation of 18.
  assert(counts.every((count) => count > 300 && count < 500), `${counts}`);
});
