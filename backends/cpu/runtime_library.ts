/**
 * The library routines that generated programs call, and their addresses. Each routine is one translation unit and one
 * shared library, compiled on first use and kept in the object cache; several are compiled in parallel.
 */
import { entryAddress } from "./ffi.ts";
import { buildLibraries, type Source } from "./object_cache.ts";
import { toolchainStatus } from "./toolchain.ts";
import { convSource } from "./runtime/conv.ts";
import { gemmSource } from "./runtime/gemm.ts";
import { sortSource } from "./runtime/sort.ts";

/** Names of the library routines. */
export const ROUTINES = [
  "gemm_f32",
  "gemm_f64",
  "conv_f32",
  "conv_f64",
  "sort_f32",
  "sort_f64",
  "sort_i64",
  "sort_i32",
  "sort_u8",
] as const;

/** Name of a library routine. */
export type Routine = typeof ROUTINES[number];

/**
 * Contraction is fine inside a matrix product, where it only rounds less often. Loops that clear a few elements stay
 * loops.
 */
const OPTIONS = ["-O2", "-ffp-contract=fast", "-fno-tree-loop-distribute-patterns"] as const;

/**
 * For some processors (AMD's Zen) GCC avoids chains of fused multiply-adds, because of their latency. The accumulators
 * of a tile are independent, and WebAssembly fuses wherever the processor can: with this, products have the same bits
 * on every processor that has the instruction.
 */
const GCC_OPTIONS = ["--param=avoid-fma-max-bits=0"] as const;

/** The first version of GCC that knows `GCC_OPTIONS`. */
const FIRST_GCC = 9;

const SOURCES: Readonly<Record<Routine, () => string>> = {
  gemm_f32: () => gemmSource("float"),
  gemm_f64: () => gemmSource("double"),
  conv_f32: () => convSource("float"),
  conv_f64: () => convSource("double"),
  sort_f32: () => sortSource("float"),
  sort_f64: () => sortSource("double"),
  sort_i64: () => sortSource("long"),
  sort_i32: () => sortSource("int"),
  sort_u8: () => sortSource("unsigned char"),
};

const loaded = new Map<Routine, number>();

/**
 * Returns the sources of these routines that `buildLibraries` still has to compile, so that they can be compiled
 * together with others.
 */
export function routineSources(routines: readonly Routine[]): Source[] {
  return routines.filter((name) => !loaded.has(name)).map(routineSource);
}

/** The translation unit of a routine. */
export function routineSource(name: Routine): Source {
  const status = toolchainStatus();
  const gcc = status.kind === "ready" ? status.toolchain.target.gcc : undefined;
  return {
    name,
    text: SOURCES[name](),
    options: gcc && gcc >= FIRST_GCC ? [...OPTIONS, ...GCC_OPTIONS] : OPTIONS,
  };
}

/** Addresses of the routines, in order; throws `ToolchainError` if they cannot be compiled. */
export function routineAddresses(routines: readonly Routine[]): number[] {
  const missing = [...new Set(routines)].filter((name) => !loaded.has(name));
  if (missing.length > 0) {
    const paths = buildLibraries(routineSources(missing));
    missing.forEach((name, i) => loaded.set(name, entryAddress(paths[i] ?? "")));
  }
  return routines.map((name) => loaded.get(name) ?? 0);
}
