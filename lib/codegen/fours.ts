/**
 * Four elements per invocation: in a grid of parallel loops around plain statements the fast loop becomes a quarter
 * as long, around a vector loop over four neighbours. Returns undefined where neighbours are not adjacent in memory.
 * Invariant: reads and writes of four start at multiples of four elements, provided that buffers do.
 */
import { isNarrow } from "../base/dtype.ts";
import { add, type Dim, freeSymbols, mod, mul, sub, substitute, type Sym, symbol } from "../sym/expr.ts";
import type { BufferDecl, Loop, Statement, ValueId } from "../loops/ir.ts";
import { substituteIndices } from "../loops/nest.ts";
import { indirect, valuesOf } from "../loops/uses.ts";

/** How four neighbours access a buffer. */
export type Access = "uniform" | "four" | "apart";

/** Properties of the statements of four neighbours. */
export interface Neighbours {
  /** Values that are the same for all of them. */
  readonly uniform: ReadonlySet<ValueId>;
  /** Returns how they access an index. */
  readonly access: (index: Dim) => Access;
  /** An index of one of them. */
  readonly at: (index: Dim, lane: number) => Dim;
}

/** Rewrites a grid for four elements per invocation, where that reads and writes whole vectors. */
export function inFours(
  loops: readonly Loop[],
  body: readonly Statement[],
  buffers: readonly BufferDecl[],
): { readonly loops: readonly Loop[]; readonly body: readonly Statement[] } | undefined {
  const fast = loops.find((loop) => loop.vector) ?? loops.at(-1);
  if (!fast || typeof fast.axis.size !== "number" || fast.axis.size % 4 !== 0 || fast.axis.size === 0) return;
  if (packsElements(body, buffers)) return;
  const quarter = {
    symbol: symbol("q", { kind: "axis" }, [0, fast.axis.size / 4 - 1]),
    size: fast.axis.size / 4,
  };
  const axis = { symbol: symbol("l", { kind: "axis" }, [0, 3]), size: 4 };
  const place = add(mul(quarter.symbol, 4), axis.symbol);
  const four: Loop = {
    ...fast,
    vector: true,
    axis,
    body: substituteIndices(body, (s) => s === fast.axis.symbol ? place : s),
  };
  const neighbours = neighboursOf(four);
  if (!four.body.every((s) => fits(s, neighbours))) return undefined;
  const others = loops.filter((loop) => loop !== fast);
  return { loops: [...others, { ...fast, vector: false, axis: quarter }], body: [four] };
}

/** Returns whether narrow elements are written to temporaries, where invocations would share vectors. */
function packsElements(body: readonly Statement[], buffers: readonly BufferDecl[]): boolean {
  return body.some((s) => {
    const buffer = s.kind === "store" ? buffers[s.buffer] : undefined;
    return buffer?.role.kind === "temporary" && isNarrow(buffer.dtype);
  });
}

/** Analyses a loop over four neighbours. */
export function neighboursOf({ axis: { symbol: lane }, body }: Loop): Neighbours {
  const uniform = new Set<ValueId>();
  const varies = (index: Dim): boolean => indirect(index).some((id) => !uniform.has(id));
  const at = (index: Dim, n: number): Dim => substitute(index, (s: Sym) => s === lane ? n : s);
  const access = (index: Dim): Access => {
    if (varies(index)) return "apart";
    const first = at(index, 0), steps = [1, 2, 3].map((n) => sub(at(index, n), first));
    if (steps.every((step) => step === 0)) return "uniform";
    return steps.every((step, i) => step === i + 1) && mod(first, 4) === 0 ? "four" : "apart";
  };
  for (const s of body) if (s.kind !== "loop" && s.kind !== "store" && isUniform(s)) uniform.add(s.id);
  return { uniform, access, at };

  function isUniform(s: Exclude<Statement, Loop | { readonly kind: "store" }>): boolean {
    if (s.kind === "load") return access(s.index) === "uniform";
    if (s.kind === "masked" || (s.kind === "index" && freeSymbols(s.index).has(lane))) return false;
    return valuesOf(s).every((id) => uniform.has(id));
  }
}

/** Returns whether a statement can be vectorised by four. */
function fits(s: Statement, { uniform, access }: Neighbours): boolean {
  switch (s.kind) {
    case "load":
      // Neighbours that lie apart are read better by neighbouring invocations, unless they are anywhere anyway
      return access(s.index) !== "apart" || indirect(s.index).some((id) => !uniform.has(id));
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
