/**
 * Training on two processes of one machine, started by `dyn launch`, and other divisions of work among ranks, with
 * the programs in tests/distributed.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";
import { data, distributed } from "../mod.ts";
import { testInTurn } from "./support/costly_tests.ts";
import { type Outcome, runProgram } from "./support/process.ts";
import { sampleBySeed } from "./support/sampling.ts";

const MPI = { ignore: !distributed.isAvailable() };

/** Runs a program of tests/distributed by `dyn launch` on two ranks. */
function launch(program: string, ...args: readonly string[]): Promise<Outcome> {
  const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
  const words = ["launch", "-n", "2", path(`distributed/${program}`), ...args];
  // Division of work does not depend on the tier
  return runProgram(Deno.execPath(), ["run", "-A", "--no-check", path("../cli.ts"), ...words], {
    env: { DYN_TIER: "wasm" },
  });
}

testInTurn("training on ranks", {
  ...MPI,
  name: "two ranks train as one process does on all of the data",
  fn: async () => {
    const { code, stdout, stderr } = await launch("training.ts");
    assertEquals([stdout.trim().split("\n").sort(), code], [["[0] trained", "[1] trained"], 0], stderr);
  },
});

const FAILURES = [
  {
    fault: "throws",
    code: 1,
    message: "Rank 1 failed first, with code 1\n  error: Uncaught Error: Out of luck",
  },
  { fault: "killed", code: 137, message: "Rank 1 was killed first, by SIGKILL (systems do so" },
];

for (const { fault, code, message } of sampleBySeed(FAILURES, 1)) {
  testInTurn("faults of ranks", {
    ...MPI,
    name: `launch ends all ranks when one ${fault === "throws" ? fault : `is ${fault}`}, and names it`,
    fn: async () => {
      const ended = await launch("faults.ts", fault);
      assertEquals([ended.code, ended.stdout], [code, ""]);
      assertStringIncludes(ended.stderr, `error: ${message}`);
      assertEquals(ended.stderr.includes("[0]"), false);
    },
  });
}

Deno.test("samplers of several ranks read what PyTorch's do", () => {
  const read = (options: data.DistributedSamplerOptions) =>
    [0, 1, 2].map((rank) => [
      ...new data.DistributedSampler({ length: 7 }, { numReplicas: 3, rank, shuffle: false, ...options }),
    ]);
  // list(torch.utils.data.DistributedSampler(range(7), 3, rank, shuffle=False, drop_last=…))
  assertEquals(read({}), [[0, 3, 6], [1, 4, 0], [2, 5, 1]]);
  assertEquals(read({ dropLast: true }), [[0, 3], [1, 4], [2, 5]]);
});
