/** The tiers for which a function can be compiled on the CPU, and those that a run of the suite takes for a case. */
import type { ConfigPatch } from "../../lib/base/config.ts";
import { sampleBySeed, TAKES_ALL } from "./sampling.ts";

/** How to compile for a tier. */
export interface Tier {
  readonly name: string;
  readonly backend: string;
  readonly patch: ConfigPatch;
}

/** Captured, differentiated, and made into code of the two kinds. */
export const TIERS: readonly Tier[] = [
  { name: "eager", backend: "eager", patch: {} },
  { name: "aot_eager", backend: "aot_eager", patch: {} },
  { name: "native", backend: "inductor", patch: { inductor: { tier: "wait" } } },
  { name: "WebAssembly", backend: "inductor", patch: { inductor: { tier: "wasm" } } },
];

/**
 * Each case on each tier, by name, but on one of the two that make code: which one, the run's seed says for each case. One
 * in four is C++, whose compiler takes a second for a case; what goes before is the same for both.
 */
export function onTiers<T>(cases: Readonly<Record<string, T>>): readonly (readonly [Tier, string, T])[] {
  const captured = TIERS.slice(0, 2), [native, wasm] = TIERS.slice(2);
  if (!native || !wasm) throw new Error("Expected two tiers that make code");
  const turns = [native, wasm, wasm, wasm];
  return Object.entries(cases).flatMap(([name, each], k) =>
    [...captured, ...(TAKES_ALL ? [native, wasm] : sampleBySeed(turns, 1, k))]
      .map((tier) => [tier, name, each] as const)
  );
}
