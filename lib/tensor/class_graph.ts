/**
 * One call as a functional graph with symbolic sizes, for the graph compiler. Invariant: the graph computes what the
 * call does; if that cannot be guaranteed, there is no graph.
 */
import { DynError } from "../base/errors.ts";
import { Graph, type Node } from "../graph/node.ts";
import { contiguousMeta } from "../graph/meta.ts";
import { RANDOM_KEYS } from "../graph/signature.ts";
import type { DeviceName } from "../loops/device.ts";
import { graphApi } from "../ops/graph_api.ts";
import {
  GraphBuilder,
  type GraphValue,
  isGraphValue,
  listOf,
  mapArguments,
  type OpCall,
  type Results,
} from "../ops/graph_builder.ts";
import { viewsMemory } from "../ops/definition.ts";
import type { ArgsOf, Params } from "../ops/params.ts";
import type { ClassSizes } from "./class_sizes.ts";
import { type LoadedNumber, mapTensors, type OpEntry, type TensorArgs } from "./plan.ts";

/** A call as a graph. */
interface ClassGraph {
  readonly graph: Graph;
  /** By placeholder: the position of a tensor in the call, −1 and −2 for random keys, −3 − k for number k. */
  readonly places: readonly number[];
  /** Number of results. */
  readonly results: number;
}

/**
 * Thrown inside a composition that has to run op by op: its ops check elements, draw numbers or run on the host, or it
 * returns an operand itself.
 */
export class OpByOp extends Error {
  override readonly name: string = "OpByOp";
}

/** The call that becomes a graph. */
export interface GraphedCall {
  readonly entry: OpEntry;
  readonly args: TensorArgs;
  readonly numbers: readonly LoadedNumber[];
  readonly sizes: ClassSizes;
  readonly device: DeviceName;
}

/** The graph of a call; undefined if the call has to run op by op. */
export function graphOf(call: GraphedCall): ClassGraph | undefined {
  try {
    return build(call);
  } catch (thrown) {
    if (thrown instanceof OpByOp) return undefined;
    throw thrown;
  }
}

/** Returns whether an op's metadata rule accepts a call. */
function isAccepted({ definition, args }: OpCall<GraphValue>): boolean {
  try {
    definition.infer(mapArguments(args, (value) => value.meta));
    return true;
  } catch (thrown) {
    if (thrown instanceof DynError) return false;
    throw thrown;
  }
}

function build({ entry, args, numbers, sizes, device }: GraphedCall): ClassGraph {
  const { definition } = entry;
  const builder = new GraphBuilder(new Graph()), places: number[] = [];
  const input = (place: number, value: GraphValue): GraphValue => {
    places.push(place);
    return value;
  };
  let count = 0;
  const mapped: Record<string, ArgsOf<Params, GraphValue>[string]> = {
    ...sizes.constants(
      entry,
      mapTensors(entry, args, (tensor) => {
        const place = count++;
        return input(place, builder.tensor(`in${place}`, sizes.metaOf(tensor)));
      }),
    ),
  };
  numbers.forEach(({ param, dtype }, k) => {
    mapped[param] = input(-3 - k, builder.tensor(`number${k}`, contiguousMeta([], dtype, device)));
  });
  /** For each view, the node whose memory it shows. */
  const viewed = new Map<Node, Node>();
  const composed = definition.implementation.kind === "composite";
  const core = graphApi((call) => run(call));
  const run = (call: OpCall<GraphValue>): Results => {
    const { implementation, ranges, dataDependent } = call.definition;
    // The checks of an op's elements come before it runs, which is not possible inside a program, and not needed if
    // those of the composed op's operands have been checked
    if (composed && ((ranges && !definition.bounds) || dataDependent)) throw new OpByOp();
    switch (implementation.kind) {
      case "composite":
        // Run by itself, an op that refuses the call is named in the error
        if (!isAccepted(call)) throw new OpByOp();
        return implementation.compose(core, call.args);
      case "random": {
        if (composed) throw new OpByOp();
        const keys = [-1, -2].map((place) =>
          input(place, builder.tensor(`key${-1 - place}`, contiguousMeta([], "int32", device))).node
        );
        return builder.call(call, { [RANDOM_KEYS]: keys });
      }
      case "view": {
        // Values have no memory of other elements, which strides may show
        if (composed && viewsMemory(call.definition)) throw new OpByOp();
        const made = builder.call(call), of = call.args[implementation.of];
        if (composed && isGraphValue(of)) { for (const { node } of listOf(made)) viewed.set(node, of.node); }
        return made;
      }
      case "lower":
        return builder.call(call);
      case "host":
        throw new OpByOp();
      default:
        return implementation satisfies never;
    }
  };
  const results = listOf(run({ definition, args: mapped }));
  for (const { node } of results) {
    let shown = node;
    for (let base = viewed.get(shown); base; base = viewed.get(shown)) shown = base;
    if (shown.op === "placeholder") throw new OpByOp();
  }
  builder.output(results.map(({ node }) => node));
  return { graph: builder.graph, places, results: results.length };
}
