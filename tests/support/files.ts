/**
 * Finds source files, with paths relative to a folder and forward slashes, for tests that inspect all of them.
 * Invariant: folders without our sources (hidden, `dist`, `node_modules`) are left out.
 */

/** The paths of all files below a folder whose name ends in `suffix`, sorted. */
export function filesBelow(folder: URL, suffix = ".ts"): string[] {
  const found: string[] = [];
  const visit = (path: string) => {
    for (const entry of Deno.readDirSync(new URL(path || ".", folder))) {
      if (entry.name.startsWith(".") || entry.name === "node_modules" || entry.name === "dist") continue;
      if (entry.isDirectory) visit(`${path}${entry.name}/`);
      else if (entry.isFile && entry.name.endsWith(suffix)) found.push(path + entry.name);
    }
  };
  visit("");
  return found.sort();
}
