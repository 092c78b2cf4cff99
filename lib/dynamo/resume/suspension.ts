/**
 * Runs async functions and generators in pieces. Invariant: each wait is one of the language's own, in a function of
 * the same kind, so that microtasks run in the program's order.
 */
import { traceCallers } from "../../base/errors.ts";
import { apply } from "../../base/own_builtins.ts";
import { promised, rejected } from "../bytecode/iteration.ts";
import { runtime } from "../bytecode/runtime.ts";
import type { Wait, WaitKind } from "./steps.ts";
import { settle } from "../cache/unit.ts";

// As they were when this module was loaded
const { get, getPrototypeOf, setPrototypeOf } = Reflect;

/** The result of a piece that ends at a wait. */
export class Waiting {
  constructor(readonly kind: WaitKind, readonly value: unknown, readonly ways: Ways) {}
}

/** Creates the result of a piece that ends at a wait. */
export function waiting(kind: WaitKind, value: unknown, ways: Ways): Waiting {
  return new Waiting(kind, value, ways);
}

/** The pieces after a wait, by its outcome; each returns what a piece returns. */
export interface Ways {
  readonly next: (value: unknown) => unknown;
  readonly throw: (error: unknown) => unknown;
  /** Null for a generator that has nothing to run when return() is called. */
  readonly return: ((value: unknown) => unknown) | null;
}

/** A promise or generator of the original function. */
export class Whole {
  constructor(readonly value: unknown) {}
}

/** An async function whose first piece is run by `begin`. */
export function asyncCall(begin: () => unknown): unknown {
  let step: unknown;
  try {
    step = settle(begin());
  } catch (error) {
    return rejected(error);
  }
  return step instanceof Whole ? step.value : goOn(step);
}

/** Wraps a first piece as the async function that it begins. */
export function inAsyncCall(piece: (...args: readonly unknown[]) => unknown): typeof piece {
  return function (this: unknown, ...args) {
    return asyncCall(() => apply(piece, this, args));
  };
}

async function goOn(first: unknown): Promise<unknown> {
  let step = first;
  while (step instanceof Waiting) {
    const { ways } = step;
    let value: unknown, error: unknown, failed = false;
    try {
      value = await step.value;
    } catch (thrown) {
      failed = true;
      error = thrown;
    }
    step = settle(failed ? ways.throw(error) : ways.next(value));
  }
  return step;
}

/** A generator of `fn` whose first piece is run by `begin`, when its first value is requested. */
export function generatorOf(fn: object, begin: () => unknown): object {
  const generator = generate(begin);
  setPrototypeOf(generator, prototypeFor(fn) ?? GENERATORS);
  return generator;
}

/** Like `generatorOf`, for an async generator function. */
export function asyncGeneratorOf(fn: object, begin: () => unknown): object {
  const generator = generateAsync(begin);
  setPrototypeOf(generator, prototypeFor(fn) ?? ASYNC_GENERATORS);
  return generator;
}

const GENERATORS = getPrototypeOf(generate.prototype);

const ASYNC_GENERATORS = getPrototypeOf(generateAsync.prototype);

function prototypeFor(fn: object): object | null {
  const prototype: unknown = get(fn, "prototype");
  return (typeof prototype === "object" || typeof prototype === "function") ? prototype : null;
}

function* generate(begin: () => unknown): Generator {
  let step = settle(begin());
  while (step instanceof Waiting) {
    const { ways, value, kind } = step;
    let end: () => unknown;
    try {
      const sent = ways.return === null && kind === "yield" ? yield value : yield* seen(kind, value);
      end = () => ways.next(sent);
    } catch (thrown) {
      end = endOf(ways, thrown);
    }
    step = settle(end());
  }
  return step;
}

/**
 * Represents what a generator returns if the language determines it: the argument of return(), or a value returned
 * outside of handlers.
 */
const GIVEN: unique symbol = Symbol("what is returned");

/** Thrown if the program returns another value. */
class Instead {
  constructor(readonly value: unknown) {}
}

/** The continuation of a wait that has not ended yet. */
const notYet = (): unknown => undefined;

/**
 * Every wait is the language's own, in a function of the same kind. The value of a return(), or one returned from
 * within handlers, is invisible to the program: the rest of it, up to its end, runs in a `finally`.
 */
async function* generateAsync(begin: () => unknown): AsyncGenerator {
  let step = settle(begin());
  while (step instanceof Waiting) {
    const { ways, value, kind } = step;
    let end = notYet;
    try {
      try {
        if (kind === "result" || kind === "returned") return value;
        let sent: unknown;
        if (kind === "await") sent = await value;
        else if (kind === "yield") sent = yield value;
        else sent = yield* value as AsyncIterable<unknown, unknown, unknown>;
        end = () => ways.next(sent);
      } catch (thrown) {
        end = () => ways.throw(thrown);
      } finally {
        const way = kind === "returned" ? ways.next : ways.return;
        let last = end === notYet && way !== null ? settle(way(GIVEN)) : GIVEN;
        while (last instanceof Waiting && last.kind !== "result") {
          const { ways, value, kind } = last;
          let end: () => unknown;
          try {
            let sent: unknown;
            if (kind === "await" || kind === "returned") sent = value === GIVEN ? GIVEN : await value;
            else if (ways.return !== null) {
              sent = yield* seenAsync(kind, kind === "yield" ? await value : value);
            } else if (kind === "yield") sent = yield value;
            else sent = yield* value as AsyncIterable<unknown, unknown, unknown>;
            end = () => ways.next(sent);
          } catch (thrown) {
            end = endOf(ways, thrown);
          }
          last = settle(end());
        }
        if (last !== GIVEN) raise(new Instead(last instanceof Waiting ? last.value : last));
      }
    } catch (thrown) {
      if (!(thrown instanceof Instead)) throw thrown;
      if (thrown.value === undefined) return;
      return thrown.value;
    }
    step = settle(end());
  }
  // Without a value there is nothing to wait for
  if (step !== undefined) return step;
}
/** Thrown at a wait when return() is called, so that the generator detects it. */
class Returned {
  constructor(readonly value: unknown) {}
}

/** The piece to run after a wait that ended with anything but a value. */
function endOf(ways: Ways, thrown: unknown): () => unknown {
  if (!(thrown instanceof Returned)) return () => ways.throw(thrown);
  return () => ways.return ? ways.return(thrown.value) : thrown.value;
}

/** One value, or those of an iterable, passed through `yield*`, by which a generator detects return(). */
function seen(kind: WaitKind, value: unknown): Iterable<unknown, unknown, unknown> {
  return kind === "delegate" ? new Delegated(runtime.delegation(value, false)) : new Yielded(value);
}

function seenAsync(kind: WaitKind, value: unknown): AsyncIterable<unknown, unknown, unknown> {
  return kind === "delegate" ? new DelegatedAsync(runtime.delegation(value, true)) : new YieldedAsync(value);
}

type Result = IteratorResult<unknown, unknown>;

class Yielded implements Iterator<unknown, unknown, unknown> {
  #started = false;
  constructor(readonly yielded: unknown) {}
  [Symbol.iterator](): this {
    return this;
  }
  next(value: unknown): Result {
    if (this.#started) return { value, done: true };
    this.#started = true;
    return { value: this.yielded, done: false };
  }
  throw(error: unknown): Result {
    throw error;
  }
  return(value: unknown): Result {
    throw new Returned(value);
  }
}

class YieldedAsync implements AsyncIterator<unknown, unknown, unknown> {
  readonly #yielded: Yielded;
  constructor(yielded: unknown) {
    this.#yielded = new Yielded(yielded);
  }
  [Symbol.asyncIterator](): this {
    return this;
  }
  next(value: unknown): Promise<Result> {
    return promised(this.#yielded.next(value));
  }
  throw(error: unknown): Promise<Result> {
    return rejected(error);
  }
  return(value: unknown): Promise<Result> {
    return rejected(new Returned(value));
  }
}

type Delegation = ReturnType<typeof runtime.delegation>;

class Delegated implements Iterator<unknown, unknown, unknown> {
  constructor(readonly inner: Delegation) {}
  [Symbol.iterator](): this {
    return this;
  }
  next(value: unknown): Result {
    return resultOf(this.inner.next(value));
  }
  throw(error: unknown): Result {
    return resultOf(this.inner.throw(error));
  }
  return(value: unknown): Result {
    return ended(this.inner, this.inner.return(value));
  }
}

class DelegatedAsync implements AsyncIterator<unknown, unknown, unknown> {
  constructor(readonly inner: Delegation) {}
  [Symbol.asyncIterator](): this {
    return this;
  }
  async next(value: unknown): Promise<Result> {
    return resultOf(await this.inner.next(value));
  }
  async throw(error: unknown): Promise<Result> {
    return resultOf(await this.inner.throw(error));
  }
  async return(value: unknown): Promise<Result> {
    return ended(this.inner, await this.inner.return(value));
  }
}

/** Returns the result of return(). Throws Returned if it ended the delegation. */
function ended({ returned, value }: Delegation, result: unknown): Result {
  if (returned) throw new Returned(value);
  return resultOf(result);
}

const isResult = (value: unknown): value is Result =>
  (typeof value === "object" && value !== null) || typeof value === "function";

function resultOf(value: unknown): Result {
  if (isResult(value)) return value;
  throw new TypeError(`Iterator result ${String(value)} is not an object`);
}

// The language's own, even if the program has replaced them
const { next, throw: throwInto, return: end }: Generator<Wait, unknown, unknown> = (function* () {})();

/** The rest of a function as a generator of its waits: the first of them, or its result. */
export function waitsOf(rest: Generator<Wait, unknown, unknown>): unknown {
  const after = (result: IteratorResult<Wait, unknown>): unknown => {
    if (result.done) return result.value;
    const [kind, value, noticesReturn] = result.value;
    return new Waiting(kind, value, {
      next: (given) => after(advance(next, rest, [given])),
      throw: (error) => after(advance(throwInto, rest, [error])),
      return: noticesReturn ? (given) => after(advance(end, rest, [given])) : null,
    });
  };
  return after(advance(next, rest, []));
}

type Rest = Generator<Wait, unknown, unknown>;

/** Runs the rest of a function to its next wait, or to its end, by a method of generators. */
function advance<A extends readonly unknown[]>(
  method: (this: Rest, ...args: A) => IteratorResult<Wait, unknown>,
  rest: Rest,
  args: A,
): IteratorResult<Wait, unknown> {
  try {
    return apply(method, rest, args);
  } catch (error) {
    traceCallers(error);
    throw error;
  }
}

function raise(error: unknown): never {
  throw error;
}
