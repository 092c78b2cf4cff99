/**
 * Captures between processes: a later process reuses what an earlier one traced if the state of the program is the
 * same, with the same results; if anything that the trace has read differs, it traces anew. Each process runs many
 * functions, each in a world of its own, so that a few processes cover many differences.
 */
import { assertEquals, assertThrows } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plain } from "../lib/base/recording.ts";
import { codeFinder } from "../lib/dynamo/disk_cache/code_forms.ts";
import { type ByNumber, Lines, Places } from "../lib/dynamo/disk_cache/place_forms.ts";
import { sourceText } from "../lib/dynamo/source.ts";
import { ShapeEnv } from "../lib/sym/shape_env.ts";
import { DamagedForm } from "../lib/sym/stored/forms.ts";
import { Symbols } from "../lib/sym/stored/symbols.ts";
import type { Told } from "./kept/telling.ts";
import { testInTurn } from "./support/costly_tests.ts";
import { runProgram, withFolder } from "./support/process.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

type Worlds = Record<string, Told>;

/** Modules of the program and what they are in the other world. */
const MODULES: Readonly<Record<string, readonly [string, string]>> = {
  text: ["export const run = (x) => x.mul(2);", "export const run = (x) => x.mul(3);"],
  place: ["export const run = (x) => x.mul(2);", "\nexport const run = (x) => x.mul(2);"],
  constant: [
    "const factor = 2;\nexport const run = (x) => x.mul(factor);",
    "const factor = 3;\nexport const run = (x) => x.mul(factor);",
  ],
  from: ["export const factor = 2;", "export const factor = 3;"],
  imported: Array(2).fill(
    'import { factor } from "./from.ts";\nexport const run = (x) => x.mul(factor);',
  ) as [
    string,
    string,
  ],
  changing: [
    "export let factor = 2;\nexport const set = (to) => to;",
    "export let factor = 2;\nexport const set = (to) => factor = to;",
  ],
  reassigned: Array(2).fill(
    'import { factor } from "./changing.ts";\nexport const run = (x) => x.mul(factor);',
  ) as [
    string,
    string,
  ],
  unassigned: ["export const factor = 2;", "export const factor = 2;"],
  assigned: ["export let factor = 1;\nfactor = 2;", "export let factor = 1;\nfactor = 2;"],
  // An import map says what the name stands for
  named: Array(2).fill(
    'import "./unassigned.ts";\nimport { factor } from "state";\nexport const run = (x) => x.mul(factor);',
  ) as [
    string,
    string,
  ],
};

/** The module that is imported as `state`, in either world. */
const NAMED = ["unassigned", "assigned"] as const;

/** Writes the modules, as they were a minute ago: what is written while a process runs is not what it runs. */
async function writeModules(folder: string, isOther: boolean): Promise<void> {
  const time = Date.now() / 1000 - (isOther ? 60 : 120);
  for (const [name, [first, other]] of Object.entries(MODULES)) {
    const path = join(folder, `${name}.ts`);
    await Deno.writeTextFile(path, isOther ? other : first);
    await Deno.utime(path, time, time);
  }
  const { imports } = JSON.parse(await Deno.readTextFile(here("../deno.json")));
  const own = Object.entries<string>(imports).map(([name, target]) =>
    [name, target.startsWith("./") ? new URL(`../${target}`, import.meta.url).href : target] as const
  );
  const map = { imports: { ...Object.fromEntries(own), state: `./${NAMED[isOther ? 1 : 0]}.ts` } };
  await Deno.writeTextFile(join(folder, "imports.json"), JSON.stringify(map));
}

async function run(folder: string, world: "first" | "other"): Promise<Worlds> {
  const args = [
    "run",
    "-A",
    "--no-check",
    "--config",
    here("../deno.json"),
    "--import-map",
    join(folder, "imports.json"),
    here("kept/worlds.ts"),
    world,
    folder,
  ];
  const { code, stdout, stderr } = await runProgram(Deno.execPath(), args, {
    env: { DYN_CACHE_DIR: join(folder, "cache"), DYN_GRAPH_CACHE: "1", DYN_TIER: "wasm" },
  });
  assertEquals(code, 0, stderr);
  return JSON.parse(stdout);
}

/** Worlds whose captures are not kept: what they hold has no description, or is of their process. */
const REFUSED: readonly string[] = [
  "the numbers of a typed array",
  "a function of a text that is evaluated",
  "a number that is private",
  "whether an object has a private number",
  "one of two symbols of the same name",
  "the order of symbols of the same name",
  "a date",
  "a formatter",
  "the rules of a language",
];

/** A world of so many calls of one key that not all of them are looked up. */
const MANY = "many closures of one function";

/** A world of which nothing is looked up, nor kept. */
const PASSED_OVER = "a module that is in its address";

/** Worlds of several calls, and how many of those are captured: the others are served by what changes are taken for. */
const SEVERAL: Readonly<Record<string, number>> = {
  "an instance of a class that is made anew": 2,
  "sizes that change": 2,
  "sizes that follow from others": 2,
  "a dimension that is marked": 1,
  "integers that change": 2,
  "bigints that change": 2,
  "sizes that are computed from numbers": 2,
  "numbers that change": 2,
  "an instance that is called in two ways": 4,
};

/**
 * Number of units of a function reused in the other world, if it differs only after them, or in what they do not
 * read; none of the others.
 */
const IN_OTHER_WORLD: Readonly<Record<string, number>> = {
  "integers that change": 1,
  "bigints that change": 1,
  "a captured number before a break": 1,
  "which way elements lead": 1,
  "a number that is read out": 2,
  "a number that is read out and told apart": 1,
  "what a disabled function gives": 1,
  "a list that a disabled function gives": 1,
  "a field that a break changes": 1,
  "a variable that closures share": 2,
  "a loop of breaks": 1,
  "a handler around a break": 2,
  "a module that breaks": 1,
  "what is awaited": 2,
  "a number that is awaited": 1,
  "an async function that is called": 2,
  "a rejection that is handled": 1,
  "a generator that is compiled": 1,
  "sizes of a mask": 1,
  "a typed array that is passed on": 1,
};

const takenIn = (worlds: Worlds) =>
  Object.fromEntries(Object.entries(worlds).flatMap(([name, { taken }]) => taken > 0 ? [[name, taken]] : []));

const namesWhere = (worlds: Worlds, holds: (told: Told) => boolean): string[] =>
  Object.entries(worlds).filter(([, told]) => holds(told)).map(([name]) => name);

testInTurn("captures between processes", {
  name: "captures are reused in the same world, and in no other",
  fn: () =>
    withFolder(async (folder) => {
      await writeModules(folder, false);
      const cold = await run(folder, "first"), warm = await run(folder, "first");
      await writeModules(folder, true);
      const other = await run(folder, "other");
      for (const worlds of [cold, warm, other]) assertEquals(namesWhere(worlds, ({ same }) => !same), []);
      assertEquals([cold, warm, other].map((worlds) => worlds[MANY]?.taken), [28, 32, 28]);
      for (const worlds of [cold, warm, other]) delete worlds[MANY];
      assertEquals(namesWhere(cold, ({ taken }) => taken > 0), []);
      const results = (worlds: Worlds) =>
        Object.entries(worlds).map(([name, { result, titles }]) => [name, result, titles]);
      assertEquals(results(warm), results(cold));
      for (const worlds of [cold, warm]) {
        assertEquals(namesWhere(worlds, ({ refused }) => refused > 0), REFUSED);
      }
      assertEquals(namesWhere(warm, ({ missed }) => missed > 0), REFUSED);
      const several = (worlds: Worlds) => Object.keys(SEVERAL).map((name) => [name, worlds[name]?.taken]);
      assertEquals(several(warm), Object.entries(SEVERAL));
      const units = Object.entries(cold).map(([name, { missed, refused }]) => [name, missed - refused]);
      assertEquals(Object.entries(warm).map(([name, { taken }]) => [name, taken]), units);
      assertEquals([cold, warm].map((worlds) => worlds[PASSED_OVER]?.missed), [0, 0]);
      assertEquals(takenIn(other), IN_OTHER_WORLD);
    }),
});

Deno.test("places that refer to themselves, to later ones or to none are those of a damaged capture", () => {
  const read = (...forms: readonly Plain[]): string[] => {
    const unused = (): never => {
      throw new Error("Expected no object to be asked for");
    };
    const symbols = new Symbols(), sizes = new ShapeEnv(), places = new Places();
    const by: ByNumber = {
      symbols,
      sizes,
      numberOf: unused,
      at: unused,
      codes: codeFinder([]),
      lines: new Lines(),
      places,
    };
    places.readAll(forms, by);
    return forms.map((_, at) => sourceText(places.at(at)));
  };
  const x: Plain = ["argument", ["x", 0]], key: Plain = ["property", [0, "key"]];
  assertEquals(read(x, key, ["prototype", [1]]), [
    'L["x"]',
    'L["x"].key',
    'Object.getPrototypeOf(L["x"].key)',
  ]);
  const itself: Plain[] = [key],
    later = [x, ["prototype", [2]], key],
    none = [x, ["prototype", [7]], ["prototype", [-1]]];
  for (const forms of [itself, later, none]) {
    assertThrows(() => read(...forms), DamagedForm, "Expected one of");
  }
});
