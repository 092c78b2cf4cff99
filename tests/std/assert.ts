/**
 * `@std/assert` over the runtime's own `node:assert/strict`: the names and signatures that the tests use.
 *
 * Failures throw an `AssertionError` that shows both sides. Invariant: it has only names of `@std/assert`, with their
 * meaning, so that the import map can point at `jsr:@std/assert` instead without a change in any test.
 */
import strict, { AssertionError } from "node:assert/strict";

export { AssertionError };

/** A class as an argument, abstract ones included. */
type ClassOf<T> = abstract new (...args: never[]) => T;

function raise(found: string, msg: string | undefined): never {
  throw new AssertionError({ message: msg === undefined ? found : `${msg}: ${found}` });
}

/** Fails always. */
export function fail(msg?: string): never {
  return raise("Failed assertion", msg);
}

/** Fails unless `expr` is truthy. */
export function assert(expr: unknown, msg?: string): asserts expr {
  if (!expr) raise(`Expected a truthy value but found ${Deno.inspect(expr)}`, msg);
}

/** Fails unless `expr` is falsy. */
export function assertFalse(expr: unknown, msg?: string): void {
  if (expr) raise(`Expected a falsy value but found ${Deno.inspect(expr)}`, msg);
}

/** Deep equality; primitives by `Object.is`. */
export function assertEquals<T>(actual: T, expected: T, msg?: string): void {
  strict.deepStrictEqual(actual, expected, msg);
}

/** Deep inequality. */
export function assertNotEquals<T>(actual: T, expected: T, msg?: string): void {
  strict.notDeepStrictEqual(actual, expected, msg);
}

/** Identity, by `Object.is`. */
export function assertStrictEquals<T>(actual: unknown, expected: T, msg?: string): asserts actual is T {
  strict.strictEqual(actual, expected, msg);
}

/** Fails if both are identical, by `Object.is`. */
export function assertNotStrictEquals<T>(actual: T, expected: T, msg?: string): void {
  strict.notStrictEqual(actual, expected, msg);
}

/** Fails unless the numbers differ by at most `tolerance`, by default 1e-7 of the larger magnitude. */
export function assertAlmostEquals(actual: number, expected: number, tolerance?: number, msg?: string): void {
  if (Object.is(actual, expected)) return;
  const allowed = tolerance ?? Math.max(Math.abs(actual), Math.abs(expected)) * 1e-7;
  const delta = Math.abs(actual - expected);
  if (delta <= allowed) return;
  raise(`Expected ${actual} to be within ${allowed} of ${expected} but the difference is ${delta}`, msg);
}

/** Fails for null and undefined. */
export function assertExists<T>(actual: T, msg?: string): asserts actual is NonNullable<T> {
  if (actual === undefined || actual === null) raise(`Expected a value but found ${actual}`, msg);
}

/** Fails unless `actual` is an instance of the class. */
export function assertInstanceOf<T>(
  actual: unknown,
  expectedType: ClassOf<T>,
  msg?: string,
): asserts actual is T {
  if (actual instanceof expectedType) return;
  raise(`Expected an instance of ${expectedType.name} but found ${Deno.inspect(actual)}`, msg);
}

/** Fails unless the text holds the pattern. */
export function assertMatch(actual: string, expected: RegExp, msg?: string): void {
  if (!expected.test(actual)) raise(`Expected text that matches ${expected} but found\n${actual}`, msg);
}

/** Fails when the text holds the pattern. */
export function assertNotMatch(actual: string, expected: RegExp, msg?: string): void {
  if (expected.test(actual)) raise(`Expected text that does not match ${expected} but found\n${actual}`, msg);
}

/** Fails unless the text holds the other. */
export function assertStringIncludes(actual: string, expected: string, msg?: string): void {
  if (!actual.includes(expected)) {
    raise(`Expected text that includes ${JSON.stringify(expected)} but found\n${actual}`, msg);
  }
}

/** Fails unless every item of `expected` is, by deep equality, in `actual`. */
export function assertArrayIncludes<T>(actual: ArrayLike<T>, expected: ArrayLike<T>, msg?: string): void {
  const missing = Array.from(expected).filter((item) =>
    !Array.from(actual).some((each) => equal(each, item))
  );
  if (missing.length > 0) raise(`Expected ${Deno.inspect(actual)} to include ${Deno.inspect(missing)}`, msg);
}

/** Fails unless every property of `expected` is, by deep equality, in `actual`. */
export function assertObjectMatch(actual: object, expected: object, msg?: string): void {
  if (!matches(actual, expected)) {
    raise(`Expected an object that matches ${Deno.inspect(expected)} but found ${Deno.inspect(actual)}`, msg);
  }
}

function matches(actual: unknown, expected: unknown): boolean {
  const plain = typeof expected === "object" && expected !== null && !Array.isArray(expected) &&
    typeof actual === "object" && actual !== null;
  if (!plain) return equal(actual, expected);
  return Reflect.ownKeys(expected).every((key) =>
    Reflect.has(actual, key) && matches(Reflect.get(actual, key), Reflect.get(expected, key))
  );
}

/** Deep equality as a value. */
export function equal(a: unknown, b: unknown): boolean {
  try {
    strict.deepStrictEqual(a, b);
    return true;
  } catch (thrown) {
    if (thrown instanceof AssertionError) return false;
    throw thrown;
  }
}

/** Fails unless `error` is an error of the class whose message includes the text. */
export function assertIsError<E extends Error = Error>(
  error: unknown,
  errorClass?: ClassOf<E>,
  msgMatches?: string | RegExp,
  msg?: string,
): asserts error is E {
  if (!(error instanceof Error)) raise(`Expected an error but found ${Deno.inspect(error)}`, msg);
  if (errorClass && !(error instanceof errorClass)) {
    raise(`Expected error to be an instance of ${errorClass.name} but found ${error.stack ?? error}`, msg);
  }
  if (msgMatches === undefined) return;
  const found = typeof msgMatches === "string"
    ? error.message.includes(msgMatches)
    : msgMatches.test(error.message);
  if (!found) raise(`Expected error message to include ${msgMatches} but found ${error.message}`, msg);
}

/** Fails unless `fn` throws; returns what was thrown. */
export function assertThrows(fn: () => unknown, msg?: string): unknown;
/** Fails unless `fn` throws an error of the class whose message includes the text; returns the error. */
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  ErrorClass: ClassOf<E>,
  msgIncludes?: string,
  msg?: string,
): E;
export function assertThrows(
  fn: () => unknown,
  classOrMsg?: ClassOf<Error> | string,
  msgIncludes?: string,
  msg?: string,
): unknown {
  let thrown: unknown;
  try {
    fn();
  } catch (error) {
    thrown = error;
    if (typeof classOrMsg === "function") assertIsError(thrown, classOrMsg, msgIncludes, msg);
    return thrown;
  }
  return raise("Expected function to throw", typeof classOrMsg === "string" ? classOrMsg : msg);
}

/** Fails unless the promise of `fn` rejects; resolves to what it rejected with. */
export function assertRejects(fn: () => PromiseLike<unknown>, msg?: string): Promise<unknown>;
/** Fails unless it rejects with an error of the class whose message includes the text; resolves to the error. */
export function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  ErrorClass: ClassOf<E>,
  msgIncludes?: string,
  msg?: string,
): Promise<E>;
export async function assertRejects(
  fn: () => PromiseLike<unknown>,
  classOrMsg?: ClassOf<Error> | string,
  msgIncludes?: string,
  msg?: string,
): Promise<unknown> {
  const outer = typeof classOrMsg === "string" ? classOrMsg : msg;
  let promise: PromiseLike<unknown>;
  try {
    promise = fn();
  } catch {
    return raise("Function throws when expected to reject", outer);
  }
  try {
    await promise;
  } catch (thrown) {
    if (typeof classOrMsg === "function") assertIsError(thrown, classOrMsg, msgIncludes, msg);
    return thrown;
  }
  return raise("Expected function to reject", outer);
}

/** For branches that cannot be reached. */
export function unreachable(reason?: string): never {
  return raise("Unreachable", reason);
}
