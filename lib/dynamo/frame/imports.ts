/**
 * Whether an imported binding can change: the module that exports it may assign it at any time.
 *
 * Input: an import of a parsed module. Output: yes or no.
 * Invariant: "no" for what cannot be followed (packages behind import maps), which export constants in practice;
 * "yes" only if the exporting module is known and assigns the variable.
 */
import type * as ast from "acorn";
import type { ParsedModule } from "../bytecode/parse.ts";
import { boundNames, type Variable } from "../bytecode/scope.ts";

/** Finds a loaded module by its URL. */
export type FindModule = (url: string) => ParsedModule | null;

/** Whether the variable, an import of `module`, is assigned where it comes from. */
export function importMayChange(variable: Variable, module: ParsedModule, find: FindModule): boolean {
  for (const statement of module.program.body) {
    if (statement.type !== "ImportDeclaration") continue;
    for (const s of statement.specifiers) {
      if (s.local.start !== variable.declaredAt) continue;
      if (s.type === "ImportNamespaceSpecifier") return false;
      const name = s.type === "ImportDefaultSpecifier" ? "default" : exportedName(s.imported);
      return exportMayChange(name, { url: module.url, source: statement.source }, { find, seen: new Set() });
    }
  }
  return false;
}

function exportedName(node: ast.Identifier | ast.Literal): string {
  return node.type === "Identifier" ? node.name : String(node.value);
}

interface Search {
  readonly find: FindModule;
  /** Modules and names looked at, since modules may export in circles. */
  readonly seen: Set<string>;
}

function exportMayChange(
  name: string,
  from: { readonly url: string; readonly source: ast.Literal },
  search: Search,
): boolean {
  const url = resolve(String(from.source.value), from.url);
  const module = url === null || isOwn(url) ? null : search.find(url);
  const key = `${url} ${name}`;
  if (!module || search.seen.has(key)) return false;
  search.seen.add(key);
  for (const statement of module.program.body) {
    if (statement.type !== "ExportNamedDeclaration") continue;
    if (statement.declaration && declares(statement.declaration, name)) return isReassigned(name, module);
    for (const s of statement.specifiers) {
      if (exportedName(s.exported) !== name) continue;
      const local = exportedName(s.local);
      if (statement.source) {
        return exportMayChange(local, { url: module.url, source: statement.source }, search);
      }
      return isReassigned(local, module) || importedMayChange(local, module, search);
    }
  }
  return module.program.body.some((statement) =>
    statement.type === "ExportAllDeclaration" && !statement.exported &&
    exportMayChange(name, { url: module.url, source: statement.source }, search)
  );
}

function declares(declaration: ast.Declaration, name: string): boolean {
  if (declaration.type !== "VariableDeclaration") return declaration.id.name === name;
  return declaration.declarations.some((d) => boundNames(d.id).some((id) => id.name === name));
}

function topVariable(name: string, module: ParsedModule): Variable | undefined {
  return module.analysis.scopes.get(module.program)?.variables.get(name);
}

function isReassigned(name: string, module: ParsedModule): boolean {
  return topVariable(name, module)?.reassigned ?? false;
}

/** An export of what the module itself imports. */
function importedMayChange(name: string, module: ParsedModule, search: Search): boolean {
  const variable = topVariable(name, module);
  return variable?.kind === "import" &&
    importMayChange(variable, module, (url) => search.seen.has(url) ? null : search.find(url));
}

const ROOT = new URL("../../../", import.meta.url).href;

/** Whether the module is a part of dyn, which exports nothing that changes. */
function isOwn(url: string): boolean {
  return url === `${ROOT}mod.ts` || url.startsWith(`${ROOT}lib/`) || url.startsWith(`${ROOT}backends/`);
}

function resolve(specifier: string, base: string): string | null {
  if (!/^(\.{0,2}\/|[a-z]+:)/.test(specifier)) return null;
  try {
    return new URL(specifier, base).href;
  } catch {
    return null;
  }
}
