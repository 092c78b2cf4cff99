/**
 * The history of views: the base, and the calls by which a view follows from it. Invariant: a view that became a leaf
 * begins the history of its own views.
 */
import type { ViewState, ViewStep } from "./autograd_state.ts";
import type { Tensor } from "./tensor.ts";

/**
 * The base and steps of a view; null for a tensor that is not a view. Views of a base whose layout was replaced in
 * place are views of the former layout.
 */
export function viewOf(tensor: Tensor): ViewState<Tensor> | null {
  const { viewState } = tensor, above = viewState?.base.viewState;
  if (!viewState || !above?.succeeds) return viewState;
  const { steps, version, succeeds } = viewState;
  return tensor.viewState = { base: above.base, steps, version, ...(succeeds ? { succeeds } : {}) };
}

/** Notes that a tensor is a view of another one by a call. */
export function noteView(view: Tensor, viewed: Tensor, step: ViewStep<Tensor>): void {
  const parent = viewed.state?.requiresGrad ? null : viewOf(viewed);
  view.viewState = {
    base: parent === null ? viewed : parent.base,
    steps: parent === null ? [step] : [...parent.steps, step],
    version: viewed.storage.version,
  };
}
