/**
 * The modes of `compile`: their names, the guarantees of `staticResults` about the memory of results, and that
 * "max-autotune" changes times only.
 */
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import fc from "fast-check";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  arange,
  compile,
  compiler,
  config,
  init,
  logs,
  manualSeed,
  nn,
  ones,
  optim,
  randn,
  type Tensor,
  tensor,
} from "../mod.ts";
import type { Mode } from "../mod.ts";
import { generate } from "../lib/codegen/generate.ts";
import { nativeTarget } from "../backends/cpu/native_target.ts";
import { chooseTeam, gainOf } from "../backends/cpu/autotune.ts";
import { choiceTable } from "../cli/tune.ts";
import { choiceDetails, choiceIn, type MeasuredChoice } from "../lib/base/measured_choices.ts";
import { printProgram as printCpp } from "../backends/cpu/print/program.ts";
import type { Team } from "../lib/loops/ir.ts";
import { printProgram } from "../lib/loops/print.ts";
import { testInTurn } from "./support/costly_tests.ts";
import { compiled, difference, runCompiled, sample, traced } from "./support/graph_programs.ts";
import { SKIP_NATIVE } from "./support/native.ts";
import { runProgram, withFolder } from "./support/process.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";

const STALE =
  "Expected a result of the latest call but found one whose memory a later call has overwritten (staticResults): clone() results that are kept";

const reduced = <F extends (...args: never[]) => unknown>(fn: F): F =>
  compile(fn, { options: { staticResults: true } });

/** The elements, or that they are gone. */
function elements(tensor: Tensor): unknown {
  try {
    return tensor.tolist();
  } catch (error) {
    assertEquals(error instanceof Error ? error.message : "", STALE);
    return "stale";
  }
}

Deno.test("a mode that does not exist is rejected with a list of the existing ones", () => {
  const mode = "fastest" as string as Mode;
  assertThrows(
    () => compile((x: Tensor) => x, { mode }),
    Error,
    'Expected mode of compile to be one of default, reduce-overhead, max-autotune, max-autotune-no-cudagraphs but found "fastest"',
  );
  assertThrows(() => new nn.Linear(1, 1).compile({ mode }), Error, "Expected mode");
});

Deno.test("every mode preserves earlier results on the CPU, and reduce-overhead reports that it has no effect", () => {
  const hints: string[] = [];
  logs.capture("perf_hints", (_, text) => hints.push(text), () => {
    for (const mode of ["default", "reduce-overhead", "max-autotune"] as const) {
      const f = compile((x: Tensor) => x.add(1), { mode });
      const first = f(tensor([1])), second = f(tensor([2]));
      assertEquals([first.tolist(), second.tolist()], [[2], [3]]);
    }
  });
  const hint = "A graph on cpu is one native call already, so recording it for replay changes nothing";
  assertEquals(hints.filter((each) => each === hint).length, 1);
});

Deno.test("M15: results of the next call reuse the memory of earlier results", () => {
  const f = reduced((x: Tensor) => [x.add(1), x.mul(2).sum()] as const);
  const memories = new Set<object>();
  for (let i = 0; i < 6; i++) {
    const [sum, total] = f(tensor([i, 1]));
    memories.add(sum.storage.memory).add(total.storage.memory);
    assertEquals([sum.tolist(), total.item()], [[i + 1, 2], 2 * i + 2]);
  }
  assertEquals(memories.size, 2);
});

Deno.test("using a result of an earlier call is an error that suggests cloning it", () => {
  const f = reduced((x: Tensor) => x.add(1));
  const first = f(tensor([1, 2]));
  const kept = first.clone(), view = first.reshape([2, 1]), alias = first.detach();
  assertEquals(first.tolist(), [2, 3]);
  const second = f(tensor([5, 6]));
  for (const stale of [first, view, alias]) {
    for (
      const use of [
        () => stale.tolist(),
        () => stale.add(1),
        () => stale.add_(1),
        () => stale.toString(),
        () => f(stale),
        () => compile((x: Tensor) => x.mul(2))(stale),
        () => stale.clone(),
      ]
    ) assertThrows(use, Error, STALE);
  }
  assertEquals(kept.tolist(), [2, 3]);
  assertEquals(elements(second), "stale", "the failed call has begun, as any other");
});

Deno.test("a saved tensor that was overwritten makes the backward fail, not go wrong", () => {
  const f = reduced((x: Tensor) => x.add(1));
  const w = ones([2], { requiresGrad: true });
  const loss = w.mul(f(tensor([1, 2]))).sum();
  f(tensor([7, 8]));
  assertThrows(() => loss.backward(), Error, STALE);
});

Deno.test("a call may take results of the previous one, whole, as views and repeatedly", () => {
  const step = (h: Tensor, x: Tensor) => h.mul(0.5).add(x).tanh();
  const f = reduced(step), plain = compile(step);
  let h = ones([8]), expected = ones([8]);
  for (let i = 0; i < 12; i++) {
    const x = arange(8).div(i + 1);
    h = f(h, x);
    expected = plain(expected, x);
    assertEquals(h.tolist(), expected.tolist());
  }
  const g = reduced((a: Tensor, b: Tensor) => a.add(b).mul(0.5));
  let both = ones([4, 2]);
  for (let i = 0; i < 5; i++) both = g(both, both);
  assertEquals(both.tolist(), ones([4, 2]).tolist());
  const turn = reduced((a: Tensor) => a.add(1).t());
  let square = arange(4, { dtype: "float32" }).reshape([2, 2]);
  for (let i = 0; i < 4; i++) square = turn(square.t());
  assertEquals(square.tolist(), [[4, 5], [6, 7]]);
});

Deno.test("inputs that are returned, viewed or written keep their own memory", () => {
  const f = reduced((x: Tensor, y: Tensor) => {
    x.add_(1);
    const sum = y.add(x);
    return [x, x.reshape([2, 1]), sum, sum, sum.reshape([2, 1])] as const;
  });
  const x = tensor([0.5, 1]), y = tensor([10, 20]);
  const [same, view, sum, again, column] = f(x, y);
  assert(same === x && sum === again);
  assertEquals([x.tolist(), view.tolist(), column.tolist()], [[1.5, 2], [[1.5], [2]], [[11.5], [22]]]);
  f(x, y);
  assertEquals([x.tolist(), view.tolist()], [[2.5, 3], [[2.5], [3]]]);
  assertEquals([sum, column].map(elements), ["stale", "stale"]);
});

Deno.test("a result that is an input of the next call may be returned from it again", () => {
  const f = reduced((h: Tensor) => [h, h.reshape([2, 1]), h.add(1)] as const);
  let h = tensor([1, 2]);
  for (let i = 0; i < 5; i++) {
    const [same, view, next] = f(h);
    assertEquals([same.tolist(), view.tolist(), next.tolist()], [
      [1 + i, 2 + i],
      [[1 + i], [2 + i]],
      [2 + i, 3 + i],
    ]);
    h = next;
  }
});

Deno.test("results may be written, resized and released", () => {
  const f = reduced((x: Tensor) => x.add(1));
  const x = tensor([1, 2]);
  assertEquals(f(x).mul_(3).tolist(), [6, 9]);
  {
    using y = f(x);
    assertEquals(y.tolist(), [2, 3]);
  }
  const grown = f(x).resize_([5000]);
  grown.fill_(4);
  assertEquals(f(x).tolist(), [2, 3]);
  assertEquals(grown.sum().item(), 20000, "resizing gave it memory of its own");
  assertEquals(f(x).tolist(), [2, 3]);
});

Deno.test("sizes may change from call to call", () => {
  const f = compile((x: Tensor) => x.add(1).mul(x.shape[0] ?? 0), {
    options: { staticResults: true },
    dynamic: true,
  });
  for (const n of [3, 5, 4, 9, 2, 9]) {
    assertEquals(f(ones([n])).tolist(), new Array<number>(n).fill(2 * n));
  }
});

Deno.test("results that need gradients have separate memory, which a hint reports", () => {
  const hints: string[] = [];
  const w = ones([2], { requiresGrad: true });
  const f = reduced((x: Tensor) => x.mul(w));
  logs.capture("perf_hints", (_, text) => hints.push(text), () => {
    const first = f(tensor([1, 2])), second = f(tensor([3, 4]));
    assertEquals([first.tolist(), second.tolist()], [[1, 2], [3, 4]]);
    first.add(second).sum().backward();
    assertEquals(w.grad?.tolist(), [4, 6]);
  });
  assertEquals(hints, ["Results of a graph require gradients, so each call allocates new memory for them"]);
});

Deno.test("a training step in one graph has the losses of separate graphs", () => {
  const losses = (staticResults: boolean): number[] => {
    manualSeed(3);
    const model = new nn.Sequential(
      new nn.Linear(4, 8),
      new nn.BatchNorm1d(8),
      new nn.ReLU(),
      new nn.Linear(8, 2),
    );
    const optimizer = new optim.Adam(model.parameters(), { lr: 0.05 });
    const x = randn([6, 4]), target = tensor([0, 1, 0, 1, 1, 0]);
    const step = compile(() => {
      optimizer.zeroGrad();
      const loss = nn.functional.crossEntropy(model.call(x), target);
      loss.backward();
      optimizer.step();
      return loss.detach();
    }, { options: { staticResults }, fullgraph: true });
    return Array.from({ length: 6 }, () => Number(step().item()));
  };
  assertEquals(losses(true), losses(false));
});

Deno.test("gradients left by a step are those of its latest call", () => {
  const w = tensor([1, 2.5], { requiresGrad: true });
  const step = reduced((x: Tensor) => {
    w.grad = null;
    w.mul(x).sum().backward();
  });
  step(tensor([3, 4]));
  assertEquals(w.grad?.tolist(), [3, 4]);
  const former = w.grad;
  step(tensor([5, 6]));
  assertEquals([w.grad?.tolist(), former && elements(former)], [[5, 6], "stale"]);
  const add = reduced((x: Tensor) => w.mul(x).sum().backward());
  for (let i = 0; i < 4; i++) add(tensor([1, 1]));
  assertEquals(w.grad?.tolist(), [9, 10]);
});

Deno.test("any sequence of calls, with any results as arguments, is right or reports an overwritten result", () => {
  const program = (a: Tensor, b: Tensor) => {
    const sum = a.add(b);
    return [sum, sum.mul(2), sum.reshape([-1]), a] as const;
  };
  const choice = fc.record({ a: fc.nat(30), b: fc.nat(30), reads: fc.array(fc.nat(30), { maxLength: 3 }) });
  let stale = 0, right = 0;
  fc.assert(
    fc.property(fc.array(choice, { minLength: 2, maxLength: 12 }), (calls) => {
      const f = reduced(program);
      const known = [1, 2, 3].map((n) => ({ found: tensor([n, n + 0.5]), expected: tensor([n, n + 0.5]) }));
      const pick = (n: number) => known[n % known.length] ?? known[0];
      for (const { a, b, reads } of calls) {
        const left = pick(a), other = pick(b);
        if (!left || !other) continue;
        let found: readonly Tensor[];
        try {
          found = f(left.found, other.found);
        } catch (error) {
          assertEquals(error instanceof Error ? error.message : "", STALE);
          stale++;
          continue;
        }
        const expected = program(left.expected, other.expected);
        found.forEach((each, i) => known.push({ found: each, expected: expected[i] ?? each }));
        assertEquals(found.map((each) => each.tolist()), expected.map((each) => each.tolist()));
        for (const read of reads) {
          const each = pick(read);
          const seen = each ? elements(each.found) : "stale";
          if (seen === "stale") stale++;
          else {
            right++;
            assertEquals(seen, each?.expected.tolist());
          }
        }
      }
    }),
    { numRuns: 60, seed: 11 },
  );
  assert(stale > 20 && right > 20, `${stale} stale, ${right} right`);
});

Deno.test("the setting acts like the mode, and only for graphs compiled under it", () => {
  const f = compile((x: Tensor) => x.add(1), { options: { staticResults: true } });
  const first = f(ones([1]));
  f(ones([1]));
  assertEquals(elements(first), "stale");
  assertEquals(config.inductor.staticResults, false);
});

Deno.test({
  name: "on WebGPU as on the CPU",
  ignore: SKIP_WEBGPU,
  fn: async () => {
    await init({ device: "webgpu" });
    const f = reduced((h: Tensor) => h.mul(2).add(1));
    const start = tensor([1, 2], { device: "webgpu", dtype: "float32" });
    let h = start;
    const former: Tensor[] = [];
    for (let i = 0; i < 5; i++) former.push(h = f(h));
    assertEquals(h.tolist(), [63, 95]);
    assertEquals(former.slice(0, 3).map(elements), ["stale", "stale", "stale"]);
    assertEquals(await f(start).data(), new Float32Array([3, 5]));
  },
});

Deno.test({
  name: "reduce-overhead keeps the commands of calls on WebGPU, and their results until the next one",
  ignore: SKIP_WEBGPU,
  fn: async () => {
    await init({ device: "webgpu" });
    const on = { device: "webgpu", dtype: "float32" } as const;
    const step = (x: Tensor, w: Tensor) => x.matmul(w).tanh().matmul(w).softmax(1);
    const replayed = compile(step, { mode: "reduce-overhead" }), plain = compile(step);
    const w = randn([16, 16], on), x = randn([16, 16], on), other = randn([16, 16], on);
    const made: string[] = [], { createBindGroup } = GPUDevice.prototype;
    const agree = (given: Tensor) =>
      assert(replayed(given, w).sub(plain(given, w)).abs().max().item() < 1e-6, "Expected the plain results");
    agree(x);
    agree(x);
    GPUDevice.prototype.createBindGroup = function (descriptor) {
      made.push(new Error().stack ?? "");
      return createBindGroup.call(this, descriptor);
    };
    try {
      const first = replayed(x, w);
      for (let i = 0; i < 3; i++) {
        x.mul_(0.5);
        w.add_(0.01);
        made.length = 0;
        const results = replayed(x, w), expected = plain(x, w);
        const bound = made.filter((stack) => stack.includes("#commandsOf")).length;
        assert(results.sub(expected).abs().max().item() < 1e-6, "Expected what the memories hold now");
        assert(i === 0 || bound <= 3, `Expected kept bind groups but found ${bound} new ones`);
      }
      assertEquals(elements(first), "stale");
    } finally {
      GPUDevice.prototype.createBindGroup = createBindGroup;
    }
    // Calls on other memories are recorded beside it, and sizes that change are, too
    for (const given of [other, x, randn([8, 16], on), randn([4, 16], on), x, randn([2, 16], on), other, x]) {
      agree(given);
    }
    const graded = randn([16, 16], on).requiresGrad_();
    compile(step, { mode: "reduce-overhead" })(graded, w).sum().backward();
    assertEquals(graded.grad?.shape, [16, 16]);
  },
});

Deno.test("all forms of a program give the same bits", () => {
  const graph = traced([[256, 256]], (o, [x]) => {
    if (!x) return [];
    return [o.add(o.contiguous(o.permute(x, [1, 0])), 1)];
  });
  const inputs = [sample([256, 256])];
  const texts = new Set<string>();
  const results = [0, 1, 2].map((form) => {
    const made = compiled(graph, {
      choose: (candidates) => {
        assertEquals(candidates.length, 3);
        for (const { program } of candidates) texts.add(printProgram(program));
        return (candidates[form] ?? candidates[0]).program;
      },
    });
    return runCompiled(made, inputs);
  });
  assertEquals(texts.size, 3);
  for (const result of results) {
    assertEquals(result.map((tensor, i) => difference(tensor, results[0]?.[i] ?? tensor)), [0]);
  }
});

Deno.test("a kernel on one thread or on all of them is the same code with another count", () => {
  const { program } = compiled(traced([[64, 64]], (o, [x]) => x ? [o.exp(x), o.matmul(x, x)] : []));
  const printed = (team: Team | undefined): string =>
    printCpp(generate({
      ...program,
      kernels: program.kernels.map((kernel) => team ? { ...kernel, team } : kernel),
    }, nativeTarget)).text;
  const usual = printed(undefined), one = printed("one"), all = printed("all");
  const calls = (text: string) => text.match(/threads, [^;]*\); \}$/gm);
  assertEquals(calls(usual)?.length, 1);
  assertEquals([calls(one), calls(all)], [["threads, 0.0); }"], ["threads, 1000000000000000.0); }"]]);
  assert(
    usual.includes("0, threads, 0, 0, 0, 0, 0, 0, ") && one.includes("0, 1, 0, 0, 0, 0, 0, 0, ") &&
      all.includes("0, threads, 0, 0, 0, 0, 0, 0, "),
  );
});

Deno.test("max-autotune gives the results of the default to the bit, in training too", () => {
  const x = randn([512, 96]), w = randn([96, 40]);
  const program = (x: Tensor) => {
    const turned = x.t().mul(2).contiguous();
    return [turned, x.matmul(w).relu(), turned.softmax(1), turned.sum()] as const;
  };
  const found = compile(program, { mode: "max-autotune" })(x), expected = compile(program)(x);
  assertEquals(found.map((each) => each.tolist()), expected.map((each) => each.tolist()));
  const losses = (mode: Mode): number[] => {
    manualSeed(5);
    const model = new nn.Sequential(new nn.Linear(16, 32), new nn.Tanh(), new nn.Linear(32, 2));
    const optimizer = new optim.SGD(model.parameters(), { lr: 0.1 });
    const data = randn([64, 16]), target = data.select(1, 0).gt(0).to("int64");
    const step = compile(() => {
      optimizer.zeroGrad();
      const loss = nn.functional.crossEntropy(model.call(data), target);
      loss.backward();
      optimizer.step();
      return loss.detach();
    }, { mode });
    return Array.from({ length: 4 }, () => Number(step().item()));
  };
  assertEquals(losses("max-autotune"), losses("default"));
});

testInTurn("choices of tiles on disk", {
  name: "what was tried is told, and kept on disk for exactly what was compared",
  ignore: SKIP_NATIVE,
  fn: async () => {
    await withFolder(async (folder) => {
      const module = new URL("../mod.ts", import.meta.url).href;
      await Deno.writeTextFile(
        join(folder, "a.ts"),
        `import { compile, ones, type Tensor } from ${JSON.stringify(module)};
const f = compile((x: Tensor) => x.t().add(1).contiguous(), { mode: "max-autotune" });
console.log(f(ones([512, Number(Deno.args[0])])).sum().item());
`,
      );
      const hints = async (columns: number): Promise<string> => {
        const { code, stdout, stderr } = await runProgram(Deno.execPath(), [
          "run",
          "-A",
          "--no-check",
          "--config",
          fileURLToPath(new URL("../deno.json", import.meta.url)),
          join(folder, "a.ts"),
          `${columns}`,
        ], { env: { DYN_CACHE_DIR: join(folder, "cache"), DYN_LOGS: "perf_hints", DYN_NUM_THREADS: "1" } });
        assertEquals([code, stdout], [0, `${1024 * columns}\n`]);
        return stderr;
      };
      const tried =
        /^\[perf_hints\] max-autotune fused_\w+: tiles of 16 × 128 on one thread [\d.]+ µs, tiles of 16 × 512 on one thread [\d.]+ µs, tiles of 32 × 32 on one thread [\d.]+ µs.*; keeps \w+.*\n$/;
      const first = await hints(256), again = await hints(256);
      assertMatch(first, tried);
      assertEquals(again, first.replace("\n", " (measured before)\n"));
      assert(!(await hints(384)).includes("measured before"));
      const files = [...Deno.readDirSync(join(folder, "cache", "choices"))].map(({ name }) => name);
      assertEquals(files.length, 2);
      for (const name of files) {
        const path = join(folder, "cache", "choices", name), text = await Deno.readTextFile(path);
        assert(text.includes("loops kernel") && text.includes("1 threads"));
        await Deno.writeTextFile(path, text.replace("1 threads", "3 threads"));
      }
      assertMatch(await hints(256), tried);
    });
  },
});

Deno.test("a kernel changes its number of threads if that is clearly faster and nothing else delayed them", () => {
  const choose = (one: number, all: number, together: boolean) => {
    const { team, disturbed } = chooseTeam({ one, all, together });
    return disturbed ? "disturbed" : team;
  };
  assertEquals([choose(20, 30, true), choose(20, 20.5, true), choose(90, 50, true)], ["one", null, null]);
  assertEquals([choose(50, 30, false), choose(50, 49, false), choose(20, 30, false)], ["all", null, null]);
  assertEquals([choose(85, 340, true), choose(12, 500, false)], ["disturbed", "disturbed"]);
});

Deno.test("dyn tune shows what choices gain, and counts a kernel of several graphs once", () => {
  const trials = (...times: number[]) => times.map((microseconds) => ({ name: "", microseconds }));
  const gains = [
    gainOf({ trials: trials(8, 4), form: 1, team: null }, 2),
    gainOf({ trials: trials(8, 4, 4, 2), form: 1, team: "all" }, 2),
    gainOf({ trials: trials(3, 6), form: 0, team: "one" }, 1),
    gainOf({ trials: trials(3, 6), form: 0, team: null }, 1),
    gainOf({ trials: [], form: 0, team: null }, 1),
  ];
  assertEquals(gains, [
    { microseconds: 4, gain: 2 },
    { microseconds: 2, gain: 4 },
    { microseconds: 3, gain: 2 },
    { microseconds: null, gain: 1 },
    { microseconds: null, gain: 1 },
  ]);
  const turn = { of: "fused_copy", kept: "tiles of 32 × 32", microseconds: 4, gain: 4 };
  const fresh = { known: false, disturbed: false }, usual = { kept: null, microseconds: null, gain: 1 };
  const choices: MeasuredChoice[] = [
    { of: "mm", ...usual, ...fresh, disturbed: true },
    { ...turn, ...fresh },
    { ...turn, known: true, disturbed: false },
    { of: "fused_sum", ...usual, ...fresh, known: true },
    { of: "fused_sum", ...usual, ...fresh },
    { of: "fused_tanh", kept: "all threads", microseconds: 12.34, gain: 1.5, ...fresh },
  ];
  assertEquals(choices.map((choice) => choiceIn(choiceDetails(choice))), choices);
  assertEquals([choiceIn({}), choiceIn({ meta: { choice: { of: 3 } } })], [null, null]);
  assertEquals(
    choiceTable(choices),
    `kernel      kept              takes    faster
fused_copy  tiles of 32 × 32  4.0 µs   4.00×
fused_tanh  all threads       12.3 µs  1.50×

Compared ways to run 5 kernels, 1 of them before: 2 changed, 1.43 times faster in geometric mean of all
Other programs use this machine: 1 kernel keeps the usual number of threads until it is idle`,
  );
});

Deno.test({
  name: "choices of kernels are told to dyn tune as they are made",
  ignore: SKIP_NATIVE,
  fn: () => {
    const choices: MeasuredChoice[] = [], x = randn([320, 96]);
    const f = compile((x: Tensor) => x.t().sub(0.25).contiguous());
    logs.capture("perf_hints", (_artifact, _text, details) => {
      const choice = choiceIn(details);
      if (choice) choices.push(choice);
    }, () => {
      config.patch({ graphCache: false, inductor: { maxAutotune: true } }, () => f(x));
    });
    const [choice] = choices;
    assert(choice && choices.length === 1 && choice.gain >= 1);
    assert(choiceTable(choices).includes("Compared ways to run 1 kernel, "));
  },
});

Deno.test("sizes that change are not tuned, and a hint says so", () => {
  const hints: string[] = [];
  const f = compile((x: Tensor) => x.add(1), { mode: "max-autotune", dynamic: true });
  logs.capture("perf_hints", (_, text) => hints.push(text), () => {
    assertEquals(f(ones([3])).tolist(), [2, 2, 2]);
    assertEquals(f(ones([4])).tolist(), [2, 2, 2, 2]);
  });
  assertEquals(hints, ["max-autotune keeps inference as it is: its sizes change from call to call"]);
});

Deno.test("without dynamic shapes every size is a constant", () => {
  const counter = new compiler.CompileCounter();
  const f = compile((x: Tensor, n: number) => x.mul(n), { backend: counter, dynamic: true });
  config.patch({ dynamicShapes: false }, () => {
    for (const n of [2, 3, 4]) assertEquals(f(ones([n]), 3).tolist(), new Array<number>(n).fill(3));
  });
  assertEquals(counter.frameCount, 3);
});

Deno.test({
  name: "kernels that are not to be kept on disk are gone when the process ends",
  ignore: SKIP_NATIVE,
  fn: async () => {
    await withFolder(async (folder) => {
      const module = new URL("../mod.ts", import.meta.url).href;
      await Deno.writeTextFile(
        join(folder, "a.ts"),
        `import { compile, config, ones, type Tensor } from ${JSON.stringify(module)};
config.inductor.kernelCache = false;
console.log(compile((x: Tensor) => x.add(1))(ones([2])).tolist());
`,
      );
      await Deno.mkdir(join(folder, "tmp"));
      const { code, stdout } = await runProgram(Deno.execPath(), [
        "run",
        "-A",
        "--no-check",
        "--config",
        fileURLToPath(new URL("../deno.json", import.meta.url)),
        join(folder, "a.ts"),
      ], { env: { DYN_CACHE_DIR: join(folder, "cache"), TMPDIR: join(folder, "tmp") } });
      assertEquals([code, stdout], [0, "[ 2, 2 ]\n"]);
      const kept = [...Deno.readDirSync(join(folder, "cache", "cpu"))].map(({ name }) => name);
      assertEquals(kept.filter((name) => name.endsWith(".so")), []);
      assertEquals([...Deno.readDirSync(join(folder, "tmp"))], []);
    });
  },
});

Deno.test("copies in another order have their own memory, in the promised strides", () => {
  const x = randn([4, 4]), before = x.tolist();
  const [whole, part, both] = compile((x: Tensor) => {
    const turned = x.add(1).t();
    return [x.t().contiguous(), x.t().narrow(0, 0, 2).contiguous(), [turned, turned.contiguous()]] as const;
  })(x);
  for (const each of [whole, part, both[1]]) assertEquals(each.stride(), [4, 1]);
  assertEquals(whole.tolist(), x.t().tolist());
  assert(both[0].storage !== both[1].storage);
  for (const each of [whole, part, ...both]) each.fill_(0);
  assertEquals(x.tolist(), before);
});
