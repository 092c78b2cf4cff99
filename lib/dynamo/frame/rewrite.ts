/**
 * Inserts entries into a module's text by which its functions and classes expose their variables.
 *
 * Invariant: without its insertions the text is unchanged, lines are preserved, and while nothing probes, the
 * rewritten module behaves as the original: an entry is one compare at the start of a function's body, before which
 * only its parameters have been bound.
 *
 * A function's entry precedes its body and calls `probe` instead of it. Parameters do not interfere: the function is
 * called with arguments that fit any pattern, so no default is evaluated; a computed key in a pattern is preceded by
 * the entry. A class's entry is a static block, since calling a class would create an object.
 */
import type * as ast from "acorn";
import { freeVariables, privateNameOf } from "../bytecode/free.ts";
import type { ParsedModule } from "../bytecode/parse.ts";
import type { Scope, Variable } from "../bytecode/scope.ts";
import { type AstNode, childrenOf, type ClassNode, type FunctionNode } from "../bytecode/syntax.ts";
import { accessText, entryText } from "./access_text.ts";
import { scopeTokens, type StartOfBody } from "./scope_tokens.ts";

/** Text that the program does not contain, before an offset of the original. */
export interface Insertion {
  readonly at: number;
  readonly text: string;
}

/** A function or class with an entry. */
export interface Entry {
  readonly node: FunctionNode | ClassNode;
  /** Number of nested parameter lists that contain it. */
  readonly depth: number;
  /** Whether its entry is in its parameters, so that the code after it must be skipped. */
  readonly cutOff: boolean;
  /** The variables that it exposes itself, in that order. */
  readonly own: readonly Variable[];
}

/** The rewriting of a module. */
export interface Rewriting {
  readonly insertions: readonly Insertion[];
  /** By number, starting with the first. */
  readonly entries: readonly Entry[];
  /** The module's own variables, which all its functions expose together. */
  readonly variables: readonly Variable[];
  /** Text after the module's last line. */
  readonly tail: string;
}

/** Names in rewritten text; the module itself must contain none of them. */
export interface Names {
  readonly probe: string;
  readonly noteClass: string;
  readonly variables: string;
  /** Prefix of the names of tokens. */
  readonly token: string;
  /** Marks the start and the end of each insertion; one at the end of a function has no end mark. */
  readonly mark: string;
}

/** Numbers and URLs for one module. */
export interface RewriteOptions {
  readonly names: Names;
  /** URL of the module that exports `probe` and `noteClass`. */
  readonly door: string;
  /** Number of the first entry. */
  readonly first: number;
  /** Returns the offset of the arrow before an arrow function's body. */
  readonly arrowBefore: (offset: number) => number;
}

/** Computes the insertions. */
export function rewrite(module: ParsedModule, options: RewriteOptions): Rewriting {
  const top = module.analysis.scopes.get(module.program);
  const variables = [...top?.variables.values() ?? []].filter((v) =>
    v.capturers.size > 0 && entryText(v) !== null
  );
  const { names, door, arrowBefore } = options;
  const tokens = scopeTokens(module, names.token, (body) => startOfBody(body, arrowBefore));
  const rewriter = new Rewriter(module, options, { shared: new Set(variables), tokens: tokens.names });
  // Before entries at the same place, which can then be part of an expression.
  for (const { at, text, isEnd } of tokens.insertions) rewriter.insert(at, text, isEnd);
  rewriter.walk(module.program, 0);
  const imports = `{probe as ${names.probe},noteClass as ${names.noteClass}}`;
  return {
    insertions: rewriter.insertions.toSorted((a, b) => a.at - b.at),
    entries: rewriter.entries,
    variables,
    tail: `\nimport${imports}from${JSON.stringify(door)};` +
      `function ${names.variables}(){return${accessText(variables)}}`,
  };
}

class Rewriter {
  readonly insertions: Insertion[] = [];
  readonly entries: Entry[] = [];

  constructor(
    private readonly module: ParsedModule,
    private readonly options: RewriteOptions,
    private readonly given: {
      readonly shared: ReadonlySet<Variable>;
      readonly tokens: ReadonlyMap<Variable, string>;
    },
  ) {}

  walk(node: AstNode, depth: number): void {
    switch (node.type) {
      case "ArrowFunctionExpression":
      case "FunctionDeclaration":
      case "FunctionExpression":
        if (!this.isConstructor(node)) this.enterFunction(node, depth);
        for (const parameter of node.params) this.walk(parameter, depth + 1);
        return this.walk(node.body, depth);
      case "ClassDeclaration":
      case "ClassExpression":
        this.enterClass(node, depth);
        break;
      default:
    }
    childrenOf(node, (child) => this.walk(child, depth));
  }

  private isConstructor(node: FunctionNode): boolean {
    const parent = this.module.parentOf(node);
    return parent?.type === "MethodDefinition" && parent.kind === "constructor";
  }

  private enterFunction(node: FunctionNode, depth: number): void {
    const unit = this.module.analysis.units.get(node);
    if (!unit) return;
    const own = freeVariables(unit, this.module).filter((variable) =>
      !this.given.shared.has(variable) && entryText(variable) !== null && !this.isHidden(variable, node)
    );
    const key = firstComputedKey(node.params);
    const call = this.call(this.options.names.probe, [], own);
    this.entries.push({ node, depth, cutOff: key !== null, own });
    if (key !== null) this.insert(key, `${this.options.names.probe}?${call}:`);
    else {
      const { start, before } = startOfBody(node.body, this.options.arrowBefore);
      const { probe } = this.options.names;
      this.insert(
        start,
        node.body.type === "BlockStatement" ? `${before}if(${probe})return ${call};` : `${probe}?${call}:`,
      );
    }
  }

  private enterClass(node: ClassNode, depth: number): void {
    const inside = node.body.body.flatMap((member): AstNode[] => {
      if (member.type === "PropertyDefinition") return member.static ? [] : [member];
      return member.type === "MethodDefinition" && member.kind === "constructor" ? [member.value] : [];
    });
    // Private fields are set on instances that compiled code creates, whatever code uses them
    const free = new Set<Variable>(
      inside.flatMap((each) =>
        each.type === "PropertyDefinition" ? privateNameOf(each.key, node, this.module) ?? [] : []
      ),
    );
    for (const each of inside) {
      const unit = this.module.analysis.units.get(each);
      for (const variable of unit ? freeVariables(unit, this.module) : []) free.add(variable);
    }
    // In a static block the words that refer to a call refer to the block itself.
    const own = [...free].filter((variable) =>
      !this.given.shared.has(variable) && !OF_CALLS.has(variable.kind) && entryText(variable) !== null
    );
    const call = this.call(this.options.names.noteClass, ["this"], own);
    this.entries.push({ node, depth, cutOff: false, own });
    this.insert(node.body.start + 1, `static{${call}}`);
  }

  /**
   * Exposes variables under the number of the entry that is pushed next. A tagged template, since calls change the
   * names that V8 gives to enclosing anonymous functions in stack traces.
   */
  private call(callee: string, first: readonly string[], own: readonly Variable[]): string {
    const id = this.options.first + this.entries.length;
    const parts = [String(id), ...first, this.options.names.variables];
    if (own.length > 0) parts.push(`()=>${accessText(own, this.given.tokens)}`);
    return `${callee}\`${parts.map((part) => `\${${part}}`).join("")}\``;
  }

  /** An insertion at the end of a function has no mark after it, which would not be part of the function's text. */
  insert(at: number, text: string, isEnd = false): void {
    const { mark } = this.options.names;
    this.insertions.push({ at, text: mark + text + (isEnd ? "" : mark) });
  }

  /** Returns whether a variable's name refers to another one at the entry of the function. */
  private isHidden(variable: Variable, node: FunctionNode): boolean {
    const { scopes } = this.module.analysis;
    const inside = (scope: Scope | undefined): boolean => {
      const found = scope?.variables.get(variable.name);
      return found !== undefined && found !== variable;
    };
    return inside(scopes.get(node)) || inside(scopes.get(node.body));
  }
}

/** Returns where the statements of a function or block, or the expression of an arrow function, begin. */
function startOfBody(
  body: AstNode,
  arrowBefore: RewriteOptions["arrowBefore"],
): ReturnType<StartOfBody> {
  if (body.type !== "BlockStatement") return { start: arrowBefore(body.start) + "=>".length, before: "" };
  let start = body.start + 1, before = "";
  for (const statement of body.body) {
    if (statement.type !== "ExpressionStatement" || statement.directive === undefined) break;
    [start, before] = [statement.end, ";"];
  }
  return { start, before };
}

const OF_CALLS: ReadonlySet<Variable["kind"]> = new Set<Variable["kind"]>([
  "this",
  "newTarget",
  "arguments",
  "home",
  "callee",
]);

/** Offset after the bracket of the first computed key that binding the parameters evaluates. */
function firstComputedKey(patterns: readonly (ast.Pattern | null)[]): number | null {
  for (const pattern of patterns) {
    const found = pattern && computedKeyIn(pattern);
    if (found !== null) return found;
  }
  return null;
}

function computedKeyIn(pattern: ast.Pattern): number | null {
  switch (pattern.type) {
    case "ObjectPattern":
      for (const p of pattern.properties) {
        if (p.type === "Property" && p.computed) return p.start + 1;
        const found = computedKeyIn(p.type === "RestElement" ? p.argument : p.value);
        if (found !== null) return found;
      }
      return null;
    case "ArrayPattern":
      return firstComputedKey(pattern.elements);
    case "AssignmentPattern":
      return computedKeyIn(pattern.left);
    case "RestElement":
      return computedKeyIn(pattern.argument);
    default:
      return null;
  }
}
