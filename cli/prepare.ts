/**
 * `doctor --prepare`: prepares once for this machine what first calls of most programs need: in the cache, the programs
 * of common eager calls, their native code and the routines of products, convolutions and sorting.
 *
 * Invariant: everything is created in the same way as by programs, so that they reuse it like the results of any
 * earlier process.
 */
import { type Toolkit, toolkit } from "./toolkit.ts";

/** Sizes of matrices. A kernel serves all sizes of the same magnitudes, but equal sizes need a separate one. */
const SHAPES = [[1024, 1024], [768, 1024], [128, 1024]] as const;
/** Elements of operands of any shape: one program serves all from some thousand on. */
const ELEMENTS = 2 ** 20;
/** Number of calls of everything until native code has been requested, after a millisecond of work. */
const ROUNDS = 24;
/** Milliseconds between two polls of the compiler. */
const NAP = 100;

type Call = () => unknown;

/** Calls that are common in programs. */
export function commonCalls(dyn: Toolkit): readonly Call[] {
  return [...elementwiseCalls(dyn), ...SHAPES.flatMap((shape) => matrixCalls(dyn, shape))];
}

function elementwiseCalls({ nn: { functional: F }, ...dyn }: Toolkit): readonly Call[] {
  const x = dyn.randn([ELEMENTS]), y = dyn.randn([ELEMENTS]), p = dyn.rand([ELEMENTS]).add(0.1);
  const whole = dyn.randint(0, 100, [ELEMENTS]), mask = x.gt(0);
  return [
    ...[x.add, x.sub, x.mul, x.div, x.gt, x.ge, x.lt, x.le, x.eq, x.ne, x.maximum, x.minimum].map(
      (op) => () => Reflect.apply(op, p, [y]),
    ),
    ...[x.neg, x.abs, x.square, x.exp, x.tanh, x.sigmoid, x.relu, x.sin, x.cos, x.erf, x.sign, x.clone].map(
      (op) => () => Reflect.apply(op, x, []),
    ),
    ...[p.log, p.log1p, p.sqrt, p.rsqrt, p.reciprocal].map((op) => () => Reflect.apply(op, p, [])),
    ...[x.sum, x.mean, x.amax, x.argmax].map((op) => () => Reflect.apply(op, x, [])),
    () => x.pow(2),
    () => p.pow(1.7),
    () => x.clamp(-1, 1),
    () => x.where(mask, y),
    () => x.maskedFill(mask, 0),
    () => whole.add(whole),
    () => F.gelu(x),
    () => F.silu(x),
    () => y.clone().add_(x),
    () => y.clone().mul_(0.5),
    () => y.clone().fill_(2),
    () => dyn.arange(ELEMENTS),
    () => dyn.zeros([ELEMENTS]),
    () => dyn.rand([ELEMENTS]),
    () => dyn.randn([ELEMENTS]),
  ];
}

function matrixCalls(dyn: Toolkit, [rows, columns]: typeof SHAPES[number]): readonly Call[] {
  const { randn, randint, cat, nn: { functional: F } } = dyn;
  const x = randn([rows, columns]), row = randn([columns]), column = randn([rows, 1]);
  const places = randint(0, rows, [rows]);
  return [
    ...[x.add, x.sub, x.mul, x.div].flatMap((op) =>
      [row, column].map((other) => () => Reflect.apply(op, x, [other]))
    ),
    ...[x.sum, x.mean, x.amax, x.argmax].flatMap((op) =>
      [[], [0], [1]].map((dims) => () => Reflect.apply(op, x, dims))
    ),
    () => x.gt(0),
    () => x.to("float64"),
    () => x.to("int64"),
    () => places.to("float32"),
    () => x.t().contiguous(),
    () => cat([x, x]),
    () => x.indexSelect(0, places),
    () => x.cumsum(1),
    () => x.softmax(1),
    () => x.logSoftmax(1),
    () => F.layerNorm(x, [columns], row, row),
    () => x.topk(10),
    () => dyn.rand([rows, columns]),
    () => dyn.randn([rows, columns]),
  ];
}

/** Prepares everything and returns a description. Throws if something cannot be prepared. */
export async function prepare(): Promise<string> {
  const dyn = await toolkit(), calls = commonCalls(dyn);
  const { toolchainStatus } = await import("../backends/cpu/toolchain.ts");
  const native = dyn.config.inductor.tier !== "wasm" && toolchainStatus().kind === "ready";
  if (native) {
    const { routineAddresses, ROUTINES } = await import("../backends/cpu/runtime_library.ts");
    routineAddresses(ROUTINES);
  }
  const { isCompiling } = await import("../backends/cpu/background.ts");
  for (let round = 0; round < (native ? ROUNDS : 1) || isCompiling(); round++) {
    for (const call of calls) dyn.noGrad(call);
    // Compilers use the processors meanwhile
    if (isCompiling()) await new Promise((resolve) => setTimeout(resolve, NAP));
  }
  const taken = dyn.counters.get("tiers", "eager_native");
  return `${calls.length} common calls of tensors, ${taken} of their programs as native code`;
}
