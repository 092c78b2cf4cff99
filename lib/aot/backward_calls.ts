/**
 * Calls of compiled backward graphs. One that dyn compiled and that throws although its ops do not is a fault of dyn:
 * it is reported, and the tape takes these gradients from then on. Compilers of the program are told what is wrong with
 * the functions and results that they give. Invariant: a backward graph writes to none of its inputs, so that its ops
 * may follow a failed call.
 */
import { bisection } from "../base/bisect.ts";
import { config } from "../base/config.ts";
import { currentTitle } from "../base/compile_times.ts";
import { oneLine } from "../base/console_text.ts";
import { DynError, faultText } from "../base/errors.ts";
import { reportFallback } from "../base/fallback.ts";
import type { GraphModule } from "../graph/graph_module.ts";
import type { GraphCompiler } from "../graph/interpose.ts";
import { resultsFault } from "../tensor/backend_results.ts";
import { type CompiledBackward, listOf } from "./compiled_pair.ts";

/**
 * Returns a compiler of the program that checks what it gives: a function, whose first call returns what the graph's
 * output says. Throws TypeError, and DynError from that call. `name`: what the program calls it.
 */
export function checkedCompiler(compiler: GraphCompiler, name: string): GraphCompiler {
  return (gm, examples) => {
    const role = gm.signature?.role ?? "functional", of = `the ${role} graph of ${currentTitle()}`;
    const run: unknown = compiler(gm, examples);
    if (typeof run !== "function") {
      throw new TypeError(`Expected a function from ${name} for ${of} but found ${oneLine(run)}`);
    }
    let isChecked = false;
    return (...args) => {
      const found: unknown = Reflect.apply(run, undefined, args);
      if (isChecked) return found;
      const fault = resultsFault(gm, found);
      if (fault !== null) throw new DynError(`${fault}, where the function of ${name} ran ${of}`);
      isChecked = true;
      return found;
    };
  };
}

/** Runs a compiled backward graph; null: it has failed, and the tape has to take these gradients. */
export type BackwardCall = (...args: unknown[]) => readonly unknown[] | null;

/**
 * Returns the calls of a compiled backward graph. `isOwn`: dyn itself has compiled it; what the program's compilers
 * throw is the program's.
 */
export function backwardCalls(
  { run }: CompiledBackward,
  { captured, isOwn }: { readonly captured: GraphModule; readonly isOwn: boolean },
): BackwardCall {
  const title = currentTitle(), { reproAfter, inductor: { errorOnFallback } } = config;
  const callsProgram = Object.values(captured.attributes).some((each) => typeof each === "function");
  if (!isOwn || errorOnFallback || callsProgram || reproAfter !== "" || bisection.active) {
    return (...args) => listOf(run(...args));
  }
  let failed = false;
  return (...args) => {
    if (failed) return null;
    try {
      return listOf(run(...args));
    } catch (error) {
      // Of what is missing, such as memory, the tape needs no less
      if (error instanceof DynError) throw error;
      failed = true;
      reportFallback(
        "backward",
        `the tape takes the gradients of ${title}, because its compiled backward graph failed ` +
          `(DYN_ERROR_ON_FALLBACK=1 throws). ${faultText(error)}`,
      );
      return null;
    }
  };
}
