/**
 * Numbers, truth values and texts that the program computes from elements of tensors and only passes on: generated
 * code computes them after the graph has run. Invariant: a computation is the program's own, on primitives; it runs no
 * code of the program and throws nothing, so that the program cannot tell when it happens.
 */
import { highest, isFloat } from "../../base/dtype.ts";
import { invariant } from "../../base/errors.ts";
import { hasEffect, type Node } from "../../graph/node.ts";
import { type BreakCause, breakGraph } from "../break_reasons.ts";
import { callIn, type HostCall } from "../variables/host_number.ts";
import type { NumberValue } from "../variables/number_value.ts";
import { typeOf } from "../variables/type_of.ts";
import { type ConstantValue, ItemValue, type LaterValue, type Value } from "../variables/value.ts";
import { applyOperator, checkedNumber } from "./graph_numbers.ts";
import type { OutputGraph } from "./output_graph.ts";
import { Restart } from "./restart.ts";
import { shownNode } from "./shown_nodes.ts";

/**
 * Length of the longest chain of computations. A loop that sums up elements continues in one graph for a few passes only:
 * the graphs of a long one end where it first computes, so that one graph serves all of its passes.
 */
const LONGEST = 12;

/** The count of a computation on elements of lists alone: one list is read in one pass. */
const OF_LIST = 1 / 16;

const CAUSE: BreakCause = { kind: "tensorItem", detail: "an element is computed with" };

/** A computation after the graph; the graph ends if it might throw, or if it is one of a long chain. */
export function computeLater(
  output: OutputGraph,
  { apply, type, operands }: Pick<LaterValue, "apply" | "type" | "operands">,
): ItemValue {
  let depth = 0, firstStep = output.whereabouts.step(), step = OF_LIST;
  for (const operand of operands) {
    if (operand.kind === "item") settleInteger(output, operand);
    if (operand.kind === "number" || (operand.kind === "item" && !operand.later)) step = 1;
    const type = typeOf(operand), later = operand.kind === "item" ? operand.later : null;
    if (type === "bigint" || type === "symbol") return breakGraph(CAUSE.kind, CAUSE.detail);
    if (later && later.depth > depth) ({ depth, firstStep } = later);
    if (depth >= 1) step = 1;
  }
  if (depth >= LONGEST) throw new Restart(firstStep, { kind: "break", cause: CAUSE });
  return new ItemValue(null, null, { apply, type, operands, depth: depth + step, firstStep });
}

/**
 * A number that each call draws anew, such as a time, as one that is known only after the graph; any other value as it
 * is. Comparisons and texts of such numbers are computed there, too.
 */
export function drawnLater<V extends Value>(output: OutputGraph, value: V): V | ItemValue {
  return value.kind === "number" && callIn(value.expression)
    ? computeLater(output, { apply: "+", type: "number", operands: [value] })
    : value;
}

/** The call of a builtin from whose result a value is computed later; null if it depends on elements alone. */
export function drawnBy(value: Value): HostCall | null {
  if (value.kind === "number") return callIn(value.expression);
  if (value.kind === "object") return value.exotic.kind === "date" ? drawnBy(value.exotic.time) : null;
  for (const operand of (value.kind === "item" && value.later?.operands) || []) {
    const call = drawnBy(operand);
    if (call) return call;
  }
  return null;
}

export const COMPARISONS: ReadonlySet<string> = new Set([
  "<",
  "<=",
  ">",
  ">=",
  "==",
  "!=",
  "===",
  "!==",
  "!",
]);

/** An operator on primitives, one of which is an item: the graph applies it if it can, else code after the graph. */
export function operate(
  output: OutputGraph,
  operator: string,
  operands: readonly (ConstantValue | NumberValue | ItemValue)[],
): ConstantValue | ItemValue {
  const isText = operator === "+" && operands.length > 1 &&
    operands.some((each) => typeOf(each) === "string");
  const type = isText ? "string" : COMPARISONS.has(operator) ? "boolean" : "number";
  return applyOperator(output, operator, operands) ??
    computeLater(output, { apply: operator, type, operands });
}

/**
 * The result of a builtin for primitives, at least one of which is known only after the graph has run; null if there is
 * none, or if the builtin does not accept the others. `self`: the receiver of a method of numbers and texts.
 */
export function callLater(
  output: OutputGraph,
  fn: object,
  { self, args, type }: {
    readonly self: Value | null;
    readonly args: readonly Value[];
    readonly type: LaterValue["type"];
  },
): ItemValue | null {
  const all = self ? [self, ...args] : args;
  const operands = all.flatMap((each) => each.kind === "constant" || each.kind === "item" ? [each] : []);
  if (typeof fn !== "function" || operands.length < all.length) return null;
  if (!operands.some((each) => each.kind === "item")) return null;
  // Whether it throws depends on types, and on arguments that are known
  const examples = operands.map((each) => each.kind === "constant" ? each.value : EXAMPLES[each.type]);
  const [first, ...others] = examples;
  try {
    Reflect.apply(fn, self ? first : undefined, self ? others : examples);
  } catch {
    return null;
  }
  return computeLater(output, { apply: { fn, isMethod: self !== null }, type, operands });
}

const EXAMPLES = { number: 0, integer: 0, boolean: false, string: "" } as const;

/** Numbers of elements, and their positions, are smaller. */
const MOST_ELEMENTS = 2 ** 40;

/** Makes an integer a number: the graph checks it, unless it is small enough in any case. */
export function settleInteger(output: OutputGraph, item: ItemValue): void {
  if (item.type !== "integer") return;
  const { tensor, later } = item, [list] = later?.operands ?? [];
  const of = tensor ??
    (list?.kind === "object" && list.exotic.kind === "elements" ? list.exotic.tensor : null);
  invariant(of, "Expected an element of a tensor");
  const nodes = output.graph.nodes;
  const isWritten = nodes.some((node) => hasEffect(node) && [...node.inputs()].some(isLong));
  item.isSmall = !isWritten && mostOf(output.nodeOf(of)) <= Number.MAX_SAFE_INTEGER;
  if (item.isSmall) return;
  if (!tensor) return breakGraph(CAUSE.kind, CAUSE.detail);
  item.number = checkedNumber(output, tensor);
}

function isLong({ meta: { value } }: Node): boolean {
  return value.kind === "tensor" && value.tensor.dtype === "int64";
}

/** Operations whose second result has positions. */
const POSITIONED: ReadonlySet<string> = new Set([
  "cummax",
  "cummin",
  "kthvalue",
  "max",
  "median",
  "min",
  "mode",
  "nanmedian",
  "sort",
  "topk",
]);

/** A bound of the elements of an integer tensor that nothing writes to; infinite if none is known. */
function mostOf(node: Node): number {
  const { value } = node.meta;
  if (value.kind !== "tensor" || isFloat(value.tensor.dtype)) return Infinity;
  const ofType = isLong(node) ? Infinity : Number(highest(value.tensor.dtype)) + 1;
  const computed = shownNode(node, { detached: true }), [from] = computed.inputs();
  // The one of several results
  if (node.target === "getitem") {
    return node.args[1] === 1 && POSITIONED.has(computed.target) ? MOST_ELEMENTS : ofType;
  }
  switch (computed.target) {
    case "argmax":
    case "argmin":
    case "argsort":
    case "countNonzero":
      return MOST_ELEMENTS;
    case "sum":
      return Math.min(ofType, from ? mostOf(from) * MOST_ELEMENTS : Infinity);
    case "int":
    case "long":
    case "to":
      return Math.min(ofType, from ? mostOf(from) : Infinity);
    default:
      return ofType;
  }
}
