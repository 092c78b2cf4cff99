/**
 * Makes the standalone executable: `deno task compile [--pack] [output]`.
 *
 * Input: the modules that `cli.ts` reaches. Output: one file, `dist/dyn`, that runs scripts and the REPL on a
 * machine without Deno and without this repository.
 * Invariant: both ways of making it start from the same module tree and the same entry.
 *
 * 1. A folder is filled with the modules (kept apart, as in the repository: stack traces, and the sources that the
 *    tracer reads, stay small and named), the npm packages they use, and a `deno.json` under which `jsr:@x/dyn`
 *    means this folder.
 * 2. `deno compile` makes the executable where its base binary can be had (downloaded, or named by `DENORT_BIN`)
 *    and the result runs.
 * 3. Otherwise, or with `--pack`, the running Deno binary and the folder are packed behind a launcher.
 */
import { parseArgs } from "@std/cli";
import { registerHooks } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import settings from "../deno.json" with { type: "json" };

const ROOT = new URL("../", import.meta.url);

/** What of `deno info --json` is used here. */
interface ModuleGraph {
  readonly modules: readonly {
    readonly specifier: string;
    readonly local?: string;
    readonly error?: string;
  }[];
}

/** Runs a program and returns its standard output; throws with its standard error when it fails. */
async function output(
  program: string,
  args: readonly string[],
  cwd: string = fileURLToPath(ROOT),
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args: [...args], cwd }).output();
  if (!success) throw new Error(`${program} ${args[0]} failed:\n${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

/** Paths of the repository's own modules that the entry reaches, dynamic imports included. */
async function ownModules(): Promise<string[]> {
  const graph: ModuleGraph = JSON.parse(await output(Deno.execPath(), ["info", "--json", "cli.ts"]));
  const broken = graph.modules.find(({ error }) => error !== undefined);
  if (broken) throw new Error(`Expected a complete module graph but found ${broken.error}`);
  return graph.modules.map(({ specifier }) => specifier)
    .filter((specifier) => specifier.startsWith(ROOT.href))
    .map((specifier) => specifier.slice(ROOT.href.length));
}

/** The file that an npm package's name resolves to, by importing it. */
async function entryOf(name: string): Promise<string> {
  let found: string | undefined;
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      if (specifier === name) found = resolved.url;
      return resolved;
    },
  });
  await import(name);
  hooks.deregister();
  if (!found?.startsWith("file:")) {
    throw new Error(`Expected a file for npm package ${name} but found ${found}`);
  }
  return fileURLToPath(found);
}

/** Copies a package without dependencies below `vendor/`; returns the entry's path relative to the tree. */
async function vendor(name: string, tree: string): Promise<string> {
  const entry = await entryOf(name);
  let folder = dirname(entry);
  while (!isFile(join(folder, "package.json"))) folder = dirname(folder);
  const manifest: { dependencies?: Record<string, string> } = JSON.parse(
    Deno.readTextFileSync(join(folder, "package.json")),
  );
  const dependencies = Object.keys(manifest.dependencies ?? {});
  if (dependencies.length > 0) {
    throw new Error(`Expected ${name} to depend on nothing but found ${dependencies.join(", ")}`);
  }
  const target = `vendor/${name}/${entry.slice(folder.length + 1)}`;
  copy(entry, join(tree, target));
  for (const notice of ["LICENSE", "LICENSE.md", "package.json"]) {
    if (isFile(join(folder, notice))) copy(join(folder, notice), join(tree, `vendor/${name}`, notice));
  }
  return `./${target}`;
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

function copy(from: string, to: string): void {
  Deno.mkdirSync(dirname(to), { recursive: true });
  Deno.copyFileSync(from, to);
}

/** Fills a folder with everything that the executable runs, except the runtime. */
async function makeTree(tree: string): Promise<void> {
  const modules = await ownModules();
  for (const path of [...modules, "LICENSE"]) copy(fileURLToPath(new URL(path, ROOT)), join(tree, path));
  const texts = modules.map((path) => Deno.readTextFileSync(new URL(path, ROOT)));
  const imports: Record<string, string> = {};
  for (const [name, target] of Object.entries(settings.imports)) {
    if (!texts.some((text) => text.includes(`"${name}"`) && !text.startsWith("{"))) continue;
    imports[name] = target.startsWith("npm:") ? await vendor(name, tree) : target;
  }
  const { name, version, license, exports, compilerOptions } = settings;
  const config = { name, version, license, exports, imports, compilerOptions };
  Deno.writeTextFileSync(join(tree, "deno.json"), JSON.stringify(config, undefined, 2));
}

/** Whether an executable starts and its scripts find dyn. */
async function works(executable: string): Promise<boolean> {
  const folder = await Deno.makeTempDir();
  try {
    const script = join(folder, "probe.ts");
    Deno.writeTextFileSync(
      script,
      'import * as dyn from "jsr:@x/dyn";\nconsole.log(typeof dyn.compile as string);\n',
    );
    return (await output(executable, [script], folder)).trim() === "function";
  } catch {
    return false;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** `deno compile`; false where it cannot be done here. */
async function compileTree(tree: string, target: string): Promise<boolean> {
  const args = ["compile", "--quiet", "--allow-all", "--no-check", "--config", join(tree, "deno.json")];
  try {
    await output(Deno.execPath(), [...args, "--output", target, join(tree, "cli.ts")], tree);
  } catch {
    return false;
  }
  return await works(target);
}

/** What the launcher's `listed` gives for the packed files: checksum and length of a line for each, with its size. */
async function listingOf(folder: string): Promise<string> {
  const paths = ["bin", "dyn"].flatMap((part) => filesBelow(join(folder, part)))
    .map((path) => path.slice(folder.length + 1));
  const odd = paths.find((path) => !/^[\w./@-]+$/.test(path));
  if (odd !== undefined) throw new Error(`Expected names without spaces but found ${odd}`);
  const lines = paths.map((path) => `${path} ${Deno.statSync(join(folder, path)).size} \n`).sort();
  const list = join(folder, "listing");
  Deno.writeTextFileSync(list, lines.join(""));
  return (await output("sh", ["-c", 'cksum <"$1"', "sh", list])).trim();
}

function filesBelow(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    const path = join(folder, name);
    return isDirectory ? filesBelow(path) : [path];
  });
}

/** The launcher, and behind it the running Deno and the tree. */
async function pack(folder: string, target: string): Promise<void> {
  if (Deno.build.os === "windows") {
    throw new Error("Expected deno compile to work, since packing needs a POSIX shell");
  }
  copy(Deno.realPathSync(Deno.execPath()), join(folder, "bin/deno"));
  Deno.chmodSync(join(folder, "bin/deno"), 0o755);
  const archive = join(folder, "payload.tar.gz"), listing = await listingOf(folder);
  await output("tar", ["-czf", archive, "-C", folder, "bin", "dyn"]);
  const payload = Deno.readFileSync(archive);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", payload));
  const template = Deno.readTextFileSync(new URL("launcher.sh", import.meta.url))
    .replace("@VERSION@", settings.version).replace("@HASH@", digest.toHex())
    .replace("@LISTING@", listing);
  // The offset is part of what it counts, so the text keeps its length: spaces pad it.
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

const args = parseArgs(Deno.args, { boolean: ["pack"] });
const target = resolve(String(args._[0] ?? "dist/dyn"));
const folder = await Deno.makeTempDir({ prefix: "dyn-standalone-" });
try {
  await makeTree(join(folder, "dyn"));
  const compiled = !args.pack && await compileTree(join(folder, "dyn"), target);
  if (!compiled) await pack(folder, target);
  const megabytes = (Deno.statSync(target).size / 1e6).toFixed(0);
  const how = compiled ? "by deno compile" : "with the Deno binary packed behind a launcher";
  console.log(`Wrote ${target} (${megabytes} MB, ${how})`);
} finally {
  await Deno.remove(folder, { recursive: true });
}
