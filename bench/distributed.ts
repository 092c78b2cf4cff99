/**
 * Two processes on this machine: milliseconds of an all-reduce of 64 MiB, and microseconds of one of 8 bytes, compared
 * with the same MPI calls in C (targets: 0.9 of its speed, and 5 µs more); a data-parallel training step of a ConvNet,
 * compiled as a whole, compared with one process doing the same work (target: 1.15 of its time). Two processes with
 * such steps that share nothing show how much of that is due to the machine. Also the bytes of the step's collectives,
 * their durations, and the time the program waits for them.
 *
 *   deno run -A cli.ts bench distributed
 */
import process from "node:process";
import { fileURLToPath } from "node:url";
import { ConvNet } from "../examples/mnist/model.ts";
import { compile, distributed, nn, optim, profile, randint, randn, type Tensor, zeros } from "../mod.ts";
import { describeMachine, medianOf } from "./support/measure.ts";
import "./support/native.ts";

/** Number of elements of a call, and of timed rounds. */
const SIZES = [{ name: "64 MiB", elements: 2 ** 24, rounds: 20 }, {
  name: "8 bytes",
  elements: 2,
  rounds: 2000,
}];

const C = String.raw`
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static int compare(const void* a, const void* b) { return (*(double*)a > *(double*)b) - (*(double*)a < *(double*)b); }
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int k = 1; k + 1 < argc; k += 2) {
    int n = atoi(argv[k]), rounds = atoi(argv[k + 1]);
    float* x = calloc(n, sizeof(float));
    double* times = calloc(rounds, sizeof(double));
    for (int round = -3; round < rounds; round++) {
      MPI_Barrier(MPI_COMM_WORLD);
      double start = MPI_Wtime();
      MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      if (round >= 0) times[round] = 1e3 * (MPI_Wtime() - start);
    }
    qsort(times, rounds, sizeof(double), compare);
    if (rank == 0) printf("%.6f\n", times[rounds / 2]);
    free(x);
    free(times);
  }
  MPI_Finalize();
  return 0;
}
`;

/** Median milliseconds of a call that all ranks make together. */
function timed(call: () => void, rounds: number): number {
  const times: number[] = [];
  for (let round = -3; round < rounds; round++) {
    distributed.barrier();
    const start = performance.now();
    call();
    if (round >= 0) times.push(performance.now() - start);
  }
  return medianOf(times);
}

/** Prints numbers on the first rank. */
function tell(...numbers: readonly number[]): void {
  if (distributed.getRank() === 0) console.log(numbers.map((each) => each.toFixed(6)).join("\n"));
}

/** The median of each size. */
function allReduces(): void {
  distributed.initProcessGroup();
  for (const { elements, rounds } of SIZES) {
    const x = zeros([elements]);
    tell(timed(() => void distributed.allReduce(x), rounds));
  }
}

/** Number of images per step on each process, and of timed steps. */
const BATCH = 64, STEPS = 100;

/**
 * Prints the medians of a step's wall and CPU time, including waiting; then for one step the number of collectives,
 * their bytes and durations, and the time waited.
 */
function step(isTogether: boolean): void {
  distributed.initProcessGroup();
  const net = new ConvNet(), model = isTogether ? new distributed.DistributedDataParallel(net) : net;
  const optimizer = new optim.Adam(model.parameters(), { lr: 1e-3 });
  const images = randn([BATCH, 1, 28, 28]), labels = randint(0, 10, [BATCH]);
  const train = compile((x: Tensor, y: Tensor) => {
    optimizer.zeroGrad();
    const loss = nn.functional.crossEntropy(model.call(x), y);
    loss.backward();
    optimizer.step();
    return loss.detach();
  }, { fullgraph: true });
  const used: number[] = [];
  const median = timed(() => {
    const before = process.cpuUsage();
    train(images, labels);
    const { user, system } = process.cpuUsage(before);
    used.push((user + system) / 1000);
  }, STEPS);
  tell(median, medianOf(used.slice(-STEPS)));
  const events = profile(() => void train(images, labels)).events();
  const collectives = events.filter(({ kind }) => kind === "collective");
  const sum = (values: readonly number[]) => values.reduce((all, each) => all + each, 0);
  tell(
    collectives.length,
    sum(collectives.map(({ bytes }) => bytes ?? 0)),
    sum(collectives.map(({ duration }) => duration / 1000)),
    sum(events.filter(({ kind }) => kind === "wait").map(({ duration }) => duration / 1000)),
  );
}

/** Runs a program and returns the numbers that it prints, one per line. */
async function numbersOf(program: string, args: readonly string[]): Promise<number[]> {
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
    env: {
      DYN_NUM_THREADS: "1",
      OMPI_ALLOW_RUN_AS_ROOT: "1",
      OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: "1",
      OMPI_MCA_rmaps_base_oversubscribe: "1",
    },
  }).output();
  if (code !== 0) throw new Error(`${program} ended with code ${code}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout).trim().split("\n").map(Number);
}

/** The numbers that a number of processes print in a part of this file. */
function ranks(count: number, part: string): Promise<number[]> {
  const words = ["run", "-A", "--no-check", fileURLToPath(import.meta.url), part];
  return numbersOf("mpirun", ["-n", `${count}`, Deno.execPath(), ...words]);
}

async function compare(): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "dyn-bench-" });
  try {
    await Deno.writeTextFile(`${folder}/loop.c`, C);
    const compiler = Deno.env.get("MPICC") || "mpicc";
    await numbersOf(compiler, ["-O2", "-o", `${folder}/loop`, `${folder}/loop.c`]);
    const sizes = SIZES.flatMap(({ elements, rounds }) => [`${elements}`, `${rounds}`]);
    const theirs = await numbersOf("mpirun", ["-n", "2", `${folder}/loop`, ...sizes]);
    const ours = await ranks(2, "allReduces");
    const [alone = NaN, aloneCpu] = await ranks(1, "apart");
    const [apart = NaN, apartCpu] = await ranks(2, "apart");
    const [together = NaN, togetherCpu, count, bytes = NaN, took, waited] = await ranks(2, "together");
    console.log(describeMachine());
    console.table(Object.fromEntries(SIZES.map(({ name }, k) => {
      const a = ours[k] ?? NaN, b = theirs[k] ?? NaN;
      return [name, {
        "dyn ms": a.toFixed(4),
        "MPI in C ms": b.toFixed(4),
        "speed of C's": (b / a).toFixed(2),
        "more µs": (1e3 * (a - b)).toFixed(1),
      }];
    })));
    console.log(`A step of the ConvNet, ${BATCH} images for each process`);
    const row = (ms: number, cpu: number | undefined) => ({
      ms: ms.toFixed(3),
      "CPU ms": cpu?.toFixed(3),
      "of 1 process": (ms / alone).toFixed(3),
    });
    console.table({
      "1 process": row(alone, aloneCpu),
      "2 that share nothing": row(apart, apartCpu),
      "2 in step": row(together, togetherCpu),
    });
    console.table({
      "collectives of a step": {
        count,
        KiB: (bytes / 1024).toFixed(1),
        "from begin to end ms": took?.toFixed(3),
        "waited ms": waited?.toFixed(3),
      },
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

if (Deno.args[0] === "allReduces") allReduces();
else if (Deno.args[0] === "apart") step(false);
else if (Deno.args[0] === "together") step(true);
else await compare();
