/**
 * Programs found by fuzzing, compiled for every tier: they behave as plainly.
 */
import { assertEquals } from "@std/assert";
import { cpu } from "../../backends/cpu/device.ts";
import { compileFunctional } from "../../lib/pipeline.ts";
import { compileToWasm } from "../../backends/wasm/program.ts";
import { compare } from "../../cli/fuzz/tensor/comparison.ts";
import { enterLaboratory } from "../../cli/fuzz/tensor/laboratory.ts";
import type { Mode } from "../../cli/fuzz/tensor/observe.ts";
import { aotAutograd } from "../../lib/aot/backend.ts";
import { findDevice, registerDevice } from "../../lib/loops/device.ts";
import type { Backend } from "../../mod.ts";
import { initWebGpu } from "../../backends/webgpu/device.ts";
import { sampleBySeed } from "../support/sampling.ts";
import { SKIP_WEBGPU } from "../support/webgpu.ts";
import { FOUND, type Found } from "./found.ts";

enterLaboratory();

/** The inductor with WebAssembly kernels, whether there is a C++ compiler or not. */
const wasm: Backend = aotAutograd({
  fwCompiler(gm, inputs) {
    const former = findDevice("cpu") ?? cpu;
    registerDevice({ ...former, compile: (program) => compileToWasm(program) });
    try {
      return compileFunctional(gm, inputs);
    } finally {
      registerDevice(former);
    }
  },
});

const BACKENDS: Readonly<Record<string, Backend>> = {
  eager: "eager",
  aot_eager: "aot_eager",
  wasm,
  native: "inductor",
};

/** Those that are also compiled to C++, which takes as long as all others. */
const NATIVE: ReadonlySet<string> = new Set(sampleBySeed(Object.keys(FOUND), 15, 1));

/** Those that run on the GPU: shaders are slow in a software adapter. */
const ON_GPU = sampleBySeed(Object.entries(FOUND), 15, 2);

const modesOf = ({ make, modes }: Found): Mode[] => make().calls.map((_, k) => modes?.[k] ?? "grad");

async function differencesOf(name: string, found: Found): Promise<Record<string, string>> {
  const differences: Record<string, string> = {}, { make, dynamic } = found, modes = modesOf(found);
  for (const [tier, backend] of Object.entries(BACKENDS)) {
    if (tier === "native" && !NATIVE.has(name)) continue;
    const { difference } = await compare({ make, modes }, { backend, dynamic: dynamic ?? null });
    if (difference) differences[tier] = difference.text;
  }
  return differences;
}

for (const [name, found] of sampleBySeed(Object.entries(FOUND), 28)) {
  Deno.test(`found: ${name}`, async () => assertEquals(await differencesOf(name, found), {}));
}

for (const [name, found] of ON_GPU) {
  Deno.test({
    name: `found, on WebGPU: ${name}`,
    ignore: SKIP_WEBGPU,
    async fn() {
      await initWebGpu();
      const { make, dynamic = null } = found;
      const { difference } = await compare({ make, modes: modesOf(found) }, {
        backend: "inductor",
        device: "webgpu",
        dynamic,
      });
      assertEquals(difference, null);
    },
  });
}
