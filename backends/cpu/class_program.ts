/**
 * Programs of eager ops over host memory: WebAssembly at once, native code once they have done enough work that a
 * compiler pays, or from the first call on where that was so in a former process. Input: a program with symbolic sizes,
 * or what is kept of it; output: a compiled program. Invariant: the compiler works in the background; what it cannot do
 * leaves the program where it is.
 */
import { preferringOwnBuiltins } from "../../lib/base/own_builtins.ts";
import { config } from "../../lib/base/config.ts";
import { counters, logs } from "../../lib/base/logs.ts";
import type { ClassSource, CompiledProgram } from "../../lib/loops/device.ts";
import { DamagedForm } from "../../lib/sym/stored/forms.ts";
import { writeForm } from "../wasm/form.ts";
import { engineFuses } from "../wasm/fused.ts";
import { runnable, wasmSource } from "../wasm/program.ts";
import { SIZE_LIMIT } from "../wasm/target.ts";
import { wasmPool } from "../wasm/threads.ts";
import { requestLibraries, type Ticket } from "./background.ts";
import { type ClassCode, readCode, writeCode } from "./class_code.ts";
import { linkNative, preparedOf, type PreparedProgram, prepareProgram } from "./native_program.ts";
import { findLibraries } from "./object_cache.ts";
import { roomy } from "./roomy_program.ts";
import { toolchainStatus } from "./toolchain.ts";

/** Milliseconds of work after which a program is compiled natively. */
const HOT = 1;

type State =
  | { readonly kind: "cool"; readonly spent: number }
  | { readonly kind: "compiling"; readonly prepared: PreparedProgram; readonly ticket: Ticket }
  /** Nothing more will change. */
  | { readonly kind: "settled" };

/** Compiles a program; `failed` says why there is no native code. */
export function compileByHeat(source: ClassSource, failed: (thrown: unknown) => void): CompiledProgram {
  const { name, kernelCount, program } = source, { tier } = config.inductor;
  let code = codeOf(source);
  const found = (more: ClassCode): void => {
    code = { ...code, ...more };
    source.keep(() => writeCode(code));
  };
  const wasm = (): CompiledProgram =>
    preferringOwnBuiltins(() => {
      const pool = wasmPool(), { kind } = pool.memory;
      const write = (limit: number) => writeForm(program(), { limit, fuses: engineFuses(), memory: kind });
      const known = code.wasm, small = known ?? write(SIZE_LIMIT);
      const made = runnable({
        small,
        large: () => write(Infinity),
        source: () => wasmSource(program()),
        kernelCount,
      }, pool);
      if (!known) found({ wasm: small });
      return tier === "wasm" ? made : roomy(program, made);
    });
  let current: CompiledProgram | undefined;
  let state: State = { kind: "cool", spent: 0 };
  const settle = (native: CompiledProgram | null): State => {
    if (native) {
      current = native;
      counters.add("tiers", "eager_native");
      logs.emit("tiers", () => `${name}: native code for eager calls`);
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
  const heated = (): State => {
    if (config.inductor.tier === "wasm" || toolchainStatus().kind !== "ready") return settle(null);
    return attempt(() => {
      const { native } = code, prepared = native ? preparedOf(native) : prepareProgram(program());
      if (!native) found({ native: prepared.form });
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
    kernelCount,
    run(call) {
      if (state.kind === "compiling") state = looked(state.prepared, state.ticket);
      // In the first call only where it takes no more than loading it
      else if (state.kind === "cool" && (current ? state.spent >= HOT : code.native)) state = heated();
      current ??= wasm();
      if (state.kind !== "cool") return current.run(call);
      const start = performance.now(), passed = current.run(call);
      state = { kind: "cool", spent: state.spent + performance.now() - start };
      return passed;
    },
  };
}

/** What a former process had of a program. */
function codeOf({ name, kept }: ClassSource): ClassCode {
  if (kept === null) return {};
  try {
    return readCode(kept);
  } catch (thrown) {
    if (!(thrown instanceof DamagedForm)) throw thrown;
    logs.emit("cache", () => `the code of ${name} is made again: ${thrown.message}`);
    return {};
  }
}
