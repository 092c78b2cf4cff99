/** The zoo as WebAssembly: a sample of its models, or all with DYN_ZOO=all. */
import { WITHOUT_COMPILER } from "./zoo/without_compiler.ts";
import { assert } from "@std/assert";
import { check, checkRandom } from "./zoo/check.ts";
import type { Tier } from "./zoo/runner.ts";
import { sampled } from "./zoo/zoo.ts";

const WASM: Tier = { name: "wasm", options: { backend: "inductor" } };

Deno.test("zoo: this process has no C++ compiler", () => assert(WITHOUT_COMPILER));

for (const specimen of sampled(5)) {
  const { name } = specimen;
  Deno.test(`zoo: ${name} as WebAssembly`, async () => void await check(specimen, WASM));
  if (!specimen.random) continue;
  Deno.test(`zoo: ${name} with dropout as WebAssembly`, () => checkRandom(specimen, WASM));
}
