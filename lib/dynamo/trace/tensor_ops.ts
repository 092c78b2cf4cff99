/**
 * Tensor operations of the program as nodes of the graph. Input: an op and traced arguments; output: traced
 * tensors with metadata by inference. Invariant: a call that the op refuses leaves the graph as it was; the
 * program's own error is then made by plain JavaScript.
 */
import { categoryOf, type DType, type DTypeCategory, isFloat } from "../../base/dtype.ts";
import { DynError, invariant } from "../../base/errors.ts";
import { Sym } from "../../sym/expr.ts";
import type { TensorMeta } from "../../graph/meta.ts";
import type { Argument, Node, NodeMeta } from "../../graph/node.ts";
import { parseCall, splitInplace } from "../../ops/call.ts";
import { inferComposed } from "../../ops/composition.ts";
import type { OpDefinition } from "../../ops/definition.ts";
import {
  argumentsOfNode,
  graphNameOf,
  GraphValue,
  isGraphValue,
  mapArguments,
  tensorArguments,
  valueOfNode,
} from "../../ops/graph_builder.ts";
import type { Argument as CallArgument } from "../../ops/call.ts";
import { type CallTarget, findTarget } from "../../ops/table.ts";
import { showsArgument } from "../../autograd/shows_argument.ts";
import { config } from "../../base/config.ts";
import { breakGraph } from "../break_reasons.ts";
import { specializeNumber } from "../variables/numbers.ts";
import { onDefaultDevice } from "../../tensor/default_device.ts";
import { dataSlot, TensorValue, UNDEFINED, type Value } from "../variables/value.ts";
import { allElements, enumerableKeys, findProperty, newArray } from "./objects.ts";
import type { Interpreter } from "./interpreter.ts";

/** Calls an op. `method`: written as a method of its first argument. */
export function callOp(m: Interpreter, target: CallTarget, args: readonly Value[], method: boolean): Value {
  const { definition } = target;
  if (definition.implementation.kind === "host") breakGraph("tensorMethod", definition.name);
  const { parsed, inplace } = resolve(m, definition, args);
  if (definition.dataDependent?.(parsed)) breakGraph("dataDependentShape", definition.name);
  return append(m, { definition, inplace: target.inplace || inplace }, parsed, method);
}

type Resolved = ReturnType<typeof parseCall<GraphValue>>;

interface Call {
  readonly parsed: Resolved;
  /** Whether the arguments ask for the result in the first tensor. */
  readonly inplace: boolean;
}

/** Parses the arguments, first with sizes as symbols, then with their values. */
function resolve(m: Interpreter, definition: OpDefinition, args: readonly Value[]): Call {
  const attempt = (symbolic: boolean): Call => {
    const all = args.map((value) => toGiven(m, definition, value, symbolic));
    while (all.length > 0 && all.at(-1) === undefined) all.pop();
    const { given, inplace } = splitInplace(definition, all);
    const parsed = parseCall(definition, given, isGraphValue);
    return { parsed: onDefaultDevice(definition, parsed), inplace };
  };
  try {
    try {
      return attempt(true);
    } catch (error) {
      if (!(error instanceof DynError) || !args.some((v) => mentionsNumber(m, v))) throw error;
      return attempt(false);
    }
  } catch (error) {
    if (error instanceof DynError) return breakGraph("throws", error.message);
    throw error;
  }
}

function mentionsNumber(m: Interpreter, value: Value): boolean {
  if (value.kind === "number") return true;
  if (value.kind !== "object") return false;
  if (value.exotic.kind === "array") return allElements(m, value).some((v) => mentionsNumber(m, v));
  return value.exotic.kind === "plain" && enumerableKeys(m, value).some((key) => {
    const found = findProperty(m, value, key);
    return found.kind === "value" && mentionsNumber(m, found.value);
  });
}

/** A traced value as an argument for parsing. */
function toGiven(m: Interpreter, definition: OpDefinition, value: Value, symbolic: boolean): unknown {
  switch (value.kind) {
    case "constant":
      return value.value;
    case "number": {
      if (!symbolic) return specializeNumber(m.output, value).value;
      if (value.dim !== null) return value.dim;
      if (takesOperands(definition)) return scalarOperand(m, value);
      return specializeNumber(m.output, value).value;
    }
    case "item":
      if (config.captureScalarOutputs && takesOperands(definition)) return detached(m, value.tensor);
      return breakGraph("tensorItem", `the number is an argument of ${definition.name}`);
    case "tensor":
      return new GraphValue(m.output.nodeOf(value), value.meta);
    case "object": {
      if (value.exotic.kind === "array") {
        return allElements(m, value).map((each) => toGiven(m, definition, each, symbolic));
      }
      if (value.exotic.kind === "plain") {
        const record: Record<string, unknown> = {};
        for (const key of enumerableKeys(m, value)) {
          const found = findProperty(m, value, key);
          if (found.kind === "getter") breakGraph("opaqueObject", "options with getters");
          if (found.kind !== "value") continue;
          if (key === "requiresGrad") {
            if (found.value.kind === "constant" && !found.value.value) continue;
            breakGraph("gradientState", "a leaf that requires grad is made");
          }
          record[key] = toGiven(m, definition, found.value, symbolic);
        }
        return record;
      }
      return breakGraph("opaqueObject", `an argument of ${definition.name}`);
    }
    default:
      return breakGraph("opaqueObject", `an argument of ${definition.name}`);
  }
}

function takesOperands(definition: OpDefinition): boolean {
  return Object.values(definition.params).some((p) => p.kind === "operand");
}

function scalarOperand(m: Interpreter, value: Extract<Value, { kind: "number" }>): GraphValue {
  const node = m.output.scalarNode(value);
  const { value: known } = node.meta;
  if (known.kind !== "tensor") return breakGraph("symbolicNumber", "a number");
  return new GraphValue(node, known.tensor);
}

/** A tensor without history, as an operand that stands for its number. */
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
  let result: TensorMeta | readonly TensorMeta[];
  try {
    result = inferComposed(definition, mapArguments(args, (value) => value.meta));
  } catch (error) {
    if (error instanceof DynError) return breakGraph("throws", error.message);
    throw error;
  }
  const [first] = tensors;
  if (inplace && first) checkInplace(m, first.value, result);
  const asks = tensors.some(({ value }) => requiresGrad(m, value));
  const differentiable = m.gradEnabled && asks && definition.gradient.kind !== "none";
  const name = graphNameOf(definition) + (inplace ? "_" : "");
  const { positional, kwargs } = normalForm(definition, args);
  const metas = isMetas(result) ? result : null;
  const own: TensorMeta | null = isMetas(result) ? null : result;
  const grad = differentiable &&
    (metas ? metas.some((t) => isFloat(t.dtype)) : isFloat(own?.dtype ?? "bool"));
  const kept = inplace && first ? first.value.meta : own;
  const meta: Partial<NodeMeta> = {
    stack: m.output.whereabouts.stack(),
    value: metas
      ? { kind: "tensors", tensors: metas, requiresGrad: grad }
      : kept
      ? { kind: "tensor", tensor: kept, requiresGrad: grad }
      : { kind: "unknown" },
    ...(m.gradEnabled ? {} : { noGrad: true as const }),
  };
  const node = m.output.graph.create(method ? "call_method" : "call_function", name, {
    args: positional,
    kwargs,
    meta,
  });
  m.output.noteOperation();
  if (inplace && first) return afterInplace(m, node, { target: first.value, grad });
  if (!metas) {
    if (!kept) return breakGraph("tensorMethod", definition.name);
    return remember(m, new TensorValue(kept, grad, node, null, null));
  }
  const values = metas.map((tensor, index): TensorValue => {
    const requires = differentiable && isFloat(tensor.dtype);
    const item = m.output.graph.create("call_function", "getitem", {
      args: [node, index],
      meta: { ...meta, value: { kind: "tensor", tensor, requiresGrad: requires } },
    });
    m.output.noteOperation();
    return remember(m, new TensorValue(tensor, requires, item, null, null));
  });
  const array = newArray(m, values);
  definition.results?.forEach((each, k) => array.slots.set(each, dataSlot(values[k] ?? UNDEFINED)));
  return array;
}

function remember(m: Interpreter, tensor: TensorValue): TensorValue {
  if (tensor.node) m.output.tensors.set(tensor.node, tensor);
  return tensor;
}

/** The arguments with numbers that stand beside 0-d floats converted to their type, as eager numbers are. */
function withFittingScalars(m: Interpreter, definition: OpDefinition, args: Resolved): Resolved {
  const isScalar = (value: GraphValue) => m.output.scalars.has(value.node);
  const tensors = tensorArguments(args).map(({ value }) => value);
  if (!tensors.some(isScalar) || scalarsFit(m, args)) return args;
  const [type, ...others] = new Set(
    tensors.filter((value) => !isScalar(value)).map(({ meta }) => meta.dtype),
  );
  if (type === undefined || others.length > 0 || !isFloat(type)) {
    return breakGraph(
      "symbolicNumber",
      `a number is an operand of ${definition.name}, whose type it decides`,
    );
  }
  return mapArguments(args, (value) => isScalar(value) ? converted(m, value, type) : value);
}

/** A scalar input in another floating type. */
function converted(m: Interpreter, value: GraphValue, dtype: DType): GraphValue {
  const tensor: TensorMeta = { ...value.meta, dtype };
  const node = m.output.graph.create("call_function", "to", {
    args: [value.node, dtype],
    meta: {
      stack: m.output.whereabouts.stack(),
      value: { kind: "tensor", tensor, requiresGrad: false },
      ...(m.gradEnabled ? {} : { noGrad: true as const }),
    },
  });
  m.output.noteOperation();
  return new GraphValue(node, tensor);
}

/** A float64 scalar takes the place of a number only beside floating tensors that have dimensions. */
function scalarsFit(m: Interpreter, args: Resolved): boolean {
  const others = tensorArguments(args).filter(({ value }) => !m.output.scalars.has(value.node))
    .map(({ value }) => value.meta);
  return others.length > 0 && others.some((meta) => meta.shape.length > 0 && isFloat(meta.dtype)) &&
    others.every((meta) => isFloat(meta.dtype));
}

function requiresGrad(m: Interpreter, value: GraphValue): boolean {
  return m.output.tensors.get(value.node)?.requiresGrad ?? false;
}

/** A result is written only into a type of its category or a higher one. */
const RANK: Readonly<Record<DTypeCategory, number>> = { bool: 0, integer: 1, float: 2 };

function checkInplace(m: Interpreter, target: GraphValue, result: TensorMeta | readonly TensorMeta[]): void {
  if (isMetas(result)) breakGraph("tensorMethod", "an in-place operation with several results");
  else if (`${result.shape}` !== `${target.meta.shape}`) {
    breakGraph("throws", `an in-place operation with a result of shape [${result.shape}]`);
  } else if (RANK[categoryOf(result.dtype)] > RANK[categoryOf(target.meta.dtype)]) {
    breakGraph("throws", `an in-place operation with a result of type ${result.dtype}`);
  }
  const { shape, strides } = target.meta;
  if (shape.some((size, d) => size !== 1 && strides[d] === 0)) {
    breakGraph("throws", "an in-place operation on elements that several indices share");
  }
  // A leaf that requires grad must not be written to while recording: the tape says so.
  if (!m.gradEnabled) return;
  const root = viewedInput(target.node);
  if (root && m.output.tensors.get(root)?.requiresGrad) {
    breakGraph("throws", "an in-place operation on a leaf that requires grad");
  }
}

/** The input that a node shows elements of, if it is a view of one or an input itself. */
function viewedInput(node: Node): Node | null {
  for (let at: Node | undefined = node; at;) {
    if (at.op === "placeholder") return at;
    const [first]: (Node | undefined)[] = [...at.inputs()];
    const definition = at.target === "getitem" ? undefined : findTarget(at.target)?.definition;
    if (at.target !== "getitem") {
      if (!definition) return null;
      const args = argumentsOfNode(at, definition, valueOfNode, isGraphValue);
      if (!showsArgument({ definition, args })) return null;
    }
    at = first;
  }
  return null;
}

/** The receiver of an in-place call; all tensors that share its memory may require grad from now on. */
function afterInplace(
  m: Interpreter,
  node: Node,
  { target, grad }: { readonly target: GraphValue; readonly grad: boolean },
): Value {
  const value = m.output.tensors.get(target.node);
  if (!value) return breakGraph("tensorMethod", "an in-place operation on an unknown tensor");
  if (grad) {
    m.firstWrite = Math.min(m.firstWrite, m.steps - 1);
    const aliases = m.output.history.aliases(target.node);
    if (!aliases) {
      m.output.graph.erase(node);
      return breakGraph("gradientState", `the history of what ${node.name} writes to`);
    }
    for (const [alias, requires] of aliases) {
      const shown = m.output.tensors.get(alias);
      if (shown) shown.requiresGrad = requires;
    }
  }
  value.written = true;
  return value;
}

/** Positional and named arguments as nodes hold them: the shortest form that parses to the same. */
function normalForm(
  definition: OpDefinition,
  args: Resolved,
): { positional: Argument[]; kwargs: Record<string, Argument> } {
  const positional: Argument[] = [];
  const kwargs: Record<string, Argument> = {};
  let skipped = false;
  for (const [name, param] of Object.entries(definition.params)) {
    const value = toArgument(args[name] ?? null);
    const standard: unknown = param.default;
    const left = value === standard || (value === null && param.nullable) ||
      (Array.isArray(value) && Array.isArray(standard) && `${value}` === `${standard}`);
    if (left) skipped = true;
    else if (skipped || param.keyword) kwargs[name] = value;
    else positional.push(value);
  }
  return { positional, kwargs };
}

function toArgument(value: CallArgument<GraphValue>): Argument {
  if (value instanceof GraphValue) return value.node;
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value;
    return list.map((each) => each instanceof GraphValue ? each.node : plainArgument(each));
  }
  return plainArgument(value);
}

/** An argument without tensors: constants and sizes, as parsing gives them. */
function plainArgument(value: unknown): Argument {
  if (value instanceof Sym || value === null || value === undefined) return value;
  switch (typeof value) {
    case "number":
    case "bigint":
    case "boolean":
    case "string":
      return value;
    default:
      invariant(false, `Expected a constant argument but found ${typeof value}`);
  }
}

function isMetas(result: TensorMeta | readonly TensorMeta[]): result is readonly TensorMeta[] {
  return Array.isArray(result);
}

/** A traced tensor for a node that was appended by other means. */
export function tensorOfNode(m: Interpreter, node: Node): TensorValue {
  const { value } = node.meta;
  if (value.kind !== "tensor") return breakGraph("tensorMethod", `a result of kind ${value.kind}`);
  m.output.noteOperation();
  return remember(m, new TensorValue(value.tensor, value.requiresGrad, node, null, null));
}

/** Whether a comparison of an element with a number gives the same in the graph as on the host. */
export function comparesExactly(tensor: TensorValue, other: number): boolean {
  const { dtype } = tensor.meta;
  if (dtype === "float32") return Object.is(Math.fround(other), other) || Number.isNaN(other);
  if (dtype === "float64") return true;
  if (dtype === "bool") return false;
  return Number.isSafeInteger(other) && Math.abs(other) < 2 ** 31;
}
