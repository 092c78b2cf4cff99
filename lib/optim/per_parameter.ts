/**
 * Optimizers that update each parameter independently. Invariant: every step is the same tensor program, so that one
 * graph serves all steps.
 */
import { refuseSurplus } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { viewAsReal } from "../tensor/generated_functions.ts";
import { enableGrad, noGrad } from "../tensor/modes.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { Optimizer, type ParamState } from "./optimizer.ts";
import { asTensors } from "./torch_state.ts";

/** Arguments of an update besides the parameter and its gradient. */
export interface UpdateContext<H> {
  readonly group: H;
  readonly state: ParamState;
  /** The parameter whose state it is: `param` itself, or the complex one of which `param` is a view. */
  readonly owner: Tensor;
}

/** An optimizer with one formula for every parameter. */
export abstract class PerParameter<H extends object> extends Optimizer<H, ParamState> {
  /** Returns the initial state of a parameter; null if there is none yet. */
  protected abstract begin(param: Tensor, group: H): ParamState | null;

  /** Runs one step of one parameter, in place. */
  protected abstract update(param: Tensor, grad: Tensor, context: UpdateContext<H>): void;

  /**
   * Updates every parameter that has a gradient. `closure`, if given, first computes gradients and the loss, which is
   * returned.
   */
  override step<L>(closure: () => L): L;
  override step<L>(closure?: () => L): L | undefined;
  override step<L>(closure?: () => L): L | undefined {
    if (arguments.length > 1) refuseSurplus("step", 1, arguments);
    const loss = closure && enableGrad(closure);
    noGrad(() => {
      for (const group of this.paramGroups) {
        for (const param of group.params) if (param.grad) this.prepare(param, group);
      }
      for (const group of this.paramGroups) {
        for (const param of group.params) {
          const { grad } = param;
          if (!grad) continue;
          const context = { group, state: this.state.get(param) ?? {}, owner: param };
          // Fewer calls for compilers to trace
          if (param.isComplex()) this.update(this.asReal(param), this.asReal(grad), context);
          else this.update(param, grad, context);
        }
      }
    });
    return loss;
  }

  /** A number that a program has saved is a tensor here. */
  protected override restored(saved: object, param: Tensor): ParamState {
    return super.restored(asTensors({ ...saved }), param);
  }

  /** Views a complex parameter or gradient as pairs of real numbers; others are unchanged. */
  protected asReal(tensor: Tensor): Tensor {
    return tensor.isComplex() ? viewAsReal(tensor) : tensor;
  }

  /**
   * Creates the state of a parameter unless it exists. All states are created before the first update, so that a
   * compiler can create them ahead and compile one program for the first step and the others.
   *
   * @internal
   */
  prepare(param: Tensor, group: H): void {
    this.beginState(param, group);
  }

  /**
   * Creates a parameter's state within a trace, if it cannot be created ahead.
   *
   * @internal
   */
  beginState(param: Tensor, group: H): void {
    if (this.state.has(param)) return;
    const begun = this.begin(this.asReal(param), group);
    if (begun) this.state.set(param, begun);
  }
}

/** Maximisation and weight decay. */
interface Direction {
  readonly maximize: boolean;
  readonly weightDecay: number;
}

/** Returns the gradient to descend along: negated to maximise, with decay added. */
export function descent(param: Tensor, grad: Tensor, { maximize, weightDecay }: Direction): Tensor {
  const downhill = maximize ? grad.neg() : grad;
  return weightDecay !== 0 ? downhill.add(param, { alpha: weightDecay }) : downhill;
}

interface Decay {
  readonly lr: number;
  readonly weightDecay: number;
  readonly decoupledWeightDecay: boolean;
  readonly maximize: boolean;
}

/** Returns the gradient to descend along; decoupled decay shrinks the parameter first. */
export function decayed(
  param: Tensor,
  grad: Tensor,
  { lr, weightDecay, decoupledWeightDecay, maximize }: Decay,
): Tensor {
  if (decoupledWeightDecay && weightDecay !== 0) param.mul_(1 - lr * weightDecay);
  return descent(param, grad, { maximize, weightDecay: decoupledWeightDecay ? 0 : weightDecay });
}

function holds<N extends string>(
  state: ParamState,
  names: readonly N[],
): state is ParamState & Readonly<Record<N, Tensor>> {
  return names.every((name) => state[name] !== undefined);
}

/** Checks that a state has these tensors. Throws DynError if one is missing, as in the state of another optimizer. */
export function stateWith<const N extends string>(
  state: ParamState,
  names: readonly N[],
): ParamState & Readonly<Record<N, Tensor>> {
  if (holds(state, names)) return state;
  throw new DynError(
    `Expected ${names.join(", ")} in the optimizer's state of a parameter but found ${
      Object.keys(state).join(", ") || "nothing"
    }`,
  );
}
