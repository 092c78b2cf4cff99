/**
 * Builds a graph call by call, from inputs with values and calls of ops by graph names, as in repros. Invariant: the
 * nodes hold exactly the given arguments, and their metadata is inferred from them, so that replaying a graph yields
 * the same graph.
 */
import { formOf } from "../../ops/complex/form.ts";
import { DynError } from "../../base/errors.ts";
import { isDifferentiable } from "../../base/dtype.ts";
import { type Attributes } from "../../graph/interpreter.ts";
import { GraphModule } from "../../graph/graph_module.ts";
import { gradientCallOf, GRADIENTS, takesGradients } from "../../graph/gradient_call.ts";
import { contiguousMeta, isMetas, type TensorMeta } from "../../graph/meta.ts";
import { type Argument, forEachNode, Graph, Node, type NodeMeta, type NodeValue } from "../../graph/node.ts";
import type { GraphSignature } from "../../graph/signature.ts";
import { argumentsOfNode, GraphValue, isGraphValue, mapArguments } from "../../ops/graph_builder.ts";
import { findTarget } from "../../ops/table.ts";
import { ShapeEnv } from "../../sym/shape_env.ts";
import { graphRunner } from "../../tensor/graph_runner.ts";
import { isTensor } from "../../tensor/tensor.ts";

/** Properties of a recorded input. */
interface InputOptions {
  /** Returns whether a dimension's size is a symbol. */
  readonly dynamic?: (dim: number) => boolean;
  readonly source?: string | undefined;
}

/** Metadata of a call's node besides its arguments. */
type CallMeta = Pick<NodeMeta, "stack"> & Partial<Pick<NodeMeta, "noGrad" | "leaf">>;

/** Gradient history at a node: recorded, not recorded, or starting there. */
export type HistoryKind = "kept" | "off" | "begun";

/** The metadata for each kind of history. */
export const HISTORIES: Readonly<Record<HistoryKind, Pick<CallMeta, "noGrad" | "leaf">>> = {
  kept: {},
  off: { noGrad: true },
  begun: { leaf: true },
};

/** A graph under construction. */
export class GraphRecorder {
  readonly graph: Graph = new Graph();
  readonly attributes: Record<string, unknown> = {};
  readonly #sizes = new ShapeEnv();

  /** Adds an input. Numbers are sizes; they are symbols if `dynamic` is true for dimension 0. */
  input(name: string, value: unknown, { dynamic = () => false, source }: InputOptions = {}): Node {
    const meta = { stack: [], ...(source === undefined ? {} : { source }) };
    return this.graph.create("placeholder", name, {
      meta: { ...meta, value: this.#valueOf(name, value, dynamic) },
    });
  }

  #valueOf(name: string, value: unknown, dynamic: (dim: number) => boolean): NodeValue {
    if (isTensor(value)) {
      const { meta, requiresGrad } = value;
      const { shape, strides, offset } = value;
      const layout = this.#sizes.createLayout(name, { shape, strides, offset }, {
        dynamic: (dim) => dynamic(dim) ? {} : undefined,
      });
      return { kind: "tensor", tensor: { ...meta, ...layout }, requiresGrad };
    }
    if (typeof value !== "number") {
      throw new DynError(`Expected a tensor or a size as the input ${name} but found ${typeof value}`);
    }
    const size = dynamic(0)
      ? this.#sizes.createSize({ base: name, part: { kind: "value" } }, value, {
        range: [0, Infinity],
        duck: false,
      })
      : value;
    return { kind: "size", size };
  }

  /** Adds a constant of the graph. */
  constant(name: string, value: unknown, meta: CallMeta): Node {
    this.attributes[name] = value;
    const known: NodeValue = isTensor(value)
      ? { kind: "tensor", tensor: value.meta, requiresGrad: value.requiresGrad }
      : { kind: "unknown" };
    return this.graph.create("get_attr", name, { meta: { ...meta, value: known } });
  }

  /** Adds a call. Throws DynError for an op that does not exist or that rejects its arguments. */
  call(
    target: string,
    { args, kwargs = {}, name }: {
      readonly args: readonly Argument[];
      readonly kwargs?: Readonly<Record<string, Argument>>;
      readonly name?: string;
    },
    meta: CallMeta,
  ): Node {
    const node = this.graph.create("call_function", target, {
      args,
      kwargs,
      name: name ?? (target === GRADIENTS ? "gradients" : target),
      meta,
    });
    try {
      node.meta.value = inferred(node);
    } catch (error) {
      this.graph.erase(node);
      throw error;
    }
    return node;
  }

  /** Completes the graph. */
  finish(result: Argument, signature?: GraphSignature): GraphModule {
    this.graph.create("output", "output", { args: [result] });
    this.graph.lint();
    const attributes: Attributes = this.attributes;
    return new GraphModule(this.graph, attributes, graphRunner, signature);
  }
}

/** Infers the value of a call. */
function inferred(node: Node): NodeValue {
  if (takesGradients(node)) return gradientsOf(node);
  const requiresGrad = !node.meta.noGrad && requiresAny(node), begins = node.meta.leaf === true;
  if (node.target === "getitem") {
    const [list, index] = node.args;
    const tensors = resolved(list);
    const item = Array.isArray(tensors) && typeof index === "number" ? tensors[index] : undefined;
    if (isGraphValue(item)) {
      return {
        kind: "tensor",
        tensor: item.meta,
        requiresGrad: requiresGrad && isDifferentiable(item.dtype),
      };
    }
  }
  const found = findTarget(node.target);
  if (!found) throw new DynError(`Expected an op of the table but found ${node.target}`);
  const { inplace } = found, args = argumentsOfNode(node, found.definition, resolved, isGraphValue);
  const definition = formOf(found.definition, args);
  if (inplace) {
    const [receiver] = Object.values(args).filter(isGraphValue);
    if (!receiver) throw new DynError(`Expected a tensor to write to in ${node.target}`);
    return { kind: "tensor", tensor: receiver.meta, requiresGrad };
  }
  const records = requiresGrad && definition.gradient.kind !== "none";
  const result = definition.infer(mapArguments(args, (value) => value.meta));
  return isMetas(result)
    ? { kind: "tensors", tensors: result, requiresGrad: records }
    : { kind: "tensor", tensor: result, requiresGrad: begins || (records && isDifferentiable(result.dtype)) };
}

/** Gradients are row-major, and have no history unless requested. */
function gradientsOf(node: Node): NodeValue {
  const tensors = gradientCallOf(node).inputs.map(({ name, meta: { value } }): TensorMeta => {
    if (value.kind !== "tensor") {
      throw new DynError(`Expected a tensor to differentiate by but found ${name}`);
    }
    const { shape, dtype, device } = value.tensor;
    return contiguousMeta(shape, dtype, device);
  });
  return { kind: "tensors", tensors, requiresGrad: gradientCallOf(node).createGraph };
}

function requiresAny(node: Node): boolean {
  let any = false;
  forEachNode([...node.args, node.kwargs], ({ meta: { value } }) => {
    if ((value.kind === "tensor" || value.kind === "tensors") && value.requiresGrad) any = true;
  });
  return any;
}

/** Returns the fake value of a node among the arguments of a call. */
function resolved(argument: Argument): unknown {
  if (!(argument instanceof Node)) return argument;
  const { value } = argument.meta;
  switch (value.kind) {
    case "tensor":
      return new GraphValue(argument, value.tensor);
    case "tensors":
      return value.tensors.map((meta) => new GraphValue(argument, meta));
    case "size":
      return value.size;
    case "number":
    case "unknown":
      throw new DynError(`Expected a tensor or a size at ${argument.name} but found ${value.kind}`);
    default:
      return value satisfies never;
  }
}
