/**
 * Functions compiled before their first call and saved as files, like `aot_compile`, `save_compiled_function` and
 * `load_compiled_function` of torch.compiler. Invariant: code is loaded from a file only if this dyn, its settings
 * and the machine are those that produced it; otherwise the program of the file is compiled again.
 */
import type { AnyFunction } from "../base/arguments.ts";
import { cachedCompilationsOf } from "../aot/backend.ts";
import { checkFunction, checkOptions, refuseSurplus } from "../base/checked_input.ts";
import { config } from "../base/config.ts";
import { DynError, messageOf } from "../base/errors.ts";
import { logs } from "../base/logs.ts";
import { writeFile } from "../data/safetensors.ts";
import type { CompiledFunction } from "../graph/backend.ts";
import { lookupBackend } from "../graph/backends.ts";
import { storableOf } from "../graph/stored/storable_runs.ts";
import { Module } from "../nn/module.ts";
import { DamagedForm } from "../sym/stored/forms.ts";
import { exportCall, type ExportedParts, type ExportOptions } from "./capture.ts";
import { bytesOf, type CompiledProgramParts, compileParts, runningParts } from "./program.ts";
import { type ReadCode, readProgram, writeProgram } from "./stored.ts";

/** Options of `aotCompile`. */
export interface AotCompileOptions extends ExportOptions {
  /** The name of a backend that compiles functional graphs; default "inductor". */
  readonly backend?: string | undefined;
}

/** A function that was compiled before its first call. */
export type CompiledCall = (...args: unknown[]) => unknown;

const compiled = new WeakMap<CompiledCall, CompiledProgramParts>();

function remembered(parts: CompiledProgramParts): CompiledCall {
  compiled.set(parts.run, parts);
  return parts.run;
}

/**
 * Compiles a function or module now, for calls like this one; `dynamic` as in `export`. It has no guards: calls are
 * checked against the example, and rejected if they differ (DynError). No gradients are recorded. Throws Unsupported,
 * with the explanation of the break, if it is not one graph.
 */
export function aotCompile(
  target: AnyFunction | Module,
  args: readonly unknown[],
  options: AotCompileOptions = {},
): CompiledCall {
  if (arguments.length > 3) refuseSurplus("aotCompile", 3, arguments);
  checkOptions("aotCompile", { dynamic: ["boolean", "object"], backend: ["string"] }, options);
  if (!(target instanceof Module)) checkFunction(target, "or an nn.Module to compile");
  const { dynamic = false, backend = "inductor" } = options;
  return ahead(() => remembered(compileParts(exportCall(target, args, dynamic), backend)));
}

/** Runs a compilation and waits for native code, because the result is saved and no call is waiting. */
function ahead<T>(compilation: () => T): T {
  return config.inductor.tier === "background"
    ? config.patch({ inductor: { tier: "wait" } }, compilation)
    : compilation();
}

/**
 * Writes the result of `aotCompile` to a file. Throws DynError for other functions, and for values that a file cannot
 * hold.
 */
export function saveCompiledFunction(fn: CompiledCall, path: string | URL): void {
  if (arguments.length > 2) refuseSurplus("saveCompiledFunction", 2, arguments);
  const found = compiled.get(fn);
  if (!found) throw new DynError("Expected a function that aotCompile gave but found another");
  const { parts, backend, forward } = found;
  const write = storableOf(forward)?.write, identity = ahead(() => identityOf(parts, backend));
  const code = write && identity !== null ? { backend, identity, write } : null;
  writeFile(path, writeProgram(parts, code));
}

/**
 * Loads a compiled function from a file, or its bytes. Code that does not match this machine or dyn is compiled again
 * (`DYN_LOGS=cache` says so). Code runs unchecked: load only files that you trust. Throws DynError unless
 * `saveCompiledFunction` wrote the file.
 */
export function loadCompiledFunction(source: string | URL | Uint8Array): CompiledCall {
  if (arguments.length > 1) refuseSurplus("loadCompiledFunction", 1, arguments);
  const { parts, code } = readProgram(bytesOf(source));
  return ahead(() => {
    const restored = code && restore(parts, code);
    return remembered(
      code && restored
        ? runningParts(parts, { backend: code.backend, forward: restored })
        : compileParts(parts, code?.backend ?? "inductor"),
    );
  });
}

function identityOf({ functional }: ExportedParts, backend: string): string | null {
  return cachedCompilationsOf(lookupBackend(backend))?.identityOf(functional) ?? null;
}

/** Recreates the code of a file; null if they have to be compiled again. */
function restore(
  parts: ExportedParts,
  { backend, identity, run, symbols }: ReadCode,
): CompiledFunction | null {
  const kept = cachedCompilationsOf(lookupBackend(backend));
  if (!kept || identityOf(parts, backend) !== identity) {
    logs.emit(
      "cache",
      `${parts.call.name}: compiled anew, since the file's code is for another dyn or machine`,
    );
    return null;
  }
  try {
    return kept.restore(parts.functional, run, symbols);
  } catch (error) {
    if (!(error instanceof DamagedForm)) throw error;
    throw new DynError(`Expected compiled code but found some that is damaged: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
