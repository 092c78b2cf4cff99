/**
 * Objects that a part of a trace may have read besides the module on which it ran: everything reachable from the
 * variables of its functions, as far as the trace has encountered it. Invariant: includes everything that the trace has
 * read, and possibly more.
 */
import { types } from "node:util";
import { NotStorable } from "../../sym/stored/forms.ts";
import { propertiesOf } from "../disk_cache/shapes.ts";
import type { Wrapper } from "../variables/wrap.ts";
import { childrenOf } from "./forms.ts";

/** Returns the objects reachable from roots; null if they cannot be determined. */
export function reachable(roots: Iterable<object>, wrapper: Wrapper): ReadonlySet<object> | null {
  const found = new Set<object>();
  const add = (value: unknown) => {
    const isObject = (typeof value === "object" && value !== null) || typeof value === "function";
    if (isObject && wrapper.find(value) !== undefined) found.add(value);
  };
  for (const root of roots) found.add(root);
  try {
    // The set grows during the walk
    for (const object of found) {
      if (types.isProxy(object)) return null;
      childrenOf(object).forEach(add);
      for (const [, { get, set }] of propertiesOf(object)) {
        add(get);
        add(set);
      }
      add(Object.getPrototypeOf(object));
      const value = wrapper.find(object);
      if (value?.kind === "object" && value.variable) add(value.variable.cell.get());
    }
  } catch (error) {
    if (error instanceof NotStorable || error instanceof ReferenceError) return null;
    throw error;
  }
  return found;
}
