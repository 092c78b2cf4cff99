/**
 * Finds uses of views without a history whose memory was written to since they were taken: the tape then gives them
 * the history of the tensor that they show, if it requires grad, although nothing was recorded where they were taken.
 * Invariant: the graph ends before such a write if anything asks for that history later.
 */
import { aliasesArgument } from "../../autograd/aliases_argument.ts";
import { hasEffect, type Node } from "../../graph/node.ts";
import { findTarget } from "../../ops/table.ts";
import type { TensorValue } from "../variables/value.ts";
import { Restart } from "./restart.ts";
import { shownNode } from "./shown_nodes.ts";

interface Outdated {
  /** The instruction of the first write since the view was taken. */
  readonly step: number;
  /** The node of which the tape takes it to be a view. */
  readonly base: Node;
}

/** The traced tensors of nodes: those for which each stands now, and those that `requiresGrad_()` has switched. */
interface KnownTensors {
  /** Tensors at which the program has begun a history. */
  readonly begun: readonly TensorValue[];
  readonly tensors: ReadonlyMap<Node, TensorValue>;
  readonly switched: ReadonlyMap<Node, TensorValue>;
}

/** The views of one trace. */
export class OutdatedViews {
  readonly #views = new Map<Node, Outdated>();

  constructor(readonly output: KnownTensors) {}

  /** Notes what an operation writes to, and refuses it if it records a view as it no longer is on the tape. */
  noteOperation(node: Node, step: number): void {
    if (records(node)) this.refuseUse(node.inputs(), step);
    const [target] = hasEffect(node) ? node.inputs() : [];
    if (target) this.#noteViews(shownNode(target, { detached: true }), step);
  }

  /**
   * Restarts the trace, to break before the write, if the history of one of these nodes began with it. `recordedAt`: the
   * instruction that records them, if one does.
   */
  refuseUse(nodes: Iterable<Node>, recordedAt: number | null = null): void {
    if (this.#views.size === 0) return;
    const { tensors, switched, begun } = this.output;
    for (const node of nodes) {
      const known = this.#views.get(node);
      if (!known || tensors.get(node)?.requiresGrad !== false) continue;
      const standing = tensors.get(known.base), base = switched.get(known.base) ?? standing;
      // A tensor at which a history begins later has another node by then
      const beginsLater = begun.some((each) => each.node?.inputs().has(known.base));
      if (base?.requiresGrad || beginsLater) throw breakBefore(known.step);
      // Leaves are switched after the graph, so a backend that runs it node by node would still record
      if (standing?.requiresGrad && recordedAt !== null) throw breakBefore(recordedAt);
    }
  }

  /** Notes the views of a node, and theirs. */
  #noteViews(shown: Node, step: number): void {
    for (const user of shown.users.keys()) {
      const [first] = user.inputs();
      if (first !== shown || hasEffect(user)) continue;
      if (user.target !== "getitem" && !aliasesArgument(user)) continue;
      const base = shownNode(user, { detached: false });
      const isPlain = this.output.tensors.get(user)?.requiresGrad === false;
      if (isPlain && base !== user && !this.#views.has(user)) this.#views.set(user, { step, base });
      this.#noteViews(user, step);
    }
  }
}

function breakBefore(step: number): Restart {
  const detail = "a write to memory that a view without history shows";
  return new Restart(step, { kind: "break", cause: { kind: "gradientState", detail } });
}

/** Returns whether an operation may record its arguments. */
function records({ op, target, meta }: Node): boolean {
  const isCall = op === "call_function" || op === "call_method";
  const isDetached = isCall && findTarget(target)?.definition.gradient.kind === "none";
  // Where a history begins, the tape refuses a tensor that has one
  return meta.noGrad !== true && target !== "getitem" && (!isDetached || meta.leaf === true);
}
