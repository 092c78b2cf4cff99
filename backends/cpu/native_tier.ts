/**
 * Chooses the tier of a graph: native code, or WebAssembly SIMD if the C++ compiler is missing or fails, and, in the
 * background tier, until it has finished. Invariants: a failure of the compiler or of this machine costs speed and
 * never changes the result; each is reported, a missing or abandoned compiler only once; errors of dyn's own printers
 * are not caught here.
 */
import { refuseChoice } from "../../lib/base/checked_input.ts";
import { config, type Tier } from "../../lib/base/config.ts";
import { reportFallback } from "../../lib/base/fallback.ts";
import { logs } from "../../lib/base/logs.ts";
import { areDeterministicAlgorithmsEnabled } from "../../lib/base/precision.ts";
import type { Plain } from "../../lib/base/recording.ts";
import type { ClassSource, CompiledProgram } from "../../lib/loops/device.ts";
import type { Program } from "../../lib/loops/ir.ts";
import { kernelCount } from "../../lib/loops/regions.ts";
import { DamagedForm } from "../../lib/sym/stored/forms.ts";
import type { Symbols } from "../../lib/sym/stored/symbols.ts";
import { compileToWasm } from "../wasm/program.ts";
import { type ClassCode, readCode } from "./class_code.ts";
import { type FaultKind, stoppedBy, ToolchainError } from "./compiler_faults.ts";
import { compileNative, restoreBuilt, restoreNative } from "./native_program.ts";
import { EAGER_OP, GRAPH, TieredProgram, type TieredSource } from "./tiered_program.ts";
import {
  type AbsentCompiler,
  toolchainForGraph,
  toolchainIfStored,
  type ToolchainStatus,
} from "./toolchain.ts";

/** The tier that the settings request: programs that must always produce the same bits never change tiers. */
function requestedTier(): Tier {
  const { tier } = config.inductor;
  return tier === "background" && areDeterministicAlgorithmsEnabled() ? "wait" : tier;
}

/** Compiles a program for the requested tier, or the best that works. */
export function compileForHost(program: Program): CompiledProgram {
  const tier = requestedTier();
  switch (tier) {
    case "wait":
      return compileForBest(program);
    case "background":
      return config.inductor.maxAutotune ? compileForBest(program) : compileLater(program);
    case "wasm":
      return compileTiered(sourceOf(program, { stays: true }));
    default:
      tier satisfies never;
      return refuseChoice("inductor.tier", ["wait", "background", "wasm"], tier);
  }
}

/** A graph, and its existing code. */
type GraphSource = Pick<TieredSource, "name" | "kernelCount" | "program" | "code" | "stays">;

/** A program without existing code. */
function sourceOf(program: Program, { stays }: Pick<TieredSource, "stays">): GraphSource {
  return { name: program.name, kernelCount: kernelCount(program), program: () => program, code: {}, stays };
}

/** Creates the program of a graph; its WebAssembly is written right away, so that it can be cached. */
function compileTiered(source: GraphSource): CompiledProgram {
  let known: Program | undefined;
  const tiered = new TieredProgram({
    ...source,
    program: () => known ??= source.program(),
    policy: GRAPH,
    failed: (thrown) => explain(thrown, `the ${source.name} graph runs`),
    absent: sayAbsent,
  });
  tiered.write();
  return tiered;
}

/** Compiles natively if there is a compiler. */
function compileForBest(program: Program): CompiledProgram {
  const status = toolchainForGraph();
  if (status.kind !== "ready") return compileWithout(status, program);
  try {
    return compileNative(program);
  } catch (thrown) {
    explain(thrown, `the ${program.name} graph runs`);
    return compileToWasm(program);
  }
}

/** Compiles in the background. A compiler that has not been probed is when native code is wanted first. */
function compileLater(program: Program): CompiledProgram {
  const status = toolchainIfStored() && toolchainForGraph();
  const stays = status !== undefined && status.kind !== "ready";
  if (stays) sayAbsent(status);
  return compileTiered(sourceOf(program, { stays }));
}

function compileWithout(status: AbsentCompiler, program: Program): CompiledProgram {
  sayAbsent(status);
  return compileToWasm(program);
}

/** Reports why graphs run without native code. */
function sayAbsent(status: AbsentCompiler): void {
  if (status.kind === "missing") return notice(status);
  // Each graph asks again, and each reason names other files
  reportFallback(status.fault, `graphs run ${INSTEAD}. ${status.reason}`, {
    silent: status.fault === saidFault,
  });
  saidFault = status.fault;
}

/** Returns what native programs depend on besides their text: the compiler and the processor, if they are used. */
export function hostIdentity(): string {
  const tier = requestedTier();
  if (tier !== "wait") return tier;
  const status = toolchainForGraph();
  return status.kind === "ready" ? status.toolchain.identity : status.kind;
}

/** Restores a program of an earlier process; null if its libraries are gone. */
export function restoreForHost(
  kept: Plain,
  symbols: Symbols,
  loops: (() => Program) | null,
): CompiledProgram | null {
  const tier = requestedTier();
  try {
    return tier === "wait" ? restoreNative(kept, symbols) : restoreCode(readCode(kept), tier, loops);
  } catch (thrown) {
    if (thrown instanceof ToolchainError) return null;
    throw thrown;
  }
}

/** Native code if it exists, otherwise WebAssembly; null if neither does. */
function restoreCode(code: ClassCode, tier: Tier, loops: (() => Program) | null): CompiledProgram | null {
  const { wasm, native } = code, built = native && tier === "background" ? restoreBuilt(native) : null;
  if (built || !wasm || !loops) return built;
  const { name } = wasm.frame, kernelCount = new Set(wasm.steps.flatMap(({ kernels }) => kernels)).size;
  return compileTiered({ name, kernelCount, program: loops, code, stays: tier === "wasm" });
}

/** Compiles a program of eager ops. */
export function compileClassForHost(source: ClassSource): CompiledProgram {
  const { name, kernelCount, program, store } = source;
  const failed = (thrown: unknown): void => explain(thrown, `${name} of eager tensors runs`);
  const code = codeOf(source);
  const tiered = new TieredProgram({
    name,
    kernelCount,
    program,
    code,
    stays: false,
    policy: EAGER_OP,
    failed,
  });
  tiered.whenMore(() => tiered.serialize && store(tiered.serialize));
  return tiered;
}

/** Returns the code of a program from an earlier process. */
function codeOf({ name, cached }: ClassSource): ClassCode {
  if (cached === null) return {};
  try {
    return readCode(cached);
  } catch (thrown) {
    if (!(thrown instanceof DamagedForm)) throw thrown;
    logs.emit("cache", () => `the code of ${name} is generated again: ${thrown.message}`);
    return {};
  }
}

/** Compiles an eager op for one shape, without caching. */
export function compileEagerForHost(program: Program): CompiledProgram {
  const { name, kernels } = program;
  return compileClassForHost({
    name,
    kernelCount: kernels.length,
    program: () => program,
    cached: null,
    store() {},
  });
}

const INSTEAD = "as WebAssembly SIMD, since the C++ compiler failed";

/** The kind of failure reported last of a compiler that cannot be used. */
let saidFault: FaultKind | undefined;
/** Whether it has been reported that the compiler is not run any more. */
let saidStopped = false;

/** Reports why something is not native; rethrows errors that are not faults of the compiler or the machine. */
function explain(thrown: unknown, what: string): void {
  if (!(thrown instanceof ToolchainError)) throw thrown;
  const { fault, message } = thrown;
  // A source that the compiler rejects is a bug of dyn, which the setting turns into an error
  if (fault === "rejected" && config.inductor.errorOnFallback) throw thrown;
  const stopped = stoppedBy() !== undefined;
  const then = stopped ? "; after failing so often it is not asked again in this process" : "";
  reportFallback(fault, `${what} ${INSTEAD}${then}. ${message}`, { silent: saidStopped });
  saidStopped ||= stopped;
}

let noticed = false;

/** Reports once what C++ kernels need, which use wider vectors. */
function notice({ reason, remedy }: Extract<ToolchainStatus, { readonly kind: "missing" }>): void {
  if (noticed) return;
  noticed = true;
  console.warn(`dyn: graphs run as WebAssembly SIMD, more slowly than as C++. ${reason}; ${remedy}`);
}
