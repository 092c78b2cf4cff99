/**
 * Values that loops over rows of scores compute, for an element or for a whole row. Loops over columns pass elements to
 * each other in local buffers; equal values are numbered once, however often they are computed. Invariant: two values
 * are considered equal only if they are the same operations on equal operands.
 */
import { add, type Dim, freeSymbols, mul, substitute, type Sym } from "../sym/expr.ts";
import type { BufferId, Loop, Piece, ReductionOp, Statement, ValueId } from "../loops/ir.ts";
import { indirect, valuesOf } from "../loops/uses.ts";
import { cloneStatement } from "./statement_list.ts";
import { isSame } from "./row_form.ts";

/** A statement that computes a value, alone. */
export type Plain = Exclude<Statement, { readonly kind: "loop" | "masked" | "store" }>;

type Store = Extract<Statement, { readonly kind: "store" }>;

/** A reduction of the elements of a row. */
interface RowReduction {
  readonly id: ValueId;
  readonly op: ReductionOp;
  readonly value: ValueId;
}

/** The symbols and buffers of loops over rows. */
interface RowSetting {
  readonly row: Sym;
  readonly key: Sym;
  readonly columns: Dim;
  readonly isLocal: (buffer: BufferId) => boolean;
}

/** The values of rows. */
export class RowValues {
  readonly reductions: RowReduction[] = [];
  readonly stores: Store[] = [];
  readonly #nodes = new Map<ValueId, Plain>();
  readonly #known = new Map<string, ValueId>();
  readonly #dims = new Map<Dim, number>();
  readonly #contents = new Map<BufferId, ValueId>();
  /** Values that differ between columns. */
  readonly #elements = new Set<ValueId>();
  #next = 0;

  constructor(readonly setting: RowSetting) {}

  /** Returns the value of a local buffer that holds a product of matrices. */
  product(buffer: BufferId): ValueId {
    const id = this.#next++;
    this.#elements.add(id);
    this.#contents.set(buffer, id);
    return id;
  }

  /** Returns the value that a local buffer holds for an element. */
  held(buffer: BufferId): ValueId | undefined {
    return this.#contents.get(buffer);
  }

  node(id: ValueId): Plain | undefined {
    return this.#nodes.get(id);
  }

  /** Returns whether a value is the same for all columns. */
  isOfRow(id: ValueId): boolean {
    return !this.#elements.has(id);
  }

  /** Adds the statements of a row, whose counters may have other names; false if it does not understand them. */
  take(body: readonly Statement[], row: Sym): boolean {
    const names = new Map<ValueId, ValueId>();
    const inRow = (d: Dim): Dim => substitute(d, (s) => s === row ? this.setting.row : s);
    return body.every((s) => {
      if (s.kind === "loop") return this.#columns(s, names, inRow);
      if (s.kind === "masked") return false;
      if (s.kind !== "store") return !this.#isLocalAccess(s) && this.#define(s, names, inRow);
      const value = names.get(s.value), index = inRow(s.index);
      if (value === undefined || !this.isOfRow(value) || s.mode !== "set" || indirect(index).length > 0) {
        return false;
      }
      this.stores.push({ ...s, index, value });
      return !this.setting.isLocal(s.buffer);
    });
  }

  /** Adds a value, or finds an equal one. */
  add(s: Plain): ValueId {
    const text = this.#textOf(s), known = this.#known.get(text);
    if (known !== undefined) return known;
    const id = this.#next++;
    this.#known.set(text, id);
    this.#nodes.set(id, { ...s, id });
    const walks = (s.kind === "load" || s.kind === "index") && freeSymbols(s.index).has(this.setting.key);
    if (walks || valuesOf(s).some((arg) => this.#elements.has(arg))) this.#elements.add(id);
    return id;
  }

  /** Values as statements in terms of given ones, and their stores; undefined if they read anything else. */
  piece(value: ValueId, given: readonly ValueId[], stores: readonly Store[] = []): Piece | undefined {
    const body = this.statements([value, ...stores.map((s) => s.value)], given);
    return body && { body: [...body, ...stores], value };
  }

  /** The statements that compute values from given ones; undefined if they read anything else. */
  statements(values: readonly ValueId[], given: readonly ValueId[]): readonly Statement[] | undefined {
    const needed = this.needed(values, given), free = new Set(given);
    if (![...needed].every((id) => free.has(id) || this.#nodes.has(id))) return undefined;
    return [...this.#nodes].flatMap(([id, node]) => needed.has(id) && !free.has(id) ? [node] : []);
  }

  /** Values and everything they depend on, down to the given ones. */
  needed(values: readonly ValueId[], given: readonly ValueId[]): ReadonlySet<ValueId> {
    const needed = new Set(values), free = new Set(given);
    for (const id of needed) {
      const node = free.has(id) ? undefined : this.#nodes.get(id);
      for (const arg of node ? valuesOf(node) : []) needed.add(arg);
    }
    return needed;
  }

  /** The float32 values of rows that are loaded from memory and on which some values of elements depend. */
  ofRows(values: readonly ValueId[]): readonly ValueId[] {
    const seen = new Set(values), found = new Set<ValueId>();
    const reads = (id: ValueId): boolean =>
      [...this.needed([id], [])].some((each) => this.#nodes.get(each)?.kind === "load");
    for (const id of seen) {
      const node = this.#nodes.get(id);
      if (this.isOfRow(id) && node?.dtype === "float32" && reads(id)) found.add(id);
      else if (node) { for (const arg of valuesOf(node)) seen.add(arg); }
    }
    return [...found];
  }

  /** Returns whether any memory that it reads is also stored to. */
  readsStored(): boolean {
    const stored = new Set(this.stores.map(({ buffer }) => buffer));
    return [...this.#nodes.values()].some((s) => s.kind === "load" && stored.has(s.buffer));
  }

  #columns(loop: Loop, names: Map<ValueId, ValueId>, inRow: (d: Dim) => Dim): boolean {
    const { key, row, columns, isLocal } = this.setting, { symbol, size } = loop.axis;
    if (!isSame(size, columns) || loop.carried.length > 0 || loop.folds || loop.order === "sequential") {
      return false;
    }
    const at = (d: Dim): Dim => substitute(inRow(d), (s) => s === symbol ? key : s);
    const place = add(mul(row, columns), key);
    for (const s of loop.body) {
      if (s.kind === "loop" || s.kind === "masked") return false;
      if (!this.#isLocalAccess(s)) {
        if (s.kind === "store" || !this.#define(s, names, at)) return false;
        continue;
      }
      if (s.kind !== "load" && s.kind !== "store") return false;
      if (at(s.index) !== place || !isLocal(s.buffer)) return false;
      const value = s.kind === "load" ? this.#contents.get(s.buffer) : names.get(s.value);
      if (value === undefined) return false;
      if (s.kind === "load") names.set(s.id, value);
      else if (s.mode !== "set") return false;
      else this.#contents.set(s.buffer, value);
    }
    for (const { id, op, value, index } of loop.reductions) {
      const of = names.get(value);
      if (of === undefined || index !== undefined) return false;
      this.reductions.push({ id: this.#next, op, value: of });
      names.set(id, this.#next++);
    }
    return true;
  }

  #isLocalAccess(s: Statement): boolean {
    return (s.kind === "load" || s.kind === "store") && this.setting.isLocal(s.buffer);
  }

  #define(s: Plain, names: Map<ValueId, ValueId>, at: (d: Dim) => Dim): boolean {
    const renamed = this.#renamed(s, names, at);
    if (!renamed) return false;
    names.set(s.id, this.add(renamed));
    return true;
  }

  #renamed(s: Plain, names: ReadonlyMap<ValueId, ValueId>, at: (d: Dim) => Dim): Plain | undefined {
    const of = (id: ValueId) => names.get(id) ?? -1;
    if (s.kind === "load" || s.kind === "index") {
      return indirect(s.index).length === 0 ? { ...s, index: at(s.index) } : undefined;
    }
    if (valuesOf(s).some((id) => !names.has(id))) return undefined;
    return cloneStatement(s, { use: of, define: (id) => id, replace: (symbol) => symbol });
  }

  #textOf(s: Plain): string {
    const own = s.kind === "constant"
      ? Object.is(s.value, -0) ? "-0" : `${s.value}`
      : s.kind === "load"
      ? `b${s.buffer} ${this.#numberOf(s.index)}`
      : s.kind === "index"
      ? `${this.#numberOf(s.index)}`
      : `${s.kind === "scalar" ? s.op : ""} ${valuesOf(s)}`;
    return `${s.kind} ${s.dtype} ${own}`;
  }

  /** Equal expressions are the same object. */
  #numberOf(d: Dim): number {
    const known = this.#dims.get(d) ?? this.#dims.size;
    this.#dims.set(d, known);
    return known;
  }
}
