/**
 * `run`: a user's script in this process, as if Deno had been started with it.
 *
 * Input: a path and the script's own arguments; output: what the script does. Invariant: the script, and every
 * module it imports, gets this toolchain's own copy of dyn, whichever name it imports it by; in the script
 * `Deno.args` holds its own arguments and `import.meta.main` is true.
 *
 * `jsr:@x/dyn` needs nothing: Deno resolves the name of the package whose `deno.json` governs the entry point to
 * that package. Files called `mod.ts` in other checkouts of dyn are redirected by a resolve hook.
 */
import { registerHooks } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isPlainObject } from "../lib/base/tree.ts";
import { markAsMain, rewriteLoadedModules } from "../lib/dynamo/frame/load_hook.ts";
import type { Command } from "./command.ts";
import { UsageError } from "./command.ts";
import { reportFailure, reportRejections } from "./errors.ts";
import { checkChoices } from "./toolkit.ts";

const OWN_MODULE = new URL("../mod.ts", import.meta.url).href;

/** The URL of a script; throws `UsageError` where there is none. */
export function scriptUrl(path: string): string {
  const full = resolve(path);
  let info: Deno.FileInfo;
  try {
    info = Deno.statSync(full);
  } catch {
    throw new UsageError(`Expected a command or a script but found ${path}, and there is no such file`);
  }
  if (!info.isFile) throw new UsageError(`Expected a script but found ${path}, which is not a file`);
  return pathToFileURL(full).href;
}

/** Whether a file is the public module of some checkout of dyn. */
function isDynModule(url: string): boolean {
  if (!url.startsWith("file:") || !url.endsWith("/mod.ts")) return false;
  try {
    const settings: unknown = JSON.parse(Deno.readTextFileSync(new URL("deno.json", url)));
    return isPlainObject(settings) && settings["name"] === "@x/dyn";
  } catch {
    return false;
  }
}

/** Every import of another checkout's `mod.ts` from here on gives the toolchain's own. */
export function redirectOtherCheckouts(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      if (resolved.url === OWN_MODULE || !isDynModule(resolved.url)) return resolved;
      return { ...resolved, url: OWN_MODULE };
    },
  });
}

/** Runs a script to the end of its top level. Rejects with what it throws. */
export async function runScript(path: string, args: readonly string[]): Promise<void> {
  const url = scriptUrl(path);
  Object.defineProperty(Deno, "args", { value: [...args], enumerable: true, configurable: true });
  redirectOtherCheckouts();
  rewriteLoadedModules();
  markAsMain(url);
  await import(url);
}

/** Reports a failure of the script and ends the process. */
export function failAndExit(thrown: unknown): never {
  reportFailure(thrown);
  Deno.exit(1);
}

/** `dyn run`, and `dyn` with a script. */
export const runCommand: Command = {
  name: "run",
  usage: "run <script> [arguments]",
  summary: "Run a script; the same as dyn <script>",
  takesFlags: true,
  run: async ([path, ...args]) => {
    if (path === undefined) throw new UsageError("Expected a script but found nothing");
    scriptUrl(path);
    await checkChoices();
    reportRejections(failAndExit);
    try {
      await runScript(path, args);
    } catch (thrown) {
      failAndExit(thrown);
    }
    return undefined;
  },
};
