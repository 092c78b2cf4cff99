/** Capture: the graph, the guards of a call, and the function that replaces the original. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { createRequire } from "node:module";
import { Unsupported } from "../lib/base/errors.ts";
import { config } from "../lib/base/config.ts";
import { logs } from "../lib/base/logs.ts";
import {
  allowInGraph,
  assumeConstantResult,
  cacheEntries,
  disable,
  frozen,
  isCompiling,
  optimize,
  reset,
  setStance,
  statusOf,
} from "../lib/dynamo/mod.ts";
import { ops } from "../lib/tensor/eager.ts";
import type { Tensor } from "../lib/tensor/tensor.ts";
import { capture, list, vector } from "./support/dynamo.ts";
import { compile, compiler, tensor } from "../mod.ts";

Deno.test("a chain of methods is one graph, called by a plain function", () => {
  const c = capture((x: Tensor) => x.sin().add(1));
  assertEquals(list(c.run(vector(0, 1))), list(vector(0, 1).sin().add(1)));
  assertEquals(c.ops(), [["sin", "add"]]);
  assertEquals(
    c.code(),
    `function anonymous(x) {
  const { 0: add } = __compiled_fn(x);
  return add;
}`,
  );
  assertEquals(c.guards(), [
    'check_tensor(L["x"], Tensor, float32, device=cpu, requires_grad=false, size=[2], stride=[1])',
  ]);
  c.run(vector(3, 4));
  assertEquals(c.graphs.length, 1);
});

Deno.test("graphs name their inputs by source and their nodes by the user's line", () => {
  const c = capture((inputs: { a: Tensor; b: Tensor }) => inputs.a.sub(inputs.b.mul(1.5)));
  c.run({ a: vector(1), b: vector(2) });
  const [gm] = c.graphs;
  assertEquals(gm?.graph.placeholders.map((n) => n.name), ["l_inputs_b_", "l_inputs_a_"]);
  const [mul] = gm?.graph.nodes.filter((n) => n.target === "mul") ?? [];
  const at = mul?.meta.stack.at(-1);
  assert(at?.file.endsWith("dynamo_capture_test.ts"));
  assert(at?.code.includes("inputs.b.mul(1.5)"));
});

Deno.test("conditions on other values disappear from the graph and become guards", () => {
  const c = capture((x: Tensor, flag: boolean) => flag ? x.add(1) : x.sub(1));
  for (const flag of [true, false, true, false]) {
    assertEquals(list(c.run(vector(1), flag)), flag ? [2] : [0]);
  }
  assertEquals(c.ops(), [["add"], ["sub"]]);
  assert(c.guards().includes('L["flag"] === false'));
});

Deno.test("called functions, methods and closures are inlined", () => {
  class Scaler {
    constructor(readonly k: number) {}
    scale(x: Tensor): Tensor {
      return x.mul(this.k);
    }
  }
  const compose = (...fs: ((x: Tensor) => Tensor)[]) => (x: Tensor) => fs.reduceRight((v, f) => f(v), x);
  const c = capture((x: Tensor, s: Scaler) => compose((t) => t.sin(), (t) => s.scale(t))(x));
  assertEquals(list(c.run(vector(1), new Scaler(2))), list(vector(2).sin()));
  assertEquals(c.ops(), [["mul", "sin"]]);
  assert(c.guards().includes('___check_type(L["s"], Scaler)'));
});

Deno.test("one entry per class of an argument, most recent hit first", () => {
  class A {
    call(x: Tensor): Tensor {
      return x.mul(2).exp();
    }
  }
  class B {
    call(x: Tensor): Tensor {
      return x.neg().exp();
    }
  }
  const c = capture((x: Tensor, mod: A | B) => mod.call(x).log());
  const counts: number[] = [];
  for (const mod of [new A(), new A(), new B(), new B()]) {
    c.run(vector(1), mod);
    counts.push(c.entries());
  }
  assertEquals(counts, [1, 1, 2, 2]);
  assert(c.guards().includes('___check_type(L["mod"], B)'));
});

Deno.test("constants are folded, and in-place work on an argument is preserved", () => {
  const c = capture((a: Tensor, b: number) => {
    a.mul_(10);
    return b + 1;
  });
  const a = vector(1, 2);
  assertEquals(c.run(a, 9527), 9528);
  assertEquals(list(a), [10, 20]);
  assertEquals(
    c.code(),
    `function anonymous(a, b) {
  __compiled_fn(a);
  return 9528;
}`,
  );
});

Deno.test("builtins that users replace are traced as the users' functions", () => {
  const original = Math.cbrt;
  const c = capture((x: Tensor, n: number) => x.mul(Math.cbrt(n)));
  assertEquals(list(c.run(vector(1), 8)), [2]);
  try {
    Math.cbrt = () => 5;
    assertEquals(list(c.run(vector(1), 8)), [5]);
  } finally {
    Math.cbrt = original;
  }
  assertEquals(list(c.run(vector(1), 8)), [2]);
  assertEquals(c.entries(), 2);
});

Deno.test("nothing is compiled before the first call, and reset forgets", () => {
  const c = capture((x: Tensor) => x.mul(2));
  assertEquals(c.graphs.length, 0);
  c.run(vector(1));
  reset();
  c.run(vector(1));
  assertEquals(c.graphs.length, 2);
});

Deno.test("fullgraph turns the first break into an error that names the place", () => {
  const c = capture((x: Tensor) => x.sum().item() as number > 0 ? x : x.neg(), { fullgraph: true });
  const error = assertThrows(() => c.run(vector(1)), Unsupported);
  assertEquals(error.reason.id, "GB0001");
  assert(error.message.includes("dynamo_capture_test.ts"));
  assert(error.message.includes("x.sum().item()"));
});

Deno.test("marked functions: disabled ones run outside, allowed ones are one node, constants are folded", () => {
  const outside = disable((x: Tensor) => x.mul(3));
  const node = allowInGraph((x: Tensor) => x.mul(5).sub(x));
  let asked = 0;
  const constant = assumeConstantResult(() => ++asked);
  const c = capture((x: Tensor) => node(outside(x.add(1))).add(constant()));
  assertEquals(list(c.run(vector(1))), [25]);
  assertEquals(list(c.run(vector(2))), [37]);
  assertEquals(asked, 1);
  assertEquals(c.ops().map((each) => each.length), [1, 2]);
  assertEquals(c.opCount(), 3);
});

Deno.test("isCompiling is true only while tracing", () => {
  const fn = (x: Tensor) => isCompiling() ? x.add(1) : x.add(2);
  assertEquals(list(fn(vector(0))), [2]);
  assertEquals(list(capture(fn).run(vector(0))), [1]);
});

Deno.test("stances determine what happens without a matching entry", () => {
  const c = capture((x: Tensor, s: string) => x.add(s.length));
  c.run(vector(0), "a");
  {
    using _stance = setStance("fail_on_recompile");
    assertThrows(() => c.run(vector(0), "ab"), Unsupported, "recompilation");
    c.run(vector(0), "a");
  }
  {
    using _stance = setStance("eager_on_recompile");
    assertEquals(list(c.run(vector(0), "abc")), [3]);
  }
  assertEquals(c.graphs.length, 1);
  assertEquals(list(frozen(c.run)(vector(0), "abcd")), [4]);
  assertEquals(c.graphs.length, 1);
});

Deno.test("beyond the limit of entries the function runs uncompiled, and the log gives the reason", () => {
  const c = capture((x: Tensor, n: bigint) => x.add(Number(n)), { dynamic: false });
  const texts: string[] = [];
  logs.capture("recompiles", (_artifact, text) => texts.push(text), () => {
    for (let i = 0; i < 12; i++) assertEquals(list(c.run(vector(0), BigInt(i))), [i]);
  });
  assertEquals(c.entries(), 8);
  assertEquals(c.graphs.length, 8);
  assert(texts.some((t) => t.includes('L["n"] === 0n') && t.includes("dynamo_capture_test.ts")));
  assert(texts.some((t) => t.includes(" has reached config.cacheSizeLimit")));
  const uncompiled = statusOf(c.run)?.uncompiled.map(({ reason, calls }) => [reason.id, calls]);
  assertEquals(uncompiled, [["GB0033", 4]]);
});

Deno.test("check functions answer for other calls, and entries count their hits", () => {
  const c = capture((x: Tensor) => x.sin());
  for (let i = 0; i < 3; i++) c.run(vector(1, 2));
  const [entry] = cacheEntries(c.run);
  assertEquals(entry?.hits, 3);
  assertEquals(entry?.guards.check(vector(5, 6)), true);
  assertEquals(entry?.guards.check(vector(5)), false);
  assertEquals(entry?.guards.check("no tensor"), false);
  assertEquals(statusOf(c.run), { entries: 1, hits: 3, givenUp: null, uncompiled: [], times: null });
});

Deno.test("a check has one function for similar tensors, however many there are", () => {
  const c = capture((tensors: readonly Tensor[]) => tensors.map((t) => t.sin()));
  const rows = Array.from({ length: 9 }, () => vector(1, 2)), column = vector(1, 2).reshape([2, 1]);
  c.run([...rows, column]);
  const [{ guards } = {}] = cacheEntries(c.run);
  assertEquals(guards?.code.match(/\["sin"\] ===/g)?.length, 2);
  for (const at of rows.keys()) assertEquals(guards?.check([...rows.with(at, column), column]), false);
  assertEquals(guards?.check([...rows, vector(1, 2)]), false);
  assertEquals(guards?.check([...rows, column]), true);
});

Deno.test("receivers, arguments objects and rest parameters reach the graph", () => {
  class Model {
    k = 2;
    readonly run = optimize(function (this: Model, x: Tensor, ...more: number[]): Tensor {
      return more.reduce((t, n) => t.add(n), x.mul(this.k));
    }, { backend: (gm) => (...inputs) => gm.forward(...inputs) });
  }
  const m = new Model();
  assertEquals(list(m.run(vector(1), 1, 2)), [5]);
  m.k = 5;
  assertEquals(list(m.run(vector(1), 1)), [6]);
});

Deno.test("the versions of a function and of the code after its breaks have a common limit", () => {
  const outside = disable(() => {});
  const c = capture((x: Tensor, s: string) => {
    const y = x.add(s.length);
    outside();
    return y.mul(2);
  });
  const run = (s: string) => assertEquals(list(c.run(vector(1), s)), [2 + 2 * s.length]);
  config.patch({ accumulatedCacheSizeLimit: 3 }, () => {
    run("a");
    run("bb");
    assertEquals(c.entries(), 2);
    run("ccc");
    assertEquals(c.entries(), 2);
  });
  const uncompiled = statusOf(c.run)?.uncompiled.map(({ reason }) => reason.explanation);
  assert(uncompiled?.some((text) => text.includes("config.accumulatedCacheSizeLimit is 3")), `${uncompiled}`);
  run("ccc");
  assertEquals(c.entries(), 3);
});

Deno.test("a function without accessible source runs uncompiled", () => {
  const c = capture(Math.max);
  assertEquals(c.run(...([1, 2] as never[])), 2);
  assertEquals(statusOf(c.run)?.givenUp, "a function of the runtime");
});

Deno.test("tensors created from constants are fresh in every call", () => {
  const c = capture((x: Tensor) => ops.full([2], 1.5).add_(x));
  const first = c.run(vector(1, 1)), second = c.run(vector(1, 1));
  assertEquals([list(first), list(second), first === second], [[2.5, 2.5], [2.5, 2.5], false]);
});

Deno.test("guards may use a function of the runtime and test which one a program calls", () => {
  const known: Record<string, number> = { a: 1 };
  const c = capture((x: Tensor) => Object.hasOwn(known, "b") ? x.neg() : x.add(known["a"] ?? 0));
  for (let i = 0; i < 3; i++) assertEquals(list(c.run(vector(1))), [2]);
  assertEquals(statusOf(c.run), { entries: 1, hits: 3, givenUp: null, uncompiled: [], times: null });
  known["b"] = 2;
  assertEquals(list(c.run(vector(1))), [-1]);
});

Deno.test("functions that are called like words of the language are captured: members of objects, default exports", () => {
  const words = "default delete with for new in class let static eval arguments null this super await Math"
    .split(" ");
  const x = tensor([1, 2]), look = compiler.disable(() => {});
  for (const word of words) {
    const made = {
      [word]: (x: Tensor) => {
        const y = x.mul(Math.max(2, x.shape[0] ?? 0));
        look();
        return y.add(1);
      },
    }[word];
    if (!made) throw new Error(word);
    const f = compile(made, { backend: "eager" });
    assertEquals(f(x).tolist(), [3, 5]);
    const { graphs, uncompiled } = compiler.status(f);
    assertEquals([graphs, uncompiled], [2, []], word);
  }
});

/** Exports of the CommonJS module. */
interface Exported {
  readonly step: (x: Tensor) => Tensor;
  readonly around: (x: Tensor, look: () => void) => Tensor;
  offset: number;
  readonly calls: number;
}

Deno.test("functions of CommonJS modules find what their modules export and require", () => {
  const made: Exported = createRequire(import.meta.url)("./frame/commonjs.cjs");
  const x = tensor([1, 2]), step = compile(made.step, { backend: "eager" });
  const around = compile((x: Tensor) => made.around(x, compiler.disable(() => {})), { backend: "eager" });
  assertEquals([step(x), around(x)].map((y) => y.tolist()), [[6, 8], [7, 11]]);
  made.offset = 5;
  assertEquals([step(x), around(x)].map((y) => y.tolist()), [[8, 10], [9, 13]]);
  assertEquals(made.calls, 2);
  for (const f of [step, around]) assertEquals(compiler.status(f).uncompiled, []);
});
