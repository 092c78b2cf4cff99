/**
 * The position of a kernel's statement: outside of lanes, in four lanes, or in one; and the writer of statements
 * there.
 */
import type { ValueType } from "../../lib/base/dtype.ts";
import type { Statement, ValueId } from "../../lib/loops/ir.ts";
import type { Sym } from "../../lib/sym/expr.ts";
import type { Addresses } from "./addresses.ts";
import type { FunctionBody } from "./function_body.ts";
import type { Lanes, LaneValue } from "./lanes.ts";

/** Number of elements of values at a point: all lanes equal, four elements, or one in lane 0. */
type Width = "equal" | "four" | "one";

/** A point in a kernel. */
export interface Place {
  readonly width: Width;
  /** The counter of the enclosing vector loop. */
  readonly axis?: Sym;
  /** In four lanes: the mask of those that may load and store. */
  readonly guard?: number;
  /** In four lanes: the number of elements to store, capped at four; undefined for all. */
  readonly rest?: number;
}

/** Returns whether all four lanes are used. */
export const isFour = ({ width }: Place): boolean => width === "four";

/** Writes the statements of a kernel into a function. */
export interface StatementWriter {
  readonly body: FunctionBody;
  readonly lanes: Lanes;
  readonly at: Addresses;
  statements(list: readonly Statement[], place: Place): void;
  value(id: ValueId): LaneValue;
  define(id: ValueId, value: LaneValue): void;
  /** Returns the type of a value's lanes. */
  typeOf(id: ValueId): ValueType;
}
