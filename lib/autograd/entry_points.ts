/**
 * `backward` and `grad` of `torch.autograd`: the forms of their arguments, checked before the engine runs. Invariant:
 * an unknown option is an error.
 */
import { optionsOf, refuseSurplus } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { withOwnLists } from "../base/inherited_elements.ts";
import { isPlainObject } from "../base/tree.ts";
import type { BackwardOptions } from "../tensor/autograd_state.ts";
import { checkedTensors } from "../tensor/checked.ts";
import { ops } from "../tensor/eager.ts";
import { Tensor } from "../tensor/tensor.ts";
import { backward as run, gradientsAt } from "./engine.ts";

/** Gradients by position, null for ones; or that of a single tensor. */
export type Gradients = Tensor | readonly (Tensor | null)[] | null | undefined;

/** Options of `autograd.backward`. */
export interface BackwardIntoOptions extends BackwardOptions {
  /** The gradients of the tensors, if they are not given by position. */
  readonly gradTensors?: Gradients;
  /** The tensors to whose `.grad` gradients are added, instead of all leaves. */
  readonly inputs?: Tensor | readonly Tensor[] | null | undefined;
}

/** Options of `autograd.grad`. */
export interface GradOptions extends BackwardOptions {
  /** The gradients of the outputs, if they are not given by position. */
  readonly gradOutputs?: Gradients;
  /** Return zeros for inputs that do not contribute. */
  readonly materializeGrads?: boolean | undefined;
  /** Return null for inputs that do not contribute, instead of an error. */
  readonly allowUnused?: boolean | undefined;
  /** The gradients of the outputs have an additional leading dimension: there is one pass for each of its elements. */
  readonly isGradsBatched?: boolean | undefined;
}

/** Tensors that are differentiated, and by which. */
interface GradSubjects {
  readonly outputs: Tensor | readonly Tensor[];
  readonly inputs: Tensor | readonly Tensor[];
}

/** Options of `autograd.grad` for inputs that all contribute. */
type ContributingOptions = GradOptions & { readonly allowUnused?: false | undefined };

const BACKWARD_OPTIONS = [
  "gradTensors",
  "retainGraph",
  "createGraph",
  "inputs",
] satisfies (keyof BackwardIntoOptions)[];

const GRAD_OPTIONS = [
  "gradOutputs",
  "retainGraph",
  "createGraph",
  "allowUnused",
  "materializeGrads",
  "isGradsBatched",
] satisfies (keyof GradOptions)[];

/**
 * Adds gradients of tensors to the `.grad` of the leaves, or of `inputs` alone, like `torch.autograd.backward`.
 * Gradients of scalars may be omitted.
 */
export function backward(
  tensors:
    | Tensor
    | readonly Tensor[]
    | ({ readonly tensors: Tensor | readonly Tensor[] } & BackwardIntoOptions),
  gradTensors?: Gradients | BackwardIntoOptions,
  trailing: BackwardIntoOptions = {},
): void {
  if (arguments.length > 3) refuseSurplus("backward", 3, arguments);
  withOwnLists(() => {
    if (isNamed(tensors, "tensors")) {
      if (arguments.length > 1) refuseSurplus("backward of named arguments", 1, arguments);
      const { tensors: given, ...named } = tensors;
      return backward(given, named);
    }
    const roots = checkedTensors(tensors, "autograd.backward");
    const options = isOptions(gradTensors) ? gradTensors : trailing;
    optionsOf("autograd.backward", options, BACKWARD_OPTIONS);
    const given = isOptions(gradTensors) ? options.gradTensors : gradTensors ?? options.gradTensors;
    run(roots, listed(given, roots.length), options);
  });
}

/**
 * Returns gradients of outputs with respect to inputs, like `torch.autograd.grad`; the `.grad` of leaves is unchanged.
 * Throws DynError for an input that does not contribute, unless `allowUnused`.
 */
export function grad(
  outputs: Tensor | readonly Tensor[],
  inputs: Tensor | readonly Tensor[],
  gradOutputs?: Gradients | ContributingOptions,
  trailing?: ContributingOptions,
): Tensor[];
/** With `allowUnused`, gradients of inputs that do not contribute are null. */
export function grad(
  outputs: Tensor | readonly Tensor[],
  inputs: Tensor | readonly Tensor[],
  gradOutputs?: Gradients | GradOptions,
  trailing?: GradOptions,
): (Tensor | null)[];
/** All arguments by name. */
export function grad(named: GradSubjects & ContributingOptions): Tensor[];
/** All arguments by name. */
export function grad(named: GradSubjects & GradOptions): (Tensor | null)[];
export function grad(
  outputs: Tensor | readonly Tensor[] | (GradSubjects & GradOptions),
  inputs: Tensor | readonly Tensor[] = [],
  gradOutputs?: Gradients | GradOptions,
  trailing: GradOptions = {},
): (Tensor | null)[] {
  if (arguments.length > 4) refuseSurplus("grad", 4, arguments);
  return withOwnLists(() => {
    if (!isNamed(outputs, "outputs")) return gradientsOf({ outputs, inputs }, gradOutputs, trailing);
    if (arguments.length > 1) refuseSurplus("grad of named arguments", 1, arguments);
    const { outputs: roots, inputs: wanted, ...options } = outputs;
    return gradientsOf({ outputs: roots, inputs: wanted }, options, {});
  });
}

function gradientsOf(
  { outputs, inputs }: GradSubjects,
  gradOutputs: Gradients | GradOptions,
  trailing: GradOptions,
): (Tensor | null)[] {
  const roots = checkedTensors(outputs, "outputs of autograd.grad");
  const wanted = checkedTensors(inputs, "inputs of autograd.grad");
  if (wanted.length === 0) throw new DynError("Expected at least one input of autograd.grad but found none");
  const options = isOptions(gradOutputs) ? gradOutputs : trailing;
  optionsOf("autograd.grad", options, GRAD_OPTIONS);
  const given = isOptions(gradOutputs) ? options.gradOutputs : gradOutputs ?? options.gradOutputs;
  const tangents = listed(given, roots.length), { materializeGrads = false } = options;
  if (materializeGrads && options.allowUnused === false) {
    throw new DynError(
      "Expected allowUnused to be true, or not given, with materializeGrads but found false: unused inputs get zeros",
    );
  }
  if (options.isGradsBatched) return batched(roots, wanted, { ...options, tangents });
  const arrived = gradientsAt(wanted, roots, { ...options, tangents });
  return wanted.map((input, k) => {
    const found = arrived[k] ?? null;
    if (found === null && materializeGrads) {
      return ops.zerosLike(input.detach()).requiresGrad_(options.createGraph ?? false);
    }
    if (found === null && !options.allowUnused) {
      throw new DynError(
        `Expected every input to contribute to the outputs but input ${k} does not; pass allowUnused: true for null`,
      );
    }
    return found;
  });
}

/** Returns gradients for each element of a leading dimension of the gradients of the outputs. */
function batched(
  roots: readonly Tensor[],
  wanted: readonly Tensor[],
  { tangents, ...options }: GradOptions & { readonly tangents: readonly (Tensor | null)[] },
): (Tensor | null)[] {
  const sizes = new Set(tangents.map((tangent) => tangent?.shape[0])), [count] = sizes;
  if (sizes.size !== 1 || !count) {
    throw new DynError(
      `Expected batched gradients of all outputs with the same leading size, at least 1, but found ${
        [...sizes].map((size) => size ?? "none").join(" and ")
      }`,
    );
  }
  const each = Array.from(
    { length: count },
    (_, k) =>
      grad(roots, wanted, tangents.map((tangent) => tangent && ops.select(tangent, 0, k)), {
        ...options,
        gradOutputs: undefined,
        isGradsBatched: false,
        retainGraph: k < count - 1 || (options.retainGraph ?? options.createGraph),
      }),
  );
  return wanted.map((_, input) => {
    const found = each.flatMap((grads) => grads[input] ?? []);
    return found.length === count ? ops.stack(found) : null;
  });
}

/** Returns one gradient for each of `count` tensors. Throws DynError for another number of gradients. */
function listed(given: Gradients, count: number): readonly (Tensor | null)[] {
  if (given === null || given === undefined) return Array<null>(count).fill(null);
  const list = given instanceof Tensor ? [given] : given;
  if (list.length === count) return list;
  throw new DynError(`Expected ${count} gradients, one for each tensor, but found ${list.length}`);
}

/** Returns whether all arguments are given by name, of which `first` is one. */
function isNamed<T extends object>(value: Tensor | readonly Tensor[] | T, first: keyof T): value is T {
  return isPlainObject(value) && Object.hasOwn(value, first);
}

function isOptions<T extends object>(value: Gradients | T): value is T {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Tensor);
}
