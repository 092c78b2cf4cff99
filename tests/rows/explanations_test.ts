/** Reports of compilations: rows M30, S41, S45, S50 and S51 of the list of features, and `explain`. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  compile,
  compiler,
  config,
  DynError,
  logs,
  nn,
  ones,
  setDefaultDtype,
  type Tensor,
  tensor,
  Unsupported,
  zeros,
} from "../../mod.ts";
import { join } from "node:path";
import { runProgram, withFolder } from "../support/process.ts";
import { stderrOf } from "../support/stderr.ts";
import { withEval } from "./direct_eval.ts";

const eager = { backend: "eager" } as const;
const cut = compiler.disable(() => {});

Deno.test("M30: comptime runs its function during tracing, never in a call", () => {
  const seen: { readonly graph: string; readonly locals: Readonly<Record<string, string>> }[] = [];
  const f = compile((x: Tensor, n: number) => {
    const y = x.mul(n).add(1);
    compiler.comptime((context) => {
      seen.push({ graph: context.graph(), locals: context.locals() });
    });
    return y.sin();
  }, eager);
  f(ones([2]), 3);
  f(ones([2]), 3);
  assertEquals(seen.length, 1);
  const [{ graph, locals } = { graph: "", locals: {} }] = seen;
  assert(graph.includes("l_x_.mul(3)") && graph.includes("mul.add(1)") && !graph.includes("sin"), graph);
  assertEquals([locals["n"], locals["y"]], ["3", "a tensor f32[2][1]"]);
  assertThrows(() => Reflect.apply(compiler.comptime, undefined, [3]), DynError, "but found 3");
});

Deno.test("M30: a comptime function sees guards, stack and instructions", () => {
  const contexts: string[][] = [];
  const look = (context: compiler.ComptimeContext): void => {
    contexts.push([
      context.guards().join("\n"),
      context.stack().map(({ functionName }) => functionName).join(),
      context.disassembly(),
    ]);
  };
  const inner = (x: Tensor): Tensor => {
    compiler.comptime(look);
    return x.cos();
  };
  const count = new compiler.CompileCounter();
  compile(function outer(x: Tensor): Tensor {
    return inner(x.sin());
  }, { backend: count, fullgraph: true })(ones([2]));
  const [[guards = "", stack = "", code = ""] = []] = contexts;
  assertEquals([count.opCount, stack], [2, "inner,outer"]);
  assert(guards.includes(`check_tensor(L["x"]`) && code.includes("cos"), `${guards}\n${code}`);
});

Deno.test("M30: comptime prints to stderr, and breaks if its function has captured computed values", () => {
  const text = stderrOf(() =>
    compile((x: Tensor) => {
      const y = x.add(1);
      compiler.comptime.printGraph();
      compiler.comptime.printLocals();
      compiler.comptime.printGuards();
      compiler.comptime.printStack();
      compiler.comptime.printDisassembly();
      return y;
    }, { ...eager, fullgraph: true })(ones([2]))
  );
  for (const part of ["l_x_.add(1)", "  y: a tensor", "Guards so far:", "explanations_test.ts:", "return"]) {
    assert(text.includes(part), `${part}: ${text}`);
  }
  const report = compiler.explain((x: Tensor) => {
    const y = x.add(1);
    compiler.comptime(() => void y);
    return y;
  })(ones([2]));
  assertEquals(report.breakReasons.map(({ id }) => id), ["GB0004"]);
});

Deno.test("S41: fullgraph rejects a break, and a wait, with the place and a remedy", () => {
  const broken = compile((x: Tensor) => {
    cut();
    return x;
  }, { ...eager, fullgraph: true });
  const { reason } = assertThrows(() => broken(ones([1])), Unsupported);
  assertEquals([reason.id, reason.stack.length > 0, reason.hint.length > 0], ["GB0003", true, true]);
  const waiting = compile(async (x: Tensor) => {
    const y = x.add(1);
    await null;
    return y.mul(2);
  }, { ...eager, fullgraph: true });
  const wait = assertThrows(() => void waiting(ones([1])), Unsupported).reason;
  assertEquals([wait.id, wait.stack[0]?.line !== undefined], ["GB0035", true]);
});

Deno.test("S45: another default dtype, or another active backend, needs another version; the default device is guarded", () => {
  const count = new compiler.CompileCounter(), other = new compiler.CompileCounter();
  const f = compile((x: Tensor) => x.add(zeros([1])), { backend: count });
  const x = ones([1], { dtype: "float64" });
  assertEquals(f(x).dtype, "float64");
  const [state = ""] = compiler.cacheEntries(f)[0]?.guards.codeParts ?? [];
  assert(/___check_global_state\(grad=true, dtype=float32, device=cpu/.test(state), state);
  setDefaultDtype("float64");
  try {
    assertEquals([f(ones([1])).dtype, count.frameCount], ["float64", 2]);
  } finally {
    setDefaultDtype("float32");
  }
  {
    using _ = compiler.setStance("default", { forceBackend: other });
    f(x);
    f(x);
  }
  f(x);
  assertEquals([count.frameCount, other.frameCount], [2, 1]);
});

Deno.test("S50: cacheSizeLimit bounds the versions of a function, and further calls run uncompiled", () => {
  const f = compile((x: Tensor, s: string) => x.add(s.length), eager);
  stderrOf(() =>
    config.patch({ cacheSizeLimit: 2 }, () => {
      for (let i = 0; i < 5; i++) assertEquals(f(ones([1]), "a".repeat(i)).tolist(), [1 + i]);
    })
  );
  const { entries, uncompiled } = compiler.status(f);
  assertEquals([entries, uncompiled.map(({ reason, calls }) => [reason.id, calls])], [2, [["GB0033", 3]]]);
});

Deno.test("S51: CompilationProfiler keeps one entry per function and reports failing guards and graph breaks", () => {
  const profiler = new compiler.CompilationProfiler();
  const f = compile(function step(x: Tensor, mode: string): Tensor {
    const y = x.add(mode.length);
    cut();
    return y.mul(2);
  }, { backend: profiler });
  const text = stderrOf(() => {
    for (const mode of ["a", "bb", "bb", "ccc"]) {
      assertEquals(f(ones([1]), mode).tolist(), [(1 + mode.length) * 2]);
    }
  });
  assertEquals([text, compiler.status(f).entries], ["", 1]);
  assertEquals(profiler.breakReasons.map(({ id }) => id), ["GB0003"]);
  const [first] = profiler.recompilations;
  assert(first !== undefined && first.name.startsWith("step") && first.count === 2, profiler.report());
  assert(
    /^L\["mode"\] === "a", found "bb" {2}# .*explanations_test\.ts:\d+\)$/.test(first.guard),
    first.guard,
  );
  const report = profiler.report();
  for (
    const part of ["2 graphs, 2 operations", "1 graph breaks", "GB0003", "3 recompilations", `found "ccc"`]
  ) {
    assert(report.includes(part), `${part}: ${report}`);
  }
});

Deno.test("explain covers the code after an await, a yield and an end", async () => {
  const report = await compiler.explain(async (x: Tensor) => {
    const y = x.add(1);
    await null;
    const z = y.mul(2);
    await null;
    return z.sin();
  })(ones([1]));
  assertEquals(report.opsPerGraph, [["add"], ["mul"], ["sin"]]);
  assertEquals(report.breakReasons.map(({ id }) => id), ["GB0035", "GB0035"]);
  const values = compiler.explain(function* (x: Tensor) {
    yield x.add(1);
    const y = x.mul(2);
    yield y;
    return y.cos();
  })(ones([1]));
  assertEquals(values.opsPerGraph, [["add"], ["mul"], ["cos"]]);
  const state = { finished: false };
  const endless = await compiler.explain(async function* (x: Tensor) {
    try {
      while (true) {
        x = x.cos();
        yield x;
        await null;
      }
    } finally {
      state.finished = true;
    }
  })(ones([1]));
  assertEquals([state.finished, endless.uncompiled.length], [true, 0]);
  assert(endless.opsPerGraph.length >= 2 && endless.breakReasons.length < 6, `${endless}`);
});

Deno.test("explain asks to be repeated if a call has only exposed its variables", () => {
  let calls = 0;
  const f = (x: Tensor) => {
    calls++;
    return x.add(calls);
  };
  const first = compiler.explain(f)(ones([1])), second = compiler.explain(f)(ones([1]));
  assertEquals(first.uncompiled.map(({ hint }) => hint), [
    "Explain it again: this call has read the variables",
  ]);
  assertEquals([second.uncompiled.length, second.graphCount, calls], [0, 1, 2]);
});

Deno.test("explain counts no break of an abandoned attempt", () => {
  const made: string[] = [];
  class Counter {
    #by = 3;
    constructor() {
      made.push("one");
    }
    times(x: Tensor): Tensor {
      return x.mul(this.#by);
    }
  }
  // An object made there cannot be passed on after the branch, so the graph ends before, and the rest is plain
  const found = compiler.explain((x: Tensor) => {
    const counter = new Counter(), y = counter.times(x);
    return Number(y.sum().item()) > 100 ? y : counter.times(y);
  })(tensor([1, 2]));
  assertEquals(found.breakReasons.map(({ id }) => id), ["GB0015"]);
  assertEquals([found.graphBreakCount, found.graphCount, found.uncompiled.length], [1, 0, 1]);
});

Deno.test("explain reports why nothing of a function is compiled, and at which line", () => {
  const text = stderrOf(() => {
    const { graphCount, uncompiled } = compiler.explain(withEval)(ones([1]));
    assertEquals([graphCount, uncompiled.map(({ id }) => id)], [0, ["GB0027"]]);
    assert(uncompiled[0]?.stack[0]?.file.endsWith("direct_eval.ts"), "a place");
  });
  assert(text.includes("direct_eval.ts:"), text);
});

const SCRIPT = `import { compile, config, ones, type Tensor } from "jsr:@x/dyn";
config.cacheSizeLimit = 2;
const whole = compile((x: Tensor) => { eval("1"); return x; });
whole(ones([2]));
const loop = compile((x: Tensor, n: bigint) => {
  if (n === 0n) return x;
  for (let i = 0; i < 3; i++) {
    console.log(i);
    x = x.add(Number(n));
  }
  return x;
}, { name: "loop", dynamic: false });
for (const n of [1n, 2n, 3n, 4n]) loop(ones([2]), n);
`;

Deno.test("dyn explain distinguishes breaks, uncompiled code and limits, each once", async () => {
  await withFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "model.ts"), SCRIPT);
    const cli = new URL("../../cli.ts", import.meta.url).pathname;
    const args = ["run", "-A", "--no-check", cli, "--backend=eager", "explain", "model.ts"];
    const { code, stdout } = await runProgram(Deno.execPath(), args, { cwd: folder });
    assertEquals(code, 0, stdout);
    assert(/^Dynamo produced \d+ graphs, with 1 graph break and \d+ recompilations$/m.test(stdout), stdout);
    const sections = (title: string) => stdout.match(new RegExp(`^${title} \\d+:\n.*`, "gm"))?.length ?? 0;
    assertEquals([sections("Break reason"), sections("Uncompiled"), sections("Limit")], [1, 3, 2], stdout);
    assert(/^Limit \d:\n {2}loop has reached config.cacheSizeLimit \(2\)$/m.test(stdout), stdout);
  });
});

Deno.test("guards are printed with the line that needs them", () => {
  const texts: string[] = [];
  logs.capture("guards", (_artifact, text) => texts.push(text), () => {
    compile((x: Tensor, n: number) => n > 2 ? x.add(n) : x, eager)(ones([1]), 3);
  });
  assert(/L\["n"\] === 3 {2}# .*\(.*explanations_test\.ts:\d+\)/.test(texts.join("\n")), texts.join("\n"));
});

/** Returns the reported difference between two calls. */
function difference<T>(fn: (x: Tensor, value: T) => unknown, first: T, second: T): string {
  const texts: string[] = [];
  logs.capture("recompiles", (_artifact, text) => texts.push(text), () => {
    const f = compile(fn, eager);
    f(ones([1]), first);
    f(ones([1]), second);
  });
  const [text = "no recompilation"] = texts;
  return text.split("\n").slice(1).join("\n").trim().replace(/ {2}# .*/s, "");
}

Deno.test("a failing guard of any kind is reported with the expected and the found value", () => {
  type Bag = Readonly<Record<string, unknown>>;
  const scaled = (x: Tensor, bag: Bag) => Object.keys(bag).length > 1 ? x.mul(2) : x;
  assertEquals(
    difference<Bag>(scaled, { a: 1 }, { a: 1, b: 2 }),
    `Object.keys(L["value"]) === ["a"], found [a, b]`.replace("value", "bag"),
  );
  assertEquals(
    difference<readonly number[]>((x, list) => x.add(list.length), [1, 2], [1, 2, 3]),
    `L["list"].length === 2, found 3 elements`,
  );
  assertEquals(
    difference<Bag>((x, bag) => "a" in bag ? x.add(1) : x, { a: 1 }, { b: 1 }),
    `Object.hasOwn(L["bag"], "a"), found no a`,
  );
  assertEquals(
    difference<Map<string, number>>(
      (x, map) => x.add(map.size),
      new Map([["k", 2]]),
      new Map([["k", 2], ["l", 3]]),
    ),
    `[...L["map"].keys()] === ["k"], found ["k", "l"]`,
  );
  assertEquals(
    difference<(x: Tensor) => Tensor>((x, fn) => fn(x), (x) => x.add(1), (x) => x.sub(1)),
    `___check_code(L["fn"], <anonymous>), found another function <anonymous>`,
  );
  const doubled = (x: Tensor, y: Tensor) => x.add(y);
  assertEquals(
    difference<Tensor>(doubled, tensor([1]), tensor([1], { dtype: "float64" })).replace(/^.*found/, "found"),
    "found float64[1][1]",
  );
  const pair = [new nn.Linear(1, 1), new nn.Linear(1, 1)] as const;
  assertEquals(
    difference<nn.Linear>((x, m) => m.call(x), ...pair),
    `___check_obj_id(L["m"].weight, Parameter), found another tensor f32[1, 1][1, 1]`,
  );
  assertEquals(
    difference<readonly unknown[]>((x, ...rest) => x.add(rest.length), [1], [1]),
    "",
  );
});

Deno.test("S50: the user's own lines are shown although dyn's layers do the work", () => {
  const layer = new nn.Linear(2, 2);
  const run = (x: Tensor) => layer.call(x).relu();
  const filled = (x: Tensor) => nn.init.sparse_(x.add(1), 0.5);
  const place = import.meta.filename ?? "";
  const { graphs } = compiler.explain(run)(ones([1, 2]));
  const places = graphs.flatMap((graph) => [...graph.readable().matchAll(/File: (.*):\d+ in (\w+)/g)]);
  assertEquals(places.map(([, file, name]) => [file, name]), [[place, "run"]]);
  const [{ stack } = { stack: [] }] = compiler.explain(filled)(ones([2, 2])).breakReasons;
  assertEquals([stack[0]?.file, stack[0]?.functionName, stack.at(-1)?.functionName], [
    place,
    "filled",
    "sparse_",
  ]);
  const texts: string[] = [];
  logs.capture("guards", (_artifact, text) => texts.push(text), () => void compile(run, eager)(ones([1, 2])));
  const told = texts.join("\n"), lines = told.split("\n").filter((line) => line.includes('["layer"]'));
  assert(
    lines.length > 0 && lines.every((line) => line.includes(place) && !line.includes("linear.ts")),
    told,
  );
});
