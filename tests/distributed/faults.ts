/**
 * One rank of a test of what goes wrong: the argument says what. Started by mpirun; prints what it is told.
 */
import { assert, assertMatch, assertThrows } from "@std/assert";
import { distributed as dist, tensor } from "../../mod.ts";

const [fault] = Deno.args;
if (fault === "absent") {
  // Every rank has a program of its own version, and says so
  const error = assertThrows(() =>
    dist.initProcessGroup(null, { program: `v${Deno.env.get("OMPI_COMM_WORLD_RANK")}` })
  );
  assert(error instanceof dist.DistributedError);
  assertMatch(error.message, /found rank 0: the program v0; rank 1: the program v1$/);
}
dist.initProcessGroup(null, { timeout: fault === "absent" ? 400 : 60_000 });
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
} else if (fault === "throws") {
  if (rank === 1) throw new Error("Out of luck");
  told(() => dist.allReduce(tensor([1])));
} else if (rank !== 1) {
  // Rank 1 has come to the end of its program
  told(() => dist.allReduce(tensor([1])));
}
