/**
 * One of several ranks that train sharded models, with a checkpoint and the backend of compiled functions as
 * arguments. Started by mpirun; prints a line at its end. Invariant: results are compared with the same training by
 * one process on all of the data.
 */
import { assert, assertEquals, assertThrows, fail } from "@std/assert";
import {
  arange,
  compile,
  counters,
  distributed as dist,
  loadSharded,
  manualSeed,
  nn,
  optim,
  randn,
  saveSharded,
  type Tensor,
} from "../../mod.ts";
import { blocks, shardBlocks } from "./blocks.ts";

dist.initProcessGroup();
const rank = dist.getRank(), size = dist.getWorldSize();

const [folder = "", backend = ""] = Deno.args;
const near = (found: Tensor, expected: Tensor, what: string) =>
  assert(found.sub(expected).abs().max().item() < 1e-5, `${what}: ${found}, not ${expected}`);
const lossOf = (net: nn.Module & { forward(x: Tensor): Tensor }, x: Tensor, y: Tensor) =>
  nn.functional.mseLoss(net.call(x), y);

manualSeed(3);
const inputs = randn([4, 4 * size, 5]), targets = randn([4, 4 * size, 3]);
const own = (t: Tensor, step: number) => t.select(0, step).narrow(0, 4 * rank, 4);

for (const how of ["plainly", "kept", "compiled"]) {
  const one = blocks(), net = blocks();
  net.loadStateDict(one.stateDict());
  const options = { reshardAfterForward: how !== "kept" };
  shardBlocks(net, options);
  const held = net.parameters().reduce((sum, { shape }) => sum + (shape[0] ?? 0), 0);
  assert(
    held <= one.parameters().reduce((sum, each) => sum + each.numel(), 0) / size + 9,
    `${held} elements`,
  );
  const plain = new optim.AdamW(one.parameters(), { lr: 0.02 }),
    ours = new optim.AdamW(net.parameters(), { lr: 0.02 });
  const forward = (x: Tensor, y: Tensor) => lossOf(net, x, y);
  const run = how === "compiled" ? compile(forward, { backend, fullgraph: true }) : forward;
  for (let k = 0; k < 3; k++) {
    plain.zeroGrad();
    lossOf(one, inputs.select(0, k), targets.select(0, k)).backward();
    const norm = nn.utils.clipGradNorm_(one.parameters(), 0.3);
    plain.step();
    ours.zeroGrad();
    run(own(inputs, k), own(targets, k)).backward();
    near(nn.utils.clipGradNorm_(net.parameters(), 0.3), norm, `norm of gradients, ${how}`);
    ours.step();
  }
  const expected = one.stateDict();
  for (const [key, value] of Object.entries(dist.fullStateDict(net))) {
    near(value, expected[key] ?? value.add(1), `${key}, ${how}`);
  }
}
assertEquals(counters.entries("graph_break"), []);
assertThrows(() => dist.fullyShard(dist.fullyShard(new nn.Linear(2, 2))), Error, "but found none");

// Layers by a plan: results, losses and gradients of parts are those of the whole model
class Words extends nn.Module {
  readonly table = new nn.Embedding(2 * size, 4);
  readonly wide = new nn.Embedding(5, 2 * size);
  readonly layers = new nn.Sequential(new nn.Linear(4, 3 * size), new nn.Tanh(), new nn.Linear(3 * size, 4));
  readonly last = new nn.Linear(2 * size, 4);
  override forward(x: Tensor): Tensor {
    const found = this.layers.call(this.table.call(x));
    return found.add(this.last.call(this.wide.call(x.remainder(5))));
  }
}
{
  const whole = new Words(), net = new Words();
  net.loadStateDict(whole.stateDict());
  dist.parallelizeModule(net, {
    table: "rowwise",
    "layers.0": "colwise",
    "layers.2": "rowwise",
    wide: "colwise",
    last: "rowwise",
  });
  const words = arange(2 * size), compiled = compile((x: Tensor) => net.call(x), { backend });
  const expected = whole.call(words);
  expected.square().sum().backward();
  for (const run of [(x: Tensor) => net.call(x), compiled]) {
    net.zeroGrad();
    const found = run(words);
    near(found, expected, "by a plan");
    found.square().sum().backward();
    const dims = [0, 1, 0, 0, 1, null, 1, null];
    whole.parameters().forEach(({ grad }, k) => {
      const part = net.parameters()[k]?.grad, dim = dims[k] ?? null;
      assert(grad && part, `parameter ${k}`);
      near(part, dim === null ? grad : grad.chunk(size, dim)[rank] ?? grad, `gradient ${k}`);
    });
  }
  if (folder) {
    assertThrows(() => saveSharded({ model: net }, folder), Error, "found table.weight divided by a plan");
  }
  assertThrows(() => dist.parallelizeModule(whole, { none: "colwise" }), Error, "at none but found none");
  if (size > 1) {
    assertThrows(
      () => dist.parallelizeModule(new nn.Sequential(new nn.Linear(5, 7)), { "*": "colwise" }),
      Error,
      "7",
    );
  }
}

// A checkpoint of one process continues here; the opposite direction is read by one process again
if (folder) {
  const net = shardBlocks(blocks()), optimizer = new optim.AdamW(net.parameters(), { lr: 1 });
  loadSharded({ model: net, optimizer }, folder);
  assertEquals(optimizer.paramGroups[0]?.lr, 0.02);
  manualSeed(9);
  nn.functional.mseLoss(net.call(randn([4, 5])), randn([4, 3])).backward();
  optimizer.step();
  saveSharded({ model: net, optimizer }, folder);
  assertThrows(() => loadSharded({ model: new nn.Linear(2, 2) }, folder), Error, "no model.weight");
  // If one rank fails all throw, and the folder is unchanged
  const isLast = rank === size - 1;
  if (isLast) Object.defineProperty(net, "stateDict", { value: () => fail("no room") });
  assertThrows(
    () => saveSharded({ model: net, optimizer }, folder),
    Error,
    isLast ? "no room" : `a failure on rank ${size - 1}`,
  );
}
console.log(`rank ${rank} is done`);
