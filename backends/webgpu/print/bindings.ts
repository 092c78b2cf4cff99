/**
 * The memory of one shader: bound buffers, their WGSL types, and how elements are read and written. Invariant: elements
 * of one or two bytes are packed in u32 words, int64 is two words, of which only the low one takes part in
 * computations; words that several invocations may write at once are atomic.
 */
import { type DType, isHalf, isNarrow, itemSize } from "../../../lib/base/dtype.ts";
import { InternalError } from "../../../lib/base/errors.ts";
import type { BufferId, Program, Statement } from "../../../lib/loops/ir.ts";
import { loadType } from "../../../lib/loops/record.ts";
import { Parameters } from "./parameters.ts";
import { type Helpers, registerType } from "./scalar.ts";

/** The memory bound at a binding number (1, 2, …; 0 is the parameter words). */
export type BoundMemory =
  | { readonly kind: "input"; readonly position: number; readonly written: boolean }
  | { readonly kind: "output"; readonly position: number; readonly written: boolean }
  /** All temporaries. */
  | { readonly kind: "arena"; readonly written: boolean }
  /** All packed inputs. */
  | { readonly kind: "pack"; readonly written: boolean };

/** The layout of one call's buffers in memory. */
export interface Placement {
  /** Buffers that share another one's memory in this call (in-place results), and so its variable. */
  readonly aliases: ReadonlyMap<BufferId, BufferId>;
  /** Inputs that are copied into one memory, since the adapter limits the number of bindings. */
  readonly packed: ReadonlySet<BufferId>;
  /** Whether all inputs and outputs start at multiples of 16 bytes, so that four elements can be read at once. */
  readonly aligned: boolean;
  /** Bytes of workgroup memory that a shader may have. */
  readonly workgroupBytes: number;
}

/** Every buffer at the start of a memory of its own. */
export const apart = (workgroupBytes: number): Placement => ({
  aliases: new Map(),
  packed: new Set(),
  aligned: true,
  workgroupBytes,
});

/** How a kernel's variables are declared. */
interface BindingOptions {
  readonly placement: Placement;
  /** Number of elements accessed at once: variables are of vectors, or of single words. */
  readonly lanes: 1 | 4;
  /** Buffers whose elements the kernel accesses one by one nevertheless. */
  readonly single?: ReadonlySet<BufferId>;
}

/** A value to store. */
export interface Written {
  readonly text: string;
  readonly mode: "set" | "add";
  /** Functions that the text calls. */
  readonly helpers: Helpers;
}

/** How a kernel uses one buffer. */
interface Use {
  read: boolean;
  written: boolean;
  /** Whether it accumulates, or writes parts of words. */
  atomic: boolean;
}

/** One WGSL variable. */
interface Variable {
  readonly name: string;
  readonly memory: BoundMemory;
  readonly dtype: DType | undefined;
  /** Temporaries, and packed inputs, share one variable of plain words. */
  readonly words: boolean;
  readonly atomic: boolean;
  /** Whether elements are accessed one by one only. */
  readonly single: boolean;
}

/** Determines the bindings of a kernel and prints its reads and writes. */
export class Bindings {
  readonly #uses = new Map<BufferId, Use>();
  readonly #variables = new Map<string, Variable>();
  /** The kernel's parameters besides memory. */
  readonly parameters: Parameters;

  constructor(readonly program: Program, statements: readonly Statement[], readonly options: BindingOptions) {
    this.parameters = new Parameters(program);
    this.#collect(statements);
    for (const [id, use] of this.#uses) {
      const key = this.#variableOf(id), known = this.#variables.get(key);
      // Named by position, so that equal kernels over other buffers have the same text
      const name = known?.name ?? `m${this.#variables.size + 1}`;
      const written = use.written || (known?.memory.written ?? false);
      const atomic = use.atomic || (known?.atomic ?? false);
      const memory = this.#memoryOf(id, written);
      const dtype = "position" in memory ? this.#declaration(this.ownerOf(id)).dtype : undefined;
      const single = (options.single?.has(id) ?? false) || (known?.single ?? false);
      this.#variables.set(key, { name, memory, dtype, words: dtype === undefined, atomic, single });
    }
  }

  /** Names the memory in which a buffer's elements lie. */
  #variableOf(id: BufferId): string {
    const { role } = this.#declaration(id);
    if (role.kind === "window") return this.#variableOf(role.of);
    if (role.kind === "temporary") return "arena";
    return this.options.placement.packed.has(id) ? "pack" : `b${this.ownerOf(id)}`;
  }

  /** The buffer whose memory a buffer shares. */
  ownerOf(id: BufferId): BufferId {
    const { role } = this.#declaration(id);
    if (role.kind === "window") return this.ownerOf(role.of);
    return this.options.placement.aliases.get(id) ?? id;
  }

  #memoryOf(id: BufferId, written: boolean): BoundMemory {
    const shown = this.#declaration(id).role;
    if (shown.kind === "window") return this.#memoryOf(shown.of, written);
    const owner = this.ownerOf(id), { role } = this.#declaration(owner);
    if (role.kind === "temporary") return { kind: "arena", written };
    if (this.options.placement.packed.has(id)) return { kind: "pack", written };
    if (role.kind === "local" || role.kind === "window") {
      throw new InternalError(`Expected memory but found the ${role.kind} b${owner}`);
    }
    const list = role.kind === "input" ? this.program.inputs : this.program.outputs;
    return { kind: role.kind, position: list.indexOf(owner), written };
  }

  /** Memory bound at 1, 2, …, in order. */
  get memories(): readonly BoundMemory[] {
    return [...this.#variables.values()].map((v) => v.memory);
  }

  /** Returns whether the kernel reads the memory of the buffer. */
  reads(buffer: BufferId): boolean {
    const owner = this.ownerOf(buffer);
    return [...this.#uses].some(([id, { read }]) => read && this.ownerOf(id) === owner);
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
    return this.#isVectors(variable) ? `vec4<${component(variable)}>` : component(variable);
  }

  /**
   * Writing one component of a vector may touch all of it, so narrow elements, four of which are less than a vector,
   * are in arrays of words.
   */
  #isVectors({ dtype, single }: Variable): boolean {
    return this.options.lanes === 4 && !single && (dtype === undefined || !isNarrow(dtype));
  }

  /** Returns whether a buffer's elements are accessed as vectors of four. */
  inFours(buffer: BufferId): boolean {
    const variable = this.#variables.get(this.#variableOf(buffer));
    return variable !== undefined && !variable.atomic && this.#isVectors(variable);
  }

  /** The expression that reads the word at `position`. */
  #word(variable: Variable, position: string): string {
    if (variable.atomic) return `atomicLoad(&${variable.name}[${position}])`;
    if (!this.#isVectors(variable)) return `${variable.name}[${position}]`;
    return `${variable.name}[(${position}) >> 2u][(${position}) & 3]`;
  }

  /** The expression that reads element `index` (an i32 text). */
  load(buffer: BufferId, index: string): string {
    const { variable, at, dtype } = this.#locate(buffer, index);
    const word = (position: string) => this.#word(variable, position);
    const plain = variable.atomic || variable.words;
    switch (dtype) {
      case "float32":
      case "int32":
      case "int64": {
        const found = word(dtype === "int64" ? `(${at}) * 2` : at);
        return plain ? `bitcast<${registerType(dtype)}>(${found})` : found;
      }
      default: {
        const { place, shift } = packed(dtype, at);
        return unpacked(dtype, `(${word(place)} >> ${shift})`);
      }
    }
  }

  /** The expression that reads the four elements from `index` on, a multiple of four, as a vector. */
  loadFour(buffer: BufferId, index: string): string {
    const { variable, at, dtype } = this.#locate(buffer, index);
    const four = (position: string, plus = 0) =>
      `${variable.name}[((${position}) >> 2u)${plus ? ` + ${plus}` : ""}]`;
    switch (dtype) {
      case "float32":
      case "int32":
        return variable.words ? `bitcast<vec4${dtype === "int32" ? "i" : "f"}>(${four(at)})` : four(at);
      case "int64": {
        const [low, high] = [four(`(${at}) * 2`), four(`(${at}) * 2`, 1)];
        const words = `(${low}.x, ${low}.z, ${high}.x, ${high}.z)`;
        return variable.words ? `bitcast<vec4i>(vec4u${words})` : `vec4i${words}`;
      }
      default: {
        const word = (plus: number) =>
          this.#word(variable, `(((${at}) >> ${itemSize(dtype) === 1 ? 2 : 1}u) + ${plus})`);
        const shifted = itemSize(dtype) === 1
          ? `(vec4u(${word(0)}) >> vec4u(0u, 8u, 16u, 24u))`
          : `(vec4u(${word(0)}, ${word(0)}, ${word(1)}, ${word(1)}) >> vec4u(0u, 16u, 0u, 16u))`;
        return unpacked(dtype, shifted, "vec4");
      }
    }
  }

  /** The statements that write a vector to the four elements from `index` on, a multiple of four. */
  storeFour(buffer: BufferId, index: string, vector: string): string {
    const { variable, at, dtype } = this.#locate(buffer, index);
    const elements = ["x", "y", "z", "w"].map((part) => `${vector}.${part}`);
    const put = (position: string, value: string) =>
      `${variable.name}[${position}] = ${variable.words ? `bitcast<vec4u>(${value})` : value};`;
    switch (dtype) {
      case "float32":
      case "int32":
        return put(`(${at}) >> 2u`, vector);
      case "int64": {
        const [a, b, c, d] = elements.map((x) => `${x}, ${x} >> 31u`);
        return put(`((${at}) * 2) >> 2u`, `vec4i(${a}, ${b})`) + " " +
          put(`(((${at}) * 2) >> 2u) + 1`, `vec4i(${c}, ${d})`);
      }
      default: {
        if (this.#isVectors(variable)) {
          throw new InternalError("Expected narrow elements in words of their own");
        }
        const perWord = 4 / itemSize(dtype), width = 32 / perWord;
        return Array.from({ length: itemSize(dtype) }, (_, k) => {
          const parts = elements.slice(k * perWord, (k + 1) * perWord).map((x, i) =>
            `(${bitsOf(dtype, x)} << ${width * i}u)`
          );
          return `${variable.name}[((${at}) >> ${perWord === 4 ? 2 : 1}u) + ${k}] = ${parts.join(" | ")};`;
        }).join(" ");
      }
    }
  }

  /** The statement that writes element `index`. */
  store(buffer: BufferId, index: string, value: Written): string {
    const { variable, at, dtype } = this.#locate(buffer, index);
    const { name } = variable;
    if (value.mode === "add") return this.#accumulate(name, at, { ...value, dtype });
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
      default: {
        const { place, shift, mask } = packed(dtype, at);
        return `atomicAnd(&${name}[${place}], ~(${mask}u << ${shift})); ` +
          `atomicOr(&${name}[${place}], ${bitsOf(dtype, value.text)} << ${shift});`;
      }
    }
  }

  /** Atomic addition, by compare and exchange if the language has none for the type. */
  #accumulate(
    name: string,
    at: string,
    { text, dtype, helpers }: Written & { readonly dtype: DType },
  ): string {
    switch (dtype) {
      case "int32":
        return `atomicAdd(&${name}[${at}], bitcast<u32>(${text}));`;
      case "int64":
        // Both words, with the carry of the low one: correct once all additions are done
        return `{ let place = (${at}) * 2; let low = bitcast<u32>(${text}); ` +
          `let before = atomicAdd(&${name}[place], low); ` +
          `atomicAdd(&${name}[place + 1], bitcast<u32>(${text} >> 31u) + select(0u, 1u, before + low < before)); }`;
      case "float32":
        return exchangeLoop(name, at, `bitcast<u32>(bitcast<f32>(seen) + ${text})`);
      default: {
        const { place, shift, mask } = packed(dtype, at), bits = `((seen >> ${shift}) & ${mask}u)`;
        const sum = sumOfBits(dtype, { bits, text, mask, helpers });
        return exchangeLoop(name, place, `(seen & ~(${mask}u << ${shift})) | (${sum} << ${shift})`);
      }
    }
  }

  /** The variable and the place of an element. Throws for elements of float64, which the language lacks. */
  #locate(buffer: BufferId, index: string): { variable: Variable; at: string; dtype: DType } {
    const { dtype } = this.#declaration(buffer);
    registerType(loadType(dtype));
    const variable = this.#variables.get(this.#variableOf(buffer));
    if (!variable) throw new InternalError(`Expected buffer ${buffer} to be bound`);
    return { variable, at: `${index} + ${this.parameters.offset(buffer)}`, dtype };
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
      // Local buffers are not memory
      if ("buffer" in s && this.#declaration(s.buffer).role.kind === "local") continue;
      if (s.kind === "load") use(s.buffer).read = true;
      else if (s.kind === "store") {
        const known = use(s.buffer);
        known.written = true;
        if (s.mode === "add") known.read = true;
        const { dtype } = this.#declaration(s.buffer);
        const { lanes, single } = this.options, isWhole = lanes === 4 && !single?.has(s.buffer);
        if (s.mode === "add" || (isNarrow(dtype) && !isWhole)) known.atomic = true;
      } else if (s.kind === "loop" || s.kind === "masked") this.#collect(s.body);
    }
  }
}

/** The word that holds element `at` of a narrow type, its shift, and the mask of one element. */
function packed(
  dtype: DType,
  at: string,
): { readonly place: string; readonly shift: string; readonly mask: number } {
  return itemSize(dtype) === 1
    ? { place: `(${at}) >> 2u`, shift: `(u32((${at}) & 3) * 8u)`, mask: 0xff }
    : { place: `(${at}) >> 1u`, shift: `(u32((${at}) & 1) * 16u)`, mask: 0xffff };
}

/** A narrow element (or four) from the low bits of words; small floats stay bits. */
function unpacked(dtype: DType, words: string, type: "" | "vec4" = ""): string {
  const top = 32 - 8 * itemSize(dtype), mask = 2 ** (32 - top) - 1;
  const [u, i] = type === "" ? ["u32", "i32"] : ["vec4u", "vec4i"];
  if (dtype === "bool") return `((${words} & ${u}(${mask}u)) != ${u}(0u))`;
  if (dtype === "int8" || dtype === "int16") {
    return `((bitcast<${type === "" ? i : "vec4<i32>"}>(${words}) << ${u}(${top}u)) >> ${u}(${top}u))`;
  }
  return `${i}(${words} & ${u}(${mask}u))`;
}

/** A value as the bits of a narrow element. */
function bitsOf(dtype: DType, value: string): string {
  return dtype === "bool"
    ? `select(0u, 1u, ${value})`
    : `bitcast<u32>(${value} & ${2 ** (8 * itemSize(dtype)) - 1})`;
}

/** The bits of a narrow element with a value added. */
function sumOfBits(
  dtype: DType,
  { bits, text, mask, helpers }: {
    readonly bits: string;
    readonly text: string;
    readonly mask: number;
    readonly helpers: Helpers;
  },
): string {
  if (dtype === "bool") return `select(${bits}, 1u, ${text})`;
  if (!isHalf(dtype)) return `((${bits} + bitcast<u32>(${text})) & ${mask}u)`;
  const [read, round] = dtype === "float16"
    ? ["halfToFloat", "floatToHalf"] as const
    : ["bfloatToFloat", "floatToBfloat"] as const;
  const sum = `${helpers.call(read, "int32")}(bitcast<i32>(${bits})) + ${text}`;
  return `(bitcast<u32>(${helpers.call(round, "float32")}(${sum})) & ${mask}u)`;
}

/** The type of a variable's words. */
function component({ dtype }: Variable): string {
  return dtype === "float32" ? "f32" : dtype === "int32" || dtype === "int64" ? "i32" : "u32";
}

/** Replaces a word by a function of its contents, until no other write has intervened. */
function exchangeLoop(name: string, at: string, next: string): string {
  return `{ let place = ${at}; var seen = atomicLoad(&${name}[place]); loop { ` +
    `let result = atomicCompareExchangeWeak(&${name}[place], seen, ${next}); ` +
    `if (result.exchanged) { break; } seen = result.old_value; } }`;
}
