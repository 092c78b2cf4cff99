/**
 * State dicts of modules, under PyTorch's names. Invariant: nothing is written before all shapes, and under `strict`
 * all names, are known to fit.
 */
import { optionsOf, refuseValue } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { noGrad } from "../tensor/modes.ts";
import { Tensor } from "../tensor/tensor.ts";
import { persistenceOf } from "./buffer.ts";
import type { RegisteredHooks, UnfitKeys } from "./hooks.ts";
import { Parameter } from "./parameter.ts";

/** A state dict: PyTorch's key names, tensors that share storage with the module's. */
export type StateDict = Record<string, Tensor>;

/** The keys that `loadStateDict` could not match when it is not strict. */
export type LoadResult = UnfitKeys;

/** Options of `loadStateDict`; a boolean in their place is `strict`. */
export interface LoadOptions {
  /** Whether a key that is missing or too much is an error; default true. */
  readonly strict?: boolean;
  /** Whether the given tensors take the places of the module's, instead of being copied into them; default false. */
  readonly assign?: boolean;
}

/** A buffer of a module. */
export interface BufferEntry {
  /** Field that holds the tensor. */
  readonly field: string;
  /** Name in state dicts. */
  readonly key: string;
  readonly persistent: boolean;
}

/** A module, or another object with a state and more of its kind below. */
interface Stateful<M> {
  readonly stateKeys: Readonly<Record<string, string>>;
  readonly bufferEntries: readonly BufferEntry[];
  readonly registeredHooks: RegisteredHooks<M> | null;
  namedChildren(): [string, M][];
  namedModules(): [string, M][];
}

/** The name in state dicts of what a field holds. */
export function keyOf({ stateKeys }: Pick<Stateful<unknown>, "stateKeys">, field: string): string {
  return (Object.hasOwn(stateKeys, field) ? stateKeys[field] : undefined) ?? field;
}

/** A parameter or persistent buffer, by its name in state dicts. */
interface StateEntry {
  readonly key: string;
  readonly tensor: Tensor;
  /** The module whose field it is. */
  readonly owner: object;
  readonly field: string;
}

/** The buffers of one module: those that were registered, and the fields that hold a `Buffer`. */
export function buffersOf(owner: Pick<Stateful<unknown>, "bufferEntries">): BufferEntry[] {
  const entries = [...owner.bufferEntries];
  for (const [field, value] of Object.entries(owner)) {
    const persistent = persistenceOf(value);
    if (persistent === null || entries.some((entry) => entry.field === field)) continue;
    entries.push({ field, key: field, persistent });
  }
  return entries;
}

/** Returns the entries of one module, without its children. */
function ownEntriesOf<M>(owner: Stateful<M>, prefix: string): StateEntry[] {
  const entries: StateEntry[] = [];
  for (const [field, value] of Object.entries(owner)) {
    if (value instanceof Parameter) {
      entries.push({ key: prefix + keyOf(owner, field), tensor: value, owner, field });
    }
  }
  for (const { field, key, persistent } of buffersOf(owner)) {
    const value: unknown = Reflect.get(owner, field);
    if (persistent && value instanceof Tensor) {
      entries.push({ key: prefix + key, tensor: value, owner, field });
    }
  }
  return entries;
}

/** Takes a state in, as `loadStateDict` says. Throws DynError where it does not fit. */
export function readState<M extends Stateful<M>>(
  module: M,
  given: Readonly<Record<string, Tensor>>,
  options: LoadOptions,
): LoadResult {
  if (typeof given !== "object" || given === null) {
    refuseValue(`the state of ${module.constructor.name}, tensors by name,`, given);
  }
  const { strict = true, assign = false } = optionsOf("loadStateDict", options, ["strict", "assign"]),
    state: StateDict = { ...given },
    below = module.namedModules();
  for (const [path, each] of below) {
    for (const { hook } of each.registeredHooks?.reading.values() ?? []) {
      hook(each, state, path ? `${path}.` : "", strict);
    }
  }
  const entries = stateEntriesOf(module);
  const known = new Set(entries.map(({ key }) => key));
  const missingKeys = entries.filter(({ key }) => !Object.hasOwn(state, key)).map(({ key }) => key);
  const unexpectedKeys = Object.keys(state).filter((key) => !known.has(key));
  const result = { missingKeys, unexpectedKeys };
  const shapes = entries.flatMap(({ key, tensor }) => {
    const value = state[key];
    const fits = !value || `${value.shape}` === `${tensor.shape}`;
    return fits ? [] : [`shape [${value.shape}] for ${key} of shape [${tensor.shape}]`];
  });
  const keys = () => [
    ...missingKeys.length > 0 ? [`missing keys ${missingKeys.join(", ")}`] : [],
    ...unexpectedKeys.length > 0 ? [`unexpected keys ${unexpectedKeys.join(", ")}`] : [],
  ];
  const refuse = (problems: readonly string[]) => {
    if (problems.length === 0) return;
    throw new DynError(`Expected the state of ${module.constructor.name} but found ${problems.join("; ")}`);
  };
  // Hooks see what was read, and judge before keys are
  const judges = below.flatMap(([, each]) => each.registeredHooks?.read.size ? [each] : [])
    .toReversed();
  refuse(strict && judges.length === 0 ? [...keys(), ...shapes] : shapes);
  if (assign) assignState(entries, state);
  else {
    noGrad(() => {
      for (const { key, tensor } of entries) {
        const value = state[key];
        if (value) tensor.copy_(value);
      }
    });
  }
  for (const each of judges) {
    for (const { hook } of each.registeredHooks?.read.values() ?? []) hook(each, result);
  }
  if (strict) refuse(keys());
  return result;
}

/** Puts tensors of a state in the places of a module's. What was shared there is shared afterwards. */
function assignState(entries: readonly StateEntry[], state: Readonly<Record<string, Tensor>>): void {
  const assigned = new Map<Tensor, Tensor>();
  for (const { key, tensor } of entries) {
    const value = state[key];
    if (value) assigned.set(tensor, tensor instanceof Parameter ? asParameter(value, tensor) : value);
  }
  for (const { tensor, owner, field } of entries) {
    const value = assigned.get(tensor);
    if (value) Reflect.set(owner, field, value);
  }
}

/** A value as a parameter that requires grad where the former one does. */
function asParameter(value: Tensor, { requiresGrad }: Parameter): Parameter {
  return value instanceof Parameter
    ? value.requiresGrad_(requiresGrad)
    : new Parameter(value.detach(), requiresGrad);
}

/** Every path to a parameter or persistent buffer, shared ones once per path as PyTorch writes them. */
function stateEntriesOf<M extends Stateful<M>>(module: M, prefix = ""): StateEntry[] {
  const below = module.namedChildren().flatMap(([name, child]) => stateEntriesOf(child, `${prefix}${name}.`));
  return [...ownEntriesOf(module, prefix), ...below];
}

/** Writes the state of a module and all below into a record, with their hooks; gives what these make of it. */
export function writeState<M extends Stateful<M>>(module: M, prefix: string, into: StateDict): StateDict {
  const { registeredHooks: hooks } = module;
  for (const { hook } of hooks?.writing.values() ?? []) hook(module, prefix);
  for (const { key, tensor } of ownEntriesOf(module, prefix)) into[key] = tensor.detach();
  let state = into;
  for (const [name, child] of module.namedChildren()) state = writeState(child, `${prefix}${name}.`, state);
  for (const { hook } of hooks?.written.values() ?? []) state = hook(module, state, prefix) ?? state;
  return state;
}
