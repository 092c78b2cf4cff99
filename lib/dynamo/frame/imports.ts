/**
 * Origins of imported bindings: the exporting module may assign one at any time.
 *
 * An origin is the variable behind an import that is assigned, or the URL behind a namespace. Invariant: a variable only
 * if the exporting module is known and assigns it; packages whose modules cannot be found export constants in practice.
 */
import type * as ast from "acorn";
import type { ParsedModule } from "../bytecode/parse.ts";
import { boundNames, type Variable } from "../bytecode/scope.ts";
import { isOwnModule } from "../../base/errors.ts";
import { isInPackage } from "./loaded_texts.ts";
import { importedUrl, isOfRuntime } from "./specifiers.ts";

/** Finds a loaded module by its URL. */
export type FindModule = (url: string) => ParsedModule | null;

/** The origin of an import or export. */
export type Origin =
  /** A variable that its module assigns. */
  | { readonly kind: "changing"; readonly variable: Variable }
  /** All exports of a module. */
  | { readonly kind: "namespace"; readonly url: string }
  /** A value that never changes, as far as can be known. */
  | { readonly kind: "final" }
  /** The program imports it by a name of which it is not known what module it stands for. */
  | { readonly kind: "unknown" };

const FINAL: Origin = { kind: "final" }, UNKNOWN: Origin = { kind: "unknown" };

const exporters = new WeakMap<Variable, Variable>();

/** The variable itself or, for an import that `importOrigin` found to be another module's variable, that one. */
export function exporterOf(variable: Variable): Variable {
  return exporters.get(variable) ?? variable;
}

/** Returns the origin of a variable that `module` imports. */
export function importOrigin(variable: Variable, module: ParsedModule, find: FindModule): Origin {
  const origin = importedOrigin(variable, module, { find, seen: new Set() });
  if (origin.kind === "changing") exporters.set(variable, origin.variable);
  return origin;
}

/** Returns the origin of an export of the module at that URL. */
export function exportOrigin(name: string, url: string, find: FindModule): Origin {
  return originAt(name, url, { find, seen: new Set() });
}

interface Search {
  readonly find: FindModule;
  /** Modules and names visited, since modules may export in cycles. */
  readonly seen: Set<string>;
}

function importedOrigin(variable: Variable, module: ParsedModule, search: Search): Origin {
  for (const statement of module.program.body) {
    if (statement.type !== "ImportDeclaration") continue;
    for (const s of statement.specifiers) {
      if (s.local.start !== variable.declaredAt) continue;
      const url = sourceUrl(statement.source, module);
      // The object never changes, and without a URL its exports are read as properties that may
      if (s.type === "ImportNamespaceSpecifier") return url === null ? FINAL : { kind: "namespace", url };
      const name = s.type === "ImportDefaultSpecifier" ? "default" : spelled(s.imported);
      return importedFrom(module, { name, url }, search);
    }
  }
  return FINAL;
}

function spelled(node: ast.Identifier | ast.Literal): string {
  return node.type === "Identifier" ? node.name : String(node.value);
}

/** An export that `module` imports from the module at a URL. */
function importedFrom(
  module: ParsedModule,
  { name, url }: { readonly name: string; readonly url: string | null },
  search: Search,
): Origin {
  if (url !== null) return originAt(name, url, search);
  return isInPackage(module.url) ? FINAL : UNKNOWN;
}

function originAt(name: string, url: string, search: Search): Origin {
  // dyn itself and the runtime export nothing that changes.
  const module = isOwnModule(url) || isOfRuntime(url) ? null : search.find(url);
  const key = `${url} ${name}`;
  if (!module || search.seen.has(key)) return FINAL;
  search.seen.add(key);
  for (const statement of module.program.body) {
    if (
      statement.type === "ExportAllDeclaration" && statement.exported && spelled(statement.exported) === name
    ) {
      const of = sourceUrl(statement.source, module);
      return of === null ? FINAL : { kind: "namespace", url: of };
    }
    if (statement.type !== "ExportNamedDeclaration") continue;
    if (statement.declaration && declares(statement.declaration, name)) {
      return localOrigin(name, module, search);
    }
    for (const s of statement.specifiers) {
      if (spelled(s.exported) !== name) continue;
      const local = spelled(s.local);
      return statement.source
        ? importedFrom(module, { name: local, url: sourceUrl(statement.source, module) }, search)
        : localOrigin(local, module, search);
    }
  }
  let last = FINAL;
  for (const statement of module.program.body) {
    if (statement.type !== "ExportAllDeclaration" || statement.exported) continue;
    const origin = importedFrom(module, { name, url: sourceUrl(statement.source, module) }, search);
    if (origin.kind === "unknown") last = origin;
    else if (origin.kind !== "final") return origin;
  }
  return last;
}

function declares(declaration: ast.Declaration, name: string): boolean {
  if (declaration.type !== "VariableDeclaration") return declaration.id.name === name;
  return declaration.declarations.some((d) => boundNames(d.id).some((id) => id.name === name));
}

/** A variable of the module, or what it imports. */
function localOrigin(name: string, module: ParsedModule, search: Search): Origin {
  const variable = module.analysis.scopes.get(module.program)?.variables.get(name);
  if (variable?.kind === "import") return importedOrigin(variable, module, search);
  return variable?.reassigned ? { kind: "changing", variable } : FINAL;
}

/** The URL of the module that `module` imports; null if it is not known. */
function sourceUrl(source: ast.Literal, module: ParsedModule): string | null {
  return importedUrl(String(source.value), module.url);
}
