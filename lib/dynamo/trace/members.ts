/**
 * Traces operations on all members of an object: literals, spread, rest, for-in. Invariant: getters of the program
 * run in order, and only once.
 */
import { breakGraph } from "../break_reasons.ts";
import type { ObjectMember } from "../bytecode/instruction.ts";
import { constant, dataSlot, type ObjectValue, UNDEFINED, type Value } from "../variables/value.ts";
import { toKey } from "./coercion.ts";
import type { Frame, Interpreter } from "./interpreter.ts";
import { type Key, ownSlot } from "./objects.ts";
import { defineOwn } from "./property_writes.ts";
import { enumerableKeys, ownKeys } from "./object_keys.ts";
import { eachProperty } from "./proxies.ts";

/** Adds a member of an object literal, or a field. */
export function addMember(
  m: Interpreter,
  { frame, object, member }: {
    readonly frame: Frame;
    readonly object: ObjectValue;
    readonly member: ObjectMember;
  },
  then: () => void,
): void {
  const value = frame.read(member.register) ?? UNDEFINED;
  switch (member.kind) {
    case "spread":
      if (value.kind === "constant") {
        if (typeof value.value === "string") {
          // By code units, as in string indexing.
          value.value.split("").forEach((c, i) => defineOwn(m, object, `${i}`, dataSlot(constant(c))));
        }
        return then();
      }
      if (value.kind !== "object") return breakGraph("opaqueObject", "a spread value");
      return copyProperties(m, object, { source: value, excluded: new Set() }, then);
    case "proto":
      if (value.kind === "tensor") return breakGraph("opaqueObject", "a tensor as a prototype");
      if (value.kind === "object") object.prototype = value;
      else if (value.kind === "constant" && value.value === null) object.prototype = null;
      else return then();
      // An object that the program has begun to write before a break exists already
      if (object.real) object.prototypeChanged = true;
      return then();
    case "value":
    case "get":
    case "set": {
      const put = (key: Key): void => {
        if (member.kind === "value") defineOwn(m, object, key, dataSlot(value));
        else {
          const former = ownSlot(m, object, key);
          const [get, set] = former?.kind === "accessor" ? [former.get, former.set] : [UNDEFINED, UNDEFINED];
          defineOwn(m, object, key, {
            kind: "accessor",
            get: member.kind === "get" ? value : get,
            set: member.kind === "set" ? value : set,
            enumerable: true,
            configurable: true,
          });
        }
        then();
      };
      if (member.key.kind === "name") return put(member.key.name);
      return toKey(m, frame.read(member.key.register) ?? UNDEFINED, put);
    }
    default:
      return member satisfies never;
  }
}

/** Copies own enumerable properties, as spread and rest do; getters run. */
export function copyProperties(
  m: Interpreter,
  target: ObjectValue,
  { source, excluded }: { readonly source: ObjectValue; readonly excluded: ReadonlySet<Key> },
  then: () => void,
): void {
  const take = (key: Key, value: Value, next: () => void): void => {
    defineOwn(m, target, key, dataSlot(value));
    next();
  };
  eachProperty(m, source, { isWanted: (key) => !excluded.has(key), take }, then);
}

/** The keys that a for-in loop visits. */
export function forInKeys(m: Interpreter, object: ObjectValue): string[] {
  const keys: string[] = [];
  const seen = new Set<Key>();
  for (let holder: ObjectValue | null = object; holder; holder = holder.prototype) {
    m.wrapper.relyOnPrototype(holder);
    const enumerable = new Set(enumerableKeys(m, holder));
    for (const key of ownKeys(m, holder)) {
      if (typeof key === "symbol" || seen.has(key)) continue;
      seen.add(key);
      if (enumerable.has(key)) keys.push(key);
    }
  }
  return keys;
}
