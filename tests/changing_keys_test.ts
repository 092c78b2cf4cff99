/**
 * Indices and keys that change between calls: what is found there is an input, whatever the program and others do with
 * the lists, Maps and objects in the meantime, and no guard runs code of the program.
 */
import { assertEquals, assertThrows } from "@std/assert";
import { compile, compiler, isTensor, type Tensor, tensor } from "../mod.ts";
import { capture } from "./support/dynamo.ts";
import { randomNumbers, sampleBySeed, TAKES_ALL, testSeed } from "./support/sampling.ts";

/** A value that programs find by a key. */
interface Found {
  n: number;
  t: Tensor;
}

interface State {
  readonly notes: string[];
  list: number[];
  names: string[];
  map: Map<unknown, unknown>;
  counts: Record<string, number>;
  readonly set: Set<unknown>;
  readonly records: Found[];
  readonly tensors: Tensor[];
}

const made = (): State => ({
  notes: [],
  list: [1, 2, 3, 0, 5],
  names: ["a", "b", "c"],
  map: new Map<unknown, unknown>([["a", 1], ["b", 0], [1, 2], [2, 0.5]]),
  counts: { a: 1, b: 2, c: 0 },
  set: new Set(["a", 2, 3]),
  records: [0, 1, 2].map((n) => ({ n, t: tensor([n, 1]) })),
  tensors: [tensor([1, 2]), tensor([3, 4]), tensor([5, 6])],
});

type Program = (x: Tensor, state: State, i: number, key: string) => unknown;

const PROGRAMS: Readonly<Record<string, Program>> = {
  "read": (x, s, i, key) => [
    x.mul(s.list[i] ?? 0),
    s.map.get(key),
    s.counts[key],
    s.names[i],
    s.set.has(key),
    s.map.has(i),
  ],
  "written, then read": (x, s, i, key) => {
    s.list[0] = i;
    s.map.set("z", i);
    s.counts.z = i;
    return [x.mul(s.list[i] ?? 0), s.map.get(key), s.counts[key]];
  },
  "read, then written": (x, s, i, key) => {
    const found = [x.mul(s.list[i] ?? 0), s.map.get(key), s.counts[key]];
    s.list[0] = i + 1;
    s.map.set("a", i);
    s.counts.a = i;
    return found;
  },
  "records that change": (x, s, i) => {
    const first = s.records[i], second = s.records[(i * 2) % 3];
    if (!first || !second) return x;
    first.n += 10;
    second.n++;
    first.t = second.t.add(x);
    return [first.n, second.n, first === second, x.mul(first.n)];
  },
  "tensors written in place": (x, s, i) => {
    const written = s.tensors[i], other = s.tensors[(i + 1) % 3];
    return written && other ? [written.add_(x).sum(), other.mul(2)] : x;
  },
  "searched": (x, s, i, key) => [x.add(s.list.indexOf(i)), s.names.includes(key), s.names.indexOf(key)],
  "searched after a push": (x, s, i, key) => {
    s.list.push(i);
    s.names.push(key);
    const found = [x.add(s.list.indexOf(i)), s.names.includes(key)];
    s.list.pop();
    s.names.pop();
    return found;
  },
  "counted": (x, s, _i, key) => {
    s.map.set(key, Number(s.map.get(key) ?? 0) + 1);
    s.counts[key] = (s.counts[key] ?? 0) + 1;
    return [x.mul(s.counts[key] ?? 0), s.map.size];
  },
  "deleted": (x, s, _i, key) => [x.add(1), s.map.get(key), s.map.delete(key), s.map.has(key), s.map.get(key)],
  "counted from either end": (x, s, i) => [x.mul(s.list.at(i) ?? 7), s.names.at(-i), s.records.at(i)?.n],
  "called": (x, _s, _i, key) => {
    const functions: Record<string, (y: Tensor) => Tensor> = { a: (y) => y.add(1), b: (y) => y.mul(2) };
    return functions[key]?.(x) ?? x;
  },
};

const accessor = ({ notes }: State, of: object, key: string): unknown =>
  Object.defineProperty(of, key, {
    configurable: true,
    enumerable: true,
    get: () => (notes.push(`get ${key}`), 2),
  });

const watched = <T extends object>({ notes }: State, target: T): T =>
  new Proxy(target, {
    get: (of, key, self) => (notes.push(`trap ${String(key)}`), Reflect.get(of, key, self)),
  });

/** Changes between calls. */
const CHANGES: Readonly<Record<string, (state: State) => unknown>> = {
  "nothing": () => {},
  "other numbers": (s) => s.list = s.list.map((each) => each * 2 + 1),
  "an accessor in a list": (s) => accessor(s, s.list, "1"),
  "an accessor in an object": (s) => accessor(s, s.counts, "a"),
  "a shorter list": (s) => s.list.length = 2,
  "a hole": (s) => delete s.list[1],
  "values of other types": (s) =>
    s.map = new Map<unknown, unknown>([["a", "text"], ["b", null], ["c", { n: 1 }]]),
  "a list that is a proxy": (s) => s.list = watched(s, s.list),
  "an object that is a proxy": (s) => s.counts = watched(s, s.counts),
  "a key without a value": (s) => s.map.set("c", undefined).set(1, undefined),
  "one object in two places": (s) => s.records[2] = s.records[0] ?? { n: 0, t: tensor([0, 0]) },
  "one tensor in two places": (s) => s.tensors[1] = s.tensors[0] ?? tensor([0, 0]),
  "names that repeat": (s) => s.names = ["b", "a", "a"],
  "inherited properties": (s) => s.counts = Object.assign(Object.create({ b: 9 }), { a: 3 }),
  "frozen ones": (s) => [s.list, s.counts].map((each) => Object.freeze(each)),
  "a Map with a get of its own": (s) =>
    s.map = new (class extends Map<unknown, unknown> {
      override get(key: unknown): unknown {
        return super.get(key) ?? 77;
      }
    })(s.map),
};

const shown = (value: unknown): unknown =>
  isTensor(value)
    ? [value.dtype, value.tolist()]
    : value instanceof Map
    ? ["a Map", [...value].map(shown)]
    : Array.isArray(value)
    ? Array.from(value, shown)
    : typeof value === "object" && value !== null
    ? Object.entries(value).map(shown)
    : value;

function outcome(run: () => unknown): unknown {
  try {
    return shown(run());
  } catch (error) {
    return error instanceof Error ? error.name : error;
  }
}

for (const [name, program] of Object.entries(PROGRAMS)) {
  Deno.test(`at indices and keys that change: ${name}`, () => {
    for (const [what, change] of sampleBySeed(Object.entries(CHANGES), 6, name.length)) {
      const random = randomNumbers(testSeed() + what.length), f = compile(program, { backend: "eager" });
      const plain = made(), compiled = made();
      for (let call = 0; call < 9; call++) {
        if (call === 4) [plain, compiled].forEach(change);
        const i = Math.floor(random() * 5), key = "abcd"[Math.floor(random() * 4)] ?? "a";
        const title = `${what}, call ${call} with ${i} and ${key}`, x = () => tensor([0.5, 1]);
        assertEquals(
          outcome(() => f(x(), compiled, i, key)),
          outcome(() => program(x(), plain, i, key)),
          title,
        );
        assertEquals(compiled.notes, plain.notes, title);
        assertEquals(shown({ ...compiled, notes: 0 }), shown({ ...plain, notes: 0 }), title);
        // Showing them reads accessors too
        plain.notes.length = compiled.notes.length = 0;
      }
      assertEquals(compiler.status(f).givenUp, null, what);
    }
  });
}

Deno.test("one version after the first serves all keys and indices under which values of one kind are found", () => {
  const ids = new Map("abcdefgh".split("").map((letter, i) => [letter, i]));
  const weights: Readonly<Record<string, number>> = { a: 0, b: 1, c: -5, d: 7, e: 1, f: 0, g: 2, h: 3 };
  const long = Array.from({ length: 200 }, (_, i) => i * 3), letters = [...ids.keys()];
  const programs: Readonly<Record<string, (x: Tensor, i: number, key: string) => unknown>> = {
    "a Map": (x, _i, key) => x.mul(ids.get(key) ?? 0),
    "an object": (x, _i, key) => x.mul(weights[key] ?? 0),
    "a place in a long list": (x, i) => x.mul(long.indexOf(i * 3)),
    "whether a list includes it": (x, i, key) =>
      letters.includes(key) && long.includes(i * 3) ? x.mul(2) : x.add(1),
    "a computed index": (x, i) => x.mul(long[(i * 7) % 13] ?? 0).add(long.at(i) ?? 0),
    "a token's number, and its weight": (x, i) => x.mul(weights[letters[i % 8] ?? "a"] ?? 0),
  };
  for (const [name, program] of Object.entries(programs)) {
    const c = capture(program), x = tensor([0.5, -2]);
    for (let call = 0; call < 12; call++) {
      const i = (call * 5) % 12, key = letters[(call * 3) % 8] ?? "a";
      assertEquals(shown(c.run(x, i, key)), shown(program(x, i, key)), `${name}, call ${call}`);
    }
    assertEquals(c.graphs.length, 2, name);
  }
});

Deno.test("a number that changes is found in a list as Array.prototype.includes finds it, NaN too", () => {
  const program = (x: Tensor, n: number) => [x.add(1), [0, 1, NaN].includes(n), [n, 2].includes(NaN)];
  const f = compile(program, { backend: "eager" }), x = tensor([1]);
  for (const n of [0.5, 1.5, NaN, -0, 1, NaN]) assertEquals(shown(f(x, n)), shown(program(x, n)), `${n}`);
});

/** Statements about a list of numbers, a list of tensors and two indices, each of which puts what it sees into `seen`. */
const STEPS = [
  "numbers[i] = v;",
  "numbers[j] = v * 2;",
  "tensors[i] = x.mul(v);",
  "tensors[j] = y;",
  "seen.push(numbers[i]);",
  "seen.push(numbers[j], numbers.length);",
  "seen.push(tensors[i]);",
  "y = y.add(tensors[j]);",
  "y = y.add(tensors[1]);",
  "numbers[0] = numbers[i];",
  "[numbers[i], numbers[j]] = [numbers[j], numbers[i]];",
  "const old = tensors[i]; tensors[i] = tensors[j]; tensors[j] = old;",
  "state.at = (state.at + 1) % numbers.length;",
  "numbers[state.at] = state.at;",
  "seen.push(numbers.indexOf(v), numbers.at(-1));",
  "seen.push([...numbers]);",
  "for (const each of numbers) seen.push(each);",
  "numbers.push(numbers.shift());",
  "numbers.push(v); numbers.pop();",
  "seen.push(numbers.slice(i, i + 1));",
  "if (numbers[i] === v) seen.push(7); else seen.push(numbers[i] > 2 ? 1 : 2);",
  "if (v > 2) numbers[i] = -v;",
  "numbers[i]++;",
] as const;

Deno.test("generated programs that replace elements at changing indices give what they give uncompiled", () => {
  const random = randomNumbers(testSeed()), below = (n: number) => Math.floor(random() * n);
  for (let program = 0; program < (TAKES_ALL ? 300 : 6); program++) {
    const body = Array.from({ length: 2 + below(4) }, () => `{ ${STEPS[below(STEPS.length)]} }`).join(
      "\n    ",
    );
    const text = `"use strict";
  const numbers = [4, 1, 3, 5, 2], tensors = given.map((each) => each), state = { at: 0 };
  return (x, i, j, v) => {
    const seen = [];
    let y = x;
    ${body}
    return [y, seen, numbers.slice(), tensors.slice(), state.at];
  };`;
    const make = () => new Function("given", text)([1, 2, 3, 4, 5].map((n) => tensor([n, n / 2])));
    const expected = make(), f = capture(make()), x = tensor([0.5, -1.5]);
    for (let call = 0; call < 8; call++) {
      const given = [below(5), below(5), 1 + below(4)];
      assertEquals(
        shown(f.run(x, ...given)),
        shown(expected(x, ...given)),
        `${given} at call ${call}: ${text}`,
      );
    }
  }
});

Deno.test("a ring buffer is written at each of its indices by one version, without a break", () => {
  const make = () => {
    const buffer = { data: Array.from({ length: 8 }, () => tensor([0, 0])), at: 0, size: 0 };
    return {
      buffer,
      add: (x: Tensor) => {
        buffer.data[buffer.at] = x;
        buffer.at = (buffer.at + 1) % buffer.data.length;
        buffer.size = Math.min(buffer.size + 1, 8);
        return x.mul(buffer.size);
      },
    };
  };
  const plain = make(), compiled = make(), f = capture(compiled.add);
  for (let step = 0; step < 20; step++) {
    const x = tensor([step, 0.5]);
    assertEquals(shown(f.run(x)), shown(plain.add(x)));
    assertEquals(shown(compiled.buffer.data), shown(plain.buffer.data));
  }
  assertEquals([f.graphs.length, f.resumed().length], [2, 0]);
  // An element that cannot be replaced is left to the program
  Object.defineProperty(compiled.buffer.data, compiled.buffer.at, { value: tensor([9, 9]), writable: false });
  assertThrows(() => f.run(tensor([1, 2])), TypeError, "read only");
});
