/**
 * Engines as backends: graphs cut into parts for several of them, and every backend that is listed against plain
 * execution.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  compile,
  compiler,
  type fx,
  manualSeed,
  nn,
  rand,
  randn,
  type Tensor,
  tensor,
  where,
} from "../mod.ts";

type Program = (x: Tensor, y: Tensor) => Tensor | readonly Tensor[];

/** Programs whose order matters: writes through views, memory shared with inputs, random numbers. */
const PROGRAMS: Readonly<Record<string, Program>> = {
  diamonds: (x, y) => {
    const a = x.sin(), b = a.mul(y), c = a.add(b).exp(), d = b.cos();
    return [c.sub(d), d.mul(a), c.sum()];
  },
  writes: (x, y) => {
    const a = x.mul(2), before = a.sin();
    a.at(0).add_(1);
    const between = a.cos();
    a.mul_(y);
    return [before, between, a.add(before)];
  },
  inputs: (x, y) => {
    const former = x.neg();
    x.t().mul_(0.5);
    return [former, x.add(y), y.t()];
  },
  views: (x, y) => {
    const rows = x.clone(), row = rows.at(1), flat = rows.reshape(-1);
    row.zero_();
    const seen = flat.add(1);
    flat.add_(y.reshape(-1));
    return [seen, row, rows.exp()];
  },
  random: (x, y) => {
    const a = nn.functional.dropout(x, 0.5, true), b = rand(3, 3).add(y);
    return [a.mul(b), b.add(rand(3, 3)), x.add(randn(3, 3))];
  },
  several: (x, y) => {
    const [values, indices] = x.max(1), parts = y.split(1);
    return [values, where(x.gt(0), x, y), parts[0]?.add(values.unsqueeze(0)) ?? x, indices];
  },
};

/** What a program gives, and what its arguments hold afterwards. */
function outcome(run: Program): unknown {
  manualSeed(3);
  const x = rand(3, 3).sub(0.5), y = rand(3, 3);
  const result = run(x, y), list = Array.isArray(result) ? result : [result];
  return [...list, x, y].map((each: Tensor) => each.tolist());
}

/** Engines by what a seed says of nodes, so that cuts fall anywhere. */
function supportsBy(seed: number): compiler.Supports {
  let state = seed;
  const chosen = new Map<fx.Node, number>();
  const draw = (node: fx.Node) => {
    const known = chosen.get(node);
    if (known !== undefined) return known;
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    chosen.set(node, state % 3);
    return state % 3;
  };
  return { one: (node) => draw(node) === 0, two: (node) => draw(node) === 1 };
}

const plainly = (gm: fx.GraphModule) => gm.forward;

Deno.test("graphs in parts give what they give whole, wherever they are cut", () => {
  const aot = (seed: number) => {
    const cut = (gm: fx.GraphModule) => {
      const parts = compiler.partition(gm, supportsBy(seed));
      parts.module.graph.lint();
      return parts.compile({ one: plainly, two: plainly });
    };
    return compiler.aotAutograd({ fwCompiler: cut });
  };
  const captured = (seed: number) => (gm: fx.GraphModule) =>
    compiler.partition(gm, supportsBy(seed)).compile({ one: plainly, two: plainly });
  for (const [name, program] of Object.entries(PROGRAMS)) {
    const expected = outcome(program);
    const property = fc.property(fc.integer({ min: 1, max: 1 << 30 }), fc.boolean(), (seed, isFunctional) => {
      const backend = isFunctional ? aot(seed) : captured(seed);
      assertEquals(outcome(compile(program, { backend, fullgraph: true, name })), expected, name);
    });
    fc.assert(property, { seed: 7, numRuns: 6 });
  }
});

/** Cuts functional graphs by targets, and keeps what the cuts were. */
function cutting(
  supports: compiler.Supports,
  engines: Parameters<compiler.Partition["compile"]>[0] = {},
): { readonly backend: ReturnType<typeof compiler.aotAutograd>; readonly cuts: compiler.Partition[] } {
  const cuts: compiler.Partition[] = [];
  const fwCompiler = (gm: fx.GraphModule) => {
    const cut = compiler.partition(gm, supports);
    cuts.push(cut);
    return cut.compile(engines);
  };
  return { backend: compiler.aotAutograd({ fwCompiler }), cuts };
}

Deno.test("nodes of one engine run together as far as they can, and what follows a result of several stays", () => {
  const { backend, cuts } = cutting(
    { products: ({ target }) => target === "mm", sorting: ({ target }) => target === "sortLast" },
    { products: plainly, sorting: plainly },
  );
  const f = compile((x: Tensor, w: Tensor) => {
    const a = x.matmul(w).sin(), b = x.cos().matmul(w);
    return a.matmul(b).add(x.matmul(x)).sort(1);
  }, { backend });
  const { values } = f(rand(4, 4), rand(4, 4));
  assertEquals(values.shape, [4, 4]);
  assertEquals(cuts.map(String), [
    [
      "rest_0: cos",
      "products_0: mm mm mm",
      "rest_1: sin",
      "products_1: mm",
      "rest_2: add",
      "sorting_0: sortLast getitem getitem",
    ].join("\n"),
  ]);
  assertEquals(cuts[0]?.engines, ["products", "sorting"]);
});

Deno.test("parts of graphs with symbolic sizes serve all of them, gradients too", () => {
  const { backend, cuts } = cutting({ products: ({ target }) => target === "mm" }, { products: plainly });
  const program = (x: Tensor, w: Tensor) => x.sin().matmul(w).mul(x.shape[0] ?? 0).reshape(-1).cos();
  const f = compile(program, { backend, dynamic: true });
  for (const rows of [3, 5, 8]) {
    const x = rand(rows, 4).requiresGrad_(), w = rand(4, 2), y = x.detach().clone().requiresGrad_();
    f(x, w).sum().backward();
    program(y, w).sum().backward();
    assertEquals(x.grad?.tolist(), y.grad?.tolist());
  }
  assertEquals(cuts.length, 2, "forward and backward are compiled once");
});

Deno.test("what an engine may not give, and engines that are not there, are told by name", () => {
  const supports: compiler.Supports = { products: ({ target }) => target === "mm" };
  const run = (engines: Parameters<typeof cutting>[1]) =>
    compile((x: Tensor) => x.matmul(x).add(1), { backend: cutting(supports, engines).backend })(rand(2, 2));
  assertThrows(() => run({}), Error, "Expected compilers for products but found none");
  assertThrows(
    () => run({ products: () => () => [tensor([1, 2], { dtype: "float32" })] }),
    Error,
    "Expected mm from products_0 as float32 of shape [2, 2] but found float32 of shape [2]",
  );
  assertThrows(
    () => run({ products: () => () => [] }),
    Error,
    "Expected a list of 1 results from products_0 but found 0",
  );
  assert(run({ products: () => null }).shape[0] === 2, "an engine may decline");
});
