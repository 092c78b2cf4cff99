/**
 * The zoo on WebGPU: one of its smallest models, since a software adapter compiles shaders slowly, or all with
 * DYN_TEST_ALL=1.
 */
import { init } from "../mod.ts";
import { sampleBySeed, TAKES_ALL } from "./support/sampling.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";
import { check, checkRandom } from "./zoo/check.ts";
import { dqn } from "./zoo/models/dqn.ts";
import { graphNetwork } from "./zoo/models/graph_network.ts";
import { vae } from "./zoo/models/vae.ts";
import type { Tier } from "./zoo/runner.ts";
import { ZOO } from "./zoo/zoo.ts";

const WEBGPU: Tier = { name: "webgpu", options: { backend: "inductor" }, device: "webgpu" };

function test(name: string, body: () => Promise<unknown>): void {
  Deno.test({
    name,
    ignore: SKIP_WEBGPU,
    fn: async () => {
      await init({ device: "webgpu" });
      await body();
    },
  });
}

for (const specimen of TAKES_ALL ? ZOO : sampleBySeed([dqn, vae, graphNetwork], 1)) {
  test(`zoo: ${specimen.name} on WebGPU`, () => check(specimen, WEBGPU));
  if (specimen.random) {
    test(`zoo: ${specimen.name} with dropout on WebGPU`, () => checkRandom(specimen, WEBGPU));
  }
}
