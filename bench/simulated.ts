/**
 * Predictions of `dyn simulate` compared with measured steps: a small network on 1, 2 and 4 processes of this machine,
 * divided in each way, with a link model fitted to measured all-reduces of small and large tensors.
 *
 *   deno run -A cli.ts bench simulated
 *
 * Processes run operations one by one, uncompiled, with one thread each; more processes than cores share them, which
 * predictions count as slower computing.
 */
import { fileURLToPath } from "node:url";
import { fittedLink, type Link, type MeasuredReduce } from "../lib/debug/simulator/links.ts";
import { type Layout, predict, type Terms } from "../lib/debug/simulator/predictions.ts";
import { type Recorded, StepRecorder } from "../lib/debug/simulator/recorder.ts";
import { compile, distributed, nn, optim, randn, type Tensor, zeros } from "../mod.ts";
import { describeMachine } from "./support/measure.ts";
import "./support/native.ts";

const BATCH = 64, WIDTH = 512, LAYERS = 8, STEPS = 12, MICROBATCHES = 4;
const SIZES = [2, 2 ** 12, 2 ** 20, 2 ** 22];

/** Returns the given number of blocks of two matrices each. */
const blocks = (count: number): nn.Sequential =>
  new nn.Sequential(
    ...Array.from(
      { length: count },
      () => new nn.Sequential(new nn.Linear(WIDTH, WIDTH), new nn.ReLU(), new nn.Linear(WIDTH, WIDTH)),
    ),
  );
const lossFn = (output: Tensor, target: Tensor): Tensor => nn.functional.mseLoss(output, target);

/** Ways of dividing the step, as the tables of `dyn simulate` name them. */
const LAYOUTS: Readonly<Record<string, (ranks: number) => Layout>> = {
  data: (data) => ({ data, tensor: 1, stages: 1, sharded: false }),
  sharded: (data) => ({ data, tensor: 1, stages: 1, sharded: data > 1 }),
  tensor: (tensor) => ({ data: 1, tensor, stages: 1, sharded: false }),
  pipeline: (stages) => ({ data: 1, tensor: 1, stages, sharded: false }),
};

/** Steps of this rank in one of these layouts. */
function stepOf(way: string): () => void {
  const rank = distributed.getRank(), ranks = distributed.getWorldSize();
  const x = randn([BATCH, WIDTH]), target = randn([BATCH, WIDTH]);
  const net = blocks(way === "pipeline" ? LAYERS / ranks : LAYERS);
  let model: nn.Module & { call(x: Tensor): Tensor } = net;
  if (way === "data") model = new distributed.DistributedDataParallel(net);
  if (way === "sharded") {
    for (const block of net.children()) {
      for (const layer of [...block.children()].filter((l) => l instanceof nn.Linear)) {
        distributed.fullyShard(layer);
      }
    }
  }
  if (way === "tensor") distributed.parallelizeModule(net, { "*.0": "colwise", "*.2": "rowwise" });
  const optimizer = new optim.SGD(net.parameters(), { lr: 1e-3 });
  if (way === "pipeline" && ranks > 1) {
    const { PipelineStage, Schedule1F1B } = distributed.pipelining;
    const schedule = new Schedule1F1B(new PipelineStage(net, rank, ranks), MICROBATCHES, lossFn);
    const all = (t: Tensor) => t.repeat(MICROBATCHES, 1);
    const [batch, targets] = [all(x), all(target)];
    return () => {
      optimizer.zeroGrad();
      schedule.step(...rank === 0 ? [batch] : [], ...rank === ranks - 1 ? [{ target: targets }] : []);
      optimizer.step();
    };
  }
  return () => {
    optimizer.zeroGrad();
    lossFn(model.call(x), target).backward();
    optimizer.step();
  };
}

/** Minimum seconds of work that all ranks do together. */
function secondsOf(body: () => void): number {
  const times: number[] = [];
  for (let round = -2; round < STEPS; round++) {
    distributed.barrier();
    const start = performance.now();
    body();
    distributed.barrier();
    if (round >= 0) times.push((performance.now() - start) / 1000);
  }
  return Math.min(...times);
}

/** The measurements for one number of ranks. */
interface Measured {
  readonly reduces: readonly MeasuredReduce[];
  readonly steps: Readonly<Record<string, number>>;
}

function work(): void {
  distributed.initProcessGroup();
  const ranks = distributed.getWorldSize();
  const reduces = SIZES.map((elements) => {
    const x = zeros([elements]);
    return { ranks, bytes: 4 * elements, seconds: secondsOf(() => void distributed.allReduce(x)) };
  });
  const steps = Object.fromEntries(Object.keys(LAYOUTS).map((way) => [way, secondsOf(stepOf(way))]));
  if (distributed.getRank() === 0) console.log(JSON.stringify({ reduces, steps } satisfies Measured));
}

/** Runs this program on a number of ranks. */
async function measured(ranks: number): Promise<Measured> {
  const own = fileURLToPath(import.meta.url);
  const { code, stdout, stderr } = await new Deno.Command("mpirun", {
    args: ["-n", `${ranks}`, Deno.execPath(), "run", "-A", "--no-check", own, "work"],
    env: {
      DYN_NUM_THREADS: "1",
      OMPI_ALLOW_RUN_AS_ROOT: "1",
      OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: "1",
      OMPI_MCA_rmaps_base_oversubscribe: "1",
      OMPI_MCA_hwloc_base_binding_policy: "none",
    },
  }).output();
  const errors = new TextDecoder().decode(stderr);
  if (code !== 0) throw new Error(`Expected ${ranks} ranks to end well but found code ${code}: ${errors}`);
  return JSON.parse(new TextDecoder().decode(stdout));
}

/** The graph of the step on one rank. */
function recorded(): Recorded {
  const recorder = new StepRecorder(),
    net = blocks(LAYERS),
    optimizer = new optim.SGD(net.parameters(), { lr: 1e-3 });
  const step = compile((x: Tensor, target: Tensor) => {
    optimizer.zeroGrad();
    const loss = lossFn(net.call(x), target);
    loss.backward();
    optimizer.step();
    return loss.detach();
  });
  for (let k = 0; k < 4; k++) step(randn([BATCH, WIDTH]), randn([BATCH, WIDTH]));
  return recorder.finish();
}

async function compare(): Promise<void> {
  const { workload, seconds } = recorded(), counts = [1, 2, 4];
  const found: Measured[] = [];
  for (const ranks of counts) found.push(await measured(ranks));
  const link: Link = fittedLink(found.slice(1).flatMap(({ reduces }) => reduces));
  const cores = navigator.hardwareConcurrency, alone = Math.min(...Object.values(found[0]?.steps ?? {}));
  console.log(describeMachine());
  console.log(
    `${(link.latency * 1e6).toFixed(1)} µs and ${
      (link.bandwidth / 1e9).toFixed(2)
    } GB/s between processes; a step ` +
      `of one takes ${(alone * 1e3).toFixed(1)} ms uncompiled, ${(seconds * 1e3).toFixed(1)} ms compiled`,
  );
  const rows = counts.flatMap((ranks, k) =>
    Object.entries(LAYOUTS).map(([way, layoutOf]) => {
      const terms: Terms = {
        cluster: { ranksPerNode: 64, within: link, between: link, topology: "ring" },
        microbatches: MICROBATCHES,
        overlaps: false,
        schedule: "1f1b",
        speed: seconds / alone / Math.max(1, ranks / cores),
      };
      const predicted = predict(workload, layoutOf(ranks), terms)?.seconds ?? NaN;
      const took = found[k]?.steps[way] ?? NaN;
      return {
        ranks,
        way,
        "predicted ms": (predicted * 1e3).toFixed(1),
        "measured ms": (took * 1e3).toFixed(1),
        "predicted / measured": (predicted / took).toFixed(2),
      };
    })
  );
  console.table(rows);
}

if (Deno.args[0] === "work") work();
else await compare();
