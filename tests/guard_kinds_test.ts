/**
 * Every kind of guard is needed: for each there is a function and calls of which the last differs from the others in
 * this respect alone. It is right, and wrong once guards of this kind are dropped; where they keep a call from a version
 * that would have been left half-way or just as right, it has no version of its own then. The same for the parts of
 * guards that compare several things. A call that is repeated as it was is served by its version.
 */
import { assertEquals, assertNotEquals } from "@std/assert";
import { compile, type compiler, isTensor } from "../mod.ts";
import { KINDS } from "./support/guards/kinds.ts";
import { PARTS } from "./support/guards/parts.ts";
import type { Scenario, Wrap } from "./support/guards/scenario.ts";

/** The result or error of the last of some calls, and the number of versions then. */
interface Outcome {
  readonly told: string;
  readonly versions: number;
}

function outcome(scenario: Scenario, wrap: Wrap): string {
  let told = "";
  for (const call of scenario(wrap)) {
    try {
      const found = call();
      told = isTensor(found) ? `${found.dtype} ${Deno.inspect(found.tolist())}` : String(found);
    } catch (thrown) {
      told = `throws ${String(thrown)}`;
    }
  }
  return told;
}

/** The outcome of compiled calls without guards of a kind, if one is given. */
function compiled(scenario: Scenario, dropped: string | null): Outcome {
  let versions = 0;
  const guardFilterFn: compiler.GuardFilter = (guards) => {
    versions++;
    return guards.map(({ guardType }) => guardType !== dropped);
  };
  const told = outcome(scenario, (fn) => compile(fn, { backend: "eager", options: { guardFilterFn } }));
  return { told, versions };
}

for (const [kind, scenario] of Object.entries(KINDS)) {
  Deno.test(`guards of the kind ${kind} tell calls apart`, () => {
    const kept = compiled(scenario, null);
    assertEquals(kept.told, outcome(scenario, (fn) => fn));
    assertNotEquals(compiled(scenario, kind), kept);
  });
}

for (const [part, scenario] of Object.entries(PARTS)) {
  Deno.test(`guards tell calls apart by ${part}`, () => {
    assertEquals(compiled(scenario, null).told, outcome(scenario, (fn) => fn));
  });
}

/** Calls that change what they are given, so that the same call is another one then. */
const CHANGING = /^(sameCell|distinctCells|elements|extensible|two of .*|a hook after .*|another hook)$/;

for (const [name, scenario] of Object.entries({ ...KINDS, ...PARTS })) {
  if (CHANGING.test(name)) continue;
  Deno.test(`guards admit the call that they were made for: ${name}`, () => {
    const times = (count: number) => compiled((wrap) => Array(count).fill(scenario(wrap)[0]), null);
    assertEquals(times(2), times(1));
  });
}
