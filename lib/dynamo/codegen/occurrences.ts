/**
 * Counts the references to traced objects among the values that generated code creates. Invariant: an object with a single
 * reference is in no cycle, so that it can be written as a literal.
 */
import type { CellValue, ObjectValue, TensorValue, Value } from "../variables/value.ts";
import { innerValues } from "./object_shape.ts";

/** Numbers of references. */
export class Occurrences {
  /** The objects on the current path, from the outside in. */
  readonly #around = new Set<ObjectValue>();
  readonly #counts = new Map<ObjectValue | CellValue, number>();
  readonly #tensors = new Set<TensorValue>();

  /** Returns whether an object has more than one reference, or was not counted. */
  isShared(object: ObjectValue): boolean {
    return (this.#counts.get(object) ?? 2) > 1;
  }

  /** Counts the references in a value. */
  count(value: Value): void {
    switch (value.kind) {
      case "object": {
        if (value.real) return;
        if (this.#add(value) > 1) return this.#nameCycle(value);
        this.#around.add(value);
        for (const inner of innerValues(value)) this.count(inner);
        this.#around.delete(value);
        return;
      }
      case "cell":
        if (this.#add(value) === 1 && !value.place && value.content) this.count(value.content);
        return;
      case "enumerator":
        if (value.object) this.count(value.object);
        return;
      case "tensor":
        if (value.real || this.#tensors.has(value)) return;
        this.#tensors.add(value);
        for (const assigned of value.made ? value.assigned.values() : []) this.count(assigned);
        for (const entry of value.privates.values()) if (entry) this.count(entry);
        return;
      case "constant":
      case "uninitialized":
      case "number":
      case "item":
        return;
      default:
        value satisfies never;
    }
  }

  #add(value: ObjectValue | CellValue): number {
    const count = (this.#counts.get(value) ?? 0) + 1;
    this.#counts.set(value, count);
    return count;
  }

  /** Counts the objects of a cycle twice: literals written in place could not refer to the others. */
  #nameCycle(met: ObjectValue): void {
    if (!this.#around.has(met)) return;
    let isInside = false;
    for (const object of this.#around) {
      isInside ||= object === met;
      if (isInside) this.#counts.set(object, 2);
    }
  }
}
