/**
 * Calls whose classes are shipped with dyn: common eager calls on tensors that are large enough for a class; one call
 * for each class of layouts. Elementwise ops have one class for all dense shapes; those by rows and columns have one
 * for each magnitude of sizes, of which these are the common ones.
 */
import {
  arange,
  cat,
  full,
  nn,
  ones,
  onesLike,
  rand,
  randint,
  randLike,
  randn,
  randnLike,
  type Tensor,
  zeros,
  zerosLike,
} from "../mod.ts";

/** A call. */
export interface ShippedCall {
  readonly name: string;
  readonly run: () => unknown;
  /** Whether it has so many numbers that some become operands. */
  readonly loads?: boolean;
}

const F = nn.functional;
const COUNT = 20_000;

type Unary = (x: Tensor) => Tensor;
type Binary = (x: Tensor, y: Tensor | number) => Tensor;

const UNARY: Readonly<Record<string, Unary>> = {
  neg: (x) => x.neg(),
  abs: (x) => x.abs(),
  sign: (x) => x.sign(),
  floor: (x) => x.floor(),
  ceil: (x) => x.ceil(),
  round: (x) => x.round(),
  trunc: (x) => x.trunc(),
  sqrt: (x) => x.sqrt(),
  rsqrt: (x) => x.rsqrt(),
  reciprocal: (x) => x.reciprocal(),
  square: (x) => x.square(),
  exp: (x) => x.exp(),
  expm1: (x) => x.expm1(),
  log: (x) => x.log(),
  log2: (x) => x.log2(),
  log10: (x) => x.log10(),
  log1p: (x) => x.log1p(),
  sin: (x) => x.sin(),
  cos: (x) => x.cos(),
  tan: (x) => x.tan(),
  tanh: (x) => x.tanh(),
  atan: (x) => x.atan(),
  erf: (x) => x.erf(),
  sigmoid: (x) => x.sigmoid(),
  relu: (x) => x.relu(),
  gelu: (x) => F.gelu(x),
  "gelu by tanh": (x) => F.gelu(x, "tanh"),
  silu: (x) => F.silu(x),
  mish: (x) => F.mish(x),
  elu: (x) => F.elu(x),
  selu: (x) => F.selu(x),
  leakyRelu: (x) => F.leakyRelu(x),
  relu6: (x) => F.relu6(x),
  hardswish: (x) => F.hardswish(x),
  softplus: (x) => F.softplus(x),
  logsigmoid: (x) => F.logsigmoid(x),
  clone: (x) => x.clone(),
  isnan: (x) => x.isnan(),
  isfinite: (x) => x.isfinite(),
  "pow 2": (x) => x.pow(2),
  "pow 3": (x) => x.pow(3),
  "pow -1": (x) => x.pow(-1),
  "pow 0.5": (x) => x.pow(0.5),
  "to float64": (x) => x.to("float64"),
  "to float16": (x) => x.to("float16"),
  "to bfloat16": (x) => x.to("bfloat16"),
  "to int64": (x) => x.to("int64"),
  zerosLike: (x) => zerosLike(x),
  onesLike: (x) => onesLike(x),
  randLike: (x) => randLike(x),
  randnLike: (x) => randnLike(x),
};

const BINARY: Readonly<Record<string, Binary>> = {
  add: (x, y) => x.add(y),
  sub: (x, y) => x.sub(y),
  mul: (x, y) => x.mul(y),
  div: (x, y) => x.div(y),
  pow: (x, y) => x.pow(y),
  maximum: (x, y) => typeof y === "number" ? x.clamp(y) : x.maximum(y),
  minimum: (x, y) => typeof y === "number" ? x.clamp(null, y) : x.minimum(y),
  eq: (x, y) => x.eq(y),
  ne: (x, y) => x.ne(y),
  lt: (x, y) => x.lt(y),
  le: (x, y) => x.le(y),
  gt: (x, y) => x.gt(y),
  ge: (x, y) => x.ge(y),
};

const WHOLE = ["add", "sub", "mul", "eq", "ne", "lt", "gt", "maximum", "minimum"];

/** Sizes of rows and columns: equal ones, and several magnitudes. */
const SIZES: readonly (readonly [number, number])[] = [
  [512, 512],
  [300, 500],
  [64, 500],
  [500, 64],
  [5000, 64],
  [5000, 300],
];

const BY_ROWS: Readonly<Record<string, (x: Tensor, sizes: readonly [number, number]) => unknown>> = {
  "a row added": (x, [, columns]) => x.add(randn([columns])),
  "times a row": (x, [, columns]) => x.mul(randn([columns])),
  "a column added": (x, [rows]) => x.add(randn([rows, 1])),
  "a column taken away": (x, [rows]) => x.sub(randn([rows, 1])),
  "times a column": (x, [rows]) => x.mul(randn([rows, 1])),
  "by a column": (x, [rows]) => x.div(rand([rows, 1])),
  "rows summed": (x) => x.sum(1),
  "columns summed": (x) => x.sum(0),
  "means of rows": (x) => x.mean(1),
  "means of columns": (x) => x.mean(0),
  "greatest of rows": (x) => x.amax(1),
  "places of the greatest": (x) => x.argmax(1),
  softmax: (x) => x.softmax(1),
  logSoftmax: (x) => x.logSoftmax(1),
  layerNorm: (x, [, columns]) => F.layerNorm(x, [columns], ones([columns]), zeros([columns])),
  "transposed copy": (x) => x.t().contiguous(),
  "rows by places": (x, [rows]) => x.indexSelect(0, randint(0, rows, [rows])),
};

/** Sizes of attention: batches, heads, places, channels. */
const HEADS: readonly (readonly number[])[] = [[1, 12, 128, 64], [4, 8, 128, 64], [1, 12, 512, 64], [
  4,
  8,
  512,
  64,
]];

/** So many numbers that the last of them are operands, and the same as integers. */
const NUMBERS = [1.5, 2.25, 3.75, 4.125, 5.375, 6.625], INTEGERS = NUMBERS.map((_, k) => k + 3);

/** The operands of several calls. */
interface Operands {
  readonly x: Tensor;
  readonly y: Tensor;
  readonly whole: Tensor;
  readonly mask: Tensor;
  readonly square: Tensor;
  readonly other: Tensor;
  readonly image: Tensor;
  readonly channel: Tensor;
}

function operands(): Operands {
  const x = randn([COUNT]), square = randn([512, 512]);
  return {
    x,
    y: rand([COUNT]),
    whole: randint(1, 9, [COUNT]),
    mask: x.gt(0),
    square,
    other: randn([512, 512]),
    image: randn([4, 64, 32, 32]),
    channel: rand([64]),
  };
}

const OTHERS: Readonly<Record<string, (given: Operands) => unknown>> = {
  "add int64 numbers": ({ whole }) => INTEGERS.map((number) => whole.add(number)),
  "mul int64 numbers": ({ whole }) => INTEGERS.map((number) => whole.mul(number)),
  "fill numbers": ({ x, square }) =>
    [x, square].map((each) => [...NUMBERS, ...INTEGERS].map((number) => each.clone().fill_(number))),
  "clamp within": ({ x }) => [...NUMBERS, ...INTEGERS].map((number) => x.clamp(-number, number)),
};

const ALONE: Readonly<Record<string, (given: Operands) => unknown>> = {
  where: ({ x, y, mask }) => x.where(mask, y),
  "logical not": ({ mask }) => mask.logicalNot(),
  "logical and": ({ mask }) => mask.logicalAnd(mask),
  "bool to float": ({ mask }) => mask.to("float32"),
  "int64 to float": ({ whole }) => whole.to("float32"),
  "in place": ({ x, y }) => x.clone().add_(y),
  zero: ({ x, square }) => [x, square].map((each) => each.clone().zero_()),
  zeros: () => zeros([COUNT]),
  ones: () => ones([COUNT]),
  full: () => full([COUNT], 1.5),
  arange: () => arange(COUNT),
  rand: () => rand([COUNT]),
  randn: () => randn([COUNT]),
  sum: ({ square }) => square.sum(),
  mean: ({ square }) => square.mean(),
  "sum of a list": ({ x }) => x.sum(),
  "mean of a list": ({ x }) => x.mean(),
  amax: ({ square }) => square.amax(),
  amin: ({ square }) => square.amin(),
  argmax: ({ square }) => square.argmax(),
  variance: ({ square }) => square.var(),
  deviation: ({ square }) => square.std(),
  cumsum: ({ square }) => square.cumsum(1),
  cat: ({ square, other }) => cat([square, other]),
  "cat of columns": ({ square, other }) => cat([square, other], 1),
  "transposed added": ({ square, other }) => square.t().add(other),
  product: ({ square, other }) => square.matmul(other),
  "product by transposed": ({ square, other }) => square.matmul(other.t()),
  batchNorm: ({ image, channel }) => F.batchNorm(image, channel, channel),
  "batchNorm with weights": ({ image, channel }) => F.batchNorm(image, channel, channel, channel, channel),
  topk: ({ square }) => square.topk(10),
  sort: ({ x }) => x.sort(),
};

/** All calls. Their operands are created here. */
export function shippedCalls(): readonly ShippedCall[] {
  const given = operands(), { x, y, whole } = given;
  return [
    ...Object.entries(UNARY).map(([name, call]) => ({ name, run: () => call(x) })),
    ...Object.entries(BINARY).map(([name, call]) => ({ name: `${name} of two`, run: () => call(x, y) })),
    // The program of a power depends on the exponent
    ...Object.entries(BINARY).filter(([name]) => name !== "pow").map(([name, call]) => ({
      name: `${name} of a number`,
      run: () => [...NUMBERS, ...INTEGERS].map((number) => call(x, number)),
      loads: true,
    })),
    ...Object.entries(BINARY).filter(([name]) => WHOLE.includes(name)).map(([name, call]) => ({
      name: `${name} of integers`,
      run: () => call(whole, whole),
    })),
    ...Object.entries(BY_ROWS).flatMap(([name, call]) =>
      SIZES.map((sizes) => ({ name: `${name} of ${sizes}`, run: () => call(randn(sizes), sizes) }))
    ),
    ...HEADS.flatMap((sizes) =>
      [false, true].map((isCausal) => ({
        name: `attention of ${sizes}${isCausal ? ", causal" : ""}`,
        run() {
          const query = randn(sizes);
          return F.scaledDotProductAttention(query, query, query, { isCausal });
        },
      }))
    ),
    ...Object.entries(OTHERS).map(([name, call]) => ({ name, run: () => call(given), loads: true })),
    ...Object.entries(ALONE).map(([name, call]) => ({ name, run: () => call(given) })),
  ];
}
