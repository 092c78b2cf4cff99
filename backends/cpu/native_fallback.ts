/**
 * Programs that may not fit into WebAssembly's memory, on machines with a C++ compiler. Invariant: a call that does not
 * fit reports this before it has any effect, then waits for native code and runs entirely there.
 */
import { logs } from "../../lib/base/logs.ts";
import { type CompiledProgram, OutOfMemory } from "../../lib/loops/device.ts";
import type { Program } from "../../lib/loops/ir.ts";
import { compileNative } from "./native_program.ts";
import { toolchainStatus } from "./toolchain.ts";

/** The WebAssembly form of a program, with native code for calls that do not fit. */
export function withNativeFallback(program: () => Program, wasm: CompiledProgram): CompiledProgram {
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
