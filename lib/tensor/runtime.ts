/**
 * Late bindings of the tensor class: modules that build on it register their implementations when they load, and
 * methods use them. Invariant: using an implementation before it is registered is an InternalError.
 */
import { InternalError } from "../base/errors.ts";
import type { CallTarget } from "../ops/table.ts";
import type { Element } from "./host.ts";
import type { IndexArgument } from "./index_syntax.ts";

/** Calls and indexing. */
export interface TensorRuntime<T> {
  /** Calls an op with the arguments of a user's call. */
  call(target: CallTarget, given: readonly unknown[]): T | readonly T[];
  at(tensor: T, index: readonly IndexArgument<T>[]): T;
  set(tensor: T, index: readonly IndexArgument<T>[], value: T | Element): T;
  to(tensor: T, given: readonly unknown[]): T;
  where(condition: T, input: T, other: T | Element): T;
  contiguous(tensor: T): T;
  resize(tensor: T, shape: readonly number[]): void;
  bitView(tensor: T, dtype: unknown): T;
  view(tensor: T, size: readonly unknown[]): T;
}

/** A part that installs itself when its module loads. */
export class LateBound<R extends object> {
  #part: R | null = null;

  constructor(readonly name: string) {}

  install(part: R): void {
    this.#part = part;
  }

  /** The part. */
  get instance(): R {
    if (this.#part === null) throw new InternalError(`Expected ${this.name} to be loaded`);
    return this.#part;
  }
}
