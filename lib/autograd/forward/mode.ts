/**
 * Runs calls with forward-mode tangents: calls on tensors some of which have tangents at this level return results
 * with tangents. Invariant: elements are those of the calls themselves; calls that compute tangents are visible to
 * outer levels but not to this one, so that levels nest.
 */
import { isDifferentiable } from "../../base/dtype.ts";
import { DynError, InternalError } from "../../base/errors.ts";
import { scoped } from "../../base/scoped.ts";
import type { OpDefinition } from "../../ops/definition.ts";
import { OPS } from "../../ops/table.ts";
import { asList, callResolved, callResolvedInplace, ops } from "../../tensor/eager.ts";
import { becomeView, checkResult } from "../../tensor/inplace.ts";
import { hasDistinctElements } from "../../tensor/layout.ts";
import type { OpaqueCode } from "../../tensor/modes.ts";
import { entryOf, tensorsOf } from "../../tensor/plan.ts";
import { TangentLevel } from "../../tensor/tangents.ts";
import { isTensor, type Tensor } from "../../tensor/tensor.ts";
import { viewOf } from "../../tensor/view_state.ts";
import { FunctionLevel, type LevelCall } from "../function_level.ts";
import { pushForward } from "./rules.ts";

/** Throws DynError unless `what`, a primal or a tangent, has a type with derivatives. */
export function checkFloats(what: string, { dtype }: Tensor): void {
  if (!isDifferentiable(dtype)) throw new DynError(`Expected ${what} of floats but found one of ${dtype}`);
}

/** One level of forward-mode differentiation. */
export class ForwardMode extends FunctionLevel {
  /** The level that holds the tangents. */
  readonly level = new TangentLevel();

  /** Runs a body whose calls carry tangents; these are discarded afterwards, for promises when they settle. */
  during<R>(body: () => R): R {
    this.level.open();
    return scoped(() => this.run(body), () => this.level.close());
  }

  /** Returns the tangent of a tensor at this level, or undefined if it has none. */
  tangentOf(tensor: Tensor): Tensor | undefined {
    const own = this.level.given(tensor);
    if (own !== undefined) return own;
    // A view created before its base was written with tangents
    const viewState = viewOf(tensor), base = viewState && this.level.given(viewState.base);
    if (!viewState || !base) return undefined;
    const found = this.below(() =>
      viewState.steps.reduce((of, { definition, args, index }) => {
        const { implementation } = definition;
        if (implementation.kind !== "view") throw new InternalError(`Expected a view by ${definition.name}`);
        const result = callResolved(definition, { ...args, [implementation.of]: of });
        return isTensor(result) ? result : result[index] ?? of;
      }, base)
    );
    this.level.give(tensor, found);
    return found;
  }

  /**
   * Returns another tensor over the same elements with a tangent of the same layout. Throws DynError for a tensor that
   * has one, and for an incompatible tangent.
   */
  dual(primal: Tensor, tangent: Tensor): Tensor {
    checkFloats("a primal", primal);
    checkFloats("a tangent", tangent);
    if (this.tangentOf(primal)) {
      throw new DynError("Expected a tensor without a tangent at this level but found one with it");
    }
    const made = this.below(() => ops.viewAs(primal, primal));
    this.give(made, tangent);
    return made;
  }

  /** Returns a tensor without its tangent at this level. */
  primal(tensor: Tensor): Tensor {
    return this.below(() => ops.viewAs(tensor, tensor));
  }

  /** Sets the tangent of a tensor without one. Throws DynError for another shape. */
  give(result: Tensor, tangent: Tensor): void {
    if (`${result.shape}` !== `${tangent.shape}`) {
      throw new DynError(`Expected a tangent of shape [${result.shape}] but found one of [${tangent.shape}]`);
    }
    this.level.give(result, this.below(() => laidOutAs(ops.to(tangent, result.dtype), result)));
  }

  /** Sets the tangents of results (null: zeros), which alias those of the inputs as the results do. */
  carry(inputs: readonly Tensor[], results: readonly Tensor[], tangents: readonly (Tensor | null)[]): void {
    const given = new Set(inputs.map(({ storage }) => storage));
    const taken = new Set(inputs.flatMap((each) => this.tangentOf(each)?.storage ?? []));
    results.forEach((result, k) => {
      const tangent = tangents[k];
      if (!tangent) return;
      const isOwn = given.has(result.storage) || !taken.has(tangent.storage);
      this.give(result, isOwn ? tangent : this.below(() => ops.clone(tangent)));
      taken.add(tangent.storage);
    });
  }

  /** Runs code that is not an op, which has no derivative. */
  apart(inputs: readonly (Tensor | null)[], code: OpaqueCode<Tensor>): readonly (Tensor | null)[] {
    if (inputs.some((input) => input && this.tangentOf(input))) {
      throw new DynError(
        "Expected ops where tangents are propagated but found a compiled backward pass; call the function inside the level",
      );
    }
    return this.below(() => code(inputs));
  }

  #hasTangents({ definition, args }: LevelCall): boolean {
    return tensorsOf(entryOf(definition), args).some((tensor) => this.tangentOf(tensor));
  }

  protected override outOfPlace(call: LevelCall): readonly Tensor[] {
    const { definition, args } = call, { implementation, gradient } = definition;
    const plain = () => asList(callResolved(definition, args));
    if (gradient.kind === "none" || !this.#hasTangents(call)) return this.below(plain);
    if (implementation.kind === "composite" && gradient.kind === "composite") {
      return this.run(() => asList(implementation.compose(ops, args)));
    }
    return this.below(() => {
      const results = plain();
      const tangents = pushForward({ definition, args, results, tangentOf: (each) => this.tangentOf(each) });
      this.carry(
        tensorsOf(entryOf(definition), args),
        results,
        tangents.map((each, k) => hasDerivative(definition, results[k], k) ? each : null),
      );
      return results;
    });
  }

  /** Makes a call out of place and writes its result and its tangent into the target. */
  protected override inPlace({ definition, args }: LevelCall): Tensor {
    const [target] = tensorsOf(entryOf(definition), args);
    if (!target) throw new InternalError(`Expected a tensor to write by ${definition.name}_`);
    if (!this.#hasTangents({ definition, args })) {
      return this.below(() => callResolvedInplace(definition, args));
    }
    const [result] = this.outOfPlace({ definition, args });
    if (!result) throw new InternalError(`Expected a result of ${definition.name} but found none`);
    if (definition.inplace === "layout") {
      const tangent = this.tangentOf(result);
      becomeView(target, result);
      if (tangent) this.level.give(target, tangent);
      return target;
    }
    checkResult(result.layout, target.layout);
    this.overwrite(target, this.tangentOf(result) ?? null);
    this.below(() => write(target, result));
    return target;
  }

  /** Writes the tangent (null: zeros) of a tensor that is written in place, so that its views see it. */
  overwrite(target: Tensor, tangent: Tensor | null): void {
    const into = this.#tangentToWrite(target, tangent !== null);
    if (!into || into === tangent) return;
    this.below(() => {
      if (tangent) write(into, tangent);
      else callResolvedInplace(OPS.zero, { self: into });
    });
  }

  /** Returns the tangent that a write to a tensor changes: zeros are created on demand. */
  #tangentToWrite(target: Tensor, needed: boolean): Tensor | undefined {
    const known = this.tangentOf(target);
    if (known || !needed || !isDifferentiable(target.dtype)) return known;
    const base = viewOf(target)?.base ?? target;
    this.give(base, this.below(() => ops.zerosLike(base.detach())));
    return this.tangentOf(target);
  }
}

function write(self: Tensor, src: Tensor): void {
  callResolvedInplace(OPS.copy, { self, src, nonBlocking: false });
}

function hasDerivative(
  { results, auxiliary }: OpDefinition,
  result: Tensor | undefined,
  at: number,
): boolean {
  const name = results?.[at];
  return result !== undefined && isDifferentiable(result.dtype) &&
    !(name !== undefined && auxiliary?.includes(name));
}

/** Returns a tangent with the layout of its tensor, so that views of both are the same. */
function laidOutAs(tangent: Tensor, { shape, strides, layout }: Tensor): Tensor {
  const same = shape.every((size, d) => size <= 1 || strides[d] === tangent.strides[d]);
  if (same || !hasDistinctElements(layout)) return tangent;
  const extent = shape.reduce((end, size, d) => end + Math.max(0, size - 1) * (strides[d] ?? 0), 1);
  // Out of place, because outer levels may take gradients
  const zeros = ops.newZeros(tangent, [extent]);
  return ops.asStrided(ops.asStridedScatter(zeros, tangent, shape, strides, 0), shape, strides, 0);
}
