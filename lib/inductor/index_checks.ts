/**
 * Adds bounds checks of indices to a graph: a copy with one more output at the end, a 0-d bool, whether any index is
 * out of range; or null for a graph without indexing. Invariant: the other outputs are unchanged (kernels clamp
 * indices, so that a bad one never leaves its buffer; the check prevents its result from being used, and the program
 * from writing to memory that existed before the call).
 */
import { InternalError } from "../base/errors.ts";
import { copyGraph } from "../graph/copy.ts";
import { type Argument, Graph, isList, Node } from "../graph/node.ts";
import { parseCall } from "../ops/call.ts";
import { GraphBuilder, type GraphValue, isGraphValue, listOf } from "../ops/graph_builder.ts";
import { checksOfCall, type IndexCheck } from "../ops/index_checks.ts";
import { boundsOf, type Dim, sub, Sym } from "../sym/expr.ts";
import type { OpLookup } from "./lowering.ts";
import { memoryRoot } from "../ops/rewrite/memory_root.ts";

/** A graph with a check of its indices. */
export interface CheckedGraph {
  readonly graph: Graph;
  /**
   * The ranges that the check requires of inputs' elements: a caller who knows the elements can skip the check; null if
   * any index is computed.
   */
  readonly inputs: readonly InputRange[] | null;
}

/** The range of a placeholder's elements within which a check passes: [low, high). */
export interface InputRange {
  readonly input: number;
  readonly low: Dim;
  readonly high: Dim;
  /** Whether the check is one of these elements alone, rather than of those that another input chooses. */
  readonly isWhole: boolean;
}

/** Returns the graph with the check, or null. */
export function withIndexChecks(graph: Graph, lookup: OpLookup): CheckedGraph | null {
  const hasIndices = ({ target, meta: { region } }: Node): boolean =>
    region ? region.graph.nodes.some(hasIndices) : lookup(target)?.ranges !== undefined;
  if (!graph.nodes.some(hasIndices)) return null;
  const copy = copyGraph(graph), { output, nodes } = copy;
  const builder = new GraphBuilder(copy, output);
  const found = [...nodes].flatMap((node) => checksOfCall(node, lookup, builder)).map((check) => ({
    ...check,
    inputs: requiredOfInputs(check.values.node, check, copy),
  }));
  const checks = found.filter(({ inputs }) => inputs === null || inputs.length > 0);
  if (checks.length === 0) return null;
  const [results] = output.args;
  if (results === undefined || !isList(results)) throw new InternalError("Expected a list of outputs");
  const call = (name: string, ...args: readonly unknown[]): GraphValue => {
    const definition = lookup(name);
    if (!definition) throw new InternalError(`Expected an op named ${name}`);
    const [result] = listOf(builder.call({ definition, args: parseCall(definition, args, isGraphValue) }));
    if (!result) throw new InternalError(`Expected a result of ${name}`);
    return result;
  };
  const outside = checks.map(({ values: given, low, high }) => {
    // Bounds may exceed the range of a narrower type
    const values = given.dtype === "int64" ? given : call("convert", given, "int64");
    return call("any", call("logicalOr", call("lt", values, low), call("ge", values, high)));
  });
  const bad = outside.reduce((all, each) => call("logicalOr", all, each));
  const extended: Argument[] = [...results, bad.node];
  copy.erase(output);
  new GraphBuilder(copy).output(extended);
  const ranges = checks.map(({ inputs }) => inputs);
  return { graph: copy, inputs: ranges.every((range) => range !== null) ? ranges.flat() : null };
}

const isDim = (value: unknown): value is Dim => typeof value === "number" || value instanceof Sym;

/** A range [low, high). */
type Range = Pick<IndexCheck, "low" | "high">;

/** Returns whether a number is known to lie in a range. */
const holds = (value: Dim, { low, high }: Range): boolean =>
  boundsOf(sub(value, low))[0] >= 0 && boundsOf(sub(high, value))[0] > 0;

/**
 * Returns the ranges of inputs that guarantee that a value lies in a range: empty if it always does, null if unknown.
 */
function requiredOfInputs(value: Node, range: Range, graph: Graph): readonly InputRange[] | null {
  const root = memoryRoot(value), input = graph.placeholders.indexOf(root);
  if (input >= 0) return [{ input, low: range.low, high: range.high, isWhole: true }];
  const asked = (each: Argument | undefined): readonly InputRange[] | null => {
    if (each instanceof Node) return requiredOfInputs(each, range, graph);
    return isDim(each) && holds(each, range) ? [] : null;
  };
  switch (root.target) {
    case "where": {
      const [one, other] = root.args.slice(1).map(asked);
      return one && other ? [...one, ...other].map((each) => ({ ...each, isWhole: false })) : null;
    }
    case "full":
      return asked(root.args[1]);
    case "arange": {
      const [start, end, step = 1] = root.args.length === 1 ? [0, root.args[0]] : root.args;
      const isIn = isDim(start) && isDim(end) && step === 1 && holds(start, range) &&
        holds(sub(end, 1), range);
      return isIn ? [] : null;
    }
    default:
      return null;
  }
}
