/**
 * Four elements per invocation. Input: a grid of parallel loops around plain statements; output: the same with the
 * fast loop a quarter as long, and which values four neighbours have in common; or undefined where neighbours do
 * not lie next to each other. Invariant: reads and writes of four start at multiples of four elements, provided
 * that buffers do.
 */
import {
  add,
  type Dim,
  freeSymbols,
  mod,
  mul,
  sub,
  substitute,
  type Sym,
  symbol,
} from "../../../lib/sym/expr.ts";
import type { Loop, Statement, ValueId } from "../../../lib/loops/ir.ts";

/** A kernel in fours. */
export interface Fours {
  readonly loops: readonly Loop[];
  readonly body: readonly Statement[];
  /** Values that are the same for all four neighbours. */
  readonly uniform: ReadonlySet<ValueId>;
  /** The index of one of the four neighbours. */
  readonly at: (index: Dim, lane: number) => Dim;
}

/** How four neighbours touch a buffer. */
export type Access = "uniform" | "four" | "apart";

/** Rewrites a grid for four elements per invocation, where that reads and writes whole vectors. */
export function inFours(loops: readonly Loop[], body: readonly Statement[]): Fours | undefined {
  const fast = loops.find((loop) => loop.vector) ?? loops.at(-1);
  if (!fast || typeof fast.axis.size !== "number" || fast.axis.size % 4 !== 0 || fast.axis.size === 0) return;
  const quarter = fast.axis.size / 4;
  const counter = symbol("q", { kind: "axis" }, [0, quarter - 1]);
  const at = (index: Dim, lane: number) =>
    substitute(index, (s) => s === fast.axis.symbol ? add(mul(counter, 4), lane) : s);
  const uniform = new Set<ValueId>();
  const fours: Fours = {
    loops: loops.map((loop) => loop === fast ? { ...loop, axis: { symbol: counter, size: quarter } } : loop),
    body,
    uniform,
    at,
  };
  return body.every((s) => fits(s, { fast: fast.axis.symbol, fours, uniform })) ? fours : undefined;
}

interface Search {
  readonly fast: Sym;
  readonly fours: Fours;
  readonly uniform: Set<ValueId>;
}

/** Whether a statement can be done for four; notes values that are uniform. */
function fits(s: Statement, { fast, fours, uniform }: Search): boolean {
  const note = (id: ValueId, same: boolean) => {
    if (same) uniform.add(id);
    return true;
  };
  switch (s.kind) {
    case "constant":
      return note(s.id, true);
    case "index":
      return note(s.id, isUniform(s.index, fast, uniform));
    case "scalar":
      return note(s.id, s.args.every((a) => uniform.has(a)));
    case "cast":
      return note(s.id, uniform.has(s.value));
    case "select":
      return note(s.id, [s.condition, s.then, s.otherwise].every((v) => uniform.has(v)));
    case "load": {
      const access = accessOf(s.index, fours);
      // Neighbours that lie apart are read better by neighbouring invocations, unless they are anywhere anyway
      return note(s.id, access === "uniform") && (access !== "apart" || hasVarying(s.index, uniform));
    }
    case "store":
      return s.mode === "set" && accessOf(s.index, fours) === "four";
    case "masked":
    case "loop":
      return false;
    default:
      return s satisfies never;
  }
}

/** How four neighbours touch what an index names. */
export function accessOf(index: Dim, { at, uniform }: Pick<Fours, "at" | "uniform">): Access {
  if (hasVarying(index, uniform)) return "apart";
  const first = at(index, 0), steps = [1, 2, 3].map((lane) => sub(at(index, lane), first));
  if (steps.every((step) => step === 0)) return "uniform";
  return steps.every((step, i) => step === i + 1) && mod(first, 4) === 0 ? "four" : "apart";
}

const hasVarying = (index: Dim, uniform: ReadonlySet<ValueId>): boolean =>
  [...freeSymbols(index)].some((s) =>
    s.node.kind === "symbol" && s.node.role.kind === "value" && !uniform.has(s.node.role.id)
  );

const isUniform = (index: Dim, fast: Sym, uniform: ReadonlySet<ValueId>): boolean =>
  !freeSymbols(index).has(fast) && !hasVarying(index, uniform);
