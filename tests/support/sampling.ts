/**
 * Samples the cases of a run of the suite if all of them would take too long, differently in each run.
 *
 * `DYN_TEST_SEED` is the seed (random and printed by default), `DYN_TEST_ALL=1` takes everything (the tasks `test:all`
 * and `test:webgpu`). Invariants: the same seed and list give the same sample, whichever tests run beside it; other
 * runs take the rest, so that no case is lost.
 */

const SEED = "DYN_TEST_SEED";

function drawSeed(): number {
  const drawn = Math.floor(Math.random() * 2 ** 31);
  // The files of a run share their process, and so the seed.
  Deno.env.set(SEED, String(drawn));
  console.log(`Samples of this run: ${SEED}=${drawn} takes them again, deno task test:all takes everything`);
  return drawn;
}

let seed: number | undefined;

/** The seed of this run, for samples and for tests that make their cases. */
export function testSeed(): number {
  if (seed !== undefined) return seed;
  const given = Number(Deno.env.get(SEED) || NaN);
  return seed = Number.isInteger(given) ? given : drawSeed();
}

/** Whether this run takes everything. */
export const TAKES_ALL: boolean = Deno.env.get("DYN_TEST_ALL") === "1";

/** Numbers in [0, 1) that a seed determines (Marsaglia's xorshift over 32 bits). */
export function randomNumbers(from: number): () => number {
  // A state of 0 would stay so; close seeds must not begin alike.
  let state = Math.imul(from + 1, 0x9e3779b1) | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/**
 * `count` of the items, in their order, or all where this run takes everything. Lists of one length share their
 * choice unless `salt` tells them apart.
 */
export function sampleBySeed<T>(items: readonly T[], count: number, salt = 0): readonly T[] {
  if (TAKES_ALL || count >= items.length) return items;
  const random = randomNumbers(testSeed() + 7919 * items.length + 104729 * salt);
  for (let i = 0; i < 8; i++) random();
  const places = items.map((_, i) => i);
  for (let i = 0; i < count; i++) {
    const j = i + Math.floor(random() * (places.length - i)), place = places[j] ?? i;
    places[j] = places[i] ?? j;
    places[i] = place;
  }
  const chosen = new Set(places.slice(0, count));
  return items.filter((_, i) => chosen.has(i));
}
