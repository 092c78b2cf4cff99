/** Index expressions as WGSL i32 expressions. Invariant: division by a positive divisor rounds down. */
import { InternalError } from "../../../lib/base/errors.ts";
import { boundsOf, type Dim, type Sym } from "../../../lib/sym/expr.ts";
import type { Helpers } from "./scalar.ts";

/** Names the symbols of an expression: counters, sizes and values. */
type SymbolNames = (symbol: Sym) => string;

/** The text of an expression. */
export function indexText(d: Dim, names: SymbolNames, helpers: Helpers): string {
  if (typeof d === "number") {
    if (!Number.isSafeInteger(d) || Math.abs(d) >= 2 ** 31) {
      throw new InternalError(`Expected an index below 2^31 but found ${d}`);
    }
    return d < 0 ? `(${d})` : `${d}`;
  }
  const again = (x: Dim) => indexText(x, names, helpers);
  const { node } = d;
  switch (node.kind) {
    case "symbol":
      return names(d);
    case "sum": {
      const parts = node.terms.map(({ term, coefficient }) =>
        coefficient === 1 ? again(term) : `${again(term)} * ${again(coefficient)}`
      );
      if (node.constant !== 0) parts.push(again(node.constant));
      return `(${parts.join(" + ")})`;
    }
    case "product":
      return `(${node.factors.map(again).join(" * ")})`;
    case "floorDiv":
      return division(node.left, node.right, "/");
    case "mod":
      return division(node.left, node.right, "%");
    case "min":
    case "max":
      return `${node.kind}(${again(node.left)}, ${again(node.right)})`;
    default:
      return node satisfies never;
  }

  function division(left: Dim, right: Dim, sign: "/" | "%"): string {
    if (boundsOf(left)[0] >= 0) return `(${again(left)} ${sign} ${again(right)})`;
    const name = helpers.call(sign === "/" ? "floorDiv" : "floorMod", "int32");
    return `${name}(${again(left)}, ${again(right)})`;
  }
}
