/**
 * Training steps through ops that the host computes: each op of the table that the host computes in whole or in part and
 * through which gradients flow, between kernels, with its backward pass and the update in the step. One graph with the
 * numbers of the step uncompiled: to the bit where the graph runs op by op, else within rounding, as sums of fused
 * kernels add in another order.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  compile,
  compiler,
  DynError,
  eye,
  isTensor,
  linalg,
  lobpcg,
  manualSeed,
  noGrad,
  ones,
  optim,
  rand,
  randn,
  repeatInterleave,
  special,
  Tensor,
  tensor,
  viewAsComplex,
  viewAsReal,
} from "../mod.ts";
import { isMethod } from "../lib/ops/api.ts";
import type { OpDefinition } from "../lib/ops/definition.ts";
import { ALL_OPS } from "../lib/ops/table.ts";
import { ops } from "../lib/tensor/eager.ts";
import "./support/turns/gradients.ts";
import { makeSample } from "./support/samples.ts";
import { sampleBySeed, TAKES_ALL } from "./support/sampling.ts";

type Arguments = () => readonly unknown[];

const square = () => randn([4, 4]).add(eye(4).mul(3));
const integers = (values: number[] | number[][]) => tensor(values, { dtype: "int64" });

function positiveDefinite(n: number, dtype: "float32" | "complex64" = "float32"): Tensor {
  const root = randn([n, n], { dtype });
  return root.matmul(root.mH).add(eye(n).mul(2));
}

/** Arguments of which an op has no gradient. */
const FIXED = new WeakSet<Tensor>();

function fixed(argument: Tensor): Tensor {
  FIXED.add(argument);
  return argument;
}

/** Arguments of ops without samples that take more than a matrix. */
const CALLS: Readonly<Record<string, readonly Arguments[]>> = {
  igamma: [() => [fixed(ones([4])), rand([4]).add(1)]],
  igammac: [() => [fixed(ones([4])), rand([4]).add(1)]],
  segmentReduce: [
    () => [randn([6, 2]), "mean", { lengths: integers([2, 4]) }],
    () => [randn([6]), "max", { lengths: integers([2, 4]) }],
  ],
  ctcLoss: [() => [
    randn([5, 2, 4]).logSoftmax(-1),
    integers([[1, 2], [3, 3]]),
    integers([5, 4]),
    integers([2, 2]),
  ]],
  stft: [
    () => [randn([2, 32]), 8, { returnComplex: true }],
    () => [randn([40]), 8, { hopLength: 4, window: rand([8]).add(0.5), returnComplex: false }],
  ],
  istft: [
    () => [randn([5, 9], { dtype: "complex64" }), 8],
    () => [randn([5, 9], { dtype: "complex64" }), 8, { window: rand([8]).add(0.5) }],
  ],
  lobpcg: [() => [positiveDefinite(9), 2]],
  matrixExp: [() => [randn([4, 4]).mul(0.3)]],
  tensorinv: [() => [randn([4, 2, 2]), 1]],
  tensorsolve: [() => [randn([2, 2, 4]), randn([2, 2])]],
  solve: [
    () => [square(), randn([4, 2])],
    () => [positiveDefinite(4, "complex64"), randn([4, 2], { dtype: "complex64" })],
  ],
  solveEx: [() => [square(), randn([4, 2])]],
  solveTriangular: [() => [square(), randn([4, 2]), { upper: true }]],
  triangularSolve: [() => [randn([4, 2]), square()]],
  choleskySolve: [() => [randn([4, 2]), positiveDefinite(4)]],
  lstsq: [() => [randn([6, 4]), randn([6, 2])]],
  luUnpack: [() => ops.luFactor(square())],
  luSolve: [() => [randn([4, 2]), ...ops.luFactor(square())]],
  linalgLuSolve: [() => [...ops.luFactor(square()), randn([4, 2])]],
  householderProduct: [() => ops.geqrf(square())],
  ormqr: [() => [...ops.geqrf(square()), randn([4, 4])]],
};

/** Arguments of other ops without samples; each op takes the first that it accepts. */
const MATRICES: readonly Arguments[] = [
  () => [positiveDefinite(4)],
  () => [positiveDefinite(4, "complex64")],
];

const isOnHost = ({ implementation, hostParts }: OpDefinition): boolean =>
  implementation.kind === "host" || hostParts === true;

const isPublic = (definition: OpDefinition): boolean => {
  const { exposure } = definition;
  return isMethod(definition) || exposure?.free !== false || exposure.namespaces !== undefined;
};

const argumentsOf = ({ name, samples }: OpDefinition): readonly Arguments[] =>
  CALLS[name] ??
    (samples.length > 0 ? samples.map((sample) => () => makeSample(sample).given) : MATRICES);

function* tensorsIn(value: unknown): Generator<Tensor> {
  if (isTensor(value)) yield value;
  else if (typeof value === "object" && value !== null) {
    for (const each of Object.values(value)) yield* tensorsIn(each);
  }
}

function replaced(value: unknown, by: ReadonlyMap<unknown, Tensor>): unknown {
  if (by.has(value)) return by.get(value);
  if (Array.isArray(value)) return value.map((each) => replaced(each, by));
  if (typeof value !== "object" || value === null || isTensor(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, replaced(each, by)]));
}

const real = (each: Tensor): Tensor => each.isComplex() ? viewAsReal(each) : each;

/** Two steps with the gradients of all arguments of floating type: losses, parameters and gradients. */
function train(
  { name }: OpDefinition,
  make: Arguments,
  wrap: (step: () => Tensor) => () => Tensor,
): (Tensor | null)[] {
  manualSeed(5);
  const given = make(), leaves = new Map<Tensor, Tensor>();
  for (const each of tensorsIn(given)) {
    const isTrained = !FIXED.has(each) && (each.isFloatingPoint() || each.isComplex());
    if (isTrained) leaves.set(each, real(each).detach().clone().requiresGrad_());
  }
  const fn: unknown = Reflect.get(ops, name), parameters = [...leaves.values()];
  assert(typeof fn === "function");
  const optimizer = new optim.SGD(parameters, { lr: 0.001 });
  const step = wrap(() => {
    optimizer.zeroGrad();
    const scaled = new Map(
      [...leaves].map(([each, leaf]) =>
        [each, each.isComplex() ? viewAsComplex(leaf.mul(1.25)) : leaf.mul(1.25)] as const
      ),
    );
    const results = [...tensorsIn(fn(...given.map((each) => replaced(each, scaled))))];
    const loss = results.filter(({ requiresGrad }) => requiresGrad)
      .map((each) => real(each).mul(0.5).cos().sum()).reduce((a, b) => a.add(b));
    loss.backward();
    optimizer.step();
    return loss.detach();
  });
  const losses = [step(), step()];
  return [...losses, ...parameters.map((each) => each.detach()), ...parameters.map(({ grad }) => grad)];
}

/** The calls of an op through which gradients flow, with what plain steps give. */
function differentiable(definition: OpDefinition): { make: Arguments; want: (Tensor | null)[] }[] {
  return argumentsOf(definition).flatMap((make) => {
    try {
      return [{ make, want: train(definition, make, (step) => step) }];
    } catch {
      return [];
    }
  });
}

/** Ops whose gradients are errors, as in PyTorch, and those without. */
const NONE: ReadonlySet<string> = new Set(["geqrf", "ldlFactorEx", "ldlFactor", "ldlSolve", "matrixRank"]);

const OPS = ALL_OPS.filter((each) =>
  isOnHost(each) && isPublic(each) && each.gradient.kind !== "none" && !NONE.has(each.name)
);

const size = (t: Tensor): number => noGrad(() => Number(t.to("float64").square().mean().sqrt().item()));

function agree(got: Tensor | null | undefined, want: Tensor | null, isExact: boolean): void {
  if (!got || !want) return assertEquals(got, want);
  if (isExact) return assertEquals([got.dtype, got.tolist()], [want.dtype, want.tolist()]);
  const error = size(got.to("float64").sub(want.to("float64")));
  assert(error <= size(want) * 2 ** -18, `an error of ${error} where values are of size ${size(want)}`);
}

const BACKENDS = TAKES_ALL ? ["eager", "aot_eager", "inductor"] : ["eager", "aot_eager"];

for (const backend of BACKENDS) {
  Deno.test(`steps with gradients through ops of the host are one graph, backend ${backend}`, () => {
    const failures: string[] = [];
    for (const definition of sampleBySeed(OPS, 10, BACKENDS.indexOf(backend))) {
      const calls = differentiable(definition);
      if (calls.length === 0) failures.push(`${definition.name}: no call with a gradient`);
      for (const { make, want } of calls) {
        try {
          compiler.reset();
          let compiled: (() => Tensor) | undefined;
          const got = train(
            definition,
            make,
            (step) => compiled = compile(step, { backend, fullgraph: true }),
          );
          assert(compiled);
          const { graphs, graphBreaks, recompiles, entries } = compiler.status(compiled);
          assertEquals({ graphs, graphBreaks, recompiles, entries }, {
            graphs: 1,
            graphBreaks: 0,
            recompiles: 0,
            entries: 1,
          });
          want.forEach((each, k) => agree(got[k], each, backend !== "inductor"));
        } catch (error) {
          failures.push(`${definition.name}: ${error instanceof Error ? error.message : error}`);
        }
      }
    }
    assertEquals(failures, []);
  });
}

Deno.test("gradients that do not arrive through ops of the host are null, as uncompiled", () => {
  const matrix = positiveDefinite(9), start = randn([9, 2]);
  const program = (w: Tensor, v: Tensor) => {
    w.grad = null;
    v.grad = null;
    const [values] = lobpcg(matrix.mul(w), 2, { X: start.mul(v) });
    values.sum().backward();
    return [w.grad, v.grad].map((each: Tensor | null) => each && each.tolist());
  };
  const given = () =>
    [tensor([1.5], { requiresGrad: true }), tensor([1], { dtype: "float32", requiresGrad: true })] as const;
  const want = program(...given());
  for (const backend of ["eager", "aot_eager"]) {
    const compiled = compile(program, { backend });
    // The first calls assume that all arrive
    for (let call = 0; call < 6; call++) assertEquals(compiled(...given()), want, `${backend}, call ${call}`);
  }
});

Deno.test("a result with a history through an op of the host is differentiated again where its history is retained", () => {
  const matrix = square();
  for (const retainGraph of [false, true]) {
    const program = (w: Tensor) => {
      const loss = linalg.inv(matrix.mul(w)).sum();
      loss.backward({ retainGraph });
      return loss;
    };
    for (const backend of ["eager", "aot_eager"]) {
      const w = tensor([1.5], { requiresGrad: true });
      const loss = compile(program, { backend, fullgraph: true })(w), once = w.grad?.item();
      if (retainGraph) {
        loss.backward();
        assertEquals(w.grad?.item(), 2 * Number(once));
      } else assertThrows(() => loss.backward(), Error, "a second time");
    }
  }
});

Deno.test("a gradient that does not exist is the error of the program within its handler", () => {
  const program = (w: Tensor) => {
    try {
      special.gammainc(w.mul(2), tensor([1.5])).sum().backward();
    } catch (error) {
      return error instanceof Error ? error.message : null;
    }
    return null;
  };
  const w = tensor([1.5], { requiresGrad: true }), want = program(w);
  assert(want?.includes("no closed form"), `${want}`);
  for (const backend of ["eager", "aot_eager"]) assertEquals(compile(program, { backend })(w), want);
});

Deno.test("a result keeps the history that a backward pass through an op of the host has not reached", () => {
  const matrix = square();
  const program = (w: Tensor, v: Tensor) => {
    // Both are computed before the host computes
    const [scaled, apart] = [matrix.mul(w), v.mul(3).cos()];
    linalg.inv(scaled).sum().backward();
    return apart;
  };
  const outcome = (run: typeof program) => {
    const [w, v] = [1.5, 0.5].map((each) => tensor([each], { requiresGrad: true }));
    assert(w && v);
    run(w, v).sum().backward();
    return [w.grad?.item(), v.grad?.item()];
  };
  const want = outcome(program);
  for (const backend of ["eager", "aot_eager"]) {
    assertEquals(outcome(compile(program, { backend, fullgraph: true })), want, backend);
  }
});

Deno.test("elements repeated as often as a tensor says are captured where the program states how many there are", () => {
  const spread = (x: Tensor, counts: Tensor, outputSize: number) =>
    x.mul(2).repeatInterleave(counts, { dim: 0, outputSize }).add(1);
  const wanted = [[1, 3], [1, 3], [9, 11], [9, 11], [9, 11]];
  const compiled = compile(spread, { backend: "aot_eager", fullgraph: true });
  for (const run of [spread, compiled]) {
    const x = tensor([[0, 1], [2, 3], [4, 5]], { dtype: "float32", requiresGrad: true });
    const found = run(x, integers([2, 0, 3]), 5);
    assertEquals(found.tolist(), wanted);
    found.sum().backward();
    assertEquals(x.grad?.tolist(), [[4, 4], [0, 0], [6, 6]]);
    assertEquals(run(ones([2, 2]), integers([1, 3]), 4).tolist(), ones([4, 2]).mul(3).tolist());
    const few = () => run(x, integers([1, 1, 1]), 5), negative = () => run(x, integers([-1, 3, 3]), 5);
    assertThrows(few, DynError, "an outputSize of 5 but found 3");
    assertThrows(negative, DynError, "repeats to be at least 0");
  }
  const indices = (counts: Tensor) => repeatInterleave(counts, { outputSize: 3 });
  for (const run of [indices, compile(indices, { backend: "aot_eager", fullgraph: true })]) {
    assertEquals(run(integers([1, 0, 2])).tolist(), [0, 2, 2]);
  }
});
