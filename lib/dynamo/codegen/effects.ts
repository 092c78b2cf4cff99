/**
 * Generates statements that apply the trace's changes to the real objects and cells of the program. Invariant: only
 * differences are written; keys that were deleted and added again end up last, as in the program.
 */
import { invariant } from "../../base/errors.ts";
import { BYTES_CLASSES } from "../guards/bytes.ts";
import {
  type BytesExotic,
  type CellValue,
  type GrowingList,
  HOLE,
  LAZY,
  type ObjectValue,
  type TensorValue,
  type Value,
} from "../variables/value.ts";
import { programDescriptor } from "../../base/own_builtins.ts";
import { mayRunCode } from "./object_shape.ts";
import type { Rebuilder } from "./rebuild.ts";

/** Everything that the trace may have changed. */
export interface ChangedState {
  readonly objects: readonly ObjectValue[];
  readonly tensors: readonly TensorValue[];
  readonly cells: Iterable<CellValue>;
}

/** Returns whether the trace has changed properties of a real object, its prototype, or whether it may grow. */
export function hasChangedProperties(object: ObjectValue): boolean {
  return object.slots.size > 0 || object.privates.size > 0 || object.prototypeChanged ||
    object.frozen !== "no";
}

/** Returns whether the trace has changed a real object. */
export function isChanged(object: ObjectValue): boolean {
  const { exotic } = object;
  if (hasChangedProperties(object)) return true;
  if (exotic.kind === "map" || exotic.kind === "set") return exotic.changed;
  if (exotic.kind === "bytes") return exotic.memory.cells.size > 0;
  if (exotic.kind === "opaque") {
    return exotic.begun !== undefined && (exotic.begun.taken > 0 || exotic.begun.isOver);
  }
  if (exotic.kind !== "array") return false;
  const { growing, elements, originals } = exotic;
  if (growing && (growing.added.length > 0 || growing.replaced.length > 0 || isShortened(growing))) {
    return true;
  }
  if (elements.length !== originals.length) return true;
  for (let at = 0; at < elements.length; at++) if (elements[at] !== originals[at]) return true;
  return false;
}

const isShortened = (list: GrowingList | null): boolean => list !== null && list.dropped + list.popped > 0;

/** Returns whether the trace has replaced or removed original elements of an array. */
export function changesElements({ exotic }: ObjectValue): boolean {
  if (exotic.kind !== "array") return false;
  return isShortened(exotic.growing) ||
    exotic.originals.some((original, i) => original !== HOLE && exotic.elements[i] !== original);
}

/** Calls `visit` with every value that replaying the changes needs. */
export function countEffects(state: ChangedState, visit: (value: Value) => void): void {
  for (const object of state.objects) {
    for (const slot of object.slots.values()) {
      if (slot.kind === "data") visit(slot.value);
      else if (slot.kind === "accessor") {
        visit(slot.get);
        visit(slot.set);
      }
    }
    const { exotic } = object;
    if (exotic.kind === "array" && exotic.loaded) {
      exotic.elements.forEach((e, i) => {
        if (typeof e !== "symbol" && e !== exotic.originals[i]) visit(e);
      });
    }
    if (exotic.kind === "array" && exotic.growing) {
      exotic.growing.added.forEach(visit);
      for (const { value } of exotic.growing.replaced) visit(value);
    }
    if ((exotic.kind === "map" || exotic.kind === "set") && exotic.changed) {
      for (const key of exotic.deleted.values()) visit(key);
      for (const { key, value } of exotic.entries.values()) {
        visit(key);
        if (exotic.kind === "map") visit(value);
      }
    }
    if (exotic.kind === "bytes") {
      for (const { given, root } of exotic.memory.cells.values()) if (root === object) visit(given);
    }
    for (const value of object.privates.values()) if (value) visit(value);
    if (object.prototypeChanged && object.prototype) visit(object.prototype);
  }
  for (const tensor of state.tensors) {
    for (const value of tensor.assigned.values()) visit(value);
    for (const value of tensor.privates.values()) if (value) visit(value);
  }
  for (const cell of state.cells) if (cell.changed && cell.content) visit(cell.content);
}

/** The statements. */
export function effectStatements(state: ChangedState, rebuild: Rebuilder): string[] {
  const lines: string[] = [];
  // First: lists are as long as the trace has found them
  for (const object of state.objects) iteratorEffects(object, rebuild, lines);
  for (const object of state.objects) objectEffects(object, rebuild, lines);
  for (const tensor of state.tensors) {
    for (const { op, args } of tensor.layoutChanges) {
      const given = [rebuild.tensor(tensor), JSON.stringify(op), JSON.stringify(args)];
      lines.push(`${rebuild.helper("changeLayout")}(${given.join(", ")});`);
    }
    for (const [key, value] of tensor.isBegun ? [] : tensor.assigned) {
      lines.push(`${rebuild.tensor(tensor)}${rebuild.keys.access(key)} = ${rebuild.value(value)};`);
    }
    // Those of new tensors are written where the tensors leave, if they do
    if (tensor.real) {
      for (const entry of tensor.privates) lines.push(rebuild.setPrivate(rebuild.tensor(tensor), entry));
    }
  }
  for (const cell of state.cells) {
    if (!cell.changed || !cell.place || !cell.content) continue;
    const content = rebuild.value(cell.content);
    lines.push(`${rebuild.cell(cell)}.v = ${content};`);
  }
  return lines;
}

/** Advances the iterators of loops as far as the trace has. */
function iteratorEffects({ exotic, source }: ObjectValue, rebuild: Rebuilder, lines: string[]): void {
  if (exotic.kind !== "opaque" || !exotic.begun || !source) return;
  const { taken, isOver } = exotic.begun;
  if (taken === 0 && !isOver) return;
  lines.push(`${rebuild.helper("takeBegun")}(${rebuild.reader.read(source)}, ${taken}, ${isOver});`);
}

function objectEffects(object: ObjectValue, rebuild: Rebuilder, lines: string[]): void {
  const { exotic, source, real } = object;
  if (!real || !source) return;
  const name = () => rebuild.reader.read(source);
  if (exotic.kind === "array" && exotic.loaded) {
    const { elements, originals } = exotic;
    elements.forEach((element, i) => {
      if (element === originals[i] || element === LAZY) return;
      lines.push(
        element === HOLE ? `delete ${name()}[${i}];` : `${name()}[${i}] = ${rebuild.value(element)};`,
      );
    });
    const written = elements.reduce((last: number, e, i) => e === HOLE ? last : i + 1, 0);
    if (
      elements.length < originals.length || (elements.length > originals.length && written < elements.length)
    ) {
      lines.push(`${name()}.length = ${elements.length};`);
    }
  }
  if (exotic.kind === "array" && exotic.growing) {
    const { dropped, popped, added, replaced } = exotic.growing;
    for (const { index, value } of replaced) {
      lines.push(`${name()}[${rebuild.value(index)}] = ${rebuild.value(value)};`);
    }
    if (popped > 0) lines.push(`${name()}.length -= ${popped};`);
    if (dropped > 0) lines.push(`${rebuild.helper("removeFirst")}(${name()}, ${dropped});`);
    if (added.length > 0) lines.push(rebuild.append(name(), added));
  }
  if (exotic.kind === "bytes") memoryEffects(object, exotic, { name, rebuild, lines });
  if ((exotic.kind === "map" || exotic.kind === "set") && exotic.changed) {
    collectionEffects(object, rebuild, lines);
  }
  if (object.prototypeChanged) {
    const prototype = object.prototype ? rebuild.value(object.prototype) : "null";
    lines.push(`${rebuild.helper("withPrototype")}(${name()}, ${prototype});`);
  }
  for (const [key, slot] of object.slots) {
    if (object.readded.has(key)) lines.push(`delete ${name()}${rebuild.keys.access(key)};`);
    const former = object.readded.has(key) ? undefined : programDescriptor(real, key);
    const keepsFlags = slot.kind === "data" && former?.writable === slot.writable &&
      former.enumerable === slot.enumerable && former.configurable === slot.configurable;
    if (keepsFlags && slot.value === object.reads.get(key)) continue;
    // An assignment keeps the flags
    const assigned = keepsFlags && slot.writable ? { ...slot, enumerable: true, configurable: true } : slot;
    // The flags that exist decide, even if the wanted ones are those of a plain assignment
    const define = former ? !keepsFlags : mayRunCode(object, key);
    lines.push(rebuild.setSlot(name(), key, assigned, define));
  }
  for (const entry of object.privates) lines.push(rebuild.setPrivate(name(), entry));
  if (object.frozen !== "no") {
    lines.push(rebuild.integrity(name(), object.frozen));
  }
}

/**
 * Writes numbers through the object through which the program has written them, or the object of which that one is a
 * view.
 */
function memoryEffects(
  object: ObjectValue,
  { type, memory, start }: BytesExotic,
  { name, rebuild, lines }: {
    readonly name: () => string;
    readonly rebuild: Rebuilder;
    readonly lines: string[];
  },
): void {
  for (const [first, { form, given, root }] of memory.cells) {
    if (root !== object) continue;
    const at = first - start, { step } = BYTES_CLASSES[type];
    if (form.type === type && form.little && at % step === 0) {
      lines.push(`${name()}[${at / step}] = ${rebuild.value(given)};`);
    } else {
      const place = `{ form: ${rebuild.constants.name(form)}, at: ${at} }`;
      lines.push(`${rebuild.helper("putNumber")}(${name()}, ${place}, ${rebuild.value(given)});`);
    }
  }
}

/** Deletes and sets differences one by one, so that running iterators of the program see the same steps. */
function collectionEffects(object: ObjectValue, rebuild: Rebuilder, lines: string[]): void {
  const { exotic, source } = object;
  invariant(source && (exotic.kind === "map" || exotic.kind === "set"), "Expected a collection");
  const name = rebuild.reader.read(source);
  for (const key of exotic.deleted.values()) {
    lines.push(rebuild.collectionCall(object, name, "delete", [key]));
  }
  for (const [identity, { key, value }] of exotic.entries) {
    const kept = exotic.originals.has(identity) && !exotic.deleted.has(identity);
    if (exotic.kind === "map") {
      if (kept && exotic.originals.get(identity) === value) continue;
      lines.push(rebuild.collectionCall(object, name, "put", [key, value]));
    } else if (!kept) lines.push(rebuild.collectionCall(object, name, "put", [key]));
  }
}
