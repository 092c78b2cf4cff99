/**
 * The tier of graphs in test files that do not test a tier: one run in four uses C++, the others WebAssembly, since
 * the C++ compiler would take longer than the tests do. The run's seed decides whose turn it is.
 *
 * A file imports its turn (tests/support/turns) for its effect. Invariants: a tier that the environment names is
 * kept, and a run that takes everything uses C++; tests that patch the tier themselves keep theirs; a file has the
 * same tier alone as beside the other files of its turn.
 */
import { config } from "../../lib/base/config.ts";
import { TAKES_ALL, testSeed } from "./sampling.ts";

/** One of them has C++ in each run. */
const TURNS = ["gradients", "models", "ops", "programs"] as const;

/** Chooses the tier of the files of a turn. */
export function takeTurn(turn: typeof TURNS[number]): void {
  if (TAKES_ALL || Deno.env.get("DYN_TIER")) return;
  if (TURNS[testSeed() % TURNS.length] !== turn) config.inductor.tier = "wasm";
}
