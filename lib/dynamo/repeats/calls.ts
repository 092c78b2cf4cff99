/**
 * Records calls of module methods that may be reused for others: arguments, appended operations and result, or null
 * if a call cannot be reproduced. Invariant: a recorded call has changed nothing that existed before, read no
 * elements, and appended only operations that kernels compute from its arguments, from objects reachable from the
 * module, and from each other.
 */
import { sameList } from "../../base/lists.ts";
import { hasEffect, type Node, type NodeMeta, type SourcePosition } from "../../graph/node.ts";
import type { TensorMeta } from "../../graph/meta.ts";
import { type RegionModes, sameModes } from "../../tensor/modes.ts";
import { isChanged } from "../codegen/effects.ts";
import { NO_RULES } from "../functions/frame_rules.ts";
import { isModule } from "../functions/modules.ts";
import type { Frame, Interpreter } from "../trace/interpreter.ts";
import { modesOf } from "../trace/region_modes.ts";
import { type ConstantValue, type ObjectValue, TensorValue, type Value } from "../variables/value.ts";

/** An argument of a call. */
export type Given =
  | { readonly kind: "constant"; readonly value: ConstantValue }
  /** An object or tensor of the program. */
  | { readonly kind: "same"; readonly value: ObjectValue | TensorValue }
  /** A tensor that the trace has made. */
  | { readonly kind: "made"; readonly node: Node; readonly meta: TensorMeta; readonly requiresGrad: boolean };

/** The result of a call. */
export type Gave =
  | { readonly kind: "constant"; readonly value: ConstantValue }
  | { readonly kind: "node"; readonly node: Node }
  | { readonly kind: "object"; readonly real: object }
  | { readonly kind: "array"; readonly items: readonly Gave[] };

/** A node as it was when the call ended. */
export interface Appended {
  readonly node: Node;
  readonly args: Node["args"];
  readonly kwargs: Node["kwargs"];
  readonly meta: NodeMeta;
  /** Null where it is not a tensor. */
  readonly tensor: { readonly meta: TensorMeta; readonly requiresGrad: boolean } | null;
}

/** A call that may stand for others. */
export interface RecordedCall {
  readonly callee: object;
  readonly self: ObjectValue & { readonly real: object };
  readonly given: readonly Given[];
  readonly modes: RegionModes;
  readonly appended: readonly Appended[];
  readonly gave: Gave;
  /** Objects that its functions read from their variables. */
  readonly roots: ReadonlySet<object>;
  /** Number of frames of the program. */
  readonly depth: number;
  /** From how many tensors the gradient was put away before. */
  readonly putAway: number;
  /** Number of guards when it had ended. */
  readonly guards: number;
}

/** Returns whether two tensors have the same metadata. */
export function sameMeta(a: TensorMeta, b: TensorMeta): boolean {
  return a.dtype === b.dtype && a.device === b.device && a.offset === b.offset &&
    sameList(a.shape, b.shape) &&
    sameList(a.strides, b.strides);
}

/** A call under way. */
export interface OpenCall {
  readonly frame: Frame;
  readonly given: readonly Given[] | null;
  readonly modes: RegionModes;
  readonly counts: readonly number[];
  readonly last: Node | undefined;
  readonly step: number;
  readonly stack: readonly SourcePosition[];
  readonly roots: Set<object>;
  /** Whether it has read what nobody can look up for another module. */
  refused: boolean;
}

/** Shorter calls are stepped through as fast as they are compared. */
const LEAST_STEPS = 40;

/** The module of a call, where it is one that may stand for others, or others for it; null: it is not. */
export function moduleOf(m: Interpreter, frame: Frame): RecordedCall["self"] | null {
  const { self, callee, code, generator } = frame;
  if (self.kind !== "object" || !hasReal(self) || !self.source || !callee?.real) return null;
  if (m.callers.length === 0 || m.steps === 0 || m.batch !== null || m.regionDepths.length > 0) return null;
  if (code.async || code.generator || generator !== null || frame.pc !== 0) return null;
  return isModule(self.real) ? self : null;
}

function hasReal(value: ObjectValue): value is RecordedCall["self"] {
  return value.real !== null;
}

/** A call that begins. */
export function begun(m: Interpreter, frame: Frame): OpenCall {
  const given = frame.args.map((value) => givenOf(m, value)).filter((each) => each !== null);
  return {
    frame,
    given: given.length === frame.args.length ? given : null,
    modes: modesOf(m),
    counts: countsOf(m),
    last: m.output.graph.nodes.at(-1),
    step: m.steps,
    stack: m.output.whereabouts.stack(),
    roots: new Set(),
    refused: false,
  };
}

/** A call that has ended; null where it may not stand for others. */
export function recorded(m: Interpreter, call: OpenCall, value: Value): RecordedCall | null {
  const { frame, given, modes, roots, stack } = call, self = frame.self, callee = frame.callee?.real;
  if (call.refused || given === null || !callee || m.steps - call.step < LEAST_STEPS) return null;
  if (self.kind !== "object" || !hasReal(self)) return null;
  if (frame.regionCall !== null || frame.recomputed !== null || frame.rules !== NO_RULES) return null;
  if (!sameModes(modes, modesOf(m)) || !sameList(call.counts, countsOf(m)) || !isUntouched(m)) return null;
  const appended = appendedSince(m, call);
  // Looking for parts of a module takes no longer than comparing it with another
  if (appended === null || appended.length === 0 || !readsOnly(m, appended, given)) return null;
  const own = new Set(appended.map(({ node }) => node));
  const gave = gaveOf(m, value, (node) => own.has(node) || isGiven(node, given));
  return gave && {
    callee,
    self,
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

/** Counters that grow if a call leaves more behind than operations. */
function countsOf(m: Interpreter): readonly number[] {
  const { output, deferred, backwards, firstWrite } = m;
  const { calls, readLater, readCopies, scalars, begun, sizes, attributes, regionCalls, checkpoints } =
    output;
  return [
    deferred.length,
    backwards.length,
    firstWrite,
    calls.length,
    readLater.length,
    readCopies.length,
    scalars.size,
    begun.length,
    sizes.unbackedCount,
    Object.keys(attributes).length,
    regionCalls,
    checkpoints,
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

function isAsFound({ written, assigned, layoutChanges, begunAt }: TensorValue): boolean {
  return !written && assigned.size === 0 && layoutChanges.length === 0 && begunAt === null;
}

/** Returns whether the only change of a tensor is that its gradient was cleared. */
function hasNoGradient({ written, assigned, layoutChanges, begunAt }: TensorValue): boolean {
  const grad = assigned.get("grad");
  return !written && layoutChanges.length === 0 && begunAt === null && assigned.size === 1 &&
    grad?.kind === "constant" && grad.value === null;
}

/** From how many tensors the gradient was put away. */
export function putAway(m: Interpreter): number {
  return m.wrapper.tensors.reduce((count, { assigned }) => count + assigned.size, 0);
}

/** An argument, as far as it can be compared with that of another call; null: not at all. */
export function givenOf(m: Interpreter, value: Value): Given | null {
  if (value.kind === "constant") return { kind: "constant", value };
  if (value.kind === "object") return value.real && !value.variable ? { kind: "same", value } : null;
  if (value.kind !== "tensor") return null;
  if (value.real) return { kind: "same", value };
  const { node, made, meta, requiresGrad } = value;
  const isPlain = node && made === null && isAsFound(value) && m.output.tensors.get(node) === value;
  return isPlain ? { kind: "made", node, meta, requiresGrad } : null;
}

const isGiven = (node: Node, given: readonly Given[]): boolean =>
  given.some((each) => each.kind === "made" && each.node === node);

/** Returns the nodes appended since a call began; null if there is anything but operations. */
function appendedSince(m: Interpreter, { last }: OpenCall): Appended[] | null {
  const { nodes } = m.output.graph, found: Appended[] = [];
  let at = nodes.length - 1;
  for (; at >= 0 && nodes[at] !== last; at--) {
    const node = nodes[at];
    if (!node || node.op === "placeholder") continue;
    const { args, kwargs, meta } = node, value = m.output.tensors.get(node) ?? null;
    if (!isPlain(m, node) || (value && !isResult(value))) return null;
    found.push({
      node,
      args,
      kwargs,
      meta,
      tensor: value && { meta: value.meta, requiresGrad: value.requiresGrad },
    });
  }
  return at < 0 && last !== undefined ? null : found.reverse();
}

/** Metadata that a kernel's operation may have. */
const PLAIN_META: ReadonlySet<string> = new Set(["value", "stack", "noGrad", "regionCall", "recomputed"]);

function isPlain({ output }: Interpreter, node: Node): boolean {
  const { op, target, meta } = node;
  return (op === "call_function" || op === "call_method") && !hasEffect(node) &&
    !Object.hasOwn(output.attributes, target) && Object.keys(meta).every((key) => PLAIN_META.has(key)) &&
    (meta.value.kind === "tensor" || meta.value.kind === "tensors") && output.madeAt(node) !== undefined;
}

/** Returns whether a tensor is exactly the result of its operation. */
function isResult(value: TensorValue): boolean {
  return isAsFound(value) && value.made === null && value.real === null && value.source === null;
}

/** Returns whether operations read only each other, arguments and tensors of the program. */
function readsOnly(m: Interpreter, appended: readonly Appended[], given: readonly Given[]): boolean {
  const own = new Set<Node>();
  for (const { node } of appended) {
    for (const input of node.inputs()) {
      if (!own.has(input) && !isGiven(input, given) && !m.output.tensors.get(input)?.real) return false;
    }
    own.add(node);
  }
  return true;
}

/** A result in parts; null where it has parts that are not tensors or arrays of them, each array once. */
function gaveOf(
  m: Interpreter,
  value: Value,
  isKnown: (node: Node) => boolean,
  seen: Set<ObjectValue> = new Set(),
): Gave | null {
  switch (value.kind) {
    case "constant":
      // Each call may make one of its own
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
