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
const { WeakSet: weakSet_, FinalizationRegistry: registry, Error: error, Promise: promise } = globalThis;
const { ArrayBuffer: buffer, Uint8Array: bytes, Int32Array: ints, BigInt64Array: longs } = globalThis;
const { Float32Array: floats, Float64Array: doubles, Uint32Array: words, performance: clock } = globalThis;
const { DataView: view, SharedArrayBuffer: shared, Int16Array: shorts, Int8Array: signedBytes } = globalThis;

const objectPrototype = object.prototype;
const arrayPrototype = array.prototype, { [symbol.iterator]: iterateArray } = arrayPrototype;
const arrayIteratorPrototype: { readonly next?: unknown } = getPrototypeOf(iterateArray.call([])) ?? {};
const { next: nextElement } = arrayIteratorPrototype;
const { map, entries, forEach, filter, flatMap, some, every, push, slice, reduce, sort } = arrayPrototype;
const { find, findIndex, includes, indexOf, at, join, concat, fill, pop, reverse, values } = arrayPrototype;
const { shift, splice, keys: indices, toString: listText, flat, unshift, findLast } = arrayPrototype;
const { findLastIndex, lastIndexOf, reduceRight, toReversed, toSorted, toSpliced } = arrayPrototype;
const { with: withElement, copyWithin } = arrayPrototype;
const iteratorPrototype: Partial<IteratorObject<unknown>> = getPrototypeOf(arrayIteratorPrototype) ?? {};
const { [symbol.iterator]: iterateIterator, map: mapAll, filter: filterAll, flatMap: flatMapAll } =
  iteratorPrototype;
const { some: someOfAll, every: everyOfAll, find: findAmong, toArray, take, drop, forEach: forAll } =
  iteratorPrototype;
const helperPrototype: { readonly next?: unknown } = getPrototypeOf([].values().map(() => 0)) ?? {};
const { next: nextOfHelper } = helperPrototype;
const generatorPrototype: { readonly next?: unknown } =
  getPrototypeOf(getPrototypeOf((function* () {})()) ?? {}) ?? {};
const { next: nextOfGenerator } = generatorPrototype;

const mapPrototype = map_.prototype, setPrototype = set_.prototype;
const { get: mapGet, set: mapSet, has: mapHas, delete: mapDelete, [symbol.iterator]: iterateMap } =
  mapPrototype;
const { keys: mapKeys, values: mapValues, entries: mapEntries, forEach: forEachEntry } = mapPrototype;
const { clear: mapClear } = mapPrototype, { values: setValues, clear: setClear } = setPrototype;
const { has: setHas, add: setAdd, delete: setDelete, [symbol.iterator]: iterateSet } = setPrototype;
const { getOrInsertComputed } = mapPrototype;
const aMap = new map_(), aSet = new set_();
const mapIteratorPrototype: { readonly next?: unknown } = getPrototypeOf(iterateMap.call(new Map())) ?? {};
const setIteratorPrototype: { readonly next?: unknown } = getPrototypeOf(iterateSet.call(new Set())) ?? {};
const { next: nextEntry } = mapIteratorPrototype, { next: nextMember } = setIteratorPrototype;
const weakMapPrototype = weakMap.prototype;
const { get: weakGet, set: weakSet, has: weakHas, delete: weakDelete } = weakMapPrototype;
const { getOrInsertComputed: weaklyComputed } = weakMapPrototype;
const weakMembers = weakSet_.prototype, { has: isWeakMember, add: addWeakly } = weakMembers;
const weakRefPrototype = weakRef.prototype, { deref } = weakRefPrototype;
const registryPrototype = registry.prototype, { register } = registryPrototype;

type TypedMembers = "set" | "subarray" | "fill" | "slice" | "map" | "copyWithin" | typeof Symbol.iterator;
const typedPrototype: Pick<Uint8Array, TypedMembers> = Object.getPrototypeOf(bytes.prototype);
const { set: setTyped, subarray, fill: fillTyped, slice: sliceTyped, map: mapTyped } = typedPrototype;
const { copyWithin: copyTyped, [symbol.iterator]: iterateTyped } = typedPrototype;
const typed: { readonly from?: unknown } = getPrototypeOf(bytes) ?? {}, { from: typedFrom } = typed;
const viewPrototype = view.prototype, { setInt32, setFloat64, setFloat32 } = viewPrototype;

const { keys, entries: fields, fromEntries, freeze, defineProperty, assign, is, hasOwn } = object;
const { values: valuesOf, create, getPrototypeOf: prototypeOf, setPrototypeOf, isExtensible } = object;
const { getOwnPropertyDescriptor: descriptorOf } = object;
const { isInteger, isFinite, isNaN, isSafeInteger } = number, { isArray, from, of } = array;
const { floor, ceil, min, max, abs, trunc, round, imul, log2, fround, f16round, hypot } = math;
const { sqrt, exp, expm1, log, log1p, log10, pow, sign, sin, cos, tan, tanh, cbrt, clz32 } = math;
const { asin, acos, atan, atan2, sinh, cosh, asinh, acosh, atanh } = math;
const { stringify, parse } = json, { asIntN, asUintN } = bigint, { isView } = buffer;
const functionPrototype = Function.prototype;
const { call, bind, apply: applyMethod, [symbol.hasInstance]: hasInstance } = functionPrototype;
const { get: readProperty, set: writeProperty, deleteProperty, construct } = reflect;
const { captureStackTrace } = error;

const textPrototype = string.prototype, numberPrototype = number.prototype;
const { split, startsWith, endsWith, replace, replaceAll, repeat, padStart, padEnd, trim } = textPrototype;
const { trimEnd, trimStart, slice: sliceText, includes: includesText, indexOf: indexOfText } = textPrototype;
const { at: characterAt, charAt, charCodeAt, toLowerCase, toUpperCase, concat: concatTexts } = textPrototype;
const { toFixed, toExponential, toPrecision, toString: numberText } = numberPrototype;
const bigintPrototype = bigint.prototype, { toString: bigintText } = bigintPrototype;
const { raw, fromCharCode } = string;
const { groupBy: mapGroups } = map_, { groupBy } = object;

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

const memory = new buffer(8);
const aFloat = new floats(memory), aDouble = new doubles(memory), anInt = new ints(memory);
const aByte = new bytes(memory), aLong = new longs(memory), aWord = new words(memory);

/**
 * Returns whether all builtins that tensors, guards and graphs use at run time are unchanged. One function: V8 does not
 * inline parts of this size, and a call takes longer than all comparisons. Getters are read, which is faster than
 * looking their functions up; of typed arrays, for each type, since the program may have given one its own. Those that
 * V8 does not inline, `buffer` and sizes of memory, dyn's own code reads by functions of memory_getters.ts.
 */
export function runsAsLoaded(): boolean {
  if (!iteratesArraysAsLoaded()) return false;
  const variablesOwn = variables.Object === object && variables.Array === array &&
    variables.Number === number &&
    variables.String === string && variables.Symbol === symbol && variables.BigInt === bigint &&
    variables.Math === math && variables.JSON === json && variables.Reflect === reflect &&
    variables.Map === map_ && variables.Set === set_ && variables.WeakMap === weakMap &&
    variables.WeakRef === weakRef && variables.ArrayBuffer === buffer && variables.Uint8Array === bytes &&
    variables.Int32Array === ints && variables.BigInt64Array === longs &&
    variables.Float32Array === floats && variables.Float64Array === doubles &&
    variables.Uint32Array === words && variables.performance === clock && variables.WeakSet === weakSet_ &&
    variables.FinalizationRegistry === registry && variables.Error === error &&
    variables.Promise === promise && variables.DataView === view && variables.SharedArrayBuffer === shared &&
    variables.Int16Array === shorts && variables.Int8Array === signedBytes;
  const listsOwn = arrayPrototype.map === map && arrayPrototype.entries === entries &&
    arrayPrototype.forEach === forEach && arrayPrototype.filter === filter &&
    arrayPrototype.flatMap === flatMap && arrayPrototype.some === some && arrayPrototype.every === every &&
    arrayPrototype.push === push && arrayPrototype.slice === slice && arrayPrototype.reduce === reduce &&
    arrayPrototype.find === find && arrayPrototype.findIndex === findIndex &&
    arrayPrototype.includes === includes && arrayPrototype.indexOf === indexOf && arrayPrototype.at === at &&
    arrayPrototype.join === join && arrayPrototype.concat === concat && arrayPrototype.fill === fill &&
    arrayPrototype.pop === pop && arrayPrototype.reverse === reverse && arrayPrototype.values === values &&
    arrayPrototype.sort === sort && arrayPrototype.shift === shift && arrayPrototype.splice === splice &&
    arrayPrototype.keys === indices && arrayPrototype.toString === listText && arrayPrototype.flat === flat &&
    arrayPrototype.unshift === unshift && arrayPrototype.findLast === findLast &&
    arrayPrototype.findLastIndex === findLastIndex && arrayPrototype.lastIndexOf === lastIndexOf &&
    arrayPrototype.reduceRight === reduceRight && arrayPrototype.toReversed === toReversed &&
    arrayPrototype.toSorted === toSorted && arrayPrototype.toSpliced === toSpliced &&
    arrayPrototype.with === withElement && arrayPrototype.copyWithin === copyWithin &&
    arrayPrototype.constructor === array;
  const iteratorsOwn = iteratorPrototype[symbol.iterator] === iterateIterator &&
    iteratorPrototype.map === mapAll &&
    iteratorPrototype.filter === filterAll && iteratorPrototype.flatMap === flatMapAll &&
    iteratorPrototype.some === someOfAll && iteratorPrototype.every === everyOfAll &&
    iteratorPrototype.find === findAmong && iteratorPrototype.toArray === toArray &&
    iteratorPrototype.take === take && iteratorPrototype.drop === drop &&
    iteratorPrototype.forEach === forAll && helperPrototype.next === nextOfHelper &&
    generatorPrototype.next === nextOfGenerator;
  const collectionsOwn = mapPrototype.get === mapGet && mapPrototype.set === mapSet &&
    mapPrototype.has === mapHas &&
    mapPrototype.delete === mapDelete && mapPrototype.keys === mapKeys && mapPrototype.values === mapValues &&
    mapPrototype.entries === mapEntries && mapPrototype[symbol.iterator] === iterateMap &&
    setPrototype.has === setHas && setPrototype.add === setAdd && setPrototype.delete === setDelete &&
    setPrototype[symbol.iterator] === iterateSet && mapIteratorPrototype.next === nextEntry &&
    setIteratorPrototype.next === nextMember && weakMapPrototype.get === weakGet &&
    weakMapPrototype.set === weakSet && weakMapPrototype.has === weakHas &&
    weakMapPrototype.delete === weakDelete && weakMapPrototype.getOrInsertComputed === weaklyComputed &&
    mapPrototype.forEach === forEachEntry &&
    mapPrototype.clear === mapClear && mapPrototype.getOrInsertComputed === getOrInsertComputed &&
    setPrototype.values === setValues && setPrototype.clear === setClear &&
    weakMembers.has === isWeakMember && weakMembers.add === addWeakly && weakRefPrototype.deref === deref &&
    registryPrototype.register === register;
  const functionsOwn = object.keys === keys && object.entries === fields &&
    object.fromEntries === fromEntries &&
    object.freeze === freeze && object.defineProperty === defineProperty && object.assign === assign &&
    object.is === is && object.hasOwn === hasOwn && number.isInteger === isInteger &&
    number.isFinite === isFinite && number.isNaN === isNaN && number.isSafeInteger === isSafeInteger &&
    array.isArray === isArray && array.from === from && math.floor === floor && math.ceil === ceil &&
    math.min === min && math.max === max && math.abs === abs && math.trunc === trunc &&
    math.round === round && math.imul === imul && math.log2 === log2 && json.stringify === stringify &&
    object.values === valuesOf && object.create === create && object.getPrototypeOf === prototypeOf &&
    object.setPrototypeOf === setPrototypeOf && object.isExtensible === isExtensible &&
    object.getOwnPropertyDescriptor === descriptorOf && object.groupBy === groupBy &&
    map_.groupBy === mapGroups && array.of === of && bigint.asIntN === asIntN &&
    bigint.asUintN === asUintN && buffer.isView === isView && error.captureStackTrace === captureStackTrace &&
    reflect.deleteProperty === deleteProperty && reflect.construct === construct &&
    json.parse === parse && reflect.apply === apply && reflect.get === readProperty &&
    reflect.set === writeProperty && reflect.ownKeys === ownKeys && reflect.has === isIn &&
    reflect.getPrototypeOf === getPrototypeOf &&
    reflect.getOwnPropertyDescriptor === getOwnPropertyDescriptor && functionPrototype.call === call &&
    functionPrototype.bind === bind && functionPrototype.apply === applyMethod &&
    functionPrototype[symbol.hasInstance] === hasInstance;
  const textsOwn = textPrototype.split === split && textPrototype.startsWith === startsWith &&
    textPrototype.endsWith === endsWith && textPrototype.replace === replace &&
    textPrototype.replaceAll === replaceAll && textPrototype.repeat === repeat &&
    textPrototype.padStart === padStart && textPrototype.padEnd === padEnd && textPrototype.trim === trim &&
    textPrototype.trimEnd === trimEnd && textPrototype.trimStart === trimStart &&
    textPrototype.slice === sliceText && textPrototype.includes === includesText &&
    textPrototype.indexOf === indexOfText && textPrototype.at === characterAt &&
    textPrototype.charAt === charAt && textPrototype.charCodeAt === charCodeAt &&
    textPrototype.toLowerCase === toLowerCase && textPrototype.toUpperCase === toUpperCase &&
    textPrototype.concat === concatTexts && numberPrototype.toFixed === toFixed &&
    numberPrototype.toExponential === toExponential && numberPrototype.toPrecision === toPrecision &&
    numberPrototype.toString === numberText && bigintPrototype.toString === bigintText &&
    string.raw === raw && string.fromCharCode === fromCharCode;
  const mathematicsOwn = math.fround === fround && math.f16round === f16round && math.hypot === hypot &&
    math.sqrt === sqrt &&
    math.exp === exp && math.expm1 === expm1 && math.log === log && math.log1p === log1p &&
    math.log10 === log10 && math.pow === pow && math.sign === sign && math.sin === sin && math.cos === cos &&
    math.tan === tan && math.tanh === tanh && math.cbrt === cbrt && math.clz32 === clz32 &&
    math.asin === asin && math.acos === acos && math.atan === atan && math.atan2 === atan2 &&
    math.sinh === sinh && math.cosh === cosh && math.asinh === asinh && math.acosh === acosh &&
    math.atanh === atanh;
  const memoryOwn = typedPrototype.set === setTyped &&
    typedPrototype.subarray === subarray && typedPrototype.fill === fillTyped &&
    typedPrototype.slice === sliceTyped && typedPrototype.map === mapTyped &&
    typedPrototype.copyWithin === copyTyped && typedPrototype[symbol.iterator] === iterateTyped &&
    typed.from === typedFrom && viewPrototype.setInt32 === setInt32 &&
    viewPrototype.setFloat64 === setFloat64 && viewPrototype.setFloat32 === setFloat32;
  if (
    !(variablesOwn && listsOwn && iteratorsOwn && collectionsOwn && functionsOwn && textsOwn &&
      mathematicsOwn && memoryOwn)
  ) return false;
  try {
    return aFloat.length === 2 && aDouble.length === 1 && anInt.length === 2 && aLong.length === 1 &&
      aByte.length === 8 && aWord.length === 2 && aFloat.byteLength === 8 && aDouble.byteLength === 8 &&
      anInt.byteLength === 8 && aLong.byteLength === 8 && aByte.byteLength === 8 && aWord.byteLength === 8 &&
      aFloat.byteOffset === 0 && aDouble.byteOffset === 0 && anInt.byteOffset === 0 &&
      aLong.byteOffset === 0 && aByte.byteOffset === 0 && aWord.byteOffset === 0 && aMap.size === 0 &&
      aSet.size === 0 && array[symbol.species] === array;
  } catch {
    return false;
  }
}
