/** Modes and subclasses of tensors that decide what ops do, in plain and in compiled code. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  compile,
  compiler,
  DebugMode,
  func,
  isTensor,
  manualSeed,
  nn,
  overrides,
  special,
  Tensor,
  tensor,
  vmap,
} from "../mod.ts";
import { ALL_OPS } from "../lib/ops/table.ts";
import { callOp } from "../lib/tensor/eager.ts";
import { makeSample, resultsOf } from "./support/samples.ts";
import { sampleBySeed } from "./support/sampling.ts";

class Recorder extends overrides.TensorDispatchMode {
  readonly names: string[] = [];
  constructor(readonly deep = false) {
    super();
  }
  override dispatch(call: overrides.OpCall): overrides.OpResult {
    this.names.push(call.name);
    return (this.deep ? call.decompose() : null) ?? call.run();
  }
}

/** A mode whose handler is a function. */
class Handler extends overrides.TensorDispatchMode {
  constructor(override readonly dispatch: (call: overrides.OpCall) => overrides.OpResult) {
    super();
  }
}

const namesDuring = (body: () => unknown, deep = false): string[] => {
  const mode = new Recorder(deep);
  mode.run(body);
  return mode.names;
};

const weight = tensor([[1, 2], [3, 4.5]]), x = tensor([[0.5, 2], [1, -1]]);
const model = (x: Tensor): Tensor => nn.functional.linear(x, weight).relu();

Deno.test("a mode receives the calls of a region, the parts of ops, gradients, and what compiled functions call", () => {
  assertEquals(namesDuring(() => model(x)), ["linear", "relu"]);
  assertEquals(namesDuring(() => model(x), true), ["linear", "t", "permute", "matmul", "mm", "relu"]);
  assertEquals(namesDuring(() => x.clone().mul_(2)), ["clone", "mul_"]);
  const compiled = compile(model);
  compiled(x);
  assertEquals(namesDuring(() => compiled(x)), ["linear", "relu"]);
  const leaf = tensor([1.5, 2], { requiresGrad: true }), loss = compile((x: Tensor) => x.mul(2).sum())(leaf);
  assert(namesDuring(() => loss.backward()).includes("mul"));
  assertEquals(leaf.grad?.tolist(), [2, 2]);
  assertEquals(namesDuring(() => vmap((x: Tensor) => x.exp())(x)).includes("exp"), true);
  assertEquals(func.jvp((y: Tensor) => new Recorder().run(() => y.mul(y)), [x], [x])[1].tolist(), [[0.5, 8], [
    2,
    2,
  ]]);
});

Deno.test("a mode changes arguments and results, passes its own calls on, and ends with its region", async () => {
  const tripled = new Handler((call) => call.name === "add" ? call.run({ alpha: 3 }) : call.run());
  const a = tensor([1.5]), b = tensor([2]);
  assertEquals(tripled.run(() => a.add(b)).item(), 7.5);
  assertEquals(tripled.run(() => tripled.run(() => a.add(b))).item(), 7.5);
  const negated = new Handler((call) => {
    const result = call.run();
    return isTensor(result) ? result.neg() : result;
  });
  const outer = new Recorder();
  assertEquals(outer.run(() => negated.run(() => a.add(b))).item(), -3.5);
  assertEquals(outer.names, ["add", "neg"]);
  const { values } = new Handler((call) => call.run({ dim: 0 })).run(() => x.max(1));
  assertEquals(values.tolist(), [1, 2]);
  assertThrows(() => outer.run(() => a.matmul(tensor([1, 2]))), "Expected shapes");
  const late = new Recorder();
  const waiting = late.run(async () => {
    await null;
    return a.exp();
  });
  await waiting;
  a.add(b);
  assertEquals(late.names, ["exp"]);
  const wrong = new Handler(() => JSON.parse("3"));
  assertThrows(
    () => wrong.run(() => a.add(b)),
    Error,
    "Expected a tensor, or a list of tensors, from dispatch of add but found 3",
  );
  assertThrows(
    () => new Handler((call) => call.run({ alhpa: 2 })).run(() => a.add(b)),
    Error,
    "Expected an option of add to be one of self, other, alpha but found alhpa",
  );
});

Deno.test("modes and logs that compiled functions enter receive the calls of their bodies", () => {
  const entered = (enter: (body: () => Tensor) => Tensor) => (x: Tensor) =>
    enter(() => x.mul(2).sin().add(1)).mul(3);
  for (const fullgraph of [false, true]) {
    const mode = new Recorder(), log = new DebugMode();
    for (const f of [entered((body) => mode.run(body)), entered((body) => log.run(body))]) {
      const compiled = compile(f, { fullgraph });
      if (fullgraph) assertThrows(() => compiled(x), Error, "GB0004");
      else assertEquals([compiled(x).tolist(), compiled(x).tolist()], [f(x).tolist(), f(x).tolist()]);
    }
    const times = fullgraph ? 0 : 4, expected = Array(times).fill(["mul", "sin", "add"]).flat();
    assertEquals([mode.names, log.entries.map(({ name }) => name)], [expected, expected]);
  }
});

class Quantity extends overrides.TensorSubclass {
  static readonly seen: string[] = [];
  constructor(data: Tensor, readonly unit: string) {
    super(data);
  }
  static override dispatch(call: overrides.OpCall): overrides.OpResult {
    this.seen.push(call.name);
    const units = Object.values(call.args).flat().flatMap((each) =>
      each instanceof Quantity ? [each.unit] : []
    );
    const result = call.run();
    return isTensor(result)
      ? new Quantity(result, call.name === "mul" ? units.join(" ") : units[0] ?? "")
      : result;
  }
}
class Length extends Quantity {
  static override dispatch(call: overrides.OpCall): overrides.OpResult {
    return call.run();
  }
}

const unitOf = (value: unknown) => value instanceof Quantity ? value.unit : typeof value;

Deno.test("tensors that a handler has seen keep their elements", () => {
  const loss = (x: Tensor, w: Tensor) => x.mul(w).tanh().softmax(0).pow(2).sum();
  const compiled = compile(loss), held: unknown[] = [];
  const keeper = new Handler((call) => {
    const result = call.run();
    held.push(...Object.values(call.args).flat(), ...[result].flat());
    return result;
  });
  const w = tensor([1, 2, -0.5, 0.25], { requiresGrad: true }), x = tensor([1.5, 2, 3, 4]);
  const outside = compiled(x, w);
  const passes = [
    () => loss(x, w).backward(),
    () => compiled(x, w).backward(),
    () => outside.backward(),
    () => func.grad((w: Tensor) => loss(x, w))(w.detach()),
  ];
  for (const pass of passes) {
    held.length = 0;
    keeper.run(pass);
    w.grad = null;
    const tensors = held.filter(isTensor);
    assert(tensors.length > 20);
    assert(tensors.every((each) => each.storage.filled));
  }
  w[Symbol.dispose]();
  assert(!w.storage.filled);
});

Deno.test("a subclass of tensors receives calls on its instances, and no part of an op or gradient", () => {
  const leaf = tensor([2, 3], { dtype: "float32", requiresGrad: true });
  const speed = new Quantity(leaf, "m/s"), time = new Quantity(tensor([10, 20.5]), "s");
  Quantity.seen.length = 0;
  const way = speed.mul(time), whole = way.sum();
  assertEquals([unitOf(way), unitOf(whole), whole.item()], ["m/s s", "m/s s", 81.5]);
  whole.backward();
  assertEquals(Quantity.seen, ["mul", "sum"]);
  assertEquals([leaf.grad?.tolist(), unitOf(leaf.grad)], [[10, 20.5], "object"]);
  assertEquals(unitOf(tensor([1, 2]).add(time)), "s");
  assertEquals([...time, time.at(0), time.detach(), time.clone()].map(unitOf), ["s", "s", "s", "s", "s"]);
  assert(!(new Length(x, "m").add(new Quantity(x, "m")) instanceof Quantity));
  assert(!(new Quantity(x, "m").add(new Length(x, "m")) instanceof Quantity));
  const shared = tensor([1, 2.5]),
    written = new Quantity(shared, "m"),
    by = tensor([3, 4.5], { requiresGrad: true });
  written.mul_(by);
  shared.sum().backward();
  assertEquals([shared.tolist(), by.grad?.tolist()], [[3, 11.25], [1, 2.5]]);
  const own = new Quantity(tensor([1, 2.5]), "m").requiresGrad_();
  own.mul(own).sum().backward();
  assertEquals([own.grad?.tolist(), unitOf(own.grad)], [[2, 5], "object"]);
  const seen = Quantity.seen.length, mode = new Recorder();
  mode.run(() => time.add(1));
  assertEquals([mode.names.includes("add"), Quantity.seen.length], [true, seen + 1]);
  assertEquals(func.jvp((y: Tensor) => new Quantity(y, "m").mul(y), [x], [x])[1].tolist(), [[0.5, 8], [
    2,
    2,
  ]]);
  assertEquals(vmap((y: Tensor) => new Quantity(y, "m").sum())(x).tolist(), [2.5, 0]);
  assertThrows(
    () => new Quantity(JSON.parse("3"), "m"),
    Error,
    "Expected a tensor for an instance of a subclass",
  );
});

Deno.test("graphs break at instances of subclasses, wherever they come from", () => {
  const time = new Quantity(tensor([[1, 2], [3, 4.5]]), "s"), kept = { list: [time] };
  class Layer extends nn.Module {
    readonly weight = new nn.Parameter(weight);
    override forward(x: Tensor): Tensor {
      return x.matmul(this.weight);
    }
  }
  const layer = new Layer();
  const programs: readonly ((x: Tensor) => Tensor)[] = [
    (x) => x.exp().mul(time),
    (x) => time.exp().mul(x),
    (x) => nn.functional.relu(kept.list[0] ?? x).add(x),
    (x) => x.add(1).matmul(time),
    (x) => x.clone().add_(time),
    (x) => layer.call(time).add(x),
    (x) => x.mul(time.size(0)).add(time.unit.length),
    (x) => x.add(time.sum().item()),
    (x) => new Quantity(x.mul(2), "kg").add(1),
    (x) => new nn.Parameter(x.mul(2)).add(1),
    (x) => x.add(x instanceof Quantity ? 1 : 2),
  ];
  const outcome = (result: Tensor) => [result.tolist(), unitOf(result)];
  for (const [k, f] of programs.entries()) {
    const compiled = compile(f), expected = outcome(f(x));
    assertEquals([outcome(compiled(x)), outcome(compiled(x))], [expected, expected], String(f));
    assertEquals(compiler.status(compiled).uncompiled, [], String(f));
    if (k < programs.length - 2) {
      assertThrows(() => compile(f, { fullgraph: true })(x), Error, "a subclass of Tensor", String(f));
    }
  }
  const compiled = compile((x: Tensor) => x.mul(2).exp());
  assertEquals([compiled(x), compiled(time), compiled(x)].map(unitOf), ["object", "s", "object"]);
});

class Same extends overrides.TensorSubclass {
  static override dispatch(call: overrides.OpCall): overrides.OpResult {
    const result = call.run({ ...call.args });
    return isTensor(result) ? new Same(result) : result;
  }
}
const asSame = (value: unknown): unknown =>
  isTensor(value) ? new Same(value) : Array.isArray(value) ? value.map(asSame) : value;

Deno.test("every op gives the same when handlers make its call again, by its arguments' names", () => {
  const again = new Handler((call) => call.run({ ...call.args }));
  const cases = ALL_OPS.flatMap((op) => op.samples.map((sample) => ({ op, sample })));
  for (const { op, sample } of sampleBySeed(cases, 100)) {
    const results = (change: (given: readonly unknown[]) => readonly unknown[]) => {
      manualSeed(3);
      const made = callOp(op, change(makeSample(sample).given));
      return resultsOf(made).map((each) => [each.shape, each.dtype, each.tolist()]);
    };
    const wanted = results((given) => given), positional = sample.args.length;
    const wrapped = (given: readonly unknown[]) => [
      ...given.slice(0, positional).map(asSame),
      ...given.slice(positional),
    ];
    assertEquals([again.run(() => results((given) => given)), results(wrapped)], [wanted, wanted], op.name);
  }
  assertEquals(
    special.polygamma({ n: 1, self: tensor([0.5]) }).tolist(),
    special.polygamma(1, tensor([0.5])).tolist(),
  );
});
