/**
 * The interface of the printer.
 *
 * Invariant: a printed function's text refers to nothing outside but `$free`, `$rt`, `$callee`, `$home` and globals.
 */
import type { Offset, Register } from "./instruction.ts";

/** Any object with a getter and a setter of a variable. */
export interface LiveCellLike {
  readonly get: () => unknown;
  readonly set: (value: unknown) => void;
}

/** How a free variable is passed to printed code. */
export type FreeForm =
  /** The value itself. */
  | "value"
  /** An object whose property `v` is the value (`Cell`). */
  | "cell"
  /** A pair of get and set (`LiveCellLike`). */
  | "live"
  /** Access to a private name: has, get, set. */
  | "private";

export interface PrintOptions {
  /** Offset at which the printed function begins; 0 for the whole function. */
  readonly entry?: Offset;
  /** Registers that are its parameters, in order; by default those live at `entry`. Ignored at entry 0. */
  readonly parameters?: readonly Register[];
  /** Name of the printed function. */
  readonly name?: string;
  /** Form of each free variable, by index; by default `live` for reassigned ones, else `value`. */
  readonly freeForm?: (index: number) => FreeForm;
  /**
   * Whether the entry is a `yield` that has already happened: the printed generator first waits for next(), throw() or
   * return() there. The caller creates it and calls next() once, whose result is dropped.
   */
  readonly suspended?: boolean;
  /** Structured statements (if the flow allows it), or always a switch in a loop. */
  readonly controlFlow?: "structured" | "dispatch";
}

export interface PrintedFunction {
  /** A function expression. */
  readonly source: string;
  /** The same with marks of source positions, for `placed`. */
  readonly marked: string;
  /** Registers that are its parameters; at entry 0 the function takes the original's arguments. */
  readonly parameters: readonly Register[];
  /** Form of each free variable that the text uses. */
  readonly free: ReadonlyMap<number, FreeForm>;
  readonly strict: boolean;
}
