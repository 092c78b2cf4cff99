/**
 * Constructors of promises that call back, in JavaScript, so that the tracer steps through what they call. Invariant:
 * they take the capability that the engine would take, and settle it where the engine does.
 */

const { apply } = Reflect, OwnPromise = Promise, { withResolvers } = Promise;

type Executor = (resolve: (value: unknown) => void, reject: (reason: unknown) => void) => unknown;

/** new Promise(executor) */
export function newPromise(executor: Executor): Promise<unknown> {
  const { promise, resolve, reject }: PromiseWithResolvers<unknown> = apply(withResolvers, OwnPromise, []);
  try {
    executor(resolve, reject);
  } catch (error) {
    reject(error);
  }
  return promise;
}

/** Promise.try */
export function tryPromise(callback: (...args: unknown[]) => unknown, ...args: unknown[]): Promise<unknown> {
  const { promise, resolve, reject }: PromiseWithResolvers<unknown> = apply(withResolvers, OwnPromise, []);
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
