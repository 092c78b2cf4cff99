/**
 * One of two ranks that call functional collectives, plainly and in compiled graphs. Started by mpirun; prints a line
 * at its end. Invariant: expected values and gradients are those of a single process with the tensors of both.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { startedCollectives } from "../../lib/base/pending_collectives.ts";
import {
  autograd,
  cat,
  compile,
  compiler,
  config,
  counters,
  distributed as dist,
  manualSeed,
  nn,
  noGrad,
  optim,
  randn,
  type Tensor,
  tensor,
  zeros,
} from "../../mod.ts";

dist.initProcessGroup();
const rank = dist.getRank(), { functional: F } = dist;
manualSeed(4);
/** Tensors that both ranks have, and weights of results. */
const both = [randn([4, 3]), randn([4, 3])] as const, weights = randn([2, 8, 6]);
const own = both[rank] ?? zeros([4, 3]);

/** Each function, and what the ranks' tensors become if one process has them all. */
const CASES: Readonly<
  Record<string, {
    readonly call: (x: Tensor) => Tensor;
    readonly plain: (a: Tensor, b: Tensor) => readonly [Tensor, Tensor];
  }>
> = {
  allReduce: { call: (x) => F.allReduce(x), plain: (a, b) => [a.add(b), a.add(b)] },
  mean: {
    call: (x) => F.allReduce(x, { op: "avg" }),
    plain: (a, b) => [a.add(b).div(2), a.add(b).div(2)],
  },
  allGather: { call: (x) => F.allGather(x), plain: (a, b) => [cat([a, b]), cat([a, b])] },
  columns: {
    call: (x) => F.allGather(x, { dim: 1 }),
    plain: (a, b) => [cat([a, b], 1), cat([a, b], 1)],
  },
  reduceScatter: { call: (x) => F.reduceScatter(x), plain: (a, b) => halves(a.add(b), 0) },
  meanScatter: {
    call: (x) => F.reduceScatter(x, { op: "avg" }),
    plain: (a, b) => halves(a.add(b).div(2), 0),
  },
  scatterColumns: {
    call: (x) => F.reduceScatter(F.allGather(x, { dim: 1 }), { dim: 1 }),
    plain: (a, b) => [a.mul(2), b.mul(2)],
  },
  broadcast: { call: (x) => F.broadcast(x, 1), plain: (_a, b) => [b, b] },
  allToAll: {
    call: (x) => F.allToAll(x),
    plain: (a, b) => {
      const [first, second] = [halves(a, 0), halves(b, 0)];
      return [cat([first[0], second[0]]), cat([first[1], second[1]])];
    },
  },
};

function halves(x: Tensor, dim: number): readonly [Tensor, Tensor] {
  const half = x.size(dim) / 2;
  return [x.narrow(dim, 0, half), x.narrow(dim, half, half)];
}

/** A program around a function: what comes before and behind it, and what does not depend on it. */
const around = (call: (x: Tensor) => Tensor) => (x: Tensor): Tensor => {
  const found = call(x.sin()), aside = x.exp().sum();
  const weight = weights.select(0, rank).flatten().narrow(0, 0, found.numel()).view(found.shape);
  return found.mul(found).mul(weight).sum().add(aside);
};

const near = (found: Tensor, expected: Tensor, what: string) =>
  assert(found.sub(expected).abs().max().item() < 1e-5, `${what}: ${found}, not ${expected}`);

for (const [name, { call, plain }] of Object.entries(CASES)) {
  const inputs = both.map((each) => each.clone().requiresGrad_()), [a, b] = inputs;
  assert(a && b);
  const losses = plain(a.sin(), b.sin()).map((found, r) => {
    const weight = weights.select(0, r).flatten().narrow(0, 0, found.numel()).view(found.shape);
    return found.mul(found).mul(weight).sum().add((r === 0 ? a : b).exp().sum());
  });
  const [gradA, gradB] = autograd.grad(losses, inputs), [lossA, lossB] = losses;
  assert(gradA && gradB && lossA && lossB);
  const [gradient, loss] = rank === 0 ? [gradA, lossA] : [gradB, lossB];
  const program = around(call);
  const runs = {
    plainly: program,
    eager: compile(program, { backend: "aot_eager", fullgraph: true }),
    ...name === "allReduce" || name === "allGather"
      ? { inductor: compile(program, { fullgraph: true }) }
      : {},
  };
  for (const [how, run] of Object.entries(runs)) {
    const x = own.clone().requiresGrad_(), found = run(x);
    found.backward();
    assert(x.grad);
    near(found, loss, `${name}, ${how}`);
    near(x.grad, gradient, `gradient of ${name}, ${how}`);
  }
  // The backward pass in the same graph
  const x = own.clone().requiresGrad_();
  const step = (): Tensor => {
    const found = program(x);
    found.backward();
    return found.detach();
  };
  near(compile(step, { backend: "aot_eager", fullgraph: true })(), loss, `${name}, whole`);
  near(x.grad ?? zeros([]), gradient, `gradient of ${name}, whole`);
}
assertThrows(() => F.reduceScatter(zeros([3])), Error, "a multiple of 2 along dimension 0 but found [3]");
const leaf = own.clone().requiresGrad_();
assertThrows(() => F.allReduce(leaf, { op: "max" }).sum().backward(), Error, 'found "max", which has none');

// A step whose gradients are averaged in the graph that updates, on every tier, as one process has it with all of the data
for (const backend of ["aot_eager", "inductor", "wasm"]) {
  const targets = [randn([4, 2]), randn([4, 2])];
  const net = () => new nn.Sequential(new nn.Linear(3, 5), new nn.Tanh(), new nn.Linear(5, 2));
  const one = net(), two = net();
  two.loadStateDict(one.stateDict());
  const plain = new optim.SGD(one.parameters(), { lr: 0.1, momentum: 0.9 }),
    ours = new optim.SGD(two.parameters(), { lr: 0.1, momentum: 0.9 });
  const step = (x: Tensor, y: Tensor): Tensor => {
    ours.zeroGrad();
    const loss = nn.functional.mseLoss(two.call(x), y);
    loss.backward();
    for (const each of two.parameters()) {
      if (each.grad) each.grad = F.allReduce(each.grad, { op: "avg" });
    }
    ours.step();
    return F.allReduce(loss.detach(), { op: "avg" });
  };
  const isWasm = backend === "wasm", options = isWasm ? {} : { backend };
  const compiled = compile(step, { ...options, fullgraph: true }),
    former = counters.get("aot", "joined_calls");
  const run = (...args: Parameters<typeof step>): Tensor =>
    isWasm ? config.patch({ inductor: { tier: "wasm" } }, () => compiled(...args)) : compiled(...args);
  for (let k = 0; k < 3; k++) {
    plain.zeroGrad();
    const loss = both.map((x, r) => nn.functional.mseLoss(one.call(x), targets[r] ?? x)).reduce((p, q) =>
      p.add(q)
    ).div(2);
    loss.backward();
    plain.step();
    near(run(own, targets[rank] ?? own), loss.detach(), `loss, ${backend}`);
  }
  // Four gradients and the loss in one call
  assertEquals(counters.get("aot", "joined_calls") - former, 4);
  one.parameters().forEach((each, k) => near(two.parameters()[k] ?? each, each, `parameters, ${backend}`));
}
assertEquals([counters.entries("graph_break"), counters.entries("fallback")], [[], []]);

// Small calls of one kind that do not need each other are one, forward and backward, with the same bits
const others = dist.newGroup([0, 1]);
const several = (x: Tensor, m: Tensor): Tensor[] => {
  const sums = [F.allReduce(x.sin()), F.allReduce(x.narrow(0, 0, 2).t()), F.allReduce(x.sum())];
  const [a = x, b = x, c = x] = sums;
  // A tensor with other readers is sent as a copy
  const aside = x.cos(),
    behind = F.allReduce(a.mul(c)),
    most = F.allReduce(aside, { op: "max" }).sub(aside),
    big = F.allReduce(m);
  const apart = [F.allReduce(x.to("float64")), F.allReduce(x.exp(), { group: others })];
  const [gradient = x] = autograd.grad([a.mul(a).sum().add(b.mul(b).sum()).add(c)], [x]);
  return [...sums, behind, most, big, ...apart, gradient].map((each) => each?.detach() ?? x);
};
for (const backend of ["aot_eager", "inductor"]) {
  const x = own.clone().requiresGrad_(), m = x.detach().sum().expand([2 ** 18 - 8]).contiguous();
  const expected = several(x, m), before = startedCollectives();
  const found = compile(several, { backend, fullgraph: true })(x, m);
  // Three sums and, behind them, that of their results beside three gradients; the big one, one of another kind each
  assertEquals(startedCollectives() - before, 6, backend);
  assertEquals(found.map((each, k) => each.equal(expected[k] ?? x)), expected.map(() => true), backend);
}

// Ranks that differ hear of it once, from the call that differs, and the group continues
const differs = (run: () => unknown, ...texts: readonly string[]) => {
  const error = assertThrows(run, dist.DistributedError);
  for (const text of texts) assert(error.message.includes(text), error.message);
};
const sums = compile((x: Tensor) => F.allReduce(x.mul(2)).add(1), { backend: "aot_eager" });
differs(() => sums(zeros([2 + rank])), "rank 0: allReduce", "of float32 [2]; rank 1:", "of float32 [3]");
assertEquals(sums(tensor([1])).tolist(), [5]);

// With guard collectives before anything of a graph has run
assertEquals(compiler.setEnableGuardCollectives(true), false);
const written = zeros([2]);
const branches = compile((x: Tensor) => {
  written.add_(1);
  const sum = F.allReduce(x);
  return rank === 0 ? F.allReduce(sum, { op: "max" }) : F.allGather(sum);
}, { backend: "aot_eager" });
differs(() => branches(own), "graph with 2 collectives: distributed_all_reduce(sum) of float32 [4, 3]");
assertEquals(written.tolist(), [0, 0]);
assertEquals(sums(tensor([1])).tolist(), [5]);
assertEquals(compiler.setEnableGuardCollectives(false), true);

// Groups of some ranks, under noGrad
const pair = dist.newGroup([0, 1]);
const inGroup = compile((x: Tensor) => noGrad(() => F.allReduce(x, { group: pair })), { fullgraph: true });
assertEquals(inGroup(tensor([rank, 1])).tolist(), [1, 2]);
console.log(`rank ${rank} is done`);
