/**
 * L-BFGS, like torch.optim.LBFGS: search directions from the curvature of recent steps. Invariant: between two steps,
 * the whole state is in `stateDict`.
 */
import { checkInteger } from "../base/checked_numbers.ts";
import { refuseSurplus, refuseValue } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { tensor } from "../tensor/creation.ts";
import { cat, stack } from "../tensor/generated_functions.ts";
import { enableGrad, noGrad } from "../tensor/modes.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type LinePoint, strongWolfe } from "./line_search.ts";
import {
  type Hyperparameters,
  hyperparameters,
  Optimizer,
  type OptimizerState,
  type ParamsOrGroups,
  type ParamState,
  realOnly,
} from "./optimizer.ts";
import { stateWith } from "./per_parameter.ts";
import type { TorchOptimizerState } from "./torch_state.ts";

export interface LBFGSOptions {
  lr: number;
  /** Maximum number of directions per step. */
  maxIter: number;
  /** Maximum number of evaluations of the loss per step; null: 1.25 per direction. */
  maxEval: number | null;
  /** A step ends if no derivative is larger. */
  toleranceGrad: number;
  /** A step ends if no parameter, or the loss, changes by more. */
  toleranceChange: number;
  /** Number of remembered updates. */
  historySize: number;
  /** Line search along a direction: "strong_wolfe", or null for a step of `lr`. */
  lineSearchFn: "strong_wolfe" | null;
  /** Whether to maximise. */
  maximize: boolean;
}

const LBFGS_DEFAULTS: LBFGSOptions = {
  lr: 1,
  maxIter: 20,
  maxEval: null,
  toleranceGrad: 1e-7,
  toleranceChange: 1e-9,
  historySize: 100,
  lineSearchFn: null,
  maximize: false,
};

/** A change of the parameters, with the corresponding change of the gradient. */
interface Change {
  readonly step: Tensor;
  readonly grad: Tensor;
}

/** The state between two directions. */
interface Memory {
  readonly changes: readonly Change[];
  readonly direction: Tensor;
  /** Length of the step. */
  readonly length: number;
  /** The previous gradient. */
  readonly grad: Tensor;
  /** The scale of the initial estimate of the inverse Hessian. */
  readonly scale: number;
}

interface Evaluation {
  readonly loss: number;
  readonly grad: Tensor;
}

/** Liu and Nocedal 1989. Takes one group of parameters, on one device. */
export class LBFGS extends Optimizer<LBFGSOptions, ParamState> {
  private memory: Memory | null = null;

  constructor(params: ParamsOrGroups<LBFGSOptions>, ...given: Hyperparameters<LBFGSOptions, never>) {
    super(params, hyperparameters("LBFGS", LBFGS_DEFAULTS, given, { choices: [] }));
    const { lineSearchFn, maxIter, maxEval, historySize } = this.defaults, found = this.paramGroups.length;
    if (found !== 1) throw new DynError(`Expected one group of parameters for LBFGS but found ${found}`);
    for (const { params } of this.paramGroups) params.forEach((param) => realOnly("LBFGS", param));
    checkInteger("maxIter of LBFGS", maxIter, 1);
    if (maxEval !== null) checkInteger("maxEval of LBFGS", maxEval, 1);
    checkInteger("historySize of LBFGS", historySize, 1);
    if (lineSearchFn !== null && lineSearchFn !== "strong_wolfe") {
      refuseValue('lineSearchFn of LBFGS to be "strong_wolfe" or null', lineSearchFn);
    }
  }

  /** Follows up to `maxIter` directions; returns the initial loss. Throws DynError without a closure. */
  override step<L>(closure: () => L): L;
  override step<L>(closure?: () => L): L | undefined;
  override step<L>(closure?: () => L): L | undefined {
    if (arguments.length > 1) refuseSurplus("step", 1, arguments);
    if (!closure) throw new DynError("Expected a closure that computes the loss for LBFGS but found none");
    const group = this.group, { maxIter, toleranceGrad, toleranceChange } = group;
    const most = group.maxEval ?? Math.floor(maxIter * 5 / 4);
    const first = enableGrad(closure), evaluate = () => this.evaluation(enableGrad(closure));
    noGrad(() => {
      let now = this.evaluation(first), evaluations = 1;
      for (let k = 1; largest(now.grad) > toleranceGrad; k++) {
        const known = this.memory,
          memory = nextMemory(known, now.grad, group.historySize),
          { direction } = memory;
        const slope = dot(now.grad, direction);
        const reach = known ? group.lr : Math.min(1, 1 / +now.grad.abs().sum()) * group.lr;
        this.memory = { ...memory, length: reach };
        if (slope > -toleranceChange) break;
        const former = now.loss;
        if (group.lineSearchFn === null) {
          this.move(direction, reach);
          if (k === maxIter) break;
          now = evaluate();
          evaluations++;
        } else {
          const found = this.search(evaluate, { now, direction, slope, reach, rounds: most - evaluations });
          now = found.point;
          evaluations += found.evaluations;
          this.memory = { ...memory, length: found.point.at };
          this.move(direction, found.point.at);
        }
        const moved = largest(direction) * Math.abs(this.memory.length);
        if (k === maxIter || evaluations >= most || moved <= toleranceChange) break;
        if (Math.abs(now.loss - former) < toleranceChange) break;
      }
    });
    return first;
  }

  override stateDict(): OptimizerState<LBFGSOptions> {
    if (arguments.length > 0) refuseSurplus("stateDict", 0, arguments);
    const [first] = this.group.params, memory = this.memory;
    if (first && memory) {
      const { changes, direction, length, grad, scale } = memory, { dtype, device } = direction;
      this.state.set(first, {
        d: direction,
        t: tensor(length, { dtype, device }),
        H_diag: tensor(scale, { dtype, device }),
        prev_flat_grad: grad,
        ...(changes.length > 0
          ? {
            old_dirs: stack(changes.map((each) => each.grad)),
            old_stps: stack(changes.map((each) => each.step)),
          }
          : {}),
      });
    }
    return super.stateDict();
  }

  override loadStateDict(saved: OptimizerState<LBFGSOptions> | TorchOptimizerState): void {
    if (arguments.length > 1) refuseSurplus("loadStateDict", 1, arguments);
    super.loadStateDict(saved);
    const [first] = this.group.params, state = first && this.state.get(first);
    this.memory = null;
    if (!state) return;
    const { d, t, H_diag, prev_flat_grad, old_dirs, old_stps } = stateWith(state, [
      "d",
      "t",
      "H_diag",
      "prev_flat_grad",
    ]);
    const steps = old_stps?.unbind() ?? [];
    const changes = (old_dirs?.unbind() ?? []).flatMap((grad, k) => {
      const step = steps[k];
      return step ? [{ grad, step }] : [];
    });
    this.memory = { changes, direction: d, length: +t, grad: prev_flat_grad, scale: +H_diag };
  }

  private get group(): LBFGSOptions & { params: Tensor[] } {
    const [group] = this.paramGroups;
    if (!group) throw new DynError("Expected one group of parameters for LBFGS but found none");
    return group;
  }

  /** Evaluates a closure's loss and the gradients. */
  private evaluation(loss: unknown): Evaluation {
    const { params, maximize } = this.group;
    const grads = params.map(({ grad, shape, dtype, device }) =>
      grad?.reshape([-1]) ?? tensor(0, { dtype, device }).expand([shape.reduce((a, b) => a * b, 1)])
    );
    const grad = cat(grads), value = Number(loss);
    if (Number.isNaN(value) && typeof loss !== "number" && typeof loss !== "object") {
      throw new DynError(`Expected the closure to return the loss but found ${typeof loss}`);
    }
    return maximize ? { loss: -value, grad: grad.neg() } : { loss: value, grad };
  }

  private search(
    evaluate: () => Evaluation,
    { now, direction, slope, reach, rounds }: {
      readonly now: Evaluation;
      readonly direction: Tensor;
      readonly slope: number;
      readonly reach: number;
      readonly rounds: number;
    },
  ): { readonly point: LinePoint; readonly evaluations: number } {
    const { params, toleranceChange } = this.group, before = params.map((param) => param.clone());
    return strongWolfe({
      start: { loss: now.loss, grad: now.grad, at: 0, slope },
      first: reach,
      rounds,
      tolerance: toleranceChange / largest(direction),
      evaluate: (at) => {
        this.move(direction, at);
        const found = evaluate();
        params.forEach((param, k) => {
          const former = before[k];
          if (former) param.copy_(former);
        });
        return { at, ...found, slope: dot(found.grad, direction) };
      },
    });
  }

  /** Moves the parameters by a multiple of a direction. */
  private move(direction: Tensor, by: number): void {
    let at = 0;
    for (const param of this.group.params) {
      const count = param.numel();
      param.add_(direction.narrow(0, at, count).reshape(param.shape), { alpha: by });
      at += count;
    }
  }
}

function largest(x: Tensor): number {
  return +x.abs().max();
}

function dot(a: Tensor, b: Tensor): number {
  return +a.dot(b);
}

/**
 * Computes the state for the next direction. Compiled steps leave this out of their graphs, because it reads numbers
 * and iterates over a growing list.
 */
export function nextMemory(
  known: Memory | null,
  grad: Tensor,
  historySize: number,
): Omit<Memory, "length"> {
  if (!known) return { changes: [], direction: grad.neg(), grad, scale: 1 };
  const change = { grad: grad.sub(known.grad), step: known.direction.mul(known.length) };
  const curvature = dot(change.grad, change.step), isConvex = curvature > 1e-10;
  const changes = isConvex ? [...known.changes, change].slice(-historySize) : known.changes;
  const scale = isConvex ? curvature / dot(change.grad, change.grad) : known.scale;
  return { changes, direction: twoLoops(grad, changes, scale), grad, scale };
}

/** Computes −H·g by the two-loop recursion, for the estimate H of the inverse Hessian. */
function twoLoops(grad: Tensor, changes: readonly Change[], scale: number): Tensor {
  const direction = grad.neg(), weights: number[] = [];
  const inverses = changes.map((each) => 1 / dot(each.grad, each.step));
  for (let k = changes.length - 1; k >= 0; k--) {
    const change = changes[k], inverse = inverses[k];
    if (!change || inverse === undefined) continue;
    const weight = weights[k] = dot(change.step, direction) * inverse;
    direction.add_(change.grad, { alpha: -weight });
  }
  direction.mul_(scale);
  changes.forEach((change, k) => {
    const back = dot(change.grad, direction) * (inverses[k] ?? 0);
    direction.add_(change.step, { alpha: (weights[k] ?? 0) - back });
  });
  return direction;
}
