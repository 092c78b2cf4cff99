/**
 * Prints programs of loop IR as JavaScript. Input: a program; output: the source of a function body that makes
 * `run(inputs, outputs, offsets, sizes, arena)`. Invariant: what an index expression needs of an outer loop is
 * computed in that loop, so the innermost loop adds its own part only.
 */
import { type DType, isFloat, isHalf, itemSize, type ValueType } from "../../lib/base/dtype.ts";
import { InternalError } from "../../lib/base/errors.ts";
import type { BufferId, Loop, Program, Reduction, Statement, ValueId } from "../../lib/loops/ir.ts";
import { boundsOf, type Dim, freeSymbols, type Sym } from "../../lib/sym/expr.ts";
import { castText, constantText, integerText, scalarText } from "./expressions.ts";
import { numericIntegers } from "./integers.ts";

/** A nesting level: loops open one, and the function itself is the outermost. */
interface Level {
  readonly indent: string;
  /** Parts of index expressions computed here, by text. */
  readonly hoisted: Map<string, string>;
  /** Their declarations, which precede the body. */
  readonly declarations: string[];
  readonly body: string[];
}

/** The source text of a program. */
export function printProgram(program: Program): string {
  return new Printer(program).print();
}

class Printer {
  readonly #levels: Level[] = [];
  readonly #axisNames = new Map<Sym, string>();
  readonly #axisLevels = new Map<Sym, number>();
  #values = new Map<ValueId, string>();
  #dtypes = new Map<ValueId, ValueType>();
  /** The int64 values of the kernel at hand that are numbers; all others are bigints. */
  #numbers: ReadonlySet<ValueId> = new Set();
  /** Buffers of int64 that are read as pairs of 32-bit words. */
  readonly #words = new Set<BufferId>();
  readonly #memories = new Map<BufferId, string>();
  #names = 0;

  constructor(readonly program: Program) {}

  print(): string {
    const { program } = this;
    this.#open("  ");
    program.sizes.forEach((s, k) => {
      this.#axisNames.set(s, `s${k}`);
      this.#axisLevels.set(s, 0);
      this.#line(`const s${k} = sizes[${k}];`);
    });
    program.inputs.forEach((id, k) => this.#bind(id, `inputs[${k}]`, `offsets[${k}]`));
    program.outputs.forEach((id, k) =>
      this.#bind(id, `outputs[${k}]`, `offsets[${k + program.inputs.length}]`)
    );
    program.buffers.forEach((buffer, id) => {
      if (buffer.role.kind !== "temporary") return;
      this.#line(
        `const b${id} = arena.${view(buffer.dtype)}, o${id} = (${this.#plain(buffer.role.offset)}) / ${
          itemSize(buffer.dtype)
        };`,
      );
    });
    const top = this.#top();
    const header = top.body.splice(0);
    program.kernels.forEach((kernel, k) => {
      const { guard } = program;
      if (guard?.after === k) this.#line(`if (b${guard.flag}[o${guard.flag}]) return;`);
      this.#line(`// ${kernel.name}`);
      if (kernel.kind === "extern") this.#line(`externs[${k}](buffers, elements, sizes);`);
      const loops = kernel.kind === "loops" ? kernel : kernel.epilogue;
      if (loops) {
        this.#values = new Map();
        this.#dtypes = new Map();
        this.#numbers = numericIntegers(loops.body);
        this.#line("{");
        this.#body(loops.body);
        this.#line("}");
      }
    });
    const externs = program.kernels.some((k) => k.kind === "extern")
      ? [
        `  const buffers = [${program.buffers.map((_, id) => `b${id}`).join(", ")}];`,
        `  const elements = [${program.buffers.map((_, id) => `o${id}`).join(", ")}];`,
      ]
      : [];
    return [
      "const f = Math.fround;",
      "return function run(inputs, outputs, offsets, sizes, arena) {",
      ...header,
      ...[...this.#words].map((id) => `  const w${id} = ${this.#memories.get(id) ?? "arena"}.int32;`),
      ...externs,
      ...top.declarations,
      ...top.body,
      "};",
    ].join("\n");
  }

  #bind(id: BufferId, memory: string, offset: string): void {
    this.#memories.set(id, memory);
    const dtype = this.#buffer(id).dtype;
    const size = itemSize(dtype);
    this.#line(
      `const b${id} = ${memory}.${view(dtype)}, o${id} = ${offset}${size === 1 ? "" : ` / ${size}`};`,
    );
  }

  #buffer(id: BufferId): Program["buffers"][number] {
    const buffer = this.program.buffers[id];
    if (!buffer) throw new InternalError(`Expected a buffer ${id} but the program has none`);
    return buffer;
  }

  #open(indent: string): Level {
    const level: Level = { indent, hoisted: new Map(), declarations: [], body: [] };
    this.#levels.push(level);
    return level;
  }

  #top(): Level {
    const level = this.#levels.at(-1);
    if (!level) throw new InternalError("Expected an open level");
    return level;
  }

  #line(text: string): void {
    const level = this.#top();
    level.body.push(level.indent + text);
  }

  #value(id: ValueId): string {
    const text = this.#values.get(id);
    if (text === undefined) throw new InternalError(`Expected value ${id} to be defined before its use`);
    return text;
  }

  /** A value of an integer type as a number. */
  #number(id: ValueId): string {
    const text = this.#value(id);
    return this.#dtype(id) === "int64" && !this.#numbers.has(id) ? `Number(${text})` : text;
  }

  /** A value as it is stored and computed with in its own type: int64 as bigint. */
  #exact(id: ValueId): string {
    const text = this.#value(id);
    return this.#numbers.has(id) ? `BigInt(${text})` : text;
  }

  /** A value in the form that another value, of the same type, has. */
  #like(id: ValueId, other: ValueId): string {
    return this.#numbers.has(other) ? this.#number(id) : this.#exact(id);
  }

  #dtype(id: ValueId): ValueType {
    const dtype = this.#dtypes.get(id);
    if (dtype === undefined) throw new InternalError(`Expected value ${id} to be defined before its use`);
    return dtype;
  }

  /** Declares the value of a statement under its own name. */
  #define(id: ValueId, dtype: ValueType, text: string): void {
    this.#line(`const v${id} = ${text};`);
    this.#name(id, dtype, `v${id}`);
  }

  #name(id: ValueId, dtype: ValueType, text: string): void {
    this.#values.set(id, text);
    this.#dtypes.set(id, dtype);
  }

  #body(body: readonly Statement[]): void {
    for (const statement of body) this.#statement(statement);
  }

  #statement(s: Statement): void {
    switch (s.kind) {
      case "loop":
        return this.#loop(s);
      case "constant": {
        const number = this.#numbers.has(s.id);
        return this.#name(s.id, s.dtype, constantText(s.value, number ? "float64" : s.dtype));
      }
      case "index": {
        const text = this.#index(undefined, s.index);
        if (s.dtype !== "int64") return this.#name(s.id, s.dtype, castIndex(s.dtype, text));
        return this.#name(s.id, s.dtype, this.#numbers.has(s.id) ? `(${text})` : `BigInt(${text})`);
      }
      case "scalar":
        return this.#define(s.id, s.dtype, this.#scalar(s));
      case "cast":
        return this.#define(s.id, s.dtype, this.#cast(s));
      case "select": {
        const then = this.#like(s.then, s.id), otherwise = this.#like(s.otherwise, s.id);
        return this.#define(s.id, s.dtype, `${this.#value(s.condition)} !== 0 ? ${then} : ${otherwise}`);
      }
      case "load": {
        const index = this.#index(s.buffer, s.index);
        if (!this.#numbers.has(s.id)) return this.#define(s.id, s.dtype, `b${s.buffer}[${index}]`);
        this.#words.add(s.buffer);
        const at = `w${s.buffer}[2 * k${s.id}`;
        this.#line(`const k${s.id} = ${index};`);
        return this.#define(s.id, s.dtype, `${at} + 1] * 4294967296 + (${at}] >>> 0)`);
      }
      case "store": {
        // bools add as they do elsewhere: by or
        const add = this.#buffer(s.buffer).dtype === "bool" ? "|=" : "+=";
        const assign = s.mode === "add" ? add : "=";
        return this.#line(
          `b${s.buffer}[${this.#index(s.buffer, s.index)}] ${assign} ${this.#exact(s.value)};`,
        );
      }
      case "masked": {
        this.#line(`let v${s.id} = ${this.#like(s.otherwise, s.id)};`);
        this.#line(`if (${this.#value(s.condition)} !== 0) {`);
        this.#body(s.body);
        this.#line(`v${s.id} = ${this.#like(s.value, s.id)};`);
        this.#line("}");
        return this.#name(s.id, s.dtype, `v${s.id}`);
      }
      default:
        return s satisfies never;
    }
  }

  #scalar(s: Statement & { kind: "scalar" }): string {
    const operand = this.#dtype(s.args[0] ?? -1);
    if (operand !== "int64") return scalarText(s.op, operand, s.args.map((a) => this.#value(a)));
    // comparisons with a number are right for bigints too: what rounds lies far beyond it
    const numeric = s.dtype === "int64" ? this.#numbers.has(s.id) : s.args.some((a) => this.#numbers.has(a));
    if (!numeric) return scalarText(s.op, operand, s.args.map((a) => this.#exact(a)));
    return integerText(s.op, s.args.map((a) => this.#number(a)));
  }

  #cast(s: Statement & { kind: "cast" }): string {
    const from = this.#dtype(s.value);
    if (s.dtype === "int64" && this.#numbers.has(s.id)) return this.#number(s.value);
    if (from === "int64" && this.#numbers.has(s.value)) {
      return castText("float64", s.dtype, this.#value(s.value));
    }
    return castText(from, s.dtype, this.#value(s.value));
  }

  #loop(loop: Loop): void {
    const { axis } = loop;
    const outer = this.#top();
    for (const r of loop.reductions) this.#initial(r);
    for (const c of loop.carried) {
      this.#line(`let v${c.id} = ${this.#exact(c.initial)};`);
      this.#name(c.id, c.dtype, `v${c.id}`);
    }
    const name = `i${this.#names++}`;
    const size = this.#plain(axis.size);
    this.#axisNames.set(axis.symbol, name);
    this.#axisLevels.set(axis.symbol, this.#levels.length);
    const level = this.#open(`${outer.indent}  `);
    this.#body(loop.body);
    for (const r of loop.reductions) this.#combine(r);
    if (loop.carried.length > 1) {
      this.#line(
        `[${loop.carried.map((c) => `v${c.id}`)}] = [${loop.carried.map((c) => this.#exact(c.next))}];`,
      );
    } else {
      for (const c of loop.carried) this.#line(`v${c.id} = ${this.#exact(c.next)};`);
    }
    this.#levels.pop();
    outer.body.push(`${outer.indent}for (let ${name} = 0; ${name} < ${size}; ${name}++) {`);
    outer.body.push(...level.declarations, ...level.body, `${outer.indent}}`);
    for (const r of loop.reductions) {
      // sums of float32 run in double precision and are rounded once
      if (r.dtype === "float32" && (r.op === "sum" || r.op === "prod")) this.#line(`v${r.id} = f(v${r.id});`);
    }
  }

  #initial(r: Reduction): void {
    const big = r.dtype === "int64";
    if (r.op === "argmax" || r.op === "argmin") {
      this.#line(`let e${r.id} = 0, f${r.id} = 0, v${r.id} = ${this.#numbers.has(r.id) ? "0" : "0n"};`);
    } else {
      this.#line(`let v${r.id} = ${neutral(r, big)};`);
    }
    this.#name(r.id, r.dtype, `v${r.id}`);
  }

  #combine(r: Reduction): void {
    const acc = `v${r.id}`, x = this.#exact(r.value);
    switch (r.op) {
      case "sum":
      case "prod": {
        const sign = r.op === "sum" ? "+" : "*";
        if (isFloat(r.dtype)) return this.#line(`${acc} ${sign}= ${x};`);
        return this.#line(`${acc} = ${scalarText(r.op === "sum" ? "add" : "mul", r.dtype, [acc, x])};`);
      }
      case "max":
      case "min": {
        const better = r.op === "max" ? ">" : "<";
        const nan = isFloat(r.dtype) ? ` || ${x} !== ${x}` : "";
        return this.#line(`if (${x} ${better} ${acc}${nan}) ${acc} = ${x};`);
      }
      case "any":
        return this.#line(`${acc} |= ${x};`);
      case "all":
        return this.#line(`${acc} &= ${x};`);
      case "argmax":
      case "argmin": {
        const better = r.op === "argmax" ? ">" : "<", e = `e${r.id}`;
        const nan = isFloat(this.#dtype(r.value)) ? ` || (${x} !== ${x} && ${e} === ${e})` : "";
        this.#line(`if (f${r.id} === 0 || ${x} ${better} ${e}${nan}) {`);
        this.#line(`  f${r.id} = 1; ${e} = ${x}; ${acc} = ${this.#like(r.index ?? -1, r.id)};`);
        return this.#line("}");
      }
      default:
        return r.op satisfies never;
    }
  }

  /** An index into a buffer (or a plain index expression), its outer parts hoisted into outer loops. */
  #index(buffer: BufferId | undefined, index: Dim): string {
    const depth = this.#levels.length - 1;
    const parts: string[][] = Array.from({ length: depth + 1 }, () => []);
    const start = buffer === undefined ? undefined : `o${buffer}`;
    let constant = 0, movable = true;
    const put = (term: Dim, coefficient: number) => {
      if (typeof term === "number") {
        constant += term * coefficient;
        return;
      }
      let level = 0;
      for (const s of freeSymbols(term)) {
        const of = this.#axisLevels.get(s);
        if (of === undefined) movable = false;
        level = Math.max(level, of === undefined ? depth : of);
      }
      const text = coefficient === 1
        ? this.#tight(term)
        : coefficient === -1
        ? `-${this.#tight(term)}`
        : `${coefficient} * ${this.#tight(term)}`;
      parts[Math.min(level, depth)]?.push(text);
    };
    if (typeof index !== "number" && index.node.kind === "sum") {
      constant = index.node.constant;
      for (const { term, coefficient } of index.node.terms) put(term, coefficient);
    } else {
      put(index, 1);
    }
    let known = start;
    for (let level = 0; level <= depth; level++) {
      const here = parts[level] ?? [];
      if (here.length === 0) continue;
      const text = (known === undefined ? here : [known, ...here]).join(" + ");
      known = level < depth && (here.length > 1 || known !== undefined) ? this.#hoist(level, text) : text;
    }
    if (constant === 0) return known ?? "0";
    if (known === undefined) return `${constant}`;
    // neighbours differ by the constant alone, so they share the rest
    return `${movable && known.includes(" ") ? this.#hoist(depth, known) : known} + ${constant}`;
  }

  #hoist(level: number, text: string): string {
    const at = this.#levels[level];
    if (!at) throw new InternalError(`Expected a level ${level}`);
    const known = at.hoisted.get(text);
    if (known !== undefined) return known;
    const name = `h${this.#names++}`;
    at.declarations.push(`${at.indent}const ${name} = ${text};`);
    at.hoisted.set(text, name);
    return name;
  }

  /** An index expression as text, nothing hoisted. */
  #plain(d: Dim): string {
    if (typeof d === "number") return `${d}`;
    const { node } = d;
    switch (node.kind) {
      case "symbol":
        return this.#symbol(d, node.name);
      case "sum": {
        const terms = node.terms.map((t) =>
          t.coefficient === 1 ? this.#tight(t.term) : `${t.coefficient} * ${this.#tight(t.term)}`
        );
        return [...terms, ...(node.constant === 0 ? [] : [`${node.constant}`])].join(" + ");
      }
      case "product":
        return node.factors.map((f) => this.#tight(f)).join(" * ");
      case "floorDiv": {
        const quotient = `${this.#tight(node.left)} / ${this.#tight(node.right)}`;
        const [lo, hi] = boundsOf(node.left);
        return lo >= 0 && hi < 2 ** 31 ? `(${quotient} | 0)` : `Math.floor(${quotient})`;
      }
      case "mod": {
        const [lo] = boundsOf(node.left);
        const [left, right] = [this.#tight(node.left), this.#tight(node.right)];
        return lo >= 0 ? `(${left} % ${right})` : `m.floorMod(${left}, ${right})`;
      }
      case "min":
      case "max":
        return `Math.${node.kind}(${this.#plain(node.left)}, ${this.#plain(node.right)})`;
      default:
        return node satisfies never;
    }
  }

  #tight(d: Dim): string {
    const text = this.#plain(d);
    if (typeof d === "number") return d < 0 ? `(${text})` : text;
    return d.node.kind === "sum" || d.node.kind === "product" ? `(${text})` : text;
  }

  #symbol(s: Sym, name: string): string {
    const known = this.#axisNames.get(s);
    if (known !== undefined) return known;
    if (s.node.kind === "symbol" && s.node.role.kind === "value") {
      const { id } = s.node.role;
      return this.#number(id);
    }
    throw new InternalError(`Expected a bound symbol but found ${name}`);
  }
}

function castIndex(dtype: ValueType, text: string): string {
  return dtype === "float64" ? `(${text})` : castText("float64", dtype, `(${text})`);
}

/** The typed view of a memory that holds this type; small floats are their bits. */
function view(dtype: DType): DType | "uint16" {
  return dtype === "bool" ? "uint8" : isHalf(dtype) ? "uint16" : dtype;
}

function neutral(r: Reduction, big: boolean): string {
  switch (r.op) {
    case "sum":
    case "any":
      return big ? "0n" : "0";
    case "prod":
    case "all":
      return big ? "1n" : "1";
    case "max":
    case "min":
    case "argmax":
    case "argmin":
      return extreme(r.dtype, r.op === "max" || r.op === "argmax");
    default:
      return r.op satisfies never;
  }
}

/** The least value of a type (or the greatest). */
function extreme(dtype: ValueType, least: boolean): string {
  switch (dtype) {
    case "float32":
    case "float64":
      return least ? "-Infinity" : "Infinity";
    case "int64":
      return least ? "-9223372036854775808n" : "9223372036854775807n";
    case "int32":
      return least ? "-2147483648" : "2147483647";
    case "bool":
      return least ? "0" : "1";
    default:
      return dtype satisfies never;
  }
}
