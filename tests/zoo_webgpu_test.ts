/**
 * The zoo on WebGPU: in one run of five, by the seed, a test of its smallest models, since a software adapter compiles
 * shaders for half a minute; or all with DYN_TEST_ALL=1.
 */
import { init } from "../mod.ts";
import { testInTurn } from "./support/costly_tests.ts";
import { sampleBySeed, TAKES_ALL } from "./support/sampling.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";
import { check, checkRandom } from "./zoo/check.ts";
import type { Tier } from "./zoo/runner.ts";
import { ZOO } from "./zoo/zoo.ts";

const WEBGPU: Tier = { name: "webgpu", options: { backend: "inductor" }, device: "webgpu" };

const tests: Deno.TestDefinition[] = [];

function test(name: string, body: () => Promise<unknown>): void {
  tests.push({
    name,
    ignore: SKIP_WEBGPU,
    fn: async () => {
      await init({ device: "webgpu" });
      await body();
    },
  });
}

const SMALL = ZOO.filter(({ name }) => ["dqn", "vae"].includes(name));

for (const specimen of TAKES_ALL ? ZOO : SMALL) {
  test(`zoo: ${specimen.name} on WebGPU`, () => check(specimen, WEBGPU));
  if (specimen.random) {
    test(`zoo: ${specimen.name} with dropout on WebGPU`, () => checkRandom(specimen, WEBGPU));
  }
}

testInTurn("the zoo on WebGPU", ...sampleBySeed(tests, 1));
