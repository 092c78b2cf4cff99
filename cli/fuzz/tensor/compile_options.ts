/** The compile options of fuzzed programs. Invariant: they determine how fused kernels round. */
import type { Backend, CompileOptions } from "../../../mod.ts";

/** Fused kernels must round small types as plain execution does. */
export function compileOptions(backend: Backend): CompileOptions {
  return backend === "inductor" ? { backend, options: { emulatePrecisionCasts: true } } : { backend };
}
