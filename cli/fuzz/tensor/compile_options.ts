/** How programs are compiled. Input: a backend; output: options. Invariant: they decide what fused kernels round. */
import type { Backend, CompileOptions } from "../../../mod.ts";

/** Where kernels are fused, they round small types as plain execution does. */
export function compileOptions(backend: Backend): CompileOptions {
  return backend === "inductor" ? { backend, options: { emulatePrecisionCasts: true } } : { backend };
}
