/**
 * Which variable each name of a module means, who captures it, and who assigns it.
 *
 * Input: the syntax tree of a whole module. Output: `Analysis`, a table from name nodes to variables and from
 * function-like nodes to `Unit`s. Pseudo variables (this, new.target, arguments, super, #private names) are
 * variables like others.
 * Invariant: a variable that is not `reassigned` has one value from the moment it is initialised.
 */
import type * as ast from "acorn";
import type { FreeKind, FunctionKind } from "./code.ts";
import { type AstNode, childrenOf, type ClassNode, type FunctionNode, staticKeyName } from "./syntax.ts";

/** One binding. */
export interface Variable {
  readonly name: string;
  kind: FreeKind;
  /** The function-like node whose frame holds it. */
  readonly unit: Unit;
  readonly declaredAt: number;
  /** A use in the same unit that starts here or later finds it initialised. */
  readyAt: number;
  /** Whether a use at `readyAt` or later may still come first (variables of switch cases). */
  readonly unordered: boolean;
  /** Assigned after its initialisation. */
  reassigned: boolean;
  /** What an assignment does: nothing special, throws TypeError, or is ignored in sloppy code. */
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
  /** By function, class, field definition and static block. */
  readonly units: ReadonlyMap<AstNode, Unit>;
  /** By block-like node: variables declared right there. A function's own scope is under the function. */
  readonly scopes: ReadonlyMap<AstNode, Scope>;
  /** By Identifier, PrivateIdentifier, ThisExpression, Super and MetaProperty; null for globals. */
  readonly references: ReadonlyMap<AstNode, Variable | null>;
  /** Functions declared in blocks of sloppy code, with the function-level variable they are copied to. */
  readonly blockFunctions: ReadonlyMap<AstNode, Variable>;
}

interface UnitSeed {
  readonly kind: Unit["kind"];
  readonly node: AstNode;
  readonly functionKind: FunctionKind;
  readonly name: string;
  readonly createdAt: number;
  readonly strict?: boolean;
}

/** Analyses a parsed module. */
export function analyze(program: ast.Program): Analysis {
  return new Analyzer(program).run();
}

class Analyzer {
  private readonly units = new Map<AstNode, Unit>();
  private readonly scopes = new Map<AstNode, Scope>();
  private readonly references = new Map<AstNode, Variable | null>();
  private readonly blockFunctions = new Map<AstNode, Variable>();
  /** Names that anonymous functions take from where they stand. */
  private readonly givenNames = new Map<AstNode, string>();

  constructor(private readonly program: ast.Program) {}

  run(): Analysis {
    const unit = this.makeUnit(null, {
      kind: "program",
      node: this.program,
      functionKind: "function",
      name: "",
      createdAt: 0,
      strict: this.program.sourceType === "module" || hasUseStrict(this.program.body),
    });
    const scope = this.openScope(null, unit, this.program);
    for (const statement of this.program.body) this.hoistVars(statement, scope);
    this.declareAll(this.program.body, scope, this.program);
    for (const statement of this.program.body) this.visit(statement, scope);
    return {
      program: unit,
      units: this.units,
      scopes: this.scopes,
      references: this.references,
      blockFunctions: this.blockFunctions,
    };
  }

  // ---- units, scopes, declarations

  private makeUnit(parent: Unit | null, seed: UnitSeed): Unit {
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
    };
    parent?.children.push(unit);
    this.units.set(seed.node, unit);
    return unit;
  }

  private openScope(parent: Scope | null, unit: Unit, node: AstNode | null, hoistAt = node?.start ?? 0): Scope {
    const scope: Scope = { parent, unit, variables: new Map(), hoistAt };
    if (node) this.scopes.set(node, scope);
    return scope;
  }

  private declare(
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
  private declarePattern(pattern: ast.Pattern, scope: Scope, kind: FreeKind, readyAt: number, unordered = false): void {
    const assignment = kind === "const" ? "throws" : "plain";
    for (const id of boundNames(pattern)) {
      this.declare(scope, id.name, kind, { declaredAt: id.start, readyAt, unordered, assignment });
    }
  }

  /** Lexical declarations and functions of a statement list. `owner` is the block, whose start functions hoist to. */
  private declareAll(
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
  private declareBlockFunction(node: ast.FunctionDeclaration | ast.AnonymousFunctionDeclaration, scope: Scope, owner: AstNode): void {
    if (scope.unit.strict || !node.id || node.async || node.generator) return;
    const top = this.scopes.get(scope.unit.node);
    if (!top || top === scope || owner === scope.unit.node) return;
    for (let s: Scope | null = scope.parent; s && s !== top; s = s.parent) {
      if (s.variables.has(node.id.name)) return;
    }
    const existing = top.variables.get(node.id.name);
    if (existing && existing.kind !== "var" && existing.kind !== "function" && existing.kind !== "parameter") return;
    const variable = existing ??
      this.declare(top, node.id.name, "var", { declaredAt: node.id.start, readyAt: -1 });
    variable.reassigned = true;
    this.blockFunctions.set(node, variable);
  }

  /** Declares the `var`s of a statement in the unit's scope; does not enter functions. */
  private hoistVars(node: AstNode, scope: Scope): void {
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
  private use(node: AstNode, name: string, scope: Scope, write = false): void {
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
  private usePseudo(node: AstNode, name: string, kind: FreeKind, from: Unit): void {
    const unit = pseudoOwner(from);
    let variable = unit.pseudo.get(name);
    if (!variable) {
      const late = kind === "this" && unit.functionKind === "derivedConstructor";
      variable = {
        name,
        kind,
        unit,
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
    this.record(variable, node.start, from, false);
  }

  // ---- the walk

  private visitAll(nodes: readonly (AstNode | null)[], scope: Scope): void {
    for (const node of nodes) if (node) this.visit(node, scope);
  }

  private visit(node: AstNode, scope: Scope): void {
    switch (node.type) {
      case "FunctionDeclaration":
      case "FunctionExpression":
      case "ArrowFunctionExpression":
        return this.visitFunction(node, scope, node.type === "ArrowFunctionExpression" ? "arrow" : "function");
      case "ClassDeclaration":
      case "ClassExpression":
        return this.visitClass(node, scope);
      case "BlockStatement": {
        const inner = this.openScope(scope, scope.unit, node);
        this.declareAll(node.body, inner, node);
        return this.visitAll(node.body, inner);
      }
      case "ForStatement":
      case "ForInStatement":
      case "ForOfStatement":
        return this.visitFor(node, scope);
      case "SwitchStatement": {
        this.visit(node.discriminant, scope);
        const inner = this.openScope(scope, scope.unit, node);
        for (const c of node.cases) this.declareAll(c.consequent, inner, node, true);
        for (const c of node.cases) {
          if (c.test) this.visit(c.test, inner);
          this.visitAll(c.consequent, inner);
        }
        return;
      }
      case "CatchClause": {
        const inner = this.openScope(scope, scope.unit, node);
        if (node.param) {
          this.declarePattern(node.param, inner, "let", node.param.end);
          this.visitBinding(node.param, inner);
        }
        return this.visit(node.body, inner);
      }
      case "VariableDeclaration":
        for (const d of node.declarations) {
          if (d.init && d.id.type === "Identifier") this.giveName(d.init, d.id.name);
          this.visitBinding(d.id, scope);
          if (d.init) this.visit(d.init, scope);
        }
        return;
      case "AssignmentExpression":
        if (node.left.type === "Identifier") this.giveName(node.right, node.left.name);
        this.visitTarget(node.left, scope);
        return this.visit(node.right, scope);
      case "UpdateExpression":
        if (node.argument.type === "Identifier") return this.use(node.argument, node.argument.name, scope, true);
        return this.visit(node.argument, scope);
      case "Identifier":
        if (node.name === "arguments" && this.hasArguments(scope)) {
          return this.usePseudo(node, "arguments", "arguments", scope.unit);
        }
        return this.use(node, node.name, scope);
      case "PrivateIdentifier":
        return this.use(node, `#${node.name}`, scope);
      case "ThisExpression":
        return this.usePseudo(node, "this", "this", scope.unit);
      case "Super":
        this.usePseudo(node, "this", "this", scope.unit);
        return this.usePseudo(node, "super", "home", scope.unit);
      case "MetaProperty":
        if (node.meta.name === "new") return this.usePseudo(node, "new.target", "newTarget", scope.unit);
        return this.useImportMeta(node, scope.unit);
      case "MemberExpression":
        this.visit(node.object, scope);
        if (node.computed || node.property.type === "PrivateIdentifier") this.visit(node.property, scope);
        return;
      case "CallExpression":
        return this.visitCall(node, scope);
      case "Property":
        if (node.computed) this.visit(node.key, scope);
        if (node.kind !== "init" || ("method" in node && node.method)) {
          if (node.value.type === "FunctionExpression") {
            const kind = node.kind === "get" ? "getter" : node.kind === "set" ? "setter" : "method";
            const prefix = node.kind === "init" ? "" : `${node.kind} `;
            if (!node.computed) this.givenNames.set(node.value, prefix + staticKeyName(node.key));
            return this.visitFunction(node.value, scope, kind);
          }
        }
        if (!node.computed) this.giveName(node.value, staticKeyName(node.key));
        return this.visit(node.value, scope);
      case "WithStatement":
        this.markDynamic(scope);
        break;
      case "LabeledStatement":
        return this.visit(node.body, scope);
      case "BreakStatement":
      case "ContinueStatement":
      case "ImportDeclaration":
      case "ExportAllDeclaration":
        return;
      case "ExportNamedDeclaration":
        if (node.declaration) this.visit(node.declaration, scope);
        return;
      case "ExportDefaultDeclaration":
        this.giveName(node.declaration, "default");
        return this.visit(node.declaration, scope);
      default:
    }
    childrenOf(node, (child) => this.visit(child, scope));
  }

  private useImportMeta(node: AstNode, from: Unit): void {
    const unit = this.units.get(this.program);
    if (!unit) return;
    let variable = unit.pseudo.get("import.meta");
    if (!variable) {
      variable = {
        name: "import.meta",
        kind: "importMeta",
        unit,
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

  /** Whether `arguments` means the object of an enclosing function here, and not a variable of that name. */
  private hasArguments(scope: Scope): boolean {
    for (let s: Scope | null = scope; s; s = s.parent) {
      if (s.variables.has("arguments")) return false;
      if (s.unit.kind === "program") return false;
      if (s.unit.kind === "function" && s.unit.functionKind !== "arrow" && this.scopes.get(s.unit.node) === s) return true;
    }
    return false;
  }

  private visitCall(node: ast.CallExpression, scope: Scope): void {
    if (node.callee.type === "Super") {
      this.usePseudo(node.callee, "callee", "callee", scope.unit);
      this.usePseudo(node.callee, "new.target", "newTarget", scope.unit);
      this.usePseudo(node.callee, "this", "this", scope.unit);
      this.visitAll(node.arguments, scope);
      return;
    }
    if (node.callee.type === "Identifier" && node.callee.name === "eval" && !node.optional) this.markDynamic(scope);
    this.visit(node.callee, scope);
    this.visitAll(node.arguments, scope);
  }

  private markDynamic(scope: Scope): void {
    scope.unit.dynamicScope = true;
    for (let s: Scope | null = scope; s; s = s.parent) {
      for (const variable of s.variables.values()) variable.reassigned = true;
    }
  }

  private giveName(node: AstNode, name: string): void {
    while (node.type === "ParenthesizedExpression") node = node.expression;
    this.givenNames.set(node, name);
  }

  /** Names of a declaring pattern are resolved (not written); its defaults and computed keys are visited. */
  private visitBinding(pattern: ast.Pattern, scope: Scope): void {
    this.visitPattern(pattern, scope, (id) => {
      let at: Scope | null = scope;
      while (at && !at.variables.has(id.name)) at = at.parent;
      this.references.set(id, at?.variables.get(id.name) ?? null);
    });
  }

  private visitTarget(pattern: ast.Pattern, scope: Scope): void {
    this.visitPattern(pattern, scope, (id) => this.use(id, id.name, scope, true));
  }

  private visitPattern(pattern: ast.Pattern, scope: Scope, name: (id: ast.Identifier) => void): void {
    switch (pattern.type) {
      case "Identifier":
        return name(pattern);
      case "MemberExpression":
        return this.visit(pattern, scope);
      case "ObjectPattern":
        for (const p of pattern.properties) {
          if (p.type === "RestElement") {
            this.visitPattern(p.argument, scope, name);
          } else {
            if (p.computed) this.visit(p.key, scope);
            this.visitPattern(p.value, scope, name);
          }
        }
        return;
      case "ArrayPattern":
        for (const p of pattern.elements) if (p) this.visitPattern(p, scope, name);
        return;
      case "AssignmentPattern":
        if (pattern.left.type === "Identifier") this.giveName(pattern.right, pattern.left.name);
        this.visitPattern(pattern.left, scope, name);
        return this.visit(pattern.right, scope);
      case "RestElement":
        return this.visitPattern(pattern.argument, scope, name);
      default:
        // A parenthesised target, `(a) = 1`, stays wrapped.
        return this.visit(pattern, scope);
    }
  }

  private visitFor(node: ast.ForStatement | ast.ForInStatement | ast.ForOfStatement, scope: Scope): void {
    const inner = this.openScope(scope, scope.unit, node);
    const head = node.type === "ForStatement" ? node.init : node.left;
    if (head?.type === "VariableDeclaration") {
      for (const d of head.declarations) {
        const readyAt = node.type === "ForStatement" ? d.end : node.right.end;
        if (head.kind !== "var") this.declarePattern(d.id, inner, head.kind === "let" ? "let" : "const", readyAt);
        else if (node.type !== "ForStatement") {
          for (const id of boundNames(d.id)) this.use(id, id.name, inner, true);
        }
      }
      this.visit(head, inner);
    } else if (head) {
      if (node.type === "ForStatement") this.visit(head, inner);
      else this.visitTarget(node.left as ast.Pattern, inner);
    }
    if (node.type === "ForStatement") {
      if (node.test) this.visit(node.test, inner);
      if (node.update) this.visit(node.update, inner);
    } else {
      this.visit(node.right, inner);
    }
    this.visit(node.body, inner);
  }

  private visitFunction(node: FunctionNode, scope: Scope, functionKind: FunctionKind): void {
    const name = node.id?.name ?? this.givenNames.get(node) ?? "";
    const block = node.body.type === "BlockStatement" ? node.body : null;
    const strict = scope.unit.strict || (block !== null && hasUseStrict(block.body));
    const createdAt = node.type === "FunctionDeclaration" && node.id ? scope.hoistAt : node.start;
    const unit = this.makeUnit(scope.unit, { kind: "function", node, functionKind, name, createdAt, strict });
    let outer: Scope = scope;
    if (node.type === "FunctionExpression" && node.id) {
      outer = this.openScope(scope, unit, null);
      this.declare(outer, node.id.name, "callee", {
        declaredAt: node.id.start,
        readyAt: -1,
        assignment: strict ? "throws" : "ignored",
      });
    }
    const inner = this.openScope(outer, unit, node, node.body.start);
    for (const p of node.params) this.declarePattern(p, inner, "parameter", p.end);
    if (block) {
      for (const statement of block.body) this.hoistVars(statement, inner);
      this.declareAll(block.body, inner, node);
    }
    for (const p of node.params) this.visitBinding(p, inner);
    if (block) this.visitAll(block.body, inner);
    else this.visit(node.body, inner);
  }

  private visitClass(node: ClassNode, scope: Scope): void {
    const name = node.id?.name ?? this.givenNames.get(node) ?? "";
    if (node.superClass) this.visit(node.superClass, scope);
    const unit = this.makeUnit(scope.unit, {
      kind: "class",
      node,
      functionKind: "arrow",
      name,
      createdAt: node.start,
      strict: true,
    });
    const inner = this.openScope(scope, unit, node);
    if (node.id) {
      this.declare(inner, node.id.name, "const", {
        declaredAt: node.id.start,
        readyAt: node.end,
        assignment: "throws",
      });
    }
    for (const member of node.body.body) {
      if (member.type !== "StaticBlock" && member.key.type === "PrivateIdentifier") {
        this.declare(inner, `#${member.key.name}`, "private", { declaredAt: member.key.start, readyAt: -1 });
      }
    }
    for (const member of node.body.body) {
      switch (member.type) {
        case "StaticBlock": {
          const block = this.makeUnit(unit, {
            kind: "staticBlock",
            node: member,
            functionKind: "staticBlock",
            name: "",
            createdAt: node.end,
          });
          const blockScope = this.openScope(inner, block, member);
          for (const statement of member.body) this.hoistVars(statement, blockScope);
          this.declareAll(member.body, blockScope, member);
          this.visitAll(member.body, blockScope);
          break;
        }
        case "PropertyDefinition": {
          if (member.computed) this.visit(member.key, inner);
          const field = this.makeUnit(unit, {
            kind: "field",
            node: member,
            functionKind: "fieldInitializer",
            name: "",
            createdAt: node.end,
          });
          const fieldScope = this.openScope(inner, field, member);
          if (member.key.type === "PrivateIdentifier") this.use(member.key, `#${member.key.name}`, fieldScope);
          if (member.value) {
            if (!member.computed) this.giveName(member.value, staticKeyName(member.key));
            this.visit(member.value, fieldScope);
          }
          break;
        }
        case "MethodDefinition": {
          if (member.computed) this.visit(member.key, inner);
          const kind: FunctionKind = member.kind === "constructor"
            ? (node.superClass ? "derivedConstructor" : "constructor")
            : member.kind === "get"
            ? "getter"
            : member.kind === "set"
            ? "setter"
            : "method";
          const prefix = member.kind === "get" || member.kind === "set" ? `${member.kind} ` : "";
          if (member.kind === "constructor") this.givenNames.set(member.value, name);
          else if (!member.computed) this.givenNames.set(member.value, prefix + staticKeyName(member.key));
          this.visitFunction(member.value, inner, kind);
          break;
        }
      }
    }
  }
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

function hasUseStrict(body: readonly (ast.Statement | ast.ModuleDeclaration)[]): boolean {
  for (const statement of body) {
    if (statement.type !== "ExpressionStatement" || statement.directive === undefined) return false;
    if (statement.directive === "use strict") return true;
  }
  return false;
}
