/**
 * Runs calls of a function over a batch: calls on tensors that represent one element of the batch become calls on
 * whole batches, by the batching rules of ops. Invariant: the result for an element is that of a call on that element
 * alone; ops without a rule run once for each element.
 */
import { DynError, InternalError } from "../../base/errors.ts";
import { reportFallback } from "../../base/fallback.ts";
import { isFloat } from "../../base/dtype.ts";
import { BatchCall } from "../../ops/batching/call.ts";
import { drawn, type Randomness } from "../../ops/batching/random.ts";
import { batchRuleOf } from "../../ops/batching/table.ts";
import { type OpDefinition, viewsMemory } from "../../ops/definition.ts";
import type { Params } from "../../ops/params.ts";
import { sameShape } from "../../ops/shapes.ts";
import { OPS } from "../../ops/table.ts";
import { asList, callResolved, callResolvedInplace, ops } from "../../tensor/eager.ts";
import { becomeView, checkLeaf, checkResult, recordInplace } from "../../tensor/inplace.ts";
import { elementOf, type Level, requiresGradBeneath, wholeOf } from "../../tensor/levels.ts";
import { ambient, type OpaqueCode } from "../../tensor/modes.ts";
import {
  entryOf,
  type Execute,
  inferResults,
  mapTensors,
  type TensorArgs,
  tensorsOf,
} from "../../tensor/plan.ts";
import { getRngState, setRngState } from "../../tensor/random.ts";
import { autograd, isTensor, recordsGrad, type Tensor } from "../../tensor/tensor.ts";
import { noteView } from "../../tensor/view_state.ts";
import { FunctionLevel, type LevelCall } from "../function_level.ts";
import { batchedOp } from "./batched_op.ts";

/** Runs calls over one batch. */
export class BatchingMode extends FunctionLevel implements Level {
  readonly name = "vmap";
  /** False while parts of a call run that is recorded as a whole. */
  #records = true;

  constructor(readonly size: number, readonly randomness: Randomness) {
    super();
  }

  /** Returns a tensor that represents one element of `whole`, whose first dimension is the batch. */
  element(whole: Tensor): Tensor {
    return elementOf(this, whole);
  }

  /** Returns the tensor with leading batch dimension of an element, or undefined if it has no batch. */
  whole(tensor: Tensor): Tensor | undefined {
    return wholeOf(tensor, this);
  }

  /** Calls code for each element of the batch, if any of its inputs has one. */
  apart(inputs: readonly (Tensor | null)[], code: OpaqueCode<Tensor>): readonly (Tensor | null)[] {
    const wholes = inputs.map((input) => input && this.whole(input));
    return this.below(() => {
      if (!wholes.some((whole) => whole)) return code(inputs);
      const found = Array.from(
        { length: this.size },
        (_, k) => code(wholes.map((whole, at) => whole ? ops.select(whole, 0, k) : inputs[at] ?? null)),
      );
      const [first = []] = found;
      return first.map((one, at) => {
        const parts = found.flatMap((results) => results[at] ?? []);
        return one === null ? null : this.element(ops.stack(parts, 0));
      });
    });
  }

  protected override outOfPlace(call: LevelCall): readonly Tensor[] {
    const { definition, args } = call, tensors = tensorsOf(entryOf(definition), args);
    const isBatched = tensors.some((tensor) => this.whole(tensor));
    if (!isBatched) {
      const plain = this.#plain(call);
      if (plain !== null) return plain;
    }
    const { implementation, gradient } = definition;
    const records = this.#records && gradient.kind !== "none" && recordsGrad(tensors);
    if (isBatched && definition.dataDependent?.(args)) throw sizesDiffer(definition);
    if (implementation.kind === "composite" && gradient.kind !== "rule") {
      return this.run(() => asList(implementation.compose(ops, args)));
    }
    const results = records ? this.#unrecorded(() => this.#overBatch(call)) : this.#overBatch(call);
    if (records) autograd().record({ definition, args, results });
    return results;
  }

  /**
   * Makes a call on tensors without the batch once; null if it is random and each element of the batch needs its own.
   */
  #plain({ definition, args }: LevelCall): readonly Tensor[] | null {
    const { kind } = definition.implementation;
    if (kind === "random") return null;
    const before = getRngState();
    const results = this.below(() => asList(callResolved(definition, args)));
    if (getRngState().offset === before.offset || this.randomness === "same") return results;
    setRngState(before);
    return null;
  }

  /** Runs parts of a call that is recorded as a whole: gradients flow below, not here. */
  #unrecorded<R>(body: () => R): R {
    const former = this.#records;
    this.#records = false;
    try {
      return body();
    } finally {
      this.#records = former;
    }
  }

  /**
   * Calls a composition that is differentiated as a whole: as one op below, if gradients flow through it at that level.
   */
  #composed(
    { definition, args }: LevelCall,
    compose: () => Tensor | readonly Tensor[],
  ): readonly Tensor[] {
    const entry = entryOf(definition), tensors = tensorsOf(entry, args);
    const wholes = tensors.map((tensor) => this.whole(tensor));
    const flows = ambient.gradEnabled && definition.gradient.kind === "rule" &&
      tensors.some((tensor, k) => requiresGradBeneath(wholes[k] ?? tensor));
    if (!flows) return this.run(() => asList(compose()));
    const op = batchedOp(definition, {
      size: this.size,
      batched: wholes.map((whole) => whole !== undefined),
      over: (size) => new BatchingMode(size, "error"),
    });
    const given = mapTensors(entry, args, (tensor) => this.whole(tensor) ?? tensor);
    return this.below(() => asList(callResolved(op, given))).map((whole) => this.element(whole));
  }

  #overBatch(call: LevelCall): readonly Tensor[] {
    const { definition, args } = call, { implementation } = definition, rule = batchRuleOf(definition);
    const entry = entryOf(definition);
    if (implementation.kind === "composite" && !rule) {
      // Levels that the composition opens would record the inner calls again, without end
      const apart = (tensor: Tensor): Tensor => {
        const whole = this.#records || !tensor.requiresGrad ? undefined : this.whole(tensor);
        return whole ? this.element(whole) : tensor;
      };
      return this.#composed(call, () => implementation.compose(ops, mapTensors(entry, args, apart)));
    }
    const metas = inferResults(definition, mapTensors(entry, args, (t) => t.meta));
    const batched = new Set<Tensor>();
    const wholes = mapTensors(entry, args, (tensor) => {
      const whole = this.whole(tensor);
      if (whole) batched.add(whole);
      return whole ?? tensor;
    });
    const results = this.below(() => {
      const run = (given: TensorArgs) => asList(callResolved(definition, given));
      const over = new BatchCall({
        o: ops,
        definition,
        args: wholes,
        batched,
        size: this.size,
        out: metas,
        run,
      });
      if (implementation.kind === "random") return drawn(over, this.randomness);
      if (viewsMemory(definition)) checkRowMajor(batched);
      const found = rule?.apply(over) ?? null;
      if (found !== null) return asList(found);
      // A view taken element by element would be a copy, and writes to it would be lost
      if (implementation.kind === "view") {
        throw new DynError(`Expected a view that has a rule for batches but found ${definition.name}`);
      }
      return this.#eachApart({ definition, args: wholes, isBatched: (tensor) => batched.has(tensor) });
    });
    return results.map((whole, k) => {
      const meta = metas[k];
      if (!meta || !sameShape(whole.shape.slice(1), meta.shape) || whole.dtype !== meta.dtype) {
        throw new InternalError(
          `Expected ${meta?.dtype} of shape [${meta?.shape}] for each element from ${definition.name} but found ` +
            `${whole.dtype} of shape [${whole.shape.slice(1)}]`,
        );
      }
      return this.#resultOf(call, whole, k);
    });
  }

  /** Wraps a result as one element; views share memory with their base. */
  #resultOf({ definition, args }: LevelCall, whole: Tensor, index: number): Tensor {
    const { implementation } = definition;
    const viewed = implementation.kind === "view" ? args[implementation.of] : undefined;
    if (!isTensor(viewed) || this.whole(viewed)?.storage !== whole.storage) return this.element(whole);
    const result = elementOf(this, whole, viewed);
    if (definition.gradient.kind !== "none") noteView(result, viewed, { definition, args, index });
    return result;
  }

  /** Calls an op without a batching rule for each element of the batch. */
  #eachApart({ definition, args, isBatched }: Apart): readonly Tensor[] {
    const text =
      `vmap: ${definition.name} has no rule for batches and runs for each element: ${this.size} calls`;
    reportFallback("vmap", text, { silent: told.has(definition) });
    told.add(definition);
    const entry = entryOf(definition);
    const found = Array.from({ length: this.size }, (_, k) => {
      const own = mapTensors(entry, args, (tensor) => isBatched(tensor) ? ops.select(tensor, 0, k) : tensor);
      return asList(callResolved(definition, own));
    });
    const [first] = found;
    if (!first) {
      throw new DynError(`Expected a batch for ${definition.name}, which has no rule, but found none`);
    }
    return first.map((one, at) => {
      const parts = found.flatMap((results) => results[at] ?? []);
      if (!parts.every((part) => sameShape(part.shape, one.shape))) throw sizesDiffer(definition);
      return ops.stack(parts, 0);
    });
  }

  /** Makes a call out of place and writes its result into the whole batch of the target. */
  protected override inPlace({ definition, args }: LevelCall): Tensor {
    const entry = entryOf(definition), tensors = tensorsOf(entry, args), [target] = tensors;
    if (!target) throw new InternalError(`Expected a tensor to write by ${definition.name}_`);
    if (!tensors.some((tensor) => this.whole(tensor))) return this.#plainInPlace({ definition, args });
    const whole = this.whole(target);
    if (!whole) {
      throw new DynError(
        `Expected a tensor with the batch to write by ${definition.name}_ but found one for all of its elements; ` +
          "write out of place, or make the tensor from one of the batch (newZeros, clone)",
      );
    }
    if (definition.inplace === "layout") {
      const [view] = this.outOfPlace({ definition, args });
      if (!view) throw new InternalError(`Expected a result of ${definition.name} but found none`);
      becomeView(target, view);
      return target;
    }
    const write = (call: LevelCall) => {
      const [result] = this.#unrecorded(() => this.outOfPlace(call));
      if (!result) throw new InternalError(`Expected a result of ${definition.name} but found none`);
      checkResult(result.layout, target.layout);
      const src = this.whole(result) ?? result;
      if (src !== whole) {
        this.below(() => callResolvedInplace(OPS.copy, { self: whole, src, nonBlocking: false }));
        target.storage.version++;
      }
    };
    if (!(this.#records && recordsGrad(tensors) && isFloat(target.dtype))) {
      write({ definition, args });
      return target;
    }
    checkLeaf(target);
    if (tensors.some((tensor) => flowsBelow(tensor, this))) {
      throw new DynError(
        `Expected ${definition.name} out of place where gradients of gradients are taken but found it in place`,
      );
    }
    const run: Execute = ({ definition }, args) => this.outOfPlace({ definition, args });
    this.run(() => recordInplace({ definition, args }, target, { run, write }));
    return target;
  }

  #plainInPlace({ definition, args }: LevelCall): Tensor {
    const before = getRngState();
    const result = this.below(() => callResolvedInplace(definition, args));
    if (getRngState().offset !== before.offset && this.randomness !== "same") {
      throw new DynError(
        `Expected a tensor with the batch for the random ${definition.name}_ but found one for all of its ` +
          'elements; pass randomness: "same", or make the tensor from one of the batch',
      );
    }
    return result;
  }
}

type Apart = Pick<BatchCall<Params, Tensor>, "definition" | "args"> & {
  readonly isBatched: (tensor: Tensor) => boolean;
};

/** Ops without a rule that users have been warned about. */
const told = new Set<OpDefinition>();

/** Returns whether gradients flow through the whole batch of a tensor. */
function flowsBelow(tensor: Tensor, level: Level): boolean {
  const whole = wholeOf(tensor, level);
  return whole !== undefined && requiresGradBeneath(whole);
}

function sizesDiffer({ name }: OpDefinition): DynError {
  return new DynError(
    `Expected an op whose sizes are the same for all elements of a batch but found ${name}, whose sizes depend ` +
      "on elements; use masks (where) or topk instead",
  );
}

function checkRowMajor(tensors: ReadonlySet<Tensor>): void {
  for (const tensor of tensors) {
    if (!tensor.isContiguous() || tensor.storageOffset() !== 0) {
      throw new DynError("Expected asStrided of row-major elements but found other memory");
    }
  }
}
