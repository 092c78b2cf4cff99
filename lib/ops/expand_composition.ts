/**
 * Expands the composition of a resolved call into a graph of its own, over placeholders for its arguments. Invariant:
 * nothing is computed; compositions are expanded on metadata.
 */
import { Graph } from "../graph/node.ts";
import type { OpDefinition } from "./definition.ts";
import { formed, graphApi } from "./graph_api.ts";
import {
  GraphBuilder,
  type GraphValue,
  listOf,
  mapArguments,
  type OpCall,
  type Results,
} from "./graph_builder.ts";

/** Returns the results of an expanded call; `visit` receives every op that is not a composition. */
export function expandComposition(
  { definition, args }: OpCall<GraphValue>,
  visit: (part: OpDefinition) => void = () => {},
): readonly GraphValue[] {
  const scratch = new GraphBuilder(new Graph());
  const run = (call: OpCall<GraphValue>): Results => {
    const { implementation } = call.definition;
    if (implementation.kind === "composite") return implementation.compose(api, call.args);
    visit(call.definition);
    return scratch.call(call);
  };
  const api = graphApi(run);
  return listOf(
    run(formed({ definition, args: mapArguments(args, ({ meta }) => scratch.tensor("argument", meta)) })),
  );
}
