/**
 * Functionalises views and in-place ops: calls over tensors that alias each other and are written to become calls of
 * pure ops over graph values, made by a recorder. Invariant: `FunctionalTensor.value()` is what the tensor would hold
 * now; a write through one alias reaches all others, because only the base of an alias set has a value of its own and
 * views are regenerated from it.
 */
import { type DType, isComplex, isDifferentiable } from "../base/dtype.ts";
import { DynError, InternalError } from "../base/errors.ts";
import { sameList } from "../base/lists.ts";
import { elementCount, isContiguous, isMetas, type TensorMeta } from "../graph/meta.ts";
import type { DeviceName } from "../loops/device.ts";
import { makeOpApi, nameResults } from "../ops/api.ts";
import { formOf } from "../ops/complex/form.ts";
import { parseCall } from "../ops/call.ts";
import { type OpDefinition, type TensorLike, viewsMemory } from "../ops/definition.ts";
import type { OpApi } from "../ops/generated.ts";
import { graphApi } from "../ops/graph_api.ts";
import {
  type GraphValue,
  isGraphValue,
  listOf,
  mapArguments,
  type OpCall,
  tensorArguments,
} from "../ops/graph_builder.ts";
import type { ArgsOf, Params } from "../ops/params.ts";
import { laidOut } from "../ops/rewrite/contract.ts";
import type { RecordedCall } from "./gradient_tape.ts";
import type { Recorder } from "./recorder.ts";
import { isEqual, isLess } from "../sym/decide.ts";
import { deviceNamed } from "../tensor/storage.ts";
import { add, type Dim, mul, sub, Sym } from "../sym/expr.ts";

/** A captured program whose views and writes cannot be expressed by pure ops: it must run op by op. */
export class NotFunctional extends DynError {
  override readonly name: string = "NotFunctional";
}

/** State shared by an alias set. */
class FunctionalStorage {
  /** Incremented by each write through any alias. */
  version = 0;
  /** Number of writes while gradients were recorded. */
  recordedWrites = 0;
  /**
   * Number of writes after which older views must derive their history again; writes through detached aliases do not
   * count.
   */
  refreshes = 0;
  /** Whether a view addresses its elements by their layout in memory. */
  addressed = false;
  /** Whether an update that runs after all other calls writes to it, so that none of them may read it any more. */
  updatedLast = false;

  /** `input` is the index of its graph input, if any; `meta` is the base's in the captured program. */
  constructor(public value: GraphValue, readonly input?: number, readonly meta: TensorMeta = value.meta) {}
}

/** One view op on the path from a base to a view. */
export interface ViewStep {
  readonly definition: OpDefinition;
  /** The viewed tensor is replaced when the step is repeated. */
  readonly args: ArgsOf<Params, GraphValue>;
  /** The parameter that is viewed. */
  readonly of: string;
  /** Index of the result, if there are several. */
  readonly index?: number;
  /** Whether gradients were recorded when the view was made. */
  readonly recorded: boolean;
}

interface Held {
  readonly version: number;
  readonly value: GraphValue;
}

/** A tensor of the captured program. */
export class FunctionalTensor implements TensorLike {
  #known: Held;
  /** Value of `refreshes` of its memory at its creation. */
  readonly madeAt: number;

  /** `meta` is that of the tensor in the captured program; the strides of its value may differ. */
  constructor(
    readonly functional: Functionalizer,
    readonly storage: FunctionalStorage,
    public meta: TensorMeta,
    public steps: readonly ViewStep[],
    value: GraphValue,
  ) {
    this.madeAt = storage.refreshes;
    this.#known = this.#hold(value);
  }

  get shape(): readonly Dim[] {
    return this.meta.shape;
  }

  get dtype(): DType {
    return this.meta.dtype;
  }

  get device(): DeviceName {
    return this.meta.device;
  }

  /** Returns the current value of the tensor. Throws NotFunctional if an update that runs last computes it. */
  value(): GraphValue {
    if (this.storage.updatedLast) {
      throw new NotFunctional("Expected no use of a tensor after its last update");
    }
    if (this.#known.version !== this.storage.version) {
      this.#known = this.#hold(this.#regenerated().at(-1) ?? this.storage.value);
    }
    return this.#known.value;
  }

  /** Records the value of the tensor at the storage's version. */
  #hold(value: GraphValue): Held {
    const { functional, storage } = this;
    functional.note(value, storage);
    return { version: storage.version, value };
  }

  /** Replaces the elements, including those of all aliases. */
  write(value: GraphValue): void {
    const { storage } = this, { recorder } = this.functional;
    // Writes through a detached alias, or without recording, leave the history unchanged
    const recorded = recorder.enabled &&
      this.steps.every((step) => step.recorded && step.definition.gradient.kind !== "none");
    if (!recorded && recorder.enabled && recorder.requiring.has(value)) {
      throw new NotFunctional(
        "Expected no gradient in a value written through a detached alias but found one",
      );
    }
    const written = this.functional.recording(recorded, () => this.#likeBase(this.#writtenBack(value)));
    if (!recorded) this.functional.keepHistory(storage.value, written);
    storage.value = written;
    storage.version++;
    if (recorded) storage.recordedWrites++;
    if (recorded || !recorder.enabled) storage.refreshes++;
    if (this.steps.length === 0) this.#known = this.#hold(written);
  }

  /** Returns the value of a base with its dimensions in memory order, so that every view of it can be repeated. */
  #likeBase(value: GraphValue): GraphValue {
    const { meta } = this.storage, { api } = this.functional.recorder;
    if (isContiguous(meta)) return isContiguous(value.meta) ? value : api.contiguous(value);
    return laidOut(api, value, meta);
  }

  /** Returns the base with the elements of this view replaced. */
  #writtenBack(value: GraphValue): GraphValue {
    const chain = this.#regenerated();
    let written = value;
    for (let k = this.steps.length - 1; k >= 0; k--) {
      const step = this.steps[k], parent = k === 0 ? this.storage.value : chain[k - 1];
      if (!step || !parent) throw new InternalError("Expected a value for every view of a chain");
      written = this.functional.writeBack(step, parent, written);
    }
    return written;
  }

  /** Leaves the elements to an update that runs after all other calls. */
  updateLast(): void {
    this.storage.version++;
    this.storage.updatedLast = true;
  }

  /** Gives the tensor's elements, which stay as they are, another history. Only for a base. */
  adopt(value: GraphValue): void {
    this.storage.value = value;
    this.#known = this.#hold(value);
  }

  /** Adopts the layout of a view of itself, as in squeeze_. */
  become(view: FunctionalTensor): void {
    this.meta = view.meta;
    this.steps = view.steps;
    this.#known = this.#hold(view.value());
  }

  /** The values along the chain of views, from the base's first view to this tensor. */
  #regenerated(): GraphValue[] {
    const values: GraphValue[] = [];
    let value = this.storage.value;
    for (const step of this.steps) values.push(value = this.functional.repeat(step, value));
    return values;
  }
}

/** Returns whether a value is a tensor of the captured program. */
export function isFunctional(value: unknown): value is FunctionalTensor {
  return value instanceof FunctionalTensor;
}

/** A call of the captured program. */
interface FunctionalCall extends OpCall<FunctionalTensor> {
  /** Whether the result is written into the first tensor. */
  readonly inplace: boolean;
}

const isDim = (value: unknown): value is Dim => typeof value === "number" || value instanceof Sym;

const isDims = (value: unknown): value is readonly Dim[] => Array.isArray(value) && value.every(isDim);

type FunctionalResults = FunctionalTensor | readonly FunctionalTensor[];

/** Returns whether a tensor shows all of its memory, in order: its base, or a reshaped one. */
function fillsMemory({ meta, storage: { meta: base } }: FunctionalTensor): boolean {
  const inOrder = (each: TensorMeta) => each.offset === 0 && isContiguous(each);
  return inOrder(meta) && inOrder(base) && meta.dtype === base.dtype &&
    isEqual(elementCount(meta), elementCount(base));
}

/** A view as an op on values, which have no memory. */
function onValues(definition: OpDefinition): OpDefinition {
  const { implementation } = definition;
  return implementation.kind === "view" ? implementation.onValues ?? definition : definition;
}

/** Turns calls on aliasing tensors into calls on values. */
export class Functionalizer {
  readonly #api: OpApi<FunctionalTensor> = makeOpApi<FunctionalTensor>((definition, given) =>
    this.call({ definition, args: parseCall(definition, given, isFunctional), inplace: false })
  );

  /** Where a tensor of the captured program held a value, and the first version at which it did. */
  readonly #places = new Map<GraphValue, { readonly storage: FunctionalStorage; readonly version: number }>();
  /** Saved copies of values that an in-place call overwrites although its own gradient reads them. */
  readonly #copied = new Map<RecordedCall<GraphValue>, GraphValue>();

  constructor(readonly recorder: Recorder) {}

  /** Records that a tensor of the captured program holds a value now. */
  note(value: GraphValue, storage: FunctionalStorage): void {
    if (!this.#places.has(value)) this.#places.set(value, { storage, version: storage.version });
  }

  /**
   * Returns the saved and the current version of the saved values of a recorded call if they were written to since;
   * else null.
   */
  overwritten(call: RecordedCall<GraphValue>, value: GraphValue): { then: number; now: number } | null {
    const place = this.#places.get(value);
    if (!place || this.isCopied(call, value)) return null;
    const { storage, version } = place;
    return storage.version === version ? null : { then: version, now: storage.version };
  }

  /** Returns whether a recorded call saved a copy of a value, because it overwrites the value itself. */
  isCopied(call: RecordedCall<GraphValue>, value: GraphValue): boolean {
    return this.#copied.get(call) === value;
  }

  /** Returns a tensor with memory of its own; `meta` is that of the captured program. */
  fresh(
    value: GraphValue,
    { input, meta = value.meta }: { readonly input?: number; readonly meta?: TensorMeta } = {},
  ): FunctionalTensor {
    return new FunctionalTensor(this, new FunctionalStorage(value, input, meta), meta, [], value);
  }

  /** Makes a call. In place, the result is the receiver. */
  call(call: FunctionalCall): FunctionalResults {
    if (call.definition.bounds) this.#markOutliers(call);
    if (call.inplace) return this.#inPlace(call);
    const { args } = call, definition = formOf(call.definition, args);
    const { implementation, gradient } = definition;
    if (implementation.kind === "composite" && gradient.kind !== "rule") {
      // taken apart here, so that views inside it keep aliasing
      return this.recording(gradient.kind !== "none", () => implementation.compose(this.#api, args));
    }
    if (implementation.kind === "view") {
      const metas = mapArguments(args, (tensor) => tensor.meta);
      if (!implementation.copies?.(metas)) return this.#view({ definition, args }, implementation.of);
    }
    const results = this.recorder.call({ definition, args: mapArguments(args, (tensor) => tensor.value()) });
    if (isGraphValue(results)) return this.fresh(results);
    return nameResults(definition, results.map((value) => this.fresh(value)));
  }

  /** Appends the check of the elements that a call bounds. */
  #markOutliers({ definition, args }: OpCall<FunctionalTensor>): void {
    const given = mapArguments(args, (tensor) => tensor.value()), o = graphApi(this.recorder.run);
    for (const [operand, [low, high]] of Object.entries(definition.bounds?.(given) ?? {})) {
      const values = given[operand];
      if (!isGraphValue(values) || isComplex(values.dtype) || !deviceNamed(values.device).hostReadable) {
        continue;
      }
      // NaN violates an upper bound, but not a lower bound alone
      const marks = high === Infinity
        ? o.lt(values, low)
        : o.logicalNot(o.logicalAnd(o.ge(values, low), o.le(values, high)));
      o.outlierMarks(o.to(marks, "int64"));
    }
  }

  /**
   * Repeats a view op on another value of the viewed tensor, recorded if the view was, whatever applies to the reader.
   */
  repeat({ definition, args, of, index, recorded }: ViewStep, value: GraphValue): GraphValue {
    const former = this.recorder.enabled;
    this.recorder.enabled = recorded;
    const results = this.recorder.call({ definition: onValues(definition), args: { ...args, [of]: value } });
    this.recorder.enabled = former;
    const found = index === undefined && isGraphValue(results) ? results : listOf(results)[index ?? 0];
    if (!found) throw new InternalError(`Expected result ${index} of ${definition.name}`);
    return found;
  }

  /** Returns the viewed tensor with the elements of the view replaced. Throws NotFunctional if it cannot be written. */
  writeBack({ definition, args, of, index }: ViewStep, parent: GraphValue, value: GraphValue): GraphValue {
    const { implementation } = definition;
    if (implementation.kind !== "view" || !implementation.writeBack) {
      throw new NotFunctional(
        `Expected a tensor that can be written in place but found a view by ${definition.name}`,
      );
    }
    const now: ArgsOf<Params, GraphValue> = { ...args, [of]: parent };
    try {
      return implementation.writeBack<GraphValue>(this.recorder.api, now, { value, index: index ?? 0 });
    } catch (error) {
      // Writing to a view of a view with overlapping elements is legal, but there is no rule for it
      if (error instanceof DynError) throw new NotFunctional(error.message);
      throw error;
    }
  }

  /** Passes the gradient of an alias set's new value on to the old one, as if nothing had been written. */
  keepHistory(before: GraphValue, after: GraphValue): void {
    if (this.recorder.requiring.has(before)) this.recorder.join(before, after);
  }

  #view({ definition, args }: OpCall<FunctionalTensor>, of: string): FunctionalResults {
    const viewed = args[of];
    if (!isFunctional(viewed)) throw new InternalError(`Expected a tensor for ${of} of ${definition.name}`);
    const metas: TensorMeta | readonly TensorMeta[] = definition.infer(
      mapArguments(args, (tensor) => tensor.meta),
    );
    if (viewsMemory(definition)) this.#address(viewed, args);
    const values = mapArguments(args, (tensor) => tensor.value());
    const results = this.recorder.call({ definition: onValues(definition), args: values });
    const step = { definition, args: values, of, recorded: this.recorder.enabled };
    const alias = (value: GraphValue, meta: TensorMeta | undefined, index?: number) => {
      const steps = [...viewed.steps, index === undefined ? step : { ...step, index }];
      return new FunctionalTensor(this, viewed.storage, meta ?? value.meta, steps, value);
    };
    if (isGraphValue(results)) return alias(results, isMetas(metas) ? metas[0] : metas);
    return nameResults(
      definition,
      results.map((value, index) => alias(value, isMetas(metas) ? metas[index] : metas, index)),
    );
  }

  /**
   * Records that a tensor is viewed through its memory. Throws NotFunctional if that has more than its elements in
   * order.
   */
  #address(viewed: FunctionalTensor, args: ArgsOf<Params, FunctionalTensor>): void {
    const { storage, meta } = viewed;
    const { size, stride, storageOffset } = args;
    const last = isDims(size) && isDims(stride)
      ? size.reduce<Dim>(
        (at, n, d) => add(at, mul(sub(n, 1), stride[d] ?? 0)),
        isDim(storageOffset) ? storageOffset : 0,
      )
      : null;
    if (!fillsMemory(viewed) || last === null || !isLess(last, elementCount(meta))) {
      throw new NotFunctional(
        "Expected asStrided of a whole tensor in row-major order but found other memory",
      );
    }
    storage.addressed = true;
  }

  #inPlace({ definition: called, args }: FunctionalCall): FunctionalTensor {
    const definition = formOf(called, args), [first] = tensorArguments(args);
    if (!first) {
      throw new InternalError(`Expected a tensor to write to in ${definition.name}_ but found none`);
    }
    const receiver = first.value;
    if (called.inplace === "layout") {
      if (isComplex(receiver.dtype)) {
        throw new NotFunctional(
          `Expected no ${called.name}_ of a complex tensor, whose memory is seen as pairs`,
        );
      }
      const view = this.call({ definition: called, args, inplace: false });
      if (!isFunctional(view) || receiver.storage.input !== undefined) {
        throw new NotFunctional(
          `Expected an intermediate result for ${called.name}_ but found an input`,
        );
      }
      receiver.become(view);
      return receiver;
    }
    const { tape } = this.recorder, recorded = tape.length, before = receiver.value();
    const [result] = listOf(
      this.recorder.call({ definition, args: mapArguments(args, (tensor) => tensor.value()) }),
    );
    if (!result) throw new InternalError(`Expected a result of ${definition.name}`);
    // an op that returns its operand unchanged writes nothing
    if (result === before) return receiver;
    const { api } = this.recorder;
    const cast = result.dtype === receiver.dtype ? result : api.to(result, receiver.dtype);
    const whole = sameList(cast.shape, receiver.shape) ? cast : api.expand(cast, receiver.shape);
    // values overwritten by an op without gradient have zero gradients, as in eager execution
    const cut = definition.gradient.kind === "none" && isDifferentiable(receiver.dtype) &&
      this.recorder.enabled && this.recorder.requiring.has(before);
    const value = cut ? api.copy(before, whole) : whole;
    for (const entry of tape.slice(recorded)) if (entry.kind === "call") this.#copied.set(entry, before);
    receiver.write(value);
    this.note(result, receiver.storage);
    return receiver;
  }

  /** Runs `body` with or without recording; recording stays off if it is off. */
  recording<R>(on: boolean, body: () => R): R {
    const former = this.recorder.enabled;
    this.recorder.enabled = former && on;
    try {
      return body();
    } finally {
      this.recorder.enabled = former;
    }
  }
}
