/**
 * Writes modules.ts: one list of the modules that mod.ts loads, in the order in which they are evaluated. Deno reads and
 * parses the source map of each module that is the first to import another one, in order to know where it is imported:
 * with the list, of one module instead of 340, which took a tenth of an import. Invariant: the list changes neither
 * what is loaded nor in which order it is evaluated.
 *
 *   deno task generate
 */
import { fileURLToPath } from "node:url";
import { output } from "../cli/standalone/files.ts";

const ROOT = new URL("../", import.meta.url);

/** Path of the list from the root of the repository. */
const LIST = "modules.ts";

const HEADER = `/**
 * The modules that mod.ts loads, in the order in which they are evaluated; it loads faster with all of them in one list.
 * Written by tools/modules.ts: run \`deno task generate\` after adding modules.
 */
`;

/** The part of `deno info --json` that is used here. */
interface ModuleGraph {
  readonly modules: readonly {
    readonly specifier: string;
    readonly dependencies?: readonly {
      readonly isDynamic?: boolean;
      readonly code?: { readonly specifier?: string };
    }[];
  }[];
}

/** Returns the URLs of this repository's modules that an entry loads, each behind those it imports. */
function evaluationOrder({ modules }: ModuleGraph, entry: string): readonly string[] {
  const imports = new Map(modules.map(({ specifier, dependencies = [] }) => [
    specifier,
    dependencies.flatMap(({ isDynamic, code }) => isDynamic ? [] : code?.specifier ?? []),
  ]));
  const order: string[] = [], seen = new Set([new URL(LIST, ROOT).href]);
  const visit = (url: string): void => {
    if (seen.has(url) || !url.startsWith(ROOT.href)) return;
    seen.add(url);
    imports.get(url)?.forEach(visit);
    order.push(url);
  };
  imports.get(entry)?.forEach(visit);
  return order;
}

const graph: ModuleGraph = JSON.parse(
  await output(Deno.execPath(), ["info", "--json", "mod.ts"], fileURLToPath(ROOT)),
);
const order = evaluationOrder(graph, new URL("mod.ts", ROOT).href);
const lines = order.map((url) => `import "./${url.slice(ROOT.href.length)}";\n`);
Deno.writeTextFileSync(new URL(LIST, ROOT), HEADER + lines.join(""));
