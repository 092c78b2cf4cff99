/** Resolution of imports by the settings of a project and its workspace. */
import { assertEquals } from "@std/assert";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { importMapIn, mapped } from "../cli/import_map.ts";
import { projectOf } from "../cli/script_imports.ts";
import { withFolder } from "./support/process.ts";

Deno.test("names stand for the most specific target, by the place of the importing module", () => {
  const map = importMapIn({
    imports: { a: "./a.ts", lib: "npm:lib@2", "lib/own/": "./own/", "/": "./", "./": "./" },
    scopes: { "./sub/": { a: "./sub/a.ts" }, "./sub/deep.ts": { a: "node:fs" } },
  }, "file:///project/deno.json");
  const cases: readonly (readonly [specifier: string, importer: string, expected: string])[] = [
    ["a", "main.ts", "file:///project/a.ts"],
    ["a", "sub/main.ts", "file:///project/sub/a.ts"],
    ["a", "sub/deep.ts", "node:fs"],
    ["a", "subway.ts", "file:///project/a.ts"],
    ["ab", "main.ts", "ab"],
    ["lib", "main.ts", "npm:lib@2"],
    ["lib/part", "main.ts", "npm:lib@2/part"],
    ["lib/own/part.ts", "main.ts", "file:///project/own/part.ts"],
    ["libs", "main.ts", "libs"],
    ["/b.ts", "sub/main.ts", "file:///project/b.ts"],
    ["./b.ts", "sub/main.ts", "file:///project/sub/b.ts"],
    ["../b.ts", "sub/main.ts", "file:///project/b.ts"],
  ];
  for (const [specifier, importer, expected] of cases) {
    assertEquals(
      mapped(specifier, `file:///project/${importer}`, map),
      expected,
      `${specifier} in ${importer}`,
    );
  }
});

Deno.test("members of a workspace import by their own settings, its settings and each other's names", async () => {
  await withFolder(async (folder) => {
    const files = {
      "deno.json": { workspace: ["./app", "packages/*"], imports: { x: "./x.ts", y: "./y.ts" } },
      "app/deno.json": { imports: { x: "./own.ts" } },
      "packages/lib/deno.json": { name: "@me/lib", exports: { ".": "./mod.ts", "./part": "./part.ts" } },
      "other/deno.json": { imports: { x: "./x.ts" } },
    };
    for (const [path, settings] of Object.entries(files)) {
      await Deno.mkdir(dirname(join(folder, path)), { recursive: true });
      await Deno.writeTextFile(join(folder, path), JSON.stringify(settings));
    }
    const resolved = (specifier: string, module: string) => {
      const project = projectOf(dirname(join(folder, module)));
      const url = project && mapped(specifier, pathToFileURL(join(folder, module)).href, project.map);
      return url?.replace(`${pathToFileURL(folder).href}/`, "");
    };
    assertEquals(["x", "y", "@me/lib", "@me/lib/part"].map((each) => resolved(each, "app/main.ts")), [
      "app/own.ts",
      "y.ts",
      "packages/lib/mod.ts",
      "packages/lib/part.ts",
    ]);
    assertEquals(resolved("x", "packages/lib/mod.ts"), "x.ts");
    assertEquals(["x", "y"].map((each) => resolved(each, "other/main.ts")), ["other/x.ts", "y"]);
  });
});
