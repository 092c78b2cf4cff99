/**
 * Finds uses of tensors at which a history begins after their memory was written to by way of others, as parameters are
 * updated from gradients of detached copies. Invariant: the graph ends before such a write if anything with their history
 * is used later, because their former place in the history has lost its value.
 */
import type { Node } from "../../graph/node.ts";
import type { TraceHistory } from "./history.ts";
import { Restart } from "./restart.ts";

/** The reason to end a graph before a write to a tensor at which a history begins. */
export const WRITTEN_LEAF = "a tensor that requires grad is written to";

/** The tensors of one trace. */
export class OverwrittenLeaves {
  /** Leaves and views of them, by the instruction of the first write. */
  readonly #writes = new Map<Node, number>();

  constructor(readonly history: TraceHistory) {}

  note(node: Node, step: number): void {
    if (!this.#writes.has(node)) this.#writes.set(node, step);
  }

  /** Restarts the trace, to break before the write, if a use of these nodes would notice it. */
  refuseUse(nodes: Iterable<Node>): void {
    if (this.#writes.size === 0) return;
    for (const node of nodes) {
      const starts = node.meta.value.kind === "tensor" ? this.history.begunBehind(node) : [];
      for (const each of [node, ...starts ?? this.#writes.keys()]) {
        const step = this.#writes.get(each);
        if (step !== undefined) {
          throw new Restart(step, { kind: "break", cause: { kind: "gradientState", detail: WRITTEN_LEAF } });
        }
      }
    }
  }
}
