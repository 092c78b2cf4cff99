/**
 * The base of all layers and models. Fields that hold a Parameter or a Module belong to the model; buffers are
 * registered by name. Nothing else is bookkept: the tree is read from the object's own fields, in the order in
 * which they were assigned, so a Module is an ordinary object for users and tracers alike.
 */
import { DynError } from "../base/errors.ts";
import { type DType, isDType, isFloat } from "../base/dtype.ts";
import { noGrad } from "../tensor/modes.ts";
import type { HookHandle } from "../tensor/autograd_state.ts";
import { Tensor } from "../tensor/tensor.ts";
import { deepCopy } from "./deep_copy.ts";
import { atModule } from "./error_places.ts";
import { Parameter } from "./parameter.ts";

const UNCLONABLE: symbol = Symbol.for("A module, which module.clone() copies,");

/** Called after `forward`; a result other than undefined replaces the output. */
export type ForwardHook = (module: Module, args: readonly unknown[], output: unknown) => unknown;
/** Called before `forward`; an array replaces the arguments. */
export type ForwardPreHook = (module: Module, args: readonly unknown[]) => readonly unknown[] | void;

/** A state dict: PyTorch's key names, tensors that share storage with the module's. */
export type StateDict = Record<string, Tensor>;

/** What `loadStateDict` could not match when it is not strict. */
export interface LoadResult {
  /** Entries of the module that the state dict lacks. */
  readonly missingKeys: readonly string[];
  /** Keys of the state dict that the module has no entry for. */
  readonly unexpectedKeys: readonly string[];
}

interface BufferEntry {
  /** Field that holds the tensor. */
  readonly field: string;
  /** Name in state dicts. */
  readonly key: string;
  readonly persistent: boolean;
}

/** Compiles a forward function; set once by the compiler layer, so that `module.compile()` works. */
export type ForwardCompiler = (module: Module, options: object) => (...args: unknown[]) => unknown;
let forwardCompiler: ForwardCompiler | undefined;

/** Tells modules how `module.compile(options)` compiles. */
export function setForwardCompiler(compiler: ForwardCompiler): void {
  forwardCompiler = compiler;
}

/** Hooks by their number, in the order in which they are called. */
interface RegisteredHooks {
  readonly before: Map<number, ForwardPreHook>;
  readonly after: Map<number, ForwardHook>;
}

/** Base class of layers and models, as torch.nn.Module. */
export class Module {
  /** Whether dropout and batch statistics are on. */
  training = true;
  /**
   * Registered buffers, in order.
   *
   * @internal
   */
  readonly bufferEntries: BufferEntry[] = [];
  /** Names in state dicts of parameters and submodules whose fields have other names than PyTorch's. */
  readonly stateKeys: Record<string, string> = {};
  /** Makes `structuredClone`, which would lose the class, fail with a word of what to do instead. */
  readonly structuredClone: symbol = UNCLONABLE;
  /**
   * Hooks of calls; null until one is registered, so that a compiled call has one thing to check.
   *
   * @internal
   */
  registeredHooks: RegisteredHooks | null = null;
  /** @internal */
  compiledForward: ((...args: unknown[]) => unknown) | null = null;

  /** Computes the output. Subclasses define it. */
  forward(..._args: never[]): unknown {
    throw new DynError(`Expected ${this.constructor.name} to define forward`);
  }

  /** Runs hooks and `forward`. An error in a module that this one holds names it by its path. */
  call(...args: Parameters<this["forward"]>): ReturnType<this["forward"]> {
    try {
      return this.callTraced(...args);
    } catch (error) {
      throw atModule(error, this);
    }
  }

  /** What is captured of `call`: without the handler, which would stand around every operation of a model. */
  callTraced(...args: Parameters<this["forward"]>): ReturnType<this["forward"]> {
    const forward = this.compiledForward ?? this.forward;
    const { registeredHooks } = this;
    if (registeredHooks === null) return Reflect.apply(forward, this, args);
    let inputs: readonly unknown[] = args;
    for (const hook of registeredHooks.before.values()) inputs = hook(this, inputs) ?? inputs;
    let output: unknown = Reflect.apply(forward, this, inputs);
    for (const hook of registeredHooks.after.values()) {
      const replaced = hook(this, inputs, output);
      if (replaced !== undefined) output = replaced;
    }
    return output as ReturnType<this["forward"]>;
  }

  /** Own Modules by name, in order. */
  namedChildren(): [string, Module][] {
    const found: [string, Module][] = [];
    for (const [field, value] of Object.entries(this)) {
      if (value instanceof Module) found.push([keyOf(this, field), value]);
    }
    return found;
  }

  /** Own Modules, in order, each once. */
  children(): Module[] {
    const found: Module[] = [];
    for (const [, child] of this.namedChildren()) if (!found.includes(child)) found.push(child);
    return found;
  }

  /** This module and all below, each once, with dotted names ("" for this one). */
  namedModules(prefix = "", seen: Set<Module> = new Set()): [string, Module][] {
    if (seen.has(this)) return [];
    seen.add(this);
    const found: [string, Module][] = [[prefix, this]];
    for (const [name, child] of this.namedChildren()) {
      for (const entry of child.namedModules(prefix ? `${prefix}.${name}` : name, seen)) found.push(entry);
    }
    return found;
  }

  /** This module and all below, each once. */
  modules(): Module[] {
    return this.namedModules().map(([, module]) => module);
  }

  /** Parameters with dotted names, each once. */
  namedParameters(prefix = "", recurse = true): [string, Parameter][] {
    const found: [string, Parameter][] = [];
    const seen = new Set<Parameter>();
    for (const [path, module] of recurse ? this.namedModules(prefix) : [[prefix, this] as [string, Module]]) {
      for (const [field, value] of Object.entries(module)) {
        if (!(value instanceof Parameter) || seen.has(value)) continue;
        seen.add(value);
        const key = keyOf(module, field);
        found.push([path ? `${path}.${key}` : key, value]);
      }
    }
    return found;
  }

  /** Parameters, each once. */
  parameters(recurse = true): Parameter[] {
    return this.namedParameters("", recurse).map(([, parameter]) => parameter);
  }

  /** Buffers with dotted names. */
  namedBuffers(prefix = "", recurse = true): [string, Tensor][] {
    const found: [string, Tensor][] = [];
    for (const [path, module] of recurse ? this.namedModules(prefix) : [[prefix, this] as [string, Module]]) {
      for (const { field, key } of module.bufferEntries) {
        const value: unknown = Reflect.get(module, field);
        if (value instanceof Tensor) found.push([path ? `${path}.${key}` : key, value]);
      }
    }
    return found;
  }

  /** The buffers, by default those of submodules too. */
  buffers(recurse = true): Tensor[] {
    return this.namedBuffers("", recurse).map(([, buffer]) => buffer);
  }

  /** Makes the field `name` a buffer: part of the state, not trained. `key` is its name in state dicts. */
  registerBuffer(
    name: string,
    value: Tensor | null,
    options: { persistent?: boolean; key?: string } = {},
  ): void {
    const held: unknown = Reflect.get(this, name);
    if (held instanceof Module || held instanceof Parameter) {
      throw new DynError(
        `Expected a free name for a buffer but found ${name}, a ${held.constructor.name} of the module`,
      );
    }
    Reflect.set(this, name, value);
    const at = this.bufferEntries.findIndex((entry) => entry.field === name);
    if (at >= 0) this.bufferEntries.splice(at, 1);
    this.bufferEntries.push({
      field: name,
      key: options.key ?? name,
      persistent: options.persistent ?? true,
    });
  }

  /** Assigns a parameter to the field `name`. */
  registerParameter(name: string, value: Parameter | null): void {
    Reflect.set(this, name, value);
  }

  /** Assigns a submodule to the field `name`. */
  addModule(name: string, module: Module): void {
    Reflect.set(this, name, module);
  }

  /** Parameters and persistent buffers by PyTorch's key, detached, sharing storage. */
  stateDict(prefix = ""): StateDict {
    const state: StateDict = {};
    for (const { key, tensor } of stateEntriesOf(this)) state[prefix + key] = tensor.detach();
    return state;
  }

  /** Copies values into parameters and buffers. Strict: throws unless the keys match exactly. */
  loadStateDict(state: Readonly<Record<string, Tensor>>, options: { strict?: boolean } = {}): LoadResult {
    const entries = stateEntriesOf(this);
    const known = new Set(entries.map(({ key }) => key));
    const missingKeys = entries.filter(({ key }) => !Object.hasOwn(state, key)).map(({ key }) => key);
    const unexpectedKeys = Object.keys(state).filter((key) => !known.has(key));
    const problems: string[] = [];
    if (options.strict ?? true) {
      if (missingKeys.length > 0) problems.push(`missing keys ${missingKeys.join(", ")}`);
      if (unexpectedKeys.length > 0) problems.push(`unexpected keys ${unexpectedKeys.join(", ")}`);
    }
    for (const { key, tensor } of entries) {
      const value = state[key];
      if (value && `${value.shape}` !== `${tensor.shape}`) {
        problems.push(`shape [${value.shape}] for ${key} of shape [${tensor.shape}]`);
      }
    }
    if (problems.length > 0) {
      throw new DynError(`Expected the state of ${this.constructor.name} but found ${problems.join("; ")}`);
    }
    noGrad(() => {
      for (const { key, tensor } of entries) {
        const value = state[key];
        if (value) tensor.copy_(value);
      }
    });
    return { missingKeys, unexpectedKeys };
  }

  /** Training mode for this module and all below. */
  train(mode = true): this {
    for (const module of this.modules()) module.training = mode;
    return this;
  }

  /** Evaluation mode: no dropout, running statistics. */
  eval(): this {
    return this.train(false);
  }

  /** Whether gradients flow into the parameters. */
  requiresGrad_(requiresGrad = true): this {
    for (const parameter of this.parameters()) parameter.requiresGrad_(requiresGrad);
    return this;
  }

  /** Drops all gradients. */
  zeroGrad(): void {
    for (const parameter of this.parameters()) parameter.grad = null;
  }

  /** Moves parameters and buffers to a device or to an element type (floats only), in place. */
  to(target: string): this {
    const wantsDType = isDType(target);
    noGrad(() => {
      for (const tensor of [...this.parameters(), ...this.buffers()]) {
        if (wantsDType && !isFloat(tensor.dtype)) continue;
        tensor.replaceData(tensor.detach().to(target));
        if (tensor.grad) tensor.grad = tensor.grad.to(target);
      }
    });
    return this;
  }

  /** Moves parameters and buffers to the CPU. */
  cpu(): this {
    return this.to("cpu");
  }

  /** Makes floating parameters and buffers float32. */
  float(): this {
    return this.to("float32" satisfies DType);
  }

  /** Makes floating parameters and buffers float64. */
  double(): this {
    return this.to("float64" satisfies DType);
  }

  /** Makes floating parameters and buffers float16. */
  half(): this {
    return this.to("float16" satisfies DType);
  }

  /** Makes floating parameters and buffers bfloat16. */
  bfloat16(): this {
    return this.to("bfloat16" satisfies DType);
  }

  /**
   * A copy of the model with parameters, buffers, gradients and hooks of its own, as Python's `copy.deepcopy`: what
   * is shared inside of it (tied weights) is shared inside of the copy. The copy is not compiled. Throws DynError
   * for results of recorded operations and for objects with private members, which only their class can copy.
   */
  clone(): this {
    const made = deepCopy(this);
    for (const module of made.modules()) module.compiledForward = null;
    return made;
  }

  /** Calls `visit` on all modules below, then on this one. */
  apply(visit: (module: Module) => void): this {
    for (const child of this.children()) child.apply(visit);
    visit(this);
    return this;
  }

  /** Calls a function after each `forward`; what it gives replaces the output. */
  registerForwardHook(hook: ForwardHook): HookHandle {
    return register(hooksOf(this).after, hook);
  }

  /** Calls a function before each `forward`; an array that it gives replaces the arguments. */
  registerForwardPreHook(hook: ForwardPreHook): HookHandle {
    return register(hooksOf(this).before, hook);
  }

  /** Compiles `forward` in place. Parameters, buffers and state-dict keys stay as they are. */
  compile(options: object = {}): this {
    if (!forwardCompiler) {
      throw new DynError("Expected the compiler to be loaded: import it from the package's mod.ts");
    }
    this.compiledForward = forwardCompiler(this, options);
    return this;
  }

  /** Further text in the printed form: "inFeatures=3, outFeatures=4". */
  extraRepr(): string {
    return "";
  }

  /** PyTorch's tree form. */
  toString(): string {
    const lines = this.namedChildren().map(([name, child]) =>
      `  (${name}): ${child.toString().replaceAll("\n", "\n  ")}`
    );
    const head = `${this.constructor.name}(${this.extraRepr()}`;
    return lines.length === 0 ? `${head})` : `${head}\n${lines.join("\n")}\n)`;
  }

  /** What the console shows: the same as `toString()`. */
  [Symbol.for("Deno.customInspect")](): string {
    return this.toString();
  }
}

/** The name in state dicts of what a field holds. */
function keyOf({ stateKeys }: Module, field: string): string {
  return (Object.hasOwn(stateKeys, field) ? stateKeys[field] : undefined) ?? field;
}

/** Every path to a parameter or persistent buffer, shared ones once per path as PyTorch writes them. */
function stateEntriesOf(root: Module): { key: string; tensor: Tensor }[] {
  const entries: { key: string; tensor: Tensor }[] = [];
  const visit = (module: Module, prefix: string) => {
    for (const [field, value] of Object.entries(module)) {
      if (value instanceof Parameter) {
        entries.push({ key: prefix + keyOf(module, field), tensor: value });
      }
    }
    for (const { field, key, persistent } of module.bufferEntries) {
      const value: unknown = Reflect.get(module, field);
      if (persistent && value instanceof Tensor) entries.push({ key: prefix + key, tensor: value });
    }
    for (const [name, child] of module.namedChildren()) visit(child, `${prefix}${name}.`);
  };
  visit(root, "");
  return entries;
}

let nextHook = 0;

function hooksOf(module: Module): RegisteredHooks {
  return module.registeredHooks ??= { before: new Map(), after: new Map() };
}

function register<H>(hooks: Map<number, H>, hook: H): HookHandle {
  const id = nextHook++;
  hooks.set(id, hook);
  return { remove: () => void hooks.delete(id) };
}
