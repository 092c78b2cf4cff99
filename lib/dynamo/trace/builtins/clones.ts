/**
 * Models structuredClone of data: primitives, arrays, Maps, Sets, dates and plain objects, preserving shared
 * references. Invariant: values that are not data, and instances of classes, are left to the engine.
 */
import { breakGraph } from "../../break_reasons.ts";
import { dataSlot, HOLE, isCallable, ObjectValue, UNDEFINED, type Value } from "../../variables/value.ts";
import {
  builtinPrototype,
  elementsOf,
  entriesOf,
  newArray,
  newObject,
  putEntry,
  settledElements,
} from "../contents.ts";
import { inTurn } from "../in_turn.ts";
import { type CallRequest, type CallResult, type Interpreter, PUSHED } from "../interpreter.ts";
import { eachProperty } from "../proxies.ts";
import { newMap, newSet } from "./collections.ts";
import { timeOfDate } from "./dates.ts";
import type { ModelTable } from "./table.ts";

type Clones = Map<ObjectValue, ObjectValue>;
type Then = (clone: Value) => void;

const refuse = (what: string): never => breakGraph("builtin", `structuredClone of ${what}`);

function clone(m: Interpreter, value: Value, clones: Clones, then: Then): void {
  if (value.kind === "constant" && typeof value.value === "symbol") return refuse("a symbol");
  if (value.kind === "constant" || value.kind === "number" || value.kind === "item") return then(value);
  if (value.kind !== "object") return refuse("a tensor");
  const found = m.output.keys.find(clones, value);
  if (found) return then(found);
  const isFunction: boolean = isCallable(value);
  if (isFunction) return refuse("a function");
  const { exotic } = value, time = timeOfDate(m, value);
  const begin = (made: ObjectValue): ObjectValue => {
    m.output.keys.put(clones, value, made);
    return made;
  };
  if (time) {
    const prototype = builtinPrototype(m, Date.prototype, "Date");
    return then(begin(new ObjectValue({ kind: "date", time }, prototype, null, null)));
  }
  switch (exotic.kind) {
    case "array":
      return cloneArray(m, value, begin(newArray(m, [])), clones, then);
    case "map":
    case "set":
      return cloneCollection(
        m,
        value,
        begin(exotic.kind === "map" ? newMap(m, []) : newSet(m, [])),
        clones,
        then,
      );
    case "plain": {
      const prototype = value.prototype?.real;
      if (value.real !== null && value.prototype && prototype !== Object.prototype) {
        return refuse("an instance");
      }
      return cloneObject(m, value, begin(newObject(m)), clones, then);
    }
    default:
      return refuse("a value that cannot be cloned");
  }
}

function cloneArray(m: Interpreter, list: ObjectValue, made: ObjectValue, clones: Clones, then: Then): void {
  const elements = settledElements(m, list), { exotic } = made;
  if (exotic.kind !== "array" || elements.includes(HOLE)) return refuse("an array with holes");
  const copies = exotic.elements;
  const take = (_key: unknown, value: Value, next: () => void) =>
    clone(m, value, clones, (copy) => {
      copies.push(copy);
      next();
    });
  eachProperty(
    m,
    list,
    {
      isWanted: (key) =>
        typeof key === "string" && (isIndex(key, elements.length) || refuse("an array with properties")),
      take,
    },
    () =>
      copies.length === elementsOf(m, list).length
        ? then(made)
        : refuse("an array that changes while it is cloned"),
  );
}

function isIndex(key: string, length: number): boolean {
  const index = Number(key);
  return String(index) === key && index >= 0 && index < length;
}

function cloneCollection(
  m: Interpreter,
  from: ObjectValue,
  made: ObjectValue,
  clones: Clones,
  then: Then,
): void {
  const entries = [...entriesOf(m, from).values()], isMap = from.exotic.kind === "map";
  inTurn((index, next) => {
    const entry = entries[index];
    if (!entry) return false;
    clone(m, entry.key, clones, (key) => {
      const put = (value: Value): void => {
        putEntry(m, made, key, value);
        next();
      };
      if (isMap) clone(m, entry.value, clones, put);
      else put(key);
    });
  }, () => then(made));
}

function cloneObject(m: Interpreter, from: ObjectValue, made: ObjectValue, clones: Clones, then: Then): void {
  eachProperty(m, from, {
    isWanted: (key) => typeof key === "string",
    take: (key, value, next) =>
      clone(m, value, clones, (copy) => {
        made.slots.set(key, dataSlot(copy));
        next();
      }),
  }, () => then(made));
}

function model(m: Interpreter, { args, completion }: CallRequest): CallResult {
  const [value, options = UNDEFINED] = args;
  if (!value) return breakGraph("throws", "structuredClone of nothing");
  if (options.kind !== "constant" || options.value !== undefined) return refuse("transferred objects");
  let result: Value | null = null, pushed = false;
  clone(m, value, new Map(), (copy) => {
    result = copy;
    if (pushed) m.complete(completion, copy);
  });
  if (result) return result;
  pushed = true;
  return PUSHED;
}

/** Adds the model of structuredClone. */
export function addClones(table: ModelTable): void {
  table.call(structuredClone, model);
}
