/**
 * The README's first program prints what the README says it prints.
 */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runProgram, withFolder } from "./support/process.ts";

/** The text of the first fenced block of a language behind a heading or sentence. */
function block(text: string, behind: string, language: string): string {
  const start = text.indexOf(behind);
  const [, content] = text.slice(start).match(new RegExp(`\n\`\`\`${language}\n([^]*?)\`\`\`\n`)) ?? [];
  assert(start >= 0 && content !== undefined, `Expected a block behind ${behind}`);
  return content;
}

Deno.test("the README's first program prints what the README says", async () => {
  const readme = await Deno.readTextFile(new URL("../README.md", import.meta.url));
  const expected = block(readme, "`explain` runs the program", "").split("\n…")[0] ?? "";
  await withFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "model.ts"), block(readme, "## A first program", "ts"));
    const cli = fileURLToPath(new URL("../cli.ts", import.meta.url));
    const { stdout, stderr } = await runProgram(Deno.execPath(), ["run", "-A", cli, "explain", "model.ts"], {
      cwd: folder,
    });
    assertEquals(stdout.replaceAll(`${folder}/`, "").slice(0, expected.length), expected, stderr);
  });
});
