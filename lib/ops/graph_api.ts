/**
 * The ops as functions over graph values, for gradients, compositions and passes. Invariant: arguments are parsed
 * exactly as those of user calls.
 */
import { makeOpApi } from "./api.ts";
import { parseCall } from "./call.ts";
import { formOf } from "./complex/form.ts";
import type { OpApi } from "./generated.ts";
import {
  type GraphBuilder,
  type GraphValue,
  isGraphValue,
  type OpCall,
  type Results,
} from "./graph_builder.ts";

/** Makes a call. */
export type RunCall = (call: OpCall<GraphValue>) => Results;

/** A call with the definition for its types. */
export function formed<T>({ definition, args }: OpCall<T>): OpCall<T> {
  return { definition: formOf(definition, args), args };
}

/** The ops over graph values, each making its calls through `run`. */
export function graphApi(run: RunCall): OpApi<GraphValue> {
  return makeOpApi<GraphValue>((definition, given) =>
    run(formed({ definition, args: parseCall(definition, given, isGraphValue) }))
  );
}

/** The ops as calls of a builder, with compositions expanded. */
export function builtBy(builder: Pick<GraphBuilder, "call">): OpApi<GraphValue> {
  const api = graphApi((call) => {
    const { implementation } = call.definition;
    return implementation.kind === "composite" ? implementation.compose(api, call.args) : builder.call(call);
  });
  return api;
}
