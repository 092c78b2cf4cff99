/**
 * Four elements per invocation: in a grid of parallel loops around plain statements the fast loop becomes a quarter
 * as long, around a vector loop over four neighbours. Returns undefined where neighbours are not adjacent in memory.
 * Invariant: reads and writes of four start at multiples of four elements, provided that buffers do.
 */
import { isNarrow } from "../base/dtype.ts";
import { add, type Dim, freeSymbols, mod, mul, sub, substitute, type Sym, symbol } from "../sym/expr.ts";
import {
  type BufferDecl,
  type BufferId,
  isPosition,
  type Loop,
  type Reduction,
  type Statement,
  type ValueId,
} from "../loops/ir.ts";
import { loopOver, substituteIndices } from "../loops/nest.ts";
import { type Scans, scansOf } from "../loops/scans.ts";
import { accessesOf, allOf, indirect, valuesOf } from "../loops/uses.ts";
import { nextId, valueTypes } from "../loops/value_types.ts";
import { cloneStatement, renaming } from "./statement_list.ts";
import { axisOf } from "./strip_mining.ts";

/** How four neighbours access a buffer. */
export type Access = "uniform" | "four" | "apart";

/** Properties of the statements of four neighbours. */
interface Neighbours {
  /** Values of the loop that are not the same for all of them. */
  readonly varying: ReadonlySet<ValueId>;
  /** Values of the loop that differ between the neighbours. */
  readonly access: (index: Dim) => Access;
  /** The index of one of the neighbours. */
  readonly at: (index: Dim, lane: number) => Dim;
}

/** Rewrites a grid for four elements per invocation, if that reads and writes whole vectors. */
export function vec4Grid(
  loops: readonly Loop[],
  body: readonly Statement[],
  buffers: readonly BufferDecl[],
): { readonly loops: readonly Loop[]; readonly body: readonly Statement[] } | undefined {
  const fast = loops.find((loop) => loop.vector) ?? loops.at(-1);
  const quarters = fast && quartersOf({ ...fast, body }, buffers);
  if (!quarters) return undefined;
  const { axis, four } = quarters;
  return {
    loops: [...loops.filter((loop) => loop !== fast), { ...fast, vector: false, axis }],
    body: [four],
  };
}

/** A loop of a quarter of the length, and the four elements of each iteration. */
interface Quarters {
  readonly axis: Loop["axis"];
  readonly four: Loop;
}

function quartersOf(loop: Loop, buffers: readonly BufferDecl[]): Quarters | undefined {
  const quarters = packsElements(loop.body, buffers) ? undefined : stripMineVec4(loop);
  return quarters && byVectors(quarters.four) ? quarters : undefined;
}

export function stripMineVec4({ share: _, ...loop }: Loop): Quarters | undefined {
  const { axis: { symbol: whole, size }, body } = loop;
  if (typeof size !== "number" || size % 4 !== 0 || size === 0) return undefined;
  const quarter = symbol("q", { kind: "axis" }, [0, size / 4 - 1]);
  const axis = { symbol: symbol("l", { kind: "axis" }, [0, 3]), size: 4 };
  const place = add(mul(quarter, 4), axis.symbol);
  const inner = substituteIndices(body, (s) => s === whole ? place : s);
  return { axis: { symbol: quarter, size: size / 4 }, four: { ...loop, vector: true, axis, body: inner } };
}

/** A scan by quarters: each adds its total, and scans its four elements from the total of the preceding quarters. */
function scanByQuarters(
  loop: Loop,
  { axis, four }: Quarters,
  { scans, first, fresh }: Scans & { readonly fresh: () => ValueId },
): Loop {
  const lane = axisOf("l", 4), own = four.body.filter((_, i) => first.includes(loop.body[i] ?? four));
  const names = renaming(new Map(), fresh, (s) => s === four.axis.symbol ? lane.symbol : s);
  const again = own.map((s) => cloneStatement(s, names));
  const quarters = scans.map(({ carried, op, reduction, value }) => {
    const { dtype } = carried, [total, start, end] = [fresh(), fresh(), fresh()];
    return {
      carried: { ...carried, id: start, next: end },
      total: { id: total, op: reduction, value: names.use(value), dtype },
      sum: { kind: "scalar", id: end, op, args: [start, total], dtype } satisfies Statement,
      inner: { ...carried, initial: start },
    };
  });
  const totals = loopOver(lane, again, {
    order: "reduction",
    vector: true,
    reductions: quarters.map(({ total }) => total),
  });
  return {
    ...loop,
    vector: false,
    axis,
    body: [totals, ...quarters.map(({ sum }) => sum), {
      ...four,
      carried: quarters.map(({ inner }) => inner),
    }],
    carried: quarters.map(({ carried }) => carried),
  };
}

/** A loop by quarters: each iteration first reduces its four elements. */
function byQuarters(loop: Loop, { axis, four }: Quarters, fresh: () => ValueId): Loop {
  const scans = scansOf(loop);
  if (scans) return scanByQuarters(loop, { axis, four }, { ...scans, fresh });
  const types = valueTypes(loop.body), inner: Reduction[] = [];
  const ofFour = (r: Reduction): ValueId => {
    const id = fresh();
    inner.push({ ...r, id });
    return id;
  };
  const reductions = loop.reductions.map((r): Reduction => {
    if (!isPosition(r.op)) return { ...r, value: ofFour(r) };
    // A position goes with the extreme found at the same time
    const dtype = types.get(r.value) ?? "float32", op = r.op === "argmax" ? "max" : "min";
    return { ...r, value: ofFour({ id: r.id, op, value: r.value, dtype }), index: ofFour(r) };
  });
  return { ...loop, vector: false, axis, body: [{ ...four, reductions: inner }], reductions };
}

function freshIds(body: readonly Statement[]): () => ValueId {
  let next = nextId(body);
  return () => next++;
}

/**
 * The statements of a workgroup, with the loops that it shares running by fours if these read and write whole vectors;
 * reductions first combine four elements. Buffers whose elements are written one at a time elsewhere are not accessed
 * by vectors.
 */
export function vec4Shared(body: readonly Statement[], buffers: readonly BufferDecl[]): readonly Statement[] {
  const fresh = freshIds(body);
  const visit = (s: Statement): Statement => {
    if (s.kind !== "loop" && s.kind !== "masked") return s;
    if (s.kind === "masked" || s.share !== "team") return { ...s, body: s.body.map(visit) };
    const quarters = isPlain(s) && (s.order !== "sequential" || isScanOfFour(s))
      ? quartersOf(s, buffers)
      : undefined;
    return quarters ? byQuarters(s, quarters, fresh) : s;
  };
  const made = body.map(visit);
  // All temporaries share one memory
  const memoryOf = (buffer: BufferId): BufferId | "temporary" => {
    const role = buffers[buffer]?.role;
    return role?.kind === "window" ? memoryOf(role.of) : role?.kind === "temporary" ? "temporary" : buffer;
  };
  const apart = new Set([...storedSingly(made)].map(memoryOf));
  const together = vec4LoopsIn(made).flatMap(({ body }) => [...accessesOf(body)]);
  return together.some(({ buffer }) => apart.has(memoryOf(buffer))) ? body : made;
}

/** Statements whose loops, of a workgroup or of an invocation, reduce by fours: four reads are in flight together. */
export function vec4Reductions(body: readonly Statement[]): readonly Statement[] {
  const fresh = freshIds(body);
  return body.map((s) => {
    if (s.kind !== "loop" || s.order !== "reduction" || !isPlain(s)) return s;
    const quarters = stripMineVec4(s);
    return quarters ? byQuarters(s, quarters, fresh) : s;
  });
}

/** Returns whether a loop is over four neighbours, each statement of which finishes before the next starts. */
export const isVec4Loop = (loop: Loop): boolean =>
  loop.vector && !loop.share && loop.axis.size === 4 && isPlain(loop) &&
  (loop.order !== "sequential" || isScanOfFour(loop));

/** Returns whether a loop is a scan whose running values define nothing but the next ones. */
function isScanOfFour(loop: Loop): boolean {
  const { scans } = scansOf(loop) ?? { scans: [] };
  return scans.length > 0 &&
    scans.every(({ carried: { id, next } }) =>
      loop.body.every((s) => !valuesOf(s).includes(id) || ("id" in s && s.id === next))
    );
}

/** The loops over four neighbours. */
export const vec4LoopsIn = (body: readonly Statement[]): readonly Loop[] =>
  [...allOf(body)].flatMap((s) => s.kind === "loop" && isVec4Loop(s) ? [s] : []);

/** Returns whether a loop has nothing but plain statements. */
export const isPlain = ({ body }: Loop): boolean =>
  body.every((s) => s.kind !== "loop" && s.kind !== "masked");

/** Returns whether a loop over four neighbours reads and writes whole vectors. */
export function byVectors(four: Loop): boolean {
  const neighbours = neighboursOf(four);
  return four.body.every((s) => fits(s, neighbours));
}

/** The buffers that statements store to one element at a time. */
export function storedSingly(body: readonly Statement[]): ReadonlySet<BufferId> {
  return new Set(body.flatMap((s): readonly BufferId[] => {
    if (s.kind === "store") return [s.buffer];
    if (s.kind !== "loop" && s.kind !== "masked") return [];
    return s.kind === "loop" && isVec4Loop(s) && byVectors(s) ? [] : [...storedSingly(s.body)];
  }));
}

/** Returns whether narrow elements are written to temporaries, so that invocations would share vectors. */
export function packsElements(body: readonly Statement[], buffers: readonly BufferDecl[]): boolean {
  return body.some((s) => {
    const buffer = s.kind === "store" ? buffers[s.buffer] : undefined;
    return buffer?.role.kind === "temporary" && isNarrow(buffer.dtype);
  });
}

/** Analyses a loop over four neighbours; `given` are outer values that differ between the neighbours. */
export function neighboursOf(
  { axis: { symbol: lane }, body, carried }: Loop,
  given: readonly ValueId[] = [],
): Neighbours {
  const varying = new Set<ValueId>([...given, ...carried.map(({ id }) => id)]);
  const varies = (index: Dim): boolean => indirect(index).some((id) => varying.has(id));
  const at = (index: Dim, n: number): Dim => substitute(index, (s: Sym) => s === lane ? n : s);
  const access = (index: Dim): Access => {
    if (varies(index)) return "apart";
    const first = at(index, 0), steps = [1, 2, 3].map((n) => sub(at(index, n), first));
    if (steps.every((step) => step === 0)) return "uniform";
    return steps.every((step, i) => step === i + 1) && mod(first, 4) === 0 ? "four" : "apart";
  };
  for (const s of body) if (s.kind !== "loop" && s.kind !== "store" && !isUniform(s)) varying.add(s.id);
  return { varying, access, at };

  function isUniform(s: Exclude<Statement, Loop | { readonly kind: "store" }>): boolean {
    if (s.kind === "load") return access(s.index) === "uniform";
    if (s.kind === "masked" || (s.kind === "index" && freeSymbols(s.index).has(lane))) return false;
    return !valuesOf(s).some((id) => varying.has(id));
  }
}

/** Returns whether a statement can be vectorised by four. */
export function fits(s: Statement, { varying, access, at }: Neighbours): boolean {
  switch (s.kind) {
    case "load":
      // Distant elements are read better by neighbouring invocations, unless they are scattered anyway, or at fixed places
      return access(s.index) !== "apart" || typeof at(s.index, 0) === "number" ||
        indirect(s.index).some((id) => varying.has(id));
    case "store":
      return s.mode === "set" && access(s.index) === "four";
    case "masked":
    case "loop":
      return false;
    case "constant":
    case "index":
    case "scalar":
    case "cast":
    case "select":
      return true;
    default:
      return s satisfies never;
  }
}
