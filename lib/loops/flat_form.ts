/**
 * Canonical texts of kernels that differ only in their buffers, such as updates of parameters of any shapes by one
 * formula. Invariant: kernels with the same text are one function over their buffers and the number of iterations of
 * their outermost loop.
 */
import type { DType } from "../base/dtype.ts";
import { InternalError } from "../base/errors.ts";
import { type Dim, freeSymbols, type Sym, symbol } from "../sym/expr.ts";
import type { BufferId, Kernel, LoopKernel, Statement } from "./ir.ts";
import { cachedBufferAnalysis } from "./canonical_form.ts";
import { printKernel } from "./print.ts";

/** Represents the number of iterations of any such kernel. */
export const LENGTH: Sym = symbol("length", {
  kind: "size",
  decider: {
    hintOf: () => unasked(),
    assume: () => unasked(),
  },
});

function unasked(): never {
  throw new InternalError("Expected no condition on the length of a kernel");
}

/**
 * Returns the text of what a kernel computes, independent of its length; null if it is more than one loop of a known
 * length.
 */
export function flatForm(kernel: Kernel, dtypeOf: (id: BufferId) => DType | undefined): string | null {
  if (kernel.kind !== "loops" || kernel.blocks || kernel.workgroup !== undefined) return null;
  const types: (DType | undefined)[] = [];
  let text: string | null = null;
  visitTexts(kernel.body, (id, each) => {
    types.push(dtypeOf(id));
    text = each;
  });
  return text === null ? null : [kernel.team, ...types, text].join("\n");
}

/**
 * The buffers of statements in order of appearance, each with the text of the statements over their numbers; none
 * without such a text.
 */
const visitTexts = cachedBufferAnalysis((given) => {
  const body = ofAnyLength(given), buffers: BufferId[] = [];
  if (body === null || !isClosed(body)) return new Map<BufferId, string>();
  const text = printKernel({ kind: "loops", name: "", body, origins: [] }).replace(/\bb(\d+)\b/g, (_, id) => {
    if (!buffers.includes(Number(id))) buffers.push(Number(id));
    return `b${buffers.indexOf(Number(id))}`;
  });
  return new Map(buffers.map((id) => [id, text]));
});

/**
 * Returns statements whose only outermost loop, the last statement, runs `LENGTH` times; null if they have another
 * form.
 */
export function ofAnyLength(body: readonly Statement[]): readonly Statement[] | null {
  const last = body.at(-1), before = body.slice(0, -1);
  if (before.some((s) => s.kind === "loop" || s.kind === "masked")) return null;
  if (last?.kind !== "loop") return last?.kind === "masked" ? null : body;
  if (last.order !== "parallel" || typeof last.axis.size !== "number") return null;
  return [...before, { ...last, axis: { ...last.axis, size: LENGTH } }];
}

/** Returns the number of iterations of a kernel; 1 if it has no loop. */
export function lengthOfFlat({ body }: LoopKernel): number {
  const last = body.at(-1);
  return last?.kind === "loop" && typeof last.axis.size === "number" ? last.axis.size : 1;
}

/** Returns whether statements depend on no size of the program and have no reductions. */
function isClosed(body: readonly Statement[]): boolean {
  const isKnown = (d: Dim) =>
    [...freeSymbols(d)].every((each) =>
      each === LENGTH || (each.node.kind === "symbol" && each.node.role.kind !== "size")
    );
  return body.every((s) => {
    if (s.kind === "loop") return isKnown(s.axis.size) && s.folds === undefined && isClosed(s.body);
    if (s.kind === "masked") return isClosed(s.body);
    return s.kind === "load" || s.kind === "store" || s.kind === "index" ? isKnown(s.index) : true;
  });
}
