/**
 * Replays op samples that PyTorch computed. Invariant: an op is called as users call it, through the public module.
 */
import * as dyn from "../../mod.ts";
import { isTensor, type Tensor } from "../../lib/tensor/tensor.ts";
import { type DType, isDType, isFloat } from "../../lib/base/dtype.ts";

/** A value in a sample. */
export type Encoded = null | number | boolean | string | readonly Encoded[] | EncodedObject;

interface EncodedObject {
  /** A tensor: element type, shape, elements; strides where it is not contiguous; whether it is a leaf. */
  readonly t?: string;
  readonly s?: readonly number[];
  readonly d?: readonly (number | boolean | string)[];
  readonly st?: readonly number[];
  readonly g?: boolean;
  readonly dtype?: string;
  readonly str?: string;
  readonly slice?: readonly (number | null)[];
  readonly ellipsis?: boolean;
  readonly dict?: Readonly<Record<string, Encoded>>;
}

/** One call and what PyTorch makes of it. */
export interface OpSample {
  readonly op: string;
  readonly variant?: string;
  readonly dtype?: string;
  readonly sample?: number;
  readonly args: readonly Encoded[];
  readonly kwargs: Readonly<Record<string, Encoded>>;
  readonly out?: Encoded;
  readonly grads?: readonly Encoded[];
  /** The same computed in float64 from the same arguments, for types of few digits: what errors are measured from. */
  readonly exact?: Encoded;
  readonly exactGrads?: readonly Encoded[];
  /** The kind of PyTorch's error; the call must throw. */
  readonly error?: string;
  readonly match?: string;
}

/** A function over whatever arguments. */
export type Callable = (...args: readonly unknown[]) => unknown;

/** Options of replaying. */
export interface ReplayOptions {
  readonly device: string;
  /** Wraps the op, to compile it. */
  readonly wrap: (op: Callable) => Callable;
  /** Factor on the tolerance, for devices whose own functions are coarser. */
  readonly slack: number;
}

/** The samples of one file. */
export async function readSamples(url: URL): Promise<readonly OpSample[]> {
  const packed = new Blob([await Deno.readFile(url)]);
  const text = await new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"))).text();
  return text.split("\n").filter((line) => line !== "").map((line): OpSample => JSON.parse(line));
}

/** Names a sample: op, type and number, or op and error. */
export function sampleName({ op, variant, dtype, sample, error, match }: OpSample): string {
  if (error !== undefined) return `${op} error ${match || error}`;
  return `${op}${variant ? `.${variant}` : ""} ${dtype} ${sample}`;
}

function camel(name: string): string {
  return name.replace(/(?<=[^_])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

const isCallable = (value: unknown): value is Callable => typeof value === "function";

/** The same of single variants. */
const VARIANTS: Readonly<Record<string, (op: Callable) => Callable>> = {
  // Matrices of low rank, by their factors
  "linalg.pinv.singular": (op) => (a, b) => op(method(a, "matmul", [isTensor(b) ? b.mT : b])),
  // Of four results only those that have gradients
  "linalg.lstsq.grad_oriented": (op) => (...args) => {
    const results = op(...args);
    return Array.isArray(results) ? results.slice(0, 2) : results;
  },
};

/** Names that JavaScript reserves have a synonym as free functions. */
const RENAMED: Readonly<Record<string, string>> = { var: "variance" };

/** Samples of these ops hold the arguments of a wrapper around the op, in the wrapper's order. */
const WRAPPED: Readonly<Record<string, Callable>> = {
  "__getitem__": (x, index) => method(x, "at", Array.isArray(index) ? index : [index]),
  // The order of the method x.where(condition, other); the function takes the condition first
  where: (x, ...rest) => method(x, "where", rest),
  // The gradient of ones that the op sends back, of the input that it pooled
  max_pool2d_with_indices_backward: (x, windows) => {
    if (!isTensor(x) || typeof windows !== "object") return fail("a tensor and its windows", String(x));
    const { kernelSize, stride, padding, dilation, ceilMode } = Object(windows);
    const [values, indices] = dyn.nn.functional.maxPool2d(
      x,
      kernelSize,
      stride,
      padding,
      dilation,
      ceilMode,
      true,
    );
    const ones = dyn.onesLike(values).detach();
    return dyn.maxPool2dWithIndicesBackward(
      ones,
      x,
      kernelSize,
      stride,
      padding,
      dilation,
      ceilMode,
      indices,
    );
  },
  zero_: (x) => method(method(x, "clone", []), "zero_", []),
};

function method(self: unknown, name: string, args: readonly unknown[]): unknown {
  const found: unknown = isTensor(self) ? Reflect.get(self, name) : undefined;
  return isCallable(found) ? Reflect.apply(found, self, args) : fail(`a tensor with ${name}`, String(self));
}

/** The function that PyTorch's name means here, or undefined where there is none. */
export function findOp(op: string): Callable | undefined {
  const wrapped = WRAPPED[op];
  if (wrapped || op.startsWith("__")) return wrapped;
  const cut = op.lastIndexOf(".");
  const space = op.slice(0, Math.max(0, cut)), name = camel(op.slice(cut + 1));
  const places: readonly object[] = space === "nn.functional"
    ? [dyn.nn.functional]
    : space === "linalg"
    ? [dyn.linalg]
    : space === "special"
    ? [dyn.special, dyn]
    : [dyn];
  for (const place of places) {
    const found: unknown = Reflect.get(place, RENAMED[name] ?? name);
    if (isCallable(found)) return found;
  }
  const own: unknown = space === "" ? Reflect.get(dyn.Tensor.prototype, name) : undefined;
  return isCallable(own) ? (self, ...rest) => method(self, name, rest) : undefined;
}

/** The function that a sample's variant makes of an op. */
export function variantOf(sample: OpSample, op: Callable): Callable {
  return VARIANTS[`${sample.op}.${sample.variant}`]?.(op) ?? op;
}

/** The arguments of a sample's call. */
export function callOf(sample: OpSample, device: string): readonly unknown[] {
  return argumentsOf(sample, new Decoder(device));
}

function argumentsOf(sample: OpSample, decoder: Decoder): unknown[] {
  const args: unknown[] = sample.args.map((each) => decoder.decode(each));
  const named = decoder.dictionary(sample.kwargs);
  return Object.keys(named).length > 0 ? [...args, named] : args;
}

/** Calls the op of a sample and compares. Throws an Error that tells the first difference. */
export function replay(sample: OpSample, op: Callable, options: ReplayOptions): void {
  const decoder = new Decoder(options.device);
  const args = argumentsOf(sample, decoder);
  if (sample.error !== undefined) return expectError(() => op(...args), sample);
  const result = options.wrap(variantOf(sample, op))(...args);
  const { slack } = options, { exact, exactGrads } = sample;
  agree(result, sample.out ?? null, { where: "result", slack, exact });
  if (!sample.grads) return;
  const total = weightedSum(result, options.device);
  const gradients = dyn.autograd.grad([total], decoder.leaves, undefined, { allowUnused: true });
  sample.grads.forEach((want, i) => {
    const got = gradients[i] ?? null, where = `gradient ${i}`;
    if (want !== null) return agree(got, want, { where, slack, exact: exactGrads?.[i] });
    if (got !== null && Number(got.abs().sum().item()) !== 0) fail(`no ${where}`, "one");
  });
}

function expectError(call: () => unknown, sample: OpSample): void {
  try {
    for (const each of tensorsIn(call())) each.tolist();
  } catch (error) {
    if (error instanceof dyn.InternalError) throw error;
    return;
  }
  fail(`an error (${sample.match})`, "none");
}

function fail(expected: string, found = "something else"): never {
  throw new Error(`Expected ${expected} but found ${found}`);
}

/** Makes values of a sample; collects the leaves on its way. */
class Decoder {
  readonly leaves: Tensor[] = [];
  constructor(readonly device: string) {}

  decode(each: Encoded | undefined): unknown {
    if (each === undefined || each === null || typeof each === "boolean") return each ?? null;
    if (typeof each !== "object") return numberOf(each);
    if (isList(each)) return each.map((item) => this.decode(item));
    if (each.t !== undefined) return this.#tensor(each);
    if (each.dtype !== undefined) return each.dtype;
    if (each.str !== undefined) return each.str;
    if (each.slice !== undefined) return sliceText(each.slice);
    if (each.ellipsis !== undefined) return "...";
    if (each.dict !== undefined) return this.dictionary(each.dict);
    return fail("a known encoding", JSON.stringify(each));
  }

  dictionary(entries: Readonly<Record<string, Encoded>>): Record<string, unknown> {
    return Object.fromEntries(Object.entries(entries).map(([k, v]) => [camel(k), this.decode(v)]));
  }

  #tensor(encoded: EncodedObject): Tensor {
    const { s: shape = [], d = [], st: strides } = encoded;
    const dtype = dtypeOf(encoded);
    const elements = d.map((x) => dtype === "bool" ? Boolean(x) : Number(numberOf(x)));
    const flat = dyn.tensor(elements, { dtype, device: this.device });
    const made = strides ? flat.asStrided([...shape], [...strides]) : flat.reshape([...shape]);
    if (!encoded.g) return made;
    const leaf = made.detach().requiresGrad_();
    this.leaves.push(leaf);
    return leaf;
  }
}

const isList = (value: Encoded): value is readonly Encoded[] => Array.isArray(value);
const isEncodedList = (value: Encoded | undefined): value is readonly Encoded[] => Array.isArray(value);

function dtypeOf({ t }: EncodedObject): DType {
  return isDType(t) ? t : fail("a known type", String(t));
}

function numberOf(value: number | boolean | string): number | boolean | string {
  const special: Readonly<Record<string, number>> = { nan: NaN, inf: Infinity, "-inf": -Infinity };
  return typeof value === "string" ? special[value] ?? value : value;
}

/** [1, 5, null] as "1:5". */
function sliceText(parts: readonly (number | null)[]): string {
  const [start, stop, step] = parts.map((x) => x ?? "");
  return step === "" || step === undefined ? `${start}:${stop}` : `${start}:${stop}:${step}`;
}

function* tensorsIn(value: unknown): Generator<Tensor> {
  if (isTensor(value)) yield value;
  else if (Array.isArray(value)) { for (const each of value) yield* tensorsIn(each); }
  else if (typeof value === "object" && value !== null) {
    for (const each of Object.values(value)) yield* tensorsIn(each);
  }
}

/** Σ over float results of Σₖ result[k]·w[k], the function that the recorded gradients differentiate. */
function weightedSum(result: unknown, device: string): Tensor {
  let total: Tensor | undefined;
  for (const each of tensorsIn(result)) {
    if (!each.requiresGrad || !isFloat(each.dtype)) continue;
    const weights = Array.from({ length: each.numel() }, (_, k) => k * 37 % 101 / 101 - 0.5);
    const w = dyn.tensor(weights, { dtype: each.dtype, device }).reshape([...each.shape]);
    const sum = each.mul(w).sum();
    total = total?.add(sum) ?? sum;
  }
  return total ?? fail("a result with a gradient", "none");
}

interface Place {
  readonly where: string;
  readonly slack: number;
  readonly exact: Encoded | undefined;
}

/** Throws where a value is not what the sample says. */
function agree(got: unknown, want: Encoded, place: Place): void {
  if (want === null || typeof want !== "object") {
    const value = isTensor(got) ? got.item() : got;
    if (typeof value === "number" && typeof want === "number") {
      const allowed = place.slack * (1e-4 * Math.abs(want) + 1e-5);
      if (value === want || Math.abs(value - want) <= allowed) return;
    }
    if (!Object.is(value, typeof want === "string" ? numberOf(want) : want)) {
      fail(`${place.where} ${want}`, String(value));
    }
  } else if (isList(want)) {
    const list = Array.isArray(got) ? got : fail(`a list of results at ${place.where}`, typeof got);
    if (list.length !== want.length) fail(`${want.length} results at ${place.where}`, `${list.length}`);
    const exact = (i: number) => isEncodedList(place.exact) ? place.exact[i] : undefined;
    want.forEach((each, i) =>
      agree(list[i], each, { ...place, where: `${place.where}[${i}]`, exact: exact(i) })
    );
  } else if (want.dtype !== undefined) {
    if (got !== want.dtype) fail(`${place.where} ${want.dtype}`, String(got));
  } else if (isTensor(got)) agreeTensor(got, want, place);
  else fail(`a tensor at ${place.where}`, String(got));
}

/**
 * Returns the tolerance of an element: float32: 1e-4·|want| + 2e-6·max|want| + 1e-6; float64: 1e-10·|want| +
 * 1e-12·max|want| + 1e-14, which nothing computed in float32 satisfies; integers and booleans must be equal.
 */
function allowance(dtype: DType, want: number, scale: number): number {
  if (dtype === "float32") return 1e-4 * Math.abs(want) + 2e-6 * scale + 1e-6;
  return dtype === "float64" ? 1e-10 * Math.abs(want) + 1e-12 * scale + 1e-14 : 0;
}

/** The distance between neighbours from 1 on. */
const UNIT: Partial<Record<DType, number>> = { float16: 2 ** -10, bfloat16: 2 ** -7 };

/**
 * Returns the tolerance of low-precision elements against exact ones: a unit in the last place and one of the largest
 * element, for intermediate rounding, and twice PyTorch's error. An infinity there may be the number.
 */
function judgeOf(dtype: DType, want: readonly number[], exact: Encoded | undefined) {
  const unit = UNIT[dtype];
  if (unit === undefined || exact === null || typeof exact !== "object" || isList(exact)) return undefined;
  const wide = rowMajor(exact), scale = largest(wide);
  return want.map((x, k) => {
    const of = wide[k] ?? NaN;
    if (!Number.isFinite(of)) return { of: x, allowed: 0 };
    const missed = Number.isFinite(x) ? Math.abs(x - of) : 0;
    return { of, allowed: unit * (Math.abs(of) + scale) + 2 * missed + 1e-5 };
  });
}

const largest = (list: readonly number[]): number =>
  list.reduce((most, x) => Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most, 0);

function agreeTensor(got: Tensor, encoded: EncodedObject, { where, slack, exact }: Place): void {
  const dtype = dtypeOf(encoded), { s: shape = [] } = encoded;
  if (got.dtype !== dtype) fail(`${where} of type ${dtype}`, got.dtype);
  if (`${got.shape}` !== `${shape}`) fail(`${where} of shape [${shape}]`, `[${got.shape}]`);
  const want = rowMajor(encoded), found = Array.from(got.detach().toTypedArray(), Number);
  const scale = largest(want), judge = judgeOf(dtype, want, exact);
  want.forEach((x, k) => {
    const y = found[k] ?? NaN, { of, allowed } = judge?.[k] ?? { of: x, allowed: allowance(dtype, x, scale) };
    const same = Object.is(x, y) || (Number.isFinite(of) && Math.abs(of - y) <= slack * allowed);
    if (!same) fail(`${where}[${k}] = ${x}`, `${y}`);
  });
}

/** The elements of an encoded tensor in row-major order. */
function rowMajor({ s: shape = [], d = [], st: strides }: EncodedObject): readonly number[] {
  const storage = d.map((x) => Number(numberOf(x)));
  if (!strides) return storage;
  return Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, k) => {
    let rest = k, at = 0;
    for (let dim = shape.length - 1; dim >= 0; dim--) {
      const size = shape[dim] ?? 1;
      at += rest % size * (strides[dim] ?? 0);
      rest = Math.floor(rest / size);
    }
    return storage[at] ?? NaN;
  });
}
