/**
 * Traces tensor operations as nodes of the graph. Invariant: a call that the op refuses leaves the graph unchanged;
 * plain JavaScript then throws the program's own error.
 */
import { config } from "../../base/config.ts";
import { type DType, getDefaultDtype, isDifferentiable, isDType, isFloat } from "../../base/dtype.ts";
import type { Dim } from "../../sym/expr.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import { autocastOf, type AutocastType, isEligible } from "../../ops/autocast.ts";
import type { Node, NodeMeta } from "../../graph/node.ts";
import type { ComposedMeta } from "../../ops/composition.ts";
import type { OpDefinition } from "../../ops/definition.ts";
import {
  graphNameOf,
  GraphValue,
  isGraphValue,
  mapArguments,
  tensorArguments,
} from "../../ops/graph_builder.ts";
import { isOperandNumber } from "../../ops/params.ts";
import type { CallTarget } from "../../ops/table.ts";
import { DynError, messageOf } from "../../base/errors.ts";
import { formOf } from "../../ops/complex/form.ts";
import { makeOpApi, nameResults, resultNames } from "../../ops/api.ts";
import { inplaceArguments, parseCall } from "../../ops/call.ts";
import { callWithComplexNumbers } from "./complex_numbers.ts";
import { breakGraph, refuseCall } from "../break_reasons.ts";
import { callDataDependent, isSeveral, tracedTensor } from "./data_dependent.ts";
import { assumeFraction, graphNumber, SCALAR_META, scalarOf, standsForNumber } from "./graph_numbers.ts";
import { constant, type ItemValue, TensorValue, UNDEFINED, type Value } from "../variables/value.ts";
import type { NumberValue } from "../variables/number_value.ts";
import { scalarDevice } from "../scalars.ts";
import { allElements, newArray } from "./contents.ts";
import { isPlain, optionsIn } from "./object_keys.ts";
import { argumentItself } from "./identity.ts";
import {
  afterInplace,
  checkInplace,
  checkLeaf,
  isMetas,
  refuseLateHistories,
  refuseLostHooks,
} from "./in_place.ts";
import type { Interpreter } from "./interpreter.ts";
import {
  areFloats,
  type ArgumentForms,
  inferResults,
  isAccepted,
  isDataDependent,
  resolveArguments,
  type Resolved,
} from "./op_rule.ts";
import { runsOnHost } from "../../ops/host_parts.ts";
import { beginHistory, keepHistories } from "./history_starts.ts";
import { normalForm } from "./node_arguments.ts";
import { clampedByNumbers } from "./number_bounds.ts";
import { rangeOfNumbers } from "./ranges_of_numbers.ts";
import { besideNumbersOnly, inOneDimension } from "./lone_numbers.ts";
import { calledOnSelections, selectedBy } from "./selections.ts";
import { beginChange, finishChange } from "./layout_changes.ts";
import { relyOnWholeness } from "../variables/numbers.ts";
import { mayShareMemory } from "./shown_nodes.ts";

/** Calls an op. `method`: written as a method of its first argument. */
export function callOp(m: Interpreter, target: CallTarget, args: readonly Value[], method: boolean): Value {
  const { definition } = target;
  const selected = calledOnSelections(m, target, args, (each, given) => callOp(m, each, given, method));
  if (selected) return selected;
  const made = filledInGraph(m, target, args) ?? madeAsLeaf(m, target, args) ??
    rangeOfNumbers(m, target, args, (each, given) => callOp(m, each, given, false)) ??
    callWithComplexNumbers(m, target, args, (each, given) => callOp(m, each, given, false));
  if (made) return made;
  const forms: ArgumentForms = {
    tensor: (value) => new GraphValue(m.output.nodeOf(value), value.meta),
    number: (value) => scalarOperand(m, value, args),
    item: (value, form) => itemOperand(m, value, { form, of: definition.name }),
  };
  const { parsed, inplace } = resolveArguments(m, { definition, args, forms });
  const resolved = target.inplace ? inplaceArguments(definition, parsed) : parsed;
  return callResolved(m, { definition, inplace: target.inplace || inplace }, resolved, { method });
}

/** Position of the fill value in ops that fill a new tensor. */
const FILLS: ReadonlyMap<string, number> = new Map([["full", 1], ["fullLike", 1], ["newFull", 2]]);

/**
 * Calls ops that create a tensor of floats filled with an element of the graph, or with a number that differs between
 * calls; null for other calls. Without a type the value itself determines one: since 2.0 is 2 in JavaScript, an element
 * is not treated as an integer.
 */
function filledInGraph(m: Interpreter, target: CallTarget, args: readonly Value[]): Value | null {
  const at = FILLS.get(target.definition.name) ?? -1, value = args[at], [first] = args;
  if (value?.kind !== "item" && value?.kind !== "number") return null;
  const whole = value.kind === "item" ? value.number?.dim : value.integer ?? value.dim;
  if ((whole ?? null) !== null) return null;
  const options = args.slice(at + 1).find((each) => each.kind === "object");
  const given = options?.kind === "object" ? m.plainProperty(options, "dtype") : null;
  const named = given?.kind === "constant" && typeof given.value === "string" ? given.value : null;
  const dtype = named ?? (first?.kind === "tensor" ? first.meta.dtype : null);
  const fill = (like: number | boolean): Value => {
    const made = callOp(m, target, args.with(at, constant(like)), false);
    return callOp(m, m.opNamed("fill_"), [made, value], true);
  };
  if (dtype !== null) return isDType(dtype) && isFloat(dtype) ? fill(0) : null;
  if (!isAbsent(given)) return null;
  if (value.kind === "number") {
    relyOnWholeness(m.output, [value]);
    return fill(value.hint);
  }
  if (value.type === "boolean") return fill(false);
  return assumeFraction(m.output, value) ? fill(0.5) : null;
}

function isAbsent(value: Value | null): boolean {
  return value === null || (value.kind === "constant" && (value.value === undefined || value.value === null));
}

/** Creates a tensor at which a history begins, for `requiresGrad: true`; null for other calls. */
function madeAsLeaf(m: Interpreter, target: CallTarget, args: readonly Value[]): Value | null {
  const options = args.at(-1);
  if (options?.kind !== "object" || !isPlain(m, options)) return null;
  const asked = m.plainProperty(options, "requiresGrad");
  if (asked?.kind !== "constant" || asked.value !== true) return null;
  const { requiresGrad: _asked, ...left } = optionsIn(m, options);
  const made = callOp(m, target, args.with(-1, m.options(left)), false);
  // Integers alone mean floats here
  const isLeaf = made.kind === "tensor" && isDifferentiable(made.meta.dtype);
  return isLeaf ? beginHistory(m, made) : breakGraph("gradientState", "a leaf that requires grad is made");
}

/** Writes the elements of a value into a tensor: the in-place form of what only computes. */
export function writeInto(m: Interpreter, target: Value, value: Value): Value {
  return callOp(m, m.opNamed("copy_"), [target, value], true);
}

/** Calls an op on arguments that are already nodes. */
export function callResolved(
  m: Interpreter,
  { definition: called, inplace }: CallTarget,
  args: Resolved,
  { method = false }: { readonly method?: boolean } = {},
): Value {
  if (inplace && called.inplace === "layout") return changeLayout(m, called, args);
  const definition = formOf(called, args);
  if (m.batch !== null) return m.batch.call({ definition, inplace }, args);
  if (isDataDependent(m, definition, args)) {
    return dataDependent(m, definition, args, { isInplace: inplace });
  }
  const [first] = tensorArguments(args);
  const isLone = besideNumbersOnly(m, definition, args);
  if (inplace && first && (isLone || runsOnHost({ definition, args }))) {
    if (!isLone) checkInplace(first.value, inferResults(m, definition, args));
    // A host op writes nothing, so a node copies its result, which preserves the order of writes. The tape would save a
    // copy of the overwritten elements
    const recorded = m.gradEnabled && tensorArguments(args).some(({ value }) => requiresGrad(m, value));
    const given = recorded ? withCopyOf(m, first.value, args) : args;
    const result = callResolved(m, { definition, inplace: false }, given);
    return writeInto(m, tracedTensor(m, first.value), result);
  }
  const callPart = (part: OpDefinition, given: Resolved): GraphValue => {
    const value = shownValue(m, callResolved(m, { definition: part, inplace: false }, given), part);
    return isSeveral(value) ? breakGraph("tensorMethod", part.name) : value;
  };
  if (isLone) return tracedTensor(m, inOneDimension(m, definition, args, callPart));
  const bounded = clampedByNumbers(m, definition, args, callPart);
  if (bounded) {
    const result = tracedTensor(m, bounded);
    return inplace && first ? writeInto(m, tracedTensor(m, first.value), result) : result;
  }
  if (m.autocast === "" || inplace) return append(m, { definition, inplace }, args, method);
  return underAutocast(m, definition, args, { region: m.autocast, method });
}

/** Replaces one of the arguments by a copy. */
function withCopyOf(m: Interpreter, one: GraphValue, args: Resolved): Resolved {
  const copy = callOp(m, m.opNamed("clone"), [tracedTensor(m, one)], true);
  if (copy.kind !== "tensor") return breakGraph("tensorMethod", "clone");
  const shown = new GraphValue(m.output.nodeOf(copy), copy.meta);
  return mapArguments(args, (value) => value.node === one.node ? shown : value);
}

/** Makes a call that changes the layout of its first tensor in place. */
function changeLayout(m: Interpreter, definition: OpDefinition, args: Resolved): Value {
  const begun = beginChange(m, definition, args), { tensor } = begun, node = m.output.nodeOf(tensor);
  if (m.gradEnabled && tensor.requiresGrad) checkLeaf(m, new GraphValue(node, tensor.meta));
  keepReadElements(m, node);
  const view = callResolved(m, { definition, inplace: false }, args);
  if (view.kind !== "tensor") return breakGraph("tensorMethod", `${definition.name}_`);
  forgetElements(m);
  finishChange(m, begun, view);
  return tensor;
}

/** Makes a call whose result sizes depend on elements. */
function dataDependent(
  m: Interpreter,
  definition: OpDefinition,
  args: Resolved,
  { isInplace }: { readonly isInplace: boolean },
): Value {
  if (m.autocast !== "") breakGraph("dataDependentShape", `${definition.name} in a region of autocast`);
  const selected = config.captureDynamicOutputShapes
    ? null
    : selectedBy(m, definition, args, (each, given) => callOp(m, each, given, false));
  if (selected) return selected;
  const results = callDataDependent(m, definition, args, {
    ordinary(part, given) {
      return shownValue(m, append(m, { definition: part, inplace: false }, given, false), part);
    },
  });
  if (isSeveral(results)) {
    const [only] = results;
    const { resultsIf, resultsWith } = definition,
      isOne = resultsWith !== undefined || args[resultsIf ?? ""] === false;
    if (only && results.length === 1 && isOne) return tracedTensor(m, only);
    return namedArray(m, definition, results.map((each) => tracedTensor(m, each)), args);
  }
  const result = tracedTensor(m, results), [first] = tensorArguments(args);
  if (!isInplace || !first) return result;
  return writeInto(m, tracedTensor(m, first.value), result);
}

/** Returns several results as an array that also has them by name. */
export function namedArray(
  m: Interpreter,
  definition: OpDefinition,
  values: readonly Value[],
  args?: Resolved,
): Value {
  const array = newArray(m, [...values]);
  resultNames(definition, args).forEach((each, k) => {
    const value = values[k] ?? UNDEFINED;
    array.slots.set(each, { kind: "data", value, writable: true, enumerable: false, configurable: true });
  });
  return array;
}

/** Makes a call under autocast, which converts its arguments, or those of the calls of its composition. */
function underAutocast(
  m: Interpreter,
  definition: OpDefinition,
  args: Resolved,
  { region, method }: { readonly region: AutocastType; readonly method: boolean },
): Value {
  const target = { definition, inplace: false };
  const operands = tensorArguments(args).map(({ value }) => value.meta.dtype);
  const cast = autocastOf(definition.name, region, { operands, args });
  switch (cast.kind) {
    case "plain":
      return append(m, target, args, method);
    case "through":
      return composed(m, definition, args, region);
    case "convert": {
      const { dtype } = cast;
      const given = mapArguments(
        args,
        (value) =>
          value.meta.dtype === dtype || !isEligible(value.meta.dtype) ? value : converted(m, value, dtype),
      );
      return append(m, target, given, method);
    }
  }
}

/** Makes the calls of an op's composition under autocast. */
function composed(m: Interpreter, definition: OpDefinition, args: Resolved, region: AutocastType): Value {
  const { implementation } = definition;
  if (implementation.kind !== "composite") return breakGraph("tensorMethod", definition.name);
  const api = makeOpApi<GraphValue>((calledPart, given) => {
    const parsed = parseCall(calledPart, given, isGraphValue), part = formOf(calledPart, parsed);
    if (isDataDependent(m, part, parsed)) {
      return shownValue(m, dataDependent(m, part, parsed, { isInplace: false }), part);
    }
    return shownValue(m, underAutocast(m, part, parsed, { region, method: false }), part);
  });
  try {
    const result = implementation.compose(api, args);
    const value = isGraphValue(result) ? m.output.tensors.get(result.node) : undefined;
    return value ?? breakGraph("tensorMethod", `a composition of several results: ${definition.name}`);
  } catch (thrown) {
    if (thrown instanceof DynError) refuseCall(messageOf(thrown));
    throw thrown;
  }
}

/** Returns the result of a call as values of the graph. */
function shownValue(
  m: Interpreter,
  value: Value,
  definition: OpDefinition,
): GraphValue | readonly GraphValue[] {
  const shown = (each: Value): GraphValue =>
    each.kind === "tensor"
      ? new GraphValue(m.output.nodeOf(each), each.meta)
      : breakGraph("tensorMethod", `a part of ${definition.name}`);
  return value.kind === "object" ? nameResults(definition, allElements(m, value).map(shown)) : shown(value);
}

function scalarOperand(m: Interpreter, value: NumberValue, beside: readonly Value[]): GraphValue {
  const devices = beside.flatMap((each) => each.kind === "tensor" ? each.meta.device : []);
  const node = m.output.scalarNode(value, scalarDevice(devices));
  const { value: known } = node.meta;
  if (known.kind !== "tensor") return breakGraph("symbolicNumber", "a number");
  return new GraphValue(node, known.tensor);
}

/** Returns an element as an operand: a size, or a tensor without history that represents a number. */
function itemOperand(
  m: Interpreter,
  item: ItemValue,
  { form, of }: { readonly form: "operand" | "size"; readonly of: string },
): GraphValue | Dim {
  const { tensor } = item, number = graphNumber(m.output, item);
  if (number?.dim && (form === "size" || !number.signed)) return number.dim;
  if (form === "size") {
    return breakGraph("tensorItem", `a number that is not an integer decides on the result of ${of}`);
  }
  if (!tensor || !standsForNumber(tensor.meta.dtype)) {
    return new GraphValue(scalarOf(m.output, item), SCALAR_META);
  }
  const operand = detached(m, tensor);
  if (isFloat(tensor.meta.dtype)) m.output.scalars.add(operand.node);
  return operand;
}

/** Returns a tensor without history. */
function detached(m: Interpreter, tensor: TensorValue): GraphValue {
  const known = callOp(m, m.opNamed("detach"), [tensor], true);
  return known.kind === "tensor"
    ? new GraphValue(m.output.nodeOf(known), known.meta)
    : breakGraph("tensorItem");
}

function append(m: Interpreter, target: CallTarget, given: Resolved, method: boolean): Value {
  const { definition, inplace } = target;
  const args = withFittingScalars(m, definition, given);
  const tensors = tensorArguments(args);
  const result = inferResults(m, definition, args);
  const itself = inplace ? null : argumentItself(definition, args, result);
  const unchanged = itself ? m.output.tensors.get(itself.node) : undefined;
  if (unchanged) return unchanged;
  const [first] = tensors;
  const asks = tensors.some(({ value }) => requiresGrad(m, value));
  if (inplace && first) {
    checkInplace(first.value, result);
    const { dtype } = args;
    if (typeof dtype === "string" && dtype !== first.value.meta.dtype) {
      refuseCall(`an in-place operation with a result of type ${dtype}`);
    }
    if (m.gradEnabled) {
      checkLeaf(m, first.value);
      refuseLateHistories(m, first.value.node, asks);
    }
    refuseLostHooks(m, first.value.node);
    keepHistories(m, first.value.node);
  }
  if (inplace && first) keepReadElements(m, first.value.node);
  const name = graphNameOf(definition) + (inplace ? "_" : "");
  const { positional, kwargs } = normalForm(definition, args);
  const metas = isMetas(result) ? result.map(plainMeta) : null;
  const requires = [result].flat().map(({ requiresGrad }) => requiresGrad), grad = requires.includes(true);
  const own = isMetas(result) ? null : plainMeta(result);
  const kept = inplace && first ? first.value.meta : own;
  const onHost = runsOnHost({ definition, args });
  const meta: Partial<NodeMeta> = {
    stack: m.output.whereabouts.stack(),
    value: metas
      ? { kind: "tensors", tensors: metas, requiresGrad: grad }
      : kept
      ? { kind: "tensor", tensor: kept, requiresGrad: grad }
      : { kind: "unknown" },
    ...(m.gradEnabled ? {} : { noGrad: true as const }),
    ...(onHost ? { onHost: true as const } : {}),
    // Assumes that every argument receives a gradient, although the op may have none for it
    ...(onHost && grad && m.output.sizes.mayAssume ? { taped: true as const } : {}),
  };
  const node = m.output.graph.create(method ? "call_method" : "call_function", name, {
    args: positional,
    kwargs,
    meta,
  });
  m.output.noteOperation(node);
  if (inplace) forgetElements(m);
  if (inplace && first) return afterInplace(m, node, { target: first.value, grad });
  if (!metas) {
    if (!kept) return breakGraph("tensorMethod", definition.name);
    return remember(m, new TensorValue(kept, grad, node, null, null));
  }
  const values = metas.map((tensor, index): TensorValue => {
    const requiresGrad = requires[index] ?? false;
    const item = m.output.graph.create("call_function", "getitem", {
      args: [node, index],
      meta: { ...meta, value: { kind: "tensor", tensor, requiresGrad } },
    });
    m.output.noteOperation(item);
    return remember(m, new TensorValue(tensor, requiresGrad, item, null, null));
  });
  return namedArray(m, definition, values);
}

/** Invalidates elements that were read: later reads may differ. */
function forgetElements(m: Interpreter): void {
  m.output.items.clear();
  m.output.hostCalls.clear();
}

/**
 * Copies a tensor that was read as a number and is about to be written: its element is read after the graph has run.
 */
function keepReadElements(m: Interpreter, target: Node): void {
  for (const item of m.output.readLater) {
    const { tensor } = item;
    if (!tensor || !mayShareMemory(m.output.nodeOf(tensor), target)) continue;
    const plain = callOp(m, m.opNamed("detach"), [tensor], true);
    const kept = callOp(m, m.opNamed("clone"), [plain], true);
    if (kept.kind !== "tensor") continue;
    item.tensor = kept;
    m.output.readCopies.push(
      ...[plain, kept].flatMap((each) => each.kind === "tensor" ? each.node ?? [] : []),
    );
  }
}

function remember(m: Interpreter, tensor: TensorValue): TensorValue {
  if (tensor.node) m.output.tensors.set(tensor.node, tensor);
  return tensor;
}

/**
 * Converts numbers next to 0-d floats to their type, as in eager execution. Breaks the graph where a number decides on
 * the type of the result.
 */
export function withFittingScalars(m: Interpreter, definition: OpDefinition, args: Resolved): Resolved {
  const isScalar = (value: GraphValue) => m.output.scalars.has(value.node);
  const tensors = tensorArguments(args).filter(({ param }) => !isOperandNumber(definition.params[param]))
    .map(({ value }) => value);
  if (!tensors.some(isScalar)) return args;
  // Arithmetic of a composition on a number alone, since programs pass no numbers as tensors
  const isArithmetic = tensorArguments(args).every(({ param, value }) =>
    isScalar(value) && definition.params[param]?.kind === "tensor"
  );
  if (isArithmetic) return args;
  // Some ops take numbers of any type, but tensors of one only
  const areOperands = tensorArguments(args).every(({ param, value }) =>
    !isScalar(value) || definition.params[param]?.changes !== undefined
  );
  const [first] = tensors, isBesideFloat = first !== undefined && isFloat(first.meta.dtype);
  const fit = (areOperands && isBesideFloat) || scalarsFit(m, args);
  if (fit && isAccepted(m, definition, args)) return args;
  const types = tensors.filter((value) => !isScalar(value)).map(({ meta }) => meta.dtype);
  const [type, ...others] = areFloats(m, definition, args)
    ? [getDefaultDtype()]
    : areOperands
    ? types.slice(0, 1)
    : new Set(types);
  if (type === undefined || others.length > 0 || !isFloat(type)) {
    return breakGraph(
      "symbolicNumber",
      `a number is an operand of ${definition.name}, whose type it decides`,
    );
  }
  return mapArguments(
    args,
    (value, param) =>
      isScalar(value) && !isOperandNumber(definition.params[param]) ? converted(m, value, type) : value,
  );
}

/** Converts a tensor to another floating type. */
function converted(m: Interpreter, value: GraphValue, dtype: DType): GraphValue {
  const { shape, device } = value.meta, tensor: TensorMeta = contiguousMeta(shape, dtype, device);
  const grad = m.gradEnabled && requiresGrad(m, value);
  const node = m.output.graph.create("call_function", "to", {
    args: [value.node, dtype],
    meta: {
      stack: m.output.whereabouts.stack(),
      value: { kind: "tensor", tensor, requiresGrad: grad },
      ...(m.gradEnabled ? {} : { noGrad: true as const }),
    },
  });
  m.output.noteOperation(node);
  remember(m, new TensorValue(tensor, grad, node, null, null));
  return new GraphValue(node, tensor);
}

/**
 * Returns whether float64 scalars can replace numbers: only next to floating tensors with dimensions; masks do not
 * count.
 */
function scalarsFit(m: Interpreter, args: Resolved): boolean {
  const others = tensorArguments(args).filter(({ value }) => !m.output.scalars.has(value.node))
    .map(({ value }) => value.meta);
  return others.length > 0 && others.some((meta) => meta.shape.length > 0 && isFloat(meta.dtype)) &&
    others.every(({ dtype }) => isFloat(dtype) || dtype === "bool");
}

function requiresGrad(m: Interpreter, value: GraphValue): boolean {
  return m.output.tensors.get(value.node)?.requiresGrad ?? false;
}

function plainMeta({ requiresGrad: _, ...meta }: ComposedMeta): TensorMeta {
  return meta;
}

/** Returns a traced tensor for a node that was appended by other means. */
export function tensorOfNode(m: Interpreter, node: Node): TensorValue {
  const { value } = node.meta;
  if (value.kind !== "tensor") return breakGraph("tensorMethod", `a result of kind ${value.kind}`);
  m.output.noteOperation(node);
  return remember(m, new TensorValue(value.tensor, value.requiresGrad, node, null, null));
}

/** Returns whether comparing an element with a number yields the same in the graph as on the host. */
export function comparesExactly(tensor: TensorValue, other: number): boolean {
  const { dtype } = tensor.meta;
  if (dtype === "float32") return Object.is(Math.fround(other), other) || Number.isNaN(other);
  if (dtype === "float64") return true;
  if (dtype === "bool") return false;
  return Number.isSafeInteger(other) && Math.abs(other) < 2 ** 31;
}
