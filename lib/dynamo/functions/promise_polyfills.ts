/**
 * Constructors of promises with callbacks, in JavaScript, so that the tracer inlines the callbacks. Invariant: they use
 * the capability that the engine would use, and settle it where the engine does.
 */

import { ownWeakMap } from "../../base/collections.ts";

const { apply } = Reflect, OwnPromise = Promise, { withResolvers } = Promise;

type Settling = "resolve" | "reject";

const settlers = ownWeakMap<object, Settling>();

/** A function that settles a promise, which graphs of other functions can recognise. */
export function settlerOf<K extends Settling>(
  whole: PromiseWithResolvers<unknown>,
  name: K,
): PromiseWithResolvers<unknown>[K] {
  const settler = whole[name];
  settlers.set(settler, name);
  return settler;
}

/** Returns how a function settles a promise; undefined for other values. */
export function settledBy(value: unknown): Settling | undefined {
  return typeof value === "function" ? settlers.get(value) : undefined;
}

/** The promise of an async function that has returned or thrown a value before its first await. */
export function ended(value: unknown, isThrown: boolean): Promise<unknown> {
  return new OwnPromise((resolve, reject) => isThrown ? reject(value) : resolve(value));
}

type Executor = (resolve: (value: unknown) => void, reject: (reason: unknown) => void) => unknown;

/** new Promise(executor) */
export function newPromise(executor: Executor): Promise<unknown> {
  const whole: PromiseWithResolvers<unknown> = apply(withResolvers, OwnPromise, []), { promise } = whole;
  const resolve = settlerOf(whole, "resolve"), reject = settlerOf(whole, "reject");
  try {
    executor(resolve, reject);
  } catch (error) {
    reject(error);
  }
  return promise;
}

/** Promise.try */
export function tryPromise(callback: (...args: unknown[]) => unknown, ...args: unknown[]): Promise<unknown> {
  const whole: PromiseWithResolvers<unknown> = apply(withResolvers, OwnPromise, []), { promise } = whole;
  const resolve = settlerOf(whole, "resolve"), reject = settlerOf(whole, "reject");
  let value;
  try {
    value = apply(callback, undefined, args);
  } catch (error) {
    reject(error);
    return promise;
  }
  resolve(value);
  return promise;
}
