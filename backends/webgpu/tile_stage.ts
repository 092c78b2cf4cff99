/**
 * Stages operands of tiled products in workgroup memory: fetches a step of the depth into registers and stores it as
 * [depth][row or column / 4]. Invariant: elements outside the matrices count as zero.
 *
 * The array is an array of arrays: its first index is constant where products are computed, so that the runtime's
 * checks of the second one, which is the same at all depths, are made once. Operands and results of a product are
 * described by functions that write the text of their places.
 */
import type { Dim } from "../../lib/sym/expr.ts";
import { stageWidth } from "./product_tiles.ts";
import type { ShaderWriter } from "./print/statements.ts";

/** An element of an operand. */
export interface TileElement {
  readonly text: string;
  /** Condition under which it is read; it is zero otherwise. */
  readonly inside?: string;
}

/**
 * One side of a product. Names declared for a position end in its name, and an element is identified by the names of
 * both positions.
 */
export interface TileOperand {
  /** Whether neighbouring invocations read along the depth, rather than along rows (of A) or columns (of B). */
  readonly alongDepth: boolean;
  /** Whether elements outside of the matrix may be read, and discarded. */
  readonly reads: "anywhere" | "inside";
  /** Writes lines about a row (of A) or a column (of B), once for all its elements. */
  other(place: string, name: string): void;
  /** Writes lines about a position along the depth. */
  depth(place: string, name: string): void;
  /** The integers that these lines declare, by the prefix before `_` and the name. */
  readonly declares?: readonly string[];
  element(at: { readonly other: string; readonly depth: string }): TileElement;
  /** Four contiguous elements from a multiple of four on, as a vector; only if all or none of them are inside. */
  four?(at: { readonly other: string; readonly depth: string }): string;
}

/** The destination of results. */
export interface TileResult {
  /** Writes lines about a row and a column, as for operands. */
  row(place: string, name: string): void;
  column(place: string, name: string): void;
  /** Writes lines that store `value` at a position. */
  store(at: { readonly row: string; readonly column: string; readonly value: string }): void;
  /** The same for four columns from a multiple of four on, all or none of which are inside. */
  storeFour?(at: { readonly row: string; readonly column: string; readonly value: string }): void;
}

/**
 * out[batch…, row, column] = Σ over depth of A · B. The counters of `batch` are `n0`, `n1`, …; where the depth is shared,
 * `part` is the number of the share.
 */
export interface TileProduct {
  readonly batch: readonly Dim[];
  readonly rows: Dim;
  readonly columns: Dim;
  /** Or an expression of counters, and of declarations by `prepare`. */
  readonly depth: Dim | string;
  /** Number of workgroups that divide the depth of one tile. */
  readonly splits: number;
  readonly type: "f32" | "i32" | "bool";
  readonly zero: string;
  readonly a: TileOperand;
  readonly b: TileOperand;
  readonly result: TileResult;
  /**
   * Whether the first step's fetch is written apart from that of the others: that is faster by a twentieth, but where
   * addresses take computing, drivers compile twice as long.
   */
  readonly peeled: boolean;
  /** Writes lines before the first load: bases of addresses. */
  prepare(): void;
}

const FOUR = [0, 1, 2, 3], PARTS = ["x", "y", "z", "w"];

/** One of the two operands. */
interface StageSetting {
  readonly operand: TileOperand;
  readonly name: "a" | "b";
  /** First row of A or column of B of this tile, and their number. */
  readonly start: string;
  readonly end: string;
  readonly side: number;
  readonly count: Dim;
  /** Depth that is staged at once. */
  readonly depth: number;
  readonly threads: number;
}

/**
 * How invocations divide the work: vectors across the depth, where adjacent invocations fetch adjacent ones; single
 * depths of four rows each; or blocks of four rows and four depths, which are transposed in registers.
 */
type Share = "across" | "depths" | "blocks";

/** Stages one operand. Along one of the two directions an invocation has the same position for all that it fetches. */
export class TileStage {
  readonly #share: Share;
  readonly #width: number;
  /** Vectors of a step, or blocks. */
  readonly #items: number;
  /** Whether an invocation fetches the same rows or columns at all depths. */
  readonly #staysPut: boolean;
  readonly #parts: readonly number[];

  constructor(readonly w: ShaderWriter, readonly job: TileProduct, readonly setting: StageSetting) {
    const { operand, side, depth, threads } = setting;
    this.#share = !operand.alongDepth ? "across" : operand.four ? "blocks" : "depths";
    this.#width = side / 4;
    this.#items = this.#width * depth / (this.#share === "blocks" ? 4 : 1);
    this.#parts = Array.from({ length: Math.ceil(this.#items / threads) }, (_, part) => part);
    this.#staysPut = this.#share === "across" && threads % this.#width === 0;
  }

  declare(): void {
    const { w, setting: { name, side, depth }, job: { type } } = this;
    w.line(`var<workgroup> tile_${name}: array<array<vec4<${type}>, ${stageWidth(side)}>, ${depth}>;`);
  }

  /** Declares the vectors, and everything about them that is the same for all depths. */
  prepare(): void {
    const { w } = this, { type, zero } = this.job, { operand, start, end } = this.setting;
    for (const part of this.#parts) {
      for (const vector of this.#fetched(part)) w.line(`var ${vector} = vec4<${type}>(${zero});`);
      if (part > 0 && this.#staysPut) continue;
      for (const i of this.#share === "across" && operand.four ? [0] : FOUR) {
        const place = this.#other(part, i);
        w.line(
          `let ${place} = ${start} + ${this.#vector(part)} * 4 + ${i}; let in_${place} = ${place} < ${end};`,
        );
        operand.other(place, place);
      }
    }
  }

  fetch(from: string): void {
    const { w } = this, { type, zero } = this.job, { operand } = this.setting;
    w.line("{");
    for (const part of this.#parts) {
      this.#openPart(part);
      const depth = `depth_${this.setting.name}${this.#share === "across" ? part : 0}`;
      if (part === 0 || this.#share === "across") {
        w.line(`let ${depth} = ${from} + ${this.#depth(part)}; let in_${depth} = ${depth} < to_depth;`);
        operand.depth(depth, depth);
      }
      const put = (target: string, zero: string, text: string, where: readonly string[]) => {
        if (where.length === 0) w.line(`${target} = ${text};`);
        else if (operand.reads === "anywhere") {
          w.line(`${target} = select(${zero}, ${text}, ${where.join(" && ")});`);
        } else w.line(`${target} = ${zero}; if (${where.join(" && ")}) { ${target} = ${text}; }`);
      };
      this.#fetched(part).forEach((vector, block) => {
        const { four } = operand;
        if (four) {
          const other = this.#other(part, block), where = this.#where(other, depth);
          return put(vector, `vec4<${type}>(${zero})`, four({ other, depth }), where);
        }
        FOUR.forEach((i) => {
          const other = this.#other(part, i), { text, inside } = operand.element({ other, depth });
          const where = [...this.#where(other, depth), ...inside === undefined ? [] : [inside]];
          put(`${vector}.${PARTS[i]}`, zero, text, where);
        });
      });
      this.#closePart(part);
    }
    w.line("}");
  }

  put(): void {
    const { w } = this, { name } = this.setting, { type } = this.job;
    for (const part of this.#parts) {
      const vectors = this.#fetched(part), place = `[${this.#vector(part)}]`;
      this.#openPart(part);
      if (this.#share !== "blocks") w.line(`tile_${name}[${this.#depth(part)}]${place} = ${vectors[0]};`);
      else {
        PARTS.forEach((of, i) => {
          const turned = vectors.map((vector) => `${vector}.${of}`).join(", ");
          w.line(`tile_${name}[${this.#depth(part)} + ${i}]${place} = vec4<${type}>(${turned});`);
        });
      }
      this.#closePart(part);
    }
  }

  /** Opens lines for the invocations that have something to fetch in a part. */
  #openPart(part: number): void {
    if (this.#isPartly(part)) this.w.line(`if (lid < ${this.#items - part * this.setting.threads}) {`);
  }

  #closePart(part: number): void {
    if (this.#isPartly(part)) this.w.line("}");
  }

  /** Returns whether a part has fewer vectors or blocks than there are invocations. */
  #isPartly(part: number): boolean {
    return (part + 1) * this.setting.threads > this.#items;
  }

  /** Returns the conditions for an element to be inside. */
  #where(other: string, depth: string): readonly string[] {
    const { count, side, depth: step } = this.setting, { depth: size } = this.job;
    const isWhole = (size: Dim | string, by: number) =>
      !this.w.setting.ofAnySize && typeof size === "number" && size > 0 && size % by === 0;
    return [...isWhole(count, side) ? [] : [`in_${other}`], ...isWhole(size, step) ? [] : [`in_${depth}`]];
  }

  /** The vectors of a part: one, or those of a block. */
  #fetched(part: number): readonly string[] {
    const name = `fetched_${this.setting.name}${part}`;
    return this.#share === "blocks" ? FOUR.map((i) => `${name}_${i}`) : [name];
  }

  #other(part: number, i: number): string {
    return `other_${this.setting.name}${4 * (this.#staysPut ? 0 : part) + i}`;
  }

  /** The vector's place along the rows or columns, and along the depth. */
  #vector(part: number): string {
    const { depth, threads } = this.setting;
    if (this.#staysPut) return `(lid % ${this.#width})`;
    if (this.#share === "across") return `((lid + ${part * threads}) % ${this.#width})`;
    const along = this.#share === "blocks" ? depth / 4 : depth;
    return `(lid / ${along} + ${part * threads / along})`;
  }

  #depth(part: number): string {
    const { depth, threads } = this.setting;
    if (this.#staysPut) return `(lid / ${this.#width} + ${part * threads / this.#width})`;
    if (this.#share === "across") return `((lid + ${part * threads}) / ${this.#width})`;
    return this.#share === "blocks" ? `(lid % ${depth / 4}) * 4` : `(lid % ${depth})`;
  }
}
