/**
 * Selections by a mask whose sizes nothing asks for: `x.set([m], f(y.at(m)))` with an elementwise f. A selection is
 * traced as the whole tensor with a harmless number at the other positions; elementwise ops on selections by the same
 * mask compute on the wholes, and a write at that mask puts the selected positions of the result. Invariant: anything
 * else that happens to a selection restarts the trace, which then ends its graph before the selection was made.
 */
import { isComplex } from "../../base/dtype.ts";
import { writtenBy } from "../../graph/updates.ts";
import type { OpDefinition } from "../../ops/definition.ts";
import { ELEMENTWISE_COMPOSITIONS } from "../../ops/elementwise_compositions.ts";
import { isGraphValue } from "../../ops/graph_builder.ts";
import { sameShape } from "../../ops/shapes.ts";
import type { CallTarget } from "../../ops/table.ts";
import { type SelectionMask, SelectionValue } from "../variables/selection_value.ts";
import { constant, type TensorValue, type Value } from "../variables/value.ts";
import type { CallOp, Interpreter } from "./interpreter.ts";
import type { Resolved } from "./op_rule.ts";
import { Restart } from "./restart.ts";
import { mayShareMemory } from "./shown_nodes.ts";

/** The selection that a call makes, if it makes one whose size the trace may leave open; null otherwise. */
export function selectedBy(
  m: Interpreter,
  definition: OpDefinition,
  { self, indices }: Resolved,
  call: CallOp,
): SelectionValue | null {
  if (definition.name !== "index" || !isGraphValue(self) || !Array.isArray(indices)) return null;
  const [index, ...others] = indices;
  if (!isGraphValue(index) || others.some((each) => each !== null) || !isPlainPlace(m)) return null;
  const { tensors } = m.output, given = tensors.get(self.node), tensor = tensors.get(index.node);
  if (!given || !tensor || !fitsMask(given, tensor) || isComplex(given.meta.dtype)) return null;
  const step = m.steps - 1, cause = { kind: "dataDependentShape", detail: definition.name } as const;
  const refuse = (): never => {
    m.output.refusedSelection ??= new Restart(step, { kind: "break", cause });
    throw m.output.refusedSelection;
  };
  // A call that is taken for this one later would not know its selections
  m.memory.refuse();
  const mask = maskOf(m, tensor) ?? newMask(m, tensor, call);
  const other = constant(given.meta.dtype === "bool" ? true : 1);
  if (!mask) return null;
  const whole = merged(m, mask, { given, other, call });
  return whole?.meta.dtype === given.meta.dtype ? new SelectionValue(whole, mask, refuse) : null;
}

/** Returns whether this point of the program is in no region whose graph or gradients are treated in another way. */
function isPlainPlace(m: Interpreter): boolean {
  const { whereabouts } = m.output;
  return m.autocast === "" && !m.inference && m.batch === null && m.later === null &&
    m.forwardTransforms === 0 && m.regionDepths.length === 0 && whereabouts.regionCall() === null &&
    whereabouts.recomputed() === null;
}

/** Returns whether a tensor is a mask of the leading dimensions of another. */
function fitsMask({ meta: { shape, device } }: TensorValue, { meta: mask }: TensorValue): boolean {
  const rank = mask.shape.length;
  return mask.dtype === "bool" && rank > 0 && mask.device === device && rank <= shape.length &&
    sameShape(shape.slice(0, rank), mask.shape);
}

/** The known mask that a tensor is, unless something has been written to it since; null if there is none. */
function maskOf({ output }: Interpreter, tensor: TensorValue): SelectionMask | null {
  const node = output.nodeOf(tensor), { nodes } = output.graph;
  const known = output.selectionMasks.findLast((each) => each.tensor === tensor);
  // A change of its layout gives a tensor another node
  if (known?.node !== node) return null;
  for (let at = nodes.length - 1; at >= 0; at--) {
    const each = nodes[at];
    if (!each || each === known.before) break;
    if (writtenBy(each).some((target) => mayShareMemory(target, node))) return null;
  }
  return known;
}

function newMask(m: Interpreter, tensor: TensorValue, call: CallOp): SelectionMask | null {
  const { output } = m, node = output.nodeOf(tensor), before = output.graph.nodes.at(-1) ?? null;
  const copy = call(m.opNamed("clone"), [tensor]);
  if (copy.kind !== "tensor") return null;
  const made: SelectionMask = { tensor, node, copy, before };
  output.selectionMasks.push(made);
  return made;
}

/** A tensor of its own memory: `given` at a mask of its leading dimensions, `other` elsewhere. */
function merged(
  m: Interpreter,
  { copy }: SelectionMask,
  { given, other, call }: { readonly given: TensorValue; readonly other: Value; readonly call: CallOp },
): TensorValue | null {
  let mask: Value = copy;
  for (let d = copy.meta.shape.length; d < given.meta.shape.length; d++) {
    mask = call(m.opNamed("unsqueeze"), [mask, constant(-1)]);
  }
  const made = call(m.opNamed("where"), [mask, given, other]);
  return made.kind === "tensor" ? made : null;
}

/**
 * The result of an op on selections; null if none of the arguments is one. Restarts the trace at a call that needs
 * more than the elements at each position.
 */
export function calledOnSelections(
  m: Interpreter,
  { definition, inplace }: CallTarget,
  args: readonly Value[],
  call: CallOp,
): Value | null {
  const [first, ...others] = args.filter((each) => each instanceof SelectionValue);
  if (!first) return null;
  const areOfOne = others.every(({ mask, behind }) => mask === first.mask && behind === first.behind);
  const fits = areOfOne && isPlainPlace(m) && isElementwise(definition) &&
    args.every((each) => each instanceof SelectionValue || isBeside(m, each, first));
  if (!fits || (inplace && args[0] !== first)) return first.refuse();
  m.memory.refuse();
  const result = call(
    { definition, inplace },
    args.map((each) => each instanceof SelectionValue ? each.whole : each),
  );
  if (result.kind !== "tensor") return first.refuse();
  const itself = args.find((each) => each instanceof SelectionValue && each.whole === result);
  return itself ?? new SelectionValue(result, first.mask, first.refuse);
}

/** Returns whether each element of an op's result depends on those at its position alone, of any values. */
function isElementwise(definition: OpDefinition): boolean {
  const { implementation, elementwise, ranges, bounds, hostParts, dataDependent, results } = definition;
  if (ranges || bounds || hostParts || dataDependent || results) return false;
  if (implementation.kind !== "lower" && implementation.kind !== "composite") return false;
  return elementwise === true || COMPOSITIONS.has(definition.name);
}

const COMPOSITIONS: ReadonlySet<string> = new Set(ELEMENTWISE_COMPOSITIONS);

/**
 * Returns whether a value is the same beside each selected position, and receives no gradient: that would be a sum
 * over the selected positions, which rounds otherwise over all of them.
 */
function isBeside({ gradEnabled }: Interpreter, value: Value, { behind }: SelectionValue): boolean {
  if (value.kind === "constant" || value.kind === "number") return true;
  if (value.kind !== "tensor" || (gradEnabled && value.requiresGrad)) return false;
  const { shape } = value.meta;
  return shape.length <= behind || (shape.length === behind + 1 && shape[0] === 1);
}

/** Writes a selection into a tensor at the mask it was made by, which returns the tensor. */
export function setSelected(
  m: Interpreter,
  self: TensorValue,
  { index, value }: { readonly index: readonly Value[]; readonly value: SelectionValue },
  call: CallOp,
): TensorValue {
  const { whole, mask, refuse } = value, [tensor, ...others] = index;
  const isAt = others.length === 0 && tensor?.kind === "tensor" && !(tensor instanceof SelectionValue) &&
    isPlainPlace(m) && maskOf(m, tensor) === mask;
  if (!isAt || self instanceof SelectionValue || self.meta.dtype !== whole.meta.dtype) return refuse();
  if (self.meta.device !== whole.meta.device || !sameShape(self.meta.shape, whole.meta.shape)) {
    return refuse();
  }
  m.memory.refuse();
  const written = merged(m, mask, { given: whole, other: self, call });
  if (!written) return refuse();
  call(m.opNamed("copy_"), [self, written]);
  return self;
}
