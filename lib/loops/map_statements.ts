/** Rewrites statements with those in their loops and masks. Invariant: nested statements are rewritten first, in order. */
import type { Statement } from "./ir.ts";

/** Replaces each statement by another. */
export function mapStatements(
  body: readonly Statement[],
  rewrite: (s: Statement) => Statement,
): readonly Statement[] {
  return body.map((s) =>
    rewrite(s.kind === "loop" || s.kind === "masked" ? { ...s, body: mapStatements(s.body, rewrite) } : s)
  );
}

/** Replaces each statement by any number of others. */
export function expandStatements(
  body: readonly Statement[],
  expand: (s: Statement) => readonly Statement[],
): readonly Statement[] {
  return body.flatMap((s) =>
    expand(s.kind === "loop" || s.kind === "masked" ? { ...s, body: expandStatements(s.body, expand) } : s)
  );
}
