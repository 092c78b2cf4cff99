/**
 * Random tensor programs, plain and compiled, on two of the tiers that this machine has: a few, from a new seed each
 * time.
 * DYN_FUZZ_SEED and DYN_FUZZ_PROGRAMS choose others; `deno run -A cli.ts fuzz` runs them for as long as one likes.
 */
import { assert } from "@std/assert";
import { toolchainStatus } from "../../backends/cpu/toolchain.ts";
import type { Tier } from "../../cli/fuzz/protocol.ts";
import { fuzz } from "../../cli/fuzz/supervisor.ts";
import { sampleBySeed } from "../support/sampling.ts";

/** Programs by tier: fewer where each costs a compiler's time. */
const PROGRAMS: readonly (readonly [tier: Tier, programs: number])[] = [
  ["eager", 10],
  ["aot_eager", 10],
  ["wasm", 14],
  ["native", 3],
];

const seed = Number(Deno.env.get("DYN_FUZZ_SEED") ?? Math.floor(Math.random() * 2 ** 31));
const wanted = Deno.env.get("DYN_FUZZ_PROGRAMS");

for (const [tier, programs] of wanted === undefined ? sampleBySeed(PROGRAMS, 2) : PROGRAMS) {
  const ignore = tier === "native" && toolchainStatus().kind !== "ready";
  Deno.test({
    name: `random tensor programs on ${tier}`,
    ignore,
    async fn() {
      console.log(`Seed ${seed}`);
      const { findings, counts } = await fuzz({
        fuzzer: "tensors",
        tier,
        seed,
        programs: wanted === undefined ? programs : Number(wanted),
        seconds: 1e9,
        shrinkSeconds: 20,
        without: [],
      });
      const texts = findings.map(({ text }) => text);
      assert(
        texts.length === 0,
        `${texts.join("\n\n")}\nAll of them again: DYN_FUZZ_SEED=${seed}${
          wanted === undefined ? "" : ` DYN_FUZZ_PROGRAMS=${wanted}`
        }`,
      );
      assert((counts["graphs"] ?? 0) > 0, "Expected programs that are compiled but found none");
    },
  });
}
