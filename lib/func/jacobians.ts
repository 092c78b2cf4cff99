/**
 * Jacobians and Hessians, like `torch.func`: functions that return the derivatives of each result element with
 * respect to each argument element. Invariant: a derivative has the shape of the result followed by that of the
 * argument.
 */
import { checkInteger } from "../base/checked_numbers.ts";
import { type Trailing, trailing } from "../base/arguments.ts";
import { isComplex } from "../base/dtype.ts";
import { DynError, InternalError } from "../base/errors.ts";
import { flatten, type TreeSpec, unflatten } from "../base/tree.ts";
import { eye, stack } from "../tensor/generated_functions.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";
import { isTraced, unlessTraced } from "../autograd/batches/over_batch.ts";
import { type Chosen, placesOf, type Positions } from "./arguments.ts";
import { type AnyFunction, jvp, linearized, vjpOf } from "./transforms.ts";
import { vmap } from "./vmap.ts";

/** Options of Jacobians: the arguments to differentiate with respect to, and how. */
export interface JacobianOptions {
  readonly argnums?: Positions;
  /** Whether functions return [value, auxiliary]. */
  readonly hasAux?: boolean;
  /** Number of rows that are computed together; null: all of them. */
  readonly chunkSize?: number | null;
}

type ReverseGiven = Trailing<JacobianOptions, ["argnums", "hasAux"]>;
type ForwardOptions = Omit<JacobianOptions, "chunkSize">;
type ForwardGiven = Trailing<ForwardOptions, ["argnums", "hasAux"]>;

const NAMES = ["argnums", "hasAux"] as const;

/**
 * All derivatives of a result with respect to an argument, in the structure of the resultand, for each of its tensors,
 * in that of the argument.
 */
export type Jacobian<R, I> = R extends Tensor
  ? I extends Tensor ? Tensor : I extends object ? { -readonly [K in keyof I]: Jacobian<R, I[K]> } : unknown
  : R extends object ? { -readonly [K in keyof R]: Jacobian<R[K], I> }
  : unknown;

/**
 * Returns all derivatives by reverse passes, one per element of the result, batched: like `torch.func.jacrev`. With
 * `hasAux` [derivatives, auxiliary].
 */
export function jacrev<A extends readonly unknown[], R, const P extends Positions = 0>(
  f: AnyFunction<A, R>,
  argnums?: P | { readonly argnums?: P; readonly hasAux?: false; readonly chunkSize?: number | null },
): (...args: A) => Jacobian<R, Chosen<A, P>>;
export function jacrev<A extends readonly unknown[]>(
  f: AnyFunction<A>,
  ...given: ReverseGiven
): (...args: A) => unknown;
export function jacrev<A extends readonly unknown[]>(
  f: AnyFunction<A>,
  ...given: ReverseGiven
): (...args: A) => unknown {
  const options = trailing<JacobianOptions>("jacrev", {
    positional: NAMES,
    named: ["chunkSize"],
    flags: { hasAux: true },
  }, given);
  const { argnums = 0, hasAux = false, chunkSize = null } = options;
  if (chunkSize !== null) checkInteger("chunkSize of jacrev", chunkSize, 1);
  return (...args) => {
    const { of, by } = partOf("jacrev", f, { args, argnums });
    const { value, pull, auxiliary } = vjpOf(of, by, hasAux);
    const { leaves: inputs, spec: form } = flatten(by, isTensor), tensors = inputs.filter(isTensor);
    const { leaves, spec } = flatten(value, isTensor), outputs = leaves.filter(isTensor);
    checkReal("jacrev", tensors, outputs);
    const zeros = outputs.map((each) => each.detach().mul(0));
    const jacobians = outputs.map((output, k) => {
      const pulled = (one: Tensor): readonly Tensor[] =>
        flatten(pull(unflatten(spec, zeros.with(k, one))), isTensor).leaves.filter(isTensor);
      const rows = overRows(pulled, { of: output, count: tensors.length, chunkSize });
      const parts = tensors.map((input, at) => {
        const shape = [...output.shape, ...input.shape];
        return rows[at]?.reshape(shape) ?? input.newZeros(shape);
      });
      return only(unflatten(form, parts), argnums);
    });
    const all = unflatten(spec, jacobians);
    return hasAux ? [all, auxiliary] : all;
  };
}

/**
 * Returns all derivatives by forward mode, one tangent per element of the argument, batched, like `torch.func.jacfwd`.
 * With
 * `hasAux` [derivatives, auxiliary].
 */
export function jacfwd<A extends readonly unknown[], R, const P extends Positions = 0>(
  f: AnyFunction<A, R>,
  argnums?: P | { readonly argnums?: P; readonly hasAux?: false },
): (...args: A) => Jacobian<R, Chosen<A, P>>;
export function jacfwd<A extends readonly unknown[]>(
  f: AnyFunction<A>,
  ...given: ForwardGiven
): (...args: A) => unknown;
export function jacfwd<A extends readonly unknown[]>(
  f: AnyFunction<A>,
  ...given: ForwardGiven
): (...args: A) => unknown {
  const { argnums = 0, hasAux = false } = trailing<ForwardOptions>("jacfwd", {
    positional: NAMES,
    flags: { hasAux: true },
  }, given);
  return (...args) => {
    const { of, by } = partOf("jacfwd", f, { args, argnums }), options = { argnums, hasAux };
    const { all, auxiliary } = unlessTraced(
      () => pushedAtOnce(of, by, options),
      () => pushedApart(of, by, options),
    );
    return hasAux ? [all, auxiliary] : all;
  };
}

interface Pushed {
  readonly all: unknown;
  readonly auxiliary: unknown;
}

/**
 * Throws DynError for complex arguments and results: forward and reverse mode give conjugates of each other, and neither
 * is the derivative unless the function is holomorphic.
 */
function checkReal(owner: string, inputs: readonly Tensor[], outputs: readonly Tensor[]): void {
  for (const [what, tensors] of [["arguments", inputs], ["results", outputs]] as const) {
    const complex = tensors.find(({ dtype }) => isComplex(dtype));
    if (!complex) continue;
    throw new DynError(
      `Expected ${what} of real numbers for ${owner} but found ${complex.dtype}; take its parts by viewAsReal`,
    );
  }
}

/** Computes all derivatives by products with one tangent after the other. */
function pushedApart(
  of: (...by: readonly unknown[]) => unknown,
  by: readonly unknown[],
  { argnums, hasAux }: { readonly argnums: Positions; readonly hasAux: boolean },
): Pushed {
  const { value, push, auxiliary } = linearized("jacfwd", of, { primals: by, hasAux });
  const { leaves: inputs, spec: form } = flatten(by, isTensor), tensors = inputs.filter(isTensor);
  const { leaves, spec } = flatten(value, isTensor), outputs = leaves.filter(isTensor);
  checkReal("jacfwd", tensors, outputs);
  const zeros = tensors.map((each) => each.detach().mul(0));
  const columns = tensors.map((input, k) => {
    const pushed = (one: Tensor): readonly Tensor[] => {
      const tangents = unflatten(form, zeros.with(k, one));
      return flatten(push(...(Array.isArray(tangents) ? tangents : [])), isTensor).leaves.filter(isTensor);
    };
    return overRows(pushed, { of: input, count: outputs.length, chunkSize: null });
  });
  const jacobians = outputs.map((output, o) => {
    const parts = tensors.map((input, k) => {
      const shape = [...output.shape, ...input.shape];
      return columns[k]?.[o]?.movedim(0, -1).reshape(shape) ?? input.newZeros(shape);
    });
    return only(unflatten(form, parts), argnums);
  });
  return { all: unflatten(spec, jacobians), auxiliary };
}

/**
 * Computes all derivatives by one call of a function, whose tangents are a batch: one row per element of the arguments.
 */
function pushedAtOnce(
  of: (...by: readonly unknown[]) => unknown,
  by: readonly unknown[],
  { argnums, hasAux }: { readonly argnums: Positions; readonly hasAux: boolean },
): Pushed {
  const { leaves, spec: form } = flatten(by, isTensor), tensors = leaves.filter(isTensor);
  const counts = tensors.map((each) => each.numel()), total = counts.reduce((a, b) => a + b, 0);
  const starts = counts.map((_, k) => counts.slice(0, k).reduce((a, b) => a + b, 0));
  const bases = tensors.map(({ dtype, device, shape }, k) =>
    eye(total, null, { dtype, device }).narrow(1, starts[k] ?? 0, counts[k] ?? 0).reshape([total, ...shape])
  );
  let outputs: { readonly spec: TreeSpec; readonly auxiliary: unknown } | undefined;
  const rows = vmap((...tangents: readonly Tensor[]) => {
    const pushed = unflatten(form, tangents);
    const [, product, auxiliary] = jvp(of, by, Array.isArray(pushed) ? pushed : [], { hasAux });
    const found = flatten(product, isTensor);
    checkReal("jacfwd", tensors, found.leaves.filter(isTensor));
    outputs = { spec: found.spec, auxiliary };
    return found.leaves;
  }, { randomness: "same" })(...bases);
  if (!outputs) throw new InternalError("Expected a call of the function of jacfwd but found none");
  const jacobians = [rows].flat().filter(isTensor).map((pushed) => {
    const parts = tensors.map(({ shape }, k) =>
      pushed.narrow(0, starts[k] ?? 0, counts[k] ?? 0).movedim(0, -1).reshape([
        ...pushed.shape.slice(1),
        ...shape,
      ])
    );
    return only(unflatten(form, parts), argnums);
  });
  return { all: unflatten(outputs.spec, jacobians), auxiliary: outputs.auxiliary };
}

type HessianOptions = Pick<JacobianOptions, "argnums">;

/** Returns all second derivatives, like `torch.func.hessian`. */
export function hessian<A extends readonly unknown[], R, const P extends Positions = 0>(
  f: AnyFunction<A, R>,
  argnums?: P | { readonly argnums?: P },
): (...args: A) => Jacobian<Jacobian<R, Chosen<A, P>>, Chosen<A, P>>;
export function hessian<A extends readonly unknown[]>(
  f: AnyFunction<A>,
  ...given: Trailing<HessianOptions, ["argnums"]>
): (...args: A) => unknown {
  const { argnums = 0 } = trailing<HessianOptions>("hessian", ["argnums"], given);
  return jacfwd(jacrev(f, { argnums }), { argnums });
}

/** A function of some arguments, with the others fixed. */
function partOf<A extends readonly unknown[]>(
  owner: string,
  f: AnyFunction<A>,
  { args, argnums }: { readonly args: A; readonly argnums: Positions },
): { readonly of: (...by: readonly unknown[]) => unknown; readonly by: readonly unknown[] } {
  const positions = placesOf(owner, argnums, args.length);
  const of = (...by: readonly unknown[]): unknown => {
    const all: unknown[] = [...args];
    positions.forEach((at, k) => all[at] = by[k]);
    return Reflect.apply(f, undefined, all);
  };
  return { of, by: positions.map((at) => args[at]) };
}

/** Fewer rows than this run one after the other: batching costs more than it saves. */
const FEWEST_ROWS = 3;

/**
 * Applies a linear map to each unit tensor (1 at one element, 0 elsewhere) and stacks the results along the first
 * dimension: over a batch of them; one by one if there are few, and in compiled code, whose graph has the steps of
 * both. Empty for a tensor without elements.
 */
function overRows(
  map: (one: Tensor) => readonly Tensor[],
  { of, count, chunkSize }: {
    readonly of: Tensor;
    /** Number of tensors that the map returns. */
    readonly count: number;
    readonly chunkSize: number | null;
  },
): readonly Tensor[] {
  const { shape, dtype, device } = of, rows = of.numel();
  if (rows === 0) return [];
  const basis = eye(rows, null, { dtype, device }).reshape([rows, ...shape]);
  if (rows >= FEWEST_ROWS && !isTraced()) {
    const found = vmap((one: Tensor) => [...map(one)], { chunkSize })(basis);
    return Array.isArray(found) ? found.filter(isTensor) : [];
  }
  const found = basis.unbind().map(map);
  return Array.from({ length: count }, (_, at) => stack(found.flatMap((each) => each[at] ?? []), 0));
}

/** Returns the only value if one argument was selected, otherwise the array. */
function only(all: unknown, argnums: Positions): unknown {
  return typeof argnums === "number" && Array.isArray(all) ? all[0] : all;
}
