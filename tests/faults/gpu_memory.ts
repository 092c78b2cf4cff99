/**
 * A program for tests of GPUs without room: buffers are created where this process may have no more memory. It
 * allocates a large tensor, and small ones that are read in the same job, and prints the error of each, then a sum
 * that fits. For Linux and a software device.
 */
import { init, ones, type Tensor, tensor } from "../../mod.ts";

const ADDRESS_SPACE = 9;
const libc = Deno.dlopen("libc.so.6", {
  getrlimit: { parameters: ["i32", "buffer"], result: "i32" },
  setrlimit: { parameters: ["i32", "buffer"], result: "i32" },
});

await init({ device: "webgpu" });
const few = tensor([1, 2, 3], { device: "webgpu" });
// Create what both need before the room is gone.
ones([1 << 10], { device: "webgpu" }).sum().item();
few.sum().item();

/** Bytes of buffers that there is room for in each attempt: some of the small ones fit. */
const ROOM = 8 << 20;
let room = ROOM;
const unlimited = new BigUint64Array(2), limited = new BigUint64Array(2);
libc.symbols.getrlimit(ADDRESS_SPACE, unlimited);

// The limit holds while a buffer is made and not a moment longer: the runtime and the driver's compiler, which end
// the process where they find no memory, find theirs.
const make = GPUDevice.prototype.createBuffer;
GPUDevice.prototype.createBuffer = function (descriptor) {
  room -= descriptor.size;
  if (room >= 0) return make.call(this, descriptor);
  const used = /^VmSize:\s+(\d+) kB/m.exec(Deno.readTextFileSync("/proc/self/status"))?.[1];
  limited.set([BigInt(used ?? 0) * 1024n + BigInt(descriptor.size >> 1), unlimited[1] ?? 0n]);
  libc.symbols.setrlimit(ADDRESS_SPACE, limited);
  try {
    return make.call(this, descriptor);
  } finally {
    libc.symbols.setrlimit(ADDRESS_SPACE, unlimited);
  }
};

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
room = ROOM;
console.log(attempt(15 << 14, 80));
kept.length = 0;
room = ROOM;
await new Promise((resolve) => setTimeout(resolve, 20));
console.log(few.sum().item());
