/** The zoo as WebAssembly: a sample of its models, or all with DYN_TEST_ALL=1. */
import { assert } from "@std/assert";
import { sampleBySeed } from "./support/sampling.ts";
import { wasmPrograms } from "./zoo/as_wasm.ts";
import { check, checkRandom } from "./zoo/check.ts";
import type { Tier } from "./zoo/runner.ts";
import { ZOO } from "./zoo/zoo.ts";

const WASM: Tier = { name: "wasm", options: { backend: "inductor" } };

for (const specimen of sampleBySeed(ZOO, 1)) {
  const { name } = specimen;
  Deno.test(`zoo: ${name} as WebAssembly`, async () => {
    const before = wasmPrograms();
    await check(specimen, WASM);
    assert(wasmPrograms() > before, "Expected programs that became WebAssembly but found none");
  });
  if (!specimen.random) continue;
  Deno.test(`zoo: ${name} with dropout as WebAssembly`, () => checkRandom(specimen, WASM));
}
