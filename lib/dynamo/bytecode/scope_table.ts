/**
 * Declarations and uses of names, while a module is analysed.
 *
 * Invariant: a scope's declarations are complete before anything in it is used.
 */
import type * as ast from "acorn";
import type { FreeKind, FunctionKind } from "./code.ts";
import { type Analysis, boundNames, pseudoOwner, type Scope, type Unit, type Variable } from "./scope.ts";
import { type AstNode, childrenOf } from "./syntax.ts";

/** The initial properties of a unit. */
interface UnitSeed {
  readonly kind: Unit["kind"];
  readonly node: AstNode;
  readonly functionKind: FunctionKind;
  readonly name: string;
  readonly createdAt: number;
  readonly strict?: boolean;
}

/** The scopes and names of a module, under construction. */
export class ScopeTable {
  private readonly units = new Map<AstNode, Unit>();
  private readonly scopes = new Map<AstNode, Scope>();
  private readonly references = new Map<AstNode, Variable | null>();
  private readonly blockFunctions = new Map<AstNode, Variable>();

  /** The finished tables. */
  analysis(program: Unit): Analysis {
    return {
      program,
      units: this.units,
      scopes: this.scopes,
      references: this.references,
      blockFunctions: this.blockFunctions,
    };
  }

  /** Adds a function-like node. */
  makeUnit(parent: Unit | null, seed: UnitSeed): Unit {
    const unit: Unit = {
      kind: seed.kind,
      node: seed.node,
      parent,
      functionKind: seed.functionKind,
      strict: seed.strict ?? parent?.strict ?? false,
      name: seed.name,
      createdAt: seed.createdAt,
      free: new Set(),
      pseudo: new Map(),
      children: [],
      dynamicScope: false,
      asksForCaller: false,
    };
    parent?.children.push(unit);
    this.units.set(seed.node, unit);
    return unit;
  }

  /** Opens a scope; functions declared in it are created at `hoistAt`. */
  openScope(parent: Scope | null, unit: Unit, node: AstNode | null, hoistAt = node?.start ?? 0): Scope {
    const scope: Scope = { parent, unit, variables: new Map(), hoistAt };
    if (node) this.scopes.set(node, scope);
    return scope;
  }

  /** Declares a name; a second declaration returns the first variable. */
  declare(
    scope: Scope,
    name: string,
    kind: FreeKind,
    place: { declaredAt: number; readyAt: number; unordered?: boolean; assignment?: Variable["assignment"] },
  ): Variable {
    const existing = scope.variables.get(name);
    if (existing) {
      if (kind === "function" || existing.kind === "function") existing.reassigned = true;
      if (kind === "function" && existing.kind === "var") existing.kind = "function";
      return existing;
    }
    const variable: Variable = {
      name,
      kind,
      unit: scope.unit,
      single: scope.unit.kind === "program" && scope.parent === null,
      declaredAt: place.declaredAt,
      readyAt: place.readyAt,
      unordered: place.unordered ?? false,
      reassigned: false,
      assignment: place.assignment ?? "plain",
      capturers: new Set(),
      usedEarly: false,
    };
    scope.variables.set(name, variable);
    return variable;
  }

  /** Declares every name of a pattern. */
  declarePattern(
    pattern: ast.Pattern,
    scope: Scope,
    kind: FreeKind,
    readyAt: number,
    unordered = false,
  ): void {
    const assignment = kind === "const" ? "throws" : "plain";
    for (const id of boundNames(pattern)) {
      this.declare(scope, id.name, kind, { declaredAt: id.start, readyAt, unordered, assignment });
    }
  }

  /**
   * Lexical declarations and functions of a statement list. `owner` is the block to whose start functions are hoisted.
   */
  declareAll(
    body: readonly (ast.Statement | ast.ModuleDeclaration)[],
    scope: Scope,
    owner: AstNode,
    unordered = false,
  ): void {
    for (const outer of body) {
      let statement: AstNode = outer;
      if (statement.type === "ExportNamedDeclaration" || statement.type === "ExportDefaultDeclaration") {
        if (!statement.declaration) continue;
        statement = statement.declaration;
      }
      while (statement.type === "LabeledStatement") statement = statement.body;
      switch (statement.type) {
        case "VariableDeclaration":
          if (statement.kind === "var") break;
          for (const d of statement.declarations) {
            const kind = statement.kind === "let" ? "let" : "const";
            this.declarePattern(d.id, scope, kind, d.end, unordered);
          }
          break;
        case "FunctionDeclaration":
          if (statement.id) {
            const variable = this.declare(scope, statement.id.name, "function", {
              declaredAt: statement.id.start,
              readyAt: scope.hoistAt + 1,
            });
            this.references.set(statement.id, variable);
            this.declareBlockFunction(statement, scope, owner);
          }
          break;
        case "ClassDeclaration":
          if (statement.id) {
            const variable = this.declare(scope, statement.id.name, "class", {
              declaredAt: statement.id.start,
              readyAt: statement.end,
              unordered,
            });
            this.references.set(statement.id, variable);
          }
          break;
        case "ImportDeclaration":
          for (const s of statement.specifiers) {
            this.declare(scope, s.local.name, "import", {
              declaredAt: s.local.start,
              readyAt: 0,
              assignment: "throws",
            });
          }
          break;
        default:
      }
    }
  }

  /** Sloppy code copies functions declared in blocks to a variable of the function (ECMA-262 B.3.2). */
  private declareBlockFunction(
    node: ast.FunctionDeclaration | ast.AnonymousFunctionDeclaration,
    scope: Scope,
    owner: AstNode,
  ): void {
    if (scope.unit.strict || !node.id || node.async || node.generator) return;
    const top = this.scopes.get(scope.unit.node);
    if (!top || top === scope || owner === scope.unit.node) return;
    for (let s: Scope | null = scope.parent; s && s !== top; s = s.parent) {
      if (s.variables.has(node.id.name)) return;
    }
    const existing = top.variables.get(node.id.name);
    if (
      existing && existing.kind !== "var" && existing.kind !== "function" && existing.kind !== "parameter"
    ) return;
    const variable = existing ??
      this.declare(top, node.id.name, "var", { declaredAt: node.id.start, readyAt: -1 });
    variable.reassigned = true;
    this.blockFunctions.set(node, variable);
  }

  /** Declares the `var`s of a statement in the unit's scope; does not enter functions. */
  hoistVars(node: AstNode, scope: Scope): void {
    switch (node.type) {
      case "FunctionDeclaration":
      case "FunctionExpression":
      case "ArrowFunctionExpression":
      case "ClassDeclaration":
      case "ClassExpression":
        return;
      case "VariableDeclaration":
        if (node.kind === "var") {
          for (const d of node.declarations) {
            for (const id of boundNames(d.id)) {
              const variable = this.declare(scope, id.name, "var", { declaredAt: id.start, readyAt: -1 });
              if (d.init) variable.reassigned = true;
            }
          }
        }
        break;
      default:
    }
    childrenOf(node, (child) => this.hoistVars(child, scope));
  }

  // ---- uses

  /** Records a use of a name; `write` for assignments. */
  use(node: AstNode, name: string, scope: Scope, write = false): void {
    let at: Scope | null = scope;
    while (at && !at.variables.has(name)) at = at.parent;
    const variable = at?.variables.get(name) ?? null;
    this.references.set(node, variable);
    if (variable) this.record(variable, node.start, scope.unit, write);
  }

  private record(variable: Variable, position: number, from: Unit, write: boolean): void {
    if (write) variable.reassigned = true;
    let child: Unit | null = null;
    for (let unit: Unit | null = from; unit && unit !== variable.unit; unit = unit.parent) {
      unit.free.add(variable);
      child = unit;
    }
    if (child) variable.capturers.add(child);
    const reached = child ? child.createdAt : position;
    if (reached < variable.readyAt || variable.unordered) variable.usedEarly = true;
  }

  /** Records a use of this, new.target, arguments, super or callee: that of the nearest frame that has its own. */
  usePseudo(node: AstNode, name: string, kind: FreeKind, from: Unit, write = false): void {
    const unit = pseudoOwner(from);
    let variable = unit.pseudo.get(name);
    if (!variable) {
      const late = kind === "this" && unit.functionKind === "derivedConstructor";
      variable = {
        name,
        kind,
        unit,
        single: unit.kind === "program",
        declaredAt: -1,
        readyAt: late ? Infinity : -1,
        unordered: late,
        reassigned: late,
        assignment: "plain",
        capturers: new Set(),
        usedEarly: late,
      };
      unit.pseudo.set(name, variable);
    }
    if (name === "this" || name === "arguments" || name === "new.target" || name === "import.meta") {
      this.references.set(node, variable);
    }
    this.record(variable, node.start, from, write);
  }

  /** Records a use of import.meta. */
  useImportMeta(node: AstNode, from: Unit): void {
    let unit = from;
    while (unit.parent) unit = unit.parent;
    let variable = unit.pseudo.get("import.meta");
    if (!variable) {
      variable = {
        name: "import.meta",
        kind: "importMeta",
        unit,
        single: unit.kind === "program",
        declaredAt: -1,
        readyAt: -1,
        unordered: false,
        reassigned: false,
        assignment: "plain",
        capturers: new Set(),
        usedEarly: false,
      };
      unit.pseudo.set("import.meta", variable);
    }
    this.references.set(node, variable);
    this.record(variable, node.start, from, false);
  }

  /**
   * Returns whether `arguments` refers to the object of an enclosing function here, and not to a variable of that
   * name.
   */
  hasArguments(scope: Scope): boolean {
    for (let s: Scope | null = scope; s; s = s.parent) {
      if (s.variables.has("arguments")) return false;
      if (s.unit.kind === "program") return false;
      if (
        s.unit.kind === "function" && s.unit.functionKind !== "arrow" && this.scopes.get(s.unit.node) === s
      ) return true;
    }
    return false;
  }

  /** Records that code here may read and write every variable in scope by name. */
  markDynamic(scope: Scope): void {
    scope.unit.dynamicScope = true;
    for (let s: Scope | null = scope; s; s = s.parent) {
      for (const variable of s.variables.values()) variable.reassigned = true;
    }
  }

  /** Records that code here queries the caller of a function, which only sloppy functions reveal. */
  markCaller(scope: Scope): void {
    for (let unit: Unit | null = scope.unit; unit && !unit.strict; unit = unit.parent) {
      unit.asksForCaller = true;
    }
  }

  /** Resolves a name in a declaration, which does not count as a use. */
  bind(id: ast.Identifier, scope: Scope): void {
    let at: Scope | null = scope;
    while (at && !at.variables.has(id.name)) at = at.parent;
    this.references.set(id, at?.variables.get(id.name) ?? null);
  }
}
