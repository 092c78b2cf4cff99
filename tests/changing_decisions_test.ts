/**
 * Decisions on numbers and truth values that change between calls: those that only select among numbers need no version
 * for each outcome. Generated programs give in every call what they give uncompiled, to the bit, with their effects.
 */
import { assert, assertEquals } from "@std/assert";
import { isTensor, type Tensor, tensor } from "../mod.ts";
import { capture } from "./support/dynamo.ts";
import { randomNumbers, TAKES_ALL, testSeed } from "./support/sampling.ts";

/** The data of a call. */
interface Given {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly f: boolean;
  readonly g: boolean;
  readonly list: number[];
  readonly flags: boolean[];
}

type Program = (x: Tensor, given: Given) => unknown;
type Random = () => number;

const pick = <T>(random: Random, items: readonly [T, ...T[]]): T =>
  items[Math.floor(random() * items.length)] ?? items[0];

const X = tensor([0.5, -1.5, 2]);

const shown = (value: unknown): string => Deno.inspect(value, { depth: 9 });

/** Everything that a result shows, of tensors their types and elements. */
function plain(value: unknown): unknown {
  if (isTensor(value)) return [value.dtype, value.shape, value.tolist()];
  if (Array.isArray(value)) return value.map(plain);
  return value !== null && typeof value === "object"
    ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]))
    : value;
}

/** Values of the numbers of calls. */
const NUMBERS = {
  "small integers": [0, 1, 2, 3, -1, 4],
  "numbers of all kinds": [0, -0, 0.5, 1, 2, -1.5, 7, NaN, Infinity, 3],
  fractions: [0.25, 0.5, 0.75, 1.5, 2.5, -0.5],
} as const;

function draw(random: Random, numbers: readonly [number, ...number[]]): Given {
  const number = () => pick(random, numbers), flag = () => random() < 0.5;
  return {
    a: number(),
    b: number(),
    c: number(),
    f: flag(),
    g: flag(),
    list: [number(), number(), number(), number()],
    flags: [flag(), flag(), flag()],
  };
}

/** Writes programs whose decisions depend on what calls pass, and on what earlier calls have left. */
class Writer {
  readonly #locals: string[] = [];

  constructor(readonly random: Random) {}

  #one<T>(...items: readonly [T, ...T[]]): T {
    return pick(this.random, items);
  }

  number(depth: number): string {
    const { random } = this;
    if (depth <= 0 || random() < 0.25) {
      const locals = this.#locals, local = locals[Math.floor(random() * locals.length)] ?? "o.a";
      return this.#one(
        "o.a",
        "o.b",
        "o.c",
        "0",
        "1",
        "2",
        "0.5",
        "-1",
        "o.list[1]",
        "state.n",
        "state.best",
        local,
        local,
      );
    }
    const again = () => this.number(depth - 1), test = () => this.test(depth - 1);
    return this.#one(
      () => `(${again()} ${this.#one("+", "-", "*", "/", "%")} ${again()})`,
      () => `(${test()} ? ${again()} : ${again()})`,
      () => `(${test()} ? ${again()} : ${again()})`,
      () => `Math.${this.#one("max", "min")}(${again()}, ${again()})`,
      () => `(${again()} || ${again()})`,
      () => `(${again()} && ${again()})`,
      () => `(+${test()})`,
      () => `o.list.${this.#one("findIndex", "findLastIndex")}((each) => each < ${again()})`,
      () => "o.list.reduce((a, b) => a > b ? a : b)",
      () => `(${test()} + ${again()})`,
      () => `between(${again()}, 0, 2)`,
      () => `span(${again()}, ${again()})`,
      () => `(- ${again()})`,
    )();
  }

  test(depth: number): string {
    const again = () => this.test(depth - 1), number = () => this.number(depth - 1);
    if (depth <= 0) {
      return this.#one(
        "o.f",
        "o.g",
        "!o.f",
        "o.flags[0]",
        "o.flags[2]",
        "o.a > o.b",
        "o.a === 1",
        "state.n < 2",
      );
    }
    return this.#one(
      () => `(${number()} ${this.#one("<", "<=", ">", ">=", "===", "!==", "==", "!=")} ${number()})`,
      () => `(${number()} ${this.#one("<", "<=", ">", ">=", "===", "!==")} ${number()})`,
      () => `(${again()} && ${again()})`,
      () => `(${again()} || ${again()})`,
      () => `!${again()}`,
      () => `(${again()} ${this.#one("===", "!==")} ${this.#one("true", "false", again())})`,
      () => `(${again()} ? ${again()} : ${again()})`,
      () => `!!${number()}`,
      () => `isLarge(${number()})`,
      () => `Object.is(${number()}, ${this.#one("-0", "0", "NaN", "2", number(), again())})`,
      () => `o.list.${this.#one("some", "every")}((each) => each > ${number()})`,
      () => `o.flags.${this.#one("some", "every")}((each) => each)`,
      () => this.#one("o.f", "o.g", "o.flags[1]"),
    )();
  }

  #assignment(depth: number): string {
    const target = this.#one("state.n", "state.best", "shared", "counts[1]", ...this.#locals.slice(-2));
    return this.#one(
      () => `${target} = ${this.number(depth)};`,
      () => `${target} += ${this.number(depth)};`,
      () => target.includes("[") ? `${target} = ${this.number(depth)};` : `${target}++;`,
    )();
  }

  statement(depth: number): string {
    const inner = () => depth > 0 && this.random() < 0.4 ? this.statement(depth - 1) : this.#assignment(1);
    return this.#one(
      () => `if (${this.test(2)}) { ${inner()} } else { ${inner()} }`,
      () => `if (${this.test(2)}) { ${inner()} ${inner()} }`,
      () =>
        `for (let i = 0; i < o.list.length; i++) if (o.list[i] ${this.#one("<", ">")} shared) { ${inner()} }`,
      () =>
        `for (const each of o.list) { if (each > ${this.number(1)}) { shared = each; ${
          this.#one("break;", "")
        } } }`,
      () => `switch (${this.number(1)}) { case 0: ${inner()} break; case 1: ${inner()} default: ${inner()} }`,
      () => `o.flags.forEach((each, i) => { if (each) counts[i] += ${this.number(1)}; });`,
      () => this.#assignment(2),
    )();
  }

  program(): string {
    const parts = Array.from({ length: 3 }, (_, i) => {
      const begun = `let v${i} = ${this.number(3)};`;
      this.#locals.push(`v${i}`);
      return [begun, this.statement(2)];
    });
    const body = parts.flat().join("\n    ");
    const locals = this.#locals.slice(-3).join(", ");
    return `"use strict";
  const state = { n: 0, best: 1 }, counts = [0, 1, 2];
  let shared = 0.5;
  const between = (v, least, most) => { if (v < least) return least; return v > most ? most : v; };
  const minus = (v, w) => v - w;
  const span = (v, w) => {
    const pair = [v, 1];
    if (v > w) { pair[1] = w; return Reflect.apply(minus, null, pair); }
    return Reflect.apply(minus, null, pair);
  };
  function isLarge(v) { if (v > 2) return true; return v < -2; }
  return (x, o) => {
    ${body}
    if (!(Math.abs(state.n) < 100)) state.n = 0;
    if (!(Math.abs(state.best) < 100)) state.best = 1;
    if (!(Math.abs(shared) < 100)) shared = 1;
    for (let i = 0; i < 3; i++) if (!(Math.abs(counts[i]) < 100)) counts[i] = 0;
    const y = x.mul(${this.number(2)}).add(shared);
    return [y, x.mul(${this.test(1)} ? 2 : 0.5), [${locals}], ${this.test(2)}, ${
      this.number(2)
    }, { ...state }, [...counts], shared];
  };`;
  }
}

for (const [what, numbers] of Object.entries(NUMBERS)) {
  Deno.test(`generated programs that decide on ${what} give what they give uncompiled, with their effects`, () => {
    const random = randomNumbers(testSeed() + what.length);
    for (let program = 0; program < (TAKES_ALL ? 150 : 4); program++) {
      const text = new Writer(random).program(), make = new Function(text);
      const expected: Program = make(), actual: Program = make(), f = capture(actual);
      for (let call = 0; call < 10; call++) {
        const given = draw(random, numbers), before = shown(given);
        assertEquals(
          shown(plain(f.run(X, given))),
          shown(plain(expected(X, given))),
          `${before} ${call} ${text}`,
        );
        assertEquals(shown(given), before);
      }
    }
  });
}

/** Schedules, samplers and other everyday programs, each with the versions that it needs for 24 calls. */
const EVERYDAY: Readonly<Record<string, readonly [make: () => Program, versions: number]>> = {
  "a schedule with warm-up and a cosine": [() => {
    let step = 0;
    return (x) => {
      const rate = step < 8 ? 0.1 * step / 8 : 0.05 * (1 + Math.cos(Math.PI * (step - 8) / 16));
      step++;
      return x.mul(rate);
    };
  }, 2],
  "a schedule of stages": [() => (x, { a }) => {
    let rate;
    if (a < 1) rate = a * 0.01;
    else if (a < 2) rate = 0.05;
    else if (a < 3) rate = 0.02;
    else rate = 0.001;
    return x.mul(rate);
  }, 2],
  "a schedule in an object": [() => {
    const schedule = {
      step: 0,
      rate() {
        this.step++;
        if (this.step <= 6) return 0.1 * this.step / 6;
        return 0.1 * 0.9 ** (this.step - 6);
      },
    };
    return (x) => x.mul(schedule.rate());
  }, 2],
  "early stopping with patience": [() => {
    const state = { best: 100, bad: 0 };
    return (x, { a: loss }) => {
      if (loss < state.best) {
        state.best = loss;
        state.bad = 0;
      } else state.bad++;
      return [x.mul(state.bad >= 3 ? 0.01 : 0.1), state.best, state.bad];
    };
    // Its two numbers begin to change one after the other
  }, 3],
  "a loss scale": [() => {
    const state = { scale: 1024, good: 0 };
    return (x, { f: overflows }) => {
      if (overflows) {
        state.scale /= 2;
        state.good = 0;
      } else if (++state.good === 3) {
        state.scale *= 2;
        state.good = 0;
      }
      return x.mul(state.scale);
    };
    // The count, the scale and the flag begin to change one after the other; at last the scale is a fraction
  }, 5],
  "the greatest of a list and its index": [() => (x, { list }) => {
    let best = -Infinity, at = 0;
    for (let i = 0; i < list.length; i++) {
      if ((list[i] ?? 0) > best) {
        best = list[i] ?? 0;
        at = i;
      }
    }
    return [x.mul(best), at];
  }, 2],
  "a token by cumulative probabilities": [() => (x, { list, a }) => {
    let sum = 0, token = list.length - 1;
    for (let i = 0; i < list.length; i++) {
      sum += list[i] ?? 0;
      if (a < sum) {
        token = i;
        break;
      }
    }
    return x.add(token);
  }, 2],
  "one-hot by comparison": [() => (x, { a }) => x.mul(tensor([0, 1, 2].map((i) => i === a ? 1 : 0))), 2],
  "ends of episodes": [() => (x, { flags }) => x.mul(tensor(flags.map((done) => done ? 0.5 : 0.99))), 2],
  "a count": [() => (x, { list }) => {
    let count = 0;
    for (const each of list) if (each > 1) count++;
    return x.mul(count);
  }, 2],
  "clamping": [() => (x, { a }) => {
    let t = a;
    if (t < 1) t = 1;
    if (t > 3) t = 3;
    return x.mul(t);
  }, 2],
  "conditions joined": [() => (x, { a, b }) => x.mul(a > 1 && b > 1 ? 2 : a < 1 || b < 1 ? 3 : 4), 2],
  "some, every and findIndex": [() => (x, { list }) => {
    const scale = list.some((each) => each > 3) ? 0.5 : 1, all = list.every((each) => each > 0) ? 1 : 0;
    return x.mul(scale).add(all).sub(list.findIndex((each) => each === 2));
  }, 2],
  "the greatest by reduce": [() => (x, { list }) => x.sub(list.reduce((a, b) => a > b ? a : b)), 2],
  "a list that one way changes and passes on": [() => {
    const minus = (v: number, w: number) => v - w;
    return (x, { a, b }) => {
      const given = [b, 1];
      let difference = 0;
      if (a > 1) {
        given[1] = a;
        difference = Reflect.apply(minus, null, given);
      }
      return [x.mul(difference), given];
    };
  }, 2],
  "a switch": [() => (x, { a }) => {
    switch (a) {
      case 0:
        return x.mul(0.1);
      case 1:
        return x.mul(0.2);
    }
    return x.mul(0.3);
  }, 4],
};

for (const [name, [make, versions]] of Object.entries(EVERYDAY)) {
  Deno.test(`decisions of ${name} need no version for each outcome`, () => {
    const random = randomNumbers(7), f = capture(make()), expected = make();
    for (let call = 0; call < 24; call++) {
      const given = draw(random, NUMBERS["small integers"]);
      assertEquals(plain(f.run(X, given)), plain(expected(X, given)), `call ${call}`);
    }
    assertEquals(f.graphs.length, versions);
  });
}

Deno.test("a selected number that must be known has a version for each outcome, and breaks no graph", () => {
  const f = capture((x: Tensor, n: number) => {
    const size = n > 3 ? 3 : n > 2 ? 2 : n > 1 ? 1 : n > 0 ? 4 : 5;
    return [x.sum(), [7, 8, 9, 10, 11].slice(0, size), `${size}`.length];
  });
  for (const n of [3.5, 2.5, 1.5, 0.5, -0.5, 3.25, 2.25, 1.25, 0.25, -0.25]) {
    const size = n > 3 ? 3 : n > 2 ? 2 : n > 1 ? 1 : n > 0 ? 4 : 5;
    assertEquals(plain(f.run(X, n)), [plain(X.sum()), [7, 8, 9, 10, 11].slice(0, size), 1]);
  }
  assertEquals(f.resumed(), []);
});

Deno.test("work on tensors that differs has a version for each outcome, whatever the numbers are", () => {
  const f = capture((x: Tensor, n: number) => n > 3 ? x.mul(n) : x.add(n).add(n));
  for (const n of [1.5, 2.5, 4.5, 0.5, 9.5, 5.5, 2.25]) assertEquals(f.run(X, n).shape, [3]);
  // The first number, and then one for each outcome
  assertEquals(f.graphs.length, 3);
  assert(f.guards().some((guard) => guard.includes('(L["n"] > 3)')), f.guards().join("\n"));
});

Deno.test("a sort by a comparator that chooses between constants has one guard for each comparison, of its condition", () => {
  const list = Array.from({ length: 80 }, (_, i) => (i * 37) % 101 - 3);
  const f = capture((x: Tensor) => {
    let calls = 0;
    const order = (a: number, b: number) => (calls++, a * 3 > b * 3 ? -1 : a === b ? 0 : 1);
    return [list.toSorted(order), x.mul(2), calls];
  });
  const sorted = () => {
    let compared = 0;
    const expected = list.toSorted((a, b) => (compared++, a * 3 > b * 3 ? -1 : a === b ? 0 : 1));
    const [actual, , calls] = f.run(X);
    assertEquals([actual, calls], [expected, compared]);
    return compared;
  };
  sorted();
  list.forEach((_, i) => list[i] = (i * 41) % 97);
  const compared = sorted(), guards = f.guards().filter((guard) => / [<>] /.test(guard));
  assert(guards.length <= compared, `${guards.length} guards of ${compared} comparisons`);
  assert(guards.every((guard) => !guard.includes("?")), guards[0]);
});

Deno.test("numbers that conditions select from few constants are compared by these conditions", () => {
  const f = capture((x: Tensor, n: number) => {
    const order = n > 3 ? -1 : n < 1 ? 0 : 1;
    return [x.mul(2), order < 0, order === 0, 0 < order, order >= -1, !order, order !== order, order > 7];
  });
  for (const n of [0.5, 2.5, 3.5, NaN, 1, 7]) {
    const order = n > 3 ? -1 : n < 1 ? 0 : 1;
    assertEquals(f.run(X, n).slice(1), [
      order < 0,
      order === 0,
      order > 0,
      true,
      order === 0,
      false,
      false,
    ]);
  }
  assertEquals(f.graphs.length, 2);
  const text = f.code();
  assert(!text.includes("-1"), text);
});

Deno.test("Object.is tells zeros of both signs and NaN apart, of any numbers, without a version or a break for them", () => {
  const f = capture((x: Tensor, n: number, k: number) => {
    const some = n > 1 ? -0 : n < 0 ? NaN : 0;
    return [
      x.mul(2),
      [0, -0, NaN, 2.5].flatMap((each) => [Object.is(n, each), Object.is(each, k), Object.is(some, each)]),
      [Object.is(n, k), Object.is(some, n), Object.is(k, n > 1), Object.is(n > 1, true), Object.is(n > 1, n)],
    ];
  });
  const values = [2.5, 0.25, 1.5, 0, -0, NaN, -1, 7.5, 2.5];
  for (const n of values) {
    for (const k of values) {
      const some = n > 1 ? -0 : n < 0 ? NaN : 0;
      assertEquals(f.run(X, n, k).slice(1), [
        [0, -0, NaN, 2.5].flatMap((each) => [Object.is(n, each), Object.is(each, k), Object.is(some, each)]),
        [Object.is(n, k), Object.is(some, n), false, n > 1, false],
      ]);
    }
  }
  // The second number begins to change first
  assertEquals([f.graphs.length, f.resumed().length], [3, 0]);
});
