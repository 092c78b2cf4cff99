/**
 * Restarts a trace that has passed the point where it should end: signals that abort the attempt and carry the
 * findings. Invariant: the next attempt repeats this one up to the given instruction, so nothing of an abandoned
 * attempt survives except the contents of the signal.
 */
import type { SizeSource } from "../../sym/size_guards.ts";
import type { BreakCause, EngineError } from "../break_reasons.ts";

/** An action of the next attempt before an instruction, instead of executing it. */
export type Interruption =
  /** The graph ends here. */
  | { readonly kind: "break"; readonly cause: BreakCause }
  /**
   * The program throws here. `certain`: the instruction throws before it has had any effect, so that the trace may
   * continue in a handler; otherwise it may only determine that nothing handles the exception. `error`: the thrown
   * error, if known.
   */
  | {
    readonly kind: "raise";
    readonly cause: BreakCause;
    readonly certain: boolean;
    readonly error: EngineError | null;
  };

/** Returns whether what follows an instruction may plan a break there, which nothing has refused yet. */
export function arisesLater({ kind }: BreakCause): boolean {
  return kind === "symbolicLimit" || kind === "dataDependentShape";
}

/** Thrown if the trace has to restart and stop at the instruction with this number. */
export class Restart extends Error {
  override readonly name = "Restart";
  constructor(readonly step: number, readonly interruption: Interruption) {
    super("The trace is restarted");
  }
}

/**
 * Thrown if a rule for symbolic sizes gives no answer, though the same rule gives one for the sizes of this call: these
 * sizes must be constants. `step` is the current instruction, or null if compiling the graph failed.
 */
export class SymbolicLimit extends Error {
  override readonly name = "SymbolicLimit";
  constructor(
    /** The function that lacks the rule. */
    readonly rule: string,
    readonly sizes: readonly SizeSource[],
    readonly step: number | null,
    options: ErrorOptions,
  ) {
    super(`${rule} has no rule for sizes that change`, options);
  }
}
