/**
 * Collectives between two processes of this machine: milliseconds of an all-reduce of 64 MiB, and microseconds of one of 8
 * bytes, beside the same calls of the MPI library by a program in C.
 *
 *   deno run -A cli.ts bench distributed
 */
import { fileURLToPath } from "node:url";
import { distributed, zeros } from "../mod.ts";
import { describeMachine } from "./support/measure.ts";

/** Elements of a call, and how often it is timed. */
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

/** Prints the median of each size, on the first rank. */
function work(): void {
  distributed.initProcessGroup();
  for (const { elements, rounds } of SIZES) {
    const x = zeros([elements]), times: number[] = [];
    for (let round = -3; round < rounds; round++) {
      distributed.barrier();
      const start = performance.now();
      distributed.allReduce(x);
      if (round >= 0) times.push(performance.now() - start);
    }
    times.sort((a, b) => a - b);
    if (distributed.getRank() === 0) console.log(times[rounds >> 1]?.toFixed(6));
  }
}

/** Runs a program; gives the numbers that it prints, one a line. */
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

async function compare(): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "dyn-bench-" });
  try {
    await Deno.writeTextFile(`${folder}/loop.c`, C);
    const compiler = Deno.env.get("MPICC") || "mpicc";
    await numbersOf(compiler, ["-O2", "-o", `${folder}/loop`, `${folder}/loop.c`]);
    const sizes = SIZES.flatMap(({ elements, rounds }) => [`${elements}`, `${rounds}`]);
    const theirs = await numbersOf("mpirun", ["-n", "2", `${folder}/loop`, ...sizes]);
    const own = fileURLToPath(import.meta.url);
    const ours = await numbersOf("mpirun", [
      "-n",
      "2",
      Deno.execPath(),
      "run",
      "-A",
      "--no-check",
      own,
      "work",
    ]);
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
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

if (Deno.args[0] === "work") work();
else await compare();
