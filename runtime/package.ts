/**
 * Packages: programs that run without their compiler. Invariant: nothing of a package is used before its hash and its
 * target have been checked; native code runs only if the caller requests it.
 */
import { checkOptions, refuseSurplus } from "../lib/base/checked_input.ts";
import { showAsText } from "../lib/base/console_text.ts";
import { itemSize } from "../lib/base/dtype.ts";
import { DynError } from "../lib/base/errors.ts";
import { unflatten } from "../lib/base/tree.ts";
import { contiguousStrides } from "../lib/graph/meta.ts";
import { type Files, readArchive } from "../lib/base/archive.ts";
import { checkCall, type Holding, leavesOf, type ValueSource } from "../lib/packages/call_spec.ts";
import {
  MANIFEST,
  type Manifest,
  type PackagedProgram,
  type ReadManifest,
  readManifest,
  sha256,
  WEIGHTS,
} from "../lib/packages/manifest.ts";
import { evaluate } from "../lib/sym/expr.ts";
import { engineFuses } from "../backends/wasm/target.ts";
import { emptyTensor, PackageTensor } from "./tensor.ts";
import { type Session, type SessionCall, wasmSession } from "./wasm_session.ts";
import type { LaterSession } from "./webgpu_session.ts";
import { readWeights } from "./weights.ts";

/** Options of `loadPackage`. */
export interface LoadPackageOptions {
  /**
   * Whether to run the package's native code; default false. Code runs unchecked: enable it only for packages that you
   * trust.
   */
  readonly native?: boolean | undefined;
  /**
   * Whether to run the package's shaders if it has any and there is an adapter, and WebAssembly otherwise; default
   * false. On WebGPU results are asynchronous: use `run`.
   */
  readonly webgpu?: boolean | undefined;
  /** Threads of native code; default 1. */
  readonly threads?: number | undefined;
  /** Expected SHA-256 of the whole file, in hexadecimal. */
  readonly sha256?: string | undefined;
}

/** The engine of a program. */
type Engine =
  | { readonly name: "wasm" | "native"; readonly session: Session; readonly program: PackagedProgram }
  | { readonly name: "webgpu"; readonly session: LaterSession; readonly program: PackagedProgram };

/** A checked call: the arguments of the session, and the form of its results. */
interface ReadyCall {
  readonly call: SessionCall;
  readonly finish: () => unknown;
}

/** A program of a package. */
export class Package {
  readonly #manifest: Manifest;
  readonly #engine: Engine;
  readonly #holding: Holding<PackageTensor>;
  readonly #mutated: ReadonlySet<number>;
  /** The completion of the last call by `run`. */
  #last: Promise<unknown> = Promise.resolve();

  /** @internal */
  constructor(manifest: Manifest, engine: Engine, held: ReadonlyMap<string, PackageTensor>) {
    this.#manifest = manifest;
    this.#engine = engine;
    this.#mutated = new Set(manifest.mutations.map(({ input }) => input));
    this.#holding = {
      is: (value): value is PackageTensor => value instanceof PackageTensor,
      metaOf: ({ shape, dtype }) => ({
        shape,
        strides: contiguousStrides(shape).map(Number),
        offset: 0,
        dtype,
        device: "cpu",
      }),
      contiguous: (tensor) => tensor,
      held,
    };
  }

  /** The name of the function or of the module's class. */
  get name(): string {
    return this.#manifest.call.name;
  }

  /** Its engine: "wasm", "native" or "webgpu". */
  get engine(): "wasm" | "native" | "webgpu" {
    return this.#engine.name;
  }

  /** Copies of the tensors that the program holds, by name. */
  get stateDict(): Readonly<Record<string, PackageTensor>> {
    return Object.fromEntries(
      [...this.#holding.held].map(([name, { data, shape, dtype }]) => [
        name,
        new PackageTensor(data.slice(), shape, dtype),
      ]),
    );
  }

  /**
   * Runs the program. Throws DynError for arguments whose structure, type or size differs from the exported ones, and
   * on WebGPU, which needs `run`.
   */
  call(...args: unknown[]): unknown {
    const { name, session } = this.#engine;
    if (name === "webgpu") {
      throw new DynError(`Expected await run(…) of ${this.name} on WebGPU but found call(…)`);
    }
    const { call, finish } = this.#ready(args);
    session.run(call);
    return finish();
  }

  /**
   * Runs the program, after the calls before. Arguments must not change until it ends. Rejects where `call` would
   * throw.
   */
  run(...args: unknown[]): Promise<unknown> {
    const ended = this.#last.then(async () => {
      const { call, finish } = this.#ready(args);
      await this.#engine.session.run(call);
      return finish();
    });
    this.#last = ended.catch(() => {});
    return ended;
  }

  /** The name, the engine, and the names of the tensors that it holds. */
  toString(): string {
    const held = [...this.#holding.held].map(([name, { dtype, shape }]) =>
      `\n  (${name}): ${dtype}[${shape.join(", ")}]`
    );
    return `Package(${this.name}, engine=${this.engine}${held.join("")}${held.length > 0 ? "\n" : ""})`;
  }

  #ready(args: readonly unknown[]): ReadyCall {
    const { call: spec, inputs, mutations, results, resultTree } = this.#manifest, { program } = this.#engine;
    const { leaves, sizeOf } = checkCall(spec, args, this.#holding);
    const valueOf = (value: ValueSource): PackageTensor => {
      const found = value.kind === "argument" ? leaves[value.leaf] : this.#holding.held.get(value.name);
      if (found instanceof PackageTensor) return found;
      throw new DynError(`Expected a tensor as an input of ${this.name} but found none`);
    };
    const inputAt = (at: number): PackageTensor => {
      const value = inputs[at]?.value;
      if (!value || value.kind === "size") {
        throw new DynError(`Expected a tensor as input ${at} but found a size`);
      }
      return valueOf(value);
    };
    const outputs = program.buffers.map(({ length, dtype }) => {
      const bytes = evaluate(length, sizeOf) * itemSize(dtype);
      // Kernels may access whole vectors
      return new Uint8Array(new ArrayBuffer(Math.ceil(bytes / 64) * 64), 0, bytes);
    });
    const call: SessionCall = {
      inputs: program.inputs.map((at) => ({
        bytes: inputAt(at).bytes,
        kept: inputs[at]?.value.kind === "held" && !this.#mutated.has(at),
      })),
      outputs,
      sizes: program.sizes.map(sizeOf),
    };
    const finish = () => {
      if (program.flag !== null && outputs[program.flag]?.[0] !== 0) {
        throw new DynError("Expected every index to lie in its dimension but found one that does not");
      }
      const tensors = program.results.map(({ buffer, shape, dtype }) => {
        const tensor = emptyTensor(shape.map((size) => evaluate(size, sizeOf)), dtype);
        tensor.bytes.set(outputs[buffer]?.subarray(0, tensor.bytes.length) ?? []);
        return tensor;
      });
      for (const { input, result } of mutations) {
        const value = tensors[result];
        if (value) inputAt(input).bytes.set(value.bytes);
      }
      return unflatten(resultTree, leavesOf(results, tensors, valueOf));
    };
    return { call, finish };
  }
}

async function bytesOf(source: string | URL | Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  if (source instanceof Uint8Array) return new Uint8Array(source);
  if ("Deno" in globalThis && !/^https?:/.test(String(source))) return await Deno.readFile(source);
  const response = await fetch(source);
  if (!response.ok) throw new DynError(`Expected a package at ${source} but found ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

/**
 * Reads a package from a file, a URL or its bytes, and prepares it to run by WebAssembly, or by its native code or
 * shaders if `native` or `webgpu` is set. Throws DynError if hashes do not match, or the code is for another machine.
 */
export async function loadPackage(
  source: string | URL | Uint8Array,
  options: LoadPackageOptions = {},
): Promise<Package> {
  if (arguments.length > 2) refuseSurplus("loadPackage", 2, arguments);
  checkOptions("loadPackage", {
    native: ["boolean"],
    webgpu: ["boolean"],
    threads: ["number"],
    sha256: ["string"],
  }, options);
  const bytes = await bytesOf(source);
  if (options.sha256 !== undefined) refuseHash("the package", options.sha256, await sha256(bytes));
  const files = readArchive(bytes), { manifest, symbols } = readManifest(textOf(files, MANIFEST));
  const named = new Map(manifest.files.map((file) => [file.name, file.sha256]));
  await Promise.all([...files].map(async ([name, file]) => {
    if (name !== MANIFEST) refuseHash(name, named.get(name) ?? "none", await sha256(file));
  }));
  const held = readWeights(fileOf(files, WEIGHTS));
  return new Package(manifest, await engineOf({ files, manifest, symbols }, options), held);
}

showAsText(Package.prototype);

/** Chooses the engine of a program. */
async function engineOf(
  { files, manifest, symbols }: ReadManifest & { readonly files: Files },
  { native = false, webgpu = false, threads = 1 }: LoadPackageOptions,
): Promise<Engine> {
  const { program } = manifest;
  if (native && webgpu) throw new DynError("Expected native or webgpu but found both");
  if (native) {
    if (!manifest.native) throw new DynError("Expected native code in the package but found none");
    const { nativeSession } = await import("./native_session.ts");
    const session = nativeSession(fileOf(files, manifest.native.file), manifest.native, threads);
    return { name: "native", session, program };
  }
  if (webgpu && manifest.webgpu) {
    const { webGpuSession } = await import("./webgpu_session.ts");
    const session = await webGpuSession(JSON.parse(textOf(files, manifest.webgpu.file)), symbols);
    if (session) return { name: "webgpu", session, program: manifest.webgpu.program };
  }
  const { file, unfused, limit, library: named } = manifest.wasm;
  const form = JSON.parse(textOf(files, engineFuses() ? file : unfused));
  const library = named.map(({ name, words, file }) => ({ name, words, bytes: fileOf(files, file) }));
  return { name: "wasm", session: wasmSession({ form, symbols, limit, library }), program };
}

function refuseHash(what: string, wanted: string, found: string): void {
  if (wanted.toLowerCase() === found) return;
  throw new DynError(`Expected ${what} with the hash ${wanted} but found ${found}`);
}

function fileOf(files: Files, name: string): Uint8Array<ArrayBuffer> {
  const found = files.get(name);
  if (found) return found;
  throw new DynError(`Expected ${name} in the package but found ${[...files.keys()].join(", ")}`);
}

const textOf = (files: Files, name: string): string => new TextDecoder().decode(fileOf(files, name));
