/**
 * Narrows integers to 32 bits: int64 remains only where a value may not fit; on targets without int64 only the low 32
 * bits are computed. Invariant: values keep their ids, so that indices refer to the same values; memory and
 * reductions of wide values stay int64.
 */
import { isInteger, type ValueType } from "../base/dtype.ts";
import { InternalError } from "../base/errors.ts";
import type { Loop, Program, Reduction, Statement, ValueId } from "../loops/ir.ts";
import { cachedRewrite } from "../loops/canonical_form.ts";
import { resultType } from "../loops/scalar.ts";
import { nextId, valueTypes } from "../loops/value_types.ts";
import { boundedIntegers, boundsWithin } from "./value_bounds.ts";
import { rewriteNests } from "./kernels.ts";
import type { Target } from "./target.ts";

/** Largest magnitude that fits: the least int32 has no negation. */
const LARGEST = 2 ** 31 - 1;

/** Narrows the integers of a program. */
export function narrowIntegers(program: Program, { integers, sizeLimit }: Target): Program {
  const narrowed = cachedRewrite((body) => {
    const types = valueTypes(body), wide = [...types].flatMap(([id, dtype]) => dtype === "int64" ? [id] : []);
    if (wide.length === 0) return body;
    if (integers === 32) return new Truncation(body).statements(body);
    const known = boundedIntegers(body, LARGEST, boundsWithin(body, program.sizes, sizeLimit));
    const small = new Set(wide.filter((id) => known.has(id)));
    return small.size === 0 ? body : new Narrowing(body, small).statements(body);
  });
  return rewriteNests(program, narrowed);
}

type Plain = Exclude<Statement, Loop>;

/** Rewrites statements in order. */
abstract class Rewriting {
  #next: ValueId;
  /** Statements to insert before the one being rewritten. */
  protected ahead: Statement[] = [];

  constructor(body: readonly Statement[]) {
    this.#next = nextId(body);
  }

  protected fresh(): ValueId {
    return this.#next++;
  }

  statements(list: readonly Statement[], end: () => void = () => {}): readonly Statement[] {
    const around = this.ahead, made: Statement[] = this.ahead = [];
    for (const s of list) {
      if (s.kind === "loop") made.push(this.loop(s));
      else made.push(...this.plain(s));
    }
    end();
    this.ahead = around;
    return made;
  }

  protected abstract loop(loop: Loop): Loop;
  protected abstract plain(s: Plain): readonly Statement[];
}

/** Turns values that are known to fit into int32. */
class Narrowing extends Rewriting {
  readonly #constants = new Map<ValueId, number>();

  constructor(body: readonly Statement[], readonly small: ReadonlySet<ValueId>) {
    super(body);
  }

  #type(id: ValueId, dtype: ValueType): ValueType {
    return this.small.has(id) ? "int32" : dtype;
  }

  /** A value as int64. */
  #wide(id: ValueId): ValueId {
    if (!this.small.has(id)) return id;
    const constant = this.#constants.get(id), made = this.fresh();
    this.ahead.push(
      constant === undefined
        ? { kind: "cast", id: made, value: id, dtype: "int64" }
        : { kind: "constant", id: made, value: BigInt(constant), dtype: "int64" },
    );
    return made;
  }

  /** An operand, converted to this type. */
  #operand(id: ValueId, dtype: ValueType): ValueId {
    return dtype === "int64" ? this.#wide(id) : id;
  }

  protected loop(loop: Loop): Loop {
    const carried = loop.carried.map((c) => ({ ...c, initial: this.#operand(c.initial, c.dtype) }));
    let reductions = loop.reductions, nexts = carried;
    const body = this.statements(loop.body, () => {
      reductions = loop.reductions.map((r) => this.#reduction(r));
      nexts = carried.map((c) => ({ ...c, next: this.#operand(c.next, c.dtype) }));
    });
    return { ...loop, body, reductions, carried: nexts };
  }

  #reduction(r: Reduction): Reduction {
    const dtype = this.#type(r.id, r.dtype);
    if (r.index === undefined) return { ...r, dtype, value: this.#operand(r.value, dtype) };
    return { ...r, dtype, index: this.#operand(r.index, dtype) };
  }

  protected plain(s: Plain): readonly Statement[] {
    switch (s.kind) {
      case "constant":
        if (!this.small.has(s.id)) return [s];
        this.#constants.set(s.id, Number(s.value));
        return [{ ...s, dtype: "int32", value: Number(s.value) }];
      case "index":
      case "cast":
        return [{ ...s, dtype: this.#type(s.id, s.dtype) }];
      case "load":
        return [s];
      case "store":
        return [{ ...s, value: this.#wide(s.value) }];
      case "select": {
        const dtype = this.#type(s.id, s.dtype);
        const [then, otherwise] = [s.then, s.otherwise].map((id) => this.#operand(id, dtype));
        if (then === undefined || otherwise === undefined) throw new InternalError("Expected two operands");
        return [{ ...s, dtype, then, otherwise }];
      }
      case "masked": {
        const dtype = this.#type(s.id, s.dtype), otherwise = this.#operand(s.otherwise, dtype);
        let { value } = s;
        const body = this.statements(s.body, () => value = this.#operand(value, dtype));
        return [{ ...s, dtype, otherwise, body, value }];
      }
      case "scalar":
        return this.#scalar(s);
      default:
        return s satisfies never;
    }
  }

  /**
   * Computes in 32 bits if operands and result fit. The results of integer comparisons are as narrow as their operands.
   */
  #scalar(s: Plain & { readonly kind: "scalar" }): readonly Statement[] {
    const small = this.small.has(s.id);
    if (s.args.every((id) => this.small.has(id)) && (small || s.dtype === "bool")) {
      return [{ ...s, dtype: small ? "int32" : s.dtype }];
    }
    const wide = { ...s, args: s.args.map((id) => this.#wide(id)) };
    if (!small) return [wide];
    const id = this.fresh();
    return [{ ...wide, id }, { kind: "cast", id: s.id, value: id, dtype: "int32" }];
  }
}

const narrow = (dtype: ValueType): ValueType => dtype === "int64" ? "int32" : dtype;

/** Keeps the low 32 bits of every int64, which is all that languages without int64 can express. */
class Truncation extends Rewriting {
  readonly #types: ReadonlyMap<ValueId, ValueType>;

  constructor(body: readonly Statement[]) {
    super(body);
    this.#types = valueTypes(body);
  }

  protected loop(loop: Loop): Loop {
    return {
      ...loop,
      body: this.statements(loop.body),
      reductions: loop.reductions.map((r) => ({ ...r, dtype: narrow(r.dtype) })),
      carried: loop.carried.map((c) => ({ ...c, dtype: narrow(c.dtype) })),
    };
  }

  protected plain(s: Plain): readonly Statement[] {
    switch (s.kind) {
      case "constant":
        return [s.dtype === "int64" ? { ...s, dtype: "int32", value: truncated(Number(s.value)) } : s];
      case "index":
      case "cast":
      case "select":
        return [{ ...s, dtype: narrow(s.dtype) }];
      case "masked":
        return [{ ...s, dtype: narrow(s.dtype), body: this.statements(s.body) }];
      case "scalar": {
        const [first] = s.args, operand = first === undefined ? undefined : this.#types.get(first);
        if (operand === undefined) throw new InternalError(`Expected operands of ${s.op} but found none`);
        return [isInteger(operand) ? { ...s, dtype: resultType(s.op, narrow(operand)) } : s];
      }
      case "load": {
        if (s.dtype !== "int64") return [s];
        const id = this.fresh();
        return [{ ...s, id }, { kind: "cast", id: s.id, value: id, dtype: "int32" }];
      }
      case "store": {
        if (this.#types.get(s.value) !== "int64") return [s];
        const value = this.fresh();
        return [{ kind: "cast", id: value, value: s.value, dtype: "int64" }, { ...s, value }];
      }
      default:
        return s satisfies never;
    }
  }
}

/** Constants beyond 32 bits stand for infinity and saturate; others keep their bits. */
function truncated(value: number): number {
  if (Math.abs(value) >= 2 ** 32) return Math.min(2 ** 31 - 1, Math.max(-(2 ** 31), value));
  return Number(BigInt.asIntN(32, BigInt(value)));
}
