/** `doctor --prepare`: what it creates is all that first calls of later processes need, whatever their sizes. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { fileURLToPath } from "node:url";
import { testInTurn } from "./support/costly_tests.ts";
import { runProgram, withFolder } from "./support/process.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

testInTurn("prepared entries", {
  name: "programs reuse prepared entries, and create none of them",
  fn: () =>
    withFolder(async (cache) => {
      const env = { DYN_CACHE_DIR: cache, DYN_GRAPH_CACHE: "1", DYN_TIER: "wasm" };
      const run = (...args: readonly string[]) =>
        runProgram(Deno.execPath(), ["run", "-A", "--no-check", "--config", here("../deno.json"), ...args], {
          env,
        });
      const prepared = await run(here("../cli.ts"), "doctor", "--prepare");
      assertMatch(
        prepared.stdout,
        /^ok +Prepared +\d+ common calls of tensors, 0 of their programs as native code$/m,
      );
      const { code, stdout, stderr } = await run(here("kept/prepared.ts"));
      assertEquals(code, 0, stderr);
      const { classes, stored, hits } = JSON.parse(stdout);
      assertEquals([classes, stored], [0, 0]);
      assert(hits > 15, stdout);
    }),
});
