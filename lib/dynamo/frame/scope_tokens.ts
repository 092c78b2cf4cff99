/**
 * Tokens: an object for each run of a scope, which proves that two functions share a variable.
 *
 * The token is held by a variable declared beside the variables that change. Invariant: a function that captures a
 * variable with a token also sees the token, and each instance of the variable has its own token: a loop's body runs
 * once for each instance of its head's variables.
 */
import type { ParsedModule } from "../bytecode/parse.ts";
import type { Variable } from "../bytecode/scope.ts";
import type { AstNode } from "../bytecode/syntax.ts";

/** Text around a scope's statements. */
interface Place {
  /** Start of the first code of each run of the scope, and end of the last. */
  readonly start: number;
  readonly end: number;
  /** Text that terminates what precedes it. */
  readonly before: string;
  /** Whether it is an expression that must become a statement to make room for a declaration. */
  readonly isExpression: boolean;
}

/** Returns where the statements of a body, or its expression, begin. */
export type StartOfBody = (body: AstNode) => Pick<Place, "start" | "before">;

/** An insertion that declares a token, or closes an earlier insertion. */
interface TokenInsertion {
  readonly at: number;
  readonly text: string;
  readonly isEnd: boolean;
}

/** The text that ends a function's body. */
export const END = ")}";

/** Tokens of a module. */
interface Tokens {
  readonly names: ReadonlyMap<Variable, string>;
  readonly insertions: readonly TokenInsertion[];
}

/** Adds tokens for the variables of a module where possible. `prefix` begins their names. */
export function scopeTokens(
  module: ParsedModule,
  prefix: string,
  startOf: StartOfBody,
): Tokens {
  const names = new Map<Variable, string>();
  const insertions: TokenInsertion[] = [];
  let count = 0;
  for (const [node, scope] of module.analysis.scopes) {
    const wanted = [...scope.variables.values()].filter((v) =>
      v.reassigned && v.capturers.size > 0 && !v.single
    );
    const place = wanted.length > 0 ? placeOf(node, startOf) : null;
    if (!place) continue;
    const within = ({ node: { start, end } }: Variable["unit"]) => start >= place.start && end <= place.end;
    const given = wanted.filter((variable) => [...variable.capturers].every(within));
    if (given.length === 0) continue;
    const name = `${prefix}${count++}`;
    for (const variable of given) names.set(variable, name);
    const text = place.isExpression ? `{let ${name};return(` : `${place.before}let ${name};`;
    insertions.push({ at: place.start, text, isEnd: false });
    if (place.isExpression) insertions.push({ at: place.end, text: END, isEnd: true });
  }
  return { names, insertions };
}

function placeOf(node: AstNode, startOf: StartOfBody): Place | null {
  switch (node.type) {
    case "ArrowFunctionExpression":
    case "FunctionDeclaration":
    case "FunctionExpression":
      if (node.body.type === "BlockStatement") return placeOf(node.body, startOf);
      return { ...startOf(node.body), end: node.end, isExpression: true };
    case "ForStatement":
    case "ForInStatement":
    case "ForOfStatement":
    case "CatchClause":
      return node.body.type === "BlockStatement" ? placeOf(node.body, startOf) : null;
    case "BlockStatement":
      return { ...startOf(node), end: node.end, isExpression: false };
    default:
      return null;
  }
}
