/**
 * Applies an op's rule (parsing and inference of metadata) to the arguments of a call, with symbols for sizes that
 * may change. Invariant: an error of a rule is the program's error only if the rule also throws for the sizes of this
 * call; otherwise these sizes become constants.
 */
import { type Dim, freeSymbols, Sym } from "../../sym/expr.ts";
import { DataDependentSize, hintOf, isAtMost, isUnbacked, specialize } from "../../sym/decide.ts";
import { isCallback } from "../../base/checked_input.ts";
import { config } from "../../base/config.ts";
import { type DType, getDefaultDtype, isFloat, isInteger, isWhole } from "../../base/dtype.ts";
import { DynError, messageOf } from "../../base/errors.ts";
import { reachOf } from "../../graph/meta.ts";
import type { Node } from "../../graph/node.ts";
import { type Argument, parseCall, positionalCount, splitInplace } from "../../ops/call.ts";
import { type ComposedMeta, inferComposed } from "../../ops/composition.ts";
import { type OpDefinition, viewsMemory } from "../../ops/definition.ts";
import type { ParamKind } from "../../ops/params.ts";
import { GraphValue, isGraphValue, mapArguments } from "../../ops/graph_builder.ts";
import { sameMeta } from "../../ops/rewrite/metadata.ts";
import { onDefaultDevice } from "../../tensor/default_device.ts";
import { breakGraph, refuseCall } from "../break_reasons.ts";
import { relyOnWholeness, sizeOf, specializeNumber } from "../variables/numbers.ts";
import type { ItemValue, ObjectValue, Value } from "../variables/value.ts";
import type { NumberValue } from "../variables/number_value.ts";
import { refuseParts } from "./changing_parts.ts";
import { findProperty } from "./objects.ts";
import { allElements, refuseOpaque } from "./contents.ts";
import { enumerableKeys, isPlain } from "./object_keys.ts";
import type { Interpreter } from "./interpreter.ts";
import { dependsOnLayout, leaveLayoutToTape } from "./left_to_tape.ts";
import type { Param } from "../../ops/params.ts";
import { isBounded, operandNumber, paramAt } from "./operand_numbers.ts";
import { SymbolicLimit } from "./restart.ts";

/** The arguments of a call by parameter. */
export type Resolved = ReturnType<typeof parseCall<GraphValue>>;

/** The inferred metadata of the results. */
export type Inferred = ComposedMeta | readonly ComposedMeta[];

/** Conversions of traced values to arguments that depend on the graph. */
export interface ArgumentForms {
  /** A tensor. */
  tensor(value: Extract<Value, { kind: "tensor" }>): GraphValue;
  /** An operand that represents a number which is not a size. */
  number(value: NumberValue): GraphValue;
  /** A number that the graph computes: an operand that represents it, or a size. */
  item(value: Extract<Value, { kind: "item" }>, form: "operand" | "size"): GraphValue | Dim;
}

/**
 * The representation of changing numbers as arguments. "sizes": numbers that the graph computes are sizes, even if the
 * op accepts operands.
 */
type NumberForm = "symbolic" | "sizes" | "specialized";

/** One call: the op and its arguments. */
interface OpCallSite {
  readonly definition: OpDefinition;
  readonly args: readonly Value[];
  readonly forms: ArgumentForms;
}

/** The resolved arguments of a call. */
interface ResolvedCall {
  readonly parsed: Resolved;
  /** Whether the arguments request the result in the first tensor. */
  readonly inplace: boolean;
}

/** Parses the arguments, first with sizes as symbols, then with their values. */
export function resolveArguments(m: Interpreter, written: OpCallSite): ResolvedCall {
  const { definition } = written, operands = new Map<GraphValue, NumberValue | ItemValue>();
  const site = withRecord(operands, { ...written, args: withoutPlace(m, written) });
  let readsElement = false;
  const anyNumber = (tensor: GraphValue) => {
    if (m.output.scalars.has(tensor.node)) return tensor;
    readsElement = true;
    return 0;
  };
  const parse = (form: NumberForm): Attempt<ResolvedCall> => {
    const all = site.args.map((value, at) => toGiven(m, site, { value, form, at }));
    const outcome = attempt(() => {
      const { given, inplace } = splitInplace(definition, all);
      const parsed = withSizes(m, definition, parseCall(definition, given, isGraphValue, anyNumber));
      checkNumbers(m, definition, parsed, operands);
      return { parsed: onDefaultDevice(definition, parsed), inplace };
    });
    // Each form may be the first to reach the tensor: one that is refused may be refused before it
    if (readsElement) {
      breakGraph("tensorItem", `a tensor stands for a number among the arguments of ${definition.name}`);
    }
    return outcome;
  };
  const symbolic = parse("symbolic");
  if (symbolic.ok) return symbolic.value;
  if (site.args.some((value) => mentions(m, value, "item"))) {
    const sized = parse("sizes");
    return sized.ok ? sized.value : breakGraph(
      "tensorItem",
      `the number is an argument of ${definition.name}: ${messageOf(sized.error)}`,
    );
  }
  if (!site.args.some((value) => mentions(m, value, "number"))) refuseCall(messageOf(symbolic.error));
  const known = parse("specialized");
  return known.ok ? known.value : refuseCall(messageOf(known.error));
}

/** The call with a record of the operands that represent numbers. */
function withRecord(operands: Map<GraphValue, NumberValue | ItemValue>, site: OpCallSite): OpCallSite {
  const { forms } = site;
  const number: ArgumentForms["number"] = (value) => {
    const made = forms.number(value);
    operands.set(made, value);
    return made;
  };
  const item: ArgumentForms["item"] = (value, form) => {
    const made = forms.item(value, form);
    if (made instanceof GraphValue) operands.set(made, value);
    return made;
  };
  return { ...site, forms: { ...forms, number, item } };
}

/** Throws where an op refuses a number in place of its tensor, or computes with a boolean in another way. */
function checkNumbers(
  m: Interpreter,
  definition: OpDefinition,
  args: Resolved,
  operands: ReadonlyMap<GraphValue, NumberValue | ItemValue>,
): void {
  for (const [at, value] of Object.entries(args)) {
    const operand = isGraphValue(value) ? operands.get(value) : undefined;
    if (!operand) continue;
    const infer = (each: Argument<GraphValue>) => [inferred(m, definition, { ...args, [at]: each })].flat();
    if (operand.kind === "number" || operand.number?.type !== "boolean") {
      infer(operand.kind === "number" ? operand.hint : 0.5);
      continue;
    }
    const own = infer(value);
    for (const known of [true, false].map(infer)) {
      if (known.every((meta, index) => sameMeta(meta, own[index]))) continue;
      throw new DynError(`Expected a type that does not depend on ${at} of ${definition.name}`);
    }
  }
}

/** The arguments without the index and the array that methods of arrays pass to callbacks. */
function withoutPlace(m: Interpreter, { definition, args }: OpCallSite): readonly Value[] {
  const list = args.at(-1), at = args.at(-2), count = positionalCount(definition);
  if (args.length !== count + 2 || at?.kind !== "constant") return args;
  if (list?.kind !== "object" || list.exotic.kind !== "array") return args;
  const values = args.slice(0, count);
  // An index after numbers may be one more size
  if (values.some(({ kind }) => kind !== "tensor" && kind !== "object")) return args;
  return isCallback(count, [...values, at.value, allElements(m, list)]) ? values : args;
}

/** The arguments with integers of the program as sizes, except where they are operands. */
function withSizes(m: Interpreter, { params }: OpDefinition, args: Resolved): Resolved {
  const { integers } = m.output;
  const asSize = (value: Argument<GraphValue>): Argument<GraphValue> => {
    if (value instanceof Sym) return integers.asSize(value);
    return isSizes(value) ? value.map((each) => integers.asSize(each)) : value;
  };
  return Object.fromEntries(
    Object.entries(args).map((
      [name, value],
    ) => [name, params[name]?.kind === "operand" ? value : asSize(value)]),
  );
}

/** The metadata of the results. */
export function inferResults(m: Interpreter, definition: OpDefinition, args: Resolved): Inferred {
  const infer = (given: Resolved) => inferred(m, definition, given), symbolic = attempt(() => infer(args));
  if (!symbolic.ok) {
    return refuseOrLimit(m, { rule: definition.name, args, error: symbolic.error }, infer);
  }
  if (Array.isArray(symbolic.value) && symbolsIn(args).size > 0) {
    refuseParts(m, definition.name, symbolic.value.length);
  }
  if (isGraphValue(args.self) && dependsOnLayout(definition)) leaveLayoutToTape(m, args.self.node);
  if (viewsMemory(definition)) checkReach(args, symbolic.value);
  return symbolic.value;
}

/**
 * Ends the graph before a view that may reach further into its storage than the tensor does, as explicit strides can:
 * only the call itself knows how large the storage is.
 */
function checkReach({ self }: Resolved, result: Inferred): void {
  if (!isGraphValue(self)) return;
  const own = reachOf(self.meta);
  if ([result].flat().some((each) => !isAtMost(reachOf(each), own))) {
    breakGraph("tensorMethod", "asStrided reaches beyond the last element of its tensor");
  }
}

/** Returns whether the op accepts these arguments. */
export function isAccepted(m: Interpreter, definition: OpDefinition, args: Resolved): boolean {
  return attempt(() => inferred(m, definition, args)).ok;
}

function inferred(m: Interpreter, definition: OpDefinition, args: Resolved): Inferred {
  const metas = mapArguments(args, ({ node, meta }) => ({
    ...meta,
    requiresGrad: m.gradEnabled && (m.output.tensors.get(node)?.requiresGrad ?? false),
  }));
  return inferComposed(definition, metas);
}

/** Returns whether the shape of the result depends on elements. */
export function isDataDependent(m: Interpreter, definition: OpDefinition, args: Resolved): boolean {
  const { dataDependent } = definition;
  if (!dataDependent) return false;
  const symbolic = attempt(() => dataDependent(args));
  return symbolic.ok
    ? symbolic.value
    : refuseOrLimit(m, { rule: definition.name, args, error: symbolic.error }, dataDependent);
}

interface Failure {
  readonly rule: string;
  readonly args: Resolved;
  readonly error: unknown;
}

/**
 * Handles an error of a rule: it is the program's error if the rule also throws for the sizes of this call, else a
 * limit of the rule.
 */
function refuseOrLimit(
  m: Interpreter,
  { rule, args, error }: Failure,
  again: (args: Resolved) => unknown,
): never {
  if (error instanceof DataDependentSize) throw error;
  const symbols = symbolsIn(args);
  if ([...symbols].some(isUnbacked)) {
    // Assumptions about sizes may be wrong, and hence the rejection too
    breakGraph("dataDependentSize", `${rule}: ${messageOf(error)}`);
  }
  if (symbols.size > 0) {
    const known = attempt(() => again(withHints(args)));
    if (known.ok) {
      const sizes = [...symbols].map((symbol) => m.output.sizes.sourceOf(symbol));
      throw new SymbolicLimit(rule, sizes, m.steps - 1, { cause: error });
    }
    // Calls with other sizes may be valid.
    for (const symbol of symbols) specialize(symbol);
    refuseCall(messageOf(known.error));
  }
  refuseCall(messageOf(error));
}

type Attempt<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown };

/** Runs a rule of an op, which throws only its own rejections. */
function attempt<T>(run: () => T): Attempt<T> {
  try {
    return { ok: true, value: run() };
  } catch (error) {
    return { ok: false, error };
  }
}

/** The free symbols of all arguments. */
function symbolsIn(args: Resolved): Set<Sym> {
  const found = new Set<Sym>();
  const visit = (value: unknown): void => {
    if (value instanceof Sym) freeSymbols(value, found);
    else if (value instanceof GraphValue) [...value.meta.shape, ...value.meta.strides].forEach(visit);
    else if (Array.isArray(value)) value.forEach(visit);
  };
  Object.values(args).forEach(visit);
  return found;
}

/** The arguments with the values that sizes have in this call. */
function withHints(args: Resolved): Resolved {
  const known = (dims: readonly Dim[]) => dims.map(hintOf);
  const change = (value: Argument<GraphValue>): Argument<GraphValue> => {
    if (value instanceof Sym) return hintOf(value);
    if (isSizes(value)) return known(value);
    return value;
  };
  const plain = mapArguments(args, ({ node, meta }) => {
    const { shape, strides } = meta;
    return new GraphValue(node, { ...meta, shape: known(shape), strides: known(strides) });
  });
  return Object.fromEntries(Object.entries(plain).map(([name, value]) => [name, change(value)]));
}

function isSizes(value: Argument<GraphValue>): value is readonly Dim[] {
  return Array.isArray(value) && value.some((each) => each instanceof Sym);
}

/** Returns whether the arguments contain a number that may change, or one that the graph computes. */
function mentions(m: Interpreter, value: Value, kind: "number" | "item"): boolean {
  if (value.kind === kind) return true;
  if (value.kind !== "object") return false;
  if (value.exotic.kind === "array") return allElements(m, value).some((v) => mentions(m, v, kind));
  return value.exotic.kind === "plain" && enumerableKeys(m, value).some((key) => {
    const found = findProperty(m, value, key);
    return found.kind === "value" && mentions(m, found.value, kind);
  });
}

/** An argument as the program wrote it. */
interface WrittenArgument {
  readonly value: Value;
  readonly form: NumberForm;
  /** Its position, or its name; null for an element of a list. */
  readonly at: number | string | null;
}

/** Kinds of parameters that take sizes only. */
const SIZE_KINDS: ReadonlySet<ParamKind> = new Set([
  "size",
  "sizes",
  "sizeOrSizes",
  "sizesOrString",
  "counts",
  "outputSizes",
]);

/** A traced value as an argument for parsing. */
function toGiven(m: Interpreter, site: OpCallSite, { value, form, at }: WrittenArgument): unknown {
  const { definition, forms } = site;
  switch (value.kind) {
    case "constant":
      return value.value;
    case "number": {
      if (form === "specialized") return specializeNumber(m.output, value).value;
      const param = paramAt(definition, at), operand = param && operandNumber(m, site, param, value);
      if (operand instanceof GraphValue) return operand;
      if (operand === "outside" || definition.checksNumbers || isBounded(param)) {
        return specializeNumber(m.output, value).value;
      }
      if (takesOperand(definition, param)) {
        return value.integer ?? (isBesideFloats(site) ? null : value.dim) ?? operandBeside(m, site, value);
      }
      const size = param === null || SIZE_KINDS.has(param.kind) ? sizeOf(m.output, value) : value.dim;
      return size ?? specializeNumber(m.output, value).value;
    }
    case "item": {
      const param = paramAt(definition, at);
      const isConstant = definition.checksNumbers && !param?.changes;
      if ((!config.captureScalarOutputs && value.tensor) || isConstant) {
        return breakGraph("tensorItem", `the number is an argument of ${definition.name}`);
      }
      const operand = param && operandNumber(m, site, param, value);
      if (operand instanceof GraphValue) return operand;
      if (operand === "outside" || isBounded(param)) {
        return breakGraph("tensorItem", `the number may be out of the range of ${definition.name}`);
      }
      return forms.item(value, form !== "sizes" && takesOperand(definition, param) ? "operand" : "size");
    }
    case "tensor":
      return forms.tensor(value);
    case "object":
      if (value.exotic.kind === "array") {
        return allElements(m, value).map((each) => toGiven(m, site, { value: each, form, at: null }));
      }
      if (isPlain(m, value)) return optionsOf(m, site, value, form);
      refuseOpaque(value);
      // No op takes a function, a Map or an instance of a class: the call itself says so
      return breakGraph("throws", `an argument of ${definition.name}`);
    default:
      return breakGraph("opaqueObject", `an argument of ${definition.name}`);
  }
}

/**
 * A number that only the language computes as an operand. Beside tensors of integers it is a size, or a fraction that
 * makes floats of them: each call checks that it is still one of the two.
 */
function operandBeside(m: Interpreter, site: OpCallSite, value: NumberValue): Dim | GraphValue {
  const types = tensorTypes(site);
  if (types.length === 0 || !types.every(holdsIntegers)) return site.forms.number(value);
  relyOnWholeness(m.output, [value]);
  if (isWhole(value.hint)) return sizeOf(m.output, value) ?? site.forms.number(value);
  const fraction = site.forms.number(value);
  m.output.fractions.add(fraction.node);
  return fraction;
}

/** Returns whether fractions beside integers, as operands of the default type, make results of that type or truth values. */
export function areFloats(m: Interpreter, definition: OpDefinition, args: Resolved): boolean {
  const dtype = getDefaultDtype(), { scalars, fractions } = m.output;
  const others: DType[] = [], numbers: Node[] = [];
  const converted = mapArguments(args, ({ node, meta }) => {
    if (scalars.has(node)) numbers.push(node);
    else others.push(meta.dtype);
    return new GraphValue(node, scalars.has(node) ? { ...meta, dtype } : meta);
  });
  if (!others.every(holdsIntegers) || numbers.some((node) => !fractions.has(node))) return false;
  const results = attempt(() => [inferred(m, definition, converted)].flat());
  return results.ok && results.value.every((meta) => meta.dtype === dtype || meta.dtype === "bool");
}

/** Returns whether tensors of a type decide on no type of floats: a fraction beside them is one of the default type. */
const holdsIntegers = (type: DType): boolean => isInteger(type) || type === "bool";

const tensorTypes = ({ args }: OpCallSite): readonly DType[] =>
  args.flatMap((each) => each.kind === "tensor" ? [each.meta.dtype] : []);

/** Returns whether a number may be a float without changing the type of the result. */
function isBesideFloats(site: OpCallSite): boolean {
  const types = tensorTypes(site);
  return types.some(isFloat) && types.every((dtype) => isFloat(dtype) || dtype === "bool");
}

function optionsOf(
  m: Interpreter,
  site: OpCallSite,
  value: ObjectValue,
  form: NumberForm,
): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  for (const key of enumerableKeys(m, value)) {
    const found = findProperty(m, value, key);
    if (found.kind === "getter") breakGraph("opaqueObject", "options with getters");
    if (found.kind !== "value") continue;
    if (key === "requiresGrad") {
      if (found.value.kind === "constant" && !found.value.value) continue;
      breakGraph("gradientState", "a leaf that requires grad is made");
    }
    if (key === "generator" && site.definition.takesGenerator) {
      if (found.value.kind === "constant" && (found.value.value ?? null) === null) continue;
      breakGraph("randomState", `${site.definition.name} draws from a generator of its own`);
    }
    record[key] = toGiven(m, site, { value: found.value, form, at: key });
  }
  return record;
}

/** Returns whether a number for a parameter can be represented as a tensor of the graph; null: for any parameter. */
function takesOperand({ params }: OpDefinition, param: Param | null): boolean {
  return (param ? [param] : Object.values(params)).some(({ kind }) => kind === "operand");
}
