/**
 * One of two ranks that train models together. Started by `dyn launch`; prints a line at its end. Invariant: results
 * are compared with the same training by one process on all of the data.
 */
import { assert, assertEquals, assertMatch, assertThrows, fail } from "@std/assert";
import { startedCollectives } from "../../lib/base/pending_collectives.ts";
import {
  autocast,
  compile,
  compiler,
  counters,
  data,
  distributed as dist,
  GradScaler,
  manualSeed,
  nn,
  noGrad,
  optim,
  profile,
  randn,
  type Tensor,
  utils,
  zeros,
} from "../../mod.ts";

dist.initProcessGroup();
const rank = dist.getRank();
assertEquals(dist.getWorldSize(), 2);
const told = ["RANK", "LOCAL_RANK", "WORLD_SIZE"].map((name) => Deno.env.get(name));
assertEquals(told, [`${rank}`, `${rank}`, "2"]);

class Net extends nn.Module {
  first = new nn.Linear(6, 8);
  norm = new nn.LayerNorm(8);
  second = new nn.Linear(8, 3);
  spare = new nn.Linear(8, 3);
  constructor(readonly usesSpare: (x: Tensor) => boolean = () => false) {
    super();
  }
  override forward(x: Tensor): Tensor {
    const hidden = this.norm.call(this.first.call(x).tanh());
    const out = this.second.call(hidden);
    return this.usesSpare(x) ? out.add(this.spare.call(hidden)) : out;
  }
}

/** Bits of all tensors, the same on both ranks. */
function assertSameBits(tensors: readonly Tensor[], what: string): void {
  for (const each of tensors) {
    const both = zeros([2, ...each.shape]);
    dist.allGatherIntoTensor(both, each);
    assert(both.select(0, 0).eq(both.select(0, 1)).all().item(), what);
  }
}

const assertSame = (found: readonly Tensor[], expected: readonly Tensor[], what: string) => {
  found.forEach((each, k) => assert(each.equal(expected[k] ?? each.add(1)), `${what}: ${k}`));
};

const gradOf = ({ grad }: Tensor): Tensor => grad ?? fail("Expected a gradient");

const near = (found: readonly Tensor[], expected: readonly Tensor[], what: string) => {
  found.forEach((each, k) => assert(each.sub(expected[k] ?? NaN).abs().max().item() < 1e-6, what));
};

manualSeed(5);
const inputs = randn([4, 8, 6]), targets = randn([4, 8, 3]);
const own = (t: Tensor, step: number, of = rank) => t.select(0, step).narrow(0, 4 * of, 4);
const lossOf = (model: nn.Module & { forward(x: Tensor): Tensor }, x: Tensor, y: Tensor) =>
  nn.functional.mseLoss(model.call(x), y);

/** Trains both ways, each step by `step`, and compares. */
function compareTraining(
  what: string,
  options: dist.DataParallelOptions,
  makeStep: (step: (x: Tensor, y: Tensor) => void) => (x: Tensor, y: Tensor) => void,
) {
  const plain = new Net((x) => x.shape[0] === 8), net = new Net(() => true);
  if (rank === 0) {
    for (const [k, each] of plain.parameters().entries()) noGrad(() => net.parameters()[k]?.copy_(each));
  }
  const model = new dist.DistributedDataParallel(net, options);
  plain.loadStateDict(net.stateDict());
  const one = new optim.Adam(plain.parameters(), { lr: 0.01 }),
    two = new optim.Adam(model.parameters(), { lr: 0.01 });
  const step = makeStep((x, y) => {
    two.zeroGrad();
    lossOf(model, x, y).backward();
    two.step();
  });
  for (let k = 0; k < 4; k++) {
    one.zeroGrad();
    lossOf(plain, inputs.select(0, k), targets.select(0, k)).backward();
    one.step();
    step(own(inputs, k), own(targets, k));
    assertSameBits(model.parameters().flatMap((each) => each.grad ?? []), what);
  }
  near(model.parameters(), plain.parameters(), what);
  assertSameBits(model.parameters(), what);
  assertEquals(Object.keys(model.stateDict())[0], "module.first.weight");
}
compareTraining("plain steps", {}, (step) => step);
compareTraining("many buckets", { bucketCapMb: 1e-4 }, (step) => step);
compareTraining("compiled steps", {}, (step) => compile(step, { backend: "aot_eager", fullgraph: true }));

// Mixed precision: gradients of scaled losses are averaged, and one rank's overflow has all of them leave a step out
for (const backend of [null, "aot_eager", "inductor"]) {
  const [plain, ours] = [0, 1].map(() =>
    new nn.Sequential(new nn.Linear(6, 8), new nn.Tanh(), new nn.Linear(8, 3))
  );
  assert(plain && ours);
  plain.loadStateDict(ours.stateDict());
  // Fused kernels round small floats where they are stored, which the end of a bucket within the pass changes
  const isFused = backend === "inductor", buckets = isFused ? {} : { bucketCapMb: 120 / 2 ** 20 };
  const model = new dist.DistributedDataParallel(ours, buckets);
  plain.loadStateDict(ours.stateDict());
  const one = new optim.Adam(plain.parameters(), { lr: 0.01 }),
    two = new optim.Adam(model.parameters(), { lr: 0.01 });
  const [single, scaler] = [new GradScaler({ initScale: 1024 }), new GradScaler({ initScale: 1024 })];
  const lossIn = (net: typeof plain | typeof model, x: Tensor, y: Tensor) =>
    autocast("cpu", () => lossOf(net, x, y));
  const [forward, run] = [plain, model].map((net) => {
    const forward = (x: Tensor, y: Tensor) => lossIn(net, x, y);
    return backend !== null && (isFused || net === model) ? compile(forward, { backend }) : forward;
  });
  assert(forward && run);
  for (let k = 0; k < 4; k++) {
    const wanted = (part: number) => own(targets, k, part).mul(k === 2 && part === 1 ? 1e38 : 1);
    one.zeroGrad();
    for (const part of [0, 1]) {
      single.scale(forward(own(inputs, k, part), wanted(part))).div(2).backward();
    }
    single.step(one);
    single.update();
    two.zeroGrad();
    scaler.scale(run(own(inputs, k), wanted(rank))).backward();
    scaler.step(two);
    scaler.update();
    assertEquals(scaler.getScale(), k < 2 ? 1024 : 512);
    assertSame(model.parameters(), plain.parameters(), `mixed precision, ${backend}, step ${k}`);
  }
}

// The same as one graph by the inductor
{
  const [plain, ours] = [0, 1].map(() =>
    new nn.Sequential(new nn.Linear(6, 8), new nn.Tanh(), new nn.Linear(8, 3))
  );
  assert(plain && ours);
  const model = new dist.DistributedDataParallel(ours, { bucketCapMb: 120 / 2 ** 20 });
  plain.loadStateDict(ours.stateDict());
  const stepOf = (net: typeof plain | typeof model) => {
    const optimizer = new optim.SGD(net.parameters(), { lr: 0.1 });
    return compile((...batches: readonly (readonly [Tensor, Tensor])[]) => {
      optimizer.zeroGrad();
      for (const [x, y] of batches) autocast("cpu", () => lossOf(net, x, y)).div(batches.length).backward();
      optimizer.step();
    }, { fullgraph: true });
  };
  const [one, two] = [stepOf(plain), stepOf(model)],
    before = plain.parameters().map((each) => each.detach().clone());
  const batch = (k: number, part: number) => [own(inputs, k, part), own(targets, k, part)] as const;
  for (let k = 0; k < 2; k++) {
    one(batch(k, 0), batch(k, 1));
    two(batch(k, rank));
  }
  assertSame(model.parameters(), plain.parameters(), "mixed precision, one graph");
  plain.parameters().forEach((each, k) => assert(!each.equal(before[k] ?? each), "Expected steps"));
}

// A step is one graph, with the bits of plain steps, buffers and gradients added up without averages included
for (const backend of ["aot_eager", "inductor"]) {
  const nets = [0, 1].map(() =>
    new nn.Sequential(new nn.Linear(6, 80), new nn.BatchNorm1d(80), new nn.Tanh(), new nn.Linear(80, 3))
  );
  const stepOf = (net: nn.Module & { forward(x: Tensor): Tensor }) => {
    const model = new dist.DistributedDataParallel(net, { bucketCapMb: 980 / 2 ** 20 });
    const optimizer = new optim.AdamW(model.parameters(), { lr: 0.01 });
    return (x: Tensor, y: Tensor, first: Tensor): Tensor => {
      optimizer.zeroGrad();
      model.noSync(() => lossOf(model, first, y).backward());
      const loss = lossOf(model, x, y);
      loss.backward();
      optimizer.step();
      return loss;
    };
  };
  const [plain, ours] = nets;
  assert(plain && ours);
  ours.loadStateDict(plain.stateDict());
  const eager = stepOf(plain), compiled = compile(stepOf(ours), { backend, fullgraph: true });
  for (let k = 0; k < 3; k++) {
    const args = [own(inputs, k), own(targets, k), own(inputs, k + 1)] as const, expected = eager(...args);
    compiler.setEnableGuardCollectives(k === 1);
    const before = startedCollectives(), loss = compiled(...args);
    assertSame([loss], [expected], `loss, ${backend}`);
    // Three buckets; before the pass that averages means and variances at once, and counts, of another type
    assertEquals(startedCollectives() - before, 5, backend);
  }
  // Each begins where its gradients are there, before the rest of the backward pass, and is waited for at the end
  const events = profile(() => void compiled(own(inputs, 3), own(targets, 3), own(inputs, 0))).events();
  eager(own(inputs, 3), own(targets, 3), own(inputs, 0));
  const seen = events.filter(({ kind, name }) =>
    kind === "graph" || kind === "collective" && name === "allReduce" || name === "wait for allReduce"
  );
  const order = seen.map(({ kind, bytes }) => kind === "collective" ? `${bytes} bytes` : kind).join(", ");
  // Buckets are sent as they are made, and new values are written where they are computed
  const copies = events.filter(({ kind, name }) => kind === "op" && ["copy_", "clone"].includes(name));
  if (backend === "inductor") assertEquals(copies, []);
  // Counts, which are few, are joined where means and variances are; all that follows the averages is one part
  const parts = seen.filter(({ kind }) => kind === "graph").length;
  if (backend === "inductor") assertEquals(parts, 5);
  const between = backend === "inductor" ? ", graph, " : ", ";
  assertMatch(order, new RegExp(["972 bytes", "1920 bytes", "960 bytes, .*wait"].join(between)));
  const all = (net: nn.Module) => [...net.parameters(), ...net.buffers()];
  assertSame(all(ours), all(plain), backend);
  assertSame(ours.parameters().map(gradOf), plain.parameters().map(gradOf), `gradients, ${backend}`);
}
compiler.setEnableGuardCollectives(false);

// A checkpointed function is recomputed, except for its collectives
{
  const run = (isMarked: boolean) => {
    manualSeed(3);
    const layer = new nn.Linear(6, 6);
    const step = compile((x: Tensor) => {
      layer.zeroGrad();
      const body = (y: Tensor) => dist.functional.allReduce(layer.call(y).tanh()).exp();
      const loss = (isMarked ? utils.checkpoint(body, x) : body(x)).square().mean();
      loss.backward();
      return loss.detach();
    }, { backend: "aot_eager", fullgraph: true });
    step(own(inputs, 0));
    const events = profile(() => void step(own(inputs, 0))).events();
    const count = (what: string) => events.filter(({ kind, name }) => `${kind} ${name}` === what).length;
    return { grad: gradOf(layer.weight), calls: count("collective allReduce"), tanh: count("op tanh") };
  };
  const [kept, marked] = [run(false), run(true)];
  assertSame([marked.grad], [kept.grad], "checkpoint");
  assertEquals([kept.calls, marked.calls, kept.tanh, marked.tanh], [2, 2, 1, 2]);
}

// If the tape runs the backward pass of a compiled model, it reaches one bucket after another
for (const norm of [nn.LayerNorm, nn.BatchNorm1d]) {
  const [plain, ours] = [0, 1].map(() =>
    new nn.Sequential(
      new nn.Linear(6, 8),
      new norm(8),
      new nn.Tanh(),
      new nn.Dropout(0.5),
      new nn.Linear(8, 3),
    )
  );
  assert(plain && ours);
  ours.loadStateDict(plain.stateDict());
  const [one, two] = [plain, ours].map((each) =>
    new dist.DistributedDataParallel(each, { bucketCapMb: 120 / 2 ** 20 })
  );
  assert(one && two);
  ours.compile({ backend: "aot_eager", fullgraph: true });
  const pass = (model: typeof one, k: number) => {
    manualSeed(k);
    lossOf(model, own(inputs, k), own(targets, k)).backward();
  };
  for (let k = 0; k < 3; k++) pass(one, k);
  for (let k = 0; k < 2; k++) pass(two, k);
  const events = profile(() => pass(two, 2)).events();
  const order = events.flatMap(({ kind, name, bytes }) =>
    name === "allReduce" ? `${bytes}` : kind === "backward" && name.startsWith("Compiled") ? "pass" : []
  ).join(" ");
  // Running statistics are written: such a graph stays whole
  assertEquals(order, norm === nn.LayerNorm ? "pass 108 pass 96 192" : "pass 108 96 192");
  assertSame(ours.parameters().map(gradOf), plain.parameters().map(gradOf), order);
}

// Parameters unused by a compiled pass are reported by the next one, as without compilation
{
  const model = new dist.DistributedDataParallel(new Net());
  const step = compile((x: Tensor, y: Tensor) => lossOf(model, x, y).backward(), { backend: "aot_eager" });
  step(own(inputs, 0), own(targets, 0));
  for (const again of [step, (x: Tensor) => model.call(x)]) {
    assertThrows(() => again(own(inputs, 1), own(targets, 1)), Error, "of all 8 parameters");
  }
}
assertEquals([counters.entries("graph_break"), counters.entries("fallback")], [[], []]);

// Gradients of several passes are added up on each rank, and averaged with the last
{
  const plain = new Net(),
    model = new dist.DistributedDataParallel(new Net(), { findUnusedParameters: true });
  plain.loadStateDict(model.module.stateDict());
  for (const k of [0, 1]) lossOf(plain, inputs.select(0, k), targets.select(0, k)).backward();
  model.noSync(() => lossOf(model, own(inputs, 0), own(targets, 0)).backward());
  const alone = model.module.second.bias?.grad?.clone();
  lossOf(model, own(inputs, 1), own(targets, 1)).backward();
  assert(alone);
  const used = (net: Net) =>
    [net.first, net.norm, net.second].flatMap((m) => m.parameters()).flatMap((p) => p.grad ?? []);
  near(used(model.module), used(plain), "accumulated");
  assertEquals(model.module.spare.weight.grad, null);
}

// Parameters used only in passes without averages are averaged too
{
  let usesSpare = true;
  const model = new dist.DistributedDataParallel(new Net(() => usesSpare), { findUnusedParameters: true });
  model.noSync(() => lossOf(model, own(inputs, 0), own(targets, 0)).backward());
  usesSpare = false;
  lossOf(model, own(inputs, 1), own(targets, 1)).backward();
  const { grad } = model.module.spare.weight;
  assert(grad);
  assertSameBits([grad], "used before");
}

// A parameter that one rank alone uses gets half of its gradient; without word of it the next pass says which are left
{
  const model = new dist.DistributedDataParallel(new Net(() => rank === 1), { findUnusedParameters: true });
  lossOf(model, own(inputs, 0), own(targets, 0)).backward();
  const { grad } = model.module.spare.weight;
  assert(grad && grad.abs().sum().item() > 0);
  assertSameBits([grad], "used by one");
  const strict = new dist.DistributedDataParallel(new Net());
  lossOf(strict, own(inputs, 0), own(targets, 0)).backward();
  assertThrows(() => strict.call(own(inputs, 1)), Error, "found none of spare.weight, spare.bias");
  const compiled = compile((x: Tensor) => strict.call(x).sum().backward(), { backend: "aot_eager" });
  assertThrows(() => compiled(own(inputs, 1)), Error, "found none of spare.weight, spare.bias");
}

// Ranks with fewer steps take part in those of the others
{
  const plain = new nn.Linear(6, 3), model = new dist.DistributedDataParallel(new nn.Linear(6, 3));
  plain.loadStateDict(model.module.stateDict());
  const [one, two] = [plain, model].map((each) => new optim.SGD(each.parameters(), { lr: 0.1 }));
  assert(one && two);
  for (let k = 0; k < 3; k++) {
    const share = (r: number) => lossOf(plain, own(inputs, k, r), own(targets, k, r)).div(2);
    one.zeroGrad();
    (k === 0 ? share(0).add(share(1)) : share(1)).backward();
    one.step();
  }
  const steps = (from: number, to: number) => {
    for (let k = from; k < to; k++) {
      two.zeroGrad();
      lossOf(model, own(inputs, k), own(targets, k)).backward();
      two.step();
    }
    return to;
  };
  assertEquals(model.join(() => steps(0, 1)), 1);
  assertEquals(model.join(() => steps(1, rank === 0 ? 1 : 3)), rank === 0 ? 1 : 3);
  near(model.parameters(), plain.parameters(), "uneven inputs");
  assertSameBits(model.parameters(), "uneven inputs");
}

// Buffers are those of the first rank, in graphs, too
for (const isCompiled of [false, true]) {
  const model = new dist.DistributedDataParallel(
    new nn.Sequential(new nn.BatchNorm1d(6), new nn.Linear(6, 3)),
  );
  const step = (x: Tensor): void => model.call(x).sum().backward();
  const run = isCompiled ? compile(step, { backend: "aot_eager", fullgraph: true }) : step;
  for (const k of [0, 1]) run(own(inputs, k));
  const expected = new nn.BatchNorm1d(6);
  for (const k of [0, 1]) expected.call(inputs.select(0, k).narrow(0, 0, 4));
  model.call(own(inputs, 2));
  expected.call(inputs.select(0, 2).narrow(0, 4 * rank, 4));
  near([model.buffers()[0] ?? zeros([6])], [expected.runningMean ?? zeros([6])], "buffers");
}

// Each rank reads its part: together everything, in the same random order
const sampler = new data.DistributedSampler({ length: 7 }), mine = zeros([4], { dtype: "int64" });
sampler.setEpoch(3);
[...sampler].forEach((index, k) => mine.select(0, k).fill_(index));
const read = zeros([8], { dtype: "int64" });
dist.allGatherIntoTensor(read, mine);
assertEquals(new Set([...read.toTypedArray()].map(Number)).size, 7);

console.log("trained");
