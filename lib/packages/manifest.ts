/**
 * The manifest of a package, `manifest.json`: its contents and how they are run. It is read over the reader's own
 * symbols. Invariant: every other file of the package is named with its hash.
 */
import { DynError, messageOf } from "../base/errors.ts";
import type { DType } from "../base/dtype.ts";
import type { Plain } from "../base/recording.ts";
import type { TreeSpec } from "../base/tree.ts";
import { dtype } from "../graph/stored/values.ts";
import { type Dim, type Sym, symbol as newSymbol } from "../sym/expr.ts";
import { type Codec, list, number, orNull, record, text } from "../sym/stored/codec.ts";
import { DamagedForm, recordIn, textIn } from "../sym/stored/forms.ts";
import { dim, symbol } from "../sym/stored/dims.ts";
import { Symbols } from "../sym/stored/symbols.ts";
import { tree } from "../sym/stored/tree.ts";
import { inputSpec, readCall, resultSpec, writeCall } from "./call_forms.ts";
import type { CallSpec, InputSpec, ResultSpec } from "./call_spec.ts";

/** Files of a package. */
export const MANIFEST = "manifest.json", WEIGHTS = "weights.safetensors";

/** Incremented when readers of another version cannot run the contents. */
const FORMAT = "dyn.package", VERSION = 2;

/** A memory that a program fills. */
interface PackagedBuffer {
  readonly length: Dim;
  readonly dtype: DType;
}

/** A tensor that a program returns, in row-major order from the start of a memory. */
interface PackagedResult {
  readonly buffer: number;
  readonly shape: readonly Dim[];
  readonly dtype: DType;
}

/** A program and its calling convention. */
export interface PackagedProgram {
  /** Its sizes, in the order in which it takes them. */
  readonly sizes: readonly Sym[];
  /** For each memory that it reads, the input of the graph. */
  readonly inputs: readonly number[];
  readonly buffers: readonly PackagedBuffer[];
  readonly results: readonly PackagedResult[];
  /** The memory of a bool that shows whether an index is out of range; null: there is none. */
  readonly flag: number | null;
}

/** New values of inputs that the program writes to. */
export interface PackagedMutation {
  readonly input: number;
  readonly result: number;
}

/** Code for WebAssembly. */
interface WasmTarget {
  readonly file: string;
  /** The code for engines whose fused multiply-add rounds twice. */
  readonly unfused: string;
  /** The exclusive upper bound of sizes. */
  readonly limit: number;
  /** Products and convolutions, if there are any. */
  readonly library: readonly WasmLibrary[];
}

/** A module that kernels share. */
interface WasmLibrary {
  readonly name: string;
  readonly file: string;
  /** Layout of the words that callers pass; a runtime that passes other words writes its own. */
  readonly words: string;
}

/** Shaders for WebGPU that need only the limits of every device. */
interface WebGpuTarget {
  readonly file: string;
  /** Inputs and outputs of the shaders. */
  readonly program: PackagedProgram;
}

/** Code for one kind of processor. */
export interface NativeTarget {
  readonly file: string;
  readonly header: string;
  /** The platform, as `Deno.build` names it. */
  readonly os: string;
  readonly arch: string;
  /** Required instruction set features of the processor, as the system names them. */
  readonly features: readonly string[];
  /** Prefix of the library's functions. */
  readonly prefix: string;
}

/** The contents of a package. */
export interface Manifest {
  readonly call: CallSpec;
  readonly inputs: readonly InputSpec[];
  readonly resultTree: TreeSpec;
  readonly results: readonly ResultSpec[];
  readonly mutations: readonly PackagedMutation[];
  readonly program: PackagedProgram;
  readonly wasm: WasmTarget;
  /** Null if WGSL cannot express the program. */
  readonly webgpu: WebGpuTarget | null;
  readonly native: NativeTarget | null;
  /** SHA-256 of every other file, in hexadecimal. */
  readonly files: readonly PackagedFile[];
}

/** A file and its hash. */
interface PackagedFile {
  readonly name: string;
  readonly sha256: string;
}

const program: Codec<PackagedProgram> = record<PackagedProgram>({
  sizes: list(symbol),
  inputs: list(number),
  buffers: list(record<PackagedBuffer>({ length: dim, dtype })),
  results: list(record<PackagedResult>({ buffer: number, shape: list(dim), dtype })),
  flag: orNull(number),
});

const wasm = record<WasmTarget>({
  file: text,
  unfused: text,
  limit: number,
  library: list(record<WasmLibrary>({ name: text, file: text, words: text })),
});
const webgpu = record<WebGpuTarget>({ file: text, program });
const native = record<NativeTarget>({
  file: text,
  header: text,
  os: text,
  arch: text,
  features: list(text),
  prefix: text,
});
const mutations = list(record<PackagedMutation>({ input: number, result: number }));
const files = list(record<PackagedFile>({ name: text, sha256: text }));

/** Numbers the symbols of a manifest, for files next to it. */
export function numberSymbols(call: CallSpec): Symbols {
  const symbols = new Symbols();
  writeCall(call, symbols);
  symbols.isOpen = false;
  return symbols;
}

/** The text of a manifest. Throws NotStorable. */
export function writeManifest(manifest: Manifest): string {
  const symbols = new Symbols(), call = writeCall(manifest.call, symbols);
  symbols.isOpen = false;
  return JSON.stringify({
    format: FORMAT,
    version: VERSION,
    call,
    inputs: list(inputSpec).write(manifest.inputs, symbols),
    resultTree: tree.write(manifest.resultTree, symbols),
    results: list(resultSpec).write(manifest.results, symbols),
    mutations: mutations.write(manifest.mutations, symbols),
    program: program.write(manifest.program, symbols),
    wasm: wasm.write(manifest.wasm, symbols),
    webgpu: orNull(webgpu).write(manifest.webgpu, symbols),
    native: orNull(native).write(manifest.native, symbols),
    files: files.write(manifest.files, symbols),
  });
}

/** A manifest, and the symbols that the other files mention by number. */
export interface ReadManifest {
  readonly manifest: Manifest;
  readonly symbols: Symbols;
}

/** Sizes of a package are known in each call, so no decision is made earlier. */
function undecided(): never {
  throw new DynError("Expected known sizes in a package but found a condition on one");
}

/** Reads a manifest. Throws DynError for another text. */
export function readManifest(source: string): ReadManifest {
  try {
    const form: Plain = JSON.parse(source), fields = recordIn(form), symbols = new Symbols();
    if (fields.format !== FORMAT || fields.version !== VERSION) {
      const found = `${textIn(fields.format ?? "nothing")} ${fields.version}`;
      throw new DamagedForm(`Expected ${FORMAT} ${VERSION} but found ${found}`);
    }
    const call = readCall(
      recordIn(fields.call),
      symbols,
      (name, _, bounds) =>
        newSymbol(name, { kind: "size", decider: { hintOf: undecided, assume: undecided } }, bounds),
    );
    const get = (name: string): Plain => fields[name] ?? null;
    const manifest: Manifest = {
      call,
      inputs: list(inputSpec).read(get("inputs"), symbols),
      resultTree: tree.read(get("resultTree"), symbols),
      results: list(resultSpec).read(get("results"), symbols),
      mutations: mutations.read(get("mutations"), symbols),
      program: program.read(get("program"), symbols),
      wasm: wasm.read(get("wasm"), symbols),
      webgpu: orNull(webgpu).read(get("webgpu"), symbols),
      native: orNull(native).read(get("native"), symbols),
      files: files.read(get("files"), symbols),
    };
    return { manifest, symbols };
  } catch (error) {
    if (!(error instanceof DamagedForm || error instanceof SyntaxError)) throw error;
    throw new DynError(
      `Expected the manifest of a package but found one that is damaged: ${messageOf(error)}`,
      {
        cause: error,
      },
    );
  }
}

/** SHA-256 in hexadecimal. */
export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}
