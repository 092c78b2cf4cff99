/**
 * A program for tests of GPUs without room: takes the room away from this process, then asks for a large tensor, and
 * for small ones that are read in the same job. Output: the error of each, then a sum that fits. For Linux.
 */
import { init, ones, type Tensor, tensor } from "../../mod.ts";

const ADDRESS_SPACE = 9;
await init({ device: "webgpu" });
const few = tensor([1, 2, 3], { device: "webgpu" });
// What both need is there before the room goes.
ones([1 << 10], { device: "webgpu" }).sum().item();
few.sum().item();

const libc = Deno.dlopen("libc.so.6", { setrlimit: { parameters: ["i32", "buffer"], result: "i32" } });
const used = /^VmSize:\s+(\d+) kB/m.exec(Deno.readTextFileSync("/proc/self/status"))?.[1];
// Some of the small ones fit, and then there is still some room for the process itself.
const limit = BigInt(used ?? 0) * 1024n + BigInt(52 << 20);
libc.symbols.setrlimit(ADDRESS_SPACE, BigUint64Array.of(limit, limit));

const kept: Tensor[] = [];
function attempt(shape: number, times: number): string {
  try {
    for (let i = 0; i < times; i++) {
      const made = ones([shape], { device: "webgpu" });
      kept.push(made);
      const sum = made.sum().item();
      if (sum !== shape) return `Wrong: ${sum}`;
    }
    return "no error";
  } catch (error) {
    return String(error);
  }
}
console.log(attempt(1 << 24, 1));
console.log(attempt(15 << 14, 80));
kept.length = 0;
await new Promise((resolve) => setTimeout(resolve, 20));
console.log(few.sum().item());
