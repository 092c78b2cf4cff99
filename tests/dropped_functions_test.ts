/**
 * Functions that are compiled and dropped leave nothing behind: neither themselves, nor their captures, nor compiled
 * code. Each run of the suite samples kinds of functions.
 */
import { assert } from "@std/assert";
import v8 from "node:v8";
import vm from "node:vm";
import { emptyCache, tensor } from "../mod.ts";
import type { Drop } from "./support/dropped_functions.ts";
import { sampleBySeed } from "./support/sampling.ts";

// Behind dyn, which prepares modules that are loaded after it
const { DROPPED } = await import("./support/dropped_functions.ts");

v8.setFlagsFromString("--expose-gc");
const collect: () => void = vm.runInNewContext("gc");

/** Lets the collector find everything that is not held, and those who wait for that hear of it. */
async function collectAll(): Promise<void> {
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    collect();
  }
}

const x = tensor([1.5, 2]);
/** The last ones may still stand in registers, or be what the next compilation is compared with. */
const SLACK = 2;
const COUNT = 8;

for (const [name, drop] of sampleBySeed(Object.entries(DROPPED), 6)) {
  Deno.test(`compiled and dropped: ${name}`, async () => {
    const held: WeakRef<object>[] = [];
    for (let i = 0; i < COUNT; i++) for (const object of drop(x, i)) held.push(new WeakRef(object));
    await collectAll();
    const alive = held.filter((each) => each.deref() !== undefined).length;
    assert(
      held.length >= COUNT && alive <= SLACK * held.length / COUNT,
      `${alive} of ${held.length} are held`,
    );
  });
}

/** Returns the growth of the heap for each function that is compiled and dropped, round by round, in bytes. */
async function growth(drop: Drop, rounds: number, count: number): Promise<number[]> {
  const used = async (): Promise<number> => {
    await collectAll();
    // Memory of results that waits to be found.
    emptyCache();
    collect();
    // Functions of dyn that grow warm have code for it
    return v8.getHeapSpaceStatistics().filter(({ space_name: name }) => !/code|trusted/.test(name))
      .reduce((sum, { space_used_size: bytes }) => sum + bytes, 0);
  };
  const each: number[] = [];
  let before = await used();
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < count; i++) drop(x, round * count + i);
    const after = await used();
    each.push((after - before) / count);
    before = after;
  }
  return each;
}

for (
  const [name, count] of sampleBySeed(
    [["a closure with constants", 200], ["a function of a text", 25]] as const,
    1,
  )
) {
  Deno.test(`the heap is unchanged: ${name}`, async () => {
    const drop = DROPPED[name];
    assert(drop);
    const each = await growth(drop, 4, count);
    // Code of dyn that grows warm takes some of the rounds; what is kept of each function shows in every one.
    assert(Math.min(...each) < 400, `${each.map(Math.round)} bytes a function`);
  });
}
