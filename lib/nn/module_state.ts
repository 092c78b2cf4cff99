/**
 * State dicts of modules, under PyTorch's names. Invariant: nothing is written before all shapes, and under `strict`
 * all names, are known to fit.
 */
import { optionsOf, refuseValue } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { noGrad } from "../tensor/modes.ts";
import { isShapesOnly } from "../tensor/storage.ts";
import { isTensor, Tensor } from "../tensor/tensor.ts";
import { isUninitialized } from "../tensor/uninitialized.ts";
import { persistenceOf } from "./buffer.ts";
import type { RegisteredHooks, UnfitKeys } from "./hooks.ts";
import { Parameter } from "./parameter.ts";

/**
 * A state dict: PyTorch's key names, tensors that share storage with the module's; under names that end in
 * `_extra_state`, what modules return from `getExtraState`.
 */
export type StateDict = Record<string, Tensor>;

/** The unmatched keys of a `loadStateDict` that is not strict. */
export type LoadResult = UnfitKeys;

/** Options of `loadStateDict`; a boolean instead is `strict`. */
export interface LoadOptions {
  /** Whether missing and unexpected keys are errors; default true. */
  readonly strict?: boolean;
  /** Whether the given tensors replace the module's, instead of being copied into them; default false. */
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

/** A module, or another object with a state and children of its kind. */
interface Stateful<M> {
  readonly stateKeys: Readonly<Record<string, string>>;
  readonly bufferEntries: readonly BufferEntry[];
  readonly registeredHooks: RegisteredHooks<M> | null;
  /** Keys that older states lack, as PyTorch once did; what they name then keeps its value. */
  readonly laterKeys?: readonly string[];
  memberModules(): [string, M][];
  namedModules(): [string, M][];
  getExtraState?(): unknown;
  setExtraState?(state: unknown): void;
}

/** The name in state dicts of what a module saves besides tensors. */
const EXTRA = "_extra_state";

/** A module that restores more than tensors, with the name of its extra state. */
interface ExtraEntry {
  readonly key: string;
  readonly restore: (state: unknown) => void;
}

/** The state dict name of a field's value. */
export function keyOf({ stateKeys }: Pick<Stateful<unknown>, "stateKeys">, field: string): string {
  return (Object.hasOwn(stateKeys, field) ? stateKeys[field] : undefined) ?? field;
}

/** A parameter or persistent buffer, with its state dict name. */
interface StateEntry {
  readonly key: string;
  readonly tensor: Tensor;
  /** The module whose field it is. */
  readonly owner: object;
  readonly field: string;
  /** Whether states may lack it. */
  readonly isLater: boolean;
}

/** The buffers of one module: registered ones, and fields that hold a `Buffer`. */
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
  const add = (key: string, tensor: Tensor, field: string) => {
    const isLater = owner.laterKeys?.includes(key) ?? false;
    entries.push({ key: prefix + key, tensor, owner, field, isLater });
  };
  for (const [field, value] of Object.entries(owner)) {
    if (value instanceof Parameter) add(keyOf(owner, field), value, field);
  }
  for (const { field, key, persistent } of buffersOf(owner)) {
    const value: unknown = Reflect.get(owner, field);
    if (persistent && value instanceof Tensor) add(key, value, field);
  }
  return entries;
}

/** Loads a state as specified by `loadStateDict`. Throws DynError if it does not match. */
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
    for (const { hook } of each.registeredHooks?.reading.entries ?? []) {
      hook(each, state, path ? `${path}.` : "", strict);
    }
  }
  const entries = stateEntriesOf(module), extras = extraEntriesOf(module);
  const known = new Set([...entries, ...extras].map(({ key }) => key));
  const needed = [...entries.filter(({ isLater }) => !isLater), ...extras];
  const missing = needed.filter(({ key }) => !Object.hasOwn(state, key));
  const missingKeys = missing.map(({ key }) => key);
  const unexpectedKeys = Object.keys(state).filter((key) => !known.has(key));
  const result = { missingKeys, unexpectedKeys };
  const shapes = entries.flatMap((entry) => unfitness(entry, state[entry.key], assign));
  const keys = () => [
    ...missingKeys.length > 0 ? [`missing keys ${missingKeys.join(", ")}`] : [],
    ...unexpectedKeys.length > 0 ? [`unexpected keys ${unexpectedKeys.join(", ")}`] : [],
  ];
  const refuse = (problems: readonly string[]) => {
    if (problems.length === 0) return;
    throw new DynError(`Expected the state of ${module.constructor.name} but found ${problems.join("; ")}`);
  };
  // Hooks see the loaded state and may remove keys before these are reported
  const judges = below.flatMap(([, each]) => each.registeredHooks?.read.entries.length ? [each] : [])
    .toReversed();
  refuse(strict && judges.length === 0 ? [...keys(), ...shapes] : shapes);
  if (assign) assignState(entries, state);
  else {
    noGrad(() => {
      for (const { key, tensor } of entries) {
        const value = state[key];
        if (value && !isUninitialized(tensor)) tensor.copy_(value);
      }
    });
  }
  for (const { key, restore } of extras) if (Object.hasOwn(state, key)) restore(state[key]);
  for (const each of judges) {
    for (const { hook } of each.registeredHooks?.read.entries ?? []) hook(each, result);
  }
  if (strict) refuse(keys());
  return result;
}

/** The fault of the value for an entry, as a list of one or none. */
function unfitness({ key, tensor }: StateEntry, value: Tensor | undefined, assign: boolean): string[] {
  if (value === undefined) return [];
  if (!isTensor(value)) return [`${typeof value} for the tensor ${key}`];
  if (isUninitialized(tensor)) {
    // A file holds an empty tensor for one that had no shape
    if (isUninitialized(value) || value.numel() === 0) return [];
    return [`shape [${value.shape}] for ${key}, which has none before the first input`];
  }
  if (isUninitialized(value)) return [`no shape for ${key} of shape [${tensor.shape}]`];
  if (`${value.shape}` !== `${tensor.shape}`) {
    return [`shape [${value.shape}] for ${key} of shape [${tensor.shape}]`];
  }
  if (assign || !isShapesOnly(tensor.device) || isShapesOnly(value.device)) return [];
  const advice = "load with { assign: true }, or allocate it by toEmpty({ device }) before";
  return [`${key} without elements to copy into, on the device "${tensor.device}": ${advice}`];
}

/** Replaces a module's tensors by those of a state. Sharing in the module is preserved. */
function assignState(entries: readonly StateEntry[], state: Readonly<Record<string, Tensor>>): void {
  const assigned = new Map<Tensor, Tensor>();
  for (const { key, tensor } of entries) {
    const value = state[key];
    if (value && !isUninitialized(tensor)) {
      assigned.set(tensor, tensor instanceof Parameter ? asParameter(value, tensor) : value);
    }
  }
  for (const { tensor, owner, field } of entries) {
    const value = assigned.get(tensor);
    if (value) Reflect.set(owner, field, value);
  }
}

/** Returns a value as a parameter that requires grad if the former one does. */
function asParameter(value: Tensor, { requiresGrad }: Parameter): Parameter {
  return value instanceof Parameter
    ? value.requiresGrad_(requiresGrad)
    : new Parameter(value.detach(), requiresGrad);
}

/** Every path to a parameter or persistent buffer; shared ones once per path, as in PyTorch. */
function stateEntriesOf<M extends Stateful<M>>(module: M, prefix = ""): StateEntry[] {
  const below = module.memberModules().flatMap(([name, child]) => stateEntriesOf(child, `${prefix}${name}.`));
  return [...ownEntriesOf(module, prefix), ...below];
}

/** Every path to a module that restores an extra state. */
function extraEntriesOf<M extends Stateful<M>>(module: M, prefix = ""): ExtraEntry[] {
  const below = module.memberModules().flatMap(([name, child]) => extraEntriesOf(child, `${prefix}${name}.`));
  if (typeof module.setExtraState !== "function") return below;
  return [{ key: prefix + EXTRA, restore: (state) => module.setExtraState?.(state) }, ...below];
}

/**
 * Saves the state of a module and its descendants to a record, with their hooks; returns the record, or the hooks'
 * replacement.
 */
export function writeState<M extends Stateful<M>>(module: M, prefix: string, into: StateDict): StateDict {
  const { registeredHooks: hooks } = module;
  for (const { hook } of hooks?.writing.entries ?? []) hook(module, prefix);
  for (const { key, tensor } of ownEntriesOf(module, prefix)) {
    into[key] = isUninitialized(tensor) ? tensor : tensor.detach();
  }
  // Of whatever type: what the module returns is for itself to restore
  if (typeof module.getExtraState === "function") Reflect.set(into, prefix + EXTRA, module.getExtraState());
  let state = into;
  for (const [name, child] of module.memberModules()) state = writeState(child, `${prefix}${name}.`, state);
  for (const { hook } of hooks?.written.entries ?? []) state = hook(module, state, prefix) ?? state;
  return state;
}
