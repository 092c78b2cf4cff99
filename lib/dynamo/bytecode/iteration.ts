/**
 * Iterators in printed code: steps and closing, and the iterators through which it suspends, delegates and awaits.
 *
 * Invariant: nothing here depends on globals that a program may replace after this module is loaded, and members are
 * read as often and in the order that the language specifies.
 */
import { types } from "node:util";
import { isReference } from "../../base/tree.ts";

// As they were when this module was loaded
const { Object, String, Promise, TypeError } = globalThis;
const { apply, get: reflectGet } = Reflect;
const { resolve, reject } = Promise;

/** A promise of a result, or a rejected one, without methods of promises, which a program may have replaced. */
export const promised = <T>(value: T): Promise<T> =>
  apply<typeof Promise, [T], Promise<T>>(resolve, Promise, [value]);
export const rejected = (error: unknown): Promise<never> => apply(reject, Promise, [error]);

/** Returns whether a value is a function. */
export function isFunction(value: unknown): value is (...args: readonly unknown[]) => unknown {
  return typeof value === "function";
}

/** Describes a value in the engine's messages. */
export function describe(value: unknown): string {
  return isFunction(value) ? "function" : isReference(value) ? "object" : String(value);
}

/** A member of a value that may be a primitive. */
export function memberOf(value: unknown, key: PropertyKey): unknown {
  return value === undefined || value === null ? undefined : reflectGet(Object(value), key, value);
}

/** The result of a step of an iterator. */
export interface Step {
  readonly done?: unknown;
  readonly value?: unknown;
}

/** Checks the result of a step. Throws TypeError if it is not an object. */
export function checkStep(result: unknown): Step {
  if (!isReference(result)) throw new TypeError(`Iterator result ${describe(result)} is not an object`);
  return result;
}

/** Closes an iterator. Throws TypeError if its result is not an object. */
export function close(iterator: object): void {
  const method = memberOf(iterator, "return");
  if (method !== undefined && method !== null) checkStep(callMethod(method, iterator, []));
}

/** Closes an iterator while an exception is pending. */
export function closeQuietly(iterator: object): void {
  try {
    const method = memberOf(iterator, "return");
    if (method !== undefined && method !== null) callMethod(method, iterator, []);
  } catch {
    // The pending exception takes precedence.
  }
}

/** A sync iterator as `for await` sees it. */
export class AsyncFromSync {
  constructor(private readonly iterator: object, private readonly step: unknown) {}

  /** Awaits as the language does, which reads a promise's constructor once; `then` would read it again. */
  private async settle(
    result: unknown,
    { closes }: { readonly closes: boolean },
  ): Promise<IteratorResult<unknown>> {
    const { done, value } = checkStep(result);
    try {
      return { value: await value, done: Boolean(done) };
    } catch (error) {
      if (closes && !done) closeQuietly(this.iterator);
      throw error;
    }
  }
  /** Arguments are passed on unchanged: the iterator sees how many there are. */
  next(...given: readonly unknown[]): Promise<IteratorResult<unknown>> {
    try {
      return this.settle(callMethod(this.step, this.iterator, given), { closes: true });
    } catch (error) {
      return rejected(error);
    }
  }
  return(...given: readonly unknown[]): Promise<IteratorResult<unknown>> {
    try {
      const method = memberOf(this.iterator, "return");
      if (method === undefined || method === null) return promised({ value: given[0], done: true });
      return this.settle(callMethod(method, this.iterator, given), { closes: false });
    } catch (error) {
      return rejected(error);
    }
  }
  throw(thrown: unknown): Promise<IteratorResult<unknown>> {
    try {
      const method = memberOf(this.iterator, "throw");
      if (method === undefined || method === null) {
        close(this.iterator);
        throw new TypeError(MISSING_THROW);
      }
      return this.settle(callMethod(method, this.iterator, [thrown]), { closes: true });
    } catch (error) {
      return rejected(error);
    }
  }
}

/** Calls a method. Throws TypeError if it is not a function. */
export function callMethod(method: unknown, self: unknown, args: readonly unknown[]): unknown {
  if (!isFunction(method)) throw new TypeError(`${describe(method)} is not a function`);
  return apply(method, self, args);
}

/** Yields one value through yield*, so that return() shows whether and with what it was called. */
export class Suspension {
  returned = false;
  value: unknown = undefined;
  private started = false;
  constructor(private readonly yielded: unknown) {}
  [Symbol.iterator](): this {
    return this;
  }
  [Symbol.asyncIterator](): this {
    return this;
  }
  next(value: unknown): IteratorResult<unknown> {
    if (this.started) return { value, done: true };
    this.started = true;
    return { value: this.yielded, done: false };
  }
  throw(error: unknown): never {
    throw error;
  }
  return(value: unknown): IteratorResult<unknown> {
    this.returned = true;
    this.value = value;
    return { value, done: true };
  }
}

/** Waits for the end of an iterator, then throws. */
async function throwAfter(closed: unknown, error: Error): Promise<never> {
  await closed;
  throw error;
}

const MISSING_THROW = "The iterator does not provide a 'throw' method.";

/** Another iterator seen through yield*, noting a return() that ended it. */
export class Delegation {
  returned = false;
  value: unknown = undefined;
  private readonly step: unknown;
  constructor(private readonly inner: object, private readonly async: boolean) {
    this.step = memberOf(inner, "next");
  }
  [Symbol.iterator](): this {
    return this;
  }
  [Symbol.asyncIterator](): this {
    return this;
  }
  next(value: unknown): unknown {
    return callMethod(this.step, this.inner, [value]);
  }
  throw(error: unknown): unknown {
    const method = memberOf(this.inner, "throw");
    if (method !== undefined && method !== null) return callMethod(method, this.inner, [error]);
    const missing = new TypeError(MISSING_THROW);
    const close = memberOf(this.inner, "return");
    const closed = close === undefined || close === null ? undefined : callMethod(close, this.inner, []);
    if (!this.async) throw missing;
    return throwAfter(closed, missing);
  }
  return(value: unknown): unknown {
    const method = memberOf(this.inner, "return");
    if (method === undefined || method === null) return this.note({ value, done: true });
    const result = callMethod(method, this.inner, [value]);
    return types.isPromise(result) ? this.noteLater(result) : this.note(checkStep(result));
  }
  private async noteLater(result: Promise<unknown>): Promise<Step> {
    return this.note(checkStep(await result));
  }
  /** The end is reported in another result object: reading the value of this one again may run the program's code. */
  private note(result: Step): Step {
    if (!result.done) return result;
    const { value } = result;
    this.returned = true;
    this.value = value;
    return { value, done: true };
  }
}
