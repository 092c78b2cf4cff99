/** Variables of functions in modules that were loaded before dyn: obtained from the function's next call. */
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { watchNextRun } from "../lib/dynamo/frame/bindings.ts";
import { captureFunction } from "../lib/dynamo/frame/capture.ts";
import type { FreeBinding } from "../lib/dynamo/frame/info.ts";
import { compile, compiler, counters, data, type Tensor, tensor } from "../mod.ts";
import { messages } from "./support/inspector_messages.ts";
import { runProgram } from "./support/process.ts";

function binding(fn: object, name: string): FreeBinding {
  const info = captureFunction(fn);
  assert(info.kind === "function", info.kind);
  return info.binding(info.code.free.findIndex((f) => f.name === name));
}

/** Asks for a variable while the function runs. */
function whileRunning(ask: () => FreeBinding, fn: (body: () => void) => void): FreeBinding {
  const found: FreeBinding[] = [];
  fn(() => found.push(ask()));
  assert(found[0]);
  return found[0];
}

type Body = (() => void) | undefined;

/** Closures of one code with a variable each. */
function counterFrom(start: number): (body?: Body) => number {
  let n = start;
  return (body) => {
    body?.();
    return ++n;
  };
}

Deno.test("a running function exposes its variables at its next call", () => {
  const count = counterFrom(10);
  const first = whileRunning(() => binding(count, "n"), count);
  assert(first.kind === "pending");
  assert(first.because.includes("only in a call"), first.because);
  count(() => assertEquals(watchNextRun(null)(() => count()), 12));
  const found = whileRunning(() => binding(count, "n"), count);
  assert(found.kind === "cell");
  const before = count();
  assertEquals(found.cell.get(), before);
  found.cell.set(50);
  assertEquals(count(), 51);
});

Deno.test("a function of an evaluated text and its variables need the debugger once", () => {
  const evaluated: (x: Tensor) => Tensor = new Function("let n = 0; return (x) => x.mul(n += 1)")();
  const compiled = compile(evaluated), before = counters.get("inspector", "debugger");
  assertEquals([1, 2, 3].map((x) => compiled(tensor(x)).item()), [1, 4, 9]);
  assertEquals(counters.get("inspector", "debugger") - before, 1);
});

Deno.test("functions of a text evaluated among variables use those, not global ones of the same names", () => {
  const scale = 3;
  Reflect.set(globalThis, "scale", 100);
  Reflect.set(globalThis, "offset", 1000);
  try {
    const texts = [
      "(x) => x.mul(scale)",
      "(function (x) { return [x].map((each) => each.mul(scale))[0]; })",
      "(() => (x) => x.mul(scale))()",
      "new (class { run = (x) => x.mul(scale); })().run",
      "new (class { run(x) { return x.mul(scale); } })().run",
      "(x) => { let scale = 3; return x.mul(scale); }",
      "((scale) => (x) => x.mul(scale))(3)",
    ];
    for (const text of texts) {
      const fn: (x: Tensor) => Tensor = eval(text),
        made = compile((x: Tensor) => fn(x.add(1)), { backend: "eager" });
      const root = compile(fn, { backend: "eager" });
      for (let call = 0; call < 3; call++) {
        assertEquals([made(tensor(1)).item(), root(tensor(1)).item()], [2 * scale, scale], text);
      }
    }
    const global: (x: Tensor) => Tensor = (0, eval)("(x) => x.mul(scale).add(offset)");
    const run = compile(global, { backend: "eager" });
    assertEquals([run(tensor(1)).item(), compiler.status(run).graphs], [1100, 1]);
  } finally {
    for (const name of ["scale", "offset"]) Reflect.deleteProperty(globalThis, name);
  }
});

Deno.test("of several closures of the same code each gets its own variable", () => {
  const [one, two] = [counterFrom(0), counterFrom(100)];
  one(() => {
    assertEquals(binding(one, "n").kind, "pending");
    watchNextRun(null)(() => {
      for (let i = 0; i < 5; i++) two();
      one();
    });
  });
  const found = binding(one, "n");
  assert(found.kind === "cell");
  assertEquals([found.cell.get(), one(), two()], [2, 3, 106]);
});

Deno.test("a function that is not called in three runs does not expose its variables", () => {
  const [one, two] = [counterFrom(0), counterFrom(100)];
  const kinds: string[] = [];
  one(() => {
    for (let run = 0; run < 4; run++) {
      kinds.push(binding(one, "n").kind);
      watchNextRun(null)(() => two());
    }
  });
  assertEquals(kinds, ["pending", "pending", "pending", "unreachable"]);
});

Deno.test("a name that means something else inside the function is not mistaken for the variable", () => {
  let n = 1;
  const hiding = (body?: Body): number => {
    body?.();
    n++;
    {
      const n = 5;
      return n;
    }
  };
  assertEquals(whileRunning(() => binding(hiding, "n"), hiding).kind, "unreachable");
  assertEquals([hiding(), n], [5, 3]);
});

const PAUSING = `
let n = 0;
export function failing(body) {
  debugger;
  body?.();
  n++;
  if (n === 2) throw new RangeError("second");
}`;

Deno.test("debugger statements and errors of the run are as without dyn", async () => {
  const url = URL.createObjectURL(new Blob([PAUSING], { type: "text/javascript" }));
  const { failing } = await import(url);
  assert(typeof failing === "function");
  const call = (body?: Body): unknown => Reflect.apply(failing, undefined, [body]);
  assertEquals(whileRunning(() => binding(failing, "n"), call).kind, "pending");
  assertThrows(() => watchNextRun(null)(() => call()), RangeError, "second");
  const found = binding(failing, "n");
  assert(found.kind === "cell");
  assertEquals(found.cell.get(), 2);
});

Deno.test("a function compiled inside itself is compiled from its next call on", () => {
  const counter = new compiler.CompileCounter();
  let calls = 0;
  function both(x: Tensor, again: boolean): Tensor {
    calls++;
    return again ? compiled(x, false) : x.mul(calls);
  }
  const compiled = compile(both, { backend: counter });
  const results = [1, 2, 3].map(() => both(tensor([1]), true).tolist());
  assertEquals(results, [[2], [4], [6]]);
  assertEquals(calls, 6);
  assertEquals(compiler.status(compiled).graphBreaks, 0);
  assertEquals(counter.frameCount, 2);
});

class Scaler {
  by = 2;
  #calls = 0;
  readonly run = (x: Tensor): Tensor => {
    this.#calls++;
    return x.mul(this.by + this.#calls);
  };
}

Deno.test("a compiled arrow function exposes its this and its private names in its first call", () => {
  const counter = new compiler.CompileCounter();
  const [one, two] = [new Scaler(), new Scaler()].map(({ run }) => compile(run, { backend: counter }));
  assert(one && two);
  assertEquals([one, one, two, one, two].map((run) => run(tensor([1])).item()), [3, 4, 3, 5, 4]);
  assertEquals([one, two].map((run) => compiler.status(run).uncompiled.map(({ calls }) => calls)), [[1], [
    1,
  ]]);
  assertEquals([one, two].map((run) => compiler.status(run).graphBreaks), [0, 0]);
});

function makeAccount(): (first: Tensor) => {
  add(by: Tensor): void;
  readonly total: Tensor;
  readonly notes: readonly string[];
} {
  let made = 0;
  class Account {
    #total: Tensor;
    #notes: string[] = [];
    constructor(total: Tensor) {
      this.#total = total;
    }
    get total() {
      return this.#total;
    }
    get notes() {
      return this.#notes;
    }
    add(by: Tensor) {
      this.#note("add");
      this.#total = this.#total.add(by);
    }
    #note(what: string) {
      this.#notes.push(`${what} ${this.#count()}`);
    }
    #count() {
      return ++made;
    }
  }
  return (first) => new Account(first);
}

Deno.test("one call exposes everything that private methods of a class need, of the class of its receiver", () => {
  const add = (account: ReturnType<ReturnType<typeof makeAccount>>, by: Tensor) => {
    account.add(by);
    return account.total.mul(2);
  };
  const compiled = compile(add, { backend: "eager" });
  const [one, two] = [makeAccount(), makeAccount()].map((make) => make(tensor([1])));
  assert(one && two);
  const results = [one, one, two, two, one, two].map((account) => compiled(account, tensor([3])).item());
  assertEquals(results, [8, 14, 8, 14, 20, 20]);
  assertEquals([one.notes, two.notes], [["add 1", "add 2", "add 3"], ["add 1", "add 2", "add 3"]]);
  assertEquals(compiler.status(compiled).uncompiled.map(({ calls }) => calls), [2]);
  assertEquals(compiler.status(compiled).graphBreaks, 0);
});

Deno.test("a closure created anew for each call stays uncompiled, which is reported once", async () => {
  const script = new URL("frame/fresh_closures.ts", import.meta.url).pathname;
  const { code, stdout, stderr } = await runProgram(Deno.execPath(), ["run", "-A", "--no-check", script]);
  assertEquals([code, stdout], [0, "600 24\n"]);
  const [line = "", ...others] = stderr.trimEnd().split("\n");
  assertEquals(others, []);
  assertMatch(
    line,
    /step \(.*fresh_closures\.ts:9\) runs uncompiled: n, .*deno run --preload=jsr:@x\/dyn\/preload$/,
  );
});

Deno.test("calls of closures that cannot be compiled ask the inspector nothing, those of others do", () => {
  const run = compile((x: Tensor, step: (x: Tensor) => Tensor): Tensor => step(x).mul(2), {
    backend: "eager",
  });
  const given: number[] = [], x = tensor([1]);
  const counting = (from: number) => {
    let n = from;
    return (x: Tensor): Tensor => x.add(n++);
  };
  const scaled = (by: number) => (x: Tensor): Tensor => x.mul(by);
  for (let i = 0; i < 12; i++) given.push(Number(run(x, counting(i)).item()));
  for (let i = 0; i < 4; i++) given.push(Number(run(x, scaled(i)).item()));
  const [count, scale] = [counting(40), scaled(40)];
  assertEquals(messages(() => given.push(Number(run(x, count).item()), Number(run(x, count).item()))), 0);
  assertEquals(messages(() => given.push(Number(run(x, scale).item()))), 4);
  assertEquals(given, [...Array.from({ length: 12 }, (_, i) => 2 + 2 * i), 0, 2, 4, 6, 82, 84, 80]);
});

Deno.test("a function compiled while its module still runs", async () => {
  const script = new URL("frame/main_module.ts", import.meta.url).pathname;
  const command = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", script],
    env: { NO_COLOR: "1" },
  });
  const { stdout, stderr } = await command.output();
  assertEquals(new TextDecoder().decode(stderr), "");
  assertEquals(new TextDecoder().decode(stdout), "[ 1 ] 1\n[ 2 ] 2\n[ 3 ] 3\n[ 11 ] 11 8 0\n");
});

/** Hands out what it keeps to itself. */
class Kept {
  #items = [1, 2, 3];
  *items(): Generator<number> {
    yield this.#first();
    yield* this.#items;
    yield this.#items.length;
  }
  #first(): number {
    return this.#items[0] ?? 0;
  }
}

Deno.test("generators running at a break access private members", () => {
  const programs: ((x: Tensor) => Tensor)[] = [
    (x) => {
      for (const item of new Kept().items()) {
        compiler.graphBreak();
        x = x.mul(item);
      }
      return x;
    },
    // Of a class of dyn, whose private members only itself can reach
    (x) => {
      for (const batch of new data.DataLoader(new data.TensorDataset(x), { batchSize: 1 })) {
        compiler.graphBreak();
        x = x.add(batch[0]);
      }
      return x;
    },
  ];
  for (const program of programs) {
    const compiled = compile(program, { backend: "eager" }), x = tensor([1.5, 2]);
    for (let call = 0; call < 3; call++) {
      assertEquals(compiled(x).tolist(), program(x).tolist(), `${program}`);
    }
    assertEquals(compiler.status(compiled).givenUp, null);
  }
});
