/** The builtins of the global object, as they were when dyn was loaded. */

/** The global object, the values of its variables, and the prototypes of these. */
export const BUILTIN_OBJECTS: ReadonlySet<object> = collectBuiltins();

/** Names of the variables that the global object had. */
export const BUILTIN_VARIABLES: ReadonlySet<PropertyKey> = new Set(Reflect.ownKeys(globalThis));

const { apply, getOwnPropertyDescriptor } = Reflect;

/** Getters of the variables that the runtime loads lazily; the others return what programs have set. */
const LOADING: ReadonlyMap<PropertyKey, () => unknown> = new Map(
  Reflect.ownKeys(globalThis).flatMap((key) => {
    const get = getOwnPropertyDescriptor(globalThis, key)?.get;
    return get && !/^on/.test(String(key)) ? [[key, get]] : [];
  }),
);

/** The function, or the global object, that a variable's getter returns; undefined for other variables. */
export function loadedBuiltin(name: string, get = LOADING.get(name)): object | undefined {
  const value: unknown = get && get === LOADING.get(name) ? apply(get, globalThis, []) : undefined;
  return typeof value === "function" || value === globalThis ? value : undefined;
}

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
