/**
 * Accumulators of reductions and scans: variables of each invocation, which a workgroup combines in its memory.
 * Invariant: the invocations that share a point reach all barriers here, and combine in one order.
 *
 * Other private variables hold an element, or a vector of four, of each iteration of a loop, or of a known position,
 * which is written once, as a vector.
 */
import { isFloat, type ValueType } from "../../../lib/base/dtype.ts";
import {
  type BufferId,
  isPosition,
  type Points,
  type Program,
  type Reduction,
  type ValueId,
} from "../../../lib/loops/ir.ts";
import { combinationOf, neutralOf } from "../../../lib/loops/reductions.ts";
import type { Scan } from "../../../lib/loops/scans.ts";
import { constantText, type Helpers, registerType, scalarText } from "./scalar.ts";
import { InternalError } from "../../../lib/base/errors.ts";
import { loadType } from "../../../lib/loops/record.ts";
import type { Dim } from "../../../lib/sym/expr.ts";

/** The writer of a shader, as far as accumulators need it. */
interface AccumulatorWriter {
  readonly setting: { readonly threads: number; readonly points?: Points };
  readonly helpers: Helpers;
  line(text: string): void;
}

/** The texts of a value and of the position that goes with it, if any. */
export interface Contribution {
  readonly value: string;
  readonly index: string;
}

/** Writes the accumulators of one shader. */
export class Accumulators {
  /** Types of the workgroup arrays in use, by name. */
  readonly #shared = new Map<string, string>();

  constructor(readonly writer: AccumulatorWriter, readonly numberOf: (id: ValueId) => number) {}

  /** Invocations that share a point. */
  get sharing(): number {
    const { threads, points } = this.writer.setting;
    return threads / (points?.count ?? 1);
  }

  /** The workgroup arrays. */
  declarations(): readonly string[] {
    return [...this.#shared].map(([name, type]) =>
      `var<workgroup> ${name}: array<${type}, ${this.writer.setting.threads}>;`
    );
  }

  /** Declares the accumulator of a reduction of values of a type. */
  open(r: Reduction, dtype: ValueType): void {
    const { writer } = this, neutral = constantText(neutralOf(r.op, dtype), dtype, writer.helpers);
    writer.line(`var a${this.numberOf(r.id)}: ${registerType(dtype)} = ${neutral};`);
    if (isPosition(r.op)) writer.line(`var p${this.numberOf(r.id)}: i32 = 2147483647;`);
  }

  /** Combines the accumulator with a value. */
  take(r: Reduction, dtype: ValueType, from: Contribution): void {
    const { writer } = this, acc = `a${this.numberOf(r.id)}`;
    if (isPosition(r.op)) return writer.line(this.#better(r, dtype, from));
    const text = scalarText(combinationOf(r.op, dtype), [acc, from.value], {
      dtype,
      helpers: writer.helpers,
    });
    writer.line(`${acc} = ${text};`);
  }

  /** The first index of the extreme; NaN beats every number. */
  #better(r: Reduction, dtype: ValueType, { value, index }: Contribution): string {
    const acc = `a${this.numberOf(r.id)}`, at = `p${this.numberOf(r.id)}`;
    const isBool = dtype === "bool";
    const [x, y] = isBool ? [`i32(${value})`, `i32(${acc})`] : [value, acc];
    const better = `${x} ${r.op === "argmax" ? ">" : "<"} ${y}`;
    // Without branches, so no && and ||
    let wins = `(${better}) | ((${x} == ${y}) & (${index} < ${at}))`;
    if (isFloat(dtype)) {
      this.writer.helpers.use("is_nan");
      wins = `(is_nan(${x}) & (!is_nan(${y}) | (${index} < ${at}))) | (!is_nan(${y}) & (${wins}))`;
    }
    return `if (${wins}) { ${acc} = ${value}; ${at} = ${index}; }`;
  }

  /** The result of a reduction. */
  result(r: Reduction): string {
    const number = this.numberOf(r.id);
    return isPosition(r.op) ? `select(p${number}, 0, p${number} == 2147483647)` : `a${number}`;
  }

  /** Combines the accumulators of all invocations, by halves; all of them get the result. */
  share(r: Reduction, dtype: ValueType): void {
    const { writer } = this, { points } = writer.setting, type = registerType(dtype);
    // Not every implementation supports bool in workgroup memory
    const stored = type === "bool" ? "u32" : type, values = `shared_${stored}`, own = this.numberOf(r.id);
    this.#shared.set(values, stored);
    if (isPosition(r.op)) this.#shared.set("shared_at", "i32");
    const put = type === "bool" ? `select(0u, 1u, a${own})` : `a${own}`;
    const get = (at: string) => type === "bool" ? `(${values}[${at}] != 0u)` : `${values}[${at}]`;
    const position = (text: string) => isPosition(r.op) ? ` ${text}` : "";
    const slot = points ? "slot" : "lid", apart = points?.interleaved ? ` * ${points.count}` : "";
    const first = points ? `slot - lid${apart}` : "0", next = `${slot} + half${apart}`;
    const publish = `${values}[${slot}] = ${put};${position(`shared_at[${slot}] = p${own};`)}`;
    writer.line(publish);
    writer.line("workgroupBarrier();");
    writer.line(`for (var half = ${this.sharing / 2}; half > 0; half = half / 2) {`);
    writer.line("if (lid < half) {");
    writer.line(`let other = ${get(next)};${position(`let other_at = shared_at[${next}];`)}`);
    this.take(r, dtype, { value: "other", index: "other_at" });
    writer.line(publish);
    writer.line("}");
    writer.line("workgroupBarrier();");
    writer.line("}");
    writer.line(`a${own} = ${get(first)};${position(`p${own} = shared_at[${first}];`)}`);
    writer.line("workgroupBarrier();");
  }

  /**
   * Computes the prefix of each invocation's contribution, starting from `sofar`, by doubling distances; adds all
   * contributions to `sofar`. Inactive invocations contribute nothing.
   */
  scan(
    { carried: { id, dtype }, op, reduction }: Scan,
    { value, active, sofar }: {
      readonly value: string;
      readonly active: string | undefined;
      readonly sofar: string;
    },
  ): void {
    const { writer, sharing } = this, { helpers } = writer, type = registerType(dtype);
    const shared = `shared_${type}`, slot = writer.setting.points ? "slot" : "lid", start = `${slot} - lid`;
    this.#shared.set(shared, type);
    const own = `a${this.numberOf(id)}`;
    const combined = (a: string, b: string) => scalarText(op, [a, b], { dtype, helpers });
    const neutral = constantText(neutralOf(reduction, dtype), dtype, helpers);
    writer.line(`var ${own}: ${type} = ${active ? `select(${neutral}, ${value}, ${active})` : value};`);
    writer.line(`${shared}[${slot}] = ${own};`);
    writer.line("workgroupBarrier();");
    writer.line(`for (var step = 1; step < ${sharing}; step = step * 2) {`);
    writer.line(`let other = ${shared}[${slot} - select(0, step, lid >= step)];`);
    writer.line("workgroupBarrier();");
    writer.line(`if (lid >= step) { ${own} = ${combined("other", own)}; ${shared}[${slot}] = ${own}; }`);
    writer.line("workgroupBarrier();");
    writer.line("}");
    writer.line(`${own} = ${combined(sofar, `${shared}[max(${slot} - 1, ${start})]`)};`);
    writer.line(`let v${this.numberOf(id)}: ${type} = select(${own}, ${sofar}, lid == 0);`);
    writer.line(`${sofar} = ${combined(sofar, `${shared}[${start} + ${sharing - 1}]`)};`);
    writer.line("workgroupBarrier();");
  }
}

/** Names the variables of local buffers. */
export class Registers {
  readonly #names = new Map<BufferId, string>();
  readonly #declared = new Set<BufferId>();
  /** The iteration being written. */
  iteration = 0;

  constructor(readonly program: Program) {}

  /** Returns whether a buffer consists of variables. */
  has(buffer: BufferId): boolean {
    return this.program.buffers[buffer]?.role.kind === "local";
  }

  /** The variable of an element, or of the vector that starts with it; undefined for memory. */
  nameOf(buffer: BufferId, index: Dim): string | undefined {
    if (!this.has(buffer)) return undefined;
    const name = this.#names.get(buffer) ?? `k${this.#names.size}`;
    this.#names.set(buffer, name);
    return `${name}_${typeof index === "number" ? index >> 2 : this.iteration}`;
  }

  /** An element; undefined for memory. */
  load(buffer: BufferId, index: Dim): string | undefined {
    const name = this.nameOf(buffer, index);
    return name && typeof index === "number" ? `${name}[${index & 3}]` : name;
  }

  /** The statement that writes a vector; undefined for memory. */
  storeFour(buffer: BufferId, index: Dim, vector: string): string | undefined {
    const name = this.nameOf(buffer, index);
    return name && `${typeof index === "number" ? "let " : ""}${name} = ${vector};`;
  }

  /** Declares the variables of this many iterations, once: of elements, or of vectors. */
  declare(buffer: BufferId, count: number, inFours: boolean): readonly string[] {
    const { dtype } = this.program.buffers[buffer] ?? {};
    if (!dtype) throw new InternalError(`Expected a buffer of the program but found ${buffer}`);
    if (this.#declared.has(buffer)) return [];
    this.#declared.add(buffer);
    const type = registerType(loadType(dtype)), name = this.nameOf(buffer, 0)?.slice(0, -2);
    return Array.from({ length: count }, (_, i) => `var ${name}_${i}: ${inFours ? `vec4<${type}>` : type};`);
  }
}
