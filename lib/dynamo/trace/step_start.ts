/**
 * Detects effects of an instruction that turned out to be untraceable. Invariant: an instruction that has recorded
 * anything is not run again: the trace restarts and ends before it.
 */
import { type RegionModes, sameModes } from "../../tensor/modes.ts";
import type { Interpreter } from "./interpreter.ts";
import { modesOf } from "./region_modes.ts";

/** Counters at the start of the current instruction. */
export class StepStart {
  #operations = 0;
  #calls = 0;
  #deferred = 0;
  #laterCalls = 0;
  #backwards = 0;
  #modes: RegionModes = { gradEnabled: true, inference: false, autocast: "" };

  /** Called when an instruction begins. */
  note(m: Interpreter): void {
    this.#operations = m.output.operations;
    this.#calls = m.output.calls.length;
    this.#deferred = m.deferred.length;
    this.#laterCalls = m.laterCalls.length;
    this.#backwards = m.backwards.length;
    if (!sameModes(m, this.#modes)) this.#modes = modesOf(m);
  }

  /** Returns whether it has recorded operations. */
  hasRecorded({ output }: Interpreter): boolean {
    return output.operations > this.#operations;
  }

  /** Returns whether it has recorded anything, or changed modes. */
  hasChanged(m: Interpreter): boolean {
    return this.hasRecorded(m) || m.output.calls.length !== this.#calls ||
      m.deferred.length !== this.#deferred || m.laterCalls.length !== this.#laterCalls ||
      m.backwards.length !== this.#backwards || !sameModes(m, this.#modes);
  }
}
