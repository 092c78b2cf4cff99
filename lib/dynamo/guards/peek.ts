/**
 * Reads places of a call before any guard has been checked. Invariant: no code of the program runs: no getter, no
 * trap of a proxy; values that only such code could provide are unknown.
 */
import { types } from "node:util";
import type { Source } from "../source.ts";

/** Marks a value that cannot be determined. */
export const UNKNOWN: unique symbol = Symbol("unknown");

/** Reads a place of a call. */
type Peek = (self: unknown, args: ArrayLike<unknown>) => unknown;

const { getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
const { isProxy } = types;

/** The reader of a source; null if reading takes long, or more than reading properties. */
export function peekAt(source: Source): Peek | null {
  switch (source.kind) {
    case "argument": {
      const { index } = source;
      return (_self, args) => known(args[index]);
    }
    case "this":
      return known;
    case "known": {
      const { object } = source;
      return () => object;
    }
    case "global": {
      const { variable } = source;
      return () => property(globalThis, variable);
    }
    case "cell": {
      const { cell } = source;
      return () => {
        try {
          return known(cell.get());
        } catch {
          // The variable is not initialised
          return UNKNOWN;
        }
      };
    }
    case "property": {
      const base = peekAt(source.base), { key } = source;
      return base && ((self, args) => property(base(self, args), key));
    }
    case "captured":
    case "private":
    case "accessor":
    case "prototype":
    case "entry":
    case "element":
    case "lookup":
    case "bytes":
    case "computed":
      return null;
    default:
      return source satisfies never;
  }
}

/** Asking a proxy anything runs its traps. */
function known(value: unknown): unknown {
  return isProxy(value) ? UNKNOWN : value;
}

function property(base: unknown, key: string | symbol): unknown {
  if ((typeof base !== "object" || base === null) && typeof base !== "function") return UNKNOWN;
  for (let holder: object | null = base; holder !== null; holder = getPrototypeOf(holder)) {
    if (isProxy(holder)) return UNKNOWN;
    const found = getOwnPropertyDescriptor(holder, key);
    if (found) return "value" in found ? known(found.value) : UNKNOWN;
  }
  return undefined;
}
