/**
 * Programs that fuzzing has found, compiled for every tier: they do what they do plainly. One that is still wrong
 * says so, and fails here when it no longer is.
 */
import { assert, assertEquals } from "@std/assert";
import { cpu } from "../../backends/cpu/device.ts";
import { compileWithInductor } from "../../backends/inductor.ts";
import { compileToWasm } from "../../backends/wasm/program.ts";
import { compare } from "../../cli/fuzz/tensor/comparison.ts";
import { enterLaboratory } from "../../cli/fuzz/tensor/laboratory.ts";
import { aotAutograd } from "../../lib/aot/backend.ts";
import { findDevice, registerDevice } from "../../lib/loops/device.ts";
import type { Backend } from "../../mod.ts";
import { FOUND, type Found } from "./found.ts";

enterLaboratory();

/** The inductor with WebAssembly kernels, whether there is a C++ compiler or not. */
const wasm: Backend = aotAutograd({
  fwCompiler(gm) {
    const former = findDevice("cpu") ?? cpu;
    registerDevice({ ...former, compile: compileToWasm });
    try {
      return compileWithInductor(gm);
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

async function differencesOf({ make, modes, dynamic }: Found): Promise<Record<string, string>> {
  const differences: Record<string, string> = {};
  const calls = make().calls.map((_, k) => modes?.[k] ?? "grad");
  for (const [tier, backend] of Object.entries(BACKENDS)) {
    const { difference } = await compare({ make, modes: calls }, { backend, dynamic: dynamic ?? null });
    if (difference) differences[tier] = difference.text;
  }
  return differences;
}

for (const [name, found] of Object.entries(FOUND)) {
  const { open } = found;
  Deno.test(open === undefined ? `found: ${name}` : `found, and still wrong: ${name}`, async () => {
    const differences = await differencesOf(found);
    if (open === undefined) assertEquals(differences, {});
    else {
      assert(
        Object.keys(differences).length > 0,
        `Expected ${name} to differ still but found it right: remove "open" from it`,
      );
    }
  });
}
