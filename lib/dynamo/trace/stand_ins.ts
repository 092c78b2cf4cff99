/**
 * Stand-ins for variables that become available only in the next call. The trace continues with them to find all
 * others that are missing, so that one call provides all, and to find graph breaks, which `fullgraph` must report
 * before anything runs.
 *
 * Invariant: a trace with a stand-in creates no entry; two variables that may be the same share a stand-in.
 */
import { registerMade, VariablesPending } from "../functions/functions.ts";
import type { FreeBinding, LiveCell, PrivateAccess } from "../frame/info.ts";

type Pending = Extract<FreeBinding, { kind: "pending" }>;

export class StandIns {
  /** The reason why there is no entry; null while nothing is missing. */
  missing: string | null = null;
  readonly #accesses = new Map<object, PrivateAccess>();
  readonly #methods = new Map<object, object>();
  readonly #cells = new Map<object, Map<unknown, LiveCell>>();
  /** Cells by binding: a trace may read a variable repeatedly, but queries the inspector once. */
  readonly #found = new Map<Pending, LiveCell>();

  /** Records that something is missing. */
  note({ because }: Pending): void {
    this.missing ??= because;
  }

  /** The cell of a missing variable. Throws VariablesPending if its content is unknown. */
  cellFor(pending: Pending): LiveCell {
    let cell = this.#found.get(pending);
    if (!cell) this.#found.set(pending, cell = this.#findCell(pending));
    return cell;
  }

  #findCell(pending: Pending): LiveCell {
    this.note(pending);
    const held = pending.held();
    if (held.kind === "unknown") throw new VariablesPending(pending.because);
    const value = held.kind === "value" ? held.value : held;
    const cells = this.#cells.get(pending.declaration) ?? new Map<unknown, LiveCell>();
    this.#cells.set(pending.declaration, cells);
    const known = cells.get(value);
    if (known) return known;
    const cell: LiveCell = {
      get: () => {
        if (held.kind === "value") return held.value;
        throw new ReferenceError("Cannot access a variable before initialization");
      },
      set: () => {},
    };
    cells.set(value, cell);
    return cell;
  }

  /** The access to a missing private name; functions of the same class share it. */
  accessFor(pending: Pending, shown: PrivateAccess): PrivateAccess {
    this.note(pending);
    const known = this.#accesses.get(pending.declaration);
    if (known) return known;
    this.#accesses.set(pending.declaration, shown);
    return shown;
  }

  /** A function in place of a missing private method; null for other members. */
  methodFor(pending: Pending): object | null {
    const { method, declaration } = pending;
    if (!method) return null;
    this.note(pending);
    let standIn = this.#methods.get(declaration);
    if (!standIn) {
      standIn = () => {};
      registerMade(standIn, { kind: "function", code: method.code, binding: method.binding });
      this.#methods.set(declaration, standIn);
    }
    return standIn;
  }

  /** Throws VariablesPending if anything was missing. */
  demandNothing(): void {
    if (this.missing !== null) throw new VariablesPending(this.missing);
  }
}
