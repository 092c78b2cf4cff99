/**
 * The contract between aot, which makes functional graphs, and the compilers that receive them. Input to a
 * compiler: a GraphModule with a signature, and example inputs; output: a function over the same inputs that
 * returns the list of outputs. Invariants of such a graph:
 * - Placeholders are tensors, or sizes (value.kind "size"), which arrive as plain numbers.
 * - Every call is a `call_function` of an op whose implementation is "lower", "view" or "random", without
 *   in-place ops; its args and kwargs parse by the definition's parameters. Ops with several results are
 *   followed by `getitem(node, index)`. Compilers that ask for regions also receive calls of these, and last of all
 *   updates (`isUpdate`), which write to inputs.
 * - A random op carries `kwargs.keys`, two 0-d int32 nodes, besides its parameters: the same keys give the same
 *   elements, wherever the op is repeated.
 * - The output node returns one flat list of nodes, numbers, sizes and nulls. Every node's metadata is exact.
 */

/** The keyword under which a random op carries its keys. */
export const RANDOM_KEYS = "keys";

/** An input that the program writes to, and the output that holds its value afterwards. */
export interface MutatedInput {
  /** Index among the graph's placeholders. */
  readonly input: number;
  /** Index in the output list. It has the input's shape and element type, and is always a separate entry. */
  readonly output: number;
}

/** The roles of a graph's inputs and outputs. */
export interface GraphSignature {
  /** The role of the graph in a compiled function. */
  readonly role: "inference" | "forward" | "backward";
  /**
   * A compiler that writes such a result into the input's memory returns the input itself instead; the runtime copies
   * back any other tensor.
   */
  readonly mutatedInputs: readonly MutatedInput[];
  /**
   * Outputs before this index do not alias inputs or other outputs: they are returned to the program. The others are
   * saved for the backward, or are gradients.
   */
  readonly ownResults: number;
  /**
   * Index of the last output, a bool without dimensions, that shows whether the call fails. If it does, no existing
   * memory may be written, and the other outputs are not results.
   */
  readonly failure?: number;
}

/** The role of a module in a compiled function; a graph of its own infers. */
export const roleOf = (
  { signature }: { readonly signature?: GraphSignature | undefined },
): GraphSignature["role"] => signature?.role ?? "inference";
