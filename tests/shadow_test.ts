/**
 * Shadow mode: faults that are injected into compiled graphs are found, the program continues with the right values,
 * and mere differences in rounding are accepted.
 */
import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { dirname } from "node:path";
import {
  compile,
  compiler,
  config,
  counters,
  DynError,
  fx,
  getRngState,
  logs,
  manualSeed,
  nn,
  noGrad,
  rand,
  randn,
  type Tensor,
  tensor,
  zeros,
} from "../mod.ts";
import { isSampled } from "../lib/debug/shadow.ts";
import { areNear, differenceOf } from "../lib/debug/check/compare.ts";
import { check } from "../lib/debug/check/verdict.ts";
import { copyArguments } from "../lib/debug/check/copies.ts";
import { INDUCTOR_RULES } from "../lib/ops/rewrite/rules.ts";
import { graphRunner } from "../lib/tensor/graph_runner.ts";
import { runProgram, withFolder } from "./support/process.ts";
import "./support/faulty_backends.ts";

/** Returns the reports during `body` with every call checked. */
function reported(body: () => void, folder = "none", shadow = 1): string[] {
  const texts: string[] = [];
  logs.capture(
    "shadow",
    (_, text) => texts.push(text),
    () => config.patch({ shadow, reproDir: folder }, body),
  );
  return texts;
}

/** The same without writing a repro: for tests of what is found, which need no process. */
function found(body: () => void): string {
  const texts = reported(body, "/dev/null/none");
  assert(texts.length <= 1, texts.join("\n"));
  return texts[0] ?? "";
}

Deno.test("calls are sampled by their number, and the first one always", () => {
  const sampled = (rate: number) =>
    Array.from({ length: 12 }, (_, call) => call).filter((c) => isSampled(c, rate));
  assertEquals(sampled(0), []);
  assertEquals(sampled(1).length, 12);
  assertEquals(sampled(0.5), [0, 2, 4, 6, 8, 10]);
  assertEquals(sampled(0.3), [0, 3, 6, 10]);
  assertEquals(sampled(0.01), [0]);
  const before = counters.get("shadow", "checked");
  const f = compile((x: Tensor) => x.mul(2), { backend: "eager", options: { shadow: 0.5 } });
  for (let i = 0; i < 5; i++) f(tensor([1]));
  assertEquals(counters.get("shadow", "checked") - before, 3);
});

Deno.test("a share is a number from 0 to 1", () => {
  const f = (x: Tensor) => x.mul(2);
  assertThrows(() => compile(f, { options: { shadow: 2 } }), DynError, "to be in [0, 1]");
  assertThrows(
    () => config.patch({ shadow: -1 }, () => compile(f, { backend: "eager" })(tensor([1]))),
    DynError,
    "shadow to be in [0, 1] but found -1",
  );
});

Deno.test("a wrong op is found, named with its line, and the uncompiled values stay", async () => {
  await withFolder(async (folder) => {
    const layer = new nn.Linear(3, 2);
    const f = (x: Tensor): Tensor => layer.call(x).tanh().mul(2);
    const compiled = compile(f, { backend: "wrong_tanh" });
    const x = randn([4, 3]);
    const texts = reported(() => {
      for (let i = 0; i < 3; i++) assertEquals(compiled(x).tolist(), f(x).tolist());
    }, folder);
    const [text = ""] = texts;
    assertEquals(texts.length, 1, "once a graph");
    assertMatch(text, /^A compiled graph of f gives a wrong answer; it runs uncompiled from now on\n/);
    assertMatch(
      text,
      /\n {2}result 0 \(float32\[4, 2\].*8 of 8 elements differ.*compiled .*, plain .*, allowed /,
    );
    assertMatch(text, /\n {2}first wrong op: tanh, at f \(.*shadow_test\.ts:\d+\)\n {6}const f = .*tanh/);
    assertStringIncludes(text, "(tried: it fails in the same way by itself)");
    const [, path = ""] = text.match(/repro: (.*)/) ?? [];
    // A process of its own, which knows nothing but what lies in the folder
    const { code, stdout } = await runProgram(Deno.execPath(), ["run", "-A", "--no-check", "repro.ts"], {
      cwd: dirname(path),
    });
    assertEquals(code, 1);
    assertMatch(stdout, /^Fails: result 0 .*\nFirst wrong op: tanh, at f \(.*shadow_test\.ts:\d+\)/);
    const kept = await Deno.readTextFile(path);
    assertMatch(kept, /const tanh = ops\.tanh\(linear\);\n {4}return \[tanh\];/);
  });
});

Deno.test("a fault of native code alone is found when that takes over, and shows by itself", async () => {
  await withFolder(async (folder) => {
    const f = (x: Tensor): Tensor => x.mul(3).tanh().add(1);
    const compiled = compile(f, { backend: "wrong_native" });
    const x = randn([4, 3]);
    const texts = config.patch({ inductor: { tier: "background" } }, () =>
      reported(() => {
        for (let i = 0; i < 6; i++) assertEquals(compiled(x).tolist(), f(x).tolist());
      }, folder));
    const [text = ""] = texts;
    assertEquals(texts.length, 1);
    assertMatch(text, /\n {2}first wrong op: tanh, at f/);
    assertStringIncludes(text, "(tried: it fails in the same way by itself)");
    const [, path = ""] = text.match(/repro: (.*)/) ?? [];
    assertStringIncludes(await Deno.readTextFile(path), 'settings: { tier: "wait" }');
  });
});

Deno.test("a wrong gradient is found in the forward call, and the right one arrives", () => {
  const w = randn([3, 3]).requiresGrad_();
  const f = (x: Tensor): Tensor[] => {
    const y = x.matmul(w);
    return [y.sin().mul(2), y];
  };
  const compiled = compile(f, { backend: "wrong_backward" });
  const x = randn([2, 3]), grads: unknown[] = [];
  const text = found(() => {
    for (const each of [compiled, f]) {
      const [a, b] = each(x);
      a?.sum().add(b?.sum() ?? 0).backward();
      grads.push(w.grad?.tolist());
      w.grad = null;
    }
  });
  assertEquals(grads[0], grads[1]);
  assertMatch(text, /the gradient of the input .*"w".*9 of 9 elements differ/);
  assertMatch(text, /first op with a wrong gradient: sin, at f/);
});

Deno.test("a wrong rewrite of the code generator is found", () => {
  const rule = INDUCTOR_RULES.find(({ name }) => name === "neg_of_neg");
  assert(rule);
  const { apply } = rule;
  const wrong: typeof apply = (node, meta) => {
    const kept = apply(node, meta);
    return kept && { target: "abs", args: [kept instanceof fx.Node ? kept : null] };
  };
  Object.assign(rule, { apply: wrong });
  try {
    const f = (x: Tensor): Tensor => x.mul(3).neg().neg().add(1);
    const x = tensor([-1.5, 2, -0.25]);
    const text = found(() => assertEquals(compile(f, { backend: "inductor" })(x).tolist(), f(x).tolist()));
    assertMatch(text, /2 of 3 elements differ, the most at \[0\]: compiled 5\.5, plain -3\.5, 9 apart/);
    assertMatch(text, /first wrong op: neg, at f/);
  } finally {
    Object.assign(rule, { apply });
  }
});

/** A backend that changes what graphs do. */
const changed = (change: (run: fx.CompiledFunction, args: unknown[]) => unknown): fx.GraphBackend => (gm) => {
  const copy = new fx.GraphModule(gm.graph, gm.attributes, gm.runner);
  return (...args) => change((...given) => copy.forward(...given), args);
};

const isT = (value: unknown): value is Tensor =>
  typeof value === "object" && value !== null && "storage" in value;

Deno.test("inputs that are written wrongly, or not at all, are corrected", () => {
  const f = (x: Tensor, y: Tensor): Tensor => {
    x.add_(1);
    return x.mul(y);
  };
  const faults: [fx.GraphBackend, RegExp][] = [
    // writes to a copy
    [changed((run, args) => run(...copyArguments(args).args)), /after the call/],
    // writes to an input that is only read
    [
      changed((run, args) => {
        const result = run(...args);
        const [, y] = args;
        if (isT(y)) noGrad(() => y.zero_());
        return result;
      }),
      /the input L\["y"\] after the call/,
    ],
  ];
  for (const [backend, message] of faults) {
    const x = tensor([1, 2]), y = tensor([3, 4]);
    const text = found(() => assertEquals(compile(f, { backend })(x, y).tolist(), [6, 12]));
    assertMatch(text, message);
    assertEquals([x.tolist(), y.tolist(), x.version], [[2, 3], [3, 4], 1]);
  }
});

Deno.test("sharing of memory is part of the answer", () => {
  const copies = changed((run, args) => {
    const results = run(...args);
    return Array.isArray(results) ? results.map((each: unknown) => isT(each) ? each.clone() : each) : results;
  });
  const x = zeros([2, 2]);
  const text = found(() => {
    const view = compile((t: Tensor) => t.view(4), { backend: copies })(x);
    view.add_(1);
  });
  assertMatch(
    text,
    /result 0 has memory of its own compiled, but shares the memory of the input L\["t"\] uncompiled/,
  );
  assertEquals(x.tolist(), [[1, 1], [1, 1]]);
});

Deno.test("an error that only the compiled graph throws, or only its ops, is a difference", () => {
  const text = found(() => {
    const broken = changed(() => {
      throw new RangeError("No room");
    });
    assertEquals(compile((x: Tensor) => x.add(1), { backend: broken })(tensor([1])).tolist(), [2]);
  });
  assertMatch(text, /the graph throws compiled, but not uncompiled: No room/);
  const silent = found(() => {
    const f = compile((x: Tensor, i: Tensor) => x.indexSelect(0, i), { backend: changed((_, [x]) => [x]) });
    assertThrows(() => f(tensor([1, 2]), tensor([5], { dtype: "int64" })), DynError);
  });
  assertMatch(silent, /returns a result compiled, but throws uncompiled: /);
});

Deno.test("random numbers are the same in both, and are drawn once", () => {
  const f = compile((x: Tensor) => nn.functional.dropout(x, 0.5, true).add(rand([4])), {
    backend: "aot_eager",
  });
  const x = tensor([0.5, 1.5, 2.5, 3.5]);
  const run = () => {
    manualSeed(3);
    return [f(x).tolist(), f(x).tolist(), getRngState()];
  };
  const plain = run();
  compiler.reset();
  const texts = reported(() => assertEquals(run(), plain), "none", 1);
  assertEquals(texts, []);
});

Deno.test("functions of the program in a graph run once", () => {
  let calls = 0;
  const own = compiler.allowInGraph((x: Tensor) => {
    calls++;
    return x.mul(2);
  });
  const f = compile((x: Tensor) => own(x).add(1), { backend: "eager" });
  const x = tensor([1]);
  calls = 0;
  const texts = reported(() => assertEquals(f(x).tolist(), [3]));
  const traced = calls;
  f(x);
  assertEquals(calls - traced, 1);
  assertMatch(texts[0] ?? "", /calls functions of the program is not checked/);
});

Deno.test("whole training steps are neither reported as wrong nor changed, on any backend", () => {
  for (const backend of ["eager", "crossref", "aot_eager", "inductor"]) {
    const losses = [0, 1].map((shadow) => {
      manualSeed(5);
      compiler.reset();
      const model = new nn.Sequential(
        new nn.Linear(4, 8),
        new nn.GELU(),
        new nn.LayerNorm(8),
        new nn.Linear(8, 3),
      );
      const step = compile((x: Tensor, y: Tensor) => {
        const loss = nn.functional.crossEntropy(model.call(x), y);
        loss.backward();
        noGrad(() => {
          for (const p of model.parameters()) {
            if (p.grad) p.sub_(p.grad, { alpha: 0.1 });
            p.grad = null;
          }
        });
        return loss.detach();
      }, { backend, options: { shadow } });
      const x = randn([6, 4]), y = tensor([0, 1, 2, 0, 1, 2], { dtype: "int64" });
      const seen: unknown[] = [];
      const texts: string[] = [];
      logs.capture("shadow", (_, text) => texts.push(text), () => {
        for (let i = 0; i < 3; i++) seen.push(step(x, y).item());
      });
      assertEquals(texts, []);
      return seen;
    });
    assertEquals(losses[0], losses[1], backend);
  }
});

const floats = (...values: number[]) => ({ dtype: "float32" as const, values: Float32Array.from(values) });

Deno.test("elements are equal if rounding explains their distance, and only then", () => {
  assert(areNear(floats(1, NaN, Infinity), floats(1 + 1e-6, NaN, Infinity)));
  assert(!areNear(floats(1), floats(1.001)));
  const arbiter = (exact: number[], nudged: number[]) => ({
    exact: Float64Array.from(exact),
    nudged: Float64Array.from(nudged),
  });
  // A sum that cancels: the inputs' own rounding moves it by as much.
  assertEquals(differenceOf(floats(1e-7), floats(3e-7), arbiter([2e-7], [1.5e-7])), null);
  assertEquals(differenceOf(floats(1e-3), floats(3e-7), arbiter([2e-7], [1.5e-7]))?.count, 1);
  // The compiled value is exact where the ops overflow.
  assertEquals(differenceOf(floats(88), floats(Infinity), arbiter([88], [88.00001])), null);
  assertEquals(differenceOf(floats(NaN), floats(1), arbiter([1], [1]))?.at, 0);
  const flags = (...values: number[]) => ({ dtype: "bool" as const, values: Uint8Array.from(values) });
  const decided = { exact: Uint8Array.from([1, 1]), nudged: Uint8Array.from([1, 0]) };
  assertEquals(differenceOf(flags(1, 0), flags(1, 1), decided), null);
  assertEquals(differenceOf(flags(0, 1), flags(1, 1), decided)?.at, 0);
});

Deno.test("copies share memory as their originals do, and the originals are unchanged", () => {
  const base = randn([4, 4]).requiresGrad_();
  const made = base.mul(2);
  const args = [base, made, made.t(), made.slice(0, 1, 3), 7, zeros([0])];
  const { args: copies, leaves } = copyArguments(args);
  const [a, b, c, d] = copies.filter(isT);
  assert(a && b && c && d);
  assertEquals([b.storage === c.storage, c.storage === d.storage, a.storage === b.storage], [
    true,
    true,
    false,
  ]);
  assertEquals([d.offset, [...c.strides]], [4, [1, 4]]);
  assertEquals([a.isLeaf, b.isLeaf, b.requiresGrad, leaves.filter((leaf) => leaf).length], [
    true,
    false,
    true,
    4,
  ]);
  noGrad(() => b.zero_());
  assertEquals(d.sum().item(), 0);
  assert(made.abs().sum().item() !== 0);
});

Deno.test("differences of two layouts are described", () => {
  const graph = new fx.Graph();
  const meta = { shape: [2, 2], strides: [2, 1], offset: 0, dtype: "float32", device: "cpu" } as const;
  const value = { kind: "tensor", tensor: meta, requiresGrad: false } as const;
  const x = graph.create("placeholder", "x", { meta: { value } });
  const relu = graph.create("call_function", "relu", { args: [x], meta: { value } });
  graph.create("output", "output", { args: [[relu]] });
  const gm = new fx.GraphModule(graph, {}, graphRunner);
  const finding = check({ gm, compiled: (t) => [isT(t) ? t.relu().t() : t] }, [tensor([[1.5, 2], [3, 4]])]);
  assertEquals(finding?.text, "result 0 is float32[2, 2][1, 2] compiled, float32[2, 2][2, 1] uncompiled");
});
