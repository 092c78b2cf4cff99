/**
 * Replays graphs with changes into new graphs with new arguments. Invariant: metadata is inferred again, so that a
 * change of sizes, types or nodes carries through; a change that the ops reject throws DynError.
 */
import { DynError } from "../../base/errors.ts";
import type { GraphModule } from "../../graph/graph_module.ts";
import { type Argument, forEachNode, hasEffect, mapLeaves, Node } from "../../graph/node.ts";
import type { GraphSignature } from "../../graph/signature.ts";
import { sizeBindings } from "../../graph/sizes.ts";
import { type Dim, evaluate, substitute, Sym } from "../../sym/expr.ts";
import { isTensor } from "../../tensor/tensor.ts";
import { GraphRecorder } from "./recorder.ts";

/** A graph and a call of it. */
export interface Call {
  readonly gm: GraphModule;
  readonly args: readonly unknown[];
  /** Whether replays keep symbols because the failure needs them. */
  readonly dynamic?: boolean;
}

/** A change to make in the replay. */
export interface Edit {
  /** Whether symbolic sizes stay symbols or become the call's numbers; default: that of the call. */
  readonly dynamic?: boolean;
  /** Replacement arguments, one for each placeholder. */
  readonly args?: readonly unknown[];
  /** Nodes that become inputs, with their values. */
  readonly inputs?: ReadonlyMap<Node, unknown>;
  /** Nodes that are removed, with their replacements. */
  readonly replaced?: ReadonlyMap<Node, Argument>;
  /** A replacement of the graph's output. */
  readonly output?: Argument;
  /** Maps constant arguments. */
  readonly constant?: (value: number) => number;
}

/** Replays a graph. Unused nodes and inputs are removed, except inputs that define a symbol. */
export function rebuild(call: Call, edit: Edit = {}): Call {
  const dynamic = edit.dynamic ?? call.dynamic ?? false;
  return { ...new Replay(call, { ...edit, dynamic }).run(), dynamic };
}

class Replay {
  readonly #recorder = new GraphRecorder();
  readonly #made = new Map<Node, Argument>();
  readonly #args: unknown[] = [];
  /** Replacements of the original's symbols. */
  readonly #sizes = new Map<Sym, Dim>();

  constructor(readonly call: Call, readonly edit: Edit) {}

  run(): Call {
    const { gm } = this.call;
    const needed = this.#needed();
    this.#inputs(needed);
    const constants = gm.graph.nodes.filter((node) => node.op === "get_attr");
    const inputs = [...this.edit.inputs ?? []];
    for (const [node, value] of inputs) if (needed.has(node)) this.#input(node, value, node.name);
    for (const node of constants) if (needed.has(node)) this.#constant(node);
    for (const node of gm.graph.nodes) {
      if (!needed.has(node) || this.#made.has(node)) continue;
      if (node.op === "call_function" || node.op === "call_method") this.#call(node);
      else if (node.op === "call_module") {
        throw new DynError(`Expected a graph of ops but found ${node.target}`);
      }
    }
    const output = this.#moved(this.#output());
    return { gm: this.#recorder.finish(output, this.#signature()), args: this.#args };
  }

  /** The signature, if it still describes the same inputs and outputs. */
  #signature(): GraphSignature | undefined {
    const { signature, graph } = this.call.gm;
    if (!signature) return undefined;
    const { role } = signature;
    if (this.edit.output !== undefined) return { role, mutatedInputs: [], ownResults: 0 };
    const placeOf = (input: number): number => {
      const node = graph.placeholders[input], made = node && this.#made.get(node);
      return made instanceof Node ? this.#recorder.graph.placeholders.indexOf(made) : -1;
    };
    return {
      ...signature,
      mutatedInputs: signature.mutatedInputs.map(({ input, output }) => ({ input: placeOf(input), output }))
        .filter(({ input }) => input >= 0),
    };
  }

  #output(): Argument {
    return this.edit.output ?? this.call.gm.graph.output.args[0];
  }

  /** The nodes that the output depends on, including writes to memory that it or they share. */
  #needed(): Set<Node> {
    const needed = new Set<Node>();
    const add = (argument: Argument) => forEachNode(argument, (node) => needed.add(node));
    add(this.#output());
    const nodes = this.call.gm.graph.nodes;
    for (const node of nodes.toReversed()) {
      const replacement = this.edit.replaced?.get(node);
      if (hasEffect(node) && replacement === undefined && !this.edit.inputs?.has(node)) needed.add(node);
      if (!needed.has(node) || this.edit.inputs?.has(node)) continue;
      if (replacement !== undefined) add(replacement);
      else for (const input of node.inputs()) needed.add(input);
    }
    return needed;
  }

  /** Creates the inputs, first of all nodes. */
  #inputs(needed: ReadonlySet<Node>): void {
    const { gm } = this.call;
    const args = this.edit.args ?? this.call.args;
    const bindings = sizeBindings(gm.graph);
    const giving = new Set(this.edit.dynamic ? bindings.map(({ input }) => input) : []);
    gm.graph.placeholders.forEach((node, at) => {
      const replacement = this.edit.replaced?.get(node);
      if (replacement !== undefined) return;
      if (needed.has(node) || giving.has(at)) this.#input(node, args[at], node.name);
    });
    for (const { symbol, input, part } of bindings) {
      const node = gm.graph.placeholders[input], made = node && this.#made.get(node);
      const value = made instanceof Node ? made.meta.value : undefined;
      const dim = value?.kind === "size"
        ? value.size
        : value?.kind !== "tensor"
        ? undefined
        : part.kind === "shape"
        ? value.tensor.shape[part.dim]
        : part.kind === "stride"
        ? value.tensor.strides[part.dim]
        : value.tensor.offset;
      const known = dim ?? sizeOf(args[input], part);
      if (known !== undefined) this.#sizes.set(symbol, known);
    }
  }

  #input(node: Node, value: unknown, name: string): void {
    const { meta } = node;
    const isSymbol = (dim: number): boolean => {
      if (!this.edit.dynamic) return false;
      if (meta.value.kind === "size") return meta.value.size instanceof Sym;
      return meta.value.kind === "tensor" && meta.value.tensor.shape[dim] instanceof Sym;
    };
    this.#made.set(node, this.#recorder.input(name, value, { dynamic: isSymbol, source: meta.source }));
    this.#args.push(value);
  }

  /** Turns a constant of the graph into an input, so that a repro contains its elements. */
  #constant(node: Node): void {
    const value = this.call.gm.attributes[node.target];
    if (!isTensor(value)) throw new DynError(`Expected a tensor as the constant ${node.target}`);
    this.#input(node, value, node.target);
  }

  #call(node: Node): void {
    const replacement = this.edit.replaced?.get(node);
    if (replacement !== undefined) {
      this.#made.set(node, this.#moved(replacement));
      return;
    }
    if (Object.hasOwn(this.call.gm.attributes, node.target)) {
      throw new DynError(`Expected a graph of ops but found the program's own function ${node.target}`);
    }
    const { stack, noGrad, leaf } = node.meta;
    const kwargs = Object.entries(node.kwargs).map(([key, each]) => [key, this.#moved(each)] as const);
    this.#made.set(
      node,
      this.#recorder.call(
        node.target,
        {
          args: node.args.map((each) => this.#moved(each)),
          kwargs: Object.fromEntries(kwargs),
          name: node.name,
        },
        { stack, ...(noGrad ? { noGrad } : {}), ...(leaf ? { leaf } : {}) },
      ),
    );
  }

  /** Translates an argument of the original to the replay. */
  #moved(argument: Argument): Argument {
    return mapLeaves(argument, (leaf) => {
      if (leaf instanceof Node) {
        const made = this.#made.get(leaf);
        if (made === undefined) throw new DynError(`Expected ${leaf.name} before its first use`);
        return made;
      }
      if (leaf instanceof Sym) return this.#size(leaf);
      return typeof leaf === "number" && this.edit.constant ? this.edit.constant(leaf) : leaf;
    });
  }

  #size(size: Sym): Dim {
    const valueOf = (symbol: Sym): Dim => {
      const known = this.#sizes.get(symbol);
      if (known === undefined) throw new DynError(`Expected an input that determines the size ${symbol}`);
      return known;
    };
    return this.edit.dynamic
      ? substitute(size, valueOf)
      : evaluate(size, (symbol) => Number(valueOf(symbol)));
  }
}

/** A size of an argument whose placeholder is not part of the replay. */
function sizeOf(value: unknown, part: ReturnType<typeof sizeBindings>[number]["part"]): number | undefined {
  if (typeof value === "number") return value;
  if (!isTensor(value)) return undefined;
  switch (part.kind) {
    case "shape":
      return value.shape[part.dim];
    case "stride":
      return value.strides[part.dim];
    case "offset":
      return value.offset;
    case "value":
      return undefined;
    default:
      return part satisfies never;
  }
}
