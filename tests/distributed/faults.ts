/**
 * One rank of a test of failures: `faults.ts <fault> <folder>`. Ranks tell each other by files in the folder what must
 * come first, since one may be slow. Started by mpirun; prints the resulting messages.
 */
import { assert, assertMatch, assertThrows } from "@std/assert";
import { distributed as dist, nn, ones, type Tensor, tensor } from "../../mod.ts";

const [fault, folder = ""] = Deno.args;
if (fault === "absent") {
  // Every rank has a program of its own version, and says so
  const error = assertThrows(() =>
    dist.initProcessGroup(null, {
      program: `v${(Deno.env.get("OMPI_COMM_WORLD_RANK") ?? Deno.env.get("PMI_RANK"))}`,
    })
  );
  assert(error instanceof dist.DistributedError);
  assertMatch(error.message, /found rank 0: the program v0; rank 1: the program v1$/);
}
const isTimed = fault === "absent" || fault === "stage";
// Ranks that agree on their program, or meet otherwise, might take longer than that
dist.initProcessGroup(null, isTimed ? { timeout: 400, program: null } : {});
const rank = dist.getRank();
const told = (call: () => unknown) => {
  try {
    call();
  } catch (thrown) {
    console.log(`rank ${rank}: ${thrown instanceof dist.DistributedError ? thrown.message : thrown}`);
  }
};
const pause = (milliseconds?: number) =>
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
const note = (name: string) => {
  Deno.writeTextFileSync(`${folder}/${name}.part`, String(Deno.pid));
  Deno.renameSync(`${folder}/${name}.part`, `${folder}/${name}`);
};
/** Waits until another rank has left a note, and gives its process. */
const noted = (name: string): number => {
  for (;; pause(10)) {
    try {
      return Number(Deno.readTextFileSync(`${folder}/${name}`));
    } catch (thrown) {
      if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
    }
  }
};
if (!isTimed) dist.barrier();
if (fault === "absent") {
  // Rank 1 computes for longer than the other waits
  if (rank === 1) noted("waited");
  else {
    told(() => dist.allReduce(tensor([1])));
    note("waited");
  }
  told(() => dist.barrier());
} else if (fault === "stage") {
  // The second of two stages computes until the first has given up
  const { PipelineStage, Schedule1F1B } = dist.pipelining;
  class First extends nn.Linear {
    #calls = 0;
    override forward(x: Tensor): Tensor {
      if (++this.#calls === 2) noted("computes");
      return super.forward(x);
    }
  }
  class Slow extends nn.Linear {
    override forward(): never {
      note("computes");
      pause();
      throw new Error("Expected to be ended");
    }
  }
  const stage = new PipelineStage(rank === 0 ? new First(2, 2) : new Slow(2, 2), rank, 2);
  const schedule = new Schedule1F1B(stage, 2, (x) => x.sum());
  told(() => rank === 0 ? schedule.step(ones([2, 2])) : schedule.step({ target: ones([2, 2]) }));
  Deno.kill(noted("computes"), "SIGKILL");
} else if (fault === "killed") {
  if (rank === 1) Deno.kill(Deno.pid, "SIGKILL");
  told(() => dist.allReduce(tensor([1])));
} else if (fault === "throws") {
  if (rank === 1) throw new Error("Out of luck");
  told(() => dist.allReduce(tensor([1])));
} else if (rank !== 1) {
  // Rank 1 has come to the end of its program
  told(() => dist.allReduce(tensor([1])));
}
