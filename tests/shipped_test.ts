/**
 * The shipped classes of common eager calls and their code equal what would be generated now, whatever was generated
 * before; a module generated from other sources is detected.
 */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { identityOf, wasWrittenLast } from "../lib/base/own_sources.ts";
import { entriesOf } from "../lib/base/shipped_entries.ts";
import { shipped } from "../lib/written/shipped.ts";
import { SHIPPED, shippedEntries } from "../tools/shipped.ts";
import { filesBelow } from "./support/files.ts";
import { withFolder } from "./support/process.ts";

/** An entry without the sizes of the call that happened to be the first of its class. */
const withoutHints = (text = ""): string => text.replaceAll(/"hints":\[[\d,]*\]/g, "");

Deno.test("shipped entries equal what would be generated now, in any order: else run deno task generate", () => {
  const { calls, entries } = shippedEntries("last");
  assert(calls.length > 12 && entries.size > calls.length);
  const found: ReadonlyMap<string, string> = new Map(entriesOf(shipped()));
  const others = [...entries].flatMap(([key, { text, call }]) =>
    withoutHints(found.get(key)) === withoutHints(text) ? [] : [`${call}: ${key}`]
  );
  assertEquals(others, []);
  assertEquals(found.size, entries.size);
});

Deno.test("the module with the entries is the last in the order of names, in which files are checked out", () => {
  const files = filesBelow(new URL("../", import.meta.url)).filter((file) => /^(lib|backends)\//.test(file));
  assertEquals(files.sort().at(-1), SHIPPED);
});

Deno.test("a module reports of others only the state when it was written", () =>
  withFolder(async (folder) => {
    for (const room of ["lib", "backends"]) await Deno.mkdir(join(folder, room));
    const root = `${pathToFileURL(folder).href}/`;
    const isLast = () => identityOf(root) !== null && wasWrittenLast(root, "lib/b.ts");
    const write = async (path: string, secondsAgo: number) => {
      const time = Date.now() / 1000 - secondsAgo;
      await Deno.writeTextFile(join(folder, path), "");
      await Deno.utime(join(folder, path), time, time);
    };
    await write("lib/a.ts", 5000);
    await write("lib/b.ts", 4000);
    assert(isLast());
    await write("backends/c.ts", 3000);
    assert(!isLast());
    await write("lib/b.ts", 2000);
    assert(isLast());
    assert(wasWrittenLast("https://example.org/dyn@0.1.0/", "lib/b.ts"));
  }));
