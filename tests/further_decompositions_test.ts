/**
 * Eigenvalues of general matrices, a few of large ones, and low-rank approximations, tested by their defining
 * properties; segments of a dimension against PyTorch's numbers.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  autograd,
  compile,
  complex,
  diag,
  DynError,
  eye,
  linalg,
  lobpcg,
  manualSeed,
  pcaLowrank,
  randn,
  segmentReduce,
  svdLowrank,
  type Tensor,
  tensor,
} from "../mod.ts";
import "./support/turns/models.ts";

const double = (values: Parameters<typeof tensor>[0]): Tensor => tensor(values, { dtype: "float64" });

const random = (...shape: number[]): Tensor => randn(shape, { dtype: "float64" });

const asComplex = (x: Tensor): Tensor => x.isComplex() ? x : complex(x, x.mul(0));

function assertClose(found: Tensor, expected: Tensor, error = 1e-11): void {
  assertEquals(found.shape, expected.shape);
  const distance = found.numel() === 0 ? 0 : Number(found.sub(expected).abs().max());
  assert(distance < error, `expected ${expected} but found ${found}`);
}

Deno.test("matrices times their eigenvectors are these times eigenvalues, real and complex", () => {
  manualSeed(5);
  const given = [[1, 1], [2, 2], [7, 7], [12, 12], [2, 3, 4, 4], [0, 0], [0, 3, 3]];
  for (const shape of given) {
    for (const A of [random(...shape), complex(random(...shape), random(...shape))]) {
      const { eigenvalues, eigenvectors } = linalg.eig(A), Z = asComplex(A);
      assertEquals([eigenvalues.dtype, eigenvectors.dtype], ["complex128", "complex128"]);
      assertClose(Z.matmul(eigenvectors), eigenvectors.mul(eigenvalues.unsqueeze(-2)));
      assertClose(linalg.eigvals(A), eigenvalues);
      const lengths = linalg.vectorNorm(eigenvectors, 2, -2);
      assertClose(lengths, lengths.detach().mul(0).add(1));
    }
  }
});

Deno.test("eigenvalues of real matrices are exactly real or conjugate, also of defective and badly scaled ones", () => {
  const values = (rows: readonly (readonly number[])[]) => linalg.eigvals(double(rows));
  const turn = values([[0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]);
  assertEquals(turn.imag().sum().item(), 0);
  assertClose(turn.imag().sort().values, double([-1, 0, 0, 1]));
  assertEquals(
    values([[2, 1, 0], [0, 2, 1], [0, 0, 2]]).tolist(),
    tensor([2, 2, 2], { dtype: "complex128" }).tolist(),
  );
  assertEquals(values([[0, 0], [0, 0]]).abs().sum().item(), 0);
  // The polynomial (x − 1)(x − 1e4)(x − 1e8), and a matrix whose rows differ by twenty orders
  const roots = values([[0, 0, 1e12], [1, 0, -1e12 - 1e8 - 1e4], [0, 1, 1e8 + 1e4 + 1]]).real().sort().values;
  assertClose(roots.div(double([1, 1e4, 1e8])), double([1, 1, 1]), 1e-8);
  const far = values([[1e-10, 1e10], [1e-12, 3]]).real().sort().values;
  assertClose(far, double([(3 - Math.sqrt(9.04)) / 2, (3 + Math.sqrt(9.04)) / 2]), 1e-9);
  assertThrows(() => values([[1, NaN], [0, 1]]), DynError, "finite elements");
  assertThrows(() => linalg.eig(double([[1, 2]])), DynError, "square");
});

Deno.test("gradients of eigenvalues and eigenvectors are PyTorch's, in graphs too", () => {
  const rows = [[1, 2, 0.5], [-3, 0.25, 1], [0.5, 4, 2]];
  const loss = (A: Tensor): Tensor => {
    const { eigenvalues, eigenvectors } = linalg.eig(A);
    return eigenvalues.abs().add(eigenvalues.imag().square()).sum().add(eigenvectors.abs().pow(3).sum());
  };
  const expected = double([[-5.9076, 9.3316, -16.2711], [-3.2840, 1.3468, -5.2743], [
    2.2860,
    -3.4501,
    6.6040,
  ]]);
  for (const run of [loss, compile(loss, { fullgraph: true })]) {
    const A = double(rows).requiresGrad_();
    run(A).backward();
    assert(A.grad);
    assertClose(A.grad, expected, 1e-4);
  }
  manualSeed(3);
  assert(autograd.gradcheck(loss, [random(2, 3, 3).requiresGrad_()]));
  const parts = (re: Tensor, im: Tensor) => linalg.eigvals(complex(re, im)).abs().log().sum();
  assert(autograd.gradcheck(parts, [random(3, 3).requiresGrad_(), random(3, 3).requiresGrad_()]));
  assert(
    autograd.gradgradcheck((A: Tensor) => linalg.eigvals(A).abs().sum(), [double(rows).requiresGrad_()]),
  );
});

Deno.test("second derivatives of roots and polar factors exist for repeated values, and so for complex matrices", () => {
  manualSeed(6);
  const programs: Record<string, (z: Tensor) => Tensor> = {
    roots: (z) => linalg.matrixSqrth(z.mH.matmul(z)),
    directions: (z) => linalg.polar(z)[0],
    stretches: (z) => linalg.polar(z)[1],
  };
  const leaf = (x: Tensor) => x.detach().requiresGrad_(), twice = eye(2, { dtype: "float64" }).mul(2);
  for (const [name, program] of Object.entries(programs)) {
    assert(autograd.gradgradcheck(program, [leaf(twice)]), name);
    const parts = (re: Tensor, im: Tensor) => program(complex(re, im)).abs();
    assert(
      autograd.gradgradcheck(parts, [leaf(random(3, 2)), leaf(random(3, 2))]),
      `${name} of complex ones`,
    );
  }
});

Deno.test("lobpcg finds the eigenvalues of eigh, also of generalised problems", () => {
  manualSeed(11);
  const half = random(24, 24),
    A = half.matmul(half.mT).add(eye(24, { dtype: "float64" })),
    all = linalg.eigh(A);
  for (const largest of [true, false]) {
    const { E, X } = lobpcg(A, 3, { largest, tol: 1e-13 });
    const expected = largest ? all.eigenvalues.flip([0]).narrow(0, 0, 3) : all.eigenvalues.narrow(0, 0, 3);
    assertClose(E, expected, 1e-9);
    assertClose(A.matmul(X), X.mul(E), 1e-8);
  }
  const B = diag(random(24).square().add(0.5)), iK = diag(A.diagonal().reciprocal());
  const { E, X } = lobpcg(A, 2, { B, iK, n: 4, largest: false, tol: 1e-13 });
  assertClose(A.matmul(X), B.matmul(X).mul(E), 1e-8);
  assertClose(X.mT.matmul(B).matmul(X), eye(2, { dtype: "float64" }), 1e-9);
  const whitened = linalg.eigvals(linalg.solve(B, A)).real().sort().values.narrow(0, 0, 2);
  assertClose(E, whitened, 1e-8);
  const loss = (x: Tensor): Tensor => {
    const found = lobpcg(x.add(x.mT), 1, { X: double([[1], [1], [1], [1]]), tol: 1e-14 });
    return found.E.square().sum().add(found.X.pow(4).sum());
  };
  assert(
    autograd.gradcheck(loss, [
      double([[4, 1, 0, 0], [0, 3, 1, 0], [0, 0, 2, 1], [1, 0, 0, 1]]).requiresGrad_(),
    ]),
  );
  assertThrows(() => lobpcg(eye(5), 2), DynError, "at least 6 rows for 2 vectors");
});

Deno.test("matrices of low rank are their approximations, with gradients", () => {
  manualSeed(2);
  for (const [rows, columns] of [[9, 6], [6, 9]] as const) {
    const A = random(2, rows, 3).matmul(random(2, 3, columns)), { U, S, V } = svdLowrank(A, 4);
    assertClose(U.mul(S.unsqueeze(-2)).matmul(V.mT), A);
    assertClose(S.narrow(-1, 0, 3), linalg.svdvals(A).narrow(-1, 0, 3));
    const shift = random(1, columns),
      moved = svdLowrank(A.add(shift), 4, { M: shift.expand([rows, columns]) });
    assertClose(moved.S.narrow(-1, 0, 3), S.narrow(-1, 0, 3));
    const found = pcaLowrank(A, 3), centred = A.sub(A.mean(-2, true));
    assertClose(found.U.mul(found.S.unsqueeze(-2)).matmul(found.V.mT), centred);
    assertEquals([pcaLowrank(A).S.shape, pcaLowrank(A, 2, false).V.shape], [[2, 6], [2, columns, 2]]);
  }
  const left = random(5, 2), right = random(2, 4);
  const products = (a: Tensor) => svdLowrank(a.matmul(right), 2).S.log().sum();
  assert(autograd.gradcheck(products, [left.requiresGrad_()]));
  assertThrows(() => pcaLowrank(random(3, 4), 4), DynError, "a q in [0, 3] in pcaLowrank but found 4");
});

Deno.test("segments are reduced to PyTorch's numbers and gradients", () => {
  const rows = [[0.5, -1, 2], [3, 0.25, -4], [1, 5, -0.5], [2, 2, 7], [-3, 1, 0.5]],
    weights = double([[1, 2, 3], [4, 5, 6], [7, 8, 9]]);
  const expected = {
    sum: [[[5.5, 1.25, 0], [2, 2, 2], [2, 10, 9]], [[1, 2, 3], [1, 2, 3], [7, 8, 9], [7, 8, 9], [7, 8, 9]]],
    mean: [
      [[2.75, 0.625, 0], [2, 2, 2], [2 / 3, 10 / 3, 3]],
      [[0.5, 1, 1.5], [0.5, 1, 1.5], [7 / 3, 8 / 3, 3], [7 / 3, 8 / 3, 3], [7 / 3, 8 / 3, 3]],
    ],
    max: [[[3, 2, 2], [2, 2, 2], [2, 5, 7]], [[0, 0, 3], [1, 0, 0], [0, 8, 0], [7, 0, 9], [0, 0, 0]]],
    min: [[[0.5, -1, -4], [2, 2, 2], [-3, 1, -0.5]], [[1, 2, 0], [0, 0, 3], [0, 0, 9], [0, 0, 0], [7, 8, 0]]],
    prod: [
      [[3, -0.5, -16], [2, 2, 2], [-12, 20, -3.5]],
      [[6, 1, -24], [1, -4, 12], [-84, 32, 63], [-42, 80, -4.5], [28, 160, -63]],
    ],
  } as const;
  const lengths = tensor([2, 0, 3]), offsets = tensor([0, 2, 2, 5]);
  for (const reduce of ["sum", "mean", "max", "min", "prod"] as const) {
    const [values, grads] = expected[reduce], data = double(rows).requiresGrad_();
    const run = compile((x: Tensor, at: Tensor) => segmentReduce(x, reduce, { lengths: at, initial: 2 }), {
      fullgraph: true,
    });
    const found = run(data, lengths);
    assertClose(found.detach(), double(values));
    found.mul(weights).sum().backward();
    assert(data.grad);
    assertClose(data.grad, double(grads));
    assertClose(segmentReduce(double(rows), reduce, { offsets, initial: 2 }), double(values));
  }
  const empty = (reduce: "sum" | "mean" | "max" | "min" | "prod") =>
    segmentReduce(double(rows), reduce, { lengths }).at(1, 0).item();
  assertEquals([empty("sum"), empty("mean"), empty("max"), empty("min"), empty("prod")], [
    0,
    NaN,
    -Infinity,
    Infinity,
    1,
  ]);
  const wide = tensor([[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]], { dtype: "float32" });
  const parts = segmentReduce(wide, "max", { offsets: tensor([[0, 2, 6], [0, 5, 6]]), axis: 1 });
  assertEquals(parts.tolist(), [[1, 5], [10, 11]]);
  const some = tensor([2, 3]);
  assertEquals(segmentReduce(wide.at(0), "sum", { lengths: some, unsafe: true }).tolist(), [1, 9]);
  assertThrows(
    () => segmentReduce(wide.at(0), "sum", { lengths: some }),
    DynError,
    "lengths of segmentReduce to sum to 6 but found 5",
  );
});
