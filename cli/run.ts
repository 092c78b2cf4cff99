/**
 * `run`: runs a user's script in this process, as if Deno had been started with it.
 *
 * Invariant: the script, and every module it imports, gets this toolchain's own copy of dyn, whichever name it uses to
 * import it; in the script `Deno.args` holds its own arguments, `Deno.mainModule` is its address and
 * `import.meta.main` is true.
 *
 * `jsr:@x/dyn` needs nothing: Deno resolves the name of the package whose `deno.json` governs the entry point to that
 * package. Files called `mod.ts` in other checkouts of dyn are redirected by a resolve hook.
 */
import { registerHooks } from "node:module";
import { loadInWorkers } from "../lib/data/worker_modules.ts";
import { DynError } from "../lib/base/errors.ts";
import { markAsMain, rewriteLoadedModules } from "../lib/dynamo/frame/load_hook.ts";
import type { Command } from "./command.ts";
import { reportFailure, reportRejections } from "./errors.ts";
import { fetchOutsideModules } from "./outside_modules.ts";
import { isDynCheckout, useProjectImports } from "./script_imports.ts";
import { checkScript, scriptSource } from "./script_source.ts";
import { checkChoices, toolkit } from "./toolkit.ts";

const OWN_MODULE = new URL("../mod.ts", import.meta.url).href;

/** Returns whether a file is the public module of some checkout of dyn. */
const isDynModule = (url: string): boolean =>
  url.endsWith("/mod.ts") && isDynCheckout(new URL("./", url).href);

/** Makes every later import of another checkout's `mod.ts` resolve to the toolchain's own. */
export function redirectOtherCheckouts(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      checkFound(specifier, { from: context.parentURL, to: resolved.url });
      if (resolved.url === OWN_MODULE || !isDynModule(resolved.url)) return resolved;
      return { ...resolved, url: OWN_MODULE };
    },
  });
}

/**
 * Throws DynError for the name of a package that nothing maps to a module. Hooks are given none, or a file of that name
 * beside the importing module.
 */
function checkFound(
  specifier: string,
  { from, to }: { readonly from: string | undefined; readonly to: string | null },
): void {
  if (!/^[@\w][^:]*$/.test(specifier)) return;
  const beside = from?.startsWith("file:") ? new URL(specifier, from).href : null;
  if (to !== null && to !== beside) return;
  const importer = beside === null ? "" : ` in ${from}`;
  throw new DynError(
    `Expected ${specifier} among the imports of a deno.json, or with npm: or jsr: before it, but found neither${importer}`,
  );
}

/** Runs a script to the end of its top level. Rejects with whatever it throws. */
export async function runScript(path: string, args: readonly string[]): Promise<void> {
  const { url, folder } = await scriptSource(path);
  // Before the hooks are installed, which process each module in JavaScript: a thousand modules do not need that
  await toolkit();
  if (folder !== null) await fetchOutsideModules(folder, url);
  for (const [name, value] of Object.entries({ args: [...args], mainModule: url })) {
    Object.defineProperty(Deno, name, { value, enumerable: true, configurable: true });
  }
  redirectOtherCheckouts();
  loadInWorkers({ module: import.meta.url, call: { name: "redirectOtherCheckouts", args: [] } });
  if (folder !== null) {
    useProjectImports(folder, url);
    const module = import.meta.resolve("./script_imports.ts");
    loadInWorkers({ module, call: { name: "useProjectImports", args: [folder, url] } });
  }
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
  help: "A script is a file, a URL, or - for standard input. Its own deno.json says what its imports mean.",
  takesFlags: true,
  run: async ([path, ...args]) => {
    checkScript(path, "a command or a script");
    await checkChoices();
    // What is wrong with the settings is no failure of the script
    await toolkit();
    reportRejections(failAndExit);
    try {
      await runScript(path, args);
    } catch (thrown) {
      failAndExit(thrown);
    }
    return undefined;
  },
};
