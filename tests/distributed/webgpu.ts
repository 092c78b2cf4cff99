/**
 * One of two ranks whose tensors are on WebGPU: every collective and message, plainly and in graphs, through host
 * memory. Its arguments are "collectives", or the backend of functions, the division of a model and the backend of its
 * step. Started by mpirun; prints a line at its end. Invariant: expected values are computed from the ranks' numbers,
 * or in host memory, and results stay on the device.
 */
import { assert, assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import {
  compile,
  counters,
  distributed as dist,
  init,
  manualSeed,
  nn,
  optim,
  randn,
  type Tensor,
  tensor,
  zeros,
} from "../../mod.ts";

const [how = "", division, form] = Deno.args, device = "webgpu";
await init({ device });
dist.initProcessGroup();
const rank = dist.getRank(), other = 1 - rank, { functional: F } = dist;
const on = (values: number[] | number[][]) => tensor(values, { dtype: "float32", device });
const room = (...shape: number[]) => zeros(shape, { device });
const rooms = () => [room(2), room(2)];
async function same(found: Tensor | undefined, ...expected: readonly number[]): Promise<void> {
  assert(found);
  assertEquals([found.device, ...(await found.data()).values().map(Number)], [device, ...expected]);
}

async function close(found: Tensor, expected: Tensor, what: string): Promise<void> {
  const [a, b] = [[...await found.flatten().data()], [...await expected.flatten().data()]];
  assertEquals([found.device, a.length], [device, b.length], what);
  for (const [k, each] of a.entries()) assertAlmostEquals(Number(each), Number(b[k]), 1e-4, what);
}

/** Every collective and message, op by op. */
async function collectives(): Promise<void> {
  for (const dtype of ["float16", "bfloat16", "int64", "int16", "uint8", "bool"] as const) {
    const most = tensor([rank, 0], { dtype }).to({ device });
    dist.allReduce(most, { op: "max" });
    await same(most, 1, 0);
  }
  const x = on([rank, 3]), { version } = x;
  dist.allReduce(x);
  await same(x, 1, 6);
  assertEquals(x.version, version + 1);
  const late = on([rank + 1]), work = dist.allReduce(late, { op: "max", asyncOp: true });
  await work.getFuture();
  await same(late, 2);
  dist.broadcast(x.fill_(rank), 1);
  await same(x, 1, 1);
  const one = on([rank + 1, 0.5]);
  dist.reduce(one, 1, { op: "avg" });
  await same(one, rank === 1 ? 1.5 : 1, 0.5);
  const gathered = rooms();
  dist.allGather(gathered, on([rank, 7]));
  await same(gathered[0], 0, 7);
  await same(gathered[1], 1, 7);
  const whole = room(2, 2);
  // A view that is not dense
  dist.allGatherIntoTensor(whole.t(), on([rank, 7]));
  await same(whole.contiguous(), 0, 1, 7, 7);
  const shares = room(2);
  dist.reduceScatter(shares, [on([rank, 1]), on([5, rank])]);
  await same(shares, ...rank === 0 ? [1, 2] : [10, 1]);
  dist.reduceScatterTensor(shares, on([[rank, 1], [5, rank]]), { op: "max" });
  await same(shares, ...rank === 0 ? [1, 1] : [5, 1]);
  const exchanged = rooms();
  dist.allToAll(exchanged, [on([rank, 0]), on([rank, 1])]);
  await same(exchanged[0], 0, rank);
  await same(exchanged[1], 1, rank);
  dist.allToAllSingle(shares, on([10 * rank, 10 * rank + 1]));
  await same(shares, rank, 10 + rank);
  dist.scatter(shares, rank === 0 ? [on([1, 2]), on([3, 4])] : null);
  await same(shares, ...rank === 0 ? [1, 2] : [3, 4]);
  const lists = rank === 1 ? rooms() : null;
  dist.gather(on([rank, rank]), lists, { dst: 1 });
  if (lists) {
    await same(lists[0], 0, 0);
    await same(lists[1], 1, 1);
  }
  const sent = dist.isend(on([rank, 9]), other), arrived = room(2);
  assertEquals(dist.recv(arrived, other), other);
  sent.wait();
  await same(arrived, other, 9);

  // If ranks differ nothing is written
  const kept = on([1, 2, 3].slice(rank));
  assertThrows(() => dist.allReduce(kept), dist.DistributedError, "of float32 [3]; rank 1:");
  await same(kept, ...[1, 2, 3].slice(rank));
}

/** Functions and steps of training, `how` and by `division` in `form`. */
async function computations(): Promise<void> {
  // As functions, forward and backward
  const chain = (x: Tensor): Tensor => {
    const all = F.allGather(F.allReduce(x.sin(), { op: "avg" })).add(F.broadcast(x, 1).cos().sum());
    return F.allToAll(F.reduceScatter(all).mul(all.narrow(0, rank, 2))).square().mean();
  };
  const recorded = how === "recorded" ? { mode: "reduce-overhead" } as const : {};
  const chained = how === "plainly" ? chain : compile(chain, { fullgraph: true, ...recorded });
  const values = tensor([[0.5, 1], [-1, 0.25]][rank] ?? [], { requiresGrad: true });
  const leaf = values.detach().to({ device }).requiresGrad_(),
    [loss, expectedLoss] = [chained(leaf), chain(values)];
  for (const each of [loss, expectedLoss]) each.backward();
  await close(loss.detach(), expectedLoss.detach(), how);
  assert(leaf.grad && values.grad);
  await close(leaf.grad, values.grad, how);

  // Steps of both ranks, as one process makes them with the data of both
  manualSeed(4);
  const net = () => new nn.Sequential(new nn.Linear(3, 4), new nn.Tanh(), new nn.Linear(4, 2));
  const alone = net(), model = net(), batches = [randn([2, 3, 3]), randn([2, 3, 2])];
  model.loadStateDict(alone.stateDict());
  model.to(device);
  if (division === "sharded") dist.fullyShard(model);
  const stepOf = (trained: nn.Sequential | dist.DistributedDataParallel<nn.Sequential>) => {
    const optimizer = new optim.Adam(trained.parameters(), { lr: 0.1 });
    return (x: Tensor, y: Tensor): Tensor => {
      optimizer.zeroGrad();
      const loss = nn.functional.mseLoss(trained.call(x), y);
      loss.backward();
      optimizer.step();
      return loss.detach();
    };
  };
  const theirs = stepOf(alone),
    ours = stepOf(division === "sharded" ? model : new dist.DistributedDataParallel(model));
  const run = form === "graph" ? compile(ours, { fullgraph: true }) : ours;
  const [all, allTargets] = batches.map((each) => each.flatten(0, 1)),
    [a, b] = batches.map((each) => each.select(0, rank).to({ device }));
  assert(all && allTargets && a && b);
  for (let k = 0; k < 2; k++) {
    theirs(all, allTargets);
    run(a, b);
  }
  const expected = alone.stateDict();
  for (
    const [key, value] of Object.entries(
      division === "sharded" ? dist.fullStateDict(model) : model.stateDict(),
    )
  ) {
    await close(value, expected[key] ?? value.add(1), `${key}, ${division}, ${form}`);
  }
}

await (how === "collectives" ? collectives() : computations());
assertEquals([counters.entries("graph_break"), counters.entries("fallback")], [[], []]);
console.log(`rank ${rank} is done`);
