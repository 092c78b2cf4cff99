/**
 * Backends whose graphs are measured in their first call. Invariant: the program gets what the compiled graphs compute,
 * and its own functions run once.
 */
import { currentTitle } from "../../base/compile_times.ts";
import { config } from "../../base/config.ts";
import type { GraphBackend } from "../../graph/backend.ts";
import { modes } from "../../tensor/tensor.ts";
import { callsProgram, snapshotOf } from "../checked_graph.ts";
import { type GraphNumerics, measure } from "./measure.ts";

/** A backend whose graphs are measured in their first call, in that order. */
export function measuring(backend: GraphBackend, tell: (found: GraphNumerics) => void): GraphBackend {
  return (gm, examples) => {
    const title = currentTitle();
    const unmeasured = (skipped: string) =>
      tell({ title, values: [], settings: [], worst: null, roundings: [], skipped });
    if (callsProgram(gm)) {
      unmeasured("it calls functions of the program, which must not run twice");
      return backend(gm, examples);
    }
    const reference = snapshotOf(gm);
    // Static results would be overwritten while they are compared
    const compile: GraphBackend = (each, given) =>
      config.patch({ inductor: { staticResults: false, replay: false } }, () => backend(each, given));
    const compiled = compile(gm, examples);
    if (compiled === null) {
      unmeasured("it runs op by op");
      return null;
    }
    let isMeasured = false;
    return (...args) => {
      if (!isMeasured) {
        isMeasured = true;
        const again = (...[each, given]: Parameters<GraphBackend>) =>
          compile(each, given) ?? ((...args: unknown[]) => each.forward(...args));
        tell(modes.without(() => measure({ gm: reference, compiled, compile: again, title }, args)));
      }
      return compiled(...args);
    };
  };
}
