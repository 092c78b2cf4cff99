/**
 * Checks of values from untyped programs: their kinds and classes, and options by name. Errors say what was expected
 * and what was found. Invariant: an unknown option is an error, never ignored.
 */
import { oneLine } from "./console_text.ts";
import { DynError } from "./errors.ts";

/** The type of a value, in `typeof`'s words. */
export type ValueType = "string" | "number" | "boolean" | "function" | "object";

/**
 * Throws DynError that `expected` was expected and `found` found; `hint` ends the message. The tracer knows that this
 * call throws and leaves it to the program, so that the error shows the program's line.
 */
export function refuseValue(expected: string, found: unknown, hint = ""): never {
  throw new DynError(`Expected ${expected} but found ${oneLine(found)}${hint}`);
}

/** Throws DynError: `what` must be one of the known values. */
export function refuseChoice(what: string, known: readonly string[], found: unknown): never {
  const hint = typeof found === "string" ? spelling(known, found) : "";
  refuseValue(`${what} to be one of ${known.join(", ") || "none"}`, found, hint);
}

/** Throws DynError unless `value` is a function; `purpose` is the reason, as in "to compile". */
export function checkFunction(value: unknown, purpose: string): void {
  if (typeof value !== "function") refuseValue(`a function ${purpose}`, value);
}

/** Throws DynError unless a value is a boolean; `what` names it, as in "nesterov of SGD". */
export function checkFlag(what: string, value: unknown): asserts value is boolean {
  if (typeof value !== "boolean") refuseValue(`${what} to be a boolean`, value);
}

/** Throws DynError unless a value is one of the known ones; `what` names it, as in "mode of pad". */
export function checkOneOf(what: string, value: unknown, known: readonly string[]): void {
  if (!known.some((each) => each === value)) refuseChoice(what, known, value);
}

/**
 * Throws DynError unless `options` is an object with only these names, each of one of its types or undefined. `owner`
 * names their recipient.
 */
export function checkOptions(
  owner: string,
  types: Readonly<Record<string, readonly ValueType[]>>,
  options: unknown,
): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    refuseValue(`options of ${owner}`, options);
  }
  for (const [name, value] of Object.entries(options)) {
    const allowed = Object.hasOwn(types, name) ? types[name] : undefined;
    if (!allowed) refuseOption(owner, Object.keys(types), name);
    if (value === undefined || allowed.some((type) => type === typeof value && !Array.isArray(value))) {
      continue;
    }
    const wanted = allowed.map((type) => type === "object" ? "an object" : `a ${type}`).join(" or ");
    refuseValue(`${name} to be ${wanted}`, value);
  }
}

/** A kind of argument, in the words of errors. */
export type Kind =
  | "a list"
  | "a list or other iterable"
  | "an object"
  | "a string"
  | "a number";

/** Returns whether a value is an object that can be iterated. */
export function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.iterator in value;
}

function isOfKind(value: unknown, kind: Kind): boolean {
  switch (kind) {
    case "a list":
      return Array.isArray(value);
    case "a list or other iterable":
      return isIterable(value);
    case "an object":
      return typeof value === "object" && value !== null;
    case "a string":
      return typeof value === "string";
    case "a number":
      return typeof value === "number";
  }
}

/** Throws DynError unless a value is of a kind; `owner` is what it was passed to, as in "indices of Subset". */
export function checkKind(value: unknown, kind: Kind, owner: string): void {
  if (!isOfKind(value, kind)) refuseValue(`${kind} for ${owner}`, value);
}

/**
 * Returns the options of a call that takes them last. Throws DynError unless they are an object with only `known` names;
 * `owner` names their recipient.
 */
export function optionsOf<O extends object>(
  owner: string,
  options: O,
  known: readonly (O extends unknown ? keyof O & string : never)[],
): O {
  checkKind(options, "an object", `the options of ${owner}`);
  const names: readonly string[] = known, wrong = Object.keys(options).find((name) => !names.includes(name));
  if (wrong !== undefined) refuseOption(owner, names, wrong);
  return options;
}

/**
 * Returns whether arguments are those with which methods of arrays call a function of one value, as in
 * `paths.map(readNpy)`, or of two, as in `terms.reduce(add)`: after the values, the index and the array.
 */
export function isCallback(values: number, given: ArrayLike<unknown>): boolean {
  if (values < 1 || values > 2 || given.length !== values + 2) return false;
  const value = given[values - 1], at = given[values], list = given[values + 1];
  return typeof at === "number" && Array.isArray(list) && list.length > at && Object.is(list[at], value);
}

/**
 * Throws DynError if a call of `owner` has more than `most` arguments, which JavaScript drops, unless these are
 * undefined, those of callbacks of arrays, or those with which a function of one argument is called as a decorator,
 * `@compiler.nestedCompileRegion`. Callers ask for `arguments.length` first, so that calls with fewer arguments make no
 * object.
 */
export function refuseSurplus(owner: string, most: number, given: ArrayLike<unknown>): void {
  const surplus = Array.from(given).slice(most);
  const isDecorator = most === 1 && surplus.length === 1 && isDecoratorContext(surplus[0]);
  if (isCallback(most, given) || isDecorator || surplus.every((each) => each === undefined)) return;
  const found = surplus.map((each) => oneLine(each)).join(", ");
  const expected = most === 0 ? "no arguments" : `at most ${most} argument${most === 1 ? "" : "s"}`;
  throw new DynError(`Expected ${expected} for ${owner} but found ${found}${most === 0 ? "" : " as well"}`);
}

/** Returns whether this describes the place of a decorator. */
export function isDecoratorContext(value: unknown): value is DecoratorContext {
  return typeof value === "object" && value !== null && "kind" in value && typeof value.kind === "string" &&
    "addInitializer" in value && typeof value.addInitializer === "function";
}

/** NumPy's names of arguments, which PyTorch accepts too. */
const NUMPY = new Map([["axis", "dim"], ["keepdims", "keepdim"]]);

/** "; write weightDecay" for weight_decay or weightdecay, "; write dim" for axis; empty if no known name is similar. */
export function spelling(known: readonly string[], name: string): string {
  const plain = NUMPY.get(name) ?? name.replaceAll("_", "").toLowerCase();
  const wanted = known.find((each) => each.toLowerCase() === plain);
  return wanted === undefined || wanted === name ? "" : `; write ${wanted}`;
}

/** Throws DynError: `owner` has no option of that name. */
export function refuseOption(owner: string, known: readonly string[], name: string): never {
  const hint = spelling(known, name);
  throw new DynError(
    `Expected an option of ${owner} to be one of ${known.join(", ")} but found ${name}${hint}`,
  );
}

/** Throws the error for an argument that is given twice, as by position and by name. */
export function refuseTwice(owner: string, name: string): never {
  throw new DynError(`Expected one value for ${name} of ${owner} but found two`);
}

/** Throws DynError unless a value is an instance of a class; `owner` is what it was passed to. */
export function checkInstance<T>(
  value: unknown,
  Class: abstract new (...args: never) => T,
  owner: string,
): asserts value is T {
  if (value instanceof Class) return;
  refuseValue(`an instance of ${Class.name} for ${owner}`, value);
}

/** Throws DynError unless a value is a list of instances of a class; `owner` is what it was passed to. */
export function checkInstances<T>(
  value: readonly T[],
  Class: abstract new (...args: never) => T,
  owner: string,
): void {
  checkKind(value, "a list", owner);
  for (const each of value) checkInstance(each, Class, owner);
}
