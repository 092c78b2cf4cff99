/**
 * Generates arguments that bind a function's parameters without side effects.
 *
 * Invariant: no default is evaluated, no getter or iterator of the program runs, and destructuring terminates.
 */
import type * as ast from "acorn";

type Pattern = ast.Pattern | null;

/** A value that binds to a name. */
const FITTING: object = Object.freeze(Object.create(null));

/** Arguments that fit the parameters. */
export function fittingArguments(parameters: readonly ast.Pattern[]): readonly object[] {
  return items(parameters);
}

function fitting(pattern: Pattern): object {
  switch (pattern?.type) {
    case "AssignmentPattern":
      return fitting(pattern.left);
    case "ArrayPattern":
      return listOf(items(pattern.elements));
    case "ObjectPattern": {
      const object: Record<string, object> = Object.create(null);
      for (const property of pattern.properties) {
        if (property.type === "RestElement" || property.computed) continue;
        const { key, value } = property;
        const name = key.type === "Identifier" ? key.name : key.type === "Literal" ? String(key.value) : null;
        if (name !== null) object[name] = fitting(value);
      }
      return object;
    }
    default:
      return FITTING;
  }
}

/** Values for a list of patterns, in order; further ones fit a rest pattern. */
function items(patterns: readonly Pattern[]): readonly object[] {
  return patterns.flatMap((pattern) => {
    if (pattern?.type !== "RestElement") return [fitting(pattern)];
    return pattern.argument.type === "ArrayPattern" ? items(pattern.argument.elements) : [];
  });
}

/** A list that yields the values in order; the program may have replaced the iteration of arrays. */
function listOf(values: readonly object[]): object {
  return Object.freeze({
    [Symbol.iterator]: () => {
      let next = 0;
      return { next: () => ({ done: next >= values.length, value: values[next++] }) };
    },
  });
}
