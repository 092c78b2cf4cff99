/**
 * `package`: packages a program so that it runs without the compiler, from a module whose default export is an exported
 * program, or from the file of one.
 *
 * Invariant: the module runs as `run` would run it.
 */
import { parseArgs } from "@std/cli";
import { type Command, UsageError } from "./command.ts";
import { failAndExit, runScript } from "./run.ts";
import { isUrl, scriptSource, scriptUrl } from "./script_source.ts";
import { checkChoices, toolkit } from "./toolkit.ts";

/** The program that a module exports, or a file holds. */
async function programOf(path: string): Promise<unknown> {
  const { compiler } = await toolkit();
  if (path.endsWith(".dynx")) return compiler.loadExportedProgram(path);
  if (!isUrl(path)) scriptUrl(path);
  await runScript(path, []).catch(failAndExit);
  const { url } = await scriptSource(path), module: Record<string, unknown> = await import(url);
  if (module["default"] instanceof compiler.ExportedProgram) return module["default"];
  throw new UsageError(
    `Expected ${path} to have what compiler.export gives as its default export but found ${
      Deno.inspect(module["default"], { depth: 0 })
    }`,
  );
}

/** `dyn package`. */
export const packageCommand: Command = {
  name: "package",
  usage: "package <module> -o <file> [--wasm]",
  summary: "Make a package of an exported program, which runs without the compiler",
  help:
    "The module's default export is what compiler.export gave; in its place may stand a file that its save() wrote (.dynx). " +
    "The package holds\nweights, code for WebAssembly and, where there is a C++ compiler, a library for this machine with " +
    "a C header; --wasm leaves\nthat out. See docs/export.md.",
  takesFlags: true,
  run: async (args) => {
    const { o, wasm, _: words } = parseArgs(args, { string: ["_", "o"], boolean: ["wasm"] });
    const [path, ...more] = words;
    if (more.length > 0) throw new UsageError(`Expected one module but found ${words.join(" ")}`);
    if (path === undefined) throw new UsageError("Expected a module but found nothing");
    if (!o) throw new UsageError("Expected -o with the file to write but found none");
    await checkChoices();
    const { savePackage, compiler } = await toolkit(), program = await programOf(path);
    if (!(program instanceof compiler.ExportedProgram)) throw new UsageError("Expected an exported program");
    const hash = await savePackage(program, o, wasm ? { native: false } : {});
    console.log(`Wrote ${o}: ${program.name}, ${Deno.statSync(o).size} bytes, SHA-256 ${hash}`);
    return 0;
  },
};
