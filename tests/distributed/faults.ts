/**
 * One rank of a test of failures, selected by the argument. Started by mpirun; prints the resulting messages.
 */
import { assert, assertMatch, assertThrows } from "@std/assert";
import { distributed as dist, nn, ones, tensor } from "../../mod.ts";

const [fault] = Deno.args;
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
dist.initProcessGroup(null, { timeout: fault === "absent" || fault === "stage" ? 400 : 60_000 });
const rank = dist.getRank();
const told = (call: () => unknown) => {
  try {
    call();
  } catch (thrown) {
    console.log(`rank ${rank}: ${thrown instanceof dist.DistributedError ? thrown.message : thrown}`);
  }
};
dist.barrier();
if (fault === "absent") {
  // Rank 1 computes for longer than the other waits
  if (rank === 1) await new Promise((done) => setTimeout(done, 2500));
  else told(() => dist.allReduce(tensor([1])));
  told(() => dist.barrier());
} else if (fault === "stage") {
  // The second of two stages computes until the first has given up
  const { PipelineStage, Schedule1F1B } = dist.pipelining;
  class Slow extends nn.Linear {
    override forward(): never {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      throw new Error("Expected to be ended");
    }
  }
  const stage = new PipelineStage(rank === 0 ? new nn.Linear(2, 2) : new Slow(2, 2), rank, 2);
  const schedule = new Schedule1F1B(stage, 2, (x) => x.sum()), second = tensor([rank === 0 ? 0 : Deno.pid]);
  dist.allReduce(second, { op: "max" });
  told(() => rank === 0 ? schedule.step(ones([2, 2])) : schedule.step({ target: ones([2, 2]) }));
  Deno.kill(Number(second.item()), "SIGKILL");
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
