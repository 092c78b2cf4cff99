/**
 * Makes graphs of this isolate run as WebAssembly, as on a machine without a C++ compiler. Invariant: other test files
 * of the process are not affected, so the environment is not used.
 */
import { cpu } from "../../backends/cpu/device.ts";
import { compileToWasm } from "../../backends/wasm/program.ts";
import { registerDevice } from "../../lib/loops/device.ts";

let programs = 0;

registerDevice({
  ...cpu,
  compile: (program) => {
    programs++;
    return compileToWasm(program);
  },
});

/** Returns the number of programs that became WebAssembly. */
export function wasmPrograms(): number {
  return programs;
}
