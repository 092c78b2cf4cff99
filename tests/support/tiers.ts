/** The tiers that a function of the CPU can be compiled for, and which of them a run of the suite takes for a case. */
import type { ConfigPatch } from "../../lib/base/config.ts";
import { sampleBySeed } from "./sampling.ts";

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
  { name: "native", backend: "inductor", patch: {} },
  { name: "WebAssembly", backend: "inductor", patch: { inductor: { tier: "wasm" } } },
];

/**
 * Each case on each tier, by name, but on one of the two that make code: which one, the run's seed says for each case.
 * A case costs a C++ compiler a second, and what goes before is the same for both.
 */
export function onTiers<T>(cases: Readonly<Record<string, T>>): readonly (readonly [Tier, string, T])[] {
  const [captured, code] = [TIERS.slice(0, 2), TIERS.slice(2)];
  return Object.entries(cases).flatMap(([name, each], k) =>
    [...captured, ...sampleBySeed(code, 1, k)].map((tier) => [tier, name, each] as const)
  );
}
