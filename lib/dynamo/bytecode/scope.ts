/**
 * The tables of scope analysis: the variable that each name of a module refers to, its captures and assignments.
 *
 * `Analysis` is a table from name nodes to variables and from function-like nodes to `Unit`s. Pseudo variables (this,
 * new.target, arguments, super, #private names) are variables like others. Invariant: a variable that is not
 * `reassigned` has one value from the moment it is initialised.
 */
import type * as ast from "acorn";
import type { FreeKind, FunctionKind } from "./code.ts";
import type { AstNode } from "./syntax.ts";

/** One binding. */
export interface Variable {
  readonly name: string;
  kind: FreeKind;
  /** The function-like node whose frame holds it. */
  readonly unit: Unit;
  /**
   * Whether there is only one instance: it belongs to the module itself, rather than to a block, which may run
   * repeatedly.
   */
  readonly single: boolean;
  readonly declaredAt: number;
  /** Uses in the same unit that start here or later find it initialised. */
  readyAt: number;
  /** Whether a use at `readyAt` or later may still precede the initialisation (variables of switch cases). */
  readonly unordered: boolean;
  /** Whether it is assigned after its initialisation. */
  reassigned: boolean;
  /** The effect of an assignment: normal, a TypeError, or none in sloppy code. */
  readonly assignment: "plain" | "throws" | "ignored";
  /** Direct children of `unit` that use it, themselves or further inside. */
  readonly capturers: Set<Unit>;
  /** Whether some use may precede the initialisation. */
  usedEarly: boolean;
}

/** A function, class body, field initialiser, static block, or the module itself. */
export interface Unit {
  readonly kind: "program" | "function" | "class" | "field" | "staticBlock";
  readonly node: AstNode;
  readonly parent: Unit | null;
  readonly functionKind: FunctionKind;
  readonly strict: boolean;
  /** Name, as in the function's `name` property. */
  readonly name: string;
  /** Its closure is created when control reaches this offset (declarations are hoisted to their block's start). */
  readonly createdAt: number;
  /** Variables of outer units that it or a unit inside it uses, in order of first use. */
  readonly free: Set<Variable>;
  /** this, new.target, arguments, super and callee of this frame, as far as they are used. */
  readonly pseudo: Map<string, Variable>;
  /** The direct child units. */
  readonly children: Unit[];
  /** Whether it contains a direct eval or a `with`, which see every variable. */
  dynamicScope: boolean;
  /**
   * Whether it, or a unit inside it, may query the caller of a function: the caller must be this function itself, not
   * code generated from it.
   */
  asksForCaller: boolean;
}

/** A block's variables. */
export interface Scope {
  readonly parent: Scope | null;
  readonly unit: Unit;
  readonly variables: Map<string, Variable>;
  /** Functions declared directly here are created when control reaches this offset. */
  readonly hoistAt: number;
}

/** Result of the analysis of a module. */
export interface Analysis {
  readonly program: Unit;
  /** Keyed by function, class, field definition and static block. */
  readonly units: ReadonlyMap<AstNode, Unit>;
  /** Keyed by block-like node: variables declared directly there. A function's own scope is under the function. */
  readonly scopes: ReadonlyMap<AstNode, Scope>;
  /** Keyed by Identifier, PrivateIdentifier, ThisExpression, Super and MetaProperty; null for globals. */
  readonly references: ReadonlyMap<AstNode, Variable | null>;
  /** Functions declared in blocks of sloppy code, with the function-level variable they are copied to. */
  readonly blockFunctions: ReadonlyMap<AstNode, Variable>;
}

/** The unit whose this, arguments and new.target code of `unit` sees. */
export function pseudoOwner(unit: Unit): Unit {
  let owner = unit;
  while (owner.parent && (owner.kind === "class" || owner.functionKind === "arrow")) owner = owner.parent;
  return owner;
}

/** Identifiers that a pattern binds, in source order. */
export function boundNames(pattern: ast.Pattern): readonly ast.Identifier[] {
  switch (pattern.type) {
    case "Identifier":
      return [pattern];
    case "ObjectPattern":
      return pattern.properties.flatMap((p) => boundNames(p.type === "RestElement" ? p.argument : p.value));
    case "ArrayPattern":
      return pattern.elements.flatMap((p) => (p ? boundNames(p) : []));
    case "AssignmentPattern":
      return boundNames(pattern.left);
    case "RestElement":
      return boundNames(pattern.argument);
    case "MemberExpression":
      return [];
  }
}

/** Returns whether a body begins with "use strict". */
export function hasUseStrict(body: readonly (ast.Statement | ast.ModuleDeclaration)[]): boolean {
  for (const statement of body) {
    if (statement.type !== "ExpressionStatement" || statement.directive === undefined) return false;
    if (statement.directive === "use strict") return true;
  }
  return false;
}
