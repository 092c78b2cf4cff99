/**
 * `bisect`: finds the part of the compiler that makes a program fail.
 *
 * It prints which stages fail and pass, then the graph, pass, rewrite, fusion or op with which the failure begins, and
 * the line of the program. A run fails by its exit code or, if the program always succeeds, by a compiled graph that
 * differs from its ops run one by one or that cannot be compiled. Invariant: each run is a separate process of the
 * unchanged program; only the environment differs.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import type { BisectPlan, BisectReport } from "../lib/base/bisect.ts";
import { bisect, type RunPlan, type RunResult } from "./bisect_search.ts";
import { type Command, UsageError } from "./command.ts";
import { scriptUrl } from "./script_source.ts";
import { checkChoices } from "./toolkit.ts";

/** `dyn bisect`. */
export const bisectCommand: Command = {
  name: "bisect",
  usage: "bisect <script> [arguments]",
  summary: "Find the stage, pass or op with which a failing program begins to fail",
  takesFlags: true,
  run: async ([path, ...args]) => {
    if (path === undefined) throw new UsageError("Expected a script but found nothing");
    scriptUrl(path);
    await checkChoices();
    const folder = await Deno.makeTempDir({ prefix: "dyn-bisect-" });
    const report = join(folder, "report.json");
    try {
      const isFound = await bisect({
        run: (plan) => runScript([path, ...args], plan, report),
        say: (line) => console.log(line),
      });
      return isFound ? 1 : 0;
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
};

/** Runs the program in a separate process. */
async function runScript(script: readonly string[], plan: RunPlan, report: string): Promise<RunResult> {
  const { isDisabled, isCompared, isNative, isStrict, ...rest } = plan;
  const nothing: BisectReport = { count: 0, last: "", differences: [] };
  await Deno.writeTextFile(report, JSON.stringify(nothing));
  const told: BisectPlan = { ...rest, report };
  const cli = fileURLToPath(new URL("../cli.ts", import.meta.url));
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...Deno.build.standalone ? [] : ["run", "-A", "--no-check", cli], "run", ...script],
    env: {
      DYN_BISECT: JSON.stringify(told),
      DYN_DISABLE: isDisabled ? "1" : "",
      DYN_REPRO_AFTER: "",
      DYN_SHADOW: isCompared ? "1" : "",
      ...isNative ? { DYN_TIER: "wait" } : {},
      ...isStrict ? { DYN_ERROR_ON_FALLBACK: "1" } : {},
      NO_COLOR: "1",
    },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  const found: BisectReport = JSON.parse(await Deno.readTextFile(report));
  const [difference = ""] = found.differences;
  const failure = isCompared
    ? difference
    : code === 0
    ? ""
    : failureText(code, new TextDecoder().decode(stderr));
  return { failure, report: found };
}

/** The line that shows why a program failed. */
function failureText(code: number, stderr: string): string {
  const lines = stripVTControlCharacters(stderr).split("\n");
  return lines.findLast((line) => /^error: |^\w*Error: /.test(line)) ?? `exit code ${code}`;
}
