/** Calls that run uncompiled, and their reports: limits of symbolic rules, errors of the program, errors of dyn. */
import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { config } from "../lib/base/config.ts";
import { DynError, Unsupported } from "../lib/base/errors.ts";
import { counters, logs } from "../lib/base/logs.ts";
import { symbolsOf } from "../lib/graph/sizes.ts";
import { disable, explain, optimize, statusOf } from "../lib/dynamo/mod.ts";
import { grad } from "../lib/autograd/entry_points.ts";
import { ops } from "../lib/tensor/eager.ts";
import { noGrad } from "../lib/tensor/modes.ts";
import type { Tensor } from "../lib/tensor/tensor.ts";
import { capture, list, vector } from "./support/dynamo.ts";

/** A call that always ends the graph. */
const outside = disable(() => {});

/** Reasons and calls that ran uncompiled. */
function uncompiled(fn: object): readonly (readonly [string, number])[] {
  return statusOf(fn)?.uncompiled.map(({ reason, calls }) => [reason.id, calls]) ?? [];
}

function count(n: number): Tensor {
  return ops.arange(n, { dtype: "float32" });
}

Deno.test("a range between two symbolic bounds keeps a symbolic length", () => {
  const c = capture((x: Tensor) => {
    const n = x.shape[0] ?? 0;
    return ops.arange(n, n + 3).add(ops.arange(1, n).sum());
  }, { fullgraph: true, dynamic: true });
  for (const n of [3, 4, 5, 9]) {
    const sum = n * (n - 1) / 2;
    assertEquals(list(c.run(count(n))), [n + sum, n + 1 + sum, n + 2 + sum]);
  }
  assertEquals([c.graphs.length, statusOf(c.run)?.hits, uncompiled(c.run)], [1, 4, []]);
});

Deno.test("decoding with a cache compiles nothing after the third token", () => {
  const table = ops.arange(64).reshape([32, 2]).to("float32");
  const step = (token: Tensor, cache: Tensor) => {
    const past = cache.shape[0] ?? 0, length = token.shape[0] ?? 0;
    const positions = ops.arange(past, past + length);
    const keys = ops.cat([cache, token.add(table.indexSelect(0, positions))]);
    const mask = ops.arange(past + length).le(positions.unsqueeze(1));
    const scores = token.matmul(keys.t()).maskedFill(mask.logicalNot(), -1e9).softmax(1);
    return [scores.matmul(keys), keys] as const;
  };
  const c = capture(step, { fullgraph: true });
  const run = (decode: typeof step) => {
    const results: unknown[] = [], graphs: number[] = [];
    let cache = decode(ops.ones([4, 2]), ops.zeros([0, 2]))[1];
    for (let t = 0; t < 8; t++) {
      const [out, next] = decode(ops.full([1, 2], t / 8, { dtype: "float32" }), cache);
      results.push(list(out));
      graphs.push(c.graphs.length);
      cache = next;
    }
    return { results, graphs };
  };
  const { results, graphs } = run(c.run);
  assertEquals(results, run(step).results);
  assertEquals(graphs.slice(1), graphs.slice(1).fill(graphs[1] ?? 0));
  assertEquals(uncompiled(c.run), []);
});

Deno.test("ops without a rule for symbolic sizes make them constants, and the function is compiled", () => {
  const c = capture((x: Tensor, y: Tensor) => {
    const n = x.shape[0] ?? 0;
    return [ops.trilIndices(n, n).select(0, 0), y.mul(2)];
  }, { fullgraph: true, dynamic: true });
  const run = (n: number, k: number) => (c.run(count(n), count(k)) as Tensor[]).map(list);
  assertEquals(run(3, 2), [[0, 1, 1, 2, 2, 2], [0, 2]]);
  assertEquals(run(3, 3), [[0, 1, 1, 2, 2, 2], [0, 2, 4]]);
  // The other size stays a symbol.
  assertEquals(c.graphs.length, 1);
  assertEquals(run(2, 3), [[0, 1, 1], [0, 2, 4]]);
  assertEquals([c.graphs.length, uncompiled(c.run)], [2, []]);
});

Deno.test("gradients whose sizes are constants fit results whose sizes are symbols", () => {
  const passed = (x: Tensor) => {
    const y = x.detach().requiresGrad_();
    y.grad = vector(1, 1);
    y.sin().backward(vector(1.5, 2));
    return y.grad!.add(grad([y.cos()], [y], [vector(1, 0.5)])[0]!);
  };
  const c = capture(passed, { dynamic: true });
  assertEquals(list(c.run(vector(0.5, 2))), list(passed(vector(0.5, 2))));
  assertEquals([c.graphs.length, uncompiled(c.run)], [1, []]);
  assertThrows(() => c.run(vector(1, 2, 3)), DynError, "Expected");
});

Deno.test("where a number cannot be a constant, an op without a rule for it breaks the graph", () => {
  const c = capture((x: Tensor) => ops.arange(0, x.sum().item() as number, 2).add(1));
  for (const n of [3, 5, 7, 9, 11]) {
    assertEquals(list(c.run(vector(n, 0))), list(ops.arange(0, n, 2).add(1)));
  }
  assertEquals(uncompiled(c.run), []);
});

Deno.test("a backend that fails on symbolic sizes gets a graph without them", () => {
  const symbolic: boolean[] = [];
  const run = optimize((x: Tensor) => x.mul(2), {
    dynamic: true,
    backend: (gm) => {
      symbolic.push(symbolsOf(gm.graph.nodes).size > 0);
      if (symbolic.at(-1)) throw new Error("no symbols");
      return (...inputs) => gm.forward(...inputs);
    },
  });
  assertEquals(list(run(vector(1, 2))), [2, 4]);
  assertEquals(list(run(vector(1, 2, 3))), [2, 4, 6]);
  assertEquals(symbolic, [true, false, false]);
});

Deno.test("an error of the program keeps its class and message, with whole graphs and inside loops too", () => {
  const wrong = (xs: readonly Tensor[]) => {
    let sum = ops.zeros([2]);
    for (const x of xs) sum = sum.add(x);
    return sum;
  };
  for (const fullgraph of [false, true]) {
    const c = capture(wrong, { fullgraph });
    for (let i = 0; i < 2; i++) {
      assertThrows(() => c.run([vector(1, 2), vector(1, 2, 3)]), DynError, "differ at dimension 0");
    }
    assertEquals(list(c.run([vector(1, 2), vector(1)])), [2, 3]);
    assertEquals(uncompiled(c.run), [["GB0029", 2]]);
    assertEquals(statusOf(c.run)?.hits, 1);
  }
});

Deno.test("an error that a handler swallows does not break the graph", () => {
  const c = capture((x: Tensor, y: Tensor) => {
    let z = x.add(1);
    try {
      z = z.matmul(y);
    } catch {
      z = z.neg();
    } finally {
      z = z.mul(2);
    }
    return z;
  }, { fullgraph: true });
  assertEquals(list(c.run(vector(1, 2), vector(1, 2))), 16);
  assertEquals(list(c.run(vector(1, 2), vector(1, 2, 3))), [-4, -6]);
  assertEquals(c.ops(), [["add", "matmul", "mul"], ["add", "neg", "mul"]]);
});

Deno.test("an error that a handler inspects is the real one", () => {
  const c = capture((x: Tensor, y: Tensor) => {
    const z = x.add(1);
    try {
      return z.matmul(y);
    } catch (error) {
      return [z.neg(), error instanceof DynError, (error as Error).message];
    }
  });
  const [z, mine, message] = c.run(vector(1, 2), vector(1, 2, 3)) as [Tensor, boolean, string];
  assertEquals([list(z), mine], [[-2, -3], true]);
  assertStringIncludes(message, "but found [2] and [3]");
});

Deno.test("other exceptions reach the program's handlers, and no others", () => {
  const c = capture((o: { inner?: { k: number } }, list: number[], x: Tensor) => {
    for (const k of list) x = x.add(k * (o.inner as { k: number }).k);
    return x;
  }, { fullgraph: true });
  assertEquals(list(c.run({ inner: { k: 2 } }, [1, 2], vector(1))), [7]);
  assertThrows(() => c.run({}, [1, 2], vector(1)), TypeError, "Cannot read properties of undefined");
  assertEquals(list(c.run({}, [], vector(1))), [1]);
});

Deno.test("the rest of an instruction that has called back does not run twice", () => {
  const fn = (x: Tensor) => {
    let n = 0;
    const results = [{ done: false, value: 1 }, { done: false, value: 2 }, 7];
    const items = { [Symbol.iterator]: () => ({ next: () => results[n++] as IteratorResult<number> }) };
    try {
      return [x.add(1), [...items], n];
    } catch (error) {
      return [x.neg(), (error as Error).message, n];
    }
  };
  assertEquals((capture(fn).run(vector(1)) as unknown[]).map(list), fn(vector(1)).map(list));
});

Deno.test("an exception that was expected and does not occur is reported and counted", () => {
  // The guards of the first call do not tell it from one whose write is a setter's.
  const c = capture((o: { r: number }, x: Tensor) => {
    o.r = 5;
    return x.add(1);
  });
  assertThrows(() => c.run(Object.freeze({ r: 1 }), vector(1)), TypeError);
  const written: number[] = [];
  assertEquals(
    list(c.run(
      Object.create({
        set r(n: number) {
          written.push(n);
        },
      }),
      vector(1),
    )),
    [2],
  );
  assertEquals(written, [5]);
  assertEquals(list(c.run({ r: 1 }, vector(1))), [2]);
  assert(uncompiled(c.run).every(([id]) => id !== "GB0030"));
});

Deno.test("a write gives other tensors of that memory a history: a backward pass that needs it is no error", () => {
  const program = (base: Tensor, view: Tensor) => {
    base.mul_(3);
    view.mul(view).sum().backward();
  };
  const compiled = capture(program).run;
  for (const run of [program, compiled]) {
    const x = vector(2, 3).requiresGrad_(), base = x.mul(2), view = noGrad(() => base.slice(0, 1, 2));
    run(base, view);
    assertEquals(x.grad?.tolist(), [0, 216]);
  }
  assertEquals(uncompiled(compiled), []);
});

Deno.test("an error of dyn itself leaves the function uncompiled, and is reported", () => {
  const report: string[] = [];
  let failing = true;
  const fn = (x: Tensor) => x.add(1);
  const c = capture(fn, {
    hooks: {
      onGuards: () => {
        if (failing) throw new Error("made up");
      },
      onUncompiled: ({ id, explanation }) => void report.push(`${id} ${explanation}`),
    },
  });
  const lines: string[] = [];
  logs.capture("", (_artifact, text) => void lines.push(text), () => {
    for (let i = 0; i < 3; i++) assertEquals(list(c.run(vector(1))), [2]);
  });
  assertEquals(lines.length, 1);
  assertStringIncludes(
    lines[0] ?? "",
    "runs uncompiled. Capturing the function failed, which is a bug in dyn: made up (GB0031)",
  );
  assertEquals(report, ["GB0031 Capturing the function failed, which is a bug in dyn: made up"]);
  assertEquals([uncompiled(c.run), statusOf(c.run)?.givenUp], [[["GB0031", 3]], "made up"]);
  const whole = capture(fn, {
    fullgraph: true,
    hooks: {
      onGuards: () => {
        if (failing) throw new Error("made up");
      },
    },
  });
  assertThrows(() => whole.run(vector(1)), Unsupported, "GB0031");
  failing = false;
  assertEquals(list(whole.run(vector(1))), [2]);
});

Deno.test("untraceable code is reported once, counted at each call, and rejected if whole graphs are required", () => {
  const lines: string[] = [];
  const read = Math.max as unknown as (x: number, y: number) => number;
  const c = capture(read);
  logs.capture("", (_artifact, text) => void lines.push(text), () => {
    for (let i = 0; i < 3; i++) assertEquals(c.run(1, i), Math.max(1, i));
  });
  assertEquals(lines.length <= 1, true);
  assertEquals(uncompiled(c.run), [["GB0027", 3]]);
  assertThrows(() => capture(read, { fullgraph: true }).run(1, 2), Unsupported, "a function of the runtime");
  const before = counters.get("uncompiled", "function that cannot be traced");
  const report = explain(read)(1, 2);
  assertEquals(report.uncompiled.map(({ id }) => id), ["GB0027"]);
  assertStringIncludes(`${report}`, "Runs uncompiled:\n1. function that cannot be traced (GB0027)");
  assertEquals(counters.get("uncompiled", "function that cannot be traced"), before + 1);
});

Deno.test("a break that cannot be resumed from is reported", () => {
  class Doubler {
    #double(x: Tensor): Tensor {
      return x.mul(2);
    }
    run(x: Tensor): Tensor {
      return [x, x].map((each) => this.#double(each)).reduce((a, b) => a.add(b));
    }
  }
  const doubler = new Doubler();
  const c = capture((x: Tensor) => doubler.run(x.add(1)));
  const texts: string[] = [];
  logs.capture("graph_breaks", (_artifact, text) => void texts.push(text), () => {
    assertEquals(list(c.run(vector(1, 2))), [8, 12]);
  });
  const said = uncompiled(c.run);
  assertEquals(said.length > 0, texts.some((text) => text.includes("runs uncompiled")));
});

Deno.test("arguments that are trees of lists are traced", () => {
  const c = capture((a: Tensor, b: Tensor) => ops.tensordot(a, b, [[0, 1], [1, 0]]), { fullgraph: true });
  const a = count(6).reshape([2, 3]), b = count(6).reshape([3, 2]);
  assertEquals(list(c.run(a, b)), list(ops.tensordot(a, b, [[0, 1], [1, 0]])));
});

Deno.test("beyond the limit of versions calls are counted, and rejected if whole graphs are required", () => {
  const fn = (x: Tensor, s: string) => x.add(s.length);
  config.patch({ cacheSizeLimit: 1 }, () => {
    const c = capture(fn);
    for (const s of ["", "a", "b"]) assertEquals(list(c.run(vector(0), s)), [s.length]);
    assertEquals(uncompiled(c.run), [["GB0033", 2]]);
    const whole = capture(fn, { fullgraph: true });
    whole.run(vector(0), "");
    assertThrows(() => whole.run(vector(0), "a"), Unsupported, "cache size limit");
  });
});

Deno.test("calls that end in exceptions leave room for versions of others, under accumulatedCacheSizeLimit", () => {
  const fn = (x: Tensor, y: Tensor) => ops.mm(x, y).relu();
  config.patch({ cacheSizeLimit: 2 }, () => {
    const c = capture(fn), whole = capture(fn, { fullgraph: true }), two = ops.ones([2, 2]);
    for (const { run } of [c, whole]) {
      for (const wrong of [3, 4, 5, 6]) {
        assertThrows(() => run(two, ops.ones([wrong, 2])), DynError, `found [2, 2] and [${wrong}, 2]`);
      }
      for (const dtype of ["float32", "float64"] as const) {
        assertEquals(list(run(two.to(dtype), two.to(dtype))), [[2, 2], [2, 2]]);
      }
    }
    assert(!uncompiled(c.run).some(([id]) => id === "GB0033"));
  });
});

Deno.test("a function without tensors runs uncompiled once its budget is spent, until it creates some", () => {
  const box = { total: 0, makes: false };
  const c = capture((x: number): number | Tensor => {
    box.total += x;
    outside();
    const twice = box.total * 2;
    outside();
    return box.makes ? ops.full([1], twice) : twice;
  });
  let expected = 0;
  const run = () => {
    const result = c.run(1);
    assertEquals(typeof result === "number" ? [result] : list(result), [expected += 2]);
    return [uncompiled(c.run), c.entries(), c.graphs.length];
  };
  config.patch({ tensorlessTraceLimit: 50_000 }, () => {
    // Two versions, and what is left behind the second break
    assertEquals(run(), [[["GB0047", 1]], 1, 0]);
    assertEquals(run(), [[["GB0047", 2]], 0, 0]);
    box.makes = true;
    assertEquals(run(), [[["GB0047", 3]], 0, 0]);
    for (const versions of [1, 2]) assertEquals(run(), [[["GB0047", 3]], versions, versions]);
  });
});

Deno.test("versions with tensors do not count towards the budget of functions without", () => {
  const c = capture((x: Tensor, s: string) => {
    const y = x.add(s.length);
    outside();
    return y.mul(2);
  });
  config.patch({ tensorlessTraceLimit: 1 }, () => {
    for (const s of ["", "a", "bb"]) assertEquals(list(c.run(vector(1), s)), [2 + 2 * s.length]);
  });
  assertEquals([uncompiled(c.run), c.graphs.length > 1], [[], true]);
});

Deno.test("long loops between tensors that only pass by are traced no further once the budget is spent", () => {
  const count = (n: number) => {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += i & 3;
    return sum;
  };
  const c = capture((x: Tensor) => {
    const y = x.add(1);
    let sum = 0;
    for (const n of [200, 201, 202, 203]) {
      outside();
      sum += count(n);
    }
    return y.mul(sum);
  });
  config.patch({ tensorlessTraceLimit: 2_000 }, () => {
    const expected = [2 * (300 + 300 + 301 + 303)];
    // The plain rest creates a tensor, so that later calls capture it again, with twice the limit
    for (const graphs of [1, 2, 2]) {
      assertEquals(list(c.run(vector(1))), expected);
      assertEquals([uncompiled(c.run), c.graphs.length], [[["GB0047", 1]], graphs]);
    }
  });
});
