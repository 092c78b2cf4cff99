/**
 * Names of a function's parameters, from its source or a schema. Invariant: names are never guessed: a parameter list
 * that is not a list of plain names is an error.
 */
import { DynError } from "../base/errors.ts";

/** A schema of an op: parameters with types, then results. */
const SCHEMA = /^\s*\(([^)]*)\)\s*(?:->.*)?$/;
/** The parameter list in a function's source. */
const WRITTEN = /^(?:async\s+)?(?:function\b[^(]*|[\w$]*)\(([^)]*)\)|^([\w$]+)\s*=>/;

/** A parameter, and whether the schema marks it as written: `Tensor(a!) x`. */
export interface NamedParameter {
  readonly name: string;
  readonly isWritten: boolean;
}

/** Returns the parameters of a function, from its schema or its source. */
export function namedParameters(
  fn: (...args: never[]) => unknown,
  schema?: string,
): readonly NamedParameter[] {
  const text = schema?.replaceAll(/\(\w+(!?)\)/g, "$1") ?? String(fn);
  const found = (schema === undefined ? WRITTEN : SCHEMA).exec(text), list = found?.[1] ?? found?.[2];
  if (list === undefined) throw unreadable(text);
  const written = list.split(",").map((each) => each.trim()).filter((each) => each !== "" && each !== "*");
  return written.map((each) => {
    const [plain = ""] = each.split("="), name = plain.trim().split(/\s+/).at(-1) ?? "";
    if (!/^[\w$]+$/.test(name)) throw unreadable(text);
    return { name, isWritten: plain.includes("!") };
  });
}

function unreadable(text: string): DynError {
  const [line = ""] = text.split("\n");
  return new DynError(
    `Expected parameters with plain names but found ${line}; give a schema, or name arguments by position`,
  );
}
