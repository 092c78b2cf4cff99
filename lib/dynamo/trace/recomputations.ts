/**
 * Calls of checkpoints in a trace: the backward pass runs their functions again. Invariant: a graph contains such a
 * call only if a second run would have no effect, and would find what it reads as the first one did; otherwise the graph
 * ends there.
 */
import { type Graph, type Node } from "../../graph/node.ts";
import { writtenBy } from "../../graph/updates.ts";
import type { Fact } from "../guards/guard.ts";
import type { TensorValue } from "../variables/value.ts";
import { Restart } from "./restart.ts";
import { shownNode } from "./shown_nodes.ts";

/** A call of a checkpoint: its number, and that of the instruction that made it. */
export interface Recomputation {
  readonly call: number;
  readonly calledAt: number;
}

/** A call that no backward pass has run again yet. */
interface Pending {
  readonly calledAt: number;
  readonly nodes: Node[];
  /** The nodes from elsewhere whose elements it reads. */
  readonly reads: Set<Node>;
}

/** The trace in which the calls are. */
interface Surroundings {
  readonly graph: Graph;
  readonly tensors: ReadonlyMap<Node, TensorValue>;
  guard(fact: Fact): void;
}

/** The calls of checkpoints in one trace. */
export class Recomputations {
  /** Number of calls. */
  count = 0;
  readonly #pending = new Map<number, Pending>();

  constructor(readonly output: Surroundings) {}

  /** Notes an operation, inside of a call or outside of all. Throws Restart if it writes to what a call must find again. */
  note(node: Node, inside: Recomputation | null): void {
    const written = writtenBy(node).map(elementsOf);
    if (inside) {
      node.meta.recomputed = inside.call;
      if (written.some(({ meta }) => meta.recomputed !== inside.call)) {
        endAt(
          inside.calledAt,
          "a function that a checkpoint runs again writes to a tensor that it has not created",
        );
      }
      this.#noteReads(node, inside);
    }
    for (const target of written) {
      for (const [call, { calledAt, nodes, reads }] of this.#pending) {
        const runsAgain = call !== inside?.call && nodes.some((node) => this.#requiresGrad(node));
        if (runsAgain && this.#mayFind(target, reads)) {
          endAt(calledAt, "what a function reads that a checkpoint runs again is written to before that");
        }
      }
    }
  }

  #noteReads(node: Node, { call, calledAt }: Recomputation): void {
    let pending = this.#pending.get(call);
    if (!pending) this.#pending.set(call, pending = { calledAt, nodes: [], reads: new Set() });
    pending.nodes.push(node);
    for (const input of node.inputs()) {
      const read = elementsOf(input);
      if (read.meta.recomputed !== call) pending.reads.add(read);
    }
  }

  /** Returns whether any of these nodes shows a write; guards that tensors of the program lie elsewhere. */
  #mayFind(target: Node, reads: ReadonlySet<Node>): boolean {
    if (reads.has(target)) return true;
    const written = this.#given(target);
    if (!written) return false;
    const others = [...reads].flatMap((read) => this.#given(read) ?? []);
    if (others.some(({ real }) => real?.storage === written.real?.storage)) return true;
    const sources = others.flatMap(({ source }) => source ?? []);
    if (written.source && sources.length > 0) {
      this.output.guard({ kind: "elsewhere", source: written.source, others: sources });
    }
    return false;
  }

  #given(node: Node): TensorValue | null {
    const tensor = node.op === "placeholder" ? this.output.tensors.get(node) : undefined;
    return tensor?.real ? tensor : null;
  }

  /**
   * Forgets calls through which a backward pass from these nodes flows: it has run them again. `running`: the one that
   * takes these gradients within.
   */
  settle(outputs: readonly Node[], running: number | undefined): void {
    if (this.#pending.size === 0) return;
    for (const node of this.#history(outputs)) {
      const { recomputed } = node.meta;
      if (recomputed !== undefined && recomputed !== running) this.#pending.delete(recomputed);
    }
  }

  /** The nodes from which gradients of these come, through writes as well. */
  #history(outputs: readonly Node[]): ReadonlySet<Node> {
    const writes = this.output.graph.nodes.flatMap((node) =>
      writtenBy(node).map((target) => ({ node, target: elementsOf(target) }))
    );
    const found = new Set(outputs);
    for (const node of found) {
      for (const input of node.inputs()) if (this.#requiresGrad(input)) found.add(input);
      const shown = elementsOf(node);
      for (const write of writes) if (write.target === shown) found.add(write.node);
    }
    return found;
  }

  #requiresGrad(node: Node): boolean {
    const { value } = node.meta;
    return this.output.tensors.get(node)?.requiresGrad ?? (value.kind === "tensors" && value.requiresGrad);
  }
}

const elementsOf = (node: Node): Node => shownNode(node, { detached: true });

/** Restarts the trace to break at an instruction. */
export function endAt(step: number, detail: string): never {
  throw new Restart(step, { kind: "break", cause: { kind: "gradientState", detail } });
}
