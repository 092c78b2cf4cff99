/**
 * Prints loop IR statements as WGSL. They run in one of two ways: in every invocation independently, or in a
 * workgroup together ("cooperative"): then plain values are computed by all, stores are made by the first, parallel
 * and reduction loops are divided. Invariant: each value becomes one `let` or `var`.
 */
import { isFloat, isNarrow, type ValueType } from "../../../lib/base/dtype.ts";
import { InternalError } from "../../../lib/base/errors.ts";
import { TextWriter } from "../../../lib/base/text_writer.ts";
import type { Dim, Sym } from "../../../lib/sym/expr.ts";
import {
  type BufferId,
  isPosition,
  type Loop,
  type Points,
  type Program,
  type Reduction,
  type Statement,
  type ValueId,
} from "../../../lib/loops/ir.ts";
import { combinationOf, neutralOf } from "../../../lib/loops/reductions.ts";
import { type Access, accessesOf } from "../../../lib/loops/uses.ts";
import { valueTypes } from "../../../lib/loops/value_types.ts";
import type { Bindings } from "./bindings.ts";
import { isFour, neighboursOf } from "../../../lib/codegen/fours.ts";
import { indexText } from "./index.ts";
import { ShaderFunctions } from "./prelude.ts";
import { castText, constantText, registerType, scalarText } from "./scalar.ts";

/** The options of a writer. */
export interface ShaderSetting {
  readonly program: Program;
  readonly bindings: Bindings;
  /** Invocations of a workgroup. */
  readonly threads: number;
  readonly cooperative: boolean;
  /** Grid points that a workgroup runs concurrently. Absent: one. */
  readonly points?: Points;
  /** How exponentials are computed; exact by default. */
  readonly exponentials?: "short";
}

/** Writes the body of one shader. */
export class ShaderWriter {
  readonly #text = new TextWriter();
  /** Functions that the text calls. */
  readonly helpers: ShaderFunctions;
  readonly #types = new Map<ValueId, ValueType>();
  readonly #numbers = new Map<ValueId, number>();
  readonly #counters = new Map<Sym, string>();
  /** Types of the workgroup arrays in use, by name. */
  readonly #shared = new Map<string, string>();
  /** Whether the workgroup still runs together at this point. */
  #together: boolean;
  /** Buffers that any invocation may have read since the last barrier. */
  readonly #readSince = new Set<BufferId>();
  /** While an invocation processes four elements: the current one, and the values that differ between them. */
  #lane: { readonly at: number; readonly varying: ReadonlySet<ValueId> } | undefined;

  constructor(readonly setting: ShaderSetting) {
    this.#together = setting.cooperative;
    this.helpers = new ShaderFunctions(setting.exponentials);
  }

  /** Invocations that divide a point. */
  get #sharing(): number {
    const { threads, points } = this.setting;
    return threads / (points?.count ?? 1);
  }

  line(text: string): void {
    this.#text.line(text);
  }

  /** Names a loop counter. */
  counter(symbol: Sym): string {
    const known = this.#counters.get(symbol);
    if (known) return known;
    const name = `c${this.#counters.size}`;
    this.#counters.set(symbol, name);
    return name;
  }

  index(d: Dim): string {
    return indexText(d, (s) => this.#symbolName(s), this.helpers);
  }

  #symbolName(s: Sym): string {
    if (s.node.kind !== "symbol") throw new InternalError(`Expected a symbol but found ${s}`);
    const { role } = s.node;
    switch (role.kind) {
      case "axis": {
        const name = this.#counters.get(s);
        if (!name) throw new InternalError(`Expected the loop of ${s} around its use`);
        return name;
      }
      case "value":
        return this.#value(role.id);
      case "size":
        return this.setting.bindings.parameters.size(s);
      case "unbacked":
        throw new InternalError(`Expected a size that the caller passes but found ${s}`);
      default:
        return role satisfies never;
    }
  }

  /** Declarations, helpers and the written function. */
  finish(): string {
    const shared = [...this.#shared].map(([name, type]) =>
      `var<workgroup> ${name}: array<${type}, ${this.setting.threads}>;`
    );
    return [this.setting.bindings.declarations(), ...shared, this.helpers.text, this.#text.toString()]
      .join("\n");
  }

  statements(list: readonly Statement[]): void {
    for (const s of list) this.#statement(s);
  }

  /**
   * Writes a loop over four neighbours: statements they share once, others four times. `given` are values from outside
   * the loop that differ between them. Returns a function from a value to its variables for the four.
   */
  four(loop: Loop, given: readonly ValueId[] = []): (id: ValueId) => readonly string[] {
    const { varying, access, at } = neighboursOf(loop, given), { bindings, program } = this.setting;
    const isWhole = (buffer: BufferId) =>
      bindings.inFours(buffer) ||
      (bindings.options.lanes === 4 && isNarrow(program.buffers[buffer]?.dtype ?? "float32"));
    loop.reductions.forEach((r) => this.#openReduction(r, r.dtype));
    for (const s of loop.body) {
      if ((s.kind === "load" || s.kind === "store") && access(s.index) === "four" && isWhole(s.buffer)) {
        this.#lane = { at: 0, varying };
        this.#four(s, this.index(at(s.index, 0)), varying);
        continue;
      }
      for (const lane of "id" in s && !varying.has(s.id) ? [0] : [0, 1, 2, 3]) {
        this.#lane = { at: lane, varying };
        this.#statement("index" in s ? { ...s, index: at(s.index, lane) } : s);
      }
    }
    for (const at of [0, 1, 2, 3]) {
      this.#lane = { at, varying };
      for (const r of loop.reductions) {
        this.line(this.#combine(r, r.dtype, { value: this.#value(r.value), index: "" }));
      }
    }
    this.#lane = undefined;
    loop.reductions.forEach((r) => this.#closeReduction(r));
    return (id) => this.#variables(id, varying);
  }

  /** Returns the variables of a value for each of four neighbours. */
  #variables(id: ValueId, varying: ReadonlySet<ValueId>): readonly string[] {
    const name = this.plain(id);
    return [0, 1, 2, 3].map((lane) => varying.has(id) ? `${name}_${lane}` : name);
  }

  #four(
    s: Statement & { readonly kind: "load" | "store" },
    index: string,
    varying: ReadonlySet<ValueId>,
  ): void {
    const { bindings } = this.setting;
    if (s.kind === "load") {
      this.#types.set(s.id, s.dtype);
      this.line(`let w${this.#numberOf(s.id)} = ${bindings.loadFour(s.buffer, index)};`);
      for (const [lane, part] of ["x", "y", "z", "w"].entries()) {
        this.line(`let v${this.#numberOf(s.id)}_${lane} = w${this.#numberOf(s.id)}.${part};`);
      }
      return;
    }
    this.line(bindings.storeFour(s.buffer, index, this.#variables(s.value, varying)));
  }

  /** Numbers values by first use, so that equal kernels have equal texts. */
  #numberOf(id: ValueId | undefined): number {
    const known = this.#numbers.get(id ?? -1) ?? this.#numbers.size;
    this.#numbers.set(id ?? -1, known);
    return known;
  }

  /** Names a value that is passed in. */
  given(id: ValueId, dtype: ValueType): string {
    this.#types.set(id, dtype);
    return this.plain(id);
  }

  /** Returns the variable of a value that is the same for all four neighbours. */
  plain(id: ValueId): string {
    return `v${this.#numberOf(id)}`;
  }

  /** Returns the variable of a value. */
  #value(id: ValueId): string {
    const name = `v${this.#numberOf(id)}`;
    return this.#lane?.varying.has(id) ? `${name}_${this.#lane.at}` : name;
  }

  /** Compilers combine constants: (x − y) + 10⁻⁶ becomes (x + 10⁻⁶) − y, which is a different number */
  #constant(value: number | bigint | boolean, dtype: ValueType): string {
    const text = constantText(value, dtype, this.helpers);
    const isKnown = dtype === "float32" && value !== 0 && Number.isFinite(value);
    return isKnown ? `${this.helpers.use("hidden")}(${text})` : text;
  }

  #statement(s: Statement): void {
    switch (s.kind) {
      case "constant":
        return this.#let(s.id, s.dtype, this.#constant(s.value, s.dtype));
      case "index":
        return this.#let(
          s.id,
          s.dtype,
          castText(this.index(s.index), { from: "int32", to: s.dtype, helpers: this.helpers }),
        );
      case "scalar": {
        const dtype = this.#typeOf(s.args[0]);
        const text = scalarText(s.op, s.args.map((a) => this.#value(a)), { dtype, helpers: this.helpers });
        return this.#let(s.id, s.dtype, text);
      }
      case "cast":
        return this.#let(
          s.id,
          s.dtype,
          castText(this.#value(s.value), { from: this.#typeOf(s.value), to: s.dtype, helpers: this.helpers }),
        );
      case "select":
        return this.#let(
          s.id,
          s.dtype,
          `select(${this.#value(s.otherwise)}, ${this.#value(s.then)}, ${this.#value(s.condition)})`,
        );
      case "load":
        this.#readSince.add(this.setting.bindings.ownerOf(s.buffer));
        return this.#let(s.id, s.dtype, this.setting.bindings.load(s.buffer, this.index(s.index)));
      case "store": {
        if (this.#together) this.#meetBefore([s]);
        const text = this.setting.bindings.store(s.buffer, this.index(s.index), {
          text: this.#value(s.value),
          mode: s.mode,
          helpers: this.helpers,
        });
        this.line(this.#together ? `if (lid == 0) { ${text} }` : text);
        if (this.#together && this.setting.bindings.reads(s.buffer)) this.#barrier();
        return;
      }
      case "masked":
        this.#types.set(s.id, s.dtype);
        this.line(
          `var v${this.#numberOf(s.id)}: ${registerType(s.dtype)} = v${this.#numberOf(s.otherwise)};`,
        );
        this.line(`if (v${this.#numberOf(s.condition)}) {`);
        this.statements(s.body);
        this.line(`v${this.#numberOf(s.id)} = v${this.#numberOf(s.value)};`);
        this.line("}");
        return;
      case "loop":
        return this.#loop(s);
      default:
        return s satisfies never;
    }
  }

  #let(id: ValueId, dtype: ValueType, text: string): void {
    this.#types.set(id, dtype);
    this.line(`let ${this.#value(id)}: ${registerType(dtype)} = ${text};`);
  }

  #typeOf(id: ValueId | undefined): ValueType {
    const dtype = id === undefined ? undefined : this.#types.get(id);
    if (!dtype) throw new InternalError(`Expected value ${id} to be defined before its use`);
    return dtype;
  }

  #barrier(): void {
    this.line("storageBarrier(); workgroupBarrier();");
    this.#readSince.clear();
  }

  /** Slower invocations still read what faster ones would overwrite */
  #meetBefore(body: readonly Statement[]): void {
    const { bindings } = this.setting;
    if (buffersOf(body, "store").some((id) => this.#readSince.has(bindings.ownerOf(id)))) {
      this.#barrier();
    }
  }

  #loop(loop: Loop): void {
    if (isFour(loop)) {
      this.four(loop);
      return;
    }
    const shared = loop.share === "team";
    const counter = this.counter(loop.axis.symbol), size = this.index(loop.axis.size);
    for (const c of loop.carried) {
      this.#types.set(c.id, c.dtype);
      this.line(`var v${this.#numberOf(c.id)}: ${registerType(c.dtype)} = v${this.#numberOf(c.initial)};`);
    }
    const taken = loop.reductions.map((r) => this.#valueType(loop, r));
    loop.reductions.forEach((r, i) => this.#openReduction(r, taken[i] ?? r.dtype));
    if (shared && this.#together) this.#meetBefore(loop.body);
    // An iteration writes what the previous iteration has read
    for (const id of buffersOf(loop.body, "load")) this.#readSince.add(this.setting.bindings.ownerOf(id));
    const [start, step] = shared ? ["lid", this.#sharing] : ["0", 1];
    this.line(`for (var ${counter} = ${start}; ${counter} < ${size}; ${counter} = ${counter} + ${step}) {`);
    const before = this.#together;
    if (shared) this.#together = false;
    this.statements(loop.body);
    loop.reductions.forEach((r, i) => {
      const value = taken[i] ?? r.dtype;
      this.line(
        this.#combine(r, value, {
          value: `v${this.#numberOf(r.value)}`,
          index: `v${this.#numberOf(r.index)}`,
        }),
      );
    });
    for (const c of loop.carried) this.line(`v${this.#numberOf(c.id)} = v${this.#numberOf(c.next)};`);
    this.#together = before;
    this.line("}");
    if (shared) {
      loop.reductions.forEach((r, i) => this.#shareReduction(r, taken[i] ?? r.dtype));
      if (buffersOf(loop.body, "store").some((id) => this.setting.bindings.reads(id))) this.#barrier();
    }
    loop.reductions.forEach((r) => this.#closeReduction(r));
  }

  /** argmax and argmin compare values of another type than their result */
  #valueType(loop: Loop, r: Reduction): ValueType {
    if (r.op !== "argmax" && r.op !== "argmin") return r.dtype;
    return valueTypes(loop.body).get(r.value) ?? this.#typeOf(r.value);
  }

  #openReduction(r: Reduction, value: ValueType): void {
    this.line(
      `var a${this.#numberOf(r.id)}: ${registerType(value)} = ${
        constantText(neutralOf(r.op, value), value, this.helpers)
      };`,
    );
    if (isPosition(r.op)) this.line(`var p${this.#numberOf(r.id)}: i32 = 2147483647;`);
  }

  /** a = a combined with a value. */
  #combine(r: Reduction, dtype: ValueType, from: { value: string; index: string }): string {
    if (isPosition(r.op)) return this.#combineArg(r, dtype, from);
    const acc = `a${this.#numberOf(r.id)}`, args = [acc, from.value];
    return `${acc} = ${scalarText(combinationOf(r.op, dtype), args, { dtype, helpers: this.helpers })};`;
  }

  /** The first index of the extreme; NaN beats every number. */
  #combineArg(r: Reduction, dtype: ValueType, { value, index }: { value: string; index: string }): string {
    const acc = `a${this.#numberOf(r.id)}`, at = `p${this.#numberOf(r.id)}`;
    const isBool = dtype === "bool";
    const [x, y] = isBool ? [`i32(${value})`, `i32(${acc})`] : [value, acc];
    const better = `${x} ${r.op === "argmax" ? ">" : "<"} ${y}`;
    let wins = `${better} || (${x} == ${y} && ${index} < ${at})`;
    if (isFloat(dtype)) {
      this.helpers.use("is_nan");
      wins = `(is_nan(${x}) && (!is_nan(${y}) || ${index} < ${at})) || (!is_nan(${y}) && (${wins}))`;
    }
    return `if (${wins}) { ${acc} = ${value}; ${at} = ${index}; }`;
  }

  /** Combines the accumulators of all invocations, by halves, and broadcasts the result. */
  #shareReduction(r: Reduction, dtype: ValueType): void {
    const type = registerType(dtype);
    // Not every implementation supports bool in workgroup memory
    const stored = type === "bool" ? "u32" : type;
    const values = `shared_${stored}`;
    this.#shared.set(values, stored);
    if (isPosition(r.op)) this.#shared.set("shared_at", "i32");
    const put = type === "bool" ? `select(0u, 1u, a${this.#numberOf(r.id)})` : `a${this.#numberOf(r.id)}`;
    const get = (at: string) => type === "bool" ? `(${values}[${at}] != 0u)` : `${values}[${at}]`;
    const { points } = this.setting, slot = points ? "slot" : "lid";
    const apart = points?.interleaved ? ` * ${points.count}` : "",
      first = points ? `slot - lid${apart}` : "0";
    const publish = `${values}[${slot}] = ${put};${
      isPosition(r.op) ? ` shared_at[${slot}] = p${this.#numberOf(r.id)};` : ""
    }`;
    this.line(publish);
    this.line("workgroupBarrier();");
    this.line(`for (var half = ${this.#sharing / 2}; half > 0; half = half / 2) {`);
    this.line("if (lid < half) {");
    const next = `${slot} + half${apart}`;
    this.line(`let other = ${get(next)};${isPosition(r.op) ? ` let other_at = shared_at[${next}];` : ""}`);
    this.line(this.#combine(r, dtype, { value: "other", index: "other_at" }));
    this.line(publish);
    this.line("}");
    this.line("workgroupBarrier();");
    this.line("}");
    this.line(
      `a${this.#numberOf(r.id)} = ${get(first)};${
        isPosition(r.op) ? ` p${this.#numberOf(r.id)} = shared_at[${first}];` : ""
      }`,
    );
    this.line("workgroupBarrier();");
  }

  #closeReduction(r: Reduction): void {
    this.#let(
      r.id,
      r.dtype,
      isPosition(r.op)
        ? `select(p${this.#numberOf(r.id)}, 0, p${this.#numberOf(r.id)} == 2147483647)`
        : `a${this.#numberOf(r.id)}`,
    );
  }
}

/** The buffers that statements load from or store to, those of inner loops too. */
const buffersOf = (body: readonly Statement[], kind: Access["kind"]): BufferId[] =>
  [...accessesOf(body)].flatMap((s) => s.kind === kind ? s.buffer : []);
