/**
 * Models of functions of the runtime that are not part of the language: timers, conversions of texts, and attributes of
 * its objects, which are read and guarded where a call finds them. Invariant: lazily loaded parts of the runtime are
 * not loaded to find out whether a function has a model.
 */
import { invariant } from "../../../base/errors.ts";
import { breakGraph, callBuiltin } from "../../break_reasons.ts";
import { BUILTIN_OBJECTS, loadedBuiltin } from "../../functions/builtin_objects.ts";
import type { PrivateAccess } from "../../frame/info.ts";
import { refuseToCache } from "../../disk_cache/noted_reads.ts";
import { constant, primitive, UNDEFINED, type Value } from "../../variables/value.ts";
import { functionLabel } from "../../variables/labels.ts";
import type { BuiltinModel, Interpreter } from "../interpreter.ts";
import { memberSource } from "../private_members.ts";
import { knownElements, typedOf } from "../typed_elements.ts";
import { numbersObject } from "../memory.ts";
import { attributeOfAbortable } from "./aborts.ts";
import { constructNative } from "./internationalization.ts";
import { textArgument } from "./pure.ts";
import type { ModelTable } from "./table.ts";
import { TIMERS } from "./timers.ts";
import { attributeOfUrl, urlModelOf } from "./urls.ts";

const { apply, getOwnPropertyDescriptor } = Reflect;

/** Attributes that only the runtime changes, between two jobs or in calls that end the graph, by class. */
const ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  AbortController: ["signal"],
  AbortSignal: ["aborted", "reason"],
  Blob: ["size", "type"],
  CustomEvent: ["detail"],
  DOMException: ["code", "message", "name"],
  Event: ["type"],
  File: ["name"],
  Request: ["method", "url"],
  Response: ["ok", "status", "statusText"],
  URL: [
    "hash",
    "host",
    "hostname",
    "href",
    "origin",
    "password",
    "pathname",
    "port",
    "protocol",
    "search",
    "username",
  ],
};

/** Represents an attribute that an object of another class lacks: reading it throws. */
const FOREIGN = Symbol("foreign");

/** Access to attributes, by their getters. */
const accesses = new WeakMap<object, PrivateAccess>();

function accessTo(getter: object): PrivateAccess {
  let access = accesses.get(getter);
  if (!access) {
    invariant(typeof getter === "function", "Expected a getter");
    const get = (object: object): unknown => {
      try {
        return apply(getter, object, []);
      } catch {
        return FOREIGN;
      }
    };
    const set = (): void => breakGraph("opaqueObject", "an attribute of an object of the runtime");
    accesses.set(getter, access = { has: () => true, get, set, member: "field" });
  }
  return access;
}

/** An attribute of an object from outside. */
function attribute(m: Interpreter, object: Value, name: string, ...[getter]: [getter: object]): Value {
  const known = attributeOfUrl(m, object, getter) ?? attributeOfAbortable(object, name);
  if (known) return known;
  if (object.kind !== "object" || !object.real || !object.source) {
    return breakGraph("builtin", `${name} of another object`);
  }
  refuseToCache("an object of the runtime");
  m.memory.refuse();
  const access = accessTo(getter), answer = access.get(object.real);
  if (answer === FOREIGN) return breakGraph("throws", `${name} of another object`);
  return m.wrapper.wrap(answer, memberSource(object, `<${name}>`, access));
}

/** The runtime's original prototype of a class. */
function prototypeOf(name: string): object | undefined {
  const own: unknown = getOwnPropertyDescriptor(globalThis, name)?.value ?? loadedBuiltin(name);
  const prototype: unknown = typeof own === "function" ? own.prototype : undefined;
  const isOwn = typeof own === "function" && (BUILTIN_OBJECTS.has(own) || own === loadedBuiltin(name));
  return isOwn && typeof prototype === "object" && prototype !== null ? prototype : undefined;
}

function getterOf(className: string, name: string): object | undefined {
  const prototype = prototypeOf(className);
  return prototype && getOwnPropertyDescriptor(prototype, name)?.get;
}

function attributeModelOf(fn: object, name: string): BuiltinModel | undefined {
  for (const [className, names] of Object.entries(ATTRIBUTES)) {
    if (names.includes(name) && getterOf(className, name) === fn) {
      return (m, { self }) => attribute(m, self, name, fn);
    }
  }
}

/** AbortSignal.prototype.throwIfAborted */
const throwIfAborted: BuiltinModel = (m, { self }) => {
  const [aborted, reason] = ["aborted", "reason"].map((name) => getterOf("AbortSignal", name));
  if (!aborted || !reason) return breakGraph("builtin", "throwIfAborted");
  const isAborted = attribute(m, self, "aborted", aborted);
  if (isAborted.kind !== "constant") return breakGraph("builtin", "throwIfAborted");
  return isAborted.value === true ? m.raise(attribute(m, self, "reason", reason)) : UNDEFINED;
};

/** A conversion of a text, which throws for some texts. */
const converted: BuiltinModel = (m, { callee: { real }, args: [text] }) => {
  if (!text || typeof real !== "function") {
    return breakGraph("throws", "a conversion of a value that is not text");
  }
  const given = textArgument(m, text, functionLabel(real));
  try {
    return primitive(apply(real, undefined, [given]));
  } catch {
    return breakGraph("throws", functionLabel(real));
  }
};

const FUNCTIONS: Readonly<Record<string, BuiltinModel>> = {
  ...TIMERS,
  atob: converted,
  btoa: converted,
};

/** Adds the constructors of encoders and decoders, which depend only on their arguments. */
export function addTextCodecs(table: ModelTable): void {
  for (const constructor of [TextEncoder, TextDecoder]) {
    table.constructs(
      constructor,
      (m, { args }, prototype) =>
        prototype?.real === constructor.prototype
          ? constructNative(m, constructor, args, prototype)
          : breakGraph("constructor", `a subclass of ${constructor.name}`),
    );
  }
}

/** An encoder or decoder that the trace has created; undefined for all others. */
const codecOf = (self: Value): unknown =>
  self.kind === "object" && self.exotic.kind === "native" ? self.exotic.made : undefined;

/** TextEncoder.prototype.encode of a known text */
const encode: BuiltinModel = (m, { self, args: [text] }) => {
  const prototype = prototypeOf("TextEncoder");
  const isEncoder = self.kind === "object" && self.prototype?.real === prototype &&
    (self.real ? self.source?.kind !== "argument" : codecOf(self) instanceof TextEncoder);
  if (!isEncoder) return breakGraph("builtin", "encode of another object");
  m.wrapper.relyOnPrototype(self);
  const bytes = new TextEncoder().encode(text ? textArgument(m, text, "encode") : "");
  return typedOf(m, "Uint8Array", Array.from(bytes, (byte) => constant(byte)));
};

/** TextDecoder.prototype.decode of known bytes; options would keep a state between calls. */
const decode: BuiltinModel = (_m, { self, args: [bytes, options] }) => {
  const made = codecOf(self), array = numbersObject(bytes), known = array && knownElements(array);
  if (!(made instanceof TextDecoder) || !known || options) {
    return breakGraph("builtin", "decode of another object");
  }
  return constant(callBuiltin("decode", () => made.decode(known)));
};

/** Methods of classes of the runtime. */
const METHODS: Readonly<Record<string, readonly [className: string, model: BuiltinModel]>> = {
  decode: ["TextDecoder", decode],
  encode: ["TextEncoder", encode],
  throwIfAborted: ["AbortSignal", throwIfAborted],
};

/** The model of a function of the runtime. */
export function runtimeModelOf(fn: object): BuiltinModel | undefined {
  const name: unknown = getOwnPropertyDescriptor(fn, "name")?.value;
  if (typeof name !== "string") return undefined;
  const ofUrl = urlModelOf(fn, name);
  if (ofUrl) return ofUrl;
  if (name.startsWith("get ")) return attributeModelOf(fn, name.slice(4));
  if (Object.hasOwn(METHODS, name)) {
    const [className = "", model] = METHODS[name] ?? [], prototype = prototypeOf(className);
    return prototype && getOwnPropertyDescriptor(prototype, name)?.value === fn ? model : undefined;
  }
  return Object.hasOwn(FUNCTIONS, name) && loadedBuiltin(name) === fn ? FUNCTIONS[name] : undefined;
}
