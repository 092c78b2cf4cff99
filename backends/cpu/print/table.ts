/**
 * Kernels of one table as a C++ function that a team of threads runs together. The parameters are (a, s, t, nt) as in
 * kernel.ts, where `a` holds the addresses of all kernels in sequence, and `s` their number, then their lengths.
 * Invariant: each thread runs its part of every kernel; a short kernel is run by one thread.
 */
import { InternalError } from "../../../lib/base/errors.ts";
import type { BufferId, Kernel, LoopKernel, Rows } from "../../../lib/loops/ir.ts";
import { lengthOfFlat, ofAnyLength } from "../../../lib/loops/flat_form.ts";
import { add, type Dim, mul } from "../../../lib/sym/expr.ts";
import { type KernelContext, type KernelFunction, printLoopKernel } from "./kernel.ts";

/** A function over a table. */
interface TableFunction extends Pick<KernelFunction, "body" | "work"> {
  /** The buffers of all kernels. */
  readonly buffers: readonly BufferId[];
  /** The number of kernels and their lengths. */
  readonly lengths: readonly number[];
}

/**
 * Kernels that run together as one function; null if they do not form a table, or if their texts differ, for which
 * there is a kernel each.
 */
export function printTable(group: readonly Kernel[], context: KernelContext): TableFunction | null {
  const lengths: number[] = [], printed: KernelFunction[] = [], buffers: BufferId[] = [];
  let work: Dim = 0;
  for (const kernel of group) {
    if (kernel.kind !== "loops" || !kernel.table) return null;
    const { table: { length } } = kernel, body = ofAnyLength(kernel.body);
    if (!body) throw new InternalError(`Expected one loop of a known length in ${kernel.name}`);
    const sizeIndex: KernelContext["sizeIndex"] = (size) => size === length ? 0 : context.sizeIndex(size);
    const made = printLoopKernel(kernel, { ...context, sizeIndex }, body),
      rows = rowsOf(kernel, made.buffers);
    printed.push(made);
    for (const row of rows) {
      lengths.push(lengthOfFlat(kernel));
      buffers.push(...row);
    }
    work = add(work, mul(made.work, rows.length));
  }
  const [first] = printed;
  if (!first || printed.some(({ body, routines }) => body !== first.body || routines.length > 0)) return null;
  const body = [
    "  const auto one = [nt](void* const* a, const long* s, long t) {",
    first.body.trimEnd(),
    "  };",
    `  for (long k = 0; k < s[0]; k++) one(a + k * ${first.buffers.length}, s + 1 + k, (t + k) % nt);`,
    "",
  ].join("\n");
  return { body, buffers, lengths: [lengths.length, ...lengths], work };
}

/** The buffers of each row of a kernel, in the order of its function. */
function rowsOf({ rows }: LoopKernel, buffers: readonly BufferId[]): Rows {
  if (!rows) return [buffers];
  const columns = buffers.map((id) => rows[0]?.indexOf(id) ?? -1);
  return rows.map((row) =>
    columns.map((column) => {
      const id = row[column];
      if (id === undefined) throw new InternalError(`Expected a column for each buffer but found ${buffers}`);
      return id;
    })
  );
}
