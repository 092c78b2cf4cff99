/**
 * Tab completion in the REPL: names of globals, and members after a dot.
 *
 * It returns the possible completions of the last word before the cursor, and that word. Invariant: no code of the
 * program runs: an accessor is completed itself, but nothing after it.
 */

/** A name, or names joined by dots, at the end of a line. */
const WORD = /(?:[\p{ID_Start}$_][\p{ID_Continue}$]*\.)*[\p{ID_Start}$_]?[\p{ID_Continue}$]*$/u;

/** The completions of a line, in the form that node:readline expects. */
export function completions(line: string): [string[], string] {
  const [word = ""] = WORD.exec(line) ?? [];
  if (word === "") return [[], word];
  const parts = word.split("."), start = parts.pop() ?? "";
  const owner = parts.reduce<unknown>((object, name) => valueOf(object, name), globalThis);
  const before = parts.map((name) => `${name}.`).join("");
  const found = [...namesOf(owner)].filter((name) =>
    name.startsWith(start) && /^[\p{ID_Start}$_]/u.test(name)
  );
  return [found.sort().map((name) => before + name), word];
}

/** The value of an own or inherited data property; undefined for all else. */
function valueOf(object: unknown, name: string): unknown {
  for (let at = objectOf(object); at !== null; at = Object.getPrototypeOf(at)) {
    const descriptor = Object.getOwnPropertyDescriptor(at, name);
    if (descriptor) return descriptor.value;
  }
  return undefined;
}

function namesOf(value: unknown): Set<string> {
  const found = new Set<string>();
  for (let at = objectOf(value); at !== null; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) found.add(name);
  }
  return found;
}

/** The object whose members a value has. */
function objectOf(value: unknown): object | null {
  return value === undefined || value === null ? null : Object(value);
}
