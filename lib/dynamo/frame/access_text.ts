/**
 * Generates the text of functions that access a variable, for evaluation where its name is in scope.
 *
 * Invariant: evaluating the text only creates functions.
 */
import type { Variable } from "../bytecode/scope.ts";

/** Names of tokens, by the variable beside which they are declared. */
type TokenNames = ReadonlyMap<Variable, string>;

/** Text of an array with the accessors of each variable, all of which can be accessed. */
export function accessText(variables: readonly Variable[], tokens?: TokenNames): string {
  return `[${variables.map((v) => entryText(v, tokens)).join(",")}]`;
}

/**
 * Text of an array of functions that read the variable, write it and return its token; null if it cannot be accessed.
 */
export function entryText(variable: Variable, tokens?: TokenNames): string | null {
  const { name } = variable;
  switch (variable.kind) {
    case "private":
      return `[o=>${name} in o,o=>o.${name},(o,$dyn_v)=>{o.${name}=$dyn_v}]`;
    case "this":
    case "newTarget":
    case "importMeta":
    case "arguments":
      return `[()=>${name}]`;
    case "home":
    case "callee":
      return variable.declaredAt < 0 ? null : `[()=>${name}]`;
    default:
      if (variable.assignment !== "plain" || !variable.reassigned) return `[()=>${name}]`;
      return `[()=>${name},$dyn_v=>{${name}=$dyn_v}${tokenText(tokens?.get(variable))}]`;
  }
}

function tokenText(token: string | undefined): string {
  return token === undefined ? "" : `,()=>${token}??={}`;
}
