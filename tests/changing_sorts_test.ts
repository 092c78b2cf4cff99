/**
 * Sorts of numbers that change between calls: one version serves all orders, and each call gives what it gives
 * uncompiled, whatever the comparator is.
 */
import { assertEquals } from "@std/assert";
import { isTensor, type Tensor, tensor } from "../mod.ts";
import { capture } from "./support/dynamo.ts";
import { randomNumbers, TAKES_ALL, testSeed } from "./support/sampling.ts";

/** The data of a call. */
interface Given {
  readonly list: number[];
  readonly other: number[];
  readonly sign: number;
  readonly flag: boolean;
}

type Program = (x: Tensor, given: Given) => unknown;

const X = tensor([0.5, -1.5, 2]);

const VALUES = [0, -0, 1, 2, 2.5, 3, -1, 7.25, 1e9];

function draw(random: () => number, length: number, values: readonly number[]): Given {
  const list = () => Array.from({ length }, () => values[Math.floor(random() * values.length)] ?? 0);
  return { list: list(), other: list(), sign: random() < 0.5 ? 1 : -1, flag: random() < 0.5 };
}

function plain(value: unknown): unknown {
  if (isTensor(value)) return [value.dtype, value.tolist()];
  return Array.isArray(value) ? value.map(plain) : value;
}

const shown = (value: unknown): string => Deno.inspect(plain(value), { depth: 9, iterableLimit: 400 });

/**
 * Consistent comparators as text, some of which have effects or throw. V8 compares small integers in another order once
 * it has optimised a sort, which inconsistent ones would show.
 */
const COMPARATORS = [
  "(a, b) => a - b",
  "(a, b) => b - a",
  "(a, b) => a < b ? -1 : a > b ? 1 : 0",
  "(a, b) => { if (a === b) return 0; if (a > b) return -1; return 1; }",
  "(a, b) => o.sign * (a - b)",
  "(a, b) => o.flag ? a - b : b - a",
  "(a, b) => Math.abs(a) - Math.abs(b) || a - b",
  "(a, b) => Object.is(a, b) || a === b ? 0 : a < b ? -1 : 1",
  "(a, b) => a == b ? 0 : a < b ? -1 : 1",
  "(a, b) => Number(a > b) - Number(a < b)",
  "(a, b) => (a | 0) - (b | 0)",
  "() => 0",
  "(a, b) => { calls++; return a - b; }",
  "(a, b) => { if (a === 7.25) throw new RangeError('seven'); return b - a; }",
  "(a, b) => { if (a > b) calls++; return a - b; }",
  "(a, b) => { seen.push(a); return b - a; }",
  "by((v) => v % 3)",
  "function (a, b) { return arguments.length - 2 || this === undefined ? b - a : 0; }",
] as const;

/** Sorts of lists, their results, and what they leave behind. */
const USES = [
  (order: string) => `const r = o.list.toSorted(${order}); return [x.mul(r[0]), r, o.list];`,
  (order: string) => `const r = o.list.sort(${order}); return [x.sum(), r === o.list, r];`,
  (order: string) => `const r = [...o.list].sort(${order}).slice(0, 2); return [x.add(r[1]), r];`,
  (order: string) =>
    `const r = o.list.map((v) => v * o.sign).sort(${order}); return [x.mul(2), r.at(-1), r];`,
  (order: string) =>
    `const r = o.list.toSorted(${order}).map((v, i) => v + i).sort((a, b) => b % 2 - a % 2); return [x.sum(), r];`,
  (order: string) =>
    `const r = o.list.map((_, i) => i).sort((i, j) => (${order})(o.other[i], o.other[j])); return [x.mul(2), r];`,
  (order: string) =>
    `const r = [2, 0, 1, 9].sort((i, j) => (${order})(o.other[i], o.other[j])); return [x.mul(2), r];`,
  (order: string) =>
    `o.list[1] = undefined; delete o.list[2]; o.list.sort(${order}); return [x.sum(), o.list];`,
  (order: string) =>
    `const r = o.list.toSorted(${order}); o.list[0] = r[1]; o.other.push(r[0]); return [x.mul(r[2]), o.list, o.other, r];`,
  (order: string) => `const r = [o.list[0], 1, o.other[0], 2.5].sort(${order}); return [x.mul(r[3]), r];`,
] as const;

const makeOf = (body: string): () => Program =>
  new Function(`"use strict"; let calls = 0; const seen = [];
    const by = (key) => (a, b) => key(a) - key(b);
    return (x, o) => { const result = (() => { ${body} })(); return [...result, calls, seen.length]; };`) as never;

Deno.test("sorts by generated comparators give what they give uncompiled, with their effects", () => {
  const random = randomNumbers(testSeed());
  for (let program = 0; program < (TAKES_ALL ? 400 : 6); program++) {
    const use = USES[Math.floor(random() * USES.length)] ?? USES[0];
    const order = COMPARATORS[Math.floor(random() * COMPARATORS.length)] ?? COMPARATORS[0];
    const body = use(order), make = makeOf(body), expected = make(), f = capture(make());
    const length = 4 + Math.floor(random() * 6);
    for (let call = 0; call < 8; call++) {
      const given = draw(random, length, VALUES), mine = structuredClone(given);
      const outcome = (run: Program, data: Given): string => {
        try {
          return shown([run(X, data), data.list, data.other]);
        } catch (error) {
          return `${error}`;
        }
      };
      assertEquals(outcome(f.run, mine), outcome(expected, given), `${call} ${body} ${shown(given)}`);
    }
  }
});

/** Comparators whose results contradict each other. */
const INCONSISTENT: readonly ((a: number, b: number) => number | boolean)[] = [
  (a, b) => a > b,
  (a, b) => a < b ? -1 : 1,
  (a, b) => (a * 7 + b * 3) % 5 - 2,
  (a, b) => Object.is(a, b) ? 0 : a < b ? -1 : 1,
  (a, b) => b - a,
];

Deno.test("sorts by inconsistent comparators give what they give uncompiled", () => {
  const random = randomNumbers(testSeed());
  for (const compare of INCONSISTENT) {
    const order = compare as (a: number, b: number) => number;
    for (const length of [3, 12, 80]) {
      const f = capture((x: Tensor, list: number[]) => [x.sum(), list.toSorted(order)]);
      for (let call = 0; call < 4; call++) {
        // No list of small integers, whose order in V8 depends on the tier
        const { list } = draw(random, length, [0.5, -0.5, 1.5, 2.25, 7.75, NaN, Infinity, -1.5]);
        assertEquals(shown(f.run(X, list)[1]), shown(list.toSorted(order)), `${compare} ${shown(list)}`);
      }
    }
  }
});

const NUMBERS = [0.25, 0.5, 1.5, 2.5, 3.5, -1.5, 7.25, 9.75];

/** Everyday sorts, each with the versions that it needs for 24 calls. */
const EVERYDAY: Readonly<Record<string, readonly [program: Program, versions: number]>> = {
  "the greatest two": [(x, { list }) => x.mul([...list].sort((a, b) => b - a).slice(0, 2)[1] ?? 0), 2],
  "a median": [(x, { list }) => x.sub(list.toSorted((a, b) => a - b)[2] ?? 0), 2],
  "the indices of an order": [(x, { list, other }) => {
    const order = list.map((_, i) => i).sort((i, j) => (other[j] ?? 0) - (other[i] ?? 0));
    return [x.sum(), order];
  }, 2],
  "a list in place, by a sign": [(x, { list, sign }) => {
    list.sort((a, b) => sign * (a - b));
    return [x.mul(list[0] ?? 0), list];
  }, 3],
  "a mean without extremes": [(x, { list }) => {
    const kept = list.toSorted((a, b) => a < b ? -1 : 1).slice(1, -1);
    return x.div(kept.reduce((a, b) => a + b, 0) + 100);
  }, 2],
};

for (const [name, [program, versions]] of Object.entries(EVERYDAY)) {
  Deno.test(`sorts of ${name} need no version for each order`, () => {
    const random = randomNumbers(7), f = capture(program);
    for (let call = 0; call < 24; call++) {
      const given = draw(random, 5, NUMBERS), mine = structuredClone(given);
      assertEquals(shown([f.run(X, mine), mine]), shown([program(X, given), given]), `call ${call}`);
    }
    assertEquals([f.graphs.length, f.resumed().length], [versions, 0]);
  });
}

Deno.test("sorted sizes stay sizes, with a version for each order", () => {
  const f = capture((x: Tensor, y: Tensor, z: Tensor) => {
    const sizes = [y.shape[0] ?? 0, z.shape[0] ?? 0].sort((a, b) => a - b);
    return x.narrow(0, 0, sizes[0] ?? 0).sum().add(sizes[1] ?? 0);
  });
  const x = tensor([1.5, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  for (const [a, b] of [[2, 3], [3, 4], [4, 6], [5, 7], [7, 5], [6, 3], [8, 2], [9, 4], [3, 9], [2, 8]]) {
    const [least, most] = [Math.min(a ?? 0, b ?? 0), Math.max(a ?? 0, b ?? 0)];
    const expected = x.narrow(0, 0, least).sum().add(most);
    assertEquals(plain(f.run(x, x.narrow(0, 0, a ?? 0), x.narrow(0, 0, b ?? 0))), plain(expected));
  }
  assertEquals(f.graphs.length, 3);
});

Deno.test("a sort of numbers has no guard of a comparison, and runs once for all of its elements", () => {
  const f = capture((x: Tensor, list: number[]) => [x.sum(), ...list.toSorted((a, b) => b - a)]);
  for (const list of [[1.5, 2.5, 0.5], [3.5, 0.25, 7.5], [0.125, 8.5, 4.5]]) {
    assertEquals(f.run(X, list).slice(1), list.toSorted((a, b) => Number(b) - Number(a)));
  }
  assertEquals(f.guards().filter((guard) => guard.includes("<")), []);
  assertEquals(f.code().split("=>").length, 2, f.code());
});
