/** Modules that are loaded by the first call that needs them. */
import { assert, assertEquals } from "@std/assert";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ones } from "../mod.ts";
import type * as demand from "../lib/base/on_demand.ts";
import { modulesOnDemand, onDemand } from "../lib/base/on_demand.ts";
import { isAsLoaded } from "../lib/base/own_sources.ts";
import { withFolder } from "./support/process.ts";

Deno.test("each module on demand is the one that its import names, however it is loaded", async () => {
  assert(ones([1]).item() === 1 && modulesOnDemand.length >= 3);
  for (const { url, load } of modulesOnDemand) {
    const loaded: unknown = createRequire(url)(fileURLToPath(url));
    assert(loaded === await load(), url);
  }
});

Deno.test("a module on demand is evaluated once, with the builtins as they were when dyn loaded", () => {
  const late = onDemand(
    import.meta.url,
    "./support/late_module.ts",
    () => import("./support/late_module.ts"),
  );
  const { map } = Array.prototype, replaced = () => [];
  Array.prototype.map = replaced;
  let found: unknown, again: unknown;
  try {
    found = late().map, again = late();
  } finally {
    Array.prototype.map = map;
  }
  assert(found === map && again === late());
});

Deno.test("a module whose address is not that of its real path is loaded with dyn, and not a second time", () =>
  withFolder(async (folder) => {
    const base = fileURLToPath(new URL("../lib/base", import.meta.url));
    const copyTo = async (root: string) => {
      await Deno.mkdir(join(root, "lib/base"), { recursive: true });
      for await (const { name } of Deno.readDir(base)) {
        await Deno.copyFile(join(base, name), join(root, "lib/base", name));
      }
      await Deno.writeTextFile(join(root, "lib/late.ts"), "export const own = {};");
    };
    await copyTo(join(folder, "real"));
    await Deno.symlink(join(folder, "real"), join(folder, "linked"));
    // A character that addresses may have as it is, and addresses of paths have encoded
    await copyTo(join(folder, "a~b"));
    for (const [name, isAtOnce] of [["real", false], ["linked", true], ["a~b", true]] as const) {
      const root = `${pathToFileURL(folder)}/${name}/`;
      const its: typeof demand = await import(`${root}lib/base/on_demand.ts`);
      const late = its.onDemand<unknown>(root, "./lib/late.ts", () => import(`${root}lib/late.ts`));
      await its.loadUnlessOnDemand();
      assertEquals(its.modulesOnDemand.map(({ exports }) => exports !== undefined), [isAtOnce], name);
      assert(late() === await import(`${root}lib/late.ts`), name);
    }
  }));

Deno.test("files written in a module's folder or below since the process began are noticed", () =>
  withFolder(async (folder) => {
    const path = join(folder, "a.ts"), url = pathToFileURL(path).href, before = performance.timeOrigin / 1000;
    const write = async (name: string, seconds: number) => {
      await Deno.writeTextFile(join(folder, name), "");
      await Deno.utime(join(folder, name), seconds, seconds);
    };
    await write("a.ts", before - 5);
    assertEquals(isAsLoaded(url), true);
    await Deno.mkdir(join(folder, "parts"));
    await write("parts/b.ts", before - 5);
    assertEquals(isAsLoaded(url), true);
    await write("parts/b.ts", before + 5);
    assertEquals(isAsLoaded(url), false);
    await Deno.remove(join(folder, "parts"), { recursive: true });
    await write("b.ts", before + 5);
    assertEquals(isAsLoaded(url), false);
    assertEquals(isAsLoaded(pathToFileURL(join(folder, "none", "a.ts")).href), false);
  }));
