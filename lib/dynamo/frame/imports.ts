/**
 * Origins of imported bindings: the exporting module may assign one at any time.
 *
 * An origin is the variable behind an import that is assigned, or the URL behind a namespace. Invariant: null for
 * imports that cannot be resolved (packages behind import maps), which export constants in practice; a variable only
 * if the exporting module is known and assigns it.
 */
import type * as ast from "acorn";
import type { ParsedModule } from "../bytecode/parse.ts";
import { boundNames, type Variable } from "../bytecode/scope.ts";
import { isOwnModule } from "../../base/errors.ts";

/** Finds a loaded module by its URL. */
export type FindModule = (url: string) => ParsedModule | null;

/** The origin of an import or export. */
export type Origin =
  /** A variable that its module assigns. */
  | { readonly kind: "changing"; readonly variable: Variable }
  /** All exports of a module. */
  | { readonly kind: "namespace"; readonly url: string | null }
  /** A value that never changes, as far as can be known. */
  | { readonly kind: "final" };

const FINAL: Origin = { kind: "final" };

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
      if (s.type === "ImportNamespaceSpecifier") return { kind: "namespace", url };
      return originAt(s.type === "ImportDefaultSpecifier" ? "default" : spelled(s.imported), url, search);
    }
  }
  return FINAL;
}

function spelled(node: ast.Identifier | ast.Literal): string {
  return node.type === "Identifier" ? node.name : String(node.value);
}

function originAt(name: string, url: string | null, search: Search): Origin {
  // dyn itself exports nothing that changes.
  const module = url === null || isOwnModule(url) ? null : search.find(url);
  const key = `${url} ${name}`;
  if (!module || search.seen.has(key)) return FINAL;
  search.seen.add(key);
  for (const statement of module.program.body) {
    if (
      statement.type === "ExportAllDeclaration" && statement.exported && spelled(statement.exported) === name
    ) {
      return { kind: "namespace", url: sourceUrl(statement.source, module) };
    }
    if (statement.type !== "ExportNamedDeclaration") continue;
    if (statement.declaration && declares(statement.declaration, name)) {
      return localOrigin(name, module, search);
    }
    for (const s of statement.specifiers) {
      if (spelled(s.exported) !== name) continue;
      const local = spelled(s.local);
      return statement.source
        ? originAt(local, sourceUrl(statement.source, module), search)
        : localOrigin(local, module, search);
    }
  }
  for (const statement of module.program.body) {
    if (statement.type !== "ExportAllDeclaration" || statement.exported) continue;
    const origin = originAt(name, sourceUrl(statement.source, module), search);
    if (origin.kind !== "final") return origin;
  }
  return FINAL;
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

/** The URL that a module names; null if only an import map knows it. */
function sourceUrl(source: ast.Literal, module: ParsedModule): string | null {
  const specifier = String(source.value);
  if (!/^(\.{0,2}\/|[a-z]+:)/.test(specifier)) return null;
  try {
    return new URL(specifier, module.url).href;
  } catch {
    return null;
  }
}
