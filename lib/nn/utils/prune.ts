/**
 * Pruning: the namespace `nn.utils.prune`, like torch.nn.utils.prune. Before each call, the tensor of a module
 * becomes `<name>Orig`, a parameter, times `<name>Mask`, a buffer. Invariant: states have PyTorch's keys for both
 * (`weight_orig`, `weight_mask`), and pruned elements stay pruned when more are pruned later.
 */
import { type Arguments, argumentsOf } from "../../base/arguments.ts";
import { checkFunction, checkKind, optionsOf, refuseSurplus } from "../../base/checked_input.ts";
import { checkModule, type Module } from "../module.ts";
import { DynError } from "../../base/errors.ts";
import { removeHooks } from "../../base/hook_list.ts";
import { cat, norm, onesLike, rand, randLike, topk } from "../../tensor/generated_functions.ts";
import { noGrad } from "../../tensor/modes.ts";
import { isTensor, type Tensor } from "../../tensor/tensor.ts";
import { dropEmptyLists, type NamedForwardPreHook } from "../hooks.ts";
import { Parameter } from "../parameter.ts";

/** The kind of selection: single elements, whole slices of a dimension, or elements by a mask. */
export type PruningKind = "unstructured" | "structured" | "global";

/** Options of pruning by importance. */
export interface PruningOptions {
  /** Scores in the shape of the tensor; default: its elements. */
  readonly importanceScores?: Tensor | null | undefined;
}

/** The names of the tensors that hooks prune. */
const PRUNING = new WeakMap<object, string>();

/** A method of selecting the pruned elements. */
export abstract class BasePruningMethod {
  /** The kind of selection. */
  abstract readonly pruningType: PruningKind;
  /** The dimension of the slices that a structured method selects. */
  readonly dim: number = -1;

  /** Returns the mask of a tensor, with ones for kept elements, given the mask so far. */
  abstract computeMask(t: Tensor, defaultMask: Tensor): Tensor;

  /**
   * Prunes a tensor of a module. Throws DynError if the module has no such tensor, or the scores have another shape.
   */
  apply<M extends Module>(module: M, name: string, options: PruningOptions = {}): M {
    if (arguments.length > 3) refuseSurplus("apply", 3, arguments);
    const { importanceScores = null } = optionsOf(this.constructor.name, options, ["importanceScores"]);
    const { original, mask, isNew } = stateOf(module, name);
    const scores = importanceScores ?? original.mul(mask);
    if (`${scores.shape}` !== `${original.shape}`) {
      throw new DynError(
        `Expected importanceScores of shape [${original.shape}] for ${name} but found [${scores.shape}]`,
      );
    }
    const made = noGrad(() => this.combined(scores.detach(), mask)).to(original.dtype);
    if (isNew) begin(module, name, original);
    module.registerBuffer(`${name}Mask`, made, { key: `${name}_mask` });
    Reflect.set(module, name, original.mul(made));
    return module;
  }

  /** The mask so far, extended by this method's selection among the rest. */
  combined(t: Tensor, mask: Tensor): Tensor {
    if (arguments.length > 2) refuseSurplus("combined", 2, arguments);
    switch (this.pruningType) {
      case "global":
        return this.computeMask(t, mask);
      case "unstructured": {
        const kept = mask.reshape(-1).nonzero().reshape(-1);
        const part = this.computeMask(
          t.reshape(-1).indexSelect(0, kept),
          onesLike(kept, { dtype: mask.dtype }),
        );
        return mask.reshape(-1).indexCopy(0, kept, part).reshape(mask.shape);
      }
      case "structured": {
        const dim = dimOf(t, this.dim), kept = sumsBut(mask, dim).nonzero().reshape(-1);
        const part = this.computeMask(t.indexSelect(dim, kept), mask.indexSelect(dim, kept));
        return mask.indexCopy(dim, kept, part);
      }
      default:
        return this.pruningType satisfies never;
    }
  }
}

/** Prunes nothing. */
export class Identity extends BasePruningMethod {
  /** The kind of selection. */
  readonly pruningType = "unstructured";

  /** The mask of a tensor, given the mask so far. */
  override computeMask(_t: Tensor, defaultMask: Tensor): Tensor {
    return defaultMask;
  }
}

/** Prunes single elements. */
abstract class UnstructuredMethod extends BasePruningMethod {
  /** The kind of selection. */
  readonly pruningType = "unstructured";

  /** `amount`: number of elements or, below 1, their share. */
  constructor(readonly amount: number) {
    super();
    checkAmount(amount);
  }
}

/** Prunes elements at random. */
export class RandomUnstructured extends UnstructuredMethod {
  /** The mask of a tensor, given the mask so far. */
  override computeMask(t: Tensor, defaultMask: Tensor): Tensor {
    return without(defaultMask, randLike(t), countOf(this.amount, t.numel()));
  }
}

/** Prunes the elements of least magnitude. */
export class L1Unstructured extends UnstructuredMethod {
  /** The mask of a tensor, given the mask so far. */
  override computeMask(t: Tensor, defaultMask: Tensor): Tensor {
    return without(defaultMask, t.abs().neg(), countOf(this.amount, t.numel()));
  }
}

/** Prunes slices of a dimension at random. */
export class RandomStructured extends BasePruningMethod {
  /** The kind of selection. */
  readonly pruningType = "structured";

  /** `amount`: number of slices or, below 1, their share. */
  constructor(readonly amount: number, override readonly dim: number = -1) {
    super();
    checkAmount(amount);
  }

  /** The mask of a tensor, given the mask so far. */
  override computeMask(t: Tensor, defaultMask: Tensor): Tensor {
    const dim = dimOf(t, this.dim), slices = t.shape[dim] ?? 0;
    return withoutSlices(defaultMask, rand([slices], { device: t.device }), {
      dim,
      count: countOf(this.amount, slices),
    });
  }
}

/** Prunes the slices of a dimension with the least norms of order `n`. */
export class LnStructured extends BasePruningMethod {
  /** The kind of selection. */
  readonly pruningType = "structured";

  /** `amount`: number of slices or, below 1, their share. */
  constructor(readonly amount: number, readonly n: number, override readonly dim: number = -1) {
    super();
    checkAmount(amount);
  }

  /** The mask of a tensor, given the mask so far. */
  override computeMask(t: Tensor, defaultMask: Tensor): Tensor {
    const dim = dimOf(t, this.dim), norms = norm(t, this.n, othersOf(t, dim));
    return withoutSlices(defaultMask, norms.neg(), { dim, count: countOf(this.amount, t.shape[dim] ?? 0) });
  }
}

/** Prunes elements where a mask is zero. */
export class CustomFromMask extends BasePruningMethod {
  /** The kind of selection. */
  readonly pruningType = "global";

  /** `mask`: in the shape of the tensor. */
  constructor(readonly mask: Tensor) {
    super();
  }

  /** The mask of a tensor, given the mask so far. */
  override computeMask(_t: Tensor, defaultMask: Tensor): Tensor {
    if (`${this.mask.shape}` === `${defaultMask.shape}`) {
      return defaultMask.mul(this.mask.to(defaultMask.dtype));
    }
    throw new DynError(`Expected a mask of shape [${defaultMask.shape}] but found [${this.mask.shape}]`);
  }
}

/** Required arguments of functions that prune, in PyTorch's order. */
interface Pruned {
  readonly name: string;
  readonly amount: number;
  readonly dim: number;
  readonly n: number;
  readonly mask: Tensor;
}

/** The arguments after the module, by position or by name: those called `N`, then those called `M`. */
export type PruningArguments<
  N extends readonly (keyof Pruned)[],
  M extends readonly (keyof PruningOptions)[] = [],
> = Arguments<
  Pick<Pruned, N[number]>,
  Pick<PruningOptions, M[number]>,
  { readonly required: N; readonly positional: M }
>;

/** Returns the arguments of a function that prunes. */
function pruned<const N extends readonly (keyof Pruned)[]>(
  owner: string,
  required: N,
  given: readonly unknown[],
): Pick<Pruned, N[number]> {
  return argumentsOf<Pruned, object>(owner, { required, positional: [] }, given);
}

/** Like `pruned`, for functions that take scores. */
function scored<const N extends readonly (keyof Pruned)[]>(
  owner: string,
  required: N,
  given: readonly unknown[],
): Pick<Pruned, N[number]> & PruningOptions {
  return argumentsOf<Pruned, PruningOptions>(
    owner,
    { required, positional: ["importanceScores"] },
    given,
  );
}

/** Prepares a tensor for pruning without pruning any element. */
export function identity<M extends Module>(module: M, ...given: PruningArguments<["name"]>): M {
  return new Identity().apply(module, pruned("identity", ["name"], given).name);
}

/** Prunes random elements: `amount` of them or, below 1, that share. */
export function randomUnstructured<M extends Module>(
  module: M,
  ...given: PruningArguments<["name", "amount"]>
): M {
  const { name, amount } = pruned("randomUnstructured", ["name", "amount"], given);
  return new RandomUnstructured(amount).apply(module, name);
}

/** Prunes the elements of least magnitude: `amount` of them or, below 1, that share. */
export function l1Unstructured<M extends Module>(
  module: M,
  ...given: PruningArguments<["name", "amount"], ["importanceScores"]>
): M {
  const { name, amount, importanceScores } = scored("l1Unstructured", ["name", "amount"], given);
  return new L1Unstructured(amount).apply(module, name, { importanceScores });
}

/** Prunes random slices of a dimension: `amount` of them or, below 1, that share. */
export function randomStructured<M extends Module>(
  module: M,
  ...given: PruningArguments<["name", "amount", "dim"]>
): M {
  const { name, amount, dim } = pruned("randomStructured", ["name", "amount", "dim"], given);
  return new RandomStructured(amount, dim).apply(module, name);
}

/** Prunes the slices of a dimension with the least norms of order `n`: `amount` of them or, below 1, that share. */
export function lnStructured<M extends Module>(
  module: M,
  ...given: PruningArguments<["name", "amount", "n", "dim"], ["importanceScores"]>
): M {
  const { name, amount, n, dim, importanceScores } = scored(
    "lnStructured",
    ["name", "amount", "n", "dim"],
    given,
  );
  return new LnStructured(amount, n, dim).apply(module, name, { importanceScores });
}

/** Prunes elements where a mask in the shape of the tensor is zero. */
export function customFromMask<M extends Module>(
  module: M,
  ...given: PruningArguments<["name", "mask"]>
): M {
  const { name, mask } = pruned("customFromMask", ["name", "mask"], given);
  return new CustomFromMask(mask).apply(module, name);
}

/** Prunes several tensors together: `amount` of all their elements or, below 1, that share. */
export function globalUnstructured(
  parameters: readonly (readonly [module: Module, name: string])[],
  PruningMethod: new (amount: number) => BasePruningMethod,
  options: {
    readonly amount: number;
    /** Scores of each tensor; default: its elements. */
    readonly importanceScores?: readonly (Tensor | null)[];
  },
): void {
  if (arguments.length > 3) refuseSurplus("globalUnstructured", 3, arguments);
  const { amount, importanceScores = [] } = optionsOf("globalUnstructured", options, [
    "amount",
    "importanceScores",
  ]);
  checkFunction(PruningMethod, "that makes a method of pruning");
  checkKind(parameters, "a list", "globalUnstructured");
  const method = new PruningMethod(amount),
    states = parameters.map(([module, name]) => stateOf(module, name));
  if (method.pruningType !== "unstructured") {
    throw new DynError(
      `Expected an unstructured method for several tensors but found one ${method.pruningType}`,
    );
  }
  const scores = states.map(({ original, mask }, k) =>
    (importanceScores[k] ?? original.mul(mask)).reshape(-1)
  );
  const masks = states.map(({ mask }) => mask.reshape(-1));
  const whole = noGrad(() => method.combined(cat(scores, 0).detach(), cat(masks, 0)));
  let from = 0;
  parameters.forEach(([module, name], k) => {
    const { mask } = states[k] ?? stateOf(module, name), count = mask.numel();
    customFromMask(module, name, whole.narrow(0, from, count).reshape(mask.shape));
    from += count;
  });
}

/** Turns a pruned tensor into a parameter, with permanent zeros. Throws DynError if it is not pruned. */
export function remove<M extends Module>(module: M, ...given: PruningArguments<["name"]>): M {
  const { name } = pruned("remove", ["name"], given);
  const { original, mask, isNew } = stateOf(module, name);
  if (isNew || !(original instanceof Parameter)) {
    throw new DynError(
      `Expected a pruned tensor ${name} of ${module.constructor.name} but found one that is not`,
    );
  }
  if (module.registeredHooks) {
    removeHooks(module.registeredHooks.before, ({ hook }) => PRUNING.get(hook) === name);
  }
  dropEmptyLists(module);
  noGrad(() => original.mul_(mask));
  for (const field of [name, `${name}Orig`, `${name}Mask`]) Reflect.deleteProperty(module, field);
  const at = module.bufferEntries.findIndex(({ field }) => field === `${name}Mask`);
  module.bufferEntries.splice(at, 1);
  Reflect.deleteProperty(module.stateKeys, `${name}Orig`);
  Reflect.set(module, name, original);
  return module;
}

/** Returns whether any tensor of a module or its submodules is pruned. */
export function isPruned(module: Module): boolean {
  if (arguments.length > 1) refuseSurplus("isPruned", 1, arguments);
  checkModule(module, "isPruned");
  return module.modules().some((each) =>
    each.registeredHooks?.before.entries.some(({ hook }) => PRUNING.has(hook)) ?? false
  );
}

interface PrunedState {
  readonly original: Tensor;
  readonly mask: Tensor;
  /** Whether the tensor was not pruned before. */
  readonly isNew: boolean;
}

function stateOf(module: Module, name: string): PrunedState {
  checkModule(module, "prune");
  const original: unknown = Reflect.get(module, `${name}Orig`),
    mask: unknown = Reflect.get(module, `${name}Mask`);
  if (isTensor(original) && isTensor(mask)) return { original, mask, isNew: false };
  const tensor: unknown = Reflect.get(module, name);
  if (tensor instanceof Parameter) return { original: tensor, mask: onesLike(tensor.detach()), isNew: true };
  throw new DynError(`Expected a parameter ${name} of ${module.constructor.name} but found none`);
}

/** Moves a parameter to its other name, and computes the tensor before each call. */
function begin(module: Module, name: string, original: Tensor): void {
  Reflect.deleteProperty(module, name);
  module.stateKeys[`${name}Orig`] = `${name}_orig`;
  Reflect.set(module, `${name}Orig`, original);
  const hook: NamedForwardPreHook<Module> = (owner) => {
    const { original, mask } = stateOf(owner, name);
    Reflect.set(owner, name, original.mul(mask));
  };
  PRUNING.set(hook, name);
  module.registerForwardPreHook(hook, { withKwargs: true });
}

function checkAmount(amount: number): void {
  if (amount >= 0 && (amount <= 1 || Number.isInteger(amount))) return;
  throw new DynError(`Expected the amount to prune to be a share in [0, 1] or a count but found ${amount}`);
}

/** Converts `amount` to a number of elements out of `size`. Throws DynError if it exceeds `size`. */
function countOf(amount: number, size: number): number {
  if (Number.isInteger(amount)) {
    if (amount <= size) return amount;
    throw new DynError(`Expected at most ${size} to prune but found ${amount}`);
  }
  const whole = Math.floor(amount * size), rest = amount * size - whole;
  // Half to even, as Python rounds
  return rest > .5 || (rest === .5 && whole % 2 === 1) ? whole + 1 : whole;
}

/** Removes the `count` elements with the greatest ranks from a mask. */
function without(mask: Tensor, ranks: Tensor, count: number): Tensor {
  if (count === 0) return mask;
  const { indices } = topk(ranks.reshape(-1), count);
  return mask.reshape(-1).indexFill(0, indices, 0).reshape(mask.shape);
}

/** Removes the `count` slices with the greatest ranks from a mask. */
function withoutSlices(
  mask: Tensor,
  ranks: Tensor,
  { dim, count }: { readonly dim: number; readonly count: number },
): Tensor {
  if (count === 0) return mask;
  return mask.indexFill(dim, topk(ranks, count).indices, 0);
}

function dimOf(t: Tensor, dim: number): number {
  const at = dim < 0 ? dim + t.ndim : dim;
  if (t.ndim > 1 && Number.isInteger(at) && at >= 0 && at < t.ndim) return at;
  throw new DynError(`Expected a dimension of a tensor of at least 2 but found ${dim} of shape [${t.shape}]`);
}

const othersOf = (t: Tensor, dim: number): number[] => t.shape.flatMap((_, d) => d === dim ? [] : [d]);

const sumsBut = (mask: Tensor, dim: number): Tensor => mask.sum(othersOf(mask, dim));
