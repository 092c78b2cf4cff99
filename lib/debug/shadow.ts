/**
 * Shadow mode, `config.shadow` and DYN_SHADOW: checks a share of the calls of each compiled graph against the graph's
 * ops one by one. Invariant: which calls are checked depends only on their number, and the first always is; without
 * the setting nothing changes.
 */
import { currentTitle } from "../base/compile_times.ts";
import { config, shadowRate } from "../base/config.ts";
import { logs } from "../base/logs.ts";
import type { GraphBackend } from "../graph/backend.ts";
import { callsProgram, CheckedGraph, snapshotOf } from "./checked_graph.ts";
import { currentAmbientState } from "./repro/case.ts";

/** A backend whose graphs check themselves, if the settings request it when a graph is compiled. */
export function shadowed(backend: GraphBackend, backendName: string): GraphBackend {
  return (gm, examples) => {
    const rate = shadowRate(config.shadow);
    if (rate === 0) return backend(gm, examples);
    if (callsProgram(gm)) {
      logs.emit("shadow", "A graph that calls functions of the program is not checked: they would run twice");
      return backend(gm, examples);
    }
    const reference = snapshotOf(gm);
    // Static results would be overwritten while they are compared.
    const compile: GraphBackend = (each, given) =>
      config.patch({ inductor: { staticResults: false, replay: false } }, () => backend(each, given));
    const compiled = compile(gm, examples);
    if (compiled === null) return null;
    return new CheckedGraph({
      compiled,
      reference,
      original: gm.graph,
      compile: (each, given) => compile(each, given) ?? ((...args) => each.forward(...args)),
      isChecked: (call) => isSampled(call, rate),
      tool: "shadow",
      stage: "dynamo",
      backendName,
      title: currentTitle(),
      ambientState: currentAmbientState(),
      minified: false,
    }).run;
  };
}

/** Returns whether a call, by its number from 0, is sampled: those at which calls·rate passes an integer. */
export function isSampled(call: number, rate: number): boolean {
  return Math.ceil(call * rate) < Math.ceil((call + 1) * rate);
}
