/**
 * The bytes of packages: exported programs with weights and code, which run without the compiler. Invariant: a package
 * records the hash of every file in it, and the target machines of its code.
 */
import { toolchainStatus } from "../backends/cpu/toolchain.ts";
import { wasmForm } from "../backends/wasm/form.ts";
import { type LibraryModule, libraryModuleOf } from "../backends/wasm/library.ts";
import { SIZE_LIMIT } from "../backends/wasm/target.ts";
import { writeForm } from "../backends/wasm/write_form.ts";
import { webGpuForm } from "../backends/webgpu/form.ts";
import { COMMON_LIMITS, writeWebGpuForm } from "../backends/webgpu/write_form.ts";
import { checkOptions } from "../lib/base/checked_input.ts";
import { isComplex } from "../lib/base/dtype.ts";
import { DynError } from "../lib/base/errors.ts";
import { serialize } from "../lib/data/safetensors.ts";
import type { ExportedParts } from "../lib/export/capture.ts";
import { ExportedProgram } from "../lib/export/program.ts";
import { isContiguous } from "../lib/graph/meta.ts";
import { type Argument, isList, Node } from "../lib/graph/node.ts";
import { compileGraph } from "../lib/inductor/compile_graph.ts";
import type { CompiledGraph } from "../lib/inductor/compiled_graph.ts";
import { withIndexChecks } from "../lib/inductor/index_checks.ts";
import type { Program } from "../lib/loops/ir.ts";
import { type Files, writeArchive } from "../lib/base/archive.ts";
import {
  MANIFEST,
  type Manifest,
  numberSymbols,
  type PackagedProgram,
  sha256,
  WEIGHTS,
  writeManifest,
} from "../lib/packages/manifest.ts";
import { findTarget } from "../lib/ops/table.ts";
import { noGrad } from "../lib/tensor/modes.ts";
import { type NativeInput, nativeLibrary } from "./native_library.ts";
import { type OwnResults, ownResults } from "./own_results.ts";

/** Options of `savePackage`. */
export interface SavePackageOptions {
  /** Whether native code for this machine is included; default: if there is a compiler. */
  readonly native?: boolean | undefined;
}

const WASM = "wasm.json",
  UNFUSED = "wasm_unfused.json",
  SHADERS = "webgpu.json",
  LIBRARY = "library.so";

/** The bytes of a package. */
export async function packageBytes(
  program: ExportedProgram,
  options: SavePackageOptions = {},
): Promise<Uint8Array<ArrayBuffer>> {
  checkOptions("savePackage", { native: ["boolean"] }, options);
  if (!(program instanceof ExportedProgram)) {
    throw new DynError(`Expected a program that compiler.export gave but found ${typeof program}`);
  }
  const { native = toolchainStatus().kind === "ready" } = options, { parts } = program;
  refuseOthers(parts);
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  const encode = (text: string) => new TextEncoder().encode(text);
  const tensors = Object.fromEntries([...parts.held].map(([name, { tensor }]) => [name, tensor]));
  const weights = new Uint8Array(serialize(tensors));
  files.set(WEIGHTS, weights);
  const functional = ownResults(parts);
  const { compiled, mutations, packaged } = noGrad(() => compileParts(parts, functional));
  const forGpu = noGrad(() => compileParts(parts, functional, COMMON_LIMITS.kernelBuffers));
  const shaders = writeWebGpuForm(forGpu.compiled.program);
  const symbols = numberSymbols(parts.call);
  const memory = { shared: false, maximum: 65536 };
  const library = libraryOf(compiled.program).map(({ name, words, write }) => {
    const file = `${name}.wasm`;
    files.set(file, write(memory));
    return { name, file, words };
  });
  for (const fuses of [true, false]) {
    const form = writeForm(compiled.program, { limit: SIZE_LIMIT, fuses, memory });
    symbols.locals.clear();
    files.set(fuses ? WASM : UNFUSED, encode(JSON.stringify(wasmForm.write(form, symbols))));
  }
  if (shaders) {
    symbols.locals.clear();
    files.set(SHADERS, encode(JSON.stringify(webGpuForm.write(shaders, symbols))));
  }
  const manifest: Omit<Manifest, "files" | "native"> = {
    call: parts.call,
    inputs: parts.inputs,
    resultTree: parts.resultTree,
    results: parts.results,
    mutations,
    program: packaged,
    wasm: { file: WASM, unfused: UNFUSED, limit: SIZE_LIMIT, library },
    webgpu: shaders && { file: SHADERS, program: forGpu.packaged },
  };
  let target: Manifest["native"] = null;
  if (native) {
    const prefix = `dyn_${parts.call.name.replace(/\W/g, "_").toLowerCase()}`, header = `${prefix}.h`;
    const made = nativeLibrary({
      prefix,
      call: parts.call,
      loops: compiled.program,
      program: packaged,
      inputs: packaged.inputs.map((at) => nativeInput(parts, at, weights)),
      mutations: mutations.map(({ input, result }) => ({ input: packaged.inputs.indexOf(input), result })),
      results: packaged.results.length - mutations.length,
    });
    files.set(LIBRARY, made.library);
    files.set(header, encode(made.header));
    target = { ...made.target, file: LIBRARY, header };
  }
  const hashes = await Promise.all(
    [...files].map(async ([name, bytes]) => ({ name, sha256: await sha256(bytes) })),
  );
  const text = writeManifest({ ...manifest, native: target, files: hashes });
  const all: Files = new Map([[MANIFEST, encode(text)], ...files]);
  return writeArchive(all);
}

/** The library modules that a program's calls need. */
function libraryOf({ kernels }: Program): readonly LibraryModule[] {
  const found = new Map<string, LibraryModule>();
  for (const each of kernels) {
    const module = each.kind === "extern" ? libraryModuleOf(each.call) : null;
    if (module) found.set(module.name, module);
  }
  return [...found.values()];
}

/** Throws for inputs that a package does not support. */
function refuseOthers({ functional: { graph }, call: { name } }: ExportedParts): void {
  for (const { name: node, op, meta: { value } } of graph.nodes) {
    if (value.kind !== "tensor") continue;
    const { dtype, device } = value.tensor, isLaidOut = op !== "placeholder" || isContiguous(value.tensor);
    if (device === "cpu" && !isComplex(dtype) && isLaidOut) continue;
    throw new DynError(
      `Expected real tensors on the CPU, in row-major order where they are handed in, in ${name} but found ${dtype} on ` +
        `${device} at ${node}`,
    );
  }
}

interface CompiledParts {
  readonly compiled: CompiledGraph;
  readonly packaged: PackagedProgram;
  readonly mutations: Manifest["mutations"];
}

/** Compiles to a program of loops, whose kernels access a limited number of buffers, and its calling convention. */
function compileParts(
  parts: ExportedParts,
  { functional, mutations }: OwnResults,
  maxBuffers = Infinity,
): CompiledParts {
  const lookup = (target: string) => findTarget(target)?.definition;
  const checked = withIndexChecks(functional.graph, lookup), graph = checked?.graph ?? functional.graph;
  const count = listed(functional.graph).length;
  const compiled = compileGraph(graph, lookup, {
    name: "inference",
    maxBuffers,
    signature: {
      mutatedInputs: [],
      ownResults: count,
      ...checked ? { failure: listed(graph).length - 1 } : {},
    },
  });
  const { program, inputs, outputBuffers, outputs } = compiled;
  const results = outputs.slice(0, count).map((output) => {
    const isWhole = output.kind === "tensor" && output.of === "output" && output.offset === 0 &&
      isContiguous(output) && !output.isPairs;
    if (!isWhole) {
      throw new DynError(`Expected results of ${parts.call.name} of their own but found a view`);
    }
    return { buffer: output.index, shape: output.shape, dtype: output.dtype };
  });
  return {
    compiled,
    mutations,
    packaged: {
      sizes: program.sizes,
      inputs,
      buffers: outputBuffers.map(({ length, dtype }) => ({ length, dtype })),
      results,
      flag: program.guard ? program.outputs.indexOf(program.guard.flag) : null,
    },
  };
}

function listed({ output }: ExportedParts["functional"]["graph"]): readonly (Node | null)[] {
  const [list = null] = output.args, all: readonly Argument[] = isList(list) ? list : [];
  return all.map((each) => each instanceof Node ? each : null);
}

/** Returns the source of a program's memory. */
function nativeInput(parts: ExportedParts, at: number, weights: Uint8Array<ArrayBuffer>): NativeInput {
  const value = parts.inputs[at]?.value;
  if (value?.kind === "argument") {
    const spec = parts.call.arguments[value.leaf];
    if (spec?.kind === "tensor") {
      return { kind: "argument", name: parts.inputs[at]?.name ?? "", shape: spec.shape, dtype: spec.dtype };
    }
  }
  if (value?.kind !== "held") throw new DynError(`Expected a tensor as input ${at} of ${parts.call.name}`);
  const length = Number(new DataView(weights.buffer).getBigUint64(0, true));
  const header: Readonly<Record<string, { readonly data_offsets: readonly [number, number] }>> = JSON.parse(
    new TextDecoder().decode(weights.subarray(8, 8 + length)),
  );
  const [from = 0, to = 0] = header[value.name]?.data_offsets ?? [];
  return { kind: "held", name: value.name, offset: 8 + length + from, bytes: to - from };
}
