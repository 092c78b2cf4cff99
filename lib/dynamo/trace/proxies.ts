/**
 * Traces operations on proxies as the language specifies: by the trap of the handler, or on the target. Results are
 * passed on when traps have run. Invariant: the answer of a trap is accepted only if nothing of the target could
 * contradict it; operations that are not modelled break the graph.
 */
import { breakGraph } from "../break_reasons.ts";
import { isObject } from "../variables/type_of.ts";
import {
  constant,
  isCallable,
  ObjectValue,
  type ProxyParts,
  UNDEFINED,
  type Value,
} from "../variables/value.ts";
import { inTurn } from "./in_turn.ts";
import type { Completion, Interpreter } from "./interpreter.ts";
import { findProperty, type Key } from "./objects.ts";
import { allElements, newArray } from "./contents.ts";
import { assignProperty, deleteOwn, relyOnFlags } from "./property_writes.ts";
import { hasOwn, hasProperty, isEnumerable, ownKeys } from "./object_keys.ts";

/** The target and the handler of a proxy; null for other objects. */
export function proxyOf({ exotic }: ObjectValue): ProxyParts | null {
  return exotic.kind === "opaque" ? exotic.proxy ?? null : null;
}

/** A proxy created in the trace. */
export function newProxy(target: ObjectValue, handler: ObjectValue): ObjectValue {
  return new ObjectValue({ kind: "opaque", what: "a proxy", proxy: { target, handler } }, null, null, null);
}

/** Continues with the result of a trap, or without one if the handler has none. */
function trap(
  m: Interpreter,
  { handler }: ProxyParts,
  { name, args, then }: {
    readonly name: string;
    readonly args: readonly Value[];
    readonly then: (answer: Value) => void;
  },
  otherwise: () => void,
): void {
  const call = (callee: Value): void => {
    if (callee.kind === "constant" && (callee.value ?? null) === null) return otherwise();
    if (!isCallable(callee)) return breakGraph("throws", `${name} of a proxy is not a function`);
    m.call({ callee, self: handler, args, completion: { kind: "inside", then } });
  };
  readAs(m, handler, { key: name, receiver: handler }, { kind: "inside", then: call });
}

/** The target of a proxy whose handler has no such trap; breaks the graph if it has one. */
export function targetWithout(m: Interpreter, { target, handler }: ProxyParts, name: string): ObjectValue {
  const found = m.plainProperty(handler, name);
  if (found === null || (found.kind === "constant" && (found.value ?? null) === null)) return target;
  return breakGraph("opaqueObject", `a proxy with the trap ${name}`);
}

/** The object that determines the property descriptors of an object; breaks the graph if a trap takes part in that. */
function behindDescriptions(m: Interpreter, object: ObjectValue): ObjectValue {
  const proxy = proxyOf(object);
  return proxy ? behindDescriptions(m, targetWithout(m, proxy, "getOwnPropertyDescriptor")) : object;
}

/** Refuses answers about properties that the target cannot change any more: the language compares them. */
function refuseFixed(m: Interpreter, target: ObjectValue, key: Key, isAbout: "value" | "presence"): void {
  const own = behindDescriptions(m, target), { real, source, slots } = own, changed = slots.get(key);
  const refuse = () => breakGraph("opaqueObject", "a proxy of an object that cannot change");
  if (own.frozen !== "no") refuse();
  if (real && isAbout === "presence") {
    if (!Object.isExtensible(real)) refuse();
    if (source) m.output.guard({ kind: "extensible", source, present: true });
  }
  if (changed) {
    if (changed.kind !== "deleted" && !changed.configurable) refuse();
    return;
  }
  const isGiven = key === "length" || key === "prototype";
  if (!real) {
    if (isGiven && isAbout === "presence") refuse();
    return;
  }
  const flags = relyOnFlags(m, own, key);
  if (flags === null) {
    if (source) m.output.guard({ kind: "ownKey", source, key, present: false });
  } else if (!flags.configurable && (isAbout === "presence" || flags.writable !== true)) refuse();
}

/** object[key], where getters and traps see `receiver`. */
export function readAs(
  m: Interpreter,
  object: ObjectValue,
  { key, receiver }: { readonly key: Key; readonly receiver: Value },
  completion: Completion,
): void {
  const proxy = proxyOf(object);
  if (!proxy) {
    const found = findProperty(m, object, key);
    if (found.kind === "getter") {
      return m.call({ callee: found.getter, self: receiver, args: [], completion });
    }
    return m.complete(completion, found.kind === "value" ? found.value : UNDEFINED);
  }
  const { target } = proxy;
  const then = (answer: Value): void => {
    refuseFixed(m, target, key, "value");
    m.complete(completion, answer);
  };
  trap(
    m,
    proxy,
    { name: "get", args: [target, constant(key), receiver], then },
    () => readAs(m, target, { key, receiver }, completion),
  );
}

/** object[key] = value, where setters and traps see `receiver`; passes on whether it succeeded. */
export function writeAs(
  m: Interpreter,
  object: ObjectValue,
  { key, value, receiver }: { readonly key: Key; readonly value: Value; readonly receiver: Value },
  then: (done: boolean) => void,
): void {
  const proxy = proxyOf(object);
  if (proxy) {
    const { target } = proxy;
    return trap(
      m,
      proxy,
      {
        name: "set",
        args: [target, constant(key), value, receiver],
        then: (answer) => {
          refuseFixed(m, target, key, "value");
          then(isTrue(answer));
        },
      },
      () => writeAs(m, target, { key, value, receiver }, then),
    );
  }
  if (writtenThrough(m, receiver) !== object) return breakGraph("builtin", "a write for another receiver");
  const action = assignProperty(m, object, key, value);
  if (action.kind !== "setter") return then(action.kind === "done");
  m.call({
    callee: action.setter,
    self: receiver,
    args: [value],
    completion: { kind: "inside", then: () => then(true) },
  });
}

/** The object to which a write for a receiver goes: a proxy forwards it if it does not trap definitions. */
function writtenThrough(m: Interpreter, receiver: Value): Value {
  let at = receiver;
  for (let proxy = at.kind === "object" ? proxyOf(at) : null; proxy;) {
    targetWithout(m, proxy, "getOwnPropertyDescriptor");
    at = targetWithout(m, proxy, "defineProperty");
    proxy = at.kind === "object" ? proxyOf(at) : null;
  }
  return at;
}

function isTrue(answer: Value): boolean {
  if (isObject(answer)) return true;
  return answer.kind === "constant" ? Boolean(answer.value) : breakGraph("coercion", "the answer of a trap");
}

/** key in object. */
export function hasKey(
  m: Interpreter,
  object: ObjectValue,
  key: Key,
  then: (present: boolean) => void,
): void {
  answerOf(m, object, { name: "has", key, ofTarget: hasProperty }, then);
}

/** delete object[key]; passes on whether it succeeded. */
export function deleteKey(
  m: Interpreter,
  object: ObjectValue,
  key: Key,
  then: (done: boolean) => void,
): void {
  answerOf(m, object, { name: "deleteProperty", key, ofTarget: deleteOwn }, then);
}

/** Returns a trap's answer about the presence of a property, or the target's if there is no trap. */
function answerOf(
  m: Interpreter,
  object: ObjectValue,
  asked: {
    readonly name: "has" | "deleteProperty";
    readonly key: Key;
    readonly ofTarget: (m: Interpreter, object: ObjectValue, key: Key) => boolean;
  },
  then: (answer: boolean) => void,
): void {
  const { name, key, ofTarget } = asked, proxy = proxyOf(object);
  if (!proxy) return then(ofTarget(m, object, key));
  const { target } = proxy;
  const answered = (answer: Value): void => {
    refuseFixed(m, target, key, "presence");
    then(isTrue(answer));
  };
  trap(
    m,
    proxy,
    { name, args: [target, constant(key)], then: answered },
    () => answerOf(m, target, asked, then),
  );
}

/** Own keys in order, or only those that are enumerable. */
export function keysOf(
  m: Interpreter,
  object: ObjectValue,
  which: "enumerable" | "all",
  then: (keys: Key[]) => void,
): void {
  const proxy = proxyOf(object);
  if (!proxy) {
    const keys = ownKeys(m, object, which);
    if (which === "all") return then(keys);
    // Enumerability of string keys is guarded with the keys
    for (const key of keys) if (typeof key === "symbol") relyOnFlags(m, object, key);
    return then(keys.filter((key) => isEnumerable(m, object, key)));
  }
  const target = which === "all" ? proxy.target : targetWithout(m, proxy, "getOwnPropertyDescriptor");
  const answered = (answer: Value): void => {
    const keys = listedKeys(m, answer), own = behindKeyTraps(m, target);
    for (const key of new Set([...keys, ...ownKeys(m, own)])) refuseFixed(m, own, key, "presence");
    then(which === "all" ? keys : keys.filter((key) => isOwnEnumerable(m, own, key)));
  };
  trap(m, proxy, { name: "ownKeys", args: [target], then: answered }, () => keysOf(m, target, which, then));
}

/** The object that determines the keys of an object; breaks the graph if a trap takes part in that. */
export function behindKeyTraps(m: Interpreter, object: ObjectValue): ObjectValue {
  const proxy = proxyOf(object);
  if (!proxy) return object;
  for (const name of ["ownKeys", "getPrototypeOf", "getOwnPropertyDescriptor"]) targetWithout(m, proxy, name);
  return behindKeyTraps(m, proxy.target);
}

function isOwnEnumerable(m: Interpreter, object: ObjectValue, key: Key): boolean {
  return hasOwn(m, object, key) && isEnumerable(m, object, key);
}

/** The keys that a trap lists, without duplicates. */
function listedKeys(m: Interpreter, answer: Value): Key[] {
  if (answer.kind !== "object" || answer.exotic.kind !== "array") {
    return breakGraph("opaqueObject", "keys of a proxy that are not an array");
  }
  const keys = allElements(m, answer).map((each): Key => {
    const key = each.kind === "constant" ? each.value : null;
    return typeof key === "string" || typeof key === "symbol" ? key : breakGraph("throws", "keys of a proxy");
  });
  return new Set(keys).size === keys.length ? keys : breakGraph("throws", "keys of a proxy twice");
}

/**
 * Own enumerable properties in order: getters and traps run, and properties that they delete or hide in time are
 * skipped.
 * `take` continues with `next`.
 */
export function eachProperty(
  m: Interpreter,
  object: ObjectValue,
  { isWanted, take }: {
    readonly isWanted: (key: Key) => boolean;
    readonly take: (key: Key, value: Value, next: () => void) => void;
  },
  then: () => void,
): void {
  keysOf(m, object, "enumerable", (all) => {
    const keys = all.filter(isWanted), own = behindDescriptions(m, object);
    let hasRun = false;
    inTurn((index, next) => {
      const key = keys[index];
      if (key === undefined) return false;
      // If no code of the program has run, everything is as when the keys were listed
      if (hasRun && !isOwnEnumerable(m, own, key)) return next();
      let isDone = false;
      const done = (): void => {
        isDone = true;
        next();
      };
      const then = (value: Value): void => take(key, value, done);
      readAs(m, object, { key, receiver: object }, { kind: "inside", then });
      if (!isDone) hasRun = true;
    }, then);
  });
}

/** proxy(...args), for a receiver. */
export function callProxy(
  m: Interpreter,
  proxy: ProxyParts,
  { self, args, completion }: {
    readonly self: Value;
    readonly args: readonly Value[];
    readonly completion: Completion;
  },
): void {
  const { target } = proxy;
  trap(
    m,
    proxy,
    {
      name: "apply",
      args: [target, self, newArray(m, [...args])],
      then: (value) => m.complete(completion, value),
    },
    () => m.call({ callee: target, self, args, completion }),
  );
}

/** new proxy(...args), for a new.target. */
export function constructProxy(
  m: Interpreter,
  proxy: ProxyParts,
  { args, newTarget, completion }: {
    readonly args: readonly Value[];
    readonly newTarget: ObjectValue;
    readonly completion: Completion;
  },
): void {
  const { target } = proxy;
  const made = (value: Value): void => {
    if (value.kind !== "object" && value.kind !== "tensor") breakGraph("throws", "construct of a proxy");
    m.complete(completion, value);
  };
  trap(
    m,
    proxy,
    { name: "construct", args: [target, newArray(m, [...args]), newTarget], then: made },
    () => m.construct({ callee: target, args, newTarget, completion }),
  );
}
