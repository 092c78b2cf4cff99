/**
 * Numbers that differ between calls, as exact JavaScript arithmetic over their sources. Invariant: evaluating an
 * expression runs no user code.
 */
import type { BinaryOperator } from "../bytecode/instruction.ts";
import type { NumberForm } from "../guards/bytes.ts";
import type { Source } from "../source.ts";

/** A call of a builtin that returns another number each time: generated code makes it once, in order. */
export interface HostCall {
  /** The builtin as written in the program. */
  readonly text: string;
  readonly run: () => number;
  /** Whether it runs after the graph. */
  readonly afterGraph: boolean;
}

/** A place that an expression reads. */
export type HostLeaf = Extract<
  HostExpression,
  { readonly kind: "source" | "tensorSize" | "called" | "element" | "shared" }
>;

/** A large expression that generated code evaluates once, before anything is written. */
export interface SharedExpression {
  readonly kind: "shared";
  readonly of: HostExpression;
  readonly number: number;
  readonly readsElements: boolean;
}

let nextShared = 0;

/** An expression as a part of others that is not repeated in each of them; null if it contains calls of builtins. */
export function shared(of: HostExpression): SharedExpression | null {
  if (callIn(of)) return null;
  return { kind: "shared", of, number: nextShared++, readsElements: readsElements(of) };
}

/**
 * A number in memory at the beginning of the call: the element of a typed array at an index, or a number in another
 * form at a byte offset of an object.
 */
export interface HostElement {
  readonly kind: "element";
  readonly source: Source;
  readonly at: HostExpression;
  readonly form: NumberForm | null;
  /** Whether it is an integer in all calls. */
  readonly isWhole: boolean;
}

/** A pure expression over primitive values. */
export type HostExpression =
  | { readonly kind: "called"; readonly call: HostCall; readonly index: number }
  | { readonly kind: "source"; readonly source: Source }
  | HostElement
  | SharedExpression
  | { readonly kind: "literal"; readonly value: number | string }
  /** A size or stride of a tensor at a source. */
  | {
    readonly kind: "tensorSize";
    readonly source: Source;
    readonly part: "shape" | "stride";
    readonly dim: number;
  }
  | {
    readonly kind: "binary";
    readonly operator: HostBinary;
    readonly left: HostExpression;
    readonly right: HostExpression;
  }
  | { readonly kind: "unary"; readonly operator: "-" | "+" | "~"; readonly operand: HostExpression }
  /** A function of Math. */
  | { readonly kind: "math"; readonly name: HostMath; readonly args: readonly HostExpression[] };

/** Operators on numbers that generated code may use. */
export type HostBinary = Exclude<BinaryOperator, "==" | "!=" | "in" | "instanceof">;

const MATH = [
  "abs",
  "ceil",
  "floor",
  "round",
  "trunc",
  "sign",
  "sqrt",
  "cbrt",
  "exp",
  "expm1",
  "log",
  "log1p",
  "log2",
  "log10",
  "sin",
  "cos",
  "tan",
  "asin",
  "acos",
  "atan",
  "sinh",
  "cosh",
  "tanh",
  "asinh",
  "acosh",
  "atanh",
  "atan2",
  "pow",
  "min",
  "max",
  "hypot",
  "fround",
  "imul",
  "clz32",
] as const;

/** Deterministic functions of Math. */
export type HostMath = (typeof MATH)[number];

const HOST_MATH: ReadonlySet<string> = new Set(MATH);

/** Returns whether a name is a function of `HostMath`. */
export function isHostMath(name: string): name is HostMath {
  return HOST_MATH.has(name);
}

const BINARY = {
  "+": true,
  "-": true,
  "*": true,
  "/": true,
  "%": true,
  "**": true,
  "&": true,
  "|": true,
  "^": true,
  "<<": true,
  ">>": true,
  ">>>": true,
  "<": true,
  "<=": true,
  ">": true,
  ">=": true,
  "===": true,
  "!==": true,
} as const satisfies Record<HostBinary, true>;

/** Returns whether a text is an operator of `HostBinary`. */
export function isHostBinary(text: string): text is HostBinary {
  return Object.hasOwn(BINARY, text);
}

/** The result of an operator on two numbers. */
export function applyBinary(operator: HostBinary, a: number, b: number): number | boolean {
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return a / b;
    case "%":
      return a % b;
    case "**":
      return a ** b;
    case "&":
      return a & b;
    case "|":
      return a | b;
    case "^":
      return a ^ b;
    case "<<":
      return a << b;
    case ">>":
      return a >> b;
    case ">>>":
      return a >>> b;
    case "<":
      return a < b;
    case "<=":
      return a <= b;
    case ">":
      return a > b;
    case ">=":
      return a >= b;
    case "===":
      return a === b;
    case "!==":
      return a !== b;
    default:
      return operator satisfies never;
  }
}

/** The JavaScript text of an expression; `leaf` prints its leaves. */
export function hostText(
  expression: HostExpression,
  leaf: (leaf: HostLeaf) => string,
): string {
  const again = (e: HostExpression) => hostText(e, leaf);
  switch (expression.kind) {
    case "source":
    case "tensorSize":
    case "called":
    case "element":
    case "shared":
      return leaf(expression);
    case "literal":
      return typeof expression.value === "string"
        ? JSON.stringify(expression.value)
        : numberText(expression.value);
    case "binary":
      return `(${again(expression.left)} ${expression.operator} ${again(expression.right)})`;
    case "unary":
      return `(${expression.operator}${again(expression.operand)})`;
    case "math":
      return `Math.${expression.name}(${expression.args.map(again).join(", ")})`;
    default:
      return expression satisfies never;
  }
}

/** The first call in an expression; null if it is the same for the same arguments. */
export function callIn(expression: HostExpression): HostCall | null {
  switch (expression.kind) {
    case "called":
      return expression.call;
    case "shared":
    case "source":
    case "tensorSize":
    case "literal":
      return null;
    case "binary":
      return callIn(expression.left) ?? callIn(expression.right);
    case "unary":
      return callIn(expression.operand);
    case "element":
      return callIn(expression.at);
    case "math":
      return expression.args.map(callIn).find((call) => call !== null) ?? null;
    default:
      return expression satisfies never;
  }
}

/** Returns whether an expression is an integer in all calls, as far as its operators tell. */
export function isWholeNumber(expression: HostExpression): boolean {
  if (expression.kind === "element") return expression.isWhole;
  return expression.kind === "binary" && /^([&|^]|<<|>>>?)$/.test(expression.operator);
}

/** Returns whether an expression reads numbers in memory. */
export function readsElements(expression: HostExpression): boolean {
  switch (expression.kind) {
    case "element":
      return true;
    case "shared":
      return expression.readsElements;
    case "binary":
      return readsElements(expression.left) || readsElements(expression.right);
    case "unary":
      return readsElements(expression.operand);
    case "math":
      return expression.args.some(readsElements);
    case "called":
    case "source":
    case "tensorSize":
    case "literal":
      return false;
    default:
      return expression satisfies never;
  }
}

/** A number as source text; negative ones in parentheses, so that they can be operands of `**` and member access. */
export function numberText(value: number): string {
  if (Object.is(value, -0)) return "(-0)";
  return value < 0 ? `(${value})` : `${value}`;
}

/**
 * Returns the number of nodes of an expression, counting shared ones each time they are printed; stops at `limit`.
 */
export function expressionSize(expression: HostExpression, limit: number): number {
  switch (expression.kind) {
    case "binary": {
      const left = expressionSize(expression.left, limit);
      return left >= limit ? left : 1 + left + expressionSize(expression.right, limit - left);
    }
    case "unary":
      return 1 + expressionSize(expression.operand, limit);
    case "element":
      return 1 + expressionSize(expression.at, limit);
    case "math":
      return expression.args.reduce((n, a) => n >= limit ? n : n + expressionSize(a, limit - n), 1);
    default:
      return 1;
  }
}
