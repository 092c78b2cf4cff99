/**
 * Lists of another length in each call: beyond a few lengths one version serves all of them, wherever the list is found
 * and whatever goes through it.
 */
import { assert, assertEquals } from "@std/assert";
import { cat, ones, stack, type Tensor, tensor } from "../mod.ts";
import { resumedEntries, statusOf } from "../lib/dynamo/mod.ts";
import { capture, list as told } from "./support/dynamo.ts";
import { sampleBySeed } from "./support/sampling.ts";

/** Walks through a list of tensors, with results and effects. */
const WALKS: Readonly<Record<string, (x: Tensor, list: Tensor[], log: unknown[]) => unknown>> = {
  "stack": (x, list) => stack(list).sum(0).add(x),
  "cat of a spread": (x, list) => cat([x, ...list]).mul(2).sum(),
  "a loop": (x, list) => {
    let y = x;
    for (const each of list) y = y.add(each).tanh();
    return y;
  },
  "a loop that counts, and the length": (x, list) => {
    let y = x, n = 0;
    for (const each of list) {
      y = y.add(each);
      n++;
    }
    return list.length > 2 ? y.mul(n) : n;
  },
  "a loop that writes and ends early": (x, list, log) => {
    let y = x;
    for (const [k, each] of list.entries()) {
      log.push(k);
      y = y.add(each.mul(k));
      if (k === 8) return [k, y];
    }
    return y.mul(2);
  },
  "a loop with a handler": (x, list, log) => {
    let y = x;
    for (const each of list) {
      try {
        if (log.push(each.shape[0]) > 9) throw new RangeError(`${log.length}`);
        y = y.add(each);
      } catch (error) {
        if (error instanceof RangeError) log.length = 0;
      }
    }
    return y;
  },
  "map": (x, list) => list.map((each, k) => each.mul(x).add(k)),
  "reduce": (x, list) => list.reduce((sum, each) => sum.add(each), x).mul(2),
  "filter, and the number of what is left": (x, list) => x.mul(list.filter((_, k) => k % 2 === 0).length),
  "forEach": (x, list, log) => (list.forEach((each, k) => void log.push([k, each.add(x)])), log.length),
  "some, find and findLastIndex": (x, list) => [
    list.some((each) => each.shape[0] === 3),
    list.find((_, k) => k === 4)?.add(x),
    x.mul(list.findLastIndex((each) => each.shape[0] === 2)),
  ],
  "a copy that is reversed": (x, list) => [...list].reverse().map((each) => each.add(x)).slice(0, 2),
  "the first and the others": (x, [first = x, ...others]) => [first.add(x), others.length],
  "indexOf and includes": (x, list) => x.mul(list.indexOf(x)).add(list.includes(x) ? 1 : 0),
  "a Set": (x, list) => x.mul(new Set(list).size),
  "numbers of it": (x, list) => x.add(tensor(list.map((_, k) => k / 2)).sum()),
  "loops within each other": (x, list) => {
    let y = x;
    for (const a of list.slice(-2)) for (const b of list) y = y.add(a.mul(b));
    return y;
  },
};

class Kept {
  readonly list: Tensor[] = [];
}

/** Places in which a walk finds its list. */
const PLACES: Readonly<Record<string, (walk: typeof WALKS[string]) => typeof WALKS[string]>> = {
  "an argument": (walk) => (x, list, log) => walk(x, list, log),
  "a property that is replaced": (walk) => {
    const kept: { list: Tensor[] } = { list: [] };
    return (x, list, log) => {
      kept.list = list;
      return walk(x, kept.list, log);
    };
  },
  "a member that grows": (walk) => {
    const kept = new Kept();
    return (x, list, log) => {
      const length = kept.list.push(x);
      if (length > 10) kept.list.splice(0, 2);
      return [walk(x, kept.list, log), list.at(-1)?.add(1)];
    };
  },
};

const CASES = Object.keys(WALKS).flatMap((walk) =>
  Object.keys(PLACES).map((place) => [walk, place] as const)
);

function shown(value: unknown): unknown {
  const known = told(value);
  return Array.isArray(known) ? known.map(shown) : known;
}

for (const [walk, place] of sampleBySeed(CASES, 10, 0)) {
  Deno.test(`lists of changing length: ${walk} of ${place}`, () => {
    const make = PLACES[place] ?? ((each) => each), step = WALKS[walk] ?? (() => null);
    const plain = make(step), c = capture(make(step));
    const logs: [unknown[], unknown[]] = [[], []];
    for (let call = 0; call < 24; call++) {
      const length = 1 + (call * 7) % 13, x = ones([2]).mul(call / 8);
      const list = Array.from({ length }, (_, k) => ones([2]).mul(Math.sin(call + k)));
      assertEquals(shown(c.run(x, list, logs[1])), shown(plain(x, list, logs[0])), `call ${call}`);
      assertEquals(shown(logs[1]), shown(logs[0]), `call ${call}`);
    }
    // The first call may have to ask for the variable
    const uncompiled = statusOf(c.run)?.uncompiled.filter(({ reason }) => reason.id !== "GB0032");
    assertEquals(uncompiled, []);
    const behind = [...resumedEntries(c.run).values()].map(({ length }) => length);
    assert(Math.max(c.entries(), ...behind) <= 8, `${c.entries()} versions, behind breaks ${behind}`);
  });
}
