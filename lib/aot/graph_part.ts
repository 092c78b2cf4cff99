/**
 * Extracts a run of nodes of a captured graph as a separate graph whose inputs are sizes, then values computed by
 * earlier nodes. Invariant: it computes the same as its nodes in the captured graph.
 */
import { InternalError } from "../base/errors.ts";
import type { TensorMeta } from "../graph/meta.ts";
import { type Argument, Graph, mapLeaves, Node, type NodeValue } from "../graph/node.ts";
import { GraphModule } from "../graph/graph_module.ts";
import { symbolsIn, symbolsOf } from "../graph/sizes.ts";
import { type Dim, evaluate, substitute, Sym } from "../sym/expr.ts";

/** The nodes of a part. */
export interface PartNodes {
  readonly nodes: readonly Node[];
  /** Outside values that they read. */
  readonly inputs: readonly Node[];
  /** Values that are read outside of the part. */
  readonly results: readonly Node[];
  /** Sizes that the part itself determines. */
  readonly gives: ReadonlySet<Sym>;
}

/** A part prepared for a call: the graph that will run, and the function that runs it. */
export interface PreparedPart {
  readonly graph: Graph;
  run(): readonly unknown[];
}

/** How sizes and inputs of a part are represented. */
interface PartForm {
  /** Returns the replacement of a symbol. */
  readonly replace: (symbol: Sym) => Dim;
  /** Symbols that are inputs, as they appear in the new graph. */
  readonly sizes: readonly Sym[];
  /** Returns whether the value of an input requires a gradient. */
  readonly requiresGrad: (input: Node) => boolean;
}

/** A part that runs op by op. */
export class GraphPart {
  readonly #module: GraphModule;
  readonly #symbols: readonly Sym[];

  constructor(captured: GraphModule, readonly nodes: PartNodes) {
    this.#symbols = [...outsideSymbols(nodes)];
    this.#module = moduleOf(captured, nodes, {
      replace: (symbol) => symbol,
      sizes: this.#symbols,
      requiresGrad: (input) => requiresGrad(input),
    });
  }

  /** Prepares the part for the values of a call. */
  prepare(values: ReadonlyMap<Node, unknown>, sizeOf: (symbol: Sym) => number): PreparedPart {
    const module = this.#module;
    const args = [...this.#symbols.map(sizeOf), ...this.nodes.inputs.map((node) => values.get(node))];
    return { graph: module.graph, run: () => listOf(module.forward(...args)) };
  }

  /** Resolves an argument tree, given the values of nodes. */
  static resolve(
    argument: Argument,
    values: ReadonlyMap<Node, unknown>,
    sizeOf: (symbol: Sym) => number,
  ): unknown {
    return mapLeaves(argument, (leaf): unknown => {
      if (leaf instanceof Node) return values.get(leaf);
      return leaf instanceof Sym ? evaluate(leaf, sizeOf) : leaf;
    });
  }
}

/** The results of a part. */
export function listOf(result: unknown): readonly unknown[] {
  if (Array.isArray(result)) return result;
  throw new InternalError("Expected a list of results");
}

/** The symbols of a part that must be known before it runs. */
export function outsideSymbols({ nodes, inputs, gives }: PartNodes): Set<Sym> {
  const found = symbolsOf(nodes.filter(({ meta }) => !meta.onHost));
  for (const { args, kwargs, meta } of nodes) {
    if (!meta.onHost) continue;
    symbolsIn(args, found);
    symbolsIn(kwargs, found);
  }
  symbolsOf(inputs.filter(({ meta: { value } }) => value.kind === "tensor"), found);
  for (const symbol of gives) found.delete(symbol);
  return found;
}

/** Builds the graph of a part. */
export function moduleOf(
  captured: GraphModule,
  { nodes, inputs, results }: PartNodes,
  { replace, sizes, requiresGrad }: PartForm,
): GraphModule {
  const graph = new Graph(), copies = new Map<Node, Node>();
  const change = (argument: Argument): Argument =>
    mapLeaves(argument, (leaf) => {
      if (leaf instanceof Node) return copyOf(copies, leaf);
      return leaf instanceof Sym ? substitute(leaf, replace) : leaf;
    });
  for (const size of sizes) {
    graph.create("placeholder", `${size}`, { meta: { value: { kind: "size", size } } });
  }
  for (const input of inputs) {
    const { stack, source, value } = input.meta;
    const known = valueWith(value, replace);
    const placed = known.kind === "tensor" ? { ...known, requiresGrad: requiresGrad(input) } : known;
    copies.set(
      input,
      graph.create("placeholder", input.name, {
        meta: { stack, value: placed, ...(source ? { source } : {}) },
      }),
    );
  }
  for (const node of nodes) {
    const copy = graph.create(node.op, node.target, {
      name: node.name,
      args: node.args.map(change),
      kwargs: Object.fromEntries(Object.entries(node.kwargs).map(([key, each]) => [key, change(each)])),
      meta: { ...node.meta, value: valueWith(node.meta.value, replace) },
    });
    copies.set(node, copy);
  }
  graph.create("output", "output", { args: [results.map((node) => copyOf(copies, node))] });
  graph.lint();
  return new GraphModule(graph, captured.attributes, captured.runner);
}

/** Returns whether a node's tensor was captured as one that requires a gradient. */
function requiresGrad({ meta: { value } }: Node): boolean {
  return value.kind === "tensor" && value.requiresGrad;
}

function valueWith(value: NodeValue, replace: (symbol: Sym) => Dim): NodeValue {
  const known = (d: Dim) => substitute(d, replace);
  const tensorWith = ({ shape, strides, offset, ...rest }: TensorMeta): TensorMeta => ({
    ...rest,
    shape: shape.map(known),
    strides: strides.map(known),
    offset: known(offset),
  });
  switch (value.kind) {
    case "tensor":
      return { ...value, tensor: tensorWith(value.tensor) };
    case "tensors":
      return { ...value, tensors: value.tensors.map(tensorWith) };
    case "size":
      return { kind: "size", size: known(value.size) };
    case "number":
    case "unknown":
      return value;
    default:
      return value satisfies never;
  }
}

function copyOf(copies: ReadonlyMap<Node, Node>, node: Node): Node {
  const copy = copies.get(node);
  if (!copy) throw new InternalError(`Expected ${node.name} before its use in a part`);
  return copy;
}
