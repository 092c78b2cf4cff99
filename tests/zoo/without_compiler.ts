/**
 * Makes this process one without a C++ compiler, so that graphs run as WebAssembly. To be imported first. The answer
 * to the question for a compiler is kept for the process, hence the environment is as it was afterwards.
 */
import { toolchainStatus } from "../../backends/cpu/toolchain.ts";

const former = Deno.env.get("DYN_CXX");
Deno.env.set("DYN_CXX", "/nonexistent");
const { kind } = toolchainStatus();
if (former === undefined) Deno.env.delete("DYN_CXX");
else Deno.env.set("DYN_CXX", former);

/** Whether it worked: no compiler was found. */
export const WITHOUT_COMPILER: boolean = kind === "missing";
