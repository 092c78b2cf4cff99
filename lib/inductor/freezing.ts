/**
 * Freezing, `config.inductor.freezing`: values that graphs without gradients compute from parameters and buffers
 * alone are computed once and cached. Invariant: they are recomputed in the call after any of their inputs was
 * written to or replaced, so that results are those of the whole graph; if that keeps happening, the whole graph is
 * compiled instead.
 */
import { config } from "../base/config.ts";
import { isUndone, noteUndone } from "../base/errors.ts";
import { logs } from "../base/logs.ts";
import type { CompiledFunction } from "../graph/backend.ts";
import { GraphModule } from "../graph/graph_module.ts";
import type { GraphCompiler } from "../graph/interpose.ts";
import { type Argument, forEachNode, Graph, mapNodes, mapOperands, type Node } from "../graph/node.ts";
import type { OpDefinition } from "../ops/definition.ts";
import { viewChain } from "../ops/rewrite/memory_root.ts";
import { noGrad } from "../tensor/modes.ts";
import type { Storage } from "../tensor/storage.ts";
import { isTensor, modes, Tensor } from "../tensor/tensor.ts";

/** A graph in two parts: cached values, and the work of each call. */
interface FrozenParts {
  /** From inputs that the program holds to the cached tensors. */
  readonly kept: GraphModule;
  /** Indices of the graph inputs that `kept` takes. */
  readonly inputs: readonly number[];
  /** The graph with the cached tensors as additional inputs after its own. */
  readonly rest: GraphModule;
}

/** The definition of an op by the name that graphs call it by. */
type Definitions = (target: string) => OpDefinition | undefined;

/** Separates the work that depends on held inputs alone; null if there is none. */
function frozenParts(module: GraphModule, definitionOf: Definitions): FrozenParts | null {
  const { graph, signature } = module;
  if (signature?.role !== "inference") return null;
  const written = new Set(signature.mutatedInputs.map(({ input }) => input));
  // A result has memory of its own in each call, even if it is a view of a cached value
  const results = new Set<Node>();
  forEachNode(graph.output.args, (node) => viewChain(node).forEach((each) => results.add(each)));
  // Views of held inputs and a graph's constants cost nothing themselves, but cached values may depend on them.
  const held = new Set<Node>(), made = new Set<Node>(), work = new Set<Node>();
  graph.placeholders.forEach((node, at) => {
    if (node.meta.held && isFixed(node) && !written.has(at)) held.add(node);
  });
  for (const node of graph.nodes) {
    if (node.op !== "call_function" || node.meta.onHost || results.has(node) || !isFixed(node)) continue;
    const inputs = [...node.inputs()];
    if (!inputs.every((input) => held.has(input) || work.has(input) || made.has(input))) continue;
    const isHeld = inputs.some((input) => held.has(input));
    if (inputs.some((input) => work.has(input))) work.add(node);
    else if (!isHeld) made.add(node);
    else (definitionOf(node.target)?.implementation.kind === "view" ? held : work).add(node);
  }
  const boundary = [...work].filter((node) =>
    node.meta.value.kind === "tensor" && [...node.users.keys()].some((user) => !work.has(user))
  );
  // A cached value that consists of several tensors is cached as its parts.
  const isWhole = [...work].every((node) =>
    node.meta.value.kind === "tensor" || [...node.users.keys()].every((user) => work.has(user))
  );
  return boundary.length > 0 && isWhole ? partsOf(module, work, boundary) : null;
}

/** Returns whether all of a node's sizes are known. */
function isFixed({ meta: { value } }: Node): boolean {
  const tensors = value.kind === "tensor" ? [value.tensor] : value.kind === "tensors" ? value.tensors : null;
  return tensors !== null && tensors.every(({ shape }) => shape.every((size) => typeof size === "number"));
}

/** Nodes together with everything they depend on. */
function withInputs(nodes: readonly Node[]): Set<Node> {
  const found = new Set<Node>(), open = [...nodes];
  for (let node = open.pop(); node; node = open.pop()) {
    if (found.has(node)) continue;
    found.add(node);
    open.push(...node.inputs());
  }
  return found;
}

function partsOf(module: GraphModule, work: ReadonlySet<Node>, boundary: readonly Node[]): FrozenParts {
  const { graph, attributes, runner, signature } = module;
  const kept = new Graph(), rest = new Graph();
  const copies = new Copies(kept), inputs: number[] = [], needed = withInputs(boundary);
  graph.placeholders.forEach((node, at) => {
    if (!needed.has(node)) return;
    inputs.push(at);
    copies.input(node);
  });
  for (const node of boundary) copies.need(node);
  kept.create("output", "output", { args: [boundary.map((node) => copies.of(node))] });
  const others = new Copies(rest);
  for (const node of graph.placeholders) others.input(node);
  for (const node of boundary) others.input(node);
  for (const node of graph.nodes) {
    if (node.op !== "placeholder" && node.op !== "output" && !work.has(node)) others.need(node);
  }
  rest.create("output", "output", { args: others.arguments(graph.output.args), meta: graph.output.meta });
  kept.lint();
  rest.lint();
  return {
    kept: new GraphModule(kept, attributes, runner),
    inputs,
    rest: new GraphModule(rest, attributes, runner, signature),
  };
}

/** Copies nodes of one graph into another. */
class Copies {
  readonly #made = new Map<Node, Node>();

  constructor(private readonly to: Graph) {}

  of(node: Node): Node {
    return this.#made.get(node) ?? this.need(node);
  }

  /** Adds a node as an input. */
  input(node: Node): void {
    this.#made.set(node, this.to.create("placeholder", node.name, { meta: { ...node.meta } }));
  }

  /** Copies a node, and everything it needs. */
  need(node: Node): Node {
    const known = this.#made.get(node);
    if (known) return known;
    const { op, target, name } = node, operands = mapOperands(node, (each) => this.of(each));
    const made = this.to.create(op, target, { ...operands, name, meta: { ...node.meta } });
    this.#made.set(node, made);
    return made;
  }

  arguments(args: readonly Argument[]): readonly Argument[] {
    return args.map((arg) => mapNodes(arg, (node) => this.of(node)));
  }
}

/** Number of consecutive calls with changed parameters after which the whole graph is compiled. */
const MOST_CHANGES = 4;

/** A compiler that caches values that depend on parameters and buffers alone, if the settings request it. */
export function freezing(compiler: GraphCompiler, definitionOf: Definitions): GraphCompiler {
  return (module, examples) => {
    const parts = config.inductor.freezing ? frozenParts(module, definitionOf) : null;
    if (!parts) return compiler(module, examples);
    const { kept, rest, inputs } = parts;
    const initial = inputs.map((at) => examples[at]);
    if (!initial.every((value) => isTensor(value) && value.storage.filled)) return compiler(module, examples);
    logs.emit("perf_hints", () => {
      const ops = kept.graph.nodes.filter((node) => node.op === "call_function").length;
      return `${ops} operations on parameters and buffers are done once (freezing)`;
    });
    const values = new KeptValues(kept);
    const run = compiler(rest, [...examples, ...values.of(initial)]);
    let whole: CompiledFunction | null = null;
    return (...args) => {
      const given = inputs.map((at) => args[at]);
      if (values.changes >= MOST_CHANGES && whole === null) {
        logs.emit("perf_hints", "Parameters change from call to call, so that nothing is kept of them");
        whole = compiler(module, examples);
      }
      if (whole) return whole(...args);
      try {
        return run(...args, ...values.of(given));
      } catch (error) {
        throw isUndone(error, rest.graph) ? noteUndone(error, module.graph) : error;
      }
    };
  };
}

/** The memory of a tensor at one moment. */
interface Seen {
  readonly tensor: Tensor;
  readonly storage: Storage;
  readonly contents: number;
}

/** The cached values, and the tensors from which they were computed. */
class KeptValues {
  #seen: readonly Seen[] = [];
  #values: readonly unknown[] = [];
  /** Number of consecutive calls with changed parameters. */
  changes = -1;

  constructor(private readonly graph: GraphModule) {}

  /** Returns the values computed from these tensors. */
  of(given: readonly unknown[]): readonly unknown[] {
    if (this.#seen.length > 0 && given.every((value, i) => isSame(value, this.#seen[i]))) {
      this.changes = 0;
      return this.#values;
    }
    const result = noGrad(() => modes.without(() => this.graph.forward(...given)));
    this.#values = Array.isArray(result) ? result : [];
    this.#seen = given.filter(isTensor).map((tensor) => ({
      tensor,
      storage: tensor.storage,
      contents: tensor.storage.contents,
    }));
    this.changes++;
    return this.#values;
  }
}

function isSame(value: unknown, seen: Seen | undefined): boolean {
  return seen !== undefined && value === seen.tensor && seen.storage === seen.tensor.storage &&
    seen.contents === seen.storage.contents;
}
