/**
 * Programs that start immediately: WebAssembly while the C++ compiler works in the background, native code from the
 * first call that finds it ready. Invariant: a switch happens between two calls; if the compiler fails the program
 * stays on WebAssembly.
 *
 * The C++ text, which is the key of native code in the cache, is printed after the first result: printing takes as long
 * as writing the WebAssembly.
 */
import { preferringOwnBuiltins } from "../../lib/base/own_builtins.ts";
import { counters, logs } from "../../lib/base/logs.ts";
import { areDeterministicAlgorithmsEnabled } from "../../lib/base/precision.ts";
import type { CompiledProgram, ProgramCall } from "../../lib/loops/device.ts";
import type { Plain } from "../../lib/base/recording.ts";
import type { Program } from "../../lib/loops/ir.ts";
import type { WasmForm } from "../wasm/form.ts";
import { formOf, runnable, wasmSource } from "../wasm/program.ts";
import { requestLibraries, type Ticket } from "./background.ts";
import { type ClassCode, writeCode } from "./class_code.ts";
import { linkNative, preparedOf, type PreparedProgram, prepareProgram } from "./native_program.ts";
import { findLibraries } from "./object_cache.ts";
import { withNativeFallback } from "./native_fallback.ts";
import { type AbsentCompiler, toolchainIfKnown } from "./toolchain.ts";

/** Milliseconds of a first call after which the compiler is started without waiting for a second call. */
const LONG = 100;

/**
 * Minimum milliseconds between two polls: each compares all builtins with their originals, which takes longer than
 * small calls.
 */
const POLL_INTERVAL = 2;

/** Callbacks that receive the reason why there is no native code. */
export interface Listeners {
  /** Receives what was thrown; rethrows errors that are not faults of the compiler or the machine. */
  readonly failed: (thrown: unknown) => void;
  /** Receives the status of a missing compiler, when it is looked for the first time. */
  readonly absent: (status: AbsentCompiler) => void;
}

/** A program, and its existing code. */
export interface TieredSource {
  readonly name: string;
  readonly kernelCount: number;
  /** The program, which is needed only to print it. */
  readonly program: () => Program;
  readonly code: ClassCode;
  /** Whether it stays on WebAssembly. */
  readonly stays: boolean;
}

type State =
  /** Native code has not been looked for, or the compiler is still being probed. */
  | { readonly kind: "fresh" }
  | { readonly kind: "compiling"; readonly ticket: Ticket }
  /** Final state. */
  | { readonly kind: "settled" };

/** Creates a program from its existing code; its WebAssembly is written right away, so that it can be cached. */
export function compileTiered(source: TieredSource, listeners: Listeners): CompiledProgram {
  const tiered = new TieredProgram(source, listeners);
  tiered.write();
  return tiered;
}

class TieredProgram implements CompiledProgram {
  readonly kernelCount: number;
  readonly #given: TieredSource;
  readonly #listeners: Listeners;
  readonly #start = performance.now();
  #code: ClassCode;
  #program: Program | undefined;
  #prepared: PreparedProgram | undefined;
  #current: CompiledProgram | undefined;
  #state: State;
  #looked = -Infinity;
  #calls = 0;
  #changed: (() => void) | undefined;

  constructor(given: TieredSource, listeners: Listeners) {
    this.#given = given;
    this.#listeners = listeners;
    this.#code = given.code;
    this.#state = { kind: given.stays ? "settled" : "fresh" };
    this.kernelCount = given.kernelCount;
  }

  get language(): "cpp" | "txt" {
    return this.#given.stays ? "txt" : "cpp";
  }

  get source(): string {
    return this.#given.stays ? wasmSource(this.#loops()) : this.#text().source;
  }

  readonly storesProgram = true;

  /** Its existing code, so that a later process neither writes nor prints it again. */
  get serialize(): (() => Plain) | undefined {
    const { wasm, native } = this.#code;
    return wasm || native ? () => writeCode(this.#code) : undefined;
  }

  whenMore(tell: () => void): void {
    this.#changed = tell;
  }

  prepare(): void {
    this.#current ??= this.#wasm();
  }

  run(call: ProgramCall): boolean {
    if (this.#state.kind === "settled") return (this.#current ??= this.#wasm()).run(call);
    if (this.#calls++ > 0) {
      this.look();
      return (this.#current ??= this.#wasm()).run(call);
    }
    const program = this.#current ??= this.#wasm(), start = performance.now(), passed = program.run(call);
    if (performance.now() - start > LONG) queueMicrotask(() => this.look());
    return passed;
  }

  /** Advances as far as possible without waiting. */
  look(): void {
    const state = this.#state, now = performance.now();
    if (now - this.#looked < POLL_INTERVAL || areDeterministicAlgorithmsEnabled()) return;
    this.#looked = now;
    try {
      if (state.kind === "fresh") this.#state = preferringOwnBuiltins(() => this.#asked());
      else if (state.kind === "compiling") this.#state = preferringOwnBuiltins(() => this.#switched(state));
    } catch (thrown) {
      this.#state = { kind: "settled" };
      this.#current ??= this.#wasm();
      logs.emit("tiers", () => `${this.#given.name}: stays WebAssembly, since its compilation failed`);
      this.#listeners.failed(thrown);
    }
  }

  #loops(): Program {
    return this.#program ??= this.#given.program();
  }

  #text(): PreparedProgram {
    if (this.#prepared) return this.#prepared;
    const { native } = this.#code;
    if (native) return this.#prepared = preparedOf(native);
    const prepared = prepareProgram(this.#loops());
    this.#found({ native: prepared.form });
    return this.#prepared = prepared;
  }

  #found(more: ClassCode): void {
    this.#code = { ...this.#code, ...more };
    this.#changed?.();
  }

  /** Writes the WebAssembly, unless that has been done. */
  write(): WasmForm {
    const known = this.#code.wasm;
    if (known) return known;
    const wasm = formOf(() => this.#loops());
    this.#found({ wasm });
    return wasm;
  }

  #wasm(): CompiledProgram {
    const { stays, kernelCount } = this.#given;
    const made = runnable({ small: this.write(), program: () => this.#loops(), kernelCount });
    if (stays) return made;
    counters.add("tiers", "wasm_first");
    logs.emit("tiers", () => `${this.#given.name}: WebAssembly after ${this.#since()}`);
    return withNativeFallback(() => this.#loops(), made);
  }

  #since(): string {
    return `${((performance.now() - this.#start) / 1000).toFixed(3)} s`;
  }

  /** Takes native code from the cache, or starts compiling it. */
  #asked(): State {
    const toolchain = toolchainIfKnown();
    if (!toolchain) return { kind: "fresh" };
    if (toolchain.kind !== "ready") {
      this.#listeners.absent(toolchain);
      return { kind: "settled" };
    }
    const { paths, missing } = findLibraries(this.#text().sources);
    const { name } = this.#given;
    if (missing.length === 0) {
      this.#current = linkNative(this.#text(), paths);
      counters.add("tiers", "native_at_once");
      logs.emit("tiers", () => `${name}: native code from the cache`);
      return { kind: "settled" };
    }
    logs.emit("tiers", () => {
      const libraries = missing.map(({ source }) => source.name).join(", ");
      return `${name}: C++ is compiled in the background: ${libraries}`;
    });
    return { kind: "compiling", ticket: requestLibraries(missing) };
  }

  #switched(state: State & { kind: "compiling" }): State {
    const seen = state.ticket.poll();
    if (seen.kind === "waiting") return state;
    if (seen.kind === "failed") throw seen.thrown;
    const { paths, missing } = findLibraries(this.#text().sources);
    // The libraries have been removed meanwhile
    if (missing.length > 0) return { kind: "settled" };
    this.#current = linkNative(this.#text(), paths);
    counters.add("tiers", "switched");
    logs.emit(
      "tiers",
      () => `${this.#given.name}: native code after ${this.#since()}, ${this.#calls} calls`,
    );
    return { kind: "settled" };
  }
}
