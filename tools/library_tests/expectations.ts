/**
 * `expect` of Jest and Vitest, using the runtime's own comparison; only the parts that libraries of plain functions
 * use.
 */
import assert from "node:assert";
import { inspect } from "node:util";

function equal(a: unknown, b: unknown): boolean {
  try {
    assert.deepEqual(a, b);
    return true;
  } catch {
    return false;
  }
}

/** Returns whether an error is the expected one: any, of a class, or with a message. */
function isExpected(error: unknown, expected: unknown): boolean {
  if (expected === undefined) return true;
  if (typeof expected === "function") return error instanceof expected;
  const message = error instanceof Error ? error.message : String(error);
  if (expected instanceof RegExp) return expected.test(message);
  return expected instanceof Error ? message === expected.message : message.includes(String(expected));
}

function throws(run: unknown, expected: unknown): boolean {
  if (typeof run !== "function") return false;
  try {
    run();
  } catch (error) {
    return isExpected(error, expected);
  }
  return false;
}

/** Converts a value to the kind that a matcher needs; other values make the comparison fail. */
const list = (value: unknown): unknown[] => Array.from(Object(value));
const property = (value: unknown, key: string): unknown => Reflect.get(Object(value), key);
const callsOf = (value: unknown): unknown[] => list(property(property(value, "mock"), "calls"));

function includes(given: unknown, expected: unknown): boolean {
  return typeof given === "string" ? given.includes(String(expected)) : list(given).includes(expected);
}

type Matcher = (given: unknown, expected: unknown, more: unknown) => boolean;

const MATCHERS: Readonly<Record<string, Matcher>> = {
  toBe: Object.is,
  toEqual: equal,
  toStrictEqual: equal,
  toThrow: throws,
  toThrowError: throws,
  toBeTruthy: Boolean,
  toBeFalsy: (given) => !given,
  toBeUndefined: (given) => given === undefined,
  toBeDefined: (given) => given !== undefined,
  toBeNull: (given) => given === null,
  toBeNaN: Number.isNaN,
  toBeCloseTo: (given, expected, digits = 2) =>
    Math.abs(Number(given) - Number(expected)) < 10 ** -Number(digits) / 2,
  toContain: includes,
  toContainEqual: (given, expected) => list(given).some((each) => equal(each, expected)),
  toHaveLength: (given, expected) => property(given, "length") === expected,
  toMatch: (given, expected) =>
    expected instanceof RegExp ? expected.test(String(given)) : String(given).includes(String(expected)),
  toMatchObject: (given, expected) =>
    Object.entries(Object(expected)).every(([key, value]) => equal(property(given, key), value)),
  toBeInstanceOf: (given, expected) => typeof expected === "function" && given instanceof expected,
  toBeGreaterThan: (given, expected) => Number(given) > Number(expected),
  toBeGreaterThanOrEqual: (given, expected) => Number(given) >= Number(expected),
  toBeLessThan: (given, expected) => Number(given) < Number(expected),
  toBeLessThanOrEqual: (given, expected) => Number(given) <= Number(expected),
  toHaveBeenCalled: (given) => callsOf(given).length > 0,
  toHaveBeenCalledTimes: (given, expected) => callsOf(given).length === expected,
};

/** The matchers of a value. */
export function expect(given: unknown): Record<string, unknown> {
  const matchers = (isNot: boolean) =>
    Object.fromEntries(
      Object.entries(MATCHERS).map(([name, matches]) => [name, (expected: unknown, more: unknown) => {
        if (matches(given, expected, more) !== isNot) return;
        const found = `${inspect(given).slice(0, 200)}, ${inspect(expected).slice(0, 200)}`;
        throw new assert.AssertionError({ message: `${isNot ? "not " : ""}${name}: ${found}` });
      }]),
    );
  return { ...matchers(false), not: matchers(true) };
}

/** Functions that record their calls. */
export const mocks = {
  fn(run: (...args: unknown[]) => unknown = () => undefined) {
    const calls: unknown[][] = [];
    const noting = function (this: unknown, ...args: unknown[]): unknown {
      calls.push(args);
      return Reflect.apply(run, this, args);
    };
    return Object.assign(noting, { mock: { calls } });
  },
};
