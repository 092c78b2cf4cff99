/** Effects of programs: writes to objects, variables and tensors, replayed after the graph. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { config } from "../lib/base/config.ts";
import { tensor } from "../lib/tensor/creation.ts";
import { ops } from "../lib/tensor/eager.ts";
import { inferenceMode } from "../lib/tensor/modes.ts";
import { manualSeed } from "../lib/tensor/random.ts";
import { Module } from "../lib/nn/module.ts";
import { Sequential } from "../lib/nn/container.ts";
import { Linear } from "../lib/nn/linear.ts";
import { Adam } from "../lib/optim/adam.ts";
import { Parameter } from "../lib/nn/parameter.ts";
import type { Tensor } from "../lib/tensor/tensor.ts";
import { graphBreak } from "../lib/dynamo/functions/marks.ts";
import { capture, list, vector } from "./support/dynamo.ts";
import * as namespace from "./frame/reexported.ts";
import { advance, next, replaceNext, steps } from "./frame/reexported.ts";

declare let testGlobal: number;

Deno.test("writes to arguments are replayed after the graph, in the order of keys", () => {
  const c = capture((o: Record<string, unknown>, x: Tensor) => {
    delete o["a"];
    o["z"] = x.add(1);
    o["a"] = 1;
    o["b"] = (o["b"] as number) + 1;
    return o;
  });
  const o: Record<string, unknown> = { a: 0, b: 1 };
  assert(c.run(o, vector(1)) === o);
  assertEquals(Object.keys(o), ["b", "z", "a"]);
  assertEquals([list(o["z"]), o["a"], o["b"]], [[2], 1, 2]);
  assertEquals(
    c.code(),
    `function anonymous(o, x) {
  const { 0: add } = __compiled_fn(x);
  o.z = add;
  delete o.a;
  o.a = 1;
  o.b = 2;
  return o;
}`,
  );
});

Deno.test("arrays, Maps and Sets of the caller end as the program left them", () => {
  const c = capture((l: unknown[], m: Map<unknown, unknown>, s: Set<unknown>, x: Tensor) => {
    l.push(x.neg());
    l.shift();
    l.length = 2;
    m.delete("a");
    m.set("a", x.add(1)).set(x, 3);
    s.add(x).delete(1);
    return l.length;
  });
  const x = vector(1);
  const l: unknown[] = [1, 2, 3],
    m = new Map<unknown, unknown>([["a", 1], ["b", 2]]),
    s = new Set<unknown>([1, 2]);
  assertEquals(c.run(l, m, s, x), 2);
  assertEquals(l, [2, 3]);
  assertEquals([...m.keys()], ["b", "a", x]);
  assertEquals([...s], [2, x]);
  assertEquals(list(m.get("a")), [2]);
});

Deno.test("iteration over a Map or a Set follows the changes made during it", () => {
  const visit = (m: Map<string, number>, s: Set<number>, key: string, x: Tensor): unknown[] => {
    const seen: unknown[] = [], others = m.values();
    let at = 0;
    for (const [name, value] of m) {
      seen.push(name, value);
      // Looking for a text that differs between calls looks at all keys
      if (at === 1 && m.has(key)) m.delete(name);
      if (name === "c") m.set("d", 4).set("c", 9);
      if (at++ === 3) seen.push(others.next().value, m.get("c"));
    }
    for (const member of s) {
      seen.push(member);
      if (member === 2) s.clear();
      if (member < 4) s.add(member + 3);
    }
    return [...seen, ...others, m.size, s.size, x.add(1)];
  };
  const c = capture(visit);
  for (const key of ["c", "e", "b", "d"]) {
    const start = () => [new Map([[key + key, 1], [key, 2], ["c", 3]]), new Set([1, 2, 3]), key] as const;
    assertEquals(c.run(...start(), vector(1)).slice(0, -1), visit(...start(), vector(1)).slice(0, -1));
  }
  assertEquals(c.resumed(), []);
});

Deno.test("captured variables are read, written and guarded", () => {
  let scale = 2, calls = 0;
  const c = capture((x: Tensor) => {
    calls++;
    return x.mul(scale);
  });
  assertEquals(list(c.run(vector(1))), [2]);
  assertEquals(list(c.run(vector(1))), [2]);
  scale = 7;
  assertEquals(list(c.run(vector(1))), [7]);
  assertEquals(calls, 3);
});

Deno.test("a global variable is one variable, by its bare name and as a property of globalThis", () => {
  const c = capture((x: Tensor) => {
    testGlobal++;
    const first = x.mul(testGlobal);
    Reflect.set(globalThis, "testGlobal", testGlobal + 1);
    const second = first.add(testGlobal);
    testGlobal = 10 * testGlobal;
    return second.add((globalThis as { testGlobal?: number }).testGlobal ?? 0);
  });
  const global = globalThis as { testGlobal?: number };
  global.testGlobal = 1;
  try {
    assertEquals(list(c.run(vector(1))), [2 + 3 + 30]);
    assertEquals(global.testGlobal, 30);
    global.testGlobal = 5;
    assertEquals(list(c.run(vector(1))), [6 + 7 + 70]);
    assertEquals([global.testGlobal, c.graphs.length], [70, 2]);
    delete global.testGlobal;
    assertThrows(() => c.run(vector(1)), ReferenceError, "testGlobal is not defined");
  } finally {
    delete global.testGlobal;
  }
});

Deno.test("an export that its module assigns is one variable, however it is read", async () => {
  const dynamic = await import("./frame/counter.ts");
  const plusTen = (n: number): number => n + 10;
  const plusOne = (n: number): number => n + 1;
  const program = (x: Tensor): Tensor => {
    const before = 10 * steps + namespace.steps;
    advance();
    const after = 100 * steps + 10 * namespace.steps + dynamic.steps;
    const old = next(1);
    replaceNext(plusTen);
    const now = next(1) + namespace.next(1) + dynamic.next(1);
    replaceNext(plusOne);
    return x.mul(before).add(after).add(1000 * old).add(10_000 * now);
  };
  const c = capture(program);
  for (let call = 0; call < 3; call++) {
    const n = steps;
    const expected = 11 * n + 111 * (n + 1) + 1000 * 2 + 10_000 * 33;
    assertEquals(list(c.run(vector(1))), [expected]);
    assertEquals(steps, n + 1);
    // Assigned between calls, too.
    advance();
  }
});

Deno.test("an export is read beside a variable that was uninitialised when the graph began", async () => {
  const dynamic = await import("./frame/counter.ts");
  const c = capture((x: Tensor) => {
    const late = () => scale;
    graphBreak();
    const scale = x.shape[0] ?? 0;
    return x.add(late()).mul(dynamic.steps);
  });
  assertEquals(list(c.run(vector(1))), [2 * steps]);
  assertEquals(c.ops(), [["add", "mul"]]);
});

Deno.test("lists with more elements than a call takes arguments are returned", () => {
  const c = capture((x: Tensor) => {
    const many = new Array<number>(140_000).fill(0);
    return [x.add(1), many, many] as const;
  });
  const [, many, again] = c.run(vector(1));
  assertEquals([many.length, many === again, c.entries()], [140_000, true, 1]);
});

Deno.test("new objects leave the graph with their identity, cycles and prototypes", () => {
  class Point {
    constructor(readonly t: Tensor, public next: Point | null = null) {}
  }
  const c = capture((x: Tensor) => {
    const p = new Point(x.add(1));
    p.next = new Point(p.t, p);
    return { p, again: p, map: new Map([[p, p.next]]), error: new RangeError("r") };
  });
  const { p, again, map, error } = c.run(vector(1));
  assert(
    p instanceof Point && again === p && p.next?.next === p && p.next.t === p.t && map.get(p) === p.next,
  );
  assert(error instanceof RangeError);
  assertEquals([list(p.t), error.message], [[2], "r"]);
});

Deno.test("two arguments that are the same object are another program", () => {
  const fn = (a: { n: number }, b: { n: number }) => {
    a.n = 1;
    b.n = 2;
    return a.n;
  };
  const c = capture(fn);
  const same = { n: 0 };
  assertEquals([c.run({ n: 0 }, { n: 0 }), c.run(same, same), c.run({ n: 0 }, { n: 0 })], [1, 2, 1]);
});

Deno.test("getters and setters of classes run as part of the trace", () => {
  class Meter {
    #log = 0;
    value: Tensor | number = 0;
    get v(): Tensor | number {
      return this.value;
    }
    set v(n: Tensor | number) {
      this.value = typeof n === "number" ? n * 2 : n.mul(2);
    }
  }
  const c = capture((m: Meter, x: Tensor) => {
    m.v = 10;
    m.v = x.add(m.v as number);
    return m.v;
  });
  const m = new Meter();
  const result = c.run(m, vector(1)) as Tensor;
  assertEquals(list(result), [42]);
  assert(m.value === result);
  assertEquals(c.ops(), [["add", "mul"]]);
});

Deno.test("a proxy's traps run exactly as often as in the program", () => {
  let reads = 0;
  const c = capture((cfg: { k: number }, x: Tensor) => cfg.k > 1 ? x.add(cfg.k) : x);
  for (let i = 0; i < 3; i++) {
    const cfg = new Proxy({ k: 2 }, {
      get: (target, key, receiver) => {
        reads++;
        return Reflect.get(target, key, receiver);
      },
    });
    assertEquals(list(c.run(cfg, vector(1))), [3]);
  }
  assertEquals(reads, 6);
});

Deno.test("modules are ordinary objects, their parameters guarded by identity", () => {
  class Net extends Module {
    linear = new Linear(2, 1);
    calls = 0;
    override forward(x: Tensor): Tensor {
      this.calls++;
      return this.linear.forward(x).relu();
    }
  }
  const net = new Net();
  const c = capture((x: Tensor) => net.forward(x));
  const x = vector(1, 2).reshape([1, 2]);
  for (let i = 0; i < 3; i++) {
    assertEquals(list(c.run(x).detach()), list(net.linear.forward(x).relu().detach()));
  }
  assertEquals(net.calls, 3);
  const graphs = c.graphs.length;
  net.linear.weight = new Parameter(vector(3, 4).reshape([1, 2]));
  assertEquals(list(c.run(x).detach()), list(net.linear.forward(x).relu().detach()));
  assertEquals(c.graphs.length, graphs + 1);
});

Deno.test("modes apply in graphs and seeds are set between them, in order with the operations", () => {
  const x = vector(1).requiresGrad_();
  const c = capture((t: Tensor) => inferenceMode(() => t.mul(2)).requiresGrad);
  assertEquals([c.run(x), c.graphs.length], [false, 1]);
  const drawn = (t: Tensor) => {
    manualSeed(3);
    return ops.rand([2]).add(t);
  };
  assertEquals(list(capture(drawn).run(vector(0, 0))), list(drawn(vector(0, 0))));
});

Deno.test("an error of the graph preserves the effects before it", () => {
  const c = capture((o: { n: number }, t: Tensor, index: Tensor) => {
    o.n++;
    return ops.indexSelect(t, 0, index);
  });
  const o = { n: 5 };
  assertEquals(list(c.run(o, vector(1, 2), tensor([1]))), [2]);
  assertThrows(() => c.run(o, vector(1, 2), tensor([7])), Error, "Expected index in [0, 1] but found 7");
  assertEquals(o.n, 7);
});

Deno.test("so does one of a graph with equal layers and updates", () => {
  const layers = Array.from({ length: 8 }, () => new Linear(3, 3));
  const model = new Sequential(...layers), optimizer = new Adam(model.parameters());
  const state = { begun: 0, ended: 0 };
  const c = capture((x: Tensor, index: Tensor) => {
    state.begun++;
    optimizer.zeroGrad();
    const loss = model.forward(x).indexSelect(0, index).sum();
    loss.backward();
    optimizer.step();
    state.ended++;
    return loss;
  });
  const x = ops.ones([2, 3]);
  c.run(x, tensor([1]));
  const before = model.parameters().map(list);
  assertThrows(() => c.run(x, tensor([7])), Error, "Expected index in [0, 1] but found 7");
  assertEquals(state, { begun: 2, ended: 1 });
  assertEquals(model.parameters().map(list), before);
});

Deno.test("logging functions that may be reordered do not break the graph", () => {
  const seen: unknown[] = [];
  const log = (...what: unknown[]) => void seen.push(...what.map(list));
  config.reorderableLoggingFunctions.add(log);
  try {
    const c = capture((x: Tensor) => {
      log("before", x);
      const y = x.add(1);
      log("after", y);
      return y.mul(2);
    });
    assertEquals(list(c.run(vector(1))), [4]);
    assertEquals(seen, ["before", [1], "after", [2]]);
    assertEquals(c.graphs.length, 1);
  } finally {
    config.reorderableLoggingFunctions.delete(log);
  }
});

Deno.test("logging functions that are ignored are not called by compiled code", () => {
  const seen: unknown[] = [], note = (...what: unknown[]) => void seen.push(...what);
  config.ignoreLoggingFunctions.add(note);
  try {
    const c = capture((x: Tensor, o: { n: number }) => {
      note("before", x, o);
      o.n++;
      note(o);
      return x.add(o.n);
    });
    assertEquals([list(c.run(vector(1), { n: 1 })), seen, c.graphs.length], [[3], [], 1]);
  } finally {
    config.ignoreLoggingFunctions.delete(note);
  }
});

Deno.test("what a variable held does not matter to programs that only assign it", () => {
  let last: unknown = null, count = 0;
  const c = capture((x: Tensor) => {
    last = x.add(1);
    count = 5;
  });
  for (let i = 0; i < 4; i++) {
    c.run(vector(i));
    assertEquals([list(last), count], [[i + 1], 5]);
    last = [null, "text", vector(1, 2)][i];
    count = i;
  }
  assertEquals(c.entries(), 1);
  assertEquals(c.guards().filter((guard) => guard.startsWith("C[")), []);
});
