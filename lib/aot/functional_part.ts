/**
 * A part of a functional graph, compiled separately. Invariants: values passed to other parts have the layouts that the
 * graph records; only the last part writes to inputs of the graph, and nothing reads them after it.
 */
import { InternalError } from "../base/errors.ts";
import type { CompiledFunction } from "../graph/backend.ts";
import { GraphModule } from "../graph/graph_module.ts";
import type { GraphCompiler } from "../graph/interpose.ts";
import type { Node } from "../graph/node.ts";
import type { MutatedInput } from "../graph/signature.ts";
import { memoryRoot } from "../ops/rewrite/memory_root.ts";
import { evaluate, type Sym } from "../sym/expr.ts";
import { noGrad } from "../tensor/modes.ts";
import { isTensor } from "../tensor/tensor.ts";
import { exampleOf } from "./examples.ts";
import { listOf, moduleOf, outsideSymbols, type PartNodes, type PreparedPart } from "./graph_part.ts";

/** Options of compiling a part. */
interface FunctionalPartOptions {
  readonly compile: GraphCompiler;
  /** Values whose memory belongs to the program. */
  readonly own: ReadonlySet<Node>;
  /** New values of inputs of the graph, which may be written in place. */
  readonly mutated: ReadonlyMap<Node, Node>;
}

/** A part that is compiled when it is created. */
export class FunctionalPart {
  readonly #module: GraphModule;
  readonly #run: CompiledFunction;
  readonly #symbols: readonly Sym[];
  /** Position of each result among the results of the compiled graph. */
  readonly #places: readonly number[];
  /** Inputs that kernels of other parts may have computed in another layout. */
  readonly #made: readonly boolean[];

  readonly nodes: PartNodes;

  constructor(
    functional: GraphModule,
    parts: PartNodes,
    { compile, own, mutated }: FunctionalPartOptions,
  ) {
    // A tensor that is written without being read is an input too
    const written = parts.results.flatMap((node) => mutated.get(node) ?? []);
    const nodes = this.nodes = { ...parts, inputs: [...new Set([...parts.inputs, ...written])] };
    this.#symbols = [...outsideSymbols(nodes)];
    this.#made = nodes.inputs.map(({ op, meta }) => op !== "placeholder" && meta.value.kind === "tensor");
    const { inputs, results } = nodes, made = new Set(nodes.nodes), taken = new Set<Node>();
    const handed = results.filter((node) => {
      const root = memoryRoot(node);
      if (!own.has(root) || !made.has(root) || taken.has(root)) return false;
      taken.add(root);
      return true;
    });
    const ordered = [...handed, ...results.filter((node) => !handed.includes(node))];
    this.#places = results.map((node) => ordered.indexOf(node));
    const { graph } = moduleOf(functional, { ...nodes, results: ordered }, {
      replace: (symbol) => symbol,
      sizes: this.#symbols,
      requiresGrad: () => false,
    });
    const mutatedInputs = ordered.flatMap((node, output): MutatedInput[] => {
      const target = mutated.get(node), input = target ? inputs.indexOf(target) : -1;
      return input < 0 ? [] : [{ input: this.#symbols.length + input, output }];
    });
    this.#module = new GraphModule(graph, {}, functional.runner, {
      role: "inference",
      mutatedInputs,
      ownResults: handed.length,
    });
    this.#run = compile(this.#module, graph.placeholders.map(exampleOf));
  }

  /** Prepares the part for the values of a call. */
  prepare(values: ReadonlyMap<Node, unknown>, sizeOf: (symbol: Sym) => number): PreparedPart {
    const tensors = this.nodes.inputs.map((node, at) =>
      this.#made[at] ? laidOutAs(node, values.get(node), sizeOf) : values.get(node)
    );
    const args = [...this.#symbols.map(sizeOf), ...tensors];
    return {
      graph: this.#module.graph,
      run: () => {
        const found = listOf(noGrad(() => this.#run(...args)));
        return this.#places.map((at) => found[at]);
      },
    };
  }
}

/** A value in the layout that the graph records. */
function laidOutAs({ name, meta }: Node, value: unknown, sizeOf: (symbol: Sym) => number): unknown {
  if (meta.value.kind !== "tensor") return value;
  if (!isTensor(value)) throw new InternalError(`Expected a tensor at ${name} but found ${typeof value}`);
  const expected = meta.value.tensor.strides.map((d) => evaluate(d, sizeOf)), found = value.stride();
  const fits = value.numel() === 0 || expected.every((d, at) => value.shape[at] === 1 || d === found[at]);
  if (fits) return value;
  const order = [...expected.keys()].sort((a, b) => (expected[b] ?? 0) - (expected[a] ?? 0) || a - b);
  const inverse = order.map((_, d) => order.indexOf(d));
  return noGrad(() => value.permute(order).contiguous().permute(inverse));
}
