/**
 * The source of a script: a file, standard input (`-`) or a URL.
 *
 * It determines the URL to import, and the folder of the script's settings. Invariant: relative imports of a script
 * from standard input are relative to the current folder.
 */
import { registerHooks } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { DynError } from "../lib/base/errors.ts";
import { UsageError } from "./command.ts";

/** A script that can be imported. */
export interface ScriptSource {
  readonly url: string;
  /** The folder in which, and above which, its settings are looked for; null if there is none. */
  readonly folder: string | null;
}

/** The script to which an argument refers. Throws `UsageError` if there is none. */
export async function scriptSource(argument: string): Promise<ScriptSource> {
  if (argument === "-") return await fromStandardInput();
  if (isUrl(argument)) return { url: argument, folder: null };
  return { url: scriptUrl(argument), folder: resolve(argument, "..") };
}

/** Checks the argument that says which script to run. Throws `UsageError` if there is none. */
export function checkScript(argument: string | undefined, expected?: string): asserts argument is string {
  if (argument === undefined) throw new UsageError("Expected a script but found nothing");
  if (argument !== "-" && !isUrl(argument)) scriptUrl(argument, expected);
}

/** Returns whether there is a file or a folder; node:fs has this, but takes 9 ms to load. */
export function exists(path: string | URL): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Returns whether a script is given by a URL. */
export function isUrl(argument: string): boolean {
  return /^(https?|data):/.test(argument);
}

/** The URL of a script that is a file. Throws `UsageError`, which names what was expected, if there is none. */
export function scriptUrl(path: string, expected = "a script"): string {
  const full = resolve(path);
  let info: Deno.FileInfo;
  try {
    info = Deno.statSync(full);
  } catch {
    throw new UsageError(`Expected ${expected} but found ${path}, and there is no such file`);
  }
  if (!info.isFile) throw new UsageError(`Expected a script but found ${path}, which is not a file`);
  const other = otherKind(full);
  if (other !== null) throw new UsageError(`Expected a script but found ${path}, which is ${other}`);
  return pathToFileURL(full).href;
}

/** Files that are easily given for a script, by the ends of their names. */
const OTHERS: readonly (readonly [RegExp, string])[] = [
  [/\.py$/, "a program in Python"],
  [/\.ipynb$/, "a notebook: deno jupyter runs those"],
  [/\.jsonc?$/, "data"],
  [/\.(pt|pth|pt2|bin|ckpt|safetensors)$/, "a file of weights: a script reads them by load(path)"],
  [
    /\.dynx$/,
    "an exported program: a script reads it by compiler.loadExportedProgram(path), dyn package packs it",
  ],
  [/\.dyn$/, "a package: a script reads it by loadPackage(path)"],
  [/\.onnx$/, "a model of ONNX, which dyn writes but does not read"],
];

/** Returns what a file is instead of a script; null if it may be one. */
function otherKind(path: string): string | null {
  const known = OTHERS.find(([end]) => end.test(path))?.[1];
  if (known !== undefined) return known;
  using file = Deno.openSync(path);
  const beginning = new Uint8Array(512), count = file.readSync(beginning) ?? 0;
  return beginning.subarray(0, count).includes(0) ? "no text" : null;
}

async function fromStandardInput(): Promise<ScriptSource> {
  const text = await new Response(Deno.stdin.readable).text();
  const folder = await Deno.makeTempDir({ prefix: "dyn-stdin-" }), file = join(folder, "stdin.ts");
  await Deno.writeTextFile(file, text);
  globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));
  const { href } = pathToFileURL(file), here = pathToFileURL(join(Deno.cwd(), "stdin.ts")).href;
  registerHooks({
    resolve(specifier, context, next) {
      const isOurs = context.parentURL === href && /^\.\.?\//.test(specifier);
      if (!isOurs) return next(specifier, context);
      const target = new URL(specifier, here);
      if (!exists(target)) {
        throw new DynError(`Expected a module at ${specifier} but found none: ${target}`);
      }
      return next(target.href, context);
    },
  });
  return { url: href, folder: Deno.cwd() };
}
