/**
 * Custom ops written as kernels, in C++ and WGSL, with a function that makes the results; graphs hold one node for a
 * call. Invariant: kernels read and write memory of their device in place; a text is compiled once for the types of
 * its tensors.
 */
import { optionsOf, refuseSurplus } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { flatten } from "../base/tree.ts";
import type { KernelCall } from "../loops/device.ts";
import { ops } from "../tensor/eager.ts";
import { deviceNamed, isShapesOnly } from "../tensor/storage.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";
import { type CustomOp, customOp, type OpFunction } from "./custom_op.ts";

/** A kernel in the languages of the devices that it supports. */
export interface KernelOptions<F extends OpFunction> {
  /**
   * For the CPU: C++ that defines `void kernel(…)` with a pointer for each tensor among the arguments (`const float*`, to
   * row-major elements), one for each result (`float*`) and `const double*` for the numbers.
   */
  readonly cpp?: string;
  /**
   * For WebGPU: WGSL with an entry point `main`, which finds tensors among the arguments as `in0`, …, results as `out0`, …
   * and the numbers as `numbers`, all of them arrays. Tensors are of float32 and int32.
   */
  readonly wgsl?: string;
  /** Returns the numbers for kernels, given the arguments; by default, the numbers among these. */
  readonly numbers?: (...args: Parameters<F>) => readonly number[];
  /**
   * Returns workgroups along x and y, given the arguments; by default, one invocation along x per element of the first
   * result, 64 per group.
   */
  readonly workgroups?: (...args: Parameters<F>) => readonly [x: number, y?: number];
}

/** Default number of invocations of a workgroup. */
const WORKGROUP = 64;

/**
 * Defines an op by its kernels. `results` makes its results from its arguments, as tensors of which the kernel writes
 * every element: `(x) => x.newEmpty(x.shape)`. It is also called with arguments without elements, and then describes the
 * results of a call in a graph.
 *
 * ```ts
 * import { compile, library, tensor, type Tensor } from "jsr:@x/dyn";
 * const axpy = library.kernel("mylib::axpy", (x: Tensor, _y: Tensor, _a: number) => x.newEmpty(x.shape), {
 *   numbers: (x, _y, a) => [x.numel(), a],
 *   cpp: `void kernel(const float* x, const float* y, float* out, const double* numbers) {
 *     const float a = numbers[1];
 *     for (long i = 0; i < (long) numbers[0]; ++i) out[i] = a * x[i] + y[i];
 *   }`,
 *   wgsl: `@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
 *     if (id.x < u32(numbers[0])) { out0[id.x] = numbers[1] * in0[id.x] + in1[id.x]; }
 *   }`,
 * });
 * axpy.registerAutograd((_context, grad: Tensor) => [grad.mul(2), grad, null]);
 * const step = compile((x: Tensor) => axpy(x.sin(), x, 2).sum(), { fullgraph: true });
 * console.log(step(tensor([0, 0], { dtype: "float32" })).item()); // 0
 * ```
 *
 * Throws DynError for a kernel in no language, and calls for tensors of several devices, or of one that it has none for.
 */
export function kernel<F extends OpFunction>(
  name: string,
  results: F,
  options: KernelOptions<F>,
): CustomOp<F> {
  if (arguments.length > 3) refuseSurplus("kernel", 3, arguments);
  const { cpp = null, wgsl = null } = optionsOf("kernel", options, ["cpp", "wgsl", "numbers", "workgroups"]);
  if (cpp === null && wgsl === null) {
    throw new DynError(`Expected a kernel of ${name} in C++ (cpp) or WGSL (wgsl) but found neither`);
  }
  const compiled = new Map<string, (call: KernelCall) => void>();
  const run = (...args: Parameters<F>): unknown => {
    const { leaves } = flatten(args, isTensor), given = leaves.filter(isTensor);
    const made: unknown = Reflect.apply(results, undefined, args), outputs = [made].flat().filter(isTensor);
    const [device = "cpu", ...others] = new Set([...given, ...outputs].map((each) => each.device));
    if (others.length > 0) {
      throw new DynError(
        `Expected tensors of ${name} on one device but found ${[device, ...others].join(" and ")}`,
      );
    }
    if (isShapesOnly(device)) return made;
    if (outputs.every((each) => each.numel() === 0)) return made;
    const inputs = given.map(fromItsStart),
      key = [device, ...[...inputs, ...outputs].map(({ dtype }) => dtype)].join();
    let start = compiled.get(key);
    if (!start) {
      const { compileSource } = deviceNamed(device);
      if (!compileSource) {
        throw new DynError(`Expected a device that runs kernels of users but found ${device}`);
      }
      const types = (tensors: readonly Tensor[]) => tensors.map(({ dtype }) => dtype);
      const source = { name, cpp, wgsl, inputs: types(inputs), outputs: types(outputs) };
      compiled.set(key, start = Reflect.apply(compileSource, deviceNamed(device), [source]));
    }
    const tensors = [...inputs, ...outputs];
    if (outputs.some(({ layout }) => !layout.contiguous)) {
      throw new DynError(`Expected results of ${name} in row-major order but found others`);
    }
    const numbers = options.numbers?.(...args) ?? leaves.filter((leaf) => typeof leaf === "number");
    const [x = 1, y = 1] = options.workgroups?.(...args) ??
      [Math.ceil((outputs[0]?.numel() ?? 1) / WORKGROUP)];
    start({
      memories: tensors.map(({ storage }) => storage.memory),
      bytes: tensors.map(({ layout }) => layout.byteLength),
      numbers: numbers.map(Number),
      workgroups: [x, y],
    });
    return made;
  };
  const op = customOp(name, run as F);
  op.registerFake(results);
  return op;
}

/** Returns a tensor whose elements are in row-major order from the start of its memory. */
function fromItsStart(tensor: Tensor): Tensor {
  const packed = ops.contiguous(tensor);
  return packed.offset === 0 ? packed : ops.clone(packed);
}
