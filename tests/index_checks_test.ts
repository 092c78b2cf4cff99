/** Indices out of range are errors of compiled functions, with eager's words. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import type { DType } from "../lib/base/dtype.ts";
import { contiguousMeta } from "../lib/graph/meta.ts";
import { withIndexChecks } from "../lib/inductor/index_checks.ts";
import type { OpApi } from "../lib/ops/generated.ts";
import type { GraphValue } from "../lib/ops/graph_builder.ts";
import { findTarget } from "../lib/ops/table.ts";
import "./support/turns/ops.ts";
import { traced } from "./support/graph_programs.ts";
import { allclose, arange, compile, cov, DynError, nn, type Tensor, tensor } from "../mod.ts";

interface Case {
  readonly fn: (...args: Tensor[]) => Tensor | null;
  readonly good: () => Tensor[];
  readonly bad: () => Tensor[];
}

const table = new nn.Embedding(4, 2);
const x = arange(12).reshape([4, 3]).div(8);

const CASES: Readonly<Record<string, Case>> = {
  "an embedding": {
    fn: (i) => table.call(i),
    good: () => [tensor([1, 3])],
    bad: () => [tensor([1, 7])],
  },
  "indices that the graph computes": {
    fn: (i) => table.call(i.mul(2)),
    good: () => [tensor([0, 1])],
    bad: () => [tensor([0, 2])],
  },
  "a gather": {
    fn: (a, i) => a.gather(1, i),
    good: () => [x, tensor([[0], [2]])],
    bad: () => [x, tensor([[0], [-1]])],
  },
  "indexing, which counts from the end": {
    fn: (a, i) => a.at(i),
    good: () => [x, tensor([0, -4])],
    bad: () => [x, tensor([0, -5])],
  },
  "indices of bytes along more than they can count": {
    fn: (a, i) => a.gather(0, i),
    good: () => [arange(300), tensor([3, 50, 200], { dtype: "uint8" })],
    bad: () => [arange(100), tensor([3, 50, 200], { dtype: "uint8" })],
  },
  "frequencies, of which none is negative": {
    fn: (a, w) => cov(a, { fweights: w }),
    good: () => [x.reshape([3, 4]), tensor([1, 0, 2, 3])],
    bad: () => [x.reshape([3, 4]), tensor([1, -1, 2, 3])],
  },
  "variances, of which none is negative": {
    fn: (a, v) => nn.functional.gaussianNllLoss(a, a, v, { reduction: "none" }),
    good: () => [x, tensor([[0, 1, 3], [2, Infinity, 1], [1, 1, 1], [1, 1, 1]])],
    bad: () => [x, tensor([[0, 1, NaN], [2, -0.25, 1], [1, 1, 1], [1, 1, 1]])],
  },
  "a variance as a number, beside no elements too": {
    fn: (a, v) => nn.functional.gaussianNllLoss(a, a, v.item() < 2 ? 1 : -1, { reduction: "sum" }),
    good: () => [tensor([], { dtype: "float32" }), tensor(1)],
    bad: () => [tensor([], { dtype: "float32" }), tensor(3)],
  },
  "probabilities of a loss": {
    fn: (a, b) => nn.functional.binaryCrossEntropy(a, b, { reduction: "none" }),
    good: () => [tensor([0, 0.5]), tensor([1, 0.5])],
    bad: () => [tensor([0, 1.5]), tensor([1, 0.5])],
  },
  "targets of a loss": {
    fn: (a, b) => nn.functional.binaryCrossEntropy(a.sigmoid(), b.mul(2)),
    good: () => [tensor([0, 0.5]), tensor([0.5, 0.25])],
    bad: () => [tensor([0, 0.5]), tensor([NaN, 0.25])],
  },
  "probabilities of a loss whose gradient alone is needed": {
    fn: (a) => {
      const leaf = a.detach().clone().requiresGrad_();
      nn.functional.binaryCrossEntropy(leaf, a.mul(0)).backward();
      return leaf.grad;
    },
    good: () => [tensor([0.25, 0.5])],
    bad: () => [tensor([0.25, -0.5])],
  },
  "quantiles": {
    fn: (a, q) => a.quantile(q, 1).mul(2),
    good: () => [x, tensor([0, 0.75])],
    bad: () => [x, tensor([0, 1.25])],
  },
  "chances": {
    fn: (a) => a.bernoulli().add(1),
    good: () => [tensor([0, 1], { dtype: "float32" })],
    bad: () => [tensor([0, 2.5])],
  },
  "a scatter": {
    fn: (a, i) => a.scatterAdd(0, i, a),
    good: () => [x, tensor([[0, 1, 2], [3, 3, 3]])],
    bad: () => [x, tensor([[0, 1, 2], [3, 3, 4]])],
  },
  "classes of a loss": {
    fn: (a, i) => nn.functional.crossEntropy(a, i),
    good: () => [x, tensor([0, 2, -100, 1])],
    bad: () => [x, tensor([0, 2, 3, 1])],
  },
  "a whole step whose forward pass is not needed": {
    fn: (i) => {
      table.weight.grad = null;
      table.call(i).sum().backward();
      return table.weight.grad;
    },
    good: () => [tensor([1, 3])],
    bad: () => [tensor([1, 4])],
  },
};

for (const [name, { fn, good, bad }] of Object.entries(CASES)) {
  Deno.test(`indices are checked: ${name}`, () => {
    const compiled = compile(fn);
    const expected = fn(...good());
    const message = assertThrows(() => fn(...bad()), DynError).message;
    assert(message.includes("but found"), message);
    for (let call = 0; call < 2; call++) {
      const found = compiled(...good());
      assert(expected && found && allclose(found, expected, { rtol: 1e-6 }));
      assertEquals(assertThrows(() => compiled(...bad()), DynError).message, message);
    }
  });
}

Deno.test("indices are checked: not if they are always in range, and by the inputs that determine them", () => {
  const meta = (shape: number[], dtype: DType = "float32") => contiguousMeta(shape, dtype, "cpu");
  const asked = (body: (o: OpApi<GraphValue>, table: GraphValue, i: GraphValue) => GraphValue) => {
    const graph = traced([meta([6, 4]), meta([3], "int64")], (o, [table, i]) => {
      assert(table && i);
      return [body(o, table, i)];
    });
    const checked = withIndexChecks(graph, (target) => findTarget(target)?.definition);
    return checked && (checked.inputs ?? "computed");
  };
  const int64 = { dtype: "int64", device: "cpu" } as const;
  const six = { input: 1, low: 0, high: 6, isWhole: true }, chosen = { ...six, isWhole: false };
  assertEquals(asked((o, table, i) => o.indexSelect(table, 0, i)), [six]);
  assertEquals(asked((o, table, i) => o.indexSelect(table, 0, o.slice(i, 0, 1, 2))), [six]);
  assertEquals(asked((o, table) => o.indexSelect(table, 0, o.arange(6, int64))), null);
  assertEquals(asked((o, table) => o.indexSelect(table, 0, o.arange(2, 5, int64))), null);
  assertEquals(asked((o, table) => o.indexSelect(table, 0, o.arange(7, int64))), "computed");
  assertEquals(asked((o, table) => o.indexSelect(table, 0, o.full([2], 5, int64))), null);
  assertEquals(asked((o, table) => o.indexSelect(table, 0, o.full([2], 6, int64))), "computed");
  assertEquals(asked((o, table, i) => o.indexSelect(table, 0, o.where(o.ne(i, -100), i, 0))), [chosen]);
  assertEquals(asked((o, table, i) => o.indexSelect(table, 0, o.where(o.ne(i, -100), i, 6))), "computed");
  assertEquals(asked((o, table, i) => o.indexSelect(table, 0, o.flip(i, [0]))), "computed");
});

Deno.test("indices are checked: empty ones are in range", () => {
  const compiled = compile((i: Tensor) => table.call(i));
  assertEquals(compiled(tensor([], { dtype: "int64" })).shape, [0, 2]);
});
