/**
 * Appends ops to a graph, with inferred metadata and normalised arguments, for gradients, decomposition and tracing.
 * Invariant: a node's arguments parse to the call that created it, and its metadata is what `infer` returns.
 */
import { isMetas } from "../graph/meta.ts";
import type { DType } from "../base/dtype.ts";
import { InternalError } from "../base/errors.ts";
import { sameList } from "../base/lists.ts";
import type { DeviceName } from "../loops/device.ts";
import type { TensorMeta } from "../graph/meta.ts";
import {
  type Argument,
  firstOperation,
  type Graph,
  isList,
  Node,
  type NodeMeta,
  type NodeValue,
  type Region,
} from "../graph/node.ts";
import { type Dim, Sym } from "../sym/expr.ts";
import { nameResults } from "./api.ts";
import { type Argument as CallArgument, parseCall } from "./call.ts";
import type { OpDefinition, TensorLike } from "./definition.ts";
import type { ArgsOf, Param, Params } from "./params.ts";
import { isTensor } from "./promotion.ts";

/** A tensor that a node of a graph represents. */
export class GraphValue implements TensorLike {
  readonly #node: Node;

  constructor(node: Node, readonly meta: TensorMeta) {
    this.#node = node;
  }

  /** The node whose elements the value has. */
  get node(): Node {
    return this.#node;
  }

  get shape(): readonly Dim[] {
    return this.meta.shape;
  }

  get dtype(): DType {
    return this.meta.dtype;
  }

  get device(): DeviceName {
    return this.meta.device;
  }
}

/** Returns whether a value is a tensor of a graph. */
export function isGraphValue(value: unknown): value is GraphValue {
  return value instanceof GraphValue;
}

/** The tensor that a node represents. Throws InternalError unless it is one tensor. */
export function valueOfNode(node: Node): GraphValue {
  const { value } = node.meta;
  if (value.kind !== "tensor") {
    throw new InternalError(`Expected a tensor at ${node.name} but found ${value.kind}`);
  }
  return new GraphValue(node, value.tensor);
}

/** The result of a call: one tensor, or several. */
export type Results = GraphValue | readonly GraphValue[];

/** The results of a call as a list. */
export function listOf(results: Results): readonly GraphValue[] {
  return isGraphValue(results) ? [results] : results;
}

/** A resolved call of an op. */
export interface OpCall<T> {
  readonly definition: OpDefinition;
  readonly args: ArgsOf<Params, T>;
}

/** The name by which graphs call an op. */
export function graphNameOf(definition: OpDefinition): string {
  return definition.graphName ?? definition.name;
}

/** Resolves the arguments of a node's call; `valueOf` returns a node's tensor, list or number. */
export function argumentsOfNode<T>(
  node: Node,
  definition: OpDefinition,
  valueOf: (node: Node) => unknown,
  isTensor: (value: unknown) => value is T,
): ArgsOf<Params, T> {
  const resolve = (argument: Argument): unknown => {
    if (argument instanceof Node) return valueOf(argument);
    if (isList(argument)) return argument.map(resolve);
    return argument;
  };
  const given = node.args.map(resolve);
  const named = Object.entries(node.kwargs).filter(([name]) => Object.hasOwn(definition.params, name));
  if (named.length > 0) given.push(Object.fromEntries(named.map(([name, value]) => [name, resolve(value)])));
  return parseCall(definition, given, isTensor);
}

/** Metadata shared by all nodes of a builder. */
export type SharedMeta =
  & Partial<Pick<NodeMeta, "stack" | "partition" | "noGrad" | "recomputed" | "ofPass" | "turn">>
  & {
    readonly requiresGrad?: boolean;
  };

/** Returns the metadata that nodes made in place of a node inherit from it. */
export function placeOf({ meta: { stack, partition, ofPass, turn } }: Node): SharedMeta {
  return {
    stack,
    ...(partition ? { partition } : {}),
    ...(ofPass ? { ofPass } : {}),
    ...(turn ? { turn } : {}),
  };
}

/** The arguments of a call in the form of nodes: without defaults; keywords, and arguments after a default, by name. */
export function callArguments(
  { definition, args }: OpCall<GraphValue>,
): { readonly args: readonly Argument[]; readonly kwargs: Readonly<Record<string, Argument>> } {
  const positional: Argument[] = [];
  const kwargs: Record<string, Argument> = {};
  let skipped = false;
  for (const [name, param] of Object.entries(definition.params)) {
    const value = toArgument(args[name] ?? null);
    if (isDefault(value, param.default) || (value === null && param.nullable)) skipped = true;
    else if (skipped || param.keyword) kwargs[name] = value;
    else positional.push(value);
  }
  return { args: positional, kwargs };
}

/** Appends nodes to one graph. */
export class GraphBuilder {
  /** Metadata of nodes created from now on. */
  shared: SharedMeta = {};

  /** New nodes go before `before`, or to the end. */
  constructor(readonly graph: Graph, public before: Node | undefined = undefined) {}

  /** An input, after the other inputs. */
  placeholder(name: string, value: NodeValue, meta: Partial<NodeMeta> = {}): Node {
    const before = firstOperation(this.graph);
    return this.graph.create("placeholder", name, {
      meta: { ...meta, value },
      ...(before ? { before } : {}),
    });
  }

  /** A node's tensor, of this metadata. */
  valueOf(node: Node, meta: TensorMeta): GraphValue {
    return new GraphValue(node, meta);
  }

  /** A tensor input. */
  tensor(
    name: string,
    meta: TensorMeta,
    more: Partial<NodeMeta> & { requiresGrad?: boolean } = {},
  ): GraphValue {
    const { requiresGrad = false, ...rest } = more;
    return new GraphValue(this.placeholder(name, { kind: "tensor", tensor: meta, requiresGrad }, rest), meta);
  }

  /**
   * Appends a call. Several results are unpacked by `getitem` and returned as a list that also has them by name.
   * `extra` are keyword arguments besides the parameters.
   */
  call(
    { definition, args }: OpCall<GraphValue>,
    extra: Readonly<Record<string, Argument>> = {},
  ): Results {
    const result = definition.infer(mapArguments(args, (value) => value.meta));
    const given = callArguments({ definition, args }), many = isMetas(result);
    const { requiresGrad = false, ...meta } = this.shared;
    const node = this.graph.create("call_function", graphNameOf(definition), {
      args: given.args,
      kwargs: { ...given.kwargs, ...extra },
      meta: {
        ...meta,
        value: many
          ? { kind: "tensors", tensors: result, requiresGrad }
          : { kind: "tensor", tensor: result, requiresGrad },
      },
      ...this.#place(),
    });
    if (!many) return new GraphValue(node, result);
    return nameResults(definition, result.map((tensor, index) => this.#item(node, index, tensor)));
  }

  /** One of a node's results. */
  #item(node: Node, index: number, tensor: TensorMeta, marks: Partial<NodeMeta> = {}): GraphValue {
    const { requiresGrad = false, ...meta } = this.shared;
    const item = this.graph.create("call_function", "getitem", {
      args: [node, index],
      meta: { ...meta, value: { kind: "tensor", tensor, requiresGrad }, ...marks },
      ...this.#place(),
    });
    return new GraphValue(item, tensor);
  }

  /** Appends a call of a region with results of these metadata. */
  callRegion(
    region: Region,
    { name, args, metas }: {
      readonly name: string;
      readonly args: readonly Argument[];
      readonly metas: readonly TensorMeta[];
    },
  ): GraphValue[] {
    const { requiresGrad = false, ...meta } = this.shared;
    const node = this.graph.create("call_function", name, {
      args,
      meta: { ...meta, value: { kind: "tensors", tensors: metas, requiresGrad }, region },
      ...this.#place(),
    });
    return metas.map((tensor, index) => this.#item(node, index, tensor));
  }

  /** Appends a call of a collective; `target`: its name in the graph. */
  callShared(
    target: string,
    { args, metas }: { readonly args: readonly Argument[]; readonly metas: readonly TensorMeta[] },
  ): GraphValue[] {
    const { requiresGrad = false, ...meta } = this.shared, marks = { onHost: true, begins: true } as const;
    const node = this.graph.create("call_function", target, {
      args,
      meta: { ...meta, value: { kind: "tensors", tensors: metas, requiresGrad }, ...marks },
      ...this.#place(),
    });
    return metas.map((tensor, index) => this.#item(node, index, tensor, marks));
  }

  /** Ends the graph. */
  output(result: Argument): Node {
    return this.graph.create("output", "output", { args: [result] });
  }

  #place(): { before?: Node } {
    return this.before ? { before: this.before } : {};
  }
}

/** The arguments of a call with tensors replaced. */
export function mapArguments<A extends TensorLike, B>(
  args: ArgsOf<Params, A>,
  change: (value: A, param: string) => B,
): ArgsOf<Params, B> {
  const mapped: Record<string, CallArgument<B>> = {};
  for (const [name, value] of Object.entries(args)) {
    mapped[name] = isTensorList(value)
      ? value.map((each) => each === null ? null : change(each, name))
      : isTensor(value)
      ? change(value, name)
      : value;
  }
  return mapped;
}

/** One tensor of a call: its parameter and, in a list, its index. */
export interface TensorArgument<T> {
  readonly param: string;
  readonly value: T;
  readonly index?: number;
}

/** The tensors among the arguments of a call, in the order of parameters. */
export function tensorArguments<T extends TensorLike>(args: ArgsOf<Params, T>): TensorArgument<T>[] {
  const found: TensorArgument<T>[] = [];
  for (const [param, value] of Object.entries(args)) {
    if (isTensorList(value)) {
      value.forEach((each, index) => {
        if (each !== null) found.push({ param, value: each, index });
      });
    } else if (isTensor(value)) found.push({ param, value });
  }
  return found;
}

/** A resolved argument in the form of graphs. */
function toArgument(value: CallArgument<GraphValue>): Argument {
  if (isTensorList(value)) return value.map((each) => each === null ? null : each.node);
  return isTensor(value) ? value.node : value;
}

function isTensorList<T extends TensorLike>(value: CallArgument<T>): value is readonly (T | null)[] {
  // Lists of lists hold numbers: dimensions to pair.
  return Array.isArray(value) &&
    value.some((each) =>
      typeof each === "object" && each !== null && !Array.isArray(each) && !(each instanceof Sym)
    );
}

function isDefault(value: Argument, standard: Param["default"]): boolean {
  if (standard === undefined) return false;
  // -0 is another number than 0
  if (!isList(value) || !Array.isArray(standard)) return Object.is(value, standard);
  return sameList(value, standard);
}
