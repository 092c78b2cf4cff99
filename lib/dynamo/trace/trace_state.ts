/**
 * Snapshots of the state that the program would see at a point of the trace: objects, variables and tensors. A later
 * state is compared with it. Invariant: changes of anything that existed before are detected; objects created in
 * between do not count.
 */
import { isChanged } from "../codegen/effects.ts";
import { LAZY, type ObjectValue, type Slot, type Value } from "../variables/value.ts";
import { sameModes } from "../../tensor/modes.ts";
import type { Frame, Interpreter } from "./interpreter.ts";
import { modesOf } from "./region_modes.ts";

/** A snapshot of everything reachable in the trace. */
interface TraceState {
  /** Returns a description of later changes, or null. `backwards`: gradients may have been taken. */
  changed(allowed?: { readonly backwards: boolean }): string | null;
}

/** Everything that the program reaches in the trace from these frames, with its contents. */
export function reachable(m: Interpreter, frames: readonly Frame[]): Map<Value, readonly unknown[]> {
  const contents = new Map<Value, readonly unknown[]>();
  const pending: Value[] = [];
  const visit = (value: unknown): void => {
    if (isContainer(value) && !contents.has(value)) {
      contents.set(value, contentOf(value));
      pending.push(value);
    }
  };
  const roots: unknown[] = [...m.wrapper.objects, ...m.wrapper.tensors, ...m.cells.values()];
  for (const frame of frames) roots.push(...frame.registers, frame.self, frame.callee, ...frame.args);
  for (const frame of frames) if (frame.info.kind === "made") roots.push(...frame.info.free);
  roots.forEach(visit);
  for (let value = pending.pop(); value; value = pending.pop()) contents.get(value)?.forEach(visit);
  return contents;
}

/** The state at this point. */
export function stateOf(m: Interpreter, frames: readonly Frame[]): TraceState {
  const contents = reachable(m, frames);
  const deferred = m.deferred.length, laterCalls = m.laterCalls.length, backwards = m.backwards.length;
  const modes = modesOf(m), calls = m.output.calls.length;
  return {
    changed({ backwards: allowsBackwards } = { backwards: false }) {
      if (m.deferred.length !== deferred) return "a call that comes later";
      if (m.laterCalls.length !== laterCalls) return "a promise, or another call that is made later";
      if (m.output.calls.length !== calls) return "a call that returns another number each time";
      if (!allowsBackwards && m.backwards.length !== backwards) return "a backward pass";
      if (!sameModes(modesOf(m), modes)) return "a mode";
      for (const [value, before] of contents) {
        if (!sameContent(value, before)) {
          return `a change of ${value.kind === "cell" ? value.name : "an object"}`;
        }
      }
      for (const object of m.wrapper.objects) {
        if (!contents.has(object) && isChanged(object)) return "a change of an object";
      }
      for (const tensor of m.wrapper.tensors) {
        if (contents.has(tensor)) continue;
        if (tensor.assigned.size > 0) return "a property of a tensor";
        if (tensor.privates.size > 0) return "the entry of a tensor in a weak collection";
      }
      for (const cell of m.cells.values()) {
        if (!contents.has(cell) && cell.changed) return `a change of ${cell.name}`;
      }
      return null;
    },
  };
}

/** Forgets writes of the trace that restored the original value of a property, as `functionalCall` does. */
export function forgetRestored(m: Interpreter): void {
  for (const { real, slots } of m.wrapper.objects) {
    if (!real) continue;
    for (const [key, slot] of slots) {
      if (slot.kind !== "data" || (slot.value.kind !== "tensor" && slot.value.kind !== "object")) continue;
      const had = Object.getOwnPropertyDescriptor(real, key);
      const isSame = had !== undefined && had.value === slot.value.real && had.value !== undefined &&
        had.writable === slot.writable && had.enumerable === slot.enumerable &&
        had.configurable === slot.configurable;
      if (isSame) slots.delete(key);
    }
  }
}

function isContainer(
  value: unknown,
): value is Extract<Value, { kind: "object" | "cell" | "tensor" | "enumerator" }> {
  if (typeof value !== "object" || value === null || !("kind" in value)) return false;
  const { kind } = value;
  return kind === "object" || kind === "cell" || kind === "tensor" || kind === "enumerator";
}

/** The contents of a value, one level deep. */
function contentOf(value: Value): readonly unknown[] {
  switch (value.kind) {
    case "cell":
      return [value.content, value.changed];
    case "tensor":
      return [
        value.written,
        value.requiresGrad,
        value.meta,
        ...[...value.assigned].flat(),
        ...[...value.privates].flat(),
      ];
    case "enumerator":
      return [value.object, value.index];
    case "object":
      return contentOfObject(value);
    case "constant":
    case "uninitialized":
    case "number":
    case "item":
      return [];
    default:
      return value satisfies never;
  }
}

function contentOfObject(object: ObjectValue): readonly unknown[] {
  const { exotic } = object;
  const own: unknown[] = [object.prototype, object.frozen, object.prototypeChanged];
  for (const [key, slot] of object.slots) own.push(key, ...contentOfSlot(slot));
  for (const [access, value] of object.privates) own.push(access, value);
  for (const members of object.privateFields.values()) own.push(...[...members].flat());
  switch (exotic.kind) {
    case "array":
      return [...own, ...exotic.elements, ...Object.values(exotic.growing ?? {}).flat()];
    case "map":
    case "set":
      return [
        ...own,
        exotic.changed,
        ...[...exotic.entries.values()].flatMap(({ key, value }) => [key, value]),
      ];
    case "generator":
      return [...own, exotic.state, exotic.frame?.pc, ...exotic.frame?.registers ?? []];
    case "date":
      return [...own, exotic.time];
    case "weakRef":
      return [...own, exotic.target];
    case "listIterator":
      return [...own, exotic.over, exotic.index, exotic.done];
    case "bound":
      return [...own, exotic.target, exotic.self, ...exotic.args];
    case "function":
      return [...own, ...exotic.closure?.free ?? []];
    case "plain":
    case "constructed":
    case "called":
    case "elements":
    case "thrown":
    case "privateName":
      return own;
    case "native":
      return [...own, exotic.text?.()];
    case "opaque":
      return [...own, exotic.begun?.taken, exotic.begun?.isOver];
    case "bytes":
      return [...own, ...[...exotic.memory.cells].flatMap(([at, { given }]) => [at, given])];
    case "weak":
      return [...own, ...[...exotic.entries].flat()];
    default:
      return exotic satisfies never;
  }
}

function contentOfSlot(slot: Slot): readonly unknown[] {
  switch (slot.kind) {
    case "data":
      return ["data", slot.value, slot.writable, slot.enumerable, slot.configurable];
    case "accessor":
      return ["accessor", slot.get, slot.set, slot.enumerable, slot.configurable];
    case "deleted":
      return ["deleted"];
    default:
      return slot satisfies never;
  }
}

/** Returns whether a value has the same contents; a first load is not a change. */
function sameContent(value: Value, before: readonly unknown[]): boolean {
  if (value.kind === "cell" && before[0] === null) return !value.changed;
  if (value.kind === "object" && value.real && !isChanged(value)) return true;
  const now = contentOf(value);
  return now.length === before.length && now.every((each, at) => each === before[at] || before[at] === LAZY);
}
