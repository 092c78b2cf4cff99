/**
 * Hooks on the gradients of several tensors at once, like `torch.autograd.graph.register_multi_grad_hook`. Invariant: a
 * hook is called at most once in each backward pass.
 */
import { checkFunction, checkOneOf, optionsOf, refuseSurplus } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import type { HookHandle } from "../base/hook_list.ts";
import { checkedTensors } from "../tensor/checked.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { currentPass } from "./engine.ts";
import { gradientEdge } from "./node.ts";

/** The gradients of all tensors, in their order; null for those that the pass does not reach. */
export type AllGradientsHook = (grads: readonly (Tensor | null)[]) => void;

/** The first gradient that arrives. */
export type AnyGradientHook = (grad: Tensor) => void;

/** The gradients that have arrived in a pass. */
interface Arrived {
  readonly grads: (Tensor | null)[];
  /** Gradients that are still to come. */
  left: number;
}

/**
 * Calls `fn` in each backward pass with the gradients of all tensors that it reaches, once they have arrived; with the
 * mode "any" with the first. Throws DynError for tensors that do not require grad.
 */
export function registerMultiGradHook(
  tensors: readonly Tensor[],
  fn: AllGradientsHook,
  options?: { readonly mode?: "all" },
): HookHandle;
/** Calls `fn` with the first gradient that arrives in each pass. */
export function registerMultiGradHook(
  tensors: readonly Tensor[],
  fn: AnyGradientHook,
  options: { readonly mode: "any" },
): HookHandle;
export function registerMultiGradHook(
  tensors: readonly Tensor[],
  fn: (found: never) => void,
  options: { readonly mode?: "all" | "any" } = {},
): HookHandle {
  if (arguments.length > 3) refuseSurplus("registerMultiGradHook", 3, arguments);
  const list = checkedTensors(tensors, "registerMultiGradHook");
  const { mode = "all" } = optionsOf("registerMultiGradHook", options, ["mode"]);
  checkFunction(fn, "of gradients");
  checkOneOf("mode of registerMultiGradHook", mode, ["all", "any"]);
  const without = list.findIndex(({ requiresGrad }) => !requiresGrad);
  if (without >= 0) {
    throw new DynError(
      `Expected tensors that require grad for registerMultiGradHook but tensor ${without} does not`,
    );
  }
  const passes = new WeakMap<object, Arrived>();
  const arrive = (grad: Tensor, k: number): void => {
    const pass = currentPass(), known = passes.get(pass);
    const arrived = known ?? { grads: list.map(() => null), left: expected(list, mode) };
    if (!known) passes.set(pass, arrived);
    arrived.grads[k] = grad;
    arrived.left--;
    if (arrived.left === 0) Reflect.apply(fn, undefined, [mode === "any" ? grad : arrived.grads]);
  };
  const handles = list.map((tensor, k) => tensor.registerHook((grad) => arrive(grad, k)));
  return { remove: () => handles.forEach((handle) => handle.remove()) };
}

/** The number of gradients after which a hook is called in the present pass. */
function expected(tensors: readonly Tensor[], mode: "all" | "any"): number {
  if (mode === "any") return 1;
  const pass = currentPass();
  return tensors.filter((tensor) => {
    const edge = gradientEdge(tensor);
    return edge !== null && pass.reaches(edge);
  }).length;
}
