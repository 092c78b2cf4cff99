/**
 * Skips the columns of scores that a causal mask hides from a whole block of rows. The kernels of a block (products
 * into local buffers, loops over their rows, products of the results) run on the columns up to the last row of the
 * block. Invariant: this is done only if hidden elements contribute −∞ to the maximum of their row, 0 to its sums and 0
 * to the other products, whatever the scores are. As usual in causal attention, the values at hidden positions do not
 * matter: a weight of zero stays zero, whatever it is multiplied by. A NaN row makes gradients NaN at visible columns,
 * but not at those hidden from the whole block.
 */
import { isInteger, type ValueType } from "../base/dtype.ts";
import { add, boundsOf, type Dim, freeSymbols, min, mul, sub, substitute, type Sym } from "../sym/expr.ts";
import type { BufferId, BufferView, ExternKernel, Kernel, Loop, Statement, ValueId } from "../loops/ir.ts";
import { usesOf } from "../loops/uses.ts";
import type { ScalarOpName } from "../loops/scalar.ts";
import { axisOf } from "./strip_mining.ts";
import type { Found } from "./row_chain.ts";
import { isSame, type RowBlock } from "./row_form.ts";

/** A block of rows, and the number of columns of its scores. */
interface CausalBlock {
  /** One past its last row. */
  readonly end: Dim;
  readonly columns: Dim;
  readonly isLocal: (buffer: BufferId) => boolean;
}

/** The kernels without hidden columns; unchanged if these may matter. */
export function withoutMaskedColumns(kernels: readonly Kernel[], block: CausalBlock): readonly Kernel[] {
  const seen = min(block.end, block.columns);
  if (seen === block.columns) return kernels;
  const hidden = new MaskedColumns(block, seen), made: Kernel[] = [];
  for (const kernel of kernels) {
    const own = hidden.kernel(kernel);
    if (!own) return kernels;
    made.push(own);
  }
  return made;
}

/** Returns whether the first steps of a chain may ignore the columns after the last row of each block. */
export function masksColumns(
  { chain, scores: { columns, space }, isLocal }: Pick<Found, "chain" | "scores" | "isLocal">,
  { steps, rows }: { readonly steps: number; readonly rows: number },
): boolean {
  const first = mul(axisOf("p", space.rows).symbol, rows);
  const block: RowBlock = {
    ...space,
    matrix: space.batch === 1 ? 0 : axisOf("b", space.batch).symbol,
    first,
    count: min(rows, sub(space.rows, first)),
  };
  const kernels = chain.steps.slice(0, steps).map(({ forBlock }) => forBlock(block, isLocal));
  return withoutMaskedColumns(kernels, { end: add(first, rows), columns, isLocal }) !== kernels;
}

const resized = (view: BufferView, dim: number, size: Dim): BufferView => ({
  ...view,
  shape: view.shape.with(dim, size),
});

/** Known property of a value at all hidden columns. */
type Known =
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "index"; readonly index: Dim }
  /** Constant along a row. */
  | { readonly kind: "row" }
  /** An exponential of −∞ times anything: contributes nothing. */
  | { readonly kind: "vanished" };

const ROW: Known = { kind: "row" };

const numberOf = (known: Known | undefined): number | undefined =>
  known?.kind === "number" ? known.value : known?.kind === "vanished" ? 0 : undefined;

/** Tracks the values of hidden elements through loops over rows. */
class MaskedColumns {
  readonly #buffers = new Map<BufferId, Known | undefined>();
  readonly #position: Sym;
  #values = new Map<ValueId, Known>();

  constructor(readonly block: CausalBlock, readonly seen: Dim) {
    this.#position = axisOf("d", block.columns).symbol;
  }

  /** A kernel on visible columns; undefined if hidden ones may matter. */
  kernel(kernel: Kernel): Kernel | undefined {
    if (kernel.kind === "extern") return this.#product(kernel);
    if (![...usesOf(kernel).all].some(this.block.isLocal)) return kernel;
    const body = this.#rows(kernel.body);
    return body && { ...kernel, body };
  }

  /** A product of fewer columns, with shorter sums, or accumulating into fewer results. */
  #product(kernel: ExternKernel): ExternKernel | undefined {
    const { seen, block: { columns, isLocal } } = this, [a, b] = kernel.inputs, [out] = kernel.outputs;
    if (!a || !b || !out || kernel.call.op !== "matmul") return undefined;
    const holds = (view: BufferView, dim: -1 | -2) => isSame(view.shape.at(dim) ?? 1, columns);
    const vanishes = (view: BufferView, dim: -1 | -2) =>
      holds(view, dim) && numberOf(this.#buffers.get(view.buffer)) === 0;
    if (kernel.call.accumulate) {
      const [rows, others] = [isLocal(a.buffer), isLocal(b.buffer)];
      if ((rows && !vanishes(a, -2)) || (others && !vanishes(b, -1))) return undefined;
      const inputs = [rows ? resized(a, -2, seen) : a, others ? resized(b, -1, seen) : b];
      const tall = rows ? resized(out, -2, seen) : out;
      return { ...kernel, inputs, outputs: [others ? resized(tall, -1, seen) : tall] };
    }
    if (isLocal(a.buffer)) {
      return vanishes(a, -1)
        ? { ...kernel, inputs: [resized(a, -1, seen), resized(b, -2, seen)] }
        : undefined;
    }
    if (!isLocal(out.buffer)) return kernel;
    if (!holds(out, -1)) return undefined;
    return { ...kernel, inputs: [a, resized(b, -1, seen)], outputs: [resized(out, -1, seen)] };
  }

  /** The loops of a kernel on visible columns. */
  #rows(body: readonly Statement[]): readonly Statement[] | undefined {
    this.#values = new Map();
    const row = body.at(-1);
    if (row?.kind !== "loop" || !body.slice(0, -1).every((s) => this.#plain(s))) return undefined;
    const inside: Statement[] = [];
    for (const s of row.body) {
      if (s.kind === "loop") {
        if (!this.#columns(s, row.axis.symbol)) return undefined;
        inside.push({ ...s, axis: { ...s.axis, size: this.seen } });
      } else {
        if (!this.#plain(s)) return undefined;
        inside.push(s);
      }
    }
    return [...body.slice(0, -1), { ...row, body: inside }];
  }

  /** Tracks a statement outside of loops over columns; false if it reads elements. */
  #plain(s: Statement): boolean {
    if (s.kind === "loop" || s.kind === "masked") return false;
    if ((s.kind === "load" || s.kind === "store") && this.block.isLocal(s.buffer)) return false;
    if (s.kind !== "store") this.#define(s.id, this.#valueOf(s, (index) => index) ?? ROW);
    return true;
  }

  #columns(loop: Loop, row: Sym): boolean {
    const { block: { columns, end, isLocal } } = this, { symbol, size } = loop.axis;
    if (!isSame(size, columns) || loop.carried.length > 0) return false;
    const place = add(mul(row, columns), symbol), hidden = add(end, this.#position);
    const at = (index: Dim) => substitute(index, (s) => s === symbol ? hidden : s);
    for (const s of loop.body) {
      if (s.kind === "loop" || s.kind === "masked") return false;
      const touches = s.kind === "load" || s.kind === "store";
      if (touches && isLocal(s.buffer) && s.index !== place) return false;
      if (s.kind !== "store") this.#define(s.id, this.#valueOf(s, at));
      else if (!isLocal(s.buffer) || s.mode !== "set") return false;
      else this.#buffers.set(s.buffer, this.#values.get(s.value));
    }
    return loop.reductions.every(({ id, op, value }) => {
      this.#define(id, ROW);
      const contribution = numberOf(this.#values.get(value));
      return (op === "max" && contribution === -Infinity) || (op === "sum" && contribution === 0);
    });
  }

  #define(id: ValueId, known: Known | undefined): void {
    if (known) this.#values.set(id, known);
  }

  #valueOf(
    s: Exclude<Statement, { readonly kind: "loop" | "masked" | "store" }>,
    at: (index: Dim) => Dim,
  ): Known | undefined {
    const of = (id: ValueId) => this.#values.get(id);
    switch (s.kind) {
      case "constant":
        return fromConstant(s.value, s.dtype);
      case "index":
        return { kind: "index", index: at(s.index) };
      case "cast":
        return of(s.value);
      case "load":
        if (this.block.isLocal(s.buffer)) return this.#buffers.get(s.buffer);
        return freeSymbols(at(s.index)).has(this.#position) ? undefined : ROW;
      case "select": {
        const chosen = of(s.condition), condition = numberOf(chosen);
        const [then, otherwise] = [of(s.then), of(s.otherwise)];
        if (condition !== undefined) return condition ? then : otherwise;
        const [a, b] = [numberOf(then), numberOf(otherwise)];
        if (a === undefined || !Object.is(a, b)) return ofRows([chosen, then, otherwise]);
        return then?.kind === "number" ? then : otherwise;
      }
      case "scalar":
        return computed(s.op, s.args.map(of)) ?? ofRows(s.args.map(of));
      default:
        return s satisfies never;
    }
  }
}

/** A constant; integers are tracked as index expressions. */
function fromConstant(value: number | bigint | boolean, dtype: ValueType): Known {
  return isInteger(dtype)
    ? { kind: "index", index: Number(value) }
    : { kind: "number", value: Number(value) };
}

/** Returns the result of operations on numbers and row values only. */
const ofRows = (operands: readonly (Known | undefined)[]): Known | undefined =>
  operands.every((each) => each?.kind === "row" || each?.kind === "number") ? ROW : undefined;

/** Returns the kind of an operation's result, if it follows from the kinds of its operands. */
function computed(op: ScalarOpName, [a, b]: readonly (Known | undefined)[]): Known | undefined {
  const number = (value: number): Known => ({ kind: "number", value });
  if (a?.kind === "index" && b?.kind === "index") return ofIndices(op, a.index, b.index);
  const [x, y] = [numberOf(a), numberOf(b)];
  switch (op) {
    case "not":
      return x === undefined ? undefined : number(1 - x);
    case "and":
      return x === 0 || y === 0 ? number(0) : x === 1 && y === 1 ? number(1) : undefined;
    case "or":
      return x === 1 || y === 1 ? number(1) : x === 0 && y === 0 ? number(0) : undefined;
    case "exp":
    case "exp2":
      return x === -Infinity ? { kind: "vanished" } : undefined;
    // −∞ minus the maximum of a row is −∞, and so is −∞ minus the logarithm of a sum
    case "sub":
      if (x === -Infinity && b?.kind === "row") return number(-Infinity);
      return a?.kind === "vanished" && b?.kind === "vanished" ? a : undefined;
    case "mul":
      if (a?.kind === "vanished" || b?.kind === "vanished") return { kind: "vanished" };
      if (x === 0 && y !== undefined && isFinite(y)) return number(0);
      return x === -Infinity && y !== undefined && y > 0 ? number(-Infinity) : undefined;
    case "div":
      return a?.kind === "vanished" ? a : undefined;
    default:
      return undefined;
  }
}

/**
 * Returns the result of an operation on positions if it is the same for all hidden columns and all rows of the block.
 */
function ofIndices(op: ScalarOpName, a: Dim, b: Dim): Known | undefined {
  const [low, high] = boundsOf(sub(a, b));
  const truth = (yes: boolean, no: boolean): Known | undefined =>
    yes || no ? { kind: "number", value: yes ? 1 : 0 } : undefined;
  switch (op) {
    case "lt":
      return truth(high < 0, low >= 0);
    case "le":
      return truth(high <= 0, low > 0);
    case "gt":
      return truth(low > 0, high <= 0);
    case "ge":
      return truth(low >= 0, high < 0);
    case "eq":
      return truth(false, low > 0 || high < 0);
    case "ne":
      return truth(low > 0 || high < 0, false);
    case "add":
      return { kind: "index", index: add(a, b) };
    case "sub":
      return { kind: "index", index: sub(a, b) };
    default:
      return undefined;
  }
}
