/**
 * Programs of eager ops over host memory: WebAssembly at first, native code once they have done enough work to justify
 * a compiler, or from the first call if an earlier process got that far. Invariant: the compiler works in the
 * background; if it fails the program stays on WebAssembly.
 */
import { preferringOwnBuiltins, restoresAsLoaded } from "../../lib/base/own_builtins.ts";
import { config } from "../../lib/base/config.ts";
import { counters, logs } from "../../lib/base/logs.ts";
import { areDeterministicAlgorithmsEnabled } from "../../lib/base/precision.ts";
import type { ClassSource, CompiledProgram } from "../../lib/loops/device.ts";
import { DamagedForm } from "../../lib/sym/stored/forms.ts";
import { formOf, runnable } from "../wasm/program.ts";
import { requestLibraries, type Ticket } from "./background.ts";
import { type ClassCode, readCode, writeCode } from "./class_code.ts";
import { linkNative, preparedOf, type PreparedProgram, prepareProgram } from "./native_program.ts";
import { findLibraries } from "./object_cache.ts";
import { withNativeFallback } from "./native_fallback.ts";
import { toolchainIfKnown } from "./toolchain.ts";

/** Milliseconds of work after which a program is compiled natively. */
const HOT = 1;

type State =
  /** Milliseconds of work so far; null until the first call has loaded the code. */
  | { readonly kind: "cool"; readonly spent: number | null }
  | { readonly kind: "compiling"; readonly prepared: PreparedProgram; readonly ticket: Ticket }
  /** Final state. */
  | { readonly kind: "settled" };

/** Compiles a program once it is hot; `failed` reports why there is no native code. */
export function compileByHeat(source: ClassSource, failed: (thrown: unknown) => void): CompiledProgram {
  const { name, kernelCount, program } = source, { tier } = config.inductor;
  let code = codeOf(source);
  const found = (more: ClassCode): void => {
    code = { ...code, ...more };
    source.store(() => writeCode(code));
  };
  const wasm = (): CompiledProgram => {
    const known = code.wasm, small = known ?? formOf(program);
    const made = runnable({ small, program, kernelCount });
    if (!known) found({ wasm: small });
    return tier === "wasm" ? made : withNativeFallback(program, made);
  };
  let current: CompiledProgram | undefined;
  let state: State = { kind: "cool", spent: null };
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
      return restoresAsLoaded() ? next() : preferringOwnBuiltins(next);
    } catch (thrown) {
      failed(thrown);
      return settle(null);
    }
  };
  /**
   * Native libraries round in another order, so programs that must always produce the same bits stay on WebAssembly.
   */
  const stays = () =>
    areDeterministicAlgorithmsEnabled() && program().kernels.some(({ kind }) => kind === "extern");
  const heated = ({ builds }: { readonly builds: boolean }): State => {
    if (config.inductor.tier === "wasm") return settle(null);
    if (stays()) return state;
    const toolchain = toolchainIfKnown();
    if (!toolchain) return state;
    if (toolchain.kind !== "ready") return settle(null);
    return attempt(() => {
      const { native } = code,
        prepared = native ? preparedOf(native) : preferringOwnBuiltins(() => prepareProgram(program()));
      if (!native) found({ native: prepared.form });
      const { paths, missing } = findLibraries(prepared.sources);
      if (missing.length === 0) return settle(linkNative(prepared, paths));
      if (!builds) return state;
      counters.add("tiers", "eager_requested");
      const ticket = preferringOwnBuiltins(() => requestLibraries(missing));
      return { kind: "compiling", prepared, ticket };
    });
  };
  const looked = (prepared: PreparedProgram, ticket: Ticket): State => {
    const seen = ticket.poll();
    if (seen.kind === "waiting" || stays()) return state;
    return attempt(() => {
      if (seen.kind === "failed") throw seen.thrown;
      const { paths, missing } = findLibraries(prepared.sources);
      return settle(missing.length === 0 ? linkNative(prepared, paths) : null);
    });
  };
  const prepared = (): CompiledProgram => {
    // Native code is used in the first call only if loading suffices: the process that printed it may have ended before
    // its compiler
    if (!current && state.kind === "cool" && code.native) state = heated({ builds: false });
    return current ??= wasm();
  };
  return {
    get source() {
      return prepared().source;
    },
    get language() {
      return prepared().language;
    },
    kernelCount,
    prepare: () => void prepared(),
    run(call) {
      if (state.kind === "compiling") state = looked(state.prepared, state.ticket);
      else if (state.kind === "cool" && (state.spent ?? 0) >= HOT) state = heated({ builds: true });
      const program = prepared();
      if (state.kind !== "cool") return program.run(call);
      const { spent } = state, start = performance.now(), passed = program.run(call);
      state = { kind: "cool", spent: spent === null ? 0 : spent + performance.now() - start };
      return passed;
    },
  };
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
