/**
 * The zoo uncompiled against PyTorch's numbers, and compiled: a sample of the models captured and differentiated
 * (aot_eager), a smaller one as native code, or all with DYN_TEST_ALL=1, which adds float64 and the plain capture.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { sampleBySeed, TAKES_ALL } from "./support/sampling.ts";
import { check, checkPlain, checkRandom } from "./zoo/check.ts";
import { complaints, errorsOf, torchErrors, wantedOf } from "./zoo/errors.ts";
import { readNumbers } from "./zoo/numbers.ts";
import type { Tier } from "./zoo/runner.ts";
import { ZOO } from "./zoo/zoo.ts";

Deno.test("zoo: results that are wrong by a few units in the fifth place, or missing, are reported", async () => {
  const numbers = await readNumbers("resnet18"), wanted = wantedOf(numbers), torch = torchErrors(numbers);
  const judge = (change: (found: Map<string, Float64Array>) => void) => {
    const found = new Map([...wanted].map(([name, elements]) => [name, elements.slice()]));
    change(found);
    return complaints(errorsOf(found, wanted), wanted, [torch]);
  };
  assertEquals(judge(() => {}), []);
  for (const name of ["logits", "loss", "grad.bn1.weight", "losses", "final.layer2.0.conv1.weight"]) {
    const found = judge((elements) => {
      const changed = elements.get(name);
      assert(changed);
      changed.forEach((x, i) => changed[i] = x * (1 + 5e-5));
    });
    assert(found.some((complaint) => complaint.startsWith(`${name}:`)), `${name}: ${found}`);
  }
  assertThrows(() => judge((elements) => elements.delete("grad.fc.bias")), Error, "grad.fc.bias");
});

const AOT: Tier = { name: "aot_eager", options: { backend: "aot_eager" } };
const NATIVE: Tier = { name: "inductor", options: { backend: "inductor" } };
const CAPTURED: Tier = { name: "eager", options: { backend: "eager" } };

for (const specimen of sampleBySeed(ZOO, 3, 2)) {
  const { name } = specimen;
  Deno.test(`zoo: ${name} computes PyTorch's numbers`, () => checkPlain(specimen, { double: TAKES_ALL }));
  for (const tier of TAKES_ALL ? [AOT, CAPTURED] : [AOT]) {
    Deno.test(`zoo: ${name} on ${tier.name}`, async () => void await check(specimen, tier));
    if (!specimen.random) continue;
    Deno.test(`zoo: ${name} with dropout on ${tier.name}`, () => checkRandom(specimen, tier));
  }
}

for (const specimen of sampleBySeed(ZOO, 1, 1)) {
  const { name } = specimen;
  Deno.test(`zoo: ${name} as native code`, async () => void await check(specimen, NATIVE));
  if (!specimen.random) continue;
  Deno.test(`zoo: ${name} with dropout as native code`, () => checkRandom(specimen, NATIVE));
}
