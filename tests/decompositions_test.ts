/**
 * Decompositions of matrices, tested by their defining properties: factors multiply to the matrix and have the promised
 * form, for all sizes; gradients equal finite differences where the signs of vectors do not matter; graphs contain
 * them.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  autograd,
  compile,
  compiler,
  DynError,
  enableGrad,
  eye,
  linalg,
  manualSeed,
  randn,
  type Tensor,
  tensor,
} from "../mod.ts";
import { ALL_OPS } from "../lib/ops/table.ts";
import { Graph } from "../lib/graph/node.ts";
import { GraphBuilder, mapArguments } from "../lib/ops/graph_builder.ts";
import { runsOnHost } from "../lib/ops/host_parts.ts";
import { parseCall } from "../lib/ops/call.ts";
import { isTensor } from "../lib/tensor/tensor.ts";
import "./support/turns/models.ts";
import { makeSample } from "./support/samples.ts";

/** Leading dimensions, rows and columns. */
const SIZES: readonly (readonly number[])[] = [
  [1, 1],
  [3, 3],
  [5, 2],
  [2, 5],
  [2, 3, 3],
  [2, 4, 3],
  [0, 3, 3],
  [0, 0],
  [3, 0],
];

const random = (shape: readonly number[]): Tensor => randn([...shape], { dtype: "float64" });

function assertNear(found: Tensor, expected: Tensor, where: string): void {
  assertEquals(found.shape, expected.shape, where);
  assertEquals(found.dtype, expected.dtype, where);
  assert(found.isContiguous(), `${where}: expected row-major elements`);
  if (found.numel() === 0) return;
  const distance = Number(found.sub(expected).abs().max());
  assert(distance < 1e-11, `${where}: expected ${expected} but found ${found}`);
}

/** The identity in place of each matrix. */
function identities(shape: readonly number[], side: number): Tensor {
  return eye(side, null, { dtype: "float64" }).expand([...shape.slice(0, -2), side, side]).contiguous();
}

const positive = (shape: readonly number[]): Tensor => {
  const x = random(shape);
  return x.matmul(x.mT).add(eye(shape.at(-1) ?? 0, null, { dtype: "float64" }));
};

const squares = SIZES.filter((shape) => shape.at(-1) === shape.at(-2));

Deno.test("factors multiply to their matrices", () => {
  manualSeed(7);
  for (const shape of SIZES) {
    const A = random(shape),
      where = (name: string) => `${name} of [${shape}]`,
      [rows = 0, columns = 0] = shape.slice(-2);
    for (const mode of ["reduced", "complete"] as const) {
      const [Q, R] = linalg.qr(A, mode);
      assertNear(Q.matmul(R), A, where(`qr, ${mode}`));
      assertNear(Q.mT.matmul(Q), identities(shape, Q.shape.at(-1) ?? 0), where(`Q, ${mode}`));
      assertEquals(R.tril(-1).ne(0).sum().item(), 0, where("R"));
    }
    const [U, S, Vh] = linalg.svd(A), count = Math.min(rows, columns);
    assertNear(U.narrow(-1, 0, count).mul(S.unsqueeze(-2)).matmul(Vh.narrow(-2, 0, count)), A, where("svd"));
    assertNear(U.mT.matmul(U), identities(shape, rows), where("U"));
    assertNear(Vh.matmul(Vh.mT), identities(shape, columns), where("Vh"));
    for (const pivot of [true, false]) {
      const [P, L, U] = linalg.lu(A, { pivot });
      assertNear(pivot ? P.matmul(L).matmul(U) : L.matmul(U), A, where(`lu, ${pivot}`));
    }
    const inverse = linalg.pinv(A);
    assertNear(A.matmul(inverse).matmul(A), A, where("pinv"));
    assertNear(inverse.matmul(A).matmul(inverse), inverse, where("pinv, its own"));
    if (A.numel() > 0) assert(linalg.matrixRank(A).eq(count).all().item(), where("matrixRank"));
  }
  for (const shape of squares) {
    const A = positive(shape), where = (name: string) => `${name} of [${shape}]`, B = random(shape);
    const L = linalg.cholesky(A), [values, vectors] = linalg.eigh(A), [LU, pivots] = linalg.luFactor(A);
    assertNear(L.matmul(L.mT), A, where("cholesky"));
    assertNear(linalg.cholesky(A, true), L.mT.contiguous(), where("cholesky, upper"));
    assertNear(vectors.mul(values.unsqueeze(-2)).matmul(vectors.mT), A, where("eigh"));
    assertNear(A.matmul(L.choleskyInverse()), identities(shape, shape.at(-1) ?? 0), where("choleskyInverse"));
    assertNear(A.matmul(B.choleskySolve(L)), B, where("choleskySolve"));
    for (const left of [true, false]) {
      const X = linalg.solveTriangular(L, B, false, { left });
      assertNear(left ? L.matmul(X) : X.matmul(L), B, where(`solveTriangular, ${left}`));
      for (const adjoint of [true, false]) {
        const Y = linalg.luSolve(LU, pivots, B, { left, adjoint }), given = adjoint ? A.mT : A;
        assertNear(left ? given.matmul(Y) : Y.matmul(given), B, where(`luSolve, ${left}, ${adjoint}`));
      }
    }
    const leaf = A.detach().clone().requiresGrad_(), of = linalg.eigh(leaf)[1];
    of.square().mul(random(shape)).sum().backward();
    assert(leaf.grad);
    assertNear(leaf.grad, leaf.grad.mT, where("the gradient of eigenvectors, symmetric as PyTorch's"));
    // e^A by its eigenvalues
    const exponential = vectors.mul(values.div(9).exp().unsqueeze(-2)).matmul(vectors.mT);
    assertNear(A.div(9).matrixExp(), exponential, where("matrixExp"));
  }
});

/** Functions that do not depend on the signs of vectors, of matrices that `make` makes of any. */
const DIFFERENTIABLE: Readonly<Record<string, (x: Tensor) => Tensor | readonly Tensor[]>> = {
  cholesky: (x) => linalg.cholesky(x.matmul(x.mT).add(eye(3, null, { dtype: "float64" }))),
  choleskySolve: (x) =>
    x.choleskySolve(linalg.cholesky(x.matmul(x.mT).add(eye(3, null, { dtype: "float64" })))),
  eigh: (x) => {
    const [values, vectors] = linalg.eigh(x.add(x.mT));
    return [values, vectors.square()];
  },
  svd: (x) => {
    const [U, S, Vh] = linalg.svd(x, false);
    return [S, U.square(), Vh.square(), U.matmul(Vh)];
  },
  qr: (x) => [...linalg.qr(x)],
  "qr of wide matrices": (x) => [...linalg.qr(x.narrow(-2, 0, 2))],
  "qr of tall matrices": (x) => [...linalg.qr(x.narrow(-1, 0, 2))],
  lu: (x) => [...linalg.lu(x)].slice(1),
  "lu of wide matrices": (x) => [...linalg.lu(x.narrow(-2, 0, 2))].slice(1),
  "lu of tall matrices": (x) => [...linalg.lu(x.narrow(-1, 0, 2))].slice(1),
  solveTriangular: (x) => linalg.solveTriangular(x, x.mul(2).sin(), true, { left: false }),
  pinv: (x) => linalg.pinv(x.narrow(-1, 0, 2)),
  lstsq: (x) => linalg.lstsq(x.narrow(-1, 0, 2), x.sin())[0],
  matrixExp: (x) => x.matrixExp(),
};

Deno.test("gradients of decompositions, and gradients of those, are those of finite differences", () => {
  manualSeed(11);
  for (const [name, f] of Object.entries(DIFFERENTIABLE)) {
    const x = random([2, 3, 3]).requiresGrad_();
    assert(autograd.gradcheck(f, [x]), name);
    // Finite differences are taken without recording
    const first = (given: Tensor) =>
      enableGrad(() => {
        const x = given.requiresGrad ? given : given.detach().requiresGrad_(), results = f(x);
        const list = isTensor(results) ? [results] : results;
        const total = list.map((each) => each.sin().sum()).reduce((a, b) => a.add(b));
        return autograd.grad([total], [x], undefined, { createGraph: true })[0] ?? x;
      });
    assert(autograd.gradcheck(first, [random([3, 3]).requiresGrad_()]), `${name}, twice`);
  }
});

Deno.test("matrices that cannot be decomposed are errors", () => {
  const float = (rows: readonly (readonly number[])[]) => tensor(rows, { dtype: "float32" });
  const bad = float([[1, 2], [2, 1]]);
  assertThrows(() => linalg.cholesky(bad), DynError, "the leading minor of order 2 of matrix 0");
  assertEquals(linalg.choleskyEx(bad)[1].item(), 2);
  assertEquals(linalg.luFactorEx(float([[0, 0], [0, 1]])).info.item(), 1);
  assertThrows(() => linalg.qr(tensor([1.5])), DynError, "matrices");
  const step = compile((x: Tensor) => {
    linalg.cholesky(x);
    return x.add(1);
  });
  assertEquals(step(float([[4]])).item(), 5);
  assertThrows(() => step(float([[-4]])), DynError, "leading minor");
});

Deno.test("graphs hold what the host decomposes", () => {
  const likelihood = (x: Tensor, y: Tensor) => {
    const kernel = x.unsqueeze(1).sub(x).square().neg().exp().add(eye(4).mul(0.1));
    const L = linalg.cholesky(kernel), solved = y.unsqueeze(1).choleskySolve(L);
    return y.unsqueeze(1).mul(solved).sum().add(L.diagonal().log().sum().mul(2)).add(
      linalg.inv(kernel).sum(),
    );
  };
  for (const backend of ["eager", "aot_eager", "inductor"]) {
    const compiled = compile(likelihood, { backend, fullgraph: true });
    manualSeed(3);
    for (let call = 0; call < 2; call++) {
      const x = randn([4]).requiresGrad_(), y = randn([4]).requiresGrad_();
      const expected = likelihood(x, y), found = compiled(x, y);
      const wanted = autograd.grad([expected], [x, y]), gradients = autograd.grad([found], [x, y]);
      assert(Math.abs(+found - +expected) <= 1e-5 * Math.abs(+expected), backend);
      wanted.forEach((each, k) => {
        const distance = each && gradients[k] ? +each.sub(gradients[k]).abs().max() : NaN;
        assert(distance <= 1e-4 * (1 + Number(each?.abs().max())), `${backend}, gradient ${k}: ${distance}`);
      });
    }
    const { graphBreakCount } = compiler.explain(likelihood)(randn([4]), randn([4]));
    assertEquals(graphBreakCount, 0, backend);
  }
});

Deno.test("definitions declare the ops that the host may run in part", () => {
  let asked = 0;
  const silent = new Set<string>();
  for (const definition of ALL_OPS.filter(({ implementation }) => implementation.kind === "composite")) {
    for (const sample of definition.samples) {
      const builder = new GraphBuilder(new Graph());
      try {
        const args = parseCall(definition, makeSample(sample).given, isTensor);
        const given = mapArguments(args, ({ meta }) => builder.tensor("argument", meta));
        const asks = { definition: { ...definition, hostParts: true as const }, args: given };
        if (!definition.hostParts && !definition.dataDependent && runsOnHost(asks)) {
          silent.add(definition.name);
        }
        asked++;
      } catch (thrown) {
        // A refused call runs nowhere
        if (!(thrown instanceof DynError)) throw thrown;
      }
    }
  }
  assertEquals([...silent], []);
  assert(asked > 300, `Expected most compositions but found ${asked}`);
});
