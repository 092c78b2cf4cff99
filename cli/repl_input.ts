/**
 * Turns one input of the REPL into an ES module.
 *
 * The module's `default` is the value of the last expression, and it passes its declarations to the session;
 * alternatively the result is that more lines are needed, or an error. Invariant: text is only inserted after what was
 * typed on a line and around the last expression, or replaced by as many characters, and never with a line break, so
 * that lines in stack traces, and lines of code in reports, are those typed.
 *
 * An input is a module, and not a script, so that types, imports, `await` and functions mean what they mean in a file
 * and functions can be captured like those of a file. Other inputs see a declaration as a property of the global
 * object. Variables are only properties: `let n = 1` is rewritten to an assignment, so that there is one `n` however
 * many inputs read and assign it, and a compiled function guards it as any global. Constants, imports, functions and
 * classes are bindings of their module whose values are passed on after their declaration.
 */
import { stripTypeScriptTypes } from "node:module";
import { type Node, parse, type Pattern, type Program, type VariableDeclaration } from "acorn";
import { messageOf } from "../lib/base/errors.ts";
import { absolute, type ImportMap, mapped } from "./import_map.ts";
import { placeOf } from "./script_imports.ts";

/** The result of preparing one input. */
export type Prepared =
  | {
    readonly kind: "module";
    readonly code: string;
    /** Global variables that the module assigns and that must exist. */
    readonly variables: readonly string[];
    /** The modules that it imports: URLs, or names. */
    readonly imported: readonly string[];
    readonly insertions: readonly Insertion[];
  }
  | { readonly kind: "incomplete" }
  | { readonly kind: "error"; readonly message: string };

/** Text that was not typed: its length, before a column of the typed text. */
export interface Insertion {
  readonly line: number;
  readonly column: number;
  readonly length: number;
}

/** The global function by which a module publishes its declarations. */
export const DECLARE: unique symbol = Symbol.for("dyn.repl.declare");

/** The declarations of a module, by name; imports as functions, since another module's exports may change. */
export interface Declarations {
  readonly constants?: Readonly<Record<string, unknown>>;
  readonly definitions?: Readonly<Record<string, unknown>>;
  readonly imports?: Readonly<Record<string, () => unknown>>;
}

/** A replacement of part of the text. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Thrown if the source is wrong, or incomplete. */
class InputError extends Error {
  readonly incomplete: boolean;

  constructor(message: string, incomplete: boolean) {
    super(message);
    this.incomplete = incomplete;
  }
}

const NO_NAMES: ImportMap = { imports: new Map(), scopes: new Map() };

/** Turns an input into a module; imports are resolved as those of a module in `folder`, by the map of its project. */
export function prepare(source: string, folder: string, map: ImportMap = NO_NAMES): Prepared {
  try {
    const { text, program } = parsed(source), imports = importsOf(program, folder, map);
    const edits = [
      ...program.body.flatMap((statement) => statementEdits(statement, program, text)),
      ...imports.map(({ start, end, target }) => ({ start, end, text: JSON.stringify(target) })),
      ...completionEdits(program, text),
    ].toSorted((a, b) => a.start - b.start);
    const insertions = edits.filter(({ start, end }) => start === end).map((edit) => insertionOf(edit, text));
    const names = program.body.flatMap(declaredNames);
    const variables = names.filter(({ kind }) => kind === "variable").map(({ name }) => name);
    const imported = imports.map(({ target }) => target);
    return { kind: "module", code: applyEdits(text, edits), variables, imported, insertions };
  } catch (thrown) {
    if (!(thrown instanceof InputError)) throw thrown;
    return thrown.incomplete ? { kind: "incomplete" } : { kind: "error", message: thrown.message };
  }
}

/** The column of the input that corresponds to a column of the module. */
export function typedColumn(insertions: readonly Insertion[], line: number, column: number): number {
  let typed = column;
  for (const each of insertions) {
    if (each.line === line && each.column < typed) typed = Math.max(each.column, typed - each.length);
  }
  return typed;
}

/** Variables become assignments; other declarations are published right after themselves. */
function statementEdits(statement: Program["body"][number], program: Program, text: string): Edit[] {
  if (statement.type === "VariableDeclaration" && isVariable(statement.kind)) {
    return assignmentEdits(statement);
  }
  const names = declaredNames(statement);
  if (names.length === 0) return [];
  const record = (kind: Declared["kind"], entry: (name: string) => string): string[] => {
    const some = names.filter((each) => each.kind === kind).map(({ name }) => entry(name));
    return some.length === 0 ? [] : [`${kind}s:{${some}}`];
  };
  const declarations = [
    ...record("constant", (name) => name),
    ...record("definition", (name) => name),
    ...record("import", (name) => `${name}:()=>${name}`),
  ];
  const call = `;globalThis[Symbol.for("${DECLARE.description}")]({${declarations}});`;
  // The last line of the input may be followed by more code.
  const isLast = statement === program.body.at(-1);
  return [
    isLast
      ? { start: text.length, end: text.length, text: `\n${call}` }
      : { ...after(statement), text: call },
  ];
}

/** `let a = 1, { b } = c, d;` becomes `;( a = 1, { b } = c, d = void 0);`, which assigns the global variables. */
function assignmentEdits(statement: VariableDeclaration): Edit[] {
  const end = statement.declarations.at(-1)?.end ?? statement.end;
  const empty = statement.kind === "let" ? statement.declarations.filter(({ init }) => !init) : [];
  return [
    { start: statement.start, end: statement.start + statement.kind.length, text: ";( " },
    ...empty.map((declarator) => ({ ...after(declarator), text: " = void 0" })),
    { start: end, end, text: ")" },
  ];
}

const after = ({ end }: Node): { start: number; end: number } => ({ start: end, end });

const isVariable = (kind: VariableDeclaration["kind"]): boolean => kind === "let" || kind === "var";

function insertionOf({ start, text: inserted }: Edit, text: string): Insertion {
  const before = text.slice(0, start).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, length: inserted.length };
}

/** JavaScript of an input and its syntax tree. An input that opens with `{` is an object if it can be one. */
function parsed(source: string): { text: string; program: Program } {
  if (source.trimStart().startsWith("{")) {
    try {
      return parseText(withoutTypes(`(${source})`));
    } catch (thrown) {
      if (!(thrown instanceof InputError)) throw thrown;
    }
  }
  return parseText(withoutTypes(source));
}

function parseText(text: string): { text: string; program: Program } {
  try {
    const program = parse(text, {
      ecmaVersion: "latest",
      sourceType: "module",
      allowAwaitOutsideFunction: true,
    });
    return { text, program };
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown;
    const position = "pos" in thrown && typeof thrown.pos === "number" ? thrown.pos : 0;
    const open = /^Unterminated (comment|template)/.test(thrown.message);
    throw new InputError(`SyntaxError: ${thrown.message}`, open || position >= text.trimEnd().length);
  }
}

/** Replaces types by blanks; constructs that are more than types (enums) are rewritten. */
function withoutTypes(source: string): string {
  let text: string;
  try {
    text = stripTypeScriptTypes(source);
  } catch {
    text = transformed(source);
  }
  return text.trim() === "" && !isWhole(source) ? source : text;
}

/** Returns whether a line is complete: types leave no text, but neither does an unfinished comment. */
function isWhole(source: string): boolean {
  try {
    return stripTypeScriptTypes(`${source}\n0`).trim() === "0";
  } catch {
    return false;
  }
}

function transformed(source: string): string {
  try {
    return stripTypeScriptTypes(source, { mode: "transform" });
  } catch (thrown) {
    const message = messageOf(thrown);
    const [, line, column] = message.match(/:(\d+):(\d+)\s*$/) ?? [];
    const before = source.split("\n").slice(0, Number(line) - 1).map((each) => each.length + 1);
    const offset = before.reduce((sum, length) => sum + length, Number(column) - 1);
    const open = /^(SyntaxError: )?Unterminated template/.test(message);
    throw new InputError(message.replace(/\n\s+at \S+$/, ""), open || offset >= source.trimEnd().length);
  }
}

interface Declared {
  readonly name: string;
  readonly kind: "variable" | "constant" | "definition" | "import";
}

/** The names that a top-level statement declares. */
function declaredNames(statement: Program["body"][number]): Declared[] {
  switch (statement.type) {
    case "ImportDeclaration":
      return statement.specifiers.map(({ local }) => ({ name: local.name, kind: "import" }));
    case "FunctionDeclaration":
    case "ClassDeclaration":
      return [{ name: statement.id.name, kind: "definition" }];
    case "VariableDeclaration": {
      const kind = isVariable(statement.kind) ? "variable" : "constant";
      return statement.declarations.flatMap(({ id }) => patternNames(id)).map((name) => ({ name, kind }));
    }
    case "ExportNamedDeclaration":
      return (statement.declaration ? declaredNames(statement.declaration) : [])
        .map(({ name, kind }) => ({ name, kind: kind === "variable" ? "definition" : kind }));
    default:
      return [];
  }
}

function patternNames(pattern: Pattern): string[] {
  switch (pattern.type) {
    case "Identifier":
      return [pattern.name];
    case "ObjectPattern":
      return pattern.properties.flatMap((each) =>
        patternNames(each.type === "RestElement" ? each : each.value)
      );
    case "ArrayPattern":
      return pattern.elements.flatMap((each) => each ? patternNames(each) : []);
    case "RestElement":
      return patternNames(pattern.argument);
    case "AssignmentPattern":
      return patternNames(pattern.left);
    case "MemberExpression":
      return [];
    default:
      return pattern satisfies never;
  }
}

/** Modules that an input imports: a module created from text has no folder, and no project. */
function importsOf(
  program: Program,
  folder: string,
  map: ImportMap,
): readonly { readonly start: number; readonly end: number; readonly target: string }[] {
  const importer = placeOf("input", folder);
  const found: { start: number; end: number; target: string }[] = [];
  visit(program, (node) => {
    const source = "source" in node ? node.source : undefined;
    if (!isNode(source) || !("value" in source) || typeof source.value !== "string") return;
    const { start, end, value } = source;
    found.push({ start, end, target: absolute(mapped(value, importer, map), importer) });
  });
  return found;
}

/** Calls `see` for every node of a tree. */
function visit(node: Node, see: (node: Node) => void): void {
  see(node);
  for (const child of Object.values(node).flat()) {
    if (isNode(child)) visit(child, see);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}

/** The last statement, if it is an expression, becomes the module's default export. */
function completionEdits(program: Program, text: string): Edit[] {
  const last = program.body.at(-1);
  const exportsDefault = program.body.some(({ type }) => type === "ExportDefaultDeclaration");
  if (last?.type !== "ExpressionStatement" || exportsDefault) return [];
  // The statement's bounds, not the expression's: parentheses around an expression are not part of its node.
  const semicolon = text[last.end - 1] === ";" && last.end > last.expression.end;
  return [
    { start: last.start, end: last.start, text: "export default (" },
    { start: semicolon ? last.end - 1 : last.end, end: last.end, text: ");" },
  ];
}

/** Applies the edits, which are sorted and do not overlap. */
function applyEdits(text: string, edits: readonly Edit[]): string {
  let out = "";
  let position = 0;
  for (const edit of edits) {
    out += text.slice(position, edit.start) + edit.text;
    position = edit.end;
  }
  return out + text.slice(position);
}
