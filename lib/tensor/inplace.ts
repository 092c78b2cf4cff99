/**
 * In-place calls: an op whose result is written into its first tensor. The version of that tensor advances.
 * Invariant: every element is computed from the operands' values before the call, even if they share memory with the
 * target.
 */
import { type DType, isComplex, isDifferentiable } from "../base/dtype.ts";
import { canCast } from "../base/type_info.ts";
import { DynError, InternalError } from "../base/errors.ts";
import { refuseElements } from "../base/inherited_elements.ts";
import { sameList } from "../base/lists.ts";
import { SHARED_ELEMENTS, type TensorMeta } from "../graph/meta.ts";
import type { Operand } from "../loops/body.ts";
import { axesOf } from "../loops/nest.ts";
import { Recorder } from "../loops/record.ts";
import type { OpDefinition } from "../ops/definition.ts";
import { formOf } from "../ops/complex/form.ts";
import { pairsMeta } from "../ops/complex/views.ts";
import { OPS } from "../ops/table.ts";
import type { Dim } from "../sym/expr.ts";
import { classPlan, type ClassPolicy, type ClassRequest } from "./classes.ts";
import { hasDistinctElements, type Layout, layoutOf } from "./layout.ts";
import type { ViewState } from "./autograd_state.ts";
import { metadataChanges } from "./metadata_version.ts";
import { ambient, noGrad } from "./modes.ts";
import {
  entryOf,
  type Execute,
  findPlan,
  inferResults,
  type LoadedNumber,
  mapTensors,
  type OpEntry,
  type Plan,
  PlanCache,
  type TensorArgs,
  tensorsOf,
} from "./plan.ts";
import { checkBounds, checkRanges } from "./ranges.ts";
import { makePlan } from "./recorded_plan.ts";
import { runPlan } from "./run.ts";
import { autograd, autogradStateOf, isTensor, recordsGrad, Tensor } from "./tensor.ts";
import { viewOf } from "./view_state.ts";

/** A plan that writes into its target. */
interface InplacePlan extends Plan {
  /** Whether each tensor is read only at the element being written, so that it may alias the target. */
  readonly aligned: readonly boolean[];
}

/** Runs a call in place. */
export function runInplace(
  { entry, args, run }: { readonly entry: OpEntry; readonly args: TensorArgs; readonly run: Execute },
): Tensor {
  const { definition } = entry;
  const inputs = tensorsOf(entry, args);
  const [name] = Object.keys(definition.params);
  const target = args[name ?? ""];
  if (!isTensor(target)) throw new InternalError(`Expected a tensor to write by ${definition.name}_`);
  if (definition.inplace === "layout") return changeLayout(target, entry, { args, run });
  checkWritable(target);
  const { dtype } = args;
  if (typeof dtype === "string" && dtype !== target.dtype) {
    throw new DynError(
      `Expected a result of type ${target.dtype} for ${definition.name}_ but found dtype ${dtype}`,
    );
  }
  const records = ambient.gradEnabled && recordsGrad(inputs);
  if (records || definition.bounds || definition.ranges) refuseElements();
  // A composition may return the target unchanged, like dropout outside of training: then nothing is written
  if (ambient.gradEnabled && !(records && definition.gradient.kind === "composite")) checkLeaf(target);
  const write = (call: Call) => {
    const from = entryOf(formOf(call.definition, call.args));
    const given = { entry: from, args: call.args, inputs: tensorsOf(from, call.args), run };
    if (noGrad(() => writeInto(target, given))) target.storage.version++;
  };
  if (records && isDifferentiable(target.dtype)) recordInplace({ definition, args }, target, { run, write });
  else write({ definition, args });
  return target;
}

interface Call {
  readonly definition: OpDefinition;
  readonly args: TensorArgs;
}

/** How calls are made while one is recorded. */
interface Making {
  /** Makes a call out of place and records it. */
  readonly run: Execute;
  /** Makes a call in place and records nothing. */
  readonly write: (call: Call) => void;
}

/**
 * Makes an in-place call on a floating target and records it. An op with a gradient rule is recorded itself. An
 * op whose gradient is that of its composition is composed over a copy of the target, since its backward pass may read
 * the old elements; the result is copied into the target unless it is unchanged. The result of an op without a gradient
 * does not depend on the old elements.
 */
export function recordInplace({ definition, args }: Call, target: Tensor, { run, write }: Making): void {
  const record = (call: Call, made: Call = call) => {
    autograd().recordInplace(call, target, () => write(made));
  };
  const copyOf = (source: Tensor | number): Call => ({
    definition: OPS.copy,
    args: { self: target, src: source, nonBlocking: false },
  });
  switch (definition.gradient.kind) {
    case "rule":
      return record({ definition, args });
    case "none":
      return target.requiresGrad ? record(copyOf(0), { definition, args }) : write({ definition, args });
    case "composite": {
      const entry = entryOf(definition);
      const before = cloned(target, run);
      const [result] = run(entry, mapTensors(entry, args, (each) => each === target ? before : each));
      if (!result) throw new InternalError(`Expected a result of ${definition.name} but found none`);
      if (result === before) return;
      checkLeaf(target);
      checkResult(result.layout, target.layout);
      return target.requiresGrad || result.requiresGrad ? record(copyOf(result)) : write(copyOf(result));
    }
    default:
      return definition.gradient satisfies never;
  }
}

/** Gives the target the layout that a view of it has. */
function changeLayout(
  target: Tensor,
  entry: OpEntry,
  { args, run }: { readonly args: TensorArgs; readonly run: Execute },
): Tensor {
  const [view] = run(entry, args);
  if (!view) throw new InternalError(`Expected a result of ${entry.definition.name} but found none`);
  becomeView(target, view);
  return target;
}

/**
 * Gives a tensor the layout and history of a view of it, also without recording. Earlier views of it are unchanged.
 * Throws DynError for leaves that require grad, and their views, while recording.
 */
export function becomeView(target: Tensor, view: Tensor): void {
  if (view.storage !== target.storage) {
    throw new InternalError("Expected a view of the tensor but found a copy");
  }
  if (ambient.gradEnabled && target.requiresGrad) checkLeaf(target);
  const { state } = target, before = viewOf(target), now = view.viewState, { gradFn } = view;
  const retains = state?.gradFn?.retained.get(state.output) === target;
  if (retains) state?.gradFn?.retained.delete(state.output);
  target.storage.version++;
  // A leaf stays a leaf, whatever its layout is
  if (now !== null && (before !== null || state?.gradFn) && !state?.requiresGrad) {
    const former = before === null ? formerOf(target) : null,
      isSuccessor = former !== null || before?.succeeds;
    target.viewState = {
      base: former ?? now.base,
      steps: now.steps,
      // Without recording, the history is computed when it is needed
      version: gradFn === null ? STALE : target.storage.version,
      ...(isSuccessor ? { succeeds: true } : {}),
    };
    if (gradFn !== null || state) {
      Object.assign(autogradStateOf(target), { gradFn, output: view.state?.output ?? 0 });
    }
  }
  target.layout = view.layout;
  target.offset = view.offset;
  if (retains) target.retainGrad();
  metadataChanges(target);
}

/** A second tensor with the current state of one that is about to change. */
function formerOf({ storage, layout, offset, state }: Tensor): Tensor {
  const former = new Tensor(storage, layout, offset);
  former.state = state && { ...state, grad: null, ownsGrad: false };
  return former;
}

/** The version of a view whose history must be computed again. */
const STALE = -1;

/** Throws if several indices of a tensor share an element: its value would depend on the order of writes. */
function checkWritable({ layout }: Tensor): void {
  if (!hasDistinctElements(layout)) throw new DynError(SHARED_ELEMENTS);
}

/** The last steps of views that transforms differentiate by: after a write, gradients would be those of the new value. */
const differentiatedBy = new WeakSet<object>();

/** Makes a view refuse writes that are recorded, as leaves do; returns the view. */
export function refusingWrites(view: Tensor): Tensor {
  const step = view.viewState?.steps.at(-1);
  if (step) differentiatedBy.add(step);
  return view;
}

/** The last steps of results of custom functions that share memory with others, and what they are. */
const sharedResults = new WeakMap<object, string>();

/** Notes that a view is a result whose own gradient a history of its base would skip. */
export function noteSharedResult({ viewState, storage: { version } }: Tensor, what: string): void {
  const step = viewState?.steps.at(-1);
  if (!viewState || !step) return;
  sharedResults.set(step, what);
  viewState.version = version;
}

/** Returns which result of a custom function a view is, or is a view of. */
export function sharedResult({ steps }: ViewState<Tensor>): string | undefined {
  return steps.flatMap((step) => sharedResults.get(step) ?? [])[0];
}

/** Returns what a tensor is if recorded writes to it are refused, for an error. */
export function refusedWrite(target: Tensor): string | undefined {
  const viewState = viewOf(target), base = viewState?.base ?? target;
  const isLeaf = (tensor: Tensor) => tensor.isLeaf && tensor.requiresGrad;
  if (viewState && isLeaf(base)) return "a view of a leaf that requires grad";
  if (isLeaf(target) || viewState?.steps.some((step) => differentiatedBy.has(step))) {
    return "a leaf that requires grad";
  }
  const shared = viewState && sharedResult(viewState);
  // Without a history of its own, a view's write would be missing from that of its base
  const isUnrecorded = base.requiresGrad && !target.requiresGrad;
  return shared ?? (isUnrecorded ? "a view created without recording gradients" : undefined);
}

/** Throws for tensors whose recorded writes are refused. */
export function checkLeaf(target: Tensor): void {
  const refused = refusedWrite(target);
  if (refused !== undefined) {
    throw new DynError(
      `Expected a tensor with history but ${refused} is being used in an in-place operation`,
    );
  }
}

interface Write {
  readonly entry: OpEntry;
  readonly args: TensorArgs;
  readonly inputs: readonly Tensor[];
  readonly run: Execute;
}

/** Computes a call and stores its result, directly if the operands allow it. Returns whether anything was stored. */
function writeInto(target: Tensor, { entry, args, inputs, run }: Write): boolean {
  const { kind } = entry.definition.implementation;
  if (kind === "lower" || kind === "random") {
    const plan = planOf(entry, args, target.layout);
    const direct = plan !== null &&
      inputs.every((t, k) =>
        t.storage !== target.storage || !plan.reads.includes(k) ||
        (plan.aligned[k] === true && t.layout === target.layout && t.offset === target.offset)
      );
    if (plan !== null && direct) {
      if (entry.definition.ranges) checkRanges(entry.definition, args, run);
      else if (entry.definition.bounds) checkBounds(entry.definition, args, run);
      runPlan(plan, { inputs, outputs: [target], args });
      return true;
    }
  }
  const [found] = run(entry, args);
  if (!found) throw new InternalError(`Expected a result of ${entry.definition.name} but found none`);
  checkResult(found, target);
  const result = isComplex(target.dtype) ? converted(found, target.dtype, run) : found;
  if (result.storage === target.storage) {
    if (result.layout === target.layout && result.offset === target.offset) return false;
    const apart = cloned(result, run);
    copyInto(target, apart);
    apart.storage.release();
    return true;
  }
  copyInto(target, result);
  if (!inputs.some((input) => input.storage === result.storage)) result.storage.release();
  return true;
}

/** Copies elements, converting them; the two must not overlap. */
function copyInto(target: Tensor, source: Tensor): void {
  if (isComplex(target.dtype)) return copyInto(pairsOf(target), pairsOf(source));
  const entry = entryOf(OPS.copy), args = { self: target, src: source, nonBlocking: false };
  const plan = planOf(entry, args, target.layout);
  if (plan === null) throw new InternalError("Expected a plan to copy");
  runPlan(plan, { inputs: [target, source], outputs: [target], args });
}

/** A copy of a tensor, made through `run`. */
function cloned(self: Tensor, run: Execute): Tensor {
  const args = { self }, [copy] = run(entryOf(formOf(OPS.clone, args)), args);
  if (!copy) throw new InternalError("Expected a copy of a tensor but found none");
  return copy;
}

/** A tensor converted to a complex type. */
function converted(tensor: Tensor, dtype: DType, run: Execute): Tensor {
  if (tensor.dtype === dtype) return tensor;
  const args = { self: tensor, dtype }, [result] = run(entryOf(formOf(OPS.to, args)), args);
  if (!result) throw new InternalError("Expected a converted tensor but found none");
  return result;
}

/** A complex tensor's memory as pairs, without a history. */
function pairsOf({ storage, layout, offset }: Tensor): Tensor {
  return new Tensor(storage, layoutOf(pairsMeta(layout.meta)), 2 * offset);
}

const plans = new Map<OpEntry, PlanCache<InplacePlan | null>>();

/** The plan that writes into a layout, or null if the op must run out of place first. */
function planOf(entry: OpEntry, args: TensorArgs, layout: Layout): InplacePlan | null {
  let cache = plans.get(entry);
  if (!cache) plans.set(entry, cache = new PlanCache());
  return findPlan(entry, args, {
    cache,
    known: (numbers, policy) => sharedPlan({ entry, args, numbers }, { layout, policy }),
    make: (numbers) => compileInplace(entry, args, { layout, numbers }),
  });
}

function compileInplace(
  entry: OpEntry,
  args: TensorArgs,
  { layout, numbers }: { readonly layout: Layout; readonly numbers: readonly LoadedNumber[] },
): InplacePlan | null {
  const { definition } = entry;
  const { implementation } = definition;
  if (implementation.kind !== "lower" && implementation.kind !== "random") return null;
  const metas = inferResults(definition, mapTensors(entry, args, (t) => t.layout.meta));
  const [meta] = metas;
  if (!meta || metas.length !== 1) throw new DynError(`Expected one result of ${definition.name} in place`);
  checkResult(layoutOf(meta), layout);
  const aligned = alignedOperands(entry, { args, metas });
  if (aligned === undefined) return null;
  const shared = sharedPlan({ entry, args, numbers }, { layout });
  if (shared) return shared;
  const plan = makePlan({
    entry,
    args,
    metas,
    lower: (operands, out, keys) => implementation.lower(operands, out, keys),
    targets: [layout],
    numbers,
  });
  return { ...plan, aligned };
}

/** The plan of out-of-place calls, if it writes such a layout. */
function sharedPlan(
  request: ClassRequest,
  { layout, policy }: { readonly layout: Layout; readonly policy?: ClassPolicy },
): InplacePlan | undefined {
  const { entry, args } = request, plan = classPlan(request, policy);
  if (plan?.results[0] !== layout) return undefined;
  const metas = inferResults(entry.definition, mapTensors(entry, args, (t) => t.layout.meta));
  const aligned = alignedOperands(entry, { args, metas });
  return aligned && { ...plan, aligned };
}

/** For each tensor, whether it is read only at the written index; undefined for other forms of ops. */
function alignedOperands(
  entry: OpEntry,
  { args, metas }: { readonly args: TensorArgs; readonly metas: readonly TensorMeta[] },
): boolean[] | undefined {
  const { implementation } = entry.definition;
  if (implementation.kind !== "lower" && implementation.kind !== "random") return undefined;
  const operands: Operand[] = [];
  const operand = ({ shape, dtype }: { shape: readonly Dim[]; dtype: DType }): Operand => {
    operands.push({ shape, dtype });
    return operands.at(-1) ?? { shape, dtype };
  };
  const mapped = mapTensors(entry, args, (t) => operand(t.layout));
  const key: Operand = { shape: [], dtype: "int32" };
  const [lowered, ...others] = implementation.lower(mapped, metas, [key, key]);
  if (lowered?.kind !== "pointwise" || others.length > 0) return undefined;
  const at = axesOf(lowered.shape).map((axis) => axis.size === 1 ? 0 : axis.symbol);
  const aligned = operands.map(() => true);
  let loads = 0;
  const recorder = new Recorder((r, from, index) => {
    const ordinal = operands.indexOf(from);
    if (ordinal >= 0 && !sameList(index, at)) aligned[ordinal] = false;
    return r.loadBuffer(loads++, 0, from.dtype);
  });
  lowered.element(recorder, at);
  return aligned;
}

/** Throws if the result of an in-place call does not fit its target. */
export function checkResult(
  result: Pick<Layout, "shape" | "dtype">,
  target: Pick<Layout, "shape" | "dtype">,
): void {
  if (`${result.shape}` !== `${target.shape}`) {
    throw new DynError(
      `Expected a result of shape [${target.shape}] for the in-place call but found the broadcast shape [${result.shape}]`,
    );
  }
  if (!canCast(result.dtype, target.dtype)) {
    throw new DynError(`Expected a result that can be cast to ${target.dtype} but found ${result.dtype}`);
  }
}
