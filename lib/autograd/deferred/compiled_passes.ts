/**
 * Compiled autograd: backward passes whose calls are deferred, compiled together and run as one graph by the
 * installed backend. Invariant: compiled graphs are looked up by the complete text of the calls and the layouts of
 * their inputs; passes that run uncompiled are counted by reason.
 */
import { config } from "../../base/config.ts";
import { DynError, messageOf } from "../../base/errors.ts";
import { reportFallback } from "../../base/fallback.ts";
import { counters, logs } from "../../base/logs.ts";
import { scoped } from "../../base/scoped.ts";
import type { CompiledFunction, GraphBackend } from "../../graph/backend.ts";
import { isShapesOnly } from "../../tensor/storage.ts";
import { modes } from "../../tensor/tensor.ts";
import { isAnomalyEnabled } from "../anomaly.ts";
import type { Batch } from "./batch.ts";
import { Deferral } from "./deferral.ts";

/** The backend that graphs of backward passes are compiled with. */
let backendInForce: () => GraphBackend = () => {
  throw new DynError("Expected a backend for compiled autograd but found none; import dyn's module");
};

/** The setting of the current scope; null: the global settings apply. */
let scope: { readonly backend: GraphBackend | null } | null = null;

/** Installs the function that returns the default backend. */
export function installPassBackend(backend: () => GraphBackend): void {
  backendInForce = backend;
}

/** Runs `body` with backward passes compiled by a backend; null: with none compiled. */
export function withPassBackend<R>(backend: GraphBackend | null, body: () => R): R {
  const former = scope;
  scope = { backend };
  return scoped(body, () => scope = former);
}

/** The compiled graphs of one backend. */
class CompiledBatches {
  /** Null: the backend has declined. */
  readonly byKey = new Map<string, CompiledFunction | null>();
  /** Number of graphs of each structure. */
  readonly variants = new Map<string, number>();
}

let known = new WeakMap<GraphBackend, CompiledBatches>();

/** Forgets all compiled backward passes. */
export function forgetCompiledPasses(): void {
  known = new WeakMap();
}

/** Returns the backend for compiling passes now, or null if they are not compiled. */
function passBackend(): GraphBackend | null {
  if (scope !== null) return scope.backend;
  return config.compiledAutograd ? backendInForce() : null;
}

/** Properties of a pass. */
interface PassForm {
  readonly createGraph: boolean;
  readonly devices: ReadonlySet<string>;
}

/**
 * Walks a backward pass; if a backend is set for passes, its calls are deferred and compiled together where possible.
 */
export function runPass(form: PassForm, walk: () => void): void {
  const backend = passBackend();
  // A pass inside another one is part of that
  if (backend === null || modes.top instanceof Deferral) return walk();
  const because = whyPlain(form);
  if (because !== null) {
    counters.add("compiled_autograd_plain", because);
    logs.emit("compiled_autograd", `a backward pass runs plainly: ${because}`);
    return walk();
  }
  counters.add("compiled_autograd", "passes");
  const [device = "cpu"] = form.devices;
  const deferral = new Deferral(device, (batch) => runBatch(backend, batch));
  try {
    modes.with(deferral, walk);
  } finally {
    // As in eager execution, a failed pass keeps what it has accumulated
    deferral.settle();
    for (const [reason, count] of deferral.plain) {
      counters.add("compiled_autograd_plain", reason, count);
      logs.emit("compiled_autograd", `${count} calls of a backward pass ran plainly: ${reason}`);
    }
  }
}

function whyPlain({ createGraph, devices }: PassForm): string | null {
  if (createGraph) return "createGraph";
  if (isAnomalyEnabled()) return "anomaly mode";
  if (modes.top !== null) return "another dispatch mode";
  if (devices.size > 1) return "several devices";
  return [...devices].some(isShapesOnly) ? "tensors without elements" : null;
}

/** Runs calls as a compiled graph, or one by one. */
function runBatch(backend: GraphBackend, batch: Batch): void {
  const run = compiled(backend, batch);
  if (run === null) {
    counters.add("compiled_autograd", "uncompiled_runs");
    return batch.runEach();
  }
  let found: unknown;
  try {
    found = run(...batch.inputs);
  } catch (error) {
    // Nothing was written, so the calls themselves reproduce the error
    batch.runEach();
    reportFallback(
      "compiled autograd",
      `a compiled backward pass failed, but its calls do not: ${messageOf(error)}`,
    );
    return;
  }
  counters.add("compiled_autograd", "runs");
  if (!Array.isArray(found)) {
    throw new DynError(`Expected a list from a compiled backward pass but found ${typeof found}`);
  }
  batch.take(found);
}

/** The compiled graph of a batch, from the cache if possible; null if the calls have to run one by one. */
function compiled(backend: GraphBackend, batch: Batch): CompiledFunction | null {
  let batches = known.get(backend);
  if (!batches) known.set(backend, batches = new CompiledBatches());
  const { key, structure } = batch, found = batches.byKey.get(key);
  if (found !== undefined) return found;
  const variants = batches.variants.get(structure) ?? 0, limit = config.cacheSizeLimit;
  if (variants >= limit) {
    if (variants === limit) {
      batches.variants.set(structure, variants + 1);
      logs.emit(
        "compiled_autograd",
        `${limit} graphs of one structure were compiled for backward passes, which differ in sizes or numbers; ` +
          `others run op by op (config.cacheSizeLimit)`,
        "warning",
      );
    }
    return null;
  }
  batches.variants.set(structure, variants + 1);
  const gm = batch.graph();
  counters.add("compiled_autograd", "graphs");
  logs.emit("compiled_autograd", () => gm.readable("backward"));
  // Gradients outlive the next pass
  const made = config.patch(
    { inductor: { staticResults: false, replay: false } },
    () => backend(gm, batch.inputs),
  );
  batches.byKey.set(key, made);
  return made;
}
