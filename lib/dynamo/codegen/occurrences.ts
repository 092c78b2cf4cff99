/**
 * How often traced objects occur among the values that generated code makes. Invariant: an object that is met once is in no
 * circle, so that it can be written down where it is used.
 */
import type { CellValue, ObjectValue, TensorValue, Value } from "../variables/value.ts";
import { innerValues } from "./object_shape.ts";

/** Counts of objects. */
export class Occurrences {
  /** The objects that are being counted, each in the one before. */
  readonly #around = new Set<ObjectValue>();
  readonly #counts = new Map<ObjectValue | CellValue, number>();
  readonly #tensors = new Set<TensorValue>();

  /** Returns whether an object occurs more than once, or was not counted. */
  isShared(object: ObjectValue): boolean {
    return (this.#counts.get(object) ?? 2) > 1;
  }

  /** Counts a value, and all that it is made of. */
  count(value: Value): void {
    switch (value.kind) {
      case "object": {
        if (value.real) return;
        if (this.#add(value) > 1) return this.#nameCircle(value);
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
        if (!value.made || this.#tensors.has(value)) return;
        this.#tensors.add(value);
        for (const assigned of value.assigned.values()) this.count(assigned);
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

  /** Counts the objects of a circle twice: those that are written down in place could not refer to the others. */
  #nameCircle(met: ObjectValue): void {
    if (!this.#around.has(met)) return;
    let isInside = false;
    for (const object of this.#around) {
      isInside ||= object === met;
      if (isInside) this.#counts.set(object, 2);
    }
  }
}
