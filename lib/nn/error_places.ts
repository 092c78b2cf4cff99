/**
 * Adds the path of the failing module to an error, from the outermost module being called. Errors pass through the
 * module calls, innermost first; the message ends in the path. Invariant: an error outside nested module calls names no
 * module.
 */
import type { AnyFunction } from "../base/arguments.ts";
import { DynError } from "../base/errors.ts";
import { apply } from "../base/own_builtins.ts";

/** The part of a module that paths need. */
interface NamedTree {
  namedModules(): readonly (readonly [string, object])[];
}

interface Place {
  /** The original message. */
  readonly message: string;
  readonly innermost: object;
  outermost: object;
  path: string;
}

const places = new WeakMap<DynError, Place>();

/** Records that an error passes through the call of a module, and returns it. */
export function atModule(error: unknown, module: NamedTree): unknown {
  if (!(error instanceof DynError)) return error;
  const place = places.get(error);
  if (!place) {
    const { message } = error;
    places.set(error, { message, innermost: module, outermost: module, path: "" });
    return error;
  }
  const name = module.namedModules().find(([, each]) => each === place.outermost)?.[0];
  if (!name) return error;
  place.path = place.path === "" ? name : `${name}.${place.path}`;
  place.outermost = module;
  const { name: kind } = place.innermost.constructor;
  error.message = `${place.message}, in ${module.constructor.name}.${place.path} (${kind})`;
  return error;
}

/** Calls a function on a module; errors name the module. Without the handler it is captured as `Reflect.apply`. */
export function callNamed(call: AnyFunction, module: NamedTree, args: readonly unknown[]): unknown {
  try {
    return apply(call, module, args);
  } catch (error) {
    throw atModule(error, module);
  }
}
