/**
 * Scoped changes: runs a body and undoes a change afterwards. Invariant: the change is undone once, also if the body
 * throws; if it returns a promise, when that settles.
 */
import { types } from "node:util";
import { checkFunction } from "./checked_input.ts";

const { apply } = Reflect, { then } = Promise.prototype;

/** Runs `body`, then `restore`; if it returns a promise, after that settles. */
export function scoped<R>(body: () => R, restore: () => void): R {
  let result: R;
  try {
    checkFunction(body, "to run");
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
