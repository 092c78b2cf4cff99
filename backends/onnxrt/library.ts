/**
 * ONNX Runtime from npm: its native module, found by ONNXRUNTIME_NODE, in `node_modules` folders or in Deno's cache.
 * Invariants: nothing is downloaded, and no other program of the package runs; its calls are synchronous.
 */
import process from "node:process";
import { dirname, join } from "node:path";
import { DynError, messageOf } from "../../lib/base/errors.ts";
import { environmentVariable } from "../../lib/base/permissions.ts";
import { ORT_NEEDS, ORT_PACKAGE } from "../engine_needs.ts";

/** A tensor as the native module accepts and returns it. */
export class OrtTensor {
  readonly location = "cpu";
  constructor(readonly type: string, readonly data: ArrayBufferView, readonly dims: readonly number[]) {}
}

/** A loaded model. */
interface OrtSession {
  loadModel(
    buffer: ArrayBuffer,
    byteOffset: number,
    byteLength: number,
    options: Readonly<Record<string, unknown>>,
  ): void;
  /** Writes into the tensors of `fetches`; creates those that are null. */
  run(
    feeds: Readonly<Record<string, OrtTensor>>,
    fetches: Readonly<Record<string, OrtTensor | null>>,
    options: Readonly<Record<string, unknown>>,
  ): Readonly<Record<string, OrtTensor>>;
}

interface OrtModule {
  readonly InferenceSession: new () => OrtSession;
  initOrtOnce(logLevel: number, tensors: typeof OrtTensor, isMainThread: boolean): void;
}

/** The names in a folder; none if it cannot be read. */
function namesIn(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].map(({ name }) => name);
  } catch {
    return [];
  }
}

/** Folders that may be the package, the best candidate first. */
function* candidates(): Generator<string> {
  const named = environmentVariable("ONNXRUNTIME_NODE");
  if (named) return yield named;
  for (let folder = Deno.cwd(), last = ""; folder !== last; last = folder, folder = dirname(folder)) {
    yield join(folder, "node_modules", "onnxruntime-node");
  }
  const { XDG_CACHE_HOME, HOME, LOCALAPPDATA, DENO_DIR } = Deno.env.toObject();
  const caches = {
    darwin: HOME && join(HOME, "Library", "Caches", "deno"),
    windows: LOCALAPPDATA && join(LOCALAPPDATA, "deno"),
    linux: XDG_CACHE_HOME ? join(XDG_CACHE_HOME, "deno") : HOME && join(HOME, ".cache", "deno"),
  };
  const { os } = Deno.build, cache = DENO_DIR || caches[os === "darwin" || os === "windows" ? os : "linux"];
  if (!cache) return;
  // One folder for each registry
  for (const registry of namesIn(join(cache, "npm"))) {
    const folder = join(cache, "npm", registry, "onnxruntime-node");
    const versions = namesIn(folder).filter((name) => /^\d/.test(name));
    const newest = (a: string, b: string) => b.localeCompare(a, "en", { numeric: true });
    for (const version of versions.sort(newest)) yield join(folder, version);
  }
}

let found: string | null | undefined;

/** The native module's file; null if there is none. */
function moduleFile(): string | null {
  if (found !== undefined) return found;
  for (const folder of candidates()) {
    for (const api of namesIn(join(folder, "bin"))) {
      const file = join(folder, "bin", api, process.platform, process.arch, "onnxruntime_binding.node");
      if (namesIn(dirname(file)).includes("onnxruntime_binding.node")) return found = file;
    }
  }
  return found = null;
}

/** The reason why there is no ONNX Runtime here; null if there is. */
export function ortAbsence(): string | null {
  return moduleFile() === null ? "Expected the package onnxruntime-node but found none" : null;
}

let opened: OrtModule | undefined;

/** Severity level of its own log: only fatal errors, since others are thrown, too. */
const FATAL = 4;

function ortModule(): OrtModule {
  if (opened) return opened;
  const file = moduleFile();
  if (file === null) throw new DynError(`${ortAbsence()}; onnxrt needs ${ORT_NEEDS}`);
  const module: { exports: Partial<OrtModule> } = { exports: {} };
  try {
    // The package's JavaScript wraps synchronous calls in promises
    Reflect.apply(Reflect.get(process, "dlopen"), process, [module, file]);
  } catch (thrown) {
    throw new DynError(`Expected ${file} to load but found: ${messageOf(thrown)}`);
  }
  const { InferenceSession, initOrtOnce } = module.exports;
  if (!InferenceSession || !initOrtOnce) {
    throw new DynError(`Expected the interface of ${ORT_PACKAGE} but found a different one in ${file}`);
  }
  initOrtOnce(FATAL, OrtTensor, true);
  return opened = { InferenceSession, initOrtOnce };
}

/**
 * Level of model rewriting: `basic` for models with float64, because fusions beyond it keep factors in float32 and
 * use operators that do not exist for float64.
 */
export type Rewriting = "all" | "basic";

/** A model, ready to run with this many threads. Throws DynError if ONNX Runtime rejects it. */
export function openSession(
  model: Uint8Array<ArrayBuffer>,
  threads: number,
  rewriting: Rewriting = "all",
): OrtSession {
  const { InferenceSession } = ortModule(), session = new InferenceSession();
  try {
    session.loadModel(model.buffer, model.byteOffset, model.byteLength, {
      graphOptimizationLevel: rewriting,
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      logSeverityLevel: FATAL,
    });
  } catch (thrown) {
    throw new DynError(`Expected ONNX Runtime to load a model but found: ${messageOf(thrown)}`);
  }
  return session;
}
