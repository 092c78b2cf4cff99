/**
 * `cache`: where compiled code is kept, how much of it there is, and a way to remove it.
 *
 * Input: nothing, `path` or `clear`; output: paths and sizes. Invariant: only folders that dyn itself fills with
 * what can be made again are removed, whatever else lies beside them.
 */
import { dirname, join } from "node:path";
import { cacheDirectory } from "../backends/cpu/cache_directory.ts";
import { type Command, UsageError } from "./command.ts";

/** Folders of the cache and what is in them. */
const STORES: Readonly<Record<string, string>> = {
  cpu: "compiled C++",
  wasm: "compiled WebAssembly",
  webgpu: "tuned GPU kernels",
  graphs: "compiled graphs",
  texts: "texts of modules",
  classes: "classes of eager calls",
  programs: "programs of eager calls",
};

/** Size of what is kept in a folder. */
interface Size {
  readonly files: number;
  readonly bytes: number;
}

/** The folder that holds all stores. */
export function cacheRoot(): string {
  return dirname(cacheDirectory());
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

/** One line per store that exists. */
export function describeCache(): string[] {
  const root = cacheRoot();
  const lines = [root];
  for (const [store, content] of Object.entries(STORES)) {
    const size = sizeOf(join(root, store));
    if (size) {
      lines.push(
        `  ${store.padEnd(7)} ${String(size.files).padStart(6)} files ${
          megabytes(size.bytes).padStart(10)
        }  ${content}`,
      );
    }
  }
  return lines;
}

/** `dyn cache`. */
export const cacheCommand: Command = {
  name: "cache",
  usage: "cache [path | clear]",
  summary: "Show where compiled code is kept and how much, or remove it",
  takesFlags: false,
  run: (args) => {
    const [action, ...more] = args;
    if (more.length > 0) throw new UsageError(`Expected one action but found ${args.join(" ")}`);
    switch (action) {
      case undefined:
        console.log(describeCache().join("\n"));
        break;
      case "path":
        console.log(cacheRoot());
        break;
      case "clear":
        for (const store of Object.keys(STORES)) {
          const folder = join(cacheRoot(), store);
          const size = sizeOf(folder);
          if (!size) continue;
          Deno.removeSync(folder, { recursive: true });
          console.log(`Removed ${folder} (${size.files} files, ${megabytes(size.bytes)})`);
        }
        break;
      default:
        throw new UsageError(`Expected path or clear but found ${action}`);
    }
    return Promise.resolve(0);
  },
};
