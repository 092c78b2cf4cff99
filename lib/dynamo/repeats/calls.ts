/**
 * Records calls of module methods, and updates of optimizers, that may be reused for others: arguments, appended
 * operations and result, or null if a call cannot be reproduced. Invariant: a recorded call has read no elements, and
 * has appended only operations that kernels compute from its arguments, from objects reachable from its subject, and
 * from each other. A call of a module has changed nothing that existed before; an update has only written to the
 * tensors of its subject.
 */
import { isOwnModule } from "../../base/errors.ts";
import { sameList } from "../../base/lists.ts";
import { hasEffect, type Node, type NodeMeta, type SourcePosition } from "../../graph/node.ts";
import type { TensorMeta } from "../../graph/meta.ts";
import { type RegionModes, sameModes } from "../../tensor/modes.ts";
import { isChanged } from "../codegen/effects.ts";
import { NO_RULES } from "../functions/frame_rules.ts";
import { inherits, isModule } from "../functions/modules.ts";
import { PerParameter } from "../../optim/per_parameter.ts";
import type { Source } from "../source.ts";
import { objectsFrom } from "./forms.ts";
import type { Frame, Interpreter } from "../trace/interpreter.ts";
import { modesOf } from "../trace/region_modes.ts";
import { SelectionValue } from "../variables/selection_value.ts";
import { type ConstantValue, type ObjectValue, TensorValue, type Value } from "../variables/value.ts";

/** An object or tensor of the program that another call replaces by its own. */
type Movable = (ObjectValue | TensorValue) & { readonly real: object; readonly source: Source };

/** The subject of a call: objects that differ between calls, and those that all calls share. */
export interface Subject {
  readonly self: ObjectValue & { readonly real: object };
  /** The module, or a parameter, its gradient and its state. */
  readonly moved: readonly Movable[];
  /** The arguments; for an object passed to an update, its properties. */
  readonly args: readonly Value[];
  /** Whether it updates a parameter, which writes to its subject. */
  readonly updates: boolean;
}

/** An argument of a call. */
export type Given =
  | { readonly kind: "constant"; readonly value: ConstantValue }
  /** A part of the call's subject, by its index in `moved`. */
  | { readonly kind: "moved"; readonly at: number }
  /** An object or tensor of the program. */
  | { readonly kind: "same"; readonly value: ObjectValue | TensorValue }
  /** A tensor created in the trace. */
  | { readonly kind: "made"; readonly node: Node; readonly meta: TensorMeta; readonly requiresGrad: boolean };

/** The result of a call. */
export type Gave =
  | { readonly kind: "constant"; readonly value: ConstantValue }
  | { readonly kind: "node"; readonly node: Node }
  | { readonly kind: "object"; readonly real: object }
  | { readonly kind: "array"; readonly items: readonly Gave[] };

/** A node as it was at the end of the call. */
interface Appended {
  readonly node: Node;
  readonly args: Node["args"];
  readonly kwargs: Node["kwargs"];
  readonly meta: NodeMeta;
  /** Null if it is not a tensor. */
  readonly tensor: Pick<TensorValue, "meta" | "requiresGrad" | "written"> | null;
}

/** A call that others may reuse. */
export interface RecordedCall {
  readonly callee: object;
  readonly subject: Subject;
  readonly given: readonly Given[];
  readonly modes: RegionModes;
  readonly appended: readonly Appended[];
  readonly gave: Gave;
  /** Objects that its functions read from their variables. */
  readonly roots: ReadonlySet<object>;
  /** Number of frames of the program. */
  readonly depth: number;
  /** Number of tensors whose gradients had been cleared before. */
  readonly putAway: number;
  /** Number of guards at its end. */
  readonly guards: number;
}

/** Returns whether two tensors have the same metadata. */
export function sameMeta(a: TensorMeta, b: TensorMeta): boolean {
  return a.dtype === b.dtype && a.device === b.device && a.offset === b.offset &&
    sameList(a.shape, b.shape) &&
    sameList(a.strides, b.strides);
}

/** A call in progress. */
export interface OpenCall {
  readonly frame: Frame;
  readonly subject: Subject;
  readonly given: readonly Given[] | null;
  readonly modes: RegionModes;
  readonly counts: readonly number[];
  readonly last: Node | undefined;
  readonly step: number;
  readonly stack: readonly SourcePosition[];
  /** Number of objects that the trace has changed. */
  readonly changed: number;
  readonly roots: Set<object>;
  /** Whether it has read something that cannot be looked up for another module. */
  refused: boolean;
}

/** Shorter calls are traced as fast as they are compared. */
const LEAST_STEPS = 40;

/** The subject of a call that may be reused, or may reuse another; null: neither. */
export function subjectOf(m: Interpreter, frame: Frame): Subject | null {
  const { self, callee, code, generator, args } = frame;
  if (self.kind !== "object" || !hasReal(self) || !callee?.real) return null;
  if (m.callers.length === 0 || m.steps === 0 || m.batch !== null || m.regionDepths.length > 0) return null;
  if (code.async || code.generator || generator !== null || frame.pc !== 0) return null;
  if (isModule(self.real)) return isMovable(self) ? { self, moved: [self], args, updates: false } : null;
  if (code.name !== "update" || !isOwnModule(code.module.url)) return null;
  // Testing for an instance alone would run the traps of a proxy
  if (!inherits(self.real, PerParameter.prototype) || !(self.real instanceof PerParameter)) return null;
  // Some optimizers create states themselves
  const states = m.wrapper.find(self.real.state);
  return states?.kind === "object" && isChanged(states) ? null : updateOf(m, self, args);
}

/** An update of a parameter of the program, if it records no gradients and everything is unchanged. */
function updateOf(m: Interpreter, self: Subject["self"], args: readonly Value[]): Subject | null {
  const [param, grad, context] = args, { output } = m;
  if (m.gradEnabled || m.inference || output.begun.length > 0 || output.readLater.length > 0) return null;
  if (output.items.size > 0 || output.hostCalls.size > 0 || isChanged(self)) return null;
  if (param?.kind !== "tensor" || grad?.kind !== "tensor" || context?.kind !== "object") return null;
  if (!isMovable(param) || context.real !== null) return null;
  const parts = [...context.slots.values()].map((slot) => slot.kind === "data" ? slot.value : null);
  const [group, state, owner] = parts;
  if (parts.length !== 3 || group?.kind !== "object" || state?.kind !== "object") return null;
  // A complex parameter is updated through a view of it
  if (owner !== param) return null;
  if (!group.real || isChanged(group)) return null;
  const isEmpty = state.real === null && state.slots.size === 0;
  if (!isEmpty && !isMovable(state)) return null;
  const moved = [param, grad, state].filter(isMovable);
  return { self, moved, args: isEmpty ? [param, grad, group] : [param, grad, group, state], updates: true };
}

const isMovable = (value: ObjectValue | TensorValue): value is Movable =>
  value.real !== null && value.source !== null && !(value.kind === "object" && value.variable);

function hasReal(value: ObjectValue): value is Subject["self"] {
  return value.real !== null;
}

/** Opens a call. */
export function begun(m: Interpreter, frame: Frame, subject: Subject): OpenCall {
  const { args, moved, updates } = subject;
  const given = args.map((value) => givenOf(m, subject, value)).filter((each) => each !== null);
  const objects = updates ? objectsFrom(moved.map(({ real }) => real)) : [];
  return {
    frame,
    subject,
    given: given.length === args.length && objects && areFresh(m, objects) ? given : null,
    modes: modesOf(m),
    counts: countsOf(m),
    last: m.output.graph.nodes.at(-1),
    step: m.steps,
    stack: m.output.whereabouts.stack(),
    changed: updates ? changedCount(m) : 0,
    roots: new Set(),
    refused: false,
  };
}

/** Closes a call; null if it cannot be reused. */
export function recorded(m: Interpreter, call: OpenCall, value: Value): RecordedCall | null {
  const { frame, subject, given, modes, roots, stack } = call, callee = frame.callee?.real;
  if (call.refused || given === null || !callee || m.steps - call.step < LEAST_STEPS) return null;
  if (frame.regionCall !== null || frame.recomputed !== null || frame.rules !== NO_RULES) return null;
  if (!sameModes(modes, modesOf(m)) || !sameList(call.counts, countsOf(m))) return null;
  if (subject.updates ? changedCount(m) !== call.changed : !isUntouched(m)) return null;
  const appended = appendedSince(m, call);
  // Searching the parts of a module takes no longer than comparing it with another one
  if (appended === null || appended.length === 0 || !readsOnly(m, appended, given)) return null;
  const own = new Set(appended.map(({ node }) => node));
  const gave = gaveOf(m, value, (node) => own.has(node) || isGiven(node, given));
  return gave && {
    callee,
    subject,
    given,
    modes,
    appended,
    gave,
    roots,
    depth: stack.length,
    putAway: putAway(m),
    guards: m.output.guards.length,
  };
}

const changedCount = (m: Interpreter): number =>
  m.wrapper.objects.reduce((count, object) => count + (isChanged(object) ? 1 : 0), 0);

/** Counters that grow if a call has effects besides operations. */
function countsOf(m: Interpreter): readonly number[] {
  const { output, deferred, laterCalls, backwards, firstWrite } = m;
  const {
    calls,
    readLater,
    readCopies,
    scalars,
    begun,
    sizes,
    attributes,
    regionCalls,
    recomputations,
    memories,
  } = output;
  return [
    deferred.length,
    laterCalls.length,
    backwards.length,
    firstWrite,
    calls.length,
    readLater.length,
    readCopies.length,
    scalars.size,
    begun.length,
    sizes.unbackedCount,
    memories.reads,
    Object.keys(attributes).length,
    regionCalls,
    recomputations.count,
    putAway(m),
  ];
}

/**
 * Returns whether the trace shows the program's objects, variables and tensors unchanged, and has read no elements.
 * Gradients may have been cleared, as at the start of training steps.
 */
export function isUntouched(m: Interpreter): boolean {
  const { items, hostCalls, sizeNumbers } = m.output;
  return items.size === 0 && hostCalls.size === 0 && sizeNumbers.size === 0 &&
    m.wrapper.objects.every((object) => !isChanged(object)) &&
    m.wrapper.tensors.every((tensor) => isAsFound(tensor) || hasNoGradient(tensor)) &&
    [...m.cells.values()].every(({ changed }) => !changed);
}

const isAsFound = (tensor: TensorValue): boolean => !tensor.written && isAsMade(tensor);

/** Returns whether nothing but elements of a tensor has changed. */
const isAsMade = ({ assigned, layoutChanges, begunAt }: TensorValue): boolean =>
  assigned.size === 0 && layoutChanges.length === 0 && begunAt === null;

/** Returns whether the only change of a tensor is that its gradient was cleared. */
function hasNoGradient({ written, assigned, layoutChanges, begunAt }: TensorValue): boolean {
  const grad = assigned.get("grad");
  return !written && layoutChanges.length === 0 && begunAt === null && assigned.size === 1 &&
    grad?.kind === "constant" && grad.value === null;
}

/** Number of tensors whose gradients have been cleared. */
export function putAway(m: Interpreter): number {
  return m.wrapper.tensors.reduce((count, { assigned }) => count + assigned.size, 0);
}

/** Returns whether objects and tensors are as the program has passed them in, except for their gradients. */
export function areFresh(m: Interpreter, objects: readonly object[]): boolean {
  return objects.every((object) => {
    const value = m.wrapper.find(object);
    if (value?.kind === "object") return !isChanged(value);
    if (value?.kind !== "tensor") return true;
    const { written, assigned, privates, layoutChanges, begunAt } = value;
    return !written && privates.size === 0 && layoutChanges.length === 0 && begunAt === null &&
      assigned.size <= 1 &&
      [...assigned.keys()].every((key) => key === "grad");
  });
}

/** An argument in comparable form; null if it has none. */
export function givenOf(m: Interpreter, { moved, updates }: Subject, value: Value): Given | null {
  if (value.kind === "constant") return { kind: "constant", value };
  const at = updates ? moved.findIndex((each) => each === value) : -1;
  if (at >= 0) return { kind: "moved", at };
  if (value.kind === "object") return value.real && !value.variable ? { kind: "same", value } : null;
  if (value.kind !== "tensor" || value instanceof SelectionValue) return null;
  if (value.real) return { kind: "same", value };
  const { node, made, meta, requiresGrad } = value;
  const isLike = made === null && (updates ? isAsMade(value) : isAsFound(value));
  return node && isLike && m.output.tensors.get(node) === value
    ? { kind: "made", node, meta, requiresGrad }
    : null;
}

const isGiven = (node: Node, given: readonly Given[]): boolean =>
  given.some((each) => each.kind === "made" && each.node === node);

/** Returns the nodes appended since a call began; null if there is anything but operations. */
function appendedSince(m: Interpreter, { last, subject: { updates } }: OpenCall): Appended[] | null {
  const { nodes } = m.output.graph, found: Appended[] = [];
  let at = nodes.length - 1;
  for (; at >= 0 && nodes[at] !== last; at--) {
    const node = nodes[at];
    if (!node || node.op === "placeholder") continue;
    const { args, kwargs, meta } = node, value = m.output.tensors.get(node) ?? null;
    if (!isPlain(m, node) || (!updates && hasEffect(node)) || (value && !isResult(value, updates))) {
      return null;
    }
    found.push({
      node,
      args,
      kwargs,
      meta,
      tensor: value && { meta: value.meta, requiresGrad: value.requiresGrad, written: value.written },
    });
  }
  return at < 0 && last !== undefined ? null : found.reverse();
}

/** Metadata that a kernel's operation may have. */
const PLAIN_META: ReadonlySet<string> = new Set(["value", "stack", "noGrad", "regionCall", "recomputed"]);

function isPlain({ output }: Interpreter, node: Node): boolean {
  const { op, target, meta } = node;
  return (op === "call_function" || op === "call_method") &&
    !Object.hasOwn(output.attributes, target) && Object.keys(meta).every((key) => PLAIN_META.has(key)) &&
    (meta.value.kind === "tensor" || meta.value.kind === "tensors") && output.madeAt(node) !== undefined;
}

/** Returns whether a tensor is exactly the result of its operation. */
function isResult(value: TensorValue, written: boolean): boolean {
  return (written ? isAsMade(value) : isAsFound(value)) && value.made === null && value.real === null &&
    value.source === null;
}

/** Returns whether operations read only each other, arguments, and tensors and numbers of the program. */
function readsOnly(m: Interpreter, appended: readonly Appended[], given: readonly Given[]): boolean {
  const own = new Set<Node>();
  for (const { node } of appended) {
    for (const input of node.inputs()) {
      const isKnown = own.has(input) || isGiven(input, given) || m.output.scalars.has(input);
      if (!isKnown && !m.output.tensors.get(input)?.real) return false;
    }
    own.add(node);
  }
  return true;
}

/** A result in parts; null if any part is neither a tensor nor an array of tensors, or occurs twice. */
function gaveOf(
  m: Interpreter,
  value: Value,
  isKnown: (node: Node) => boolean,
  seen: Set<ObjectValue> = new Set(),
): Gave | null {
  switch (value.kind) {
    case "constant":
      // Each call may create its own
      return typeof value.value === "symbol" ? null : { kind: "constant", value };
    case "tensor":
      if (value.real) return { kind: "object", real: value.real };
      return value.node && isKnown(value.node) && m.output.tensors.get(value.node) === value
        ? { kind: "node", node: value.node }
        : null;
    case "object": {
      const { real, exotic, slots, tensorProperty } = value;
      if (real) return { kind: "object", real };
      if (exotic.kind !== "array" || slots.size > 0 || tensorProperty || value.frozen !== "no") return null;
      if (value.prototypeChanged || value.arguments !== null || seen.has(value)) return null;
      seen.add(value);
      const items = exotic.elements.map((each) =>
        typeof each === "symbol" ? null : gaveOf(m, each, isKnown, seen)
      );
      const found = items.filter((each) => each !== null);
      return found.length === items.length ? { kind: "array", items: found } : null;
    }
    default:
      return null;
  }
}
