/**
 * The state that objects of the engine's classes have beyond their properties: objects keep it under another prototype.
 * Invariant: determining it runs no code of the program.
 */
import { types } from "node:util";

const TESTS = [
  ["Arguments", types.isArgumentsObject],
  ["Error", types.isNativeError],
  ["RegExp", types.isRegExp],
  ["Date", types.isDate],
  ["Number", types.isNumberObject],
  ["String", types.isStringObject],
  ["Boolean", types.isBooleanObject],
  ["Symbol", types.isSymbolObject],
  ["BigInt", types.isBigIntObject],
  ["Array", Array.isArray],
  ["Map", types.isMap],
  ["Set", types.isSet],
  ["WeakMap", types.isWeakMap],
  ["WeakSet", types.isWeakSet],
  ["Promise", types.isPromise],
  ["Generator", types.isGeneratorObject],
  ["Map Iterator", types.isMapIterator],
  ["Set Iterator", types.isSetIterator],
  ["TypedArray", types.isTypedArray],
  ["DataView", types.isDataView],
  ["ArrayBuffer", types.isAnyArrayBuffer],
  ["Module", types.isModuleNamespaceObject],
  ["Proxy", types.isProxy],
] as const satisfies readonly (readonly [name: string, test: (value: object) => boolean])[];

/** The name of a kind of state. */
export type EngineState = typeof TESTS[number][0];

/** Names of all kinds of state. */
export const ENGINE_STATES: readonly EngineState[] = TESTS.map(([name]) => name);

/** Returns the kind of state that an object has; null for objects of the program, and for classes without a test. */
export function engineState(object: object): EngineState | null {
  for (const [name, test] of TESTS) if (test(object)) return name;
  return null;
}
