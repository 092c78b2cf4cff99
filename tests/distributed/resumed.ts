/**
 * One of two ranks that train a sharded model and write a checkpoint after each step. "killed": rank 1 is killed
 * while it writes the third one; "resumed": training continues from the folder, after a checkpoint for which one rank
 * has no room. Started by mpirun. Invariant: in the end parameters are those of training without a fault.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  distributed as dist,
  loadSharded,
  manualSeed,
  nn,
  optim,
  randn,
  saveSharded,
  type Tensor,
  zeros,
} from "../../mod.ts";

const [folder = "", fault] = Deno.args, STEPS = 4;

/** A model that knows how many steps it has seen. */
class Counting extends nn.Module {
  readonly layer = new nn.Linear(8, 8);
  declare readonly steps: Tensor;
  constructor() {
    super();
    this.registerBuffer("steps", zeros([1]));
  }
  override forward(x: Tensor): Tensor {
    return this.layer.call(x).tanh();
  }
}

manualSeed(1);
const batches = randn([STEPS, 4, 8]), plain = new Counting(), net = new Counting();
net.loadStateDict(plain.stateDict());
dist.initProcessGroup();
const rank = dist.getRank();
dist.fullyShard(net);
const optimizer = new optim.AdamW(net.parameters(), { lr: 0.1 });
const state = { model: net, optimizer };

function step(
  model: Counting,
  { zeroGrad, step }: { zeroGrad: () => void; step: () => void },
  k: number,
): void {
  zeroGrad();
  model.call(batches.select(0, k)).square().mean().backward();
  step();
  model.steps.add_(1);
}

/** Has writes of this process fail from so many bytes of a file on, as on a disk without room; null: no more. */
function limitFiles(bytes: bigint | null): void {
  const { symbols } = Deno.dlopen(Deno.build.os === "darwin" ? "libSystem.dylib" : "libc.so.6", {
    setrlimit: { parameters: ["i32", "buffer"], result: "i32" },
    signal: { parameters: ["i32", "usize"], result: "usize" },
  });
  const FILE_SIZE = 1, SIGXFSZ = 25, IGNORED = 1n, most = 2n ** 64n - 1n;
  symbols.signal(SIGXFSZ, IGNORED);
  assertEquals(symbols.setrlimit(FILE_SIZE, BigUint64Array.of(bytes ?? most, most)), 0);
}

if (fault === "resumed") {
  loadSharded(state, folder);
  assertEquals(net.steps.item(), 2);
  if (rank === 1) limitFiles(64n);
  const error = assertThrows(() => saveSharded(state, folder), Error);
  if (rank === 1) limitFiles(null);
  const expected = rank === 1
    ? "File too large"
    : "Expected a checkpoint of all ranks but found a failure on rank 1";
  assert(error.message.includes(expected), error.message);
  loadSharded(state, folder);
  assertThrows(() => Deno.statSync(`${folder}.part`), Deno.errors.NotFound);
}
const train = { zeroGrad: () => optimizer.zeroGrad(), step: () => void optimizer.step() };
for (let k = net.steps.item(); k < STEPS; k++) {
  step(net, train, k);
  if (fault === "killed" && k === 2 && rank === 1) {
    Object.defineProperty(net, "stateDict", { value: () => Deno.kill(Deno.pid, "SIGKILL") });
  }
  saveSharded(state, folder);
}
const whole = dist.fullStateDict(net), alone = new optim.AdamW(plain.parameters(), { lr: 0.1 });
for (let k = 0; k < STEPS; k++) {
  step(plain, { zeroGrad: () => alone.zeroGrad(), step: () => void alone.step() }, k);
}
for (const [key, value] of Object.entries(plain.stateDict())) {
  assert(whole[key]?.allclose(value, { atol: 1e-6 }), key);
}
console.log(`rank ${rank} is done`);
