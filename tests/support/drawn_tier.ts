/**
 * What graphs become in a test file that is about no tier's code: one run in four C++, WebAssembly in the others, since
 * the C++ compiler would take longer than the tests do. Which files have their turn, the run's seed says.
 *
 * Import it for its effect. Invariant: a tier that the environment names stands, and C++ where a run takes everything;
 * tests that patch the tier themselves keep theirs.
 */
import { config } from "../../lib/base/config.ts";
import { fingerprintText } from "../../lib/base/fingerprint.ts";
import { sampleBySeed, TAKES_ALL } from "./sampling.ts";

/** The turns of a file; in the last one it has C++. */
const TURNS = [0, 1, 2, 3] as const;

if (!TAKES_ALL && !Deno.env.get("DYN_TIER")) {
  const name = Deno.mainModule.slice(Deno.mainModule.lastIndexOf("/") + 1);
  const salt = Number.parseInt(fingerprintText(name).slice(0, 6), 16);
  if (sampleBySeed(TURNS, 1, salt)[0] !== TURNS.at(-1)) config.inductor.tier = "wasm";
}
