/**
 * Prints loop IR statements as WGSL. They run in one of two ways: in every invocation independently, or in a
 * workgroup together ("cooperative"): then plain values are computed by all, stores are made by the first, parallel
 * and reduction loops are divided. Invariant: each value becomes one `let` or `var`.
 */
import { isNarrow, type ValueType } from "../../../lib/base/dtype.ts";
import { InternalError } from "../../../lib/base/errors.ts";
import { TextWriter } from "../../../lib/base/text_writer.ts";
import { type Dim, freeSymbols, type Sym } from "../../../lib/sym/expr.ts";
import {
  type BufferId,
  type Carried,
  type Loop,
  type Points,
  type Program,
  type Reduction,
  type Statement,
  type ValueId,
} from "../../../lib/loops/ir.ts";
import { type Scans, scansOf } from "../../../lib/loops/scans.ts";
import { type Access, accessesOf, allOf } from "../../../lib/loops/uses.ts";
import { valueTypes } from "../../../lib/loops/value_types.ts";
import type { Bindings } from "./bindings.ts";
import { isVec4Loop, neighboursOf } from "../../../lib/codegen/vec4.ts";
import { castText, constantText, indexText, registerType, scalarText } from "./scalar.ts";
import { ShaderFunctions } from "./prelude.ts";
import { Accumulators, Registers } from "./accumulators.ts";

/** The options of a writer. */
interface ShaderSetting {
  readonly program: Program;
  readonly bindings: Bindings;
  /** Invocations of a workgroup. */
  readonly threads: number;
  readonly cooperative: boolean;
  /** Grid points that a workgroup runs concurrently. Absent: one. */
  readonly points?: Points;
  /** How exponentials are computed; exact by default. */
  readonly exponentials?: "short";
  /** Whether kernels with other sizes have the same text. */
  readonly ofAnySize?: boolean;
}

/** One of four neighbours or all of them, the values that they do not share, and those that each passes to the next. */
interface Lane {
  readonly at: number | "all";
  readonly varying: ReadonlySet<ValueId>;
  readonly carried: readonly Carried[];
}

/** A statement that defines a value by an expression. */
type Expression = Exclude<Statement, { readonly kind: "loop" | "masked" | "store" }>;

const isExpression = (s: Statement): s is Expression =>
  s.kind !== "loop" && s.kind !== "masked" && s.kind !== "store";

const PARTS = ["x", "y", "z", "w"] as const;

/** The line that declares numbers, until all of them are known. */
const NUMBERS = "numbers;";

/** Maximum number of statements of a divided loop after unrolling. */
const SHORT = 48;

/** Writes the body of one shader. */
export class ShaderWriter {
  readonly #text = new TextWriter();
  /** Functions that the text calls. */
  readonly helpers: ShaderFunctions;
  readonly #types = new Map<ValueId, ValueType>();
  readonly #numbers = new Map<ValueId, number>();
  /** Numbers that the entry point declares, by name. */
  readonly #declared = new Map<string, string>();
  readonly #counters = new Map<Sym, string>();
  readonly #accumulators: Accumulators;
  /** Whether the workgroup still runs together at this point. */
  #together: boolean;
  /** Buffers that any invocation may have read since the last barrier. */
  readonly #readSince = new Set<BufferId>();
  readonly #registers: Registers;
  /** The condition that the current iteration is part of a scan. Absent: it always is. */
  #active: string | undefined;
  /** While an invocation processes four elements: the current one, and the values that they do not share. */
  #lane: Lane | undefined;

  constructor(readonly setting: ShaderSetting) {
    this.#together = setting.cooperative;
    this.#registers = new Registers(setting.program);
    this.#accumulators = new Accumulators(this, (id) => this.#numberOf(id));
    this.helpers = new ShaderFunctions(setting.exponentials);
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

  /**
   * A number that `meaning` identifies in the shader. Where kernels with other sizes have the same text, it is declared at
   * the start of the entry point, unless it simplifies the text, as 0 and 1 do.
   */
  number(meaning: string, value: Dim): string {
    const { ofAnySize, bindings: { parameters } } = this.setting;
    if (!ofAnySize || typeof value !== "number" || value === 0 || value === 1) return this.index(value);
    const text = parameters.number(meaning, value), name = `number_${/\d+/.exec(text)}`;
    this.#declared.set(name, text);
    return name;
  }

  declareNumbers(): void {
    this.line(NUMBERS);
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
    const numbers = [...this.#declared].map(([name, text]) => `let ${name} = ${text};\n`);
    return [
      this.setting.bindings.declarations(),
      ...this.#accumulators.declarations(),
      this.helpers.text,
      this.#text.toString().replace(`${NUMBERS}\n`, numbers.join("")),
    ]
      .join("\n");
  }

  statements(list: readonly Statement[]): void {
    for (const s of list) this.#statement(s);
  }

  /**
   * Writes a loop over four neighbours: values that differ between them are vectors. `given` are such values from
   * outside the loop. Returns a function from a value to its vector.
   */
  four(loop: Loop, given: readonly ValueId[] = []): (id: ValueId) => string {
    const { varying, access, at } = neighboursOf(loop, given), { bindings, program } = this.setting;
    const { carried } = loop, enter = (at: Lane["at"]) => this.#lane = { at, varying, carried };
    for (const { id, dtype } of carried) this.#types.set(id, dtype);
    const isWhole = (buffer: BufferId) =>
      bindings.inFours(buffer) || this.#registers.has(buffer) ||
      (bindings.options.lanes === 4 && isNarrow(program.buffers[buffer]?.dtype ?? "float32"));
    const taken = loop.reductions.map((r) => this.#valueType(loop, r));
    loop.reductions.forEach((r, i) => this.#accumulators.open(r, taken[i] ?? r.dtype));
    for (const s of loop.body) {
      const inLane = <S extends Statement>(lane: number, s: S): S => {
        enter(lane);
        return "index" in s ? { ...s, index: at(s.index, lane) } : s;
      };
      enter("all");
      if ((s.kind === "load" || s.kind === "store") && access(s.index) === "four" && isWhole(s.buffer)) {
        const first = at(s.index, 0);
        enter(0);
        const place = this.index(first);
        enter("all");
        this.#four(s, first, place);
      } else if (!isExpression(s)) PARTS.forEach((_, lane) => this.#statement(inLane(lane, s)));
      else if (!varying.has(s.id)) this.#statement(inLane(0, s));
      else if (s.kind === "scalar" && !carried.some(({ next }) => next === s.id)) this.#statement(s);
      else if (s.kind === "cast" || s.kind === "select") this.#statement(s);
      else {
        const names = PARTS.map((_, lane) => `${this.plain(s.id)}_${lane}`), type = registerType(s.dtype);
        names.forEach((name, i) => this.line(`let ${name}: ${type} = ${this.#expression(inLane(i, s))};`));
        enter("all");
        this.#let(s.id, s.dtype, `vec4(${names.join(", ")})`);
      }
    }
    for (const at of PARTS.keys()) {
      enter(at);
      loop.reductions.forEach((r, i) => this.#take(r, taken[i] ?? r.dtype));
    }
    this.#lane = undefined;
    loop.reductions.forEach((r) => this.#let(r.id, r.dtype, this.#accumulators.result(r)));
    for (const c of carried) this.#let(c.id, c.dtype, `${this.plain(c.next)}.w`);
    return (id) => {
      enter("all");
      const vector = this.#value(id);
      this.#lane = undefined;
      return vector;
    };
  }

  /** `index`, written as `place`, is that of the first neighbour. */
  #four(s: Statement & { readonly kind: "load" | "store" }, index: Dim, place: string): void {
    const { bindings } = this.setting;
    if (s.kind === "load") {
      const kept = this.#registers.nameOf(s.buffer, index);
      return this.#let(s.id, s.dtype, kept ?? bindings.loadFour(s.buffer, place));
    }
    const value = this.#value(s.value), kept = this.#registers.storeFour(s.buffer, index, value);
    this.line(kept ?? this.#guarded(bindings.storeFour(s.buffer, place, value)));
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

  /** Returns the variable of a value. */
  plain(id: ValueId): string {
    return `v${this.#numberOf(id)}`;
  }

  /** Returns the text of a value: of the current neighbour, or of all of them as a vector. */
  #value(id: ValueId): string {
    const name = this.plain(id), { at, varying, carried } = this.#lane ?? {};
    if (at === undefined) return name;
    if (at === "all") return varying?.has(id) ? name : `${this.#typeName(this.#typeOf(id))}(${name})`;
    const running = carried?.find((c) => c.id === id);
    if (running) return at === 0 ? this.plain(running.initial) : `${this.plain(running.next)}_${at - 1}`;
    return varying?.has(id) ? `${name}.${PARTS[at]}` : name;
  }

  /** Compilers combine constants: (x − y) + 10⁻⁶ becomes (x + 10⁻⁶) − y, which is a different number */
  #constant(value: number | bigint | boolean, dtype: ValueType): string {
    const text = constantText(value, dtype, this.helpers);
    const isKnown = dtype === "float32" && value !== 0 && Number.isFinite(value);
    return isKnown ? `${this.helpers.use("hidden")}(${text})` : text;
  }

  /** The text of what a statement defines: for the current neighbour, or for all of them. */
  #expression(s: Expression): string {
    const { helpers } = this, lanes = this.#lane?.at === "all" ? 4 : 1;
    switch (s.kind) {
      case "constant":
        return this.#constant(s.value, s.dtype);
      case "index":
        return castText(this.index(s.index), { from: "int32", to: s.dtype, helpers });
      case "scalar":
        return scalarText(s.op, s.args.map((a) => this.#value(a)), {
          dtype: this.#typeOf(s.args[0]),
          helpers,
          lanes,
        });
      case "cast":
        return castText(this.#value(s.value), { from: this.#typeOf(s.value), to: s.dtype, helpers, lanes });
      case "select":
        return `select(${this.#value(s.otherwise)}, ${this.#value(s.then)}, ${this.#value(s.condition)})`;
      case "load": {
        const kept = this.#registers.load(s.buffer, s.index);
        if (kept) return kept;
        this.#readSince.add(this.setting.bindings.ownerOf(s.buffer));
        return this.setting.bindings.load(s.buffer, this.index(s.index));
      }
      default:
        return s satisfies never;
    }
  }

  #statement(s: Statement): void {
    if (isExpression(s)) return this.#let(s.id, s.dtype, this.#expression(s));
    switch (s.kind) {
      case "store": {
        const kept = this.#registers.nameOf(s.buffer, s.index);
        if (kept) return this.line(`${kept} = ${this.#value(s.value)};`);
        if (this.#together) this.#meetBefore([s]);
        const text = this.setting.bindings.store(s.buffer, this.index(s.index), {
          text: this.#value(s.value),
          mode: s.mode,
          helpers: this.helpers,
        });
        this.line(this.#together ? `if (lid == 0) { ${text} }` : this.#guarded(text));
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
    this.line(`let ${this.plain(id)}: ${this.#typeName(dtype)} = ${text};`);
  }

  #typeName(dtype: ValueType): string {
    return this.#lane?.at === "all" ? `vec4<${registerType(dtype)}>` : registerType(dtype);
  }

  /** A store that is skipped after the end of a scan. */
  #guarded(store: string): string {
    return this.#active ? `if (${this.#active}) { ${store} }` : store;
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
    const written = buffersOf(body, "store").filter((id) => !this.#registers.has(id));
    if (written.some((id) => this.#readSince.has(bindings.ownerOf(id)))) {
      this.#barrier();
    }
  }

  #loop(loop: Loop): void {
    if (isVec4Loop(loop)) {
      this.four(loop);
      return;
    }
    const shared = loop.share === "team", scans = shared ? scansOf(loop) : undefined;
    if (scans) return this.#scan(loop, scans);
    for (const c of loop.carried) {
      this.#types.set(c.id, c.dtype);
      this.line(`var v${this.#numberOf(c.id)}: ${registerType(c.dtype)} = v${this.#numberOf(c.initial)};`);
    }
    const taken = loop.reductions.map((r) => this.#valueType(loop, r));
    loop.reductions.forEach((r, i) => this.#accumulators.open(r, taken[i] ?? r.dtype));
    if (shared && this.#together) this.#meetBefore(loop.body);
    // An iteration writes what the previous iteration has read
    for (const id of buffersOf(loop.body, "load")) this.#readSince.add(this.setting.bindings.ownerOf(id));
    this.#iterations(loop, () => {
      const before = this.#together;
      if (shared) this.#together = false;
      this.statements(loop.body);
      loop.reductions.forEach((r, i) => this.#take(r, taken[i] ?? r.dtype));
      for (const c of loop.carried) this.line(`v${this.#numberOf(c.id)} = v${this.#numberOf(c.next)};`);
      this.#together = before;
    });
    if (shared) {
      loop.reductions.forEach((r, i) => this.#accumulators.share(r, taken[i] ?? r.dtype));
      if (buffersOf(loop.body, "store").some((id) => this.setting.bindings.reads(id))) this.#barrier();
    }
    loop.reductions.forEach((r) => this.#let(r.id, r.dtype, this.#accumulators.result(r)));
  }

  /** A scan by all invocations, in rounds of one iteration each; those past its end contribute and store nothing. */
  #scan(loop: Loop, { scans, first }: Scans): void {
    const { axis, body } = loop, { bindings } = this.setting, sharing = this.#accumulators.sharing;
    const counter = this.counter(axis.symbol), size = this.index(axis.size), from = `${counter}_from`;
    const sofar = scans.map(({ carried: { id, initial, dtype } }) => {
      this.#types.set(id, dtype);
      this.line(`var r${this.#numberOf(id)}: ${registerType(dtype)} = v${this.#numberOf(initial)};`);
      return `r${this.#numberOf(id)}`;
    });
    this.#meetBefore(body);
    for (const id of buffersOf(body, "load")) this.#readSince.add(bindings.ownerOf(id));
    this.line(`for (var ${from} = 0; ${from} < ${size}; ${from} = ${from} + ${sharing}) {`);
    const isWhole = typeof axis.size === "number" && axis.size % sharing === 0;
    this.line(`let ${counter} = ${isWhole ? `${from} + lid` : `min(${from} + lid, ${size} - 1)`};`);
    this.#active = isWhole ? undefined : `${from} + lid < ${size}`;
    this.#together = false;
    this.statements(first);
    scans.forEach((scan, i) => {
      const given = { value: this.#value(scan.value), active: this.#active, sofar: sofar[i] ?? "" };
      this.#accumulators.scan(scan, given);
    });
    this.statements(body.filter((s) => !first.includes(s)));
    this.#together = true;
    this.#active = undefined;
    this.line("}");
    scans.forEach(({ carried: { id } }, i) => this.line(`let v${this.#numberOf(id)} = ${sofar[i]};`));
    if (buffersOf(body, "store").some((id) => bindings.reads(id))) this.#barrier();
  }

  /**
   * Writes the iterations of a loop: unrolled if a workgroup divides it into few, so that their loads overlap, and if
   * invocations keep values, whose variables are named by iteration.
   */
  #iterations({ axis, body, share }: Loop, write: () => void): void {
    const counter = this.counter(axis.symbol), size = this.index(axis.size);
    const [start, step] = share === "team" ? ["lid", this.#accumulators.sharing] : ["0", 1];
    const kept = [...accessesOf(body)].filter(({ buffer, index }) =>
      this.#registers.has(buffer) && freeSymbols(index).has(axis.symbol)
    );
    const length = share === "team" && typeof axis.size === "number" ? axis.size : Infinity;
    const count = Math.ceil(length / step), isShort = count * [...allOf(body)].length <= SHORT;
    if (kept.length === 0 && !isShort) {
      this.line(`for (var ${counter} = ${start}; ${counter} < ${size}; ${counter} = ${counter} + ${step}) {`);
      write();
      return this.line("}");
    }
    const inFours = body.some((s) => s.kind === "loop");
    for (const { buffer } of kept) {
      this.#registers.declare(buffer, count, inFours).forEach((each) => this.line(each));
    }
    for (let i = 0; i < count; i++) {
      this.#registers.iteration = i;
      this.line(`{ let ${counter} = ${start} + ${i * step};`);
      const isWhole = (i + 1) * step <= length;
      if (!isWhole) this.line(`if (${counter} < ${size}) {`);
      write();
      this.line(isWhole ? "}" : "} }");
    }
  }

  /** argmax and argmin compare values of another type than their result */
  #valueType(loop: Loop, r: Reduction): ValueType {
    if (r.op !== "argmax" && r.op !== "argmin") return r.dtype;
    return valueTypes(loop.body).get(r.value) ?? this.#typeOf(r.value);
  }

  /** Combines the contribution of an iteration. */
  #take(r: Reduction, dtype: ValueType): void {
    const index = r.index === undefined ? "" : this.#value(r.index);
    this.#accumulators.take(r, dtype, { value: this.#value(r.value), index });
  }
}

/** The buffers that statements load from or store to, those of inner loops too. */
const buffersOf = (body: readonly Statement[], kind: Access["kind"]): BufferId[] =>
  [...accessesOf(body)].flatMap((s) => s.kind === kind ? s.buffer : []);
