/**
 * Programs that answer at once: WebAssembly while the C++ compiler works in the background, native code from the call
 * on that finds it ready. Input: a program over host memory; output: a compiled program. Invariant: a switch happens
 * between two calls; a compiler that fails leaves the program where it is.
 */
import { counters, logs } from "../../lib/base/logs.ts";
import type { CompiledProgram } from "../../lib/loops/device.ts";
import type { Program } from "../../lib/loops/ir.ts";
import { compileToWasm } from "../wasm/program.ts";
import { requestLibraries } from "./background.ts";
import { linkNative, type PreparedProgram, prepareProgram } from "./native_program.ts";
import { findLibraries } from "./object_cache.ts";

/**
 * Compiles a program for both tiers, or for the last one alone where its code is in the cache. `failed` says why there
 * is no native code, and throws what is no fault of the compiler or the machine.
 */
export function compileTiered(program: Program, failed: (thrown: unknown) => void): CompiledProgram {
  const prepared = prepareProgram(program), { name } = program;
  const { paths, missing } = findLibraries(prepared.sources);
  if (missing.length === 0) {
    const native = linkNative(prepared, paths);
    logs.emit("tiers", () => `${name}: native code, which was in the cache`);
    counters.add("tiers", "native_at_once");
    return native;
  }
  const start = performance.now(), ticket = requestLibraries(missing);
  let current = compileToWasm(program), waits = true, calls = 0;
  logs.emit("tiers", () => {
    const made = performance.now() - start, what = missing.map(({ source }) => source.name).join(", ");
    return `${name}: WebAssembly after ${made.toFixed(1)} ms; C++ is compiled in the background: ${what}`;
  });
  counters.add("tiers", "wasm_first");
  /** Goes over to native code where it is there. */
  const look = () => {
    const state = ticket.look();
    if (state.kind === "waiting") return;
    waits = false;
    try {
      if (state.kind === "failed") throw state.thrown;
      current = linkFound(prepared, current);
    } catch (thrown) {
      logs.emit("tiers", () => `${name}: stays WebAssembly, since its compilation failed`);
      failed(thrown);
      return;
    }
    counters.add("tiers", "switched");
    logs.emit("tiers", () => {
      const seconds = (performance.now() - start) / 1000;
      return `${name}: native code after ${seconds.toFixed(2)} s and ${calls} calls`;
    });
  };
  return {
    source: prepared.printed.annotated,
    language: "cpp",
    kernelCount: program.kernels.length,
    run(call) {
      if (waits) {
        look();
        calls++;
      }
      return current.run(call);
    },
  };
}

/** The program from libraries that were built; the other one where somebody has removed them since. */
function linkFound(prepared: PreparedProgram, otherwise: CompiledProgram): CompiledProgram {
  const { paths, missing } = findLibraries(prepared.sources);
  return missing.length === 0 ? linkNative(prepared, paths) : otherwise;
}
