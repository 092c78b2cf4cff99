/**
 * The pages of ops: they match the definitions, every public op is on one of them with its shapes, types and errors, and
 * the examples print the output of PyTorch (tools/op_examples.py).
 */
import { assert, assertEquals } from "@std/assert";
import * as dyn from "../mod.ts";
import { ALL_OPS } from "../lib/ops/table.ts";
import { FAMILIES } from "../tools/op_families.ts";
import { callNames, opPages, readExamples } from "../tools/op_pages.ts";

Deno.test("the pages of ops are those of the definitions", async () => {
  const squeeze = (text: string) => text.replaceAll(/[\s,;]+/g, "");
  for (const { path, text } of opPages()) {
    const stored = await Deno.readTextFile(new URL(`../${path}`, import.meta.url));
    assert(squeeze(stored) === squeeze(text), `${path} is out of date: run deno task generate`);
    const [, ...sections] = path.endsWith("index.md") ? [] : text.split(/^## /m);
    // Shapes and types of results, the error of a wrong call, and an example
    const bare = sections.filter((each) =>
      ![/^- `.* → .*`$/m, /^- Error: /m, /^```ts$/m].every((part) => part.test(each))
    );
    assertEquals(bare, []);
  }
});

Deno.test("documentation names functions of PyTorch as PyTorch does", () => {
  const camelCase = /`(?:torch|nn|Tensor)\.[\w.]*[a-z][A-Z]\w*`/;
  assertEquals(ALL_OPS.flatMap(({ doc }) => camelCase.exec(doc) ?? []), []);
});

Deno.test("every op is on one page", () => {
  const names = FAMILIES.flatMap(({ definitions }) => definitions.map(({ name }) => name));
  assertEquals(names.toSorted(), ALL_OPS.map(({ name }) => name).toSorted());
});

Deno.test("examples of ops print what PyTorch prints", () => {
  const names = Object.keys(dyn), examples = Object.entries(readExamples());
  const open = ALL_OPS.filter((each) => callNames(each).length > 0).map(({ name }) => name);
  assertEquals(examples.map(([name]) => name).toSorted(), open.toSorted());
  const wrong: string[] = [];
  for (const [name, { call, results }] of examples) {
    const run = new Function(...names, `return ${call}`), found: unknown = run(...Object.values(dyn));
    const list = dyn.isTensor(found) ? [found] : Array.isArray(found) ? found : [];
    const texts = list.map((each) => Deno.inspect(each));
    if (texts.join() !== results.join()) wrong.push(`${name}: ${call} gives ${texts}, PyTorch ${results}`);
  }
  assertEquals(wrong, []);
});
