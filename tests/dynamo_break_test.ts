/** Graph breaks: where they occur, their names, and how the rest of the program continues. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { config } from "../lib/base/config.ts";
import { counters } from "../lib/base/logs.ts";
import { disable, explain, statusOf } from "../lib/dynamo/mod.ts";
import { Linear, Sequential } from "../lib/nn/mod.ts";
import { ops } from "../lib/tensor/eager.ts";
import { noGrad } from "../lib/tensor/modes.ts";
import type { Tensor } from "../lib/tensor/tensor.ts";
import { capture, list, vector } from "./support/dynamo.ts";

function toyExample(a: Tensor, b: Tensor): Tensor {
  const x = a.div(ops.abs(a).add(1));
  if (Number(b.sum()) < 0) b = b.mul(-1);
  return x.mul(b);
}

Deno.test("the toy example is three graphs, whichever branch comes first", () => {
  const c = capture(toyExample);
  for (const sign of [1, -1, 1, -1, 1]) {
    const a = vector(1, 2), b = vector(sign, 3 * sign);
    assertEquals(list(c.run(a, b)), list(toyExample(a, b)));
  }
  assertEquals(c.ops(), [["abs", "add", "truediv", "sum", "lt"], ["mul"], ["mul", "mul"]]);
  assertEquals(
    c.code(),
    `function toyExample(a, b) {
  const { 0: lt, 1: truediv } = __compiled_fn(a, b);
  const item = lt.item();
  if (item) {
    return __resume_at_N_2(b, truediv);
  }
  return __resume_at_N_1(b, truediv);
}`,
  );
  assertEquals(c.resumed(), [
    `function resume_at_N_1(b, x) {
  const { 0: mul } = __compiled_fn(x, b);
  return mul;
}`,
    `function resume_at_N_2(b, x) {
  const { 0: mul_1 } = __compiled_fn(b, x);
  return mul_1;
}`,
  ]);
});

Deno.test("every graph break of the catalogue has an identifier of its own", () => {
  const text = Deno.readTextFileSync(new URL("../lib/dynamo/break_reasons.ts", import.meta.url));
  const ids = [...text.matchAll(/^ {4}id: "(GB\d{4})",$/gm)].map(([, id]) => id);
  assert(ids.length >= 39, `${ids.length}`);
  assertEquals([...new Set(ids)].toSorted(), ids.toSorted());
});

Deno.test("explain counts graphs, breaks and operations, and gives reasons", () => {
  const outside = disable((t: Tensor) => t);
  const fn = (a: Tensor, b: Tensor) => {
    const x = a.div(ops.abs(a).add(1));
    outside(x);
    if (Number(b.sum()) < 0) b = b.mul(-1);
    return x.mul(b);
  };
  const report = explain(fn)(vector(1), vector(1));
  assertEquals([report.graphCount, report.graphBreakCount, report.opCount], [3, 2, 6]);
  assertEquals(`${report}`.split("\n")[0], "Dynamo produced 3 graphs, with 2 graph break and 6 ops");
  assertEquals(report.breakReasons.map((r) => r.id), ["GB0003", "GB0001"]);
  assert(report.breakReasons[0]?.stack[0]?.code?.includes("outside(x)"));
  assertEquals(report.opsPerGraph, [["abs", "add", "truediv"], ["sum", "lt"], ["mul"]]);
});

Deno.test("a hint names a setting unless it is set", () => {
  const hint = () =>
    explain((x: Tensor) => x.mul(`${x.sum().item()}`.length))(vector(1)).breakReasons[0]?.hint;
  const found = [hint(), config.patch({ captureScalarOutputs: true }, hint)];
  assertEquals(found, [
    "Keep the value as a tensor, or set config.captureScalarOutputs = true",
    "Keep the value as a tensor",
  ]);
});

Deno.test("an assertion of the console ends the graph only where it fails and writes", () => {
  const fn = (x: Tensor) => {
    console.assert(x.ndim === 1 && x.shape[0] !== 3, "three elements");
    return x.mul(2);
  };
  const reasons = (x: Tensor) => explain(fn)(x).breakReasons.map(({ id }) => id);
  assertEquals([reasons(vector(1, 2)), reasons(vector(1, 2, 3))], [[], ["GB0005"]]);
  const c = capture(fn);
  assertEquals([list(c.run(vector(1, 2))), c.ops()], [[2, 4], [["mul"]]]);
});

Deno.test("a break in a callee resumes through every frame", () => {
  const outside = disable((t: Tensor) => t);
  const inner = (t: Tensor) => outside(t.add(1)).mul(2);
  const middle = (t: Tensor) => inner(t.sin()).cos();
  const c = capture((x: Tensor) => middle(x.neg()).sub(x));
  const x = vector(1, 2);
  assertEquals(list(c.run(x)), list(x.neg().sin().add(1).mul(2).cos().sub(x)));
  assertEquals(c.ops(), [["neg", "sin", "add"], ["mul", "cos", "sub"]]);
});

Deno.test("a break in a loop costs a break, not the loop, and does not grow the stack", () => {
  const outside = disable(() => {});
  const c = capture((x: Tensor, n: number) => {
    for (let i = 0; i < n; i++) {
      outside();
      x = x.add(1);
    }
    return x;
  });
  assertEquals(list(c.run(vector(0), 3000)), [3000]);
  assert(c.graphs.length < 12, `${c.graphs.length} graphs`);
});

Deno.test("an exception of the plain instruction reaches the handler that it would have reached", () => {
  const explode = disable((k: number) => {
    if (k > 0) throw new RangeError("outside");
  });
  const c = capture((x: Tensor, k: number) => {
    const log: string[] = [];
    try {
      x = x.add(1);
      explode(k);
      log.push("fine");
    } catch (e) {
      log.push(e instanceof RangeError ? e.message : "other");
      x = x.mul(10);
    } finally {
      log.push("finally");
    }
    return [x, log];
  });
  const run = (k: number) => (c.run(vector(1), k) as [Tensor, string[]]).map(list);
  assertEquals(run(0), [[2], ["fine", "finally"]]);
  assertEquals(run(1), [[20], ["outside", "finally"]]);
});

Deno.test("callbacks of array methods break and resume inside the method", () => {
  const outside = disable((n: number) => n * 2);
  const c = capture((x: Tensor) => [1, 2, 3].map((n) => x.mul(outside(n))));
  assertEquals((c.run(vector(1)) as Tensor[]).map(list), [[2], [4], [6]]);
});

Deno.test("generators running when the graph breaks continue where they were", () => {
  const outside = disable((t: Tensor) => t.mul(3));
  function* parts(x: Tensor): Generator<Tensor> {
    yield x.add(1);
    yield outside(x);
    yield x.sub(1);
  }
  const fn = (x: Tensor) => {
    let total = ops.zerosLike(x);
    for (const p of parts(x)) total = total.add(p);
    return total;
  };
  assertEquals(list(capture(fn).run(vector(2))), list(fn(vector(2))));
});

Deno.test("generators of functions created anew in each call need no versions of their own after a break", () => {
  const outside = disable(() => {});
  const c = capture((x: Tensor) => {
    function* parts(): Generator<Tensor> {
      yield x.add(1);
      yield x.sub(1);
    }
    const iterator = parts();
    const first = iterator.next().value ?? x;
    outside();
    let total = first.mul(2);
    for (const part of iterator) total = total.add(part);
    return iterator instanceof Object ? total : x;
  });
  for (let call = 0; call < 12; call++) assertEquals(list(c.run(vector(call))), [3 * call + 1]);
  assertEquals(c.graphs.length, 3);
});

Deno.test("closures keep sharing their variables across a break", () => {
  const outside = disable(() => {});
  const c = capture((x: Tensor) => {
    let n = 0;
    const up = () => ++n;
    up();
    outside();
    up();
    return { up, count: () => n, t: x.add(n) };
  });
  for (let i = 0; i < 3; i++) {
    const { up, count, t } = c.run(vector(1)) as { up(): number; count(): number; t: Tensor };
    assertEquals([list(t), up(), count()], [[3], 3, 3]);
  }
});

Deno.test("elements stay in the graph while they are only compared", () => {
  const c = capture((x: Tensor) => x.sum().item() as number > 2 ? 1 : 2);
  assertEquals([c.run(vector(1, 2)), c.run(vector(0, 1))], [1, 2]);
  assertEquals(c.ops(), [["sum", "gt"]]);
});

Deno.test("with captureScalarOutputs an element is used inside the graph", () => {
  const fn = (a: Tensor) => {
    const s = a.sum();
    return a.mul(s.item() as number).add(1);
  };
  const c = capture(fn);
  config.patch({ captureScalarOutputs: true }, () => assertEquals(list(c.run(vector(1, 2))), [4, 7]));
  assertEquals(c.graphs.length, 1);
});

Deno.test("an exception that leaves the function is the original's own", () => {
  let calls = 0;
  const c = capture((x: Tensor, k: number) => {
    calls++;
    const y = x.add(1);
    if (k > 0) throw new TypeError(`no ${k}`);
    return y;
  });
  assertEquals(list(c.run(vector(1), 0)), [2]);
  for (const k of [3, 3]) {
    try {
      c.run(vector(1), k);
      throw new Error("did not throw");
    } catch (e) {
      assert(e instanceof TypeError);
      assertEquals(e.message, "no 3");
    }
  }
  assertEquals(calls, 3);
});

Deno.test("async functions are captured on both sides of their waits, and keep their order", async () => {
  const log: string[] = [];
  const fn = async (x: Tensor, fails: boolean) => {
    const y = x.add(1).mul(2);
    log.push("before");
    await null;
    log.push("after");
    if (fails) throw new RangeError("late");
    return y.add(1);
  };
  const c = capture(fn);
  const pending = c.run(vector(1), false);
  log.push("called");
  assertEquals(list(await pending), [5]);
  assertEquals(log, ["before", "called", "after"]);
  assertEquals(c.ops(), [["add", "mul"], ["add"]]);
  await assertRejects(() => c.run(vector(1), true), RangeError, "late");
});

Deno.test("bodies without gradients are captured, on both sides of a break in them", () => {
  const outside = disable((t: Tensor) => t);
  const leaf = vector(1, 2).requiresGrad_();
  const whole = capture((x: Tensor) => [noGrad(() => x.mul(2)), x.mul(3)]);
  const broken = capture((x: Tensor) => [noGrad(() => outside(x.mul(2))), x.mul(3)]);
  for (const c of [whole, broken]) {
    const [quiet, recorded] = c.run(leaf) as [Tensor, Tensor];
    assertEquals([quiet.requiresGrad, recorded.requiresGrad], [false, true]);
  }
  assertEquals([whole.ops(), broken.ops()], [[["mul", "mul"]], [["mul"], ["mul"]]]);
});

Deno.test("a forced break at every instruction changes nothing", () => {
  const fn = (x: Tensor, o: { n: number; list: number[] }) => {
    let y = x.mul(o.n);
    const seen: Record<string, number> = {};
    for (const [i, v] of o.list.entries()) {
      seen[`k${i}`] = v * 2;
      y = y.add(v);
    }
    o.n += Object.keys(seen).length;
    const { k0 = 0, ...rest } = seen;
    return [y, k0, rest, ((t) => t.neg())(y)] as const;
  };
  const shown = (r: ReturnType<typeof fn>) => [list(r[0]), r[1], r[2], list(r[3])];
  const make = () => ({ n: 2, list: [4, 5, 6] });
  const expected = shown(fn(vector(1, 2), make()));
  for (let pc = 0; pc < 90; pc++) {
    const c = capture(fn), o = make();
    const got = config.patch({ forceBreak: pc }, () => c.run(vector(1, 2), o));
    assertEquals(shown(got), expected, `break at ${pc}`);
    assertEquals(o.n, 5, `break at ${pc}`);
    assertEquals(statusOf(c.run)?.givenUp, null);
  }
});

class Doubler {
  #double(x: Tensor): Tensor {
    return x.mul(2);
  }
  run(x: Tensor): Tensor {
    return [x, x].map((each) => this.#double(each)).reduce((a, b) => a.add(b));
  }
}

Deno.test("a function that cannot be resumed, for a private method called in a closure, runs uncompiled", () => {
  const doubler = new Doubler();
  const c = capture((x: Tensor) => doubler.run(x.add(1)));
  assertEquals([list(c.run(vector(1, 2))), list(c.run(vector(3)))], [[8, 12], [16]]);
});

Deno.test("a loop that breaks inside continues with its list or collection, and reports unknown iterators of the program", () => {
  const fn = (xs: Iterable<Tensor>, y: Tensor) => {
    for (const x of xs) {
      y = y.add(x);
      if (+y.sum() > 0) y = y.neg();
    }
    return y;
  };
  const list = [vector(1), vector(2), vector(3)];
  const told = [() => list, () => new Set(list), () => list.values()].map((made) => {
    const { breakReasons, graphCount } = explain(fn)(made(), vector(0.5));
    return [breakReasons.map(({ id }) => id), graphCount];
  });
  assertEquals(told, [[["GB0001"], 3], [["GB0001"], 3], [["GB0043", "GB0001"], 2]]);
});

Deno.test("a copy of a module ends the graph once, and serves later calls by the same versions", () => {
  const model = new Sequential(new Linear(2, 3), new Linear(3, 1));
  const fn = (x: Tensor) => {
    const copy = model.clone(), loss = copy.forward(x.mul(2)).sum();
    loss.backward();
    return [loss, ...[...copy.parameters()].map(({ grad }) => grad), x.add(1)];
  };
  const { breakReasons, graphCount } = explain(fn)(vector(1, 2).reshape(1, 2));
  assertEquals([breakReasons.map(({ id }) => id), graphCount], [["GB0004"], 1]);
  const c = capture(fn);
  for (let k = 0; k < 4; k++) {
    const x = vector(k, 2).reshape(1, 2);
    assertEquals(c.run(x).map(list), fn(x).map(list));
  }
  assertEquals([c.graphs.length, c.entries()], [2, 1]);
  assertEquals([...model.parameters()].map(({ grad }) => grad), [null, null, null, null]);
});

Deno.test("what a loop does with the result of a step that broke the graph runs plainly, with its getters", () => {
  const outside = disable(() => {});
  const faults = () => counters.get("uncompiled", "internal error while a function was captured");
  const before = faults();
  type Log = unknown[];
  const results: Record<string, (log: Log, n: number, most: number) => unknown> = {
    done: (log, n, most) => ({
      get done() {
        return log.push("done"), n > most;
      },
      value: n,
    }),
    value: (log, n, most) => ({
      done: n > most,
      get value() {
        return log.push("value"), n;
      },
    }),
    throws: (log, n, most) => ({
      get value() {
        log.push("value");
        if (n > most) throw new Error("no value");
        return n;
      },
    }),
    primitive: (_log, n, most) => n > most ? n : { value: n },
  };
  const steps = (log: Log, most: number, result: (log: Log, n: number, most: number) => unknown) => {
    let n = 0;
    const next = () => (outside(), result(log, n++, most));
    const close = () => (outside(), log.push("close"), most > 2 ? {} : most);
    return { [Symbol.iterator]: () => ({ next, return: close }) } as Iterable<unknown>;
  };
  class Base {
    constructor(readonly first: unknown) {}
  }
  class First extends Base {
    constructor([first]: Iterable<unknown>) {
      super(first);
    }
  }
  const uses: Record<string, (items: Iterable<unknown>, log: Log) => unknown> = {
    destructuring: ([a, , b]) => [a, b],
    rest: ([a, ...b]) => [a, b],
    parameter: (items) => new First(items).first,
    loop: (items, log) => {
      for (const item of items) if (log.push(item) > 6) break;
      return log.length;
    },
    handled: (items, log) => {
      try {
        for (const item of items) log.push(item);
      } catch (error) {
        log.push((error as Error).message);
      } finally {
        log.push("finally");
      }
      return null;
    },
  };
  for (const [result, make] of Object.entries(results)) {
    for (const [use, take] of Object.entries(uses)) {
      const f = (x: Tensor, most: number, log: Log) => {
        const y = x.mul(2), taken = take(steps(log, most, make), log);
        return [list(y.add(1)), taken];
      };
      const c = capture(f);
      for (const most of [1, 3, 2]) {
        const [plain, compiled] = [f, c.run].map((run) => {
          const log: Log = [];
          try {
            return [run(vector(1), most, log), log];
          } catch (error) {
            return [(error as Error).message, log];
          }
        });
        assertEquals(compiled, plain, `${result}, ${use}`);
      }
    }
  }
  assertEquals(faults(), before);
});

Deno.test("a recursion that is too deep is left to plain code where it is entered", async () => {
  const down = (n: number): number => n === 0 ? 0 : 1 + down(n - 1);
  const { breakReasons, opsPerGraph } = await explain((x: Tensor) => x.add(1).mul(down(3010)))(vector(1, 2));
  assertEquals(breakReasons.map(({ id, stack }) => [id, stack.length]), [["GB0018", 1]]);
  assertEquals(opsPerGraph, [["add"], ["mul"]]);
});
