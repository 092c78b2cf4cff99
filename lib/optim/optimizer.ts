/**
 * The base of all optimizers: parameter groups, per-parameter state, state dicts. Invariant: `step` is ordinary tensor
 * code that reads no values back, so that it can be captured into a graph together with the model.
 */
import { checkAtLeast } from "../base/checked_numbers.ts";
import { checkKind, refuseOption, refuseSurplus, refuseValue, spelling } from "../base/checked_input.ts";
import { checkedTensors } from "../tensor/checked.ts";
import { type Flag, trailing } from "../base/arguments.ts";
import { getDefaultDtype } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import type { HookHandle, HookOptions } from "../base/hook_list.ts";
import { namedNumbers, namingNumbers } from "../base/json_numbers.ts";
import { mapTree } from "../base/tree.ts";
import { oneLine, showAsText } from "../base/console_text.ts";
import { dropGradients } from "../tensor/dropped_gradients.ts";
import { zeros } from "../tensor/generated_functions.ts";
import { Tensor } from "../tensor/tensor.ts";
import {
  type OptimizerHook,
  OptimizerHooks,
  type OptimizerStateHook,
  register,
  type StepPostHook,
  type StepPreHook,
} from "./hooks.ts";
import { asTensors, inOwnNames, isTorchState, type TorchOptimizerState } from "./torch_state.ts";

/** Parameters that share hyperparameters H. */
export type ParamGroup<H> = H & { params: Tensor[] };

/** The parameters argument of constructors: parameters, or groups with their own hyperparameters. */
export type ParamsOrGroups<H> = Iterable<Tensor> | Iterable<Partial<H> & { params: Iterable<Tensor> }>;

/**
 * The arguments after the parameters: hyperparameters by position in PyTorch's order, then the rest by name, with the
 * implementation choices E that the optimizer has.
 */
export type Hyperparameters<H, E extends keyof ExecutionOptions = UsualChoice> = readonly (
  | H[keyof H]
  | Partial<H & Pick<ExecutionOptions, E>>
  | undefined
)[];

/** Implementation choices of PyTorch. Accepted without effect: a compiled step is one fused kernel. */
export interface ExecutionOptions {
  readonly foreach: boolean | null;
  readonly fused: boolean | null;
  readonly capturable: boolean;
  /** Steps cannot be recorded for differentiation. */
  readonly differentiable: false;
}

/** The implementation choices of most optimizers. */
type UsualChoice = "foreach" | "capturable" | "differentiable";

const USUAL_CHOICES = ["foreach", "capturable", "differentiable"] as const satisfies readonly UsualChoice[];

/** The implementation choices of SGD and Adagrad, which have no counter that would have to be on the device. */
export const FUSED_CHOICES = ["foreach", "fused", "differentiable"] as const;
/** One of them. */
export type FusedChoice = typeof FUSED_CHOICES[number];

/** The implementation choices of Adam and AdamW: all. */
export const ALL_CHOICES = ["foreach", "fused", "capturable", "differentiable"] as const satisfies readonly (
  keyof ExecutionOptions
)[];

const NOT_NEGATIVE = [
  "lr",
  "eps",
  "weightDecay",
  "momentum",
  "alpha",
  "lrDecay",
  "initialAccumulatorValue",
  "momentumDecay",
  "lambd",
];

/**
 * Merges defaults, in the order of PyTorch's arguments, with the given values. Throws DynError for unknown names, also
 * for implementation choices that the optimizer does not have, and for values out of range.
 */
export function hyperparameters<H extends object, E extends keyof ExecutionOptions = UsualChoice>(
  optimizer: string,
  defaults: H,
  given: Hyperparameters<H, E>,
  { choices = USUAL_CHOICES }: { readonly choices?: readonly (keyof ExecutionOptions)[] } = {},
): H {
  // As in PyTorch, maximize and what follows it are given by name alone: some of its optimizers take foreach in that place
  const names = Object.keys(defaults), at = names.indexOf("maximize"), end = at < 0 ? names.length : at;
  const flags = names.filter((name) => typeof Reflect.get(defaults, name) === "boolean");
  const written = trailing<Record<string, unknown>>(optimizer, {
    positional: names.slice(0, end),
    named: [...names.slice(end), ...choices],
    flags: Object.fromEntries([...flags, ...choices].map((name) => [name, true])),
  }, given);
  if (written["differentiable"] === true) {
    throw new DynError(
      `Expected differentiable of ${optimizer} to be false but found true: steps are not recorded`,
    );
  }
  const all: H = { ...defaults, ...written };
  for (const [name, usual] of Object.entries(defaults)) {
    const value: unknown = Reflect.get(all, name), isList = Array.isArray(usual);
    const fits = isList
      ? Array.isArray(value) && value.length === usual.length &&
        value.every((each) => typeof each === "number" || each === null)
      : typeof usual === "boolean"
      ? typeof value === "boolean"
      : typeof usual !== "number" || typeof value === "number" && !Number.isNaN(value) ||
        value instanceof Tensor && value.numel() === 1;
    if (fits || value === usual) continue;
    const wanted = isList ? `${usual.length} numbers` : `a ${typeof usual}`;
    refuseValue(`${wanted} for ${name} of ${optimizer}`, value);
  }
  for (const name of NOT_NEGATIVE) {
    const value: unknown = Reflect.get(all, name);
    if (typeof value === "number") checkAtLeast(`${name} of ${optimizer}`, value, 0);
  }
  if (written["foreach"] === true && written["fused"] === true) {
    throw new DynError(`Expected foreach or fused of ${optimizer} but found both`);
  }
  const betas: unknown = Reflect.get(all, "betas");
  if (Array.isArray(betas) && betas.some((beta) => !(beta >= 0 && beta < 1))) {
    throw new DynError(`Expected betas of ${optimizer} in [0, 1) but found [${betas}]`);
  }
  return all;
}

/** State of one parameter, by name. */
export type ParamState = Record<string, Tensor>;

/** PyTorch's layout: state S by parameter number, groups with numbers for parameters. */
export interface OptimizerState<H, S extends object = ParamState> {
  readonly state: Readonly<Record<number, Readonly<S>>>;
  readonly paramGroups: readonly (H & { readonly params: readonly number[] })[];
}

/** The hyperparameter that groups of every optimizer have. */
export interface WithRate {
  lr: number;
}

/** Any optimizer, whatever it keeps of each parameter. */
export type AnyOptimizer = Optimizer<WithRate, object>;

/**
 * An optimizer whose groups have hyperparameters H, with a state S for each parameter: tensors by name, or, if a program
 * says so, other values too, such as a count of steps. Without H, any optimizer that keeps tensors.
 */
export abstract class Optimizer<H extends object = WithRate, S extends object = ParamState> {
  readonly paramGroups: ParamGroup<H>[] = [];
  readonly state: Map<Tensor, S> = new Map();
  /**
   * Null until a hook is registered.
   *
   * @internal
   */
  hooks: OptimizerHooks<this, OptimizerState<H, S>> | null = null;

  constructor(params: ParamsOrGroups<H>, readonly defaults: H) {
    if (typeof params !== "object" || params === null || !(Symbol.iterator in params)) {
      throw new DynError(`Expected parameters or groups of them to optimize but found ${String(params)}`);
    }
    checkKind(defaults, "an object", `the default hyperparameters of ${this.constructor.name}`);
    const items = [...params];
    const named = items.find((item) => Array.isArray(item) && typeof item[0] === "string");
    if (named !== undefined) {
      refuseValue("parameters without names to optimize", named, "; pass model.parameters()");
    }
    if (items.length === 0) throw new DynError("Expected at least one parameter to optimize but found none");
    const loose = items.filter((item) => item instanceof Tensor);
    if (loose.length > 0) this.addParamGroup({ params: loose } as Partial<H> & { params: Tensor[] });
    for (const item of items) if (!(item instanceof Tensor)) this.addParamGroup(item);
  }

  addParamGroup(group: Partial<H> & { params: Iterable<Tensor> }): void {
    if (arguments.length > 1) refuseSurplus("addParamGroup", 1, arguments);
    const params = checkedTensors(group?.params ?? group, "an optimizer");
    for (const param of params) {
      if (!param.isLeaf) {
        throw new DynError("Expected leaf tensors to optimize but found the result of an op");
      }
      if (this.paramGroups.some((other) => other.params.includes(param))) {
        throw new DynError("Expected each parameter in one group but found one in two groups");
      }
    }
    // Groups may hold values of schedules and programs, so unknown names are not errors
    const known = Object.keys(this.defaults),
      misspelt = Object.keys(group).find((name) => spelling(known, name));
    if (misspelt !== undefined) refuseOption(`a group of ${this.constructor.name}`, known, misspelt);
    this.paramGroups.push({ ...this.defaults, ...group, params });
  }

  /**
   * Updates every parameter that has a gradient, without recording gradients. `closure`, if given, first computes the
   * gradients and the loss, which is returned.
   */
  abstract step<L>(closure?: () => L): L | undefined;

  /** Removes the gradients, or sets them to zero in place if `setToNone` is false. */
  zeroGrad(setToNone: Flag<"setToNone"> = true): void {
    if (arguments.length > 1) refuseSurplus("zeroGrad", 1, arguments);
    for (const { params } of this.paramGroups) dropGradients(params, setToNone);
  }

  /** The groups with their hyperparameters, as PyTorch prints them. */
  toString(): string {
    const groups = this.paramGroups.map((group, k) => {
      const lines = Object.entries(group).filter(([name]) => name !== "params").sort(([a], [b]) =>
        a < b ? -1 : 1
      );
      return [
        `Parameter Group ${k}`,
        ...lines.map(([name, value]) => `    ${name}: ${oneLine(value)}`),
      ].join("\n");
    });
    return `${this.constructor.name} (\n${groups.join("\n\n")}\n)`;
  }

  /** Returns the hooks; creates them and an own property `step` that calls them. */
  private hooked(): OptimizerHooks<this, OptimizerState<H, S>> {
    if (this.hooks) return this.hooks;
    const hooks = this.hooks = new OptimizerHooks<this, OptimizerState<H, S>>();
    const step = this.step;
    this.step = (...given: unknown[]) => hooks.step(this, given, (args) => Reflect.apply(step, this, args));
    return hooks;
  }

  /** Calls a hook before each step, with the optimizer and the step's arguments. */
  registerStepPreHook(hook: StepPreHook<this>): HookHandle {
    if (arguments.length > 1) refuseSurplus("registerStepPreHook", 1, arguments);
    return register(this.hooked().beforeStep, hook);
  }

  /** Calls a hook after each step. */
  registerStepPostHook(hook: StepPostHook<this>): HookHandle {
    if (arguments.length > 1) refuseSurplus("registerStepPostHook", 1, arguments);
    return register(this.hooked().afterStep, hook);
  }

  /** Calls a hook before `stateDict` saves. */
  registerStateDictPreHook(hook: OptimizerHook<this>, place: HookOptions = {}): HookHandle {
    if (arguments.length > 2) refuseSurplus("registerStateDictPreHook", 2, arguments);
    return register(this.hooked().beforeWriting, hook, place);
  }

  /** Calls a hook with the state that `stateDict` has saved, which it may replace. */
  registerStateDictPostHook(
    hook: OptimizerStateHook<this, OptimizerState<H, S>>,
    place: HookOptions = {},
  ): HookHandle {
    if (arguments.length > 2) refuseSurplus("registerStateDictPostHook", 2, arguments);
    return register(this.hooked().afterWriting, hook, place);
  }

  /** Calls a hook with the state that `loadStateDict` will load, which it may replace. */
  registerLoadStateDictPreHook(
    hook: OptimizerStateHook<this, OptimizerState<H, S>>,
    place: HookOptions = {},
  ): HookHandle {
    if (arguments.length > 2) refuseSurplus("registerLoadStateDictPreHook", 2, arguments);
    return register(this.hooked().beforeReading, hook, place);
  }

  /** Calls a hook after `loadStateDict` has loaded. */
  registerLoadStateDictPostHook(hook: OptimizerHook<this>, place: HookOptions = {}): HookHandle {
    if (arguments.length > 2) refuseSurplus("registerLoadStateDictPostHook", 2, arguments);
    return register(this.hooked().afterReading, hook, place);
  }

  stateDict(): OptimizerState<H, S> {
    if (arguments.length > 0) refuseSurplus("stateDict", 0, arguments);
    for (const { hook } of this.hooks?.beforeWriting.entries ?? []) hook(this);
    const state = this.written();
    return (this.hooks?.afterWriting.entries ?? []).reduce(
      (known, { hook }) => hook(this, known) ?? known,
      state,
    );
  }

  private written(): OptimizerState<H, S> {
    const numbers = new Map<Tensor, number>();
    for (const group of this.paramGroups) for (const p of group.params) numbers.set(p, numbers.size);
    const state: Record<number, S> = {};
    for (const [param, values] of this.state) {
      const number = numbers.get(param);
      if (number !== undefined) state[number] = { ...values };
    }
    return {
      state,
      paramGroups: this.paramGroups.map((group) =>
        namingNumbers({ ...group, params: group.params.map((p) => numbers.get(p) ?? -1) })
      ),
    };
  }

  /** Restores a state, also one of PyTorch's optimizer. Throws DynError if it has other groups. */
  loadStateDict(given: OptimizerState<H, S> | TorchOptimizerState): void {
    if (arguments.length > 1) refuseSurplus("loadStateDict", 1, arguments);
    checkKind(given, "an object", "loadStateDict");
    const before = this.hooks?.beforeReading.entries ?? [];
    const state = isTorchState(given) ? this.translated(given) : given;
    this.read(before.reduce((known, { hook }) => hook(this, known) ?? known, state));
    for (const { hook } of this.hooks?.afterReading.entries ?? []) hook(this);
  }

  private translated({ state, param_groups }: TorchOptimizerState): OptimizerState<H, S> {
    // A program that loads another one's state knows its values
    const states: Record<number, object> = Object.fromEntries(
      Object.entries(state).map(([number, values]) => [number, asTensors(values)]),
    );
    return {
      state: states as Record<number, S>,
      paramGroups: param_groups.map((saved, i) => {
        const { params: numbers } = saved, group = this.paramGroups[i] ?? { ...this.defaults, params: [] };
        const params = Array.isArray(numbers) ? numbers.map(Number) : [];
        return { ...group, ...inOwnNames(saved, [...Object.keys(group), "initialLr"]), params };
      }),
    };
  }

  private read(saved: OptimizerState<H, S>): void {
    checkKind(saved.paramGroups, "a list", "paramGroups of loadStateDict");
    if (saved.paramGroups.length !== this.paramGroups.length) {
      throw new DynError(
        `Expected ${this.paramGroups.length} parameter groups but found ${saved.paramGroups.length}`,
      );
    }
    const params = this.paramGroups.flatMap((group) => group.params);
    this.paramGroups.forEach((group, i) => {
      const other = saved.paramGroups[i];
      if (!other || other.params.length !== group.params.length) {
        throw new DynError(
          `Expected ${group.params.length} parameters in group ${i} but found ${other?.params.length ?? 0}`,
        );
      }
      Object.assign(group, { ...namedNumbers(other), params: group.params });
    });
    this.state.clear();
    for (const [number, values] of Object.entries(saved.state)) {
      const param = params[Number(number)];
      if (!param) {
        throw new DynError(`Expected a parameter number below ${params.length} but found ${number}`);
      }
      this.state.set(param, this.restored(values, param));
    }
  }

  /** Copies the saved state of a parameter to its device, as it is written to by the next step. */
  protected restored(saved: object, { device }: Tensor): S {
    const copy = (each: unknown) => each instanceof Tensor ? each.to({ device, copy: true }) : each;
    return mapTree(saved, copy) as S;
  }
}

showAsText(Optimizer.prototype);

/** Returns a tensor of real numbers. Throws DynError for a complex one, which the optimizer does not support. */
export function realOnly(optimizer: string, tensor: Tensor): Tensor {
  if (!tensor.isComplex()) return tensor;
  throw new DynError(`Expected real parameters for ${optimizer} but found ${tensor.dtype}`);
}

/**
 * Creates a step counter like PyTorch's: a 0-d float tensor, so that counting does not change a traced constant;
 * float64 if that is the default type, else float32.
 */
export function zeroStep(like: Tensor): Tensor {
  const dtype = getDefaultDtype() === "float64" ? "float64" : "float32";
  return zeros([], { dtype, device: like.device });
}

/**
 * Converts a number of steps, or a value derived from it, for computing with a parameter: to float64 if the parameter
 * is float64, as PyTorch computes in Python's floats.
 */
export const numberFor = (param: Tensor, kept: Tensor): Tensor =>
  param.dtype === "float64" ? kept.to("float64") : kept;
