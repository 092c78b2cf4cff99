/**
 * How many threads kernels of the CPU run on, as `torch.set_num_threads`. Input: `DYN_NUM_THREADS` and the program's own
 * choice; output: a number. Invariant: what the program says holds for kernels that are run from then on.
 */
import { config } from "./config.ts";
import { DynError } from "./errors.ts";

/** The number that `DYN_NUM_THREADS` asks for; null where it asks for none. */
export function threadsAsked(): number | null {
  const asked = Number(Deno.env.get("DYN_NUM_THREADS") ?? "");
  return Number.isInteger(asked) && asked > 0 ? asked : null;
}

/** Threads that C++ kernels may run on. */
export function getNumThreads(): number {
  const { cppThreads } = config.inductor;
  return cppThreads > 0 ? cppThreads : threadsAsked() ?? navigator.hardwareConcurrency;
}

/** Sets them, as `config.inductor.cppThreads`. Throws DynError for a number below 1. */
export function setNumThreads(count: number): void {
  if (!Number.isInteger(count) || count < 1) {
    throw new DynError(`Expected a positive number of threads but found ${count}`);
  }
  config.inductor.cppThreads = count;
}
