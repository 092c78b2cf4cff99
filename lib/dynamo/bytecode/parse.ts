/**
 * Parses a script's text, and looks up its functions by the positions that V8 reports.
 *
 * Invariant: one parse per script; trees are never changed afterwards.
 */
import * as acorn from "acorn";
import type { SourceModule, UserPosition } from "./code.ts";
import type { Analysis } from "./scope.ts";
import { analyze } from "./scope_walk.ts";
import {
  type AstNode,
  childrenOf,
  type ClassNode,
  type FunctionNode,
  isClassNode,
  isFunctionNode,
} from "./syntax.ts";

/** A parsed script. */
export interface ParsedModule extends SourceModule {
  readonly program: acorn.Program;
  readonly analysis: Analysis;
  /**
   * The function or class that V8 reports at that offset: the first `(` of ordinary functions, the start of arrows and
   * of classes without a constructor.
   */
  functionAt(offset: number): FunctionNode | ClassNode | null;
  /** The parent of a node. */
  parentOf(node: AstNode): AstNode | null;
}

export interface ParseOptions {
  readonly url: string;
  readonly text: string;
  /** How V8 loaded it; default: as a module if it parses as one. */
  readonly sourceType?: "module" | "script";
  /** Variables that the text has without declaring them, such as those of a CommonJS module. */
  readonly given?: readonly string[];
  /** Maps an offset to the user's file; by default the offset's line and column in `text`. */
  readonly position?: (offset: number) => UserPosition;
  /** Called with each token of a text whose kind is given. */
  readonly onToken?: (token: acorn.Token) => void;
}

/** Parses a text as a module or, failing that, as a sloppy script. Throws SyntaxError if it is neither. */
export function parseModule(options: ParseOptions): ParsedModule {
  const { url, text } = options;
  const { program, parens } = parseText(options), places = new Places(program, parens);
  let analysis: Analysis | null = null;
  const position = options.position ?? plainPosition(url, text);
  return {
    url,
    text,
    program,
    position,
    get analysis(): Analysis {
      return analysis ??= analyze(program, options.given ?? []);
    },
    functionAt: (offset) => places.functionAt(offset),
    parentOf: (node) => places.parentOf(node),
  };
}

/**
 * Parents and positions of the nodes of a tree, computed on the way down to a requested one: most of a module is never
 * looked up.
 */
class Places {
  readonly #children = new Map<AstNode, readonly AstNode[]>();
  readonly #parents = new Map<AstNode, AstNode>();

  constructor(readonly program: AstNode, readonly parens: readonly number[]) {}

  functionAt(offset: number): FunctionNode | ClassNode | null {
    for (let at: AstNode | undefined = this.program; at; at = this.#childAround(at, offset)) {
      if ((isFunctionNode(at) || isClassNode(at)) && this.#placeOf(at) === offset) return at;
    }
    return null;
  }

  parentOf(node: AstNode): AstNode | null {
    for (let at: AstNode | undefined = this.program; at && !this.#parents.has(node);) {
      at = this.#childAround(at, node.start);
    }
    return this.#parents.get(node) ?? null;
  }

  /** Returns the position that V8 reports for a function or class. */
  #placeOf(node: FunctionNode | ClassNode): number | null {
    if (isClassNode(node) || node.type === "ArrowFunctionExpression") return node.start;
    return firstAtOrAfter(this.parens, node.id ? node.id.end : node.start);
  }

  #childAround(node: AstNode, offset: number): AstNode | undefined {
    let children = this.#children.get(node);
    if (!children) {
      const found: AstNode[] = [];
      childrenOf(node, (child) => {
        this.#parents.set(child, node);
        found.push(child);
      });
      this.#children.set(node, children = found);
    }
    return children.find(({ start, end }) => start <= offset && offset < end);
  }
}

/** Offsets of the lines of a text. */
export function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let i = text.indexOf("\n"); i >= 0; i = text.indexOf("\n", i + 1)) starts.push(i + 1);
  return starts;
}

/** 0-based line and column of an offset. */
export function lineColumn(starts: readonly number[], offset: number): { line: number; column: number } {
  let low = 0;
  let high = starts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return { line: low, column: offset - (starts[low] ?? 0) };
}

function plainPosition(url: string, text: string): (offset: number) => UserPosition {
  const starts = lineStarts(text);
  return (offset) => {
    const { line, column } = lineColumn(starts, offset);
    const end = text.indexOf("\n", offset);
    return { file: url, line: line + 1, column, text: text.slice(starts[line], end < 0 ? text.length : end) };
  };
}

function parseText(
  { text, sourceType, onToken }: ParseOptions,
): { program: acorn.Program; parens: number[] } {
  let parens: number[] = [];
  const options: acorn.Options = {
    ecmaVersion: "latest",
    allowHashBang: true,
    allowReturnOutsideFunction: true,
    onToken: (token) => {
      if (token.type.label === "(") parens.push(token.start);
      onToken?.(token);
    },
  };
  if (sourceType) return { program: acorn.parse(text, { ...options, sourceType }), parens };
  try {
    return { program: acorn.parse(text, { ...options, sourceType: "module" }), parens };
  } catch (moduleError) {
    parens = [];
    try {
      return { program: acorn.parse(text, { ...options, sourceType: "script" }), parens };
    } catch {
      throw moduleError;
    }
  }
}

function firstAtOrAfter(sorted: readonly number[], at: number): number | null {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  return sorted[low] ?? null;
}
