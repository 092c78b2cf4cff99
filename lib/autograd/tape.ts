/**
 * The tape: eager dispatch reports every call that must be differentiable, and the results get their node. Invariant:
 * after an in-place call the written tensor, its base and all views of that base have a history that includes the
 * call.
 */
import { DynError, InternalError } from "../base/errors.ts";
import { isDifferentiable } from "../base/dtype.ts";
import type { HookHandle } from "../base/hook_list.ts";
import { type OpDefinition, viewsMemory } from "../ops/definition.ts";
import type { TensorHook, ViewState, ViewStep } from "../tensor/autograd_state.ts";
import { callResolved, ops } from "../tensor/eager.ts";
import type { Layout } from "../tensor/layout.ts";
import { sharedResult } from "../tensor/inplace.ts";
import { enableGrad, noGrad } from "../tensor/modes.ts";
import { entryOf, mapTensors, type TensorArgs } from "../tensor/plan.ts";
import { isTensor, Tensor } from "../tensor/tensor.ts";
import { viewOf } from "../tensor/view_state.ts";
import {
  AccumulateGrad,
  type ApplyOptions,
  type Edge,
  gradientEdge,
  Node,
  nodeOf,
  setHistory,
} from "./node.ts";
import { OpNode, ruleReads } from "./op_node.ts";
import { TapeHook } from "./tape_hook.ts";

/** Sets the node of results. */
export function record(call: {
  readonly definition: OpDefinition;
  readonly args: TensorArgs;
  readonly results: readonly Tensor[];
}): void {
  if (viewsMemory(call.definition)) checkAddressed(call.args, call.results);
  const node = new OpNode(call.definition, call.args);
  call.results.forEach((result, output) => {
    const name = call.definition.results?.[output];
    const auxiliary = name !== undefined && call.definition.auxiliary?.includes(name);
    if (isDifferentiable(result.dtype) && !auxiliary) setHistory(result, node, output);
    if (result.viewState === null) return;
    // A composition with its own rule returns a view of an intermediate, which has no history
    if (call.definition.implementation.kind !== "view") result.viewState = null;
    else result.viewState.version = result.storage.version;
  });
  node.saveResults(call.results);
}

/** Throws DynError unless asStrided shows elements of a row-major tensor by the positions that its gradient counts in. */
function checkAddressed({ self, storageOffset }: TensorArgs, [result]: readonly Tensor[]): void {
  if (!isTensor(self) || !result) return;
  const { layout, offset } = self, start = result.offset - offset;
  const isWhole = layout.contiguous && (offset === 0 || storageOffset === null);
  if (isWhole && start + result.layout.extent <= layout.numel) return;
  throw new DynError(
    `Expected asStrided of a whole tensor in row-major order where gradients flow but found sizes [${self.shape}], ` +
      `strides [${self.strides}] and offset ${offset}; take contiguous() first, or detach()`,
  );
}

/** Records an in-place call around `write`, which performs it. */
export function recordInplace(
  call: { readonly definition: OpDefinition; readonly args: TensorArgs },
  target: Tensor,
  write: () => void,
): void {
  const written = gradientEdge(viewOf(target)?.base ?? target)?.node;
  if (written?.refusesWrites) {
    throw new DynError(
      `Expected a tensor of its own to write by ${call.definition.name}_ but found one that passes hooks of a module ` +
        `(${written.name}); write out of place, or into a clone`,
    );
  }
  const [first] = Object.keys(call.definition.params);
  const copy = first !== undefined && ruleReads(call.definition, first)
    ? noGrad(() => ops.clone(target))
    : undefined;
  const node = new OpNode(call.definition, call.args, copy ? { before: { target, copy } } : {});
  const viewState = viewOf(target);
  if (viewState === null) {
    write();
    setHistory(target, node, 0);
    node.saveResults([target]);
  } else {
    const { base } = viewState, baseEdge = gradientEdge(base), steps = stepsToWrite(target, viewState);
    write();
    setHistory(base, new CopySlices(node, { base: base.layout, baseEdge, steps }), 0);
    refreshView(target, viewState);
    // The node itself is part of another, which releases what it saves
    node.saveResults([target], gradientEdge);
  }
}

/** A step on the path from the gradient of a base to that of a view, and back. */
interface SliceStep {
  readonly read: (whole: Tensor) => Tensor;
  /** The whole with the elements of the step replaced. */
  readonly write: (whole: Tensor, value: Tensor) => Tensor;
}

/**
 * Returns the steps between a base and a view that is written to. If a view repeats elements or addresses memory, they
 * become one step, by strides. Throws DynError for a base that strides do not describe.
 */
function stepsToWrite(view: Tensor, { base, steps }: ViewState<Tensor>): readonly SliceStep[] {
  const isInvertible = ({ definition, definition: { implementation } }: ViewStep<Tensor>) =>
    implementation.kind === "view" && implementation.writeBack !== undefined && !viewsMemory(definition);
  if (steps.every(isInvertible)) {
    return steps.map((step) => ({
      read: (whole) => applyStep(whole, step),
      write: (whole, value) => writeBack(step, whole, value),
    }));
  }
  if (!base.isContiguous()) {
    throw new DynError(
      `Expected a row-major tensor behind a view that is written to but found strides [${base.strides}] of shape ` +
        `[${base.shape}]`,
    );
  }
  const { shape, strides } = view, offset = view.offset - base.offset;
  return [{
    read: (whole) => ops.readStrided(whole, shape, strides, offset),
    write: (whole, value) => ops.writeStrided(whole, value, shape, strides, offset),
  }];
}

/** Returns the operation that created a tensor; for views of a base written in place, the current one. */
export function gradFnOf(tensor: Tensor): Node | null {
  const viewState = viewOf(tensor);
  if (viewState !== null && viewState.version !== tensor.storage.version) {
    const shared = sharedResult(viewState);
    if (shared) {
      throw new DynError(`Expected unchanged elements of ${shared} but found them written to in place`);
    }
    // A base that begins to require grad later on gives its history to the views that are out of date then
    if (viewState.base.requiresGrad && !tensor.state?.requiresGrad) refreshView(tensor, viewState);
  }
  const gradFn = tensor.state?.gradFn ?? null;
  return gradFn === null ? null : nodeOf(gradFn);
}

/** Gives a view the history of its base followed by the view's own steps. */
function refreshView(view: Tensor, state: ViewState<Tensor>): void {
  state.version = view.storage.version;
  const again = enableGrad(() => replay(state.base, state.steps));
  if (again.layout !== view.layout || again.offset !== view.offset) {
    throw new DynError(
      `Expected the layout of a tensor to stay while gradients flow through its views but found it changed in place, to ` +
        `shape [${state.base.shape}]; change that of a view, as transpose makes`,
    );
  }
  const edge = again.state?.gradFn;
  if (edge) setHistory(view, nodeOf(edge), again.state?.output ?? 0);
}

/** Applies view steps to a tensor. */
function replay(base: Tensor, steps: readonly ViewStep<Tensor>[]): Tensor {
  return steps.reduce(applyStep, base);
}

function applyStep(of: Tensor, step: ViewStep<Tensor>): Tensor {
  const result = callResolved(step.definition, withViewed(step, of));
  const found = isTensor(result) ? result : result[step.index];
  if (!found) {
    throw new InternalError(`Expected result ${step.index} of ${step.definition.name} but found none`);
  }
  return found;
}

function withViewed({ definition, args }: ViewStep<Tensor>, viewed: Tensor): TensorArgs {
  const { implementation } = definition;
  if (implementation.kind !== "view") {
    throw new InternalError(`Expected a view op but found ${definition.name}`);
  }
  return { ...mapTensors(entryOf(definition), args, (t) => t), [implementation.of]: viewed };
}

/**
 * The gradient of an in-place call on a view, for the base: the call's gradient inside the view, identity outside.
 * Its first edge is that of the base before the call.
 */
class CopySlices extends Node {
  readonly name = "CopySlices";
  readonly inputs: readonly (Layout | null)[];
  readonly #receiver: number;
  readonly #steps: readonly SliceStep[];
  readonly #inner: OpNode;

  constructor(
    inner: OpNode,
    { base, baseEdge, steps }: {
      readonly base: Layout;
      readonly baseEdge: Edge | null;
      readonly steps: readonly SliceStep[];
    },
  ) {
    const receiver = inner.receiver;
    super([baseEdge, ...inner.edges.filter((_, k) => k !== receiver)]);
    this.inputs = [baseEdge ? base : null, ...inner.inputs.filter((_, k) => k !== receiver)];
    this.#inner = inner;
    this.#receiver = receiver;
    this.#steps = steps;
  }

  apply([grad = null]: readonly (Tensor | null)[], { wanted }: ApplyOptions): readonly (Tensor | null)[] {
    if (grad === null) return this.edges.map(() => null);
    // bases are row-major, and their views may rely on that
    const whole = ops.contiguous(grad);
    const along: Tensor[] = [whole];
    for (const step of this.#steps) along.push(step.read(along.at(-1) ?? whole));
    const slice = along.at(-1) ?? whole;
    const place = (k: number) => k < this.#receiver ? k + 1 : k;
    const inner = this.#inner.apply([slice], {
      wanted: (k) => k === this.#receiver ? this.edges[0] !== null && wanted(0) : wanted(place(k)),
    });
    let value: Tensor = inner[this.#receiver] ?? ops.zerosLike(slice);
    if (this.edges[0] !== null && wanted(0)) {
      for (let s = this.#steps.length - 1; s >= 0; s--) {
        const step = this.#steps[s], viewed = along[s];
        if (!step || !viewed) throw new InternalError("Expected as many viewed gradients as view steps");
        value = step.write(viewed, value);
      }
    }
    return [this.edges[0] ? value : null, ...inner.filter((_, k) => k !== this.#receiver)];
  }

  release(): void {
    this.#inner.release();
  }
}

/** Returns `viewed` with the elements of the step replaced. */
function writeBack(step: ViewStep<Tensor>, viewed: Tensor, value: Tensor): Tensor {
  const { implementation } = step.definition;
  if (implementation.kind !== "view" || !implementation.writeBack) {
    throw new InternalError(`Expected a writable view but found ${step.definition.name}`);
  }
  return implementation.writeBack(ops, withViewed(step, viewed), { value, index: step.index });
}

/** Calls `hook` with a leaf whenever a gradient has been added to its `.grad`. */
export function registerAccumulationHook(tensor: Tensor, hook: (variable: Tensor) => void): HookHandle {
  const edge = gradientEdge(tensor);
  if (!(edge?.node instanceof AccumulateGrad)) {
    throw new InternalError("Expected a leaf that requires grad for a hook");
  }
  const { after } = edge.node, id = nextHook++;
  after.set(id, hook);
  return new TapeHook(tensor, () => after.delete(id));
}

let nextHook = 0;

/** Calls `hook` with gradients of a tensor. */
export function registerHook(tensor: Tensor, hook: TensorHook<Tensor>): HookHandle {
  const edge = gradientEdge(tensor);
  if (!edge) throw new InternalError("Expected a tensor that requires grad for a hook");
  const { node, output } = edge;
  let hooks = node.hooks.get(output);
  if (!hooks) node.hooks.set(output, hooks = new Map());
  const id = nextHook++, list = hooks;
  list.set(id, hook);
  return new TapeHook(tensor, () => {
    list.delete(id);
    if (list.size === 0 && node.hooks.get(output) === list) node.hooks.delete(output);
  });
}
