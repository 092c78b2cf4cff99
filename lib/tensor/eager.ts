/**
 * Eager execution: every call of an op on tensors ends here. Modes receive calls first; then the op's kernels run,
 * views share storage, compositions call ops, and the tape records. Invariant: a call either has its whole effect or
 * throws before it has any.
 */
import { encodeElements } from "../base/bfloat16.ts";
import { complexText, isComplexNumber } from "../base/complex.ts";
import { complexType, getDefaultDtype, isComplex, isDType, isFloat, itemSize } from "../base/dtype.ts";
import { DynError, InternalError } from "../base/errors.ts";
import { observed } from "../base/observation.ts";
import { isPlainObject } from "../base/tree.ts";
import { besideElements, refuseElements } from "../base/inherited_elements.ts";
import type { Lowered, Operand } from "../loops/body.ts";
import { makeOpApi, nameResults, resultNames } from "../ops/api.ts";
import { graphNameOf } from "../ops/graph_builder.ts";
import { inplaceArguments, parseCall, splitGenerator, splitInplace, splitRequiresGrad } from "../ops/call.ts";
import { OPS } from "../ops/table.ts";
import { type HostTensor, type Implementation, type OpDefinition, viewsMemory } from "../ops/definition.ts";
import { formOf } from "../ops/complex/form.ts";
import type { OpApi } from "../ops/generated.ts";
import type { Params } from "../ops/params.ts";
import { classPlan, type ClassRequest } from "./classes.ts";
import { autocastCall, convertedArgs, withoutAutocast } from "./autocast.ts";
import { hasComplexNumbers, numberTensor, withComplexTensors } from "./complex_numbers.ts";
import { composedPlan } from "./composed_plan.ts";
import { onDefaultDevice } from "./default_device.ts";
import { concrete, contiguousLayout, layoutOf } from "./layout.ts";
import { type Element, type NestedElements, readElements, writeElements } from "./host.ts";
import { runInplace } from "./inplace.ts";
import { ambient, noGrad, type ResolvedCall } from "./modes.ts";
import { OpCall, type OpResult } from "./op_call.ts";
import {
  entryOf,
  findPlan,
  inferResults,
  type LoadedNumber,
  mapTensors,
  type OpEntry,
  type Plan,
  signatureOf,
  type TensorArgs,
  tensorsOf,
  type ViewPlace,
} from "./plan.ts";
import { drawnFrom, Generator } from "./random.ts";
import { checkBounds, checkRanges } from "./ranges.ts";
import { checkReach } from "./reach.ts";
import { makePlan } from "./recorded_plan.ts";
import { runInto } from "./run.ts";
import { allocateStorage, isShapesOnly, Storage, watchAllocations } from "./storage.ts";
import { autograd, isTensor, modes, recordsGrad, Tensor } from "./tensor.ts";
import { movedTo } from "./transfer.ts";
import { noteView } from "./view_state.ts";
import { receiverOf, subclasses, withoutSubclasses } from "./tensor_subclass.ts";

/** Maximum number of cached signatures and view places of one op. */
const PLAN_LIMIT = 8192;

/** Calls an op with the arguments of a user's call. */
export function callOp(definition: OpDefinition, given: readonly unknown[]): Tensor | readonly Tensor[] {
  return besideElements(() => callGiven(definition, given));
}

function callGiven(definition: OpDefinition, given: readonly unknown[]): Tensor | readonly Tensor[] {
  return withGenerator(definition, given, (rest) => callWritten(definition, rest));
}

/** Makes a call with random numbers from the generator that it names, if any. */
function withGenerator<R>(
  { name, takesGenerator }: OpDefinition,
  written: readonly unknown[],
  call: (given: readonly unknown[]) => R,
): R {
  if (!takesGenerator) return call(written);
  const { given, generator } = splitGenerator(written);
  if (generator === undefined || generator === null) return call(given);
  if (!(generator instanceof Generator)) {
    throw new DynError(`Expected a Generator for generator of ${name} but found ${typeof generator}`);
  }
  return drawnFrom(generator, () => call(given));
}

function callWritten(definition: OpDefinition, written: readonly unknown[]): Tensor | readonly Tensor[] {
  if (!hasComplexNumbers(written)) return callReal(definition, written);
  const fills = Object.values(definition.params).findIndex(({ complex }) => complex);
  return fills < 0
    ? callReal(definition, withComplexTensors(written))
    : filledWithComplex(definition, written, fills);
}

/** A new tensor filled with a complex number: ones times the number. */
function filledWithComplex(definition: OpDefinition, given: readonly unknown[], at: number): Tensor {
  const last = given.length > at + 1 ? given.at(-1) : {}, number = given[at];
  const { requiresGrad, dtype: asked, ...named } = isPlainObject(last) ? { ...last } : {};
  if (!isComplexNumber(number)) {
    throw new DynError(`Expected the complex number of ${definition.name} by position`);
  }
  const like = given.find(isTensor), known = asked ?? like?.dtype ?? getDefaultDtype();
  if (!isDType(known) || (asked && !isComplex(known))) {
    throw new DynError(`Expected a complex type for ${complexText(number)} but found ${String(asked)}`);
  }
  const dtype = complexType(known);
  const ones = callReal(definition, [...given.slice(0, at), 1, { ...named, dtype }]);
  if (!isTensor(ones)) throw new InternalError(`Expected one result of ${definition.name}`);
  const made = noGrad(() => ops.mul(ones, numberTensor(number, { dtype, device: ones.device })));
  return requiresGrad === true ? made.requiresGrad_() : made;
}

function callReal(definition: OpDefinition, given: readonly unknown[]): Tensor | readonly Tensor[] {
  const { creates, takesInplace } = entryOf(definition);
  if (takesInplace) {
    const { given: rest, inplace } = splitInplace(definition, given);
    return inplace
      ? callInplace(definition, rest)
      : callResolved(definition, parseCall(definition, rest, isTensor, valueOf));
  }
  if (!creates) return callResolved(definition, parseCall(definition, given, isTensor, valueOf));
  const { given: rest, requiresGrad } = splitRequiresGrad(given);
  const args = onDefaultDevice(definition, parseCall(definition, rest, isTensor, valueOf));
  const isOfFloats = requiresGrad || readsFloats(definition, rest);
  const made = callResolved(definition, isOfFloats ? withFloats(definition, args) : args);
  if (requiresGrad && isTensor(made)) made.requiresGrad_();
  return made;
}

/** Returns whether a number of a call is read from a tensor of floats, such as that of arange(tensor(2.0)). */
function readsFloats({ params }: OpDefinition, given: readonly unknown[]): boolean {
  const isOfFloats = (value: unknown) => isTensor(value) && isFloat(value.dtype);
  const last = given.at(-1), named = isPlainObject(last) ? Object.values(last) : [];
  return (given.some(isOfFloats) || named.some(isOfFloats)) &&
    Object.values(params).some(({ kind }) => kind === "scalar");
}

/**
 * Gives a new tensor a floating type if its numbers are floats or it requires grad, and its integer type was not
 * explicit: JavaScript writes 2.0 as 2, so that `full([2], 2.0)` has integers.
 */
function withFloats(definition: OpDefinition, args: TensorArgs): TensorArgs {
  if (args.dtype !== null || tensorsOf(entryOf(definition), args).length > 0) return args;
  const [made] = inferResults(definition, mapTensors(entryOf(definition), args, (t) => t.meta));
  return made?.dtype === "int64" ? { ...args, dtype: getDefaultDtype() } : args;
}

/** Parameters that take only numbers accept tensors: 0-d ones as a number, others as a list. */
const valueOf = (tensor: Tensor): Element | NestedElements =>
  tensor.ndim === 0 ? tensor.item() : tensor.tolist();

/** Makes a resolved call. */
export function makeCall({ definition, args, inplace }: ResolvedCall<Tensor>): OpResult {
  return inplace ? callResolvedInplace(definition, args) : callResolved(definition, args);
}

/** Calls the parts of an op; null if it has none, or writes in place. */
export function callParts(
  { definition: { implementation }, args, inplace }: ResolvedCall<Tensor>,
): OpResult | null {
  return inplace || implementation.kind !== "composite" ? null : implementation.compose(ops, args);
}

/** Makes a call through the class of a `TensorSubclass` among its arguments; undefined if there is none. */
function callOfSubclass(call: ResolvedCall<Tensor>): OpResult | undefined {
  const receiver = receiverOf(call.args);
  if (receiver === null) return undefined;
  const run = (call: ResolvedCall<Tensor>) => withoutSubclasses(() => makeCall(call));
  return new OpCall(call, { run, parts: callParts }).answeredBy((call) => receiver.dispatch(call));
}

/** Calls an op with resolved arguments. */
export function callResolved(called: OpDefinition, args: TensorArgs): OpResult {
  if (subclasses.exist && !subclasses.answering) {
    refuseElements();
    const result = callOfSubclass({ definition: called, args, inplace: false });
    if (result !== undefined) return result;
  }
  const definition = formOf(called, args);
  if (ambient.autocast !== null) {
    refuseElements();
    const cast = autocastCall(definition, args, ambient.autocast);
    if (cast.kind === "plain") return withoutAutocast(() => callResolved(definition, args));
    if (cast.kind === "convert") {
      const { dtype } = cast;
      const converted = convertedArgs(definition, args, {
        dtype,
        convert: (x) => withoutAutocast(() => ops.to(x, dtype)),
      });
      return withoutAutocast(() => callResolved(definition, converted));
    }
  }
  if (modes.top !== null) {
    refuseElements();
    const mode = modes.top;
    return modes.without(() => mode.call({ definition, args, inplace: false }));
  }
  const results = observed.by === null
    ? execute(entryOf(definition), args)
    : observed.by.span("op", graphNameOf(definition), () => execute(entryOf(definition), args));
  return asResult(results, { definition, args });
}

/** The returned value of a call: its only result, or all results by name. */
export function asResult(
  results: readonly Tensor[],
  { definition, args }: { readonly definition: OpDefinition; readonly args: TensorArgs },
): Tensor | readonly Tensor[] {
  const [only] = results;
  return results.length === 1 && only && !hasSeveral(definition, args)
    ? only
    : nameResults(definition, results, args);
}

/** Calls an op and writes its result into the first tensor, which is returned. */
export function callInplace(definition: OpDefinition, written: readonly unknown[]): Tensor {
  return withGenerator(definition, written, (rest) => {
    const given = hasComplexNumbers(rest) ? withComplexTensors(rest) : rest;
    const args = parseCall(definition, given, isTensor, valueOf);
    return callResolvedInplace(definition, withSourceMoved(definition, inplaceArguments(definition, args)));
  });
}

/** The arguments of a copy from another device, with the source on that of the tensor that is written to. */
function withSourceMoved({ crossesDevices }: OpDefinition, args: TensorArgs): TensorArgs {
  const { self, src } = args;
  return crossesDevices && isTensor(self) && isTensor(src) ? { ...args, src: movedTo(ops, src, self) } : args;
}

/** The same with resolved arguments. */
export function callResolvedInplace(called: OpDefinition, args: TensorArgs): Tensor {
  if (subclasses.exist && !subclasses.answering) {
    refuseElements();
    const result = callOfSubclass({ definition: called, args, inplace: true });
    if (result !== undefined) return onlyResult(called, result);
  }
  const definition = called.inplace === "layout" ? called : formOf(called, args);
  if (ambient.autocast !== null) return withoutAutocast(() => callResolvedInplace(definition, args));
  if (modes.top !== null) {
    refuseElements();
    const mode = modes.top;
    return onlyResult(definition, modes.without(() => mode.call({ definition, args, inplace: true })));
  }
  const entry = entryOf(definition), run = () => runInplace({ entry, args, run: execute });
  return observed.by === null ? run() : observed.by.span("op", `${graphNameOf(definition)}_`, run);
}

function onlyResult({ name }: OpDefinition, result: OpResult): Tensor {
  if (isTensor(result)) return result;
  throw new DynError(`Expected one result of ${name}_ but found several`);
}

/** Returns whether a call returns a list of results (even of length one). */
function hasSeveral(definition: OpDefinition, args: TensorArgs): boolean {
  if (definition.resultList) return true;
  if (!definition.results) return false;
  if (definition.resultsWith) return resultNames(definition, args).length > 1;
  if (definition.resultsIf === undefined) return true;
  const deciding = args[definition.resultsIf];
  return deciding !== null && deciding !== false && deciding !== undefined && !isTensor(deciding);
}

/** The ops over eager tensors. */
export const ops: OpApi<Tensor> = makeOpApi<Tensor>(callOp);

/** Runs a call, and records it if gradients are wanted. */
function execute(entry: OpEntry, args: TensorArgs): readonly Tensor[] {
  const { definition } = entry;
  const { implementation, gradient } = definition;
  const inputs = tensorsOf(entry, args);
  const records = ambient.gradEnabled && gradient.kind !== "none" && recordsGrad(inputs);
  if (records || definition.bounds || definition.ranges) refuseElements();
  if (implementation.kind === "composite") {
    if (definition.bounds) checkBounds(definition, args, execute);
    if (!records) return runComposite(entry, args, { implementation, inputs });
    checkArguments(entry, args);
    if (gradient.kind === "composite") return compose(implementation, args);
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
      return runComposite(entry, args, { implementation, inputs });
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
  refuseElements();
  return asList(implementation.compose(ops, args));
}

/** The results of a call, one or several, as a list. */
export function asList(result: OpResult): readonly Tensor[] {
  return isTensor(result) ? [result] : result;
}

/** Runs a composition that is not recorded: as one program if it has a class, else op by op. */
function runComposite(
  entry: OpEntry,
  args: TensorArgs,
  { implementation, inputs }: {
    readonly implementation: Implementation<Params> & { kind: "composite" };
    readonly inputs: readonly Tensor[];
  },
): readonly Tensor[] {
  // An autocast region converts the operands of the parts
  if (ambient.autocast !== null || entry.definition.dataDependent?.(args)) {
    return composeAndFree(implementation, args);
  }
  const plan = composedPlan({
    entry,
    args,
    admits() {
      inferResults(entry.definition, mapTensors(entry, args, (t) => t.meta));
      return true;
    },
    byOps: (given) => composeAndFree(implementation, given),
  });
  return plan === null ? composeAndFree(implementation, args) : runInto(plan, { inputs, args });
}

/** Runs a composition that is not recorded: its intermediates are dead when it returns, so their memory is freed. */
function composeAndFree(
  implementation: Implementation<Params> & { kind: "composite" },
  args: TensorArgs,
): readonly Tensor[] {
  const { result, allocated } = watchAllocations(() => compose(implementation, args));
  for (const storage of allocated) {
    if (!result.some((each) => each.storage === storage)) storage.release();
  }
  return result;
}

/** Checks a call that runs no plan by inference, once per signature. */
function checkArguments(entry: OpEntry, args: TensorArgs): void {
  if (entry.definition.dataDependent?.(args)) return;
  const key = signatureOf(entry, args);
  if (entry.checked.has(key)) return;
  refuseElements();
  inferResults(entry.definition, mapTensors(entry, args, (t) => t.meta));
  if (entry.checked.size > PLAN_LIMIT) entry.checked.clear();
  entry.checked.add(key);
}

/** Returns whether the result of a lowering depends on the order in which floats are combined. */
function isInexact(lowered: Lowered): boolean {
  return lowered.kind === "reduction" && (lowered.op === "sum" || lowered.op === "prod") &&
    isFloat(lowered.accumulator);
}

/** A placeholder for random keys, of which only the type matters. */
const KEY: Operand = { shape: [], dtype: "int32" };

/** The plan of a call of a lowered or random op. */
function planOf(entry: OpEntry, args: TensorArgs): Plan {
  const { definition } = entry;
  const { implementation } = definition;
  if (implementation.kind !== "lower" && implementation.kind !== "random") {
    throw new InternalError(`Expected a lowered op but found ${definition.name}`);
  }
  const request = (numbers: readonly LoadedNumber[]): ClassRequest => ({ entry, args, numbers });
  return findPlan(entry, args, {
    cache: entry.plans,
    known: (numbers, policy) => classPlan(request(numbers), policy),
    make(numbers) {
      const plan = classPlan(request(numbers));
      if (plan) return plan;
      const metas = inferResults(definition, mapTensors(entry, args, (t) => t.layout.meta));
      // The graph compiler chooses the order of summation, so it compiles whatever depends on that order
      const lowered = implementation.lower(mapTensors(entry, args, (t) => t.layout), metas, [KEY, KEY]);
      return lowered.some(isInexact) && classPlan(request(numbers), "often") ||
        makePlan({
          entry,
          args,
          metas,
          lower: (operands, out, keys) => implementation.lower(operands, out, keys),
          numbers,
        });
    },
  });
}

function runKernels(entry: OpEntry, args: TensorArgs, inputs: readonly Tensor[]): readonly Tensor[] {
  const plan = planOf(entry, args);
  if (entry.definition.ranges) checkRanges(entry.definition, args, execute);
  else if (entry.definition.bounds) checkBounds(entry.definition, args, execute);
  return runInto(plan, { inputs, args }, entry.definition.fills === 0);
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
  const places = viewPlaces(entry, args, implementation);
  if (places === null && definition === OPS.reshape) {
    // Row-major elements have any shape, and copying them is a kernel that does not depend on it
    const [packed = viewed] = compute(entryOf(OPS.contiguous), { self: viewed }, [viewed]);
    const reshaped = runView(entry, { ...args, self: packed }, { implementation, inputs: [packed] });
    // Only the result uses the copy: writes into it belong to the history of the reshape, not of the copy
    for (const each of reshaped) each.viewState = null;
    return reshaped;
  }
  if (places === null) {
    const plan = findPlan(entry, args, {
      cache: entry.plans,
      known: (numbers, policy) => classPlan({ entry, args, numbers }, policy),
      make: (numbers) =>
        classPlan({ entry, args, numbers }) ?? makePlan({
          entry,
          args,
          metas: inferResults(definition, mapTensors(entry, args, (t) => t.meta)),
          lower: (operands, out) => implementation.lower(operands, out),
        }),
    });
    return runInto(plan, { inputs, args });
  }
  if (viewsMemory(definition)) { for (const place of places) checkReach(place, viewed.storage); }
  const differentiable = definition.gradient.kind !== "none";
  return places.map(({ layout, offset }, index) => {
    const result = new Tensor(viewed.storage, layout, offset);
    if (layout.dtype !== viewed.dtype) viewed.storage.holdsSeveralTypes();
    if (differentiable) noteView(result, viewed, { definition, args, index });
    return result;
  });
}

/** Returns the places of a call's views, or null if it copies. */
function viewPlaces(
  entry: OpEntry,
  args: TensorArgs,
  implementation: Implementation<Params> & { kind: "view" },
): readonly ViewPlace[] | null {
  const key = signatureOf(entry, args, true);
  const known = entry.views.get(key);
  if (known !== undefined) return known;
  const metas = mapTensors(entry, args, (t) => t.meta);
  const inferred = inferResults(entry.definition, metas);
  const places = implementation.copies?.(metas)
    ? null
    : inferred.map((meta) => ({ layout: layoutOf(meta), offset: concrete(meta.offset) }));
  if (entry.views.size > PLAN_LIMIT) entry.views.clear();
  entry.views.set(key, places);
  return places;
}

function runOnHost(
  entry: OpEntry,
  args: TensorArgs,
  implementation: Implementation<Params> & { kind: "host" },
): readonly Tensor[] {
  refuseElements();
  checkArguments(entry, args);
  const hollow = elementlessResults(entry, args);
  if (hollow !== null) return hollow;
  let device = "cpu";
  const { device: wanted } = args;
  const results = implementation.compute(mapTensors<HostTensor>(entry, args, (tensor) => {
    device = tensor.device;
    return { shape: tensor.shape, dtype: tensor.dtype, data: readElements(tensor) };
  }));
  return results.map(({ shape, dtype, data }) => {
    const place = typeof wanted === "string" ? wanted : device;
    const layout = contiguousLayout(shape, dtype, place);
    const storage = allocateStorage(place, Math.max(layout.byteLength, itemSize(dtype)), layout);
    writeElements(storage, encodeElements(dtype, data));
    return new Tensor(storage, layout);
  });
}

/** The results of a host call if they have only shapes; null if they depend on elements, or elements are wanted. */
function elementlessResults(entry: OpEntry, args: TensorArgs): readonly Tensor[] | null {
  const { device: wanted } = args,
    place = typeof wanted === "string" ? wanted : tensorsOf(entry, args)[0]?.device;
  if (place === undefined || !isShapesOnly(place) || entry.definition.dataDependent?.(args)) return null;
  return inferResults(entry.definition, mapTensors(entry, args, (t) => t.meta)).map((meta) => {
    const layout = layoutOf(meta);
    return new Tensor(allocateStorage(place, layout.byteLength, layout), layout);
  });
}

/** A tensor over the same elements without history or view relation. */
export function aliasOf(tensor: Tensor): Tensor {
  return new Tensor(tensor.storage, tensor.layout, tensor.offset);
}

/** Removes the view relation of a tensor, unless its history goes through the view. */
export const asWhole = (tensor: Tensor): Tensor =>
  tensor.viewState !== null && !tensor.requiresGrad ? aliasOf(tensor) : tensor;

/** A tensor with a layout and no elements, for rules that read none; `missing` creates the error of reading them. */
export function elementlessLike(
  { device, layout }: Pick<Tensor, "device" | "layout">,
  missing?: () => Error,
): Tensor {
  return new Tensor(new Storage(device, null, missing), layout);
}
