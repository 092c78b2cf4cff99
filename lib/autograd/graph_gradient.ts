/**
 * Appends the gradient of a captured graph to that graph, op by op, for `loss.backward()` inside a compiled
 * function. Input: a graph in the making, outputs with their tangents, and the values whose gradients are wanted;
 * output: the nodes of those gradients. Invariant: a gradient reads forward values as they were when their op ran;
 * where one was overwritten since, it throws instead.
 */
import { DynError, InternalError } from "../base/errors.ts";
import { isFloat } from "../base/dtype.ts";
import { Graph, type Node } from "../graph/node.ts";
import {
  argumentsOfNode,
  GraphBuilder,
  GraphValue,
  isGraphValue,
  listOf,
  mapArguments,
  type OpCall,
  type Results,
  tensorArguments,
  valueOfNode,
} from "../ops/graph_builder.ts";
import { type CallTarget, findTarget } from "../ops/table.ts";
import { differentiate, type TapeEntry } from "./gradient_tape.ts";
import { graphApi, Recorder } from "./recorder.ts";

/** An output and the gradient that arrives at it; null: ones, for an output of one element. */
export interface OutputSeed {
  readonly node: Node;
  readonly tangent: Node | null;
}

/** What to differentiate. */
export interface GraphGradients {
  readonly outputs: readonly OutputSeed[];
  /** The nodes whose gradients are wanted. */
  readonly inputs: readonly Node[];
  /** Whether the outputs may be differentiated once more; false unless given, as `backward()` does. */
  readonly retainGraph?: boolean;
}

/** A forward value cannot be differentiated in the graph; the caller has to leave it to eager execution. */
export class GraphGradientError extends DynError {
  override readonly name: string = "GraphGradientError";
}

/**
 * Appends gradients of `outputs` with respect to `inputs`: a node each, null where no path leads. Nodes with
 * `meta.noGrad` are constants. Throws GraphGradientError for what only eager execution can do: writes in place
 * into views, and reads of values that were overwritten.
 */
export function appendGradients(
  graph: Graph,
  { outputs, inputs, retainGraph = false }: GraphGradients,
): (Node | null)[] {
  const forward = [...graph.nodes];
  const tape = new GraphTape(graph);
  const { builder, recorder } = tape;
  builder.shared = { noGrad: true };
  const seeds = outputs.map(({ node, tangent }) => {
    const value = tape.current(node);
    const grad = tangent ? valueOfNode(tangent) : tape.api.onesLike(value);
    return { value, grad };
  });
  const wanted = inputs.map((node) => tape.first(node));
  const entries: TapeEntry<GraphValue>[] = [];
  // Ops whose gradient is that of their composition are composed again next to their gradient, since the
  // captured graph has them as one node.
  for (const step of tape.steps) entries.push(...step(recorder));
  const found = differentiate({ api: tape.api, tape: entries, seeds, inputs: wanted });
  if (!retainGraph) markSpent(forward, outputs);
  return found.map((each) => each?.grad.node ?? null);
}

/** What a backward has passed through is not to be differentiated again. */
function markSpent(forward: readonly Node[], outputs: readonly OutputSeed[]): void {
  const passed = new Set(outputs.map(({ node }) => node));
  for (const node of forward.toReversed()) {
    const { value } = node.meta;
    if (!passed.has(node) || node.op === "placeholder" || node.op === "get_attr") continue;
    if (value.kind !== "tensor" && value.kind !== "tensors") continue;
    if (!value.requiresGrad) continue;
    node.meta.spent = true;
    for (const input of node.inputs()) passed.add(input);
  }
}

/** The calls of a graph, as tape entries that are made on demand. */
class GraphTape {
  readonly builder: GraphBuilder;
  readonly recorder: Recorder;
  readonly api = graphApi((call) => this.builder.call(call));
  readonly steps: ((recorder: Recorder) => readonly TapeEntry<GraphValue>[])[] = [];
  /** What a tensor holds after the nodes so far, by the node that made the tensor. */
  readonly #current = new Map<Node, GraphValue>();
  readonly #first = new Map<Node, GraphValue>();
  /** Which node made the tensor that a node's result is: itself, except for in-place calls. */
  readonly #owner = new Map<Node, Node>();
  /** Tensors that share elements, by owner. */
  readonly #aliases = new Map<Node, Set<Node>>();
  /** Position of the last write into a tensor's elements, by owner. */
  readonly #written = new Map<Node, number>();
  /** Whether aliases matter at all. */
  readonly #writes: boolean;
  #position = 0;

  constructor(readonly graph: Graph) {
    this.builder = new GraphBuilder(graph);
    this.recorder = new Recorder((call) => this.builder.call(call));
    this.#writes = graph.nodes.some((node) => findTarget(node.target)?.inplace);
    for (const node of [...graph.nodes]) {
      this.#position++;
      this.#visit(node);
    }
  }

  /** The value that a node's tensor holds now. */
  current(node: Node): GraphValue {
    const found = this.#current.get(this.#ownerOf(node));
    if (!found) throw new GraphGradientError(`Expected a tensor at ${node.name} to differentiate`);
    return found;
  }

  /** The value that a node's tensor held at first. */
  first(node: Node): GraphValue {
    const found = this.#first.get(this.#ownerOf(node));
    if (!found) throw new GraphGradientError(`Expected a tensor at ${node.name} to differentiate`);
    return found;
  }

  #ownerOf(node: Node): Node {
    return this.#owner.get(node) ?? node;
  }

  #visit(node: Node): void {
    const isCall = node.op === "call_function" || node.op === "call_method";
    if (isCall && node.target === "getitem" && this.#isItem(node)) return;
    if (!isCall) {
      if (node.meta.value.kind === "tensor") this.#define(node, valueOfNode(node));
      return;
    }
    const target = findTarget(node.target);
    if (!target) return;
    const args = argumentsOfNode(node, target.definition, (input) => this.#argument(input), isGraphValue);
    if (target.inplace) this.#inPlace(node, target, args);
    else this.#call(node, { definition: target.definition, args });
  }

  /** Results that `getitem` takes from a call were defined with it. */
  #isItem(node: Node): boolean {
    const [from] = node.inputs();
    return from?.meta.value.kind === "tensors";
  }

  #argument(node: Node): unknown {
    const { value } = node.meta;
    if (value.kind === "tensors") return itemsOf(node).map((item) => item && this.current(item));
    return value.kind === "size" ? value.size : this.current(node);
  }

  #define(owner: Node, value: GraphValue): void {
    this.#current.set(owner, value);
    if (!this.#first.has(owner)) this.#first.set(owner, value);
    if (!this.#aliases.has(owner)) this.#aliases.set(owner, new Set([owner]));
  }

  #call(node: Node, call: OpCall<GraphValue>): void {
    const { definition, args } = call;
    const nodes = node.meta.value.kind === "tensors" ? itemsOf(node) : [node];
    const outs = nodes.map((each) => each ? valueOfNode(each) : undefined);
    nodes.forEach((each, k) => {
      const value = outs[k];
      if (each && value) this.#define(each, value);
    });
    if (this.#writes && showsArgument(call)) this.#shareWithArguments(nodes, args);
    if (node.meta.noGrad || definition.gradient.kind === "none") return;
    const position = this.#position;
    this.steps.push((recorder) => {
      const { gradient, implementation } = definition;
      if (gradient.kind === "rule") {
        // An item that nothing takes has no node; a rule sees its gradient as missing.
        const known = outs.map((out, k) => out ?? this.#missing(node, k));
        this.#checkReads({ definition, args, saves: gradient.saves, outs: known }, position);
        return [{ kind: "call", definition, args, outs: known }];
      }
      if (implementation.kind !== "composite") return [];
      this.#checkReads({ definition, args, saves: Object.keys(definition.params), outs: [] }, position);
      recorder.tape.length = 0;
      for (const { value } of tensorArguments(args)) recorder.requiring.add(value);
      const again = this.#composeBefore(node, () => implementation.compose(recorder.api, args));
      if (again.random) this.#takeFrom(nodes, again.results);
      const joins = again.results.flatMap((from, k): TapeEntry<GraphValue>[] => {
        const to = outs[k];
        return to && isFloat(to.dtype) ? [{ kind: "same", from, to }] : [];
      });
      return [...recorder.tape, ...joins];
    });
  }

  /** Composes a call again at its place, where its arguments hold what they held. */
  #composeBefore(node: Node, compose: () => Results): { results: readonly GraphValue[]; random: boolean } {
    const known = new Set(this.graph.nodes);
    const { shared } = this.builder;
    this.builder.before = node;
    this.builder.shared = { stack: node.meta.stack, requiresGrad: true };
    const results = listOf(compose());
    this.builder.before = undefined;
    this.builder.shared = shared;
    const made = this.graph.nodes.filter((each) => !known.has(each));
    const random = made.some(({ target }) => findTarget(target)?.definition.implementation.kind === "random");
    return { results, random };
  }

  /** A random call must happen once: the captured node now shows the result of the composition. */
  #takeFrom(nodes: readonly (Node | undefined)[], results: readonly GraphValue[]): void {
    nodes.forEach((node, k) => {
      const from = results[k]?.node;
      if (!node || !from) return;
      node.target = "viewAs";
      node.args = [from, from];
      node.kwargs = {};
    });
  }

  /** A value for a result that no node stands for. */
  #missing(node: Node, index: number): GraphValue {
    const { value } = node.meta;
    const meta = value.kind === "tensors" ? value.tensors[index] : undefined;
    if (!meta) throw new InternalError(`Expected metadata of result ${index} of ${node.name}`);
    return new GraphValue(
      this.graph.create("call_function", "getitem", {
        args: [node, index],
        meta: { stack: node.meta.stack, value: { kind: "tensor", tensor: meta, requiresGrad: false } },
      }),
      meta,
    );
  }

  #inPlace(node: Node, { definition }: CallTarget, args: OpCall<GraphValue>["args"]): void {
    const [receiver] = node.inputs();
    if (!receiver) throw new GraphGradientError(`Expected a tensor to write to in ${node.name}`);
    const owner = this.#ownerOf(receiver);
    const shared = this.#aliases.get(owner) ?? new Set([owner]);
    const before = this.current(owner);
    const after = valueOfNode(node);
    this.#owner.set(node, owner);
    for (const alias of shared) this.#written.set(alias, this.#position);
    if (node.meta.noGrad) {
      this.#current.set(owner, after);
      this.steps.push(() => [{ kind: "same", from: before, to: after }]);
      return;
    }
    if (shared.size > 1) {
      throw new GraphGradientError(
        `Expected a tensor without views but ${node.name} writes to one that has them`,
      );
    }
    this.#current.set(owner, after);
    const position = this.#position;
    this.steps.push(() => {
      const { gradient } = definition;
      if (gradient.kind === "none") return [];
      if (gradient.kind !== "rule") {
        throw new GraphGradientError(`Expected a gradient rule of ${definition.name}`);
      }
      this.#checkReads({ definition, args, saves: gradient.saves, outs: [after] }, position);
      return [{ kind: "call", definition, args, outs: [after] }];
    });
  }

  /** A view shares elements with what it views; a composition may return one. */
  #shareWithArguments(results: readonly (Node | undefined)[], args: OpCall<GraphValue>["args"]): void {
    const joined = new Set<Node>();
    for (const each of results) if (each) joined.add(each);
    mapArguments(args, (value) => {
      for (const alias of this.#aliases.get(this.#ownerOf(value.node)) ?? []) joined.add(alias);
      return value;
    });
    for (const each of joined) this.#aliases.set(each, joined);
  }

  /** Throws where a value that a rule reads was overwritten after the call. */
  #checkReads(
    { definition, args, saves, outs }: {
      readonly definition: OpCall<GraphValue>["definition"];
      readonly args: OpCall<GraphValue>["args"];
      readonly saves: readonly string[];
      readonly outs: readonly GraphValue[];
    },
    position: number,
  ): void {
    const read = tensorArguments(args).filter(({ param }) => saves.includes(param)).map(({ value }) => value);
    if (saves.includes("out")) read.push(...outs);
    for (const { node } of read) {
      if ((this.#written.get(this.#ownerOf(node)) ?? -1) > position) {
        throw new GraphGradientError(
          `Expected the values that the gradient of ${definition.name} reads but ${node.name} was overwritten since`,
        );
      }
      if (this.#isReceiver(node, position)) {
        throw new GraphGradientError(
          `Expected the values that the gradient of ${definition.name} reads but the call overwrote ${node.name}`,
        );
      }
    }
  }

  /** Whether the call at a position wrote to the tensor that this value was of. */
  #isReceiver(node: Node, position: number): boolean {
    const owner = this.#ownerOf(node);
    return this.#written.get(owner) === position && this.#current.get(owner)?.node !== node;
  }
}

/** Whether a result shares elements with an argument: views do, and compositions that end in views of arguments. */
export function showsArgument({ definition, args }: OpCall<GraphValue>): boolean {
  const { implementation } = definition;
  if (implementation.kind === "view") return true;
  if (implementation.kind !== "composite" || definition.gradient.kind === "rule") return false;
  const scratch = new GraphBuilder(new Graph());
  const run = (call: OpCall<GraphValue>): Results => {
    const { implementation } = call.definition;
    return implementation.kind === "composite" ? implementation.compose(api, call.args) : scratch.call(call);
  };
  const api = graphApi(run);
  const stand = mapArguments(args, ({ meta }) => scratch.tensor("argument", meta));
  const isView = (node: Node) => findTarget(node.target)?.definition.implementation.kind === "view";
  return listOf(implementation.compose(api, stand)).some(({ node }) => {
    let root: Node | undefined = node;
    while (root && root.op === "call_function" && (root.target === "getitem" || isView(root))) {
      [root] = root.inputs();
    }
    return root?.op === "placeholder";
  });
}

/** The `getitem` nodes of a call with several results, by index. */
function itemsOf(node: Node): (Node | undefined)[] {
  const { value } = node.meta;
  const items = new Array<Node | undefined>(value.kind === "tensors" ? value.tensors.length : 0).fill(
    undefined,
  );
  for (const user of node.users.keys()) {
    const [from, index] = user.args;
    if (user.target === "getitem" && from === node && typeof index === "number") items[index] = user;
  }
  return items;
}
