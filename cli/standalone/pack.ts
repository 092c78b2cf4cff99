/**
 * Packs Deno and a folder into one executable: a launcher in POSIX shell, followed by a compressed archive. Invariant:
 * the launcher runs what was packed, or reports why it does not.
 */
import { dirname, join } from "node:path";
import settings from "../../deno.json" with { type: "json" };
import { DynError } from "../../lib/base/errors.ts";
import { copy, filesBelow, output } from "./files.ts";

/** The parts of an executable. */
export interface Packing {
  /** Contains `dyn`, and everything else named below. */
  readonly folder: string;
  /** Folders besides `bin` and `dyn` whose files must remain unchanged. */
  readonly parts?: readonly string[];
  /** A folder of compiled code that continues to grow where the executable runs. */
  readonly cache?: string | undefined;
  /** A script in the folder that is run with the arguments; absent: dyn's command line. */
  readonly script?: string | undefined;
  /** Its name in messages. */
  readonly name: string;
}

/** Returns what the launcher's `listed` prints for the packed files: for each, a line with checksum and length. */
async function listingOf(folder: string, parts: readonly string[]): Promise<string> {
  const paths = parts.flatMap((part) => filesBelow(join(folder, part)))
    .map((path) => path.slice(folder.length + 1));
  const odd = paths.find((path) => !/^[\w./@-]+$/.test(path));
  if (odd !== undefined) throw new DynError(`Expected names without spaces but found ${odd}`);
  const lines = paths.map((path) => `${path} ${Deno.statSync(join(folder, path)).size} \n`).sort();
  const list = join(folder, "listing");
  Deno.writeTextFileSync(list, lines.join(""));
  return (await output("sh", ["-c", 'cksum <"$1"', "sh", list], folder)).trim();
}

/** Writes the executable. Throws DynError if there is no POSIX shell. */
export async function pack(packing: Packing, target: string): Promise<void> {
  const { folder, parts = [], cache, script, name } = packing, kept = ["bin", "dyn", ...parts];
  if (Deno.build.os === "windows") {
    throw new DynError("Expected a POSIX shell, for which executables are packed");
  }
  copy(Deno.realPathSync(Deno.execPath()), join(folder, "bin/deno"));
  Deno.chmodSync(join(folder, "bin/deno"), 0o755);
  const archive = join(folder, "payload.tar.gz"), listing = await listingOf(folder, kept);
  const packed = [...kept, ...cache === undefined ? [] : [cache]].join(" ");
  // Stronger compression takes three times as long for a twelfth of the bytes
  await output("sh", ["-c", `tar -cf - ${packed} | gzip -1 >payload.tar.gz`], folder);
  const payload = Deno.readFileSync(archive);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", payload));
  const words: Readonly<Record<string, string>> = {
    NAME: name,
    VERSION: settings.version,
    HASH: digest.toHex(),
    LISTING: listing,
    PARTS: kept.join(" "),
    // Compiled code was made for programs that wait for it
    CACHE: cache === undefined ? "" : `export DYN_CACHE_DIR="$home/${cache}" DYN_TIER="\${DYN_TIER:-wait}"`,
    RUN: script === undefined ? "" : `run "$home/${script}" `,
  };
  let template = Deno.readTextFileSync(new URL("launcher.sh", import.meta.url));
  for (const [word, value] of Object.entries(words)) template = template.replaceAll(`@${word}@`, () => value);
  // The offset is part of the text whose length it is, so the length is kept constant: spaces pad it.
  const width = "@OFFSET@".length;
  const offset = new TextEncoder().encode(template).length + 1;
  const launcher = new TextEncoder().encode(template.replace("@OFFSET@", String(offset).padEnd(width)));
  Deno.mkdirSync(dirname(target), { recursive: true });
  const draft = `${target}.${Deno.pid}`;
  const file = await Deno.open(draft, { write: true, create: true, truncate: true, mode: 0o755 });
  const writer = file.writable.getWriter();
  await writer.write(launcher);
  await writer.write(payload);
  await writer.close();
  Deno.renameSync(draft, target);
}
