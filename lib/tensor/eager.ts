/**
 * Eager execution: every call of an op on tensors ends here. Input: an op and arguments; output: tensors. Modes
 * see calls first; then the op's kernels run, views share storage, compositions call ops, and the tape records.
 * Invariant: a call either has its whole effect or throws before it has any.
 */
import { itemSize } from "../base/dtype.ts";
import { InternalError } from "../base/errors.ts";
import { makeOpApi, nameResults } from "../ops/api.ts";
import { parseCall, splitRequiresGrad } from "../ops/call.ts";
import type { HostTensor, Implementation, OpDefinition } from "../ops/definition.ts";
import type { OpApi } from "../ops/generated.ts";
import type { Params } from "../ops/params.ts";
import { contiguousLayout, layoutOf } from "./layout.ts";
import { type Element, readElements, writeElements } from "./host.ts";
import { runInplace } from "./inplace.ts";
import { ambient, noGrad } from "./modes.ts";
import {
  entryOf,
  inferResults,
  makePlan,
  mapTensors,
  type OpEntry,
  type Plan,
  signatureOf,
  type TensorArgs,
  tensorsOf,
} from "./plan.ts";
import { checkRanges } from "./ranges.ts";
import { runPlan } from "./run.ts";
import { allocateStorage, Storage } from "./storage.ts";
import { autograd, isTensor, modes, recordsGrad, Tensor } from "./tensor.ts";

/** How many plans of one op are kept; beyond it all are dropped, which only costs time. */
const PLAN_LIMIT = 8192;

/** Calls an op with arguments as a user gives them. */
export function callOp(definition: OpDefinition, given: readonly unknown[]): Tensor | readonly Tensor[] {
  if (!entryOf(definition).creates) {
    return callResolved(definition, parseCall(definition, given, isTensor, itemOf));
  }
  const { given: rest, requiresGrad } = splitRequiresGrad(given);
  const made = callResolved(definition, parseCall(definition, rest, isTensor, itemOf));
  if (requiresGrad && isTensor(made)) made.requiresGrad_();
  return made;
}

/** One-element tensors stand for numbers where only numbers may stand. */
const itemOf = (tensor: Tensor): Element => tensor.item();

/** Calls an op with resolved arguments. */
export function callResolved(definition: OpDefinition, args: TensorArgs): Tensor | readonly Tensor[] {
  if (modes.top !== null) {
    const mode = modes.top;
    return modes.without(() => mode.call({ definition, args, inplace: false }));
  }
  const results = execute(entryOf(definition), args);
  if (results.length === 1 && !hasSeveral(definition, args)) return results[0] ?? results;
  return nameResults(definition, results);
}

/** Calls an op and writes its result into the first tensor, which is returned. */
export function callInplace(definition: OpDefinition, given: readonly unknown[]): Tensor {
  return callResolvedInplace(definition, parseCall(definition, given, isTensor, itemOf));
}

/** The same with resolved arguments. */
export function callResolvedInplace(definition: OpDefinition, args: TensorArgs): Tensor {
  if (modes.top !== null) {
    const mode = modes.top;
    const result = modes.without(() => mode.call({ definition, args, inplace: true }));
    if (isTensor(result)) return result;
    throw new InternalError(`Expected one result of ${definition.name}_ but found several`);
  }
  const entry = entryOf(definition);
  return runInplace({ entry, args, run: execute });
}

/** Whether a call has several results (also where their number is one). */
export function hasSeveral(definition: OpDefinition, args: TensorArgs): boolean {
  if (definition.resultList) return true;
  if (!definition.results) return false;
  if (definition.resultsIf === undefined) return true;
  const deciding = args[definition.resultsIf];
  return deciding !== null && deciding !== false && deciding !== undefined && !isTensor(deciding);
}

/** The ops over eager tensors. */
export const ops: OpApi<Tensor> = makeOpApi<Tensor>(callOp);

/** Runs a call and records it where gradients are wanted. */
function execute(entry: OpEntry, args: TensorArgs): readonly Tensor[] {
  const { definition } = entry;
  const { implementation, gradient } = definition;
  const inputs = tensorsOf(entry, args);
  const records = ambient.gradEnabled && gradient.kind !== "none" && recordsGrad(inputs);
  if (implementation.kind === "composite") {
    checkComposition(entry, args);
    if (!records || gradient.kind === "composite") return compose(implementation, args);
  } else if (definition.ranges) {
    checkRanges(definition, args);
  }
  const results = records ? noGrad(() => compute(entry, args, inputs)) : compute(entry, args, inputs);
  if (records) autograd().record({ definition, args, results });
  return results;
}

function compute(entry: OpEntry, args: TensorArgs, inputs: readonly Tensor[]): readonly Tensor[] {
  const { implementation } = entry.definition;
  switch (implementation.kind) {
    case "lower":
    case "random":
      return runKernels(entry, args, inputs);
    case "view":
      return runView(entry, args, { implementation, inputs });
    case "composite":
      return compose(implementation, args);
    case "host":
      return runOnHost(entry, args, implementation);
    default:
      return implementation satisfies never;
  }
}

function compose(
  implementation: Implementation<Params> & { kind: "composite" },
  args: TensorArgs,
): readonly Tensor[] {
  const result = implementation.compose(ops, args);
  return isTensor(result) ? [result] : result;
}

/** Compositions check nothing themselves; inference says what is wrong, once per signature. */
function checkComposition(entry: OpEntry, args: TensorArgs): void {
  if (entry.definition.dataDependent?.(args)) return;
  const key = signatureOf(entry, args);
  if (entry.checked.has(key)) return;
  inferResults(entry.definition, mapTensors(entry, args, (t) => t.meta));
  if (entry.checked.size > PLAN_LIMIT) entry.checked.clear();
  entry.checked.add(key);
}

/** The plan of a call of a lowered or random op. */
function planOf(entry: OpEntry, args: TensorArgs): Plan {
  const key = signatureOf(entry, args);
  const known = entry.plans.get(key);
  if (known) return known;
  const { definition } = entry;
  const { implementation } = definition;
  const metas = inferResults(definition, mapTensors(entry, args, (t) => t.layout.meta));
  if (implementation.kind !== "lower" && implementation.kind !== "random") {
    throw new InternalError(`Expected a lowered op but found ${definition.name}`);
  }
  const plan = makePlan({
    entry,
    args,
    metas,
    lower: (operands, out, keys) => implementation.lower(operands, out, keys),
  });
  remember(entry, key, plan);
  return plan;
}

function remember(entry: OpEntry, key: string, plan: Plan): void {
  if (entry.plans.size > PLAN_LIMIT) entry.plans.clear();
  entry.plans.set(key, plan);
}

function runKernels(entry: OpEntry, args: TensorArgs, inputs: readonly Tensor[]): readonly Tensor[] {
  const plan = planOf(entry, args);
  const results: Tensor[] = [];
  for (const layout of plan.results) {
    results.push(new Tensor(allocateStorage(layout.device, layout.byteLength), layout));
  }
  runPlan(plan, inputs, results);
  return results;
}

function runView(
  entry: OpEntry,
  args: TensorArgs,
  { implementation, inputs }: {
    readonly implementation: Implementation<Params> & { kind: "view" };
    readonly inputs: readonly Tensor[];
  },
): readonly Tensor[] {
  const { definition } = entry;
  const viewed = args[implementation.of];
  if (!isTensor(viewed)) throw new InternalError(`Expected a tensor to view in ${definition.name}`);
  const metas = inferResults(definition, mapTensors(entry, args, (t) => t.meta));
  if (implementation.copies?.(mapTensors(entry, args, (t) => t.meta))) {
    const key = signatureOf(entry, args);
    let plan = entry.plans.get(key);
    if (!plan) {
      plan = makePlan({ entry, args, metas, lower: (operands, out) => implementation.lower(operands, out) });
      remember(entry, key, plan);
    }
    const results = plan.results.map((l) => new Tensor(allocateStorage(l.device, l.byteLength), l));
    runPlan(plan, inputs, results);
    return results;
  }
  return metas.map((meta, index) => {
    const offset = typeof meta.offset === "number" ? meta.offset : 0;
    const result = new Tensor(viewed.storage, layoutOf(meta), offset);
    if (!ambient.inference && definition.gradient.kind !== "none") {
      const parent = viewed.viewState;
      result.viewState = {
        base: parent?.base ?? viewed,
        steps: [...parent?.steps ?? [], { definition, args, index }],
        version: viewed.storage.version,
      };
    }
    return result;
  });
}

function runOnHost(
  entry: OpEntry,
  args: TensorArgs,
  implementation: Implementation<Params> & { kind: "host" },
): readonly Tensor[] {
  let device = "cpu";
  const { device: wanted } = args;
  const results = implementation.compute(mapTensors<HostTensor>(entry, args, (tensor) => {
    device = tensor.device;
    return { shape: tensor.shape, dtype: tensor.dtype, data: readElements(tensor) };
  }));
  return results.map(({ shape, dtype, data }) => {
    const place = typeof wanted === "string" ? wanted : device;
    const layout = contiguousLayout(shape, dtype, place);
    const storage = allocateStorage(place, Math.max(layout.byteLength, itemSize(dtype)));
    writeElements(storage, data);
    return new Tensor(storage, layout);
  });
}

/** A tensor over the same elements without history or view relation. */
export function aliasOf(tensor: Tensor): Tensor {
  return new Tensor(tensor.storage, tensor.layout, tensor.offset);
}

/** A tensor with a layout and no elements, for gradient rules that read no elements. */
export function hollowLike(tensor: Tensor): Tensor {
  return new Tensor(new Storage(tensor.device, null), tensor.layout);
}
