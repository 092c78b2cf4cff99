/**
 * Functions of rewritten modules: their code, and the variables that they expose.
 *
 * Invariant: no user code runs: only functions that are known to begin with an entry are called, with arguments for
 * which no default, computed key or getter of the program is evaluated.
 */
import { types } from "node:util";
import { apply } from "../../base/own_builtins.ts";
import type { ParsedModule } from "../bytecode/parse.ts";
import type { Variable } from "../bytecode/scope.ts";
import { type ClassNode, type FunctionNode, isFunctionNode } from "../bytecode/syntax.ts";
import type { Accessors } from "./cells.ts";
import { fittingArguments } from "./fitting_arguments.ts";
import { InspectorUnavailable } from "./inspector.ts";
import { type Handed, handedByClass, type HandOut, probing } from "./probe.ts";
import type { Entry, Names, Rewriting } from "./rewrite.ts";
import { END } from "./scope_tokens.ts";
import { loadedText } from "./source_text.ts";

/** A function or class of a rewritten module. */
export interface RewrittenFunction {
  readonly module: ParsedModule;
  readonly node: FunctionNode | ClassNode;
  /** Returns the accessors of one of its free variables; undefined if it cannot expose that one. */
  readonly accessors: (variable: Variable) => Accessors | undefined;
}

interface RewrittenModule {
  readonly parsed: ParsedModule;
  /** The module's own variables; their accessors come with the first entry that is called. */
  readonly variables: readonly Variable[];
  accessors: ReadonlyMap<Variable, Accessors> | null;
}

interface Numbered {
  readonly module: RewrittenModule;
  readonly entry: Entry;
  /** Arguments with which a function is called to expose its variables; created on first use. */
  arguments: readonly object[] | null;
}

const entries: Numbered[] = [];
const modules = new Map<string, RewrittenModule>();

/**
 * Names in the texts of all rewritten modules. They are unique to the process, so that no text contains them by
 * accident.
 */
export const NAMES: Names = makeNames();

function makeNames(): Names {
  const [random = 0] = crypto.getRandomValues(new BigUint64Array(1));
  const name = `$dyn${random.toString(36)}`;
  return {
    probe: name,
    noteClass: `${name}c`,
    variables: `${name}m`,
    token: `${name}t`,
    mark: `/*${name}*/`,
  };
}

// As they were when dyn loaded: programs read texts of functions, and so do guards, while others are in place
const { indexOf, slice, charCodeAt } = String.prototype;

/** The text of a function as the program wrote it: without what stands between two marks, or is one with its end. */
export function withoutEntries(text: string): string {
  const { mark } = NAMES, { length } = mark;
  let clean = "", from = 0;
  for (;;) {
    const at = apply(indexOf, text, [mark, from]);
    if (at < 0) break;
    const inside = at + length, isEnd = apply(slice, text, [inside, inside + END.length]) === END;
    const end = isEnd ? inside + END.length : apply(indexOf, text, [mark, inside]) + length;
    if (end < inside) break;
    clean += apply(slice, text, [from, at]);
    from = end;
  }
  return from === 0 ? text : clean + apply(slice, text, [from]);
}

/** The number of the next module's first entry. */
export function firstEntry(): number {
  return entries.length;
}

/** Records a module's rewriting. */
export function addModule(parsed: ParsedModule, { entries: added, variables }: Rewriting): void {
  const module: RewrittenModule = { parsed, variables, accessors: null };
  for (const entry of added) entries.push({ module, entry, arguments: null });
  modules.set(parsed.url, module);
}

/** The rewritten module of a URL, if there is one. */
export function rewrittenModule(url: string): ParsedModule | null {
  return modules.get(url)?.parsed ?? null;
}

/** Returns the code and exposed variables of a function or class of a rewritten module; null for all others. */
export function rewrittenFunction(fn: object): RewrittenFunction | null {
  const noted = handedByClass(fn);
  if (noted) return described(noted);
  const found = typeof fn === "function" ? entryOf(loadedText(fn)) : null;
  const numbered = found === null ? undefined : entries[found];
  if (!numbered || typeof fn !== "function") return null;
  const { node } = numbered.entry;
  if (!isFunctionNode(node)) return null;
  const args = numbered.arguments ??= fittingArguments(node.params);
  const handed = handedOut(() => settle(apply(fn, undefined, args)), numbered.entry);
  if (handed?.id !== found) {
    throw new InspectorUnavailable("The function did not begin with what its module's text begins it with");
  }
  return described(handed);
}

const ENTRY = `${NAMES.probe}\`\${`;

/**
 * The number of the function's own entry. Entries of functions in its parameters precede it in the text, but are deeper
 * in parameter lists; those of functions in its body follow it.
 */
function entryOf(text: string): number | null {
  let own: number | null = null, least = Infinity;
  for (let at = apply(indexOf, text, [ENTRY]); at >= 0; at = apply(indexOf, text, [ENTRY, at + 1])) {
    // Classes expose their variables themselves.
    if (own === null && isClassText(text)) return null;
    const id = numberAt(text, at + ENTRY.length);
    const depth = entries[id]?.entry.depth ?? Infinity;
    if (depth < least) {
      own = id;
      least = depth;
    }
    if (least === 0) break;
  }
  return own;
}

/** Returns whether a text is that of a class, rather than of a method called `class`. */
function isClassText(text: string): boolean {
  if (apply(indexOf, text, ["class"]) !== 0) return false;
  const brace = apply(indexOf, text, ["{"]), parenthesis = apply(indexOf, text, ["("]);
  const space = apply(charCodeAt, text, ["class".length]) !== 0x28;
  return parenthesis < 0 || brace < parenthesis || (space && nameFollows(text));
}

/** Returns whether a word follows the first one. */
function nameFollows(text: string): boolean {
  let at = "class".length;
  while (apply(charCodeAt, text, [at]) <= 0x20) at++;
  return apply(charCodeAt, text, [at]) !== 0x28;
}

function numberAt(text: string, from: number): number {
  let number = 0;
  for (let at = from;; at++) {
    const digit = apply(charCodeAt, text, [at]) - 0x30;
    if (!(digit >= 0 && digit <= 9)) return number;
    number = number * 10 + digit;
  }
}

function described(handed: Handed): RewrittenFunction | null {
  const numbered = entries[handed.id];
  if (!numbered) return null;
  const { module, entry } = numbered;
  let own: ReadonlyMap<Variable, Accessors> | null = null;
  return {
    module: module.parsed,
    node: entry.node,
    accessors: (variable) => {
      const shared = module.accessors ??= accessorsOf(module.variables, handed.module);
      return shared.get(variable) ?? (own ??= accessorsOf(entry.own, handed.own)).get(variable);
    },
  };
}

function accessorsOf(
  variables: readonly Variable[],
  handOut: HandOut | undefined,
): ReadonlyMap<Variable, Accessors> {
  const list = handOut?.() ?? [];
  return new Map(variables.map((variable, i) => [variable, list[i] ?? []]));
}

/** Returns what a function exposes; null if it threw while its parameters were bound. */
function handedOut(call: () => void, { cutOff }: Entry): Handed | null {
  try {
    return probing(call, cutOff);
  } catch {
    return null;
  }
}

/** Starts a generator, to reach the entry in its body, and handles the rejection of an asynchronous function. */
function settle(result: unknown): void {
  if (typeof result !== "object" || result === null) return;
  if (types.isPromise(result)) result.catch(() => {});
  else if ("next" in result && typeof result.next === "function") settle(result.next());
}
