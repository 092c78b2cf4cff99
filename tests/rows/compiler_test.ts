/** Rows M8 to M19 of the list of features: controlling compilation. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  compile,
  compiler,
  config,
  DynError,
  fx,
  nn,
  noGrad,
  ones,
  type Tensor,
  tensor,
  Unsupported,
} from "../../mod.ts";
import { aotAutograd, interpretGraph } from "../../lib/aot/backend.ts";
import { noticeUnrolling } from "../../lib/aot/unrolled.ts";
import { Graph } from "../../lib/graph/node.ts";
import { stderrOf } from "../support/stderr.ts";

const eager = { backend: "eager" } as const;

Deno.test("M8: reset, listBackends, disable with a reason, isCompiling", () => {
  const count = new compiler.CompileCounter();
  const f = compile((x: Tensor) => compiler.isCompiling() ? x.add(1) : x.sub(1), { backend: count });
  assertEquals([f(ones([1])).tolist(), compiler.isCompiling()], [[2], false]);
  const dynamo = compile((x: Tensor) => compiler.isDynamoCompiling() ? x.add(1) : x.sub(1), eager);
  assertEquals([dynamo(ones([1])).tolist(), compiler.isDynamoCompiling()], [[2], false]);
  compiler.reset();
  f(ones([1]));
  assertEquals(count.frameCount, 2);
  assert(!compiler.listBackends().includes("eager"));
  assert(compiler.listBackends({ debug: true }).includes("aot_eager"));
  const loud = compiler.disable((x: Tensor) => x.mul(3), { reason: "it talks to a device" });
  const { breakReasons } = compiler.explain((x: Tensor) => loud(x.add(1)).sub(1))(ones([1]));
  assertEquals(breakReasons.map(({ id }) => id), ["GB0003"]);
  assert(breakReasons[0]?.explanation.endsWith(", it talks to a device"), breakReasons[0]?.explanation);
});

Deno.test("M8: a function that is disabled without its callees", () => {
  const helper = (x: Tensor) => x.sin().add(1);
  const steps = (x: Tensor) => helper(helper(x.mul(2))).mul(3);
  const part = compiler.disable(steps, { recursive: false });
  const graphsOf = (fn: (x: Tensor) => Tensor) => {
    const found: string[][] = [];
    const run = compile(fn, {
      backend: (gm) => {
        found.push(gm.graph.nodes.flatMap(({ op, target }) => op.startsWith("call") ? [target] : []));
        return null;
      },
    });
    const x = tensor([0.5, 1]);
    assertEquals([run(x).tolist(), run(x).tolist()], [fn(x).tolist(), fn(x).tolist()]);
    return found;
  };
  assertEquals(graphsOf((x) => part(x.add(1)).sub(1)), [["add"], ["sin", "add", "sin", "add"], ["sub"]]);
  assertEquals(graphsOf(part), [["sin", "add", "sin", "add"]]);
  const { breakReasons } = compiler.explain((x: Tensor) => part(x))(ones([1]));
  assertEquals(breakReasons.map(({ id }) => id), ["GB0003", "GB0003"]);
  assertThrows(() => compile(part, { ...eager, fullgraph: true })(ones([1])), Unsupported, "steps");
});

Deno.test("M8: code that is compiled elsewhere is not exported", () => {
  const f = compile((x: Tensor) => compiler.isExporting() ? x : x.add(1), { ...eager, fullgraph: true });
  assertEquals([f(ones([1])).tolist(), compiler.isExporting()], [[2], false]);
});

Deno.test("M9: each stance handles calls as documented", () => {
  const run = (stance: compiler.Stance, calls: readonly number[]): number => {
    const count = new compiler.CompileCounter();
    const f = compile((x: Tensor) => x.add(1), { backend: count });
    using _ = compiler.setStance(stance);
    for (const size of calls) assertEquals(f(ones([size])).shape, [size]);
    return count.frameCount;
  };
  assertEquals(run("default", [2, 3, 4]), 2);
  assertEquals(run("force_eager", [2, 3, 4]), 0);
  assertEquals(run("run_only", [2, 3, 4]), 0);
  assertEquals(run("eager_on_recompile", [2, 3, 4]), 1);
  assertThrows(() => run("fail_on_recompile", [2, 3]), Unsupported, "recompilation");
  const wrong: string = "eager_when_compiled";
  assertThrows(
    () => Reflect.apply(compiler.setStance, undefined, [wrong]),
    DynError,
    'aot_eager_then_compile, run_only but found "eager_when_compiled"',
  );
});

Deno.test("M9: eager_then_compile runs the first call plainly and learns which sizes and numbers change", () => {
  const count = new compiler.CompileCounter();
  const f = compile((x: Tensor, n: number) => x.add(n), { backend: count });
  using _ = compiler.setStance("eager_then_compile");
  f(ones([2]), 5);
  assertEquals(count.frameCount, 0);
  for (const n of [6, 7, 8]) assertEquals(f(ones([n]), n).shape, [n]);
  assertEquals(count.frameCount, 1);
});

Deno.test("M9: aot_eager_then_compile runs the first call on aot_eager, and its backward pass", () => {
  const count = new compiler.CompileCounter();
  const f = compile((x: Tensor) => {
    cut();
    return x.mul(x).sum();
  }, { backend: count });
  using _ = compiler.setStance("aot_eager_then_compile");
  const x = tensor([1, 2, 3], { requiresGrad: true });
  f(x).backward();
  assertEquals([count.frameCount, x.grad?.tolist()], [0, [2, 4, 6]]);
  f(tensor([1, 2, 3, 4], { requiresGrad: true }));
  f(tensor([1, 2, 3, 4, 5], { requiresGrad: true }));
  assertEquals(count.frameCount, 1);
});

const cut = compiler.disable(() => {});

Deno.test("M9: forceBackend makes every function use a backend, with entries of its own", () => {
  const own = new compiler.CompileCounter(), forced = new compiler.CompileCounter();
  const f = compile((x: Tensor) => x.add(1), { backend: own });
  f(ones([2]));
  {
    using _ = compiler.setStance("default", { forceBackend: forced });
    f(ones([2]));
    f(ones([2]));
  }
  f(ones([2]));
  assertEquals([own.frameCount, forced.frameCount], [1, 1]);
  assertThrows(() => compiler.setStance("force_eager", { forceBackend: "eager" }), DynError, "forceBackend");
  assertThrows(() => compiler.setStance("default", { forceBackend: "none" }), DynError, 'but found "none"');
});

Deno.test("M9: skipGuardEvalUnsafe runs the only entry without checking guards", () => {
  const f = compile((x: Tensor, n: string) => x.add(n.length), eager);
  f(ones([1]), "four");
  {
    using _ = compiler.setStance("default", { skipGuardEvalUnsafe: true });
    assertEquals(f(ones([1]), "no").tolist(), [5]);
  }
  assertEquals(f(ones([1]), "no").tolist(), [3]);
  {
    // Of two entries the guards choose.
    using _ = compiler.setStance("default", { skipGuardEvalUnsafe: true });
    assertEquals([f(ones([1]), "no").tolist(), f(ones([1]), "four").tolist()], [[3], [5]]);
  }
});

Deno.test("M9: a stance is set for a block, for a function, or from here on", async () => {
  const count = new compiler.CompileCounter();
  const f = compile((x: Tensor) => x.add(1), { backend: count });
  const plain = compiler.setStance("force_eager")((x: Tensor) => f(x));
  plain(ones([1]));
  const later = compiler.setStance("force_eager")(async (x: Tensor) => {
    await null;
    return f(x);
  });
  await later(ones([1]));
  class Server {
    @compiler.setStance("force_eager")
    answer(x: Tensor): Tensor {
      return f(x);
    }
  }
  new Server().answer(ones([1]));
  assertEquals(count.frameCount, 0);
  f(ones([1]));
  assertEquals(count.frameCount, 1);
});

Deno.test("M10: allowInGraph makes one node, assumeConstantResult one value", () => {
  const count = new compiler.CompileCounter();
  const twice = compiler.allowInGraph((x: Tensor) => x.add(x));
  const size = compiler.assumeConstantResult(() => 3);
  const f = compile((x: Tensor) => twice(x).mul(size()), { backend: count, fullgraph: true });
  assertEquals([f(ones([1])).tolist(), count.opCount], [[6], 2]);
});

Deno.test("M10: substituteInGraph traces another function instead of one that cannot be traced", () => {
  const original = URL.canParse;
  const f = (x: Tensor) => x.add(original("about:blank") ? 2 : 0);
  assertEquals(compiler.explain(f)(ones([1])).graphBreakCount, 1);
  const wide = (a: number, b: number) => a + b;
  assertThrows(
    () => compiler.substituteInGraph(Math.hypot, (a: number) => a),
    DynError,
    "Expected a substitute of hypot with 2 parameters but found 1",
  );
  compiler.substituteInGraph(Math.imul, wide);
  const g = compile((x: Tensor, n: number) => x.add(Math.imul(n, 3)), { ...eager, fullgraph: true });
  // The substitute does something else here, to be seen.
  assertEquals(g(ones([1]), 4).tolist(), [8]);
  compiler.substituteInGraph(original, (url) => `${url}`.includes(":"), { skipSignatureCheck: true });
  assertEquals(compiler.explain(f)(ones([1])).graphBreakCount, 0);
});

Deno.test("M11: nonstrictTrace runs a function during tracing and adds its ops to the graph", () => {
  let runs = 0;
  const bias = tensor([10, 20]);
  const tricky = compiler.nonstrictTrace(
    (x: Tensor, { scale }: { readonly scale: number }): [Tensor, { n: number }] => {
      runs++;
      const words = "sin,cos".match(/\w+/g) ?? [];
      const ops = new Map<string, (t: Tensor) => Tensor>([["sin", (t) => t.sin()], ["cos", (t) => t.cos()]]);
      const y = words.reduce((t, word) => ops.get(word)?.(t) ?? t, x).mul(scale).add(bias);
      return [y, { n: words.length }];
    },
  );
  const fn = (x: Tensor): Tensor => {
    const [y, { n }] = tricky(x.add(1), { scale: 3 });
    return y.mul(n);
  };
  const count = new compiler.CompileCounter();
  const f = compile(fn, { backend: count, fullgraph: true });
  const x = tensor([0.5, -1], { requiresGrad: true }), plain = x.detach().requiresGrad_(true);
  const expected = fn(plain);
  expected.sum().backward();
  runs = 0;
  const result = f(x);
  result.sum().backward();
  f(x);
  assertEquals([result.tolist(), x.grad?.tolist()], [expected.tolist(), plain.grad?.tolist()]);
  assertEquals([runs, count.opCount, count.frameCount], [1, 6, 1]);
});

Deno.test("M11: values that cannot be part of a graph break it, and the function runs uncompiled", () => {
  const looks = compiler.nonstrictTrace((x: Tensor) =>
    Number(x.add(1).sum().item()) > 0 ? x.mul(2) : x.mul(3)
  );
  const throws = compiler.nonstrictTrace((x: Tensor): Tensor => {
    x.add(1);
    throw new RangeError("Never");
  });
  const { breakReasons, opsPerGraph } = compiler.explain((x: Tensor) => looks(x.sin()).cos())(ones([1]));
  assertEquals([breakReasons.map(({ id }) => id), opsPerGraph], [["GB0037"], [["sin"], ["cos"]]]);
  const f = compile((x: Tensor) => {
    try {
      return throws(x.sin());
    } catch (error) {
      return error instanceof RangeError ? x.neg() : x;
    }
  }, eager);
  assertEquals(f(tensor([2])).tolist(), [-2]);
});

Deno.test("M12: a break is an error inside a region of errorOnGraphBreak, but not outside", () => {
  const inner = (x: Tensor): Tensor => {
    cut();
    return x.mul(2);
  };
  const strict = (x: Tensor) => compiler.errorOnGraphBreak(true, () => inner(x));
  const { reason } = assertThrows(() => compile(strict, eager)(ones([1])), Unsupported);
  assertEquals([reason.id, reason.stack[0]?.functionName], ["GB0003", "inner"]);
  const around = compile((x: Tensor) => {
    cut();
    const y = compiler.errorOnGraphBreak(true, () => x.add(1));
    cut();
    return y;
  }, eager);
  assertEquals([around(ones([1])).tolist(), compiler.status(around).graphBreaks], [[2], 2]);
});

Deno.test("M12: the innermost region applies, also after a break; fullgraph overrides all", () => {
  const body = (x: Tensor): Tensor => {
    cut();
    const y = x.mul(2);
    cut();
    return y.add(1);
  };
  const lenient = (x: Tensor) =>
    compiler.errorOnGraphBreak(true, () => compiler.errorOnGraphBreak(false, () => body(x)).sub(1));
  const count = new compiler.CompileCounter();
  assertEquals([compile(lenient, { backend: count })(ones([1])).tolist(), count.opCount], [[2], 3]);
  const late = (x: Tensor) =>
    compiler.errorOnGraphBreak(true, () => {
      const y = compiler.errorOnGraphBreak(false, () => body(x));
      cut();
      return y;
    });
  assertThrows(() => compile(late, eager)(ones([1])), Unsupported, "GB0003");
  assertThrows(() => compile(lenient, { ...eager, fullgraph: true })(ones([1])), Unsupported, "GB0003");
});

Deno.test("M12: around a compiled function, errorOnGraphBreak applies to everything compiled inside", () => {
  const f = compile((x: Tensor) => {
    cut();
    return x.add(1);
  }, eager);
  assertThrows(() => compiler.errorOnGraphBreak(true, () => f(ones([1]))), Unsupported, "GB0003");
  assertEquals(f(ones([1])).tolist(), [2]);
  assertEquals(compiler.errorOnGraphBreak(true, () => f(ones([1]))).tolist(), [2]);
});

Deno.test("M13: within a function without nested breaks the graph ends at the outermost call", () => {
  const noted: string[] = [];
  const note = compiler.disable((text: string) => void noted.push(text));
  const inner = (x: Tensor) => {
    const y = x.mul(2);
    note("inner");
    return y.add(1);
  };
  const middle = (x: Tensor) => inner(x.add(1)).mul(2);
  const whole = compiler.disableNestedGraphBreaks(middle);
  const counted = (part: typeof middle) => {
    const count = new compiler.CompileCounter();
    const f = compile((x: Tensor) => part(x.sub(1)).sub(1), { backend: count }), x = tensor([0.5, 1]);
    const expected = middle(x.sub(1)).sub(1).tolist();
    for (let i = 0; i < 2; i++) assertEquals(f(x).tolist(), expected);
    return [compiler.status(f).graphBreaks, count.frameCount, count.opCount];
  };
  assertEquals(counted(middle), [1, 2, 6]);
  assertEquals(counted(whole), [1, 2, 2]);
  assertEquals(noted.length, 6);
  // Around the whole function: nothing inside of what it calls
  const count = new compiler.CompileCounter();
  const root = compile(compiler.disableNestedGraphBreaks((x: Tensor) => middle(x.sub(1)).sub(1)), {
    backend: count,
  });
  assertEquals(root(tensor([0.5, 1])).tolist(), middle(tensor([-0.5, 0])).sub(1).tolist());
  assertEquals([count.frameCount, count.opCount], [2, 2]);
});

Deno.test("M13: a break in a nested call resumes every frame, and is counted once", () => {
  const inner = (x: Tensor): Tensor => {
    const y = x.add(1);
    cut();
    return y.mul(2);
  };
  const middle = (x: Tensor): Tensor => inner(x.sin()).cos();
  const report = compiler.explain((x: Tensor) => middle(x).exp())(ones([2]));
  assertEquals(report.opsPerGraph, [["sin", "add"], ["mul", "cos", "exp"]]);
  assertEquals(
    report.breakReasons.map(({ stack }) => stack.map((frame) => frame.functionName)),
    [
      ["inner", "middle", "<anonymous>"],
    ].map((names) => names.map((name) => name === "<anonymous>" ? "" : name)),
  );
});

Deno.test("M14: a break in a loop is one break, and the loop is compiled", () => {
  const fn = (x: Tensor): Tensor => {
    for (let i = 0; i < 20; i++) {
      x = x.add(1);
      cut();
      x = x.mul(1);
    }
    return x;
  };
  const report = compiler.explain(fn)(ones([1]));
  assertEquals([report.graphBreakCount, report.uncompiled.length], [1, 0]);
  assert(report.opCount >= 4 && report.graphCount <= 5, `${report}`);
  const f = compile(fn, eager);
  f(ones([1]));
  assertEquals([f(ones([1])).tolist(), compiler.status(f).graphBreaks], [[21], 1]);
});

Deno.test("M14: a loop that unrolls into thousands of operations is reported once, with its line", () => {
  const rounds = (differ: boolean) =>
    compile(function long(x: Tensor): Tensor {
      for (let i = 0; i < 2600; i++) {
        // Exponents are no numbers that a region could be given
        x = x.pow(differ ? 1 + i : 1);
        x = x.mul(0.5);
      }
      return x;
    }, { backend: aotAutograd({ fwCompiler: interpretGraph, regions: true }) });
  // Equal rounds are compiled once.
  assertEquals(stderrOf(() => rounds(false)(ones([1]))), "");
  const text = stderrOf(() => {
    const long = rounds(true);
    long(ones([1]));
    long(ones([2]));
  });
  assert(
    /^\[perf_hints\] long is a graph of 5200 operations, since a loop is unrolled whose rounds differ: 2600 times\n/
      .test(text),
    text,
  );
  assert(/\n\[perf_hints\] {3}x = x\.(pow|mul)\(.*\); \(.*compiler_test\.ts:\d+\)\n/.test(text), text);
  assertEquals(text.match(/is unrolled/g)?.length, 1);
});

Deno.test("M14: calls of one region are not reported as an unrolled loop", () => {
  const captured = new Graph(), seen = new Graph(), body = new Graph();
  const stack = [{ functionName: "deep", code: "layer.call(x)", file: "/model.ts", line: 3, column: 5 }];
  body.create("output", "output", { args: [[body.placeholder("x")]] });
  const region = { graph: body, ownResults: 1, mutatedInputs: [] };
  let [x, y] = [captured.placeholder("x"), seen.placeholder("x")];
  for (let i = 0; i < 5000; i++) {
    x = captured.create("call_function", "sin", { args: [x], meta: { stack } });
    const call = seen.create("call_function", "region_0", { args: [y], meta: { stack, region } });
    y = seen.callFunction("getitem", [call, 0]);
  }
  assertEquals(stderrOf(() => noticeUnrolling(captured, seen)), "");
  assert(stderrOf(() => noticeUnrolling(captured, captured)).includes("deep is a graph of 5000 operations"));
});

Deno.test("M17: one compiled block serves all equal ones", () => {
  class Block extends nn.Module {
    readonly linear = new nn.Linear(4, 4);
    override forward(x: Tensor): Tensor {
      return this.linear.call(x).relu();
    }
  }
  const count = new compiler.CompileCounter();
  const blocks = Array.from({ length: 6 }, () => new Block());
  const block = compile((b: Block, x: Tensor) => b.forward(x), { backend: count });
  const model = (x: Tensor) => blocks.reduce((y, b) => block(b, y), x);
  const x = ones([2, 4]);
  const expected = noGrad(() => blocks.reduce((y, b) => b.forward(y), x));
  assertEquals(noGrad(() => model(x)).tolist(), expected.tolist());
  // The second one shows that parameters differ, which then are inputs.
  assertEquals(count.frameCount, 2);
});

Deno.test("M18: compile uses the default backend if none is given", () => {
  const initially = compiler.getDefaultBackend();
  const count = new compiler.CompileCounter();
  compiler.setDefaultBackend(count);
  try {
    assertEquals(compiler.getDefaultBackend(), count);
    compile((x: Tensor) => x.add(1))(ones([1]));
    compile((x: Tensor) => x.add(1), eager)(ones([1]));
    assertEquals(count.frameCount, 1);
    assertThrows(() => compiler.setDefaultBackend("nope"), DynError, 'but found "nope"');
    compiler.setDefaultBackend("eager");
    assertEquals(compiler.getDefaultBackend(), "eager");
  } finally {
    compiler.setDefaultBackend(null);
  }
  assertEquals(compiler.getDefaultBackend(), initially);
});

class Own extends nn.Module {
  scale = 2;
  readonly linear = new nn.Linear(2, 2);
  override forward(x: Tensor): Tensor {
    return this.linear.call(x).mul(this.scale);
  }
}

Deno.test("M19: a guard filter sees each guard and selects those to test", () => {
  const seen: compiler.GuardFilterEntry[] = [];
  const table = { scale: 3 };
  const f = compile((x: Tensor) => x.mul(table.scale), {
    ...eager,
    options: {
      guardFilterFn: (entries: readonly compiler.GuardFilterEntry[]) => {
        seen.push(...entries);
        return entries.map(({ name }) => name !== `F["table"].scale`);
      },
    },
  });
  assertEquals(f(ones([1])).tolist(), [3]);
  const x = seen.find(({ name }) => name === `L["x"]`),
    scale = seen.find(({ name }) => name.endsWith(".scale"));
  assertEquals([x?.guardType, x?.isGlobal, x?.module], ["tensor", false, "none"]);
  assertEquals([scale?.value, scale?.isGlobal, scale?.hasValue], [3, true, true]);
  table.scale = 5;
  assertEquals(f(ones([1])).tolist(), [3]);
  assertThrows(
    () => compile((x: Tensor) => x, { ...eager, options: { guardFilterFn: () => [true] } })(ones([1])),
    DynError,
    "booleans of guardFilterFn",
  );
});

Deno.test("M19: the builtin filters do what their names say", () => {
  const kept = (guardFilterFn: compiler.GuardFilter): string[] => {
    const own = new Own(), table = { scale: 1 };
    const f = compile((x: Tensor) => own.call(x).add(table.scale), { ...eager, options: { guardFilterFn } });
    noGrad(() => f(ones([1, 2])));
    return [...compiler.cacheEntries(f)[0]?.guards.codeParts ?? []];
  };
  const all = kept((entries) => entries.map(() => true));
  const has = (guards: readonly string[], part: string) => guards.some((guard) => guard.includes(part));
  for (const part of [`L["x"]`, `F["table"].scale`, `F["own"].scale`, `F["own"].linear.`]) {
    assert(has(all, part), part);
  }
  assertEquals(kept(compiler.skipAllGuardsUnsafe), []);
  const inbuilt = kept(compiler.skipGuardOnInbuiltNnModulesUnsafe);
  assertEquals([has(inbuilt, `F["own"].scale`), has(inbuilt, `F["own"].linear.`)], [true, false]);
  const modules = kept(compiler.skipGuardOnAllNnModulesUnsafe);
  assertEquals([has(modules, `F["own"]`), has(modules, `F["table"].scale`)], [false, true]);
  const globals = kept(compiler.skipGuardOnGlobalsUnsafe);
  assertEquals([has(globals, `F["`), has(globals, `L["x"]`)], [false, true]);
  const tensors = kept(compiler.keepTensorGuardsUnsafe);
  assert(tensors.length === 1 && tensors[0]?.startsWith(`check_tensor(L["x"]`), tensors.join("\n"));
});

Deno.test("M19: filters see proxies without running their code, revoked ones too", () => {
  let calls = 0;
  const { proxy, revoke } = Proxy.revocable({ a: 2 }, {
    getPrototypeOf(target) {
      calls++;
      return Reflect.getPrototypeOf(target);
    },
  });
  const seen: compiler.GuardFilterEntry[] = [];
  const guardFilterFn: compiler.GuardFilter = (entries) => {
    seen.push(...entries);
    return entries.map(() => true);
  };
  const f = compile((x: Tensor) => x.add(proxy.a), { ...eager, options: { guardFilterFn } });
  assertEquals([f(ones([1])).tolist(), calls], [[3], 0]);
  assert(seen.some(({ value }) => value === proxy));
  revoke();
  seen.length = 0;
  assertThrows(() => f(ones([1])), TypeError, "revoked");
  assert(seen.length > 0, "The call with the revoked proxy was not compiled");
});

Deno.test("M19: with filters the answer is right if all guards hold", () => {
  const seen: fx.GraphModule[] = [];
  const f = compile((x: Tensor) => x.add(1), {
    backend: (gm) => {
      seen.push(gm);
      return null;
    },
    options: { guardFilterFn: compiler.keepTensorGuardsUnsafe },
  });
  assertEquals([f(ones([2])).tolist(), f(ones([3])).tolist(), seen.length], [[2, 2], [2, 2, 2], 2]);
  config.patch({ cacheSizeLimit: 2 }, () => assertEquals(f(ones([4])).shape, [4]));
});
