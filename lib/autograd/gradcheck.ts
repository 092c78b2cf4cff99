/**
 * Checks gradients of a float64 function against finite differences; an error names the first element that differs.
 * Invariant: the inputs are unchanged afterwards.
 */
import { checkFunction, optionsOf, refuseSurplus } from "../base/checked_input.ts";
import { checkedTensors } from "../tensor/checked.ts";
import { DynError } from "../base/errors.ts";
import { enableGrad, noGrad } from "../tensor/modes.ts";
import { ops } from "../tensor/eager.ts";
import { isTensor, Tensor } from "../tensor/tensor.ts";
import { isComplex, isDifferentiable } from "../base/dtype.ts";
import { grad } from "./entry_points.ts";

/** Tolerances of `gradcheck`. */
export interface GradcheckOptions {
  /** Step of the differences. */
  readonly eps?: number | undefined;
  readonly atol?: number | undefined;
  readonly rtol?: number | undefined;
}

/** A function to check; it returns a tensor or several. */
export type Differentiable = (...inputs: Tensor[]) => Tensor | readonly Tensor[];

/**
 * Compares gradients with central differences, like `torch.autograd.gradcheck`. Inputs that require grad must be
 * float64. Throws DynError if they differ.
 */
export function gradcheck(
  fn: Differentiable,
  inputs: Tensor | readonly Tensor[],
  options: GradcheckOptions = {},
): boolean {
  if (arguments.length > 3) refuseSurplus("gradcheck", 3, arguments);
  const { eps = 1e-6, atol = 1e-5, rtol = 1e-3 } = optionsOf("gradcheck", options, ["eps", "atol", "rtol"]);
  checkFunction(fn, "of tensors to check");
  const list = checkedTensors(inputs, "gradcheck");
  const checked = list.filter((t) => t.requiresGrad);
  for (const each of checked) {
    if (each.dtype !== "float64") {
      throw new DynError(`Expected float64 inputs for gradcheck but found ${each.dtype}`);
    }
  }
  const outputs = floatsOf(fn(...list));
  // computed before the differences, which write to the inputs and so invalidate saved tensors
  const jacobian = outputs.map((output) => output.requiresGrad ? jacobians(output, checked) : null);
  outputs.forEach((output, k) => {
    const analytic = jacobian[k];
    if (!analytic) return;
    const numeric = checked.map((input) => differences(() => floatsOf(fn(...list))[k] ?? output, input, eps));
    numeric.forEach((columns, i) => compare(columns, analytic[i] ?? [], { atol, rtol, output: k, input: i }));
  });
  return true;
}

/**
 * Compares gradients of gradients with differences, like `torch.autograd.gradgradcheck`: with respect to the inputs and
 * the gradients of the outputs, which are random by default. Throws DynError if they differ.
 */
export function gradgradcheck(
  fn: Differentiable,
  inputs: Tensor | readonly Tensor[],
  gradOutputs: Tensor | readonly Tensor[] | null = null,
  options: GradcheckOptions = {},
): boolean {
  if (arguments.length > 4) refuseSurplus("gradgradcheck", 4, arguments);
  checkFunction(fn, "of tensors to check");
  const list = checkedTensors(inputs, "gradcheck"), outputs = floatsOf(fn(...list));
  const given = gradOutputs === null
    ? outputs.map((each) => ops.randnLike(each.detach()).requiresGrad_())
    : checkedTensors(gradOutputs, "gradOutputs of gradgradcheck");
  const first = (...both: Tensor[]): readonly Tensor[] => {
    const own = both.slice(0, list.length), by = own.filter((each) => each.requiresGrad);
    return enableGrad(() => {
      const results = floatsOf(fn(...own)), used = results.flatMap((each, k) => each.requiresGrad ? [k] : []);
      const found = grad(
        used.flatMap((k) => results[k] ?? []),
        by,
        used.map((k) => both[list.length + k] ?? null),
        { createGraph: true, allowUnused: true },
      );
      return found.map((each, k) =>
        each ?? ops.zerosLike(by[k]?.detach() ?? own[0] ?? outputs[0] ?? ops.zeros([1]))
      );
    });
  };
  return gradcheck(first, [...list, ...given], options);
}

function floatsOf(result: Tensor | readonly Tensor[]): Tensor[] {
  return (isTensor(result) ? [result] : [...result])
    .filter((t) => isDifferentiable(t.dtype))
    .map((t) => isComplex(t.dtype) ? ops.viewAsReal(t) : t);
}

/** Returns for each element of the input the change of all elements of the output. */
function differences(output: () => Tensor, input: Tensor, eps: number): number[][] {
  return noGrad(() => {
    const saved = input.clone();
    const flat = numbersOf(saved);
    const columns = flat.map((value, j) => {
      const at = (x: number) => {
        input.copy_(ops.reshape(withElement(flat, j, x, saved), saved.shape));
        return numbersOf(output());
      };
      const above = at(value + eps), below = at(value - eps);
      return above.map((a, i) => (a - (below[i] ?? 0)) / (2 * eps));
    });
    input.copy_(saved);
    return columns;
  });
}

function withElement(flat: readonly number[], j: number, x: number, like: Tensor): Tensor {
  const row = ops.reshape(like, [-1]);
  const { device } = like;
  const position = ops.arange(flat.length, { device });
  return ops.where(ops.eq(position, j), ops.full([flat.length], x, { dtype: "float64", device }), row);
}

function numbersOf(tensor: Tensor): number[] {
  return Array.from<number | bigint, number>(tensor.detach().toTypedArray(), Number);
}

/** Returns for each input, for each of its elements, the derivatives of all elements of the output. */
function jacobians(output: Tensor, inputs: readonly Tensor[]): number[][][] {
  const count = output.numel();
  const rows: number[][][] = [];
  for (let i = 0; i < count; i++) {
    const position = ops.reshape(ops.arange(count, { device: output.device }), output.shape);
    const pick = ops.to(ops.eq(position, i), output.dtype);
    const grads = grad([output], inputs, [pick], { retainGraph: true, allowUnused: true });
    rows.push(grads.map((g, k) => g ? numbersOf(g) : new Array<number>(inputs[k]?.numel() ?? 0).fill(0)));
  }
  return inputs.map((input, k) =>
    Array.from({ length: input.numel() }, (_, j) => rows.map((row) => row[k]?.[j] ?? 0))
  );
}

function compare(
  numeric: readonly (readonly number[])[],
  analytic: readonly (readonly number[])[],
  { atol, rtol, output, input }: {
    readonly atol: number;
    readonly rtol: number;
    readonly output: number;
    readonly input: number;
  },
): void {
  numeric.forEach((column, j) =>
    column.forEach((n, i) => {
      const a = analytic[j]?.[i] ?? 0;
      if (Math.abs(n - a) <= atol + rtol * Math.abs(n) || (Number.isNaN(n) && Number.isNaN(a))) return;
      throw new DynError(
        `Expected the derivative of output ${output}[${i}] by input ${input}[${j}] to be ${n} but found ${a}`,
      );
    })
  );
}
