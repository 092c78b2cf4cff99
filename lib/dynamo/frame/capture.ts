/**
 * Finds the code and variables of a function value.
 *
 * Invariant: the answer for a function is computed once and kept as long as the function lives; no user code runs.
 */
import { types } from "node:util";
import { logs } from "../../base/logs.ts";
import { hasOwnRecords } from "../../base/original_builtins.ts";
import type { ClassField } from "../bytecode/compile.ts";
import { compileClass, compileFunction } from "../bytecode/compile.ts";
import type { CodeObject } from "../bytecode/code.ts";
import type { ParsedModule } from "../bytecode/parse.ts";
import { freeVariables, privateNameOf } from "../bytecode/free.ts";
import type { Unit, Variable } from "../bytecode/scope.ts";
import {
  type AstNode,
  type ClassNode,
  type FunctionNode,
  isClassNode,
  isFunctionNode,
} from "../bytecode/syntax.ts";
import { type Access, Bindings } from "./bindings.ts";
import { HandedBindings } from "./handed_bindings.ts";
import type { Captured, CapturedFunction, FreeBinding } from "./info.ts";
import {
  batch,
  type Fields,
  fieldsOf,
  Inspector,
  InspectorUnavailable,
  isRepl,
  numberField,
  textField,
} from "./inspector.ts";
import { knownAt, knownWith, noteKnown } from "./known_places.ts";
import type { FunctionPlace } from "./loaded_texts.ts";
import type { Located } from "./located.ts";
import { type Export, exportOf } from "./namespaces.ts";
import { type RewrittenFunction, rewrittenFunction, rewrittenModule } from "./rewritten.ts";
import { isGlobal, NO_SCOPES, readScopes, type ScopeSnapshot, type ScopeValue } from "./scopes.ts";
import { type Script, Scripts } from "./scripts.ts";
import { loadedText } from "./source_text.ts";

let access: Access | null = null;

function open(): Access {
  if (!access) {
    const inspector = new Inspector();
    access = { inspector, scripts: new Scripts(inspector), find: moduleAt };
  }
  return access;
}

const captured = new WeakMap<object, Captured>();

/** Code objects created so far, by function. */
const codes = new WeakMap<FunctionNode, CodeObject>();

/** Returns the code and variables of a callable value, or the reason why they cannot be found. */
export function captureFunction(fn: object): Captured {
  const known = captured.get(fn);
  if (known) return known;
  let result: Captured;
  try {
    result = captureRewritten(fn) ?? capture(open(), fn);
  } catch (error) {
    if (!(error instanceof InspectorUnavailable)) throw error;
    result = { kind: "unavailable", because: error.message, retry: error.retry };
  }
  if (result.kind !== "unavailable" || !result.retry) captured.set(fn, result);
  return result;
}

/**
 * The object to which a method belongs, whose prototype `super` refers to: for a constructor the class's prototype; for
 * a member of a class the object on the receiver's prototype chain that has it and was created by the class. Null for
 * others, such as methods of object literals: a function that is a property was not necessarily written there. `asked`
 * is called with the constructors whose code was consulted.
 */
export function findHomeObject(
  fn: object,
  receiver: unknown,
  asked: (constructor: object) => void = () => {},
): object | null {
  const known = captureFunction(fn);
  if (known.kind === "class") {
    const prototype: unknown = Reflect.getOwnPropertyDescriptor(fn, "prototype")?.value;
    return typeof prototype === "object" ? prototype : null;
  }
  if (known.kind !== "function" || known.member === null) return null;
  const { owner, isStatic } = known.member;
  const isMade = (object: object): boolean => {
    const made: unknown = isStatic ? object : Reflect.getOwnPropertyDescriptor(object, "constructor")?.value;
    if (typeof made !== "function") return false;
    asked(made);
    const by = captureFunction(made);
    return by.kind === "class" && by.node === owner;
  };
  if ((typeof receiver !== "object" && typeof receiver !== "function") || receiver === null) return null;
  for (let at: object | null = receiver; at && !types.isProxy(at); at = Reflect.getPrototypeOf(at)) {
    for (const key of Reflect.ownKeys(at)) {
      const d = Reflect.getOwnPropertyDescriptor(at, key);
      if (d && (d.value === fn || d.get === fn || d.set === fn) && isMade(at)) return at;
    }
  }
  return null;
}

/** Returns the binding of the export `key` of a module's namespace object. */
export function namespaceExport(namespace: object, key: string): Export {
  return exportOf(namespace, key, moduleAt);
}

/** Runs `run`, in which many functions may be captured, faster than each individually. */
export function captureMany<T>(run: () => T): T {
  return batch(run);
}

/** Modules in which variables were looked up, in the whole process: the results are cached. */
const consulted = new Set<string>();

/** The URLs of modules on whose texts any result depends. */
export function consultedModules(): ReadonlySet<string> {
  return consulted;
}

/** The text of a module in which functions were captured; null if it is not known without the debugger. */
export function moduleText(url: string): string | null {
  const rewritten = rewrittenModule(url);
  return rewritten ? rewritten.text : open().scripts.textAt(url);
}

/** The position of a function. */
interface FunctionPosition {
  readonly url: string;
  /** In the text that V8 has. */
  readonly offset: number;
}

/** The position of a function, and the values of its variables, as far as known without parsing. */
export interface FunctionSite extends FunctionPosition {
  /** The value of a variable visible to it. */
  lookup(name: string): ScopeValue;
}

/** Positions that the inspector has given. */
const positions = new WeakMap<object, FunctionPosition>();

/** The position of a function; null for functions of the runtime, and without an inspector. */
export function positionOf(fn: object): FunctionPosition | null {
  return positions.get(fn) ?? siteOf(fn);
}

/** Notes where a function is, unless it has no address: the position in a script, and its address. */
function notePosition(fn: object, script: Script, place: FunctionPlace): FunctionPosition {
  const position = { url: script.url, offset: (script.lines[place.line] ?? 0) + place.column };
  if (script.url !== "") positions.set(fn, position);
  return position;
}

/** The place of a function; null for functions of the runtime, and without an inspector. */
export function siteOf(fn: object): FunctionSite | null {
  try {
    const found = rewrittenFunction(fn);
    if (found) {
      const { module: { url }, node } = found;
      return { url, offset: node.start, lookup: (name) => rewrittenVariable(fn, name) };
    }
    const { inspector } = open();
    try {
      const internals = inspector.internals(fn), found = scriptOf(open(), fn, internals);
      if (!found || found.script.url === "" || isRuntimes(found.script)) return null;
      const scopes = scopesAmong(open(), internals);
      return { ...notePosition(fn, found.script, found.place), lookup: (name) => scopes.lookup(name) };
    } finally {
      inspector.release();
    }
  } catch (error) {
    if (error instanceof InspectorUnavailable) return null;
    throw error;
  }
}

function rewrittenVariable(fn: object, name: string): ScopeValue {
  for (const { code, binding } of codesIn(captureFunction(fn))) {
    const index = code.free.findIndex((variable) => variable.name === name);
    const found = index < 0 ? null : binding(index);
    if (found) return found.kind === "value" ? found : { kind: "absent" };
  }
  return { kind: "absent" };
}

/** Returns the parts of a function or class that have code. */
function codesIn(known: Captured): readonly Pick<CapturedFunction, "code" | "binding">[] {
  if (known.kind === "function") return [known];
  if (known.kind !== "class") return [];
  const { constructorCode, binding, fields, fieldBinding } = known;
  return [
    ...constructorCode ? [{ code: constructorCode, binding }] : [],
    ...fields.flatMap((field) => {
      const { value } = field;
      return value ? [{ code: value, binding: (index: number) => fieldBinding(field, index) }] : [];
    }),
  ];
}

/** Returns the module loaded from a URL. */
function moduleAt(url: string): ParsedModule | null {
  consulted.add(url);
  return rewrittenModule(url) ?? open().scripts.moduleAt(url);
}

/**
 * Returns the capture of a function whose code was compiled before, for another closure; null for others. Nothing is
 * parsed or compiled.
 */
export function captureAgain(fn: object): CapturedFunction | null {
  const known = captured.get(fn);
  if (known) return known.kind === "function" ? known : null;
  let result: Captured | null;
  try {
    const found = rewrittenFunction(fn);
    if (!found) result = access && hasOwnRecords() ? inspectAgain(access, fn) : null;
    else result = isFunctionNode(found.node) && codes.has(found.node) ? describe(fn, found) : null;
  } catch (error) {
    if (error instanceof InspectorUnavailable) return null;
    throw error;
  }
  if (result?.kind !== "function") return null;
  captured.set(fn, result);
  return result;
}

/** Returns the capture of a further closure of code that the inspector has located before; null for others. */
function inspectAgain(use: Access, fn: object): Captured | null {
  const alike = typeof fn === "function" ? knownWith(loadedText(fn)) : [];
  if (alike.length === 0) return null;
  const { inspector } = use;
  try {
    const internals = inspector.internals(fn);
    const location = fieldsOf(internals.get("FunctionLocation")?.value);
    const found = knownAt(alike, { script: textField(location, "scriptId"), ...placeOf(location) });
    return found && codes.has(found.node) ? inspected(use, { fn, ...found }, internals) : null;
  } finally {
    inspector.release();
  }
}

/** A function that the inspector has located, with its variables. */
function inspected(
  use: Access,
  { fn, module, node }: Located,
  internals: ReadonlyMap<string, Fields>,
): Captured {
  const isClosed = freeVariables(unitOf(module, node), module).length === 0;
  const at = { fn, module, scopes: isClosed ? NO_SCOPES : scopesAmong(use, internals) };
  return capturedFunction({ fn, module, bindings: new Bindings(use, at, () => ({ ...at, node })) }, node);
}

function scopesAmong({ inspector }: Access, internals: ReadonlyMap<string, Fields>): ScopeSnapshot {
  return readScopes(inspector, textField(internals.get("Scopes") ?? {}, "objectId"));
}

/** A function or class of a module that was rewritten when it was loaded. */
function captureRewritten(fn: object): Captured | null {
  const found = rewrittenFunction(fn);
  return found && describe(fn, found);
}

function describe(fn: object, found: RewrittenFunction): Captured {
  const { module, node } = found;
  const bindings = new HandedBindings(found, moduleAt);
  if (isFunctionNode(node)) return capturedFunction({ fn, module, bindings }, node);
  return capturedClass({ fn, module, bindings }, node, constructorOf(node));
}

function constructorOf(node: ClassNode): FunctionNode | null {
  for (const member of node.body.body) {
    if (member.type === "MethodDefinition" && member.kind === "constructor") return member.value;
  }
  return null;
}

/** Later cells may redeclare, with other values, what earlier ones have declared as constants. */
const TYPED = "Functions that are typed into a notebook or deno repl are not compiled; import them from a " +
  "module, or type them into dyn's own REPL";

function capture(use: Access, fn: object): Captured {
  const { inspector } = use;
  try {
    const internals = inspector.internals(fn);
    if (types.isProxy(fn)) {
      const target = objectOf(inspector, internals.get("Target"));
      if (!target) return { kind: "unavailable", because: "The proxy is revoked", retry: false };
      return { kind: "proxy", target, handler: objectOf(inspector, internals.get("Handler")) };
    }
    const target = internals.get("TargetFunction");
    if (target) return bound(inspector, target, internals);
    const found = scriptOf(use, fn, internals);
    if (!found || isRuntimes(found.script)) return { kind: "native", name: nameOf(fn) };
    const { script, id, place } = found;
    if (script.url === "" && isRepl()) {
      logs.announce("graph_breaks", TYPED);
      return { kind: "unavailable", because: TYPED, retry: false };
    }
    const module = script.module;
    if (!module) {
      return { kind: "unavailable", because: `The text of ${script.url} cannot be parsed`, retry: false };
    }
    const node = module.functionAt(notePosition(fn, script, place).offset);
    if (!node) {
      return { kind: "unavailable", because: "The function is not where V8 says it is", retry: false };
    }
    const outer = outerVariable(use, { module, node }, internals);
    if (outer !== null) {
      const because = `${outer} belongs to the code that evaluated the function's text`;
      return { kind: "unavailable", because, retry: false };
    }
    const classNode = isClassNode(node) ? node : classOf(node, module);
    if (classNode) {
      const at: Site = { fn, module, scopes: scopesAmong(use, internals) };
      const constructor = isFunctionNode(node) ? node : null;
      const bindings = new Bindings(use, at, () => donor(use, at, classNode, constructor));
      return capturedClass({ fn, module, bindings }, classNode, constructor);
    }
    if (!isFunctionNode(node)) return { kind: "native", name: nameOf(fn) };
    // Texts evaluated by the program have no address, and are dropped with their functions
    if (script.url !== "") noteKnown(loadedText(fn), { script: id, ...place }, { module, node });
    return inspected(use, { fn, module, node }, internals);
  } finally {
    inspector.release();
  }
}

/**
 * A variable that code of an evaluated text uses without declaring it: it is not a global one if the text was evaluated
 * where such a variable is visible. Null if there is none.
 */
function outerVariable(
  use: Access,
  { module, node }: { readonly module: ParsedModule; readonly node: AstNode },
  internals: ReadonlyMap<string, Fields>,
): string | null {
  if (module.program.sourceType === "module") return null;
  let scopes: ScopeSnapshot | null = null;
  for (const [used, variable] of module.analysis.references) {
    if (variable !== null || !("name" in used) || used.start < node.start || used.end > node.end) continue;
    scopes ??= scopesAmong(use, internals);
    const name = String(used.name);
    if (scopes.lookup(name).kind !== "absent") return name;
  }
  return null;
}

/** The script that contains a function, V8's number of it, and the place there. */
interface FunctionScript {
  readonly script: Script;
  readonly id: string;
  readonly place: FunctionPlace;
}

function scriptOf(use: Access, fn: object, internals: ReadonlyMap<string, Fields>): FunctionScript | null {
  const { inspector, scripts } = use;
  const location = fieldsOf(internals.get("FunctionLocation")?.value);
  const id = textField(location, "scriptId"), place = placeOf(location);
  if (id === "") return null;
  const made = scripts.constructed(fn, place);
  const script = made && isGlobal(inspector, textField(internals.get("Scopes") ?? {}, "objectId"))
    ? made
    : scripts.scriptOf(fn, id, place);
  return script && { script, id, place };
}

function placeOf(location: Fields): FunctionPlace {
  return { line: numberField(location, "lineNumber"), column: numberField(location, "columnNumber") };
}

/** Returns whether a script belongs to the runtime itself. */
function isRuntimes(script: Script): boolean {
  return /^(ext|node|internal|checkin):/.test(script.url);
}

function nameOf(fn: object): string {
  const d = Reflect.getOwnPropertyDescriptor(fn, "name");
  return typeof d?.value === "string" ? d.value : "";
}

function objectOf(inspector: Inspector, remote: Fields | undefined): object | null {
  const id = textField(remote ?? {}, "objectId");
  const value = id ? inspector.valueOf(id) : null;
  return (typeof value === "object" || typeof value === "function") ? value : null;
}

function bound(inspector: Inspector, target: Fields, internals: ReadonlyMap<string, Fields>): Captured {
  const fn = objectOf(inspector, target);
  const list = fieldsOf(objectOf(inspector, internals.get("BoundArgs")));
  const args: unknown[] = [];
  for (let i = 0; Object.hasOwn(list, String(i)); i++) args.push(list[String(i)]);
  if (!fn) return { kind: "unavailable", because: "The target of the bound function is gone", retry: false };
  return { kind: "bound", target: fn, self: inspector.plainValue(internals.get("BoundThis") ?? {}), args };
}

/** A function value and what is known about its place, before its kind is determined. */
interface Site {
  readonly fn: object;
  readonly module: ParsedModule;
  readonly scopes: ScopeSnapshot;
}

/** A function value, the text it was parsed from, and its variables. */
interface Found {
  readonly fn: object;
  readonly module: ParsedModule;
  readonly bindings: { of(unit: Unit, index: number): FreeBinding; ofName(name: Variable): FreeBinding };
}

/** The class whose constructor the function node is. */
function classOf(node: FunctionNode, module: ParsedModule): ClassNode | null {
  const method = module.parentOf(node);
  return method?.type === "MethodDefinition" && method.kind === "constructor"
    ? ownerOf(method, module)
    : null;
}

/** The class in which a member is written. */
function ownerOf(member: AstNode, module: ParsedModule): ClassNode | null {
  const body = module.parentOf(member);
  const owner = body ? module.parentOf(body) : null;
  return owner && isClassNode(owner) ? owner : null;
}

/** Returns the class and member that the function node belongs to, or null. */
function memberOf(node: FunctionNode, module: ParsedModule): CapturedFunction["member"] {
  const method = module.parentOf(node);
  const owner = method?.type === "MethodDefinition" ? ownerOf(method, module) : null;
  return owner && method?.type === "MethodDefinition" ? { owner, isStatic: method.static } : null;
}

function capturedFunction({ fn, module, bindings }: Found, node: FunctionNode): Captured {
  const unit = unitOf(module, node);
  return {
    kind: "function",
    fn,
    module,
    get code() {
      let code = codes.get(node);
      if (!code) codes.set(node, code = compileFunction(node, module));
      return code;
    },
    get position() {
      return module.position(node.start);
    },
    get member() {
      return memberOf(node, module);
    },
    binding: (index) => bindings.of(unit, index),
  };
}

function capturedClass(
  { fn, module, bindings }: Found,
  node: ClassNode,
  constructor: FunctionNode | null,
): Captured {
  const parts = compileClass(node, module);
  const memberAt = ({ span: { start } }: ClassField) => {
    const found = node.body.body.find((member) => member.start === start);
    if (!found) throw new RangeError("Expected a field of this class");
    return found;
  };
  return {
    kind: "class",
    fn,
    module,
    node,
    position: module.position(node.start),
    derived: parts.derived,
    constructorCode: parts.constructorCode,
    fields: parts.fields,
    privateMethods: parts.privateMethods,
    binding: (index) => {
      if (!constructor) throw new RangeError("Expected a class with a constructor");
      return bindings.of(unitOf(module, constructor), index);
    },
    fieldBinding: (field, index) => bindings.of(unitOf(module, memberAt(field)), index),
    nameBinding: (field) => {
      const member = memberAt(field);
      const name = member.type === "PropertyDefinition" ? privateNameOf(member.key, node, module) : null;
      if (!name) throw new RangeError("Expected a private field");
      return bindings.ofName(name);
    },
    methodBinding: ({ code: { span } }, index) => {
      for (const member of node.body.body) {
        if (member.type === "MethodDefinition" && member.value.start === span.start) {
          return bindings.of(unitOf(module, member.value), index);
        }
      }
      throw new RangeError("Expected a private method of this class");
    },
  };
}

function unitOf(module: ParsedModule, node: Parameters<ReadonlyMap<Unit["node"], Unit>["get"]>[0]): Unit {
  const unit = module.analysis.units.get(node);
  if (!unit) throw new Error("Expected a function of this module");
  return unit;
}

/**
 * A function in the scope of a class, whose next call can access what the class captures: its constructor or a method.
 */
function donor(use: Access, at: Site, node: ClassNode, constructor: FunctionNode | null): Located | null {
  if (constructor) return { ...at, node: constructor };
  const prototype: unknown = Reflect.getOwnPropertyDescriptor(at.fn, "prototype")?.value;
  const owners = [prototype, at.fn].filter((o) =>
    (typeof o === "object" && o !== null) || typeof o === "function"
  );
  for (const owner of owners) {
    for (const key of Reflect.ownKeys(owner)) {
      const d = key === "constructor" ? undefined : Reflect.getOwnPropertyDescriptor(owner, key);
      for (const candidate of [d?.value, d?.get]) {
        const located = typeof candidate === "function" ? locate(use, candidate) : null;
        if (located && insideClass(located, node)) return located;
      }
    }
  }
  return null;
}

function insideClass(located: Located, node: ClassNode): boolean {
  const parent = located.module.parentOf(located.node);
  return parent?.type === "MethodDefinition" && located.module.parentOf(parent) === node.body;
}

function locate(use: Access, fn: object): Located | null {
  const found = scriptOf(use, fn, use.inspector.internals(fn)), module = found?.script.module;
  if (!found || !module) return null;
  const { script, place } = found;
  const node = module.functionAt((script.lines[place.line] ?? 0) + place.column);
  return node && isFunctionNode(node) ? { fn, module, node } : null;
}
