/**
 * The contract that every pass over a functional graph keeps; a violation throws an InternalError that names the pass
 * and the node. Invariants that are checked: calls are of lowerable ops of the table, none in place and none on complex
 * numbers; all metadata is what inference returns; inputs are unchanged; outputs keep their number, element types,
 * shapes and strides; outputs to which separate memory was promised have it; and each collective op transfers as many
 * elements as before.
 */
import { isComplex } from "../../base/dtype.ts";
import { InternalError, invariant } from "../../base/errors.ts";
import { elementCount, type TensorMeta } from "../../graph/meta.ts";
import { type Argument, type Graph, isList, Node, type NodeValue } from "../../graph/node.ts";
import { isUpdate } from "../../graph/updates.ts";
import { hintOf, provablyEqual } from "../../sym/decide.ts";
import type { OpApi } from "../generated.ts";
import { builtBy } from "../graph_api.ts";
import { GraphBuilder, type GraphValue, placeOf, valueOfNode } from "../graph_builder.ts";
import { memoryRoot } from "./memory_root.ts";
import { inferredMetas, sameMeta } from "./metadata.ts";

/** The entries of a graph's output list. */
export function outputsOf(graph: Graph): readonly Argument[] {
  const [list] = graph.output.args;
  if (list !== undefined && isList(list)) return list;
  throw new InternalError("Expected a flat list of outputs");
}

/** The promises about outputs of a graph besides their number, element types and shapes. */
export interface Promises {
  /** Outputs before this index have memory of their own, no input's and no other output's. */
  readonly ownResults: number;
  /** Outputs before this index keep their strides; default: all. */
  readonly laidOut?: number;
}

/** Enforces the contract of passes. */
export class GraphContract {
  readonly #inputs: readonly Node[];
  readonly #inputMetas: readonly NodeValue[];
  readonly #outputs: readonly (TensorMeta | null)[];
  readonly #shared: ReadonlyMap<string, number>;
  /** The state in which each call was last verified, so that only changed calls are verified again. */
  readonly #verified = new WeakMap<Node, readonly unknown[]>();

  constructor(readonly graph: Graph, readonly promises: Promises) {
    this.#inputs = graph.placeholders;
    this.#inputMetas = this.#inputs.map(({ meta }) => meta.value);
    this.#outputs = outputsOf(graph).map((each) => each instanceof Node ? tensorMetaOf(each) : null);
    this.#shared = sharedElements(graph);
  }

  /** Copies results that have come to alias an input or another result; returns whether there were any. */
  separateResults(): boolean {
    const { graph, promises: { ownResults } } = this;
    const outputs = outputsOf(graph), taken = new Set<Node>();
    let changed = false;
    const separate = outputs.map((output, index) => {
      if (index >= ownResults || !(output instanceof Node)) return output;
      const meta = this.#outputs[index];
      if (!meta) return output;
      const root = memoryRoot(output);
      if (root.op !== "placeholder" && !taken.has(root)) {
        taken.add(root);
        return output;
      }
      // What an update overwrites is copied before it
      const builder = new GraphBuilder(graph, graph.nodes.find(isUpdate) ?? graph.output);
      builder.shared = placeOf(output);
      const copy = laidOut(builtBy(builder), valueOfNode(output), meta, true).node;
      taken.add(memoryRoot(copy));
      changed = true;
      return copy;
    });
    if (changed) graph.output.args = [separate];
    return changed;
  }

  /** Throws InternalError if the graph breaks the contract; `pass`: the last pass that changed it. */
  verify(pass: string): void {
    const { graph } = this;
    try {
      graph.lint();
      const inputs = graph.placeholders;
      invariant(
        inputs.length === this.#inputs.length && inputs.every((node, k) => node === this.#inputs[k]),
        "Expected the same inputs",
      );
      inputs.forEach((node, k) => {
        if (node.meta.value !== this.#inputMetas[k]) broken(`Expected the input ${node.name} as it was`);
      });
      for (const node of graph.nodes) if (node.op !== "placeholder" && node.op !== "output") this.#call(node);
      this.#results();
      const shared = sharedElements(graph);
      for (const what of new Set([...this.#shared.keys(), ...shared.keys()])) {
        const [before, now] = [this.#shared.get(what) ?? 0, shared.get(what) ?? 0];
        invariant(before === now, `Expected ${before} elements of ${what} but found ${now}`);
      }
    } catch (error) {
      if (!(error instanceof InternalError)) throw error;
      throw new InternalError(`${error.message.replace(/ \(this is a bug in dyn\)$/, "")}, after ${pass}`);
    }
  }

  #call(node: Node): void {
    if (node.op !== "call_function") {
      broken(`Expected calls of ops but found the ${node.op} ${node.name}`);
    }
    const known = this.#verified.get(node);
    if (known && isStampOf(node, known)) return;
    const takesWhole = node.target === "viewAsReal" || node.meta.region !== undefined ||
      node.target === "getitem";
    if (!takesWhole && node.inputs().values().some(isComplexNode)) {
      broken(`Expected ops on the parts of complex numbers but found ${node.target} of them at ${node.name}`);
    }
    const inferred = inferredMetas(node);
    const { value } = node.meta;
    const fits = value.kind === "tensor"
      ? inferred.length === 1 && sameMeta(value.tensor, inferred[0])
      : value.kind === "tensors" && value.tensors.every((each, k) => sameMeta(each, inferred[k]));
    if (!fits) broken(`Expected the metadata that ${node.target} infers at ${node.name}`);
    this.#verified.set(node, stampOf(node));
  }

  #results(): void {
    const outputs = outputsOf(this.graph), { ownResults, laidOut = outputs.length } = this.promises;
    invariant(
      outputs.length === this.#outputs.length,
      `Expected ${this.#outputs.length} outputs but found ${outputs.length}`,
    );
    const owners = new Map<Node, number>();
    outputs.forEach((output, index) => {
      const promised = this.#outputs[index];
      if (!promised) return;
      const found = output instanceof Node ? tensorMetaOf(output) : null;
      const same = found === promised ||
        (found && sameMeta(index < laidOut ? found : { ...found, strides: promised.strides }, promised));
      if (!same) broken(`Expected output ${index} in the shape, strides and type that were promised`);
      if (!(output instanceof Node) || index >= ownResults) return;
      const root = memoryRoot(output), other = owners.get(root);
      if (root.op === "placeholder") {
        broken(`Expected memory of its own at output ${index} but found ${root}`);
      }
      if (other !== undefined) {
        broken(`Expected memory of its own at output ${index} but found output ${other}`);
      }
      owners.set(root, index);
    });
  }
}

/** Throws an InternalError about a pass. Every node is verified, so messages are built only for errors. */
function broken(message: string): never {
  throw new InternalError(message);
}

/** Returns the number of elements exchanged with other processes, by collective op. */
function sharedElements(graph: Graph): Map<string, number> {
  const found = new Map<string, number>();
  for (const { target, args, meta: { begins, value } } of graph.nodes) {
    if (!begins || value.kind !== "tensors") continue;
    for (const { dtype, device, shape } of value.tensors) {
      const what = `${target}(${
        args.filter((each) => !(each instanceof Node)).join(", ")
      }) of ${dtype} on ${device}`;
      found.set(what, (found.get(what) ?? 0) + hintOf(elementCount({ shape })));
    }
  }
  return found;
}

function tensorMetaOf({ meta: { value } }: Node): TensorMeta | null {
  return value.kind === "tensor" ? value.tensor : null;
}

function isComplexNode({ meta: { value } }: Node): boolean {
  return value.kind === "tensor" && isComplex(value.tensor.dtype);
}

/**
 * A value with the strides of `meta`, which is dense: functional writes lose strides. `own`: copies even if the strides
 * are right.
 */
export function laidOut(
  api: OpApi<GraphValue>,
  value: GraphValue,
  { shape, strides }: Pick<TensorMeta, "shape" | "strides">,
  own = false,
): GraphValue {
  const fits = strides.every((stride, d) =>
    shape[d] === 1 || stride === value.meta.strides[d] || provablyEqual(stride, value.meta.strides[d] ?? 0)
  );
  if (fits && !own) return value;
  const order = [...strides.keys()].sort((a, b) =>
    hintOf(strides[b] ?? 0) - hintOf(strides[a] ?? 0) || a - b
  );
  const inverse = order.map((_, d) => order.indexOf(d));
  const turned = order.every((to, d) => to === d);
  const dense = api.clone(turned ? value : api.permute(value, order));
  return turned ? dense : api.permute(dense, inverse);
}

/** The objects that determine the metadata of a call. */
function stampOf(node: Node): readonly unknown[] {
  const stamp: unknown[] = [node.args, node.kwargs, node.meta.value];
  for (const input of node.inputs()) stamp.push(input.meta.value);
  return stamp;
}

/** Returns whether a call still has this stamp. */
function isStampOf(node: Node, stamp: readonly unknown[]): boolean {
  if (stamp[0] !== node.args || stamp[1] !== node.kwargs || stamp[2] !== node.meta.value) return false;
  let at = 3;
  for (const input of node.inputs()) if (stamp[at++] !== input.meta.value) return false;
  return at === stamp.length;
}
