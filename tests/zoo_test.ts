/**
 * The zoo uncompiled against PyTorch's numbers, and compiled: captured and differentiated (aot_eager) every model, as
 * native code a sample, or all with DYN_TEST_ALL=1, which adds float64 and the plain capture.
 */
import { sampleBySeed, TAKES_ALL } from "./support/sampling.ts";
import { check, checkPlain, checkRandom } from "./zoo/check.ts";
import type { Tier } from "./zoo/runner.ts";
import { ZOO } from "./zoo/zoo.ts";

const AOT: Tier = { name: "aot_eager", options: { backend: "aot_eager" } };
const NATIVE: Tier = { name: "inductor", options: { backend: "inductor" } };
const CAPTURED: Tier = { name: "eager", options: { backend: "eager" } };

for (const specimen of ZOO) {
  const { name } = specimen;
  Deno.test(`zoo: ${name} computes PyTorch's numbers`, () => checkPlain(specimen, { double: TAKES_ALL }));
  for (const tier of TAKES_ALL ? [AOT, CAPTURED] : [AOT]) {
    Deno.test(`zoo: ${name} on ${tier.name}`, async () => void await check(specimen, tier));
    if (!specimen.random) continue;
    Deno.test(`zoo: ${name} with dropout on ${tier.name}`, () => checkRandom(specimen, tier));
  }
}

for (const specimen of sampleBySeed(ZOO, 3, 1)) {
  const { name } = specimen;
  Deno.test(`zoo: ${name} as native code`, async () => void await check(specimen, NATIVE));
  if (!specimen.random) continue;
  Deno.test(`zoo: ${name} with dropout as native code`, () => checkRandom(specimen, NATIVE));
}
