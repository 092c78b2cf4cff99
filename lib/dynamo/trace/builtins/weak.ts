/**
 * Models of WeakMaps and WeakSets: the trace treats the entry of an object or a tensor like a private member.
 * Invariant: a weak collection created in the trace leaves it with all its entries.
 */
import { types } from "node:util";
import { breakGraph } from "../../break_reasons.ts";
import type { PrivateAccess } from "../../frame/info.ts";
import { refuseToCache } from "../../disk_cache/noted_reads.ts";
import { isWeakRef } from "../../variables/native_state.ts";
import { isObject } from "../../variables/type_of.ts";
import { constant, ObjectValue, TRUE, UNDEFINED, type Value } from "../../variables/value.ts";
import { inTurn } from "../in_turn.ts";
import { type CallResult, type ConstructRequest, type Interpreter, PUSHED } from "../interpreter.ts";
import { collect } from "../iteration.ts";
import { findProperty } from "../objects.ts";
import { memberSource } from "../private_members.ts";
import type { ModelTable } from "./table.ts";

type Weak = WeakMap<object, unknown> | WeakSet<object>;

/** Access to a collection that exists outside of the trace. */
interface Accesses {
  readonly content: PrivateAccess;
  readonly presence: PrivateAccess;
}

const MAP = WeakMap.prototype, SET = WeakSet.prototype;
const { apply } = Reflect;
const methods = {
  map: { has: MAP.has, get: MAP.get, put: MAP.set, remove: MAP.delete },
  set: { has: SET.has, add: SET.add, remove: SET.delete },
} as const;

const known = new WeakMap<Weak, Accesses>();

function accessesOf(weak: Weak): Accesses {
  let accesses = known.get(weak);
  if (accesses) return accesses;
  const isMap = types.isWeakMap(weak);
  const has = (object: object): boolean => apply(isMap ? methods.map.has : methods.set.has, weak, [object]);
  const get = (object: object): unknown => isMap ? apply(methods.map.get, weak, [object]) : has(object);
  const set = (object: object, value: unknown): void => {
    if (isMap) apply(methods.map.put, weak, [object, value]);
    else apply(methods.set.add, weak, [object]);
  };
  const remove = (object: object): boolean =>
    apply(isMap ? methods.map.remove : methods.set.remove, weak, [object]);
  const refuse = (): void => breakGraph("opaqueObject", "the presence of a key");
  accesses = {
    content: { has, get, set, remove, member: "field" },
    presence: { has: () => true, get: has, set: refuse, member: "field" },
  };
  known.set(weak, accesses);
  return accesses;
}

/** A weak collection: one of the trace, which is stored with its keys, or one of the program. */
type Found =
  | { readonly kind: "made"; readonly entries: Map<Value, Value> }
  | { readonly kind: "real"; readonly accesses: Accesses };

function collectionOf(m: Interpreter, self: Value, isMap: boolean): Found {
  if (self.kind === "object") {
    const { exotic, real, source } = self;
    if (exotic.kind === "weak" && exotic.isMap === isMap) return { kind: "made", entries: exotic.entries };
    const isReal = isMap ? types.isWeakMap(real) : types.isWeakSet(real);
    if (real && source && isReal) {
      if (source.kind !== "known") {
        if (m.wrapper.isExchanged(real, source)) {
          return breakGraph("opaqueObject", "a weak collection that is a new object in each call");
        }
        m.output.guard({ kind: "identity", source, object: real, label: "WeakMap" });
      }
      m.memory.refuse();
      return { kind: "real", accesses: accessesOf(real as Weak) };
    }
  }
  return breakGraph("throws", "a weak collection of another kind");
}

const OF_SIZES = "the entry of a list of a tensor's sizes in a weak collection";

/** Returns the entry of a key, or null. */
function read(m: Interpreter, found: Found, key: Value): Value | null {
  if (key.kind === "constant" && typeof key.value === "symbol") return refuseKey(key, "a symbol held weakly");
  if (!isObject(key)) return null;
  if (found.kind === "made") return m.output.keys.find(found.entries, key) ?? null;
  if (key.kind === "object" && key.tensorProperty) return breakGraph("opaqueObject", OF_SIZES);
  const { content, presence } = found.accesses, { real, source } = key;
  const written = key.privates.get(content);
  if (written !== undefined) return written;
  // No outside collection has an entry for an object created in the trace.
  if (!real || !source) return null;
  const has = m.wrapper.wrap(presence.get(real), memberSource(key, "<in a weak collection>", presence));
  if (has.kind !== "constant" || has.value !== true) return null;
  return m.wrapper.wrap(content.get(real), memberSource(key, "<of a weak collection>", content));
}

/** Symbols may be held weakly, too. */
function refuseKey(key: Value | undefined, what: string): never {
  const isSymbol = key?.kind === "constant" && typeof key.value === "symbol";
  return breakGraph(isSymbol ? "builtin" : "throws", what);
}

function write(m: Interpreter, found: Found, key: Value | undefined, value: Value): void {
  if (!key || !isObject(key)) return refuseKey(key, "a weak collection of a value that is not an object");
  if (found.kind === "made") m.output.keys.put(found.entries, key, value);
  else if (key.kind === "object" && key.tensorProperty) breakGraph("opaqueObject", OF_SIZES);
  else key.privates.set(found.accesses.content, value);
}

/** Removes an entry, and returns whether there was one. */
function remove(m: Interpreter, found: Found, key: Value): boolean {
  const had = read(m, found, key) !== null;
  if (!had || !isObject(key)) return false;
  if (found.kind === "made") return found.entries.delete(key);
  if (key.real) key.privates.set(found.accesses.content, null);
  else key.privates.delete(found.accesses.content);
  return true;
}

function newWeak(
  m: Interpreter,
  request: ConstructRequest,
  { prototype, isMap }: { readonly prototype: ObjectValue | null; readonly isMap: boolean },
): CallResult {
  const entries = new Map<Value, Value>();
  const made = new ObjectValue({ kind: "weak", isMap, entries }, prototype, null, null);
  const [items] = request.args;
  if (!items || (items.kind === "constant" && (items.value === undefined || items.value === null))) {
    return made;
  }
  if (prototype?.real !== (isMap ? MAP : SET)) {
    return breakGraph("constructor", "a weak collection with items");
  }
  const found: Found = { kind: "made", entries };
  const put = (item: Value): void => {
    if (!isMap) return write(m, found, item, TRUE);
    if (item.kind !== "object" || item.exotic.kind !== "array") return breakGraph("iterator", "entries");
    const part = (key: string): Value => {
      const value = findProperty(m, item, key);
      return value.kind === "value" ? value.value : UNDEFINED;
    };
    write(m, found, part("0"), part("1"));
  };
  collect(m, items, (all) => {
    inTurn((index, next) => {
      const item = all[index];
      if (!item) return false;
      put(item);
      next();
    }, () => m.complete(request.completion, made));
  });
  return PUSHED;
}

const { deref } = WeakRef.prototype;

/** Access to the targets of references from outside. */
const REFERENCE: PrivateAccess = {
  has: () => true,
  get: (object) => isWeakRef(object) ? apply(deref, object, []) : undefined,
  set: () => breakGraph("opaqueObject", "a weak reference is set"),
  member: "field",
};

/** Adds the models of weak references. */
function addReferences(table: ModelTable): void {
  table.constructs(WeakRef, (_m, { args: [target] }, prototype) => {
    if (!target || !isObject(target)) {
      return refuseKey(target, "a weak reference to a value that is not an object");
    }
    return new ObjectValue({ kind: "weakRef", target }, prototype, null, null);
  });
  table.method(WeakRef.prototype, "deref", (m, { self }) => {
    if (self.kind !== "object") return breakGraph("throws", "a weak reference of another kind");
    if (self.exotic.kind === "weakRef") return self.exotic.target;
    const { real, source } = self;
    if (!real || !isWeakRef(real) || !source) return breakGraph("opaqueObject", "another weak reference");
    m.memory.refuse();
    refuseToCache("a weak reference");
    return m.wrapper.wrap(REFERENCE.get(real), memberSource(self, "<deref>", REFERENCE));
  });
}

/** Adds the models of weak collections and references. */
export function addWeak(table: ModelTable): void {
  addReferences(table);
  for (const [prototype, isMap] of [[MAP, true], [SET, false]] as const) {
    table.method(prototype, "has", (m, { self, args: [key = UNDEFINED] }) => {
      return constant(read(m, collectionOf(m, self, isMap), key) !== null);
    });
    table.method(prototype, "delete", (m, { self, args: [key = UNDEFINED] }) => {
      return constant(remove(m, collectionOf(m, self, isMap), key));
    });
  }
  table.method(MAP, "get", (m, { self, args: [key = UNDEFINED] }) => {
    return read(m, collectionOf(m, self, true), key) ?? UNDEFINED;
  });
  table.method(MAP, "set", (m, { self, args: [key, value = UNDEFINED] }) => {
    write(m, collectionOf(m, self, true), key, value);
    return self;
  });
  table.method(SET, "add", (m, { self, args: [key] }) => {
    write(m, collectionOf(m, self, false), key, TRUE);
    return self;
  });
  table.constructs(WeakMap, (m, request, prototype) => newWeak(m, request, { prototype, isMap: true }));
  table.constructs(WeakSet, (m, request, prototype) => newWeak(m, request, { prototype, isMap: false }));
}
