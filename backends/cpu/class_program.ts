/**
 * Programs of eager ops over host memory: WebAssembly at once, native code once they have done enough work that a
 * compiler pays, or from the first call on where that is large and the code is in the cache. Input: a program with
 * symbolic sizes; output: a compiled program. Invariant: the compiler works in the background; what it cannot do leaves
 * the program where it is.
 */
import { preferringOwnBuiltins } from "../../lib/base/own_builtins.ts";
import { config } from "../../lib/base/config.ts";
import { counters, logs } from "../../lib/base/logs.ts";
import type { CompiledProgram, ProgramCall } from "../../lib/loops/device.ts";
import type { Program } from "../../lib/loops/ir.ts";
import { compileToWasm } from "../wasm/program.ts";
import { requestLibraries, type Ticket } from "./background.ts";
import { linkNative, type PreparedProgram, prepareProgram } from "./native_program.ts";
import { findLibraries } from "./object_cache.ts";
import { roomy } from "./roomy_program.ts";
import { toolchainStatus } from "./toolchain.ts";

/** Milliseconds of work after which a program is compiled natively. */
const HOT = 1;

/** Bytes of operands from which on a call takes that long as WebAssembly, the first time at any rate. */
const LARGE_BYTES = 2 ** 20;

type State =
  | { readonly kind: "cool"; readonly spent: number }
  | { readonly kind: "compiling"; readonly prepared: PreparedProgram; readonly ticket: Ticket }
  /** Nothing more will change. */
  | { readonly kind: "settled" };

/** Compiles a program; `failed` says why there is no native code. */
export function compileByHeat(program: Program, failed: (thrown: unknown) => void): CompiledProgram {
  const { tier } = config.inductor;
  const wasm = (): CompiledProgram => {
    return preferringOwnBuiltins(() => {
      const made = compileToWasm(program);
      return tier === "wasm" ? made : roomy(program, made);
    });
  };
  let current: CompiledProgram | undefined;
  let state: State = { kind: "cool", spent: 0 };
  const settle = (native: CompiledProgram | null): State => {
    if (native) {
      current = native;
      counters.add("tiers", "eager_native");
      logs.emit("tiers", () => `${program.name}: native code for eager calls`);
    }
    return { kind: "settled" };
  };
  const attempt = (next: () => State): State => {
    try {
      return preferringOwnBuiltins(next);
    } catch (thrown) {
      failed(thrown);
      return settle(null);
    }
  };
  const heated = (spent: number): State => {
    if (spent < HOT) return { kind: "cool", spent };
    if (config.inductor.tier === "wasm" || toolchainStatus().kind !== "ready") return settle(null);
    return attempt(() => {
      const prepared = prepareProgram(program);
      const { paths, missing } = findLibraries(prepared.sources);
      if (missing.length === 0) return settle(linkNative(prepared, paths));
      counters.add("tiers", "eager_requested");
      return { kind: "compiling", prepared, ticket: requestLibraries(missing) };
    });
  };
  const looked = (prepared: PreparedProgram, ticket: Ticket): State => {
    const seen = ticket.look();
    if (seen.kind === "waiting") return state;
    return attempt(() => {
      if (seen.kind === "failed") throw seen.thrown;
      const { paths, missing } = findLibraries(prepared.sources);
      return settle(missing.length === 0 ? linkNative(prepared, paths) : null);
    });
  };
  return {
    get source() {
      return (current ??= wasm()).source;
    },
    get language() {
      return (current ??= wasm()).language;
    },
    kernelCount: program.kernels.length,
    run(call) {
      if (state.kind === "compiling") state = looked(state.prepared, state.ticket);
      else if (current === undefined && isLarge(call)) state = heated(HOT);
      current ??= wasm();
      if (state.kind !== "cool") return current.run(call);
      const start = performance.now(), passed = current.run(call);
      state = heated(state.spent + performance.now() - start);
      return passed;
    },
  };
}

function isLarge({ inputs, outputs }: ProgramCall): boolean {
  let bytes = 0;
  for (const { byteLength } of inputs) bytes += byteLength;
  for (const { byteLength } of outputs) bytes += byteLength;
  return bytes >= LARGE_BYTES;
}
