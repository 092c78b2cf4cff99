/**
 * Arithmetic on four lanes of 32 bits: the scalar vocabulary as WebAssembly SIMD. Input: locals that hold the
 * operands; output: instructions that push the result. float32 and int32 are lanes, bool is a mask of all ones or
 * zeros. Invariant: an element's bits do not depend on its lane, so that loop tails may use one lane.
 * The functions follow Cody and Waite (reduction) with minimax polynomials; errors are about 2 ulp.
 */
import type { DType } from "../../lib/base/dtype.ts";
import type { ScalarOpName } from "../../lib/loops/scalar.ts";
import type { FunctionBody, SIMD } from "./binary.ts";

/** A node of a lane expression. */
type Expression =
  | { readonly kind: "local"; readonly local: number }
  | { readonly kind: "bits"; readonly bits: number }
  | { readonly kind: "op"; readonly op: keyof typeof SIMD; readonly args: readonly Expression[] }
  | {
    readonly kind: "shift";
    readonly op: "i32Shl" | "i32ShrS" | "i32ShrU";
    readonly arg: Expression;
    readonly by: number;
  }
  /** Four words out of the eight of two vectors. */
  | {
    readonly kind: "words";
    readonly picked: readonly [number, number, number, number];
    readonly low: Expression;
    readonly high: Expression;
  }
  /** A double in both halves. */
  | { readonly kind: "double"; readonly value: number };

type E = Expression;

const view = new DataView(new ArrayBuffer(8));

/** The bits of a float32. */
export function floatBits(value: number): number {
  view.setFloat32(0, value, true);
  return view.getInt32(0, true);
}

const op = (name: keyof typeof SIMD, ...args: readonly E[]): E => ({ kind: "op", op: name, args });
const f = (value: number): E => ({ kind: "bits", bits: floatBits(value) });
const i = (bits: number): E => ({ kind: "bits", bits: bits | 0 });
const add = (a: E, b: E) => op("f32Add", a, b);
const sub = (a: E, b: E) => op("f32Sub", a, b);
const mul = (a: E, b: E) => op("f32Mul", a, b);
const div = (a: E, b: E) => op("f32Div", a, b);
/** a·b + c */
const fma = (a: E, b: E, c: E) => op("f32Madd", a, b, c);
/** condition ? a : b */
const select = (condition: E, a: E, b: E) => op("bitselect", a, b, condition);
const shift = (name: "i32Shl" | "i32ShrS" | "i32ShrU", arg: E, by: number): E => ({
  kind: "shift",
  op: name,
  arg,
  by,
});
const words = (low: E, high: E, picked: readonly [number, number, number, number]): E => ({
  kind: "words",
  picked,
  low,
  high,
});
const poly = (coefficients: readonly number[], x: E): E =>
  coefficients.slice(0, -1).reduceRight((sum: E, c) => fma(sum, x, f(c)), f(coefficients.at(-1) ?? 0));
const isNan = (x: E) => op("f32Ne", x, x);
const abs = (x: E) => op("f32Abs", x);
/** The magnitude of a with the sign of b. */
const copySign = (a: E, b: E) => op("or", abs(a), op("and", b, i(0x80000000)));

const EXP = [
  0.4999999403953552,
  0.16666515171527863,
  0.041668448597192764,
  0.008369323797523975,
  0.001381334033794701,
];
const LOG = [
  -0.5,
  0.3333320915699005,
  -0.24999716877937317,
  0.20010747015476227,
  -0.16682302951812744,
  0.14001159369945526,
  -0.12167185544967651,
  0.14004762470722198,
  -0.12948833405971527,
];
const ERF_SMALL = [
  0.12837916612625122,
  -0.3761262595653534,
  0.1128358542919159,
  -0.026853810995817184,
  0.00518832728266716,
  -0.000801019137725234,
  0.00007853854913264513,
];
const ERF_LARGE = [
  0.00031249181483872235,
  1.1272021532058716,
  0.6379651427268982,
  0.10325606167316437,
  -0.021906405687332153,
  0.002963988110423088,
  -0.00018796982476487756,
];

/** x = n·ln 2 + r: e^r − 1 and n as an integer. */
function expParts(x: E): { readonly n: E; readonly m: E } {
  const magic = fma(x, f(Math.LOG2E), f(12582912));
  const n = sub(magic, f(12582912));
  const r = fma(n, f(2.1219444e-4), fma(n, f(-0.693359375), x));
  return { n: op("i32Sub", magic, i(0x4b400000)), m: fma(mul(r, r), poly(EXP, r), r) };
}

const pow2 = (n: E) => shift("i32Shl", op("i32Add", n, i(127)), 23);

/** All floats: overflow to ∞, gradual underflow, NaN kept. */
function exp(x: E): E {
  const { n, m } = expParts(op("f32PMax", op("f32PMin", x, f(89)), f(-104)));
  const half = shift("i32ShrS", n, 1);
  return mul(mul(add(m, f(1)), pow2(half)), pow2(op("i32Sub", n, half)));
}

/** −0 is its own. */
const expm1 = (x: E): E => select(op("f32Eq", x, f(0)), x, expm1NotZero(x));

function expm1NotZero(x: E): E {
  const { n, m } = expParts(op("f32PMax", op("f32PMin", x, f(89)), f(-20)));
  const half = shift("i32ShrS", n, 1), other = op("i32Sub", n, half);
  // 2ⁿ(m + 1) − 1 = 2ⁿ·m + (2ⁿ − 1), in two halves so that 2¹²⁸ does not overflow too early
  const scale = pow2(half), rest = pow2(other);
  const large = sub(mul(mul(add(m, f(1)), scale), rest), f(1));
  const whole = mul(scale, rest);
  const small = fma(m, whole, sub(whole, f(1)));
  return select(op("f32Lt", abs(x), f(40)), small, large);
}

function log(x: E): E {
  const tiny = op("f32Lt", x, f(1.1754943508222875e-38));
  const y = select(tiny, mul(x, f(8388608)), x);
  const e = op("and", op("i32Sub", y, i(0x3f2aaaab)), i(0xff800000));
  const r = sub(op("i32Sub", y, e), f(1));
  const k = fma(op("f32ConvertI32", e), f(2 ** -23), select(tiny, f(-23), f(0)));
  const value = fma(k, f(0.693359375), fma(k, f(-2.1219444e-4), fma(mul(r, r), poly(LOG, r), r)));
  // ∞ and NaN give themselves, 0 gives −∞, less gives NaN
  const finite = select(op("f32Lt", x, f(Infinity)), value, add(x, x));
  const zero = op("f32Eq", x, f(0)), negative = op("f32Lt", x, f(0));
  return select(zero, f(-Infinity), select(negative, f(NaN), finite));
}

function log1p(x: E): E {
  const u = add(x, f(1));
  const corrected = mul(log(u), div(x, sub(u, f(1))));
  const large = op("f32Gt", u, f(3e38));
  return select(op("f32Eq", u, f(1)), x, select(large, log(u), corrected));
}

function tanh(x: E): E {
  const a = op("f32PMin", abs(x), f(9.5));
  const e = expm1NotZero(add(a, a));
  return select(isNan(x), x, copySign(div(e, add(e, f(2))), x));
}

function erf(x: E): E {
  const a = op("f32PMin", abs(x), f(4)), s = mul(x, x);
  const small = fma(poly(ERF_SMALL, s), x, x);
  const large = sub(f(1), exp(op("f32Neg", poly(ERF_LARGE, a))));
  return select(op("f32Lt", abs(x), f(1)), small, select(isNan(x), x, copySign(large, x)));
}

/** 2/π in pieces of 29 bits, whose products with a float32 are exact doubles. */
const TWO_OVER_PI = [
  0.636619770899415,
  1.4681663246252086e-09,
  2.2760100671971816e-18,
  5.8812147387730434e-27,
  1.0346868700836215e-35,
  3.783256351091319e-45,
  3.720474878517739e-53,
] as const;

/**
 * Two lanes of x = n·π/2 + r in doubles: r, and n mod 4. Of the products with the pieces of 2/π only what they are
 * modulo 4 counts, so that r is right for the largest x as well (Payne and Hanek).
 */
function quarterTurns(x: E): { readonly r: E; readonly quadrant: E } {
  const wide = op("f64PromoteLow", x), d = (value: number): E => ({ kind: "double", value });
  const parts = TWO_OVER_PI.map((piece) => {
    const p = op("f64Mul", wide, d(piece));
    return op("f64Madd", op("f64Nearest", op("f64Mul", p, d(0.25))), d(-4), p);
  });
  const n = op("f64Nearest", parts.reduceRight((sum, part) => op("f64Add", part, sum)));
  const [first = n, ...rest] = parts;
  const turns = rest.reduce((sum, part) => op("f64Add", sum, part), op("f64Sub", first, n));
  const r = op("f64Mul", turns, d(Math.PI / 2));
  const whole = op("f64Floor", op("f64Mul", n, d(0.25)));
  return { r, quadrant: op("i32TruncF64Zero", op("f64Madd", whole, d(-4), n)) };
}

/** sin (shift 0) or cos (shift 1) by the quadrant. */
function sine(x: E, shifted: 0 | 1): E {
  const low = quarterTurns(x), high = quarterTurns(words(x, x, [2, 3, 2, 3]));
  const r = words(op("f32DemoteZero", low.r), op("f32DemoteZero", high.r), [0, 1, 4, 5]);
  const quadrant = words(low.quadrant, high.quadrant, [0, 1, 4, 5]);
  const z = mul(r, r);
  const s = fma(mul(poly([-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4], z), z), r, r);
  const c = fma(
    mul(poly([4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5], z), z),
    z,
    fma(f(-0.5), z, f(1)),
  );
  const q = op("i32Add", quadrant, i(shifted));
  const odd = op("i32Ne", op("and", q, i(1)), i(0));
  const flip = shift("i32Shl", op("and", q, i(2)), 30);
  const value = op("xor", select(odd, c, s), flip);
  return shifted === 0 ? select(op("f32Eq", x, f(0)), x, value) : value;
}

/** High and low words of the unsigned products by a constant. */
function wideProduct(x: E, by: number): { readonly high: E; readonly low: E } {
  const low = op("i64ExtMulLowU", x, i(by)), high = op("i64ExtMulHighU", x, i(by));
  return { high: words(low, high, [1, 3, 5, 7]), low: words(low, high, [0, 2, 4, 6]) };
}

/** Philox 4×32-10 (Salmon et al., 2011): the first of four random words, with the counter in word 0. */
function random(key0: E, key1: E, counter: E): E {
  let words: readonly [E, E, E, E] = [counter, i(0), i(0), i(0)];
  for (let round = 0; round < 10; round++) {
    const [a, b, c, d] = words;
    const left = wideProduct(a, 0xd2511f53), right = wideProduct(c, 0xcd9e8d57);
    const k0 = op("i32Add", key0, i(Math.imul(round, 0x9e3779b9)));
    const k1 = op("i32Add", key1, i(Math.imul(round, 0xbb67ae85)));
    words = [
      op("xor", op("xor", right.high, b), k0),
      right.low,
      op("xor", op("xor", left.high, d), k1),
      left.low,
    ];
  }
  return words[0];
}

/** −1, 0 or 1; NaN for NaN. */
function sign(x: E, dtype: DType): E {
  if (dtype === "float32") {
    return select(op("f32Eq", x, x), select(op("f32Eq", x, f(0)), x, copySign(f(1), x)), x);
  }
  return op("i32MaxS", op("i32MinS", x, i(1)), i(-1));
}

type Build = (args: readonly E[], dtype: DType) => E;

/** The greater or the lesser operand; NaN if either is, the first of equal ones. */
function extreme(
  float: "f32PMin" | "f32PMax",
  integer: "i32MinS" | "i32MaxS",
  args: readonly E[],
  dtype: DType,
): E {
  if (dtype !== "float32") return op(integer, ...args);
  const second = at(args, 1);
  return select(isNan(second), second, op(float, ...args));
}

const at = (args: readonly E[], n: number): E => args[n] ?? f(0);
const both = (float: keyof typeof SIMD, integer: keyof typeof SIMD): Build => (args, dtype) =>
  op(dtype === "float32" ? float : integer, ...args);
const unary = (build: (x: E) => E): Build => (args) => build(at(args, 0));

/** What can be computed in lanes; everything else is left to another printer. */
const BUILDERS: Partial<Record<ScalarOpName, Build>> = {
  add: both("f32Add", "i32Add"),
  sub: both("f32Sub", "i32Sub"),
  mul: both("f32Mul", "i32Mul"),
  div: (args) => op("f32Div", ...args),
  fma: (args) => op("f32Madd", ...args),
  neg: both("f32Neg", "i32Neg"),
  abs: both("f32Abs", "i32Abs"),
  minimum: (args, dtype) =>
    dtype === "bool" ? op("and", ...args) : extreme("f32PMin", "i32MinS", args, dtype),
  maximum: (args, dtype) => dtype === "bool" ? op("or", ...args) : extreme("f32PMax", "i32MaxS", args, dtype),
  floor: (args) => op("f32Floor", ...args),
  ceil: (args) => op("f32Ceil", ...args),
  trunc: (args) => op("f32Trunc", ...args),
  round: (args) => op("f32Nearest", ...args),
  sqrt: (args) => op("f32Sqrt", ...args),
  rsqrt: unary((x) => div(f(1), op("f32Sqrt", x))),
  exp: unary(exp),
  expm1: unary(expm1),
  log: unary(log),
  log1p: unary(log1p),
  tanh: unary(tanh),
  erf: unary(erf),
  sin: unary((x) => sine(x, 0)),
  cos: unary((x) => sine(x, 1)),
  eq: both("f32Eq", "i32Eq"),
  ne: both("f32Ne", "i32Ne"),
  lt: both("f32Lt", "i32LtS"),
  le: both("f32Le", "i32LeS"),
  gt: both("f32Gt", "i32GtS"),
  ge: both("f32Ge", "i32GeS"),
  isNan: unary(isNan),
  and: (args) => op("and", ...args),
  or: (args) => op("or", ...args),
  xor: (args) => op("xor", ...args),
  not: (args) => op("not", ...args),
  random: (args) => random(at(args, 0), at(args, 1), at(args, 2)),
  sign: (args, dtype) => sign(at(args, 0), dtype),
  bitsToFloat: (args) => at(args, 0),
  floatToBits: (args) => at(args, 0),
};

/** Ordering of masks as numbers is not worth lanes. */
const NOT_ON_BOOL: ReadonlySet<ScalarOpName> = new Set(["lt", "le", "gt", "ge"]);

/** Whether an operation on this type is to be had in lanes. */
export function hasLanes(name: ScalarOpName, dtype: DType): boolean {
  if (dtype !== "float32" && dtype !== "int32" && dtype !== "bool") return false;
  return BUILDERS[name] !== undefined && !(dtype === "bool" && NOT_ON_BOOL.has(name));
}

/** Pushes the result of an operation on locals. */
export function pushScalar(
  body: FunctionBody,
  name: ScalarOpName,
  args: readonly number[],
  dtype: DType,
): void {
  const build = BUILDERS[name];
  if (!build) throw new Error(`Expected an operation with lanes but found ${name}`);
  push(body, build(args.map((local) => ({ kind: "local", local })), dtype));
}

/** Pushes a conversion of a local. */
export function pushCast(body: FunctionBody, local: number, from: DType, to: DType): void {
  push(body, castExpression({ kind: "local", local }, from, to));
}

function castExpression(x: E, from: DType, to: DType): E {
  if (from === to) return x;
  if (to === "bool") return from === "float32" ? op("not", op("f32Eq", x, f(0))) : op("i32Ne", x, i(0));
  if (from === "bool") return op("and", x, to === "float32" ? f(1) : i(1));
  return to === "float32" ? op("f32ConvertI32", x) : op("i32TruncF32", x);
}

/** Pushes an expression; a part that is used more than once goes through a local. */
function push(body: FunctionBody, root: E): void {
  const uses = new Map<E, number>();
  const count = (e: E): void => {
    const seen = uses.get(e) ?? 0;
    uses.set(e, seen + 1);
    if (seen > 0) return;
    if (e.kind === "op") e.args.forEach(count);
    else if (e.kind === "shift") count(e.arg);
    else if (e.kind === "words") [e.low, e.high].forEach(count);
  };
  count(root);
  const kept = new Map<E, number>();
  const emit = (e: E): void => {
    const local = kept.get(e);
    if (local !== undefined) return void body.get(local);
    switch (e.kind) {
      case "local":
        return void body.get(e.local);
      case "bits":
        return void body.splatConstant(e.bits);
      case "double":
        view.setFloat64(0, e.value, true);
        return void body.splatConstant(view.getInt32(0, true), view.getInt32(4, true));
      case "shift":
        emit(e.arg);
        body.i32(e.by).simd(e.op);
        break;
      case "op":
        e.args.forEach(emit);
        body.simd(e.op);
        break;
      case "words": {
        emit(e.low);
        emit(e.high);
        body.shuffle(e.picked.flatMap((word) => [0, 1, 2, 3].map((byte) => 4 * word + byte)));
        break;
      }
      default:
        return e satisfies never;
    }
    if ((uses.get(e) ?? 0) > 1) {
      const made = body.local("v128");
      kept.set(e, made);
      body.tee(made);
    }
  };
  emit(root);
}
