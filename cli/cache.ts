/**
 * `cache`: reports the location and size of the cache of compiled code; removes it, exports it as one file for other
 * machines, and explains why a program was compiled in spite of it.
 *
 * Invariant: only folders that dyn itself fills with reproducible data are removed or written, whatever else is beside
 * them.
 */
import { join } from "node:path";
import { cacheRoot, loadArtifacts, saveArtifacts, STORES } from "../backends/cpu/cache_artifacts.ts";
import { isOwn } from "../backends/cpu/trust.ts";
import { DynError } from "../lib/base/errors.ts";
import { writeAtomically } from "../lib/base/atomic_files.ts";
import { counted } from "../lib/base/report_text.ts";
import { limitsOf, prune } from "./cache_prune.ts";
import { type Command, refuseWord, UsageError } from "./command.ts";
import { captureToEnd, reportAtEnd } from "./end_of_program.ts";
import { runScript } from "./run.ts";
import { isUrl, scriptUrl } from "./script_source.ts";
import { checkChoices } from "./toolkit.ts";

/** Size of the entries in a folder. */
interface Size {
  readonly files: number;
  readonly bytes: number;
}

function sizeOf(folder: string): Size | undefined {
  let files = 0;
  let bytes = 0;
  try {
    for (const entry of Deno.readDirSync(folder)) {
      const path = join(folder, entry.name);
      const size = entry.isDirectory ? sizeOf(path) : { files: 1, bytes: Deno.lstatSync(path).size };
      files += size?.files ?? 0;
      bytes += size?.bytes ?? 0;
    }
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return undefined;
    throw thrown;
  }
  return { files, bytes };
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

/** One line for each store that exists. */
export function describeCache(): string[] {
  const root = cacheRoot();
  const lines = [root];
  for (const [store, content] of Object.entries(STORES)) {
    const size = sizeOf(join(root, store));
    if (size) {
      lines.push(
        `  ${store.padEnd(8)} ${String(size.files).padStart(6)} ${size.files === 1 ? "file " : "files"} ${
          megabytes(size.bytes).padStart(10)
        }  ${content}`,
      );
    }
  }
  return lines;
}

/** Summarises the use of the cache by a script: counts of hits, then reasons of the misses. */
function explanation(lines: readonly string[]): string {
  const isTaken = (line: string) => /^(?:graphs|captures): (?:.* )?taken$/.test(line);
  const count = (kind: string) =>
    lines.filter((line) => line.startsWith(`${kind}: `) && isTaken(line)).length;
  const missed = [...new Set(lines.filter((line) => !isTaken(line)))];
  const head = `Taken from the cache: ${count("captures")} captures, ${count("graphs")} graphs`;
  return [head, ...missed.map((line) => `  ${line}`)].join("\n");
}

/** Runs a script and reports how it used the cache. */
async function explain([path, ...args]: readonly string[]): Promise<undefined> {
  if (path === undefined) throw new UsageError("Expected a script but found nothing");
  if (!isUrl(path)) scriptUrl(path);
  await checkChoices();
  const lines: string[] = [];
  const sink = (_: unknown, text: string): void => void lines.push(...text.split("\n"));
  await reportAtEnd(() => explanation(lines), () => captureToEnd("cache", sink, () => runScript(path, args)));
  return undefined;
}

/** The only argument of an action. Throws UsageError. */
function onlyOne(action: string, args: readonly string[]): string {
  const [path, ...more] = args;
  if (path !== undefined && more.length === 0) return path;
  throw new UsageError(`Expected one file after ${action} but found ${args.join(" ") || "nothing"}`);
}

/** Removes every store. */
function clear(): void {
  for (const store of Object.keys(STORES)) {
    const folder = join(cacheRoot(), store);
    const size = sizeOf(folder);
    if (!size) continue;
    Deno.removeSync(folder, { recursive: true });
    console.log(`Removed ${folder} (${counted(size.files, "file")}, ${megabytes(size.bytes)})`);
  }
}

/** Removes what is beyond the limits in the arguments, and reports it. */
function pruneAndReport(args: readonly string[]): void {
  const limits = limitsOf(args);
  let files = 0, bytes = 0;
  for (const { store, removed, kept } of prune(cacheRoot(), limits)) {
    files += removed.files;
    bytes += removed.bytes;
    if (removed.files === 0) continue;
    console.log(
      `  ${store.padEnd(8)} ${counted(removed.files, "file")} removed (${megabytes(removed.bytes)}), ${
        counted(kept.files, "file")
      } kept (${megabytes(kept.bytes)})`,
    );
  }
  console.log(
    files === 0
      ? "Nothing to remove"
      : `Removed ${counted(files, "file")} from ${cacheRoot()} (${megabytes(bytes)})`,
  );
}

/** Saves the cache in a file that only this user can read and write. */
async function save(path: string): Promise<string> {
  const { bytes, files } = await saveArtifacts();
  writeAtomically(path, bytes);
  if (Deno.build.os !== "windows") Deno.chmodSync(path, 0o600);
  return `Saved ${counted(files, "file")} in ${path} (${megabytes(bytes.length)})`;
}

/** Loads a saved cache; its code is going to run, so nobody else may have written it. */
async function load(path: string): Promise<string> {
  if (!isOwn(statOf(path))) {
    throw new DynError(
      `Expected a file that belongs to this user, who alone can write it, but found ${path}`,
    );
  }
  const bytes = Deno.readFileSync(path), files = await loadArtifacts(bytes);
  return `Loaded ${counted(files, "file")} from ${path} (${megabytes(bytes.length)})`;
}

/** Throws `UsageError` if there is no file. */
function statOf(path: string): Deno.FileInfo {
  try {
    return Deno.statSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new UsageError(`Expected a saved cache but found ${path}, and there is no such file`);
  }
}

const ACTIONS = ["path", "clear", "prune", "save", "load", "explain"] as const;

/** `dyn cache`. */
export const cacheCommand: Command = {
  name: "cache",
  usage: "cache [path | clear | prune <limits> | save <file> | load <file> | explain <script> [arguments]]",
  summary: "Show, remove, save or load compiled code, or explain why a script compiled again",
  help:
    "prune --unused 30d removes what was not used for that time (12h, 30d, 4w); prune --to 500MB what was used least " +
    "recently,\nuntil the rest is of that size (MB, GB). Uses are known to a day.",
  takesFlags: false,
  actions: ACTIONS,
  run: async ([action, ...more]) => {
    switch (action) {
      case "explain":
        return await explain(more);
      case "prune":
        pruneAndReport(more);
        return 0;
      case "save":
        console.log(await save(onlyOne(action, more)));
        return 0;
      case "load":
        console.log(await load(onlyOne(action, more)));
        return 0;
      default:
    }
    if (more.length > 0) throw new UsageError(`Expected one action but found ${[action, ...more].join(" ")}`);
    if (action === undefined) console.log(describeCache().join("\n"));
    else if (action === "path") console.log(cacheRoot());
    else if (action === "clear") clear();
    else refuseWord("the action", ACTIONS, action);
    return 0;
  },
};
