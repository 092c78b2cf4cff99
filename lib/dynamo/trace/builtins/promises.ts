/**
 * Models of methods of promises. A promise exists when the graph has run: generated code makes it by the same call, in
 * the program's order, so that jobs come in that order too. Invariant: making it runs no code of the program.
 */
import { types } from "node:util";
import { invariant } from "../../../base/errors.ts";
import { breakGraph } from "../../break_reasons.ts";
import { ObjectValue, UNDEFINED, type Value } from "../../variables/value.ts";
import type { BuiltinModel, CallRequest, Interpreter } from "../interpreter.ts";
import { PUSHED } from "../interpreter.ts";
import { collect, listIteratorOf } from "../iteration.ts";
import { builtinPrototype, findProperty, newArray, newObject } from "../objects.ts";
import type { ModelTable } from "./table.ts";

const CLASS = Promise, PROTOTYPE = Promise.prototype, { resolve } = Promise, { then } = PROTOTYPE;
const SPECIES: unknown = Reflect.getOwnPropertyDescriptor(Promise, Symbol.species)?.get;

/** The program depends on the methods that promises call of each other. */
function relyOnMethods(m: Interpreter): void {
  const prototype = builtinPrototype(m, PROTOTYPE, "Promise"),
    constructor = m.wrapper.known(CLASS, "Promise");
  invariant(constructor.kind === "object", "Expected a class");
  const own = [
    [prototype, "then", then],
    [prototype, "constructor", CLASS],
    [constructor, "resolve", resolve],
    [constructor, Symbol.species, SPECIES],
  ] as const;
  for (const [object, key, original] of own) {
    const found = findProperty(m, object, key);
    const value = found.kind === "value" ? found.value : found.kind === "getter" ? found.getter : UNDEFINED;
    if (value.kind !== "object" || value.real !== original) {
      breakGraph("builtin", "promises with other methods");
    }
  }
}

/** Returns whether a value is a promise of the engine's class that has no methods of its own; guarded. */
function isPlainPromise(m: Interpreter, value: Value): value is ObjectValue {
  if (value.kind !== "object") return false;
  const { real, source, exotic, prototype, slots } = value;
  if (exotic.kind === "promise") return prototype?.real === PROTOTYPE && slots.size === 0;
  if (!real || !source || !types.isPromise(real) || prototype?.real !== PROTOTYPE) return false;
  m.wrapper.relyOnPrototype(value);
  return ["then", "constructor"].every((key) => {
    const present = Object.hasOwn(real, key);
    m.output.guard({ kind: "ownKey", source, key, present });
    return !present;
  });
}

/** Ends the graph at a value that promises would ask for its method `then`. */
function refuseThenable(m: Interpreter, value: Value): void {
  if (value.kind === "tensor" && (value.real || value.assigned.size > 0)) {
    if (value.assigned.has("then") || (value.real && Object.hasOwn(value.real, "then"))) {
      breakGraph("builtin", "then");
    }
    if (value.source) m.output.guard({ kind: "ownKey", source: value.source, key: "then", present: false });
  }
  if (value.kind !== "object" || isPlainPromise(m, value)) return;
  if (findProperty(m, value, "then").kind !== "absent") {
    breakGraph("builtin", "a promise of what has a method then");
  }
}

/** Results of several promises come in lists and objects, which are asked for a method `then` as everything is. */
function refuseThenableResults(m: Interpreter): void {
  refuseThenable(m, newArray(m, []));
  refuseThenable(m, newObject(m));
}

/** A promise that a method makes of values whose code is not asked. */
function made(
  m: Interpreter,
  method: object,
  { self, args }: Pick<CallRequest, "self" | "args">,
): ObjectValue {
  relyOnMethods(m);
  const prototype = builtinPrototype(m, PROTOTYPE, "Promise");
  const promise = new ObjectValue({ kind: "promise", method, self, args }, prototype, null, null);
  m.promises.push(promise);
  return promise;
}

/** A method of the class itself; classes that extend it construct what they like. */
function ofClass(name: string, model: BuiltinModel): BuiltinModel {
  return (m, request) => {
    const { self } = request;
    if (self.kind !== "object" || self.real !== CLASS) {
      return breakGraph("builtin", `${name} of another class`);
    }
    return model(m, request);
  };
}

/** Adds the models of methods of promises. */
export function addPromises(table: ModelTable): void {
  for (const name of ["all", "allSettled", "any", "race"] as const) {
    const method = CLASS[name];
    const combine: BuiltinModel = (m, { self, args: [source], completion }) => {
      // Whatever goes wrong while it is iterated over rejects the promise
      const isList = source?.kind === "object" && source.exotic.kind === "array" &&
        listIteratorOf(m, source)?.exotic.kind === "listIterator";
      if (!isList) return breakGraph("builtin", `Promise.${name} of another value than an array`);
      collect(m, source, (items) => {
        for (const item of items) refuseThenable(m, item);
        refuseThenableResults(m);
        m.complete(completion, made(m, method, { self, args: [newArray(m, items)] }));
      });
      return PUSHED;
    };
    table.method(CLASS, name, ofClass(name, combine));
  }
  const settle: BuiltinModel = (m, { self, args: [value = UNDEFINED] }) => {
    if (isPlainPromise(m, value)) {
      relyOnMethods(m);
      return value;
    }
    refuseThenable(m, value);
    return made(m, resolve, { self, args: [value] });
  };
  table.method(CLASS, "resolve", ofClass("resolve", settle));
  const { reject } = CLASS;
  table.method(CLASS, "reject", ofClass("reject", (m, request) => made(m, reject, request)));
  for (const name of ["then", "catch", "finally"] as const) {
    const method = PROTOTYPE[name];
    table.method(PROTOTYPE, name, (m, request) => {
      if (!isPlainPromise(m, request.self)) {
        return breakGraph("builtin", `${name} of a promise of another class`);
      }
      return made(m, method, request);
    });
  }
}
