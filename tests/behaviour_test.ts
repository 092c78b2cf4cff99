/**
 * Behaviour that users of compilers for tensor programs rely on, through the public module: counts, texts, results.
 */
import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import {
  autograd,
  compile,
  compiler,
  counters,
  DynError,
  fx,
  log,
  nn,
  noGrad,
  ones,
  randn,
  type Tensor,
  tensor,
} from "../mod.ts";
import "./support/turns/programs.ts";

/** A backend that keeps the graphs it is given. */
function recorder() {
  const graphs: fx.GraphModule[] = [];
  const backend: fx.GraphBackend = (gm) => {
    graphs.push(gm);
    return (...args) => gm.forward(...args);
  };
  return { graphs, backend };
}

const ops = (gm: fx.GraphModule | undefined) =>
  (gm?.graph.nodes ?? []).filter((n) => n.op.startsWith("call_")).map((n) => n.target);

const values = (t: Tensor) => Array.from(t.toTypedArray(), Number);

Deno.test("toyExample: three graphs in a hundred random calls, two resumed parts", () => {
  const toyExample = (a: Tensor, b: Tensor) => {
    const x = a.div(a.abs().add(1));
    if (b.sum().lt(0).item()) b = b.mul(-1);
    return x.mul(b);
  };
  const { graphs, backend } = recorder();
  const compiled = compile(toyExample, { backend });
  for (let i = 0; i < 100; i++) {
    const a = randn([10]), b = randn([10]);
    assertEquals(values(compiled(a, b)), values(toyExample(a, b)));
  }
  assertEquals(graphs.length, 3);
  assertEquals(ops(graphs[0]), ["abs", "add", "truediv", "sum", "lt"]);
  const resumed = [...compiler.resumeEntries(compiled).values()].filter((entries) => entries.length > 0);
  assertEquals(resumed.length, 2);
});

Deno.test("explain names both lines of the toy example with output in between", () => {
  const toyExample = (a: Tensor, b: Tensor) => {
    const x = a.div(a.abs().add(1));
    console.log("woo");
    if (b.sum().lt(0).item()) b = b.mul(-1);
    return x.mul(b);
  };
  const report = compiler.explain(toyExample)(randn([10]), ones([10]));
  const text = report.toString();
  assert(text.startsWith("Dynamo produced 3 graphs, with 2 graph break and 6 ops"), text);
  assertEquals([report.graphCount, report.graphBreakCount, report.opCount], [3, 2, 6]);
  assertStringIncludes(text, 'console.log("woo");');
  assertStringIncludes(text, "if (b.sum().lt(0).item()) b = b.mul(-1);");
  assertMatch(text, /behaviour_test\.ts", line \d+/);
});

Deno.test("mse is sub, pow, sum, each with its file and line", () => {
  const { graphs, backend } = recorder();
  const mse = (x: Tensor, y: Tensor) => {
    const d = x.sub(y);
    return d.pow(2).sum();
  };
  compile(mse, { backend })(randn([3]), randn([3]));
  assertEquals(ops(graphs[0]), ["sub", "pow", "sum"]);
  const places = (graphs[0]?.graph.nodes ?? []).filter((n) => n.op.startsWith("call_")).map((n) =>
    n.meta.stack.at(-1)
  );
  for (const place of places) assertMatch(place?.file ?? "", /behaviour_test\.ts$/);
  assertEquals(places.map((p) => p?.code), [
    "const d = x.sub(y);",
    "return d.pow(2).sum();",
    "return d.pow(2).sum();",
  ]);
  assertMatch(graphs[0]?.code ?? "", /\/\/ File: .*behaviour_test\.ts:\d+/);
});

Deno.test("an integer argument: 2, 3 and −2 make graphs, 4 does not", () => {
  const { graphs, backend } = recorder();
  const fn = (x: Tensor, n: number) => {
    let y = x.pow(2);
    y = n >= 0 ? y.mul(n + 1) : y.div(n);
    return y;
  };
  const compiled = compile(fn, { backend });
  for (const [n, graphCount] of [[2, 1], [3, 2], [-2, 3], [4, 3]] as const) {
    const x = randn([4]);
    assertEquals(values(compiled(x, n)), values(fn(x, n)));
    assertEquals(graphs.length, graphCount);
  }
});

Deno.test("modules of two classes need one entry each", () => {
  class A extends nn.Module {
    override forward(x: Tensor): Tensor {
      return x.mul(2).exp();
    }
  }
  class B extends nn.Module {
    override forward(x: Tensor): Tensor {
      return x.neg().exp();
    }
  }
  const f = (x: Tensor, mod: A | B) => log(mod.call(x));
  const compiled = compile(f);
  const x = tensor([0.5, -1, 2]);
  const seen: number[] = [];
  for (const mod of [new A(), new A(), new B(), new B()]) {
    const y = values(compiled(x, mod));
    const factor = mod instanceof A ? 2 : -1;
    // log(exp(2x)) is 2x exactly, since it compiles to that
    assertEquals(y, [0.5, -1, 2].map((v) => v * factor));
    seen.push(compiler.cacheEntries(compiled).length);
  }
  assertEquals(seen, [1, 1, 2, 2]);
});

Deno.test("a dict of tensors: the second size generalises, the third compiles nothing", () => {
  const { graphs, backend } = recorder();
  const fn = (inputs: { x: Tensor; y: Tensor }) => {
    const x = inputs.x.cos().cos();
    const scale = inputs["y"].mean().gt(0.5).item() ? 1.1 : 1;
    return x.mul(inputs.y).mul(scale);
  };
  const compiled = compile(fn, { backend });
  const counts: number[] = [];
  for (const n of [10, 8, 9]) {
    const inputs = { x: randn([n]), y: tensor(new Array<number>(n).fill(1), { dtype: "float32" }) };
    assertEquals(values(compiled(inputs)), values(fn(inputs)));
    counts.push(graphs.length);
  }
  assertEquals(counts[2], counts[1]);
});

Deno.test("toyExample(a, 9527): a number is folded, the argument is changed", () => {
  const toyExample = (a: Tensor, b: number) => {
    a.mul_(10);
    return b + 1;
  };
  const compiled = compile(toyExample);
  const a = tensor([1, 2, 3]);
  assertEquals(compiled(a, 9527), 9528);
  assertEquals(values(a), [10, 20, 30]);
});

Deno.test("cos(cos(x)) saves one tensor, with eager's gradient", () => {
  const f = (x: Tensor) => x.cos().cos();
  const saved: number[] = [];
  const backend = compiler.aotAutograd({
    fwCompiler: (gm) => (...args) => gm.forward(...args),
    bwCompiler: (gm) => {
      // Every input of the backward graph but the tangent is a saved tensor
      saved.push(gm.graph.placeholders.length - 1);
      return (...args) => gm.forward(...args);
    },
  });
  compile(f, { backend })(randn([5, 5, 5]).requiresGrad_());
  assertEquals(saved, [1]);
  const x = randn([6]).requiresGrad_(), y = x.detach().clone().requiresGrad_();
  compile(f)(x).sum().backward();
  f(y).sum().backward();
  assert(x.grad && y.grad);
  // Written naively: both steps are saved
  class NaiveTwoCosine extends autograd.Function {
    static override forward(x: Tensor): Tensor {
      return x.cos().cos();
    }
    static override setupContext(context: autograd.FunctionContext, [x]: readonly Tensor[]): void {
      if (x) context.saveForBackward(x, x.cos());
    }
    static override backward(context: autograd.FunctionContext, grad: Tensor): Tensor {
      const [x, inner] = context.savedTensors;
      return x && inner ? grad.mul(inner.sin()).mul(x.sin()) : grad;
    }
  }
  const z = x.detach().clone().requiresGrad_();
  NaiveTwoCosine.apply(z).sum().backward();
  assert(z.grad);
  const [got, naive, want] = [values(x.grad), values(z.grad), values(y.grad)];
  for (const found of [got, naive]) found.forEach((g, i) => assert(Math.abs(g - (want[i] ?? NaN)) < 1e-6));
});

Deno.test("sin(sin(x)) is one kernel", () => {
  const before = counters.get("inductor", "kernels");
  const compiled = compile((x: Tensor) => x.sin().sin());
  const x = randn([100]);
  const y = values(compiled(x)), want = values(x).map((v) => Math.sin(Math.sin(v)));
  y.forEach((v, i) => assert(Math.abs(v - (want[i] ?? NaN)) < 1e-6));
  assertEquals(counters.get("inductor", "kernels") - before, 1);
});

Deno.test("a captured variable that is read, written and changed by others is always right", () => {
  for (const broken of [false, true]) {
    let count = 1;
    const touch = compiler.disable(() => void (count *= 2));
    const fn = (x: Tensor) => {
      const before = count;
      count += 1;
      if (broken) touch();
      return x.mul(before).add(count);
    };
    const compiled = compile(fn);
    const seen: number[][] = [];
    for (const change of [0, 0, 10, 0, -3]) {
      count += change;
      seen.push([...values(compiled(tensor([1]))), count]);
    }
    count = 1;
    const want: number[][] = [];
    for (const change of [0, 0, 10, 0, -3]) {
      count += change;
      want.push([...values(fn(tensor([1]))), count]);
    }
    assertEquals(seen, want);
  }
});

Deno.test("a break in a loop of an inlined helper: results, effects and graphs are exact", () => {
  const seen: number[] = [];
  const note = compiler.disable((i: number) => void seen.push(i));
  const helper = (x: Tensor, n: number) => {
    for (let i = 0; i < n; i++) {
      x = x.mul(2);
      note(i);
      x = x.add(i);
    }
    return x;
  };
  const fn = (x: Tensor) => helper(x.sin(), 3).sub(1);
  const { graphs, backend } = recorder();
  const x = tensor([0.25, -1]);
  const want = values(fn(x));
  seen.length = 0;
  const compiled = compile(fn, { backend });
  assertEquals(values(compiled(x)), want);
  assertEquals(seen, [0, 1, 2]);
  // sin·2 | +0 ·2 | +1 ·2 | +2 −1
  assertEquals(graphs.map((gm) => ops(gm)), [["sin", "mul"], ["add", "mul"], ["add", "mul"], ["add", "sub"]]);
  assertEquals(values(compiled(x)), want);
  assertEquals([seen, graphs.length], [[0, 1, 2, 0, 1, 2], 4]);
});

Deno.test("a compiled module equals the module except for its calls", () => {
  const module = new nn.Sequential(new nn.Linear(4, 3), new nn.BatchNorm1d(3), new nn.ReLU());
  const compiled = compile(module);
  assert(compiled instanceof nn.Sequential);
  assertEquals(Object.keys(compiled.stateDict()), Object.keys(module.stateDict()));
  assertEquals(compiled.parameters(), module.parameters());
  compiled.eval();
  assertEquals(module.training, false);
  const x = randn([5, 4]);
  const [got, want] = [values(compiled.call(x)), values(module.call(x))];
  got.forEach((g, i) => assert(Math.abs(g - (want[i] ?? NaN)) < 1e-5));
  compiled.loadStateDict(
    new nn.Sequential(new nn.Linear(4, 3), new nn.BatchNorm1d(3), new nn.ReLU()).stateDict(),
  );
  const again = [values(compiled.call(x)), values(module.call(x))] as const;
  again[0].forEach((g, i) => assert(Math.abs(g - (again[1][i] ?? NaN)) < 1e-5));
  assertEquals(`${compiled}`, `${module}`);
  // In place: the same object, its keys unchanged
  const keys = Object.keys(module.stateDict());
  module.compile();
  assertEquals(Object.keys(module.stateDict()), keys);
  const inPlace = values(module.call(x));
  again[1].forEach((g, i) => assert(Math.abs(g - (inPlace[i] ?? NaN)) < 1e-5));
});

Deno.test("a function with a gradient of its own is part of the graph, whether that is recorded or not", () => {
  class Scaled extends autograd.Function {
    static override forward(context: autograd.FunctionContext, x: Tensor, by: number): Tensor {
      context["by"] = by;
      context.saveForBackward(x);
      return by === 1 ? x : x.mul(context.needsInputGrad[0] ? -by : by);
    }
    static override backward(context: autograd.FunctionContext, grad: Tensor): readonly (Tensor | null)[] {
      return [grad.mul(Number(context["by"]) * 7), null];
    }
  }
  class Doubled extends autograd.Function {
    static override forward(x: Tensor): Tensor {
      return x.mul_(2);
    }
    static override setupContext(context: autograd.FunctionContext, [x]: readonly Tensor[]): void {
      if (x) context.markDirty(x);
    }
    static override backward(_context: autograd.FunctionContext, grad: Tensor): Tensor {
      return grad.mul(2);
    }
  }
  const fn = (x: Tensor) => {
    const y = x.mul(3), z = x.mul(5), same = Scaled.apply(y, 1);
    const isSame = [same === y, Doubled.apply(z) === z];
    return [Scaled.apply(same, 2).add(z), z, isSame] as const;
  };
  for (const requiresGrad of [false, true]) {
    const run = (f: typeof fn) => {
      const x = tensor([1, -2], { requiresGrad }), [result, written, isSame] = f(x);
      if (result.requiresGrad) result.sum().backward();
      return [result.tolist(), written.tolist(), isSame, x.grad?.tolist()];
    };
    const recorded = compile(fn, { backend: "aot_eager", fullgraph: true });
    assertEquals(run(recorded), run(fn));
    const unrecorded = compile(fn, { backend: "aot_eager", fullgraph: true });
    assertEquals(noGrad(() => run(unrecorded)), noGrad(() => run(fn)));
  }
});

Deno.test("wrong marks of a function with a gradient of its own are refused where that is not recorded", () => {
  const kept = tensor([1], { requiresGrad: true });
  class Lost extends autograd.Function {
    static override forward(context: autograd.FunctionContext, x: Tensor): Tensor {
      context.markDirty(x.mul_(2));
      return x.add(1);
    }
  }
  class Leaf extends autograd.Function {
    static override forward(context: autograd.FunctionContext, x: Tensor): readonly Tensor[] {
      context.markDirty(kept.mul_(2));
      return [kept, x];
    }
  }
  const lost = compile((x: Tensor) => Lost.apply(x)), leaf = compile((x: Tensor) => Leaf.apply(x));
  for (const x of [tensor([1]), tensor([2])]) {
    assertThrows(() => lost(x), DynError, "Expected forward of Lost to return the tensors that it marks");
    assertThrows(
      () => leaf(x),
      DynError,
      "but a leaf that requires grad is being used in an in-place operation",
    );
    assertEquals(noGrad(() => leaf(x))[1]?.tolist(), x.tolist());
  }
  assertEquals(kept.tolist(), [16]);
});
