/**
 * The namespace `compiler.compiledAutograd`: backward passes captured as they run, as
 * `torch._dynamo.compiled_autograd`. Imported for its effect, too: compiled autograd uses the backends of `compile`.
 */
import { checkFunction } from "./base/checked_input.ts";
import { counters } from "./base/logs.ts";
import { installPassBackend, withPassBackend } from "./autograd/deferred/compiled_passes.ts";
import { type Backend, resolveBackend } from "./compile.ts";
import type { GraphBackend } from "./graph/backend.ts";
import { getDefaultBackend } from "./graph/backends.ts";
import { keepingResults } from "./tensor/kept_memory.ts";

const resolved = new Map<Backend, GraphBackend>();

/** Returns one function per backend, so that its compiled passes are found again. */
function backendOf(wanted: Backend): GraphBackend {
  const known = resolved.get(wanted);
  if (known) return known;
  const { backend } = resolveBackend(wanted, {});
  const found = wanted === "inductor" ? backend : keepingResults(backend);
  resolved.set(wanted, found);
  return found;
}

installPassBackend(() => backendOf(getDefaultBackend()));

/** Counts of compiled autograd since the last `compiler.reset()`. */
export interface CompiledAutogradStatus {
  /** Backward passes that were captured. */
  readonly passes: number;
  /** Graphs that were compiled for them. */
  readonly graphs: number;
  /** Runs of these graphs: as many as `passes` if none was split. */
  readonly runs: number;
  /** Parts of passes that ran op by op: the backend declined, or `config.cacheSizeLimit` was reached. */
  readonly uncompiledRuns: number;
  /** Passes, and calls inside captured ones, that ran uncompiled, by reason. */
  readonly plain: Readonly<Record<string, number>>;
}

/** Switches for compiled autograd, and its counts. */
export const compiledAutograd: {
  /**
   * Runs `body` with its backward passes captured as they run and compiled by a backend, whatever
   * `config.compiledAutograd` says. Like `torch._dynamo.compiled_autograd._enable`.
   */
  readonly enable: <R>(backend: Backend, body: () => R) => R;
  /** Runs `body` with uncompiled backward passes. Like `torch._dynamo.compiled_autograd._disable`. */
  readonly disable: <R>(body: () => R) => R;
  /** Returns the counts of captured, compiled and run passes. */
  readonly status: () => CompiledAutogradStatus;
} = {
  enable(backend, body) {
    checkFunction(body, "whose backward passes are compiled");
    return withPassBackend(backendOf(backend), body);
  },
  disable(body) {
    checkFunction(body, "whose backward passes run plainly");
    return withPassBackend(null, body);
  },
  status: () => ({
    passes: counters.get("compiled_autograd", "passes"),
    graphs: counters.get("compiled_autograd", "graphs"),
    runs: counters.get("compiled_autograd", "runs"),
    uncompiledRuns: counters.get("compiled_autograd", "uncompiled_runs"),
    plain: Object.fromEntries(counters.entries("compiled_autograd_plain")),
  }),
};
