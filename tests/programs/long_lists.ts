/** Methods with callbacks on lists of hundreds of elements: callbacks that only compute, and others that look alike. */
import { type Tensor, tensor } from "../../mod.ts";
import type { Corpus } from "../support/programs.ts";
import { sampleBySeed } from "../support/sampling.ts";

const v = (...values: number[]): Tensor => tensor(values, { dtype: "float32" });
const LENGTH = 90;

/** A function of an element and its index, such as callbacks are made of. */
type Compute = (this: unknown, value: unknown, index: number, whole?: readonly unknown[]) => unknown;

let scale = 3;
const settings = {
  shift: 2,
  inner: { names: ["a", "b"] },
  get calls() {
    return ++reads;
  },
};
let reads = 0;
const half = (value: number): number => value > 100 ? value / 2 : Math.sqrt(value * value);

/** Functions of the module and functions made in the call, by what they do. */
const COMPUTED: Readonly<Record<string, (log: unknown[]) => Compute>> = {
  "arithmetic": () => (value, index) => (Number(value) * 7 - index) % 11 / 3,
  "bits and texts": () => (value, index) => `${Number(value) ^ index}:${index >>> 1}` + (value === 5),
  "a branch with different variables": () => (value) =>
    Number(value) % 3 ? scale : settings.shift - Number(value),
  "functions of the program": () => (value, index) => half(Number(value)) + Math.max(index, 4, scale),
  "a parameter with a default": () => (value, index, whole, more = 4) =>
    Number(value) * more + (whole?.length ?? index),
  "neighbours in the list": () => (value, index, whole) => Number(value) - Number(whole?.[index - 1] ?? 0),
  "a name in an object": () => (value) => settings.inner.names[Number(value) % 3],
  "a loop": () => (value) => {
    let sum = 0;
    for (let i = 0; i < 5; i++) {
      if (i === Number(value) % 4) continue;
      sum += i * -0;
    }
    return sum;
  },
  "comparisons of all kinds": () => (value, index) =>
    [Number(value) < index, `${value}` < `${index}`, value == `${index}`, value === null, !value].length >
      4 &&
    (typeof value === "number" ? -index : value ?? "none"),
  "direct eval": () => (value, index) => eval(`${index} + ${Number(value)}`),
  "an effect": (log) => (value, index) => log.push(index) % 5 + Number(value),
  "a variable that is assigned": () => {
    let total = 0;
    return (value) => total += Number(value);
  },
  "a getter": () => (value) => settings.calls % 7 + Number(value),
  "a receiver": () =>
    function (value) {
      return Number(value) + Number(this ?? 1);
    },
  "an error": (log) => (value, index) => {
    if (index === 70) throw new RangeError(`at ${index}`);
    if (index > 67) log.push(value);
    return index;
  },
  "an error of the engine": () => (_, index, whole) => (index === 80 ? null! : { whole }).whole?.length,
  "a symbol as a number": () => (value, index) => index === 75 ? Number(Symbol.iterator as unknown) : value,
};

/** Lists of the module, and lists made in the call. */
const LISTS: Readonly<Record<string, () => unknown[]>> = {
  numbers: () => Array.from({ length: LENGTH }, (_, i) => (i * 37) % 53),
  fractions: () => Array.from({ length: LENGTH }, (_, i) => i / 8 - 4),
  mixed: () => Array.from({ length: LENGTH }, (_, i) => [i, `${i}`, null, undefined, i % 2 > 0][i % 5]),
  holes: () => Object.assign(Array(LENGTH), { 3: 1, 70: 4, 88: 2 }),
};

/** Uses of a callback. */
const USES: Readonly<Record<string, (list: unknown[], fn: Compute) => unknown>> = {
  map: (list, fn) => list.map(fn),
  filter: (list, fn) => list.filter(fn),
  "some and every": (list, fn) => [
    list.some((each, i) => fn(each, i, list) === 3),
    list.every((each, i) => fn(each, i, list)),
  ],
  "what is found": (list, fn) => [
    list.find((each, i) => Number(fn(each, i, list)) > 2),
    list.findIndex((each, i) => Number(fn(each, i, list)) > 5),
    list.findLast((each, i) => Number(fn(each, i, list)) > 2),
    list.findLastIndex((each, i) => Number(fn(each, i, list)) > 1e6),
  ],
  "sums": (list, fn) => [
    list.reduce((sum, each, i) => Number(sum) + Number(fn(each, i, list)), 0),
    list.reduce((a, b, i) => `${fn(b, i, list)}`.length + Number(a)),
    list.reduceRight((sum, each, i) => Number(sum) * 0.5 + Number(fn(each, i)), 1),
  ],
  "a list of a length": (_, fn) => Array.from({ length: LENGTH }, (each, i) => fn(each ?? i, i)),
  "an order": (list, fn) => {
    const sorted = list.toSorted((a, b) => Number(fn(a, 1)) - Number(fn(b, 1)));
    return [sorted, list.slice().sort((a, b) => fn(a, 2) as number > (fn(b, 2) as number) ? -1 : 1)];
  },
};

/** Programs over all of them: each callback with a list of the seed. */
export const longLists: Corpus = Object.fromEntries(
  Object.entries(USES).map(([use, apply], at) => [
    `long lists and callbacks: ${use}`,
    ({ compile, see, attempt }) => {
      reads = 0;
      for (const [k, computed] of sampleBySeed([...Object.values(COMPUTED).entries()], 5, at)) {
        for (const make of sampleBySeed(Object.values(LISTS), 1, at + k)) {
          const log: unknown[] = [], fn = computed(log), outside = make();
          const outsideOrMade = {
            outside: (x: Tensor) => [apply(outside, fn), x.mul(2)],
            made: (x: Tensor) => [apply([...outside, 5, 7], computed(log)), x.mul(2)],
          };
          for (const run of Object.values(outsideOrMade)) {
            const compiled = compile(run);
            scale = 3;
            settings.shift = 2;
            for (let call = 0; call < 3; call++) {
              attempt(() => compiled(v(1, 2)));
              see(log.splice(0), reads);
              // What was read may have changed
              scale += call;
              settings.shift = call;
              outside[call * 30] = -call;
            }
          }
        }
      }
    },
  ]),
);
