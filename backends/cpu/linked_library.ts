/**
 * Links several complete C++ sources with distinct exported names into one shared library, for use in another
 * process. Invariant: nothing is left on disk.
 */
import { dirname } from "node:path";
import { config } from "../../lib/base/config.ts";
import { failureOf, timeLimit } from "./compiler_faults.ts";
import { processDirectory, readText } from "./cache_directory.ts";
import { runSideBySide } from "./compiler_process.ts";
import type { Source } from "./object_cache.ts";
import { LINK_OPTIONS, requireToolchain } from "./toolchain.ts";

/** Compiles and links. Throws `ToolchainError`, with the compiler's own message, on failure. */
export function linkedLibrary(sources: readonly Source[]): Uint8Array<ArrayBuffer> {
  const { compiler, options } = requireToolchain();
  const folder = Deno.makeTempDirSync({ dir: processDirectory() });
  const run = (jobs: readonly { readonly name: string; readonly words: readonly string[] }[]): void => {
    const commands = jobs.map(({ name, words }) => ({ words, log: `${folder}/${name}.log` }));
    const endings = runSideBySide(commands, timeLimit(config.inductor.cppTimeout));
    for (const [at, ending] of endings.entries()) {
      if (ending.kind === "exit" && ending.code === 0) continue;
      const log = readText(commands[at]?.log ?? "") ?? "";
      throw failureOf({ compiler, task: `compile ${jobs[at]?.name}`, ending, log, folder: dirname(folder) });
    }
  };
  try {
    const objects = sources.map((source, at) => {
      const stem = `${folder}/${at}`;
      Deno.writeTextFileSync(`${stem}.cpp`, source.text);
      const words = [compiler, ...options, ...source.options ?? [], "-c", `${stem}.cpp`, "-o", `${stem}.o`];
      return { name: source.name, path: `${stem}.o`, words };
    });
    run(objects);
    const library = `${folder}/library.so`, paths = objects.map(({ path }) => path);
    run([{ name: "library", words: [compiler, ...options, ...paths, "-o", library, ...LINK_OPTIONS] }]);
    return Deno.readFileSync(library);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}
