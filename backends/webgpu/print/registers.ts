/**
 * Private variables of each invocation: an element, or a vector of four, of each iteration of a loop, or of a known
 * position. Invariant: a known position is written once, as a vector.
 */
import { InternalError } from "../../../lib/base/errors.ts";
import type { BufferId, Program } from "../../../lib/loops/ir.ts";
import { loadType } from "../../../lib/loops/record.ts";
import type { Dim } from "../../../lib/sym/expr.ts";
import { registerType } from "./scalar.ts";

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
