/**
 * Remembers results for kernels that run by the same blocks, such as their code. Invariant: kernels that differ only in
 * their buffers, as those of equal layers, share one result; their buffers correspond one to one and have equal types.
 */
import { InternalError } from "../base/errors.ts";
import { Sym } from "../sym/expr.ts";
import { canonicalFormOf } from "./canonical_form.ts";
import type { Blocks, BufferDecl, BufferId, BufferView, ExternKernel, Kernel } from "./ir.ts";

/** How the result for a group of kernels is made. */
interface Making<T> {
  /** The buffers of the program. */
  readonly buffers: readonly BufferDecl[];
  readonly make: () => T;
}

/** A result, and the buffers in place of those of the kernels that it was made for. */
interface Made<T> {
  readonly made: T;
  readonly place: (id: BufferId) => BufferId;
}

/** Results by the form of their kernels. */
export class KnownBlocks<T> {
  readonly #known = new Map<string, { readonly buffers: readonly BufferId[]; readonly made: T }>();
  readonly #numbers = new Map<object, number>();

  /** Returns the result for kernels, which is made unless that for other buffers is known. */
  of(kernels: readonly Kernel[], blocks: Blocks, { buffers: declared, make }: Making<T>): Made<T> {
    const buffers: BufferId[] = [],
      placeOf = (id: BufferId): number => {
        const at = buffers.indexOf(id);
        return at < 0 ? buffers.push(id) - 1 : at;
      };
    const forms = kernels.map((kernel) => this.#formOf(kernel, placeOf));
    if (forms.includes(null)) return { made: make(), place: (id) => id };
    const kinds = buffers.map((id) => {
      const { dtype, role, length } = declared[id] ?? {};
      return [dtype, role?.kind === "local" ? length : null];
    });
    const key = this.#text([forms, kinds, { ...blocks, work: null }]), first = this.#known.get(key);
    if (!first) {
      const made = make();
      this.#known.set(key, { buffers, made });
      return { made, place: (id) => id };
    }
    const place = (id: BufferId): BufferId => {
      const placed = buffers[first.buffers.indexOf(id)];
      if (placed === undefined) throw new InternalError(`Expected a buffer of the blocks but found b${id}`);
      return placed;
    };
    return { made: first.made, place };
  }

  /** The form of a kernel over the places of its buffers; null if it is not known which ones are equal. */
  #formOf(kernel: Kernel, placeOf: (id: BufferId) => number): unknown {
    if (kernel.kind === "loops") {
      const canonical = canonicalFormOf(kernel.body);
      return canonical ? [this.#numberOf(canonical.kind), ...canonical.buffers.map(placeOf)] : null;
    }
    const { name: _, origins: _origins, originals: _originals, blocks: _blocks, inputs, outputs, ...others } =
      kernel;
    if (!isAlone(kernel)) return null;
    const placed = (view: BufferView) => ({ ...view, buffer: placeOf(view.buffer) });
    return { ...others, inputs: inputs.map(placed), outputs: outputs.map(placed) };
  }

  #text(form: unknown): string {
    return JSON.stringify(form, (_, value) => value instanceof Sym ? `s${this.#numberOf(value)}` : value);
  }

  #numberOf(object: object): number {
    const number = this.#numbers.get(object) ?? this.#numbers.size;
    this.#numbers.set(object, number);
    return number;
  }
}

/** Returns whether a library call has no statements around it, which would mention buffers. */
const isAlone = ({ epilogue, prologues, weights, computed }: ExternKernel): boolean =>
  !epilogue && !prologues && !weights && !computed;
