/** Programs as users write them: compiled they show what they show uncompiled, with breaks anywhere too. */
import { assert } from "@std/assert";
import { compile, config, manualSeed } from "../mod.ts";
import { dynamic } from "./programs/dynamic.ts";
import { language, scripts } from "./programs/language.ts";
import { objects } from "./programs/objects.ts";
import { elementErrors, tensors } from "./programs/tensors.ts";
import { training } from "./programs/training.ts";
import { type Corpus, difference, observe, type Program } from "./support/programs.ts";

/** Offsets at which the graph is broken on request, in every function that is compiled. */
const FORCED: readonly number[] = [11];

async function agree(
  program: Program,
  backends: readonly string[],
  forced: readonly number[],
): Promise<void> {
  const seeded = async (run: () => ReturnType<typeof observe>) => {
    manualSeed(7);
    return await run();
  };
  const plain = await seeded(() => observe(program, (fn) => fn));
  const check = async (label: string, run: () => ReturnType<typeof observe>) => {
    const found = difference(plain, await seeded(run));
    assert(found === null, `${label}: ${found}`);
  };
  for (const backend of backends) {
    await check(backend, () => observe(program, (fn) => compile(fn, { backend })));
  }
  for (const forceBreak of forced) {
    const run = () => observe(program, (fn) => compile(fn, { backend: "eager" }));
    await check(`a break at ${forceBreak}`, () => config.patch({ forceBreak }, run));
  }
}

function register(corpus: Corpus, backends: readonly string[], forced: readonly number[]): void {
  for (const [name, program] of Object.entries(corpus)) {
    Deno.test(`compiled as uncompiled: ${name}`, () => agree(program, backends, forced));
  }
}

register(language, ["eager"], FORCED);
register(scripts, ["eager"], FORCED);
register(objects, ["eager"], FORCED);
register(tensors, ["aot_eager", "inductor"], FORCED);
register(elementErrors, ["eager", "aot_eager"], []);
register(training, ["inductor"], []);
register(dynamic, ["inductor"], []);
