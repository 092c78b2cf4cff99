/**
 * Parses a call of an op: positional arguments, then possibly one object of further arguments by name. Shared by the
 * eager library, the tracer and symbolic tracing, hence generic in the tensor type. Invariant: the result has exactly
 * the definition's parameters, in order, each of its kind.
 */
import { checkOneOf, isCallback, refuseOption, refuseTwice } from "../base/checked_input.ts";
import { isDType } from "../base/dtype.ts";
import { refuseDType } from "../base/dtype_names.ts";
import { DynError } from "../base/errors.ts";
import { apart } from "../base/isolated_objects.ts";
import { isPlainObject } from "../base/tree.ts";
import { Sym } from "../sym/expr.ts";
import type { OpDefinition } from "./definition.ts";
import type { ArgsOf, ArgumentTypes, Param, ParamKind, Params } from "./params.ts";

/** Type guard for values that represent tensors in the caller's world. */
type TensorPredicate<T> = (value: unknown) => value is T;

/** One resolved argument of any kind. */
export type Argument<T> = ArgumentTypes<T>[ParamKind] | null;

interface Slot {
  readonly name: string;
  readonly param: Param;
}

interface Signature {
  readonly slots: readonly Slot[];
  /** Number of slots that can be filled by position. */
  readonly positional: number;
}

/** Arguments by name. Assignments always create own properties, even if programs extend Object.prototype. */
class NamedArguments {
  [name: string]: never;
}
apart(NamedArguments.prototype);

const signatures = new WeakMap<OpDefinition, Signature>();

function signatureOf(definition: OpDefinition): Signature {
  const known = signatures.get(definition);
  if (known) return known;
  const slots = Object.entries(definition.params).map(([name, param]) => ({ name, param }));
  const firstKeyword = slots.findIndex((s) => s.param.keyword);
  const made = { slots, positional: firstKeyword < 0 ? slots.length : firstKeyword };
  signatures.set(definition, made);
  return made;
}

/**
 * The arguments of a call by parameter. Trailing ones may be given in a final object of parameter names; numbers (or
 * tensors) for a variadic parameter may be spread. `valueOf` reads a tensor in place of one number or several. Throws
 * DynError if the call does not match.
 */
export function parseCall<T>(
  definition: OpDefinition,
  written: readonly unknown[],
  isTensor: TensorPredicate<T>,
  valueOf?: (tensor: T) => unknown,
): ArgsOf<Params, T> {
  const present = withoutTrailing(written);
  const given = definition.arrange?.(present, isTensor) ?? present;
  const { slots, positional } = signatureOf(definition);
  let count = given.length;
  const last = count > 0 ? given[count - 1] : undefined;
  let named: Record<string, unknown> | undefined;
  if (typeof last === "object" && last !== null && !isTensor(last) && isPlainObject(last)) {
    named = underOwnNames(definition, slots, last);
    count--;
  }
  const args: Record<string, Argument<T>> = new NamedArguments();
  let at = 0, spread: Slot | undefined, spreadFrom = 0;
  for (let s = 0; s < slots.length; s++) {
    const slot = slots[s];
    if (slot === undefined) break;
    const { name, param } = slot;
    let value: unknown = undefined, filled = false;
    if (s < positional && at < count) {
      value = given[at];
      const isItem = param.kind === "tensors"
        ? isTensor
        : (each: unknown) => isSize(each) || (valueOf !== undefined && isTensor(each));
      if (param.variadic && isItem(value)) {
        const start = spreadFrom = at;
        spread = slot;
        while (at < count && isItem(given[at])) at++;
        // One dimension stays a number, which graphs print shorter, and a tensor alone may be the whole list
        const isAlone = at === start + 1 &&
          (param.kind === "dims" || (param.kind !== "tensors" && isTensor(value)));
        if (!isAlone) value = given.slice(start, at);
      } else {
        at++;
      }
      filled = value !== undefined;
    }
    if (named !== undefined && Object.hasOwn(named, name) && named[name] !== undefined) {
      if (filled) refuseTwice(definition.name, name);
      value = named[name];
      filled = true;
    }
    if (!filled) {
      args[name] = absent(definition, slot);
      continue;
    }
    if (valueOf !== undefined && TAKES_NUMBERS.has(param.kind)) value = withNumbers(value, isTensor, valueOf);
    args[name] = coerce(definition, slot, value, isTensor);
  }
  if (at < count && !(at === positional && isCallback(positional, given))) {
    // What follows a spread list as the last argument was meant to be part of it
    if (spread !== undefined && spread === slots[positional - 1]) {
      coerce(definition, spread, given.slice(spreadFrom, count), isTensor);
    }
    throw new DynError(
      `Expected at most ${positional} positional argument${
        positional === 1 ? "" : "s"
      } for ${definition.name} but found ${given.length}`,
    );
  }
  return args;
}

/** The number of arguments of an op that can be given by position. */
export function positionalCount(definition: OpDefinition): number {
  return signatureOf(definition).positional;
}

/** The arguments of a call without trailing undefined ones, which count as absent. */
function withoutTrailing(given: readonly unknown[]): readonly unknown[] {
  let count = given.length;
  while (count > 0 && given[count - 1] === undefined) count--;
  return count === given.length ? given : given.slice(0, count);
}

/** Returns whether an op creates new tensors on a chosen device, so that its callers may also pass requiresGrad. */
export function isCreation(definition: OpDefinition): boolean {
  const { device } = definition.params;
  return device !== undefined && device.keyword === true;
}

/** A value split off the options of a call, and the remaining arguments. */
interface Split {
  readonly given: readonly unknown[];
  readonly value: unknown;
}

/** Separates values that are not arguments of an op from the options of a call. */
function splitOption(written: readonly unknown[], name: string): Split {
  const given = withoutTrailing(written), last = given.at(-1);
  if (typeof last !== "object" || last === null || !isPlainObject(last) || !Object.hasOwn(last, name)) {
    return { given, value: undefined };
  }
  const { [name]: value, ...rest } = last;
  return { given: [...given.slice(0, -1), rest], value };
}

/**
 * Splits `requiresGrad` off the options of a call of a creation op: it is a property of the result, not an
 * argument of the op.
 */
export function splitRequiresGrad(
  written: readonly unknown[],
): { readonly given: readonly unknown[]; readonly requiresGrad: boolean } {
  const { given, value } = splitOption(written, "requiresGrad");
  if (typeof value !== "boolean" && value !== undefined) {
    throw new DynError(`Expected a boolean for requiresGrad but found ${describe(value)}`);
  }
  return { given, requiresGrad: value === true };
}

/** Splits `generator` off the options of a call of a random op: undefined or null for the common generator. */
export function splitGenerator(
  written: readonly unknown[],
): { readonly given: readonly unknown[]; readonly generator: unknown } {
  const { given, value } = splitOption(written, "generator");
  return { given, generator: value };
}

/** Returns whether calls accept `inplace: true`, as functions of `nn.functional` do. */
export function takesInplace({ inplace, exposure }: OpDefinition): boolean {
  return inplace === true && (exposure?.namespaces?.includes("nn.functional") ?? false);
}

/** Splits `inplace` off a call: by name, or by position after all other arguments. */
export function splitInplace(
  definition: OpDefinition,
  written: readonly unknown[],
): { readonly given: readonly unknown[]; readonly inplace: boolean } {
  const present = withoutTrailing(written);
  if (!takesInplace(definition)) return { given: present, inplace: false };
  const last = present.at(-1), { positional } = signatureOf(definition);
  if (typeof last === "boolean" && present.length === positional + 1) {
    return { given: present.slice(0, -1), inplace: last };
  }
  const { given, value } = splitOption(present, "inplace");
  if (typeof value !== "boolean" && value !== undefined) {
    throw new DynError(`Expected a boolean for inplace of ${definition.name} but found ${describe(value)}`);
  }
  return { given, inplace: value === true };
}

/** The arguments of an in-place call, for which an op may have other defaults. */
export function inplaceArguments<T>(
  { inplaceDefaults }: OpDefinition,
  args: ArgsOf<Params, T>,
): ArgsOf<Params, T> {
  if (!inplaceDefaults) return args;
  const left = Object.entries(inplaceDefaults).filter(([name]) => args[name] === null);
  return { ...args, ...Object.fromEntries(left) };
}

/** A tensor as its elements, and a list with the element of each tensor in it. */
function withNumbers<T>(
  value: unknown,
  isTensor: TensorPredicate<T>,
  valueOf: (tensor: T) => unknown,
): unknown {
  if (isTensor(value)) return valueOf(value);
  if (!Array.isArray(value) || !value.some((each: unknown) => isTensor(each))) return value;
  return value.map((each: unknown) => {
    if (!isTensor(each)) return each;
    const read = valueOf(each);
    return Array.isArray(read) && read.length === 1 ? read[0] : read;
  });
}

/** Kinds that accept a tensor, also within a list, if its elements can be read. */
const TAKES_NUMBERS: ReadonlySet<ParamKind> = new Set([
  "scalar",
  "scalarOperand",
  "float",
  "floatOperand",
  "int",
  "ints",
  "size",
  "sizes",
  "sizeOrSizes",
  "sizesOrString",
  "outputSizes",
  "counts",
  "dims",
  "dimsOrBool",
  "intOrInts",
  "pairs",
  "floatOrFloats",
]);

/** Arguments by the names of the definition. Throws DynError for an unknown name. */
function underOwnNames(
  definition: OpDefinition,
  slots: readonly Slot[],
  given: Record<string, unknown>,
): Record<string, unknown> {
  let found = given;
  for (const name in given) {
    if (slots.some((slot) => slot.name === name)) continue;
    const own = ownName(definition, slots, name);
    if (own === undefined) refuseOption(definition.name, slots.map((slot) => slot.name), name);
    if (given[own] !== undefined) refuseTwice(definition.name, own);
    const { [name]: value, ...others } = found;
    found = { ...others, [own]: value };
  }
  return found;
}

/** The parameter that PyTorch calls `name`; undefined if there is none. Its functions call the tensor of a method input. */
function ownName(
  { otherNames = {} }: OpDefinition,
  slots: readonly Slot[],
  name: string,
): string | undefined {
  if (Object.hasOwn(otherNames, name)) return otherNames[name];
  if (name !== "input") return undefined;
  const [first] = slots, isTensorFirst = first?.param.kind === "tensor" || first?.param.kind === "operand";
  return slots.some((slot) => slot.name === "self") ? "self" : isTensorFirst ? first.name : undefined;
}

function absent<T>(definition: OpDefinition, { name, param }: Slot): Argument<T> {
  if (param.default !== undefined) return param.default;
  if (param.nullable) return null;
  if (param.variadic) return [];
  throw new DynError(`Expected ${NOUNS[param.kind]} for ${name} of ${definition.name} but found nothing`);
}

function isSize(value: unknown): boolean {
  return typeof value === "number" || value instanceof Sym;
}

function isWholeSize(value: unknown): value is number | Sym {
  return value instanceof Sym || Number.isInteger(value);
}

function coerce<T>(
  definition: OpDefinition,
  slot: Slot,
  value: unknown,
  isTensor: TensorPredicate<T>,
): Argument<T> {
  const { name, param } = slot;
  if (value === null && param.nullable) return null;
  const found = value === null ? undefined : accepted(definition, slot, value, isTensor);
  if (found === undefined) throw mismatch(definition, name, param, value);
  return found;
}

/** Returns the argument that a value is, or undefined if the parameter does not take such values. */
function accepted<T>(
  definition: OpDefinition,
  { name, param }: Slot,
  value: unknown,
  isTensor: TensorPredicate<T>,
): Argument<T> | undefined {
  const isNumber = typeof value === "number";
  switch (param.kind) {
    case "tensor":
      return isTensor(value) ? value : undefined;
    case "operand":
    case "scalarOperand":
      return isTensor(value) || isScalar(value) ? value : undefined;
    case "tensors":
      return isTensor(value)
        ? [value]
        : items(value, isTensor, (each) => mismatch(definition, name, param, each));
    case "tensorsOrNulls":
      return items(
        value,
        (each) => each === null || isTensor(each),
        (each) => mismatch(definition, name, param, each),
      );
    case "scalar":
      return isScalar(value) ? value : undefined;
    case "scalarOrString":
      return typeof value === "string" || (isScalar(value) && !(value instanceof Sym)) ? value : undefined;
    case "floatOperand":
      return isNumber || isTensor(value) ? value : undefined;
    case "float":
      return isNumber ? value : undefined;
    case "int":
      return typeof value === "bigint" ? Number(value) : isInteger(value) ? value : undefined;
    case "ints":
      return items(value, isInteger);
    case "dimsOrBool":
      return typeof value === "boolean" || isInteger(value) ? value : items(value, isInteger);
    case "intOrInts":
    case "dims":
      return isInteger(value) ? value : items(value, isInteger);
    case "pairs":
      return isInteger(value) ? value : pairs(value);
    case "outputSizes":
      return isWholeSize(value) ? value : items(value, (each) => each === null || isWholeSize(each));
    case "floatOrFloats":
      return isNumber ? value : items(value, (each) => typeof each === "number");
    case "size":
      return isWholeSize(value) ? value : undefined;
    case "counts":
      return sizeList(definition, name, value);
    case "sizesOrString":
      return typeof value === "string" || isWholeSize(value) ? value : sizeList(definition, name, value);
    case "sizeOrSizes":
      return isWholeSize(value) ? value : sizeList(definition, name, value);
    case "sizes":
      return sizeList(definition, name, isSize(value) ? [value] : value);
    case "bool":
      return typeof value === "boolean" ? value : undefined;
    case "dtype":
      return isDType(value) ? value : refuseDType(`${name} of ${definition.name}`, value);
    case "device":
      return typeof value === "string" ? value : undefined;
    case "string":
      if (typeof value === "string" && param.oneOf) {
        checkOneOf(`${name} of ${definition.name}`, value, param.oneOf);
      }
      return typeof value === "string" ? value : undefined;
    default:
      return param.kind satisfies never;
  }
}

/**
 * Returns the items of a list if all are of a kind, else undefined; with `refuse`, throws what it returns for the first
 * other item. A new list: gradients are computed from the arguments of a call after programs have changed theirs.
 */
function items<E>(
  value: unknown,
  isItem: (each: unknown) => each is E,
  refuse?: (each: unknown) => Error,
): readonly E[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const list: E[] = [];
  for (let k = 0; k < value.length; k++) {
    const each: unknown = value[k];
    if (isItem(each)) list.push(each);
    else if (refuse) throw refuse(each);
    else return undefined;
  }
  return list;
}

/** Lists of integers; one integer in place of a list is one of it. */
function pairs(value: unknown): readonly (readonly number[])[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const lists = value.map((each: unknown) => typeof each === "number" ? [each] : items(each, isInteger));
  return items(lists, (list): list is readonly number[] => list !== undefined);
}

/** A list of sizes of the argument `name`. Throws DynError for a list of others. */
function sizeList(
  definition: OpDefinition,
  name: string,
  value: unknown,
): readonly (number | Sym)[] | undefined {
  return items(value, isWholeSize, (each) =>
    new DynError(
      `Expected a list of sizes for ${name} of ${definition.name} but found ${describe(each)} among ${
        describe(value)
      }`,
    ));
}

const isInteger = (value: unknown): value is number => typeof value === "number" && Number.isInteger(value);

function isScalar(value: unknown): value is number | bigint | boolean | Sym {
  return typeof value === "number" || typeof value === "boolean" || typeof value === "bigint" ||
    value instanceof Sym;
}

const NOUNS: Readonly<Record<ParamKind, string>> = {
  tensor: "a tensor",
  tensors: "a list of tensors",
  tensorsOrNulls: "a list of tensors and nulls",
  operand: "a tensor or number",
  scalar: "a number",
  scalarOperand: "a number",
  float: "a number",
  floatOperand: "a number",
  scalarOrString: "a number or a name",
  sizesOrString: "an integer, a list of integers or a name",
  int: "an integer",
  ints: "a list of integers",
  intOrInts: "an integer or a list of integers",
  dims: "a dimension or a list of dimensions",
  dimsOrBool: "a dimension or a list of dimensions",
  pairs: "an integer or two lists of integers",
  outputSizes: "an integer or a list of integers and nulls",
  floatOrFloats: "a number or a list of numbers",
  size: "an integer",
  sizes: "a list of sizes",
  sizeOrSizes: "an integer or a list of integers",
  counts: "a list of integers",
  bool: "a boolean",
  dtype: "a dtype",
  device: "a device name",
  string: "a string",
};

function mismatch(definition: OpDefinition, name: string, param: Param, value: unknown): DynError {
  return new DynError(
    `Expected ${NOUNS[param.kind]} for ${name} of ${definition.name} but found ${describe(value)}`,
  );
}

function describe(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "object") {
    return Array.isArray(value) ? `[${value.map(describe).join(", ")}]` : "an object";
  }
  return typeof value === "function" ? "a function" : String(value);
}
