/**
 * Branches and loops that depend on tensors: PyTorch's results eagerly, the same in one graph on every tier, including
 * gradients, and plain calls if a function does more than compute tensors.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { autograd, clone, compile, compiler, cond, config, DynError, higherOrderOps, nn } from "../mod.ts";
import { manualSeed, ones, Tensor, tensor, zeros } from "../mod.ts";
import { counters } from "../lib/base/logs.ts";
import "./support/turns/models.ts";
import { onTiers, TIERS } from "./support/tiers.ts";

const { associativeScan, map, scan, whileLoop } = higherOrderOps;

const rows = (...values: number[][]) => tensor(values, { dtype: "float32" });

function shown(value: unknown): unknown {
  if (value instanceof Tensor) return [value.dtype, value.shape, value.stride(), shown(value.tolist())];
  if (Array.isArray(value)) return value.map(shown);
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shown(each)]));
  }
  return value;
}

function outcome(run: (x: Tensor) => unknown, given: Tensor): unknown {
  const x = clone(given);
  try {
    return [shown(run(x)), shown(x)];
  } catch (error) {
    return [error instanceof Error ? `${error.name}: ${error.message}` : error, shown(x)];
  }
}

const COUNTING = tensor([[0, 1, 2], [3, 4, 5]], { dtype: "float32" });

Deno.test("results are PyTorch's", () => {
  const step = (carry: Tensor, x: Tensor) => [carry.add(x), carry.mul(x)] as const;
  const [last, products] = scan(step, zeros([2]), COUNTING, { dim: 1 });
  assertEquals([last.tolist(), products.tolist()], [[3, 12], [[0, 0, 2], [0, 12, 35]]]);
  const [, back] = scan(step, zeros([2]), COUNTING, { dim: 1, reverse: true });
  assertEquals(back.tolist(), [[0, 2, 0], [27, 20, 0]]);
  const sum = (a: Tensor, b: Tensor) => a.add(b);
  assertEquals(associativeScan(sum, COUNTING, 1).tolist(), [[0, 1, 3], [3, 7, 12]]);
  assertEquals(associativeScan(sum, COUNTING, 1, { reverse: true }).tolist(), [[3, 3, 2], [12, 9, 5]]);
  assertEquals(map((x: Tensor, k: Tensor) => x.mul(k), COUNTING, tensor(2)).tolist(), [[0, 2, 4], [
    6,
    8,
    10,
  ]]);
  const [count, grown] = whileLoop(
    (i) => i.lt(3),
    (i, a) => [i.add(1), a.mul(2)],
    [tensor(0), COUNTING] as const,
  );
  assertEquals([count.item(), grown.tolist()], [3, [[0, 8, 16], [24, 32, 40]]]);
  assertEquals(cond(true, (a) => a.add(1), (a) => a.sub(1), [COUNTING] as const).tolist(), [[1, 2, 3], [
    4,
    5,
    6,
  ]]);
});

Deno.test("calls with the wrong arguments are rejected", () => {
  const same = (x: Tensor) => x;
  assertThrows(() => cond(tensor([true, false]), () => ones([1]), () => ones([1])), DynError, "one element");
  assertThrows(() => map(same, ones([0, 2])), DynError, "at least one row");
  assertThrows(
    () => scan((c: Tensor, x: Tensor) => [c.sum(), x], ones([2]), ones([3, 2])),
    DynError,
    "stay float32",
  );
  assertThrows(
    () => whileLoop((i) => i.lt(3), (i) => [i.add(1.5)], [tensor(0)] as const),
    DynError,
    "stay int64",
  );
  assertThrows(() => scan((c: Tensor, x: Tensor) => [c, x] as const, ones([2]), tensor(1)), DynError);
});

Deno.test("results share no memory with others", () => {
  const x = ones([2, 2]);
  const kept = cond(true, () => x, () => x.neg());
  kept.add_(1);
  assertEquals(x.tolist(), [[1, 1], [1, 1]]);
  const [a, b] = cond(true, () => [x.t(), x.t()], () => [x, x]);
  assert(a && b);
  a.mul_(5);
  assertEquals([b.tolist(), b.stride()], [[[1, 1], [1, 1]], [2, 1]]);
});

interface Program {
  readonly run: (x: Tensor) => unknown;
  /** Breaks of the graph; 0 unless given. */
  readonly breaks?: number;
}

const PROGRAMS: Readonly<Record<string, Program>> = {
  "a branch over operands": {
    run: (x) => cond(x.sum().gt(0), (a) => a.mul(2), (a) => a.sub(1), [x] as const).add(1),
  },
  "a branch over what it captures, several results": {
    run(x) {
      const y = x.exp();
      const [a, b] = cond(x.sum().gt(0), () => [y, y.add(1)], () => [x, y.mul(x)]);
      return a && b ? a.add(b) : null;
    },
  },
  "a branch that gives an object": {
    run(x) {
      const { sine, other } = cond(
        x.sum().gt(0),
        () => ({ sine: x.sin(), other: [x] }),
        () => ({ sine: x.cos(), other: [x.neg()] }),
      );
      return [sine, other];
    },
  },
  "branches of different sizes": {
    run: (x) => cond(x.sum().gt(0), () => x.at(0), () => x.reshape([-1])).mul(2),
  },
  "a branch in a loop over rows": {
    run: (x) => map((r: Tensor) => cond(r.sum().gt(0), () => r.mul(2), () => r.neg()), x),
  },
  "a loop while a sum is small": {
    run: (x) =>
      whileLoop((_, y) => y.sum().lt(100), (i, y) => [i.add(1), y.mul(1.5).add(1)], [tensor(0), x.abs()]),
  },
  "a loop that never runs": {
    run: (x) => whileLoop((y) => y.sum().lt(-100), (y) => [y.mul(2)], [x.abs()]),
  },
  "a running sum and products": {
    run: (x) => scan((c: Tensor, r: Tensor) => [c.add(r), c.mul(r)], zeros([3]), x),
  },
  "a scan along columns, backwards": {
    run: (x) =>
      scan((c: Tensor, r: Tensor) => [c.add(r), { half: c.div(2) }], zeros([2]), x, {
        dim: 1,
        reverse: true,
      }),
  },
  "a scan with two carries over two tensors": {
    run: (x) =>
      scan(
        (
          [a, b]: readonly [Tensor, Tensor],
          { p, q }: { p: Tensor; q: Tensor },
        ) => [[a.add(p), b.mul(q)] as const, p.sub(b)],
        [zeros([3]), ones([3])] as const,
        { p: x, q: x.cos() },
      ),
  },
  "an associative scan": { run: (x) => associativeScan((a: Tensor, b: Tensor) => a.mul(b).add(a), x, 1) },
  "a scan that starts with a transposed view": {
    run: (x) => scan((c: Tensor, r: Tensor) => [c.mul(2), c.sum().add(r.sum())], x.t(), x.t()),
  },
  "a function that selects by elements": {
    run: (x) => cond(x.sum().gt(0), () => x.at(x.gt(0)).sum(), () => x.mul(Number(x.sum().item())).sum()),
  },
  "a function that writes to what it made": {
    run: (x) =>
      cond(x.sum().gt(0), () => {
        const y = x.clone();
        y.add_(1).at(0).mul_(3);
        return y;
      }, () => x),
  },
  "sizes and numbers of elements inside and outside of functions": {
    run(x) {
      const y = x.at(x.gt(0)), k = Number(x.gt(0).sum().item());
      const z = cond(x.sum().gt(0), () => y.sum().mul(y.shape[0] ?? 0), () => zeros([k]).sum().add(k));
      return [z, y.shape[0], y.mul(y.numel()), map((r: Tensor) => r.mul(k), x)];
    },
  },
  "a result that is written to": {
    run(x) {
      const y = cond(x.sum().gt(0), () => x, () => x.mul(2));
      y.add_(10);
      return [y, x];
    },
  },
  "a function that counts its calls": {
    run(x) {
      let calls = 0;
      const y = cond(x.sum().gt(0), () => {
        calls++;
        return x.mul(2);
      }, () => x);
      return [y, calls];
    },
    breaks: 1,
  },
  "a function that keeps what it computes": {
    run(x) {
      const kept: Tensor[] = [], state = { last: x };
      const y = map((r: Tensor) => {
        kept.push(r);
        state.last = r;
        return r.mul(2);
      }, x);
      return [y, kept, state];
    },
    breaks: 1,
  },
  "a function that writes to a tensor from outside": {
    run(x) {
      const z = x.clone();
      return [cond(x.sum().gt(0), () => z.add_(1), () => z.mul(2)), z];
    },
    breaks: 1,
  },
  "a function that writes to its row": {
    run: (x) => map((r: Tensor) => r.add_(1), x),
    breaks: 1,
  },
  "branches that return different structures": {
    run: (x) => cond<Tensor | Tensor[], []>(x.sum().gt(0), () => [x], () => x),
    breaks: 1,
  },
  "a function that throws": {
    run(x) {
      return cond(x.sum().gt(0), () => x.reshape([7]), () => x);
    },
    breaks: 1,
  },
};

const INPUTS = [rows([1.5, -2, 3], [-1, 0, 0.4]), rows([-1.5, -2, -3], [-1, 0, -0.4])];

for (const [{ name: tier, backend, patch }, name, { run, breaks = 0 }] of onTiers(PROGRAMS)) {
  Deno.test(`branches and loops, ${tier}: ${name}`, () => {
    const captured = { captureScalarOutputs: true, captureDynamicOutputShapes: true };
    config.patch({ ...captured, ...patch }, () => {
      const compiled = compile(run, { backend }), before = counters.total("undone_calls");
      for (const x of INPUTS) assertEquals(outcome(compiled, x), outcome(run, x));
      const status = compiler.status(compiled), undone = counters.total("undone_calls") - before;
      assertEquals([status.graphBreaks, status.fallbacks, status.uncompiled.length, undone], [
        breaks,
        0,
        0,
        0,
      ]);
    });
  });
}

const LOSSES: Readonly<Record<string, (x: Tensor, w: Tensor) => Tensor>> = {
  "a branch": (x, w) => cond(x.sum().gt(0), () => x.mul(w).sin(), () => x.sub(w).pow(2)).sum(),
  "a branch of constants": (x, w) => {
    const k = cond(x.sum().gt(0), () => ones([3]), () => zeros([3]));
    return k.mul(w).sum();
  },
  "a scan": (x, w) => {
    const [last, ys] = scan((c: Tensor, r: Tensor) => [c.mul(w).add(r).tanh(), c.mul(r)], zeros([3]), x);
    return last.sum().add(ys.pow(2).sum());
  },
  "a loop": (x, w) => {
    const [y] = whileLoop((y) => y.abs().sum().lt(20), (y) => [y.mul(w.abs().add(1.5))], [x.mul(w)] as const);
    return y.sum();
  },
  "an associative scan": (x, w) => associativeScan((a: Tensor, b: Tensor) => a.mul(b), x.mul(w), 0).sum(),
};

function gradients(loss: (x: Tensor, w: Tensor) => Tensor, x: Tensor): unknown {
  const leaf = () => tensor([0.5, 1, 2], { dtype: "float32", requiresGrad: true });
  const w = leaf(), value = loss(x, w);
  value.backward();
  const again = leaf();
  const [grad] = autograd.grad([loss(x, again)], [again], { createGraph: true });
  const [twice] = grad?.requiresGrad
    ? autograd.grad([grad.pow(2).sum()], [again], { allowUnused: true })
    : [null];
  return [value, w.grad, grad, twice].map((each) => each && shown(each.detach()));
}

for (const [{ name: tier, backend, patch }, name, loss] of onTiers(LOSSES)) {
  Deno.test(`gradients through branches and loops, ${tier}: ${name}`, () => {
    config.patch(patch, () => {
      const compiled = compile(loss, { backend, fullgraph: true }), before = counters.total("undone_calls");
      for (const x of INPUTS) assertEquals(gradients(compiled, x), gradients(loss, x));
      assertEquals([compiler.status(compiled).fallbacks, counters.total("undone_calls") - before], [0, 0]);
    });
  });
}

Deno.test("a loop is one node, however often it runs", () => {
  const graphs: string[][] = [];
  const run = (x: Tensor) => map((r: Tensor) => r.mul(2).add(1), x);
  const compiled = compile(run, {
    backend: (gm) => {
      graphs.push(gm.graph.nodes.map(({ target }) => target));
      return (...inputs) => gm.forward(...inputs);
    },
    dynamic: true,
  });
  for (const n of [3, 40, 7]) assertEquals(shown(compiled(ones([n, 2]))), shown(run(ones([n, 2]))));
  assertEquals(graphs.length, 1);
  assertEquals(graphs[0]?.filter((target) => target === "higher_order.scan").length, 1);
  assert((graphs[0]?.length ?? 0) < 12);
});

Deno.test("results of a function are valid after its next call, also with staticResults", () => {
  const run = (x: Tensor) => scan((c: Tensor, r: Tensor) => [c.add(r), c.mul(2).add(r)], zeros([2]), x);
  config.patch({ inductor: { staticResults: true } }, () => {
    const compiled = compile(run, { backend: "inductor", fullgraph: true });
    const before = counters.total("undone_calls");
    for (const n of [4, 3, 4]) assertEquals(shown(compiled(ones([n, 2]))), shown(run(ones([n, 2]))));
    assertEquals(counters.total("undone_calls"), before);
  });
});

Deno.test("random numbers in functions are drawn in order", () => {
  const run = (x: Tensor) => {
    const y = cond(x.sum().gt(0), () => nn.functional.dropout(x, 0.5), () => x);
    return [y, nn.functional.dropout(x, 0.5), map((r: Tensor) => nn.functional.dropout(r, 0.5), x)];
  };
  for (const { backend, patch } of TIERS) {
    config.patch(patch, () => {
      const compiled = compile(run, { backend });
      const seeded = (fn: typeof run) => {
        manualSeed(7);
        return shown(fn(ones([3, 4])));
      };
      assertEquals(seeded(compiled), seeded(run));
    });
  }
});

Deno.test("results of branches and of steps belong together by their keys, not by the order in which these are written", () => {
  const x = tensor([1.5, 2.5]), rows = ones([3, 2]);
  const branch = (x: Tensor) =>
    cond(
      x.sum().lt(0),
      (x: Tensor) => ({ a: x, b: x.mul(2) }),
      (x: Tensor) => ({ b: x.mul(4), a: x.mul(3) }),
      [x],
    );
  type Carry = { readonly a: Tensor; readonly b: Tensor };
  const steps = (x: Tensor) =>
    scan<Carry, Tensor, Carry>(
      ({ a, b }, row) => [{ b: b.add(row), a }, { b: row, a: b }],
      { a: x, b: x.mul(0) },
      rows,
    );
  for (const each of [branch, compile(branch, { backend: "eager" })]) {
    const [up, down] = [each(x), each(x.neg())];
    assertEquals([up.a, up.b, down.a, down.b].map((t) => t.tolist()), [[4.5, 7.5], [6, 10], [-1.5, -2.5], [
      -3,
      -5,
    ]]);
  }
  for (const each of [steps, compile(steps, { backend: "eager" })]) {
    const [carry, ys] = each(x);
    assertEquals([carry.a, carry.b, ys.b].map((t) => t.tolist()), [[1.5, 2.5], [3, 3], rows.tolist()]);
  }
  assertThrows(
    () =>
      Reflect.apply(scan, null, [({ a }: Carry, row: Tensor) => [{ a, c: row }, row], { a: x, b: x }, rows]),
    DynError,
    'Expected the carry of a scan of the form { "a": *, "b": * } but found { "a": *, "c": * }',
  );
});
