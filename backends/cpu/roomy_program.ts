/**
 * Programs that WebAssembly may have no room for, where there is a C++ compiler. Input: a program and its WebAssembly
 * form; output: a compiled program. Invariant: a call without room does nothing before it says so, so that native code
 * does all of it, which is waited for.
 */
import { logs } from "../../lib/base/logs.ts";
import { type CompiledProgram, OutOfMemory } from "../../lib/loops/device.ts";
import type { Program } from "../../lib/loops/ir.ts";
import { compileNative } from "./native_program.ts";
import { toolchainStatus } from "./toolchain.ts";

/** The WebAssembly form of a program, with native code for calls that have no room there. */
export function roomy(program: () => Program, wasm: CompiledProgram): CompiledProgram {
  let native: CompiledProgram | undefined;
  return {
    get source() {
      return wasm.source;
    },
    language: wasm.language,
    kernelCount: wasm.kernelCount,
    run(call) {
      try {
        return wasm.run(call);
      } catch (thrown) {
        if (!(thrown instanceof OutOfMemory) || toolchainStatus().kind !== "ready") throw thrown;
        logs.emit(
          "tiers",
          () => `${program().name}: native code, since WebAssembly has no room for its operands`,
        );
        native ??= compileNative(program());
        return native.run(call);
      }
    },
  };
}
