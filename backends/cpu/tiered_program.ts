/**
 * Programs that start immediately: WebAssembly while the C++ compiler works in the background, native code from the
 * first call that finds it ready. Invariant: a switch happens between two calls; if the compiler fails the program
 * stays on WebAssembly.
 *
 * The C++ text, which is the key of native code in the cache, is printed after the first result: printing takes as long
 * as writing the WebAssembly.
 *
 * A call that does not fit into WebAssembly's memory reports this before it has any effect, then waits for native code
 * and runs entirely there.
 */
import { elementsStand } from "../../lib/base/inherited_elements.ts";
import { preferringOwnBuiltins, restoresAsLoaded } from "../../lib/base/own_builtins.ts";
import { config } from "../../lib/base/config.ts";
import { counters, logs } from "../../lib/base/logs.ts";
import { areDeterministicAlgorithmsEnabled } from "../../lib/base/precision.ts";
import { type CompiledProgram, OutOfMemory, type ProgramCall } from "../../lib/loops/device.ts";
import type { Plain } from "../../lib/base/recording.ts";
import type { Program } from "../../lib/loops/ir.ts";
import type { WasmForm } from "../wasm/form.ts";
import { formOf, runnable, wasmSource } from "../wasm/program.ts";
import { requestLibraries, type Ticket } from "./background.ts";
import { type ClassCode, writeCode } from "./class_code.ts";
import {
  compileNative,
  linkNative,
  preparedOf,
  type PreparedProgram,
  prepareProgram,
} from "./native_program.ts";
import { findLibraries } from "./object_cache.ts";
import { type AbsentCompiler, toolchainIfKnown, toolchainStatus } from "./toolchain.ts";

/** The clock as loaded, which programs may replace. */
const now = performance.now.bind(performance);

/** Steps on the way to native code: WebAssembly, a request to the compiler, and either end. */
type Step = "wasm" | "requested" | "cached" | "compiled";

/** The work at which a kind of programs is worth a compiler, and the names of its counters. */
interface TierPolicy {
  /** Milliseconds of work after the first call, which also loads code, from which on native code is wanted. */
  readonly hot: number;
  /** Milliseconds of a first call from which on native code is wanted without a second call. */
  readonly long: number;
  /** Counters of the steps. */
  readonly counted: Readonly<Partial<Record<Step, string>>>;
}

/** A graph is compiled because it will probably be called again. */
export const GRAPH: TierPolicy = {
  hot: 0,
  long: 100,
  counted: { wasm: "wasm_first", cached: "native_at_once", compiled: "switched" },
};

/**
 * Most eager ops do too little work to justify a compiler, which takes a tenth of a second of a processor: after one
 * millisecond of work, a third of the classes that short programs had compiled went on for less than ten.
 */
export const EAGER_OP: TierPolicy = {
  hot: 10,
  long: Infinity,
  counted: { requested: "eager_requested", cached: "eager_native", compiled: "eager_native" },
};

/** A program, and its existing code. */
export interface TieredSource {
  readonly name: string;
  readonly kernelCount: number;
  /** The program, which is needed only to print it. */
  readonly program: () => Program;
  readonly code: ClassCode;
  /** Whether it stays on WebAssembly. */
  readonly stays: boolean;
  readonly policy: TierPolicy;
  /** Receives what was thrown; rethrows errors that are not faults of the compiler or the machine. */
  readonly failed: (thrown: unknown) => void;
  /** Receives the status of a missing compiler. */
  readonly absent?: (status: AbsentCompiler) => void;
}

type State =
  /** Milliseconds of work so far; null until the first call has loaded the code. */
  | { readonly kind: "cool"; readonly spent: number | null }
  | { readonly kind: "compiling"; readonly ticket: Ticket }
  /** Final state. */
  | { readonly kind: "settled" };

/** A program that changes tiers. */
export class TieredProgram implements CompiledProgram {
  readonly kernelCount: number;
  readonly #given: TieredSource;
  readonly #start = now();
  #code: ClassCode;
  #current: CompiledProgram | undefined;
  #state: State;
  #calls = 0;
  #changed: (() => void) | undefined;

  constructor(given: TieredSource) {
    this.#given = given;
    this.#code = given.code;
    this.#state = given.stays ? { kind: "settled" } : { kind: "cool", spent: null };
    this.kernelCount = given.kernelCount;
  }

  get #isWasm(): boolean {
    return this.#given.stays || config.inductor.tier === "wasm";
  }

  get language(): "cpp" | "txt" {
    return this.#isWasm ? "txt" : "cpp";
  }

  get source(): string {
    return this.#isWasm ? wasmSource(this.#given.program()) : this.#text().source;
  }

  readonly storesProgram = true;

  get keepsForms(): boolean {
    return this.#current?.keepsForms ?? false;
  }

  /** Its existing code, so that a later process neither writes nor prints it again. */
  get serialize(): (() => Plain) | undefined {
    const { wasm, native } = this.#code;
    return wasm || native ? () => writeCode(this.#code) : undefined;
  }

  whenMore(tell: () => void): void {
    this.#changed = tell;
  }

  prepare(): void {
    this.#prepared();
  }

  run(call: ProgramCall): boolean {
    const before = this.#state;
    if (before.kind === "settled") return this.#prepared().run(call);
    const { hot, long } = this.#given.policy;
    const isHot = before.kind === "compiling" || (before.kind === "cool" && (before.spent ?? -1) >= hot);
    if (isHot && !elementsStand()) this.#advance({ builds: true });
    const program = this.#prepared(), state = this.#state;
    this.#calls++;
    if (state.kind !== "cool") return program.run(call);
    const start = now(), passed = program.run(call), spent = now() - start;
    this.#state = { kind: "cool", spent: state.spent === null ? 0 : state.spent + spent };
    if (state.spent === null && spent > long) queueMicrotask(() => this.#advance({ builds: true }));
    return passed;
  }

  /** Writes the WebAssembly, unless that has been done. */
  write(): WasmForm {
    const known = this.#code.wasm;
    if (known) return known;
    const wasm = formOf(this.#given.program);
    this.#found({ wasm });
    return wasm;
  }

  #prepared(): CompiledProgram {
    // Native code is used in the first call only if loading suffices: the process that printed it may have ended before
    // its compiler
    if (this.#current) return this.#current;
    if (this.#code.native) this.#advance({ builds: false });
    return this.#current ??= this.#wasm();
  }

  #wasm(): CompiledProgram {
    const { kernelCount, program } = this.#given;
    const made = runnable({ small: this.write(), program, kernelCount });
    if (this.#isWasm) return made;
    this.#note("wasm", () => `WebAssembly after ${this.#since()}`);
    return withNativeFallback(program, made);
  }

  #text(): PreparedProgram {
    const { native } = this.#code;
    if (native) return preparedOf(native);
    const prepared = preferringOwnBuiltins(() => prepareProgram(this.#given.program()));
    this.#found({ native: prepared.form });
    return prepared;
  }

  #found(more: ClassCode): void {
    this.#code = { ...this.#code, ...more };
    this.#changed?.();
  }

  #note(step: Step, text: () => string): void {
    const { name, policy } = this.#given, counter = policy.counted[step];
    if (counter !== undefined) counters.add("tiers", counter);
    logs.emit("tiers", () => `${name}: ${text()}`);
  }

  #since(): string {
    return `${((now() - this.#start) / 1000).toFixed(3)} s`;
  }

  /**
   * Native libraries round in another order, so programs that must always produce the same bits stay on WebAssembly.
   */
  #staysForNow(): boolean {
    return areDeterministicAlgorithmsEnabled() &&
      this.#given.program().kernels.some(({ kind }) => kind === "extern");
  }

  /** Advances as far as possible without waiting; without `builds`, only to existing native code. */
  #advance({ builds }: { readonly builds: boolean }): void {
    const state = this.#state;
    if (state.kind === "settled") return;
    const seen = state.kind === "compiling" ? state.ticket.poll() : undefined;
    if (seen?.kind === "waiting") return;
    const next = () => seen ? this.#switched(seen) : this.#asked(builds);
    try {
      // Comparing all builtins takes longer than small calls
      this.#state = restoresAsLoaded() ? next() : preferringOwnBuiltins(next);
    } catch (thrown) {
      this.#state = { kind: "settled" };
      logs.emit("tiers", () => `${this.#given.name}: stays WebAssembly, since its compilation failed`);
      this.#given.failed(thrown);
    }
  }

  /** Takes native code from the cache, or starts compiling it. */
  #asked(builds: boolean): State {
    if (config.inductor.tier === "wasm") return { kind: "settled" };
    if (this.#staysForNow()) return this.#state;
    const toolchain = toolchainIfKnown();
    if (!toolchain) return this.#state;
    if (toolchain.kind !== "ready") {
      this.#given.absent?.(toolchain);
      return { kind: "settled" };
    }
    const request = () => this.#requested(builds);
    return this.#code.native ? request() : preferringOwnBuiltins(request);
  }

  #requested(builds: boolean): State {
    const prepared = this.#text(), { paths, missing } = findLibraries(prepared.sources);
    if (missing.length === 0) {
      this.#current = linkNative(prepared, paths);
      this.#note("cached", () => "native code from the cache");
      return { kind: "settled" };
    }
    if (!builds) return this.#state;
    const ticket = preferringOwnBuiltins(() => requestLibraries(missing));
    const libraries = missing.map(({ source }) => source.name).join(", ");
    this.#note("requested", () => `C++ is compiled in the background: ${libraries}`);
    return { kind: "compiling", ticket };
  }

  #switched(seen: ReturnType<Ticket["poll"]>): State {
    if (this.#staysForNow()) return this.#state;
    if (seen.kind === "failed") throw seen.thrown;
    const prepared = this.#text(), { paths, missing } = findLibraries(prepared.sources);
    // The libraries have been removed meanwhile
    if (missing.length > 0) return { kind: "settled" };
    this.#current = linkNative(prepared, paths);
    this.#note("compiled", () => `native code after ${this.#since()}, ${this.#calls} calls`);
    return { kind: "settled" };
  }
}

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
