/**
 * Nests around library calls as functions of one element.
 */
import type { LoopKernel, Statement } from "../../lib/loops/ir.ts";
import type { Sym } from "../../lib/sym/expr.ts";
import type { ShaderWriter } from "./print/statements.ts";

/** The counters of a nest around a call, and its body for one element. */
export function elementOf(
  { body }: LoopKernel,
): { readonly axes: readonly Sym[]; readonly body: readonly Statement[] } {
  const [loop] = body;
  if (loop?.kind !== "loop") return { axes: [], body };
  const inner = elementOf({ kind: "loops", name: "", origins: [], body: loop.body });
  return { axes: [loop.axis.symbol, ...inner.axes], body: inner.body };
}

/** Writes a function of the counters of a nest; if it has a type, it returns what the nest stores. */
export function printElement(
  w: ShaderWriter,
  nest: LoopKernel,
  { name, type }: { readonly name: string; readonly type?: string },
): void {
  const { axes, body } = elementOf(nest);
  const parameters = axes.map((axis) => `${w.counter(axis)}: i32`).join(", ");
  w.line(`fn ${name}(${parameters})${type === undefined ? "" : ` -> ${type}`} {`);
  for (const s of body) {
    if (type !== undefined && s.kind === "store") w.line(`return ${w.plain(s.value)};`);
    else w.statements([s]);
  }
  w.line("}");
}
