/**
 * Index expressions as i32 instructions. Input: an expression, and what pushes a symbol; output: instructions that
 * push its value. Invariant: division rounds down, as the expressions mean it.
 */
import { boundsOf, type Dim, type Sym } from "../../lib/sym/expr.ts";
import type { FunctionBody } from "./binary.ts";

/** Pushes the value of an index expression. */
export function pushIndex(body: FunctionBody, d: Dim, pushSymbol: (symbol: Sym) => void): void {
  const push = (part: Dim) => pushIndex(body, part, pushSymbol);
  if (typeof d === "number") return void body.i32(d);
  const { node } = d;
  switch (node.kind) {
    case "symbol":
      return pushSymbol(d);
    case "sum": {
      let first = true;
      for (const { term, coefficient } of node.terms) {
        push(term);
        if (coefficient !== 1) body.i32(coefficient).op("i32Mul");
        if (!first) body.op("i32Add");
        first = false;
      }
      if (first) body.i32(node.constant);
      else if (node.constant !== 0) body.i32(node.constant).op("i32Add");
      return;
    }
    case "product":
      node.factors.forEach((factor, n) => {
        push(factor);
        if (n > 0) body.op("i32Mul");
      });
      return;
    case "floorDiv":
    case "mod":
      return pushDivision(body, node.kind, { left: node.left, right: node.right, push });
    case "min":
    case "max": {
      const [a, b] = [body.local("i32"), body.local("i32")];
      push(node.left);
      body.set(a);
      push(node.right);
      body.set(b).get(a).get(b).get(a).get(b).op(node.kind === "min" ? "i32LtS" : "i32GtS", "select");
      return;
    }
    default:
      return node satisfies never;
  }
}

function pushDivision(
  body: FunctionBody,
  kind: "floorDiv" | "mod",
  { left, right, push }: { readonly left: Dim; readonly right: Dim; readonly push: (part: Dim) => void },
): void {
  if (boundsOf(left)[0] >= 0 && boundsOf(right)[0] > 0) {
    push(left);
    push(right);
    body.op(kind === "mod" ? "i32RemS" : "i32DivS");
    return;
  }
  // The remainder gets the divisor's sign: r + b where r ≠ 0 and the signs differ
  const [a, b, r, wrong] = [body.local("i32"), body.local("i32"), body.local("i32"), body.local("i32")];
  push(left);
  body.set(a);
  push(right);
  body.set(b).get(a).get(b).op("i32RemS").tee(r).i32(0).op("i32Ne");
  body.get(r).get(b).op("i32Xor").i32(0).op("i32LtS", "i32And").set(wrong);
  if (kind === "mod") body.get(r).get(b).get(wrong).op("i32Mul", "i32Add");
  else body.get(a).get(b).op("i32DivS").get(wrong).op("i32Sub");
}
