/**
 * Runs compiled graphs: binds arguments to memory, runs one program, and wraps the results, or reports that its checks
 * failed. Invariant: writes into an input's memory are visible only where they should be: if an input shares memory
 * with a written one, the call runs op by op.
 */
import { roleOf } from "../graph/signature.ts";
import { itemSize } from "../base/dtype.ts";
import { DynError, InternalError } from "../base/errors.ts";
import { logs } from "../base/logs.ts";
import { observed } from "../base/observation.ts";
import type { GraphModule } from "../graph/graph_module.ts";
import { complexMeta } from "../ops/complex/views.ts";
import { readBinding, sizeBindings } from "../graph/sizes.ts";
import type { CompiledProgram, DeviceName, Memory } from "../loops/device.ts";
import { launch } from "../loops/launch.ts";
import { type Dim, evaluate, type Sym } from "../sym/expr.ts";
import { type Layout, layoutOf } from "../tensor/layout.ts";
import { allocateStorage, type Storage } from "../tensor/storage.ts";
import { anyShareStorage } from "../tensor/shared_storage.ts";
import { isTensor, Tensor } from "../tensor/tensor.ts";
import type { CompiledGraph, CompiledOutput } from "./compiled_graph.ts";
import type { Convention } from "./convention.ts";
import type { ResultMemory } from "./result_memory.ts";

/** The compiled parts of a graph. */
export interface RunnerParts {
  readonly convention: Convention;
  /** Absent where there is nothing to compute. */
  readonly program: CompiledProgram | undefined;
  readonly device: DeviceName;
  /** The reused memory of results, if they have no memory of their own. */
  readonly results: ResultMemory | undefined;
}

/** Runs one compiled graph. */
export class GraphRunner {
  readonly #module: GraphModule;
  readonly #parts: RunnerParts;
  /** Weights stay the same between calls, unlike those in training. */
  readonly #isInference: boolean;
  /** Layouts and byte counts of results without symbolic sizes. */
  readonly #static:
    | { readonly layouts: readonly (Layout | undefined)[]; readonly bytes: readonly number[] }
    | undefined;

  /** The checks of indices that the elements of storages have passed, where they are costly to read. */
  readonly #passed = new WeakMap<Storage, string>();

  /** `module`: the graph as it was passed in, without index checks. */
  constructor(module: GraphModule, parts: RunnerParts) {
    this.#module = module;
    this.#parts = parts;
    this.#isInference = roleOf(module) === "inference";
    const { outputs, outputBuffers } = parts.convention;
    const fixed = outputBuffers.every((b) => typeof b.length === "number") && outputs.every(isStatic);
    this.#static = fixed
      ? {
        layouts: outputs.map((o) => this.#layout(o, noSizes)),
        bytes: outputBuffers.map((b) => this.#bytes(b, noSizes)),
      }
      : undefined;
  }

  /** The outputs, without the flag of failure; null if the call fails. */
  run(args: readonly unknown[]): unknown[] | null {
    if (observed.by === null) return this.#run(args);
    const { role = "inference" } = this.#module.signature ?? {};
    return observed.by.span("graph", `${role} graph`, () => this.#run(args));
  }

  #run(args: readonly unknown[]): unknown[] | null {
    const { convention, program, device, results } = this.#parts;
    if (args.length !== convention.arguments) {
      throw new DynError(`Expected ${convention.arguments} arguments but found ${args.length}`);
    }
    if (convention.written.length > 0 && this.#sharesWritten(args)) {
      logs.emit("perf_hints", "Inputs share memory with one that is written; the call runs op by op");
      return this.#byOp(args);
    }
    const sizes = convention.sizes.map((binding) => readBinding(binding, args));
    const sizeOf = (symbol: Sym): number => {
      const at = convention.sizes.findIndex((binding) => binding.symbol === symbol);
      return sizes[at] ?? this.#boundSize(symbol, args);
    };
    const bytes = this.#static?.bytes ?? convention.outputBuffers.map((b) => this.#bytes(b, sizeOf));
    const storages = results?.take(bytes, args) ??
      bytes.map((n, k) => allocateStorage(device, n, convention.outputBuffers[k]));
    const inputs: Memory[] = [], byteOffsets: number[] = [];
    const contents: Storage[] | undefined = program?.keepsForms && this.#isInference ? [] : undefined;
    for (const placeholder of convention.inputs) {
      const tensor = tensorAt(args, placeholder);
      inputs.push(tensor.storage.memory);
      contents?.push(tensor.storage);
      byteOffsets.push(tensor.offset * itemSize(tensor.dtype));
    }
    const outputs = storages.map((s) => s.memory);
    for (let i = 0; i < outputs.length; i++) byteOffsets.push(0);
    const checks = this.#checks(args, sizes), passes = this.#passes(args, sizeOf) || this.#havePassed(checks);
    if (program && !launch(program, device, { inputs, outputs, byteOffsets, sizes, contents, passes })) {
      for (const storage of storages) storage.release();
      return null;
    }
    if (!passes) { for (const [storage, check] of checks ?? []) this.#passed.set(storage, check); }
    const wrapped = convention.outputs.map((output, i) =>
      this.#wrap(output, { args, storages, sizeOf, at: i })
    );
    if (convention.guarded) {
      const flag = wrapped.pop();
      if (isTensor(flag)) flag.storage.release();
    }
    return wrapped;
  }

  /** Returns whether cached knowledge of the inputs' elements proves all indices to be in range. */
  #passes(args: readonly unknown[], sizeOf: (symbol: Sym) => number): boolean {
    const { ranges } = this.#parts.convention;
    return ranges !== null && ranges.every(({ input, low, high }) => {
      const { bounds } = tensorAt(args, input).storage;
      return bounds !== undefined && evaluate(low, sizeOf) <= bounds.least &&
        bounds.greatest < evaluate(high, sizeOf);
    });
  }

  /**
   * The storages of indices, and all that the checks of their elements depend on besides those; null if there are none,
   * or they depend on other inputs.
   */
  #checks(args: readonly unknown[], sizes: readonly number[]): ReadonlyMap<Storage, string> | null {
    const { ranges } = this.#parts.convention;
    if (!ranges?.length || !ranges.every(({ isWhole }) => isWhole)) return null;
    const checks = new Map<Storage, string>();
    for (const { input } of ranges) {
      const { storage, offset, strides } = tensorAt(args, input);
      checks.set(storage, `${checks.get(storage) ?? `${storage.contents};${sizes}`};${offset},${strides}`);
    }
    return checks;
  }

  /** Returns whether earlier calls have found these indices to be in range. */
  #havePassed(checks: ReadonlyMap<Storage, string> | null): boolean {
    return checks !== null && [...checks].every(([storage, check]) => this.#passed.get(storage) === check);
  }

  /** Returns whether an input that the program writes shares memory with another one. */
  #sharesWritten(args: readonly unknown[]): boolean {
    return anyShareStorage(args) && this.#parts.convention.written.some((place) => {
      const { storage } = tensorAt(args, place);
      return args.some((other, i) => i !== place && isTensor(other) && other.storage === storage);
    });
  }

  #byOp(args: readonly unknown[]): unknown[] {
    // This module has no index checks of its own, so that an error is reported as that of this graph
    const result = this.#module.forward(...args);
    if (Array.isArray(result)) return result;
    throw new InternalError("Expected a list of outputs from the graph");
  }

  /** A size that only the outputs mention. */
  #boundSize(symbol: Sym, args: readonly unknown[]): number {
    const binding = sizeBindings(this.#module.graph).find((b) => b.symbol === symbol);
    if (!binding) {
      throw new InternalError(`Expected an input that determines the size ${symbol} but found none`);
    }
    return readBinding(binding, args);
  }

  #bytes(buffer: CompiledGraph["outputBuffers"][number], sizeOf: (s: Sym) => number): number {
    return evaluate(buffer.length, sizeOf) * itemSize(buffer.dtype);
  }

  #layout(output: CompiledOutput, sizeOf: (s: Sym) => number): Layout | undefined {
    if (output.kind !== "tensor") return undefined;
    const known = (d: Dim) => evaluate(d, sizeOf);
    const meta = {
      shape: output.shape.map(known),
      strides: output.strides.map(known),
      offset: 0,
      dtype: output.dtype,
      device: this.#parts.device,
    };
    return layoutOf(output.isPairs ? complexMeta(meta) : meta);
  }

  #wrap(output: CompiledOutput, call: Call): unknown {
    switch (output.kind) {
      case "tensor": {
        const layout = this.#static?.layouts[call.at] ?? this.#layout(output, call.sizeOf);
        if (!layout) throw new InternalError("Expected the layout of a tensor output");
        // In elements of the result; an element of a complex tensor counts two of its memory
        const offset = evaluate(output.offset, call.sizeOf) / (output.isPairs ? 2 : 1);
        if (output.of === "input") {
          const base = tensorAt(call.args, this.#parts.convention.inputs[output.index] ?? -1);
          const before = base.offset * itemSize(base.dtype) / itemSize(layout.dtype);
          return new Tensor(base.storage, layout, before + offset);
        }
        const storage = call.storages[output.index];
        if (!storage) throw new InternalError(`Expected an output buffer ${output.index} but found none`);
        return new Tensor(storage, layout, offset);
      }
      case "input":
        return call.args[output.placeholder];
      case "constant":
        return output.value;
      case "size":
        return evaluate(output.size, call.sizeOf);
      default:
        return output satisfies never;
    }
  }
}

interface Call {
  readonly args: readonly unknown[];
  readonly storages: readonly Storage[];
  readonly sizeOf: (symbol: Sym) => number;
  readonly at: number;
}

function noSizes(symbol: Sym): never {
  throw new InternalError(`Expected known sizes but found ${symbol}`);
}

function isStatic(output: CompiledOutput): boolean {
  if (output.kind === "size") return typeof output.size === "number";
  if (output.kind !== "tensor") return true;
  return [output.offset, ...output.shape, ...output.strides].every((d) => typeof d === "number");
}

function tensorAt(args: readonly unknown[], place: number): Tensor {
  const found = args[place];
  if (isTensor(found)) return found;
  throw new DynError(`Expected a tensor at argument ${place} but found ${typeof found}`);
}
