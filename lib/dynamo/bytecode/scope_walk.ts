/**
 * The analysis of a module: a walk over its tree that declares and uses names in order.
 *
 * Invariant: every name node of the tree is looked up once.
 */
import type * as ast from "acorn";
import type { FunctionKind } from "./code.ts";
import { type Analysis, boundNames, hasUseStrict, type Scope } from "./scope.ts";
import { ScopeTable } from "./scope_table.ts";
import {
  type AstNode,
  childrenOf,
  type ClassNode,
  type FunctionNode,
  isNaming,
  knownKeyName,
  staticKeyName,
} from "./syntax.ts";

/** Analyses a parsed module. */
export function analyze(program: ast.Program, given: readonly string[]): Analysis {
  return new Analyzer(program).run(given);
}

class Analyzer {
  private readonly table = new ScopeTable();
  /** Names that anonymous functions take from their context. */
  /** Whether this is part of a class's heritage expression, which is strict code. */
  private isStrict = false;
  private readonly givenNames = new Map<AstNode, string>();

  constructor(private readonly program: ast.Program) {}

  run(given: readonly string[]): Analysis {
    const unit = this.table.makeUnit(null, {
      kind: "program",
      node: this.program,
      functionKind: "function",
      name: "",
      createdAt: 0,
      strict: this.program.sourceType === "module" || hasUseStrict(this.program.body),
    });
    const scope = this.table.openScope(null, unit, this.program);
    for (const name of given) this.table.declare(scope, name, "var", { declaredAt: -1, readyAt: -1 });
    for (const statement of this.program.body) this.table.hoistVars(statement, scope);
    this.table.declareAll(this.program.body, scope, this.program);
    for (const statement of this.program.body) this.visit(statement, scope);
    return this.table.analysis(unit);
  }

  private visitAll(nodes: readonly (AstNode | null)[], scope: Scope): void {
    for (const node of nodes) if (node) this.visit(node, scope);
  }

  private visit(node: AstNode, scope: Scope): void {
    switch (node.type) {
      case "FunctionDeclaration":
      case "FunctionExpression":
      case "ArrowFunctionExpression":
        return this.visitFunction(
          node,
          scope,
          node.type === "ArrowFunctionExpression" ? "arrow" : "function",
        );
      case "ClassDeclaration":
      case "ClassExpression":
        return this.visitClass(node, scope);
      case "BlockStatement": {
        const inner = this.table.openScope(scope, scope.unit, node);
        this.table.declareAll(node.body, inner, node);
        return this.visitAll(node.body, inner);
      }
      case "ForStatement":
      case "ForInStatement":
      case "ForOfStatement":
        return this.visitFor(node, scope);
      case "SwitchStatement":
        return this.visitSwitch(node, scope);
      case "CatchClause": {
        const inner = this.table.openScope(scope, scope.unit, node);
        if (node.param) {
          this.table.declarePattern(node.param, inner, "let", node.param.end);
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
        if (isNaming(node)) this.giveName(node.right, node.left.name);
        this.visitTarget(node.left, scope);
        return this.visit(node.right, scope);
      case "UpdateExpression":
        if (node.argument.type === "Identifier") return this.visitWritten(node.argument, scope);
        return this.visit(node.argument, scope);
      case "Identifier":
        if (node.name === "arguments" && this.table.hasArguments(scope)) {
          return this.table.usePseudo(node, "arguments", "arguments", scope.unit);
        }
        return this.table.use(node, node.name, scope);
      case "PrivateIdentifier":
        return this.table.use(node, `#${node.name}`, scope);
      case "ThisExpression":
        return this.table.usePseudo(node, "this", "this", scope.unit);
      case "Super":
        this.table.usePseudo(node, "this", "this", scope.unit);
        return this.table.usePseudo(node, "super", "home", scope.unit);
      case "MetaProperty":
        if (node.meta.name === "new") {
          return this.table.usePseudo(node, "new.target", "newTarget", scope.unit);
        }
        return this.table.useImportMeta(node, scope.unit);
      case "MemberExpression":
        if (!node.computed && node.property.type === "Identifier" && node.property.name === "caller") {
          this.table.markCaller(scope);
        }
        this.visit(node.object, scope);
        if (node.computed || node.property.type === "PrivateIdentifier") this.visit(node.property, scope);
        return;
      case "CallExpression":
        return this.visitCall(node, scope);
      case "Property":
        return this.visitProperty(node, scope);
      case "WithStatement":
        this.table.markDynamic(scope);
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

  private visitSwitch(node: ast.SwitchStatement, scope: Scope): void {
    this.visit(node.discriminant, scope);
    const inner = this.table.openScope(scope, scope.unit, node);
    for (const c of node.cases) this.table.declareAll(c.consequent, inner, node, true);
    for (const c of node.cases) {
      if (c.test) this.visit(c.test, inner);
      this.visitAll(c.consequent, inner);
    }
  }

  private visitProperty(node: ast.Property | ast.AssignmentProperty, scope: Scope): void {
    if (node.computed) this.visit(node.key, scope);
    const isMember = node.kind !== "init" || ("method" in node && node.method);
    if (isMember && node.value.type === "FunctionExpression") {
      const kind = node.kind === "get" ? "getter" : node.kind === "set" ? "setter" : "method";
      const prefix = node.kind === "init" ? "" : `${node.kind} `;
      const name = knownKeyName(node);
      if (name !== null) this.givenNames.set(node.value, prefix + name);
      return this.visitFunction(node.value, scope, kind);
    }
    this.nameProperty(node);
    return this.visit(node.value, scope);
  }

  private visitCall(node: ast.CallExpression, scope: Scope): void {
    if (node.callee.type === "Super") {
      this.table.usePseudo(node.callee, "callee", "callee", scope.unit);
      this.table.usePseudo(node.callee, "new.target", "newTarget", scope.unit);
      this.table.usePseudo(node.callee, "this", "this", scope.unit);
      this.visitAll(node.arguments, scope);
      return;
    }
    if (node.callee.type === "Identifier" && node.callee.name === "eval" && !node.optional) {
      this.table.markDynamic(scope);
    }
    this.visit(node.callee, scope);
    this.visitAll(node.arguments, scope);
  }

  /** A property's function takes its name, except for `__proto__`, which is not a property. */
  private nameProperty(node: ast.Property | ast.AssignmentProperty): void {
    const name = knownKeyName(node), isProperty = node.computed || node.shorthand;
    if (name !== null && (isProperty || name !== "__proto__")) this.giveName(node.value, name);
  }

  private giveName(node: AstNode, name: string): void {
    while (node.type === "ParenthesizedExpression") node = node.expression;
    this.givenNames.set(node, name);
  }

  /** Names of a declaring pattern are resolved (not written); its defaults and computed keys are visited. */
  private visitBinding(pattern: ast.Pattern, scope: Scope): void {
    this.visitPattern(pattern, scope, (id) => this.table.bind(id, scope));
  }

  private visitTarget(pattern: ast.Pattern, scope: Scope): void {
    this.visitPattern(pattern, scope, (id) => this.visitWritten(id, scope));
  }

  /** A name that is assigned: sloppy code may assign `arguments`. */
  private visitWritten(id: ast.Identifier, scope: Scope): void {
    if (id.name === "arguments" && this.table.hasArguments(scope)) {
      return this.table.usePseudo(id, "arguments", "arguments", scope.unit, true);
    }
    this.table.use(id, id.name, scope, true);
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
        if (isNaming(pattern)) this.giveName(pattern.right, pattern.left.name);
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
    const inner = this.table.openScope(scope, scope.unit, node);
    const head = node.type === "ForStatement" ? node.init : node.left;
    if (head?.type === "VariableDeclaration") {
      for (const d of head.declarations) {
        const readyAt = node.type === "ForStatement" ? d.end : node.right.end;
        if (head.kind !== "var") {
          this.table.declarePattern(d.id, inner, head.kind === "let" ? "let" : "const", readyAt);
        } else if (node.type !== "ForStatement") {
          for (const id of boundNames(d.id)) this.table.use(id, id.name, inner, true);
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
    const strict = scope.unit.strict || this.isStrict || (block !== null && hasUseStrict(block.body));
    const createdAt = node.type === "FunctionDeclaration" && node.id ? scope.hoistAt : node.start;
    const unit = this.table.makeUnit(scope.unit, {
      kind: "function",
      node,
      functionKind,
      name,
      createdAt,
      strict,
    });
    let outer: Scope = scope;
    if (node.type === "FunctionExpression" && node.id) {
      outer = this.table.openScope(scope, unit, null);
      this.table.declare(outer, node.id.name, "callee", {
        declaredAt: node.id.start,
        readyAt: -1,
        assignment: strict ? "throws" : "ignored",
      });
    }
    // A constructor returns `this` unless it returns another object.
    if (functionKind === "derivedConstructor") this.table.usePseudo(node, "this", "this", unit);
    const inner = this.table.openScope(outer, unit, node, node.body.start);
    for (const p of node.params) this.table.declarePattern(p, inner, "parameter", p.end);
    const body = block && node.params.some(hasNamesInExpressions)
      ? this.table.openScope(inner, unit, block, block.start)
      : inner;
    if (block) {
      for (const statement of block.body) this.table.hoistVars(statement, body);
      this.table.declareAll(block.body, body, node);
    }
    for (const p of node.params) this.visitBinding(p, inner);
    if (block) this.visitAll(block.body, body);
    else this.visit(node.body, inner);
  }

  private visitClass(node: ClassNode, scope: Scope): void {
    const name = node.id?.name ?? this.givenNames.get(node) ?? "";
    if (node.superClass) {
      const { isStrict } = this;
      this.isStrict = true;
      this.visit(node.superClass, scope);
      this.isStrict = isStrict;
    }
    const unit = this.table.makeUnit(scope.unit, {
      kind: "class",
      node,
      functionKind: "arrow",
      name,
      createdAt: node.start,
      strict: true,
    });
    const inner = this.table.openScope(scope, unit, node);
    if (node.id) {
      this.table.declare(inner, node.id.name, "const", {
        declaredAt: node.id.start,
        readyAt: node.end,
        assignment: "throws",
      });
    }
    for (const member of node.body.body) {
      if (member.type !== "StaticBlock" && member.key.type === "PrivateIdentifier") {
        this.table.declare(inner, `#${member.key.name}`, "private", {
          declaredAt: member.key.start,
          readyAt: -1,
        });
      }
    }
    for (const member of node.body.body) {
      switch (member.type) {
        case "StaticBlock": {
          const block = this.table.makeUnit(unit, {
            kind: "staticBlock",
            node: member,
            functionKind: "staticBlock",
            name: "",
            createdAt: node.end,
          });
          const blockScope = this.table.openScope(inner, block, member);
          for (const statement of member.body) this.table.hoistVars(statement, blockScope);
          this.table.declareAll(member.body, blockScope, member);
          this.visitAll(member.body, blockScope);
          break;
        }
        case "PropertyDefinition": {
          if (member.computed) this.visit(member.key, inner);
          const field = this.table.makeUnit(unit, {
            kind: "field",
            node: member,
            functionKind: "fieldInitializer",
            name: "",
            createdAt: node.end,
          });
          const fieldScope = this.table.openScope(inner, field, member);
          if (member.key.type === "PrivateIdentifier") {
            this.table.use(member.key, `#${member.key.name}`, fieldScope);
          }
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

/**
 * Returns whether expressions of a parameter (defaults, computed keys) mention names: those do not refer to the body's
 * variables.
 */
function hasNamesInExpressions(node: AstNode): boolean {
  if (node.type === "AssignmentPattern") {
    return mentionsNames(node.right) || hasNamesInExpressions(node.left);
  }
  if (node.type === "Property" && node.computed && mentionsNames(node.key)) return true;
  let found = false;
  childrenOf(node, (child) => found ||= hasNamesInExpressions(child));
  return found;
}

function mentionsNames(node: AstNode): boolean {
  let found = node.type === "Identifier";
  childrenOf(node, (child) => found ||= mentionsNames(child));
  return found;
}
