/**
 * Quick checks that builtins are unchanged since dyn was loaded: the ones that dyn's own code uses wherever it must be
 * fast. Invariant: each is compared by an expression of its own, which V8 folds to nothing in optimised code.
 */

const { getPrototypeOf, ownKeys, apply, getOwnPropertyDescriptor, has: isIn } = Reflect;

const variables = globalThis;
const { Object: object, Array: array, Number: number, String: string, Symbol: symbol, BigInt: bigint } =
  globalThis;
const { Math: math, JSON: json, Reflect: reflect, Map: map_, Set: set_, WeakMap: weakMap, WeakRef: weakRef } =
  globalThis;
const { ArrayBuffer: buffer, Uint8Array: bytes, Int32Array: ints, BigInt64Array: longs } = globalThis;
const { Float32Array: floats, Float64Array: doubles, Uint32Array: words, performance: clock } = globalThis;

const objectPrototype = object.prototype;
const arrayPrototype = array.prototype, { [symbol.iterator]: iterateArray } = arrayPrototype;
const arrayIteratorPrototype: { readonly next?: unknown } = getPrototypeOf(iterateArray.call([])) ?? {};
const { next: nextElement } = arrayIteratorPrototype;
const { map, entries, forEach, filter, flatMap, some, every, push, slice, reduce, sort } = arrayPrototype;
const { find, findIndex, includes, indexOf, at, join, concat, fill, pop, reverse, values } = arrayPrototype;
const { shift, splice, keys: indices, toString: listText } = arrayPrototype;
const iteratorPrototype: { readonly [Symbol.iterator]?: unknown } = getPrototypeOf(arrayIteratorPrototype) ??
  {};
const { [symbol.iterator]: iterateIterator } = iteratorPrototype;

const mapPrototype = map_.prototype, setPrototype = set_.prototype;
const { get: mapGet, set: mapSet, has: mapHas, delete: mapDelete, [symbol.iterator]: iterateMap } =
  mapPrototype;
const { keys: mapKeys, values: mapValues, entries: mapEntries } = mapPrototype;
const { has: setHas, add: setAdd, delete: setDelete, [symbol.iterator]: iterateSet } = setPrototype;
const mapIteratorPrototype: { readonly next?: unknown } = getPrototypeOf(iterateMap.call(new Map())) ?? {};
const setIteratorPrototype: { readonly next?: unknown } = getPrototypeOf(iterateSet.call(new Set())) ?? {};
const { next: nextEntry } = mapIteratorPrototype, { next: nextMember } = setIteratorPrototype;
const weakMapPrototype = weakMap.prototype;
const { get: weakGet, set: weakSet, has: weakHas } = weakMapPrototype;

const typedPrototype: Pick<Uint8Array, "set" | "subarray" | "fill" | "slice"> = Object.getPrototypeOf(
  bytes.prototype,
);
const { set: setTyped, subarray, fill: fillTyped, slice: sliceTyped } = typedPrototype;

const { keys, entries: fields, fromEntries, freeze, defineProperty, assign, is, hasOwn } = object;
const { isInteger, isFinite, isNaN, isSafeInteger } = number, { isArray, from } = array;
const { floor, ceil, min, max, abs, trunc, round, imul, log2 } = math;
const { stringify, parse } = json;
const functionPrototype = Function.prototype;
const { call, bind, apply: applyMethod, [symbol.hasInstance]: hasInstance } = functionPrototype;
const { get: readProperty, set: writeProperty } = reflect;

/**
 * Returns whether the prototype of arrays has elements, which all arrays inherit: it is an array itself, whose length
 * shows whether it ever had any, and elements come first among keys.
 */
function hasOwnElements(): boolean {
  return arrayPrototype.length !== 0 && ownKeys(arrayPrototype)[0] !== "length";
}

const isIndex = (key: string | symbol | undefined): boolean =>
  typeof key === "string" && `${+key >>> 0}` === key;

/** Returns whether all objects inherit an element that loops enumerate: elements come first among keys. */
function enumeratesElements(): boolean {
  // Takes a fiftieth of the time of listing keys
  for (const key in objectPrototype) return isIndex(key);
  return false;
}

/** Returns whether Object.prototype has an element, from which all objects inherit. */
export function givesAllObjectsElements(): boolean {
  return isIndex(ownKeys(objectPrototype)[0]);
}

/**
 * Returns whether spreading, destructuring and filling of arrays, which all code uses, are unchanged since dyn
 * loaded. This includes elements that Object.prototype might define (of those that are not enumerable the first few
 * are checked), and the properties that end iterations.
 */
export function iteratesArraysAsLoaded(): boolean {
  return arrayPrototype[symbol.iterator] === iterateArray && arrayIteratorPrototype.next === nextElement &&
    !hasOwnElements() && !("return" in arrayIteratorPrototype) && !(0 in arrayPrototype) &&
    !(1 in arrayPrototype) && !(2 in arrayPrototype) && !(3 in arrayPrototype) && !enumeratesElements();
}

/** Returns whether the global variables that tensors, guards and graphs read at run time are unchanged. */
function variablesAsLoaded(): boolean {
  return variables.Object === object && variables.Array === array && variables.Number === number &&
    variables.String === string && variables.Symbol === symbol && variables.BigInt === bigint &&
    variables.Math === math && variables.JSON === json && variables.Reflect === reflect &&
    variables.Map === map_ && variables.Set === set_ && variables.WeakMap === weakMap &&
    variables.WeakRef === weakRef && variables.ArrayBuffer === buffer && variables.Uint8Array === bytes &&
    variables.Int32Array === ints && variables.BigInt64Array === longs &&
    variables.Float32Array === floats && variables.Float64Array === doubles &&
    variables.Uint32Array === words && variables.performance === clock;
}

function listsAsLoaded(): boolean {
  return arrayPrototype.map === map && arrayPrototype.entries === entries &&
    arrayPrototype.forEach === forEach && arrayPrototype.filter === filter &&
    arrayPrototype.flatMap === flatMap && arrayPrototype.some === some && arrayPrototype.every === every &&
    arrayPrototype.push === push && arrayPrototype.slice === slice && arrayPrototype.reduce === reduce &&
    arrayPrototype.find === find && arrayPrototype.findIndex === findIndex &&
    arrayPrototype.includes === includes && arrayPrototype.indexOf === indexOf && arrayPrototype.at === at &&
    arrayPrototype.join === join && arrayPrototype.concat === concat && arrayPrototype.fill === fill &&
    arrayPrototype.pop === pop && arrayPrototype.reverse === reverse && arrayPrototype.values === values &&
    arrayPrototype.sort === sort && arrayPrototype.shift === shift && arrayPrototype.splice === splice &&
    arrayPrototype.keys === indices && arrayPrototype.toString === listText &&
    iteratorPrototype[symbol.iterator] === iterateIterator;
}

function collectionsAsLoaded(): boolean {
  return mapPrototype.get === mapGet && mapPrototype.set === mapSet && mapPrototype.has === mapHas &&
    mapPrototype.delete === mapDelete && mapPrototype.keys === mapKeys && mapPrototype.values === mapValues &&
    mapPrototype.entries === mapEntries && mapPrototype[symbol.iterator] === iterateMap &&
    setPrototype.has === setHas && setPrototype.add === setAdd && setPrototype.delete === setDelete &&
    setPrototype[symbol.iterator] === iterateSet && mapIteratorPrototype.next === nextEntry &&
    setIteratorPrototype.next === nextMember && weakMapPrototype.get === weakGet &&
    weakMapPrototype.set === weakSet && weakMapPrototype.has === weakHas;
}

const aFloat = new floats(1), aDouble = new doubles(1), anInt = new ints(1), aByte = new bytes(1);
const aLong = new longs(1);

/** Reading properties of typed arrays is faster than reading the getters, which the program may have replaced. */
function typedArraysAsLoaded(): boolean {
  try {
    return aFloat.length === 1 && aDouble.length === 1 && anInt.length === 1 && aLong.length === 1 &&
      aByte.length === 1 && aByte.byteLength === 1 && aByte.byteOffset === 0 &&
      typedPrototype.set === setTyped && typedPrototype.subarray === subarray &&
      typedPrototype.fill === fillTyped && typedPrototype.slice === sliceTyped;
  } catch {
    return false;
  }
}

function functionsAsLoaded(): boolean {
  return object.keys === keys && object.entries === fields && object.fromEntries === fromEntries &&
    object.freeze === freeze && object.defineProperty === defineProperty && object.assign === assign &&
    object.is === is && object.hasOwn === hasOwn && number.isInteger === isInteger &&
    number.isFinite === isFinite && number.isNaN === isNaN && number.isSafeInteger === isSafeInteger &&
    array.isArray === isArray && array.from === from && math.floor === floor && math.ceil === ceil &&
    math.min === min && math.max === max && math.abs === abs && math.trunc === trunc &&
    math.round === round && math.imul === imul && math.log2 === log2 && json.stringify === stringify &&
    json.parse === parse && reflect.apply === apply && reflect.get === readProperty &&
    reflect.set === writeProperty && reflect.ownKeys === ownKeys && reflect.has === isIn &&
    reflect.getPrototypeOf === getPrototypeOf &&
    reflect.getOwnPropertyDescriptor === getOwnPropertyDescriptor && functionPrototype.call === call &&
    functionPrototype.bind === bind && functionPrototype.apply === applyMethod &&
    functionPrototype[symbol.hasInstance] === hasInstance;
}

/** Returns whether all builtins that tensors, guards and graphs use at run time are unchanged. */
export function runsAsLoaded(): boolean {
  return iteratesArraysAsLoaded() && variablesAsLoaded() && listsAsLoaded() && collectionsAsLoaded() &&
    typedArraysAsLoaded() && functionsAsLoaded();
}
