/**
 * Statements of one loop kernel as C++. Input: loop IR; output: lines of a function body over the names that a
 * `KernelNames` hands out. Invariants: a vector loop without inner loops is printed as one plain loop that the
 * compiler vectorises; one with reductions or inner loops works through blocks of BLOCK lanes, whose values live
 * in small arrays where another part of the block needs them.
 */
import type { TextWriter } from "../../../lib/base/text_writer.ts";
import { InternalError } from "../../../lib/base/errors.ts";
import { type DType, type ValueType, valueType } from "../../../lib/base/dtype.ts";
import type { Dim, Sym } from "../../../lib/sym/expr.ts";
import {
  type BufferDecl,
  type BufferId,
  isPosition,
  type Loop,
  type Reduction,
  type Statement,
  type ValueId,
} from "../../../lib/loops/ir.ts";
import { masksLoops } from "../../../lib/codegen/vectorise.ts";
import { coefficientOf } from "../../../lib/loops/nest.ts";
import { collides } from "../../../lib/loops/uses.ts";
import {
  type Advance,
  deepUses,
  indirect,
  type Item,
  planLanes,
  storedBuffers,
  varyingValues,
} from "./plan.ts";
import { combine, foldName, foldText, LANES, neutral, takes } from "./reductions.ts";
import { castExpression, type Need, scalarExpression } from "./scalar.ts";
import { literal, MEMORY_TYPE, printIndex, VALUE_TYPE } from "./types.ts";

/** Lanes of a block; a multiple of LANES. */
const BLOCK = 256;

/** The part [from, to) of a loop that is printed, as C++ expressions. */
export interface Range {
  readonly from: string;
  readonly to: string;
}

/** What a kernel's statements refer to outside of them. */
export interface KernelNames {
  buffer(id: BufferId): string;
  size(symbol: Sym): string;
  readonly need: Need;
  /** Declares a reduction function, by its text. */
  fold(text: string): void;
}

interface Printed {
  readonly text: string;
  readonly dtype: ValueType;
}

/** The loops that a team shares out as one, from the outermost. */
function teamOf(loop: Loop): readonly Loop[] {
  const [inner] = loop.body;
  return [loop, ...(inner?.kind === "loop" && inner.share === "team" ? teamOf(inner) : [])];
}

/** Prints the statements of one kernel. */
export class NestPrinter {
  readonly #values = new Map<ValueId, Printed>();
  readonly #axes = new Map<Sym, string>();
  #counter = 0;
  /** How many masked parts are around what is printed. */
  #masks = 0;

  constructor(
    readonly out: TextWriter,
    readonly buffers: readonly BufferDecl[],
    readonly names: KernelNames,
    /** Loops that are printed in part. */
    readonly ranges: ReadonlyMap<Loop, Range> = new Map(),
  ) {}

  /** Prints statements in order, outside of lanes. */
  statements(body: readonly Statement[]): void {
    for (const s of body) this.#statement(s);
  }

  /** The text of a value that was printed outside of lanes. */
  value(id: ValueId): string {
    return this.#value(id).text;
  }

  /** An index or size expression. */
  index(d: Dim): string {
    return printIndex(d, (symbol) => this.#symbol(symbol));
  }

  /** A counter variable for an axis, declared by the caller. */
  axis(symbol: Sym): string {
    let name = this.#axes.get(symbol);
    if (name === undefined) this.#axes.set(symbol, name = `i${this.#axes.size}`);
    return name;
  }

  /** Sets what a value is called. */
  define(id: ValueId, dtype: ValueType, text = `v${id}`): string {
    this.#values.set(id, { text, dtype });
    return text;
  }

  #value(id: ValueId): Printed {
    const found = this.#values.get(id);
    if (found === undefined) throw new InternalError(`Expected a printed value but found v${id}`);
    return found;
  }

  #symbol(symbol: Sym): string {
    if (symbol.node.kind !== "symbol") throw new InternalError(`Expected a symbol but found ${symbol}`);
    const { role } = symbol.node;
    switch (role.kind) {
      case "axis":
        return this.axis(symbol);
      case "size":
        return this.names.size(symbol);
      case "value":
        return `(long) ${this.#value(role.id).text}`;
      default:
        return role satisfies never;
    }
  }

  #dtypeOf(buffer: BufferId): DType {
    const declared = this.buffers[buffer];
    if (declared === undefined) throw new InternalError(`Expected a buffer but found b${buffer}`);
    return declared.dtype;
  }

  #statement(s: Statement): void {
    if (s.kind === "loop") return this.#loop(s);
    if (s.kind === "masked") return this.#masked(s);
    if (s.kind === "constant") return void this.define(s.id, s.dtype, literal(s.value, s.dtype));
    if (s.kind === "store") return this.#store(s);
    const text = this.#expression(s);
    this.out.line(`const ${VALUE_TYPE[s.dtype]} ${this.define(s.id, s.dtype)} = ${text};`);
  }

  #expression(s: Statement & { kind: "index" | "scalar" | "cast" | "select" | "load" }): string {
    switch (s.kind) {
      case "index":
        return `(${VALUE_TYPE[s.dtype]}) (${this.index(s.index)})`;
      case "scalar": {
        const args = s.args.map((id) => this.#value(id));
        const first = args[0];
        if (first === undefined) throw new InternalError(`Expected operands of ${s.op} but found none`);
        return scalarExpression(s.op, first.dtype, {
          args: args.map((a) => a.text),
          need: this.names.need,
          form: this.#masks > 0 ? "inline" : "vector",
        });
      }
      case "cast": {
        const { text, dtype } = this.#value(s.value);
        return castExpression(text, dtype, s.dtype);
      }
      case "select":
        return `${this.value(s.condition)} ? ${this.value(s.then)} : ${this.value(s.otherwise)}`;
      case "load":
        return `${this.names.buffer(s.buffer)}[${this.index(s.index)}]${s.dtype === "bool" ? " != 0" : ""}`;
      default:
        return s satisfies never;
    }
  }

  #store(s: Statement & { kind: "store" }): void {
    const target = `${this.names.buffer(s.buffer)}[${this.index(s.index)}]`, value = this.value(s.value);
    if (s.mode === "set") return void this.out.line(`${target} = ${value};`);
    const sum = combine("sum", valueType(this.#dtypeOf(s.buffer)), [target, value]);
    this.out.line(`${target} = ${sum};`);
  }

  #masked(s: Statement & { kind: "masked" }): void {
    const name = `v${s.id}`, condition = this.value(s.condition);
    this.out.line(`${VALUE_TYPE[s.dtype]} ${name} = ${this.value(s.otherwise)};`);
    this.out.block(`if (${condition}) {`, () => {
      this.#masks++;
      this.statements(s.body);
      this.#masks--;
      this.out.line(`${name} = ${this.value(s.value)};`);
    });
    this.define(s.id, s.dtype, name);
  }

  /** The bounds that are printed for a loop: those of one thread where a team shares it out. */
  #range(loop: Loop): Range {
    const size = this.index(loop.axis.size);
    if (loop.share === "team") {
      return loop.vector
        ? { from: "from", to: "to" }
        : { from: `(${size}) * t / nt`, to: `(${size}) * (t + 1) / nt` };
    }
    return this.ranges.get(loop) ?? { from: "0", to: size };
  }

  /** Loops right inside of each other that a team shares out as one. */
  #team(loops: readonly Loop[], body: readonly Statement[]): void {
    const parts = loops.map(({ axis }) => ({
      name: this.axis(axis.symbol),
      size: `(${this.index(axis.size)})`,
    }));
    this.out.line(`const long total = ${parts.map((p) => p.size).join(" * ")};`);
    this.out.block("for (long w = total * t / nt; w < total * (t + 1) / nt; w++) {", () => {
      parts.forEach((p, i) => {
        const below = parts.slice(i + 1).map((q) => ` / ${q.size}`).join("");
        this.out.line(`const long ${p.name} = w${below}${i > 0 ? ` % ${p.size}` : ""};`);
      });
      this.statements(body);
    });
  }

  #loop(loop: Loop): void {
    if (loop.share === "team") {
      const loops = teamOf(loop), size = this.index(loop.axis.size);
      if (loops.length > 1) return this.#team(loops, loops.at(-1)?.body ?? []);
      if (loop.vector) {
        this.out.line(`const long groups = (${size} + 15) / 16, from = groups * t / nt * 16;`);
        this.out.line(`const long end = groups * (t + 1) / nt * 16, to = end < ${size} ? end : ${size};`);
      }
    }
    if (!loop.vector || loop.carried.length > 0 || masksLoops(loop.body) || collides(loop.body)) {
      return this.#scalarLoop(loop);
    }
    if (loop.reductions.length > 0 || loop.body.some((s) => s.kind === "loop")) this.#blocks(loop);
    else this.#lanes(loop);
  }

  #scalarLoop(loop: Loop): void {
    const { from, to } = this.#range(loop), i = this.axis(loop.axis.symbol), { out } = this;
    for (const r of loop.reductions) this.#openReduction(r, "");
    for (const c of loop.carried) {
      out.line(`${VALUE_TYPE[c.dtype]} v${c.id} = ${this.value(c.initial)};`);
      this.define(c.id, c.dtype);
    }
    out.block(`for (long ${i} = ${from}; ${i} < ${to}; ${i}++) {`, () => {
      this.statements(loop.body);
      this.#advance({ kind: "advance", reductions: loop.reductions, carried: loop.carried }, "");
    });
    for (const r of loop.reductions) this.#closeReduction(r);
  }

  /** Declares what a reduction accumulates into; `lane` is "" or the index of a lane. */
  #openReduction(r: Reduction, lane: string): void {
    const value = `v${r.id}`;
    if (isPosition(r.op)) {
      const type = MEMORY_TYPE[this.#inputType(r)];
      if (lane === "") this.out.line(`${type} ${value}_best = 0;`, `${VALUE_TYPE[r.dtype]} ${value} = -1;`);
      else this.out.line(`${value}_best[${lane}] = 0, ${value}_[${lane}] = -1;`);
    } else if (lane === "") this.out.line(`${VALUE_TYPE[r.dtype]} ${value} = ${neutral(r.op, r.dtype)};`);
    else this.out.line(`${value}_[${lane}] = ${neutral(r.op, r.dtype)};`);
  }

  #closeReduction(r: Reduction): void {
    if (isPosition(r.op)) this.out.line(`v${r.id} = v${r.id} < 0 ? 0 : v${r.id};`);
    this.define(r.id, r.dtype);
  }

  /** The element type that argmax and argmin compare; known once their loop's body has been planned. */
  #inputType(r: Reduction): ValueType {
    const found = this.#reduced.get(r.value);
    if (found === undefined) {
      throw new InternalError(`Expected the type of v${r.value} but it is not defined below`);
    }
    return found;
  }

  #reduced: ReadonlyMap<ValueId, ValueType> = new Map();

  /** Tells the types of all values of the kernel, before anything is printed. */
  types(types: ReadonlyMap<ValueId, ValueType>): this {
    this.#reduced = types;
    return this;
  }

  /** The end of an iteration; `lane` as above. */
  #advance(end: Advance, lane: string): void {
    const at = (name: string): string => lane === "" ? name : `${name}_[${lane}]`;
    for (const r of end.reductions) {
      const value = this.value(r.value), total = at(`v${r.id}`);
      if (isPosition(r.op)) {
        const best = lane === "" ? `v${r.id}_best` : `v${r.id}_best[${lane}]`;
        const better = takes(r.op, this.#inputType(r), { value, best, index: total });
        this.out.line(`if (${better}) ${best} = ${value}, ${total} = ${this.value(r.index ?? r.value)};`);
      } else this.out.line(`${total} = ${combine(r.op, r.dtype, [total, value])};`);
    }
    const next = end.carried.map((c) => {
      const name = `n${c.id}_${this.#counter++}`;
      this.out.line(`const ${VALUE_TYPE[c.dtype]} ${name} = ${this.value(c.next)};`);
      return name;
    });
    end.carried.forEach((c, i) => this.out.line(`${at(`v${c.id}`)} = ${next[i]};`));
  }

  /** A vector loop that is one run: a plain loop, with what is the same for all lanes in front of it. */
  #lanes(loop: Loop): void {
    const { from, to } = this.#range(loop), i = this.axis(loop.axis.symbol);
    const { varies } = varyingValues(loop.body, loop.axis.symbol);
    this.out.block("{", () => {
      const lanes: Statement[] = [];
      for (const s of loop.body) {
        if (varies(s)) lanes.push(s);
        else this.#statement(s);
      }
      this.out.line('_Pragma("GCC ivdep")');
      this.out.block(`for (long ${i} = ${from}; ${i} < ${to}; ${i}++) {`, () => this.statements(lanes));
    });
  }

  /** A vector loop with reductions or inner loops, in blocks. */
  #blocks(loop: Loop): void {
    const { from, to } = this.#range(loop), i = this.axis(loop.axis.symbol), { out } = this;
    if (this.#groups(loop)) return;
    const direct = new Map<ValueId, Statement & { kind: "load" }>();
    for (const r of loop.reductions) {
      const load = this.#directLoad(loop, r);
      if (load !== undefined) direct.set(r.value, load);
    }
    const rest: Loop = { ...loop, body: loop.body.filter((s) => s.kind !== "load" || !direct.has(s.id)) };
    const plan = planLanes(rest);
    for (const r of loop.reductions) this.#openLanes(r);
    const b = `b${this.#counter++}`;
    const folds = (at: string, count: string): void => {
      for (const r of loop.reductions) {
        this.#fold(r, { load: direct.get(r.value), i, at, count, crossing: plan.crossing });
      }
    };
    out.block("{", () => {
      const only = loop.reductions.length === 1 && plan.items.every((item) => item.kind === "uniform");
      if (only && direct.size === 1) {
        for (const item of plan.items) if (item.kind === "uniform") this.#statement(item.statement);
        folds(from, `${to} - (${from})`);
        return;
      }
      this.#arrays(plan.items, plan.crossing);
      out.block(`for (long ${b} = ${from}; ${b} < ${to}; ${b} += ${BLOCK}) {`, () => {
        out.line(`const long cnt = ${to} - ${b} < ${BLOCK} ? ${to} - ${b} : ${BLOCK};`);
        this.#items(plan.items, { i, b, crossing: plan.crossing });
        folds(b, "cnt");
      });
    });
    for (const r of loop.reductions) this.#closeLanes(r);
  }

  /**
   * A vector loop whose body is one run, with its reductions: whole groups of lanes are computed and folded in
   * one go, so that contributions never leave registers. Gives false where the body needs blocks, or is nothing
   * but a load, which a function folds.
   */
  #groups(loop: Loop): boolean {
    const { reductions } = loop;
    if (reductions.some((r) => isPosition(r.op) || r.dtype === "bool") || reductions.length === 0) {
      return false;
    }
    if (loop.body.some((s) => s.kind === "loop")) return false;
    if (reductions.length === 1 && reductions.some((r) => this.#directLoad(loop, r))) return false;
    const { from, to } = this.#range(loop), i = this.axis(loop.axis.symbol), { out } = this;
    const { varies } = varyingValues(loop.body, loop.axis.symbol);
    const size = this.ranges.has(loop) ? undefined : loop.axis.size, b = `b${this.#counter++}`;
    for (const r of reductions) this.#openLanes(r);
    const lanes = loop.body.filter(varies);
    const group = (count: string): void => {
      out.line('_Pragma("GCC ivdep") _Pragma("GCC unroll 1")');
      out.block(`for (long l = 0; l < ${count}; l++) {`, () => {
        out.line(`const long ${i} = ${b} + l;`);
        this.statements(lanes);
        for (const r of reductions) {
          if (isPosition(r.op)) continue;
          const total = `v${r.id}_lanes[l]`;
          out.line(`${total} = ${combine(r.op, r.dtype, [total, this.value(r.value)])};`);
        }
      });
    };
    out.block("{", () => {
      for (const s of loop.body) if (!varies(s)) this.#statement(s);
      out.line(`long ${b} = ${from};`);
      if (typeof size !== "number" || size >= LANES) {
        out.block(`for (; ${b} + ${LANES} <= ${to}; ${b} += ${LANES}) {`, () => group(`${LANES}`));
      }
      if (typeof size !== "number" || size % LANES !== 0) group(`${to} - ${b}`);
    });
    for (const r of reductions) this.#closeLanes(r);
    return true;
  }

  /** The load that a reduction folds straight from memory: unit stride, and nothing else uses it. */
  #directLoad(loop: Loop, r: Reduction): (Statement & { kind: "load" }) | undefined {
    if (isPosition(r.op) || r.op === "any" || r.op === "all" || r.dtype === "bool") return undefined;
    const load = loop.body.find((s) => s.kind === "load" && s.id === r.value);
    if (load?.kind !== "load" || indirect(load.index).length > 0) return undefined;
    if (this.#dtypeOf(load.buffer) !== r.dtype) return undefined;
    if (coefficientOf(load.index, loop.axis.symbol) !== 1 || storedBuffers(loop.body).has(load.buffer)) {
      return undefined;
    }
    let uses = 0;
    for (const s of loop.body) deepUses(s, (id) => uses += id === load.id ? 1 : 0);
    const positions = loop.reductions.some((other) => isPosition(other.op) && other.value === load.id);
    return uses === 0 && !positions ? load : undefined;
  }

  #openLanes(r: Reduction): void {
    const name = `v${r.id}`;
    if (isPosition(r.op)) return this.#openReduction(r, "");
    const type = MEMORY_TYPE[r.dtype];
    this.out.line(`${type} ${name}_lanes[${LANES}] __attribute__((aligned(64)));`);
    this.out.line(`for (int l = 0; l < ${LANES}; l++) ${name}_lanes[l] = ${neutral(r.op, r.dtype)};`);
  }

  #closeLanes(r: Reduction): void {
    if (isPosition(r.op)) return this.#closeReduction(r);
    this.names.fold(foldText(r.op, r.dtype, r.dtype));
    this.out.line(
      `const ${VALUE_TYPE[r.dtype]} v${r.id} = ${foldName(r.op, r.dtype, r.dtype)}_end(v${r.id}_lanes);`,
    );
    this.define(r.id, r.dtype);
  }

  /** Folds one block of contributions into the lanes. */
  #fold(
    r: Reduction,
    { load, i, at, count, crossing }: {
      readonly load: (Statement & { kind: "load" }) | undefined;
      readonly i: string;
      readonly at: string;
      readonly count: string;
      readonly crossing: ReadonlySet<ValueId>;
    },
  ): void {
    const dtype = isPosition(r.op) ? this.#inputType(r) : r.dtype, name = foldName(r.op, dtype, r.dtype);
    this.names.fold(foldText(r.op, dtype, r.dtype));
    const array = (id: ValueId, type: string): string => {
      if (crossing.has(id)) return `v${id}_`;
      const filled = `f${this.#counter++}`;
      this.out.line(
        `${type} ${filled}[${BLOCK}];`,
        `for (long l = 0; l < ${count}; l++) ${filled}[l] = ${this.value(id)};`,
      );
      return filled;
    };
    if (isPosition(r.op)) {
      const values = array(r.value, MEMORY_TYPE[dtype]),
        positions = array(r.index ?? r.value, VALUE_TYPE[r.dtype]);
      this.out.line(`${name}(&v${r.id}_best, &v${r.id}, ${values}, ${positions}, ${count});`);
    } else if (load !== undefined) {
      this.out.block("{", () => {
        this.out.line(`const long ${i} = ${at};`);
        this.out.line(
          `${name}(v${r.id}_lanes, ${this.names.buffer(load.buffer)} + (${
            this.index(load.index)
          }), ${count});`,
        );
      });
    } else this.out.line(`${name}(v${r.id}_lanes, ${array(r.value, MEMORY_TYPE[r.dtype])}, ${count});`);
  }

  /** Declares the arrays of a block. */
  #arrays(items: readonly Item[], crossing: ReadonlySet<ValueId>): void {
    const declare = (type: string, name: string): void => {
      this.out.line(`${type} ${name}[${BLOCK}] __attribute__((aligned(64)));`);
    };
    for (const item of items) {
      if (item.kind === "run") {
        for (const s of item.statements) {
          if (s.kind !== "advance" && "id" in s && crossing.has(s.id)) {
            declare(MEMORY_TYPE[s.dtype], `v${s.id}_`);
          }
        }
      } else if (item.kind === "loop") {
        for (const r of item.loop.reductions) {
          declare(MEMORY_TYPE[r.dtype], `v${r.id}_`);
          if (isPosition(r.op)) declare(MEMORY_TYPE[this.#inputType(r)], `v${r.id}_best`);
        }
        for (const c of item.loop.carried) declare(MEMORY_TYPE[c.dtype], `v${c.id}_`);
        this.#arrays(item.items, crossing);
      }
    }
  }

  #items(items: readonly Item[], lanes: { i: string; b: string; crossing: ReadonlySet<ValueId> }): void {
    const { out } = this;
    const each = (body: () => void): void => {
      out.line('_Pragma("GCC ivdep")');
      out.block("for (long l = 0; l < cnt; l++) {", () => {
        out.line(`const long ${lanes.i} = ${lanes.b} + l;`);
        body();
      });
    };
    for (const item of items) {
      if (item.kind === "uniform") this.#statement(item.statement);
      else if (item.kind === "run") {
        const kept: (Statement & { id: ValueId; dtype: ValueType })[] = [];
        each(() => {
          for (const s of item.statements) {
            if (s.kind === "advance") {
              this.#advance(s, "l");
              continue;
            }
            this.#statement(s);
            if ("id" in s && lanes.crossing.has(s.id)) {
              out.line(`v${s.id}_[l] = ${this.value(s.id)};`);
              kept.push(s);
            }
          }
        });
        for (const s of kept) this.define(s.id, s.dtype, `v${s.id}_[l]`);
      } else {
        const { loop } = item;
        if (loop.reductions.length + loop.carried.length > 0) {
          each(() => {
            for (const r of loop.reductions) this.#openReduction(r, "l");
            for (const c of loop.carried) out.line(`v${c.id}_[l] = ${this.value(c.initial)};`);
          });
        }
        for (const c of loop.carried) this.define(c.id, c.dtype, `v${c.id}_[l]`);
        const { from, to } = this.#range(loop), r = this.axis(loop.axis.symbol);
        out.block(`for (long ${r} = ${from}; ${r} < ${to}; ${r}++) {`, () => this.#items(item.items, lanes));
        for (const x of loop.reductions) {
          if (isPosition(x.op)) each(() => out.line(`v${x.id}_[l] = v${x.id}_[l] < 0 ? 0 : v${x.id}_[l];`));
          this.define(x.id, x.dtype, `v${x.id}_[l]`);
        }
      }
    }
  }
}
