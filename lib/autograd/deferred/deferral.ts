/**
 * A mode that defers calls and runs them in batches: tensors have their metadata at once, and their elements when
 * they are first read. Invariant: deferral cannot be observed through elements or errors: a storage that waiting
 * calls read or write triggers those calls before anything else reads, writes or frees it.
 */
import { isComplex } from "../../base/dtype.ts";
import { InternalError } from "../../base/errors.ts";
import { nameResults } from "../../ops/api.ts";
import { graphNameOf } from "../../ops/graph_builder.ts";
import { findTarget } from "../../ops/table.ts";
import { withoutAutocast } from "../../tensor/autocast.ts";
import { asResult, callResolved, callResolvedInplace, ops } from "../../tensor/eager.ts";
import { checkResult } from "../../tensor/inplace.ts";
import { hasDistinctElements, layoutOf } from "../../tensor/layout.ts";
import { ambient, type DispatchMode, noGrad, type ResolvedCall } from "../../tensor/modes.ts";
import { entryOf, inferResults, mapTensors, tensorsOf } from "../../tensor/plan.ts";
import { type PendingWork, Storage, unwatched, watchAllocations } from "../../tensor/storage.ts";
import { isTensor, modes, recordsGrad, Tensor } from "../../tensor/tensor.ts";
import { Batch } from "./batch.ts";

/** Runs the calls of a batch: fills the wanted tensors and performs the writes. */
type RunBatch = (batch: Batch) => void;

/** Defers calls. */
export class Deferral implements DispatchMode<Tensor>, PendingWork {
  readonly inlines = true;
  /** Number of calls that ran immediately, by the reason why they could not be deferred. */
  readonly plain: Map<string, number> = new Map();
  #batch = new Batch();

  constructor(readonly device: string, readonly run: RunBatch) {}

  call(call: ResolvedCall<Tensor>): Tensor | readonly Tensor[] {
    const { definition, args, inplace } = call;
    // Deferred calls read tensors in their current layout
    if (inplace && definition.inplace === "layout") this.settle();
    if (definition.fills !== undefined && !inplace) return this.#filled(call, definition.fills);
    const because = this.#whyPlain(call);
    if (because !== null) {
      this.plain.set(because, (this.plain.get(because) ?? 0) + 1);
      return inplace ? callResolvedInplace(definition, args) : callResolved(definition, args);
    }
    const { implementation } = definition, entry = entryOf(definition);
    if (inplace) return this.#write(call);
    if (implementation.kind === "composite") {
      const { result, allocated } = watchAllocations(() =>
        modes.with(this, () => implementation.compose(ops, args))
      );
      const results = isTensor(result) ? [result] : result;
      for (const storage of allocated) {
        if (!results.some((each) => each.storage === storage)) storage.release();
      }
      return asResult(results, { definition, args });
    }
    const metas = mapTensors(entry, args, (tensor) => tensor.meta);
    if (implementation.kind === "view" && !implementation.copies?.(metas)) return this.#view(call);
    const inferred = inferResults(definition, metas);
    this.#admit(tensorsOf(entry, args));
    const results = inferred.map((meta) => {
      const layout = layoutOf(meta);
      const result = new Tensor(Storage.promised(meta.device, this, layout.byteLength), layout);
      this.#batch.made.set(result.storage, result);
      return result;
    });
    this.#batch.add({ ...call, results });
    return asResult(results, { definition, args });
  }

  /** A filled tensor needs only metadata: the elements of the tensor that it resembles may be released. */
  #filled({ definition, args }: ResolvedCall<Tensor>, value: number): Tensor {
    const [meta] = inferResults(definition, mapTensors(entryOf(definition), args, (tensor) => tensor.meta));
    if (!meta) throw new InternalError(`Expected a result of ${definition.name} but found none`);
    const { shape, dtype, device } = layoutOf(meta);
    return modes.with(this, () => ops.full(shape, value, { dtype, device }));
  }

  /** A view of a deferred tensor is a call of the batch; a view of a computed tensor is made immediately. */
  #view(call: ResolvedCall<Tensor>): Tensor | readonly Tensor[] {
    const { definition, args } = call;
    const tensors = tensorsOf(entryOf(definition), args);
    const isWaiting = tensors.some(({ storage }) => this.#batch.made.has(storage));
    if (isWaiting) this.#admit(tensors);
    const found = callResolved(definition, args);
    if (isWaiting) this.#batch.add({ ...call, results: isTensor(found) ? [found] : found });
    return isTensor(found) ? found : nameResults(definition, found);
  }

  #write(call: ResolvedCall<Tensor>): Tensor {
    const tensors = tensorsOf(entryOf(call.definition), call.args);
    this.#admit(tensors);
    const [target] = tensors;
    if (!target) return callResolvedInplace(call.definition, call.args);
    this.#batch.add({ ...call, results: [target] });
    target.storage.version++;
    return target;
  }

  /** Returns why a call cannot be deferred, or null if it can. */
  #whyPlain({ definition, args, inplace }: ResolvedCall<Tensor>): string | null {
    const { implementation, gradient } = definition, { kind } = implementation;
    if (kind === "host" || kind === "random") return `${definition.name}: ${kind}`;
    const entry = entryOf(definition), tensors = tensorsOf(entry, args);
    if (ambient.gradEnabled && gradient.kind !== "none" && recordsGrad(tensors)) {
      return `${definition.name}: recorded for a further pass`;
    }
    if (definition.dataDependent?.(args)) return `${definition.name}: elements decide about sizes`;
    const name = `${graphNameOf(definition)}${inplace ? "_" : ""}`;
    if (kind !== "composite" && findTarget(name)?.definition !== definition) {
      return `${name}: no op of the table`;
    }
    for (const { storage, device, dtype } of tensors) {
      if (!storage.filled) return `${definition.name}: a tensor without elements`;
      if (device !== this.device) return `${definition.name}: on ${device}`;
      if (isComplex(dtype)) return `${definition.name}: ${dtype}`;
    }
    const { device } = args;
    if (typeof device === "string" && device !== this.device) return `${definition.name}: on ${device}`;
    if (inplace && (kind !== "lower" || !this.#canWrite({ definition, args }))) {
      return `${definition.name}_: in place`;
    }
    return null;
  }

  /** Returns whether eager execution would accept an in-place call. */
  #canWrite({ definition, args }: Pick<ResolvedCall<Tensor>, "definition" | "args">): boolean {
    const entry = entryOf(definition), [target] = tensorsOf(entry, args);
    if (!target || !hasDistinctElements(target.layout) || typeof args.dtype === "string") return false;
    try {
      const [meta] = inferResults(definition, mapTensors(entry, args, (tensor) => tensor.layout.meta));
      if (!meta) return false;
      checkResult(layoutOf(meta), target.layout);
      return true;
    } catch {
      // The call itself throws the right error
      return false;
    }
  }

  /** Names all tensors of a call in the batch. */
  #admit(tensors: readonly Tensor[]): void {
    // Deferred memory in a layout that no call of the batch has returned must be computed first
    const isStrange = (tensor: Tensor) =>
      tensor.storage.pending !== null && this.#batch.made.has(tensor.storage) &&
      this.#batch.nameOf(tensor) === undefined;
    if (tensors.some(isStrange)) this.settle();
    for (const tensor of tensors) {
      if (this.#batch.nameOf(tensor) !== undefined) continue;
      tensor.storage.awaitWork(this);
      this.#batch.input(tensor);
    }
  }

  drop(storage: Storage): void {
    this.#batch.dropped.add(storage);
  }

  settle(): void {
    const batch = this.#batch;
    this.#batch = new Batch();
    for (const { storage } of batch.inputs) storage.stopAwaiting();
    for (const storage of batch.made.keys()) storage.stopAwaiting();
    try {
      if (batch.calls.length > 0) {
        modes.without(() => noGrad(() => withoutAutocast(() => unwatched(() => this.run(batch)))));
      }
    } finally {
      for (const storage of batch.dropped) storage.release();
    }
  }
}
