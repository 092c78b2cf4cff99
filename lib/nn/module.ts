/**
 * The base of all layers and models. Fields that hold a Parameter or a Module belong to the model; buffers are
 * registered by name. There is no other registry: the tree is read from the object's own fields, in the order in which
 * they were assigned, so a Module is an ordinary object for users and tracers alike.
 */
import {
  checkFunction,
  checkInstance,
  checkKind,
  optionsOf,
  refuseSurplus,
  refuseValue,
} from "../base/checked_input.ts";
import { type AnyFunction, type Flag, flagOf, type Trailing, trailing } from "../base/arguments.ts";
import { DynError } from "../base/errors.ts";
import type { HookHandle, HookOptions } from "../base/hook_list.ts";
import { apply } from "../base/own_builtins.ts";
import type { DType } from "../base/dtype.ts";
import { oneLine, showAsText } from "../base/console_text.ts";
import type { TypeOrDevice } from "../base/type_or_device.ts";
import { dropGradients } from "../tensor/dropped_gradients.ts";
import type { ConversionOptions } from "../tensor/tensor_options.ts";
import { isTensor, Tensor } from "../tensor/tensor.ts";
import { checkTensor } from "../tensor/checked.ts";
import { deepCopy } from "./deep_copy.ts";
import { atModule } from "./error_places.ts";
import {
  type BackwardHook,
  type BackwardPreHook,
  callHooked,
  type ForwardHook,
  type ForwardHookOptions,
  type ForwardPreHook,
  type Hooked,
  type LoadStateDictPostHook,
  type LoadStateDictPreHook,
  type NamedForwardHook,
  type NamedForwardPreHook,
  namedHook,
  namedPreHook,
  register,
  type RegisteredHooks,
  type StateDictHook,
  type StateDictPreHook,
} from "./hooks.ts";
import { Parameter } from "./parameter.ts";
import {
  type BufferEntry,
  buffersOf,
  keyOf,
  type LoadOptions,
  type LoadResult,
  readState,
  type StateDict,
  writeState,
} from "./module_state.ts";
import {
  checkKeys,
  checkMemberName,
  holders,
  memberAt,
  modulesBelow,
  ownerAt,
  treeText,
} from "./module_tree.ts";
import { allocate, convertAll, moveTo } from "./moving.ts";
import { type NameArguments, type NameOptions, nameOptions } from "./name_options.ts";

export type { LoadOptions, LoadResult, StateDict } from "./module_state.ts";

const UNCLONABLE: symbol = Symbol.for("A module, which module.clone() copies,");

/** The owner of the hooks of all modules. */
export const ALL_MODULES: Hooked<Module> = { registeredHooks: null };

/** Compiles a forward function; set once by the compiler layer, so that `module.compile()` works. */
type ForwardCompiler = (module: Module, options: object) => (...args: unknown[]) => unknown;
let forwardCompiler: ForwardCompiler | undefined;

/** Sets how `module.compile(options)` compiles. */
export function setForwardCompiler(compiler: ForwardCompiler): void {
  forwardCompiler = compiler;
}

/**
 * The type of calls of a function, also for type parameters and overloads. A module with overloads of `forward`
 * declares the same for `call`: `declare call: nn.CallOf<this["forward"]>`.
 */
export type CallOf<F extends AnyFunction> =
  & ((...args: Parameters<F>) => ReturnType<F>)
  & F;

/** Throws DynError unless a value is a module; `owner` is what it was passed to. */
export function checkModule(value: unknown, owner: string): asserts value is Module {
  if (!(value instanceof Module)) refuseValue(`an nn.Module for ${owner}`, value);
}

/** Base class of layers and models, as torch.nn.Module. */
export class Module {
  /** Whether the module is in training mode: dropout and batch statistics. */
  training = true;
  /**
   * Registered buffers, in order.
   *
   * @internal
   */
  readonly bufferEntries: BufferEntry[] = [];
  /** State dict names of parameters and submodules whose fields are named differently. */
  readonly stateKeys: Record<string, string> = {};
  /** Makes `structuredClone`, which would lose the class, fail with a hint. */
  readonly structuredClone: symbol = UNCLONABLE;
  /**
   * Its own hooks; null while there are none.
   *
   * @internal
   */
  registeredHooks: RegisteredHooks<Module> | null = null;
  /** @internal */
  compiledForward: ((...args: unknown[]) => unknown) | null = null;

  /** Takes no arguments: those of a layer without settings would be dropped. */
  constructor() {
    if (arguments.length > 0) refuseSurplus(new.target.name, 0, arguments);
  }

  /** Computes the output. Subclasses define it. */
  forward(..._args: never[]): unknown {
    throw new DynError(`Expected ${this.constructor.name} to define forward`);
  }

  /** Runs hooks and `forward`. Errors in nested modules name them by path. */
  call<A extends unknown[], R>(this: { forward(...args: A): R }, ...args: unknown extends R ? [never] : A): R;
  /** For type parameters, of whose `forward` the form above knows no result; that one is for `this` in its class. */
  call(...args: Parameters<this["forward"]>): ReturnType<this["forward"]>;
  call(...args: readonly unknown[]): unknown {
    try {
      return apply(this.callTraced, this, args);
    } catch (error) {
      throw atModule(error, this);
    }
  }

  /** The part of `call` that is captured: without the error handler, which would enclose every operation of a model. */
  callTraced(...args: readonly unknown[]): unknown {
    const forward = this.compiledForward ?? this.forward;
    const isPlain = this.registeredHooks === null && ALL_MODULES.registeredHooks === null;
    if (isPlain) return apply(forward, this, args);
    return callHooked<Module>(this, [ALL_MODULES, this], { forward, given: args });
  }

  /**
   * All child modules by name, in order, shared ones under each of their names.
   *
   * @internal
   */
  memberModules(): [string, Module][] {
    checkKeys(this, Object.entries(this.stateKeys));
    checkKeys(this, this.bufferEntries.map(({ field, key }) => [field, key]));
    const found: [string, Module][] = [];
    for (const [field, value] of Object.entries(this)) {
      if (value instanceof Module) found.push([keyOf(this, field), value]);
    }
    return found;
  }

  /** The module at a dotted path ("" for this one). Throws DynError for an unknown path. */
  getSubmodule(path: string): Module {
    if (arguments.length > 1) refuseSurplus("getSubmodule", 1, arguments);
    checkKind(path, "a string", "the path of a module");
    if (path === "") return this;
    const [name = "", ...rest] = path.split(".");
    const child = this.memberModules().find(([key]) => key === name)?.[1];
    if (!child) {
      throw new DynError(`Expected a module named ${name} in ${this.constructor.name} but found none`);
    }
    return child.getSubmodule(rest.join("."));
  }

  /** Replaces or adds the module at a dotted path. */
  setSubmodule(path: string, module: Module): void {
    if (arguments.length > 2) refuseSurplus("setSubmodule", 2, arguments);
    const { owner, name } = ownerAt(this, path);
    const field = Object.keys(owner).find((each) => keyOf(owner, each) === name);
    if (field === undefined) owner.addModule(name, module);
    else Reflect.set(owner, field, module);
  }

  /** The parameter at a dotted path. Throws DynError for an unknown path. */
  getParameter(path: string): Parameter {
    if (arguments.length > 1) refuseSurplus("getParameter", 1, arguments);
    const named = (owner: Module) => owner.namedParameters("", false);
    return memberAt<Module, Parameter>(this, path, ["a parameter", named]);
  }

  /** The buffer at a dotted path. Throws DynError for an unknown path. */
  getBuffer(path: string): Tensor {
    if (arguments.length > 1) refuseSurplus("getBuffer", 1, arguments);
    return memberAt<Module, Tensor>(this, path, ["a buffer", (owner) => owner.namedBuffers("", false)]);
  }

  /** Child modules, in order, each once. */
  children(): Module[] {
    if (arguments.length > 0) refuseSurplus("children", 0, arguments);
    return this.namedChildren().map(([, child]) => child);
  }

  /** Child modules by name, in order, each once, under the first of its names. */
  namedChildren(): [string, Module][] {
    if (arguments.length > 0) refuseSurplus("namedChildren", 0, arguments);
    const seen = new Set<Module>();
    return this.memberModules().filter(([, child]) => !seen.has(child) && seen.add(child));
  }

  /**
   * This module and all its descendants with dotted names ("" for this one), each once unless `removeDuplicate` is
   * false; without those in `seen`.
   */
  namedModules(
    prefix: string | Pick<NameOptions, "prefix" | "removeDuplicate"> = "",
    seen: Set<Module> = new Set(),
  ): [string, Module][] {
    if (arguments.length > 2) refuseSurplus("namedModules", 2, arguments);
    checkInstance(seen, Set, "the modules that namedModules has seen");
    const options = nameOptions("namedModules", [prefix]);
    return modulesBelow(this, options.prefix, options.removeDuplicate ? seen : null);
  }

  /** This module and all its descendants, each once. */
  modules(): Module[] {
    if (arguments.length > 0) refuseSurplus("modules", 0, arguments);
    return this.namedModules().map(([, module]) => module);
  }

  /** Parameters with dotted names: `namedParameters(prefix, recurse, removeDuplicate)`. */
  namedParameters(...args: NameArguments): [string, Parameter][] {
    const found: [string, Parameter][] = [], seen = new Set<Parameter>();
    const options = nameOptions("namedParameters", args);
    for (const [path, module] of holders<Module>(this, options)) {
      for (const [field, value] of Object.entries(module)) {
        if (!(value instanceof Parameter) || seen.has(value)) continue;
        if (options.removeDuplicate) seen.add(value);
        const key = keyOf(module, field);
        found.push([path ? `${path}.${key}` : key, value]);
      }
    }
    return found;
  }

  /** Parameters, each once. */
  parameters(recurse: Flag<"recurse"> = true): Parameter[] {
    if (arguments.length > 1) refuseSurplus("parameters", 1, arguments);
    return this.namedParameters("", flagOf("parameters", "recurse", recurse)).map(([, parameter]) =>
      parameter
    );
  }

  /** Buffers with dotted names: `namedBuffers(prefix, recurse, removeDuplicate)`. */
  namedBuffers(...args: NameArguments): [string, Tensor][] {
    const found: [string, Tensor][] = [], seen = new Set<Tensor>();
    const options = nameOptions("namedBuffers", args);
    for (const [path, module] of holders<Module>(this, options)) {
      for (const { field, key } of buffersOf(module)) {
        const value: unknown = Reflect.get(module, field);
        if (!(value instanceof Tensor) || seen.has(value)) continue;
        if (options.removeDuplicate) seen.add(value);
        found.push([path ? `${path}.${key}` : key, value]);
      }
    }
    return found;
  }

  /** The buffers, each once; by default including those of submodules. */
  buffers(recurse: Flag<"recurse"> = true): Tensor[] {
    if (arguments.length > 1) refuseSurplus("buffers", 1, arguments);
    return this.namedBuffers("", flagOf("buffers", "recurse", recurse)).map(([, buffer]) => buffer);
  }

  /**
   * Makes the field `name` a buffer: part of the state, not trained. `key` is its name in state dicts. Returns the
   * value, from which the type checker knows the field: `this.mean = this.registerBuffer("mean", zeros(3))`.
   */
  registerBuffer<V extends Tensor | null>(
    name: string,
    value: V,
    options: { persistent?: boolean; key?: string } = {},
  ): V {
    if (arguments.length > 3) refuseSurplus("registerBuffer", 3, arguments);
    optionsOf("registerBuffer", options, ["persistent", "key"]);
    checkMemberName(this, name, {
      what: "a buffer",
      fits: (held) => isTensor(held) && !(held instanceof Parameter),
    });
    if (value !== null) checkTensor(value, `the buffer ${name}`);
    const at = this.bufferEntries.findIndex(({ field, key }) => field === name || key === name);
    const [known] = at < 0 ? [] : this.bufferEntries.splice(at, 1), field = known?.field ?? name;
    Reflect.set(this, field, value);
    this.bufferEntries.push({
      field,
      key: options.key ?? known?.key ?? name,
      persistent: options.persistent ?? true,
    });
    return value;
  }

  /** Assigns a parameter to the field `name`. Throws DynError for a tensor that is not one: it would not be trained. */
  registerParameter(name: string, value: Parameter | null): void {
    if (arguments.length > 2) refuseSurplus("registerParameter", 2, arguments);
    if (value !== null && !(value instanceof Parameter)) {
      const found = isTensor(value) ? "a tensor; wrap it in nn.Parameter" : oneLine(value);
      throw new DynError(`Expected an nn.Parameter or null for the parameter ${name} but found ${found}`);
    }
    checkMemberName(this, name, { what: "a parameter", fits: (held) => held instanceof Parameter });
    Reflect.set(this, name, value);
  }

  /** Assigns a submodule to the field `name`. */
  addModule(name: string, module: Module): void {
    if (arguments.length > 2) refuseSurplus("addModule", 2, arguments);
    checkModule(module, name);
    checkMemberName(this, name, { what: "a module", fits: (held) => held instanceof Module });
    Reflect.set(this, name, module);
  }

  /** Parameters and persistent buffers by PyTorch's key, detached, sharing storage. */
  stateDict(...args: Trailing<{ readonly prefix?: string | undefined }, readonly ["prefix"]>): StateDict {
    const { prefix = "" } = trailing<{ prefix: string }>("stateDict", ["prefix"], args),
      state: StateDict = {};
    return writeState<Module>(this, prefix, state);
  }

  /** State besides tensors, which `stateDict` saves and `setExtraState` of the class restores. */
  getExtraState?(): unknown;
  /** Restores what `getExtraState` returned; `loadStateDict` calls it, and a state without it is an error. */
  setExtraState?(state: unknown): void;

  /**
   * Copies values into parameters and buffers. Throws if `strict` and the keys do not match exactly. With `assign` the
   * state's tensors replace the module's, keeping their type and device, so that a module created on the device "meta"
   * needs no memory before; optimizers must then be given the new parameters.
   */
  loadStateDict(
    given: Readonly<Record<string, Tensor>>,
    ...options: Trailing<LoadOptions, readonly ["strict", "assign"]>
  ): LoadResult {
    return readState<Module>(
      this,
      given,
      trailing<LoadOptions>("loadStateDict", {
        positional: ["strict", "assign"],
        flags: { assign: true, strict: true },
      }, options),
    );
  }

  /** Sets training mode for this module and its descendants. */
  train(mode: Flag<"mode"> = true): this {
    if (arguments.length > 1) refuseSurplus("train", 1, arguments);
    const training = flagOf("train", "mode", mode);
    for (const module of this.modules()) module.training = training;
    return this;
  }

  /** Sets evaluation mode: no dropout, running statistics. */
  eval(): this {
    if (arguments.length > 0) refuseSurplus("eval", 0, arguments);
    return this.train(false);
  }

  /** Sets whether parameters require gradients. */
  requiresGrad_(requiresGrad: Flag<"requiresGrad"> = true): this {
    if (arguments.length > 1) refuseSurplus("requiresGrad_", 1, arguments);
    for (const parameter of this.parameters()) parameter.requiresGrad_(requiresGrad);
    return this;
  }

  /** Drops all gradients, or zeroes them if `setToNone` is false. */
  zeroGrad(setToNone: Flag<"setToNone"> = true): void {
    if (arguments.length > 1) refuseSurplus("zeroGrad", 1, arguments);
    dropGradients(this.parameters(), setToNone);
  }

  /** Moves parameters and buffers to a device, and those of floats to a floating element type, in place. */
  to<T extends string | Tensor | ConversionOptions>(
    target: T extends string ? TypeOrDevice<T> : T,
    ...more: (DType | ConversionOptions | boolean)[]
  ): this {
    return moveTo(this, [target, ...more]);
  }

  /** Converts all parameters and buffers, including integer ones, to an element type, in place. */
  type(dtype: DType): this {
    if (arguments.length > 1) refuseSurplus("type", 1, arguments);
    return convertAll(this, dtype);
  }

  /**
   * Allocates parameters and buffers on a device, with arbitrary elements, in place: for modules created on the device
   * "meta". Initialise them or call `loadStateDict` afterwards.
   */
  toEmpty(options: { readonly device: string; readonly recurse?: boolean }): this {
    if (arguments.length > 1) refuseSurplus("toEmpty", 1, arguments);
    return allocate(this, optionsOf("toEmpty", options, ["device", "recurse"]));
  }

  /** Throws DynError: there are no CUDA devices. */
  cuda(): this {
    return this.to(String("cuda"));
  }

  /** Moves parameters and buffers to the CPU. */
  cpu(): this {
    if (arguments.length > 0) refuseSurplus("cpu", 0, arguments);
    return this.to("cpu");
  }

  /** Converts floating parameters and buffers to float32. */
  float(): this {
    if (arguments.length > 0) refuseSurplus("float", 0, arguments);
    return this.to("float32" satisfies DType);
  }

  /** Converts floating parameters and buffers to float64. */
  double(): this {
    if (arguments.length > 0) refuseSurplus("double", 0, arguments);
    return this.to("float64" satisfies DType);
  }

  /** Converts floating parameters and buffers to float16. */
  half(): this {
    if (arguments.length > 0) refuseSurplus("half", 0, arguments);
    return this.to("float16" satisfies DType);
  }

  /** Converts floating parameters and buffers to bfloat16. */
  bfloat16(): this {
    if (arguments.length > 0) refuseSurplus("bfloat16", 0, arguments);
    return this.to("bfloat16" satisfies DType);
  }

  /**
   * Copies the model with its parameters, buffers, gradients and hooks, as Python's `copy.deepcopy`: sharing within it
   * (tied weights) is preserved. The copy is not compiled. Throws DynError for results of recorded operations, and for
   * objects with private members, which only their class can copy.
   */
  clone(): this {
    if (arguments.length > 0) refuseSurplus("clone", 0, arguments);
    const made = deepCopy(this);
    for (const module of made.modules()) module.compiledForward = null;
    return made;
  }

  /** Calls `visit` on all descendants, then on this module. */
  apply(visit: (module: Module) => void): this {
    if (arguments.length > 1) refuseSurplus("apply", 1, arguments);
    checkFunction(visit, "of modules to apply");
    for (const child of this.children()) child.apply(visit);
    visit(this);
    return this;
  }

  /** Calls a hook after each `forward`; its result replaces the output. */
  registerForwardHook(
    hook: ForwardHook<this>,
    options?: ForwardHookOptions & { withKwargs?: false },
  ): HookHandle;
  /** Like the overload above, with named arguments passed separately. */
  registerForwardHook(
    hook: NamedForwardHook<this>,
    options: ForwardHookOptions & { withKwargs: true },
  ): HookHandle;
  registerForwardHook(
    hook: ForwardHook<this> | NamedForwardHook<this>,
    options: ForwardHookOptions = {},
  ): HookHandle {
    if (arguments.length > 2) refuseSurplus("registerForwardHook", 2, arguments);
    return register(this, ({ after }) => after, namedHook(hook, options), options);
  }

  /** Calls a hook before each `forward`; an array that it returns replaces the arguments. */
  registerForwardPreHook(
    hook: ForwardPreHook<this>,
    options?: HookOptions & { withKwargs?: false },
  ): HookHandle;
  /** Like the overload above, with named arguments passed separately. */
  registerForwardPreHook(
    hook: NamedForwardPreHook<this>,
    options: HookOptions & { withKwargs: true },
  ): HookHandle;
  registerForwardPreHook(
    hook: ForwardPreHook<this> | NamedForwardPreHook<this>,
    options: HookOptions & { withKwargs?: boolean } = {},
  ): HookHandle {
    if (arguments.length > 2) refuseSurplus("registerForwardPreHook", 2, arguments);
    return register(this, ({ before }) => before, namedPreHook(hook, options), options);
  }

  /**
   * Calls a hook with the gradients of a call's arguments and results, once those of the arguments are known; an array
   * that it returns replaces them. Arguments and results must not be modified in place while there are such hooks.
   */
  registerFullBackwardHook(hook: BackwardHook<this>, options: HookOptions = {}): HookHandle {
    if (arguments.length > 2) refuseSurplus("registerFullBackwardHook", 2, arguments);
    return register(this, ({ gradients }) => gradients, hook, options);
  }

  /** Calls a hook with the gradients of a call's results; an array that it returns replaces them. */
  registerFullBackwardPreHook(hook: BackwardPreHook<this>, options: HookOptions = {}): HookHandle {
    if (arguments.length > 2) refuseSurplus("registerFullBackwardPreHook", 2, arguments);
    return register(this, ({ gradientsBefore }) => gradientsBefore, hook, options);
  }

  /** Calls a hook before `stateDict` saves this module. */
  registerStateDictPreHook(hook: StateDictPreHook<this>): HookHandle {
    if (arguments.length > 1) refuseSurplus("registerStateDictPreHook", 1, arguments);
    return register(this, ({ writing }) => writing, hook);
  }

  /** Calls a hook with the state that `stateDict` has saved of this module and its descendants. */
  registerStateDictPostHook(hook: StateDictHook<this>): HookHandle {
    if (arguments.length > 1) refuseSurplus("registerStateDictPostHook", 1, arguments);
    return register(this, ({ written }) => written, hook);
  }

  /** Calls a hook before `loadStateDict` loads this module, with a copy of the state that it may change. */
  registerLoadStateDictPreHook(hook: LoadStateDictPreHook<this>): HookHandle {
    if (arguments.length > 1) refuseSurplus("registerLoadStateDictPreHook", 1, arguments);
    return register(this, ({ reading }) => reading, hook);
  }

  /** Calls a hook with the unmatched keys after loading: it may remove keys before they are reported as errors. */
  registerLoadStateDictPostHook(hook: LoadStateDictPostHook<this>): HookHandle {
    if (arguments.length > 1) refuseSurplus("registerLoadStateDictPostHook", 1, arguments);
    return register(this, ({ read }) => read, hook);
  }

  /** Compiles `forward` in place. Parameters, buffers and state-dict keys stay as they are. */
  compile(options: object = {}): this {
    if (arguments.length > 1) refuseSurplus("compile", 1, arguments);
    if (!forwardCompiler) {
      throw new DynError("Expected the compiler to be loaded: import it from the package's mod.ts");
    }
    this.compiledForward = forwardCompiler(this, options);
    return this;
  }

  /** Additional text of the printed form: "inFeatures=3, outFeatures=4". */
  extraRepr(): string {
    return "";
  }

  /** PyTorch's tree form. */
  toString(): string {
    return treeText(this, this.memberModules().map(([name, child]) => `(${name}): ${child}`));
  }
}

// Messages call what is captured by the name of the method that users call
Object.defineProperty(Module.prototype.callTraced, "name", { value: "call" });

showAsText(Module.prototype);
