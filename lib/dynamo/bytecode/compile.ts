/**
 * Compiles functions to code objects.
 *
 * Invariant: one code object per node, so that equal code objects are identical. The instructions of nested functions
 * are compiled on first access, which may throw `UnsupportedSyntax`.
 */
import type * as ast from "acorn";
import type {
  ClassTemplate,
  CodeHeader,
  CodeObject,
  ExceptionEntry,
  RegisterInfo,
  SourceModule,
  SourceSpan,
} from "./code.ts";
import type { Instruction } from "./instruction.ts";
import type { Assembled } from "./builder.ts";
import { bindPattern } from "./assignment.ts";
import { wellKnownSymbol } from "./class_keys.ts";
import { FunctionContext, hasSimpleParameters } from "./context.ts";
import { expression } from "./expressions.ts";
import { describeFree, freeVariables, privateNameOf } from "./free.ts";
import { usedArguments, writtenArguments } from "./mapped_arguments.ts";
import type { ParsedModule } from "./parse.ts";
import type { Scope, Unit } from "./scope.ts";
import { statement, statementList } from "./statements.ts";
import {
  type AstNode,
  type ClassNode,
  type FunctionNode,
  isAnonymousFunction,
  isClassNode,
  isFunctionNode,
  staticKeyName,
} from "./syntax.ts";

/** The code object of a function. Throws `UnsupportedSyntax` if the function itself cannot be compiled. */
export function compileFunction(node: FunctionNode, module: ParsedModule): CodeObject {
  const unit = module.analysis.units.get(node);
  if (!unit) throw new Error("Expected a function of this module");
  const code = codeOfUnit(unit, module);
  void code.instructions;
  return code;
}

/** An instance field of a class. */
export interface ClassField {
  /** Name or symbol of a public field, `#name` of a private one, null if the key has to be computed. */
  readonly key: string | symbol | null;
  /** For a private field, where its name is declared; null for public ones. */
  readonly declaration: string | null;
  /** Computes the value, with the new object as `this`; null if the field starts undefined. */
  readonly value: CodeObject | null;
  readonly span: SourceSpan;
}

/** A private method or accessor of a class's instances. */
export interface PrivateMethodCode {
  /** Position of the declaration of its name. */
  readonly declaration: string;
  readonly kind: "call" | "get" | "set";
  readonly code: CodeObject;
}

/** The code that constructs instances of a class. */
export interface ClassCode {
  /** The constructor as written; null if the class has none. */
  readonly constructorCode: CodeObject | null;
  /** Instance fields in the order in which they are defined. */
  readonly fields: readonly ClassField[];
  /** Private methods and accessors, which nothing outside the class can add. */
  readonly privateMethods: readonly PrivateMethodCode[];
  readonly derived: boolean;
}

/** The code of a class's constructor and of its instance fields. */
export function compileClass(node: ClassNode, module: ParsedModule): ClassCode {
  const method = node.body.body.find((m) => m.type === "MethodDefinition" && m.kind === "constructor");
  const constructorCode = method?.type === "MethodDefinition" ? compileFunction(method.value, module) : null;
  const fields: ClassField[] = [];
  const privateMethods: PrivateMethodCode[] = [];
  for (const m of node.body.body) {
    if (m.type === "StaticBlock" || m.static) continue;
    const isPrivate = m.key.type === "PrivateIdentifier";
    if (m.type === "MethodDefinition") {
      const unit = module.analysis.units.get(m.value);
      if (isPrivate && unit && m.kind !== "constructor") {
        const kind = m.kind === "method" ? "call" : m.kind;
        privateMethods.push({
          declaration: declarationOf(m.key, node, module),
          kind,
          code: codeOfUnit(unit, module),
        });
      }
      continue;
    }
    const unit = module.analysis.units.get(m);
    if (!unit) throw new Error("Expected a class of this module");
    fields.push({
      key: m.computed ? knownKey(m, module) : staticKeyName(m.key),
      declaration: isPrivate ? declarationOf(m.key, node, module) : null,
      value: m.value ? codeOfUnit(unit, module) : null,
      span: { start: m.start, end: m.end },
    });
  }
  return { constructorCode, fields, privateMethods, derived: Boolean(node.superClass) };
}

/** The computed key of a field if it is a literal or a well-known symbol; anonymous functions have names by others. */
function knownKey({ key, value }: ast.PropertyDefinition, module: ParsedModule): string | symbol | null {
  if (value && isAnonymousFunction(value)) return null;
  return key.type === "Literal" ? staticKeyName(key) : wellKnownSymbol(key, module);
}

/** Returns the position of the declaration of a member's private name, as text: a getter and a setter share one. */
export function declarationOf(key: AstNode, node: ClassNode, module: ParsedModule): string {
  return placeOf(module, privateNameOf(key, node, module)?.declaredAt ?? key.start);
}

/** A place in a module as text. */
export function placeOf({ url }: SourceModule, at: number): string {
  return `${url}:${at}`;
}

const codes = new WeakMap<Unit, CodeUnit>();

/** The code object of a unit; its instructions are compiled on demand. */
export function codeOfUnit(unit: Unit, module: ParsedModule): CodeObject {
  let code = codes.get(unit);
  if (!code) codes.set(unit, code = new CodeUnit(unit, module));
  return code;
}

/** The unit of a code object, or of the class at `span` inside it, with the module that contains both. */
export function codeUnit(
  code: CodeObject,
  span: SourceSpan,
): { readonly unit: Unit; readonly module: ParsedModule } {
  if (!(code instanceof CodeUnit)) throw new TypeError("Expected a code object made by compileFunction");
  const { unit, module } = code;
  if (unit.node.start === span.start && unit.node.end === span.end) return { unit, module };
  for (const [node, other] of module.analysis.units) {
    if (isClassNode(node) && node.start === span.start && node.end === span.end) {
      return { unit: other, module };
    }
  }
  throw new Error("Expected a class of this module");
}

interface Compiled extends Assembled {
  readonly children: readonly CodeObject[];
  readonly classes: readonly ClassTemplate[];
}

/** A code object whose instructions are compiled on demand. */
interface CodeUnit extends CodeHeader {}

class CodeUnit implements CodeObject {
  private compiled: Compiled | null = null;

  constructor(readonly unit: Unit, readonly module: ParsedModule) {
    Object.assign(this, headerOf(unit, module));
  }

  get registers(): readonly RegisterInfo[] {
    return this.body.registers;
  }
  get instructions(): readonly Instruction[] {
    return this.body.instructions;
  }
  get spans(): readonly SourceSpan[] {
    return this.body.spans;
  }
  get handlers(): readonly ExceptionEntry[] {
    return this.body.handlers;
  }
  get children(): readonly CodeObject[] {
    return this.body.children;
  }
  get classes(): readonly ClassTemplate[] {
    return this.body.classes;
  }

  private get body(): Compiled {
    return this.compiled ??= compileUnit(this.unit, this.module);
  }
}

function headerOf(unit: Unit, module: ParsedModule): CodeHeader {
  const node = functionOf(unit);
  const params = node?.params ?? [];
  const plain = params.filter((p) => p.type !== "RestElement");
  const required = plain.findIndex((p) => p.type === "AssignmentPattern");
  return {
    name: unit.name,
    kind: unit.functionKind,
    generator: node?.generator ?? false,
    async: node?.async ?? false,
    strict: unit.strict,
    length: required < 0 ? plain.length : required,
    parameters: plain.map((p) => {
      const target = p.type === "AssignmentPattern" ? p.left : p;
      return target.type === "Identifier" ? target.name : null;
    }),
    hasRest: params.some((p) => p.type === "RestElement"),
    usesThis: unit.pseudo.has("this"),
    usesArguments: unit.pseudo.has("arguments"),
    usesSuper: unit.pseudo.has("super"),
    free: freeVariables(unit, module).map((v) => describeFree(v, unit)),
    span: { start: unit.node.start, end: unit.node.end },
  };
}

function functionOf(unit: Unit): FunctionNode | null {
  return isFunctionNode(unit.node) ? unit.node : null;
}

function contextOf(unit: Unit, module: ParsedModule): FunctionContext {
  const node = functionOf(unit);
  return new FunctionContext(
    unit,
    module,
    freeVariables(unit, module),
    { expression, statement, child: (u) => codeOfUnit(u, module) },
    { async: node?.async ?? false, generator: node?.generator ?? false },
  );
}

function compileUnit(unit: Unit, module: ParsedModule): Compiled {
  const ctx = contextOf(unit, module);
  const node = unit.node;
  if (unit.dynamicScope) ctx.unsupported("direct eval or with", node);
  if (unit.asksForCaller) ctx.unsupported("the caller of a function", node);
  if (node.type === "PropertyDefinition" && node.value) {
    for (const then of frameInputs(ctx, node.value)) then();
    ctx.leaveByReturn(ctx.expression(node.value), node.value);
    return { ...ctx.builder.finish(), children: ctx.children, classes: ctx.classes };
  }
  if (node.type === "StaticBlock") {
    for (const then of frameInputs(ctx, node)) then();
    initializeVars(ctx, ctx.analysis.scopes.get(node), node);
    statementList(ctx, node, node.body);
    if (ctx.builder.isReachable) ctx.leaveByReturn(ctx.constant(undefined, node), node);
    ctx.flushReturns(null);
    return { ...ctx.builder.finish(), children: ctx.children, classes: ctx.classes };
  }
  if (!isFunctionNode(node)) return ctx.unsupported("code outside of functions", node);
  prologue(ctx, node);
  if (node.body.type === "BlockStatement") {
    statementList(ctx, bodyScope(ctx, node) ? node.body : node, node.body.body);
    const end = { start: node.body.end - 1, end: node.body.end };
    if (ctx.builder.isReachable) ctx.leaveByReturn(ctx.constant(undefined, end), end);
  } else {
    ctx.leaveByReturn(ctx.expression(node.body), node.body);
  }
  ctx.flushReturns(null);
  return { ...ctx.builder.finish(), children: ctx.children, classes: ctx.classes };
}

/** Work to do with frame inputs once all of them are in registers. */
type Later = () => void;

/**
 * Reads this, arguments, new.target, the function and its home object into registers, as far as they are used. All
 * reads of inputs come before anything else, so that execution never stops between them.
 */
function frameInputs(ctx: FunctionContext, span: SourceSpan): readonly Later[] {
  const b = ctx.builder;
  const later: Later[] = [];
  for (const variable of ctx.unit.pseudo.values()) {
    if (variable.kind === "this" && ctx.unit.functionKind === "derivedConstructor") {
      later.push(() => ctx.enter(variable, span));
      continue;
    }
    const direct = ctx.initialRegister(variable);
    const dst = direct ?? b.temp();
    switch (variable.kind) {
      case "this":
        b.emit({ op: "loadThis", dst }, span);
        break;
      case "arguments":
        b.emit({ op: "loadArguments", dst, mapped: hasMappedArguments(ctx.unit) }, span);
        break;
      case "newTarget":
        b.emit({ op: "loadNewTarget", dst }, span);
        break;
      case "callee":
        b.emit({ op: "loadCallee", dst }, span);
        break;
      case "home":
        b.emit({ op: "loadHome", dst }, span);
        break;
      default:
        ctx.unsupported(`pseudo variable ${variable.name}`, span);
    }
    if (direct === undefined) later.push(() => ctx.initialize(variable, dst, span));
  }
  return later;
}

/** Creates the `var`s of a scope. */
function initializeVars(ctx: FunctionContext, scope: Scope | undefined, span: SourceSpan): void {
  for (const variable of scope?.variables.values() ?? []) {
    if (variable.kind !== "var") continue;
    // Its initial value is the arguments object, which printed code cannot access under another variable
    if (variable.name === "arguments") ctx.unsupported("a variable called arguments", ctx.unit.node);
    ctx.initialize(variable, ctx.constant(undefined, span, ctx.initialRegister(variable)), span);
  }
}

/** Reads the frame's inputs into registers, binds parameters, creates `var`s. */
function prologue(ctx: FunctionContext, node: FunctionNode): void {
  const b = ctx.builder;
  const span = { start: node.start, end: node.body.start };
  if (ctx.unit.pseudo.has("arguments") && hasMappedArguments(ctx.unit)) {
    refuseMappedArguments(ctx, node);
  }
  const later = [...frameInputs(ctx, span)];
  const own = ctx.analysis.scopes.get(node);
  const self = own?.parent?.variables.get(node.id?.name ?? "");
  if (self?.kind === "callee" && self.unit === ctx.unit && !own?.variables.has(self.name)) {
    const direct = ctx.initialRegister(self);
    const dst = direct ?? b.temp();
    b.emit({ op: "loadCallee", dst }, span);
    if (direct === undefined) later.push(() => ctx.initialize(self, dst, span));
  }
  for (const variable of own?.variables.values() ?? []) {
    if (variable.kind === "parameter") later.push(() => ctx.enter(variable, span));
  }
  node.params.forEach((p, index) => {
    const target = p.type === "RestElement" ? p.argument : p;
    const variable = target.type === "Identifier" ? ctx.variableOf(target) : null;
    const direct = variable && variable.kind !== "function" ? ctx.initialRegister(variable) : undefined;
    const dst = direct ?? b.temp();
    if (p.type === "RestElement") b.emit({ op: "loadRest", dst, from: index }, p);
    else b.emit({ op: "loadArgument", dst, index }, p);
    if (direct === undefined) {
      later.push(() =>
        bindPattern(ctx, target, dst, { mode: "initialize", named: { object: "", list: "" } })
      );
    }
  });
  for (const then of later) then();
  initializeVars(ctx, own, span);
  // A variable of a body that has its own scope starts with the value of the parameter of the same name
  for (const variable of bodyScope(ctx, node)?.variables.values() ?? []) {
    if (variable.kind !== "var") continue;
    if (variable.name === "arguments") ctx.unsupported("a variable called arguments", node);
    const parameter = own?.variables.get(variable.name);
    const direct = ctx.initialRegister(variable);
    const value = parameter ? ctx.read(parameter, span, direct) : ctx.constant(undefined, span, direct);
    ctx.initialize(variable, value, span);
  }
  if (node.generator) b.emit({ op: "generatorStart" }, span);
}

/** The scope of a function's body if it differs from that of its parameters. */
function bodyScope(ctx: FunctionContext, node: FunctionNode): Scope | undefined {
  return ctx.analysis.scopes.get(node.body);
}

/** Returns whether a function's parameters alias the elements of its arguments object. */
function hasMappedArguments(unit: Unit): boolean {
  const node = functionOf(unit);
  return node !== null && !unit.strict && hasSimpleParameters(node);
}

/** In sloppy functions `arguments` and simple parameters share storage, which registers cannot express. */
function refuseMappedArguments(ctx: FunctionContext, node: FunctionNode): void {
  const assigned = node.params.find((p) => p.type === "Identifier" && ctx.variableOf(p)?.reassigned);
  if (assigned && usedArguments(node)) {
    ctx.unsupported("assigned parameter beside sloppy arguments", assigned);
  }
  const written = writtenArguments(node);
  if (written) ctx.unsupported("parameters beside sloppy arguments that may be written to", written);
}
