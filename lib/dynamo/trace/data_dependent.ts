/**
 * Traces ops whose result sizes depend on elements, as nodes of the graph. Invariant: the part that reads elements is
 * a separate node that the host runs; everything around it is ordinary ops over such sizes.
 */
import { config } from "../../base/config.ts";
import { DynError, messageOf } from "../../base/errors.ts";
import type { TensorMeta } from "../../graph/meta.ts";
import { formatArgument, type NodeMeta } from "../../graph/node.ts";
import { formOf } from "../../ops/complex/form.ts";
import { makeOpApi } from "../../ops/api.ts";
import { parseCall } from "../../ops/call.ts";
import type { OpDefinition } from "../../ops/definition.ts";
import {
  callArguments,
  graphNameOf,
  GraphValue,
  isGraphValue,
  mapArguments,
} from "../../ops/graph_builder.ts";
import { DataDependentSize } from "../../sym/decide.ts";
import { boundsOf, type Dim } from "../../sym/expr.ts";
import { breakGraph } from "../break_reasons.ts";
import { TensorValue, type Value } from "../variables/value.ts";
import type { Interpreter } from "./interpreter.ts";
import { isDataDependent, type Resolved } from "./op_rule.ts";

/** The results of a call, one or several. */
type Results = GraphValue | readonly GraphValue[];

/** Appends an op whose sizes do not depend on elements. */
type OrdinaryCall = (definition: OpDefinition, args: Resolved) => Results;

/**
 * Calls an op whose result sizes depend on elements; breaks the graph if the settings exclude such ops, unless the ops
 * that a composition consists of have known sizes.
 */
export function callDataDependent(
  m: Interpreter,
  definition: OpDefinition,
  args: Resolved,
  { ordinary, name = definition.name }: { readonly ordinary: OrdinaryCall; readonly name?: string },
): Results {
  const { implementation, inferUnbacked } = definition;
  if (implementation.kind === "composite") {
    const api = makeOpApi<GraphValue>((called, given) => {
      const parsed = parseCall(called, given, isGraphValue), part = formOf(called, parsed);
      if (isDataDependent(m, part, parsed)) return callDataDependent(m, part, parsed, { ordinary, name });
      return ordinary(part, parsed);
    });
    try {
      return implementation.compose(api, args);
    } catch (thrown) {
      // Assumptions about sizes may be wrong, and hence a rejection too: plain JavaScript decides
      if (!(thrown instanceof DynError) || thrown instanceof DataDependentSize) throw thrown;
      return breakGraph("dataDependentShape", `${definition.name}: ${messageOf(thrown)}`);
    }
  }
  if (!config.captureDynamicOutputShapes || !inferUnbacked) return breakGraph("dataDependentShape", name);
  const given = callArguments({ definition, args });
  const key = `${graphNameOf(definition)} ${formatArgument(given.args)} ${formatArgument(given.kwargs)}`;
  const known = m.output.hostCalls.get(key);
  if (known) return known;
  const unknown = (upTo: Dim): Dim => m.output.sizes.createUnbacked([0, boundsOf(upTo)[1]]);
  const results = inferUnbacked(mapArguments(args, (value) => value.meta), unknown);
  const made = appendHostCall(m, definition, { args, metas: results });
  m.output.hostCalls.set(key, made);
  return made;
}

function appendHostCall(
  m: Interpreter,
  definition: OpDefinition,
  { args, metas }: { readonly args: Resolved; readonly metas: readonly TensorMeta[] },
): Results {
  const { output } = m, [only, ...others] = metas;
  const meta: Partial<NodeMeta> = { stack: output.whereabouts.stack(), onHost: true };
  const node = output.graph.create("call_function", graphNameOf(definition), {
    ...callArguments({ definition, args }),
    meta: {
      ...meta,
      value: only && others.length === 0
        ? { kind: "tensor", tensor: only, requiresGrad: false }
        : { kind: "tensors", tensors: metas, requiresGrad: false },
    },
  });
  output.noteOperation(node);
  if (only && others.length === 0) return remember(m, new TensorValue(only, false, node, null, null));
  return metas.map((tensor, index) => {
    const item = output.graph.create("call_function", "getitem", {
      args: [node, index],
      meta: { ...meta, value: { kind: "tensor", tensor, requiresGrad: false } },
    });
    output.noteOperation(item);
    return remember(m, new TensorValue(tensor, false, item, null, null));
  });
}

function remember(m: Interpreter, tensor: TensorValue): GraphValue {
  const node = m.output.nodeOf(tensor);
  m.output.tensors.set(node, tensor);
  return new GraphValue(node, tensor.meta);
}

/** Returns whether there are several results. */
export function isSeveral(results: Results): results is readonly GraphValue[] {
  return Array.isArray(results);
}

/** The traced tensor of a value of the graph. */
export function tracedTensor(m: Interpreter, value: GraphValue): Value {
  return m.output.tensors.get(value.node) ?? breakGraph("tensorMethod", "a part of a composition");
}
