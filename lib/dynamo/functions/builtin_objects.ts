/** The builtins of the global object, as they were when dyn loaded. */

/** The global object, what its variables hold, and the prototypes of these. */
export const BUILTIN_OBJECTS: ReadonlySet<object> = collectBuiltins();

/** Names of the variables that the global object had. */
export const BUILTIN_VARIABLES: ReadonlySet<PropertyKey> = new Set(Reflect.ownKeys(globalThis));

function collectBuiltins(): Set<object> {
  const found = new Set<object>([globalThis]);
  for (const key of Reflect.ownKeys(globalThis)) {
    const value: unknown = Reflect.getOwnPropertyDescriptor(globalThis, key)?.value;
    if ((typeof value !== "object" || value === null) && typeof value !== "function") continue;
    found.add(value);
    const prototype: unknown = Reflect.getOwnPropertyDescriptor(value, "prototype")?.value;
    if (typeof prototype === "object" && prototype !== null) found.add(prototype);
  }
  return found;
}
