/**
 * Tangents of tensors for forward-mode differentiation, by level (one run of a differentiated function). Invariant: a
 * tangent has the shape and type of its tensor, and is dropped when its level ends.
 */
import type { Tensor } from "./tensor.ts";

/** The tangents of one level. */
export class TangentLevel {
  #own = new WeakMap<Tensor, Tensor>();

  /** The tangent of a tensor; undefined if it has none. */
  given(tensor: Tensor): Tensor | undefined {
    return this.#own.get(tensor);
  }

  /** Gives a tensor a tangent. */
  give(tensor: Tensor, tangent: Tensor): void {
    this.#own.set(tensor, tangent);
  }

  /** Opens the level. */
  open(): void {
    levels.push(this);
  }

  /** Closes the level and drops its tangents. */
  close(): void {
    levels.splice(levels.lastIndexOf(this), 1);
    this.#own = new WeakMap();
  }
}

/** Open levels, outermost first. */
const levels: TangentLevel[] = [];

/** Gives `to`, another tensor over the elements of `from`, the tangents that `from` was given. */
export function carryTangents(from: Tensor, to: Tensor): Tensor {
  for (const level of levels) {
    const tangent = level.given(from);
    if (tangent !== undefined) level.give(to, tangent);
  }
  return to;
}

/** Returns whether a tensor has a tangent at any level other than some. */
export function hasTangents(tensor: Tensor, besides: readonly TangentLevel[] = []): boolean {
  return levels.some((level) => !besides.includes(level) && level.given(tensor) !== undefined);
}
