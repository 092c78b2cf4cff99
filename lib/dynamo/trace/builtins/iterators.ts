/**
 * Models of iterator helpers. Invariant: an iterator that a helper returns exists only in the trace, as a generator.
 */
import { breakGraph } from "../../break_reasons.ts";
import { callbackOf } from "../calls.ts";
import { ObjectValue, UNDEFINED, type Value } from "../../variables/value.ts";
import { builtinPrototype, GENERATORS } from "../contents.ts";
import { type BuiltinModel, type CallRequest, type Interpreter } from "../interpreter.ts";
import { isListNext, listIteratorOf, nextMethod, resumeGenerator } from "../iteration.ts";
import { settled } from "../texts.ts";
import type { ModelTable } from "./table.ts";

/** Prototype of iterators that helpers return. */
const HELPERS: object = Object.getPrototypeOf([].values().map(() => 0));

/** Helpers that return an iterator, by the name of their stand-in, with their parameters. */
const LAZY = {
  map: { standIn: "iteratorMap", takes: "callback" },
  filter: { standIn: "iteratorFilter", takes: "callback" },
  flatMap: { standIn: "iteratorFlatMap", takes: "callback" },
  take: { standIn: "iteratorTake", takes: "count" },
  drop: { standIn: "iteratorDrop", takes: "count" },
} as const;

/** Helpers that consume all items. */
const EAGER = {
  forEach: "iteratorForEach",
  some: "iteratorSome",
  every: "iteratorEvery",
  find: "iteratorFind",
} as const;

/** An iterator whose `next` is that of its kind, so that it does not matter when it is looked up. */
function receiverOf(m: Interpreter, { self }: CallRequest, name: string): ObjectValue {
  if (self.kind === "object" && (self.exotic.kind === "generator" || self.exotic.kind === "listIterator")) {
    const next = nextMethod(m, self);
    const isOwn = isListNext(self, next) ||
      (next.kind === "object" && next.real !== null && NEXTS.has(next.real));
    if (isOwn) return self;
  }
  return breakGraph("builtin", `Iterator.prototype.${name} of another iterator`);
}

function countOf(m: Interpreter, { args: [given = UNDEFINED] }: CallRequest): Value {
  const count = settled(m, given);
  if (count.kind !== "constant" || typeof count.value !== "number") {
    return breakGraph("symbolicNumber", "a number of items");
  }
  return Number.isInteger(count.value) && count.value >= 0
    ? count
    : breakGraph("throws", "a number of items that is not whole");
}

const NEXTS: ReadonlySet<unknown> = new Set([
  Reflect.get(Object.getPrototypeOf(Object.getPrototypeOf((function* () {})())), "next"),
  Reflect.get(HELPERS, "next"),
]);

function lazy(name: keyof typeof LAZY): BuiltinModel {
  const { standIn, takes } = LAZY[name];
  return (m, request) => {
    const receiver = receiverOf(m, request, name);
    const argument = takes === "callback" ? callbackOf(request.args[0]) : countOf(m, request);
    const { completion } = request, step = m.steps - 1;
    const then = (made: Value): void => {
      if (made.kind !== "object") return breakGraph("iterator");
      made.prototype = builtinPrototype(m, HELPERS, "Iterator Helper");
      made.onlyTraced = { step, cause: { kind: "builtin", detail: `Iterator.prototype.${name}` } };
      sources.set(made, receiver);
      m.complete(completion, made);
    };
    return m.callInternal(standIn, { ...request, args: [argument], completion: { kind: "inside", then } });
  };
}

/** Sources of the iterators that helpers return. */
const sources = new WeakMap<ObjectValue, ObjectValue>();

function isGenerator(value: Value): boolean {
  return value.kind === "object" && value.exotic.kind === "generator";
}

/** Returns whether a helper returned this iterator: it is traced as a generator, but has a class of its own. */
function isHelper(value: Value): boolean {
  return value.kind === "object" && sources.has(value);
}

const advanceHelper: BuiltinModel = (m, request) => resumeGenerator(m, "next", request);

/** `return` of an iterator that a helper returned: before the first item only the language's own closes the source. */
const closeHelper: BuiltinModel = (m, request) => {
  const { self } = request;
  const source = self.kind === "object" ? sources.get(self) : undefined;
  if (self.kind === "object" && self.exotic.kind === "generator" && self.exotic.state === "suspendedStart") {
    if (source?.exotic.kind !== "listIterator") return breakGraph("iterator", "closed before its first item");
  }
  return resumeGenerator(m, "return", request);
};

/** Adds the models of helpers of iterators. */
export function addIterators(table: ModelTable): void {
  const { prototype } = Iterator;
  for (const name of ["map", "filter", "flatMap", "take", "drop"] as const) {
    table.method(prototype, name, lazy(name));
  }
  for (const [name, standIn] of Object.entries(EAGER)) {
    table.method(prototype, name, (m, request) => {
      receiverOf(m, request, name);
      callbackOf(request.args[0]);
      return m.callInternal(standIn, request);
    });
  }
  table.method(prototype, "toArray", (m, request) => {
    receiverOf(m, request, "toArray");
    return m.callInternal("iteratorToArray", request);
  });
  table.method(prototype, "reduce", (m, request) => {
    receiverOf(m, request, "reduce");
    callbackOf(request.args[0]);
    return m.callInternal(request.args.length > 1 ? "iteratorReduceFrom" : "iteratorReduce", request);
  });
  for (const mode of ["next", "throw", "return"] as const) {
    table.method(GENERATORS, mode, (m, request) => {
      if (isHelper(request.self)) {
        return breakGraph("throws", `${mode} of a generator, with a helper of iterators`);
      }
      return resumeGenerator(m, mode, request);
    });
  }
  for (const [mode, resume] of [["next", advanceHelper], ["return", closeHelper]] as const) {
    table.method(HELPERS, mode, (m, request) => {
      if (isGenerator(request.self) && !isHelper(request.self)) {
        return breakGraph("throws", `${mode} of a helper of iterators, with a generator`);
      }
      return resume(m, { ...request, args: [] });
    });
  }
  table.method(Iterator, "from", (m, { args: [source] }) => {
    // A value without an iterator is treated as an iterator itself
    const isIterator = source?.kind === "object" && m.plainProperty(source, Symbol.iterator) === null;
    const found = source && !isIterator ? listIteratorOf(m, source) : null;
    return found ?? breakGraph("builtin", "Iterator.from of an object that the program's own code iterates");
  });
}
