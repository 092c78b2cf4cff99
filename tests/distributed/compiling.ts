/**
 * One of three ranks that compile the same. Ranks 0 and 1 keep compiled code in the same folder, rank 2 as on another
 * machine. Started by mpirun; prints a line at its end.
 */
import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { ToolchainError } from "../../backends/cpu/compiler_faults.ts";
import { buildLibraries } from "../../backends/cpu/object_cache.ts";
import { compile, config, counters, distributed as dist, ones, type Tensor, tensor } from "../../mod.ts";

const [folder] = Deno.args,
  isApart = (Deno.env.get("OMPI_COMM_WORLD_RANK") ?? Deno.env.get("PMI_RANK")) === "2";
Deno.env.set("DYN_CXX", `${folder}/compiler`);
Deno.env.set("DYN_CACHE_DIR", `${folder}/${isApart ? "other" : "shared"}`);
dist.initProcessGroup();

/** The sum over the ranks with one cache. */
const together = (count: number): number => {
  const sum = tensor([isApart ? 0 : count]);
  dist.allReduce(sum);
  return sum.item();
};

// At once, and with what one of them has met
const sources = ["one", "two"].map((name) => ({ name, text: `extern "C" int ${name}() { return 1; }` }));
dist.barrier();
buildLibraries(sources);
assertEquals(together(counters.get("cached_libraries", "compiled")), 3, "the shim and two libraries");
// The compiler shows its error once the other rank waits for it: it looks for the file
const { tryLockSync } = Deno.FsFile.prototype;
Deno.FsFile.prototype.tryLockSync = function (exclusive) {
  const isOwn = tryLockSync.call(this, exclusive);
  if (!isOwn) Deno.writeTextFileSync(`${folder}/waits`, "");
  return isOwn;
};
const error = assertThrows(() => buildLibraries([{ name: "bad", text: "#error no luck" }]), ToolchainError);
Deno.FsFile.prototype.tryLockSync = tryLockSync;
assertMatch(error.message, /no luck/);
assertEquals(together(Number(/\(process \d+ compiled it for this one, too\)$/.test(error.message))), 1);

// In the background, where nobody waits
config.inductor.tier = "background";
const program = compile((x: Tensor) => x.sin().mul(2).add(x.cos())),
  x = ones([2 ** 18]),
  before = counters.get("cached_libraries", "compiled");
const isNative = () =>
  ["switched", "native_at_once", "native_restored"].some((how) => counters.get("tiers", how) > 0);
while (!isNative()) {
  program(x);
  await new Promise((done) => setTimeout(done, 10));
}
const built = counters.get("cached_libraries", "compiled") - before, alone = tensor([built]);
dist.broadcast(alone, 2);
assertEquals(together(built), alone.item(), "as many as a rank that shares with nobody");
console.log(`rank ${dist.getRank()} is done`);
