/**
 * Live access to variables of closures and to private members.
 *
 * Input: a located function and the free variables wanted. Output: their cells.
 * Invariant: two functions that share a variable get the same cell; a module's own variables have one cell each.
 */
import type { Unit, Variable } from "../bytecode/scope.ts";
import { exporterOf } from "./imports.ts";
import { fieldsOf, type Inspector } from "./inspector.ts";
import type { FreeBinding, LiveCell, PrivateAccess } from "./info.ts";
import { evaluateInside, type Located } from "./live_edit.ts";

type Callback = (...args: readonly unknown[]) => unknown;

/** Kinds of variables that a name alone reaches. */
const ORDINARY: ReadonlySet<Variable["kind"]> = new Set([
  "let",
  "var",
  "function",
  "class",
  "parameter",
  "import",
]);

/** A cell that can be written only once a function of the variable's own module has been met. */
interface Cell {
  readonly get: () => unknown;
  set: (value: unknown) => void;
}

/** Cells that exist, by declaration; closures of other calls have other variables of the same declaration. */
const known = new WeakMap<Variable, WeakRef<Cell>[]>();

/** The cell of an export of a module that assigns it, read through the module's namespace. */
export function exportedCell(variable: Variable, read: () => unknown): LiveCell {
  return moduleCell(variable) ?? canonical(variable, { get: read, set: refuseWrite });
}

/** Makes bindings for `variables`, all free in the function, by one edit of its script. */
export function makeBindings(
  inspector: Inspector,
  at: Located,
  variables: readonly Variable[],
): ReadonlyMap<Variable, FreeBinding> {
  const found = new Map<Variable, FreeBinding>();
  const wanted: Variable[] = [];
  for (const variable of variables) {
    const shared = moduleCell(variable);
    if (shared) found.set(variable, { kind: "cell", cell: shared });
    else if (entryText(variable) === null) {
      found.set(variable, {
        kind: "unreachable",
        because: `${variable.name} of an enclosing method cannot be read`,
      });
    } else wanted.push(variable);
  }
  if (wanted.length === 0) return found;
  const extra = moduleVariables(at).filter((v) => !wanted.includes(v));
  const all = [...wanted, ...extra];
  const result = evaluateInside(inspector, at, accessText(all));
  if (result.kind === "failed") {
    for (const variable of wanted) {
      const because = `${variable.name} cannot be reached: ${result.because}`;
      found.set(variable, { kind: isPlainAt(at, variable) ? "pending" : "unreachable", because });
    }
    return found;
  }
  for (const [variable, binding] of bindingsFrom(all, result.value)) {
    if (wanted.includes(variable)) found.set(variable, binding);
  }
  return found;
}

/** Text of an array with the accessors of each variable, which all have some. */
export function accessText(variables: readonly Variable[]): string {
  return `[${variables.map((v) => entryText(v)).join(",")}]`;
}

/** Bindings from what that text evaluates to. */
export function bindingsFrom(
  variables: readonly Variable[],
  value: unknown,
): ReadonlyMap<Variable, FreeBinding> {
  const entries = fieldsOf(value);
  return new Map(
    variables.map((variable, i) => [variable, bindingOf(variable, fieldsOf(entries[String(i)]))]),
  );
}

/** Whether a name means that variable, an ordinary one, anywhere in the function. */
function isPlainAt(at: Located, variable: Variable): boolean {
  if (!ORDINARY.has(variable.kind)) return false;
  for (const [node, scope] of at.module.analysis.scopes) {
    const inside = node.start >= at.node.start && node.end <= at.node.end;
    if (inside && scope.variables.has(variable.name)) return false;
  }
  return true;
}

/** The one cell of a module's variable, if it has been made and does all that the variable is used for. */
function moduleCell(variable: Variable): LiveCell | null {
  const cell = variable.single ? known.get(exporterOf(variable))?.[0]?.deref() : undefined;
  return cell && (cell.set !== refuseWrite || variable.assignment !== "plain") ? cell : null;
}

/**
 * Variables of the module itself that change, have no cell yet, and mean the same at the function's start. One that
 * no function captures lives on the module's stack; capturing it would change the module's own code, which V8 refuses
 * while the module runs.
 */
function moduleVariables(at: Located): readonly Variable[] {
  const { analysis } = at.module;
  const top = analysis.scopes.get(at.module.program);
  if (!top || at.module.program.sourceType !== "module") return [];
  const hidden = new Set<string>();
  for (let s = analysis.scopes.get(at.node) ?? null; s && s !== top; s = s.parent) {
    for (const name of s.variables.keys()) hidden.add(name);
  }
  return [...top.variables.values()].filter((v) =>
    v.reassigned && v.capturers.size > 0 && !hidden.has(v.name) && moduleCell(v) === null
  );
}

/** Text of an array of functions that reach the variable; null where there is none. */
function entryText(variable: Variable): string | null {
  const { name } = variable;
  switch (variable.kind) {
    case "private":
      return `[o=>${name} in o,o=>o.${name},(o,$dyn_v)=>{o.${name}=$dyn_v}]`;
    case "this":
    case "newTarget":
    case "importMeta":
    case "arguments":
      return `[()=>${name}]`;
    case "home":
    case "callee":
      return variable.declaredAt < 0 ? null : `[()=>${name}]`;
    default:
      if (variable.assignment !== "plain") return `[()=>${name}]`;
      return `[()=>${name},$dyn_v=>{${name}=$dyn_v}]`;
  }
}

function bindingOf(variable: Variable, entry: Readonly<Record<string, unknown>>): FreeBinding {
  const [first, second, third] = [callback(entry["0"]), callback(entry["1"]), callback(entry["2"])];
  switch (variable.kind) {
    case "private":
      return { kind: "private", access: privateAccess(variable, [first, second, third]) };
    case "this":
    case "newTarget":
    case "importMeta":
    case "arguments":
      // `this` of a derived constructor changes once, at super().
      if (variable.reassigned) break;
      return { kind: "value", value: first() };
    default:
  }
  return { kind: "cell", cell: canonical(variable, { get: first, set: second }) };
}

function isCallback(value: unknown): value is Callback {
  return typeof value === "function";
}

/** The function itself, so that a read is one direct call. */
function callback(value: unknown): Callback {
  return isCallback(value) ? value : refuseWrite;
}

/** As V8 words it. */
const CONSTANT_ASSIGNED = "Assignment to constant variable.";

function refuseWrite(): never {
  throw new TypeError(CONSTANT_ASSIGNED);
}

/** The cell already known for the same variable of the same call, if there is one. */
function canonical(asked: Variable, cell: Cell): LiveCell {
  const variable = exporterOf(asked);
  const list = known.get(variable) ?? [];
  const alive = list.filter((ref) => ref.deref() !== undefined);
  for (const ref of alive) {
    const other = ref.deref();
    if (!other || !(variable.single || sameVariable(cell, other))) continue;
    if (other.set === refuseWrite) other.set = cell.set;
    return other;
  }
  alive.push(new WeakRef(cell));
  known.set(variable, alive);
  return cell;
}

/** Whether a write through one cell shows through the other. Uninitialised variables cannot be compared. */
function sameVariable(a: LiveCell, b: LiveCell): boolean {
  const mark = {};
  try {
    const held = a.get();
    a.set(mark);
    const same = b.get() === mark;
    a.set(held);
    return same;
  } catch {
    return false;
  }
}

function privateAccess(variable: Variable, parts: readonly [Callback, Callback, Callback]): PrivateAccess {
  const [has, get, set] = parts;
  return {
    has: (object) => has(object) === true,
    get: (object) => get(object),
    set: (object, value) => void set(object, value),
    member: privateMember(variable.unit, variable),
  };
}

/** What kind of member a #name is. */
function privateMember(unit: Unit, variable: Variable): PrivateAccess["member"] {
  const { node } = unit;
  if (node.type !== "ClassDeclaration" && node.type !== "ClassExpression") return "field";
  for (const member of node.body.body) {
    if (member.type === "StaticBlock" || member.key.start !== variable.declaredAt) continue;
    if (member.type === "PropertyDefinition") return "field";
    return member.kind === "get" || member.kind === "set" ? "accessor" : "method";
  }
  return "field";
}
