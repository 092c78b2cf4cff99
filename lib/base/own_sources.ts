/**
 * Which dyn this is: what everything that is kept between processes depends on. Input: dyn's own modules, where they lie
 * as files; output: a text that is another one whenever they are. Invariant: where that cannot be told (modules from an
 * address without a version, files that were written since the process began) nothing is kept.
 */
import { fileURLToPath } from "node:url";
import { isOwnModule, OWN_ROOT } from "./errors.ts";
import { fingerprintText } from "./fingerprint.ts";
import { travels } from "./travelling.ts";

/** The rooms whose code decides what a compilation gives. */
const ROOMS = ["lib", "backends"] as const;

let known: string | null | undefined;

/** What tells this dyn, under this runtime, from every other one; null: nothing does. */
export function ownIdentity(): string | null {
  if (known === undefined) known = identityOf(OWN_ROOT);
  return known;
}

/** Whether a module is one of those that the identity stands for. */
export function isOfIdentity(url: string): boolean {
  return isOwnModule(url) && ROOMS.some((room) => url.startsWith(`${OWN_ROOT}${room}/`));
}

/** The same of a dyn whose modules lie below an address. */
export function identityOf(root: string): string | null {
  const { deno, v8 } = Deno.version;
  const sources = sourcesAt(root);
  return sources === null ? null : `dyn ${sources}, Deno ${deno}, V8 ${v8}, ${Deno.build.target}`;
}

function sourcesAt(root: string): string | null {
  if (!root.startsWith("file:")) return /[@/]v?\d+\.\d+\.\d+/.test(root) ? root : null;
  try {
    if (Deno.build.standalone) return stated(Deno.execPath());
    const path = fileURLToPath(root);
    if (!root.endsWith("/")) return stated(path);
    const lines = ROOMS.flatMap((room) => statedBelow(`${path}${room}`));
    if (!travels(path)) return `${root} ${lines.length} files ${fingerprintText(lines.sort().join("\n"))}`;
    // Archives hold names from the folder on and whole seconds
    const places = lines.map((line) => line.slice(path.length).replace(/\d{3}$/, ""));
    return `${places.length} files ${fingerprintText(places.sort().join("\n"))}`;
  } catch {
    return null;
  }
}

/** A file and when it was written last. Throws for what was written since the process began: it runs the former one. */
function stated(path: string): string {
  const { size, mtime } = Deno.statSync(path), written = mtime?.getTime() ?? Infinity;
  if (written >= performance.timeOrigin) {
    throw new Error(`Expected what this process runs but found a newer ${path}`);
  }
  return `${path} ${size} ${written}`;
}

function statedBelow(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
    isDirectory ? statedBelow(`${folder}/${name}`) : [stated(`${folder}/${name}`)]
  );
}
