/**
 * The number of threads for CPU kernels, like `torch.set_num_threads`: `DYN_NUM_THREADS`, or the program's own
 * choice. Invariant: the program's choice applies to all kernels that run afterwards.
 */
import { refuseSurplus, refuseValue } from "./checked_input.ts";
import { checkInteger } from "./checked_numbers.ts";
import { config } from "./config.ts";
import { environmentVariable } from "./permissions.ts";

/** Returns the number in `DYN_NUM_THREADS`, or null. Throws DynError unless it is an integer above 0. */
export function requestedThreads(): number | null {
  const asked = environmentVariable("DYN_NUM_THREADS") ?? "";
  if (asked === "") return null;
  if (!/^[1-9]\d*$/.test(asked)) refuseValue("DYN_NUM_THREADS to be an integer of at least 1", asked);
  return Number(asked);
}

/** Returns the number of threads that C++ kernels may run on. */
export function getNumThreads(): number {
  if (arguments.length > 0) refuseSurplus("getNumThreads", 0, arguments);
  const { cppThreads } = config.inductor;
  return cppThreads > 0 ? cppThreads : requestedThreads() ?? navigator.hardwareConcurrency;
}

/** Sets the number of threads, like `config.inductor.cppThreads`. Throws DynError for a number below 1. */
export function setNumThreads(count: number): void {
  if (arguments.length > 1) refuseSurplus("setNumThreads", 1, arguments);
  checkInteger("the number of threads", count, 1);
  config.inductor.cppThreads = count;
}
