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
  /** There is one of it: it belongs to a module itself, and not to a block, which may run any number of times. */
  readonly single: boolean;
  readonly declaredAt: number;
  /** A use in the same unit that starts here or later finds it initialised. */
  readyAt: number;
  /** Whether a use at `readyAt` or later may still come first (variables of switch cases). */
  readonly unordered: boolean;
  /** Assigned after its initialisation. */
  reassigned: boolean;
  /** The effect of an assignment: normal, a TypeError, or none in sloppy code. */
  readonly assignment: "plain" | "throws" | "ignored";
  /** Units directly inside `unit` that use it, themselves or further inside. */
  readonly capturers: Set<Unit>;
  /** Whether some use may come before the initialisation. */
  usedEarly: boolean;
}

/** A function, class body, field initialiser, static block, or the module itself. */
export interface Unit {
  readonly kind: "program" | "function" | "class" | "field" | "staticBlock";
  readonly node: AstNode;
  readonly parent: Unit | null;
  readonly functionKind: FunctionKind;
  readonly strict: boolean;
  /** Name as the function's `name` property has it. */
  readonly name: string;
  /** Its closure is made when control reaches this offset (declarations are hoisted to their block's start). */
  readonly createdAt: number;
  /** Variables of outer units that it or a unit inside it uses, in order of first use. */
  readonly free: Set<Variable>;
  /** this, new.target, arguments, super and callee of this frame, as far as they are used. */
  readonly pseudo: Map<string, Variable>;
  /** The direct units inside it. */
  readonly children: Unit[];
  /** Whether it contains a direct eval or a `with`, which see every variable. */
  dynamicScope: boolean;
  /** Whether it, or a unit inside it, may ask a function who called it: that is itself then, not code made from it. */
  asksForCaller: boolean;
}

/** A block's variables. */
export interface Scope {
  readonly parent: Scope | null;
  readonly unit: Unit;
  readonly variables: Map<string, Variable>;
  /** Functions declared directly here are made when control reaches this offset. */
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

/** The unit whose own this, arguments and new.target code of `unit` sees. */
export function pseudoOwner(unit: Unit): Unit {
  let owner = unit;
  while (owner.parent && (owner.kind === "class" || owner.functionKind === "arrow")) owner = owner.parent;
  return owner;
}

/** Identifiers a pattern binds, in source order. */
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
