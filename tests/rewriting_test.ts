/**
 * Modules that are rewritten as they are loaded: the program cannot observe it, and V8 stays stable.
 */
import { assert, assertEquals } from "@std/assert";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseModule } from "../lib/dynamo/bytecode/parse.ts";
import { loadedModule } from "../lib/dynamo/frame/loaded_module.ts";
import { rewrite } from "../lib/dynamo/frame/rewrite.ts";
import { NAMES, withoutEntries } from "../lib/dynamo/frame/rewritten.ts";
import { withInsertions } from "../lib/dynamo/frame/source_map.ts";
import { testInTurn } from "./support/costly_tests.ts";
import { filesBelow } from "./support/files.ts";
import { type Outcome, runProgram, withFolder } from "./support/process.ts";
import { sampleBySeed } from "./support/sampling.ts";

const PRELOAD = fileURLToPath(new URL("../preload.ts", import.meta.url));
const CLI = fileURLToPath(new URL("../cli.ts", import.meta.url));
const CONFIG = fileURLToPath(new URL("../deno.json", import.meta.url));
const PROGRAMS = new URL("./rewriting/", import.meta.url);

/** Runs a program as it is, and rewritten in both ways; the result is what they all did. */
async function runsAlike(script: string): Promise<Outcome> {
  const options = ["run", "-A", "--no-check", `--config=${CONFIG}`];
  const plain = await runProgram(Deno.execPath(), [...options, script]);
  assertEquals(await runProgram(Deno.execPath(), [...options, `--preload=${PRELOAD}`, script]), plain);
  assertEquals(await runProgram(Deno.execPath(), [...options, CLI, script]), plain);
  return plain;
}

Deno.test("a program's texts, names, places and errors are those of its source", async () => {
  await withFolder(async (folder) => {
    for (const [from, to] of [["looks.txt", "looks.ts"], ["shared.txt", "shared.js"]] as const) {
      await Deno.copyFile(new URL(from, PROGRAMS), join(folder, to));
    }
    await Deno.writeTextFile(
      join(folder, "shared_types.ts"),
      "export interface Shape { readonly sides: number[] }",
    );
    const { code, stdout, stderr } = await runsAlike(join(folder, "looks.ts"));
    assertEquals(code, 1);
    assert(stdout.includes("one line") && stderr.includes("looks.ts"), stderr);
  });
});

Deno.test("rare syntax behaves as before", async () => {
  await withFolder(async (folder) => {
    const script = join(folder, "exotic.js");
    await Deno.copyFile(new URL("exotic.txt", PROGRAMS), script);
    const { code, stdout, stderr } = await runsAlike(script);
    assertEquals([code, stderr], [0, ""]);
    assert(stdout.endsWith("disposed 4\n"), stdout);
  });
});

Deno.test("without its insertions a rewritten text equals the original, and it parses with them", () => {
  const names = { ...NAMES };
  for (const room of ["dynamo/", "autograd/"]) {
    const folder = new URL(`../lib/${room}`, import.meta.url);
    for (const file of filesBelow(folder)) {
      const written = Deno.readTextFileSync(new URL(file, folder));
      const module = loadedModule(`file:///programs/${file}`, javascriptOf(written), names.probe);
      assert(module, file);
      const { insertions, tail } = rewrite(module.parsed, {
        names,
        door: "file:///door.ts",
        first: 0,
        arrowBefore: module.arrowBefore,
      });
      const text = withInsertions(module.parsed.text, insertions);
      assertEquals(withoutEntries(text), module.parsed.text, file);
      assertEquals(text.split("\n").length, module.parsed.text.split("\n").length, file);
      parseModule({ url: file, text: text + tail, sourceType: "module" });
    }
  }
});

function javascriptOf(written: string): string {
  try {
    return stripTypeScriptTypes(written);
  } catch {
    return stripTypeScriptTypes(written, { mode: "transform" });
  }
}

for (
  const flags of sampleBySeed([
    "--jit-fuzzing,--stress-flush-code,--stress-scavenge=20",
    "--no-lazy-feedback-allocation,--stress-lazy-source-positions,--stress-concurrent-inlining",
  ], 1)
) {
  testInTurn("modules under pressure", {
    name: `thousands of captures in the same modules, with V8 under pressure: ${flags}`,
    fn: async () => {
      const script = fileURLToPath(new URL("stress.ts", PROGRAMS));
      const options = ["run", "-A", "--no-check", `--v8-flags=${flags}`, `--preload=${PRELOAD}`];
      const { code, stdout, stderr } = await runProgram(Deno.execPath(), [...options, script, "2500"]);
      assertEquals([code, stdout, stderr], [0, "0 0 true\n", ""]);
    },
  });
}
