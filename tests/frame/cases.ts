/**
 * Code, positions and variables of every kind of function, all of this module, which is loaded after the preload.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { captureFunction, findHomeObject } from "../../lib/dynamo/frame/capture.ts";
import type { Captured, FreeBinding } from "../../lib/dynamo/frame/info.ts";
import { lineStarts } from "../../lib/dynamo/bytecode/parse.ts";
import { advance, steps } from "./reexported.ts";

interface Pair {
  readonly left: number;
}

const fixed = { answer: 42 };
let counter = 1;
let other = "a";

function captured(fn: object): Extract<Captured, { kind: "function" }> {
  const info = captureFunction(fn);
  assert(
    info.kind === "function",
    `Expected a function but found ${info.kind} ${"because" in info ? info.because : ""}`,
  );
  return info;
}

function binding(fn: object, name: string): FreeBinding {
  const info = captured(fn);
  const index = info.code.free.findIndex((f) => f.name === name);
  assert(index >= 0, `Expected ${name} among ${info.code.free.map((f) => f.name)}`);
  return info.binding(index);
}

function cell(fn: object, name: string): { get: () => unknown; set: (v: unknown) => void } {
  const found = binding(fn, name);
  assert(
    found.kind === "cell",
    `Expected a cell but found ${found.kind} ${"because" in found ? found.because : ""}`,
  );
  return found.cell;
}

function value(fn: object, name: string): unknown {
  const found = binding(fn, name);
  assert(
    found.kind === "value",
    `Expected a value but found ${found.kind} ${"because" in found ? found.because : ""}`,
  );
  return found.value;
}

function declared(p: Pair): number {
  counter++;
  return p.left + fixed.answer;
}

Deno.test("a declared function: code, constant, live cell of the module", () => {
  const info = captured(declared);
  assertEquals(info.code.name, "declared");
  assert(value(declared, "fixed") === fixed);
  const c = cell(declared, "counter");
  counter = 7;
  assertEquals(c.get(), 7);
  c.set(9);
  assertEquals(counter, 9);
  assertEquals(declared({ left: 0 }), 42);
  assertEquals(counter, 10);
  assert(captureFunction(declared) === info);
});

Deno.test("imported bindings are values", () => {
  const fn = (): unknown => assertEquals;
  assert(value(fn, "assertEquals") === assertEquals);
});

Deno.test("an imported variable that its module assigns is live", () => {
  const read = (): number => steps;
  const c = cell(read, "steps");
  const before = c.get();
  advance();
  assertEquals(c.get(), Number(before) + 1);
  assertThrows(() => c.set(0), TypeError);
});

Deno.test("functions of one module share the cell of a variable", () => {
  const one = (): number => counter++;
  const two = (): number => counter--;
  assert(cell(one, "counter") === cell(two, "counter"));
});

/** A default or key that nobody may evaluate. */
function never(): never {
  throw new Error("Expected that nothing runs");
}

type Items = readonly unknown[];

Deno.test("every kind of function gives its code and its variables", () => {
  let local = 1;
  const touch = (): void => void local++;
  class Box {
    value = 1;
    method(): number {
      return local + this.value;
    }
    get getter(): number {
      return local;
    }
    set setter(_v: number) {
      local = 3;
    }
    static fixed(): number {
      return local;
    }
    async later(): Promise<number> {
      return await Promise.resolve(local);
    }
    *items(): Generator<number> {
      yield local;
    }
    pattern({ a } = { a: 1 }, [b] = [2]): number {
      return a + b + local;
    }
    rests(
      { a: [first = never(), ...others], ...more }: { a: number[] },
      [, ...[c, { d }]]: [unknown, unknown, { d: number }],
      ...[e, ...{ length }]: Items
    ) {
      return [first, others, more, c, d, e, length, local];
    }
    computed({ a, [never()]: b }: Record<string, number>, { c = never() } = {}): unknown {
      return [a, b, c, local];
    }
  }
  const proto = Box.prototype;
  const getter = Object.getOwnPropertyDescriptor(proto, "getter")?.get;
  const setter = Object.getOwnPropertyDescriptor(proto, "setter")?.set;
  assert(getter && setter);
  const bySetter = Object.getOwnPropertyDescriptor({
    set s({ a: { b } }: { a: { b: number } }) {
      local = b;
    },
  }, "s")?.set;
  assert(bySetter);
  const kinds: readonly object[] = [
    function () {
      return local;
    },
    function named() {
      return local;
    },
    () => local,
    () => {
      return local;
    },
    () => ({ local }),
    async () => await Promise.resolve(local),
    async function () {
      return await Promise.resolve(local);
    },
    function* () {
      yield local;
    },
    async function* () {
      yield await Promise.resolve(local);
    },
    ({ a }: { a: number }) => a + local,
    (a = 1, ...rest: number[]) => a + rest.length + local,
    function ([a]: number[]) {
      return (a ?? 0) + local;
    },
    {
      m() {
        return local;
      },
    }.m,
    proto.method,
    getter,
    setter,
    Box.fixed,
    proto.later,
    proto.items,
    proto.pattern,
    proto.rests,
    proto.computed,
    (f = (g = (): number => local) => g) => f()() + local,
    bySetter,
    touch,
  ];
  for (const fn of kinds) {
    const c = cell(fn, "local");
    local = 5;
    assertEquals(c.get(), 5, String(fn));
    c.set(6);
    assertEquals(local, 6, String(fn));
    assert(c === cell(touch, "local"), `one cell for one variable: ${fn}`);
    assert(!String(fn).includes("dyn.stash"), "the text is restored");
  }
});

Deno.test("closures of the same code have their own variables", () => {
  const make = (): { read: () => number; add: () => void } => {
    let n = 0;
    return { read: () => n, add: () => void n++ };
  };
  const a = make();
  const b = make();
  assert(cell(a.read, "n") === cell(a.add, "n"));
  assert(cell(a.read, "n") !== cell(b.read, "n"));
  a.add();
  assertEquals([cell(a.read, "n").get(), cell(b.read, "n").get()], [1, 0]);
});

Deno.test("closures made in a loop: one variable an iteration", () => {
  const made: (() => number)[] = [];
  for (let i = 0; i < 3; i++) made.push(() => i * 10);
  assertEquals(made.map((f) => cell(f, "i").get()), [0, 1, 2]);
  const each: (() => number)[] = [];
  for (const i of [4, 5]) each.push(() => i);
  assertEquals(each.map((f) => value(f, "i")), [4, 5]);
});

const ofBlocks: (() => number)[] = [];
for (let i = 0; i < 3; i++) ofBlocks.push(() => i++);

Deno.test("closures made in a loop of the module itself have a variable each, too", () => {
  const cells = ofBlocks.map((fn) => cell(fn, "i"));
  assertEquals(cells.map((each) => each.get()), [0, 1, 2]);
  cells[1]?.set(10);
  assertEquals(ofBlocks.map((fn) => fn()), [0, 10, 2]);
});

Deno.test("a closure of a running function", () => {
  let state = 1;
  const inner = (): number => state;
  const c = cell(inner, "state");
  state = 2;
  assertEquals(c.get(), 2);
});

class Base {
  greet(): string {
    return "base";
  }
}
class Derived extends Base {
  #secret = 5;
  open = counter;
  readonly x: number;
  constructor(x: number) {
    super();
    this.x = x;
    counter++;
  }
  override greet(): string {
    return super.greet() + this.#secret;
  }
  self(): () => unknown {
    return () => this;
  }
}

Deno.test("classes: constructor, fields, private members, home objects", () => {
  const info = captureFunction(Derived);
  assert(info.kind === "class");
  assert(info.derived && info.constructorCode !== null);
  assertEquals(info.fields.map((f) => f.key), ["#secret", "open", "x"]);
  const open = info.fields.find((f) => f.key === "open");
  assert(open?.value);
  const at = open.value.free.findIndex((f) => f.name === "counter");
  const found = info.fieldBinding(open, at);
  assert(found.kind === "cell");
  assertEquals(found.cell.get(), counter);
  const d = new Derived(1);
  const secret = binding(Derived.prototype.greet, "#secret");
  assert(secret.kind === "private");
  assertEquals(secret.access.member, "field");
  assertEquals([secret.access.has(d), secret.access.has({}), secret.access.get(d)], [true, false, 5]);
  secret.access.set(d, 6);
  assertEquals(d.greet(), "base6");
  assertThrows(() => secret.access.get({}), TypeError);
  assert(findHomeObject(Derived.prototype.greet, d) === Derived.prototype);
  assert(value(d.self(), "this") === d);
});

Deno.test("a class without a constructor", () => {
  class Plain {
    a = other;
    read(): string {
      return other;
    }
  }
  other = "b";
  const info = captureFunction(Plain);
  assert(info.kind === "class" && info.constructorCode === null && !info.derived);
  const field = info.fields[0];
  assert(field?.value);
  const found = info.fieldBinding(field, field.value.free.findIndex((f) => f.name === "other"));
  assert(found.kind === "cell");
  assertEquals(found.cell.get(), "b");
});

Deno.test("bound functions, proxies and natives", () => {
  const self = {};
  const info = captureFunction(declared.bind(self, { left: 2 }));
  assert(info.kind === "bound");
  assert(info.target === declared && info.self === self);
  assertEquals(info.args, [{ left: 2 }]);
  for (const primitive of [undefined, null, 3, NaN, -0, 5n, "s", true]) {
    const b = captureFunction(declared.bind(primitive));
    assert(b.kind === "bound" && Object.is(b.self, primitive), String(primitive));
  }
  const handler = {};
  const proxy = captureFunction(new Proxy(declared, handler));
  assert(proxy.kind === "proxy" && proxy.target === declared && proxy.handler === handler);
  assertEquals(captureFunction(Math.sin), { kind: "native", name: "sin" });
  assertEquals(captureFunction(Deno.readTextFile).kind, "native");
});

Deno.test("modules from data: URLs", async () => {
  const text = "let n = 1; export const f = () => n++;";
  const loaded: { f: () => number } = await import(`data:text/javascript,${encodeURIComponent(text)}`);
  const c = cell(loaded.f, "n");
  loaded.f();
  assertEquals(c.get(), 2);
});

Deno.test("a variable that is not initialised yet", () => {
  const fn = (): number => late;
  const c = cell(fn, "late");
  assertThrows(() => c.get(), ReferenceError);
  const late = 3;
  assertEquals(c.get(), late);
});

Deno.test("positions are those of the TypeScript file", () => {
  const path = new URL(import.meta.url).pathname;
  const text = Deno.readTextFileSync(path);
  const at = text.indexOf("function declared(");
  const line = lineStarts(text).findIndex((s) => s > at);
  const info = captured(declared);
  assertEquals(info.position, { file: path, line, column: 0, text: "function declared(p: Pair): number {" });
  const span = info.code.spans[info.code.instructions.findIndex((i) => i.op === "getProp")];
  assert(span);
  const inside = info.module.position(span.start);
  assertEquals([inside.line, inside.column], [line + 2, 9]);
  assertEquals(inside.text, "  return p.left + fixed.answer;");
});
