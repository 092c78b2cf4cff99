/**
 * Index expressions as integer instructions. The value is taken modulo 2³² if 32 bits are requested, as for byte
 * addresses. Invariants: division rounds down, as in the expressions; operands of divisions and comparisons, which must
 * be exact, take 64 bits if their range needs them.
 */
import type { Dim, Sym } from "../../lib/sym/expr.ts";
import type { FunctionBody } from "./function_body.ts";
import type { Bounds } from "../../lib/codegen/index_bounds.ts";
import type { IntegerType } from "./opcodes.ts";

/** The scope in which index expressions are written. */
export interface IndexScope {
  readonly body: FunctionBody;
  /** The range of an index expression. */
  bounds(index: Dim): Bounds;
  /** Pushes the value of a symbol. */
  pushSymbol(symbol: Sym, type: IntegerType): void;
}

/** Returns whether all integers of a range fit into 32 bits, with some room for the step of a loop. */
export const fitsWord = ([low, high]: Bounds): boolean => low >= -(2 ** 31) && high < 2 ** 31 - 64;

/** Pushes the value of an index expression. */
export function pushIndex(scope: IndexScope, d: Dim, type: IntegerType): void {
  const { body } = scope, push = (part: Dim) => pushIndex(scope, part, type);
  if (typeof d === "number") return void body.integer(type, d);
  const { node } = d;
  switch (node.kind) {
    case "symbol":
      return scope.pushSymbol(d, type);
    case "sum": {
      let first = true;
      for (const { term, coefficient } of node.terms) {
        push(term);
        if (coefficient !== 1) body.integer(type, coefficient).op(`${type}Mul`);
        if (!first) body.op(`${type}Add`);
        first = false;
      }
      if (first) body.integer(type, node.constant);
      else if (node.constant !== 0) body.integer(type, node.constant).op(`${type}Add`);
      return;
    }
    case "product":
      node.factors.forEach((factor, n) => {
        push(factor);
        if (n > 0) body.op(`${type}Mul`);
      });
      return;
    case "floorDiv":
    case "mod":
    case "min":
    case "max": {
      const exact = type === "i32" &&
        !(fitsWord(scope.bounds(node.left)) && fitsWord(scope.bounds(node.right)));
      const inner = exact ? "i64" : type;
      if (node.kind === "min" || node.kind === "max") {
        pushChoice(scope, node.kind, [node.left, node.right, inner]);
      } else pushDivision(scope, node.kind, [node.left, node.right, inner]);
      if (exact) body.op("i32WrapI64");
      return;
    }
    default:
      return node satisfies never;
  }
}

type Operands = readonly [left: Dim, right: Dim, type: IntegerType];

function pushChoice(scope: IndexScope, kind: "min" | "max", [left, right, type]: Operands): void {
  const { body } = scope, [a, b] = [body.local(type), body.local(type)];
  pushIndex(scope, left, type);
  body.set(a);
  pushIndex(scope, right, type);
  body.set(b).get(a).get(b).get(a).get(b);
  body.op(kind === "min" ? `${type}LtS` : `${type}GtS`, "select");
}

function pushDivision(scope: IndexScope, kind: "floorDiv" | "mod", [left, right, type]: Operands): void {
  const { body } = scope;
  if (scope.bounds(left)[0] >= 0 && scope.bounds(right)[0] > 0) {
    pushIndex(scope, left, type);
    pushIndex(scope, right, type);
    body.op(kind === "mod" ? `${type}RemS` : `${type}DivS`);
    return;
  }
  // The remainder gets the divisor's sign: r + b where r ≠ 0 and the signs differ
  const [a, b, r] = [body.local(type), body.local(type), body.local(type)], wrong = body.local("i32");
  pushIndex(scope, left, type);
  body.set(a);
  pushIndex(scope, right, type);
  body.set(b).get(a).get(b).op(`${type}RemS`).tee(r).integer(type, 0).op(`${type}Ne`);
  body.get(r).get(b).op(`${type}Xor`).integer(type, 0).op(`${type}LtS`, "i32And").set(wrong);
  if (kind === "mod") body.get(r).get(b).integer(type, 0).get(wrong).op("select", `${type}Add`);
  else {
    body.get(a).get(b).op(`${type}DivS`).integer(type, 1).integer(type, 0).get(wrong);
    body.op("select", `${type}Sub`);
  }
}
