/**
 * Derivatives of functions at a point: the namespace `autograd.functional`, like `torch.autograd.functional`. Results
 * are products with derivatives, or all of them, in the structure of the arguments. Invariant: results are
 * differentiable only with `createGraph`.
 */
import { checkFunction, optionsOf, refuseSurplus, refuseValue } from "../base/checked_input.ts";
import { checkedTensors } from "../tensor/checked.ts";
import { DynError } from "../base/errors.ts";
import { ops } from "../tensor/eager.ts";
import { enableGrad } from "../tensor/modes.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";
import { isTraced, overBatch } from "./batches/over_batch.ts";
import { grad } from "./entry_points.ts";

/** A tensor, or a list of them. */
export type TensorOrList = Tensor | readonly Tensor[];

/** A function to differentiate. */
export type TensorFunction = (...inputs: Tensor[]) => TensorOrList;

/** Options of derivatives. */
export interface DerivativeOptions {
  /** Whether they can be differentiated themselves; default false. */
  readonly createGraph?: boolean;
  /** Whether an output that does not depend on an input is an error; default false: its derivative is 0. */
  readonly strict?: boolean;
}

const DERIVATIVE_OPTIONS = ["createGraph", "strict"] as const;

const listOf = (value: TensorOrList): readonly Tensor[] => checkedTensors(value, "autograd.functional");

/** Returns a list in the form of `like`: one tensor or several. */
const formed = (like: TensorOrList, list: readonly Tensor[]): TensorOrList =>
  isTensor(like) ? list[0] ?? list : list;

interface Point {
  readonly inputs: readonly Tensor[];
  readonly outputs: readonly Tensor[];
  readonly value: TensorOrList;
}

/** Calls a function on arguments with a new history. Throws DynError if it returns anything but tensors. */
function at(owner: string, f: TensorFunction, { given, createGraph }: {
  readonly given: TensorOrList;
  readonly createGraph: boolean;
}): Point {
  const inputs = listOf(given).map((x) =>
    createGraph && x.requiresGrad ? ops.viewAs(x, x) : x.detach().requiresGrad_()
  );
  checkFunction(f, "of tensors to differentiate");
  const value = f(...inputs), outputs = listOf(value);
  if (!outputs.every(isTensor)) refuseValue(`a function that returns tensors in ${owner}`, value);
  return { inputs, outputs, value };
}

/** Gradients of outputs, zeros for inputs without one; if `strict`, throws DynError for those. */
function pulled(
  outputs: readonly Tensor[],
  inputs: readonly Tensor[],
  { tangents, createGraph = false, strict = false }: DerivativeOptions & {
    readonly tangents: readonly Tensor[];
  },
): readonly Tensor[] {
  const used = outputs.flatMap((output, k) => {
    const tangent = tangents[k];
    return output.requiresGrad && tangent ? [{ output, tangent }] : [];
  });
  const found = used.length === 0 ? [] : grad(
    used.map(({ output }) => output),
    inputs,
    used.map(({ tangent }) => tangent),
    { createGraph, retainGraph: true, allowUnused: true },
  );
  return inputs.map((input, k) => {
    const each = found[k];
    if (!each && strict) {
      throw new DynError(`Expected outputs that depend on input ${k} but found none`);
    }
    return each ?? ops.zerosLike(input.detach());
  });
}

const settled = (list: readonly Tensor[], createGraph: boolean): readonly Tensor[] =>
  createGraph ? list : list.map((each) => each.detach());

/** The tangents of a product; by default ones, for an output of a single element. */
function tangentsOf(
  owner: string,
  given: TensorOrList | null | undefined,
  like: readonly Tensor[],
): readonly Tensor[] {
  if (given === null || given === undefined) {
    if (like.length === 1 && like.every((x) => x.numel() === 1)) {
      return like.map((x) => ops.onesLike(x.detach()));
    }
    throw new DynError(`Expected v for ${owner} but found none; only for one element may it be left out`);
  }
  const list = listOf(given);
  if (list.length === like.length && list.every((v, k) => `${v.shape}` === `${like[k]?.shape}`)) return list;
  const shapes = (all: readonly Tensor[]) => all.map(({ shape }) => `[${shape}]`).join(", ");
  throw new DynError(`Expected v of shape ${shapes(like)} for ${owner} but found ${shapes(list)}`);
}

/** [outputs, v · Jacobian], as `torch.autograd.functional.vjp`. */
export function vjp(
  f: TensorFunction,
  inputs: TensorOrList,
  v?: TensorOrList | null,
  options: DerivativeOptions = {},
): [outputs: TensorOrList, product: TensorOrList] {
  if (arguments.length > 4) refuseSurplus("vjp", 4, arguments);
  const { createGraph = false } = optionsOf("autograd.functional", options, DERIVATIVE_OPTIONS);
  return enableGrad(() => {
    const point = at("vjp", f, { given: inputs, createGraph });
    const tangents = tangentsOf("vjp", v, point.outputs);
    const found = pulled(point.outputs, point.inputs, { ...options, tangents });
    return [
      formed(point.value, settled(point.outputs, createGraph)),
      formed(inputs, settled(found, createGraph)),
    ];
  });
}

/** [outputs, Jacobian · v], as `torch.autograd.functional.jvp`: by differentiating a reverse pass, which is linear. */
export function jvp(
  f: TensorFunction,
  inputs: TensorOrList,
  v?: TensorOrList | null,
  options: DerivativeOptions = {},
): [outputs: TensorOrList, product: TensorOrList] {
  if (arguments.length > 4) refuseSurplus("jvp", 4, arguments);
  const { createGraph = false } = optionsOf("jvp", options, DERIVATIVE_OPTIONS);
  return enableGrad(() => {
    const point = at("jvp", f, { given: inputs, createGraph }), tangents = tangentsOf("jvp", v, point.inputs);
    const seeds = point.outputs.map((each) => ops.onesLike(each.detach()).requiresGrad_());
    const linear = pulled(point.outputs, point.inputs, { ...options, tangents: seeds, createGraph: true });
    const found = pulled(linear, seeds, { tangents, createGraph });
    return [
      formed(point.value, settled(point.outputs, createGraph)),
      formed(point.value, settled(found, createGraph)),
    ];
  });
}

/** [output, v · Hessian] of a function that returns one element, as `torch.autograd.functional.vhp`. */
export function vhp(
  f: TensorFunction,
  inputs: TensorOrList,
  v?: TensorOrList | null,
  options: DerivativeOptions = {},
): [output: Tensor, product: TensorOrList] {
  if (arguments.length > 4) refuseSurplus("vhp", 4, arguments);
  return secondProduct("vhp", f, { inputs, v, options });
}

/** [output, Hessian · v], as `torch.autograd.functional.hvp`. Computed as `vhp`, since a Hessian is symmetric. */
export function hvp(
  f: TensorFunction,
  inputs: TensorOrList,
  v?: TensorOrList | null,
  options: DerivativeOptions = {},
): [output: Tensor, product: TensorOrList] {
  if (arguments.length > 4) refuseSurplus("hvp", 4, arguments);
  return secondProduct("hvp", f, { inputs, v, options });
}

function secondProduct(owner: string, f: TensorFunction, { inputs, v, options }: {
  readonly inputs: TensorOrList;
  readonly v: TensorOrList | null | undefined;
  readonly options: DerivativeOptions;
}): [output: Tensor, product: TensorOrList] {
  const { createGraph = false } = optionsOf(owner, options, DERIVATIVE_OPTIONS);
  return enableGrad(() => {
    const point = at(owner, f, { given: inputs, createGraph }), output = oneElement(owner, point);
    const tangents = tangentsOf(owner, v, point.inputs);
    const first = pulled([output], point.inputs, {
      tangents: [ops.onesLike(output.detach())],
      createGraph: true,
    });
    const found = pulled(first, point.inputs, { ...options, tangents });
    return [createGraph ? output : output.detach(), formed(inputs, settled(found, createGraph))];
  });
}

function oneElement(owner: string, { value }: Point): Tensor {
  if (isTensor(value) && value.numel() === 1) return value;
  const found = isTensor(value) ? `shape [${value.shape}]` : "a list";
  throw new DynError(`Expected a function that returns one element in ${owner} but found ${found}`);
}

/**
 * All derivatives of a function, as `torch.autograd.functional.jacobian`: for each output (a list if the function
 * returns one) the derivatives by each input, of the shape of the output followed by that of the input.
 */
export function jacobian(
  f: TensorFunction,
  inputs: TensorOrList,
  options: DerivativeOptions = {},
): TensorOrList | readonly TensorOrList[] {
  if (arguments.length > 3) refuseSurplus("jacobian", 3, arguments);
  const { createGraph = false } = optionsOf("jacobian", options, DERIVATIVE_OPTIONS);
  return enableGrad(() => {
    const point = at("jacobian", f, { given: inputs, createGraph });
    const parts = point.outputs.map((output) => {
      const rows = rowsOf(output, point.inputs, options);
      return formed(inputs, settled(rows, createGraph));
    });
    return isTensor(point.value) ? parts[0] ?? parts : parts;
  });
}

/**
 * The gradients of each element of an output: as one batch, or one by one in compiled code, where the steps are
 * unrolled.
 */
function rowsOf(output: Tensor, inputs: readonly Tensor[], options: DerivativeOptions): readonly Tensor[] {
  const { shape, dtype, device } = output, count = output.numel();
  const whole = (input: Tensor) => [...shape, ...input.shape];
  if (count === 0) return inputs.map((input) => ops.newZeros(input, whole(input)));
  const basis = ops.reshape(ops.eye(count, null, { dtype, device }), [count, ...shape]);
  const row = (one: Tensor | undefined) =>
    pulled([output], inputs, { ...options, tangents: one ? [one] : [] });
  if (isTraced()) {
    const rows = basis.unbind().map(row);
    return inputs.map((input, k) =>
      ops.reshape(ops.stack(rows.flatMap((each) => each[k] ?? [])), whole(input))
    );
  }
  const { tensors, batched } = overBatch(
    (one) => ({ tensors: row(one), aside: null }),
    [basis],
    { size: count, randomness: "error" },
  );
  return inputs.map((input, k) => {
    const found = tensors[k];
    return found && batched[k]
      ? ops.reshape(found, whole(input))
      : ops.newZeros(input.detach(), whole(input));
  });
}

/**
 * All second derivatives of a function that returns one element, as `torch.autograd.functional.hessian`: a tensor for
 * one input, a list of lists for several.
 */
export function hessian(
  f: TensorFunction,
  inputs: TensorOrList,
  options: DerivativeOptions = {},
): TensorOrList | readonly TensorOrList[] {
  if (arguments.length > 3) refuseSurplus("hessian", 3, arguments);
  checkFunction(f, "of tensors to differentiate");
  const gradient: TensorFunction = (...given) => {
    const output = oneElement("hessian", { inputs: given, outputs: [], value: f(...given) });
    const found = pulled([output], given, {
      ...options,
      tangents: [ops.onesLike(output.detach())],
      createGraph: true,
    });
    return formed(inputs, found);
  };
  return jacobian(gradient, inputs, options);
}
