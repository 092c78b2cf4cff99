/**
 * Kernels of one table as a C++ function that a team of threads runs together. The parameters are (a, s, t, nt) as in
 * kernel.ts, where `a` holds the addresses of all kernels in sequence, and `s` their number, then their lengths.
 * Invariant: each thread runs its part of every kernel; a short kernel is run by one thread.
 */
import { InternalError } from "../../../lib/base/errors.ts";
import type { BufferId, Kernel } from "../../../lib/loops/ir.ts";
import { lengthOfFlat, ofAnyLength } from "../../../lib/loops/flat_form.ts";
import { add, type Dim } from "../../../lib/sym/expr.ts";
import { type KernelContext, type KernelFunction, printLoopKernel } from "./kernel.ts";

/** A function over a table. */
export interface TableFunction extends Pick<KernelFunction, "body" | "work"> {
  /** The buffers of all kernels. */
  readonly buffers: readonly BufferId[];
  /** The number of kernels and their lengths. */
  readonly lengths: readonly number[];
}

/** Kernels that run together as one function; null if they do not form a table, or if their texts differ. */
export function printTable(group: readonly Kernel[], context: KernelContext): TableFunction | null {
  const lengths: number[] = [group.length], printed: KernelFunction[] = [];
  for (const kernel of group) {
    if (kernel.kind !== "loops" || !kernel.table) return null;
    const { table: { length } } = kernel, body = ofAnyLength(kernel.body);
    if (!body) throw new InternalError(`Expected one loop of a known length in ${kernel.name}`);
    const sizeIndex: KernelContext["sizeIndex"] = (size) => size === length ? 0 : context.sizeIndex(size);
    printed.push(printLoopKernel(kernel, { ...context, sizeIndex }, body));
    lengths.push(lengthOfFlat(kernel));
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
  return {
    body,
    buffers: printed.flatMap(({ buffers }) => buffers),
    lengths,
    work: printed.reduce<Dim>((sum, { work }) => add(sum, work), 0),
  };
}
