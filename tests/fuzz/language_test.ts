/**
 * Random JavaScript around tensors, plain and compiled: some programs, from a new seed each time. DYN_FUZZ_SEED and
 * DYN_FUZZ_PROGRAMS choose others.
 */
import { assertEquals } from "@std/assert";
import { print, search } from "./language/fuzzer.ts";

const PROGRAMS: Readonly<Record<string, number>> = { eager: 40, aot_eager: 10, inductor: 2 };

const seed = Number(Deno.env.get("DYN_FUZZ_SEED") ?? Math.floor(Math.random() * 2 ** 31));
const wanted = Deno.env.get("DYN_FUZZ_PROGRAMS");

for (const [backend, programs] of Object.entries(PROGRAMS)) {
  Deno.test(`random programs of the language: ${backend}`, async () => {
    console.log(`Seed ${seed}`);
    const found = await search({ seed, programs: wanted === undefined ? programs : Number(wanted), backend });
    const again = `DYN_FUZZ_SEED=${seed}${wanted === undefined ? "" : ` DYN_FUZZ_PROGRAMS=${wanted}`}`;
    assertEquals(
      found,
      null,
      found ? `${found.difference}\n${print(found.program, backend)}\nAll of them again: ${again}` : "",
    );
  });
}
