/**
 * Runs packaged programs by WebAssembly, on one thread. Invariant: weights stay in the module's memory between calls
 * as long as sizes do not change.
 */
import { DynError } from "../lib/base/errors.ts";
import type { Plain } from "../lib/base/recording.ts";
import type { Symbols } from "../lib/sym/stored/symbols.ts";
import { wasmForm } from "../backends/wasm/form.ts";
import { useLibrary, type WrittenModule } from "../backends/wasm/library.ts";
import { WasmMemory } from "../backends/wasm/memory.ts";
import { BySizes, WholeMemory } from "../backends/wasm/placement.ts";
import { type Code, functionsOf, type Job, type JobPool } from "../backends/wasm/pool.ts";
import { load, type Run, runOf, runSteps } from "../backends/wasm/run_form.ts";

/** A call of a packaged program. */
export interface SessionCall {
  /** Memories that it reads, and whether each is unchanged since the previous call. */
  readonly inputs: readonly { readonly bytes: Uint8Array; readonly kept: boolean }[];
  readonly outputs: readonly Uint8Array[];
  readonly sizes: readonly number[];
}

/** Runs one program. */
export interface Session {
  run(call: SessionCall): void;
}

/** Runs jobs on this thread alone, with its own memory. */
class OwnThread implements JobPool {
  readonly threads = 1;
  readonly memory: WasmMemory = new WasmMemory(false);

  load(bytes: Uint8Array<ArrayBuffer>, library?: () => Code): Code {
    const { functions } = functionsOf(bytes, this.memory, library);
    return { functions, order: Object.keys(functions), at: undefined };
  }

  run(code: Code, name: string, { description, units, scratch }: Job): void {
    const work = code.functions[name];
    if (!work) throw new DynError(`Expected a function ${name} but found ${code.order.join(", ")}`);
    work(description, 0, units, scratch?.address ?? 0);
  }
}

/** The parts of a session. */
export interface WasmParts {
  readonly form: Plain;
  readonly symbols: Symbols;
  /** The exclusive upper bound of sizes. */
  readonly limit: number;
  /** Modules of products; the session writes the other modules that it needs. */
  readonly library: readonly WrittenModule[];
}

/** A program as WebAssembly. */
export function wasmSession({ form, symbols, limit, library }: WasmParts): Session {
  const pool = new OwnThread();
  useLibrary(pool, library);
  const whole = new WholeMemory(pool.memory), runs = new BySizes<Run>();
  const loaded = load(wasmForm.read(form, symbols), pool), { frame } = loaded;
  let last: Run | null = null;
  return {
    run({ inputs, outputs, sizes }) {
      const large = sizes.find((size) => size >= limit);
      if (large !== undefined) throw new DynError(`Expected sizes below ${limit} but found ${large}`);
      const run = runs.get(sizes, () => runOf(pool, loaded, sizes)), { placed, scratch } = run;
      if (!pool.memory.reserve(placed.bytes, scratch)) {
        throw new DynError(`Expected room for ${placed.bytes + scratch} bytes but found none`);
      }
      const { bytes } = whole, isPlaced = run === last;
      last = null;
      frame.inputs.forEach((id, at) => {
        const input = inputs[at];
        if (!input || (isPlaced && input.kept)) return;
        bytes.set(input.bytes.subarray(0, placed.byteLengths[id] ?? 0), placed.addresses[id] ?? 0);
      });
      runSteps(pool, loaded, { run, addresses: placed.addresses, whole });
      frame.outputs.forEach((id, at) => {
        const from = placed.addresses[id] ?? 0;
        outputs[at]?.set(whole.bytes.subarray(from, from + (placed.byteLengths[id] ?? 0)));
      });
      last = run;
    },
  };
}
