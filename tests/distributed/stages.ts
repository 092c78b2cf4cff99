/**
 * One of four ranks that train a model in stages, and divide attention by heads; its argument is the backend of
 * compiled functions. Started by mpirun; prints a line at its end. Invariant: results are compared with the same
 * training by one process.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { arange, distributed as dist, manualSeed, nn, optim, randn, Tensor } from "../../mod.ts";
import { checkHeads, SEPARATE, Separate } from "./heads.ts";

const { PipelineStage, Schedule1F1B, ScheduleGPipe } = dist.pipelining;

dist.initProcessGroup();
const [backend = ""] = Deno.args;
const rank = dist.getRank(), size = dist.getWorldSize(), isLast = rank === size - 1;
assertEquals(size, 4);

const near = (found: Tensor, expected: Tensor, what: string) =>
  assert(found.sub(expected).abs().max().item() < 1e-5, `${what}: ${found}, not ${expected}`);

manualSeed(5);
const inputs = randn([3, 12, 5]), targets = randn([3, 12, 2]);
const lossFn = (output: Tensor, target: Tensor) => nn.functional.mseLoss(output, target);

/** Four parts of a model. */
const parts = (): (nn.Linear | nn.Sequential)[] => [
  new nn.Sequential(new nn.Linear(5, 7), new nn.Tanh()),
  new nn.Sequential(new nn.Linear(7, 6), new nn.LayerNorm(6)),
  new nn.Sequential(new nn.GELU(), new nn.Linear(6, 3)),
  new nn.Linear(3, 2),
];

for (const [Schedule, microbatches] of [[ScheduleGPipe, 3], [Schedule1F1B, 6]] as const) {
  const own = parts(), whole = new nn.Sequential(...parts()), module = own[rank];
  assert(module);
  whole.children().forEach((part, k) => own[k]?.loadStateDict(part.stateDict()));
  if (Schedule === ScheduleGPipe && rank === 1) module.compile({ backend: "aot_eager" });
  const schedule = new Schedule(new PipelineStage(module, rank, size), microbatches, lossFn);
  const ours = new optim.AdamW(module.parameters(), { lr: 0.05 });
  const plain = new optim.AdamW(whole.parameters(), { lr: 0.05 });
  for (let step = 0; step < 2; step++) {
    const x = inputs.select(0, step), target = targets.select(0, step), losses: Tensor[] = [];
    const found = rank === 0
      ? schedule.step(x)
      : isLast
      ? schedule.step({ target, losses })
      : schedule.step();
    const expected = whole.call(x), what = `${Schedule.name} with ${microbatches}, step ${step}`;
    const loss = lossFn(expected, target);
    if (isLast) {
      assert(found instanceof Tensor);
      near(found, expected, what);
      assertEquals(losses.length, microbatches);
      near(losses.reduce((a, b) => a.add(b)).div(microbatches), loss, `losses of ${what}`);
    } else assertEquals(found, null);
    loss.backward();
    whole.children()[rank]?.parameters().forEach(({ grad }, k) => {
      const part = module.parameters()[k]?.grad;
      assert(grad && part);
      near(part, grad, `gradient ${k} of ${what}`);
    });
    for (const each of [plain, ours]) {
      each.step();
      each.zeroGrad();
    }
  }
  const seen: Tensor[] = [];
  const [x, target] = [inputs.select(0, 0), targets.select(0, 0)];
  const found = rank === 0
    ? schedule.eval(x)
    : isLast
    ? schedule.eval({ target, losses: seen })
    : schedule.eval();
  assertEquals(found instanceof Tensor, isLast);
  if (found instanceof Tensor) near(found, whole.call(x), "forward pass alone");
  assertEquals([seen.length, module.parameters().some(({ grad }) => grad !== null)], [
    isLast ? microbatches : 0,
    false,
  ]);
}

// Two pipelines of two stages; what passes between them are several tensors of several types, not all with gradients
class First extends nn.Module {
  readonly wide = new nn.Linear(5, 4);
  readonly frozen = new nn.Linear(5, 4).requiresGrad_(false);
  override forward(x: Tensor): Tensor[] {
    return [
      this.wide.call(x),
      this.frozen.call(x),
      arange(x.size(0)),
      x.gt(0),
      this.wide.call(x).to("float64"),
    ];
  }
}
class Second extends nn.Module {
  readonly out = new nn.Linear(4, 2);
  override forward(x: Tensor, y: Tensor, rows: Tensor, isPositive: Tensor, _unused: Tensor): Tensor {
    const scaled = x.mul(y).mul(rows.unsqueeze(-1));
    return this.out.call(scaled.mul(isPositive.narrow(1, 0, 4)));
  }
}
const group = [dist.newGroup([0, 1]), dist.newGroup([2, 3])][rank >> 1], stage = rank % 2;
assert(group);
{
  manualSeed(7);
  const one = [new First(), new Second()] as const, module = one[stage === 0 ? 0 : 1];
  const schedule = new ScheduleGPipe(new PipelineStage(module, stage, 2, { group }), 2, {
    lossFn,
    scaleGrads: false,
  });
  const x = inputs.select(0, 0), target = targets.select(0, 0);
  schedule.step(...stage === 0 ? [x] : [{ target }]);
  const grads = module.parameters().map(({ grad }) => grad);
  module.zeroGrad();
  for (let k = 0; k < 2; k++) {
    const [a, b, rows, isPositive, c] = one[0].forward(x.chunk(2)[k] ?? x);
    assert(a && b && rows && isPositive && c);
    lossFn(one[1].forward(a, b, rows, isPositive, c), target.chunk(2)[k] ?? target).backward();
  }
  module.parameters().forEach(({ grad }, k) => {
    const part = grads[k];
    if (!grad) return assertEquals(part, null);
    assert(part);
    near(part, grad, `gradient ${k} of two stages`);
  });
  // Stages agree with their neighbours, or all of them throw
  const other = new ScheduleGPipe(new PipelineStage(module, stage, 2, { group }), 1 + stage, { lossFn });
  assertThrows(
    () => other.step(...stage === 0 ? [x] : [{ target }]),
    dist.DistributedError,
    `Expected the same call on all ranks but found rank 0: a step of ScheduleGPipe with 1 micro-batches; rank 1: a step`,
  );
  const wrong = new ScheduleGPipe(new PipelineStage(module, stage, 2, { group }), 5, { lossFn });
  if (stage === 0) {
    assertThrows(() => wrong.step(x), Error, "divisible into 5 micro-batches but found [12, 5]");
  } else assertThrows(() => wrong.step(x), Error, "Expected no batch on stage 1 of 2 but found 1 tensors");
  assertThrows(
    () => new PipelineStage(module, 1 - stage, 2, { group }),
    Error,
    `Expected stage ${stage} of 2`,
  );
}

// Layers in parts, of which other pairs of ranks have shards: norms of gradients and states are those of the whole
{
  const one = new nn.Sequential(new Separate()), net = new nn.Sequential(new Separate());
  for (const each of one.parameters()) dist.broadcast(each, 0);
  net.loadStateDict(one.stateDict());
  const across = [dist.newGroup([0, 2]), dist.newGroup([1, 3])][stage];
  assert(across);
  dist.parallelizeModule(net, { "0": SEPARATE }, { group });
  dist.fullyShard(net, { group: across });
  const x = randn([2, 3, 16]),
    optimizers = [one, net].map((each) => new optim.SGD(each.parameters(), { lr: 0.1 }));
  dist.broadcast(x, 0);
  const norms = [one, net].map((each) => {
    each.call(x).square().sum().backward();
    return nn.utils.clipGradNorm_(each.parameters(), 0.5);
  });
  for (const optimizer of optimizers) optimizer.step();
  near(norms[1] ?? x, norms[0] ?? x, "norm of gradients in two dimensions");
  const expected = one.stateDict();
  for (const [key, value] of Object.entries(dist.fullStateDict(net))) {
    near(value, expected[key] ?? value, key);
  }
}

checkHeads(dist.newGroup(), null);
checkHeads(group, rank < 2 ? backend : null);
console.log(`rank ${rank} is done`);
