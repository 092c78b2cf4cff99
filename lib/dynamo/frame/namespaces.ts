/**
 * Exports read through module namespace objects (`import * as ns`), which are live.
 *
 * Invariant: a variable has the same cell however it is accessed.
 */
import { types } from "node:util";
import { exportedCell } from "./cells.ts";
import { exportOrigin, type FindModule, type Origin } from "./imports.ts";
import type { LiveCell } from "./info.ts";

/** The binding of an export. */
export type Export =
  | { readonly kind: "final" }
  | { readonly kind: "cell"; readonly cell: LiveCell }
  /** The module behind the namespace, or the one behind its export, is not known (`await import(…)`). */
  | { readonly kind: "unknown" };

/** URLs of the modules behind namespaces. */
const urls = new WeakMap<object, string>();

/** Records the module behind a namespace that was obtained from an import. */
export function noteNamespace(value: unknown, origin: Origin): void {
  const isObject = typeof value === "object" && value !== null;
  if (origin.kind === "namespace" && isObject && types.isModuleNamespaceObject(value)) {
    urls.set(value, origin.url);
  }
}

/** Returns the binding of the export `key` of a namespace. */
export function exportOf(namespace: object, key: string, find: FindModule): Export {
  const url = urls.get(namespace);
  if (url === undefined) return { kind: "unknown" };
  const origin = exportOrigin(key, url, find);
  if (origin.kind === "unknown") return origin;
  if (origin.kind === "changing") {
    return { kind: "cell", cell: exportedCell(origin.variable, () => Reflect.get(namespace, key)) };
  }
  if (origin.kind === "namespace") noteNamespace(Reflect.get(namespace, key), origin);
  return { kind: "final" };
}
