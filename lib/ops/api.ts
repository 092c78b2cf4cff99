/**
 * The ops as typed functions over any kind of tensor, independent of how calls are executed. Invariant: several results
 * are returned as an array whose elements also have names.
 */
import { InternalError } from "../base/errors.ts";
import { defineHidden, defineOwn, named } from "../base/isolated_objects.ts";
import type { OpDefinition, TensorLike } from "./definition.ts";
import type { OpApi } from "./generated.ts";
import { ALL_OPS } from "./table.ts";

/** Makes a call with the caller's arguments. */
type OpCaller<T> = (definition: OpDefinition, given: readonly unknown[]) => T | readonly T[];

/** All ops; each becomes a function at its first use, since most users of an instance need few of them. */
class OpFunctions {
  readonly #call: OpCaller<unknown>;

  constructor(call: OpCaller<unknown>) {
    this.#call = call;
  }

  #use(definition: OpDefinition): unknown {
    const call = this.#call;
    const made = named(definition.name, (...given: readonly unknown[]) => call(definition, given));
    defineOwn(this, definition.name, { value: made, enumerable: true });
    return made;
  }

  static {
    // V8 keeps an object without prototype as a table, but copies a class's prototype with every added property
    const getters: object = Object.create(null);
    for (const definition of ALL_OPS) {
      defineOwn(getters, definition.name, {
        get(this: OpFunctions) {
          return this.#use(definition);
        },
      });
    }
    Object.setPrototypeOf(this.prototype, getters);
  }
}

/** All ops, each making its calls through `call`. */
export function makeOpApi<T extends TensorLike>(call: OpCaller<T>): OpApi<T> {
  const api = new OpFunctions(call);
  if (!isOpApi<T>(api)) throw new InternalError("Expected a function for every op");
  return api;
}

/** Its prototype has every op. */
const isOpApi = <T extends TensorLike>(api: object): api is OpApi<T> => api instanceof OpFunctions;

/** The names of the results of a call, in their order. */
export function resultNames(
  { results = [], resultsWith }: OpDefinition,
  args: Readonly<Record<string, unknown>> = {},
): readonly string[] {
  return resultsWith
    ? results.filter((name) => args[resultsWith[name] ?? ""] ?? name === results[0])
    : results;
}

/** Several results as an array that also has them, not enumerable, under the names of the definition. */
export function nameResults<T>(
  definition: OpDefinition,
  results: readonly T[],
  args?: Readonly<Record<string, unknown>>,
): readonly T[] {
  const named = [...results];
  resultNames(definition, args).forEach((name, k) => defineHidden(named, name, results[k]));
  return named;
}

/**
 * Returns whether an op is a method of tensors: it is when its first parameter is a tensor, unless the definition
 * says otherwise.
 */
export function isMethod(definition: OpDefinition): boolean {
  const [first] = Object.values(definition.params);
  return definition.exposure?.method ?? (first?.kind === "tensor" || first?.kind === "operand");
}
