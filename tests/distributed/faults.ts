/**
 * One rank of a test of what goes wrong: the argument says what. Started by mpirun; prints what it is told.
 */
import { distributed as dist, tensor } from "../../mod.ts";

const [fault] = Deno.args;
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
