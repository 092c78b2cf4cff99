/**
 * Vector loops whose bodies are not straight-line, in blocks of lanes: a loop over blocks in which each run of the body
 * is a vector loop. Local buffers hold values that other runs need, and those that inner loops carry or reduce for each
 * lane. Invariant: that of lane_forms.ts.
 */
import type { DType, ValueType } from "../base/dtype.ts";
import { InternalError } from "../base/errors.ts";
import { add, ceilDiv, type Dim, min, mul, sub, substitute, type Sym } from "../sym/expr.ts";
import {
  type BufferId,
  type Elements,
  type Fold,
  isPosition,
  type Loop,
  type Reduction,
  type Statement,
  type ValueId,
} from "../loops/ir.ts";
import { loopOver, storeOf } from "../loops/nest.ts";
import { LANES, neutralOf } from "../loops/reductions.ts";
import { cloneStatement, StatementList } from "./statement_list.ts";
import { axisOf } from "./strip_mining.ts";
import type { LaneForm } from "./lane_forms.ts";
import type { Advance, Item } from "./lane_runs.ts";

/** Lanes of a block. */
const BLOCK = 16 * LANES;

/** The context in which blocks are built. */
export interface LaneRoom {
  /** A new value. */
  readonly fresh: (dtype: ValueType) => ValueId;
  readonly typeOf: (id: ValueId) => ValueType;
  /** A new local buffer. */
  readonly local: (dtype: DType, length: number) => BufferId;
}

/** The loop over blocks. */
export const inBlocks = (
  loop: Loop,
  form: Extract<LaneForm, { readonly kind: "blocks" }>,
  room: LaneRoom,
): Loop => new LaneBlocks(loop, form, room).loop();

class LaneBlocks {
  /** Buffers of values passed between runs, and of the best values so far of argmax and argmin. */
  readonly #arrays = new Map<ValueId, BufferId>();
  readonly #bests = new Map<ValueId, BufferId>();
  readonly #over: { readonly symbol: Sym; readonly size: Dim };
  readonly #from: Dim;
  readonly #count: Dim;

  constructor(
    readonly whole: Loop,
    readonly form: Extract<LaneForm, { readonly kind: "blocks" }>,
    readonly room: LaneRoom,
  ) {
    const { size } = whole.axis, blocks = ceilDiv(size, BLOCK);
    this.#over = axisOf("b", blocks);
    this.#from = blocks === 1 ? 0 : mul(this.#over.symbol, BLOCK);
    const even = typeof size === "number" && size % BLOCK === 0;
    this.#count = even ? BLOCK : min(BLOCK, sub(size, this.#from));
  }

  loop(): Loop {
    const { whole, form: { plan, direct } } = this, { reductions } = whole;
    for (const id of plan.crossing) this.#arrays.set(id, this.room.local(this.room.typeOf(id), BLOCK));
    const body = this.#items(plan.items);
    const folds = reductions.map((r): Fold => {
      const load = direct.get(r.value), { id, op, dtype } = r;
      const elements = (value: ValueId): Elements => ({ buffer: this.#filled(value, body), index: 0 });
      const values = load
        ? {
          buffer: load.buffer,
          index: substitute(load.index, (s) => s === whole.axis.symbol ? this.#from : s),
        }
        : elements(r.value);
      const places = isPosition(op) ? { positions: elements(r.index ?? r.value) } : {};
      return { id, op, dtype, values, ...places, count: this.#count };
    });
    const order = reductions.length > 0 ? "reduction" : whole.order;
    return { ...whole, axis: this.#over, order, vector: false, body, reductions: [], carried: [], folds };
  }

  #array(id: ValueId): BufferId {
    const found = this.#arrays.get(id);
    if (found === undefined) throw new InternalError(`Expected v${id} to be kept for all lanes`);
    return found;
  }

  /** A buffer with a copy of a value for each lane. */
  #filled(id: ValueId, body: Statement[]): BufferId {
    const known = this.#arrays.get(id);
    if (known !== undefined) return known;
    const made = this.room.local(this.room.typeOf(id), BLOCK);
    this.#run(body, (run) => run.store(made, run.use(id)));
    return made;
  }

  #run(out: Statement[], write: (run: Run) => void): void {
    const axis = axisOf("l", this.#count), lane = add(this.#from, axis.symbol), body: Statement[] = [];
    write(
      new Run(body, {
        axis: this.whole.axis.symbol,
        lane,
        at: axis.symbol,
        arrays: this.#arrays,
        room: this.room,
      }),
    );
    out.push(loopOver(axis, body, { vector: true }));
  }

  #items(items: readonly Item[]): Statement[] {
    const out: Statement[] = [];
    for (const item of items) {
      if (item.kind === "uniform") out.push(item.statement);
      else if (item.kind === "loop") out.push(...this.#inner(item.loop, item.items));
      else {
        this.#run(out, (run) => {
          for (const s of item.statements) {
            if (s.kind === "advance") this.#advance(s, run);
            else run.statement(s);
          }
        });
      }
    }
    return out;
  }

  /** An inner loop, whose reductions and carried values are in memory for each lane. */
  #inner(loop: Loop, items: readonly Item[]): Statement[] {
    const { reductions, carried } = loop, { local, typeOf } = this.room, out: Statement[] = [];
    if (reductions.length + carried.length > 0) {
      // Initial values are not looked up in the arrays, which are registered later
      const arrays = [...reductions, ...carried].map(({ id, dtype }) => [id, local(dtype, BLOCK)] as const);
      for (const r of reductions) if (isPosition(r.op)) this.#bests.set(r.id, local(typeOf(r.value), BLOCK));
      this.#run(out, (run) => {
        arrays.forEach(([id, array], at) => {
          const r = reductions[at], c = carried[at - reductions.length], best = this.#bests.get(id);
          if (r && best !== undefined) {
            const type = typeOf(r.value);
            run.store(best, run.list.constant(zero(type), type));
            run.store(array, run.list.constant(r.dtype === "int64" ? -1n : -1, r.dtype));
          } else if (r) run.store(array, run.list.constant(neutralOf(r.op, r.dtype), r.dtype));
          else if (c) run.store(array, run.use(c.initial));
        });
      });
      for (const [id, array] of arrays) this.#arrays.set(id, array);
    }
    const order = loop.order === "parallel" ? "parallel" : "sequential";
    out.push({ ...loop, order, reductions: [], carried: [], body: this.#items(items) });
    const positions = reductions.filter(({ op }) => isPosition(op));
    if (positions.length > 0) {
      this.#run(out, (run) => {
        for (const { id, dtype } of positions) {
          const found = run.use(id), none = run.list.constant(zero(dtype), dtype);
          run.store(this.#array(id), run.list.scalar("maximum", [found, none], dtype));
        }
      });
    }
    return out;
  }

  /** The end of an iteration of an inner loop. */
  #advance({ reductions, carried }: Advance, run: Run): void {
    for (const r of reductions) this.#combine(r, run);
    const next = carried.map((c) => run.use(c.next));
    carried.forEach((c, at) => run.store(this.#array(c.id), next[at] ?? c.next));
  }

  #combine(r: Reduction, run: Run): void {
    const { op, dtype } = r, array = this.#array(r.id), best = this.#bests.get(r.id), { list } = run;
    const operand = best === undefined ? dtype : this.room.typeOf(r.value), given = run.use(r.value);
    if (best === undefined) {
      const made = list.combined({ op, dtype, operand }, [{ value: run.load(array, dtype) }, {
        value: given,
      }]);
      return run.store(array, made.value);
    }
    const index = run.load(array, dtype), before = { value: run.load(best, operand), index };
    const empty = list.scalar("lt", [index, list.constant(zero(dtype), dtype)], "bool");
    const made = list.combined({ op, dtype, operand }, [before, {
      value: given,
      index: run.use(r.index ?? r.value),
    }], empty);
    run.store(best, made.value);
    run.store(array, made.index ?? made.value);
  }
}

const zero = (dtype: ValueType): number | bigint | boolean =>
  dtype === "int64" ? 0n : dtype === "bool" ? false : 0;

/** The environment for writing a run. */
interface RunPlaces {
  /** The counter of the whole loop, its value in this run, and the index into local buffers. */
  readonly axis: Sym;
  readonly lane: Dim;
  readonly at: Dim;
  readonly arrays: ReadonlyMap<ValueId, BufferId>;
  readonly room: LaneRoom;
}

/** Writes the statements of one run. */
class Run {
  readonly list: StatementList;
  /** Values of other runs that have been loaded, and those that this run defines. */
  readonly #here = new Map<ValueId, ValueId>();

  constructor(readonly body: Statement[], readonly places: RunPlaces) {
    this.list = new StatementList(body, places.room.fresh);
  }

  load(buffer: BufferId, dtype: ValueType): ValueId {
    const id = this.places.room.fresh(dtype);
    this.body.push({ kind: "load", id, buffer, index: this.places.at, dtype });
    return id;
  }

  store(buffer: BufferId, value: ValueId): void {
    this.body.push(storeOf(buffer, this.places.at, value));
  }

  /** A value under its name in this run. */
  use(id: ValueId): ValueId {
    const known = this.#here.get(id);
    if (known !== undefined) return known;
    const array = this.places.arrays.get(id);
    if (array === undefined) return id;
    const made = this.load(array, this.places.room.typeOf(id));
    this.#here.set(id, made);
    return made;
  }

  /** Adds a statement, and stores its value if other runs need it. */
  statement(s: Statement): void {
    const { axis, lane, arrays } = this.places;
    const define = (id: ValueId): ValueId => {
      this.#here.set(id, id);
      return id;
    };
    const replace = (symbol: Sym): Dim => symbol === axis ? lane : symbol;
    this.body.push(cloneStatement(s, { use: (id) => this.use(id), define, replace }));
    const array = s.kind === "store" || s.kind === "loop" ? undefined : arrays.get(s.id);
    if (array !== undefined && s.kind !== "store" && s.kind !== "loop") this.store(array, s.id);
  }
}
