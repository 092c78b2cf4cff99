/**
 * Tests of one model on one tier. Failures are listed together. Invariant: results of a tier are judged by PyTorch's
 * float64 numbers and by the distance of PyTorch's and the uncompiled float32 runs from these.
 */
import { assertEquals } from "@std/assert";
import { arange } from "../../mod.ts";
import { complaints, type Errors, errorsOf, torchErrors, wantedOf } from "./errors.ts";
import { type Numbers, readNumbers } from "./numbers.ts";
import { run, runRandom, type Tier } from "./runner.ts";
import type { ExpectedCounts, Specimen } from "./specimen.ts";

/** Data shared by all tiers. */
interface Known {
  readonly numbers: Numbers;
  /** Errors of the uncompiled float32 run. */
  readonly plain: Errors;
}

const known = new Map<Specimen, Promise<Known>>();

const PLAIN: Tier = { name: "plain" };

function knownOf(specimen: Specimen): Promise<Known> {
  let found = known.get(specimen);
  if (!found) {
    const read = async (): Promise<Known> => {
      const numbers = await readNumbers(specimen.name);
      return { numbers, plain: errorsOf(run(specimen, numbers, PLAIN).elements, wantedOf(numbers)) };
    };
    known.set(specimen, found = read());
  }
  return found;
}

/** The uncompiled model in float32 and, if asked for, in float64, where only the rounding of the file is left. */
export async function checkPlain(specimen: Specimen, { double }: { double: boolean }): Promise<void> {
  const { numbers, plain } = await knownOf(specimen), wanted = wantedOf(numbers);
  assertEquals(complaints(plain, wanted, [torchErrors(numbers)]), []);
  if (!double) return;
  const exact = run(specimen, numbers, { name: "float64", dtype: "float64" });
  const { groups } = errorsOf(exact.elements, wanted);
  const off = Object.entries(groups).filter(([, error]) => !(error < 2 ** -23));
  assertEquals(off, []);
  assertEquals(exact.decoded, numbers.decoded);
}

function expectedCounts({ counts, countsElsewhere }: Specimen, { device }: Tier): ExpectedCounts {
  return device !== undefined && countsElsewhere ? countsElsewhere : counts;
}

/** A compiled tier: results, tokens, and what capture made of the functions. */
export async function check(specimen: Specimen, tier: Tier): Promise<Errors["groups"]> {
  const { numbers, plain } = await knownOf(specimen), wanted = wantedOf(numbers);
  const outcome = run(specimen, numbers, tier), errors = errorsOf(outcome.elements, wanted);
  assertEquals({
    complaints: complaints(errors, wanted, [torchErrors(numbers), plain]),
    counts: outcome.counts,
    decoded: outcome.decoded,
  }, { complaints: [], counts: expectedCounts(specimen, tier), decoded: numbers.decoded });
  return errors.groups;
}

/**
 * Steps with dropout against the same steps uncompiled, from one seed. How far two right runs may be apart is found by
 * running uncompiled from weights that differ in their last bit.
 */
export async function checkRandom(specimen: Specimen, tier: Tier): Promise<void> {
  const { numbers, plain } = await knownOf(specimen);
  const uncompiled = { ...PLAIN, ...(tier.device ? { device: tier.device } : {}) };
  const wanted = runRandom(specimen, numbers, uncompiled);
  const shaken = errorsOf(
    runRandom(specimen, { ...numbers, state: shake(numbers.state) }, uncompiled),
    wanted,
  );
  const errors = errorsOf(runRandom(specimen, numbers, tier), wanted);
  assertEquals(complaints(errors, wanted, [plain, shaken]), []);
}

/** Weights that differ in their last bit, up and down in turn. */
function shake(state: Numbers["state"]): Numbers["state"] {
  const moved = Object.entries(state).map(([key, tensor]) => {
    if (!tensor.isFloatingPoint()) return [key, tensor] as const;
    const signs = arange(tensor.numel()).remainder(2).mul(2).sub(1).reshape([...tensor.shape]);
    return [key, tensor.mul(signs.mul(2 ** -23).add(1))] as const;
  });
  return Object.fromEntries(moved);
}
