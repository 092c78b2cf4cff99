/**
 * Parameters that are functions of others: the namespace `nn.utils.parametrize`, like torch.nn.utils.parametrize. Other
 * modules compute a tensor of a module when it is read. Invariant: the originals are parameters
 * `parametrizations.<name>.original` of the module, so that they are trained and saved instead of the tensor.
 */
import { type Flag, flagOf } from "../../base/arguments.ts";
import { checkFunction, optionsOf, refuseSurplus } from "../../base/checked_input.ts";
import { checkTensor } from "../../tensor/checked.ts";
import { DynError } from "../../base/errors.ts";
import { noGrad } from "../../tensor/modes.ts";
import { isTensor, Tensor } from "../../tensor/tensor.ts";
import { checkModule, Module } from "../module.ts";
import { Parameter } from "../parameter.ts";

/** A module that maps originals to a tensor; `rightInverse` maps a tensor to originals. */
export interface Parametrization extends Module {
  /** Computes the tensor from the result of the previous parametrization, or from the originals. */
  forward(...originals: Tensor[]): Tensor;
  /** Returns originals for which `forward` returns the tensor. */
  rightInverse?(value: Tensor): Tensor | readonly Tensor[];
}

/** Values computed within `cached`; null outside. */
const CACHE: { values: Map<ParametrizationList, Tensor> | null } = { values: null };

/** The computation of a tensor: its originals and a chain of parametrizations. */
export class ParametrizationList extends Module {
  /** A parametrization by index. */
  [index: number]: Parametrization;
  /** Number of parametrizations. */
  length = 0;
  /** Number of originals. */
  readonly originals: number;

  /** Takes the first parametrization and the current tensor. */
  constructor(first: Parametrization, value: Tensor) {
    super();
    checkModule(first, "the parametrization");
    checkTensor(value, "what is parametrized");
    const given = first.rightInverse ? noGrad(() => first.rightInverse?.(value.detach())) : value;
    const originals = isTensor(given) ? [given] : given ?? [value];
    this.originals = originals.length;
    originals.forEach((each, i) => {
      const field = originals.length === 1 ? "original" : `original${i}`;
      if (value instanceof Parameter) {
        this.registerParameter(field, new Parameter(each.detach(), value.requiresGrad));
      } else this.registerBuffer(field, each.detach());
    });
    this.append(first);
  }

  /** Appends a parametrization to the chain. */
  append(next: Parametrization): void {
    if (arguments.length > 1) refuseSurplus("append", 1, arguments);
    this[this.length] = next;
    this.length++;
  }

  /** The originals, in order. */
  tensors(): Tensor[] {
    const found: Tensor[] = [];
    for (let i = 0; i < this.originals; i++) {
      const value: unknown = Reflect.get(this, this.originals === 1 ? "original" : `original${i}`);
      if (value instanceof Tensor) found.push(value);
    }
    return found;
  }

  /** The tensor. */
  override forward(): Tensor {
    const first = this[0];
    if (!first) throw new DynError("Expected a parametrization but found none");
    let value = first.call(...this.tensors());
    for (let i = 1; i < this.length; i++) {
      const next = this[i];
      if (next) value = next.call(value);
    }
    return value;
  }

  /** Sets the originals such that the result is `value`. Throws DynError if a parametrization has no rightInverse. */
  assign(value: Tensor): void {
    if (arguments.length > 1) refuseSurplus("assign", 1, arguments);
    noGrad(() => {
      let wanted: Tensor | readonly Tensor[] = value;
      for (let i = this.length - 1; i >= 0; i--) {
        const each: Parametrization | undefined = this[i];
        if (!each?.rightInverse || !isTensor(wanted)) {
          throw new DynError(
            `Expected ${each?.constructor.name} to define rightInverse, which assignment needs, but found none`,
          );
        }
        wanted = each.rightInverse(wanted);
      }
      const values = isTensor(wanted) ? [wanted] : wanted;
      this.tensors().forEach((original, i) => {
        const next = values[i];
        if (next) original.copy_(next);
      });
    });
  }
}

/** The computed tensors of a module, by name. */
class Parametrizations extends Module {
  [name: string]: unknown;
}

function listOf(module: Module, name: string): ParametrizationList | undefined {
  checkModule(module, "its parametrizations");
  const all: unknown = Reflect.get(module, "parametrizations");
  const found: unknown = all instanceof Parametrizations ? Reflect.get(all, name) : undefined;
  return found instanceof ParametrizationList ? found : undefined;
}

/** Returns whether a tensor of a module, or any of them, is parametrized. */
export function isParametrized(module: Module, tensorName: string | null = null): boolean {
  if (arguments.length > 2) refuseSurplus("isParametrized", 2, arguments);
  checkModule(module, "isParametrized");
  const all: unknown = Reflect.get(module, "parametrizations");
  if (!(all instanceof Parametrizations)) return false;
  return tensorName === null || listOf(module, tensorName) !== undefined;
}

/** The class of a module without parametrizations, as `type_before_parametrizations`. */
export function typeBeforeParametrizations(module: Module): unknown {
  if (arguments.length > 1) refuseSurplus("typeBeforeParametrizations", 1, arguments);
  checkModule(module, "typeBeforeParametrizations");
  return module.constructor;
}

/** Options of registerParametrization. */
export interface ParametrizeOptions {
  /** Whether the shape and type of the tensor may change; default false. */
  readonly unsafe?: boolean;
}

/**
 * Makes a parameter or buffer of a module the result of `parametrization`, applied after existing ones. Throws
 * DynError for an unknown name, and for another shape or type unless `unsafe`.
 */
export function registerParametrization<M extends Module>(
  module: M,
  tensorName: string,
  parametrization: Parametrization,
  options: ParametrizeOptions = {},
): M {
  if (arguments.length > 4) refuseSurplus("registerParametrization", 4, arguments);
  const { unsafe = false } = optionsOf("registerParametrization", options, ["unsafe"]);
  checkModule(module, "registerParametrization");
  checkModule(parametrization, "the parametrization");
  const value: unknown = Reflect.get(module, tensorName);
  if (!isTensor(value)) throw new DynError(`Expected a parameter or buffer ${tensorName} but found none`);
  parametrization.train(module.training);
  const known = listOf(module, tensorName);
  const list = known ?? new ParametrizationList(parametrization, value);
  if (!unsafe) {
    const found = noGrad(() => known ? parametrization.call(value) : list.call());
    if (`${found.shape}` !== `${value.shape}` || found.dtype !== value.dtype) {
      throw new DynError(
        `Expected a parametrization that keeps ${value.dtype} of shape [${value.shape}] but found ${found.dtype} of ` +
          `shape [${found.shape}]`,
      );
    }
  }
  if (known) {
    known.append(parametrization);
    return module;
  }
  const at = module.bufferEntries.findIndex(({ field }) => field === tensorName);
  if (at >= 0) module.bufferEntries.splice(at, 1);
  if (!isParametrized(module)) module.addModule("parametrizations", new Parametrizations());
  const all: unknown = Reflect.get(module, "parametrizations");
  if (all instanceof Parametrizations) all.addModule(tensorName, list);
  Reflect.deleteProperty(module, tensorName);
  // Not enumerable: parameters are found by enumerable fields
  Object.defineProperty(module, tensorName, {
    // The list of the module that is read, which may be a copy
    get(this: Module): Tensor {
      return computed(listOf(this, tensorName) ?? list);
    },
    set(this: Module, next: Tensor) {
      (listOf(this, tensorName) ?? list).assign(next);
    },
    configurable: true,
    enumerable: false,
  });
  return module;
}

function computed(list: ParametrizationList): Tensor {
  const { values } = CACHE;
  if (values === null) return list.call();
  const known = values.get(list);
  if (known) return known;
  const value = list.call();
  values.set(list, value);
  return value;
}

/**
 * Turns a parametrized tensor into a parameter: with its current value, or its original if leaveParametrized is false.
 * Throws DynError if it is not parametrized, or has several originals to restore.
 */
export function removeParametrizations<M extends Module>(
  module: M,
  tensorName: string,
  leaveParametrized: Flag<"leaveParametrized"> = true,
): M {
  if (arguments.length > 3) refuseSurplus("removeParametrizations", 3, arguments);
  const isLeft = flagOf("removeParametrizations", "leaveParametrized", leaveParametrized);
  const list = listOf(module, tensorName), [original, ...others] = list?.tensors() ?? [];
  if (!list || !original) throw new DynError(`Expected a parametrization of ${tensorName} but found none`);
  if (!isLeft && others.length > 0) {
    throw new DynError(`Expected one original of ${tensorName} to leave but found ${others.length + 1}`);
  }
  const value = isLeft ? noGrad(() => list.call()).detach().clone() : original.detach();
  Reflect.deleteProperty(module, tensorName);
  if (original instanceof Parameter) {
    module.registerParameter(tensorName, new Parameter(value, original.requiresGrad));
  } else module.registerBuffer(tensorName, value);
  const all: unknown = Reflect.get(module, "parametrizations");
  if (all instanceof Parametrizations) {
    Reflect.deleteProperty(all, tensorName);
    if (all.children().length === 0) Reflect.deleteProperty(module, "parametrizations");
  }
  return module;
}

/** Calls `run`, computing each parametrized tensor at most once. */
export function cached<T>(run: () => T): T {
  if (arguments.length > 1) refuseSurplus("cached", 1, arguments);
  checkFunction(run, "to run");
  const before = CACHE.values;
  CACHE.values = before ?? new Map();
  try {
    return run();
  } finally {
    CACHE.values = before;
  }
}
