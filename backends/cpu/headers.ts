/**
 * Headers of other libraries. Input: folders and a name; output: which file a compiler will find there. Invariant: the
 * answer is another one when the file is another one.
 */

/** Where compilers look besides the folders that they are given. */
const USUAL = ["/usr/include", "/usr/local/include"];

/** The place, size and time of the header that a compiler finds; null where there is none. */
export function headerIdentity(folders: readonly string[], name: string): string | null {
  for (const folder of [...folders, ...USUAL]) {
    try {
      const path = Deno.realPathSync(`${folder}/${name}`), { size, mtime } = Deno.statSync(path);
      return `${path} ${size} ${mtime?.getTime() ?? 0}`;
    } catch {
      continue;
    }
  }
  return null;
}
