/**
 * Models of URLs and their parameters created in the trace: it reads and changes them itself, and generated code
 * recreates them in their final state. Invariant: nothing here runs code of the program.
 */
import { breakGraph, callBuiltin } from "../../break_reasons.ts";
import {
  isCallable,
  isUndefined,
  type NativeExotic,
  ObjectValue,
  UNDEFINED,
  type Value,
} from "../../variables/value.ts";
import { functionLabel } from "../../variables/labels.ts";
import type { ConstructorModel } from "../calls.ts";
import type { BuiltinModel, Interpreter } from "../interpreter.ts";
import { listIterator, OF_PARAMETERS } from "../iteration.ts";
import { builtinPrototype } from "../contents.ts";
import { ownKeys } from "../object_keys.ts";
import { fromPure, primitiveOf, textArgument } from "./pure.ts";
import type { ModelTable } from "./table.ts";

const { apply, getOwnPropertyDescriptor } = Reflect;

/** Methods without effects, and methods that change their receiver or its parameters. */
const METHODS: ReadonlySet<string> = new Set([
  "get",
  "getAll",
  "has",
  "toString",
  "toJSON",
  "append",
  "delete",
  "set",
  "sort",
]);
const ITERATORS = ["entries", "keys", "values"] as const;

/** The parameters of URLs, once requested. */
const parametersOf = new WeakMap<ObjectValue, ObjectValue>();

/** A URL, or parameters, created in the trace. */
function nativeOf(value: Value): NativeExotic | null {
  const exotic = value.kind === "object" ? value.exotic : null;
  return exotic?.kind === "native" && exotic.text ? exotic : null;
}

function madeNative(m: Interpreter, made: URL | URLSearchParams, from: NativeExotic["from"]): ObjectValue {
  const { constructor } = made, known = m.wrapper.known(constructor, functionLabel(constructor));
  if (!isCallable(known)) return breakGraph("constructor", "what is no class");
  const prototype = builtinPrototype(m, constructor.prototype, "a URL"), text = () => String(made);
  return new ObjectValue(
    { kind: "native", made, constructor: known, args: [], text, from },
    prototype,
    null,
    null,
  );
}

/** new URL(text, base) */
const constructUrl: ConstructorModel = (m, { args: [text = UNDEFINED, base] }, prototype) => {
  if (prototype?.real !== URL.prototype) return breakGraph("constructor", "a subclass of URL");
  const given = (value: Value) => nativeOf(value)?.text?.() ?? textArgument(m, value, "URL");
  const texts = [given(text), base && !isUndefined(base) ? given(base) : undefined] as const;
  const made = URL.parse(...texts);
  return made ? madeNative(m, made, null) : breakGraph("throws", "an invalid URL");
};

/** new URLSearchParams(init), for a text, a list of pairs, or an object of texts */
const constructParameters: ConstructorModel = (m, { args: [source] }, prototype) => {
  if (prototype?.real !== URLSearchParams.prototype) {
    return breakGraph("constructor", "a subclass of URLSearchParams");
  }
  const of = (init?: string | string[][] | Record<string, string>) =>
    madeNative(m, new URLSearchParams(init), null);
  if (!source || isUndefined(source)) return of();
  if (source.kind !== "object") return of(textArgument(m, source, "URLSearchParams"));
  const native = nativeOf(source), text = (value: Value) => textArgument(m, value, "URLSearchParams");
  if (native?.made instanceof URLSearchParams) return of(native.text?.());
  if (source.exotic.kind !== "plain" || source.prototype?.real !== Object.prototype) {
    return breakGraph("constructor", "URLSearchParams of an object that is not plain");
  }
  m.wrapper.relyOnPrototype(source);
  const keys = ownKeys(m, source, "enumerable");
  return of(Object.fromEntries(keys.map((key) => [
    typeof key === "string" ? key : breakGraph("constructor", "a symbol as a parameter"),
    text(m.plainProperty(source, key) ?? breakGraph("constructor", "a parameter with a getter")),
  ])));
};

/** Adds the constructors. */
export function addUrls(table: ModelTable): void {
  table.constructs(URL, constructUrl);
  table.constructs(URLSearchParams, constructParameters);
}

/** Reads an attribute of a URL created in the trace; null for other values. */
export function attributeOfUrl(m: Interpreter, value: Value, getter: object): Value | null {
  const native = nativeOf(value);
  if (!native || typeof getter !== "function") return null;
  return fromPure(m, apply(getter, native.made, [])) ?? breakGraph("builtin", "an attribute");
}

/** URL.prototype.searchParams, the same object each time */
function parameters(m: Interpreter, url: ObjectValue, getter: ObjectValue): Value {
  const made = nativeOf(url)?.made;
  if (!(made instanceof URL)) return breakGraph("builtin", "searchParams of another object");
  let found = parametersOf.get(url);
  if (!found) parametersOf.set(url, found = madeNative(m, made.searchParams, { getter, self: url }));
  return found;
}

function method(name: string, fn: (...args: never[]) => unknown): BuiltinModel {
  return (m, { self, args }) => {
    const native = nativeOf(self);
    if (!native) return breakGraph("builtin", `${name} of another object`);
    m.memory.refuse();
    const given = args.map((each) => primitiveOf(m, each, name));
    if (given.some((each) => typeof each === "symbol")) return breakGraph("throws", `${name} of a symbol`);
    return fromPure(m, callBuiltin(name, () => apply(fn, native.made, given))) ?? breakGraph("builtin", name);
  };
}

function iterating(what: typeof ITERATORS[number]): BuiltinModel {
  return (m, { self }) => {
    if (!(nativeOf(self)?.made instanceof URLSearchParams)) {
      return breakGraph("builtin", `${what} of another object`);
    }
    m.memory.refuse();
    const iterator = listIterator(m, self, what, OF_PARAMETERS);
    iterator.onlyTraced = { step: m.steps - 1, cause: { kind: "builtin", detail: what } };
    return iterator;
  };
}

/** The model of a method, getter or setter of URLs. */
export function urlModelOf(fn: object, name: string): BuiltinModel | undefined {
  if (typeof fn !== "function") return undefined;
  const isAccessor = name.startsWith("get ") || name.startsWith("set "),
    key = isAccessor ? name.slice(4) : name;
  for (const { prototype } of [URL, URLSearchParams]) {
    const { value, get, set } = getOwnPropertyDescriptor(prototype, key) ?? {};
    const listed = value === fn ? ITERATORS.find((each) => each === key) : undefined;
    if (listed) return iterating(listed);
    if (value === fn && METHODS.has(key)) return method(key, value);
    if (set === fn) return method(key, set);
    if (get !== fn) continue;
    if (key === "searchParams") {
      return (m, { self, callee }) =>
        self.kind === "object" ? parameters(m, self, callee) : breakGraph("throws", key);
    }
    if (key === "size") return method(key, get);
  }
}
