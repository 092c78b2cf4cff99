/**
 * The state of real objects beyond their properties, by the engine's own tests. Invariant: determining it runs no code of
 * the program.
 */
import { types } from "node:util";
import { BUILTIN_OBJECTS } from "../functions/builtin_objects.ts";
import { begunAt } from "../functions/iterator_positions.ts";
import { inherits } from "../functions/modules.ts";
import { BYTES_CLASSES, bytesClass, bytesPlace } from "../guards/bytes.ts";
import type { OutputGraph } from "../trace/output_graph.ts";
import type { Exotic } from "./value.ts";

/** Returns the state of a real object beyond its properties. */
export function exoticOf(real: object): Exotic {
  if (Array.isArray(real)) {
    return { kind: "array", elements: [], originals: [], loaded: false, growing: null };
  }
  if (types.isMap(real) || types.isSet(real)) {
    return {
      kind: types.isMap(real) ? "map" : "set",
      entries: new Map(),
      originals: new Map(),
      deleted: new Map(),
      loaded: false,
      passes: false,
      changed: false,
    };
  }
  if (BUILTIN_OBJECTS.has(real)) return { kind: "plain" };
  const native = nativeKind(real);
  if (native !== null && begunAt(real)) {
    return { kind: "opaque", what: native, begun: { taken: 0, isOver: false } };
  }
  return native === null
    ? { kind: "plain" }
    : { kind: "opaque", what: native, isOrdinary: ORDINARY.has(native) };
}

const WEAK_REFERENCE = "a weak reference", DATE = "a Date", PROMISE = "a promise";
const GENERATOR = "a generator", ITERATOR = "an iterator";

/** Kinds of native objects whose properties are read as those of any object. */
const ORDINARY: ReadonlySet<string> = new Set([WEAK_REFERENCE, DATE, PROMISE, GENERATOR, ITERATOR]);

/** An object of the engine's own classes that accesses memory; null for all others. */
export function bytesOf(real: object, prototype: object | null, { memories }: OutputGraph): Exotic | null {
  const type = bytesClass(real), place = type && bytesPlace(real, type);
  if (!type || !place || prototype !== BYTES_CLASSES[type].of.prototype) return null;
  const memory = memories.of(place.buffer);
  return { kind: "bytes", type, memory, start: place.start, size: null, root: null, touched: false };
}

/** Returns the kind of a native object whose behaviour is not in its properties; null for ordinary ones. */
function nativeKind(real: object): string | null {
  if (types.isTypedArray(real) || types.isDataView(real)) return "a typed array";
  if (types.isAnyArrayBuffer(real)) return "a buffer";
  if (types.isDate(real)) return DATE;
  if (types.isPromise(real)) return PROMISE;
  if (types.isGeneratorObject(real)) return GENERATOR;
  if (types.isMapIterator(real) || types.isSetIterator(real)) return ITERATOR;
  if (types.isBoxedPrimitive(real)) return "a boxed primitive";
  if (isWeakRef(real)) return WEAK_REFERENCE;
  return isNativeIterator(real) ? ITERATOR : null;
}

/** Returns whether an object inherits from the prototype of array or string iterators. */
export function isNativeIterator(real: object): boolean {
  const prototype: object | null = Object.getPrototypeOf(real);
  return prototype !== null && NATIVE_ITERATORS.has(prototype);
}

/** Returns whether an object is a weak reference that has its class. */
export function isWeakRef(real: object): real is WeakRef<object> {
  // The engine's own test throws an error for all others, which takes long
  if (!inherits(real, WeakRef.prototype)) return false;
  try {
    Reflect.apply(WeakRef.prototype.deref, real, []);
    return true;
  } catch {
    return false;
  }
}

const NATIVE_ITERATORS: ReadonlySet<object> = new Set<object>([
  Object.getPrototypeOf([][Symbol.iterator]()),
  Object.getPrototypeOf(""[Symbol.iterator]()),
]);
