/**
 * Vector loops whose body is one straight run as C++: plain loops that the compiler vectorises. Reductions keep
 * partial results in small arrays, whole groups of lanes at a time, so that contributions never leave registers.
 */
import { isPosition, type Loop, type Reduction } from "../../../lib/loops/ir.ts";
import { LANES } from "../../../lib/loops/reductions.ts";
import { InternalError } from "../../../lib/base/errors.ts";
import type { StatementPrinter } from "./names.ts";
import { combine, foldName, foldText, neutral } from "./reductions.ts";
import { MEMORY_TYPE, VALUE_TYPE } from "./types.ts";

/** Prints a loop that runs in lanes. */
export function printLanes(nest: StatementPrinter, loop: Loop): void {
  const i = nest.axis(loop.axis.symbol), { from, to } = nest.range(loop), { out } = nest;
  if (loop.reductions.length > 0) return groups(nest, loop, { i, from, to });
  out.line('_Pragma("GCC ivdep")');
  out.block(`for (long ${i} = ${from}; ${i} < ${to}; ${i}++) {`, () => nest.statements(loop.body));
}

function groups(
  nest: StatementPrinter,
  { body, reductions, axis: { size } }: Loop,
  { i, from, to }: { readonly i: string; readonly from: string; readonly to: string },
): void {
  const { out } = nest, b = `b${nest.unique()}`;
  for (const r of reductions) openLanes(nest, r);
  const group = (count: string): void => {
    out.line('_Pragma("GCC ivdep") _Pragma("GCC unroll 1")');
    out.block(`for (long l = 0; l < ${count}; l++) {`, () => {
      out.line(`const long ${i} = ${b} + l;`);
      nest.statements(body);
      for (const { id, op, dtype, value } of reductions) {
        if (isPosition(op)) throw new InternalError(`Expected a fold but found ${op} in lanes`);
        const total = `v${id}_lanes[l]`;
        out.line(`${total} = ${combine(op, dtype, [total, nest.value(value)])};`);
      }
    });
  };
  out.block("{", () => {
    out.line(`long ${b} = ${from};`);
    if (typeof size !== "number" || size >= LANES) {
      out.block(`for (; ${b} + ${LANES} <= ${to}; ${b} += ${LANES}) {`, () => group(`${LANES}`));
    }
    if (typeof size !== "number" || size % LANES !== 0) group(`${to} - ${b}`);
  });
  for (const r of reductions) closeLanes(nest, r);
}

/** Declares the partial results of a reduction. */
export function openLanes(
  nest: StatementPrinter,
  { id, op, dtype }: Pick<Reduction, "id" | "op" | "dtype">,
): void {
  if (isPosition(op)) throw new InternalError(`Expected one result of ${op} and not several`);
  nest.out.line(`${MEMORY_TYPE[dtype]} v${id}_lanes[${LANES}] __attribute__((aligned(64)));`);
  nest.out.line(`for (int l = 0; l < ${LANES}; l++) v${id}_lanes[l] = ${neutral(op, dtype)};`);
}

/** Makes one of them. */
export function closeLanes(
  nest: StatementPrinter,
  { id, op, dtype }: Pick<Reduction, "id" | "op" | "dtype">,
): void {
  nest.names.fold(foldText(op, dtype, dtype));
  nest.out.line(`const ${VALUE_TYPE[dtype]} v${id} = ${foldName(op, dtype, dtype)}_end(v${id}_lanes);`);
  nest.define(id, dtype);
}
