/**
 * What an instruction has done before it turned out that it cannot be traced. Input: the machine as an instruction
 * begins, and where it breaks; output: whether that differs. Invariant: an instruction that has recorded anything is
 * not run again behind that: the trace begins anew and ends before it.
 */
import type { Interpreter } from "./interpreter.ts";

/** How much there was when the current instruction began. */
export class StepStart {
  #operations = 0;
  #calls = 0;
  #deferred = 0;
  #backwards = 0;
  #gradEnabled = true;
  #inference = false;
  #autocast: Interpreter["autocast"] | null = null;

  /** An instruction begins. */
  note({ output, deferred, backwards, gradEnabled, inference, autocast }: Interpreter): void {
    this.#operations = output.operations;
    this.#calls = output.calls.length;
    this.#deferred = deferred.length;
    this.#backwards = backwards.length;
    this.#gradEnabled = gradEnabled;
    this.#inference = inference;
    this.#autocast = autocast;
  }

  /** Whether it has recorded anything, or put other modes in force. */
  hasChanged({ output, deferred, backwards, gradEnabled, inference, autocast }: Interpreter): boolean {
    return output.operations !== this.#operations || output.calls.length !== this.#calls ||
      deferred.length !== this.#deferred || backwards.length !== this.#backwards ||
      gradEnabled !== this.#gradEnabled || inference !== this.#inference || autocast !== this.#autocast;
  }
}
