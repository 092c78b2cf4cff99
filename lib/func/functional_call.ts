/**
 * Calls of modules with substituted parameters and buffers, by name, like `torch.func.functional_call`. Invariant:
 * afterwards the module has its own again.
 */
import { checkKind, refuseSurplus, refuseValue } from "../base/checked_input.ts";
import { checkModule, type Module } from "../nn/module.ts";
import { DynError } from "../base/errors.ts";
import { isPlainObject } from "../base/tree.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";

/** Tensors by dotted names, as in `stateDict`. */
export type NamedTensors = Readonly<Record<string, Tensor>>;

/** The arguments of the module: those by position, then those by name. */
type CallArguments = readonly [args?: unknown, kwargs?: Readonly<Record<string, unknown>> | null];

interface Place {
  readonly module: Module;
  readonly field: string;
  readonly former: unknown;
}

/**
 * Calls a module with tensors in place of parameters and buffers; those without a replacement are unchanged. `args` is
 * one argument, or an array of them; `kwargs` are arguments by name, which modules take in a last object. A tied tensor is
 * replaced in all of its places, by any of its names. Throws DynError for names that the module does not have.
 */
export function functionalCall<M extends Module>(
  module: M,
  tensors: NamedTensors | readonly NamedTensors[],
  ...given: CallArguments
): ReturnType<M["forward"]>;
export function functionalCall(
  module: Module,
  tensors: NamedTensors | readonly NamedTensors[],
  ...[args, kwargs = null]: CallArguments
): unknown {
  if (arguments.length > 4) refuseSurplus("functionalCall", 4, arguments);
  if (kwargs !== null && !isPlainObject(kwargs)) {
    refuseValue("an object for kwargs of functionalCall", kwargs);
  }
  checkModule(module, "functionalCall");
  checkKind(tensors, "an object", "the tensors of functionalCall");
  if (!isPlainObject(tensors)) checkKind(tensors, "a list", "the tensors of functionalCall");
  const named: NamedTensors = isPlainObject(tensors) ? tensors : Object.assign({}, ...tensors);
  const places = placesOf(module), changed: Place[] = [];
  const unknown = Object.keys(named).filter((name) => !places.has(name));
  if (unknown.length > 0) {
    throw new DynError(
      `Expected names of parameters and buffers of ${module.constructor.name} but found ${
        unknown.join(", ")
      }`,
    );
  }
  checkTied(named, places);
  try {
    for (const [name, tensor] of Object.entries(named)) {
      for (const place of places.get(name) ?? []) {
        changed.push(place);
        Reflect.set(place.module, place.field, tensor);
      }
    }
    return Reflect.apply(module.call, module, [
      ...Array.isArray(args) ? args : [args],
      ...kwargs === null ? [] : [kwargs],
    ]);
  } finally {
    for (const { module, field, former } of changed) Reflect.set(module, field, former);
  }
}

/**
 * Returns the places of parameters and buffers by name, of which a tied one has several: under each of them all of its
 * places.
 */
function placesOf(root: Module): ReadonlyMap<string, readonly Place[]> {
  const found = new Map<Tensor, Place[]>();
  for (const module of root.modules()) {
    for (const [field, former] of Object.entries(module)) {
      if (isTensor(former)) found.set(former, [...found.get(former) ?? [], { module, field, former }]);
    }
  }
  const all = { removeDuplicate: false };
  const named = [...root.namedParameters(all), ...root.namedBuffers(all)];
  return new Map(named.map(([name, tensor]) => [name, found.get(tensor) ?? []]));
}

/** Throws DynError if names of one tied tensor have different replacements. */
function checkTied(named: NamedTensors, places: ReadonlyMap<string, readonly Place[]>): void {
  const first = new Map<unknown, string>();
  for (const [name, tensor] of Object.entries(named)) {
    const former = places.get(name)?.[0]?.former, other = first.get(former);
    if (other !== undefined && named[other] !== tensor) {
      throw new DynError(
        `Expected one tensor for ${other} and ${name}, which are tied, but found two`,
      );
    }
    first.set(former, name);
  }
}
