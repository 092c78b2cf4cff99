/**
 * Replays a captured graph as calls of core ops on values without aliasing. Invariant: the new graph's placeholders
 * are those of the captured graph in order, then lifted attributes, then the keys of random ops.
 */
import { flatten, type TreeSpec } from "../base/tree.ts";
import { contiguousMeta } from "../graph/meta.ts";
import type { Graph, Node } from "../graph/node.ts";
import type { GraphModule } from "../graph/graph_module.ts";
import { RANDOM_KEYS } from "../graph/signature.ts";
import type { DeviceName } from "../loops/device.ts";
import { type GraphBuilder, type GraphValue, mapArguments, type OpCall } from "../ops/graph_builder.ts";
import { isFunctional, NotFunctional } from "../autograd/functional.ts";
import { GraphReplay, type RegionCalls } from "../autograd/graph_replay.ts";

/** A captured graph replayed up to its output. */
export interface ForwardTrace {
  readonly replay: GraphReplay;
  /** Number of random ops that drew keys; 0: there is no input for keys. */
  readonly randomOps: number;
  /** Leaves of the captured result: functional tensors, sizes and constants. */
  readonly outputs: readonly unknown[];
  readonly outputTree: TreeSpec;
}

/** Calls a region of a captured graph; null: its graph is replayed inline instead. */
export type CallRegion = (
  replay: GraphReplay,
  call: Parameters<RegionCalls>[1],
  keys: RandomKeys,
) => ReturnType<RegionCalls>;

/** Replays a captured graph. */
export function traceForward(captured: GraphModule, callRegion: CallRegion = () => null): ForwardTrace {
  const keys = new RandomKeys();
  const replay = new GraphReplay(
    (to, call) => to.builder.call(call, { [RANDOM_KEYS]: keys.draw(to, call) }),
    (to, call) => callRegion(to, call, keys),
  );
  const { graph, attributes } = captured;
  for (const node of graph.placeholders) replay.input(node);
  // Attributes become inputs, and inputs come first.
  for (const { op, target } of graph.nodes) {
    if (op === "get_attr") replay.attribute(target, attributes[target]);
  }
  replay.replayAll(captured);
  keys.finish(replay.graph);
  const { leaves, spec } = flatten(replay.resolve(graph.output.args[0]), isFunctional);
  return { replay, randomOps: keys.count, outputs: leaves, outputTree: spec };
}

/** The input from which random ops take their keys. */
export class RandomKeys {
  count = 0;
  #keys: GraphValue | undefined;

  /** The two keys of the next random op. */
  draw({ builder, core }: GraphReplay, { definition, args }: OpCall<GraphValue>): Node[] {
    const inferred = definition.infer(mapArguments(args, (value) => value.meta));
    const [{ device = "cpu" } = {}] = [inferred].flat();
    const keys = this.#input(builder, device), first = 2 * this.count++;
    return [first, first + 1].map((at) => core.select(keys, 0, at).node);
  }

  /** The keys of the next random ops, as one tensor. */
  drawMany({ builder, core }: GraphReplay, count: number, device: DeviceName): Node {
    const keys = this.#input(builder, device), first = 2 * this.count;
    this.count += count;
    return core.slice(keys, 0, first, 2 * this.count).node;
  }

  /** The size is set at the end; reading elements does not depend on it. */
  #input(builder: GraphBuilder, device: DeviceName): GraphValue {
    return this.#keys ??= builder.tensor("random_keys", contiguousMeta([2 ** 30], "int32", device));
  }

  /** Sets the number of keys of the input. */
  finish(graph: Graph): void {
    if (!this.#keys) return;
    const { node, device } = this.#keys;
    if (graph.placeholders.at(-1) !== node) {
      throw new NotFunctional("Expected no tensors of inlined functions behind the first random op");
    }
    const tensor = contiguousMeta([2 * this.count], "int32", device);
    node.meta.value = { kind: "tensor", tensor, requiresGrad: false };
  }
}
