/**
 * Traces iteration protocols: iterators of builtins as positions, those of the program as calls. Invariant: growth of
 * an array during its iteration is observed; a generator runs exactly as far as requested.
 */
import { invariant } from "../../base/errors.ts";
import { breakGraph } from "../break_reasons.ts";
import { isReplaced } from "../../base/own_builtins.ts";
import {
  constant,
  type ConstantValue,
  isCallable,
  type ListIteratorExotic,
  ObjectValue,
  UNDEFINED,
  type Value,
} from "../variables/value.ts";
import {
  type CallRequest,
  type CallResult,
  type Completion,
  Frame,
  type Interpreter,
  PUSHED,
} from "./interpreter.ts";
import { matchLater } from "./later_calls.ts";
import { findProperty } from "./objects.ts";
import { builtinPrototype, elementAt, elementsOf, entriesOf, newArray, newObject } from "./contents.ts";
import { isWithin, numbersObject } from "./memory.ts";
import { elementOf } from "./typed_elements.ts";
import { truthOf } from "./operators.ts";

/** A class of builtin iterators. */
export interface IteratorClass {
  readonly prototype: object;
  /** Its method `next`, which refuses iterators of other classes. */
  readonly advance: unknown;
}

/** The class of an iterator that no program has changed. */
export function iteratorClass(iterator: object): IteratorClass {
  const prototype: object = Object.getPrototypeOf(iterator);
  return { prototype, advance: Reflect.get(prototype, "next") };
}

const OF_ARRAYS = iteratorClass([][Symbol.iterator]());
const OF_MAPS = iteratorClass(new Map()[Symbol.iterator]());
const OF_SETS = iteratorClass(new Set()[Symbol.iterator]());
const OF_TEXTS = iteratorClass(""[Symbol.iterator]());
/** Iterators of the matches of a regular expression. */
export const OF_MATCHES: IteratorClass = iteratorClass("".matchAll(/./g));
/** Iterators of the parameters of a URL. */
export const OF_PARAMETERS: IteratorClass = iteratorClass(new URLSearchParams().keys());

/** The method by which iterators return themselves. */
const ITSELF: unknown = Reflect.get(
  Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())),
  Symbol.iterator,
);

const TYPED_VALUES: unknown = Int8Array.prototype[Symbol.iterator];

/** The `next` functions of builtin iterators. */
export const LIST_NEXTS: ReadonlySet<unknown> = new Set(
  [OF_ARRAYS, OF_MAPS, OF_SETS, OF_TEXTS, OF_MATCHES, OF_PARAMETERS].map(({ advance }) => advance),
);

/** The class of the iterators of a value, which is asked for its contents. */
function listClass(m: Interpreter, over: Value): IteratorClass {
  if (over.kind !== "object") return OF_TEXTS;
  if (over.exotic.kind === "plain" || over.exotic.kind === "bytes") return OF_ARRAYS;
  if (over.exotic.kind === "array") {
    elementsOf(m, over);
    return OF_ARRAYS;
  }
  entriesOf(m, over);
  return over.exotic.kind === "map" ? OF_MAPS : OF_SETS;
}

/** An iterator over an array, arguments, a Map, a Set or a string, of its class or of another. */
export function listIterator(
  m: Interpreter,
  over: Value,
  what: "keys" | "values" | "entries",
  of: IteratorClass = listClass(m, over),
): ObjectValue {
  const iterator = new ObjectValue(
    {
      kind: "listIterator",
      over,
      what,
      advance: of.advance,
      index: 0,
      rest: null,
      done: false,
      matches: null,
      isOfLoop: false,
      madeAt: m.steps,
    },
    builtinPrototype(m, of.prototype, "Iterator"),
    null,
    null,
  );
  m.openIterators.push(iterator);
  return iterator;
}

/** The next item of a builtin iterator; null at the end. */
export function nextOfList(m: Interpreter, iterator: ObjectValue): Value | null {
  const { exotic } = iterator;
  invariant(exotic.kind === "listIterator", "Expected an iterator over a list");
  if (exotic.done) return null;
  // It advances only now: if reading an item ends the graph, the program requests the same one after it
  const item = itemAt(m, exotic), match = exotic.matches?.[exotic.index];
  if (match) matchLater(m, match);
  if (item === null) exotic.done = true;
  else exotic.index += isText(exotic.over) && item.kind === "constant" ? String(item.value).length : 1;
  return item;
}

const isText = (over: Value): over is ConstantValue =>
  over.kind === "constant" && typeof over.value === "string";

/** The current item of a builtin iterator; null after the last one. */
function itemAt(m: Interpreter, exotic: ListIteratorExotic): Value | null {
  const { over, what, index } = exotic;
  const pair = (a: Value, b: Value) => newArray(m, [a, b]);
  if (isText(over)) {
    const [character] = String(over.value).slice(index);
    return character === undefined ? null : constant(character);
  }
  invariant(over.kind === "object", "Expected a collection");
  if (over.exotic.kind === "plain") {
    const count = m.plainProperty(over, "length");
    if (count?.kind !== "constant") return breakGraph("symbolicNumber", "a length");
    return index < Number(count.value) ? m.plainProperty(over, `${index}`) ?? UNDEFINED : null;
  }
  const typed = numbersObject(over);
  if (typed) {
    if (!isWithin(m, typed, index)) return null;
    if (what === "keys") return constant(index);
    const element = elementOf(m, typed, index) ?? UNDEFINED;
    return what === "values" ? element : pair(constant(index), element);
  }
  if (over.exotic.kind === "array") {
    if (index >= elementsOf(m, over).length) return null;
    if (what === "keys") return constant(index);
    const value = elementAt(m, over, index);
    return what === "values" ? value : pair(constant(index), value);
  }
  if (over.exotic.kind === "native") {
    invariant(over.exotic.made instanceof URLSearchParams, "Expected parameters of a URL");
    // Whatever has been added and deleted meanwhile counts
    const [entry] = over.exotic.made.entries().drop(index);
    if (!entry) return null;
    const [key, value] = entry;
    return what === "entries"
      ? pair(constant(key), constant(value))
      : constant(what === "keys" ? key : value);
  }
  exotic.rest ??= entriesOf(m, over).values().drop(index);
  const { value: entry } = exotic.rest.next();
  if (!entry) return null;
  if (what === "entries") return pair(entry.key, entry.value);
  return what === "keys" ? entry.key : entry.value;
}

/** An iterator result object. */
export function iteratorResult(m: Interpreter, value: Value, done: boolean): ObjectValue {
  return newObject(m, [["value", value], ["done", constant(done)]]);
}

/** The method by which a value is iterated; throws if it has none. */
function iteratorMethod(m: Interpreter, source: ObjectValue): ObjectValue {
  const found = findProperty(m, source, Symbol.iterator);
  if (found.kind === "getter") return breakGraph("iterator");
  if (found.kind !== "value" || !isCallable(found.value)) {
    return breakGraph("throws", "a value that is not iterable");
  }
  return found.value;
}

/** The iterator of a value that a builtin iterates; null if code of the program does. */
function builtinIterator(m: Interpreter, source: Value): ObjectValue | null {
  if (source.kind === "constant" && typeof source.value === "string") {
    if (isReplaced(String.prototype)) breakGraph("builtin", "a string, whose methods are replaced");
    return listIterator(m, source, "values");
  }
  if (source.kind === "tensor") return listIterator(m, m.rowsOf(source), "values");
  if (source.kind !== "object") return breakGraph("throws", "a value that is not iterable");
  const { exotic } = source;
  const { real } = iteratorMethod(m, source);
  if (exotic.kind === "array" && real === Array.prototype[Symbol.iterator]) {
    return listIterator(m, source, "values");
  }
  if (exotic.kind === "plain" && real === Array.prototype[Symbol.iterator]) {
    return listIterator(m, source, "values");
  }
  if (numbersObject(source) && real === TYPED_VALUES) return listIterator(m, source, "values");
  if (exotic.kind === "map" && real === Map.prototype[Symbol.iterator]) {
    return listIterator(m, source, "entries");
  }
  if (exotic.kind === "set" && real === Set.prototype[Symbol.iterator]) {
    return listIterator(m, source, "values");
  }
  return real === ITSELF ? source : null;
}

/** The builtin iterator, or the generator, that iterates a value; null if code of the program does. */
export function listIteratorOf(m: Interpreter, source: Value): ObjectValue | null {
  return source.kind === "object" ? builtinIterator(m, source) : null;
}

/** Begins to iterate: returns the iterator immediately, or null if a frame will deliver it. */
export function getIterator(m: Interpreter, source: Value, completion: Completion): ObjectValue | null {
  const iterator = builtinIterator(m, source);
  if (iterator || source.kind !== "object") return iterator;
  m.call({ callee: iteratorMethod(m, source), self: source, args: [], completion });
  return null;
}

/** The `next` method of an iterator, as iteration reads it once. */
export function nextMethod(m: Interpreter, iterator: ObjectValue): Value {
  const found = findProperty(m, iterator, "next");
  if (found.kind !== "value") return breakGraph("iterator");
  return found.value;
}

/** Items of an iterable that can be read without running code of the program; null otherwise. */
function listItems(m: Interpreter, source: Value): Value[] | null {
  const iterator = builtinIterator(m, source);
  if (!iterator || !isListNext(iterator, nextMethod(m, iterator))) {
    return null;
  }
  const items: Value[] = [];
  for (let item = nextOfList(m, iterator); item !== null; item = nextOfList(m, iterator)) items.push(item);
  return items;
}

/** Collects every item of an iterable, then continues; items may come from code of the program. */
export function collect(m: Interpreter, source: Value, then: (items: Value[]) => void): void {
  const quick = listItems(m, source);
  if (quick) return then(quick);
  const started = (iterator: ObjectValue) => drain(m, iterator, nextMethod(m, iterator), then);
  const iterator = getIterator(m, source, {
    kind: "inside",
    then: (value) =>
      value.kind === "object" ? started(value) : breakGraph("throws", "an iterator that is not an object"),
  });
  if (iterator) started(iterator);
}

/** Collects every remaining item of an iterator, then continues. */
export function drain(
  m: Interpreter,
  iterator: Value,
  next: Value,
  then: (items: Value[]) => void,
): void {
  const items: Value[] = [];
  const step = () => {
    // Ordinary list iterators yield everything without a frame.
    while (iterator.kind === "object" && isListNext(iterator, next)) {
      const item = nextOfList(m, iterator);
      if (item === null) return then(items);
      items.push(item);
    }
    if (!isCallable(next)) return breakGraph("throws", "an iterator without next");
    m.call({
      callee: next,
      self: iterator,
      args: [],
      completion: {
        kind: "inside",
        then: (result) => {
          const { done, value } = takeApart(m, result);
          if (done) return then(items);
          items.push(value);
          step();
        },
      },
    });
  };
  step();
}

/** Returns whether an iterator is a builtin's, and `next` that of its class. */
export function isListNext({ exotic }: ObjectValue, next: Value): boolean {
  return exotic.kind === "listIterator" && next.kind === "object" && next.real !== null &&
    next.real === exotic.advance;
}

/** `done` and `value` of an iterator result; the value of an elided item is not read. */
export function takeApart(
  m: Interpreter,
  result: Value,
  { elided }: { readonly elided: boolean } = { elided: false },
): { done: boolean; value: Value } {
  if (result.kind !== "object") return breakGraph("throws", "an iterator result that is not an object");
  const done = findProperty(m, result, "done");
  if (done.kind === "getter") return breakGraph("iterator");
  const truth = done.kind === "value" ? truthOf(m, done.value) : false;
  if (typeof truth !== "boolean") {
    return breakGraph("tensorItem", "an element decides whether iteration continues");
  }
  if (truth || elided) return { done: truth, value: UNDEFINED };
  const value = findProperty(m, result, "value");
  if (value.kind === "getter") return breakGraph("iterator");
  return { done: false, value: value.kind === "value" ? value.value : UNDEFINED };
}

/** `next`, `throw` and `return` of generators. */
export function resumeGenerator(
  m: Interpreter,
  mode: "next" | "throw" | "return",
  request: CallRequest,
): CallResult {
  const generator = request.self;
  if (generator.kind !== "object" || generator.exotic.kind !== "generator") {
    return breakGraph("begunIterator", "a generator from outside");
  }
  const { exotic } = generator;
  const value = request.args[0] ?? UNDEFINED;
  if (exotic.state === "running") return breakGraph("throws", "Generator is already running");
  if (exotic.state === "completed" || (exotic.state === "suspendedStart" && mode !== "next")) {
    exotic.state = "completed";
    if (mode === "throw") m.raise(value);
    return iteratorResult(m, mode === "return" ? value : UNDEFINED, true);
  }
  const { frame } = exotic;
  invariant(frame instanceof Frame, "Expected the frame of a suspended generator");
  const started = exotic.state === "suspendedYield";
  const yielded = started ? frame.code.instructions[frame.pc] : null;
  const delegating = yielded?.op === "yieldDelegate";
  exotic.state = "running";
  exotic.frame = null;
  frame.completion = request.completion;
  m.push(frame);
  if (delegating) frame.received = { mode, value };
  if (!started || delegating) return PUSHED;
  invariant(yielded?.op === "yield", "Expected a yield");
  switch (mode) {
    case "next":
      frame.registers[yielded.dst] = value;
      frame.pc++;
      return PUSHED;
    case "throw":
      m.raise(value);
      return PUSHED;
    case "return":
      frame.registers[yielded.dst] = value;
      if (yielded.onReturn !== null) frame.pc = yielded.onReturn;
      else m.returnFrom(value);
      return PUSHED;
    default:
      return mode satisfies never;
  }
}
