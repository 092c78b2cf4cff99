/**
 * Programs that answer at once: WebAssembly while the C++ compiler works in the background, native code from the call
 * on that finds it ready. Input: a program over host memory; output: a compiled program. Invariant: a switch happens
 * between two calls; a compiler that fails leaves the program where it is.
 *
 * Native code that is in the cache is used at once. Looking for it takes its text, hence milliseconds, so that what is
 * quick as WebAssembly does without it in its first call.
 */
import { preferringOwnBuiltins } from "../../lib/base/own_builtins.ts";
import { counters, logs } from "../../lib/base/logs.ts";
import type { CompiledProgram, ProgramCall } from "../../lib/loops/device.ts";
import type { Plain } from "../../lib/base/recording.ts";
import type { Program } from "../../lib/loops/ir.ts";
import { hintOf } from "../../lib/sym/decide.ts";
import type { Symbols } from "../../lib/sym/stored/symbols.ts";
import { compileToWasm } from "../wasm/program.ts";
import { requestLibraries, type Ticket } from "./background.ts";
import { linkNative, nativeForm, type PreparedProgram, prepareProgram } from "./native_program.ts";
import { findLibraries } from "./object_cache.ts";
import { roomy } from "./roomy_program.ts";
import { type AbsentCompiler, toolchainMeanwhile } from "./toolchain.ts";

/** Elements of all buffers below which a program without library calls takes WebAssembly some milliseconds at most. */
const QUICK = 1 << 18;

/** Least milliseconds between two looks: each compares all builtins with what they were, which takes longer than small calls. */
const LOOK_EVERY = 2;

/** Who is told why there is no native code. */
export interface Listeners {
  /** Of what was thrown; throws again what is no fault of the compiler or the machine. */
  readonly failed: (thrown: unknown) => void;
  /** Of a compiler that is not there, where it was not looked for before. */
  readonly absent: (status: AbsentCompiler) => void;
}

type State =
  /** Nobody has looked for native code, or the compiler is looked for. */
  | { readonly kind: "fresh" }
  | { readonly kind: "compiling"; readonly ticket: Ticket }
  /** Nothing more will change. */
  | { readonly kind: "settled" };

/** Compiles a program for both tiers. */
export function compileTiered(program: Program, listeners: Listeners): CompiledProgram {
  const tiered = new TieredProgram(program, listeners);
  if (!isQuick(program)) tiered.look();
  return tiered;
}

function isQuick({ buffers, kernels }: Program): boolean {
  const elements = buffers.reduce((sum, { length }) => sum + hintOf(length), 0);
  return elements < QUICK && kernels.every(({ kind }) => kind === "loops");
}

class TieredProgram implements CompiledProgram {
  readonly language = "cpp";
  readonly kernelCount: number;
  readonly #program: Program;
  readonly #listeners: Listeners;
  readonly #start = performance.now();
  #prepared: PreparedProgram | undefined;
  #current: CompiledProgram | undefined;
  #state: State = { kind: "fresh" };
  #looked = -Infinity;
  #calls = 0;

  constructor(program: Program, listeners: Listeners) {
    this.#program = program;
    this.#listeners = listeners;
    this.kernelCount = program.kernels.length;
  }

  get source(): string {
    return this.#text().source;
  }

  readonly mayBeGone = true;

  /** Its C++, once that is printed: a later process that finds it compiled does not print it again to look for it. */
  get kept(): ((symbols: Symbols) => Plain) | undefined {
    const prepared = this.#prepared;
    return prepared && ((symbols) => nativeForm.write(prepared.form, symbols));
  }

  run(call: ProgramCall): boolean {
    if (this.#state.kind !== "settled" && this.#calls++ > 0) this.look();
    return (this.#current ??= this.#wasm()).run(call);
  }

  /** Goes on as far as is possible without waiting. */
  look(): void {
    const state = this.#state, now = performance.now();
    if (now - this.#looked < LOOK_EVERY) return;
    this.#looked = now;
    try {
      if (state.kind === "fresh") this.#state = preferringOwnBuiltins(() => this.#asked());
      else if (state.kind === "compiling") this.#state = preferringOwnBuiltins(() => this.#switched(state));
    } catch (thrown) {
      this.#state = { kind: "settled" };
      this.#current ??= this.#wasm();
      logs.emit("tiers", () => `${this.#program.name}: stays WebAssembly, since its compilation failed`);
      this.#listeners.failed(thrown);
    }
  }

  #text(): PreparedProgram {
    return this.#prepared ??= prepareProgram(this.#program);
  }

  #wasm(): CompiledProgram {
    const made = preferringOwnBuiltins(() => roomy(() => this.#program, compileToWasm(this.#program)));
    counters.add("tiers", "wasm_first");
    logs.emit("tiers", () => `${this.#program.name}: WebAssembly after ${this.#since()}`);
    return made;
  }

  #since(): string {
    return `${((performance.now() - this.#start) / 1000).toFixed(3)} s`;
  }

  /** Takes native code from the cache, or has it compiled. */
  #asked(): State {
    const toolchain = toolchainMeanwhile();
    if (!toolchain) return { kind: "fresh" };
    if (toolchain.kind !== "ready") {
      this.#listeners.absent(toolchain);
      return { kind: "settled" };
    }
    const { paths, missing } = findLibraries(this.#text().sources);
    const { name } = this.#program;
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
    const seen = state.ticket.look();
    if (seen.kind === "waiting") return state;
    if (seen.kind === "failed") throw seen.thrown;
    const { paths, missing } = findLibraries(this.#text().sources);
    // Somebody has removed them since
    if (missing.length > 0) return { kind: "settled" };
    this.#current = linkNative(this.#text(), paths);
    counters.add("tiers", "switched");
    logs.emit(
      "tiers",
      () => `${this.#program.name}: native code after ${this.#since()}, ${this.#calls} calls`,
    );
    return { kind: "settled" };
  }
}
