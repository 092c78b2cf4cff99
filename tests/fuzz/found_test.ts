/**
 * Programs that fuzzing has found, compiled for every tier: they do what they do plainly.
 */
import { assertEquals } from "@std/assert";
import { cpu } from "../../backends/cpu/device.ts";
import { compileFunctional } from "../../lib/pipeline.ts";
import { compileToWasm } from "../../backends/wasm/program.ts";
import { compare } from "../../cli/fuzz/tensor/comparison.ts";
import { enterLaboratory } from "../../cli/fuzz/tensor/laboratory.ts";
import { aotAutograd } from "../../lib/aot/backend.ts";
import { findDevice, registerDevice } from "../../lib/loops/device.ts";
import type { Backend } from "../../mod.ts";
import { sampleBySeed } from "../support/sampling.ts";
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

/** Those that are compiled to C++, too, which takes as long as all the rest. */
const NATIVE: ReadonlySet<string> = new Set(sampleBySeed(Object.keys(FOUND), 25, 1));

async function differencesOf(name: string, { make, modes, dynamic }: Found): Promise<Record<string, string>> {
  const differences: Record<string, string> = {};
  const calls = make().calls.map((_, k) => modes?.[k] ?? "grad");
  for (const [tier, backend] of Object.entries(BACKENDS)) {
    if (tier === "native" && !NATIVE.has(name)) continue;
    const { difference } = await compare({ make, modes: calls }, { backend, dynamic: dynamic ?? null });
    if (difference) differences[tier] = difference.text;
  }
  return differences;
}

for (const [name, found] of sampleBySeed(Object.entries(FOUND), 40)) {
  Deno.test(`found: ${name}`, async () => assertEquals(await differencesOf(name, found), {}));
}
