/**
 * Functions that wait: async functions and generators, in pieces. Input: the first piece, which gives what the function
 * waits for and the pieces behind that, or its result; output: a promise, or a generator. Invariant: each wait is one
 * of the language, in a function of the same kind, so that microtasks come in the program's order.
 */
import { runtime } from "./bytecode/runtime.ts";
import { settle } from "./unit.ts";

/** What a piece gives where its function waits. */
export class Waiting {
  constructor(
    /** `delegate`: for each of an iterable's values in turn. */
    readonly kind: "await" | "yield" | "delegate",
    readonly value: unknown,
    readonly ways: Ways,
  ) {}
}

/** The pieces behind a wait, by how it ends; each gives what a piece gives. */
export interface Ways {
  next(value: unknown): unknown;
  throw(error: unknown): unknown;
  return(value: unknown): unknown;
}

/** A promise or generator of the function as it is written. */
export class Whole {
  constructor(readonly value: unknown) {}
}

/** An async function whose first piece is run by `begin`. */
export function asyncCall(begin: () => unknown): unknown {
  let step: unknown;
  try {
    step = settle(begin());
  } catch (error) {
    return Promise.reject(error);
  }
  return step instanceof Whole ? step.value : goOn(step);
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

/** A generator of `fn` whose first piece is run by `begin`, when it is first asked for a value. */
export function generatorOf(fn: object, begin: () => unknown): Generator {
  const generator = generate(begin), prototype: unknown = Reflect.get(fn, "prototype");
  const isObject = (typeof prototype === "object" && prototype !== null) || typeof prototype === "function";
  return Object.setPrototypeOf(generator, isObject ? prototype : GENERATOR_PROTOTYPE);
}

const GENERATOR_PROTOTYPE: object = Object.getPrototypeOf(generate.prototype);

function* generate(begin: () => unknown): Generator {
  let step = settle(begin());
  while (step instanceof Waiting) {
    const { ways, value, kind } = step;
    let end: () => unknown;
    try {
      const source: Iterable<unknown, unknown, unknown> = kind === "delegate"
        ? new Delegated(value)
        : new Yielded(value);
      const sent = yield* source;
      end = () => ways.next(sent);
    } catch (thrown) {
      end = thrown instanceof Returned ? () => ways.return(thrown.value) : () => ways.throw(thrown);
    }
    step = settle(end());
  }
  return step;
}

/** Thrown where a generator is asked to return, so that it notices before it does. */
class Returned {
  constructor(readonly value: unknown) {}
}

/** One value, seen through `yield*`. */
class Yielded implements Iterator<unknown, unknown, unknown> {
  #started = false;
  constructor(readonly yielded: unknown) {}
  [Symbol.iterator](): this {
    return this;
  }
  next(value: unknown): IteratorResult<unknown, unknown> {
    if (this.#started) return { value, done: true };
    this.#started = true;
    return { value: this.yielded, done: false };
  }
  throw(error: unknown): IteratorResult<unknown, unknown> {
    throw error;
  }
  return(value: unknown): IteratorResult<unknown, unknown> {
    throw new Returned(value);
  }
}

const isResult = (value: unknown): value is IteratorResult<unknown, unknown> =>
  (typeof value === "object" && value !== null) || typeof value === "function";

function resultOf(value: unknown): IteratorResult<unknown, unknown> {
  if (isResult(value)) return value;
  throw new TypeError(`Iterator result ${String(value)} is not an object`);
}

/** The values of another iterable, seen through `yield*`. */
class Delegated implements Iterator<unknown, unknown, unknown> {
  readonly #inner: ReturnType<typeof runtime.delegation>;
  constructor(source: unknown) {
    this.#inner = runtime.delegation(source, false);
  }
  [Symbol.iterator](): this {
    return this;
  }
  next(value: unknown): IteratorResult<unknown, unknown> {
    return resultOf(this.#inner.next(value));
  }
  throw(error: unknown): IteratorResult<unknown, unknown> {
    return resultOf(this.#inner.throw(error));
  }
  return(value: unknown): IteratorResult<unknown, unknown> {
    const result = resultOf(this.#inner.return(value));
    if (this.#inner.returned) throw new Returned(this.#inner.value);
    return result;
  }
}

/** The rest of a function as a generator of what it waits for: the first wait, or its result. */
export function waitsOf(rest: Iterator<unknown>, kind: Waiting["kind"]): unknown {
  const after = (result: IteratorResult<unknown>): unknown =>
    result.done ? result.value : new Waiting(kind, result.value, ways);
  const ways: Ways = {
    next: (value) => after(rest.next(value)),
    throw(error) {
      if (!rest.throw) throw error;
      return after(rest.throw(error));
    },
    return: (value) => after(rest.return?.(value) ?? { done: true, value }),
  };
  return after(rest.next());
}
