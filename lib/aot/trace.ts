/**
 * Replays a captured graph as calls of core ops on values without aliasing. Input: a GraphModule as captured;
 * output: a graph in the making, with a tape for its gradient. Invariant: the new graph's placeholders are those
 * of the captured graph in order, then lifted attributes, then the keys of random ops.
 */
import { DynError, InternalError } from "../base/errors.ts";
import { flatten, mapTree, type TreeSpec } from "../base/tree.ts";
import { contiguousMeta, type TensorMeta } from "../graph/meta.ts";
import { type Argument, Graph, isList, isRecord, Node } from "../graph/node.ts";
import type { GraphModule } from "../graph/graph_module.ts";
import { RANDOM_KEYS } from "../graph/signature.ts";
import type { OpApi } from "../ops/generated.ts";
import {
  argumentsOfNode,
  GraphBuilder,
  type GraphValue,
  mapArguments,
  type OpCall,
  type Results,
} from "../ops/graph_builder.ts";
import { findTarget } from "../ops/table.ts";
import { graphApi, Recorder } from "../autograd/recorder.ts";
import { specialize } from "../sym/decide.ts";
import { Sym } from "../sym/expr.ts";
import { isTensor, Tensor } from "../tensor/tensor.ts";
import { makeFx } from "./make_fx.ts";
import { AotUnsupported, Functionalizer, FunctionalTensor, isFunctional } from "./functional.ts";

/** An input of the new graph. */
export interface TracedInput {
  readonly node: Node;
  /** The tensor in the captured program, where it is one. */
  readonly tensor?: FunctionalTensor;
  /** What the tensor held at first. */
  readonly value?: GraphValue;
  readonly requiresGrad: boolean;
}

/** A captured graph replayed up to its output. */
export interface ForwardTrace {
  readonly graph: Graph;
  readonly builder: GraphBuilder;
  readonly recorder: Recorder;
  /** The ops by which the backward part is made: taken apart, not recorded. */
  readonly core: OpApi<GraphValue>;
  readonly inputs: readonly TracedInput[];
  /** Values of attributes that became inputs, after the captured graph's own. */
  readonly lifted: readonly unknown[];
  /** Values whose history a backward inside the graph has used up. */
  readonly spent: ReadonlySet<GraphValue>;
  /** How many random ops drew keys; 0: there is no input for keys. */
  readonly randomOps: number;
  /** Leaves of the captured result: functional tensors, sizes and constants. */
  readonly outputs: readonly unknown[];
  readonly outputTree: TreeSpec;
}

/** Replays a captured graph. */
export function traceForward(captured: GraphModule): ForwardTrace {
  return new Tracer(captured).run();
}

class Tracer {
  readonly #graph = new Graph();
  readonly #builder = new GraphBuilder(this.#graph);
  readonly #core: OpApi<GraphValue> = graphApi((call) => this.#lower(call));
  readonly #recorder: Recorder = new Recorder((call) => this.#lower(call), () => this.#context());
  readonly #functional = new Functionalizer(this.#recorder);
  readonly #inputs: TracedInput[] = [];
  readonly #lifted: unknown[] = [];
  /** Tensors, lists of tensors, sizes and constants by captured node. */
  readonly #values = new Map<Node, unknown>();
  /** Inputs by the attribute that they hold. */
  readonly #attributes = new Map<unknown, unknown>();
  readonly #spent = new Set<GraphValue>();
  #keys: GraphValue | undefined;
  #randomOps = 0;

  constructor(readonly captured: GraphModule) {}

  run(): ForwardTrace {
    const { graph, attributes } = this.captured;
    for (const node of graph.placeholders) this.#values.set(node, this.#input(node));
    for (const node of graph.nodes) {
      // Attributes become inputs, and inputs come first.
      if (node.op === "get_attr") {
        this.#values.set(node, this.#attribute(node.target, attributes[node.target]));
      }
    }
    this.#replayAll(this.captured);
    const { leaves, spec } = flatten(this.#resolve(graph.output.args[0]), isFunctional);
    if (this.#keys) {
      const tensor = contiguousMeta([2 * this.#randomOps], "int32", this.#keys.device);
      this.#keys.node.meta.value = { kind: "tensor", tensor, requiresGrad: false };
    }
    return {
      graph: this.#graph,
      builder: this.#builder,
      recorder: this.#recorder,
      core: this.#core,
      inputs: this.#inputs,
      lifted: this.#lifted,
      spent: this.#spent,
      randomOps: this.#randomOps,
      outputs: leaves,
      outputTree: spec,
    };
  }

  #input(node: Node): unknown {
    const { value, stack, source } = node.meta;
    const made = this.#builder.placeholder(node.name, value, { stack, ...(source ? { source } : {}) });
    if (value.kind !== "tensor") {
      this.#inputs.push({ node: made, requiresGrad: false });
      return value.kind === "size" ? value.size : undefined;
    }
    return this.#tensorInput(made, value.tensor, value.requiresGrad);
  }

  #tensorInput(node: Node, meta: TensorMeta, requiresGrad: boolean): FunctionalTensor {
    const value = this.#builder.valueOf(node, meta);
    if (requiresGrad) this.#recorder.requiring.add(value);
    const tensor = this.#functional.fresh(value, this.#inputs.length);
    this.#inputs.push({ node, tensor, value, requiresGrad });
    return tensor;
  }

  /** Attributes that are tensors become inputs, so that graphs hold no data. */
  #attribute(name: string, value: unknown): unknown {
    if (this.#attributes.has(value)) return this.#attributes.get(value);
    let result = value;
    if (isTensor(value)) {
      const { meta, requiresGrad } = value;
      const node = this.#builder.placeholder(name, { kind: "tensor", tensor: meta, requiresGrad });
      result = this.#tensorInput(node, meta, requiresGrad);
      this.#lifted.push(value);
    }
    this.#attributes.set(value, result);
    return result;
  }

  #replayAll({ graph, attributes }: GraphModule): void {
    for (const node of graph.nodes) {
      if (node.op === "get_attr") {
        this.#values.set(node, this.#attribute(node.target, attributes[node.target]));
      }
      if (node.op === "call_function" || node.op === "call_method") {
        const own = Object.hasOwn(attributes, node.target) ? attributes[node.target] : undefined;
        const calls = (...args: unknown[]): unknown =>
          typeof own === "function" && Reflect.apply(own, undefined, args);
        this.#values.set(node, typeof own === "function" ? this.#inline(node, calls) : this.#replay(node));
      }
      if (node.op === "call_module") {
        throw new AotUnsupported(`Expected a graph of ops but found a call of the module ${node.target}`);
      }
    }
  }

  /** A function that was captured as one call is traced now, at the sizes of this call. */
  #inline(node: Node, fn: (...args: unknown[]) => unknown): unknown {
    const args = node.args.map((each) => this.#resolve(each));
    const recorded = !node.meta.noGrad;
    const given: FunctionalTensor[] = [];
    const fakes = mapTree(args, (leaf) => {
      if (!isFunctional(leaf)) return leaf instanceof Sym ? specialize(leaf) : leaf;
      given.push(leaf);
      return fakeTensor(leaf.meta, recorded && this.#recorder.requiring.has(leaf.value()));
    }, isFunctional);
    if (!Array.isArray(fakes)) throw new InternalError("Expected a list of arguments");
    const traced = makeFx(fn)(...fakes);
    traced.graph.placeholders.forEach((placeholder, at) => this.#values.set(placeholder, given[at]));
    this.#replayAll(traced);
    return this.#resolve(traced.graph.output.args[0]);
  }

  #replay(node: Node): unknown {
    if (node.target === "getitem") {
      const [list, index] = node.args.map((each) => this.#resolve(each));
      if (Array.isArray(list) && typeof index === "number") return list[index];
    }
    const found = findTarget(node.target);
    if (!found) throw new DynError(`Expected an op of the table but found ${node.target}`);
    const { definition, inplace } = found;
    const args = argumentsOfNode(node, definition, (input) => this.#valueOf(input), isFunctional);
    this.#builder.shared = { stack: node.meta.stack, partition: "forward" };
    this.#recorder.enabled = !node.meta.spent && !node.meta.noGrad;
    const results = this.#functional.call({ definition, args, inplace });
    if (node.meta.spent) {
      for (const each of isFunctional(results) ? [results] : results) this.#spent.add(each.value());
    }
    return results;
  }

  #resolve(argument: Argument): unknown {
    if (argument instanceof Node) return this.#valueOf(argument);
    if (isList(argument)) return argument.map((each) => this.#resolve(each));
    if (isRecord(argument)) {
      return Object.fromEntries(Object.entries(argument).map(([key, each]) => [key, this.#resolve(each)]));
    }
    return argument;
  }

  #valueOf(node: Node): unknown {
    if (!this.#values.has(node)) throw new InternalError(`Expected ${node.name} before its first use`);
    return this.#values.get(node);
  }

  /** Makes a call of ops that are not compositions. */
  #lower(call: OpCall<GraphValue>): Results {
    const { definition, args } = call;
    const { implementation } = definition;
    switch (implementation.kind) {
      case "composite":
        return implementation.compose(this.#core, args);
      case "random":
        return this.#builder.call(call, { [RANDOM_KEYS]: this.#drawKeys(call) });
      case "lower":
      case "view":
        return this.#builder.call(call);
      case "host":
        throw new AotUnsupported(
          `Expected ops that can be compiled but found ${definition.name}, which runs on the host`,
        );
      default:
        return implementation satisfies never;
    }
  }

  #drawKeys({ definition, args }: OpCall<GraphValue>): Node[] {
    if (!this.#keys) {
      const inferred = definition.infer(mapArguments(args, (value) => value.meta));
      const [{ device = "cpu" } = {}] = [inferred].flat();
      // The size is known at the end only; reading one element does not depend on it.
      this.#keys = this.#builder.tensor("random_keys", contiguousMeta([2 ** 30], "int32", device));
    }
    const keys = this.#keys, first = 2 * this.#randomOps++;
    return [first, first + 1].map((at) => this.#core.select(keys, 0, at).node);
  }

  /** What the backward of a call inherits from it. */
  #context(): () => () => void {
    const { stack } = this.#builder.shared;
    return () => {
      const former = this.#builder.shared;
      this.#builder.shared = { ...(stack ? { stack } : {}), partition: "backward" };
      return () => this.#builder.shared = former;
    };
  }
}

/** A tensor without elements, of known sizes. */
function fakeTensor({ shape, strides, offset, dtype, device }: TensorMeta, requiresGrad: boolean): Tensor {
  const layout = { shape: shape.map(specialize), strides: strides.map(specialize), dtype, device };
  return Tensor.hollow({ ...layout, offset: specialize(offset) }).requiresGrad_(requiresGrad);
}
