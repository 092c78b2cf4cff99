/**
 * Unroll-and-jam for reductions across rows: where neighbouring results read neighbouring elements but each
 * reduction strides, several results are reduced side by side, so that every cache line is used whole. Input and
 * output: programs. Invariant: each result combines the same values in the same order as before.
 */
import { InternalError } from "../../lib/base/errors.ts";
import type { Axis, Kernel, Loop, Program, Statement, ValueId } from "../../lib/loops/ir.ts";
import { coefficientOf, everyIndex } from "../../lib/loops/nest.ts";
import { add, type Dim, freeSymbols, mul, substitute, type Sym, symbol } from "../../lib/sym/expr.ts";

/** Results reduced side by side: a cache line of eight-byte elements. */
const WIDTH = 8;

/** The program with its strided reductions jammed. */
export function jamReductions(program: Program): Program {
  const kernels = program.kernels.map((kernel): Kernel => {
    if (kernel.kind !== "loops") return kernel;
    const body = jamAll(kernel.body, new Renaming(kernel.body));
    return body === kernel.body ? kernel : { ...kernel, body };
  });
  return kernels.every((k, i) => k === program.kernels[i]) ? program : { ...program, kernels };
}

/** Gives copies of statements ids of their own. */
class Renaming {
  #next = 0;
  constructor(body: readonly Statement[]) {
    this.#scan(body);
  }

  #scan(body: readonly Statement[]): void {
    for (const s of body) {
      if (s.kind !== "loop" && s.kind !== "store") this.#next = Math.max(this.#next, s.id + 1);
      if (s.kind === "masked") this.#scan(s.body);
      if (s.kind !== "loop") continue;
      for (const r of [...s.reductions, ...s.carried]) this.#next = Math.max(this.#next, r.id + 1);
      this.#scan(s.body);
    }
  }

  fresh(): ValueId {
    return this.#next++;
  }
}

function jamAll(body: readonly Statement[], ids: Renaming): readonly Statement[] {
  let changed = false;
  const out = body.flatMap((s): readonly Statement[] => {
    if (s.kind !== "loop") return [s];
    const jammed = jam(s, ids);
    if (jammed) {
      changed = true;
      return jammed;
    }
    const inner = jamAll(s.body, ids);
    if (inner === s.body) return [s];
    changed = true;
    return [{ ...s, body: inner }];
  });
  return changed ? out : body;
}

/** The parts of a loop that can be jammed. */
interface Shape {
  readonly size: number;
  readonly before: readonly Statement[];
  readonly reduction: Loop;
  readonly after: readonly Statement[];
}

function shapeOf(loop: Loop): Shape | undefined {
  const { size } = loop.axis;
  if (loop.order !== "parallel" || typeof size !== "number" || size < WIDTH) return undefined;
  const at = loop.body.findIndex((s) => s.kind === "loop");
  const reduction = loop.body[at];
  if (reduction?.kind !== "loop" || reduction.order !== "reduction") return undefined;
  const before = loop.body.slice(0, at), after = loop.body.slice(at + 1);
  if (after.some((s) => s.kind === "loop") || reduction.body.some((s) => s.kind === "loop")) return undefined;
  const strides = (index: Dim): boolean => {
    const across = coefficientOf(index, loop.axis.symbol),
      along = coefficientOf(index, reduction.axis.symbol);
    return across === 1 && typeof along === "number" && Math.abs(along) > 1;
  };
  let found = false;
  everyIndex(reduction.body, (index) => {
    if (strides(index)) found = true;
    return true;
  });
  return found ? { size, before, reduction, after } : undefined;
}

function jam(loop: Loop, ids: Renaming): readonly Statement[] | undefined {
  const shape = shapeOf(loop);
  if (!shape) return undefined;
  const { size, before, reduction, after } = shape;
  const whole = Math.floor(size / WIDTH), rest = size % WIDTH;
  const blocks = axis("j", whole);
  const copies = Array.from(
    { length: WIDTH },
    (_, k) => new Copy(ids, (s) => s === loop.axis.symbol ? add(mul(blocks.symbol, WIDTH), k) : s),
  );
  const lead = copies.flatMap((c) => c.statements(before));
  const merged: Loop = {
    ...reduction,
    body: copies.flatMap((c) => c.statements(reduction.body)),
    reductions: copies.flatMap((c) => reduction.reductions.map((r) => c.reduction(r))),
  };
  const main: Loop = {
    ...loop,
    axis: blocks,
    body: [...lead, merged, ...copies.flatMap((c) => c.statements(after))],
  };
  if (rest === 0) return [main];
  const remaining = axis("k", rest);
  const copy = new Copy(ids, (s) => s === loop.axis.symbol ? add(remaining.symbol, whole * WIDTH) : s);
  return [main, { ...loop, axis: remaining, body: copy.statements(loop.body) }];
}

function axis(name: string, size: number): Axis {
  return { symbol: symbol(name, { kind: "axis" }, [0, size - 1]), size };
}

/** One copy of statements: fresh ids, and indices rewritten. */
class Copy {
  readonly #values = new Map<ValueId, ValueId>();
  readonly #indirect = new Map<Sym, Sym>();
  constructor(readonly ids: Renaming, readonly replace: (symbol: Sym) => Dim) {}

  #define(id: ValueId): ValueId {
    const made = this.ids.fresh();
    this.#values.set(id, made);
    return made;
  }

  /** A value by its new id; those from outside the copied statements stay. */
  #use(id: ValueId): ValueId {
    return this.#values.get(id) ?? id;
  }

  #index(index: Dim): Dim {
    if (typeof index === "number" || freeSymbols(index).size === 0) return index;
    return substitute(index, (s) => {
      if (s.node.kind !== "symbol" || s.node.role.kind !== "value") return this.replace(s);
      const id = this.#use(s.node.role.id);
      if (id === s.node.role.id) return s;
      const known = this.#indirect.get(s);
      if (known) return known;
      const made = symbol(`v${id}`, { kind: "value", id }, [s.lower, s.upper]);
      this.#indirect.set(s, made);
      return made;
    });
  }

  reduction(r: Loop["reductions"][number]): Loop["reductions"][number] {
    const id = this.#define(r.id), value = this.#use(r.value);
    return r.index === undefined ? { ...r, id, value } : { ...r, id, value, index: this.#use(r.index) };
  }

  statements(body: readonly Statement[]): Statement[] {
    return body.map((s): Statement => {
      switch (s.kind) {
        case "constant":
          return { ...s, id: this.#define(s.id) };
        case "index":
          return { ...s, index: this.#index(s.index), id: this.#define(s.id) };
        case "load":
          return { ...s, index: this.#index(s.index), id: this.#define(s.id) };
        case "store":
          return { ...s, index: this.#index(s.index), value: this.#use(s.value) };
        case "scalar":
          return { ...s, args: s.args.map((a) => this.#use(a)), id: this.#define(s.id) };
        case "cast":
          return { ...s, value: this.#use(s.value), id: this.#define(s.id) };
        case "select":
          return {
            ...s,
            condition: this.#use(s.condition),
            then: this.#use(s.then),
            otherwise: this.#use(s.otherwise),
            id: this.#define(s.id),
          };
        case "masked": {
          const condition = this.#use(s.condition), otherwise = this.#use(s.otherwise);
          const inner = this.statements(s.body);
          return {
            ...s,
            condition,
            otherwise,
            body: inner,
            value: this.#use(s.value),
            id: this.#define(s.id),
          };
        }
        case "loop": {
          if (s.carried.length > 0) throw new InternalError("Expected no carried values in a jammed loop");
          const inner = this.statements(s.body);
          return { ...s, body: inner, reductions: s.reductions.map((r) => this.reduction(r)) };
        }
        default:
          return s satisfies never;
      }
    });
  }
}
