/**
 * Recognises ops that functional graphs decompose but oneDNN implements as a whole: softmax, its logarithm, layer
 * normalisation. A pattern is identified by its last node. Invariant: nothing outside of a pattern reads its inner
 * nodes.
 */
import { type Argument, isList, Node } from "../../lib/graph/node.ts";

/** The op that several nodes implement together. */
export type Pattern =
  | {
    readonly kind: "softmax" | "logSoftmax";
    readonly nodes: readonly Node[];
    readonly input: Node;
    readonly dim: number;
  }
  | {
    readonly kind: "layerNorm";
    readonly nodes: readonly Node[];
    readonly input: Node;
    readonly scale: Node | null;
    readonly shift: Node | null;
    readonly small: number;
  };

/** The pattern that ends in a node; null if none does. */
export function patternAt(node: Node): Pattern | null {
  return softmaxAt(node) ?? layerNormAt(node);
}

/** Number of arguments of ops here; further ones, such as `alpha`, would change the meaning. */
const ARGUMENTS: Readonly<Record<string, number>> = {
  sub: 2,
  add: 2,
  mul: 2,
  truediv: 2,
  exp: 1,
  log: 1,
  square: 1,
  rsqrt: 1,
  reciprocal: 1,
};

/** A call of an op; undefined for anything else. */
function call(value: Argument, target: string): Node | undefined {
  if (!(value instanceof Node) || value.op !== "call_function" || value.target !== target) return undefined;
  const count = ARGUMENTS[target], { args, kwargs } = value;
  return count === undefined || (args.length === count && Object.keys(kwargs).length === 0)
    ? value
    : undefined;
}

/** Returns whether these nodes are the only readers of a value. */
function readBy(node: Node, ...readers: readonly Node[]): boolean {
  return node.users.size === readers.length && readers.every((each) => node.users.has(each));
}

function rankOf({ meta: { value } }: Node): number {
  return value.kind === "tensor" ? value.tensor.shape.length : 0;
}

/** The dimension of a reduction over a single one that is kept; null for other reductions. */
function reducedDim(reduction: Node): number | null {
  const { args, kwargs } = reduction, [input, dims = kwargs.dim, keepdim = kwargs.keepdim] = args;
  const list = isList(dims) ? dims : [dims], [dim] = list;
  if (!(input instanceof Node) || keepdim !== true || list.length !== 1 || typeof dim !== "number") {
    return null;
  }
  return dim < 0 ? dim + rankOf(input) : dim;
}

/** `x - amax(x)`; nothing else reads the maximum. */
function shifted(
  node: Argument,
): { readonly input: Node; readonly dim: number; readonly nodes: readonly Node[] } | null {
  const sub = call(node, "sub"), [input, second] = sub?.args ?? [], most = call(second, "amax");
  const dim = most ? reducedDim(most) : null;
  const fits = sub && most && input instanceof Node && most.args[0] === input && readBy(most, sub) &&
    dim !== null;
  return fits ? { input, dim, nodes: [most, sub] } : null;
}

/** exp(y) · 1 / Σ exp(y) or y − log Σ exp(y), where y is a shifted value. */
function softmaxAt(last: Node): Pattern | null {
  const isLog = last.target === "sub", outer = call(last, isLog ? "sub" : "mul");
  const [first, second] = outer?.args ?? [], inner = call(second, isLog ? "log" : "reciprocal");
  const sum = call(inner?.args[0], "sum"), exp = call(isLog ? sum?.args[0] : first, "exp");
  const part = shifted(isLog ? first : exp?.args[0]), sub = part?.nodes[1];
  if (!outer || !inner || !sum || !exp || !part || !sub) return null;
  if (sum.args[0] !== exp || exp.args[0] !== sub || reducedDim(sum) !== part.dim) return null;
  const isClosed =
    (isLog ? readBy(sub, exp, outer) && readBy(exp, sum) : readBy(sub, exp) && readBy(exp, sum, outer)) &&
    readBy(sum, inner) && readBy(inner, outer);
  if (!isClosed) return null;
  const nodes = [...part.nodes, exp, sum, inner, outer];
  return { kind: isLog ? "logSoftmax" : "softmax", input: part.input, dim: part.dim, nodes };
}

/** The operand of a sum over the last dimension divided by its size; null for anything else. */
function meanOf(value: Argument): { readonly of: Node; readonly nodes: readonly [Node, Node] } | null {
  const quotient = call(value, "truediv"), sum = call(quotient?.args[0], "sum"), [of] = sum?.args ?? [];
  if (!quotient || !sum || !(of instanceof Node) || !readBy(sum, quotient)) return null;
  const { value: meta } = of.meta, count = meta.kind === "tensor" ? meta.tensor.shape.at(-1) : undefined;
  const isMean = reducedDim(sum) === rankOf(of) - 1 && typeof count === "number" &&
    quotient.args[1] === count;
  return isMean ? { of, nodes: [sum, quotient] } : null;
}

/** Returns whether a value has one dimension, as long as the last one of another. */
function isRow(value: Argument, beside: Node): value is Node {
  if (!(value instanceof Node) || value.meta.value.kind !== "tensor" || beside.meta.value.kind !== "tensor") {
    return false;
  }
  const { shape, dtype } = value.meta.value.tensor;
  return shape.length === 1 && dtype === "float32" && shape[0] === beside.meta.value.tensor.shape.at(-1);
}

function layerNormAt(last: Node): Pattern | null {
  const add = call(last, "add"), shift = add && isRow(add.args[1], last) ? add.args[1] : null;
  const scaled = call(shift ? add?.args[0] : last, "mul");
  const scale = scaled && isRow(scaled.args[1], last) ? scaled.args[1] : null;
  const mul = scale ? call(scaled?.args[0], "mul") : scaled;
  const sub = call(mul?.args[0], "sub"),
    root = call(mul?.args[1], "rsqrt"),
    small = call(root?.args[0], "add");
  const spread = meanOf(small?.args[0]), square = call(spread?.of, "square"), mean = meanOf(sub?.args[1]);
  if (!mul || !sub || !root || !small || !spread || !square || !mean) return null;
  const [, variance] = spread.nodes, [, average] = mean.nodes, [input] = sub.args, value = small.args[1];
  if (typeof value !== "number" || input !== mean.of || square.args[0] !== sub) return null;
  const isClosed = readBy(average, sub) && readBy(sub, square, mul) && readBy(square, spread.nodes[0]) &&
    readBy(variance, small) && readBy(small, root) && readBy(root, mul) &&
    (mul === last || readBy(mul, scale && scaled ? scaled : last)) &&
    (!scale || !scaled || scaled === last || readBy(scaled, last));
  if (!isClosed) return null;
  const inner = [...mean.nodes, sub, square, ...spread.nodes, small, root, mul];
  const nodes = [...new Set([...inner, ...scaled ? [scaled] : [], last])];
  return { kind: "layerNorm", input: mean.of, scale, shift, small: value, nodes };
}
