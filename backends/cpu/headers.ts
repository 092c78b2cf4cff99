/**
 * Identifies the header file that a compiler will find. Invariant: different files have different identities.
 */

/** Default include folders of compilers. */
const USUAL = ["/usr/include", "/usr/local/include"];

/** The path, size and time of the header that a compiler finds; null if there is none. */
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
