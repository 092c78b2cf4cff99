/**
 * Builds statements for passes: operations on values append statements to a list and return the ids of their results.
 */
import { isFloat, type ValueType } from "../base/dtype.ts";
import type { ReductionOp, Statement, ValueId } from "../loops/ir.ts";
import { isPosition } from "../loops/ir.ts";
import { combinationOf } from "../loops/reductions.ts";
import type { ScalarOpName } from "../loops/scalar.ts";

/** The accumulated value of a reduction, or a contribution to it. */
export interface PartialResult {
  readonly value: ValueId;
  /** argmax, argmin: the position of `value`. */
  readonly index?: ValueId;
}

/** A reduction, and the type of the values that it compares or combines. */
interface Combining {
  readonly op: ReductionOp;
  readonly dtype: ValueType;
  readonly operand: ValueType;
}

/** Builds statements with fresh ids. */
export class StatementList {
  constructor(
    readonly out: Statement[],
    readonly fresh: (dtype: ValueType) => ValueId,
  ) {}

  constant(value: number | bigint | boolean, dtype: ValueType): ValueId {
    const id = this.fresh(dtype);
    this.out.push({ kind: "constant", id, value, dtype });
    return id;
  }

  scalar(op: ScalarOpName, args: readonly ValueId[], dtype: ValueType): ValueId {
    const id = this.fresh(dtype);
    this.out.push({ kind: "scalar", id, op, args, dtype });
    return id;
  }

  select(condition: ValueId, [then, otherwise]: readonly [ValueId, ValueId], dtype: ValueType): ValueId {
    const id = this.fresh(dtype);
    this.out.push({ kind: "select", id, condition, then, otherwise, dtype });
    return id;
  }

  /**
   * One step of a reduction. Of equal extremes the first one stays; NaN counts as extreme. `empty`: whether nothing has
   * been combined so far.
   */
  combined(
    r: Combining,
    [before, given]: readonly [PartialResult, PartialResult],
    empty?: ValueId,
  ): PartialResult {
    const { op, dtype, operand } = r;
    if (!isPosition(op)) {
      return { value: this.scalar(combinationOf(op, dtype), [before.value, given.value], dtype) };
    }
    let take = this.scalar(op === "argmax" ? "gt" : "lt", [given.value, before.value], "bool");
    if (isFloat(operand)) {
      const now = this.scalar("isNan", [given.value], "bool");
      const ever = this.scalar("isNan", [before.value], "bool");
      const first = this.scalar("and", [now, this.scalar("not", [ever], "bool")], "bool");
      take = this.scalar("or", [take, first], "bool");
    }
    if (empty !== undefined) take = this.scalar("or", [empty, take], "bool");
    const { index = given.value } = given, { index: known = before.value } = before;
    return {
      value: this.select(take, [given.value, before.value], operand),
      index: this.select(take, [index, known], dtype),
    };
  }
}
