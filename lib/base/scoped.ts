/**
 * Scoped changes: runs a body and undoes a change afterwards. Invariant: the change is undone once, also if the body
 * throws; if it returns a promise, when that settles.
 */
import { types } from "node:util";
import { checkFunction, isDecoratorContext, refuseValue } from "./checked_input.ts";

const { apply } = Reflect, { then } = Promise.prototype;

/** Runs `body`, then `restore`; if it returns a promise, after that settles. */
export function scoped<R>(body: () => R, restore: () => void): R {
  let result: R;
  try {
    checkFunction(body, "to run, () => …,");
    result = body();
  } catch (thrown) {
    restore();
    throw thrown;
  }
  // Registered before anyone else can await the promise, so it runs before the code after the await
  if (types.isPromise(result)) apply(then, result, [restore, restore]);
  else restore();
  return result;
}

/** Runs a body with a change that is undone afterwards. */
type Region = <R>(body: () => R) => R;

/**
 * Returns what a region such as `noGrad` makes of a method that it decorates: one that runs in it; undefined if the
 * second argument shows that it does not decorate. Throws DynError for other members, and for generators, which would
 * run after the region has ended.
 */
export function decoratedBy(
  region: Region,
  method: (this: unknown, ...args: unknown[]) => unknown,
  context: unknown,
): typeof method | undefined {
  if (!isDecoratorContext(context)) return undefined;
  const owner = `@${region.name}`;
  if (context.kind !== "method") refuseValue(`a method after ${owner}`, context.kind);
  if (types.isGeneratorFunction(method)) refuseValue(`a method after ${owner} that is no generator`, method);
  return function (this: unknown, ...args: unknown[]): unknown {
    return region(() => apply(method, this, args));
  };
}
