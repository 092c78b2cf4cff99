/**
 * Decides whether tests of native code run.
 *
 * Exports a value for a test's `ignore`. Invariant: on a CI machine (`CI=true`) they always run, so that a missing
 * compiler fails there; elsewhere they are skipped with a line that says so.
 */
import { toolchainStatus } from "../../backends/cpu/toolchain.ts";

const status = toolchainStatus();

/** Whether tests that need a C++ compiler are to be skipped: `Deno.test({ name, ignore: SKIP_NATIVE, fn })`. */
export const SKIP_NATIVE: boolean = Deno.env.get("CI") !== "true" && status.kind !== "ready";

if (SKIP_NATIVE && status.kind !== "ready") {
  console.warn(`No C++ compiler: its tests are skipped (Debian: apt-get install g++). ${status.reason}`);
}
