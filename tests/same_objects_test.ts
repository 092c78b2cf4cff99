/**
 * Programs that tell objects apart without comparing them, called with arguments of which some are one object.
 * Invariant: whichever arguments a version was compiled for, each call gives what plain execution gives.
 */
import { assertEquals } from "@std/assert";
import type { Tensor } from "../lib/tensor/tensor.ts";
import { capture, list, vector } from "./support/dynamo.ts";

interface Thing {
  [key: string]: unknown;
  n?: number;
}

/** Programs that find out which of three objects are one. */
const LOOKS: Readonly<Record<string, (a: object, b: object, c: object) => number>> = {
  "a Set made of them": (a, b, c) => new Set([a, b, c]).size,
  "a Map made of them": (a, b, c) => new Map([[a, 1], [b, 2], [c, 3]]).get(a) ?? 0,
  "groups by them": (a, b, c) => Map.groupBy([a, b, c], (each) => each).size,
  "a Set that loses one": (a, b, c) => {
    const set = new Set([a, b]);
    return set.delete(c) ? set.size : 9;
  },
  "a Set that had one": (a, b, c) => {
    const set = new Set([a]);
    set.delete(a);
    set.add(b);
    return (set.has(c) ? 2 : 0) + (set.has(a) ? 1 : 0);
  },
  "a union": (a, b, c) => new Set([a]).union(new Set([b, c])).size,
  "an intersection": (a, b, c) => new Set([a]).intersection(new Set([b, c])).size,
  "a difference": (a, b, c) => new Set([a, b]).difference(new Set([c])).size,
  "a symmetric difference": (a, b, c) => new Set([a]).symmetricDifference(new Set([b, c])).size,
  "a subset": (a, b, c) => new Set([a]).isSubsetOf(new Set([b, c])) ? 1 : 2,
  "disjoint Sets": (a, b, c) => new Set([a]).isDisjointFrom(new Set([b, c])) ? 1 : 2,
  "a WeakSet": (a, b, c) => {
    const set = new WeakSet([a, b]);
    return set.delete(b) && set.has(a) ? 1 : set.has(c) ? 2 : 3;
  },
  "a WeakMap": (a, b, c) => {
    const map = new WeakMap<object, number>();
    map.set(a, 1).set(b, 2);
    return (map.get(a) ?? 0) * 10 + (map.get(c) ?? 0);
  },
  "positions": (a, b, c) => [a, b, c].lastIndexOf(a) * 10 + [a, b].indexOf(c),
};

/** Programs that write to the first of three objects, and look at the others meanwhile. */
const WRITES: Readonly<Record<string, (a: Thing, b: Thing, c: Thing) => unknown>> = {
  "a property that is deleted again": (a, b, c) => {
    a["q"] = 5;
    const seen = [b["q"], c["q"]];
    delete a["q"];
    return seen.join();
  },
  "a property that is put back": (a, b, c) => {
    const { n = 0 } = a;
    a.n = n + 10;
    const seen = [b.n, c.n];
    a.n = n;
    return seen.join();
  },
  "clones": (a, b, c) => {
    const [one, other, third] = structuredClone([a, b, c]);
    return [one === other, other === third, one === third].join();
  },
};

/** Objects of other kinds, whose properties are written like those of plain objects. */
const KINDS: Readonly<Record<string, (n: number) => object>> = {
  "functions": (n) => () => n,
  "typed arrays": (n) => new Float32Array([n]),
  "buffers": (n) => new ArrayBuffer(n),
  "views of buffers": (n) => new DataView(new ArrayBuffer(n)),
};

const LISTS: Readonly<Record<string, (a: number[], b: number[]) => number>> = {
  "an element that is put back": (a, b) => {
    const [first = 0] = a;
    a[0] = 5;
    const [seen = 0] = b;
    a[0] = first;
    return seen;
  },
  "an item that is taken off again": (a, b) => {
    a.push(1);
    const { length } = b;
    a.pop();
    return length;
  },
};

/** Which of three things are one, in the order of calls: the first call compiles for different ones. */
const CALLS = [[0, 1, 2], [0, 0, 2], [0, 1, 1], [0, 1, 0], [2, 2, 2], [1, 2, 0]] as const;

/** Calls a compiled program with things of which some are one, and plain with others of the same kind. */
function compare<T>(program: (a: T, b: T, c: T) => unknown, make: (at: number) => T): void {
  const compiled = capture((x: Tensor, a: T, b: T, c: T) => [program(a, b, c), x.add(1)]);
  const [given, plain] = [0, 1].map(() => [make(0), make(1), make(2)]);
  for (const [i, j, k] of CALLS) {
    const pick = (things: readonly T[] = []) => [things[i], things[j], things[k]] as [T, T, T];
    const [found] = compiled.run(vector(1), ...pick(given)) as unknown[];
    assertEquals(found, program(...pick(plain)), `things ${i}, ${j}, ${k}`);
  }
}

const CONSTANT: object = {}, CONSTANT_VECTOR = vector(2);

/** Programs that compare what they are given with what they capture. */
const COMPARISONS: Readonly<Record<string, (a: object) => unknown>> = {
  "an object with a constant": (a) => a === CONSTANT,
  "a constant with an object": (a) => CONSTANT !== a,
  "a tensor with a constant": (a) => a === CONSTANT_VECTOR,
  "by Object.is": (a) => Object.is(a, CONSTANT),
  "by switch": (a) => {
    switch (a) {
      case CONSTANT:
        return 1;
      case CONSTANT_VECTOR:
        return 2;
      default:
        return 3;
    }
  },
  "in a list": (a) => [CONSTANT, CONSTANT_VECTOR].indexOf(a),
  "in a Set": (a) => new Set([a, CONSTANT, CONSTANT_VECTOR]).size,
  "as keys": (a) => new Map([[a, 1], [CONSTANT, 2], [CONSTANT_VECTOR, 3]]).get(a),
};

for (const [name, program] of Object.entries(COMPARISONS)) {
  Deno.test(`what is not a constant in one call may be it in another: ${name}`, () => {
    const compiled = capture((x: Tensor, a: object) => [program(a), x.add(1)]);
    for (const a of [{}, vector(2), CONSTANT, CONSTANT_VECTOR, {}]) {
      assertEquals(compiled.run(vector(1), a)[0], program(a));
    }
  });
}

for (const [name, program] of Object.entries(LOOKS)) {
  Deno.test(`among objects that may be identical, each call finds those that are: ${name}`, () => {
    compare(program, () => ({}));
    compare(program, () => vector(2));
  });
}

for (const [name, program] of Object.entries(WRITES)) {
  Deno.test(`writes to one object are visible under its other names: ${name}`, () => {
    compare(program, (n) => ({ n }));
  });
}

for (const [name, make] of Object.entries(KINDS)) {
  Deno.test(`properties written to one object are visible under its other names: ${name}`, () => {
    const program = (a: object, b: object, c: object) => {
      Reflect.set(a, "q", 5);
      const seen = [b, c].map((each): unknown => Reflect.get(each, "q"));
      Reflect.deleteProperty(a, "q");
      return seen.join();
    };
    compare(program, make);
  });
}

for (const [name, program] of Object.entries(LISTS)) {
  Deno.test(`writes to one list are visible under its other names: ${name}`, () => {
    compare(program, (n) => [n, n + 1]);
  });
}

Deno.test("a gradient is added once to a leaf in two places", () => {
  const product = (x: Tensor, y: Tensor) => x.mul(y).sum().backward();
  const compiled = capture(product);
  const [given, plain] = [0, 1].map(() =>
    [0, 1].map(() => Object.assign(vector(2).requiresGrad_(), { grad: vector(2) }))
  );
  for (const [i, j] of [[0, 1], [0, 0], [1, 1], [1, 0]] as const) {
    const [leaves, expected] = [given, plain].map((each = []) => [each[i], each[j]] as [Tensor, Tensor]);
    if (!leaves || !expected) continue;
    compiled.run(...leaves);
    product(...expected);
    assertEquals(leaves.map(({ grad }) => list(grad)), expected.map(({ grad }) => list(grad)));
  }
});

Deno.test("distinct members of a Set are one fact, however many there are", () => {
  const seen = Array.from({ length: 300 }, (_, at) => ({ at }));
  const c = capture((x: Tensor, objects: readonly object[]) => {
    const found = new Set<object>();
    for (const object of objects) if (!found.has(object)) found.add(object);
    return x.mul(found.size);
  });
  assertEquals(list(c.run(vector(1), seen)), [300]);
  assertEquals(c.guards().filter((guard) => guard.startsWith("___check_no_aliasing")).length, 1);
  assertEquals(list(c.run(vector(1), [...seen.slice(1), ...seen.slice(1, 2)])), [299]);
});
