/**
 * Fission of kernels: splits those over few long rows whose loops depend on each other (a mean, then deviations from
 * it, then scaling by them) into one kernel for each loop: one workgroup for each row would leave most of a device
 * idle, while separate loops can each be divided further. Rows pass reduced values between the kernels in temporaries.
 * Invariant: recomputed values read nothing that an earlier kernel has written.
 */
import { hintOf } from "../sym/decide.ts";
import { add, type Dim, mul, product } from "../sym/expr.ts";
import type { BufferId, Kernel, LoopKernel, Program, Reduction, Statement, ValueId } from "../loops/ir.ts";
import { deepUses, storedBuffers, usesOf } from "../loops/uses.ts";
import { storeOf } from "../loops/nest.ts";
import { valueTypes } from "../loops/value_types.ts";
import { sharesRows } from "./grid.ts";
import { type MakeTemporary, replaceWithTemporaries } from "./kernels.ts";
import { inLoops, isPure, nestOf } from "./nests.ts";
import type { Grid, Target } from "./target.ts";

/** Splits the kernels over few long rows of a program. */
export function rowFission(program: Program, { grid, kernelBuffers }: Target): Program {
  if (!grid) return program;
  return replaceWithTemporaries(
    program,
    (kernel, temporary) =>
      (kernel.kind === "loops" ? fission(kernel, { grid, kernelBuffers, temporary }) : undefined) ??
        [kernel],
  );
}

interface Setting {
  readonly grid: Grid;
  readonly kernelBuffers: number;
  readonly temporary: MakeTemporary;
}

function fission(kernel: LoopKernel, setting: Setting): readonly Kernel[] | undefined {
  const { grid } = setting, nest = nestOf(kernel.body), { loops, body } = nest;
  const rows = hintOf(product(loops.map(({ axis }) => axis.size)));
  const long = body.some((s) => s.kind === "loop" && hintOf(s.axis.size) >= grid.rows.long);
  if (!long || rows >= grid.rows.few || !sharesRows(nest, grid)) return undefined;
  const steps = stepsOf(body);
  if (!steps || steps.length < 2) return undefined;
  const parts = steps.map((own) => partOf(own, body));
  if (parts.some((part, i) => readsWritten(part, parts.slice(0, i)))) return undefined;
  const handed = passedOn(parts);
  if (handed.some(({ dtype }) => dtype === "bool")) return undefined;
  const ids = new Set(handed.map(({ id }) => id));
  // The results of a scan are not passed between kernels
  if (parts.some(({ needs }) => [...needs].some((id) => !ids.has(id)))) return undefined;
  const fits = parts.every((part) => {
    const { all } = usesOf({ ...kernel, body: part.body });
    return all.size + [...part.needs, ...reductionsOf(part).keys()].filter((id) => ids.has(id)).length <=
      setting.kernelBuffers;
  });
  if (!fits) return undefined;
  const count = product(loops.map(({ axis }) => axis.size));
  const place = loops.reduce<Dim>((at, { axis }) => add(mul(at, axis.size), axis.symbol), 0);
  const buffers = new Map<ValueId, BufferId>(
    handed.map(({ id, dtype }) => [id, setting.temporary(dtype, count)]),
  );
  return parts.map((part, i) => ({
    ...kernel,
    name: `${kernel.name}_${i}`,
    body: inLoops(loops, withTemporaries(part, handed, { buffers, place })),
  }));
}

/** A future kernel: a loop with the stores of its results, or only stores. */
type Step = readonly Statement[];

/** The loops and stores of a row in order; undefined if there is anything else. */
function stepsOf(body: readonly Statement[]): readonly Step[] | undefined {
  const steps: Statement[][] = [];
  for (const s of body) {
    if (isPure(s)) continue;
    const last = steps.at(-1), [first] = last ?? [];
    if (s.kind === "loop") steps.push([s]);
    else if (s.kind !== "store") return undefined;
    else if (last && !(first?.kind === "loop" && first.order === "parallel")) last.push(s);
    else steps.push([s]);
  }
  return steps;
}

interface Part {
  readonly own: Step;
  /** The values that it computes itself. */
  readonly values: readonly Statement[];
  /** Both, in the order of the row. */
  readonly body: readonly Statement[];
  /** Results of loops in other parts that it needs. */
  readonly needs: ReadonlySet<ValueId>;
}

function partOf(own: Step, row: readonly Statement[]): Part {
  const wanted = new Set<ValueId>(), defined = new Set<ValueId>(), values = new Set<Statement>();
  const take = (s: Statement): void => {
    deepUses(s, (id) => wanted.add(id));
    for (const id of valueTypes([s]).keys()) defined.add(id);
  };
  own.forEach(take);
  for (const s of row.toReversed()) {
    if (!isPure(s) || !("id" in s) || !wanted.has(s.id)) continue;
    values.add(s);
    take(s);
  }
  const needs = new Set([...wanted].filter((id) => !defined.has(id)));
  return { own, values: [...values], body: row.filter((s) => values.has(s) || own.includes(s)), needs };
}

/** Returns whether values of a part come from memory that an earlier part has written. */
function readsWritten({ values }: Part, earlier: readonly Part[]): boolean {
  const written = storedBuffers(earlier.flatMap(({ own }) => own));
  return [...usesOf({ kind: "loops", name: "", body: values, origins: [] }).all].some((each) =>
    written.has(each)
  );
}

const reductionsOf = ({ own }: Part): ReadonlyMap<ValueId, Reduction> =>
  new Map(own.flatMap((s) => s.kind === "loop" ? s.reductions.map((r) => [r.id, r]) : []));

/** The reductions that later parts need. */
function passedOn(parts: readonly Part[]): readonly Reduction[] {
  return parts.flatMap((part, i) => {
    const later = parts.slice(i + 1);
    return [...reductionsOf(part).values()].filter(({ id }) => later.some(({ needs }) => needs.has(id)));
  });
}

function withTemporaries(
  part: Part,
  handed: readonly Reduction[],
  { buffers, place }: { readonly buffers: ReadonlyMap<ValueId, BufferId>; readonly place: Dim },
): readonly Statement[] {
  const own = reductionsOf(part);
  const loads = handed.filter(({ id }) => part.needs.has(id)).map(({ id, dtype }): Statement => ({
    kind: "load",
    id,
    buffer: buffers.get(id) ?? 0,
    index: place,
    dtype,
  }));
  const stores = handed.filter(({ id }) => own.has(id)).map(({ id }) =>
    storeOf(buffers.get(id) ?? 0, place, id)
  );
  return [...loads, ...part.body, ...stores];
}
