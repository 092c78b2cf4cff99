/**
 * Models of the builtins of Object, Reflect and Function. Invariant: an operation that would run code of proxies or
 * accessors breaks the graph, unless that code can be called.
 */
import type { EngineState } from "../../guards/engine_state.ts";
import { stateOf } from "../objects.ts";
import { breakGraph } from "../../break_reasons.ts";
import { isObject } from "../../variables/type_of.ts";
import {
  constant,
  dataSlot,
  isCallable,
  NULL,
  ObjectValue,
  UNDEFINED,
  type Value,
} from "../../variables/value.ts";
import { callbackOf } from "../calls.ts";
import { toKey } from "../coercion.ts";
import { isConstructor } from "../constructors.ts";
import { inTurn } from "../in_turn.ts";
import { type CallRequest, type CallResult, type Interpreter, PUSHED } from "../interpreter.ts";
import { collect } from "../iteration.ts";
import type { Key } from "../objects.ts";
import {
  allElements,
  builtinPrototype,
  newArray,
  newObject,
  refuseIntegrity,
  refuseOpaque,
} from "../contents.ts";
import { defineOwn, refuseBytes, relyOnFlags } from "../property_writes.ts";
import { argumentsFrom } from "./array_making.ts";
import { requireItems } from "./collections.ts";
import { hasOwn, isEnumerable } from "../object_keys.ts";
import { inheritsFrom, sameValue } from "../operators.ts";
import {
  deleteKey,
  eachProperty,
  hasKey,
  keysOf,
  newProxy,
  proxyOf,
  readAs,
  targetWithout,
  writeAs,
} from "../proxies.ts";
import { readProperty } from "../properties.ts";
import { hasTensorProperty, prototypeOf } from "../tensor_properties.ts";
import { later } from "./delivery.ts";
import { defineProperties, defineProperty, describeProperty } from "./descriptors.ts";
import { hasIntegrity, isExtensible, setIntegrity } from "./integrity.ts";
import type { ModelTable } from "./table.ts";

type Model = (m: Interpreter, args: readonly Value[], request: CallRequest) => CallResult;

/** An argument that must be an object. */
function object(value: Value | undefined, what: string): ObjectValue {
  if (value?.kind === "object") return value;
  return breakGraph(value?.kind === "tensor" ? "opaqueObject" : "throws", what);
}

/** An argument that the language converts to an object: only undefined and null are rejected. */
function coerced(value: Value | undefined, what: string): ObjectValue {
  const isNullish = !value || (value.kind === "constant" && (value.value ?? null) === null);
  if (isNullish || isObject(value)) return object(value, what);
  return breakGraph("builtin", `${what} of a primitive`);
}

/** An argument that must be an object or null. */
function prototypeIn(value: Value | undefined): ObjectValue | null {
  if (value?.kind === "object") return value;
  if (value?.kind === "constant" && value.value === null) return null;
  return breakGraph("throws", "a prototype that is not an object");
}

/** A key that is already a primitive. */
function keyOf(m: Interpreter, value: Value | undefined): Key {
  let key: Key | null = null;
  toKey(m, value ?? UNDEFINED, (found) => key = found);
  return key ?? breakGraph("coercion", "a key");
}

/** Own enumerable string keys and their values. */
function entriesOf(
  m: Interpreter,
  target: ObjectValue,
  then: (keys: readonly Value[], values: Value[]) => void,
): void {
  const keys: Value[] = [], values: Value[] = [];
  const take = (key: Key, value: Value, next: () => void): void => {
    keys.push(constant(key));
    values.push(value);
    next();
  };
  eachProperty(m, target, { isWanted: isText, take }, () => then(keys, values));
}

const isText = (key: Key): key is string => typeof key === "string";

/** Delivers a list of own keys. */
function listKeys(
  m: Interpreter,
  request: CallRequest,
  { target, which, filter }: {
    readonly target: ObjectValue;
    readonly which: "all" | "enumerable";
    readonly filter: (key: Key) => boolean;
  },
): CallResult {
  return later(
    m,
    request,
    (then) => keysOf(m, target, which, (keys) => then(newArray(m, keys.filter(filter).map(constant)))),
  );
}

const OBJECT: Readonly<Record<string, Model>> = {
  keys: (m, [value], request) =>
    listKeys(m, request, { target: coerced(value, "Object.keys"), which: "enumerable", filter: isText }),
  values: (m, [value], request) => {
    const target = coerced(value, "Object.values");
    return later(m, request, (then) => entriesOf(m, target, (_keys, values) => then(newArray(m, values))));
  },
  entries: (m, [value], request) => {
    const target = coerced(value, "Object.entries");
    return later(
      m,
      request,
      (then) =>
        entriesOf(m, target, (keys, values) =>
          then(newArray(
            m,
            values.map((each, i) => newArray(m, [keys[i] ?? UNDEFINED, each])),
          ))),
    );
  },
  assign: (m, [target, ...sources], request) => {
    const into = coerced(target, "Object.assign");
    return later(m, request, (then) => {
      inTurn((index, next) => {
        const source = sources[index];
        if (!source) return false;
        if (source.kind === "constant") {
          if (typeof source.value === "string") return breakGraph("builtin", "Object.assign from a string");
          return next();
        }
        const from = coerced(source, "Object.assign");
        const take = (key: Key, value: Value, copied: () => void): void => m.assign(into, key, value, copied);
        eachProperty(m, from, { isWanted: () => true, take }, next);
      }, () => then(into));
    });
  },
  fromEntries: (m, [source = UNDEFINED], request) =>
    later(m, request, (then) =>
      collect(m, source, (items) => {
        const made = newObject(m);
        for (const item of items) {
          if (item.kind !== "object" || item.exotic.kind !== "array") {
            return breakGraph("iterator", "entries that are not arrays");
          }
          const [key = UNDEFINED, value = UNDEFINED] = allElements(m, item);
          defineOwn(m, made, keyOf(m, key), dataSlot(value));
        }
        then(made);
      })),
  getPrototypeOf: (m, [value]) => {
    if (value?.kind === "tensor") {
      return m.wrapper.known(prototypeOf(m, value), "Tensor.prototype");
    }
    let target = coerced(value, "Object.getPrototypeOf");
    for (let proxy = proxyOf(target); proxy; proxy = proxyOf(target)) {
      target = targetWithout(m, proxy, "getPrototypeOf");
    }
    refuseOpaque(target);
    m.wrapper.relyOnPrototype(target);
    return target.prototype ?? NULL;
  },
  setPrototypeOf: (m, [value, prototype]) => {
    const target = coerced(value, "Object.setPrototypeOf");
    refuseOpaque(target);
    refuseBytes(target);
    refuseIntegrity(m, target);
    if (prototype?.kind === "tensor") return breakGraph("opaqueObject", "a tensor as a prototype");
    if (prototype?.kind === "object" && (prototype === target || inheritsFrom(m, prototype, target))) {
      return breakGraph("throws", "Cyclic prototype");
    }
    if (target.real === Object.prototype) return breakGraph("throws", "the prototype of Object.prototype");
    target.prototype = prototypeIn(prototype);
    target.prototypeChanged = true;
    return target;
  },
  create: (m, [prototype, properties], request) => {
    if (prototype?.kind === "tensor") return breakGraph("opaqueObject", "a tensor as a prototype");
    const made = newObject(m);
    made.prototype = prototypeIn(prototype);
    if (!properties || (properties.kind === "constant" && properties.value === undefined)) return made;
    const from = coerced(properties, "Object.create");
    return later(m, request, (then) => defineProperties(m, made, from, () => then(made)));
  },
  freeze: (m, [value]) => setIntegrity(m, value, "frozen"),
  seal: (m, [value]) => setIntegrity(m, value, "sealed"),
  preventExtensions: (m, [value]) => setIntegrity(m, value, "inextensible"),
  isFrozen: (m, [value]) => constant(hasIntegrity(m, value, "frozen")),
  isSealed: (m, [value]) => constant(hasIntegrity(m, value, "sealed")),
  isExtensible: (m, [value]) => constant(isExtensible(m, value)),
  is: (m, [a = UNDEFINED, b = UNDEFINED]) => sameValue(m, a, b) ?? breakGraph("builtin", "Object.is"),
  hasOwn: (m, [value, key]) => constant(hasOwn(m, coerced(value, "Object.hasOwn"), keyOf(m, key))),
  getOwnPropertyNames: (m, [value], request) =>
    listKeys(m, request, { target: coerced(value, "getOwnPropertyNames"), which: "all", filter: isText }),
  getOwnPropertySymbols: (m, [value], request) =>
    listKeys(m, request, {
      target: coerced(value, "getOwnPropertySymbols"),
      which: "all",
      filter: (key) => !isText(key),
    }),
  getOwnPropertyDescriptor: (m, [value, key]) =>
    describeProperty(m, coerced(value, "getOwnPropertyDescriptor"), keyOf(m, key)),
  defineProperty: (m, [value, key, descriptor]) => {
    const target = object(value, "defineProperty");
    const isDefined = defineProperty(m, target, {
      key: keyOf(m, key),
      descriptor: object(descriptor, "a descriptor"),
    });
    return isDefined ? target : breakGraph("throws", "a property that cannot be redefined");
  },
  defineProperties: (m, [value, properties], request) => {
    const target = object(value, "defineProperties"), from = coerced(properties, "defineProperties");
    return later(m, request, (then) => defineProperties(m, target, from, () => then(target)));
  },
  getOwnPropertyDescriptors: (m, [value], request) => {
    const target = coerced(value, "getOwnPropertyDescriptors");
    return later(m, request, (then) =>
      keysOf(m, target, "all", (keys) => {
        const made = newObject(m);
        for (const key of keys) defineOwn(m, made, key, dataSlot(describeProperty(m, target, key)));
        then(made);
      }));
  },
  groupBy: (m, [source = UNDEFINED, callback], request) => {
    requireItems(source);
    return m.callInternal("groupBy", { ...request, self: source, args: [callbackOf(callback)] });
  },
};

const REFLECT: Readonly<Record<string, Model>> = {
  ownKeys: (m, [value], request) =>
    listKeys(m, request, { target: object(value, "Reflect.ownKeys"), which: "all", filter: () => true }),
  has: (m, [value, key], request) => {
    if (value?.kind === "tensor") return constant(hasTensorProperty(m, value, keyOf(m, key)));
    const target = object(value, "Reflect.has"), name = keyOf(m, key);
    return later(m, request, (then) => hasKey(m, target, name, (present) => then(constant(present))));
  },
  get: (m, [value, key, given], { completion }) => {
    if (value?.kind === "tensor" && (given ?? value) === value) {
      readProperty(m, value, keyOf(m, key), completion);
      return PUSHED;
    }
    const target = object(value, "Reflect.get"), receiver = given ?? target;
    readAs(m, target, { key: keyOf(m, key), receiver }, completion);
    return PUSHED;
  },
  set: (m, [value, key, content = UNDEFINED, given], request) => {
    if (value?.kind === "tensor") return breakGraph("builtin", "Reflect.set on a tensor");
    const target = object(value, "Reflect.set"), receiver = given ?? target;
    const written = { key: keyOf(m, key), value: content, receiver };
    return later(m, request, (then) => writeAs(m, target, written, (done) => then(constant(done))));
  },
  deleteProperty: (m, [value, key], request) => {
    const target = object(value, "Reflect.deleteProperty"), name = keyOf(m, key);
    return later(m, request, (then) => deleteKey(m, target, name, (done) => then(constant(done))));
  },
  apply: (m, [callee, self = UNDEFINED, list = UNDEFINED], request) => {
    if (!callee || !isCallable(callee)) {
      return breakGraph("throws", "Reflect.apply of a value that is not a function");
    }
    m.call({ callee, self, args: argumentsFrom(m, list), completion: request.completion });
    return PUSHED;
  },
  construct: (m, [callee, list = UNDEFINED, newTarget = callee], request) => {
    if (!callee || !isCallable(callee) || !newTarget || !isCallable(newTarget) || !isConstructor(newTarget)) {
      return breakGraph("throws", "Reflect.construct");
    }
    m.construct({ callee, args: argumentsFrom(m, list), newTarget, completion: request.completion });
    return PUSHED;
  },
  getPrototypeOf: (m, args, request) => {
    if (!args[0] || !isObject(args[0])) return breakGraph("throws", "Reflect.getPrototypeOf");
    return OBJECT["getPrototypeOf"]?.(m, args, request) ?? UNDEFINED;
  },
  getOwnPropertyDescriptor: (m, [value, key]) =>
    describeProperty(m, object(value, "getOwnPropertyDescriptor"), keyOf(m, key)),
  defineProperty: (m, [value, key, descriptor]) => {
    return constant(
      defineProperty(m, object(value, "defineProperty"), {
        key: keyOf(m, key),
        descriptor: object(descriptor, "a descriptor"),
      }),
    );
  },
  isExtensible: (m, args, request) => {
    if (!args[0] || !isObject(args[0])) return breakGraph("throws", "Reflect.isExtensible");
    return OBJECT["isExtensible"]?.(m, args, request) ?? UNDEFINED;
  },
};

/** Returns the name of an object in Object.prototype.toString: its tag, or its kind. */
function tagOf(m: Interpreter, self: ObjectValue, tag: Value): string {
  const { exotic } = self;
  if (tag.kind === "constant" && typeof tag.value === "string") return tag.value;
  if (tag.kind === "item") return breakGraph("tensorItem", "Object.prototype.toString");
  if (self.arguments) return "Arguments";
  if (exotic.kind === "array") {
    stateOf(m, self);
    return "Array";
  }
  if (exotic.kind === "date") return "Date";
  if (exotic.kind === "constructed") return exotic.constructor.real === RegExp ? "RegExp" : "Error";
  if (isCallable(self)) return "Function";
  // Prototypes of errors are not errors
  const state = stateOf(m, self);
  return state !== null && NAMED_STATES.has(state) ? state : "Object";
}

/** Kinds of objects that Object.prototype.toString names without a tag. */
const NAMED_STATES: ReadonlySet<EngineState> = new Set<EngineState>(
  ["Arguments", "Array", "Boolean", "Date", "Error", "Number", "RegExp", "String"],
);

const OBJECT_PROTOTYPE: readonly (readonly [name: string, model: Model])[] = [
  [
    "hasOwnProperty",
    (m, [key], { self }) => constant(hasOwn(m, coerced(self, "hasOwnProperty"), keyOf(m, key))),
  ],
  [
    "propertyIsEnumerable",
    (m, [key], { self }) => {
      const target = coerced(self, "propertyIsEnumerable"), name = keyOf(m, key);
      if (!hasOwn(m, target, name)) return constant(false);
      relyOnFlags(m, target, name);
      return constant(isEnumerable(m, target, name));
    },
  ],
  ["isPrototypeOf", (m, [value], { self }) => {
    if (value?.kind !== "object") {
      return value?.kind === "tensor" ? breakGraph("builtin", "isPrototypeOf") : constant(false);
    }
    return constant(inheritsFrom(m, value, coerced(self, "isPrototypeOf")));
  }],
  [
    "valueOf",
    (_m, _args, { self }) => isObject(self) ? self : breakGraph("builtin", "Object.prototype.valueOf"),
  ],
  ["toString", (m, _args, request) => {
    const { self } = request;
    if (self.kind === "constant") return constant(Object.prototype.toString.call(self.value));
    if (self.kind !== "object" || self.exotic.kind === "opaque") {
      return breakGraph("builtin", "Object.prototype.toString");
    }
    m.wrapper.relyOnPrototype(self);
    const read = { key: Symbol.toStringTag, receiver: self };
    return later(
      m,
      request,
      (then) =>
        readAs(m, self, read, {
          kind: "inside",
          then: (tag) => then(constant(`[object ${tagOf(m, self, tag)}]`)),
        }),
    );
  }],
];

const FUNCTION: Readonly<Record<string, Model>> = {
  call: (m, [self = UNDEFINED, ...args], request) => {
    if (!isCallable(request.self)) return breakGraph("throws", "call of a value that is not a function");
    m.call({ callee: request.self, self, args, completion: request.completion });
    return PUSHED;
  },
  apply: (m, [self = UNDEFINED, list = UNDEFINED], request) => {
    if (!isCallable(request.self)) return breakGraph("throws", "apply of a value that is not a function");
    const isMissing = list.kind === "constant" && (list.value === undefined || list.value === null);
    const args = isMissing ? [] : argumentsFrom(m, list);
    m.call({ callee: request.self, self, args, completion: request.completion });
    return PUSHED;
  },
  bind: (m, [self = UNDEFINED, ...args], { self: target }) => {
    if (!isCallable(target)) return breakGraph("throws", "bind of a value that is not a function");
    const made = new ObjectValue({ kind: "bound", target, self, args }, target.prototype, null, null);
    const name = m.plainProperty(target, "name");
    const length = hasOwn(m, target, "length") ? m.plainProperty(target, "length") : null;
    const hidden = { writable: false, enumerable: false, configurable: true } as const;
    const text = name?.kind === "constant" && typeof name.value === "string" ? name.value : "";
    const count = length?.kind === "constant" && typeof length.value === "number" ? length.value : 0;
    const left = Math.max(0, (Math.trunc(count) || 0) - args.length);
    made.slots.set("length", { kind: "data", value: constant(left), ...hidden });
    made.slots.set("name", { kind: "data", value: constant(`bound ${text}`), ...hidden });
    return made;
  },
};

/** Adds the models of Object, Reflect and Function. */
export function addObjects(table: ModelTable): void {
  const add = (owner: object, models: Iterable<readonly [name: string, model: Model]>) => {
    for (const [name, model] of models) {
      table.method(owner, name, (m, request) => model(m, request.args, request));
    }
  };
  add(Object, Object.entries(OBJECT));
  add(Reflect, Object.entries(REFLECT));
  add(Object.prototype, OBJECT_PROTOTYPE);
  add(Function.prototype, Object.entries(FUNCTION));
  // Deno has a getter of its own there, which returns undefined.
  const getter = Reflect.getOwnPropertyDescriptor(Object.prototype, "__proto__")?.get;
  if (getter && Function.prototype.toString.call(getter).includes("[native code]")) {
    table.call(
      getter,
      (m, request) => OBJECT["getPrototypeOf"]?.(m, [request.self], request) ?? UNDEFINED,
    );
  }
  table.constructs(Object, (m, request, prototype) => {
    const [value] = request.args;
    if (value && isObject(value) && request.newTarget === request.callee) return value;
    if (value && !(value.kind === "constant" && (value.value === undefined || value.value === null))) {
      return breakGraph("constructor", "a boxed primitive");
    }
    return new ObjectValue(
      { kind: "plain" },
      prototype ?? builtinPrototype(m, Object.prototype, "Object"),
      null,
      null,
    );
  });
  table.constructs(Proxy, (_m, { args: [target, handler] }) => {
    const isKnown = target?.kind === "object" && handler?.kind === "object";
    return isKnown
      ? newProxy(target, handler)
      : breakGraph("constructor", "a proxy of a tensor, or of no object");
  });
  table.call(Object, (m, { args: [value] }) => {
    if (value && isObject(value)) return value;
    if (!value || (value.kind === "constant" && (value.value === undefined || value.value === null))) {
      return newObject(m);
    }
    return breakGraph("constructor", "a boxed primitive");
  });
}
