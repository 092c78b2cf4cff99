/**
 * Captures between processes: a later process takes what a former one traced where the world is the same, with the same
 * results; where it differs in anything that the trace has seen, it traces anew. Many functions a process, each in a world
 * of its own, so that a few processes show many differences.
 */
import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runProgram, withFolder } from "./support/process.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** What a process tells of one world. */
interface Told {
  readonly taken: number;
  readonly refused: number;
  /** Whether the compiled function gave what it gives as it is. */
  readonly same: boolean;
  readonly result: string;
}

type Worlds = Readonly<Record<string, Told>>;

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
};

/** Writes the modules, as they were a minute ago: what is written while a process runs is not what it runs. */
async function writeModules(folder: string, isOther: boolean): Promise<void> {
  const time = Date.now() / 1000 - (isOther ? 60 : 120);
  for (const [name, [first, other]] of Object.entries(MODULES)) {
    const path = join(folder, `${name}.ts`);
    await Deno.writeTextFile(path, isOther ? other : first);
    await Deno.utime(path, time, time);
  }
}

async function run(folder: string, world: "first" | "other"): Promise<Worlds> {
  const args = [
    "run",
    "-A",
    "--no-check",
    "--config",
    here("../deno.json"),
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
  "one of two symbols of the same name",
  "the order of symbols of the same name",
  "a date",
  "a formatter",
  "the rules of a language",
];

/** Worlds of several calls, and how many of those are captured: the others are served by what changes are taken for. */
const SEVERAL: Readonly<Record<string, number>> = {
  "sizes that change": 2,
  "sizes that follow from others": 2,
  "a dimension that is marked": 1,
  "integers that change": 2,
  "numbers that change": 2,
};

const namesWhere = (worlds: Worlds, holds: (told: Told) => boolean): string[] =>
  Object.entries(worlds).filter(([, told]) => holds(told)).map(([name]) => name);

Deno.test("captures are taken in the same world, and in no other", () =>
  withFolder(async (folder) => {
    await writeModules(folder, false);
    const cold = await run(folder, "first"), warm = await run(folder, "first");
    await writeModules(folder, true);
    const other = await run(folder, "other");
    for (const worlds of [cold, warm, other]) assertEquals(namesWhere(worlds, ({ same }) => !same), []);
    assertEquals(namesWhere(cold, ({ taken }) => taken > 0), []);
    const results = (worlds: Worlds) => Object.entries(worlds).map(([name, { result }]) => [name, result]);
    assertEquals(results(warm), results(cold));
    assertEquals(namesWhere(warm, ({ taken }) => taken === 0), REFUSED);
    const several = (worlds: Worlds) => Object.keys(SEVERAL).map((name) => [name, worlds[name]?.taken]);
    assertEquals(several(warm), Object.entries(SEVERAL));
    assertEquals(namesWhere(other, ({ taken }) => taken > 0), []);
  }));
