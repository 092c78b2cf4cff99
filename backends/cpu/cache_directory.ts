/**
 * Where compiled code is kept between processes, and how files get there.
 * Input: DYN_CACHE_DIR or the user's cache folder; output: a folder that exists and can be written.
 * Invariant: a file in it is complete or absent: files are written under another name and renamed.
 */

let directory: string | undefined;

function candidates(): string[] {
  const env = (name: string): string | undefined => Deno.env.get(name) || undefined;
  const own = env("DYN_CACHE_DIR");
  if (own) return [own];
  const xdg = env("XDG_CACHE_HOME"), home = env("HOME"), local = env("LOCALAPPDATA");
  const found: string[] = [];
  if (xdg) found.push(`${xdg}/dyn`);
  else if (local) found.push(`${local}/dyn`);
  else if (home) found.push(Deno.build.os === "darwin" ? `${home}/Library/Caches/dyn` : `${home}/.cache/dyn`);
  return found;
}

/** The folder for compiled code; a temporary one where the usual place cannot be written. */
export function cacheDirectory(): string {
  if (directory !== undefined) return directory;
  for (const base of candidates()) {
    const path = `${base}/cpu`;
    try {
      Deno.mkdirSync(path, { recursive: true });
      const trial = `${path}/${uniqueSuffix()}`;
      Deno.writeTextFileSync(trial, "");
      Deno.removeSync(trial);
      return directory = path;
    } catch {
      continue;
    }
  }
  return directory = Deno.makeTempDirSync({ prefix: "dyn-cache-" });
}

let ownDirectory: string | undefined;

/** A folder of this process alone, which goes when it ends. */
export function processDirectory(): string {
  if (ownDirectory !== undefined) return ownDirectory;
  const made = ownDirectory = Deno.makeTempDirSync({ prefix: "dyn-process-" });
  globalThis.addEventListener("unload", () => Deno.removeSync(made, { recursive: true }));
  return made;
}

/** A text file, or undefined where it cannot be read. */
export function readText(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return undefined;
  }
}

let counter = 0;

/** A suffix that no other process or worker uses. */
export function uniqueSuffix(): string {
  const noise = Math.floor(Math.random() * 2 ** 40).toString(36);
  return `.${Deno.pid}-${counter++}-${noise}.tmp`;
}

/** Writes a whole file so that readers see the old one or the new one. */
export function writeAtomically(path: string, bytes: Uint8Array): void {
  const draft = path + uniqueSuffix();
  Deno.writeFileSync(draft, bytes);
  Deno.renameSync(draft, path);
}
