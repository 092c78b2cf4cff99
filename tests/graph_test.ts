/**
 * Graphs: printing, verification, interpretation with early release, sizes of calls, clean-up.
 */
import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { Graph, Node, type NodeValue, type SourcePosition } from "../lib/graph/node.ts";
import { GraphModule } from "../lib/graph/graph_module.ts";
import { contiguousMeta } from "../lib/graph/meta.ts";
import { Interpreter, type Runner } from "../lib/graph/interpreter.ts";
import { type Decider, mul, type Sym, symbol } from "../lib/sym/expr.ts";

/** Ops over plain numbers, so that graphs can be tested without tensors. */
const numbers: Runner = {
  startHistory: (value) => value,
  giveHistory() {},
  withoutGradient: (body) => body(),
  gradients: () => [],
  begin: () => ({ willWrite() {}, rollBack: () => true }),
  items: (values) => values,
  scalar: (value) => value,
  regions: {
    isTrue: Boolean,
    own: (run) => run(),
    rows: () => 0,
    row: (value) => value,
    stack: (rows) => rows,
    form: () => "",
  },
  callOp(target, args) {
    const [a, b] = args.map(Number);
    switch (target) {
      case "add":
        return (a ?? 0) + (b ?? 0);
      case "mul":
        return (a ?? 0) * (b ?? 0);
      case "abs":
        return Math.abs(a ?? 0);
      case "divmod":
        return [Math.floor((a ?? 0) / (b ?? 1)), (a ?? 0) % (b ?? 1)];
      default:
        throw new Error(`no ${target}`);
    }
  },
};

const tensor = (shape: readonly (number | Sym)[]): NodeValue => ({
  kind: "tensor",
  tensor: contiguousMeta(shape, "float32", "cpu"),
  requiresGrad: false,
});

const line = (n: number, code: string): SourcePosition => ({
  file: "toy.ts",
  line: n,
  column: 1,
  functionName: "toy",
  code,
});

function toy(): Graph {
  const g = new Graph();
  const a = g.create("placeholder", "a", { meta: { value: tensor([2, 3]) } });
  const b = g.create("placeholder", "b", { meta: { value: tensor([3]) } });
  const stack = [line(3, "const x = a.mul(b).abs();")];
  const product = g.create("call_method", "mul", { args: [a, b], meta: { stack, value: tensor([2, 3]) } });
  const abs = g.create("call_function", "abs", { args: [product], meta: { stack, value: tensor([2, 3]) } });
  const sum = g.create("call_method", "add", {
    args: [abs, a],
    kwargs: { alpha: 2 },
    meta: { stack: [line(4, "x.add(a)")] },
  });
  g.create("output", "output", { args: [[sum, null]] });
  return g;
}

Deno.test("code prints one statement per node, user lines as comments and drops after the last use", () => {
  const gm = new GraphModule(toy(), {}, numbers);
  assertEquals(
    gm.code,
    `function forward(a, b) {
  // File: toy.ts:3 in toy, code: const x = a.mul(b).abs();
  let mul = a.mul(b);  b = null;
  let abs = ops.abs(mul);  mul = null;

  // File: toy.ts:4 in toy, code: x.add(a)
  let add = abs.add(a, { alpha: 2 });  a = abs = null;
  return [add, null];
}
`,
  );
  assertEquals(gm.readable("f").split("\n")[0], "function f(a /* f32[2, 3][3, 1] */, b /* f32[3][1] */) {");
});

Deno.test("graph modules run, by call and by forward", () => {
  const gm = new GraphModule(toy(), {}, numbers);
  assertEquals(gm(-2, 3), [4, null]);
  assertEquals(gm.forward(2, 5), [12, null]);
  assertEquals(typeof gm, "function");
  assertThrows(() => gm(1), Error, "Expected 2 arguments (a, b) but found 1");
});

Deno.test("getitem picks results, attributes are found, functions run", () => {
  const g = new Graph();
  const x = g.create("placeholder", "x");
  const k = g.create("get_attr", "k");
  const both = g.create("call_function", "divmod", { args: [x, k] });
  const rest = g.create("call_function", "getitem", { args: [both, 1] });
  const twice = g.create("call_function", "custom", { args: [rest] });
  g.create("output", "output", { args: [{ rest, twice: [twice] }] });
  const gm = new GraphModule(g, { k: 4, custom: (v: number) => 2 * v }, numbers);
  assertEquals(gm(11), { rest: 3, twice: [6] });
});

Deno.test("values are dropped after their last use", () => {
  const g = new Graph();
  const x = g.create("placeholder", "x");
  const seen: unknown[] = [];
  const probe: Runner = {
    ...numbers,
    callOp: (_target, args) => (seen.push(...args), args[0]),
  };
  const one = g.create("call_method", "one", { args: [x] });
  g.create("call_method", "unused_", { args: [one] });
  g.create("output", "output", { args: [null] });
  assertStrictEquals(new Interpreter(g, probe, {}).run(["v"]), null);
  assertEquals(seen, ["v", "v"]);
});

Deno.test("sizes in arguments are read from the inputs", () => {
  const unasked: Decider = {
    hintOf: () => 5,
    assume: () => {
      throw new Error("asked");
    },
  };
  const s0 = symbol("s0", { kind: "size", decider: unasked }, [2, Infinity]);
  const g = new Graph();
  g.create("placeholder", "x", { meta: { value: tensor([s0, 3]) } });
  const size = mul(s0, 3);
  g.create("output", "output", { args: [[typeof size === "number" ? size : size, [s0]]] });
  assertEquals(new Interpreter(g, numbers, {}).run([{ shape: [7, 3] }]), [21, [7]]);
});

Deno.test("lint finds invalid graphs", () => {
  toy().lint();
  const late = toy();
  const [first] = late.nodes;
  if (!first) throw new Error("empty");
  late.create("call_method", "abs", { args: [first] });
  assertThrows(() => late.lint(), Error, "Expected one output node, the last");
  const foreign = toy();
  const [stranger] = toy().nodes;
  const sum = foreign.nodes.at(-2);
  if (!(sum instanceof Node) || !stranger) throw new Error("empty");
  sum.args = [stranger];
  assertThrows(() => foreign.lint(), Error, "Expected a before its user add");
});

Deno.test("lint inspects each argument a number of times linear in the size of graphs", () => {
  const looks = (count: number) => {
    const g = new Graph(), x = g.create("placeholder", "x");
    const all = Array.from({ length: count }, () => g.create("call_method", "abs", { args: [x] }));
    let found = 0;
    const watched = new Proxy(all, {
      get: (list, key, self) => {
        if (typeof key === "string" && /^\d+$/.test(key)) found++;
        return Reflect.get(list, key, self);
      },
    });
    g.create("output", "output", { args: [watched] });
    found = 0;
    g.lint();
    return found;
  };
  assertEquals(looks(400), 2 * looks(200));
});

Deno.test("names are unique and never reserved words", () => {
  const g = new Graph();
  const names = ["add", "add", "var", "x.weight", "add", "add_1"].map((target) =>
    g.create("call_method", target).name
  );
  assertEquals(names, ["add", "add_1", "var_1", "x_weight", "add_2", "add_1_1"]);
});

Deno.test("dead code is removed, effects stay, users are redirected", () => {
  const g = new Graph();
  const x = g.create("placeholder", "x");
  const a = g.create("call_method", "abs", { args: [x] });
  const b = g.create("call_method", "abs", { args: [x] });
  g.create("call_method", "add", { args: [a, b] });
  const inplace = g.create("call_method", "add_", { args: [x, 1] });
  g.create("output", "output", { args: [[b]] });
  assertEquals(g.eliminateDeadCode(), true);
  assertEquals(g.nodes.map((n) => n.name), ["x", "abs_1", inplace.name, "output"]);
  assertEquals(b.replaceAllUsesWith(x).length, 1);
  assertEquals(g.eliminateDeadCode(), true);
  g.lint();
  assertEquals([...x.users.keys()].map((n) => n.name), ["add_", "output"]);
});

Deno.test("printTabular lists every node", () => {
  const log = console.log;
  const printed: unknown[] = [];
  console.log = (text: unknown) => void printed.push(text);
  try {
    toy().printTabular();
  } finally {
    console.log = log;
  }
  assertEquals(
    printed[0],
    `opcode         name    target  args           kwargs
-------------  ------  ------  -------------  ------
placeholder    a       a       []             {}
placeholder    b       b       []             {}
call_method    mul     mul     [a, b]         {}
call_function  abs     abs     [mul]          {}
call_method    add     add     [abs, a]       { alpha: 2 }
output         output  output  [[add, null]]  {}`,
  );
});
