/**
 * Complex numbers as in PyTorch: tests/data/complex.jsonl.gz holds its results for calls of ops, including gradients,
 * for transforms of odd and even lengths, and for printed tensors. All are run; some are also compiled, selected by a
 * seed (DYN_TEST_SEED), or all of them (DYN_TEST_ALL=1).
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import * as dyn from "../mod.ts";
import {
  compile,
  compiler,
  type Complex,
  complex,
  type DType,
  eye,
  fft,
  fromTypedArray,
  isTensor,
  linalg,
  ones,
  randn,
  type Tensor,
  tensor,
  viewAsComplex,
  viewAsReal,
  zeros,
} from "../mod.ts";
import * as safetensors from "../lib/data/safetensors.ts";
import { COMPOSED } from "../lib/ops/complex/compositions.ts";
import { partwiseRules } from "../lib/ops/complex/partwise.ts";
import { viewRules } from "../lib/ops/complex/view_rules.ts";
import { opNamed } from "../lib/ops/table.ts";
import { callOp } from "../lib/tensor/eager.ts";
import "./support/turns/ops.ts";
import { makeSample } from "./support/samples.ts";
import { sampleBySeed } from "./support/sampling.ts";

/** A tensor of the data: by a formula, or by its values. */
type Spec =
  & { readonly dtype: DType }
  & ({
    readonly shape: readonly number[];
    readonly seed: number;
    readonly scale: number;
    readonly shift: number;
    readonly bend?: number;
  } | {
    readonly values: readonly (number | readonly [number, number])[];
  });

interface Shown {
  readonly shape: readonly number[];
  readonly dtype: DType;
  /** Of complex types both parts, side by side; what is not finite as text. */
  readonly data: readonly (number | string)[];
}

interface Call {
  readonly op: string;
  readonly args: readonly unknown[];
  readonly kw?: Readonly<Record<string, unknown>>;
  readonly out: readonly Shown[];
  readonly grads?: readonly (null | readonly (number | string)[])[];
}

type Row = Call | { readonly print: Spec; readonly text: string };

async function readRows(): Promise<readonly Row[]> {
  const packed = await Deno.readFile(new URL("data/complex.jsonl.gz", import.meta.url));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(stream).text()).split("\n").map((line): Row => JSON.parse(line));
}

const rows = await readRows(), calls = rows.flatMap((row) => "op" in row ? [row] : []);

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isSpec = (value: unknown): value is Spec => isRecord(value) && "dtype" in value;

/** A tensor as tests/complex/make_data.py makes it. */
function made(spec: Spec): Tensor {
  const { dtype } = spec, isPairs = dtype.startsWith("complex");
  if ("values" in spec) {
    const element = (x: number | readonly [number, number]): number | Complex =>
      typeof x === "number" ? x : { re: x[0], im: x[1] };
    return tensor(spec.values.map(element), { dtype });
  }
  const { bend = 0 } = spec, count = spec.shape.reduce((a, b) => a * b, 1) * (isPairs ? 2 : 1);
  const flat = Float64Array.from(
    { length: count },
    (_, k) => 1.5 * Math.sin(1.7 * k + bend * k * k + 0.6 * spec.seed + 0.3) * spec.scale + spec.shift,
  );
  return dtype === "int64"
    ? tensor([...flat].map(Math.trunc), { dtype }).reshape(...spec.shape)
    : fromTypedArray(flat, spec.shape, { dtype });
}

/** Calls that PyTorch writes in Python's syntax. */
const PROGRAMS: Readonly<Record<string, (...args: Tensor[]) => Tensor>> = {
  slices: (x) => x.at("1:", "::2"),
  picked: (x) => x.at(tensor([1, 0, 1]), 1),
  masked: (x) => x.at(x.abs().gt(1)),
  H: (x) => x.H,
  written(x, y) {
    const z = x.mul(1);
    z.at(0).copy_(y);
    z.at(":", 1).mul_({ re: 0, im: 2 });
    return z.add_(y);
  },
  filled: (x) => x.clone().fill_({ re: 2, im: -1 }),
  scaled: (x, y) => x.mul(y).abs().sum().add(1).log().mul(x.real()),
  positive_cholesky: (x) => linalg.cholesky(positive(x)),
  positive_upper: (x) => linalg.cholesky(positive(x), true),
  positive_solution: (x, y) => dyn.choleskySolve(y, linalg.cholesky(positive(x))),
  positive_inverse: (x) => dyn.choleskyInverse(linalg.cholesky(positive(x))),
  positive_roots: (x) => linalg.matrixSqrth(positive(x)),
  hermitian_function(x) {
    const [values, vectors] = linalg.eigh(x.add(x.mH));
    return vectors.mul(values.sin().unsqueeze(-2)).matmul(vectors.mH).add(vectors.abs());
  },
  hermitian_values: (x) => linalg.eigvalsh(x.add(x.mH)),
  hermitian_inverse: (x) => linalg.pinv(x.add(x.mH), { hermitian: true }),
  singular_function(x) {
    const [u, values, vh] = linalg.svd(x, false);
    return u.mul(values.exp().unsqueeze(-2)).matmul(vh).add(u.abs().sum()).add(vh.abs().pow(3).sum());
  },
};

const positive = (x: Tensor): Tensor => x.matmul(x.mH).add(eye(x.shape.at(-1) ?? 1, { dtype: x.dtype }));

/** Names that JavaScript does not allow. */
const NAMES: Readonly<Record<string, string>> = { var: "variance" };

const camel = (name: string): string => name.replaceAll(/_([a-z0-9])/g, (_, c: string) => c.toUpperCase());

function functionOf(op: string): (...args: unknown[]) => unknown {
  const program = PROGRAMS[op];
  let found: unknown = program ?? dyn;
  if (!program) {
    for (const part of op.split(".")) found = Reflect.get(Object(found), NAMES[part] ?? camel(part));
  }
  assert(isFunction(found), `no ${op}`);
  return found;
}

const isFunction = (value: unknown): value is (...args: unknown[]) => unknown => typeof value === "function";

const converted = (value: unknown): unknown =>
  isSpec(value) ? made(value) : Array.isArray(value) ? value.map(converted) : value;

/** The tensors of a call that gradients reach, as leaves. */
function leavesOf(value: unknown): Tensor[] {
  if (Array.isArray(value)) return value.flatMap(leavesOf);
  if (!isTensor(value) || !(value.isComplex() || value.isFloatingPoint())) return [];
  return [value.requiresGrad_()];
}

interface Outcome {
  readonly outs: readonly Tensor[];
  readonly grads: readonly (Tensor | null)[];
}

/** Runs a call, and its gradient where the data has one. */
function outcomeOf(
  { op, args, kw, grads }: Call,
  wrap = (fn: (...args: unknown[]) => unknown) => fn,
): Outcome {
  const options = kw &&
    Object.fromEntries(Object.entries(kw).map(([k, value]) => [camel(k), converted(value)]));
  const given = args.map(converted),
    leaves = grads ? leavesOf([...given, ...Object.values(options ?? {})]) : [];
  const fn = functionOf(op), run = wrap((...tensors) => fn(...tensors, ...(options ? [options] : [])));
  const result = run(...given), outs = [result].flat().filter(isTensor);
  const [first] = outs;
  if (!grads || !first) return { outs, grads: [] };
  first.backward(made({ shape: first.shape, dtype: first.dtype, seed: 7, scale: 1, shift: 0 }));
  return { outs, grads: leaves.map((leaf) => leaf.grad) };
}

const numbersOf = (x: Tensor): number[] => [...x.detach().toTypedArray()].map(Number);

/** Tolerances, relative to the numbers and to the largest of a tensor. */
interface Nearness {
  readonly unit: number;
  /** Part of the largest number that counts for all: sums of transforms round as large numbers do. */
  readonly floor: number;
}

function assertNear(
  found: readonly number[],
  wanted: readonly (number | string)[],
  { unit, floor }: Nearness,
): void {
  const size = Math.max(1e-300, ...wanted.map((x) => Math.abs(Number(x))).filter(Number.isFinite));
  assertEquals(found.length, wanted.length);
  wanted.forEach((text, k) => {
    const want = Number(text === "inf" ? Infinity : text === "-inf" ? -Infinity : text),
      got = found[k] ?? NaN;
    const isNear = Object.is(got, want) || got === want ||
      Math.abs(got - want) <= unit * Math.max(Math.abs(want), floor * size);
    assert(isNear, `element ${k}: ${got}, not ${want}, of ${found} and ${wanted}`);
  });
}

function check(call: Call, { outs, grads }: Outcome): void {
  call.out.forEach(({ shape, dtype, data }, k) => {
    const out = outs[k];
    assert(out);
    assertEquals([out.shape, out.dtype], [shape, dtype]);
    const unit = dtype === "complex64" || dtype === "float32" ? 1e-6 : 2e-12;
    assertNear(numbersOf(out), data, { unit, floor: call.op.startsWith("fft") ? 0.5 : 1e-3 });
  });
  call.grads?.forEach((want, k) => {
    const got = grads[k];
    if (want === null || !got) return assertEquals([want, got], [null, null]);
    assertNear(numbersOf(got), want, { unit: 1e-11, floor: 1e-3 });
  });
}

const nameOf = (call: Call): string => `${call.op} ${JSON.stringify([call.args, call.kw ?? {}])}`;

/** Runs `body` for each call and reports all that fail. */
function each(list: readonly Call[], body: (call: Call) => void): void {
  const faults = list.flatMap((call) => {
    try {
      body(call);
      return [];
    } catch (error) {
      return [`${nameOf(call)}: ${error instanceof Error ? error.message : error}`];
    }
  });
  assertEquals(faults, []);
}

Deno.test("values and gradients are PyTorch's", () => {
  assert(calls.length > 300);
  each(sampleBySeed(calls, 120, 2), (call) => check(call, outcomeOf(call)));
});

/** Of some calls what their compiled functions give, by backend. */
for (const [backend, count] of [["aot_eager", 8], ["inductor", 3]] as const) {
  Deno.test(`compiled by ${backend} they give the same`, () => {
    each(sampleBySeed(calls, count, 1), (call) => {
      compiler.reset();
      check(call, outcomeOf(call, (fn) => compile(fn, { backend })));
    });
  });
}

Deno.test("tensors print as PyTorch's", () => {
  for (const row of rows) {
    if (!("print" in row)) continue;
    assertEquals(made(row.print).toString(), row.text.replaceAll("torch.complex", "complex"));
  }
});

const pair = (re: number, im: number): Complex => ({ re, im });

Deno.test("views as pairs share memory with complex tensors, and writes reach both", () => {
  const z = zeros([2, 3], { dtype: "complex64" }), pairs = viewAsReal(z);
  assertEquals([pairs.shape, pairs.strides, pairs.dtype], [[2, 3, 2], [6, 2, 1], "float32"]);
  pairs.at(1, 2).copy_(tensor([3, 4]));
  z.t().at(0).add_(pair(0, 1));
  z.imag().at(0, 1).fill_(7);
  assertEquals(z.tolist(), [[pair(0, 1), pair(0, 7), pair(0, 0)], [pair(0, 1), pair(0, 0), pair(3, 4)]]);
  assertEquals(z.at(1, 2).item<Complex>(), pair(3, 4));
  assertEquals(viewAsComplex(pairs).storage, z.storage);
  // A view in place keeps the memory
  const turned = z.clone(), seen = viewAsReal(turned);
  seen.zero_();
  assertEquals(turned.sum().item<Complex>(), pair(0, 0));
});

Deno.test("histories lead through views that are written to, and accumulate", () => {
  const leaf = tensor([pair(1, 2), pair(3, -1)], { requiresGrad: true });
  const z = leaf.mul(2);
  viewAsReal(z).at(0).mul_(3);
  z.at(1).copy_(leaf.at(0));
  z.abs().pow(2).sum().backward();
  // |6·z₀|² + |z₀|², of which the second element has no part
  assertEquals(leaf.grad?.tolist(), [pair(74, 148), pair(0, 0)]);
  leaf.real().sum().backward();
  assertEquals(leaf.grad?.tolist(), [pair(75, 148), pair(1, 0)]);
  assertThrows(() => leaf.sum().backward(), dyn.DynError, "only for real scalar outputs");
});

Deno.test("a leaf of real numbers has a real gradient, even through complex intermediates", () => {
  const signal = randn([9], { dtype: "float64", requiresGrad: true });
  const power = (x: Tensor) => fft.fft(complex(x, x.sin())).abs().square().sum();
  assert(dyn.autograd.gradcheck((x) => power(x), [signal]));
  power(signal).backward();
  assertEquals(signal.grad?.dtype, "float64");
  const spectrum = (x: Tensor) =>
    dyn.stft(x, 4, { hopLength: 2, window: dyn.hannWindow(4, { dtype: "float64" }) });
  assert(dyn.autograd.gradcheck((x) => spectrum(x), [signal]));
});

Deno.test("layers of complex parameters start with random parts, and are trained", () => {
  dyn.manualSeed(2);
  const model = new dyn.nn.Conv1d(2, 3, 2, { dtype: "complex64" }),
    x = randn([1, 2, 5], { dtype: "complex64" });
  const sgd = new dyn.optim.SGD(model.parameters(), { lr: 0.05 });
  const loss = compile((x: Tensor) => viewAsReal(model.call(x)).square().mean());
  const losses = Array.from({ length: 4 }, () => {
    sgd.zeroGrad();
    const found = loss(x);
    found.backward();
    sgd.step();
    return Number(found);
  });
  assert(losses.every((each, k) => k === 0 || each < (losses[k - 1] ?? 0)), `${losses}`);
  const parts = viewAsReal(zeros([500], { dtype: "complex64" }).uniform_(2, 3));
  assert(+parts.amin() >= 2 && +parts.amax() < 3 && +parts.std() > 0.25);
});

Deno.test("transforms of functions support complex numbers", () => {
  const z = randn([3, 4], { dtype: "complex128" }), { vmap, grad, jvp } = dyn.func;
  const near = (found: unknown, wanted: Tensor) => assert(isTensor(found) && found.allclose(wanted));
  near(vmap((x: Tensor) => fft.fft(x.mul(x)).abs().sum())(z), fft.fft(z.mul(z)).abs().sum(1));
  near(grad((x: Tensor) => x.mul(x).abs().sum())(z), z.mul(2));
  near(jvp((x: Tensor) => x.exp(), [z], [z])[1], z.exp().mul(z));
  const A = randn([3, 2, 2], { dtype: "complex128" }), inverses = linalg.inv(A);
  near(vmap((x: Tensor) => linalg.inv(x))(A), inverses);
  near(vmap((x: Tensor) => linalg.svd(x).S)(A), linalg.svdvals(A));
  near(jvp((x: Tensor) => linalg.inv(x), [A], [A])[1], inverses.neg());
  assertEquals(linalg.det(A.to("complex64")).dtype, "complex64");
});

Deno.test("stft and istft are inverses, and so are fft and ifft", () => {
  const signal = randn([2, 50], { dtype: "float64" });
  const options = { hopLength: 4, window: dyn.hammingWindow(16, { dtype: "float64" }) };
  const back = dyn.istft(dyn.stft(signal, 16, options), 16, { ...options, length: 50 });
  assert(back.allclose(signal));
  // Between frames that do not overlap, and under a window of zeros, nothing says what the signal was
  const spectra = dyn.stft(signal, 16, { ...options, returnComplex: true });
  for (
    const how of [{ window: dyn.zeros([16], { dtype: "float64" }) }, {
      hopLength: 16,
      window: dyn.hannWindow(16),
      center: false,
    }]
  ) {
    assertThrows(
      () => dyn.istft(spectra, 16, how),
      dyn.DynError,
      "Expected windows of istft that cover every sample but found samples",
    );
  }
  assert(Math.abs(randn([4000], { dtype: "complex64" }).abs().square().mean().item() - 1) < 0.15);
  for (const n of [1, 2, 7, 30, 97, 1009]) {
    const z = randn([n], { dtype: "complex128" });
    assert(fft.ifft(fft.fft(z)).allclose(z), `${n}`);
  }
});

/** Ops with rules that are no sums of what they give for each part, or that give real numbers. */
const NOT_LINEAR: ReadonlySet<string> = new Set([
  ...[
    "float",
    "double",
    "half",
    "bfloat16",
    "long",
    "int",
    "short",
    "char",
    "byte",
    "bool",
    "dist",
    "trapezoid",
  ],
  ...[
    "cumulativeTrapezoid",
    "mv",
    "dot",
    "vdot",
    "matmul",
    "addmm",
    "addmv",
    "baddbmm",
    "addbmm",
    "addr",
    "outer",
  ],
  ...["linear", "einsum", "tensordot", "tensordotDims", "inner", "kron", "cross", "linalgCross", "multiDot"],
  ...["linalgNorm", "matrixPower", "vander", "maskedFill", "nonzero"],
  ...["varMean", "stdMean", "cov", "corrcoef", "l1Loss", "tripletMarginLoss", "normalize", "rmsNorm"],
  ...[1, 2, 3].flatMap((rank) => [`conv${rank}d`, `convTranspose${rank}d`]),
]);

Deno.test("ops that move or add elements treat both parts", () => {
  const rules = [...COMPOSED, ...viewRules.map(({ name }) => name), ...partwiseRules.map(({ name }) => name)];
  const isWhole = (value: unknown): boolean =>
    Array.isArray(value) ? value.every(isWhole) : typeof value !== "number" || Number.isInteger(value);
  let compared = 0;
  for (const name of rules.filter((each) => !NOT_LINEAR.has(each))) {
    const definition = opNamed(name);
    const sample = definition.samples.find(({ args }) => args.every(isWhole));
    if (!sample) continue;
    const { given } = makeSample(sample);
    const result = (change: (x: Tensor) => Tensor): Tensor => {
      const changed = (value: unknown): unknown => {
        if (Array.isArray(value)) return value.map(changed);
        if (isTensor(value)) return value.isFloatingPoint() ? change(value) : value;
        return isRecord(value)
          ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, changed(v)]))
          : value;
      };
      const [first] = [callOp(definition, given.map(changed))].flat();
      assert(isTensor(first));
      return first;
    };
    const imaginary = (x: Tensor) => x.mul(-0.5).add(0.25);
    const found = result((x) => complex(x, imaginary(x)));
    assert(found.isComplex(), name);
    assert(found.allclose(complex(result((x) => x), result(imaginary))), name);
    compared++;
  }
  assert(compared > 100, `${compared}`);
});

Deno.test("ops that need an order, or have no rule, reject complex numbers", () => {
  const z = ones([3], { dtype: "complex64" });
  for (const name of ["lt", "maximum", "floorDivide"] as const) {
    assertThrows(() => z[name](z), dyn.DynError, `real numbers for ${name}`);
  }
  for (const call of [() => z.sort(), () => z.max(), () => z.argmax(), () => z.relu(), () => z.softmax(0)]) {
    assertThrows(call, dyn.DynError, "real numbers");
  }
  assertThrows(() => ones([3]).add_(z), dyn.DynError, "can be cast to float32");
  assertThrows(() => tensor([pair(1, 2)], { dtype: "float32" }), dyn.DynError, "complex 1+2i");
  assertThrows(() => fft.rfft(z), dyn.DynError, "real numbers");
  assertThrows(() => z.mm(z), dyn.DynError);
  const wide = ones([2, 3], { dtype: "complex64" });
  assertThrows(() => linalg.ldlFactor(wide), dyn.DynError, "real numbers for ldlFactor");
  assertThrows(() => linalg.det(wide), dyn.DynError, "square matrices in det but found [2, 3]");
  assertThrows(() => linalg.svd(z), dyn.DynError, "matrices in svd but found shape [3]");
  assertThrows(() => Number(z.at(0)), dyn.DynError, "use item()");
  const refused = compile((x: Tensor) => x.lt(x), { backend: "aot_eager", fullgraph: true });
  assertThrows(() => refused(z));
});

Deno.test("optimizers see complex parameters as pairs, as PyTorch's do", () => {
  // Results of torch.optim after three steps of lr 0.1
  const WANTED = {
    SGD: [0.421875, 0.84375, -0.2109375, 0.10546875],
    Adam: [0.7015862726343534, 1.7006233918933353, -0.20487125192446926, -0.030208326273691244],
    RMSprop: [2.0354534455785235e-12, 0.3096873832320489, 0.0763871750948959, -0.046399103202242276],
  };
  for (const name of ["SGD", "Adam", "RMSprop"] as const) {
    const z = tensor([pair(1, 2), pair(-0.5, 0.25)], { dtype: "complex128", requiresGrad: true });
    const optimizer = new dyn.optim[name]([z], { lr: 0.1 });
    for (let k = 0; k < 3; k++) {
      optimizer.zeroGrad();
      z.mul(pair(0.5, -1)).abs().pow(2).sum().backward();
      optimizer.step();
    }
    // Steps are counted in float32
    assertNear(numbersOf(z), WANTED[name], { unit: 1e-8, floor: 1 });
  }
  const muon = new dyn.optim.Muon([zeros([2, 2], { dtype: "complex64", requiresGrad: true })]);
  muon.paramGroups[0]?.params.forEach((param) => param.grad = zeros([2, 2], { dtype: "complex64" }));
  assertThrows(() => muon.step(), dyn.DynError, "real parameters for Muon");
});

Deno.test("every optimizer moves complex parameters as it moves their pairs, whatever it remembers", () => {
  const { Adadelta, Adagrad, Adam, Adamax, AdamW, ASGD, NAdam, RAdam, RMSprop, Rprop, SGD } = dyn.optim;
  const makers: readonly ((params: Tensor[]) => { step(): void })[] = [
    ...[Adadelta, Adagrad, Adam, Adamax, AdamW, ASGD, NAdam, RAdam, RMSprop, Rprop, SGD].map(
      (Each) => (params: Tensor[]) => new Each(params, { lr: 0.1 }),
    ),
    (params) => new SGD(params, { lr: 0.1, momentum: 0.9 }),
    (params) => new SGD(params, { lr: 0.1, momentum: 0.9, nesterov: true }),
    (params) => new SGD(params, { lr: 0.1, momentum: 0.5, dampening: 0.5 }),
    (params) => new RMSprop(params, { lr: 0.1, momentum: 0.9, centered: true }),
    (params) => new Adam(params, { lr: 0.1, amsgrad: true }),
  ];
  const moved = (param: Tensor, make: (params: Tensor[]) => { step(): void }): readonly number[] => {
    const optimizer = make([param]);
    for (let k = 0; k < 4; k++) {
      param.grad = null;
      const pairs = param.isComplex() ? dyn.viewAsReal(param) : param;
      pairs.mul(3).sin().add(pairs.square()).sum().backward();
      optimizer.step();
    }
    return numbersOf(param);
  };
  makers.forEach((make, k) => {
    const z = tensor([pair(1, 2), pair(-0.5, 0.25)], { dtype: "complex128", requiresGrad: true });
    const pairs = tensor([[1, 2], [-0.5, 0.25]], { dtype: "float64", requiresGrad: true });
    assertEquals([k, ...moved(z, make)], [k, ...moved(pairs, make)]);
  });
});

Deno.test("checkpoints support complex tensors; safetensors reports that it does not", () => {
  const path = Deno.makeTempFileSync(), base = randn([4], { dtype: "complex128" });
  dyn.save({ base, part: base.at("1:3") }, path);
  const loaded: unknown = dyn.load(path), named = isRecord(loaded) ? loaded : {};
  const { base: again, part } = named;
  assert(isTensor(again) && isTensor(part));
  assertEquals(again.tolist(), base.tolist());
  assertEquals(part.tolist(), base.at("1:3").tolist());
  assertEquals(part.storage, again.storage);
  assertThrows(() => safetensors.serialize({ base }), dyn.DynError, "safetensors has no complex types");
  Deno.removeSync(path);
});

Deno.test("functions of infinite, undefined and huge parts are those of annex G of C99, compiled too", () => {
  const { PI } = Math, far = Infinity;
  type Pair = readonly [re: number, im: number];
  const known: Readonly<Record<string, readonly (readonly [argument: Pair, value: Pair])[]>> = {
    exp: [[[far, 0], [far, 0]], [[far, far], [far, NaN]], [[-far, NaN], [0, 0]], [[NaN, 0], [NaN, 0]]],
    sqrt: [[[-1, far], [far, far]], [[NaN, -far], [far, -far]], [[-far, 1], [0, far]], [[far, NaN], [
      far,
      NaN,
    ]]],
    sinh: [[[far, 0], [far, 0]], [[0, far], [0, NaN]], [[far, far], [far, NaN]]],
    cosh: [[[far, 0], [far, 0]], [[0, far], [NaN, 0]], [[-far, NaN], [far, NaN]]],
    tanh: [[[far, 1], [1, 0]], [[-far, NaN], [-1, 0]], [[0, far], [0, NaN]], [[25, NaN], [NaN, NaN]]],
    sin: [[[0, far], [0, far]], [[0, NaN], [0, NaN]]],
    asin: [[[1, far], [0, far]], [[far, far], [PI / 4, far]], [[0, NaN], [0, NaN]]],
    acos: [[[0, far], [PI / 2, -far]], [[-far, 1], [PI, -far]], [[0, NaN], [PI / 2, NaN]]],
    asinh: [[[far, 1], [far, 0]], [[-far, -far], [-far, -PI / 4]]],
    acosh: [[[-far, far], [far, 0.75 * PI]], [[1, -far], [far, -PI / 2]], [[0, NaN], [NaN, PI / 2]]],
    atanh: [[[0, far], [0, PI / 2]], [[far, NaN], [0, NaN]], [[1, 1e-30], [Math.log(2e30) / 2, PI / 4]]],
    atan: [[[0, 1e30], [PI / 2, 1e-30]], [[-far, 1], [-PI / 2, 0]]],
    reciprocal: [[[0, far], [0, -0]], [[-far, 1], [-0, -0]]],
  };
  for (const [name, rows] of Object.entries(known)) {
    const z = viewAsComplex(tensor(rows.map(([argument]) => argument), { dtype: "float64" }));
    const op = opNamed(name);
    assert(op, name);
    const run = (x: Tensor): Tensor => {
      const w = callOp(op, [x]);
      return isTensor(w) ? viewAsReal(w) : x;
    };
    const wanted = tensor(rows.map(([, value]) => value), { dtype: "float64" });
    for (const call of [run, compile(run)]) {
      const found = call(z);
      assert(found.allclose(wanted, { rtol: 1e-13, atol: 0, equalNan: true }), `${name}: ${found}`);
    }
  }
  // The hyperbolic cosine is even, in the sign of a part that is 0 too
  const even = viewAsComplex(tensor([[-far, 0], [-800, -0], [far, -0], [800, 0]], { dtype: "float64" }))
    .cosh();
  assertEquals(viewAsReal(even).select(1, 1).tolist(), [-0, 0, -0, 0]);
  // A part of e^z is finite though |e^z| is not
  const large = viewAsReal(viewAsComplex(tensor([709.9, 3], { dtype: "float64" })).exp());
  assert(
    large.allclose(tensor([-far, 2.8526027445182506e307], { dtype: "float64" }), { rtol: 1e-12 }),
    `${large}`,
  );
});

Deno.test("functions near the ends of their type are finite, and quotients at its ends have a limit", () => {
  const far = Infinity, { PI } = Math;
  const z = (pairs: readonly (readonly number[])[], dtype: "float32" | "float64") =>
    viewAsComplex(tensor(pairs, { dtype }));
  const ends = {
    float32: [[3e38, -3e38], [2 ** -149, 2 ** -149]],
    float64: [[1e308, -1e308], [5e-324, 5e-324]],
  };
  const functions = (x: Tensor): Tensor[] =>
    [
      ...[x.log(), x.sqrt(), x.log1p(), x.asin(), x.acos(), x.asinh(), x.acosh(), x.atan(), x.rsqrt()],
    ].map((w) => viewAsReal(w));
  // PyTorch's figures, and those of the definition where its kernels overflow
  const wanted = {
    float32: [
      [[88.94342041, -PI / 4], [-102.93235779, PI / 4]],
      [[1.9029768e19, -7.8823878e18], [4.1128055e-23, 1.7035798e-23]],
      [[88.94342041, -PI / 4], [2 ** -149, 2 ** -149]],
      [[PI / 4, -89.63656616], [2 ** -149, 0]],
      [[PI / 4, 89.63656616], [PI / 2, 0]],
      [[89.63656616, -PI / 4], [0, 2 ** -149]],
      [[89.63656616, -PI / 4], [0, PI / 2]],
      [[PI / 2, -1.6666666e-39], [2 ** -149, 2 ** -149]],
      [[4.4853588e-20, 1.8578966e-20], [2.0753555e22, -8.5964040e21]],
    ],
    float64: [
      [[709.54278223, -PI / 4], [-744.0934983311, PI / 4]],
      [[1.0986841134678e154, -4.550898605622e153], [2.4421097261308e-162, 1.0115549693666e-162]],
      [[709.54278223, -PI / 4], [5e-324, 5e-324]],
      [[PI / 4, -710.23592941], [5e-324, 0]],
      [[PI / 4, 710.23592941], [PI / 2, 0]],
      [[710.23592941, -PI / 4], [0, 5e-324]],
      [[710.23592941, -PI / 4], [0, PI / 2]],
      [[PI / 2, -5e-309], [5e-324, 5e-324]],
      [[7.76886987e-155, 3.21797126e-155], [3.4951476e161, -1.4477375e161]],
    ],
  };
  for (const dtype of ["float32", "float64"] as const) {
    for (const call of [functions, compile(functions)]) {
      call(z(ends[dtype], dtype)).forEach((found, k) => {
        const want = tensor(wanted[dtype][k] ?? [], { dtype });
        // The smallest numbers have few digits, and half of one may round either way
        const atol = dtype === "float32" ? 2 ** -149 : 5e-324;
        assert(found.allclose(want, { rtol: 1e-6, atol }), `${k} of ${dtype}: ${found} ${want}`);
      });
    }
  }
  const quotients = (a: Tensor, b: Tensor): Tensor[] => [a.div(b), a.pow(b)].map((w) => viewAsReal(w));
  const a = z([[1.5, -2], [1.5, -2], [far, 1], [1.5, 2], [0, 1], [0, 0], [0, 0]], "float64");
  const b = z([[far, 3], [-3, far], [far, 1], [0, 0], [0, 2], [-2, 1], [2, 1]], "float64");
  for (const call of [quotients, compile(quotients)]) {
    const [ratio, power] = call(a, b);
    const ratios = [[0, 0], [0, 0], [NaN, NaN], [far, far], [0.5, 0], [0, 0], [0, 0]];
    assert(ratio?.allclose(tensor(ratios, { dtype: "float64" }), { equalNan: true }), `${ratio}`);
    const powers = tensor([[1, 0], [Math.exp(-PI), 0], [far, NaN], [0, 0]], { dtype: "float64" });
    assert(power?.at("3:").allclose(powers, { equalNan: true }), `${power}`);
  }
  // An imaginary divisor has a part that is 0, and a gradient
  const [x, y] = [z([[1, 2]], "float64"), z([[0, 1]], "float64")].map((each) => each.requiresGrad_());
  assert(x && y);
  viewAsReal(x.div(y)).sum().backward();
  assertEquals([x, y].map(({ grad }) => grad && viewAsReal(grad).tolist()), [[[-1, 1]], [[3, -1]]]);
});

Deno.test("reductions of complex numbers to a type of real ones convert them first, as PyTorch does", () => {
  const x = viewAsComplex(tensor([[1.5, 3.5], [2, 4]]));
  const found = [
    x.sum(null, false, { dtype: "float64" }),
    x.mean(0, false, { dtype: "float64" }),
    x.cumsum(0, { dtype: "int32" }),
    dyn.nansum(x, 0, false, { dtype: "float64" }),
  ];
  assertEquals(found.map(({ dtype }) => dtype), ["float64", "float64", "int32", "float64"]);
  assertEquals(found.map((each) => each.tolist()), [3.5, 1.75, [1, 3], 3.5]);
  assertThrows(() => x.mean(0, false, { dtype: "int32" }), dyn.DynError, "floating-point type for mean");
  assertEquals(dyn.trapezoid(viewAsComplex(tensor([]).reshape([0, 3, 2])), { dim: 0 }).dtype, "complex64");
});
