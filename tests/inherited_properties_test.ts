/**
 * Properties that programs define on all objects, lists, functions and maps: dyn's own work uses none of them, whether
 * a call runs uncompiled, is served by a cached version, or compiles. Names are sampled from those that dyn's sources
 * read and write; the program's properties are not called and do not interfere.
 */
import { assert, assertEquals } from "@std/assert";
import { compile, type Tensor, tensor } from "../mod.ts";
import { runProgram } from "./support/process.ts";
import { randomNumbers, sampleBySeed, TAKES_ALL, testSeed } from "./support/sampling.ts";

const { defineProperty, deleteProperty, getPrototypeOf, ownKeys } = Reflect;

const HOLDERS = {
  "Object.prototype": Object.prototype,
  "Array.prototype": Array.prototype,
  "Function.prototype": Function.prototype,
  "Map.prototype": Map.prototype,
  "iterators": getPrototypeOf(getPrototypeOf([][Symbol.iterator]()) ?? {}) ?? {},
} as const;

const WAYS = ["a value that cannot be replaced", "an accessor that throws", "a function"] as const;

function descriptorOf(way: (typeof WAYS)[number], ran: () => never): PropertyDescriptor {
  switch (way) {
    case "a value that cannot be replaced":
      return { value: 100, writable: false, configurable: true };
    case "an accessor that throws":
      return { get: ran, set: ran, configurable: true };
    case "a function":
      return { value: () => 100, writable: true, enumerable: true, configurable: true };
    default:
      return way satisfies never;
  }
}

/** Names that mean something to engines, and to records that do not have all of their properties. */
const NAMES = [
  "0",
  "1",
  "3",
  "get",
  "set",
  "value",
  "return",
  "results",
  "ranges",
  "variadic",
  "dtype",
  "self",
];

function namesBelow(folder: URL): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    if (isDirectory) return namesBelow(new URL(`${name}/`, folder));
    const text = name.endsWith(".ts") ? Deno.readTextFileSync(new URL(name, folder)) : "";
    return [...text.matchAll(/\.([A-Za-z_]\w*)/g)].map(([, key = ""]) => key);
  });
}

interface Case {
  readonly holder: keyof typeof HOLDERS;
  readonly way: (typeof WAYS)[number];
  readonly key: string;
}

const READ = [
  ...new Set(
    ["lib/base/", "lib/ops/", "lib/tensor/", "lib/dynamo/"].flatMap((folder) =>
      namesBelow(new URL(`../${folder}`, import.meta.url))
    ),
  ),
];
const HOLDER_NAMES = Object.keys(HOLDERS) as (keyof typeof HOLDERS)[];

function casesOf(holders: readonly (keyof typeof HOLDERS)[], keys: readonly string[]): Case[] {
  return holders.flatMap((holder) => WAYS.flatMap((way) => keys.map((key) => ({ holder, way, key }))));
}

/** Some of very many, also where everything is taken. */
function drawn<T>(items: readonly T[], count: number): T[] {
  const random = randomNumbers(testSeed());
  return Array.from({ length: count }, () => items[Math.floor(random() * items.length)])
    .filter((item) => item !== undefined);
}

const CASES = [
  ...sampleBySeed(casesOf(["Object.prototype"], NAMES), 12),
  ...drawn(casesOf(HOLDER_NAMES, READ), TAKES_ALL ? 300 : 24),
].filter(({ holder, key }) => !(key in HOLDERS[holder]));

type Program = (x: Tensor) => { readonly parts: readonly Tensor[]; readonly size: number | undefined };

/** A program for each case, in one script. */
const PROGRAMS: readonly Program[] = new Function(`return [${
  CASES.map((_, k) =>
    `(x) => {
      let s = x.mul(2).add(${k});
      for (let i = 0; i < 2; i++) s = s.relu().sub(i);
      return { parts: [s, s.sum(0)], size: x.shape[0] };
    }`
  ).join()
}]`)();

const shown = ({ parts, size }: ReturnType<Program>) => [parts.map((part) => part.tolist()), size];

Deno.test("properties of all objects do not interfere with calls and compiling", () => {
  const x = tensor([1.5, 2]), y = tensor([1.5, 2, -3]);
  assert(CASES.length > 10);
  CASES.forEach(({ holder, way, key }, k) => {
    const program = PROGRAMS[k];
    assert(program);
    const served = compile(program, { backend: "eager" }), compiled = compile(program, { backend: "eager" });
    const wanted = [x, y].map((each) => shown(program(each)));
    assertEquals(shown(served(x)), wanted[0]);
    let ran = 0;
    const descriptor = descriptorOf(way, () => {
      ran++;
      throw new TypeError(`${holder}.${key} is the program's`);
    });
    const calls: [string, () => ReturnType<Program>, unknown][] = [
      ["uncompiled", () => program(x), wanted[0]],
      ["served", () => served(x), wanted[0]],
      ["compiled", () => compiled(x), wanted[0]],
      ["served by that", () => compiled(x), wanted[0]],
      ["compiled again", () => compiled(y), wanted[1]],
    ];
    for (const [how, call, expected] of calls) {
      defineProperty(HOLDERS[holder], key, descriptor);
      let result: ReturnType<Program> | null = null, thrown: unknown = null;
      try {
        result = call();
      } catch (error) {
        thrown = error;
      }
      const isThere = ownKeys(HOLDERS[holder]).includes(key);
      deleteProperty(HOLDERS[holder], key);
      const found = result ? shown(result) : `${thrown}`;
      assertEquals([found, ran, isThere], [expected, 0, true], `${holder}.${key}, ${way}: ${how}`);
    }
  });
});

Deno.test("dyn leaves nothing behind after a program that gives lists an element", async () => {
  const script = `
    import { compile, tensor } from ${JSON.stringify(new URL("../mod.ts", import.meta.url).href)};
    const f = compile((x) => {
      const before = x.add(1);
      Object.defineProperty(Array.prototype, "1", { value: 100, writable: false, configurable: true });
      const list = [before, before.mul(2)];
      return [Object.hasOwn(list, "1"), list[1].add(0)];
    }, { backend: "eager" });
    const [own, result] = f(tensor([1, 2]));
    setTimeout(() => console.log(own, result.tolist().join()), 0);`;
  const config = new URL("../deno.json", import.meta.url).pathname;
  const { code, stdout, stderr } = await runProgram(Deno.execPath(), [
    "eval",
    "--no-check",
    "--config",
    config,
    script,
  ]);
  assertEquals([code, stdout], [0, "true 4,6\n"], stderr);
});

Deno.test("options of compile are none of the properties that a program gives all objects", () => {
  const thrower = {
    get(): unknown {
      throw new Error("a property of all objects");
    },
    configurable: true,
  };
  const keys = [
    "backend",
    "fullgraph",
    "dynamic",
    "shapesSpec",
    "mode",
    "options",
    "disable",
    "name",
    "named",
  ];
  const x = tensor([1, 2]);
  for (const key of [...keys, "signature", "kind", "value", "length"]) {
    for (const descriptor of [{ value: "patched", configurable: true }, thrower]) {
      const program = (t: Tensor): Tensor => t.add(1);
      let found: Tensor | undefined;
      defineProperty(Object.prototype, key, descriptor);
      try {
        found = compile(program, { backend: "eager" })(x);
      } finally {
        deleteProperty(Object.prototype, key);
      }
      assertEquals(found.tolist(), [2, 3], key);
    }
  }
});

Deno.test("an object that a program freezes refuses assignments to what inherits from it", () => {
  interface Kept {
    k: number;
  }
  const refused = (assign: () => void): boolean => {
    try {
      assign();
      return false;
    } catch {
      return true;
    }
  };
  const heirs: Readonly<Record<string, (holder: Kept) => Kept>> = {
    "created": (holder) => Object.create(holder),
    "set": (holder) => Object.setPrototypeOf({ other: 1 }, holder),
    "a list": (holder) => Object.setPrototypeOf([7], holder),
  };
  for (const [name, heir] of Object.entries(heirs)) {
    const program = (x: Tensor, holder: Kept): readonly unknown[] => {
      holder.k = 2;
      Object.freeze(holder);
      const made = heir(holder);
      const found = [refused(() => made.k = 5), refused(() => made.k++), Reflect.set(made, "k", 6)];
      return [...found, Object.hasOwn(made, "k"), made.k, x.add(1).tolist()];
    };
    const unwritten = (x: Tensor, holder: Kept): readonly unknown[] => {
      Object.freeze(holder);
      const made = heir(holder);
      return [refused(() => made.k = 5), Object.hasOwn(made, "k"), made.k, x.add(1).tolist()];
    };
    const x = tensor([1]);
    for (const each of [program, unwritten]) {
      const compiled = compile(each, { backend: "eager" });
      const expected = each(x, { k: 1 });
      assertEquals(expected[0], true, name);
      for (let call = 0; call < 2; call++) assertEquals(compiled(x, { k: 1 }), expected, name);
    }
  }
});
