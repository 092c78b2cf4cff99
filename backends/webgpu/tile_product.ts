/**
 * The description of a matrix product for tiled shaders: functions that read its operands, and the destination of
 * results. Invariant: names declared for a position end in its name.
 */
import type { Dim } from "../../lib/sym/expr.ts";

/** An element of an operand. */
export interface TileElement {
  readonly text: string;
  /** Condition under which it is read; it is zero otherwise. */
  readonly inside?: string;
}

/**
 * One side of a product. Names declared for a position end in its name, and an element is identified by the names of
 * both positions.
 */
export interface TileOperand {
  /** Whether neighbouring invocations read along the depth, rather than along rows (of A) or columns (of B). */
  readonly alongDepth: boolean;
  /** Whether elements outside of the matrix may be read, and discarded. */
  readonly reads: "anywhere" | "inside";
  /** Writes lines about a row (of A) or a column (of B), once for all its elements. */
  other(place: string, name: string): void;
  /** Writes lines about a position along the depth. */
  depth(place: string, name: string): void;
  /** The integers that these lines declare, by the prefix before `_` and the name. */
  readonly declares?: readonly string[];
  element(at: { readonly other: string; readonly depth: string }): TileElement;
  /** Four contiguous elements from a multiple of four on, as a vector; only if all or none of them are inside. */
  four?(at: { readonly other: string; readonly depth: string }): string;
}

/** The destination of results. */
export interface TileResult {
  /** Writes lines about a row and a column, as for operands. */
  row(place: string, name: string): void;
  column(place: string, name: string): void;
  /** Writes lines that store `value` at a position. */
  store(at: { readonly row: string; readonly column: string; readonly value: string }): void;
  /** The same for four columns from a multiple of four on, all or none of which are inside. */
  storeFour?(at: { readonly row: string; readonly column: string; readonly value: string }): void;
}

/**
 * out[batch…, row, column] = Σ over depth of A · B. The counters of `batch` are `n0`, `n1`, …; where the depth is shared,
 * `part` is the number of the share.
 */
export interface TileProduct {
  readonly batch: readonly Dim[];
  readonly rows: Dim;
  readonly columns: Dim;
  /** Or an expression of counters, and of declarations by `prepare`. */
  readonly depth: Dim | string;
  /** Number of workgroups that divide the depth of one tile. */
  readonly splits: number;
  readonly type: "f32" | "i32" | "bool";
  readonly zero: string;
  readonly a: TileOperand;
  readonly b: TileOperand;
  readonly result: TileResult;
  /**
   * Whether the first step's fetch is written apart from that of the others: that is faster by a twentieth, but where
   * addresses take computing, drivers compile twice as long.
   */
  readonly peeled: boolean;
  /** Writes lines before the first load: bases of addresses. */
  prepare(): void;
}
