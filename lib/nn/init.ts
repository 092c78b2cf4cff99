/**
 * Initialisation of parameters, as torch.nn.init. Every function writes in place without recording gradients and
 * returns its tensor.
 */
import { qr } from "../tensor/linalg.ts";
import { DynError } from "../base/errors.ts";
import { type Arguments, argumentsOf, type Trailing, trailing } from "../base/arguments.ts";
import { checkFunction, checkKind, refuseChoice, refuseSurplus } from "../base/checked_input.ts";
import { checkTensor } from "../tensor/checked.ts";
import { fromTypedArray } from "../tensor/creation.ts";
import { randn, randperm } from "../tensor/generated_functions.ts";
import { noGrad } from "../tensor/modes.ts";
import { erfOf } from "./error_function.ts";
import { drawnFrom, type Generator } from "../tensor/random.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { isInitSkipped, withoutInit } from "./init_skipping.ts";

/** The inputs and outputs of a weight [outputs, inputs, ...kernel]. */
export function fanInAndOut(tensor: Tensor): { fanIn: number; fanOut: number } {
  if (arguments.length > 1) refuseSurplus("fanInAndOut", 1, arguments);
  checkTensor(tensor, "nn.init");
  const [outputs, inputs, ...kernel] = tensor.shape;
  if (outputs === undefined || inputs === undefined) {
    throw new DynError(`Expected a tensor of at least 2 dimensions but found shape [${tensor.shape}]`);
  }
  const field = kernel.reduce((a, b) => a * b, 1);
  return { fanIn: inputs * field, fanOut: outputs * field };
}

/** The generator to draw from. */
interface Drawing {
  readonly generator?: Generator | null;
}

interface Bounds extends Drawing {
  readonly a?: number;
  readonly b?: number;
}

interface Spread extends Drawing {
  readonly mean?: number;
  readonly std?: number;
}

/** Fills a tensor without recording gradients, unless initialisation is disabled. */
function filled(tensor: Tensor, write: () => Tensor, { generator = null }: Drawing = {}): Tensor {
  checkTensor(tensor, "nn.init");
  return isInitSkipped() ? tensor : drawnFrom(generator, () => noGrad(write));
}

/**
 * Creates a module without initialising its parameters, if values are loaded anyway, as `torch.nn.utils.skip_init`:
 * `skipInit(nn.Linear, 3, 4)`. Its elements are arbitrary.
 */
export function skipInit<A extends readonly unknown[], M>(Layer: new (...args: A) => M, ...args: A): M {
  checkFunction(Layer, "that makes a module");
  checkKind(Layer.prototype, "an object", "the prototype of a class of modules");
  return withoutInit(() => new Layer(...args));
}

const UNIFORM = ["a", "b", "generator"] as const;

/** Uniform between `a` and `b`, by default [0, 1). */
export function uniform_(tensor: Tensor, ...given: Trailing<Bounds, typeof UNIFORM>): Tensor {
  const { a = 0, b = 1, ...drawing } = trailing<Bounds>("uniform_", UNIFORM, given);
  return filled(tensor, () => tensor.uniform_(a, b), drawing);
}

const NORMAL = ["mean", "std", "generator"] as const;

/** Normal with a mean and a standard deviation, by default 0 and 1. */
export function normal_(tensor: Tensor, ...given: Trailing<Spread, typeof NORMAL>): Tensor {
  const { mean = 0, std = 1, ...drawing } = trailing<Spread>("normal_", NORMAL, given);
  return filled(tensor, () => tensor.normal_(mean, std), drawing);
}

const TRUNCATED = ["mean", "std", "a", "b", "generator"] as const;

/** Normal as `normal_`, truncated to values in [a, b], by default [−2, 2]. */
export function truncNormal_(tensor: Tensor, ...given: Trailing<Spread & Bounds, typeof TRUNCATED>): Tensor {
  const { mean = 0, std = 1, a = -2, b = 2, ...drawing } = trailing<Spread & Bounds>(
    "truncNormal_",
    TRUNCATED,
    given,
  );
  if (!(a < b)) throw new DynError(`Expected a below b for truncNormal_ but found ${a} and ${b}`);
  // Φ⁻¹ of uniform numbers between Φ of the bounds; 2Φ(x√2) − 1 = erf(x)
  const low = erfOf((a - mean) / std / Math.SQRT2), high = erfOf((b - mean) / std / Math.SQRT2);
  return filled(
    tensor,
    () => tensor.uniform_(low, high).erfinv_().mul_(std * Math.SQRT2).add_(mean).clamp_({ min: a, max: b }),
    drawing,
  );
}

const CONSTANT = { required: ["val"], positional: [] } as const;

/** Fills a tensor with a number, as `torch.nn.init.constant_`. */
export function constant_(
  tensor: Tensor,
  ...given: Arguments<{ val: number }, object, typeof CONSTANT>
): Tensor {
  const { val } = argumentsOf<{ val: number }, object>("constant_", CONSTANT, given);
  return filled(tensor, () => tensor.fill_(val));
}

/** Fills a tensor with 0, as `torch.nn.init.zeros_`. May be the callback of a list of parameters. */
export function zeros_(tensor: Tensor): Tensor {
  if (arguments.length > 1) refuseSurplus("zeros_", 1, arguments);
  return constant_(tensor, 0);
}

/** Fills a tensor with 1, as `torch.nn.init.ones_`. */
export function ones_(tensor: Tensor): Tensor {
  if (arguments.length > 1) refuseSurplus("ones_", 1, arguments);
  return constant_(tensor, 1);
}

/** Non-linearities with a known gain; PyTorch's spelling of the leaky ReLU is also accepted. */
export type Nonlinearity =
  | "linear"
  | "conv1d"
  | "conv2d"
  | "conv3d"
  | "sigmoid"
  | "tanh"
  | "relu"
  | "leakyRelu"
  | "leaky_relu"
  | "selu";

/**
 * The recommended gain for a non-linearity; `param` is the slope of the leaky ReLU. Throws DynError for an unknown one.
 */
export function calculateGain(
  nonlinearity: Nonlinearity,
  ...given: Trailing<{ readonly param?: number | undefined }, ["param"]>
): number {
  const { param = 0.01 } = trailing<{ readonly param?: number }>("calculateGain", ["param"], given);
  checkKind(param, "a number", "the slope of calculateGain");
  switch (nonlinearity) {
    case "linear":
    case "conv1d":
    case "conv2d":
    case "conv3d":
    case "sigmoid":
      return 1;
    case "tanh":
      return 5 / 3;
    case "relu":
      return Math.SQRT2;
    case "leakyRelu":
    case "leaky_relu":
      return Math.sqrt(2 / (1 + param ** 2));
    case "selu":
      return 3 / 4;
    default:
      nonlinearity satisfies never;
      throw new DynError(`Expected a non-linearity with a known gain but found ${String(nonlinearity)}`);
  }
}

/** Whether to scale by the incoming or the outgoing connections. PyTorch's spelling is also accepted. */
export type FanMode = "fanIn" | "fanOut" | "fan_in" | "fan_out";

interface KaimingOptions extends Drawing {
  /** Negative slope of the leaky ReLU after the weight. */
  readonly a?: number;
  readonly mode?: FanMode;
  readonly nonlinearity?: Nonlinearity;
}

const KAIMING = ["a", "mode", "nonlinearity", "generator"] as const;
type KaimingArguments = Trailing<KaimingOptions, typeof KAIMING>;

function fanOf(tensor: Tensor, mode: FanMode): number {
  const { fanIn, fanOut } = fanInAndOut(tensor);
  switch (mode) {
    case "fanIn":
    case "fan_in":
      return fanIn;
    case "fanOut":
    case "fan_out":
      return fanOut;
    default:
      mode satisfies never;
      return refuseChoice("mode of the initialisation", ["fanIn", "fanOut"], mode);
  }
}

function kaiming(
  tensor: Tensor,
  name: string,
  given: KaimingArguments,
): { readonly std: number; readonly generator: Generator | null } {
  const options = trailing<KaimingOptions>(name, KAIMING, given);
  const { a = 0, mode = "fanIn", nonlinearity = "leakyRelu", generator = null } = options;
  return { std: calculateGain(nonlinearity, a) / Math.sqrt(fanOf(tensor, mode)), generator };
}

/** He et al. 2015, uniform in ±√3·gain/√fan. */
export function kaimingUniform_(tensor: Tensor, ...given: KaimingArguments): Tensor {
  const { std, generator } = kaiming(tensor, "kaimingUniform_", given), bound = Math.sqrt(3) * std;
  return uniform_(tensor, -bound, bound, generator);
}

/** He et al. 2015, normal with deviation gain/√fan. */
export function kaimingNormal_(tensor: Tensor, ...given: KaimingArguments): Tensor {
  const { std, generator } = kaiming(tensor, "kaimingNormal_", given);
  return normal_(tensor, 0, std, generator);
}

interface GainOptions extends Drawing {
  readonly gain?: number;
}

const GAIN = ["gain", "generator"] as const;

type GainArguments = Trailing<GainOptions, typeof GAIN>;

function gainOf(name: string, given: GainArguments): Required<GainOptions> {
  const { gain = 1, generator = null } = trailing<GainOptions>(name, GAIN, given);
  checkKind(gain, "a number", `the gain of ${name}`);
  return { gain, generator };
}

/** Glorot and Bengio 2010, uniform. */
export function xavierUniform_(tensor: Tensor, ...given: GainArguments): Tensor {
  const { fanIn, fanOut } = fanInAndOut(tensor);
  const { gain, generator } = gainOf("xavierUniform_", given), bound = gain * Math.sqrt(6 / (fanIn + fanOut));
  return uniform_(tensor, -bound, bound, generator);
}

/** Glorot and Bengio 2010, normal. */
export function xavierNormal_(tensor: Tensor, ...given: GainArguments): Tensor {
  const { fanIn, fanOut } = fanInAndOut(tensor);
  const { gain, generator } = gainOf("xavierNormal_", given);
  return normal_(tensor, 0, gain * Math.sqrt(2 / (fanIn + fanOut)), generator);
}

/** Ones on the diagonal of a matrix, zeros elsewhere. */
export function eye_(tensor: Tensor): Tensor {
  if (arguments.length > 1) refuseSurplus("eye_", 1, arguments);
  const [rows = 0, columns = 0] = shapeOf(tensor, [2]);
  return fill(tensor, (at) => Math.floor(at / columns) === at % columns && at < rows * columns ? 1 : 0);
}

/**
 * Makes a convolution's weight [outputs, inputs, ...kernel] the identity: in each group output i is input i, as far as
 * both exist.
 */
export function dirac_(tensor: Tensor, ...given: Trailing<{ groups?: number }, ["groups"]>): Tensor {
  const { groups = 1 } = trailing<{ groups?: number }>("dirac_", ["groups"], given);
  const [outputs = 0, inputs = 0, ...kernel] = shapeOf(tensor, [3, 4, 5]);
  if (outputs % groups !== 0) {
    throw new DynError(`Expected outputs divisible by ${groups} groups but found shape [${tensor.shape}]`);
  }
  const field = kernel.reduce((a, b) => a * b, 1), each = outputs / groups;
  const centre = kernel.reduce((at, size) => at * size + Math.floor(size / 2), 0);
  return fill(tensor, (at) => {
    const input = Math.floor(at / field) % inputs, output = Math.floor(at / field / inputs);
    return at % field === centre && output % each === input ? 1 : 0;
  });
}

/**
 * Orthonormal rows or columns, whichever are fewer, times `gain`; dimensions after the first are flattened. Saxe et al.
 * 2013, as torch.nn.init.orthogonal_.
 */
export function orthogonal_(tensor: Tensor, ...given: GainArguments): Tensor {
  const { gain, generator } = gainOf("orthogonal_", given);
  checkTensor(tensor, "nn.init");
  const [rows = 0, ...rest] = tensor.shape;
  if (rest.length === 0) {
    throw new DynError(`Expected a tensor of at least 2 dimensions but found shape [${tensor.shape}]`);
  }
  const columns = rest.reduce((a, b) => a * b, 1), isWide = rows < columns;
  return filled(tensor, () => {
    const drawn = randn(isWide ? [columns, rows] : [rows, columns], HOST);
    const [q, r] = qr(drawn);
    // Q is uniformly distributed only if the diagonal of R is positive
    const unique = q.mul(r.diagonal().sign().mul(gain));
    return tensor.copy_((isWide ? unique.mT : unique).reshape(tensor.shape).to(tensor.dtype));
  }, { generator });
}

interface SparseOptions extends Drawing {
  readonly std?: number;
}

const SPARSE = { required: ["sparsity"], positional: ["std", "generator"] } as const;

/** A matrix of normal numbers in which a share `sparsity` of each column is zero. Martens 2010. */
export function sparse_(
  tensor: Tensor,
  ...given: Arguments<{ sparsity: number }, SparseOptions, typeof SPARSE>
): Tensor {
  const { sparsity, std = 0.01, generator = null } = argumentsOf<{ sparsity: number }, SparseOptions>(
    "sparse_",
    SPARSE,
    given,
  );
  const [rows = 0, columns = 0] = shapeOf(tensor, [2]);
  const zeros = Math.ceil(sparsity * rows);
  const chosen = Array.from({ length: columns }, () => {
    const order = Array.from(randperm(rows, { device: "cpu", generator }).toTypedArray(), Number);
    return new Set(order.slice(0, zeros));
  });
  const drawn = randn([rows * columns], { ...HOST, generator }).toTypedArray();
  return fill(tensor, (at) => {
    const row = Math.floor(at / columns);
    return chosen[at % columns]?.has(row) ? 0 : std * Number(drawn[at] ?? 0);
  });
}

/** Returns the shape. Throws DynError unless its rank is one of `ranks`. */
function shapeOf(tensor: Tensor, ranks: readonly number[]): readonly number[] {
  checkTensor(tensor, "nn.init");
  if (ranks.includes(tensor.ndim)) return tensor.shape;
  throw new DynError(
    `Expected a tensor of ${ranks.join(", ")} dimensions but found shape [${tensor.shape}]`,
  );
}

/** Writes every element as a function of its index in row-major order. */
function fill(tensor: Tensor, element: (at: number) => number): Tensor {
  if (isInitSkipped()) return tensor;
  const values = Float64Array.from({ length: tensor.numel() }, (_, at) => element(at));
  const filled = hostTensor(values, tensor.shape).to(tensor.dtype).to(tensor.device);
  return noGrad(() => tensor.copy_(filled));
}

const HOST = { dtype: "float64", device: "cpu" } as const;

function hostTensor(values: Float64Array, shape: readonly number[]): Tensor {
  return fromTypedArray(values, shape, HOST);
}
