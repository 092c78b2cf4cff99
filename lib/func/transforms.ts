/**
 * Gradient transforms, like `torch.func`: functions that return gradients, products with Jacobians, or both with the
 * results. Invariant: transforms nest; captured values are constants to them, but outer passes, and those of the
 * tape, reach them.
 */
import { checkFunction, checkKind, optionsOf, refuseSurplus, refuseValue } from "../base/checked_input.ts";
import { type Trailing, trailing } from "../base/arguments.ts";
import { DynError } from "../base/errors.ts";
import { flatten, isPlainObject, mapTree, type TreeSpec, unflatten } from "../base/tree.ts";
import { unlessTraced } from "../autograd/batches/over_batch.ts";
import { endTransform, flowsBeyond } from "../autograd/beyond.ts";
import { grad as gradientsOf } from "../autograd/entry_points.ts";
import { checkFloats, ForwardMode } from "../autograd/forward/mode.ts";
import { onesLike, zerosLike } from "../tensor/generated_functions.ts";
import { requiresGradBeneath } from "../tensor/levels.ts";
import { enableGrad, isGradEnabled } from "../tensor/modes.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";
import {
  auxiliaryOf,
  type Chosen,
  type Positions,
  primalsOf,
  tensorsLike,
  withTangents,
} from "./arguments.ts";

/**
 * Options of gradients: the arguments to differentiate with respect to, and whether functions return [value,
 * auxiliary].
 */
export interface GradientOptions {
  readonly argnums?: Positions;
  readonly hasAux?: boolean;
}

type Given = Trailing<GradientOptions, ["argnums", "hasAux"]>;

const NAMES = ["argnums", "hasAux"] as const;

/** Any function. */
export type AnyFunction<A extends readonly unknown[], R = unknown> = (...args: A) => R;

/**
 * Returns the gradient of a function with one result element, like `torch.func.grad`: in the structure of the argument,
 * or arguments, that `argnums` selects; with `hasAux` [gradient, auxiliary].
 */
export function grad<A extends readonly unknown[], const P extends Positions = 0>(
  f: AnyFunction<A>,
  argnums?: P | { readonly argnums?: P; readonly hasAux?: false },
): (...args: A) => Chosen<A, P>;
export function grad<A extends readonly unknown[], X, const P extends Positions = 0>(
  f: AnyFunction<A, readonly [value: unknown, auxiliary: X]>,
  options: { readonly argnums?: P; readonly hasAux: true },
): (...args: A) => [gradient: Chosen<A, P>, auxiliary: X];
export function grad<A extends readonly unknown[]>(
  f: AnyFunction<A>,
  ...given: Given
): (...args: A) => unknown;
export function grad<A extends readonly unknown[]>(
  f: AnyFunction<A>,
  ...given: Given
): (...args: A) => unknown {
  const options = trailing<GradientOptions>("grad", { positional: NAMES, flags: { hasAux: true } }, given);
  return (...args) => {
    const { gradient, auxiliary } = valueAndGradient("grad", f, { args, options });
    return options.hasAux ? [gradient, auxiliary] : gradient;
  };
}

/** Returns [gradient, value], like `torch.func.grad_and_value`; with `hasAux` [gradient, [value, auxiliary]]. */
export function gradAndValue<A extends readonly unknown[], R, const P extends Positions = 0>(
  f: AnyFunction<A, R>,
  argnums?: P | { readonly argnums?: P; readonly hasAux?: boolean },
): (...args: A) => [gradient: Chosen<A, P>, value: R];
export function gradAndValue<A extends readonly unknown[]>(
  f: AnyFunction<A>,
  ...given: Given
): (...args: A) => unknown;
export function gradAndValue<A extends readonly unknown[]>(
  f: AnyFunction<A>,
  ...given: Given
): (...args: A) => unknown {
  const options = trailing<GradientOptions>(
    "gradAndValue",
    { positional: NAMES, flags: { hasAux: true } },
    given,
  );
  return (...args) => {
    const { gradient, value, auxiliary } = valueAndGradient("gradAndValue", f, { args, options });
    return [gradient, options.hasAux ? [value, auxiliary] : value];
  };
}

function valueAndGradient<A extends readonly unknown[]>(
  owner: string,
  f: AnyFunction<A>,
  { args, options }: { readonly args: A; readonly options: GradientOptions },
): { readonly gradient: unknown; readonly value: Tensor; readonly auxiliary: unknown } {
  const { argnums = 0, hasAux = false } = options;
  const primals = primalsOf(owner, args, argnums), records = isGradEnabled();
  return enableGrad(() => {
    const { value, auxiliary } = auxiliaryOf(owner, Reflect.apply(f, undefined, primals.args), hasAux);
    if (!isTensor(value) || value.numel() !== 1) {
      const found = isTensor(value) ? `shape [${value.shape}]` : typeof value;
      throw new DynError(`Expected a function that returns one element in ${owner} but found ${found}`);
    }
    const isInner = primals.isInner || (records && flowsBeyond([value], primals.tensors));
    const gradient = primals.arranged(pulledBack([value], primals.tensors, { tangents: [null], isInner }));
    endTransform(primals.tensors);
    return { gradient, value: settled(value, isInner), auxiliary: settledTree(auxiliary, isInner) };
  });
}

/** Options of a vector-Jacobian product. */
interface Pulling {
  readonly tangents: readonly (Tensor | null)[];
  /** Whether gradients are differentiable themselves. */
  readonly isInner: boolean;
}

/** Returns gradients with respect to tensors, zeros for those that do not contribute. */
function pulledBack(
  outputs: readonly Tensor[],
  inputs: readonly Tensor[],
  { tangents, isInner }: Pulling,
): readonly Tensor[] {
  const used = outputs.flatMap((output, k) =>
    output.requiresGrad ? [{ output, tangent: tangents[k] ?? null }] : []
  );
  const found = used.length === 0 ? [] : gradientsOf(
    used.map(({ output }) => output),
    inputs,
    used.map(({ tangent }) => tangent),
    { createGraph: isInner, retainGraph: true, allowUnused: true },
  );
  return inputs.map((input, k) => found[k] ?? zerosLike(input.detach()));
}

/** Returns a result without the history of its transform, unless an outer one needs it. */
function settled(value: Tensor, isInner: boolean): Tensor {
  return isInner ? value : withTangents(value, value.detach());
}

/** Returns auxiliary output without the history of its transform. */
function settledTree(auxiliary: unknown, isInner: boolean): unknown {
  if (auxiliary === undefined) return undefined;
  return mapTree(auxiliary, (leaf) => isTensor(leaf) ? settled(leaf, isInner) : leaf, isTensor);
}

/** Returns the tensors of a result. Throws DynError if it has none, or contains other values. */
function outputsOf(
  owner: string,
  result: unknown,
): {
  readonly tensors: readonly Tensor[];
  readonly spec: TreeSpec;
  readonly arranged: (values: readonly unknown[]) => unknown;
} {
  const { leaves, spec } = flatten(result, isTensor), tensors = leaves.filter(isTensor);
  if (tensors.length < leaves.length || tensors.length === 0) {
    refuseValue(`a function that returns tensors in ${owner}`, result);
  }
  return { tensors, spec, arranged: (values) => unflatten(spec, values) };
}

/** Whether functions return [value, auxiliary]. */
interface AuxiliaryOptions {
  readonly hasAux?: boolean;
}

/** Returns products of cotangents with a Jacobian: an array with one for each primal. */
export type Pull<R = unknown, A extends readonly unknown[] = readonly unknown[]> = (cotangents: R) => A;

/**
 * Returns [value, pull], where `pull(cotangents)` returns the products of cotangents with the Jacobian, like
 * `torch.func.vjp`: an array with one for each primal. With `{ hasAux: true }` after the primals [value, pull,
 * auxiliary].
 */
export function vjp<A extends readonly unknown[], R>(
  f: AnyFunction<A, R>,
  ...primals: A
): [value: R, pull: Pull<R, A>];
export function vjp<A extends readonly unknown[]>(
  f: AnyFunction<A>,
  ...given: readonly [...primals: A, options: AuxiliaryOptions]
): [value: unknown, pull: Pull, auxiliary?: unknown];
export function vjp<A extends readonly unknown[]>(
  f: AnyFunction<A>,
  ...given: readonly unknown[]
): [value: unknown, pull: Pull, auxiliary?: unknown] {
  const last = given.at(-1), options = isAuxiliaryOptions(last) ? last : null;
  const { hasAux = false } = options ?? {};
  const { value, pull, auxiliary } = vjpOf(f, options ? given.slice(0, -1) : given, hasAux);
  return hasAux ? [value, pull, auxiliary] : [value, pull];
}

/** Returns whether a value is an options object: arguments to differentiate never look like one. */
function isAuxiliaryOptions(value: unknown): value is AuxiliaryOptions {
  return isPlainObject(value) && Object.keys(value).join() === "hasAux" && typeof value.hasAux === "boolean";
}

/** The same for primals in a list. */
export function vjpOf<A extends readonly unknown[]>(
  f: AnyFunction<A>,
  primals: readonly unknown[],
  hasAux: boolean,
): { readonly value: unknown; readonly pull: Pull; readonly auxiliary: unknown } {
  checkFunction(f, "of tensors to differentiate");
  const given = primalsOf("vjp", primals, primals.map((_, k) => k));
  const result = enableGrad(() => Reflect.apply(f, undefined, given.args));
  const { value, auxiliary } = auxiliaryOf("vjp", result, hasAux);
  const { tensors, spec, arranged } = outputsOf("vjp", value);
  const isInner = given.isInner || (isGradEnabled() && flowsBeyond(tensors, given.tensors));
  endTransform(given.tensors);
  const pull = (cotangents: unknown): readonly unknown[] => {
    const found = tensorsLike(spec, cotangents, "cotangents for vjp");
    const isAgain = isGradEnabled() && (isInner || found.some(requiresGradBeneath));
    return [given.arranged(pulledBack(tensors, given.tensors, { tangents: found, isInner: isAgain }))].flat();
  };
  return {
    value: arranged(tensors.map((each) => settled(each, isInner))),
    pull,
    auxiliary: settledTree(auxiliary, isInner),
  };
}

/**
 * Returns [value, product of the Jacobian with the tangents], like `torch.func.jvp`: primals and tangents are arrays
 * with one element per argument; with `hasAux` [value, product, auxiliary]. Eager ops propagate tangents as they run;
 * compiled code uses two reverse passes, of which the graph keeps only the needed parts.
 */
export function jvp<A extends readonly unknown[], R>(
  f: AnyFunction<A, R>,
  primals: A,
  tangents: readonly unknown[],
): [value: R, product: R];
export function jvp<A extends readonly unknown[], R, X>(
  f: AnyFunction<A, readonly [value: R, auxiliary: X]>,
  primals: A,
  tangents: readonly unknown[],
  options: { readonly hasAux: true },
): [value: R, product: R, auxiliary: X];
export function jvp<A extends readonly unknown[]>(
  f: AnyFunction<A>,
  primals: A,
  tangents: readonly unknown[],
  options: AuxiliaryOptions,
): [value: unknown, product: unknown, auxiliary?: unknown];
export function jvp<A extends readonly unknown[]>(
  f: AnyFunction<A>,
  primals: A,
  tangents: readonly unknown[],
  options: AuxiliaryOptions = {},
): [value: unknown, product: unknown, auxiliary?: unknown] {
  if (arguments.length > 4) refuseSurplus("jvp", 4, arguments);
  const { hasAux = false } = optionsOf("jvp", options, ["hasAux"]);
  if (!flatten(primals, isTensor).leaves.some(isTensor)) {
    throw new DynError("Expected at least one tensor among the primals of jvp but found none");
  }
  return unlessTraced<[value: unknown, product: unknown, auxiliary?: unknown]>(
    () => pushedForward(f, { primals, tangents, hasAux }),
    () => {
      for (const each of flatten(tangents, isTensor).leaves) {
        if (isTensor(each)) checkFloats("a tangent", each);
      }
      const { value, push, auxiliary } = linearized("jvp", f, { primals, hasAux });
      const product = push(...tangents);
      return hasAux ? [value, product, auxiliary] : [value, product];
    },
  );
}

function pushedForward<A extends readonly unknown[]>(
  f: AnyFunction<A>,
  { primals, tangents, hasAux }: {
    readonly primals: A;
    readonly tangents: readonly unknown[];
    readonly hasAux: boolean;
  },
): [value: unknown, product: unknown, auxiliary?: unknown] {
  checkKind(primals, "a list", "the primals of jvp");
  const { leaves, spec } = flatten(primals, isTensor),
    pushed = tensorsLike(spec, tangents, "tangents for jvp");
  const level = new ForwardMode();
  return level.during(() => {
    const duals = leaves.map((leaf, k) => {
      const tangent = pushed[k];
      if (isTensor(leaf) && isTensor(tangent)) return level.dual(leaf, tangent);
      throw new DynError(`Expected tensors for jvp but found ${typeof (isTensor(leaf) ? tangent : leaf)}`);
    });
    const args = unflatten(spec, duals);
    const result = Reflect.apply(f, undefined, Array.isArray(args) ? args : []);
    const { value, auxiliary } = auxiliaryOf("jvp", result, hasAux),
      { tensors, arranged } = outputsOf("jvp", value);
    // Code outside the level sees neither duals nor ops that propagate tangents
    return level.below(() => {
      const alone = (each: Tensor) => level.tangentOf(each) ? level.primal(each) : each;
      const product = arranged(tensors.map((each) => level.tangentOf(each) ?? zerosLike(each.detach())));
      const found = arranged(tensors.map(alone));
      if (!hasAux) return [found, product];
      return [found, product, mapTree(auxiliary, (leaf) => isTensor(leaf) ? alone(leaf) : leaf, isTensor)];
    });
  });
}

/**
 * Returns [value, push], where `push(...tangents)` returns the product of the Jacobian with tangents, like
 * `torch.func.linearize`.
 */
export function linearize<A extends readonly unknown[], R>(
  f: AnyFunction<A, R>,
  ...primals: A
): [value: R, push: (...tangents: A) => R];
export function linearize<A extends readonly unknown[]>(
  f: AnyFunction<A>,
  ...primals: A
): [value: unknown, push: (...tangents: readonly unknown[]) => unknown] {
  const { value, push } = linearized("linearize", f, { primals, hasAux: false });
  return [value, push];
}

/** A function that is linear around primals. */
interface Linearized {
  readonly value: unknown;
  readonly push: (...tangents: readonly unknown[]) => unknown;
  readonly auxiliary: unknown;
}

/** As `linearize`, for primals in a list, and with `hasAux` for functions that return [value, auxiliary]. */
export function linearized<A extends readonly unknown[]>(
  owner: string,
  f: AnyFunction<A>,
  { primals, hasAux }: { readonly primals: A; readonly hasAux: boolean },
): Linearized {
  checkFunction(f, "of tensors to differentiate");
  const given = primalsOf(owner, primals, primals.map((_, k) => k)),
    { spec: form } = flatten(primals, isTensor),
    types = given.tensors.map(({ dtype }) => dtype);
  const { tensors, arranged, seeds, pulled, auxiliary } = enableGrad(() => {
    const { value, auxiliary } = auxiliaryOf(owner, Reflect.apply(f, undefined, given.args), hasAux);
    const { tensors, arranged } = outputsOf(owner, value);
    // The seeds are arbitrary if the pass is linear in them; ones, since a rule may divide by them
    const seeds = tensors.map((each) => onesLike(each.detach()).requiresGrad_());
    const pulled = pulledBack(tensors, given.tensors, { tangents: seeds, isInner: true });
    return { tensors, arranged, seeds, pulled, auxiliary };
  });
  const isInner = given.isInner || (isGradEnabled() && flowsBeyond(tensors, given.tensors));
  endTransform(given.tensors);
  const push = (...tangents: readonly unknown[]): unknown => {
    const found = tensorsLike(form, tangents, `tangents for ${owner}`);
    found.forEach(({ dtype }, k) => {
      const wanted = types[k];
      if (wanted !== undefined && wanted !== dtype) {
        throw new DynError(`Expected a tangent of the type of its primal, ${wanted}, but found ${dtype}`);
      }
    });
    const isAgain = isGradEnabled() && (isInner || found.some(requiresGradBeneath));
    return arranged(pulledBack(pulled, seeds, { tangents: found, isInner: isAgain }));
  };
  return {
    value: arranged(tensors.map((each) => settled(each, isInner))),
    push,
    auxiliary: settledTree(auxiliary, isInner),
  };
}
