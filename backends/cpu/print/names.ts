/**
 * The interface between the parts of a kernel's printer: names outside of the kernel, and the printing of statements.
 */
import type { TextWriter } from "../../../lib/base/text_writer.ts";
import type { ValueType } from "../../../lib/base/dtype.ts";
import type { BufferId, Loop, Statement, ValueId } from "../../../lib/loops/ir.ts";
import type { Sym } from "../../../lib/sym/expr.ts";
import type { Routine } from "../runtime_library.ts";
import type { Need } from "./scalar.ts";
import type { Group } from "./types.ts";

/** The part [from, to) of a loop that is printed, as C++ expressions. */
export interface Range {
  readonly from: string;
  readonly to: string;
}

/** Names outside of a kernel that its statements refer to. */
export interface KernelNames {
  buffer(id: BufferId): string;
  /**
   * The name of a zero that is added to computed indices: if GCC 12 and 13 know that an index is a comparison's result,
   * their AVX-512 gathers read wrong addresses.
   */
  nothing(): string;
  size(symbol: Sym): string;
  readonly need: Need;
  /** The address of a library routine. */
  routine(name: Routine): string;
  /** Declares a reduction function with its text. */
  fold(text: string): void;
  /** The name of the flag whether a buffer is far from the caches. */
  far(id: BufferId): string;
}

export type Store = Extract<Statement, { readonly kind: "store" }>;
export type Access = Extract<Statement, { readonly kind: "store" | "load" }>;

/** The element that a load reads or a store writes, as C++. */
export interface Element {
  /** The element itself. */
  readonly text: string;
  readonly type: string;
  readonly bytes: number;
}

/** Prints statements outside of lanes, and the pieces of which loops in lanes consist. */
export interface StatementPrinter {
  readonly out: TextWriter;
  readonly names: KernelNames;
  statements(body: readonly Statement[]): void;
  /** Prints statements for a lane of a group. */
  inGroup(group: Group, body: readonly Statement[]): void;
  /** The text of a value that was printed. */
  value(id: ValueId): string;
  /** A counter variable for an axis, declared by the caller. */
  axis(symbol: Sym): string;
  /** Sets the text of a value. */
  define(id: ValueId, dtype: ValueType): string;
  /** A number that is unique among the kernel's names. */
  unique(): number;
  /** Returns the element that a load reads or a store writes. */
  element(access: Access): Element;
  /** Prints statements with some stores redirected to the elements given here. */
  elsewhere(body: readonly Statement[], targets: ReadonlyMap<Statement, string>): void;
  /** The bounds that are printed for a loop: those of one thread if a team divides it. */
  range(loop: Loop): Range;
}
