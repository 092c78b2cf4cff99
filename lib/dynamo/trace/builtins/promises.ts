/**
 * Models of methods of promises. A promise exists once the graph has run: generated code creates it by the same call,
 * in the program's order, so that jobs run in that order, too. Invariant: creating it runs no code of the program.
 */
import { invariant } from "../../../base/errors.ts";
import { breakGraph } from "../../break_reasons.ts";
import { settlerOf } from "../../functions/promise_polyfills.ts";
import { isCallable, type ObjectValue, UNDEFINED } from "../../variables/value.ts";
import { type BuiltinModel, type CallRequest, type Interpreter, PUSHED } from "../interpreter.ts";
import { collect, listIteratorOf } from "../iteration.ts";
import { callLater, capabilityParts, isPlainPromise, refuseThenable } from "../later_calls.ts";
import { findProperty } from "../objects.ts";
import { builtinPrototype, newArray, newObject } from "../contents.ts";
import type { ModelTable } from "./table.ts";

const CLASS = Promise, PROTOTYPE = Promise.prototype, { resolve } = Promise, { then } = PROTOTYPE;
const SPECIES: unknown = Reflect.getOwnPropertyDescriptor(Promise, Symbol.species)?.get;

/** Relies on the methods that promises call on each other. */
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

/** Results of several promises are passed in lists and objects, whose `then` is looked up as for any value. */
function refuseThenableResults(m: Interpreter): void {
  refuseThenable(m, newArray(m, []));
  refuseThenable(m, newObject(m));
}

/** A promise created by a method from values whose code is not run. */
function made(m: Interpreter, request: CallRequest): ObjectValue {
  relyOnMethods(m);
  return callLater(m, "promise", request);
}

/** A method of the class itself; classes that extend it may construct anything. */
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
    const combine: BuiltinModel = (m, request) => {
      const { args: [source], completion } = request;
      // Any failure during the iteration rejects the promise
      const isList = source?.kind === "object" && source.exotic.kind === "array" &&
        listIteratorOf(m, source)?.exotic.kind === "listIterator";
      if (!isList) return breakGraph("builtin", `Promise.${name} of another value than an array`);
      collect(m, source, (items) => {
        for (const item of items) refuseThenable(m, item);
        refuseThenableResults(m);
        m.complete(completion, made(m, { ...request, args: [newArray(m, items)] }));
      });
      return PUSHED;
    };
    table.method(CLASS, name, ofClass(name, combine));
  }
  const resolved: BuiltinModel = (m, request) => {
    const { args: [value = UNDEFINED] } = request;
    if (isPlainPromise(m, value)) {
      relyOnMethods(m);
      return value;
    }
    refuseThenable(m, value);
    return made(m, { ...request, args: [value] });
  };
  table.method(CLASS, "resolve", ofClass("resolve", resolved));
  table.method(CLASS, "reject", ofClass("reject", made));
  const capability: BuiltinModel = (m, request) => newObject(m, capabilityParts(m, request));
  table.method(CLASS, "withResolvers", ofClass("withResolvers", capability));
  const tried: BuiltinModel = (m, request) => {
    if (!request.args[0] || !isCallable(request.args[0])) {
      return breakGraph("builtin", "Promise.try of a value that is not a function");
    }
    return m.callInternal("tryPromise", request);
  };
  table.method(CLASS, "try", ofClass("try", tried));
  table.call(settlerOf, (m, { args: [whole, name] }) => {
    const isPart = whole?.kind === "object" && name?.kind === "constant" && typeof name.value === "string";
    return (isPart && m.plainProperty(whole, name.value)) ||
      breakGraph("builtin", "a part of a value that is not a promise");
  });
  table.constructs(CLASS, (m, request) => {
    const { callee, newTarget, args: [executor] } = request;
    if (newTarget !== callee) return breakGraph("constructor", "a class that extends Promise");
    if (!executor || !isCallable(executor)) return breakGraph("throws", "Promise resolver is not a function");
    return m.callInternal("newPromise", { ...request, self: UNDEFINED });
  });
  for (const name of ["then", "catch", "finally"] as const) {
    table.method(PROTOTYPE, name, (m, request) => {
      if (!isPlainPromise(m, request.self)) {
        return breakGraph("builtin", `${name} of a promise of another class`);
      }
      return made(m, request);
    });
  }
}
