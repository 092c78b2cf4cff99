/**
 * The lists that array methods create: arrays, or instances that the class of their receiver constructs. Invariant: the
 * constructor of a class is called once, before any element is read.
 */
import { breakGraph } from "../../break_reasons.ts";
import {
  constant,
  type Element,
  HOLE,
  isCallable,
  NULL,
  type ObjectValue,
  UNDEFINED,
  type Value,
} from "../../variables/value.ts";
import { type CallRequest, type CallResult, type Interpreter, PUSHED } from "../interpreter.ts";
import { findProperty } from "../objects.ts";
import { elementsOf, newArray } from "../contents.ts";

/** The list that a method fills. */
export type List = ObjectValue & { readonly exotic: Extract<ObjectValue["exotic"], { kind: "array" }> };

type Fill = (list: List) => CallResult;

const OWN_SPECIES: unknown = Reflect.getOwnPropertyDescriptor(Array, Symbol.species)?.get;

function isList(value: Value): value is List {
  return value.kind === "object" && value.exotic.kind === "array" && value.real === null;
}

/** An array without elements. */
function plain(m: Interpreter): List {
  const made = newArray(m, []);
  return isList(made) ? made : breakGraph("builtin", "an array");
}

/** Passes on a list that a class constructs. */
function constructed(
  m: Interpreter,
  callee: Value,
  args: readonly Value[],
  request: CallRequest,
  fill: Fill,
): CallResult {
  if (!isCallable(callee)) return breakGraph("throws", "a species that is not a constructor");
  const then = (made: Value): void => {
    if (!isList(made)) return breakGraph("builtin", "a species that does not return a list");
    const [length] = args, elements = elementsOf(m, made);
    const most = length?.kind === "constant" && typeof length.value === "number" ? length.value : 0;
    if (elements.length > most || elements.some((each) => each !== HOLE)) {
      return breakGraph("builtin", "a list of a class that begins with elements");
    }
    const result = fill(made);
    if (result !== PUSHED) m.complete(request.completion, result);
  };
  m.construct({ callee, args, newTarget: callee, completion: { kind: "inside", then } });
  return PUSHED;
}

/** Returns whether an array is an instance of Array itself and specifies no other class. */
export function isPlainList(m: Interpreter, array: ObjectValue): boolean {
  m.wrapper.relyOnPrototype(array);
  const { prototype, slots, real, source } = array;
  if (prototype?.real !== Array.prototype || slots.has("constructor")) return false;
  if (real === null || !source) return true;
  const present = Object.hasOwn(real, "constructor");
  m.output.guard({ kind: "ownKey", source, key: "constructor", present });
  return !present;
}

/** Passes on the list that an array method fills: of the class that its receiver specifies. */
export function ofSpecies(
  m: Interpreter,
  { array, length }: { readonly array: ObjectValue; readonly length: number },
  ...[request, fill]: readonly [request: CallRequest, fill: Fill]
): CallResult {
  if (isPlainList(m, array)) return fill(plain(m));
  const make = (species: Value): CallResult => {
    if (species === UNDEFINED || (species.kind === "object" && species.real === Array)) return fill(plain(m));
    return constructed(m, species, [constant(length)], request, fill);
  };
  const constructor = m.plainProperty(array, "constructor") ?? UNDEFINED;
  if (constructor.kind !== "object") return make(constructor);
  const found = findProperty(m, constructor, Symbol.species);
  const ofClass = (species: Value): CallResult => make(species === NULL ? UNDEFINED : species);
  if (found.kind !== "getter") return ofClass(found.kind === "value" ? found.value : UNDEFINED);
  if (found.getter.real === OWN_SPECIES) return make(constructor);
  const then = (species: Value): void => {
    const result = ofClass(species);
    if (result !== PUSHED) m.complete(request.completion, result);
  };
  m.call({ callee: found.getter, self: constructor, args: [], completion: { kind: "inside", then } });
  return PUSHED;
}

/** Passes on the list that Array.of and Array.from fill: of their receiver's class, if it is one. */
export function ofReceiver(
  m: Interpreter,
  args: readonly Value[],
  ...[request, fill]: readonly [request: CallRequest, fill: Fill]
): CallResult {
  const { self } = request;
  if (!isCallable(self) || self.real === Array) return fill(plain(m));
  return constructed(m, self, args, request, fill);
}

/** Stores elements in a list, and sets its length. */
export function filled(list: List, elements: readonly Element[]): List {
  const { elements: own } = list.exotic;
  own.length = 0;
  // The arguments of one call are on the stack, which a long list would overflow
  for (const element of elements) own.push(element);
  return list;
}
