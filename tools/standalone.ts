/**
 * Makes the standalone executable of dyn: `deno task compile [--pack] [output]`.
 *
 * The result is one file, `dist/dyn`, that runs scripts and the REPL on a machine without Deno and without this
 * repository. Invariant: both ways of building it start from the same module tree and the same entry.
 *
 * `deno compile` builds it if its base binary is available (downloaded, or named by `DENORT_BIN`) and the result runs;
 * otherwise, or with `--pack`, the running Deno binary and the tree are packed behind a launcher.
 */
import { parseArgs } from "@std/cli";
import { join, resolve } from "node:path";
import { output } from "../cli/standalone/files.ts";
import { pack } from "../cli/standalone/pack.ts";
import { makeTree } from "../cli/standalone/tree.ts";

/** Returns whether an executable starts and its scripts find dyn. */
async function works(executable: string): Promise<boolean> {
  const folder = await Deno.makeTempDir();
  try {
    const script = join(folder, "probe.ts");
    Deno.writeTextFileSync(
      script,
      'import * as dyn from "jsr:@x/dyn";\nconsole.log(typeof dyn.compile as string);\n',
    );
    return (await output(executable, [script], folder)).trim() === "function";
  } catch {
    return false;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Runs `deno compile`; returns false if that is impossible here. */
async function compileTree(tree: string, target: string): Promise<boolean> {
  const args = ["compile", "--quiet", "--allow-all", "--no-check", "--config", join(tree, "deno.json")];
  try {
    await output(Deno.execPath(), [...args, "--output", target, join(tree, "cli.ts")], tree);
  } catch {
    return false;
  }
  return await works(target);
}

const args = parseArgs(Deno.args, { boolean: ["pack"] });
const target = resolve(String(args._[0] ?? "dist/dyn"));
const folder = await Deno.makeTempDir({ prefix: "dyn-standalone-" });
try {
  await makeTree(join(folder, "dyn"));
  const compiled = !args.pack && await compileTree(join(folder, "dyn"), target);
  if (!compiled) await pack({ folder, name: "dyn" }, target);
  const megabytes = (Deno.statSync(target).size / 1e6).toFixed(0);
  const how = compiled ? "by deno compile" : "with the Deno binary packed behind a launcher";
  console.log(`Wrote ${target} (${megabytes} MB, ${how})`);
} finally {
  await Deno.remove(folder, { recursive: true });
}
