/**
 * Describes objects as a trace can see them: everything that any read of the object itself may return, so that the
 * individual reads need not be recorded. Invariant: a trace cannot distinguish two objects with equal descriptions
 * whose numbers refer to equal objects in turn; an object with more state than this describes (proxies, weak maps,
 * tensors with hooks, …) is refused: only the kinds listed here are described. No code of the program runs.
 */
import { types } from "node:util";
import { sizeOf } from "../../base/collections.ts";
import { apply } from "../../base/own_builtins.ts";
import type { Plain } from "../../base/recording.ts";
import { NotStorable } from "../../sym/stored/forms.ts";
import { installedName } from "../../tensor/methods.ts";
import { isTensor, Tensor } from "../../tensor/tensor.ts";
import { isUninitialized } from "../../tensor/uninitialized.ts";
import { Parameter } from "../../nn/parameter.ts";
import { isCustomOp } from "../../autograd/custom_op.ts";
import { begunAt, begunIndex } from "../functions/iterator_positions.ts";
import { markOf } from "../cache/dimension_marks.ts";
import { modelNumber } from "../functions/knowledge.ts";
import { type FunctionMark, markOfFunction } from "../functions/marks.ts";
import { inherits } from "../functions/modules.ts";
import { isNativeIterator, isWeakRef } from "../variables/native_state.ts";
import { classLabel, isClass } from "../variables/labels.ts";
import { isAsLoaded, placeOfBuiltin } from "./builtin_paths.ts";
import { describeKey, isPrimitive, writePrimitive } from "./plain_values.ts";

/** References to other objects in descriptions. */
export interface Numbering {
  /** The number of an object that the trace has encountered. */
  numberOf(object: object): number | undefined;
  /** The first tensor with this memory. */
  memoryOf(storage: object, tensor: number): number;
  /**
   * Serialises a key, or a symbol as a value; without it symbols that exist in this process only are described by their
   * descriptions.
   */
  readonly keyOf?: ((key: string | symbol) => Plain) | undefined;
  /** Returns whether a property may hold any primitive in place of its present one. */
  isFree?(object: object, key: string | symbol): boolean;
  /** Returns the properties of an object, by default as they are now. */
  readonly propertiesOf?: PropertiesOf;
  /** Returns whether the code of a function was read, so that a trace had no other knowledge of it. */
  isRead?(number: number): boolean;
}

/** Fields of every tensor, which are described separately. */
const TENSOR_FIELDS: ReadonlySet<string | symbol> = new Set([
  "state",
  "viewState",
  "storage",
  "layout",
  "offset",
]);

/** Returns whether a value is a tensor with metadata, without running traps of a proxy that it inherits from. */
export function isPlainTensor(value: object): value is Tensor {
  return !types.isProxy(value) && Object.hasOwn(value, "layout") && isTensor(value) &&
    !isUninitialized(value);
}

/** Describes an object that has a number. Throws NotStorable. */
export function describe(object: object, number: number, numbering: Numbering): Plain {
  if (types.isProxy(object)) throw new NotStorable("a proxy");
  const prototype: object | null = Object.getPrototypeOf(object);
  return [
    kindOf(object, number, numbering),
    prototype === null ? null : describeValue(prototype, numbering),
    Object.isExtensible(object),
    ...(numbering.propertiesOf ?? propertiesOf)(object).map(([key, found]) =>
      describeProperty(object, { key, found }, numbering)
    ),
  ];
}

/** Properties of an object. */
export type Properties = readonly (readonly [string | symbol, PropertyDescriptor])[];

/** Returns the properties of an object. */
export type PropertiesOf = (object: object) => Properties;

/** Reads the properties of each object once, for uses between which nothing changes them. */
export function propertiesOnce(): PropertiesOf {
  const known = new Map<object, Properties>();
  return (object) => {
    const found = known.get(object) ?? propertiesOf(object);
    known.set(object, found);
    return found;
  };
}

/**
 * Own properties, except those described separately and those of views of memory, which no trace sees. Throws
 * NotStorable if one cannot be read yet.
 */
export function propertiesOf(object: object): Properties {
  if (types.isArrayBufferView(object)) return [];
  const isApart = isPlainTensor(object), keys = Reflect.ownKeys(object);
  const properties: [string | symbol, PropertyDescriptor][] = [];
  refuseLarge(keys.length);
  for (const key of keys) {
    const found = isApart && TENSOR_FIELDS.has(key) ? undefined : propertyOf(object, key);
    if (found) properties.push([key, found]);
  }
  return properties;
}

/** Describing a larger list or collection takes longer than a trace that reads a few of its elements. */
const MOST_DESCRIBED = 20_000;

function refuseLarge(size: number): void {
  if (size > MOST_DESCRIBED) throw new NotStorable("an object with too many elements to describe");
}

/** An own property. Throws NotStorable if it cannot be read yet. */
export function propertyOf(object: object, key: string | symbol): PropertyDescriptor | undefined {
  try {
    return Reflect.getOwnPropertyDescriptor(object, key);
  } catch {
    throw new NotStorable("a module that is still being loaded");
  }
}

function describeProperty(
  object: object,
  { key, found }: { readonly key: string | symbol; readonly found: PropertyDescriptor },
  numbering: Numbering,
): Plain {
  const flags = (found.writable ? 1 : 0) + (found.enumerable ? 2 : 0) + (found.configurable ? 4 : 0);
  const of = (value: unknown) => describeValue(value, numbering), name = keyForm(key, numbering);
  if (!("value" in found)) return [name, flags, of(found.get), of(found.set)];
  const isFree = isPrimitive(found.value) && (numbering.isFree?.(object, key) ?? false);
  return [name, flags, isFree ? "any primitive" : of(found.value)];
}

/**
 * A value to which an object refers: its number if the trace has encountered it; otherwise what is visible from
 * outside.
 */
export function describeValue(value: unknown, numbering: Numbering): Plain {
  if (isPrimitive(value)) {
    return ["is", typeof value === "symbol" ? keyForm(value, numbering) : writePrimitive(value)];
  }
  const number = numbering.numberOf(value);
  return number ?? unmet(value);
}

const keyForm = (key: string | symbol, { keyOf }: Numbering): Plain => (keyOf ?? describeKey)(key);

function unmet(value: object): string {
  if (types.isProxy(value)) return "proxy";
  if (typeof value === "function") return "function";
  if (inherits(value, Parameter.prototype)) return "parameter";
  if (inherits(value, Tensor.prototype)) return "tensor";
  return Array.isArray(value) ? "array" : "object";
}

/** Describes an object besides its properties. Throws NotStorable for all kinds that are not listed. */
function kindOf(object: object, number: number, numbering: Numbering): Plain {
  if (typeof object === "function") {
    return [
      "function",
      isClass(object),
      // A query builds the table of all builtins, which takes as long as everything else here
      numbering.isRead?.(number) ? null : installedName(object) ?? modelNumber(object),
      markForm(markOfFunction(object), numbering),
      isCustomOp(object),
    ];
  }
  if (isPlainTensor(object)) return tensorKind(object, number, numbering);
  const of = (value: unknown) => describeValue(value, numbering);
  refuseLarge(sizeOf(object) ?? 0);
  if (types.isMap(object)) {
    return ["map", ...[...Map.prototype.entries.call(object)].map(([key, value]) => [of(key), of(value)])];
  }
  if (types.isSet(object)) return ["set", ...[...Set.prototype.values.call(object)].map(of)];
  if (types.isModuleNamespaceObject(object)) return "namespace";
  if (Array.isArray(object)) return "array";
  if (types.isDate(object)) return ["date", writePrimitive(apply(dateTime, object, []))];
  if (types.isRegExp(object)) return ["expression", ...EXPRESSION.map((read) => read(object))];
  if (types.isNativeError(object)) return "error";
  const begun = begunAt(object);
  if (begun && types.isTypedArray(begun.over)) {
    throw new NotStorable("an iterator of a typed array, whose numbers are not described");
  }
  if (begun) return ["iterator", of(begun.over), begun.what, begunIndex(object) ?? null];
  for (const [name, is] of OPAQUE) if (is(object)) return name;
  if (HIDING.some((hides) => hides(object)) || isOfBuiltinClass(object)) {
    const label = classLabel(Object.getPrototypeOf(object));
    throw new NotStorable(`an object of ${label}, which may hold more than its properties`);
  }
  return "object";
}

/** Kinds of objects whose content a trace never reads: operations on them happen outside of graphs. */
const OPAQUE: readonly (readonly [string, (value: object) => boolean])[] = [
  ["promise", types.isPromise],
  ["generator", types.isGeneratorObject],
  ["map iterator", types.isMapIterator],
  ["set iterator", types.isSetIterator],
  ["iterator", isNativeIterator],
  ["memory", types.isAnyArrayBuffer],
  ["view of memory", types.isArrayBufferView],
];

const { getTime: dateTime } = Date.prototype;

/** Describes a regular expression besides its position, which is a property: its text and its flags. */
const EXPRESSION: readonly ((of: RegExp) => string)[] = ["source", "flags"].map((name) => {
  const get = Reflect.getOwnPropertyDescriptor(RegExp.prototype, name)?.get;
  return (of) => get ? `${apply(get, of, [])}` : "";
});

/** Kinds of objects with content that is in no property. */
const HIDING: readonly ((value: object) => boolean)[] = [
  types.isArgumentsObject,
  types.isBoxedPrimitive,
  types.isWeakMap,
  types.isWeakSet,
  isWeakRef,
];

/**
 * Prototypes of generators and of their functions' prototypes: any other object that inherits from them is an
 * ordinary one.
 */
const GENERATORS: ReadonlySet<object> = new Set<object>(
  [function* () {}, async function* () {}].flatMap((fn) => {
    const methods: object = Object.getPrototypeOf(Object.getPrototypeOf(fn.prototype));
    return [Object.getPrototypeOf(fn.prototype), methods];
  }),
);

/**
 * Instances of the runtime's own classes may have any hidden state; prototype chains of dyn's and the program's classes
 * end at Object's.
 */
function isOfBuiltinClass(value: object): boolean {
  for (let at: object | null = Object.getPrototypeOf(value); at !== null && !types.isProxy(at);) {
    const place = at === Object.prototype ? undefined : placeOfBuiltin(at);
    const isBuiltin = place !== undefined && isAsLoaded(place) && !GENERATORS.has(at);
    if (isBuiltin && placeOfBuiltin(value) === undefined) return true;
    at = Object.getPrototypeOf(at);
  }
  return false;
}

/** Describes a mark, if that is possible (`isDescribed`). */
function markForm(mark: FunctionMark | undefined, numbering: Numbering): Plain {
  if (mark === undefined) return null;
  const of = (value: unknown) => describeValue(value, numbering);
  if (mark.kind === "disabled") return [mark.kind, mark.reason];
  if (mark.kind === "ruled") return [mark.kind, of(mark.original), { ...mark.rules }];
  return "original" in mark ? [mark.kind, of(mark.original)] : mark.kind;
}

const getterOf = (name: string) => Reflect.getOwnPropertyDescriptor(Tensor.prototype, name)?.get;

/** As dyn defines them: programs may replace them. */
const requiresGrad = getterOf("requiresGrad"), isLeaf = getterOf("isLeaf");

const readGetter = (getter: (() => unknown) | undefined, tensor: Tensor): boolean =>
  getter !== undefined && apply(getter, tensor, []) === true;

function tensorKind(tensor: Tensor, number: number, numbering: Numbering): Plain {
  const { state, viewState, storage, layout: { shape, strides, dtype, device }, offset } = tensor;
  const { accumulator = null } = state ?? {};
  if (
    accumulator && (accumulator.retained.size > 0 || accumulator.hooks.values().some(({ size }) => size > 0))
  ) {
    throw new NotStorable("a tensor with hooks");
  }
  const marks = shape.some((_, dim) => markOf(tensor, dim) !== undefined)
    ? shape.map((_, dim) =>
      Object.entries(markOf(tensor, dim) ?? {}).map(([name, value]) => [name, writePrimitive(value)])
    )
    : [];
  return [
    "tensor",
    [...shape],
    [...strides],
    offset,
    dtype,
    device,
    // Traces read whether there is a history, not which
    readGetter(requiresGrad, tensor),
    readGetter(isLeaf, tensor),
    viewState !== null,
    numbering.memoryOf(storage, number),
    describeValue(state?.grad ?? null, numbering),
    ...marks.some(({ length }) => length > 0) ? [marks] : [],
  ];
}
