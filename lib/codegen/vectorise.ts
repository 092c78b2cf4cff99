/**
 * Chooses the loop of each nest that runs in vector lanes, where the scheduler has not: at most one on each path.
 * Invariant: only parallel and reduction loops are chosen.
 */
import { type Dim, freeSymbols } from "../sym/expr.ts";
import type { Element } from "../loops/body.ts";
import type { Kernel, Loop, Statement } from "../loops/ir.ts";
import { coefficientOf, recordLowered } from "../loops/nest.ts";
import type { BufferOperand } from "../loops/record.ts";

const isLoop = (s: Statement): s is Loop => s.kind === "loop";

/** Returns whether some loop is already tagged. */
function tagged(body: readonly Statement[]): boolean {
  return body.some((s) => isLoop(s) ? s.vector || tagged(s.body) : s.kind === "masked" && tagged(s.body));
}

/** Returns whether masked parts contain loops: such bodies run scalar. */
export function masksLoops(body: readonly Statement[]): boolean {
  return body.some((s) =>
    isLoop(s) ? masksLoops(s.body) : s.kind === "masked" && (s.body.some(isLoop) || masksLoops(s.body))
  );
}

/** Scores how well the accesses below suit lanes along `loop`: unit stride +3, the same element +1, others −2. */
function score(loop: Loop, body: readonly Statement[], weight = 1): number {
  let total = 0;
  for (const s of body) {
    if (s.kind === "loop") {
      total += score(loop, s.body, weight * 4);
    } else if (s.kind === "masked") {
      total += score(loop, s.body, weight);
    } else if (s.kind === "load" || s.kind === "store") {
      total += weight * worth(s.index, loop);
    }
  }
  return total;
}

function worth(index: Dim, loop: Loop): number {
  if (typeof index === "number" || !freeSymbols(index).has(loop.axis.symbol)) return 1;
  return coefficientOf(index, loop.axis.symbol) === 1 ? 3 : -2;
}

/** Returns whether a loop below carries values from one iteration to the next. */
const scans = (body: readonly Statement[]): boolean =>
  body.some((s) => isLoop(s) && (s.carried.length > 0 || scans(s.body)));

const eligible = (loop: Loop): boolean =>
  loop.order !== "sequential" && loop.carried.length === 0 && loop.axis.size !== 1 && !masksLoops(loop.body);

/** Loops on the paths below that may become vector loops, with their scores; inner ones win ties. */
function best(body: readonly Statement[]): Loop | undefined {
  let winner: Loop | undefined, most = -Infinity;
  const visit = (list: readonly Statement[]): void => {
    for (const s of list) {
      if (!isLoop(s)) continue;
      if (eligible(s)) {
        const long = typeof s.axis.size === "number" && s.axis.size < 8 ? -1000 : 0;
        const value = score(s, s.body) + long;
        // Lanes over the rows of a scan would touch a cache line for each element
        if (value >= most && (value >= 0 || !scans(s.body))) [winner, most] = [s, value];
      }
      visit(s.body);
    }
  };
  visit(body);
  return winner;
}

/** An epilogue with its last loop vectorised: its results are adjacent as those of the call are. */
export function vectoriseEpilogue(body: readonly Statement[]): readonly Statement[] {
  return body.map((s) => {
    if (!isLoop(s)) return s;
    const inner = s.body.some(isLoop);
    return { ...s, vector: !inner, body: inner ? vectoriseEpilogue(s.body) : s.body };
  });
}

/** Chooses vector loops in statements: one for each path that has none. */
export function vectorise(body: readonly Statement[]): readonly Statement[] {
  return body.map((s) => {
    if (!isLoop(s) || tagged([s])) return s;
    const chosen = best([s]);
    return chosen === undefined ? s : mark(s, chosen);
  });
}

function mark(loop: Loop, chosen: Loop): Loop {
  if (loop === chosen) return { ...loop, vector: true };
  // Siblings of the path to the chosen loop are nests of their own
  const holds = (list: readonly Statement[]): boolean =>
    list.some((s) => isLoop(s) && (s === chosen || holds(s.body)));
  return {
    ...loop,
    body: loop.body.map((s) => {
      if (!isLoop(s)) return s;
      if (s === chosen || holds([s])) return mark(s, chosen);
      const other = best([s]);
      return other === undefined ? s : mark(s, other);
    }),
  };
}

/** A kernel that stores each element of a view, vectorised. */
export function pointwise(name: string, to: BufferOperand, element: Element): Kernel {
  const { shape, dtype } = to,
    kernel = recordLowered({ kind: "pointwise", shape, dtype, element }, [to], { name });
  return kernel.kind === "loops" ? { ...kernel, body: vectorise(kernel.body) } : kernel;
}
