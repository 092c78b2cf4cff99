/**
 * Columns of scores that a causal mask hides from a whole block of rows: they are neither computed nor looked at. Input:
 * the kernels of a block of rows: a product into a local buffer, loops over its rows, a product of what they leave; output:
 * the same on the columns up to the last row of the block. Invariant: this is done only where hidden elements are −∞ to the
 * maximum of their row, 0 to its sum and 0 to the last product, whatever the scores are. As wherever attention is causal,
 * it does not matter what the values hold at hidden places.
 */
import { isInteger, type ValueType } from "../base/dtype.ts";
import { add, boundsOf, type Dim, min, mul, sub, substitute, type Sym } from "../sym/expr.ts";
import type { BufferId, BufferView, ExternKernel, Kernel, Loop, Statement, ValueId } from "../loops/ir.ts";
import type { ScalarOpName } from "../loops/scalar.ts";
import { axisOf } from "./cut_loop.ts";
import { isSame } from "./row_form.ts";

/** A block of rows, and how many columns its scores have. */
export interface CausalBlock {
  /** The row behind its last. */
  readonly end: Dim;
  readonly columns: Dim;
  readonly isLocal: (buffer: BufferId) => boolean;
}

/** The kernels without hidden columns; as they are where these may matter. */
export function withoutHidden(kernels: readonly Kernel[], block: CausalBlock): readonly Kernel[] {
  const [scores, ...others] = kernels, at = others.findIndex(({ kind }) => kind === "extern");
  const last = others[at], seen = min(block.end, block.columns);
  if (scores?.kind !== "extern" || last?.kind !== "extern" || seen === block.columns) return kernels;
  const [weights] = last.inputs, hidden = new HiddenColumns(block, seen), rows: Kernel[] = [];
  for (const kernel of others.slice(0, at)) {
    const body = kernel.kind === "loops" ? hidden.rows(kernel.body) : undefined;
    if (kernel.kind !== "loops" || !body) return kernels;
    rows.push({ ...kernel, body });
  }
  if (!weights || !hidden.isZero(weights.buffer)) return kernels;
  return [ofColumns(scores, seen), ...rows, ofDepth(last, seen), ...others.slice(at + 1)];
}

const resized = (view: BufferView, dim: number, size: Dim): BufferView => ({
  ...view,
  shape: view.shape.with(dim, size),
});

/** A product with fewer columns. */
function ofColumns(kernel: ExternKernel, columns: Dim): ExternKernel {
  const [a, b] = kernel.inputs, [out] = kernel.outputs;
  if (!a || !b || !out) return kernel;
  return { ...kernel, inputs: [a, resized(b, -1, columns)], outputs: [resized(out, -1, columns)] };
}

/** A product with shorter sums. */
function ofDepth(kernel: ExternKernel, depth: Dim): ExternKernel {
  const [a, b] = kernel.inputs;
  if (!a || !b) return kernel;
  return { ...kernel, inputs: [resized(a, -1, depth), resized(b, -2, depth)] };
}

/** What is known of a value at all hidden columns, or of what is the same in a whole row. */
type Known =
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "index"; readonly index: Dim }
  /** Of a row: the greatest of what is −∞ where it is hidden; the sum of exponentials; one divided by that. */
  | { readonly kind: "greatest" | "sum" | "inverse" };

const numberOf = (known: Known | undefined): number | undefined =>
  known?.kind === "number" ? known.value : undefined;

/** Follows what hidden elements are through loops over rows. */
class HiddenColumns {
  readonly #buffers = new Map<BufferId, Known | undefined>();
  readonly #position: Sym;
  #values = new Map<ValueId, Known>();
  #exponentials = new Set<ValueId>();

  constructor(readonly block: CausalBlock, readonly seen: Dim) {
    this.#position = axisOf("d", block.columns).symbol;
  }

  isZero(buffer: BufferId): boolean {
    return numberOf(this.#buffers.get(buffer)) === 0;
  }

  /** The statements of a kernel on seen columns; undefined where hidden ones may matter. */
  rows(body: readonly Statement[]): readonly Statement[] | undefined {
    this.#values = new Map();
    this.#exponentials = new Set();
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

  /** A statement outside of loops over columns; false where it looks at elements. */
  #plain(s: Statement): boolean {
    if (s.kind === "loop" || s.kind === "masked") return false;
    if ((s.kind === "load" || s.kind === "store") && this.block.isLocal(s.buffer)) return false;
    if (s.kind !== "store") this.#define(s.id, this.#valueOf(s, (index) => index));
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
      const contribution = numberOf(this.#values.get(value));
      if (op === "max" && contribution === -Infinity) this.#define(id, { kind: "greatest" });
      else if (op !== "sum" || contribution !== 0) return false;
      else if (this.#exponentials.has(value)) this.#define(id, { kind: "sum" });
      return true;
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
        return this.block.isLocal(s.buffer) ? this.#buffers.get(s.buffer) : undefined;
      case "select": {
        const condition = numberOf(of(s.condition)), [then, otherwise] = [of(s.then), of(s.otherwise)];
        if (condition !== undefined) return condition ? then : otherwise;
        const [a, b] = [numberOf(then), numberOf(otherwise)];
        return a !== undefined && Object.is(a, b) ? then : undefined;
      }
      case "scalar":
        if (s.op === "exp" || s.op === "exp2") this.#exponentials.add(s.id);
        return computed(s.op, s.args.map(of));
      default:
        return s satisfies never;
    }
  }
}

/** A constant; an integer is one of the indices. */
function fromConstant(value: number | bigint | boolean, dtype: ValueType): Known {
  return isInteger(dtype)
    ? { kind: "index", index: Number(value) }
    : { kind: "number", value: Number(value) };
}

/** What an operation gives where that follows from the kinds of its operands. */
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
      return x === -Infinity ? number(0) : undefined;
    // −∞ less the maximum of the row is −∞, unless the whole row is NaN
    case "sub":
      return x === -Infinity && b?.kind === "greatest" ? number(-Infinity) : undefined;
    // The sum of exponentials is at least 1, unless the whole row is NaN
    case "mul":
      return (x === 0 && b?.kind === "inverse") || (y === 0 && a?.kind === "inverse")
        ? number(0)
        : x === -Infinity && y !== undefined && y > 0
        ? number(-Infinity)
        : undefined;
    case "div":
      if (b?.kind !== "sum") return undefined;
      return x === 0 ? number(0) : x === 1 ? { kind: "inverse" } : undefined;
    default:
      return undefined;
  }
}

/** What an operation on positions gives, where that is the same for all hidden columns and all rows of the block. */
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
