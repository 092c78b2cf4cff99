/**
 * Algebraic rules of tensor ops as data. A rule maps a node of a functional graph to an earlier node with the same
 * value, or to a call that replaces it. Invariant: a rule holds for every element, NaN, infinities and −0 included,
 * unless its comment says which rounding it improves.
 */
import { isComplex, isFloat, itemSize, promoteTypes } from "../../base/dtype.ts";
import type { TensorMeta } from "../../graph/meta.ts";
import { normalizeConstant } from "../../loops/record.ts";
import { type Argument, isList, Node } from "../../graph/node.ts";
import { callOf } from "./calls.ts";

/**
 * The replacement of a node: a node of the same layout and type, a call of an op with the same metadata, or a
 * constant of the same shape and type.
 */
export type Rewrite =
  | Node
  | { readonly target: string; readonly args: readonly Argument[] }
  | { readonly constant: number };

/** A rewrite rule for calls of some graph names. */
export interface Rule {
  readonly name: string;
  readonly targets: readonly string[];
  readonly apply: (node: Node, meta: TensorMeta) => Rewrite | undefined;
}

const asNode = (argument: Argument): Node | undefined => argument instanceof Node ? argument : undefined;

/** The number of a constant argument, or the element of a `full`: its number as the type of the tensor holds it. */
function numberOf(argument: Argument): number | undefined {
  if (typeof argument === "number") return argument;
  if (!(argument instanceof Node) || argument.target !== "full") return undefined;
  const [, value] = argument.args, meta = metaOf(argument);
  if (typeof value !== "number" || !meta || isComplex(meta.dtype)) return undefined;
  return Number(normalizeConstant(value, meta.dtype));
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

/** The element of constant tensors, by target; calls of `full` state it themselves. */
const CONSTANTS: Readonly<Record<string, number>> = {
  zeros: 0,
  zerosLike: 0,
  newZeros: 0,
  zero: 0,
  ones: 1,
  onesLike: 1,
  newOnes: 1,
};

/**
 * A constant computed from others in the type in which a kernel computes, and rounded as it rounds; integers and bools
 * are not folded.
 */
function computed(
  operands: readonly Argument[],
  { dtype }: TensorMeta,
  compute: (...operands: number[]) => number,
): Rewrite | undefined {
  if (!isFloat(dtype)) return undefined;
  const inType = (value: number) => dtype === "float64" ? value : Math.fround(value);
  const numbers = operands.flatMap((each) => numberOf(each) ?? []);
  if (numbers.length < operands.length) return undefined;
  return { constant: Number(normalizeConstant(inType(compute(...numbers.map(inType))), dtype)) };
}

/** Simplifications before a joint graph is partitioned: fewer values, hence less to save. */
export const JOINT_RULES: readonly Rule[] = [
  {
    // zerosLike(x) → full(shape, 0): does not read x, so x need not be kept
    name: "constant",
    targets: Object.keys(CONSTANTS),
    apply: (node) => ({ constant: CONSTANTS[node.target] ?? 0 }),
  },
  {
    // fullLike(x, v), newFull(x, size, v) → full(shape, v)
    name: "constant_like",
    targets: ["fullLike", "newFull"],
    apply: (node) => {
      const value = node.args[node.target === "fullLike" ? 1 : 2];
      return typeof value === "number" ? { constant: value } : undefined;
    },
  },
  {
    // view of a constant → that constant in the view's shape
    name: "view_of_constant",
    targets: [
      "expand",
      "reshape",
      "view",
      "permute",
      "transpose",
      "swapaxes",
      "t",
      "unsqueeze",
      "squeeze",
      "select",
      "slice",
    ],
    apply: ({ args: [viewed] }) => {
      const value = viewed instanceof Node ? numberOf(viewed) : undefined;
      return value === undefined ? undefined : { constant: value };
    },
  },
  {
    // a view or copy that changes neither layout nor type → its argument: values are never written
    name: "same_elements",
    targets: [
      "reshape",
      "view",
      "expand",
      "permute",
      "contiguous",
      "clone",
      "detach",
      "squeeze",
      "slice",
      "viewAs",
      "to",
    ],
    apply: (node) => asNode(node.args[0]),
  },
  {
    // copy(x, y) → y of the same layout and type, as for writes of whole tensors: does not read x
    name: "copied_elements",
    targets: ["copy"],
    apply: (node) => asNode(node.args[1]),
  },
  {
    // viewAsReal(viewAsComplex(x)) → x, and vice versa: the same memory
    name: "pairs_and_back",
    targets: ["viewAsReal", "viewAsComplex"],
    apply: ({ target, args: [viewed] }) =>
      asNode(callOf(viewed, target === "viewAsReal" ? "viewAsComplex" : "viewAsReal")?.args[0]),
  },
  {
    // x·1 → x, x/1 → x, exact, NaN included
    name: "times_one",
    targets: ["mul", "truediv", "div"],
    apply: (node) => {
      if (!plain(node)) return undefined;
      const [a, b] = node.args;
      if (numberOf(b) === 1) return asNode(a);
      return node.target === "mul" && numberOf(a) === 1 ? asNode(b) : undefined;
    },
  },
  {
    // x¹ → x
    name: "power_of_one",
    targets: ["pow"],
    apply: (node) => numberOf(node.args[1]) === 1 ? asNode(node.args[0]) : undefined,
  },
  {
    // c₁·c₂ of constants, in the precision of the type
    name: "product_of_constants",
    targets: ["mul"],
    apply: ({ args }, meta) => computed(args.slice(0, 2), meta, (a, b) => a * b),
  },
  {
    // −c of a constant
    name: "negated_constant",
    targets: ["neg"],
    apply: ({ args }, meta) => computed(args.slice(0, 1), meta, (value) => -value),
  },
];

/** Further simplifications for code generation. */
export const INDUCTOR_RULES: readonly Rule[] = [
  ...JOINT_RULES.filter(({ name }) => name === "times_one"),
  {
    // log(exp(x)) → x, real x. Differs from computing it where exp(x) overflows (log gives inf) or vanishes (−inf),
    // and by rounding elsewhere: the rewritten value is the exact one.
    name: "log_of_exp",
    targets: ["log"],
    apply: (node) => asNode(callOf(node.args[0], "exp")?.args[0]),
  },
  {
    // −(−x) → x, exact: negation only flips the sign
    name: "neg_of_neg",
    targets: ["neg"],
    apply: (node) => asNode(callOf(node.args[0], "neg")?.args[0]),
  },
  {
    // |−x| → |x|, ||x|| → |x|, exact; not for unsigned integers, whose −x has another magnitude
    name: "abs_of_sign",
    targets: ["abs"],
    apply: (node, meta) => {
      const [argument] = node.args;
      if (meta.dtype === "uint8") return callOf(argument, "abs");
      const inner = asNode(callOf(argument, "neg")?.args[0]);
      return inner ? { target: "abs", args: [inner] } : callOf(argument, "abs");
    },
  },
  {
    // max(max(x, 0), 0) → max(x, 0), exact
    name: "relu_of_relu",
    targets: ["relu"],
    apply: (node) => callOf(node.args[0], "relu"),
  },
  {
    // (−a)·(−b) → a·b, exact: signs multiply apart from magnitudes
    name: "mul_of_negs",
    targets: ["mul"],
    apply: (node) => {
      const a = callOf(node.args[0], "neg")?.args[0], b = callOf(node.args[1], "neg")?.args[0];
      return plain(node) && a !== undefined && b !== undefined ? { target: "mul", args: [a, b] } : undefined;
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
    // x / 2^k → x · 2^−k, exact: both only change the exponent, and subnormal results round the same value. For
    // integers only if 2^−k is not an integer, because a product of integers is one
    name: "divide_by_power_of_two",
    targets: ["truediv"],
    apply: (node, meta) => {
      const x = asNode(node.args[0]), divisor = node.args[1];
      if (!plain(node) || !x || typeof divisor !== "number" || divisor === 1 || !isFloat(meta.dtype)) {
        return undefined;
      }
      const whole = Number.isInteger(1 / divisor) && !isFloat(metaOf(x)?.dtype ?? "int64");
      return isPowerOfTwo(divisor) && !whole ? { target: "mul", args: [x, 1 / divisor] } : undefined;
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
      if (between.dtype === "bool" || isFloat(between.dtype) !== isFloat(from.dtype)) return undefined;
      // Integers of one size hold each other, modulo 2 to the number of their bits
      const wider = isFloat(from.dtype)
        ? promoteTypes(from.dtype, between.dtype) === between.dtype
        : itemSize(between.dtype) >= itemSize(from.dtype);
      return wider ? x : undefined;
    },
  },
];
