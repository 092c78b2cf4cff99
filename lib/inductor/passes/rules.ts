/**
 * Algebra of tensor ops as data. Input: a node of a functional graph; output: the earlier node that has the same
 * value, or a call to put in its place. Invariant: a rule holds for every element, NaN, infinities and −0
 * included, unless its comment says which rounding it improves.
 */
import { isFloat, itemSize } from "../../base/dtype.ts";
import type { TensorMeta } from "../../graph/meta.ts";
import { type Argument, isList, Node } from "../../graph/node.ts";

/** What a rule puts in place of a node: a node, or a call of an op with the same metadata. */
export type Rewrite = Node | { readonly target: string; readonly args: readonly Argument[] };

/** A rewrite rule for calls of some graph names. */
export interface Rule {
  readonly name: string;
  readonly targets: readonly string[];
  readonly apply: (node: Node, meta: TensorMeta) => Rewrite | undefined;
}

/** The argument as a call of a target. */
function call(argument: Argument, target: string): Node | undefined {
  return argument instanceof Node && argument.op === "call_function" && argument.target === target &&
      Object.keys(argument.kwargs).length === 0
    ? argument
    : undefined;
}

const asNode = (argument: Argument): Node | undefined => argument instanceof Node ? argument : undefined;

/** The number that an argument is, or that all elements of a `full` are. */
function numberOf(argument: Argument): number | undefined {
  if (typeof argument === "number") return argument;
  const value = argument instanceof Node && argument.target === "full" ? argument.args[1] : undefined;
  return typeof value === "number" ? value : undefined;
}

function metaOf(node: Node): TensorMeta | undefined {
  return node.meta.value.kind === "tensor" ? node.meta.value.tensor : undefined;
}

const plain = (node: Node) => Object.keys(node.kwargs).length === 0;

/** Ops whose float results are never −0. */
const NEVER_NEGATIVE_ZERO: ReadonlySet<string> = new Set(["exp", "exp2", "abs", "sigmoid", "square", "cosh"]);

/** 2^k with k small enough that 1 / 2^k is a normal float32. */
function isPowerOfTwo(value: number): boolean {
  const exponent = Math.log2(Math.abs(value));
  return Number.isInteger(exponent) && Math.abs(exponent) <= 126;
}

/** All rules, tried in order. */
export const RULES: readonly Rule[] = [
  {
    // log(exp(x)) → x, real x. Differs from computing it where exp(x) overflows (log gives inf) or vanishes (−inf),
    // and by rounding elsewhere: the rewritten value is the exact one.
    name: "log_of_exp",
    targets: ["log"],
    apply: (node) => asNode(call(node.args[0], "exp")?.args[0]),
  },
  {
    // −(−x) → x, exact: negation only flips the sign
    name: "neg_of_neg",
    targets: ["neg"],
    apply: (node) => asNode(call(node.args[0], "neg")?.args[0]),
  },
  {
    // |−x| → |x|, ||x|| → |x|, exact
    name: "abs_of_sign",
    targets: ["abs"],
    apply: (node) => {
      const [argument] = node.args;
      const inner = asNode(call(argument, "neg")?.args[0]);
      return inner ? { target: "abs", args: [inner] } : call(argument, "abs");
    },
  },
  {
    // max(max(x, 0), 0) → max(x, 0), exact
    name: "relu_of_relu",
    targets: ["relu"],
    apply: (node) => call(node.args[0], "relu"),
  },
  {
    // (−a)·(−b) → a·b, exact: signs multiply apart from magnitudes
    name: "mul_of_negs",
    targets: ["mul"],
    apply: (node) => {
      const a = call(node.args[0], "neg")?.args[0], b = call(node.args[1], "neg")?.args[0];
      return plain(node) && a !== undefined && b !== undefined ? { target: "mul", args: [a, b] } : undefined;
    },
  },
  {
    // x·1 → x, x/1 → x, exact, NaN included
    name: "times_one",
    targets: ["mul", "truediv"],
    apply: (node) => {
      if (!plain(node)) return undefined;
      const [a, b] = node.args;
      if (numberOf(b) === 1) return asNode(a);
      return node.target === "mul" && numberOf(a) === 1 ? asNode(b) : undefined;
    },
  },
  {
    // x − 0 → x, exact: −0 − 0 = −0
    name: "minus_zero",
    targets: ["sub"],
    apply: (node) => plain(node) && Object.is(numberOf(node.args[1]), 0) ? asNode(node.args[0]) : undefined,
  },
  {
    // x + 0 → x for integers, and for floats that are never −0 (−0 + 0 is +0)
    name: "plus_zero",
    targets: ["add"],
    apply: (node, meta) => {
      const x = asNode(node.args[0]);
      if (!plain(node) || !x || numberOf(node.args[1]) !== 0) return undefined;
      return !isFloat(meta.dtype) || NEVER_NEGATIVE_ZERO.has(x.target) ? x : undefined;
    },
  },
  {
    // x / 2^k → x · 2^−k, exact: both only change the exponent, and subnormal results round the same value
    name: "divide_by_power_of_two",
    targets: ["truediv"],
    apply: (node, meta) => {
      const x = asNode(node.args[0]), divisor = node.args[1];
      if (!plain(node) || !x || typeof divisor !== "number" || divisor === 1 || !isFloat(meta.dtype)) {
        return undefined;
      }
      return isPowerOfTwo(divisor) ? { target: "mul", args: [x, 1 / divisor] } : undefined;
    },
  },
  {
    // where(c, x, x) → x
    name: "where_of_same",
    targets: ["where"],
    apply: (node) => node.args[1] === node.args[2] ? asNode(node.args[1]) : undefined,
  },
  {
    // max(x, x) → x, min(x, x) → x, NaN included
    name: "extreme_of_same",
    targets: ["maximum", "minimum"],
    apply: (node) => node.args[0] === node.args[1] ? asNode(node.args[0]) : undefined,
  },
  {
    // cat([x]) → x
    name: "cat_of_one",
    targets: ["cat"],
    apply: (node) => {
      const [list] = node.args;
      return list !== undefined && isList(list) && list.length === 1 ? asNode(list[0]) : undefined;
    },
  },
  {
    // convert(convert(x, wider), t) → x where x is of type t: every float32 is a float64, every int32 an int64
    name: "cast_there_and_back",
    targets: ["convert"],
    apply: (node, meta) => {
      const inner = node.args[0];
      const between = inner instanceof Node && inner.target === "convert" ? metaOf(inner) : undefined;
      const x = inner instanceof Node ? asNode(inner.args[0]) : undefined;
      const from = x && metaOf(x);
      if (!between || !from || from.dtype !== meta.dtype) return undefined;
      const wider = isFloat(between.dtype) === isFloat(from.dtype) &&
        itemSize(between.dtype) >= itemSize(from.dtype) &&
        between.dtype !== "bool";
      return wider ? x : undefined;
    },
  },
];
