/**
 * Models of Maps, Sets, their iterators, and generators. Invariant: order of entries is the language's, even during an
 * iteration.
 */
import { breakGraph } from "../../break_reasons.ts";
import { callbackOf } from "../calls.ts";
import { nextOfResumed } from "../resumed_iteration.ts";
import { answerAbout } from "../changing_keys.ts";
import {
  constant,
  type Entry,
  type Exotic,
  isCallable,
  type KeyIdentity,
  ObjectValue,
  UNDEFINED,
  type Value,
} from "../../variables/value.ts";
import {
  type CallRequest,
  type CallResult,
  type ConstructRequest,
  type Interpreter,
} from "../interpreter.ts";
import { collect, isListNext, iteratorResult, LIST_NEXTS, listIterator, nextOfList } from "../iteration.ts";
import {
  allElements,
  builtinPrototype,
  entriesOf,
  entryOf,
  iteratorsOver,
  keyIdentity,
  putEntry,
  sizeOfEntries,
} from "../contents.ts";
import { settled } from "../texts.ts";
import { later } from "./delivery.ts";
import type { ModelTable } from "./table.ts";

type Method = (
  m: Interpreter,
  object: ObjectValue,
  args: readonly Value[],
  request: CallRequest,
) => CallResult;

function changed(object: ObjectValue): void {
  const { exotic } = object;
  if (exotic.kind === "map" || exotic.kind === "set") exotic.changed = true;
}

function noteDeleted(object: ObjectValue, identity: KeyIdentity, key: Value): void {
  const { exotic } = object;
  if ((exotic.kind === "map" || exotic.kind === "set") && exotic.originals.has(identity)) {
    exotic.deleted.set(identity, key);
  }
}

function remove(m: Interpreter, object: ObjectValue, key: Value): boolean {
  const { exotic } = object;
  if (!entryOf(m, object, key) || (exotic.kind !== "map" && exotic.kind !== "set")) return false;
  const { entries } = exotic;
  const identity = keyIdentity(key);
  const iterators = iteratorsOver(m, object);
  const at = iterators.length > 0 ? [...entries.keys()].indexOf(identity) : 0;
  // Iterators past it step back
  for (const iterator of iterators) if (iterator.index > at) iterator.index--;
  entries.delete(identity);
  noteDeleted(object, identity, key);
  changed(object);
  return true;
}

/** Adds an entry unless there is one of that key; returns the one that was there. */
function addEntry(m: Interpreter, object: ObjectValue, given: Value, value?: Value): Entry | undefined {
  const found = entryOf(m, object, given);
  const key = given.kind === "constant" && Object.is(given.value, -0) ? constant(0) : given;
  if (!found) putEntry(m, object, key, value ?? key);
  return found;
}

const COMMON: Readonly<Record<string, Method>> = {
  has: (m, object, [key = UNDEFINED]) => constant(entryOf(m, object, key) !== undefined),
  delete: (m, object, [key = UNDEFINED]) => constant(remove(m, object, key)),
  clear: (m, object) => {
    const entries = entriesOf(m, object);
    for (const [identity, { key }] of entries) noteDeleted(object, identity, key);
    entries.clear();
    changed(object);
    for (const iterator of iteratorsOver(m, object)) iterator.index = 0;
    return UNDEFINED;
  },
};

const MAP: Readonly<Record<string, Method>> = {
  ...COMMON,
  get: (m, object, [key = UNDEFINED]) => entryOf(m, object, key)?.value ?? UNDEFINED,
  set: (m, object, [key = UNDEFINED, value = UNDEFINED]) => {
    const found = addEntry(m, object, key, value);
    if (found) found.value = value;
    changed(object);
    return object;
  },
  keys: (m, object) => listIterator(m, object, "keys"),
  values: (m, object) => listIterator(m, object, "values"),
  entries: (m, object) => listIterator(m, object, "entries"),
  forEach: (m, _object, [callback], request) => {
    callbackOf(callback);
    return m.callInternal("mapForEach", request);
  },
  getOrInsert: (m, object, [key = UNDEFINED, value = UNDEFINED]) =>
    addEntry(m, object, key, value)?.value ?? value,
  getOrInsertComputed: (m, object, [key = UNDEFINED, callback], request) => {
    callbackOf(callback);
    return entryOf(m, object, key)?.value ?? m.callInternal("insertComputed", request);
  },
};

const SET: Readonly<Record<string, Method>> = {
  ...COMMON,
  add: (m, object, [key = UNDEFINED]) => {
    addEntry(m, object, key);
    return object;
  },
  values: (m, object) => listIterator(m, object, "values"),
  entries: (m, object) => listIterator(m, object, "entries"),
  forEach: (m, _object, [callback], request) => {
    callbackOf(callback);
    return m.callInternal("setForEach", request);
  },
  ...withOther({
    union: (m, a, b) => newSet(m, [...members(m, a), ...members(m, b)]),
    intersection: (m, a, b) => {
      const left = members(m, a), right = members(m, b);
      // The smaller set decides the order, as in the language.
      return left.length <= right.length
        ? newSet(m, left.filter((v) => entryOf(m, b, v)))
        : newSet(m, right.filter((v) => entryOf(m, a, v)));
    },
    difference: (m, a, b) => newSet(m, members(m, a).filter((v) => !entryOf(m, b, v))),
    symmetricDifference: (m, a, b) =>
      newSet(m, [
        ...members(m, a).filter((v) => !entryOf(m, b, v)),
        ...members(m, b).filter((v) => !entryOf(m, a, v)),
      ]),
    isSubsetOf: (m, a, b) => constant(members(m, a).every((v) => entryOf(m, b, v))),
    isSupersetOf: (m, a, b) => constant(members(m, b).every((v) => entryOf(m, a, v))),
    isDisjointFrom: (m, a, b) => constant(!members(m, a).some((v) => entryOf(m, b, v))),
  }),
};

/** Methods with another Set, which is checked before anything else, also if there is nothing to look for in it. */
function withOther(
  methods: Readonly<Record<string, (m: Interpreter, set: ObjectValue, other: ObjectValue) => Value>>,
): Readonly<Record<string, Method>> {
  return Object.fromEntries(
    Object.entries(methods).map(([name, method]) => [
      name,
      (m: Interpreter, set: ObjectValue, [other = UNDEFINED]: readonly Value[]) =>
        method(m, set, setOf(m, other)),
    ]),
  );
}

function members(m: Interpreter, set: ObjectValue): Value[] {
  return [...entriesOf(m, set).values()].map((entry) => entry.key);
}

/** Another Set, whose members the engine finds by methods that the program may have replaced. */
function setOf(m: Interpreter, value: Value): ObjectValue {
  if (value.kind === "object" && value.exotic.kind === "set") {
    const isOwn = (["has", "keys"] as const).every((name) => {
      const method = m.plainProperty(value, name);
      return method?.kind === "object" && method.real === Set.prototype[name];
    });
    if (isOwn && value.prototype?.real === Set.prototype && !value.slots.has("size")) return value;
  }
  return breakGraph("opaqueObject", "a set operation with another collection");
}

/** Refuses items of groups that are none, for which the engine has an error of its own. */
export function requireItems(source: Value): void {
  const isText = source.kind === "constant" && typeof source.value === "string";
  if (!isText && source.kind !== "object" && source.kind !== "tensor") {
    breakGraph("throws", "groupBy of a value that is not iterable");
  }
}

/** A Set created in the trace. */
export function newSet(
  m: Interpreter,
  values: readonly Value[],
  prototype: ObjectValue | null = null,
): ObjectValue {
  const set = newCollection("set", prototype ?? builtinPrototype(m, Set.prototype, "Set"));
  for (const value of values) addEntry(m, set, settled(m, value));
  return set;
}

/** A Map created in the trace. */
export function newMap(
  m: Interpreter,
  pairs: readonly (readonly [Value, Value])[],
  prototype: ObjectValue | null = null,
): ObjectValue {
  const map = newCollection("map", prototype ?? builtinPrototype(m, Map.prototype, "Map"));
  for (const [key, value] of pairs) {
    const found = addEntry(m, map, key, value);
    if (found) found.value = value;
  }
  return map;
}

function newCollection(kind: "map" | "set", prototype: ObjectValue | null): ObjectValue {
  const exotic: Exotic = {
    kind,
    entries: new Map(),
    originals: new Map(),
    deleted: new Map(),
    loaded: true,
    passes: false,
    changed: true,
  };
  return new ObjectValue(exotic, prototype, null, null);
}

/** Adds the models of Maps, Sets, iterators and generators. */
export function addCollections(table: ModelTable): void {
  const receiver = (value: Value, kind: "map" | "set", name: string): ObjectValue =>
    value.kind === "object" && value.exotic.kind === kind
      ? value
      : breakGraph("throws", `${name} of a value that is not a ${kind}`);
  const add = (prototype: object, kind: "map" | "set", methods: Readonly<Record<string, Method>>): void => {
    for (const [name, method] of Object.entries(methods)) {
      table.method(prototype, name, (m, request) => {
        const object = receiver(request.self, kind, name), [key, ...others] = request.args;
        const question = name === "get" || name === "has" ? name : null;
        const answer = question && answerAbout(m, { object, question, key });
        if (answer) return answer;
        return method(m, object, key ? [settled(m, key), ...others] : [], request);
      });
    }
  };
  add(Map.prototype, "map", MAP);
  add(Set.prototype, "set", SET);
  table.getter(
    Map.prototype,
    "size",
    (m, { self }) => sizeOfEntries(m, receiver(self, "map", "size")),
  );
  table.getter(
    Set.prototype,
    "size",
    (m, { self }) => sizeOfEntries(m, receiver(self, "set", "size")),
  );
  table.method(Map, "groupBy", (m, request) => {
    const [source = UNDEFINED, callback] = request.args;
    requireItems(source);
    return m.callInternal("groupInMap", { ...request, self: source, args: [callbackOf(callback)] });
  });
  table.constructs(
    Set,
    (m, request, prototype) =>
      addedByProgram(m, request, {
        made: newSet(m, [], prototype),
        method: "add",
        own: ADD,
        by: "addEach",
      }) ??
        fromItems(m, request, (items) => newSet(m, items, prototype)),
  );
  table.constructs(
    Map,
    (m, request, prototype) =>
      addedByProgram(m, request, {
        made: newMap(m, [], prototype),
        method: "set",
        own: PUT,
        by: "putEach",
      }) ??
        fromItems(m, request, (items) =>
          newMap(
            m,
            items.map((item) => {
              if (item.kind !== "object" || item.exotic.kind !== "array") {
                return breakGraph("iterator", "entries that are not arrays");
              }
              const [key = UNDEFINED, value = UNDEFINED] = allElements(m, item);
              return [settled(m, key), value] as const;
            }),
            prototype,
          )),
  );
  for (const next of LIST_NEXTS.values()) {
    if (typeof next !== "function") continue;
    table.call(next, (m, { callee, self }) => {
      const begun = nextOfResumed(m, self, callee);
      if (begun !== undefined) return iteratorResult(m, begun ?? UNDEFINED, begun === null);
      if (self.kind !== "object" || self.exotic.kind !== "listIterator") {
        return breakGraph(self.kind === "object" && self.real ? "begunIterator" : "iterator");
      }
      if (!isListNext(self, callee)) return breakGraph("throws", "next of an iterator of another class");
      const item = nextOfList(m, self);
      return iteratorResult(m, item ?? UNDEFINED, item === null);
    });
  }
  const identity = Reflect.get(
    Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())),
    Symbol.iterator,
  );
  if (typeof identity === "function") table.call(identity, (_m, { self }) => self);
}

const ADD: unknown = Set.prototype.add, PUT: unknown = Map.prototype.set;

/**
 * A new collection whose items a method of the program adds: constructors call the method with that name. Null if there
 * are no items, or the method is the builtin.
 */
function addedByProgram(
  m: Interpreter,
  request: ConstructRequest,
  { made, method, own, by }: {
    readonly made: ObjectValue;
    readonly method: string;
    readonly own: unknown;
    /** The stand-in for the constructor. */
    readonly by: string;
  },
): CallResult | null {
  const [source = UNDEFINED] = request.args;
  if (isMissing(source) || !made.prototype) return null;
  const found = m.plainProperty(made.prototype, method);
  if (found?.kind === "object" && found.real === own) return null;
  if (!found || !isCallable(found)) return breakGraph("throws", `${method} of the class is not a function`);
  return m.callInternal(by, { ...request, self: source, args: [made, found] });
}

const isMissing = (value: Value): boolean => value.kind === "constant" && value.isNullish;

function fromItems(
  m: Interpreter,
  request: { readonly args: readonly Value[]; readonly completion: CallRequest["completion"] },
  make: (items: Value[]) => ObjectValue,
): CallResult {
  const [source = UNDEFINED] = request.args;
  if (isMissing(source)) return make([]);
  return later(m, request, (then) => collect(m, source, (items) => then(make(items))));
}
