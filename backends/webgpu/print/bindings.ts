/**
 * The memory that one shader sees: which buffers are bound, as what WGSL type, and how elements are read and
 * written. Invariant: bool and uint8 are bytes packed in u32 words, int64 is two words of which the low one is
 * computed with; words that several invocations may write at once are atomic.
 */
import { type DType, itemSize } from "../../../lib/base/dtype.ts";
import { InternalError } from "../../../lib/base/errors.ts";
import type { BufferId, Program, Statement } from "../../../lib/loops/ir.ts";
import { registerType } from "./scalar.ts";

/** What is bound at a binding number (1, 2, …; 0 is the parameter words). */
export type BoundMemory =
  | { readonly kind: "input" | "output"; readonly position: number; readonly written: boolean }
  /** All temporaries. */
  | { readonly kind: "arena"; readonly written: boolean };

/** How a kernel uses one buffer. */
interface Use {
  read: boolean;
  written: boolean;
  /** Accumulates, or writes parts of words. */
  atomic: boolean;
}

/** One WGSL variable. */
interface Variable {
  readonly name: string;
  readonly memory: BoundMemory;
  /** All temporaries share one variable of plain words. */
  readonly words: boolean;
  readonly atomic: boolean;
}

/** Finds the bindings of a kernel and prints its reads and writes. */
export class Bindings {
  readonly #uses = new Map<BufferId, Use>();
  readonly #variables = new Map<string, Variable>();

  constructor(readonly program: Program, statements: readonly Statement[]) {
    this.#collect(statements);
    const temporaries = [...this.#uses].filter(([id]) => this.#declaration(id).role.kind === "temporary");
    for (const [id, use] of this.#uses) {
      const { role } = this.#declaration(id);
      if (role.kind === "temporary") continue;
      const list = role.kind === "input" ? program.inputs : program.outputs;
      const memory: BoundMemory = { kind: role.kind, position: list.indexOf(id), written: use.written };
      this.#variables.set(`b${id}`, { name: `b${id}`, memory, words: false, atomic: use.atomic });
    }
    if (temporaries.length > 0) {
      const written = temporaries.some(([, use]) => use.written);
      const atomic = temporaries.some(([, use]) => use.atomic);
      this.#variables.set("arena", {
        name: "arena",
        memory: { kind: "arena", written },
        words: true,
        atomic,
      });
    }
  }

  /** What is bound at 1, 2, …, in order. */
  get memories(): readonly BoundMemory[] {
    return [...this.#variables.values()].map((v) => v.memory);
  }

  /** Whether the kernel reads the buffer. */
  reads(buffer: BufferId): boolean {
    return this.#uses.get(buffer)?.read ?? false;
  }

  /** The declarations of all variables. */
  declarations(): string {
    const lines = ["@group(0) @binding(0) var<storage, read> params: array<i32>;"];
    let binding = 1;
    for (const variable of this.#variables.values()) {
      const access = variable.memory.written ? "read_write" : "read";
      const type = this.#wordType(variable);
      lines.push(
        `@group(0) @binding(${binding++}) var<storage, ${access}> ${variable.name}: array<${type}>;`,
      );
    }
    return lines.join("\n");
  }

  #wordType(variable: Variable): string {
    if (variable.atomic) return "atomic<u32>";
    if (variable.words) return "u32";
    const dtype = this.#declaration(Number(variable.name.slice(1))).dtype;
    return dtype === "float32" ? "f32" : dtype === "uint8" || dtype === "bool" ? "u32" : "i32";
  }

  /** The expression that reads element `index` (an i32 text). */
  load(buffer: BufferId, index: string): string {
    const { variable, at, dtype } = this.#locate(buffer, index);
    const word = (position: string) =>
      variable.atomic ? `atomicLoad(&${variable.name}[${position}])` : `${variable.name}[${position}]`;
    const plain = variable.atomic || variable.words;
    switch (dtype) {
      case "float32":
        return plain ? `bitcast<f32>(${word(at)})` : word(at);
      case "int32":
        return plain ? `bitcast<i32>(${word(at)})` : word(at);
      case "int64":
        return plain ? `bitcast<i32>(${word(`(${at}) * 2`)})` : word(`(${at}) * 2`);
      case "uint8":
      case "bool": {
        const byte = `((${word(`(${at}) >> 2u`)} >> (u32((${at}) & 3) * 8u)) & 255u)`;
        return dtype === "bool" ? `(${byte} != 0u)` : `i32(${byte})`;
      }
      default:
        throw new InternalError(`Expected a type of this device but found ${dtype}`);
    }
  }

  /** The statement that writes element `index`. */
  store(buffer: BufferId, index: string, value: { text: string; mode: "set" | "add" }): string {
    const { variable, at, dtype } = this.#locate(buffer, index);
    const { name } = variable;
    if (value.mode === "add") return this.#accumulate(name, at, { text: value.text, dtype });
    const set = (position: string, bits: string, native: string) =>
      variable.atomic
        ? `atomicStore(&${name}[${position}], ${bits});`
        : `${name}[${position}] = ${variable.words ? bits : native};`;
    switch (dtype) {
      case "float32":
      case "int32":
        return set(at, `bitcast<u32>(${value.text})`, value.text);
      case "int64":
        return set(`(${at}) * 2`, `bitcast<u32>(${value.text})`, value.text) + " " +
          set(`(${at}) * 2 + 1`, `bitcast<u32>(${value.text} >> 31u)`, `${value.text} >> 31u`);
      case "uint8":
      case "bool": {
        const byte = dtype === "bool" ? `select(0u, 1u, ${value.text})` : `bitcast<u32>(${value.text} & 255)`;
        const shift = `(u32((${at}) & 3) * 8u)`;
        return `atomicAnd(&${name}[(${at}) >> 2u], ~(255u << ${shift})); ` +
          `atomicOr(&${name}[(${at}) >> 2u], ${byte} << ${shift});`;
      }
      default:
        throw new InternalError(`Expected a type of this device but found ${dtype}`);
    }
  }

  /** Atomic addition; for floats by compare and exchange. */
  #accumulate(name: string, at: string, { text, dtype }: { text: string; dtype: DType }): string {
    if (registerType(dtype) === "i32") {
      if (itemSize(dtype) !== 4) {
        throw new InternalError(`Expected a 4-byte type to accumulate but found ${dtype}`);
      }
      return `atomicAdd(&${name}[${at}], bitcast<u32>(${text}));`;
    }
    return `{ let place = ${at}; var seen = atomicLoad(&${name}[place]); loop { ` +
      `let result = atomicCompareExchangeWeak(&${name}[place], seen, bitcast<u32>(bitcast<f32>(seen) + ${text})); ` +
      `if (result.exchanged) { break; } seen = result.old_value; } }`;
  }

  #locate(buffer: BufferId, index: string): { variable: Variable; at: string; dtype: DType } {
    const { role, dtype } = this.#declaration(buffer);
    registerType(dtype);
    const variable = this.#variables.get(role.kind === "temporary" ? "arena" : `b${buffer}`);
    if (!variable) throw new InternalError(`Expected buffer ${buffer} to be bound`);
    if (role.kind === "temporary") {
      if (typeof role.offset !== "number") throw new InternalError("Expected a known arena offset");
      const base = role.offset / itemSize(dtype);
      return { variable, at: base === 0 ? index : `${index} + ${base}`, dtype };
    }
    return { variable, at: `${index} + ${offsetParameter(this.program, variable.memory)}`, dtype };
  }

  #declaration(buffer: BufferId) {
    const found = this.program.buffers[buffer];
    if (!found) throw new InternalError(`Expected a buffer of the program but found ${buffer}`);
    return found;
  }

  #collect(statements: readonly Statement[]): void {
    const use = (buffer: BufferId): Use => {
      const known = this.#uses.get(buffer) ?? { read: false, written: false, atomic: false };
      this.#uses.set(buffer, known);
      return known;
    };
    for (const s of statements) {
      if (s.kind === "load") use(s.buffer).read = true;
      else if (s.kind === "store") {
        const known = use(s.buffer);
        known.written = true;
        if (s.mode === "add") known.read = true;
        const { dtype } = this.#declaration(s.buffer);
        if (s.mode === "add" || itemSize(dtype) === 1) known.atomic = true;
      } else if (s.kind === "loop" || s.kind === "masked") this.#collect(s.body);
    }
  }
}

/** The parameter word that holds the element offset of an input or output. */
function offsetParameter(program: Program, memory: BoundMemory): string {
  if (memory.kind === "arena") throw new InternalError("Expected an input or output but found the arena");
  const before = memory.kind === "input" ? 0 : program.inputs.length;
  return `params[${program.sizes.length + before + memory.position}]`;
}

/** The parameter words of one call: sizes, then element offsets of inputs and outputs. */
export function parameterWords(
  program: Program,
  sizes: readonly number[],
  byteOffsets: readonly number[],
): Int32Array<ArrayBuffer> {
  const buffers = [...program.inputs, ...program.outputs];
  const words = new Int32Array(Math.max(4, program.sizes.length + buffers.length));
  words.set(sizes);
  buffers.forEach((id, i) => {
    const dtype = program.buffers[id]?.dtype ?? "float32";
    words[program.sizes.length + i] = (byteOffsets[i] ?? 0) / itemSize(dtype);
  });
  return words;
}
