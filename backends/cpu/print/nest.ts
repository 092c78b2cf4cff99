/**
 * Statements of one loop kernel as C++, over the names of a `KernelNames`. Vector loops are printed by lanes.ts.
 */
import type { TextWriter } from "../../../lib/base/text_writer.ts";
import { InternalError } from "../../../lib/base/errors.ts";
import { type DType, isInteger, itemSize, type ValueType, valueType } from "../../../lib/base/dtype.ts";
import { type Dim, mul, sub, type Sym } from "../../../lib/sym/expr.ts";
import { coefficientOf } from "../../../lib/loops/nest.ts";
import { LANES } from "../../../lib/loops/reductions.ts";
import {
  type Axis,
  type BufferDecl,
  type BufferId,
  type Elements,
  type Fold,
  isPosition,
  type Loop,
  type Reduction,
  type Statement,
  type ValueId,
} from "../../../lib/loops/ir.ts";
import {
  combine,
  foldedRows,
  foldName,
  foldRowsName,
  foldRowsText,
  foldText,
  neutral,
  ROWS,
  takes,
} from "./reductions.ts";
import { isCalled } from "./functions.ts";
import { closeLanes, keepingLoop, openLanes, printLanes } from "./lanes.ts";
import type { Access, Element, KernelNames, Range, StatementPrinter, Store } from "./names.ts";
import { castExpression, scalarExpression } from "./scalar.ts";
import { type Group, literal, MEMORY_TYPE, memoryType, printIndex, VALUE_TYPE } from "./types.ts";

interface Printed {
  readonly text: string;
  readonly dtype: ValueType;
}

/** Distance of lanes from which on the elements between them must not be read. */
const LEAST_STEP = 32;

/** The common part of reductions and folds. */
type Result = Pick<Reduction, "id" | "op" | "dtype">;

/** The loops that a team divides as one, from the outermost. */
function teamOf(loop: Loop): readonly Loop[] {
  const [inner] = loop.body;
  return [loop, ...(inner?.kind === "loop" && inner.share === "team" ? teamOf(inner) : [])];
}

/** Prints the statements of one kernel. */
export class NestPrinter implements StatementPrinter {
  readonly #values = new Map<ValueId, Printed>();
  readonly #axes = new Map<Sym, string>();
  #counter = 0;
  /** Number of masks around the printed statement. */
  #masks = 0;
  /** Values whose functions were called in vector form. */
  readonly #called = new Set<ValueId>();
  /**
   * Whether lanes select positions along with elements, or which of two extremes a position belongs to: the compiler
   * turns several selections by one condition into branches, which it does not vectorise.
   */
  #places = false;
  /** Redirected stores, by statement. */
  #targets: ReadonlyMap<Statement, string> | undefined;
  /** The group of lanes that is being printed. */
  #group: Group | undefined;
  /** Names of the steps of the lanes that are being printed. */
  #steps: { readonly lane: Sym; readonly steps: ReadonlyMap<number, string> } | undefined;

  constructor(
    readonly out: TextWriter,
    readonly buffers: readonly BufferDecl[],
    readonly names: KernelNames,
    /** The ranges of loops that are printed in part. */
    readonly ranges: ReadonlyMap<Loop, Range> = new Map(),
  ) {}

  /**
   * Prints a loop over lanes that read elements far apart. Steps that are powers of two are hidden from the compiler,
   * which would otherwise read everything in between.
   */
  #withSteps({ body, axis: { symbol } }: Loop, print: () => void): void {
    const around = this.#steps, steps = new Map<number, string>();
    for (const s of body) {
      const step = s.kind === "load" ? coefficientOf(s.index, symbol) : undefined;
      if (typeof step !== "number" || step < LEAST_STEP || (step & (step - 1)) !== 0 || steps.has(step)) {
        continue;
      }
      const name = `step${this.unique()}`;
      steps.set(step, name);
      this.out.line(`long ${name} = ${step}L; __asm__("" : "+r"(${name}));`);
    }
    if (steps.size > 0) this.#steps = { lane: symbol, steps };
    print();
    this.#steps = around;
  }

  /** Returns the position that a load reads. */
  #place(index: Dim): string {
    const { lane, steps } = this.#steps ?? {}, step = lane && coefficientOf(index, lane);
    const name = typeof step === "number" ? steps?.get(step) : undefined;
    if (!lane || !name || typeof step !== "number") return this.index(index);
    return `${this.index(sub(index, mul(step, lane)))} + ${this.axis(lane)} * ${name}`;
  }

  /** Prints statements in order, outside of lanes. */
  statements(body: readonly Statement[]): void {
    for (const s of body) this.statement(s);
  }

  /** The text of a value that was printed outside of lanes. */
  value(id: ValueId): string {
    return this.#value(id).text;
  }

  /** A number that is unique among the kernel's names. */
  unique(): number {
    return this.#counter++;
  }

  /** An index or size expression. */
  index(d: Dim): string {
    return printIndex(d, (symbol) => this.#symbol(symbol), this.#group);
  }

  /** Prints statements for a lane of a group. */
  inGroup(group: Group, body: readonly Statement[]): void {
    this.#group = group;
    this.statements(body);
    this.#group = undefined;
  }

  /** A counter variable for an axis, declared by the caller. */
  axis(symbol: Sym): string {
    let name = this.#axes.get(symbol);
    if (name === undefined) this.#axes.set(symbol, name = `i${this.#axes.size}`);
    return name;
  }

  /** Names an axis that is not a loop of the kernel. */
  nameAxis(symbol: Sym, name: string): void {
    this.#axes.set(symbol, name);
  }

  /** Sets the text of a value. */
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
        return `((long) ${this.#value(role.id).text} | ${this.names.nothing()})`;
      case "unbacked":
        throw new InternalError(`Expected a size that the caller passes but found ${symbol}`);
      default:
        return role satisfies never;
    }
  }

  #dtypeOf(buffer: BufferId): DType {
    const declared = this.buffers[buffer];
    if (declared === undefined) throw new InternalError(`Expected a buffer but found b${buffer}`);
    return declared.dtype;
  }

  /** Prints one statement. */
  statement(s: Statement): void {
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
        if (s.args.some((id) => this.#called.has(id))) this.#called.add(s.id);
        return scalarExpression(s.op, first.dtype, {
          args: args.map((a) => a.text),
          need: (op, dtype, form) => {
            if (form === "vector" && isCalled(op, dtype)) this.#called.add(s.id);
            return this.names.need(op, dtype, form);
          },
          form: this.#masks > 0 ? "inline" : "vector",
        });
      }
      case "cast": {
        const { text, dtype } = this.#value(s.value);
        if (this.#called.has(s.value)) this.#called.add(s.id);
        return castExpression(text, dtype, s.dtype);
      }
      case "select": {
        const [condition, then, otherwise] = [s.condition, s.then, s.otherwise].map((id) => this.value(id));
        if (!this.#places && ![s.then, s.otherwise].some((id) => this.#called.has(id))) {
          return `${condition} ? ${then} : ${otherwise}`;
        }
        this.#called.add(s.id);
        const type = VALUE_TYPE[s.dtype];
        return `pick(${condition}, (${type}) ${then}, (${type}) ${otherwise})`;
      }
      case "load":
        return `${this.names.buffer(s.buffer)}[${this.#place(s.index)}]${s.dtype === "bool" ? " != 0" : ""}`;
      default:
        return s satisfies never;
    }
  }

  /** Returns the element that a load reads or a store writes. */
  element({ buffer, index }: Access): Element {
    const dtype = this.#dtypeOf(buffer);
    const text = `${this.names.buffer(buffer)}[${this.index(index)}]`;
    return { text, type: memoryType(dtype), bytes: itemSize(dtype) };
  }

  /** Prints statements with some stores redirected. */
  elsewhere(body: readonly Statement[], targets: ReadonlyMap<Statement, string>): void {
    this.#targets = targets;
    this.statements(body);
    this.#targets = undefined;
  }

  #store(s: Store): void {
    const target = this.#targets?.get(s) ?? this.element(s).text, value = this.value(s.value);
    if (s.mode === "set") return void this.out.line(`${target} = ${value};`);
    const sum = combine("sum", valueType(this.#dtypeOf(s.buffer)), [target, value]);
    this.out.line(`${target} = ${sum};`);
  }

  #isSmall(buffer: BufferId): boolean {
    return itemSize(this.#dtypeOf(buffer)) < 4;
  }

  #masked(s: Statement & { kind: "masked" }): void {
    const name = `v${s.id}`, condition = this.value(s.condition);
    this.out.line(`${VALUE_TYPE[s.dtype]} ${name} = ${this.value(s.otherwise)};`);
    this.out.block(`if (${condition}) {`, () => {
      // GCC 12 confuses deeply nested masks of small elements: such loops keep their branches
      if (this.#masks > 0 && s.body.some((each) => each.kind === "load" && this.#isSmall(each.buffer))) {
        this.out.line(`__asm__ volatile ("");`);
      }
      this.#masks++;
      this.statements(s.body);
      this.#masks--;
      this.out.line(`${name} = ${this.value(s.value)};`);
    });
    this.define(s.id, s.dtype, name);
  }

  /** The bounds that are printed for a loop: those of one thread if a team divides it. */
  range(loop: Loop): Range {
    const size = this.index(loop.axis.size);
    if (loop.share === "team") return { from: `(${size}) * t / nt`, to: `(${size}) * (t + 1) / nt` };
    return this.ranges.get(loop) ?? { from: "0", to: size };
  }

  /**
   * Directly nested loops that a team divides as one. Threads get equal contiguous shares; if later iterations of the
   * innermost loop take longer, they get either all iterations of some of these loops, or iterations in alternating
   * order.
   */
  team(axes: readonly Axis[], body: () => void, uneven = false): void {
    const parts = axes.map(({ symbol, size }) => ({
      name: this.axis(symbol),
      size: `(${this.index(size)})`,
    }));
    this.out.line(`const long total = ${parts.map((p) => p.size).join(" * ")};`);
    if (uneven) {
      const whole = parts.slice(0, -1).map((p) => ` * ${p.size}`).join("");
      this.out.line(`const bool even = (1${whole}) % nt == 0;`);
    }
    const loop = uneven
      ? "for (long turn = 0; turn < (total + nt - 1) / nt; turn++) {"
      : "for (long w = total * t / nt; w < total * (t + 1) / nt; w++) {";
    this.out.block(loop, () => {
      if (uneven) {
        this.out.line(
          "const long w = even ? total / nt * t + turn : turn * nt + (turn % 2 ? nt - 1 - t : t);",
        );
        this.out.line("if (w >= total) break;");
      }
      parts.forEach((p, i) => {
        const below = parts.slice(i + 1).map((q) => ` / ${q.size}`).join("");
        this.out.line(`const long ${p.name} = w${below}${i > 0 ? ` % ${p.size}` : ""};`);
      });
      body();
    });
  }

  /** A loop around statements that are printed elsewhere. */
  around({ symbol, size }: Axis, body: () => void): void {
    const i = this.axis(symbol);
    this.out.block(`for (long ${i} = 0; ${i} < ${this.index(size)}; ${i}++) {`, body);
  }

  #loop(loop: Loop): void {
    if (loop.share === "team") {
      const loops = teamOf(loop), size = this.index(loop.axis.size);
      if (loops.length > 1) {
        const inner = loops.at(-1)?.body ?? [];
        return this.team(loops.map(({ axis }) => axis), () => this.statements(inner));
      }
      if (loop.part) {
        const { end, grain } = loop.part,
          [from, to] = [loop.axis.symbol, end].map((symbol) => this.axis(symbol));
        this.out.line(
          `const long groups = (${size} + ${grain - 1}) / ${grain}, ${from} = groups * t / nt * ${grain};`,
        );
        this.out.line(
          `const long end = groups * (t + 1) / nt * ${grain}, ${to} = end < ${size} ? end : ${size};`,
        );
        return this.statements(loop.body);
      }
    }
    if (!loop.vector) return this.#scalarLoop(loop);
    const around = this.#places;
    const isExtreme = loop.reductions.some(({ op }) => op === "max" || op === "min");
    this.#places = around || loop.body.some((s) => s.kind === "select" && (isExtreme || isInteger(s.dtype)));
    this.#withSteps(loop, () => printLanes(this, loop));
    this.#places = around;
  }

  #scalarLoop(loop: Loop): void {
    const { from, to } = this.range(loop), i = this.axis(loop.axis.symbol), { out } = this;
    const { reductions, carried, folds = [] } = loop;
    for (const r of reductions) this.#openReduction(r, this.#inputType(r));
    for (const f of folds) {
      if (isPosition(f.op)) this.#openReduction(f, valueType(this.#dtypeOf(f.values.buffer)));
      else openLanes(this, f);
    }
    for (const c of carried) {
      out.line(`${VALUE_TYPE[c.dtype]} v${c.id} = ${this.value(c.initial)};`);
      this.define(c.id, c.dtype);
    }
    const start = this.#foldedRows(loop, { from, to }) ?? from, kept = keepingLoop(loop);
    if (kept) out.line(kept);
    out.block(`for (long ${i} = ${start}; ${i} < ${to}; ${i}++) {`, () => {
      if (loop.scalar) out.line(`__asm__ volatile ("");`);
      this.statements(loop.body);
      this.#advance(loop);
      for (const f of folds) this.#fold(f);
    });
    for (const r of reductions) this.#closeReduction(r);
    for (const f of folds) {
      if (isPosition(f.op)) this.#closeReduction(f);
      else closeLanes(this, f);
    }
  }

  /** Prints the iterations of a loop over rows that are folded together. Returns where the remaining ones begin. */
  #foldedRows(loop: Loop, { from, to }: Range): string | undefined {
    const found = foldedRows(loop);
    if (!found || this.#dtypeOf(found.fold.values.buffer) !== found.fold.dtype) return undefined;
    const { fold, step, rest } = found, { id, op, dtype, values, count } = fold, { out } = this;
    const i = this.axis(loop.axis.symbol), b = `b${this.unique()}`, lanes = `rows${this.unique()}`;
    this.names.fold(foldText(op, dtype, dtype));
    this.names.fold(foldRowsText(fold));
    out.line(`long ${b} = ${from};`);
    out.block(`for (; ${b} + ${ROWS} <= ${to}; ${b} += ${ROWS}) {`, () => {
      out.line(`${MEMORY_TYPE[dtype]} ${lanes}[${ROWS}][${LANES}] __attribute__((aligned(64)));`);
      const each = `for (int r = 0; r < ${ROWS}; r++)`;
      out.line(`${each} for (int l = 0; l < ${LANES}; l++) ${lanes}[r][l] = ${neutral(op, dtype)};`);
      out.block("{", () => {
        out.line(`const long ${i} = ${b};`);
        const parts = [lanes, this.#elements(values), this.index(step), this.index(count)];
        out.line(`${foldRowsName(fold)}(${parts.join(", ")});`);
      });
      out.block(`${each} {`, () => {
        out.line(`const long ${i} = ${b} + r;`);
        const name = this.define(id, dtype);
        out.line(`const ${VALUE_TYPE[dtype]} ${name} = ${foldName(op, dtype, dtype)}_end(${lanes}[r]);`);
        this.statements(rest);
        this.#advance(loop);
      });
    });
    return b;
  }

  /** Declares the accumulator of a reduction; for argmax and argmin also the best element so far. */
  #openReduction({ id, op, dtype }: Result, input: ValueType): void {
    if (isPosition(op)) {
      this.out.line(`${MEMORY_TYPE[input]} v${id}_best = 0;`, `${VALUE_TYPE[dtype]} v${id} = -1;`);
    } else this.out.line(`${VALUE_TYPE[dtype]} v${id} = ${neutral(op, dtype)};`);
  }

  #closeReduction({ id, op, dtype }: Result): void {
    if (isPosition(op)) this.out.line(`v${id} = v${id} < 0 ? 0 : v${id};`);
    this.define(id, dtype);
  }

  /** The element type that argmax and argmin compare. */
  #inputType(r: Reduction): ValueType {
    const found = this.#types.get(r.value);
    if (found === undefined) {
      throw new InternalError(`Expected the type of v${r.value} but it is not defined below`);
    }
    return found;
  }

  #types: ReadonlyMap<ValueId, ValueType> = new Map();

  /** Sets the types of all values of the kernel, before anything is printed. */
  types(types: ReadonlyMap<ValueId, ValueType>): this {
    this.#types = types;
    return this;
  }

  /** Consecutive elements in memory. */
  #elements({ buffer, index }: Elements): string {
    return `${this.names.buffer(buffer)} + (${this.index(index)})`;
  }

  /** A call of the function that folds elements. */
  #fold({ id, op, dtype, values, positions, count }: Fold): void {
    const input = valueType(this.#dtypeOf(values.buffer)),
      into = isPosition(op) ? `&v${id}_best, &v${id}` : `v${id}_lanes`;
    const places = positions ? `, ${this.#elements(positions)}` : "";
    this.names.fold(foldText(op, input, dtype));
    this.out.line(
      `${foldName(op, input, dtype)}(${into}, ${this.#elements(values)}${places}, ${this.index(count)});`,
    );
  }

  /** Prints the end of an iteration. */
  #advance({ reductions, carried }: Loop): void {
    for (const r of reductions) {
      const value = this.value(r.value), total = `v${r.id}`;
      if (isPosition(r.op)) {
        const best = `${total}_best`;
        const better = takes(r.op, this.#inputType(r), { value, best, index: total });
        this.out.line(`if (${better}) ${best} = ${value}, ${total} = ${this.value(r.index ?? r.value)};`);
      } else this.out.line(`${total} = ${combine(r.op, r.dtype, [total, value])};`);
    }
    const next = carried.map((c) => {
      const name = `n${c.id}_${this.unique()}`;
      this.out.line(`const ${VALUE_TYPE[c.dtype]} ${name} = ${this.value(c.next)};`);
      return name;
    });
    carried.forEach((c, i) => this.out.line(`v${c.id} = ${next[i]};`));
  }
}
