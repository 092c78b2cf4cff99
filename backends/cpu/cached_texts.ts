/**
 * Caches texts between processes in the folder of compiled code. Imported for its effect. Invariant: only the user can
 * write to that folder.
 */
import { setTextStore } from "../../lib/base/cached_texts.ts";
import { writeAtomically } from "../../lib/base/atomic_files.ts";
import { cacheDirectory, readText } from "./cache_directory.ts";

const pathOf = (name: string): string => `${cacheDirectory()}/${name}.json`;

setTextStore({
  read: (name) => readText(pathOf(name)),
  write: (name, text) => writeAtomically(pathOf(name), new TextEncoder().encode(text)),
});
