/**
 * Cuts a captured or functional graph into parts for several engines, as graph modules, and builds the graph that calls
 * them. Invariant: the parts, run in sequence, compute what the graph computes, with the same writes, aliasing and
 * random numbers.
 */
import { checkFunction, refuseSurplus } from "../../base/checked_input.ts";
import { DynError } from "../../base/errors.ts";
import type { CompiledFunction, GraphBackend } from "../../graph/backend.ts";
import { takesGradients } from "../../graph/gradient_call.ts";
import { GraphModule } from "../../graph/graph_module.ts";
import { type Argument, Graph, hasEffect, mapNodes, type Node } from "../../graph/node.ts";
import { viewsMemory } from "../../ops/definition.ts";
import { findTarget } from "../../ops/table.ts";
import { memoryRoot } from "../../ops/rewrite/memory_root.ts";
import type { Sym } from "../../sym/expr.ts";
import { moduleOf, outsideSymbols } from "../graph_part.ts";
import { needsStages } from "../stages.ts";
import { dependencesOf } from "./dependences.ts";
import { type EngineName, type Group, groupNodes } from "./grouping.ts";
import type { Part } from "./part.ts";
import { runParts } from "./run_parts.ts";

/** For each engine, whether it supports a node; the first engine that does gets it. */
export type Supports = Readonly<Record<string, (node: Node) => boolean>>;

/** A graph in parts. */
export class Partition {
  /** The graph of calls of the parts, each of which is an attribute; called directly, it runs op by op. */
  readonly module: GraphModule;

  /** Created by `partition`. */
  constructor(
    /** @internal */
    readonly original: GraphModule,
    /** In an order in which they can run. */
    readonly parts: readonly Part[],
  ) {
    this.module = wholeOf(original, parts);
  }

  /**
   * The graph as a function, each part compiled by its engine. `rest` compiles the nodes that no engine supports;
   * without it they run op by op. An engine may decline by returning null: the part then runs op by op. Throws DynError
   * for an engine without a compiler.
   */
  compile(
    engines: Readonly<Record<string, GraphBackend>>,
    rest: GraphBackend | null = null,
  ): CompiledFunction {
    for (const [name, engine] of Object.entries(engines)) {
      checkFunction(engine, `that compiles parts for ${name}`);
    }
    const { original, module, parts } = this;
    return runParts({ original, whole: module, parts }, (part) => {
      if (part.engine === null) return rest;
      const found = Object.hasOwn(engines, part.engine) ? engines[part.engine] : undefined;
      if (found) return found;
      const given = Object.keys(engines).join(", ");
      throw new DynError(`Expected compilers for ${this.engines.join(", ")} but found ${given || "none"}`);
    });
  }

  /** The engines that have parts. */
  get engines(): string[] {
    return [...new Set(this.parts.flatMap(({ engine }) => engine === null ? [] : [engine]))];
  }

  /** One line for each part: its name and its ops. */
  toString(): string {
    return this.parts.map(({ name, module: { graph } }) => {
      const ops = graph.nodes.filter(({ op }) => op.startsWith("call_")).map(({ target }) => target);
      return `${name}: ${ops.join(" ")}`;
    }).join("\n");
  }
}

/**
 * Cuts a graph into parts for several engines: nodes of one engine run together as far as the order of reads, writes
 * and random numbers allows. `supports`: for each engine, whether it supports a node. Works on graphs as captured and
 * on those that `aotAutograd` hands to its compilers; a captured graph that takes gradients inside is one part. Throws
 * DynError for graphs with sizes that are known only while they run.
 *
 * ```ts
 * import { compile, compiler, randn, type Tensor } from "jsr:@x/dyn";
 *
 * const backend = compiler.aotAutograd({
 *   fwCompiler: (gm) => {
 *     const cut = compiler.partition(gm, { products: (node) => node.target === "mm" });
 *     return cut.compile({ products: (part) => part.forward });
 *   },
 * });
 * const f = compile((x: Tensor) => x.sin().matmul(x).add(1), { backend });
 * console.log(f(randn(4, 4)).shape); // [ 4, 4 ]
 * ```
 */
export function partition(gm: GraphModule, supports: Supports): Partition {
  if (arguments.length > 2) refuseSurplus("partition", 2, arguments);
  if (!(gm instanceof GraphModule)) {
    throw new DynError(`Expected a graph module to cut but found ${typeof gm}`);
  }
  for (const [name, each] of Object.entries(supports)) {
    checkFunction(each, `from nodes to booleans as ${name}`);
  }
  if (needsStages(gm.graph)) {
    throw new DynError(
      "Expected a graph whose sizes are known before it runs; aotAutograd's compilers are given such",
    );
  }
  return new Partition(gm, partsOf(gm, supports));
}

function addresses({ target }: Node): boolean {
  const called = findTarget(target);
  return called !== undefined && viewsMemory(called.definition);
}

function partsOf(gm: GraphModule, supports: Supports): Part[] {
  const { graph } = gm, dependences = dependencesOf(gm), chosen = new Map<Node, EngineName>();
  const order = graph.nodes.filter(({ op }) => op !== "placeholder" && op !== "output" && op !== "get_attr");
  // Gradients depend on everything that the same graph computes, and addressed memory is not split
  const isWhole = order.some((node) => takesGradients(node) || node.meta.gradient || addresses(node));
  for (const node of order) {
    const [producer] = node.target === "getitem" ? node.inputs() : [];
    // Results of several tensors are unpacked in the part that computes them
    const follows = producer?.meta.value.kind === "tensors" ? chosen.get(producer) : undefined;
    // An engine computes only what is read, so it might leave out nodes that exist because they may throw, such as
    // index checks
    const isRead = node.users.size > 0 || hasEffect(node);
    const wants = isRead ? Object.entries(supports).find(([, each]) => each(node)) : undefined;
    chosen.set(node, isWhole ? null : follows !== undefined ? follows : wants?.[0] ?? null);
  }
  const engineOf = (node: Node) => chosen.get(node) ?? null;
  const groups = groupNodes(order, { engineOf, before: dependences.before });
  const counts = new Map<string, number>();
  return groups.map((group) => {
    const base = group.engine ?? "rest", at = counts.get(base) ?? 0;
    counts.set(base, at + 1);
    return partOf(gm, group, { name: `${base}_${at}`, dependences });
  });
}

function partOf(
  gm: GraphModule,
  { engine, nodes }: Group,
  { name, dependences }: { readonly name: string; readonly dependences: ReturnType<typeof dependencesOf> },
): Part {
  const own = new Set(nodes);
  const inputs = [...new Set(nodes.flatMap((node) => [...node.inputs()]))].filter((node) => !own.has(node));
  const read = nodes.filter((node) => [...node.users.keys()].some((user) => !own.has(user)));
  // Views of outside values, or of another result, may remain views; other results need memory of their own
  const firsts = new Map(read.toReversed().map((node) => [memoryRoot(node), node]));
  const isOwn = (node: Node) => own.has(memoryRoot(node)) && firsts.get(memoryRoot(node)) === node;
  const made = read.filter(isOwn), results = [...made, ...read.filter((node) => !isOwn(node))];
  const place = { nodes, inputs, results, gives: new Set<Sym>() }, sizes = [...outsideSymbols(place)];
  const { graph, attributes, runner } = moduleOf(gm, place, {
    replace: (symbol) => symbol,
    sizes,
    requiresGrad: ({ meta: { value } }) => value.kind === "tensor" && value.requiresGrad,
  });
  const signature = gm.signature && {
    role: gm.signature.role,
    mutatedInputs: [],
    ownResults: made.length,
  };
  const written = new Set(nodes.flatMap((node) => [...dependences.writes(node)]));
  return {
    name,
    engine,
    module: new GraphModule(graph, attributes, runner, signature),
    inputs,
    sizes,
    results,
    writes: inputs.flatMap((node, at) => written.has(dependences.classOf(node)) ? [sizes.length + at] : []),
    isPlain: [...inputs, ...results].some(({ meta: { value: { kind } } }) =>
      kind !== "tensor" && kind !== "size"
    ),
  };
}

/** The graph that calls the parts. */
function wholeOf(gm: GraphModule, parts: readonly Part[]): GraphModule {
  const graph = new Graph(), made = new Map<Node, Node>();
  const moved = (argument: Argument) => mapNodes(argument, (node) => made.get(node) ?? node);
  for (const node of gm.graph.nodes) {
    const { op, target, name, meta } = node;
    if (op === "placeholder" || op === "get_attr") {
      made.set(node, graph.create(op, target, { name, meta: { ...meta } }));
    }
  }
  for (const { name, sizes, inputs, results } of parts) {
    const call = graph.create("call_module", name, { args: [...sizes, ...inputs.map(moved)] });
    results.forEach((node, at) => {
      const { name, meta: { value, stack } } = node;
      made.set(
        node,
        graph.create("call_function", "getitem", { args: [call, at], name, meta: { value, stack } }),
      );
    });
  }
  graph.create("output", "output", { args: gm.graph.output.args.map(moved), meta: gm.graph.output.meta });
  graph.lint();
  const attributes = {
    ...gm.attributes,
    ...Object.fromEntries(parts.map(({ name, module }) => [name, module])),
  };
  return new GraphModule(graph, attributes, gm.runner, gm.signature);
}
