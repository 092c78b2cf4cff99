/**
 * Traces in-place changes of layouts, such as `x.t_()`: from then on the traced tensor equals a view of it. Invariant:
 * a tensor of the program is changed after the graph has run; if a backward pass would follow, plain JavaScript makes
 * the change, because the tape saves such tensors.
 */
import { aliasesArgument } from "../../autograd/aliases_argument.ts";
import { isComplex } from "../../base/dtype.ts";
import type { OpDefinition } from "../../ops/definition.ts";
import { tensorArguments } from "../../ops/graph_builder.ts";
import { breakGraph } from "../break_reasons.ts";
import type { LayoutChange, TensorValue } from "../variables/value.ts";
import type { Interpreter } from "./interpreter.ts";
import type { Resolved } from "./op_rule.ts";

/** A change about to be made. */
interface BegunChange {
  readonly tensor: TensorValue;
  /** The change to repeat on a tensor of the program. */
  readonly change: LayoutChange;
}

/** Prepares a call that changes a layout. Breaks the graph if plain JavaScript must make the change. */
export function beginChange(m: Interpreter, definition: OpDefinition, args: Resolved): BegunChange {
  const [first] = tensorArguments(args), name = `${definition.name}_`;
  const tensor = first && m.output.tensors.get(first.value.node);
  const isInside = m.batch !== null || m.regionDepths.length > 0;
  if (!tensor || isInside || isComplex(tensor.meta.dtype)) return breakGraph("tensorMethod", name);
  const { real, requiresGrad } = tensor, isRecorded = requiresGrad && m.gradEnabled;
  if (tensor.isBegun || (requiresGrad && !isRecorded) || (real && requiresGrad)) {
    return breakGraph("gradientState", `${name} of a tensor that requires grad`);
  }
  if (!m.gradEnabled && showsHistory(m, tensor)) {
    return breakGraph("gradientState", `${name} of a view of a tensor that requires grad`);
  }
  const [, ...rest] = Object.keys(definition.params);
  const given = rest.map((parameter) => args[parameter] ?? null);
  if (real && !given.every(isKnown)) {
    return breakGraph("symbolicNumber", `sizes that change decide how ${name} changes an input`);
  }
  return { tensor, change: { op: definition.name, args: given.filter(isKnown), step: m.steps - 1 } };
}

/**
 * Returns whether a tensor without history aliases one with a history, which the tape detects once the layout changes.
 */
function showsHistory({ output }: Interpreter, { node }: TensorValue): boolean {
  for (let at = node; at && aliasesArgument(at);) {
    [at = null] = at.inputs();
    if (at && output.tensors.get(at)?.requiresGrad) return true;
  }
  return false;
}

/** Gives a traced tensor the layout of a view of it. */
export function finishChange(
  { output }: Interpreter,
  { tensor, change }: BegunChange,
  view: TensorValue,
): void {
  const { node } = view;
  if (!node || view === tensor) return;
  if (tensor.real) tensor.layoutChanges.push(change);
  else if (tensor.node) output.tensors.delete(tensor.node);
  output.tensors.set(node, tensor);
  tensor.node = node;
  tensor.meta = view.meta;
  // Lists of sizes that the program holds stay unchanged
  for (const list of tensor.lists.values()) list.tensorProperty = null;
  tensor.lists.clear();
}

type Known = LayoutChange["args"][number];

function isKnown(value: unknown): value is Known {
  return value === null || typeof value === "number" ||
    (Array.isArray(value) && value.every((each) => typeof each === "number"));
}
