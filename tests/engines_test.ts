/**
 * Engines as backends: graphs cut into parts for several of them, and every listed backend against plain execution.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { oneDnnAbsence } from "../backends/onednn/primitives.ts";
import { runCampaign } from "../cli/fuzz/campaign.ts";
import { TensorFuzzer } from "../cli/fuzz/tensor/fuzzer.ts";
import { counters } from "../lib/base/logs.ts";
import type { Engine } from "../lib/graph/engines.ts";
import { chosenNodes } from "../lib/measured_engines.ts";
import {
  compile,
  compiler,
  config,
  type fx,
  isTensor,
  manualSeed,
  nn,
  noGrad,
  rand,
  randn,
  type Tensor,
  tensor,
  where,
} from "../mod.ts";
import { testInTurn } from "./support/costly_tests.ts";

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

/** Returns the result of a program, and its arguments afterwards. */
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

Deno.test("graphs in parts give the results of whole ones, wherever they are cut", () => {
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
    fc.assert(property, { seed: 7, numRuns: 4 });
  }
});

Deno.test({
  name: "results of a part that show one memory are compiled, and have their gradients",
  ignore: oneDnnAbsence() !== null && Deno.env.get("CI") !== "true",
  fn() {
    manualSeed(1);
    const largest = (x: Tensor) => x.max(1), x = randn(3, 4).requiresGrad_(), y = x.detach().requiresGrad_();
    const wanted = largest(y), found = compile(largest, { backend: "onednn", fullgraph: true })(x);
    for (const { values } of [wanted, found]) values.sum().backward();
    assertEquals(found.indices.tolist(), wanted.indices.tolist());
    assertEquals(x.grad?.tolist(), y.grad?.tolist());
  },
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

Deno.test("nodes of one engine run together if possible, and the users of a node with several results stay", () => {
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

Deno.test("unread nodes go to no engine, and the index that they use is checked", () => {
  const { backend, cuts } = cutting({ all: () => true }, { all: plainly });
  const program = (x: Tensor, index: Tensor): Tensor[] => {
    x.at(index.remainder(4));
    return [];
  };
  const f = compile(program, { backend, fullgraph: true }), x = rand(3);
  assertEquals(f(x, tensor(2, { dtype: "int64" })), []);
  assertThrows(() => f(x, tensor(7, { dtype: "int64" })), Error, "Expected index in [-3, 2] but found 3");
  assertEquals(cuts.flatMap(({ parts }) => parts.map(({ name, results }) => [name, results.length])), [
    ["all_0", 1],
    ["rest_0", 0],
  ]);
});

Deno.test("parts of graphs with symbolic sizes serve all sizes, gradients too", () => {
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

Deno.test("an engine runs a part only for the layout that it has compiled, and for whatever differs along one element", () => {
  const program = (x: Tensor) => x.sin().matmul(x).add(1);
  const isProduct = { products: ({ target }: fx.Node) => target === "matmul" };
  const layouts = (x: Tensor): Tensor[] => [
    x,
    x.clone(),
    x.t(),
    x.t().contiguous().t(),
    x.unsqueeze(2).repeat(1, 1, 2).select(2, 0),
    x.repeat(1, 2).narrow(1, 0, x.shape[0] ?? 0),
  ];
  for (const [rows, served] of [[3, 2], [2, 2], [1, 6]] as const) {
    let calls = 0, run: ReturnType<compiler.Partition["compile"]> = () => [];
    const counting = (gm: fx.GraphModule) => (...args: readonly unknown[]) => {
      calls++;
      return gm.forward(...args);
    };
    const x = rand(rows, rows);
    compile(program, {
      backend: (gm) => run = compiler.partition(gm, isProduct).compile({ products: counting }, counting),
      fullgraph: true,
    })(x);
    let whole = 0;
    for (const each of layouts(x)) {
      calls = 0;
      const made = run(each), found: unknown = Array.isArray(made) ? made[0] : made;
      assert(isTensor(found) && found.equal(program(each)), `${rows} ${each.stride()}`);
      whole += Number(calls === 3);
    }
    assertEquals(whole, served, `${rows} rows`);
    calls = 0;
    run(x.clone().requiresGrad_());
    assertEquals(calls, 0, "a tensor that requires grad runs op by op");
  }
});

Deno.test("invalid results of engines, and missing engines, are reported by name", () => {
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

Deno.test("every available backend runs random programs as they run plainly", async () => {
  const seed = Number(Deno.env.get("DYN_FUZZ_SEED") ?? Math.floor(Math.random() * 2 ** 31));
  const programs = Number(Deno.env.get("DYN_FUZZ_PROGRAMS") ?? 4),
    findings: string[] = [],
    files: string[] = [];
  const backends = compiler.describeBackends().filter(({ name, missing }) =>
    name !== "inductor" && missing === null
  );
  for (const { name } of backends) {
    // As WebAssembly, which compiles fast: native code has its own tests
    await config.patch(
      { inductor: { tier: "wasm" } },
      () =>
        // ONNX Runtime's tanh multiplies by small factors, so that subnormal numbers lose digits
        runCampaign(new TensorFuzzer({ backend: name, subnormals: name !== "onnxrt" }), {
          tier: "eager",
          seed,
          programs,
          seconds: 60,
          shrinkSeconds: 10,
          report: (event) => {
            if (event.event !== "finding") return;
            const { path, failure, file, signature } = event;
            files.push(file);
            findings.push(`${name}, seed ${event.seed}, path ${path}, ${signature}\n${failure.text}`);
          },
        }),
    );
  }
  // What identifies the programs comes last, where logs that are cut still have it
  const again = `All of them again: DYN_FUZZ_SEED=${seed} DYN_FUZZ_PROGRAMS=${programs}`;
  assert(findings.length === 0, [...files, ...findings, again].join("\n\n"));
});

Deno.test("backends list their requirements, and unavailable ones cannot be chosen", () => {
  compiler.registerBackend("nowhere", plainly, {
    needs: "an abacus",
    absence: () => "Expected an abacus but found none",
  });
  const found = compiler.describeBackends().find(({ name }) => name === "nowhere");
  assertEquals(found, { name: "nowhere", needs: "an abacus", missing: "Expected an abacus but found none" });
  assertThrows(
    () => compile((x: Tensor) => x, { backend: "nowhere" }),
    Error,
    'Expected an abacus but found none; backend "nowhere" needs an abacus',
  );
  assertThrows(
    () => compiler.registerBackend("inductor", plainly),
    Error,
    'Expected a name that no other backend has but found "inductor"',
  );
  const listed = compiler.listBackends();
  for (const name of ["aot_fuser", "fuser", "inductor", "ofi", "onednn", "onnxrt", "replay"]) {
    assert(listed.includes(name), name);
  }
});

/** The largest difference of what two backends give, of a program and of its gradients. */
function difference(program: Program, inputs: readonly Tensor[], backend: string): number {
  const run = (name: string): Tensor[] => {
    const [x, y] = inputs.map((each) => each.detach().clone().requiresGrad_());
    assert(x && y);
    const result = compile(program, { backend: name, fullgraph: true })(x, y);
    const list: readonly Tensor[] = Array.isArray(result) ? result : [result];
    list.map((each) => each.mul(each).sum()).reduce((a, b) => a.add(b)).backward();
    return [...list, ...[x.grad, y.grad].filter((each) => each !== null)];
  };
  const expected = run("eager"), found = run(backend);
  assertEquals(found.map(({ shape }) => shape), expected.map(({ shape }) => shape));
  return Math.max(...found.map((each, k) => each.sub(expected[k] ?? each).abs().max().item()));
}

Deno.test("engines take over parts that they are measured to run faster, and measurements are cached", () => {
  const identity = `${Date.now()} ${Math.random()}`;
  const engineOf = (name: string, run: () => void): Engine => ({
    name,
    needs: "nothing",
    code: () => ({
      absence: () => null,
      supports: ({ target }) => target === "mm" || target === "permute",
      comparison: {
        identity: () => identity,
        pieces: ({ nodes }) => nodes.filter(({ target }) => target === "mm").map((node) => [node]),
      },
      compile: () => () => {
        run();
        return [];
      },
    }),
  });
  const quick = engineOf("quick", () => {});
  const slow = engineOf("slow", () => {
    for (const end = performance.now() + 3; performance.now() < end;);
  });
  const found: string[][] = [];
  const fwCompiler = (gm: fx.GraphModule) => {
    for (const engine of [quick, slow, quick]) {
      const isChosen = chosenNodes(engine, gm);
      found.push(gm.graph.nodes.filter(isChosen).map(({ target }) => target));
    }
    return gm.forward;
  };
  const backend = compiler.aotAutograd({ fwCompiler });
  const program = (x: Tensor) => x.t().matmul(x).matmul(x.sin());
  counters.clear();
  config.patch({ graphCache: true, inductor: { maxAutotune: true, tier: "wasm" } }, () => {
    noGrad(() => compile(program, { backend, fullgraph: true })(rand(64, 64)));
  });
  assertEquals(found, [["permute", "mm", "mm"], [], ["permute", "mm", "mm"]]);
  assertEquals(counters.entries("engine_choices").toSorted(), [["measured", 4], ["stored", 2]]);
  found.length = 0;
  noGrad(() => compile(program, { backend, fullgraph: true })(rand(64, 64)));
  assertEquals(found[1], ["permute", "mm", "mm"], "unless measurements are asked for");
});

testInTurn("layers of oneDNN", {
  name: "oneDNN computes products, convolutions with their gradients, softmax and layer norms",
  ignore: oneDnnAbsence() !== null && Deno.env.get("CI") !== "true",
  fn() {
    const { functional: F } = nn, row = rand(6), other = rand(6);
    /** A program, the sizes of its tensors, and how many nodes are oneDNN's: forward and backward, without gradients. */
    const cases: Readonly<
      Record<string, readonly [Program, number[], number[], trained: number, plain: number]>
    > = {
      "products of any layout": [(x, y) => x.t().matmul(y).matmul(x.narrow(1, 1, 2)), [5, 5], [5, 5], 6, 2],
      "batches of products": [(x, y) => x.matmul(y.transpose(-1, -2)), [2, 3, 4, 5], [2, 3, 6, 5], 3, 1],
      "a convolution in groups": [
        (x, w) => F.conv2d(x, w, row, 2, 1, 1, 2),
        [2, 4, 7, 6],
        [6, 2, 3, 3],
        3,
        1,
      ],
      "a dilated one": [
        (x, w) => F.conv2d(x, w, null, [1, 2], [2, 0], [2, 1]),
        [1, 3, 8, 8],
        [4, 3, 3, 2],
        3,
        1,
      ],
      "one of lines": [(x, w) => F.conv1d(x, w, null, 1, 1), [2, 3, 9], [6, 3, 3], 3, 1],
      "softmax": [(x, y) => [x.softmax(1), y.logSoftmax(0)], [3, 6], [4, 6], 0, 2],
      "none of these": [
        (x, y) => {
          const exp = x.sub(x.amax(1, true), { alpha: 2 }).exp(), z = y.sub(y.mean(1, { keepdim: true }));
          return [
            exp.div(exp.sum(1, true)),
            z.mul(z.square().mean(1, { keepdim: true }).add(1, { alpha: 0.5 }).rsqrt()),
          ];
        },
        [3, 6],
        [2, 6],
        0,
        0,
      ],
      "layer norms": [
        (x, y) => [F.layerNorm(x, [6], row, other), F.layerNorm(y, [6])],
        [3, 6],
        [2, 2, 6],
        0,
        2,
      ],
    };
    manualSeed(1);
    for (const [name, [program, one, two, trained, plain]] of Object.entries(cases)) {
      const inputs = [randn(one), randn(two)];
      counters.clear();
      assert(difference(program, inputs, "onednn") < 1e-4, name);
      assert(counters.get("onednn", "nodes") >= trained, `${name}: ${counters.get("onednn", "nodes")}`);
      counters.clear();
      const [x, y] = inputs;
      assert(x && y);
      const run = (backend: string) => {
        const result = noGrad(() => compile(program, { backend, fullgraph: true })(x, y));
        return Array.isArray(result) ? result : [result];
      };
      const found = run("onednn");
      assertEquals(counters.get("onednn", "nodes"), plain, name);
      run("eager").forEach((each, k) => assert(each.sub(found[k]).abs().max().item() < 1e-5, name));
    }
    const odd = tensor([[NaN, 1, 2], [Infinity, 1, 2], [-Infinity, 1, 2], [-Infinity, -Infinity, -Infinity]]);
    for (
      const fn of [(x: Tensor) => x.softmax(1), (x: Tensor) => x.softmax(0), (x: Tensor) => x.logSoftmax(1)]
    ) {
      const found = noGrad(() => compile(fn, { backend: "onednn" })(odd)), expected = fn(odd);
      assertEquals(found.isnan().tolist(), expected.isnan().tolist());
      assertEquals(found.isinf().tolist(), expected.isinf().tolist());
    }
    const [x, y] = [randn(8, 6), randn(6, 5)], chosen = (x: Tensor, y: Tensor) => x.matmul(y).softmax(1);
    counters.clear();
    const measured = config.patch(
      { inductor: { tier: "wasm" } },
      () => noGrad(() => compile(chosen, { backend: "onednn", mode: "max-autotune", fullgraph: true })(x, y)),
    );
    assert(measured.sub(chosen(x, y)).abs().max().item() < 1e-5);
    assertEquals(counters.entries("engine_choices").reduce((sum, [, count]) => sum + count, 0), 2);
    const convolve = (x: Tensor) => F.conv2d(x.sin(), kernel, row, 1, 1).flatten(1).softmax(1),
      kernel = randn(6, 2, 3, 3);
    const sized = compile(convolve, { backend: "onednn", dynamic: true });
    for (const [batch, size] of [[4, 5], [7, 9], [10, 11]] as const) {
      const x = randn(batch, 2, size, size);
      assert(noGrad(() => sized(x).sub(convolve(x)).abs().max().item()) < 1e-5, `${batch}, ${size}`);
    }
    assertEquals(compiler.status(sized).recompiles, 0, "one version serves all sizes");
  },
});

Deno.test("fusers make kernels of pointwise chains and run the rest op by op", () => {
  const program: Program = (x, y) => x.sin().mul(y).matmul(y).add(x).tanh();
  for (const backend of ["fuser", "aot_fuser"]) {
    assert(difference(program, [rand(4, 4), rand(4, 4)], backend) < 1e-5);
    const f = compile(program, { backend });
    noGrad(() => f(rand(4, 4), rand(4, 4)));
    assertEquals([compiler.status(f).graphs, compiler.status(f).kernels], [1, 2], backend);
  }
});

Deno.test("a part's reads after a write that needs a gradient have one", () => {
  const program = (x: Tensor, w: Tensor) => {
    const before = x.detach();
    x.sub_(w);
    return [x.mul(2), before.mul(3)];
  };
  const found = ([program, compile(program, { backend: "fuser", fullgraph: true })] as const).map((run) => {
    const w = tensor(0.5, { requiresGrad: true }), [a, b] = run(tensor([1.5, 2]), w);
    a?.sum().backward();
    return [a?.tolist(), b?.tolist(), b?.requiresGrad, w.grad?.item()];
  });
  assertEquals(found[0], [[2, 3], [3, 4.5], false, -4]);
  assertEquals(found[1], found[0]);
});
