/**
 * The autograd history of the tensors in a trace, as on the tape: which tensors require grad after in-place writes, and
 * which gradients a backward pass computes. Invariant: queries use values with versions, never the data edges of a
 * graph that still writes in place.
 */
import { orNull } from "../../base/errors.ts";
import { type Graph, hasEffect, type Node } from "../../graph/node.ts";
import { type GradientCall, gradientCallOf, takesGradients } from "../../graph/gradient_call.ts";
import { gradientPath, lateGradient } from "../../ops/gradient_stages.ts";
import { ComputedFrom } from "../../ops/computed_from.ts";
import { NotFunctional } from "../../autograd/functional.ts";
import { GraphReplay, type ReplayedInput } from "../../autograd/graph_replay.ts";
import { HistoryLost } from "../../autograd/saved_values.ts";
import { isContiguous } from "../../graph/meta.ts";
import { type GraphValue, tensorArguments } from "../../ops/graph_builder.ts";
import { type CopiedCall, CopiedCalls } from "./copied_calls.ts";
import { shownNode } from "./shown_nodes.ts";

/** A graph under construction, the functions that it calls by name, and a test for nodes that are tensors. */
interface GrowingGraph {
  readonly graph: Graph;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly tensors: ReadonlyMap<Node, unknown>;
  readonly copies: ReadonlyMap<Node, CopiedCall>;
}

/** The gradient of one leaf: an input of the graph, or a tensor at which the program begins a history. */
interface LeafGradient {
  readonly leaf: Node;
  readonly grad: GraphValue;
  /** Whether it has a history itself. */
  readonly recorded: boolean;
}

/** The reason why the tape has to run a backward pass. */
export type Refusal =
  | { readonly kind: "released" }
  | { readonly kind: "refused"; readonly because: string };

/** The gradients of a backward pass, or the reason why the tape must run it. */
type BackwardPlan =
  | { readonly kind: "gradients"; readonly gradients: readonly LeafGradient[] }
  | Refusal;

/**
 * The requested gradients, null where none arrives, and the inputs on the way; or the reason why the tape must run the
 * pass.
 */
type AskedPlan =
  | {
    readonly kind: "gradients";
    readonly gradients: readonly (GraphValue | null)[];
    /** Whether each has a history. */
    readonly recorded: readonly boolean[];
    readonly inputs: readonly Node[];
  }
  | Refusal;

/** Returns a host node on which some values depend, or undefined. */
function onHostBehind(graph: Graph, values: readonly Node[]): Node | undefined {
  const isOnHost = ({ meta }: Node) => meta.onHost === true && !meta.begins;
  if (!graph.nodes.some(isOnHost)) return undefined;
  const computed = new ComputedFrom(graph);
  const behind = new Set(values.flatMap((node) => [node, ...computed.writtenInto(node)]));
  for (const node of behind) {
    if (isOnHost(node)) return node;
    for (const each of computed.of(node)) behind.add(each);
  }
  return undefined;
}

/** The history of one trace, updated on demand. */
export class TraceHistory {
  #replay = this.#begun();
  /** The node being replayed, and those that have drawn random numbers. */
  #current: Node | null = null;
  readonly #drawing = new Set<Node>();
  readonly #seen = new Set<Node>();
  /** Graph nodes of the replay's inputs: inputs, and attributes. */
  readonly #inputs: Node[] = [];
  /** Operations of calls that are one entry each. */
  readonly #hidden = new Set<Node>();
  /** The replay in which gradients were taken last. */
  #planner: GraphReplay | null = null;
  /** Null: calls are replayed operation by operation from now on. */
  #copied: CopiedCalls | null = new CopiedCalls();

  constructor(readonly output: GrowingGraph) {}

  #begun(): GraphReplay {
    return new GraphReplay(({ builder }, call) => {
      if (this.#current) this.#drawing.add(this.#current);
      return builder.call(call);
    });
  }

  /** Replays everything operation by operation: only the first plan is known not to depend on it. */
  #unfold(): void {
    this.#copied = null;
    if (this.#hidden.size === 0) return;
    this.#hidden.clear();
    this.#seen.clear();
    this.#inputs.length = 0;
    this.#replay = this.#begun();
  }

  /** Replays the nodes appended since. Throws NotFunctional if only the tape can follow them. */
  #catchUp(): void {
    const { graph, attributes, copies } = this.output;
    const isNew = (node: Node) => !this.#seen.has(node);
    const readsHidden = (node: Node) => isNew(node) && !node.inputs().isDisjointFrom(this.#hidden);
    if (this.#hidden.size > 0 && graph.nodes.some(readsHidden)) this.#unfold();
    for (const node of graph.nodes) {
      if (this.#seen.has(node)) continue;
      const copy = copies.get(node), hidden = copy && this.#copied?.append(this.#replay, copy);
      if (hidden) {
        for (const each of copy.operations) this.#seen.add(copy.nodes.get(each) ?? each);
        for (const each of hidden) this.#hidden.add(each);
        continue;
      }
      this.#current = node;
      if (node.op === "placeholder") this.#replay.input(node);
      else this.#replay.replay(node, attributes);
      // After a refusal nothing that follows is replayed either
      this.#seen.add(node);
      if (this.#replay.inputs.length > this.#inputs.length) this.#inputs.push(node);
    }
  }

  /** The nodes whose tensors share memory with a node's, and whether each requires grad now; null if unknown. */
  aliases(node: Node): ReadonlyMap<Node, boolean> | null {
    return orNull(NotFunctional, () => {
      if (this.#hidden.has(node)) this.#unfold();
      this.#catchUp();
      const { storage } = this.#replay.tensor(node);
      const found = new Map<Node, boolean>();
      for (const other of this.output.tensors.keys()) {
        if (this.#replay.tensor(other).storage === storage) {
          found.set(other, this.#replay.requiresGrad(other));
        }
      }
      return found;
    });
  }

  /** The gradients of a backward pass with respect to the leaves. */
  plan(call: Omit<GradientCall, "inputs" | "complete">): BackwardPlan {
    // Values that are overwritten are lost to the operations that have saved them
    const isLate = this.output.graph.nodes.some((node) => hasEffect(node) || takesGradients(node));
    const isHidden = [...call.outputs, ...call.tangents].some((node) => node && this.#hidden.has(node));
    if (call.createGraph || isLate || isHidden) this.#unfold();
    return this.#planned({ ...call, inputs: [] }, () => {
      const wanted = this.#leaves(), before = new Set(this.#replay.graph.nodes);
      const found = this.#replay.differentiate(call, wanted.map(({ value }) => value));
      // Other gradients are copied for the leaf that takes them
      const foreign = call.createGraph ? refuseForeign(found, before) ?? refuseGaps(found) : null;
      if (foreign) return foreign;
      const gradients = wanted.flatMap(({ node }, k): LeafGradient[] => {
        const grad = found[k];
        return grad ? [{ leaf: node, grad, recorded: this.#isRecorded(grad) }] : [];
      });
      return { kind: "gradients", gradients };
    });
  }

  /** The gradients of outputs with respect to some tensors. */
  asked(call: Omit<GradientCall, "complete">): AskedPlan {
    this.#unfold();
    return this.#planned(call, () => {
      // Its place in the history is its former one, which has lost its value
      const isMoved = call.inputs.some((node) => {
        const { storage } = this.#replay.tensor(node);
        return node.op !== "placeholder" && storage.version > storage.recordedWrites;
      });
      if (isMoved) {
        return {
          kind: "refused",
          because: "a tensor whose gradient is requested was written to without recording",
        };
      }
      const wanted = call.inputs.map((node) => this.#replay.historyOf(this.#replay.tensor(node)));
      const before = new Set(this.#replay.graph.nodes);
      const gradients = this.#replay.differentiate(call, wanted);
      const foreign = refuseForeign(gradients, before);
      if (foreign) return foreign;
      const behind = new Set(
        call.outputs.flatMap((node) => this.#replay.reachableInputs(this.#replay.tensor(node).value())),
      );
      const recorded = gradients.map((grad) => grad !== null && this.#isRecorded(grad));
      return {
        kind: "gradients",
        gradients,
        recorded,
        inputs: this.#inputs.filter((_, k) => behind.has(k)),
      };
    });
  }

  /**
   * The order in which a backward pass completes leaves: by the earliest call that reads each, which the pass reaches
   * last. Null for leaves that have been written to, whose readers read other values.
   */
  turns(outputs: readonly Node[]): ReadonlyMap<Node, number> | null {
    this.#unfold();
    this.#catchUp();
    const leaves = this.#leaves(), done = new Map<GraphValue, number>();
    const written = this.#replay.recorder.tape.some((entry) =>
      entry.kind === "same" && leaves.some(({ value }) => value === entry.from)
    );
    if (written) return null;
    let turn = 0;
    for (const { args } of this.#replay.reachableCalls(outputs)) {
      for (const { value } of tensorArguments(args)) done.set(value, turn++);
    }
    return new Map(leaves.map(({ node, value }) => [node, done.get(value) ?? -1]));
  }

  /** The nodes at which the histories of a tensor begin; null if unknown. */
  begunBehind(node: Node): readonly Node[] | null {
    return this.#reached(node, (value) => this.#replay.reachableStarts(value));
  }

  /** Returns whether a history leads to one of these inputs; true if that is unknown. */
  leadsTo(node: Node, inputs: ReadonlySet<Node>): boolean {
    const found = this.#reached(node, (value) => this.#replay.reachableInputs(value));
    return found?.some((k) => {
      const input = this.#inputs[k];
      return input !== undefined && inputs.has(input);
    }) ?? true;
  }

  /** Returns whether a history leads to any input; false if that is unknown. */
  leadsToInputs(node: Node): boolean {
    const found = this.#reached(node, (value) => this.#replay.reachableInputs(value));
    return (found ?? []).length > 0;
  }

  /** Asks about the value of a node; null if its history is unknown. */
  #reached<T>(node: Node, find: (value: GraphValue) => T): T | null {
    return orNull(NotFunctional, () => {
      this.#unfold();
      this.#catchUp();
      return find(this.#replay.tensor(node).value());
    });
  }

  #isRecorded(grad: GraphValue): boolean {
    return this.#replay.recorder.requiring.has(grad);
  }

  /** Returns the possible leaves of gradients, with their initial values. */
  #leaves(): Leaf[] {
    const inputs = this.#replay.inputs.flatMap((input: ReplayedInput, k): Leaf[] => {
      const node = this.#inputs[k];
      return node && input.value && input.requiresGrad ? [{ node, value: input.value }] : [];
    });
    return [...inputs, ...[...this.#replay.historyStarts].map(([node, value]) => ({ node, value }))];
  }

  /** The reason why a gradient cannot be taken across the stages before it; null if it can. */
  #whyAcrossStages({ outputs, inputs, createGraph }: Asked): string | null {
    const { graph } = this.output;
    if (!onHostBehind(graph, outputs)) return null;
    const draws = (node: Node) => this.#drawing.has(node);
    const late = lateGradient(graph, gradientPath(graph, outputs), {
      inputs,
      createGraph,
      before: null,
      draws,
    });
    return late.kind === "refused" ? late.because : null;
  }

  #planned<P>(call: Asked, plan: () => P | Refusal): P | Refusal {
    try {
      this.#catchUp();
      this.#planner = this.#replay;
      const because = this.#whyAcrossStages(call);
      return because === null ? plan() : { kind: "refused", because };
    } catch (error) {
      if (error instanceof HistoryLost) {
        return error.kind === "released"
          ? { kind: "released" }
          : { kind: "refused", because: "a value that the gradient reads was written in place since" };
      }
      if (error instanceof NotFunctional) return { kind: "refused", because: error.message };
      throw error;
    }
  }

  /** The inputs that were written to while gradients were recorded, whose history was queried. */
  writtenInputs(): Node[] {
    return this.#replay.inputs.flatMap(({ tensor }, k) => {
      const node = this.#inputs[k];
      return node && tensor && tensor.storage.recordedWrites > 0 ? [node] : [];
    });
  }

  /** Returns whether gradients are taken of values of several stages that the last one recomputes. */
  repeatsStages(): boolean {
    const { graph } = this.output;
    return graph.nodes.some((node) => {
      if (!takesGradients(node)) return false;
      const { outputs } = gradientCallOf(node);
      // The tape takes gradients of such calls, and releases their history
      const isTaped = () => gradientPath(graph, outputs).some(({ meta }) => meta.taped);
      return onHostBehind(graph, outputs) !== undefined && !isTaped();
    });
  }

  /** Registers these gradients as the results of a node. */
  define(node: Node, gradients: readonly GraphValue[]): void {
    if (this.#planner !== this.#replay) return;
    this.#seen.add(node);
    this.#replay.defineGradients(node, gradients);
  }
}

/** Refuses gradients unless they have memory of their own, created after the nodes that existed before. */
function refuseForeign(
  gradients: readonly (GraphValue | null)[],
  before: ReadonlySet<Node>,
): Refusal | null {
  const present = gradients.filter((grad) => grad !== null);
  const roots = present.map((grad) => shownNode(grad.node, { detached: true }));
  if (roots.some((root, k) => before.has(root) || roots.indexOf(root) !== k)) {
    return { kind: "refused", because: "a gradient shares memory with another tensor" };
  }
  return null;
}

/** Refuses gradients that are not row-major. */
function refuseGaps(gradients: readonly (GraphValue | null)[]): Refusal | null {
  if (gradients.every((grad) => grad === null || isContiguous(grad.meta))) return null;
  return { kind: "refused", because: "a gradient is not row-major, such as that of a part in a cat" };
}

/** The requested gradients; no inputs: those of leaves. */
type Asked = Pick<GradientCall, "outputs" | "inputs" | "createGraph">;

interface Leaf {
  readonly node: Node;
  readonly value: GraphValue;
}
