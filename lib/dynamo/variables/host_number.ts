/**
 * Numbers that differ between calls, as exact JavaScript arithmetic over their sources. Invariant: evaluating an
 * expression runs no user code.
 */
import {
  type HostBinary,
  type HostCall,
  type HostElement,
  type HostExpression,
  type HostLeaf,
  type HostMath,
  MATH,
  type RankedNumber,
  type Ranking,
  type SharedExpression,
  type Source,
} from "../places.ts";

export type {
  HostBinary,
  HostCall,
  HostElement,
  HostExpression,
  HostLeaf,
  HostMath,
  RankedNumber,
  Ranking,
  SharedExpression,
};

let nextShared = 0, nextRanking = 0;

/**
 * An expression as a part of others that is not repeated in each of them; null if it contains calls of builtins, or
 * numbers that a comparator compares.
 */
export function shared(of: HostExpression): SharedExpression | null {
  if (callIn(of) || isOfComparator(of)) return null;
  return {
    kind: "shared",
    of,
    number: nextShared++,
    readsElements: readsElements(of),
    parts: [...partsOf(of)],
  };
}

/** A list that each call sorts; null if each call would compute other numbers whenever it computes them. */
export function ranking(
  columns: readonly (readonly HostExpression[])[],
  order: HostExpression,
): Ranking | null {
  const all = [...columns.flat(), order];
  if (all.some((each) => callIn(each) !== null)) return null;
  return { number: nextRanking++, columns, order, readsElements: all.some(readsElements) };
}

/** The expressions from which one is computed; a shared one is computed by itself. */
export function operandsOf(expression: HostExpression): readonly HostExpression[] {
  switch (expression.kind) {
    case "binary":
      return [expression.left, expression.right];
    case "unary":
      return [expression.operand];
    case "element":
      return [expression.at];
    case "math":
      return expression.args;
    case "choice":
      return [expression.test, expression.whenTrue, expression.whenFalse];
    case "called":
    case "compared":
    case "ranked":
    case "shared":
    case "source":
    case "tensorSize":
    case "literal":
      return [];
    default:
      return expression satisfies never;
  }
}

/**
 * The places that an expression reads; null if it also reads what is found only while a call runs, or is too large for
 * guards.
 */
export function placesIn(expression: HostExpression): readonly Source[] | null {
  switch (expression.kind) {
    case "source":
    case "tensorSize":
      return [expression.source];
    case "called":
    case "compared":
    case "element":
    case "ranked":
    case "shared":
      return null;
    default: {
      const all = operandsOf(expression).map(placesIn), known = all.filter((each) => each !== null);
      return known.length === all.length ? known.flat() : null;
    }
  }
}

function partsOf(expression: HostExpression): Set<SharedExpression> {
  const found = new Set<SharedExpression>();
  const visit = (each: HostExpression): void => {
    if (each.kind === "shared") found.add(each);
    else operandsOf(each).forEach(visit);
  };
  visit(expression);
  return found;
}

/**
 * A large expression and those in it, the innermost first, without unwanted ones and what only these contain. Chains of
 * them are as long as the loops that made them, so that recursion would overflow the stack.
 */
export function innermostFirst(
  whole: SharedExpression,
  isWanted: (each: SharedExpression) => boolean,
): SharedExpression[] {
  const found = new Set<SharedExpression>(), open = [whole];
  for (let each = open.pop(); each; each = open.pop()) {
    if (found.has(each) || !isWanted(each)) continue;
    found.add(each);
    open.push(...each.parts);
  }
  return [...found].sort((a, b) => a.number - b.number);
}

const HOST_MATH: ReadonlySet<string> = new Set(MATH);

/** Returns whether a name is a function of `HostMath`. */
export function isHostMath(name: string): name is HostMath {
  return HOST_MATH.has(name);
}

const BINARY: Readonly<Record<HostBinary, (a: number, b: number) => number | boolean>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "%": (a, b) => a % b,
  "**": (a, b) => a ** b,
  "&": (a, b) => a & b,
  "|": (a, b) => a | b,
  "^": (a, b) => a ^ b,
  "<<": (a, b) => a << b,
  ">>": (a, b) => a >> b,
  ">>>": (a, b) => a >>> b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
  "===": (a, b) => a === b,
  "!==": (a, b) => a !== b,
};

/** Returns whether a text is one of these operators. */
export function isHostBinary(text: string): text is HostBinary {
  return Object.hasOwn(BINARY, text);
}

/** The result of an operator on two numbers. */
export function applyBinary(operator: HostBinary, a: number, b: number): number | boolean {
  return BINARY[operator](a, b);
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
    case "ranked":
    case "compared":
      return leaf(expression);
    case "literal":
      return typeof expression.value === "number"
        ? numberText(expression.value)
        : JSON.stringify(expression.value);
    case "binary":
      return `(${again(expression.left)} ${expression.operator} ${again(expression.right)})`;
    case "unary":
      return `(${expression.operator}${again(expression.operand)})`;
    case "math":
      return `Math.${expression.name}(${expression.args.map(again).join(", ")})`;
    case "choice":
      return `(${again(expression.test)} ? ${again(expression.whenTrue)} : ${again(expression.whenFalse)})`;
    default:
      return expression satisfies never;
  }
}

/** The first call in an expression; null if it is the same for the same arguments. */
export function callIn(expression: HostExpression): HostCall | null {
  if (expression.kind === "called") return expression.call;
  for (const operand of operandsOf(expression)) {
    const call = callIn(operand);
    if (call !== null) return call;
  }
  return null;
}

/** Returns whether an expression has a value only where a comparator compares two elements. */
export function isOfComparator(expression: HostExpression): boolean {
  return expression.kind === "compared" || operandsOf(expression).some(isOfComparator);
}

/** Returns whether an expression is an integer in all calls, as far as its operators tell. */
export function isWholeNumber(expression: HostExpression): boolean {
  const { kind } = expression;
  if (kind === "element" || kind === "choice" || kind === "ranked") return expression.isWhole;
  return expression.kind === "binary" && /^([&|^]|<<|>>>?)$/.test(expression.operator);
}

/** Returns whether an expression reads numbers in memory. */
export function readsElements(expression: HostExpression): boolean {
  if (expression.kind === "shared") return expression.readsElements;
  if (expression.kind === "ranked") return expression.ranking.readsElements;
  return expression.kind === "element" || operandsOf(expression).some(readsElements);
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
  return operandsOf(expression).reduce((n, each) => n >= limit ? n : n + expressionSize(each, limit - n), 1);
}
