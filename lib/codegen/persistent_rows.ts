/**
 * Persistent reductions keep rows in registers: where several loops that a workgroup divides visit the same elements of
 * a row, each invocation loads its elements once and keeps them for the later loops in a local buffer. Elements that
 * are stored, loaded and stored again are stored once. Invariant: the loops have one length, so that an invocation runs
 * the same iterations of each; an element of a local buffer belongs to the invocation that runs its iteration.
 */
import { add, type Dim, freeSymbols, mul, substitute } from "../sym/expr.ts";
import type { BufferId, Loop, LoopKernel, Program, Statement } from "../loops/ir.ts";
import { storeOf } from "../loops/nest.ts";
import { type Access, accessesOf, allOf, indirect } from "../loops/uses.ts";
import { isVec4Loop } from "./vec4.ts";
import { localsIn, type MakeLocal, rewriteLoops } from "./kernels.ts";
import type { Grid, Target } from "./target.ts";

/** Maximum number of iterations of an invocation, which are unrolled, and of statements after unrolling. */
const MOST = { iterations: 8, statements: 512 } as const;

/** Keeps rows of a program in registers. */
export function persistentRows(program: Program, { grid }: Target): Program {
  if (!grid) return program;
  return rewriteLoops(program, (kernel, buffers) => withPersistentRows(kernel, grid, localsIn(buffers)));
}

function withPersistentRows(kernel: LoopKernel, { registers }: Grid, local: MakeLocal): LoopKernel {
  const { workgroup, points, body } = kernel;
  if (workgroup === undefined || points?.interleaved) return kernel;
  const inGrid = (list: readonly Statement[]): readonly Statement[] => {
    const [only] = list;
    if (only?.kind !== "loop" || only.share !== "grid") {
      return persistentIn(list, { sharing: workgroup / (points?.count ?? 1), room: registers, local });
    }
    const inner = inGrid(only.body);
    return inner === only.body ? list : [{ ...only, body: inner }];
  };
  const made = inGrid(body);
  return made === body ? kernel : { ...kernel, body: made };
}

interface Setting {
  /** Invocations that share a row. */
  readonly sharing: number;
  /** Elements that each of them may keep. */
  readonly room: number;
  readonly local: MakeLocal;
}

/** A loop that a workgroup divides, and the body of each iteration, for one element or four. */
interface RowLoop {
  readonly loop: Loop;
  readonly four: Loop | undefined;
  readonly plain: readonly Statement[];
}

function rowLoopOf(s: Statement): RowLoop | undefined {
  if (
    s.kind !== "loop" || s.share !== "team" || s.order === "sequential" || typeof s.axis.size !== "number"
  ) return undefined;
  const [only] = s.body,
    four = s.body.length === 1 && only?.kind === "loop" && isVec4Loop(only) ? only : undefined;
  return { loop: s, four, plain: (four ?? s).body };
}

/** The same place of each iteration of some loops: its accesses, in their order. */
interface Place {
  readonly buffer: BufferId;
  readonly accesses: Access[];
}

/** The places that loops access, by access. */
function placesOf(loops: readonly RowLoop[]): ReadonlyMap<Statement, Place> {
  const [first] = loops, known = new Map<BufferId, Map<Dim, Place>>(), places = new Map<Statement, Place>();
  for (const { loop: { axis: { symbol } }, four, plain } of loops) {
    for (const s of plain) {
      if ((s.kind !== "load" && s.kind !== "store") || indirect(s.index).length > 0) continue;
      if (!freeSymbols(s.index).has(symbol)) continue;
      const index = substitute(s.index, (each) => {
        if (each === symbol) return first?.loop.axis.symbol ?? each;
        return each === four?.axis.symbol ? first?.four?.axis.symbol ?? each : each;
      });
      const ofBuffer = known.get(s.buffer) ?? new Map<Dim, Place>();
      known.set(s.buffer, ofBuffer);
      const place = ofBuffer.get(index) ?? { buffer: s.buffer, accesses: [] };
      ofBuffer.set(index, place);
      place.accesses.push(s);
      places.set(s, place);
    }
  }
  return places;
}

/** Returns whether statements write to a place only through its own accesses. */
function isItsOwn({ buffer, accesses }: Place, row: readonly Statement[]): boolean {
  const all = [...accessesOf(row)].filter((s) => s.buffer === buffer);
  return all.every(isLoad) || all.every((s) => accesses.includes(s) && (isLoad(s) || s.mode === "set"));
}

const isLoad = (s: Access): s is Access & { readonly kind: "load" } => s.kind === "load";

function persistentIn(row: readonly Statement[], { sharing, room, local }: Setting): readonly Statement[] {
  const found = row.flatMap((s) => rowLoopOf(s) ?? []), [first] = found;
  if (!first) return row;
  const loops = found.filter(({ loop, four }) =>
    loop.axis.size === first.loop.axis.size && !four === !first.four
  );
  const length = Number(first.loop.axis.size), each = first.four ? 4 : 1;
  const iterations = Math.ceil(length / sharing),
    statements = [...allOf(loops.map(({ loop }) => loop))].length;
  if (iterations > MOST.iterations || iterations * statements > MOST.statements) return row;
  const places = placesOf(loops), kept = new Map<Place, BufferId>();
  /** Number of elements kept after each loop; those whose last read is there free their room. */
  const held = loops.map(() => 0), elements = iterations * each;
  for (const place of new Set(places.values())) {
    const { buffer, accesses } = place, [first, ...later] = accesses, last = later.findLast(isLoad);
    const [from, to] = [first, last].map((s) => loops.findIndex(({ plain }) => s && plain.includes(s)));
    const gaps = held.map((_, gap) => gap).slice(from, to);
    if (!last || gaps.some((gap) => (held[gap] ?? 0) + elements > room) || !isItsOwn(place, row)) continue;
    for (const gap of gaps) held[gap] = (held[gap] ?? 0) + elements;
    kept.set(place, local(buffer, length * each));
  }
  if (kept.size === 0) return row;
  const rewritten = new Map<Statement, Statement>();
  for (const { loop, four, plain } of loops) {
    const at = four ? add(mul(loop.axis.symbol, each), four.axis.symbol) : loop.axis.symbol;
    const body = plain.flatMap((s): readonly Statement[] => {
      const place = places.get(s), to = place && kept.get(place);
      if (to === undefined || (s.kind !== "load" && s.kind !== "store")) return [s];
      const which = place?.accesses.indexOf(s) ?? 0, later = place?.accesses.slice(which + 1) ?? [];
      if (s.kind === "load" && which > 0) return [{ ...s, buffer: to, index: at }];
      const isLater = (kind: Access["kind"]) => later.some((access) => access.kind === kind);
      const keep = isLater("load") ? [storeOf(to, at, s.kind === "load" ? s.id : s.value)] : [];
      return s.kind === "store" && isLater("store") ? keep : [s, ...keep];
    });
    rewritten.set(loop, { ...loop, body: four ? [{ ...four, body }] : body });
  }
  return row.map((s) => rewritten.get(s) ?? s);
}
