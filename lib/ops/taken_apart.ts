/**
 * What calls are composed of. Input: a resolved call; output: its results over stand-ins for its arguments, in a graph of
 * their own. Invariant: nothing is computed; compositions are taken apart on metadata.
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

/** The results of a call, taken apart; `visit` is told every op on the way that is no composition. */
export function takenApart(
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
