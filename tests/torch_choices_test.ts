/**
 * PyTorch's choices where mathematics leaves a choice, or defines nothing: gradients at ties and of NaN, types and
 * bounds of integers, forms of calls, and errors. The numbers are PyTorch's.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  allclose,
  arange,
  atleast1d,
  atleast2d,
  atleast3d,
  autograd,
  baddbmm,
  blockDiag,
  broadcastShapes,
  compile,
  compiler,
  cov,
  DynError,
  einsum,
  equal,
  func,
  gradient,
  H,
  hammingWindow,
  hannWindow,
  isTensor,
  linalg,
  linspace,
  mH,
  nn,
  ones,
  pow,
  repeatInterleave,
  scatterReduce,
  signal,
  special,
  type Tensor,
  tensor,
  viewAsComplex,
  where,
  zeros,
} from "../mod.ts";
import "./support/devices.ts";

const F = nn.functional, inf = Infinity, nan = NaN;
const leaf = (values: readonly number[]): Tensor =>
  tensor([...values], { dtype: "float32", requiresGrad: true });

/** The gradients of the sum of a function of vectors. */
function slopes(f: (...xs: Tensor[]) => Tensor, ...values: readonly (readonly number[])[]): unknown[] {
  const xs = values.map(leaf);
  return autograd.grad([f(...xs).sum()], xs, undefined, { allowUnused: true }).map((g) =>
    g?.tolist() ?? null
  );
}

Deno.test("equal operands of an extreme share its gradient, and NaN has one in both", () => {
  const a = [1, 2, 3, nan, 1], b = [1, 1, 4, 1, nan];
  assertEquals(slopes((x, y) => x.maximum(y), a, b), [[0.5, 1, 0, 1, 1], [0.5, 0, 1, 1, 1]]);
  assertEquals(slopes((x, y) => x.minimum(y), a, b), [[0.5, 0, 1, 1, 1], [0.5, 1, 0, 1, 1]]);
  assertEquals(slopes((x, y) => x.fmax(y), a, b), [[0.5, 1, 0, 0, 1], [0.5, 0, 1, 1, 0]]);
});

Deno.test("a bound of clamp has the gradient of the elements that it replaces", () => {
  const x = [-2, -1, 0, 1, 2, nan];
  assertEquals(slopes((v) => v.clamp(-1, 1), x), [[0, 0, 1, 0, 0, 0]]);
  const low = [-1, -1, -1, -1, -1, -1], high = [1, 1, 1, 1, 1, 1];
  assertEquals(slopes((v, l, h) => v.clamp(l, h), x, low, high), [
    [0, 0.5, 1, 0.5, 0, 1],
    [1, 0.5, 0, 0, 0, 0],
    [0, 0, 0, 0.5, 1, 0],
  ]);
  assertEquals(slopes((v, l, h) => v.clamp(l, h), x, high, low), [
    [0, 0, 0, 0, 0, 1],
    [0, 0, 0, 0, 0, 0],
    [1, 1, 1, 1, 1, 1],
  ]);
  assertEquals(slopes((v, l, h) => v.clamp(l, h), x, high, high)[0], [0, 0, 0, 1, 0, 1]);
  assertEquals(slopes((v, l) => v.clampMin(l), x, low)[1], [1, 0.5, 0, 0, 0, 1]);
  assertEquals(tensor([1, 7], { dtype: "uint8" }).clampMin(-3).tolist(), [1, 7]);
});

Deno.test("signs and slopes of NaN and at the ends of pieces", () => {
  assertEquals(tensor([nan, -3, 0, 2]).sign().tolist(), [0, -1, 0, 1]);
  assertEquals(slopes((x) => x.abs(), [nan, -3]), [[0, -1]]);
  assertEquals(slopes((x) => F.hardswish(x), [3, -3]), [[1, 0]]);
  assertEquals(slopes((x) => F.softshrink(x), [nan, 1, 0.5]), [[0, 1, 0]]);
  assertEquals(slopes((x) => F.elu(x), [nan, 1]), [[1, 1]]);
  assertEquals(slopes((x, y) => x.nextafter(y), [1, 2], [1, 3]), [[0, 1], [0, 0]]);
  assertEquals(tensor([nan, 3]).hypot(tensor([inf, 4])).tolist(), [inf, 5]);
  assertEquals(slopes((x, y) => x.logaddexp(y), [inf, -inf], [-inf, 3]), [[1, 0], [0, 1]]);
  assertEquals(special.logit(tensor([0.02, 0.7]), 0.6).sign().tolist(), [1, -1]);
});

/** Elements with the sign of zeros. */
const signed = (x: Tensor): unknown[] =>
  Array.from(x.toTypedArray(), Number).map((v) => Object.is(v, -0) ? "-0" : v);
const single = (...values: readonly number[]) => tensor([...values], { dtype: "float32" });

Deno.test("zeros keep their signs as in PyTorch, on every tier", () => {
  const x = single(-0, 0, nan, -1, 7), y = single(0, -0, 1, nan, 7);
  const cases: readonly [(a: Tensor, b: Tensor) => Tensor, unknown[]][] = [
    [(a) => a.relu(), ["-0", 0, nan, 0, 7]],
    [(a) => F.relu6(a), ["-0", 0, nan, 0, 6]],
    [(a) => F.hardtanh(a, 0, 2), ["-0", 0, nan, 0, 2]],
    [(a) => a.clamp(0, 2), ["-0", 0, nan, 0, 2]],
    [(a) => a.clampMin(0), ["-0", 0, nan, 0, 7]],
    [(a, b) => a.maximum(b), ["-0", 0, nan, nan, 7]],
    [(a, b) => a.minimum(b), ["-0", 0, nan, nan, 7]],
    [(a) => F.leakyRelu(a), ["-0", 0, nan, Math.fround(-0.01), 7]],
    [(a) => F.elu(a), ["-0", 0, nan, Math.fround(Math.expm1(-1)), 7]],
  ];
  const all = (a: Tensor, b: Tensor) => cases.map(([f]) => f(a, b));
  for (const [run, device] of [[all, "cpu"], [compile(all), "cpu"], [compile(all), "wasm"]] as const) {
    const place: string = device, found = run(x.to(place), y.to(place));
    cases.forEach(([, want], k) => assertEquals(signed(found[k] ?? x), want, `${k} on ${device}`));
  }
});

Deno.test("the ends of the range, where PyTorch overflows or loses digits, are right", () => {
  assertEquals(F.gelu(single(inf, 3e38, -3e38)).tolist(), [inf, Math.fround(3e38), -0]);
  assertEquals(F.hardswish(single(3e38, inf, -3e38)).tolist(), [Math.fround(3e38), inf, -0]);
  assertEquals(F.logsigmoid(single(100, 103)).tolist(), [-Math.exp(-100), -Math.exp(-103)].map(Math.fround));
  const y = tensor([1 - 1e-12, 1 - 2 ** -53, -0.5, 0], { dtype: "float64" });
  const inverse = [5.042031898572696, 5.8635847487551676, -0.4769362762044699, 0];
  Array.from(y.erfinv().toTypedArray(), Number).forEach((found, k) => {
    const want = inverse[k] ?? 0;
    assert(Math.abs(found - want) <= 4e-16 * Math.abs(want), `${found}, not ${want}`);
  });
  const zero = tensor([0, 1, -1, 2 ** -1022], { dtype: "float64" });
  assertEquals(zero.nextafter(tensor([1, 2, 0, 0], { dtype: "float64" })).tolist(), [
    2 ** -1074,
    1 + 2 ** -52,
    -1 + 2 ** -53,
    2 ** -1022 - 2 ** -1074,
  ]);
});

Deno.test("powers of bools: numbers count as integers, true and false keep the type, tensors convert", () => {
  const x = tensor([true, false]);
  assertEquals([x.pow(2).dtype, x.pow(2).tolist()], ["int64", [1, 0]]);
  assertEquals([x.pow(true).dtype, x.pow(true).tolist(), x.pow(false).tolist()], ["bool", [true, false], [
    true,
    true,
  ]]);
  assertThrows(() => x.pow(tensor([false, true])), DynError, "Expected numbers for pow");
});

Deno.test("gradients that are zero exist", () => {
  assertEquals(slopes((x) => linalg.vectorNorm(x, 0).reshape([1]), [1, 0]), [[0, 0]]);
  assertEquals(slopes((x) => x.clone().zero_(), [1, 2]), [[0, 0]]);
  const empty = zeros([0], { requiresGrad: true }), x = leaf([1, 2]);
  const [none] = autograd.grad([ones([2]).mul(x).sum().add(empty.sum())], [empty]);
  assertEquals(none?.shape.length, 1);
  const input = tensor([[[inf]]], { requiresGrad: true }), factors = ones([1, 1, 1]);
  const product = baddbmm(input, factors, factors, { beta: 0 });
  assertEquals(product.item(), 1);
  assertEquals(autograd.grad([product.sum()], [input])[0]?.tolist(), [[[0]]]);
});

Deno.test("the product of scattered values has gradients at zeros", () => {
  const index = tensor([0, 0, 0, 1]), self = leaf([0, 2]), src = leaf([3, 0, 5, 0]);
  const reduced = scatterReduce(self, 0, index, src, "prod");
  assertEquals(reduced.tolist(), [0, 0]);
  const [ofSelf, ofSrc] = autograd.grad([reduced.sum()], [self, src]);
  assertEquals(ofSelf?.tolist(), [0, 0]);
  assertEquals(ofSrc?.tolist(), [0, 0, 0, 2]);
});

Deno.test("the median of all shares its gradient among equal elements", () => {
  assertEquals(slopes((x) => x.median().reshape([1]), [1, 2, 2, 3]), [[0, 0.5, 0.5, 0]]);
  assertThrows(() => tensor([true]).median(), DynError, "integer or float");
});

Deno.test("evenly spaced numbers are PyTorch's to the bit, from the nearer end in every type", () => {
  // torch.linspace(start, end, steps, dtype)
  const CASES = [
    [[-3.3, 12.1, 9], "float32", [
      -3.299999952316284,
      -1.3749998807907104,
      0.5500001907348633,
      2.4750003814697266,
      4.400000095367432,
      6.325000286102295,
      8.25,
      10.175000190734863,
      12.100000381469727,
    ]],
    [[5.3, -1.7, 8], "float64", [5.3, 4.3, 3.3, 2.3, 1.3, 0.30000000000000004, -0.7, -1.7]],
    [[0.1, 2.9, 7], "float16", [
      0.0999755859375,
      0.56689453125,
      1.033203125,
      1.5,
      1.966796875,
      2.43359375,
      2.900390625,
    ]],
    [[-7.3, 3.1, 6], "bfloat16", [-7.3125, -5.21875, -3.15625, -1.0703125, 1.015625, 3.09375]],
    [[9, -100, 7], "int64", [9, -9, -27, -45, -63, -81, -100]],
  ] as const;
  for (const [[start, end, steps], dtype, expected] of CASES) {
    assertEquals(linspace(start, end, steps, { dtype }).to("float64").tolist(), [...expected], dtype);
  }
  const one = linspace(3.25, 9, 1), none = linspace(0, 1, 0);
  assertEquals([one.tolist(), none.shape], [[3.25], [0]]);
});

Deno.test("ranges of integers are split into integer parts", () => {
  assertEquals(arange(-0.9, 2.1, 2, { dtype: "int64" }).tolist(), [0, 2]);
  assertEquals(linspace(4.3, -3, 5, { dtype: "int64" }).tolist(), [4, 2, 0, -1, -3]);
  const product = baddbmm(
    ones([1, 1, 1], { dtype: "int64" }),
    ones([1, 1, 2], { dtype: "int64" }),
    ones([1, 2, 1], {
      dtype: "int64",
    }),
    { beta: 1.5, alpha: 2.6 },
  );
  assertEquals(product.tolist(), [[[5]]]);
});

Deno.test("norms by singular values", () => {
  const x = tensor([[3, 0], [4, 5]], { dtype: "float32", requiresGrad: true });
  const close = (y: Tensor, wanted: number) => assert(Math.abs(Number(y.item()) - wanted) < 1e-5);
  close(linalg.matrixNorm(x, "nuc"), Math.sqrt(45) + Math.sqrt(5));
  close(linalg.norm(x, 2), Math.sqrt(45));
  close(linalg.matrixNorm(x, -2), Math.sqrt(5));
  close(x.norm("nuc"), Math.sqrt(80));
  assertEquals(linalg.svdvals(ones([2, 3, 4])).shape, [2, 3]);
  const at0 = zeros([2, 2], { requiresGrad: true });
  assertEquals(autograd.grad([linalg.matrixNorm(at0, "nuc")], [at0])[0]?.tolist(), [[1, 0], [0, 1]]);
  assert(autograd.gradcheck((y: Tensor) => linalg.svdvals(y), [
    tensor([[1, 2], [0.5, -1], [3, 0.1]], { dtype: "float64", requiresGrad: true }),
  ]));
  assertThrows(() => linalg.svdvals(ones([3])), DynError, "matrices");
});

Deno.test("einsum in all forms, where as a method, embedding in both orders", () => {
  const a = tensor([[1, 2], [3, 4]]), b = tensor([[1, 0], [0, 2]]), wanted = [[1, 4], [3, 8]];
  assertEquals(einsum("ij,jk->ik", [a, b]).tolist(), wanted);
  assertEquals(einsum("ij,jk->ik", a, b).tolist(), wanted);
  for (const form of [[[a, b], "ij,jk->ik"], [a, [0, 1], b, [1, 2], [0, 2]]]) {
    const product: unknown = Reflect.apply(einsum, undefined, form);
    assert(isTensor(product));
    assertEquals(product.tolist(), wanted);
  }
  const above = a.gt(2);
  assertEquals(a.where(above, 0).tolist(), [[0, 0], [3, 4]]);
  compiler.reset();
  assertEquals(compile((x: Tensor) => x.where(x.gt(2), 0).add(1))(a).tolist(), [[1, 1], [4, 5]]);
  assertEquals(where(above, a, 0).tolist(), [[0, 0], [3, 4]]);
  const table = tensor([[0.5], [1.5]]), at = tensor([1, 0]);
  assertEquals(F.embedding(at, table).tolist(), F.embedding(table, at).tolist());
});

Deno.test("calls that PyTorch rejects are rejected", () => {
  const x = ones([2, 3]), bits = tensor([true, false]);
  const refused: readonly (readonly [() => unknown, string])[] = [
    [() => ones([1, 3]).copy_(ones([3, 1])), "broadcasts"],
    [() => x.set([0], ones([2, 2])), "broadcasts"],
    [() => tensor([1, 2]).sub(bits), "bool"],
    [() => tensor([1, 2]).sub(true), "bool"],
    [() => tensor([1, 2]).remainder(0), "nonzero"],
    [() => tensor([1, 2]).div(0, { roundingMode: "floor" }), "nonzero"],
    [() => bits.argmax(), "integer or float"],
    [() => bits.round(), "integer or float"],
    [() => tensor(1).indexSelect(0, tensor([0, 0])), "one index"],
    [() => tensor(1).flatten(0, -2), "Expected dim"],
    [() => F.huberLoss(x, x, { delta: 0 }), "positive delta"],
    [() => F.groupNorm(ones([2, 0, 3]), 1), "channel"],
    [() => tensor([1.5, 2]).reshape([2, 1]).requiresGrad_().mul_(2), "leaf"],
    [() => tensor([1.5, 2]).reshape([2, 1]).requiresGrad_().view(2).mul_(2), "leaf"],
  ];
  for (const [call, message] of refused) assertThrows(call, DynError, message);
  assertEquals(zeros([2, 0, 1]).expand([2, 0, 3]).div_(2).shape, [2, 0, 3]);
  const flags = tensor([true, true]), source = leaf([0, 1]);
  assertEquals(flags.copy_(source).requiresGrad, false);
});

Deno.test("numbers half-way between two texts print as the even one, and parameters print their kind", () => {
  assertEquals(`${tensor([242708.65625, 1.5])}`, "tensor([2.4271e+05, 1.5000e+00])");
  assertEquals(
    `${tensor([[0.03125, 0.09375], [1.5, 2]])}`,
    "tensor([[0.0312, 0.0938],\n        [1.5000, 2.0000]])",
  );
  assertEquals(
    `${new nn.Parameter(ones([2]))}`,
    "Parameter containing:\ntensor([1., 1.], requiresGrad=true)",
  );
});

Deno.test("comparisons that give booleans, shapes that give shapes, several tensors that give several", () => {
  const x = tensor([1, 2.5]), y = tensor([1, 2.5 + 1e-6]);
  assertEquals([equal(x, x), x.equal(y), equal(x, ones([1, 2]))], [true, false, false]);
  assertEquals([allclose(x, y), x.allclose(y, 0, 0), x.allclose(y, { rtol: 0, atol: 1 })], [
    true,
    false,
    true,
  ]);
  assertEquals([x.mul(nan).allclose(x.mul(nan)), allclose(x.mul(nan), x.mul(nan), { equalNan: true })], [
    false,
    true,
  ]);
  assertThrows(() => allclose(x, x.to("float64")), DynError, "one dtype");
  assertEquals(broadcastShapes([5, 1], 4, [1]), [5, 4]);
  assertEquals(atleast2d(x).shape, [1, 2]);
  assertEquals(atleast1d(tensor(1), x).map((each) => each.shape), [[1], [2]]);
  assertEquals(atleast3d([x]).map((each) => each.shape), [[1, 2, 1]]);
});

Deno.test("linear systems", () => {
  const a = tensor([[2, 0], [1, 4]], { dtype: "float32" }), b = tensor([2, 9], { dtype: "float32" });
  assert(linalg.solve(a, b).allclose(tensor([1, 2], { dtype: "float32" })));
  assert(linalg.solve(a, a, { left: false }).allclose(tensor([[1, 0], [0, 1]], { dtype: "float32" })));
  const [x, info] = linalg.solveEx(a, b);
  assertEquals([x.shape, info.item()], [[2], 0]);
  assert(linalg.tensorinv(a, 1).equal(linalg.invEx(a).inverse));
  assertThrows(() => linalg.solve(ones([2, 2]), b), DynError, "singular");
  assertThrows(() => linalg.solve(a, ones([3])), DynError, "2 rows");
});

Deno.test("polynomials of every degree that a number can be", () => {
  const double = (data: number | readonly number[]) => tensor(data, { dtype: "float64" });
  const x = double([-2, -1, -0.5, 0, 0.7, 1, 1.5, nan]);
  for (const none of [1e30, inf, nan, -1, -inf, 2 ** 63]) {
    assertEquals(special.chebyshevPolynomialU(x, double(none)).tolist(), [0, 0, 0, 0, 0, 0, 0, 0]);
    assertEquals(special.hermitePolynomialH(x, double(none)).tolist(), [0, 0, 0, 0, 0, 0, 0, 0]);
  }
  // Past what float64 holds, inside of [−1, 1] and at its ends
  const u = double([nan, 1001, -1.0000000000000036, 1, -1.3725042285515467, 1001, nan, nan]);
  assert(allclose(special.chebyshevPolynomialU(x, double(1000)), u, { rtol: 1e-12, equalNan: true }));
  const v = double([nan, nan, nan, 2001, -0.9786857401172226, 1, nan, nan]);
  assert(allclose(special.shiftedChebyshevPolynomialV(x, double(1000)), v, { rtol: 1e-12, equalNan: true }));
  assertEquals(special.hermitePolynomialH(double(1), double(513)).item(), nan);
});

Deno.test("powers by products and roots equal the general function, also for special numbers", () => {
  const x = tensor([-inf, -2, -0, 0, 1e-200, 0.7, 3, 1e200, inf, nan], { dtype: "float64" });
  const powers = [
    [1.5, [inf, nan, 0, 0, 1e-300, 0.5856620185738529, 5.196152422706632, 1e300, inf, nan]],
    [2.5, [inf, nan, 0, 0, 0, 0.4099634130016971, 15.588457268119896, inf, inf, nan]],
    [4, [inf, 16, 0, 0, 0, 0.24009999999999998, 81, inf, inf, nan]],
  ] as const;
  for (const [exponent, found] of powers) {
    const expected = tensor(found, { dtype: "float64" }),
      general = x.pow(tensor(exponent, { dtype: "float64" }));
    for (const power of [x.pow(exponent), compile((x: Tensor) => x.pow(exponent))(x)]) {
      assert(allclose(power, expected, { rtol: 4e-16, atol: 0, equalNan: true }), `${power.tolist()}`);
      assert(allclose(power, general, { rtol: 4e-16, atol: 0, equalNan: true }), `${general.tolist()}`);
      assertEquals(power.signbit().tolist(), general.signbit().tolist());
    }
  }
});

Deno.test("reductions over no dimension, sums of bools, limits of halves, and complex numbers among real ones", () => {
  const rows = tensor([[0, 1], [2, 0]]), whole = [[false, true], [true, false]];
  for (const run of [(x: Tensor) => x.any([]), (x: Tensor) => x.all([], true)]) {
    assertEquals(run(rows).tolist(), whole);
    assertEquals(compile(run)(rows).tolist(), whole);
    assertEquals(func.vmap(run)(rows).tolist(), whole);
  }
  const parts = tensor([[0.5, -0.5], [0, 0.25]]);
  assertEquals(parts.sum(1, { dtype: "bool" }).tolist(), [true, true]);
  assertEquals(parts.prod(1, { dtype: "bool" }).tolist(), [true, false]);
  const ends = tensor([200, -200, nan, 1], { dtype: "float16" });
  const finite = (x: Tensor) => x.mul(200).mul(200).nanToNum();
  assertEquals(finite(ends).tolist(), [65504, -65504, 0, 40000]);
  assertEquals(compile(finite)(ends).tolist(), [65504, -65504, 0, 40000]);
  const undefinedPower = { re: nan, im: nan }, none = { re: 0, im: 0 }, beyond = { re: inf, im: nan };
  const powers = tensor([{ re: 0, im: 2 }, { re: 1, im: -1 }, { re: -1, im: 1 }, none]);
  assertEquals(pow(0, powers).tolist(), [undefinedPower, none, beyond, { re: 1, im: 0 }]);
  const samples = tensor([none, { re: 1, im: 1 }, { re: 4, im: 1 }]);
  assertEquals(gradient(samples)[0]?.tolist(), [{ re: 1, im: 1 }, { re: 2, im: 0.5 }, { re: 3, im: 0 }]);
  // Samples between which a difference is taken do not count themselves
  const infinite = tensor([2, -2, Infinity, Infinity, 3], { dtype: "float32" });
  assertEquals(gradient(infinite)[0]?.tolist(), [-4, Infinity, Infinity, -Infinity, -Infinity]);
  const places = tensor([{ re: 0, im: 1 }, { re: 0, im: 2 }]);
  assertEquals(gradient(tensor([1, 2]), { spacing: [places] })[0]?.tolist(), [{ re: 0, im: -1 }, {
    re: 0,
    im: -1,
  }]);
  const uneven = gradient(samples, { spacing: [tensor([0, 1, 3], { dtype: "float32" })] })[0];
  assertEquals(uneven?.select(0, 2).tolist(), { re: 1.5, im: 0 });
});

Deno.test("a frozen type rejects numbers that it cannot hold", () => {
  const bytes = tensor([1, 2], { dtype: "int8" }), mask = tensor([true, false]), i = { re: 0, im: 1 };
  assertThrows(() => where(mask, bytes, 300), DynError, "Expected a number that int8 holds but found 300");
  assertThrows(() => bytes.add(bytes, { alpha: 300 }), DynError, "Expected a number that int8 holds");
  assertThrows(() => bytes.add(bytes, { alpha: true }), DynError, "Expected alpha to be a number");
  assertThrows(() => mask.add(mask, { alpha: 2 }), DynError, "Expected alpha to be a boolean");
  assertThrows(
    () => ones([2]).maskedFill(mask, i),
    DynError,
    "Expected real numbers in maskedFill of float32",
  );
  const ofBoth = where(mask, ones([2]), tensor(i));
  assertEquals(ofBoth.tolist(), [{ re: 1, im: 0 }, i]);
  assertThrows(() => zeros([2, 3, 3], { dtype: "complex64" }).trace(), DynError, "Expected a matrix");
});

Deno.test("variances without degrees of freedom have infinite slopes over all elements, and finite ones along a dimension", () => {
  const all = (v: Tensor, correction: number) => v.var(null, null, false, { correction });
  const along = (v: Tensor, correction: number) => v.var(0, null, false, { correction });
  const x = [1, 2, 3], y = [1, 2, 4];
  assertEquals(slopes((v) => all(v, 5), x), [[inf, nan, inf]]);
  assertEquals(slopes((v) => all(v, 3), y), [[inf, inf, inf]]);
  assertEquals(slopes((v) => all(v, 5).sqrt(), x), slopes((v) => all(v, 5).mul(0), x));
  assertEquals(slopes((v) => along(v, 3), x), [[-inf, nan, inf]]);
  assertEquals(slopes((v) => along(v, 4), x), [[2, -0, -2]]);
  assertEquals(slopes((v) => along(v, 2.5), x), [[-4, 0, 4]]);
  assertEquals(slopes((v) => v.std(null, null, false, { correction: 4 }), x), [[nan, nan, nan]]);
  assertEquals(slopes((v) => v.std(0, null, false, { correction: 4 }), x), [[0, -0, -0]]);
  const compiled = compile((v: Tensor) => all(v, 5));
  assertEquals(slopes((v) => compiled(v), x), [[inf, nan, inf]]);
});

Deno.test("windows of signals", () => {
  const { windows } = signal, float64 = "float64";
  const rounded = (window: Tensor) => window.mul(1e6).round().div(1e6).add(0).tolist();
  assertEquals(rounded(windows.bartlett(5, { sym: false, dtype: float64 })), [0, 0.4, 0.8, 0.8, 0.4]);
  assertEquals(rounded(windows.blackman(4, { dtype: float64 })), [0, 0.63, 0.63, 0]);
  const cosine = windows.cosine(5, { sym: false, dtype: float64 });
  assertEquals(rounded(cosine), [0.258819, 0.707107, 0.965926, 0.965926, 0.707107]);
  const exponential = windows.exponential(3, { tau: 0.5, center: 0, sym: false, dtype: float64 });
  assertEquals(rounded(exponential), [1, 0.135335, 0.018316]);
  assertEquals(rounded(windows.gaussian(3, { std: 0.9, sym: false, dtype: float64 })), [
    0.249352,
    0.856997,
    0.856997,
  ]);
  const general = windows.generalCosine(5, { a: [0.46, 0.23, 0.31], dtype: float64 });
  assertEquals(rounded(general), [0.54, 0.15, 1, 0.15, 0.54]);
  assertEquals(rounded(windows.generalHamming(3, { alpha: 0.7, dtype: float64 })), [0.4, 1, 0.4]);
  assertEquals(windows.hamming(4).tolist(), hammingWindow(4, false).tolist());
  assertEquals(windows.hann(5, { sym: false }).tolist(), hannWindow(5).tolist());
  assertEquals(rounded(windows.kaiser(3, { beta: 5, dtype: float64 })), [0.036711, 1, 0.036711]);
  assertEquals(rounded(windows.nuttall(3, { sym: false, dtype: float64 })), [0.000363, 0.52923, 0.52923]);
  assertEquals([windows.hann(1).tolist(), windows.kaiser(0).shape], [[1], [0]]);
  assertThrows(() => windows.exponential(5, { center: 1 }), DynError, "no center of a symmetric");
  assertThrows(() => windows.hann(2.5), DynError, "the length of signal.windows.hann");
});

Deno.test("forms of calls that PyTorch has, and options that would be ignored", () => {
  const x = ones([2, 1, 1, 3]), counts = tensor([1, 2, 0, 3], { dtype: "int32" });
  assertEquals([x.squeeze(1, 2).shape, x.clone().squeeze_(1, 2).shape, x.squeeze(1).shape], [[2, 3], [2, 3], [
    2,
    1,
    3,
  ]]);
  assertEquals(compile((v: Tensor) => v.squeeze(1, 2).mul(2), { fullgraph: true })(x).shape, [2, 3]);
  const indices = repeatInterleave(counts);
  assertEquals([indices.tolist(), indices.dtype], [[0, 1, 1, 3, 3, 3], "int32"]);
  assertThrows(() => repeatInterleave(ones([2])), DynError, "int64");
  assertEquals(F.featureAlphaDropout(ones([3]), 0.5).tolist(), [1, 1, 1]);
  assertThrows(() => F.featureAlphaDropout(ones([3]), 0.5, true), DynError, "at least 2 dimensions");
  const format: object = { memoryFormat: "channelsLast" };
  assertThrows(() => x.to(format), DynError, "found memoryFormat");
  assertThrows(() => new nn.Linear(2, 2).to(Object(format)), DynError, "found memoryFormat");
  assertThrows(() => compile((v: Tensor) => v.to(format))(x), DynError, "found memoryFormat");
  for (const name of ["contiguous", "isContiguous"] as const) {
    for (const backend of [null, "eager"]) {
      const call = (v: Tensor) => Reflect.apply(v[name], v, [format]);
      assertThrows(
        () => (backend ? compile(call, { backend }) : call)(x),
        DynError,
        `no arguments for ${name}`,
      );
    }
  }
  assertThrows(
    () => F.embedding(tensor([1]), ones([3, 4]), { sparse: true }),
    DynError,
    "gradients are dense",
  );
  assertThrows(() => F.embedding(tensor([1]), ones([3, 4]), { maxNorm: 1 }), DynError, "layers take it");
});

Deno.test("batches of nothing leave running statistics alone, and count", () => {
  for (
    const [layer, shape] of [
      [new nn.BatchNorm1d(3), [0, 3]],
      [new nn.BatchNorm2d(3), [2, 3, 0, 4]],
    ] as const
  ) {
    for (const run of [(x: Tensor) => layer.call(x), compile((x: Tensor) => layer.call(x))]) {
      assertEquals(run(zeros(shape)).shape, shape);
    }
    const { running_mean, running_var, num_batches_tracked } = layer.stateDict();
    assertEquals([running_mean?.tolist(), running_var?.tolist()], [[0, 0, 0], [1, 1, 1]]);
    assertEquals(num_batches_tracked?.item(), 2);
  }
});

Deno.test("losses of targets that are no probabilities, and of variances by row", () => {
  const x = tensor([[1.5, 2, 0.5]]), target = tensor([[-0.5, 0, 0.25]]);
  const [negative, none] = F.klDiv(x, target, { reduction: "none" }).reshape([-1]).tolist<number[]>();
  assertEquals([negative, Math.abs(none ?? nan)], [nan, 0]);
  const input = tensor([[1.5, 2, 3], [4, 5, 6], [7, 8, 9]]), rows = tensor([1.5, 2, 4]);
  const loss = (variance: Tensor) =>
    F.gaussianNllLoss(input, zeros([3, 3]), variance, { reduction: "none" }).tolist();
  assertEquals(loss(rows), loss(rows.reshape([3, 1])));
  assertEquals(loss(tensor([[1.5, 2, 4]])), loss(tensor([[1.5, 2, 4]]).expand([3, 3])));
});

Deno.test("no index into a number fills nothing", () => {
  const none = zeros([0], { dtype: "int64" });
  for (
    const fill of [
      (x: Tensor) => x.indexFill(0, none, 5),
      compile((x: Tensor) => x.indexFill(0, none, 5)),
    ]
  ) {
    assertEquals(fill(tensor(1.5)).item(), 1.5);
  }
  assertEquals(tensor(1.5).indexFill(0, tensor([0, 0]), 5).item(), 5);
  assertEquals(tensor(1.5).indexAdd(0, tensor([0]), tensor([2.5])).item(), 4);
});

Deno.test("a covariance without degrees of freedom is infinite", () => {
  const x = tensor([1, 2, 4.5]);
  assertEquals([cov(x, { correction: 3 }).item(), cov(x, { correction: 7 }).item()], [inf, inf]);
});

Deno.test("conjugate transposes as functions conjugate, and complex views of nothing have any strides", () => {
  const z = viewAsComplex(tensor([[[1, 2], [3, 4.5]]]));
  for (const found of [H(z), mH(z), z.H, z.mH]) {
    assertEquals<unknown>(found.tolist(), [[{ re: 1, im: -2 }], [{ re: 3, im: -4.5 }]]);
  }
  const nothing = zeros([0, 0], { dtype: "complex64", requiresGrad: true });
  linalg.det(nothing).abs().backward();
  assertEquals(nothing.grad?.shape, [0, 0]);
});

Deno.test("weights, exponents and 0-d blocks take part in the type of a result as such", () => {
  const half = tensor([[1, 2.5, 4], [0.5, 1, 3]], { dtype: "bfloat16" });
  assertEquals(cov(half, { aweights: tensor([0.5, 1.5, 2]) }).dtype, "float32");
  assertEquals(cov(half, { fweights: tensor([1, 2, 3], { dtype: "int64" }) }).dtype, "bfloat16");
  const block = blockDiag([tensor([1.5, 2], { dtype: "bfloat16" }), tensor(2.5)]);
  assertEquals([block.dtype, block.tolist()], ["bfloat16", [[1.5, 2, 0], [0, 0, 2.5]]]);
  const z = viewAsComplex(tensor([[1.5, 2]]));
  assertEquals(z.ldexp(tensor([2], { dtype: "float64" })).dtype, "complex128");
  assertEquals([z.ldexp(tensor(2.5)).dtype, z.ldexp(tensor([2])).dtype], ["complex64", "complex64"]);
  const [a, b] = [tensor(1.5, { requiresGrad: true }), tensor(2.5)],
    weight = tensor(0.1, { dtype: "float64" });
  const between = a.lerp(b, weight);
  between.backward();
  assertEquals([between.dtype, between.item(), a.grad?.dtype], ["float64", 1.6, "float32"]);
  assertEquals([a.lerp(tensor([2.5]), weight).dtype, weight.lerp(weight, b).dtype], ["float32", "float64"]);
});
