/**
 * Several processes on one machine, started by mpirun. They run the programs in tests/distributed.
 */
import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { fileURLToPath } from "node:url";
import { beginningEarly } from "../lib/aot/shared_calls.ts";
import * as orders from "../lib/distributed/pipelining/orders.ts";
import {
  compile,
  distributed,
  type GraphBackend,
  loadSharded,
  manualSeed,
  nn,
  ones,
  optim,
  randn,
  saveSharded,
  type Tensor,
  tensor,
  zeros,
} from "../mod.ts";
import { blocks } from "./distributed/blocks.ts";
import { testInTurn } from "./support/costly_tests.ts";
import { type Outcome, runProgram, withFolder } from "./support/process.ts";
import { sampleBySeed } from "./support/sampling.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";

const MPI = { ignore: !distributed.isAvailable() };

/** Programs whose ranks make C++; graphs and eager ops of the others are WebAssembly. */
const NATIVE: ReadonlySet<string> = new Set(["functional.ts", "compiling.ts"]);

/** Runs a program of tests/distributed on so many ranks, by Open MPI or MPICH. */
function mpirun(ranks: number, program: string, ...args: readonly string[]): Promise<Outcome> {
  const path = fileURLToPath(new URL(`distributed/${program}`, import.meta.url));
  // A folder for the sockets of this run: those of killed runs stay, and their names come again
  return withFolder((folder) =>
    runProgram("mpirun", [
      ...["-n", `${ranks}`],
      ...[Deno.execPath(), "run", "-A", "--no-check", path],
      ...args,
    ], {
      env: {
        TMPDIR: folder,
        DYN_NUM_THREADS: "1",
        OMPI_MCA_rmaps_base_oversubscribe: "1",
        ...NATIVE.has(program) ? {} : { DYN_TIER: "wasm" },
        OMPI_ALLOW_RUN_AS_ROOT: "1",
        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: "1",
        OMPI_MCA_hwloc_base_binding_policy: "none",
      },
    })
  );
}

/** The backend of tests that do not depend on it. */
const [backend = ""] = sampleBySeed(["aot_eager", "inductor"], 1);

/** Tests of whole programs, each of which takes several processes some seconds: a run takes one. */
const programs: Deno.TestDefinition[] = [];
const program = (name: string, fn: () => Promise<void>): void => void programs.push({ ...MPI, name, fn });

for (const ranks of sampleBySeed([2, 3, 4, 8], 1)) {
  testInTurn("collectives on ranks", {
    ...MPI,
    name: `all collectives and messages, on ${ranks} ranks`,
    fn: async () => {
      const { code, stdout, stderr } = await mpirun(ranks, "collectives.ts");
      const expected = Array.from({ length: ranks }, (_, rank) => `rank ${rank} of ${ranks} is done`);
      assertEquals([stdout.trim().split("\n").sort(), code], [expected, 0], stderr);
    },
  });
}

program("collectives as functions, plainly and in graphs on every tier, on two ranks", async () => {
  const { code, stdout, stderr } = await mpirun(2, "functional.ts");
  assertEquals([stdout.trim().split("\n").sort(), code], [["rank 0 is done", "rank 1 is done"], 0], stderr);
});

program(
  "sharded models train as whole ones, and their checkpoints serve other numbers of ranks",
  async () => {
    const folder = await Deno.makeTempDir({ prefix: "dyn-shards-" }), at = `${folder}/checkpoint`;
    try {
      manualSeed(8);
      const net = blocks(), optimizer = new optim.AdamW(net.parameters(), { lr: 0.02 });
      const step = (x: Tensor, y: Tensor) => {
        optimizer.zeroGrad();
        nn.functional.mseLoss(net.call(x), y).backward();
        optimizer.step();
      };
      step(randn([4, 5]), randn([4, 3]));
      await alone(() => saveSharded({ model: net, optimizer }, at));
      const { code, stdout, stderr } = await mpirun(2, "sharded.ts", at, backend);
      assertEquals(
        [stdout.trim().split("\n").sort(), code],
        [[0, 1].map((r) => `rank ${r} is done`), 0],
        stderr,
      );
      manualSeed(9);
      step(randn([4, 5]), randn([4, 3]));
      const read = blocks(), other = new optim.AdamW(read.parameters());
      await alone(() => loadSharded({ model: read, optimizer: other }, at));
      const expected = net.stateDict();
      for (const [key, value] of Object.entries(read.stateDict())) {
        assertEquals(value.allclose(expected[key] ?? value.add(1), { atol: 1e-6 }), true, key);
      }
      const kept = other.stateDict().state[0], was = optimizer.stateDict().state[0];
      assertEquals(kept?.step?.item(), 2);
      assertEquals(kept?.exp_avg?.allclose(was?.exp_avg ?? kept.exp_avg.add(1), { atol: 1e-6 }), true);
      assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name), ["checkpoint"]);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);

Deno.test("collectives begin as early and are awaited as late as their graph allows", async () => {
  const { functional: F } = distributed, orders: string[] = [];
  const ordered = (program: (x: Tensor) => Tensor) => {
    const backend: GraphBackend = (gm) => {
      orders.push(
        beginningEarly(gm).filter(({ target }) => target !== "getitem").map((n) => n.target).join(" "),
      );
      return (...inputs) => gm.forward(...inputs);
    };
    compile(program, { backend, fullgraph: true })(ones([2]));
  };
  await alone(() => {
    ordered((x) => {
      const aside = x.tanh(), a = F.allReduce(x.sin()).mul(2), b = F.allReduce(x.cos());
      return a.add(b).add(aside);
    });
    ordered((x) => F.allReduce(F.allReduce(x).exp()).sub(x.tanh()));
    // Nothing moves past a write
    ordered((x) => {
      const y = x.clone(), a = F.allReduce(y).neg();
      y.add_(1);
      return a.add(y.cos());
    });
  });
  const all = "distributed_all_reduce";
  assertEquals(orders, [
    `sin ${all} cos ${all} tanh mul add add`,
    `${all} tanh exp ${all} sub`,
    `clone ${all} neg add_ cos add`,
  ]);
});

program(
  "stages of a pipeline, and attention divided by heads, train as one process does, on four ranks",
  async () => {
    const { code, stdout, stderr } = await mpirun(4, "stages.ts", backend);
    const expected = [0, 1, 2, 3].map((rank) => `rank ${rank} is done`);
    assertEquals([stdout.trim().split("\n").sort(), code], [expected, 0], stderr);
  },
);

Deno.test("a pipeline stage whose neighbour does not come reports what it waits for", MPI, async () => {
  const { stdout } = await withFolder((folder) => mpirun(2, "faults.ts", "stage", folder));
  assertStringIncludes(
    stdout,
    "rank 0: Stage 0 of 2, the backward pass of micro-batch 0: Expected a message of float32 [1, 2] to end within " +
      "0.4 s but found rank 0: a message of float32 [1, 2]; rank 1: in no call of this group, or gone",
  );
});

Deno.test("a process whose MPI is not its launcher's reports that", MPI, async () => {
  const path = fileURLToPath(new URL("distributed/faults.ts", import.meta.url));
  const { stderr } = await runProgram(Deno.execPath(), ["run", "-A", "--no-check", path], {
    env: { PMI_SIZE: "2" },
  });
  assertStringIncludes(
    stderr,
    "DistributedError: Expected 2 processes, as the launcher has started, but found 1",
  );
});

Deno.test("pipeline stages run passes in orders that keep few micro-batches", () => {
  const { gpipe, maxSavedBatches, oneForwardOneBackward } = orders;
  const written = (order: orders.Order, stageIndex: number, n: number) =>
    order({ stageIndex, numStages: 3 }, n).map(({ kind, index }) =>
      `${kind === "forward" ? "F" : "B"}${index}`
    ).join(" ");
  assertEquals(written(gpipe, 0, 2), "F0 F1 B0 B1");
  assertEquals(
    [0, 1, 2].map((stage) => written(oneForwardOneBackward, stage, 4)),
    ["F0 F1 F2 B0 F3 B1 B2 B3", "F0 F1 B0 F2 B1 F3 B2 B3", "F0 B0 F1 B1 F2 B2 F3 B3"],
  );
  assertEquals(written(oneForwardOneBackward, 0, 2), "F0 F1 B0 B1");
  const kept = (order: orders.Order) =>
    [0, 1, 2].map((stageIndex) => maxSavedBatches(order({ stageIndex, numStages: 3 }, 8)));
  assertEquals([kept(gpipe), kept(oneForwardOneBackward)], [[8, 8, 8], [3, 2, 1]]);
});

program("ranks compile each library once, or each for itself where they share no folder", async () => {
  await withFolder(async (folder) => {
    const compiler = `${folder}/compiler`, log = `${folder}/log`;
    await Deno.writeTextFile(
      compiler,
      `#!/bin/sh\nfor word; do case $word in *.cpp) echo "\${word##*/}" >>'${log}';; esac; done\n` +
        `case "$*" in */bad.*) while [ ! -e '${folder}/waits' ]; do sleep 0.02; done;; esac\nexec c++ "$@"\n`,
    );
    await Deno.chmod(compiler, 0o755);
    const { code, stdout, stderr } = await mpirun(3, "compiling.ts", folder);
    const expected = [0, 1, 2].map((rank) => `rank ${rank} is done`);
    assertEquals([stdout.trim().split("\n").sort(), code], [expected, 0], stderr);
    const compiled = (await Deno.readTextFile(log)).split("\n");
    for (const name of ["mpi", "one", "two", "bad"]) {
      assertEquals(compiled.filter((each) => each.startsWith(`${name}.`)).length, 2, name);
    }
  });
});

program(
  "training goes on from the last whole checkpoint after a killed rank and a full disk",
  async () => {
    await withFolder(async (folder) => {
      const killed = await mpirun(2, "resumed.ts", `${folder}/checkpoint`, "killed");
      assertNotEquals(killed.code, 0);
      // MPICH kills the others, too, and says so itself
      const ended =
        /Rank 0 is ended from outside, in allReduce\("max"\) of uint8 \[2\]; another|Killed \(signal 9\)/;
      assertMatch(killed.stderr + killed.stdout, ended);
      assert(!killed.stdout.includes("is done"), killed.stdout);
      const { code, stdout, stderr } = await mpirun(2, "resumed.ts", `${folder}/checkpoint`, "resumed");
      assertEquals(
        [stdout.trim().split("\n").sort(), code],
        [["rank 0 is done", "rank 1 is done"], 0],
        stderr,
      );
      assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name), ["checkpoint"]);
    });
  },
);

testInTurn("programs on ranks", ...sampleBySeed(programs, 1));

Deno.test("a rank that waits too long reports where all ranks are", MPI, async () => {
  const { stdout, stderr } = await withFolder((folder) => mpirun(2, "faults.ts", "absent", folder));
  assertStringIncludes(
    stdout,
    `rank 0: Expected allReduce("sum") of int64 [1] to end within 0.4 s but found ` +
      `rank 0: allReduce("sum") of int64 [1]; rank 1: in no call of this group, or gone`,
    stderr,
  );
  assertStringIncludes(stdout, "rank 0: Expected a usable group but found one in which");
});

Deno.test("a rank whose program has ended ends the calls of the others", MPI, async () => {
  const { stdout, stderr } = await mpirun(2, "faults.ts", "over");
  assertEquals(
    stdout,
    `rank 0: Expected the same call on all ranks but found rank 0: allReduce("sum") of int64 [1]; ` +
      "rank 1: destroyProcessGroup(), or the end of the program\n",
    stderr,
  );
});

/** Runs `body` as a group of one. */
async function alone(body: () => Promise<void> | void): Promise<void> {
  const { warn } = console;
  console.warn = () => {};
  try {
    distributed.initProcessGroup();
  } finally {
    console.warn = warn;
  }
  try {
    await body();
  } finally {
    distributed.destroyProcessGroup();
  }
}

Deno.test("a process that was started alone is a group of one", async () => {
  await alone(() => {
    assertEquals([distributed.getRank(), distributed.getWorldSize()], [0, 1]);
    const [x, y] = [tensor([[1, 2], [3, 4]]), zeros([2, 2], { dtype: "int64" })];
    distributed.allReduce(x.t(), { op: "max" });
    distributed.allGather([y], x.t());
    assertEquals([x.tolist(), y.tolist()], [[[1, 2], [3, 4]], [[1, 3], [2, 4]]]);
    assertThrows(
      () => distributed.send(x, 1),
      Error,
      "Expected a rank of the group to be one of 0 but found 1",
    );
  });
  assertEquals(distributed.isInitialized(), false);
  assertThrows(() => distributed.getRank(), Error, "call distributed.initProcessGroup() first");
});

const ON_WEBGPU = [
  "collectives",
  "compiled copies graph",
  "plainly copies plainly",
  "recorded sharded graph",
  "compiled sharded plainly",
];

for (const words of sampleBySeed(ON_WEBGPU, 1)) {
  testInTurn("ranks on WebGPU", {
    name: `webgpu: tensors of two ranks: ${words}`,
    ignore: SKIP_WEBGPU || MPI.ignore,
    fn: async () => {
      const { code, stdout, stderr } = await mpirun(2, "webgpu.ts", ...words.split(" "));
      const expected = ["rank 0 is done", "rank 1 is done"];
      assertEquals([stdout.trim().split("\n").sort(), code], [expected, 0], stderr);
    },
  });
}
