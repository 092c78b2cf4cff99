/**
 * Writes repros as folders: `repro.ts`, tensors beside it, and a `deno.json` that maps to this installation; then
 * runs the program in a separate process to check that it fails. Invariant: nothing outside the folder is written,
 * and no folder is reused.
 */
import { join } from "node:path";
import { config } from "../../base/config.ts";
import { DynError, messageOf } from "../../base/errors.ts";
import { isPlainObject } from "../../base/tree.ts";
import { save } from "../../data/safetensors.ts";
import type { ReproCase } from "./case.ts";
import { type ReproAbout, reproText, TENSOR_FILE } from "./script.ts";

/** A repro on disk. */
interface WrittenRepro {
  /** The path of `repro.ts`. */
  readonly path: string;
  /** Whether it fails on its own; null if not tried. */
  readonly verified: boolean | null;
  /** Its last output, if it does not fail as expected. */
  readonly output: string;
}

/** The root of this installation's modules. */
const ROOT = new URL("../../../", import.meta.url);

/**
 * Creates a new folder below `config.reproDir`; `name` describes its contents. Throws DynError if it cannot be created.
 */
export function newFolder(name: string): string {
  const plain = name.replace(/\W+/g, "_").replace(/^_+|_+$/g, "").slice(0, 40) || "graph";
  for (let attempt = 0;; attempt++) {
    const folder = join(config.reproDir, attempt === 0 ? plain : `${plain}_${attempt}`);
    try {
      Deno.mkdirSync(config.reproDir, { recursive: true });
      Deno.mkdirSync(folder);
      return Deno.realPathSync(folder);
    } catch (thrown) {
      if (thrown instanceof Deno.errors.AlreadyExists && attempt < 10_000) continue;
      throw new DynError(
        `Expected a folder for repros but found ${JSON.stringify(config.reproDir)}: ${messageOf(thrown)}`,
      );
    }
  }
}

/** Writes a repro into a folder. */
export function writeRepro(folder: string, of: ReproCase, about: ReproAbout): string {
  const { text, tensors } = reproText(of, about);
  const path = join(folder, "repro.ts");
  Deno.writeTextFileSync(path, text);
  if (Object.keys(tensors).length > 0) save(tensors, join(folder, TENSOR_FILE));
  const own = ownImportsText();
  if (own !== null) Deno.writeTextFileSync(join(folder, "deno.json"), own);
  return path;
}

/**
 * The import settings by which programs in the folder find this installation and its packages if it consists of files;
 * null if it has none, or has a public name.
 */
export function ownImportsText(): string | null {
  if (ROOT.protocol !== "file:") return null;
  let settings: unknown;
  try {
    settings = JSON.parse(Deno.readTextFileSync(new URL("deno.json", ROOT)));
  } catch {
    return null;
  }
  const imports = isPlainObject(settings) && isPlainObject(settings["imports"]) ? settings["imports"] : {};
  const absolute = Object.entries(imports).map(([name, to]) =>
    [name, typeof to === "string" && to.startsWith("./") ? new URL(to, ROOT).href : String(to)] as const
  );
  const own = { "jsr:@x/dyn": new URL("mod.ts", ROOT).href, ...Object.fromEntries(absolute) };
  return JSON.stringify({ imports: own }, null, 2) + "\n";
}

/** Environment variables that would affect a repro. */
const NOT_INHERITED = [
  "DYN_BACKEND",
  "DYN_BISECT",
  "DYN_COMPILE_DEBUG",
  "DYN_DEBUG_FUNCTION",
  "DYN_DISABLE",
  "DYN_LOGS",
  "DYN_REPRO_AFTER",
  "DYN_REPRO_LEVEL",
  "DYN_SHADOW",
  "DYN_TRACE",
];

/** Runs a repro in a separate process. */
export function verifyRepro(path: string): Pick<WrittenRepro, "verified" | "output"> {
  const env = Object.fromEntries(
    Object.entries(Deno.env.toObject()).filter(([name]) => !NOT_INHERITED.includes(name)),
  );
  try {
    const { code, stdout, stderr } = new Deno.Command(Deno.execPath(), {
      // The standalone executable is dyn itself
      args: Deno.build.standalone ? [path] : ["run", "-A", "--no-check", "--no-lock", path],
      clearEnv: true,
      env: { ...env, NO_COLOR: "1" },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).outputSync();
    const decoder = new TextDecoder();
    const said = `${decoder.decode(stdout)}\n${decoder.decode(stderr)}`.trim();
    return {
      verified: code === 1 && /^Fails: /m.test(said),
      output: said.split("\n").slice(0, 6).join("\n"),
    };
  } catch (error) {
    return { verified: null, output: messageOf(error) };
  }
}
