/**
 * Jacobians and Hessians, as `torch.func`. Input: functions of tensors; output: functions that give all derivatives of
 * each element by each. Invariant: a derivative has the shape of the result followed by that of the argument.
 */
import { type Trailing, trailing } from "../base/arguments.ts";
import { flatten, unflatten } from "../base/tree.ts";
import { eye, newZeros, stack } from "../tensor/generated_functions.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";
import type { Positions } from "./arguments.ts";
import { type AnyFunction, linearize, vjp } from "./transforms.ts";

interface JacobianOptions {
  readonly argnums?: Positions;
}

type Given = Trailing<JacobianOptions, ["argnums"]>;

/** All derivatives by reverse passes, one an element of the result, as `torch.func.jacrev`. */
export function jacrev<A extends readonly unknown[]>(
  f: AnyFunction<A>,
  ...given: Given
): (...args: A) => unknown {
  const { argnums = 0 } = trailing<JacobianOptions>("jacrev", ["argnums"], given);
  return (...args) => {
    const { of, by } = partOf(f, args, argnums), [value, pull] = vjp(of, ...by);
    const { leaves: inputs, spec: form } = flatten(by, isTensor), tensors = inputs.filter(isTensor);
    const { leaves, spec } = flatten(value, isTensor), outputs = leaves.filter(isTensor);
    const zeros = outputs.map((each) => each.detach().mul(0));
    const jacobians = outputs.map((output, k) => {
      const rows = basisOf(output).map((one) =>
        flatten(pull(unflatten(spec, zeros.with(k, one))), isTensor).leaves.filter(isTensor)
      );
      const parts = tensors.map((input, at) =>
        joined(rows.flatMap((row) => row[at] ?? []), { output, input, dim: 0 })
      );
      return only(unflatten(form, parts), argnums);
    });
    return unflatten(spec, jacobians);
  };
}

/** All derivatives by pushing one tangent an element of the argument, as `torch.func.jacfwd`. */
export function jacfwd<A extends readonly unknown[]>(
  f: AnyFunction<A>,
  ...given: Given
): (...args: A) => unknown {
  const { argnums = 0 } = trailing<JacobianOptions>("jacfwd", ["argnums"], given);
  return (...args) => {
    const { of, by } = partOf(f, args, argnums), [value, push] = linearize(of, ...by);
    const { leaves: inputs, spec: form } = flatten(by, isTensor), tensors = inputs.filter(isTensor);
    const { leaves, spec } = flatten(value, isTensor), outputs = leaves.filter(isTensor);
    const zeros = tensors.map((each) => each.detach().mul(0));
    const columns = tensors.map((input, k) =>
      basisOf(input).map((one) => {
        const tangents = unflatten(form, zeros.with(k, one));
        return flatten(push(...(Array.isArray(tangents) ? tangents : [])), isTensor).leaves.filter(isTensor);
      })
    );
    const jacobians = outputs.map((output, o) => {
      const parts = tensors.map((input, k) =>
        joined((columns[k] ?? []).flatMap((column) => column[o] ?? []), { output, input, dim: -1 })
      );
      return only(unflatten(form, parts), argnums);
    });
    return unflatten(spec, jacobians);
  };
}

/** All second derivatives, as `torch.func.hessian`. */
export function hessian<A extends readonly unknown[]>(
  f: AnyFunction<A>,
  ...given: Given
): (...args: A) => unknown {
  const { argnums = 0 } = trailing<JacobianOptions>("hessian", ["argnums"], given);
  return jacfwd(jacrev(f, { argnums }), { argnums });
}

/** A function of some arguments, the others as they are. */
function partOf<A extends readonly unknown[]>(
  f: AnyFunction<A>,
  args: A,
  argnums: Positions,
): { readonly of: (...by: readonly unknown[]) => unknown; readonly by: readonly unknown[] } {
  const positions = [argnums].flat().map((at) => at < 0 ? at + args.length : at);
  const of = (...by: readonly unknown[]): unknown => {
    const all: unknown[] = [...args];
    positions.forEach((at, k) => all[at] = by[k]);
    return Reflect.apply(f, undefined, all);
  };
  return { of, by: positions.map((at) => args[at]) };
}

/** For each element of a tensor the tensor that has 1 there and 0 elsewhere. */
function basisOf(x: Tensor): readonly Tensor[] {
  const { shape, dtype, device } = x;
  return eye(x.numel(), null, { dtype, device }).unbind().map((row) => row.reshape(shape));
}

/** Rows or columns of a Jacobian as one tensor. */
function joined(
  list: readonly Tensor[],
  { output, input, dim }: { readonly output: Tensor; readonly input: Tensor; readonly dim: number },
): Tensor {
  const shape = [...output.shape, ...input.shape];
  return list.length === 0 ? newZeros(input, shape) : stack(list, dim).reshape(shape);
}

/** The form of one argument where one was asked for, of an array of them otherwise. */
function only(all: unknown, argnums: Positions): unknown {
  return typeof argnums === "number" && Array.isArray(all) ? all[0] : all;
}
