/**
 * The CPU time of the calling thread in milliseconds, which other programs on the machine affect little; wall time
 * where the system does not provide it.
 */
const THREAD_CPU = 3;
const system = Deno.build.os === "linux"
  ? Deno.dlopen("libc.so.6", { clock_gettime: { parameters: ["i32", "buffer"], result: "i32" } }).symbols
  : null;
const seconds = new BigInt64Array(2), bytes = new Uint8Array(seconds.buffer);

/** Milliseconds since an arbitrary moment. */
export function threadTime(): number {
  if (system === null) return performance.now();
  system.clock_gettime(THREAD_CPU, bytes);
  return Number(seconds[0]) * 1e3 + Number(seconds[1]) / 1e6;
}
