/**
 * `compile`: packs a program as one executable file, with Deno, dyn, its modules and the kernels that it needs.
 *
 * A first run with the given arguments fills the cache that is packed. Invariant: that run uses the copies that the
 * executable will hold, so that an executable with missing parts is never made.
 */
import { parseArgs } from "@std/cli";
import { basename, extname, join, resolve } from "node:path";
import { DynError } from "../lib/base/errors.ts";
import { type Command, UsageError } from "./command.ts";
import { scriptUrl } from "./script_source.ts";
import { pack } from "./standalone/pack.ts";
import { copyProgram } from "./standalone/program.ts";
import { makeTree } from "./standalone/tree.ts";

/** Runs the packed script once, with a cache beside it. Throws DynError if it fails. */
async function firstRun(folder: string, script: string, args: readonly string[]): Promise<void> {
  const cli = ["--config", join(folder, "dyn/deno.json"), join(folder, "dyn/cli.ts")];
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--allow-all", "--no-lock", ...cli, "run", join(folder, script), ...args],
    env: {
      DYN_CACHE_DIR: join(folder, "cache"),
      // As in the executable: native code is cached
      DYN_TIER: Deno.env.get("DYN_TIER") ?? "wait",
      DENO_DIR: join(folder, "deno"),
      DENO_NO_PACKAGE_JSON: "1",
    },
    stdin: "null",
  }).spawn().status;
  if (code !== 0) throw new DynError(`Expected the first run to succeed but found exit code ${code}`);
}

/** `dyn compile`. */
export const compileCommand: Command = {
  name: "compile",
  usage: "compile [-o <file>] [--include=<path>] [--cold] <script> [arguments]",
  summary: "Make one executable of a script, with Deno, dyn and its compiled kernels inside",
  help:
    "The script runs once, with the arguments, to compile the kernels that go with it; --cold leaves that out. --include, which " +
    "may be repeated,\nnames files and folders that it reads beside its modules. The executable needs a POSIX system like this " +
    "one. See docs/export.md.",
  takesFlags: false,
  run: async (words) => {
    const { o, include, cold, _: [path, ...args] } = parseArgs([...words], {
      string: ["_", "o", "include"],
      collect: ["include"],
      boolean: ["cold"],
      stopEarly: true,
      unknown: (arg) => {
        throw new UsageError(`Expected an option that dyn compile --help lists but found ${arg}`);
      },
    });
    if (path === undefined) throw new UsageError("Expected a script but found nothing");
    scriptUrl(path);
    const late = words[0] === path ? args.find((arg) => /^(-o|--include|--cold)(=|$)/.test(arg)) : undefined;
    if (late !== undefined) {
      throw new UsageError(
        `Expected ${late} before ${path}, whose own arguments follow it, but found it behind: dyn compile ${late} … ${path}`,
      );
    }
    const name = basename(path, extname(path)), target = resolve(o ?? name);
    const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "dyn-compile-" }));
    try {
      const { part, script } = await copyProgram(path, include, folder);
      await makeTree(join(folder, "dyn"));
      if (!cold) await firstRun(folder, script, args);
      const parts = part === "dyn" ? [] : [part];
      await pack({ folder, parts, script, name, ...cold ? {} : { cache: "cache" } }, target);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
    console.log(`Wrote ${target} (${(Deno.statSync(target).size / 1e6).toFixed(0)} MB)`);
    return 0;
  },
};
