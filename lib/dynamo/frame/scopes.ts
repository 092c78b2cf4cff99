/**
 * The variables visible to a function, as V8 holds them.
 *
 * Invariant: values are those at the moment of the snapshot; later changes are not visible.
 */
import { fieldsOf, type Inspector, textField } from "./inspector.ts";

/** Scopes of a function, innermost first. The global scope is left out. */
export interface ScopeSnapshot {
  /** The value of the innermost variable of that name. */
  lookup(name: string): ScopeValue;
}

export type ScopeValue =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "uninitialized" }
  | { readonly kind: "absent" };

/** The scopes of a function that uses no variable of them. */
export const NO_SCOPES: ScopeSnapshot = { lookup: () => ({ kind: "absent" }) };

/** Returns whether the global scope is the only one of a function. */
export function isGlobal(inspector: Inspector, objectId: string): boolean {
  const scopes = Object.values(fieldsOf(inspector.valueOf(objectId)));
  return scopes.length > 0 && scopes.every((scope) => textField(fieldsOf(scope), "description") === "Global");
}

/** Takes a snapshot of the scopes behind an object id. */
export function readScopes(inspector: Inspector, objectId: string): ScopeSnapshot {
  const list = inspector.valueOf(objectId);
  const scopes: object[] = [];
  for (const item of Object.values(fieldsOf(list))) {
    const fields = fieldsOf(item);
    if (textField(fields, "description") === "Global") continue;
    if (typeof fields.object === "object" && fields.object !== null) scopes.push(fields.object);
  }
  return {
    lookup: (name) => {
      for (const scope of scopes) {
        if (!Object.hasOwn(scope, name)) continue;
        try {
          return { kind: "value", value: Reflect.get(scope, name) };
        } catch {
          return { kind: "uninitialized" };
        }
      }
      return { kind: "absent" };
    },
  };
}
