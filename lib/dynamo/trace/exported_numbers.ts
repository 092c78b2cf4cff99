/**
 * Numbers that only the language computes, as a root of a size, in exports. Programs without the language have no such
 * arithmetic: the number of the example is a constant of theirs, and so are the sizes that it follows from, which each
 * call checks.
 */
import { hintOf, isEqual } from "../../sym/decide.ts";
import type { ShapeEnv } from "../../sym/shape_env.ts";
import { sourceText } from "../../sym/size_guards.ts";
import { tracesExport } from "../functions/marks.ts";
import { type HostExpression, operandsOf } from "../variables/host_number.ts";

/** Makes constants of the sizes from which an export computes numbers. */
export function settleExported(sizes: ShapeEnv, expressions: readonly HostExpression[]): void {
  if (!tracesExport()) return;
  const read = new Set<string>(), seen = new Set(expressions);
  for (const each of seen) {
    if (each.kind === "tensorSize") {
      read.add(sourceText({ base: each.source.name, part: { kind: each.part, dim: each.dim } }));
    } else if (each.kind === "source") read.add(each.source.name);
    for (const operand of each.kind === "shared" ? [each.of] : operandsOf(each)) seen.add(operand);
  }
  for (const symbol of sizes.symbols) {
    if (read.has(sourceText(sizes.sourceOf(symbol)))) isEqual(symbol, hintOf(symbol));
  }
}
