/**
 * What a functional graph stands for: which of its outputs are the new values of mutated inputs. Made by aot,
 * read by graph compilers (which may then write such a result into the input's own memory) and by the runtime.
 * Invariant: output indices are positions in the list that the output node returns.
 */

/** An input that the program writes to, and the output that holds its value afterwards. */
export interface MutatedInput {
  /** Index among the graph's placeholders. */
  readonly input: number;
  /** Index in the output list. It has the input's shape and element type, and is always a separate entry. */
  readonly output: number;
}

/** What the parts of a graph's inputs and outputs mean. */
export interface GraphSignature {
  /** Which graph of a compiled function this is. */
  readonly role: "inference" | "forward" | "backward";
  readonly mutatedInputs: readonly MutatedInput[];
  /** forward: outputs from this index on are saved for backward; absent where nothing is. */
  readonly savedFrom?: number;
  /** Indices of placeholders that the caller never uses after the call, so that their memory may be reused. */
  readonly donatedInputs: readonly number[];
}
