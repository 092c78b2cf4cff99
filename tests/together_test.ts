/**
 * Test files that the task runs together, since each by itself would import dyn and warm up again: the lists in
 * tests/together and the task. Invariant: every test file is in one list.
 */
import { assertEquals } from "@std/assert";
import settings from "../deno.json" with { type: "json" };
import { filesBelow } from "./support/files.ts";

const TESTS = new URL("./", import.meta.url);
const read = (path: string): string => Deno.readTextFileSync(new URL(path, TESTS));

/** The files of each list. */
const LISTS: readonly (readonly string[])[] = filesBelow(new URL("together/", TESTS)).map((list) =>
  [...read(`together/${list}`).matchAll(/^import "\.\.\/(.*_test\.ts)";$/gm)].map(([, path = ""]) => path)
);

Deno.test("every test file is in one list, or in the task itself", () => {
  const words = settings.tasks.test.split(" ");
  assertEquals(words.includes("tests/together/*.ts"), true);
  const alone = words.filter((word) => word.endsWith("_test.ts")).map((path) => path.slice("tests/".length));
  assertEquals([...LISTS.flat(), ...alone].sort(), filesBelow(TESTS, "_test.ts"));
});

Deno.test("files whose tier is drawn are grouped only with files of the same turn", () => {
  const turns = LISTS.map((list) =>
    list.map((path) => /^import "[./]+\/support\/turns\/(\w+)\.ts";$/m.exec(read(path))?.[1] ?? "none")
  );
  assertEquals(turns.filter((list) => new Set(list).size !== 1), []);
});
