/**
 * Foreach kernels: merges adjacent kernels that are equal except for their buffers, each on one row of them or several:
 * updates of many parameters by one formula become one function that runs over a table of addresses and lengths, so
 * that its threads are woken once. Runs at the end of code generation. Invariant: no kernel of a table writes what another of them touches, so they may run
 * in any order, or concurrently.
 */
import { itemSize } from "../base/dtype.ts";
import type { BufferId, Kernel, KernelTable, Program } from "../loops/ir.ts";
import { flatForm, LENGTH } from "../loops/flat_form.ts";
import { usesOf } from "../loops/uses.ts";
import type { Target } from "./target.ts";

/** Merges kernels into tables. */
export function foreachTables(program: Program, { tables }: Target): Program {
  const { kernels, buffers, guard } = program;
  if (!tables) return program;
  const forms = kernels.map((kernel) => flatForm(kernel, (id) => buffers[id]?.dtype));
  const found = new Map<Kernel, KernelTable>();
  for (let from = 0; from < kernels.length;) {
    const form = forms[from], rows = rowsOf(kernels[from]);
    if (!form || (!rows && forms[from + 1] !== form)) {
      from++;
      continue;
    }
    const touched = new Touched(program);
    let to = from;
    while (to < kernels.length && forms[to] === form && (to === from || to !== guard?.after)) {
      const kernel = kernels[to];
      if (!kernel || !touched.add(kernel)) break;
      to++;
    }
    if (to - from > 1 || rows) {
      const table: KernelTable = { length: LENGTH };
      for (const kernel of kernels.slice(from, to)) found.set(kernel, table);
    }
    from = Math.max(to, from + 1);
  }
  if (found.size === 0) return program;
  return {
    ...program,
    kernels: kernels.map((kernel) => {
      const table = found.get(kernel);
      return table && kernel.kind === "loops" ? { ...kernel, table } : kernel;
    }),
  };
}

const rowsOf = (kernel: Kernel | undefined) => kernel?.kind === "loops" ? kernel.rows : undefined;

/** Bytes of the arena that a kernel touches. */
interface Bytes {
  readonly from: number;
  readonly to: number;
  readonly writes: boolean;
}

/** Memory that kernels touch: buffers of the call by number, the arena by bytes. */
class Touched {
  readonly #read = new Set<BufferId>();
  readonly #written = new Set<BufferId>();
  /** For each kernel its places in the arena, and the bytes between the first and the last one. */
  readonly #places: { readonly from: number; readonly to: number; readonly all: readonly Bytes[] }[] = [];

  constructor(readonly program: Program) {}

  /** Adds a kernel, unless it shares memory with another one and either of them writes there; then returns false. */
  add(kernel: Kernel): boolean {
    const { all, written } = usesOf(kernel), { buffers } = this.program;
    const ids: { readonly id: BufferId; readonly writes: boolean }[] = [], bytes: Bytes[] = [];
    for (const each of all) {
      const named = buffers[each], writes = written.has(each);
      const id = named?.role.kind === "window" ? named.role.of : each, buffer = buffers[id];
      if (!buffer) return false;
      const { role, length, dtype } = buffer;
      if (role.kind === "local") continue;
      if (role.kind === "temporary") {
        if (typeof role.offset !== "number" || typeof length !== "number") return false;
        bytes.push({ from: role.offset, to: role.offset + length * itemSize(dtype), writes });
        continue;
      }
      if (this.#written.has(id) || (writes && this.#read.has(id))) return false;
      ids.push({ id, writes });
    }
    const from = Math.min(...bytes.map((each) => each.from)), to = Math.max(...bytes.map((each) => each.to));
    const near = this.#places.filter((other) => from < other.to && other.from < to);
    const isShared = (one: Bytes, other: Bytes) =>
      (one.writes || other.writes) && one.from < other.to && other.from < one.to;
    if (near.some((other) => other.all.some((one) => bytes.some((two) => isShared(one, two))))) return false;
    this.#places.push({ from, to, all: bytes });
    for (const { id, writes } of ids) (writes ? this.#written : this.#read).add(id);
    return true;
  }
}
