/**
 * Modules that contain modules: in sequence, in a list, by name. Members are fields, so their state keys are PyTorch's.
 * Invariant: what is trained and stored is what runs: a member that was added past the end, where it would only be
 * listed, is an error.
 */
import { checkKind, refuseSurplus, refuseValue } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { oneLine } from "../base/console_text.ts";
import { isPlainObject } from "../base/tree.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";
import { checkEnd, checkNext, isIndex, Listed, ListedAsArray, membersOf, strayed } from "./listed.ts";
import { checkModule, Module } from "./module.ts";
import { keyOf } from "./module_state.ts";
import { aliasOf, checkMemberName, treeText } from "./module_tree.ts";
import { Named, setAll } from "./named.ts";
import { Parameter } from "./parameter.ts";

/** A module from tensor to tensor. */
export interface Layer extends Module {
  forward(x: Tensor): Tensor;
}

/** Runs layers one after another, as torch.nn.Sequential; `L` holds the types of the layers. */
export class Sequential<const L extends readonly Layer[] = readonly Layer[]> extends Listed<Layer> {
  constructor();
  /** Takes layers. */
  constructor(...layers: L);
  /** Takes layers by name, in order. */
  constructor(layers: Readonly<Record<string, Layer>>);
  constructor(...given: readonly (Layer | Readonly<Record<string, Layer>>)[]) {
    super();
    for (const each of given) {
      if (isLayer(each)) this.append(each);
      else for (const [name, layer] of Object.entries(checkedNames(each))) this.addModule(name, layer);
    }
  }

  /** Adds a layer at the end under a name, which is also its state key, or replaces the layer of that name. */
  override addModule(name: string, layer: Layer): void {
    if (arguments.length > 2) refuseSurplus("addModule", 2, arguments);
    checkedLayer(layer);
    checkMemberName(this, name, { what: "a layer", fits: (held) => held instanceof Module });
    const index = namesOf(this).indexOf(name);
    if (index >= 0) {
      this[index] = layer;
      return;
    }
    const { length } = this;
    if (isIndex(name)) checkNext(length, name);
    else {
      if (Object.hasOwn(this, name)) throw strayed(this, name);
      this.stateKeys[length] = name;
      Object.defineProperty(this, name, aliasOf(length));
    }
    this.append(layer);
  }

  override append(layer: Layer): this {
    if (arguments.length > 1) refuseSurplus("append", 1, arguments);
    this[this.length] = checkedLayer(layer);
    this.length++;
    return this;
  }

  /** Inserts a layer before the one at an index. Throws DynError before the end of layers with names. */
  insert(index: number, layer: Layer): this {
    if (arguments.length > 2) refuseSurplus("insert", 2, arguments);
    const named = Object.values(this.stateKeys);
    if (index !== this.length && named.length > 0) {
      throw new DynError(`Expected layers without names for insert but found ${named.join(", ")}`);
    }
    return this.insertAt(index, checkedLayer(layer));
  }

  /** Removes the layer at an index, by default the last, and returns it; names of others become their indices. */
  override pop(...given: Parameters<Listed<Layer>["pop"]>): Layer {
    const layer = super.pop(...given);
    for (const [index, name] of Object.entries(this.stateKeys)) {
      Reflect.deleteProperty(this, name);
      Reflect.deleteProperty(this.stateKeys, index);
    }
    return layer;
  }

  /**
   * The layers by name, in order. Throws DynError for modules in fields of their own, which would not run, unless a
   * subclass has a `forward` that may call them, and for layers that run though their names were deleted.
   */
  override memberModules(): [string, Module][] {
    const found = super.memberModules(), names = namesOf(this);
    if (this.forward === Sequential.prototype.forward) {
      for (const [name] of found) if (!names.includes(name)) throw strayed(this, name);
    }
    const deleted = names.find((name) => !Object.hasOwn(this, name));
    if (deleted === undefined) return found;
    throw new DynError(
      `Expected the layer ${deleted} in ${this.constructor.name} but it was deleted; use pop`,
    );
  }

  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    for (const layer of this) x = layer.call(x);
    return x;
  }

  /** A Sequential of the layers from `start` to before `end`, as `model[:3]`. */
  slice(start?: number, end?: number): Sequential {
    if (arguments.length > 2) refuseSurplus("slice", 2, arguments);
    const made = new Sequential(), names = namesOf(this).slice(start, end);
    for (const [k, layer] of membersOf<Layer>(this).slice(start, end).entries()) {
      const { [k]: name = "" } = names;
      made.addModule(isIndex(name) ? `${k}` : name, layer);
    }
    return made;
  }

  /** The layer at an index; negative counts from the end. */
  override at(index: -1 | -2 | -3 | -4): Layer;
  override at<const I extends number>(index: I): (readonly [...L, ...Layer[]])[I];
  override at(index: number): Layer {
    if (arguments.length > 1) refuseSurplus("at", 1, arguments);
    return super.at(index);
  }
}

/** A list of modules, without a `forward` of its own; `M` is their type. */
export class ModuleList<M extends Module = Layer> extends ListedAsArray<M> {
  constructor(modules: Iterable<M> = []) {
    super();
    checkKind(modules, "a list or other iterable", "ModuleList");
    if (arguments.length > 1) refuseSurplus("ModuleList", 1, arguments);
    for (const module of modules) this.append(module);
  }

  override append(module: M): this {
    if (arguments.length > 1) refuseSurplus("append", 1, arguments);
    checkModule(module, `ModuleList.${this.length}`);
    this[this.length] = module;
    this.length++;
    return this;
  }

  /** Adds a module at the end, if `name` is the next index, or replaces the one at that index. */
  override addModule(name: string, module: M): void {
    if (arguments.length > 2) refuseSurplus("addModule", 2, arguments);
    checkModule(module, `ModuleList.${name}`);
    if (isIndex(name) && Number(name) < this.length) this[Number(name)] = module;
    else {
      checkNext(this.length, name);
      this.append(module);
    }
  }

  /** The modules by index. Throws DynError for those beyond the end. */
  override memberModules(): [string, Module][] {
    checkEnd(this);
    return super.memberModules();
  }

  /** Inserts a module before the one at an index. */
  insert(index: number, module: M): this {
    if (arguments.length > 2) refuseSurplus("insert", 2, arguments);
    checkModule(module, "insert of ModuleList");
    return this.insertAt(index, module);
  }

  /** The modules from one index to before another, as `layers[:3]`. */
  slice(start?: number, end?: number): ModuleList<M> {
    if (arguments.length > 2) refuseSurplus("slice", 2, arguments);
    return new ModuleList(membersOf<M>(this).slice(start, end));
  }

  /** PyTorch's tree form: consecutive entries that print alike are merged, "(0-11): 12 x Block(…)". */
  override toString(): string {
    const runs: { readonly start: number; readonly text: string; count: number }[] = [];
    for (const [start, module] of membersOf<M>(this).entries()) {
      const text = String(module), last = runs.at(-1);
      if (last?.text === text) last.count++;
      else runs.push({ start, text, count: 1 });
    }
    return treeText(
      this,
      runs.map(({ start, text, count }) =>
        count === 1 ? `(${start}): ${text}` : `(${start}-${start + count - 1}): ${count} x ${text}`
      ),
    );
  }
}

/** Modules by name; `M` holds their types. */
export class ModuleDict<M extends Readonly<Record<string, Module>> = Readonly<Record<string, Module>>>
  extends Named<Module, Module, M> {
  /** Takes modules by name, as an object, a Map or a list of pairs. */
  constructor(modules?: M | Iterable<readonly [string, Module]>);
  constructor(modules: Readonly<Record<string, Module>> | Iterable<readonly [string, Module]> = {}) {
    super();
    if (arguments.length > 1) refuseSurplus("ModuleDict", 1, arguments);
    setAll(this, modules, "ModuleDict");
  }

  override set(name: string, module: Module): this {
    if (arguments.length > 2) refuseSurplus("set", 2, arguments);
    this.addModule(name, module);
    return this;
  }

  override entries(): [string, Module][] {
    if (arguments.length > 0) refuseSurplus("entries", 0, arguments);
    return this.memberModules();
  }
}

/** A list of parameters; other tensors are converted to parameters. */
export class ParameterList extends ListedAsArray<Parameter, Tensor> {
  constructor(parameters: Iterable<Tensor> = []) {
    super();
    checkKind(parameters, "a list or other iterable", "ParameterList");
    if (arguments.length > 1) refuseSurplus("ParameterList", 1, arguments);
    this.extend(parameters);
  }

  override append(parameter: Tensor): this {
    if (arguments.length > 1) refuseSurplus("append", 1, arguments);
    this[this.length] = asParameter(parameter);
    this.length++;
    return this;
  }

  /** No modules. Throws DynError for parameters beyond the end. */
  override memberModules(): [string, Module][] {
    checkEnd(this);
    return super.memberModules();
  }

  override extraRepr(): string {
    return parameterLines([...this].map((each, k) => [`${k}`, each]));
  }
}

/** Parameters by name; other tensors are converted to parameters. */
export class ParameterDict extends Named<Parameter, Tensor> {
  /** Takes tensors by name, as an object, a Map or a list of pairs. */
  constructor(parameters: Readonly<Record<string, Tensor>> | Iterable<readonly [string, Tensor]> = {}) {
    super();
    if (arguments.length > 1) refuseSurplus("ParameterDict", 1, arguments);
    setAll(this, parameters, "ParameterDict");
  }

  override set(name: string, parameter: Tensor): this {
    if (arguments.length > 2) refuseSurplus("set", 2, arguments);
    this.registerParameter(name, asParameter(parameter));
    return this;
  }

  override extraRepr(): string {
    return parameterLines(this.entries());
  }

  override entries(): [string, Parameter][] {
    if (arguments.length > 0) refuseSurplus("entries", 0, arguments);
    return this.namedParameters("", false);
  }
}

/** Returns a tensor as a parameter. Throws DynError for anything else. */
function asParameter(tensor: Tensor): Parameter {
  if (tensor instanceof Parameter) return tensor;
  if (isTensor(tensor)) return new Parameter(tensor);
  refuseValue("a parameter or a tensor", tensor);
}

/** The parameters by name, one per line. */
function parameterLines(entries: readonly (readonly [string, Parameter])[]): string {
  const lines = entries.map(([name, { dtype, shape }]) => `\n  (${name}): Parameter of ${dtype}[${shape}]`);
  return lines.length === 0 ? "" : `${lines.join("")}\n`;
}

const isLayer = (value: Layer | Readonly<Record<string, Layer>>): value is Layer => value instanceof Module;

/**
 * Checks layers by name. Throws DynError for a list, for functions, and for numeric names, which stand for positions.
 */
function checkedNames(given: Readonly<Record<string, Layer>>): Readonly<Record<string, Layer>> {
  const isNamed = isPlainObject(given) && Object.keys(given).every((name) => !/^\d+$/.test(name));
  if (isNamed) return given;
  const hint = Array.isArray(given) ? "; spread the list: new nn.Sequential(...layers)" : "";
  throw new DynError(`Expected layers, or an object of layers by name, but found ${oneLine(given)}${hint}`);
}

function checkedLayer(layer: Layer): Layer {
  if (isLayer(layer)) return layer;
  refuseValue("a module as a layer", layer);
}

/** The names of the layers of a sequence. */
function namesOf(layers: Sequential): string[] {
  return Array.from({ length: layers.length }, (_, k) => keyOf(layers, `${k}`));
}
