/**
 * Objects of the engine's classes that inherit from Object.prototype, and arrays under any prototype: guards tell them
 * from plain objects where the program's result depends on it.
 */
import { assertEquals } from "@std/assert";
import { compile, type Tensor, tensor } from "../mod.ts";
import { sampleBySeed } from "./support/sampling.ts";

const MADE: readonly (() => object)[] = [
  () => new Intl.NumberFormat("en"),
  () => new Intl.Collator("en"),
  () => new Intl.Segmenter("en").segment("ab"),
  () => new WeakRef({}),
  () => new WeakMap(),
  () => new FinalizationRegistry(() => {}),
  () => new DisposableStack(),
  () => [1].values(),
  () => [1].values().map(String),
  () => Object(1n),
  () => Object("text"),
  () => new WebAssembly.Memory({ initial: 1 }),
  () => Promise.resolve(),
];

const asPlain = (object: object): object => Object.setPrototypeOf(object, Object.prototype);

/** Returns the result of a call, or the name of its error. */
function outcome(run: () => unknown): string {
  try {
    return Deno.inspect(run());
  } catch (error) {
    return error instanceof Error ? error.name : "?";
  }
}

const USES: Readonly<Record<string, (object: object) => unknown>> = {
  structuredClone: (object) => structuredClone(object),
  "structuredClone of a part": (object) => structuredClone({ list: [object], map: new Map([[object, 1]]) }),
  "JSON.stringify": (object) => JSON.stringify(object),
  "JSON.stringify with a replacer": (object) => JSON.stringify([object], (_key, value: unknown) => value),
  "a text": (object) => `${object}`,
};

for (const [name, use] of Object.entries(USES)) {
  Deno.test(`${name} of a plain object, and of one of the engine's classes that looks like it`, () => {
    const program = (x: Tensor, object: object) => [x.shape, use(object)];
    for (const make of MADE) {
      const calls = [() => ({}), () => asPlain(make()), () => ({})];
      for (const order of [calls, calls.slice(1)]) {
        const compiled = compile(program, { backend: "eager" });
        for (const argument of order) {
          const found = outcome(() => compiled(tensor([1]), argument()));
          assertEquals(found, outcome(() => program(tensor([1]), argument())));
        }
      }
    }
  });
}

/** Arrays under other prototypes, and objects under those of arrays. */
const LISTS: readonly (() => object)[] = [
  () => [1, 2],
  () => Array.prototype,
  () => Object.setPrototypeOf([1, 2], null),
  () => asPlain([1, 2]),
  () => Object.create(Array.prototype),
  () => Object.assign(Object.create(Array.prototype), { 0: 1, 1: 2, length: 2 }),
  () => ({ 0: 1, 1: 2, length: 2 }),
  () => Object.create(null),
  () => Object.assign(Object.create(null), { 0: 1, 1: 2, length: 2 }),
];

const LIST_USES: Readonly<Record<string, (list: object) => unknown>> = {
  "Array.isArray": (list) => Array.isArray(list),
  concat: (list) => Array.of<unknown>(0).concat(list).length,
  flat: (list) => [0, list].flat().length,
  "JSON.stringify": (list) => JSON.stringify(list),
  "Object.prototype.toString": (list) => Object.prototype.toString.call(list),
  "Object.hasOwn": (list) => Object.hasOwn(list, "length"),
  "a write at an index": (list) => {
    if (list !== Array.prototype) Reflect.set(list, "5", 1);
    return Reflect.get(list, "length");
  },
  "a definition at an index": (list) => {
    if (list !== Array.prototype) {
      Object.defineProperty(list, 7, { value: 1, configurable: true, writable: true, enumerable: true });
    }
    return Reflect.get(list, "length");
  },
  "a write of the length": (list) => {
    if (list !== Array.prototype) Reflect.set(list, "length", 0);
    return Reflect.get(list, "0");
  },
};

const PAIRS = LISTS.flatMap((first) => LISTS.map((second) => [first, second] as const));

for (const [salt, [name, use]] of Object.entries(LIST_USES).entries()) {
  Deno.test(`${name} of arrays and of objects with their prototype, one after the other`, () => {
    for (const pair of sampleBySeed(PAIRS, 27, salt)) {
      const programs = [use, (holder: { list: object }) => use(holder.list)] as const;
      const plain = compile(programs[0], { backend: "eager" });
      const held = compile(programs[1], { backend: "eager" });
      for (const make of pair) {
        const expected = outcome(() => use(make()));
        assertEquals(outcome(() => plain(make())), expected);
        assertEquals(outcome(() => held({ list: make() })), expected);
      }
    }
  });
}

Deno.test("comparing an object with data runs none of its getters", () => {
  let asked = 0;
  const compiled = compile((x: Tensor, object: object) => [x.add(1), structuredClone(object)], {
    backend: "eager",
  });
  const x = tensor([1]), plain = { a: { b: 1 } };
  const found = compiled(x, plain)[1];
  assertEquals(found, plain);
  const getter = {
    a: {
      get b() {
        return ++asked;
      },
    },
  };
  const copy = compiled(x, getter)[1];
  assertEquals([copy, asked], [{ a: { b: 1 } }, 1]);
});
