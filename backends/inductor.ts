/**
 * The inductor as a compiler of graphs: from a GraphModule to a function over tensors. Input: a functional graph
 * as lib/graph/signature.ts describes it; output: a function that runs one compiled program per call and wraps
 * its results. Invariant: what the program writes into an input's memory is seen by nobody who should not see
 * it: inputs that share memory with a written one make the call run op by op.
 */
import { aotAutograd } from "../lib/aot/backend.ts";
import { config } from "../lib/base/config.ts";
import { itemSize } from "../lib/base/dtype.ts";
import { DynError, InternalError, noteUndone } from "../lib/base/errors.ts";
import { logs } from "../lib/base/logs.ts";
import { recording } from "../lib/base/recording.ts";
import type { GraphBackend } from "../lib/graph/backend.ts";
import { GraphModule } from "../lib/graph/graph_module.ts";
import { readBinding, type SizeBinding, sizeBindings } from "../lib/graph/sizes.ts";
import type { CompiledGraph, CompiledOutput } from "../lib/inductor/assemble.ts";
import { type Candidate, compileGraph } from "../lib/inductor/compile_graph.ts";
import { type InputRange, withIndexChecks } from "../lib/inductor/index_checks.ts";
import { type CompiledProgram, type DeviceName, findDevice, type Memory } from "../lib/loops/device.ts";
import type { Program } from "../lib/loops/ir.ts";
import { outputsOf } from "../lib/ops/rewrite/contract.ts";
import { findTarget } from "../lib/ops/table.ts";
import { type Dim, evaluate, type Sym } from "../lib/sym/expr.ts";
import { type Layout, layoutOf } from "../lib/tensor/layout.ts";
import { allocateStorage, deviceNamed, type Storage } from "../lib/tensor/storage.ts";
import { isTensor, Tensor } from "../lib/tensor/tensor.ts";
import { autotune } from "./cpu/autotune.ts";
import { toolchainStatus } from "./cpu/toolchain.ts";
import { ResultMemory } from "./result_memory.ts";

/** The backend "inductor": differentiated ahead of time, then compiled to fused kernels. */
export const inductor: GraphBackend = aotAutograd({ fwCompiler: (gm) => compileWithInductor(gm) });

/** How the inductor reports what it made, for `explain`, debug folders and tests. */
export interface InductorOptions {
  readonly name?: string;
  /** Told about the finished program. */
  readonly compiled?: (graph: CompiledGraph, program: CompiledProgram) => void;
}

/** Compiles a functional graph for the device that its tensors are on. */
export function compileWithInductor(
  original: GraphModule,
  options: InductorOptions = {},
): (...args: unknown[]) => unknown[] {
  const device = deviceOf(original);
  const checked = indexChecked(original, device);
  const module = checked?.module ?? original;
  const { graph, signature } = module;
  const name = options.name ?? signature?.role ?? "graph";
  const compiled = compileGraph(graph, (target) => findTarget(target)?.definition, {
    name,
    ...(signature ? { signature } : {}),
    maxBuffers: findDevice(device)?.maxKernelBuffers ?? Infinity,
    ...(config.inductor.maxAutotune ? { choose: chooserFor(device) } : {}),
  });
  const program = compiled.program.kernels.length > 0
    ? recording.phase("kernels", () => deviceNamed(device).compile(compiled.program), { device })
    : undefined;
  if (program) {
    logs.emit("output_code", () => program.source, { part: name, meta: { language: program.language } });
  }
  if (program) options.compiled?.(compiled, program);
  const runner = new GraphRunner(module, {
    compiled,
    program,
    device,
    results: resultMemory(module, device),
    ranges: checked?.inputs ?? null,
    unchecked: original,
  });
  if (!checked) return (...args) => runner.run(args) ?? [];
  return (...args) => {
    const results = runner.run(args);
    if (results) return results;
    // Op by op the error names the index.
    original.forward(...args);
    throw noteUndone(
      new DynError("Expected every index to lie in its dimension but found one that does not"),
      original.graph,
    );
  };
}

interface CheckedModule {
  readonly module: GraphModule;
  readonly inputs: readonly InputRange[] | null;
}

/**
 * The graph with checks of its indices, told by one more output; null where it has none, where the host cannot wait for
 * the answer, and for backward graphs, whose indices the forward graph has checked.
 */
function indexChecked(module: GraphModule, device: DeviceName): CheckedModule | null {
  const { signature } = module;
  if (!deviceNamed(device).synchronousReads || signature?.role === "backward") return null;
  const checked = withIndexChecks(module.graph, (target) => findTarget(target)?.definition);
  if (!checked) return null;
  const { graph } = checked;
  // Where the host reads the answer for nothing, knowing it beforehand brings nothing.
  const inputs = deviceNamed(device).hostReadable ? null : checked.inputs;
  const failure = outputsOf(graph).length - 1;
  const known = signature ?? { role: "inference", mutatedInputs: [], ownResults: 0 };
  return { module: new GraphModule(graph, module.attributes, module.runner, { ...known, failure }), inputs };
}

/** How the forms of a program are compared on a device; where nothing can be compared, the usual one stays. */
function chooserFor(device: DeviceName): (candidates: readonly [Candidate, ...Candidate[]]) => Program {
  if (device === "cpu" && toolchainStatus().kind === "ready") return autotune;
  return ([{ program }]) => {
    logs.emit("perf_hints", `max-autotune has no alternatives for ${program.name} on ${device}`);
    return program;
  };
}

/** Memory for results that live until the next call, where the settings ask for it and gradients allow it. */
function resultMemory({ signature }: GraphModule, device: DeviceName): ResultMemory | undefined {
  if (!config.inductor.staticResults) return undefined;
  const role = signature?.role ?? "inference";
  if (role === "inference") return new ResultMemory(device);
  if (role === "forward") {
    logs.emit("perf_hints", "Results of a graph need gradients, so each call gives them memory of its own");
  }
  return undefined;
}

interface RunnerParts {
  readonly compiled: CompiledGraph;
  /** Absent where there is nothing to compute. */
  readonly program: CompiledProgram | undefined;
  readonly device: DeviceName;
  /** Where results are if not in memory of their own. */
  readonly results: ResultMemory | undefined;
  /** Ranges of inputs' elements under which no index check fails; null: not to be told from inputs. */
  readonly ranges: readonly InputRange[] | null;
  /** The graph as it was given, without checks of indices. */
  readonly unchecked: GraphModule;
}

/** Runs one compiled graph. */
class GraphRunner {
  readonly #module: GraphModule;
  readonly #parts: RunnerParts;
  readonly #bindings: readonly SizeBinding[];
  readonly #written: readonly number[];
  readonly #placeholderCount: number;
  /** Layouts and byte counts of results where no size is symbolic. */
  readonly #static:
    | { readonly layouts: readonly (Layout | undefined)[]; readonly bytes: readonly number[] }
    | undefined;

  constructor(module: GraphModule, parts: RunnerParts) {
    this.#module = module;
    this.#parts = parts;
    const { compiled } = parts;
    const { program } = compiled;
    const offered = new Map(sizeBindings(module.graph).map((b) => [b.symbol, b]));
    this.#bindings = program.sizes.map((symbol) => {
      const binding = offered.get(symbol);
      if (!binding) throw new InternalError(`Expected an input that gives the size ${symbol} but found none`);
      return binding;
    });
    this.#written = program.inputs.flatMap((id, i) => {
      const role = program.buffers[id]?.role;
      return role?.kind === "input" && role.written ? [compiled.inputs[i] ?? -1] : [];
    });
    this.#placeholderCount = module.graph.placeholders.length;
    const fixed = compiled.outputBuffers.every((b) => typeof b.length === "number") &&
      compiled.outputs.every(isStatic);
    this.#static = fixed
      ? {
        layouts: compiled.outputs.map((o) => this.#layout(o, noSizes)),
        bytes: compiled.outputBuffers.map((b) => this.#bytes(b, noSizes)),
      }
      : undefined;
  }

  /** The outputs, without the one that tells of failure; null where the call fails. */
  run(args: readonly unknown[]): unknown[] | null {
    const { compiled, program, device, results } = this.#parts;
    if (args.length !== this.#placeholderCount) {
      throw new DynError(`Expected ${this.#placeholderCount} arguments but found ${args.length}`);
    }
    if (this.#written.length > 0 && this.#sharesWritten(args)) {
      logs.emit("perf_hints", "Inputs share memory with one that is written; the call runs op by op");
      return this.#byOp(args);
    }
    const sizes = this.#bindings.map((binding) => readBinding(binding, args));
    const sizeOf = (symbol: Sym): number => {
      const at = compiled.program.sizes.indexOf(symbol);
      return sizes[at] ?? this.#boundSize(symbol, args);
    };
    const bytes = this.#static?.bytes ?? compiled.outputBuffers.map((b) => this.#bytes(b, sizeOf));
    const storages = results?.take(bytes, args) ??
      bytes.map((n, k) => allocateStorage(device, n, compiled.outputBuffers[k]));
    const inputs: Memory[] = [], byteOffsets: number[] = [];
    for (const placeholder of compiled.inputs) {
      const tensor = tensorAt(args, placeholder);
      inputs.push(tensor.storage.memory);
      byteOffsets.push(tensor.offset * itemSize(tensor.dtype));
    }
    const outputs = storages.map((s) => s.memory);
    for (let i = 0; i < outputs.length; i++) byteOffsets.push(0);
    const passes = this.#passes(args, sizeOf);
    if (program && !program.run({ inputs, outputs, byteOffsets, sizes, passes })) {
      for (const storage of storages) storage.release();
      return null;
    }
    const wrapped = compiled.outputs.map((output, i) =>
      this.#wrap(output, { args, storages, sizeOf, at: i })
    );
    if (compiled.program.guard) {
      const flag = wrapped.pop();
      if (isTensor(flag)) flag.storage.release();
    }
    return wrapped;
  }

  /** Whether what is known of the inputs' elements says that no index is out of range. */
  #passes(args: readonly unknown[], sizeOf: (symbol: Sym) => number): boolean {
    const { ranges } = this.#parts;
    return ranges !== null && ranges.every(({ input, low, high }) => {
      const { bounds } = tensorAt(args, input).storage;
      return bounds !== undefined && evaluate(low, sizeOf) <= bounds.least &&
        bounds.greatest < evaluate(high, sizeOf);
    });
  }

  /** Whether an input that the program writes shares memory with another one. */
  #sharesWritten(args: readonly unknown[]): boolean {
    return this.#written.some((place) => {
      const { storage } = tensorAt(args, place);
      return args.some((other, i) => i !== place && isTensor(other) && other.storage === storage);
    });
  }

  #byOp(args: readonly unknown[]): unknown[] {
    // The graph without checks of its own, so that an error is known as that of this graph
    const result = this.#parts.unchecked.forward(...args);
    if (Array.isArray(result)) return result;
    throw new InternalError("Expected a list of outputs from the graph");
  }

  /** A size that only the outputs mention. */
  #boundSize(symbol: Sym, args: readonly unknown[]): number {
    const binding = sizeBindings(this.#module.graph).find((b) => b.symbol === symbol);
    if (!binding) throw new InternalError(`Expected an input that gives the size ${symbol} but found none`);
    return readBinding(binding, args);
  }

  #bytes(buffer: CompiledGraph["outputBuffers"][number], sizeOf: (s: Sym) => number): number {
    return evaluate(buffer.length, sizeOf) * itemSize(buffer.dtype);
  }

  #layout(output: CompiledOutput, sizeOf: (s: Sym) => number): Layout | undefined {
    if (output.kind !== "tensor") return undefined;
    const known = (d: Dim) => evaluate(d, sizeOf);
    return layoutOf({
      shape: output.shape.map(known),
      strides: output.strides.map(known),
      dtype: output.dtype,
      device: this.#parts.device,
    });
  }

  #wrap(output: CompiledOutput, call: Call): unknown {
    switch (output.kind) {
      case "tensor": {
        const layout = this.#static?.layouts[call.at] ?? this.#layout(output, call.sizeOf);
        if (!layout) throw new InternalError("Expected the layout of a tensor output");
        const offset = evaluate(output.offset, call.sizeOf);
        if (output.of === "input") {
          const base = tensorAt(call.args, this.#parts.compiled.inputs[output.index] ?? -1);
          return new Tensor(base.storage, layout, base.offset + offset);
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

/** The device of a graph's tensors: inputs first, else results. */
function deviceOf({ graph }: GraphModule): DeviceName {
  for (const node of graph.nodes) {
    const { value } = node.meta;
    if (value.kind === "tensor") return value.tensor.device;
  }
  return "cpu";
}
