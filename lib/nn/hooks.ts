/**
 * Hooks of modules: before and after `forward`, on gradients of inputs and outputs, and on saving and loading states.
 * Invariants: hooks run in PyTorch's order; a module without hooks has no extra cost.
 */
import { checkFunction, checkKind, optionsOf } from "../base/checked_input.ts";
import { DynError, messageOf } from "../base/errors.ts";
import { isPlainObject } from "../base/tree.ts";
import { addHook, type HookHandle, type HookList, type HookOptions, noHooks } from "../base/hook_list.ts";
import { warnOfUse } from "../base/usage.ts";
import { passedThrough } from "../autograd/passing.ts";
import { isGradEnabled } from "../tensor/modes.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";

/** Arguments by name: the last argument of a call if it is a plain object. */
export type NamedArguments = Readonly<Record<string, unknown>>;

/**
 * Called after `forward`; a result other than undefined replaces the output. A hook may say of which types what it
 * takes is.
 */
export type ForwardHook<M> = {
  hook(module: M, args: readonly unknown[], output: unknown): unknown;
}["hook"];
/** Like ForwardHook, with named arguments passed separately. */
export type NamedForwardHook<M> = {
  hook(module: M, args: readonly unknown[], kwargs: NamedArguments, output: unknown): unknown;
}["hook"];
/**
 * Called before `forward`; an array replaces the arguments, and a tensor stands for an array of itself. A hook may say
 * of which types what it takes is.
 */
export type ForwardPreHook<M> = {
  hook(module: M, args: readonly unknown[]): readonly unknown[] | Tensor | void;
}["hook"];
/** Like ForwardPreHook, with named arguments passed separately; a pair replaces both. */
export type NamedForwardPreHook<M> = {
  hook(
    module: M,
    args: readonly unknown[],
    kwargs: NamedArguments,
  ): readonly [args: readonly unknown[], kwargs: NamedArguments] | void;
}["hook"];

/** Gradients of the arguments or results of a call; null for values without gradient. */
export type CallGradients = readonly (Tensor | null)[];
/** Called with the gradients of the inputs and outputs; its result replaces the former. */
export type BackwardHook<M> = (
  module: M,
  gradInput: CallGradients,
  gradOutput: CallGradients,
) => CallGradients | Tensor | void;
/** Called with the gradients of the outputs; its result replaces them. */
export type BackwardPreHook<M> = (module: M, gradOutput: CallGradients) => CallGradients | Tensor | void;

/** Keys that did not match when a state was loaded; hooks may change the lists. */
export interface UnfitKeys {
  /** Entries of the module that the state dict lacks. */
  readonly missingKeys: string[];
  /** Keys of the state dict that the module has no entry for. */
  readonly unexpectedKeys: string[];
}

/** Called before a module's state is saved. */
export type StateDictPreHook<M> = (module: M, prefix: string) => void;
/** Called with the saved state of a module; a record that it returns replaces it. */
export type StateDictHook<M> = (
  module: M,
  state: Record<string, Tensor>,
  prefix: string,
) => Record<string, Tensor> | void;
/** Called with a state before a module loads it; may change it. */
export type LoadStateDictPreHook<M> = (
  module: M,
  state: Record<string, Tensor>,
  prefix: string,
  strict: boolean,
) => void;
/** Called after a module has loaded its state, with the lists of unmatched keys, which it may change. */
export type LoadStateDictPostHook<M> = (module: M, result: UnfitKeys) => void;

/** Options of forward hooks. */
export interface ForwardHookOptions extends HookOptions {
  /** Whether to pass named arguments separately: the last argument if it is a plain object. */
  readonly withKwargs?: boolean;
  /** Whether to call it even if the call throws; its result is then ignored. */
  readonly alwaysCall?: boolean;
}

/** The hooks of a module by the moment of their calls. */
export interface RegisteredHooks<M> {
  readonly before: HookList<NamedForwardPreHook<M>>;
  readonly after: HookList<NamedForwardHook<M>>;
  readonly gradientsBefore: HookList<BackwardPreHook<M>>;
  readonly gradients: HookList<BackwardHook<M>>;
  readonly writing: HookList<StateDictPreHook<M>>;
  readonly written: HookList<StateDictHook<M>>;
  readonly reading: HookList<LoadStateDictPreHook<M>>;
  readonly read: HookList<LoadStateDictPostHook<M>>;
}

/** An owner of hooks: a module, or all of them. */
export interface Hooked<M> {
  /** Null while there are none, so that calls test, and compiled ones guard, a single value. */
  registeredHooks: RegisteredHooks<M> | null;
}

const emptyLists = <M>(): RegisteredHooks<M> => ({
  before: noHooks(),
  after: noHooks(),
  gradientsBefore: noHooks(),
  gradients: noHooks(),
  writing: noHooks(),
  written: noHooks(),
  reading: noHooks(),
  read: noHooks(),
});

const HOOK_OPTIONS = ["prepend", "alwaysCall", "withKwargs"] as const;

/**
 * Registers a hook in one of the lists of an owner and returns its handle. A refused hook leaves the owner as it was,
 * and so does the removal of its only one.
 */
export function register<M, H>(
  owner: Hooked<M>,
  listOf: (registry: RegisteredHooks<M>) => HookList<H>,
  hook: H,
  options: ForwardHookOptions = {},
): HookHandle {
  checkFunction(hook, "as a hook");
  const { prepend = false, alwaysCall = false } = optionsOf("a hook", options, HOOK_OPTIONS);
  const list = listOf(owner.registeredHooks ??= emptyLists());
  const handle = addHook(list, hook, { purpose: "as a hook", prepend, always: alwaysCall });
  return {
    remove: () => {
      handle.remove();
      dropEmptyLists(owner);
    },
  };
}

/** Frees an owner whose last hook was removed from the cost of having some. */
export function dropEmptyLists<M>(owner: Hooked<M>): void {
  if (Object.values(owner.registeredHooks ?? {}).every(({ entries }) => entries.length === 0)) {
    owner.registeredHooks = null;
  }
}

/** The lists of hooks that owners have now: hooks register and remove others during a call. */
const listsOf = <M>(owners: readonly Hooked<M>[]): readonly RegisteredHooks<M>[] =>
  owners.flatMap(({ registeredHooks }) => registeredHooks ?? []);

/** Adapts a hook of calls to the form with named arguments. */
export function namedHook<M>(
  hook: ForwardHook<M> | NamedForwardHook<M>,
  options: ForwardHookOptions,
): NamedForwardHook<M> {
  checkFunction(hook, "as a hook");
  if (optionsOf("a hook", options, HOOK_OPTIONS).withKwargs) return hook as NamedForwardHook<M>;
  return (module, args, kwargs, output) => (hook as ForwardHook<M>)(module, joined(args, kwargs), output);
}

/** Adapts a hook before calls to the form with named arguments. */
export function namedPreHook<M>(
  hook: ForwardPreHook<M> | NamedForwardPreHook<M>,
  options: ForwardHookOptions,
): NamedForwardPreHook<M> {
  checkFunction(hook, "as a hook");
  if (optionsOf("a hook", options, HOOK_OPTIONS).withKwargs) return hook as NamedForwardPreHook<M>;
  return (module, args, kwargs) => {
    const replaced = (hook as ForwardPreHook<M>)(module, joined(args, kwargs));
    return replaced === undefined || replaced === null ? undefined : apart(replaced);
  };
}

/** Arguments by position and by name. */
type Apart = readonly [args: readonly unknown[], kwargs: NamedArguments];

const NONE: NamedArguments = Object.freeze({});

function apart(args: readonly unknown[] | Tensor): Apart {
  if (isTensor(args)) return [[args], NONE];
  checkKind(args, "a list", "the arguments that a hook returns");
  const last = args.at(-1);
  return isPlainObject(last) && !isTensor(last) ? [args.slice(0, -1), last] : [args, NONE];
}

const joined = (args: readonly unknown[], kwargs: NamedArguments): readonly unknown[] =>
  kwargs === NONE ? args : [...args, kwargs];

/** A function and its arguments. */
interface Call {
  readonly forward: (...args: never[]) => unknown;
  readonly given: readonly unknown[];
}

/** Calls `forward` with its hooks: owner by owner, each in order. */
export function callHooked<M extends object>(
  module: M,
  owners: readonly Hooked<M>[],
  { forward, given }: Call,
): unknown {
  const done = new Set<unknown>();
  let state: Apart = apart(given);
  if (!listsOf(owners).some(({ after }) => hasAlways(after))) {
    return behind(module, owners, { state: before(module, owners, state), forward, done });
  }
  try {
    state = before(module, owners, state);
    return behind(module, owners, { state, forward, done });
  } catch (error) {
    for (const { after } of listsOf(owners)) {
      for (const entry of after.entries) {
        if (entry.always && !done.has(entry)) callAlways(module, entry.hook, state);
      }
    }
    throw error;
  }
}

/** Calls a hook after a call that threw, whose error stays the one that the program sees. */
function callAlways<M extends object>(module: M, hook: NamedForwardHook<M>, state: Apart): void {
  try {
    hook(module, ...state, undefined);
  } catch (error) {
    const { name } = module.constructor, message = messageOf(error);
    warnOfUse(
      `hook of ${name}: ${message}`,
      () =>
        `A hook with alwaysCall threw after ${name} had thrown, whose error is the one that is seen: ${message}`,
    );
  }
}

const hasAlways = ({ entries }: HookList<unknown>): boolean => entries.some(({ always }) => always);

function before<M>(module: M, owners: readonly Hooked<M>[], given: Apart): Apart {
  let state = given;
  for (const { before } of listsOf(owners)) {
    for (const { hook } of before.entries) state = hook(module, ...state) ?? state;
  }
  return state;
}

interface HookedCall {
  readonly state: Apart;
  readonly forward: (...args: never[]) => unknown;
  /** The hooks called so far. */
  readonly done: Set<unknown>;
}

function behind<M extends object>(
  module: M,
  owners: readonly Hooked<M>[],
  { state, forward, done }: HookedCall,
): unknown {
  const [args, kwargs] = state, sets = listsOf(owners);
  const watched = sets.some(({ gradients, gradientsBefore }) =>
    gradients.entries.length + gradientsBefore.entries.length > 0
  );
  const watch = watched ? new Gradients(module, sets) : null;
  const own = joined(watch === null ? args : watch.into(args), kwargs);
  let output: unknown = Reflect.apply(forward, module, own);
  for (const { after } of listsOf(owners)) {
    for (const entry of after.entries) {
      done.add(entry);
      const replaced = entry.hook(module, args, kwargs, output);
      if (replaced !== undefined) output = replaced;
    }
  }
  return watch === null ? output : watch.outOf(output);
}

/** The gradients of one call. */
class Gradients<M extends object> {
  readonly #before: readonly BackwardPreHook<M>[];
  readonly #hooks: readonly BackwardHook<M>[];
  #inputs: readonly unknown[] = [];
  /** Null while the module's results have got none that its inputs are to answer. */
  #outputs: CallGradients | null = null;
  #hasInputs = false;

  constructor(readonly module: M, sets: readonly RegisteredHooks<M>[]) {
    this.#before = sets.flatMap((each) => each.gradientsBefore.entries.map(({ hook }) => hook));
    this.#hooks = sets.flatMap((each) => each.gradients.entries.map(({ hook }) => hook));
  }

  /** Wraps arguments, so that hooks see their gradients. */
  into(args: readonly unknown[]): readonly unknown[] {
    this.#inputs = args;
    if (this.#hooks.length === 0) return args;
    const passed = passing(args, "ModuleInputs", (gradInput) => this.#shown(gradInput));
    this.#hasInputs = passed !== args;
    return passed;
  }

  /**
   * Wraps results, so that hooks see their gradients. Throws DynError for values other than tensors and arrays of
   * tensors.
   */
  outOf(output: unknown): unknown {
    if (isTensor(output)) return this.#outOf([output])[0];
    if (Array.isArray(output)) {
      const passed = this.#outOf(output);
      return passed === output ? output : renewed(output, passed);
    }
    throw new DynError(
      `Expected a tensor or an array of them from ${this.module.constructor.name}, whose gradients hooks are to see, ` +
        `but found ${output === null ? "null" : typeof output}`,
    );
  }

  #outOf(outputs: readonly unknown[]): readonly unknown[] {
    return passing(outputs, "ModuleResults", (gradOutput) => {
      let grads = gradOutput;
      for (const hook of this.#before) grads = replacing(grads, hook(this.module, grads));
      this.#outputs = grads;
      // Without gradients of inputs the hooks would never be called later
      if (!this.#hasInputs) this.#shown(this.#inputs.map(() => null));
      return grads;
    });
  }

  #shown(gradInput: CallGradients): CallGradients {
    const outputs = this.#outputs;
    // Gradients of gradients reach inputs through what the module saved, past its results
    if (outputs === null) return gradInput;
    let grads = gradInput;
    for (const hook of this.#hooks) grads = replacing(grads, hook(this.module, grads, outputs));
    this.#outputs = null;
    return grads;
  }
}

/** Copies results to an array that keeps the names of the original. */
function renewed(output: readonly unknown[], passed: readonly unknown[]): readonly unknown[] {
  const results = [...passed];
  // Positions and `length` come first; consoles do not show the names
  for (const name of Object.getOwnPropertyNames(output).slice(output.length + 1)) {
    const each: unknown = Reflect.get(output, name), value = passed[output.indexOf(each)] ?? each;
    Object.defineProperty(results, name, { value, writable: true, enumerable: false, configurable: true });
  }
  return results;
}

/** Makes the tensors that require grad pass a watch of all their gradients; other values are unchanged. */
function passing(
  values: readonly unknown[],
  name: string,
  watch: (grads: CallGradients) => CallGradients,
): readonly unknown[] {
  const own = values.filter((each): each is Tensor => isTensor(each) && each.requiresGrad);
  if (own.length === 0 || !isGradEnabled()) return values;
  const at = values.map((each) => isTensor(each) && each.requiresGrad);
  const passed = passedThrough(own, name, (grads) => {
    let next = 0;
    const found = watch(at.map((is) => is ? grads[next++] ?? null : null));
    return found.filter((_, k) => at[k]);
  });
  let next = 0;
  return values.map((each, k) => at[k] ? passed[next++] : each);
}

/** Returns the gradients, or those that a hook has returned instead. Throws DynError if their number differs. */
function replacing(grads: CallGradients, given: CallGradients | Tensor | void): CallGradients {
  if (given === undefined || given === null) return grads;
  const list = isTensor(given) ? [given] : given;
  if (list.length === grads.length) return list;
  throw new DynError(`Expected ${grads.length} gradients from a hook but found ${list.length}`);
}
