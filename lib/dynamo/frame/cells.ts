/**
 * Live access to variables of closures and to private members.
 *
 * Invariant: two functions that share a variable get the same cell; a module's own variables have one cell each.
 */
import type { Unit, Variable } from "../bytecode/scope.ts";
import { exporterOf } from "./imports.ts";
import type { FreeBinding, LiveCell, PrivateAccess } from "./info.ts";

type Callback = (...args: readonly unknown[]) => unknown;

/** The evaluated accessors of a variable. */
export type Accessors = readonly Callback[];

/** A cell that becomes writable only once a function of the variable's own module has been seen. */
interface Cell {
  readonly get: () => unknown;
  set: (value: unknown) => void;
}

/** Existing cells, by declaration; closures of other calls have other variables of the same declaration. */
const known = new WeakMap<Variable, WeakRef<Cell>[]>();

/** The cell of an export of a module that assigns it, read through the module's namespace. */
export function exportedCell(variable: Variable, read: () => unknown): LiveCell {
  return moduleCell(variable) ?? canonical(variable, { get: read, set: refuseWrite });
}

/** The one cell of a module's variable, if it exists and can do everything that the variable is used for. */
export function moduleCell(variable: Variable): LiveCell | null {
  const cell = variable.single ? known.get(exporterOf(variable))?.[0]?.deref() : undefined;
  return cell && (cell.set !== refuseWrite || !isWritten(variable)) ? cell : null;
}

/** Returns whether the variable's own module assigns it. */
function isWritten({ assignment, reassigned }: Variable): boolean {
  return assignment === "plain" && reassigned;
}

/** The binding of a variable with these accessors. */
export function bindingFrom(variable: Variable, [first, second, third]: Accessors): FreeBinding {
  const get = first ?? refuseWrite, set = second ?? refuseWrite;
  switch (variable.kind) {
    case "private":
      return { kind: "private", access: privateAccess(variable, [get, set, third ?? refuseWrite]) };
    case "this":
    case "newTarget":
    case "importMeta":
    case "arguments":
      // `this` of a derived constructor changes once, at super().
      if (variable.reassigned) break;
      return { kind: "value", value: get() };
    default:
  }
  const token = third?.();
  const cell: Cell = { get, set };
  return {
    kind: "cell",
    cell: typeof token === "object" && token !== null
      ? cellBeside(token, variable, cell)
      : canonical(variable, cell),
  };
}

/** In V8's words. */
const CONSTANT_ASSIGNED = "Assignment to constant variable.";

function refuseWrite(): never {
  throw new TypeError(CONSTANT_ASSIGNED);
}

/** Cells by the token of a run of their scope. */
const beside = new WeakMap<object, Map<Variable, Cell>>();

/** The only cell of a variable in the run of its scope that a token identifies. */
function cellBeside(token: object, variable: Variable, cell: Cell): LiveCell {
  let cells = beside.get(token);
  if (!cells) beside.set(token, cells = new Map());
  const known = cells.get(variable);
  if (known) return known;
  cells.set(variable, cell);
  return cell;
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

/**
 * Returns whether a write through one cell is visible through the other. Uninitialised variables cannot be compared.
 */
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

/** Returns the kind of a private member. */
export function privateMember(unit: Unit, variable: Variable): PrivateAccess["member"] {
  const { node } = unit;
  if (node.type !== "ClassDeclaration" && node.type !== "ClassExpression") return "field";
  for (const member of node.body.body) {
    if (member.type === "StaticBlock" || member.key.start !== variable.declaredAt) continue;
    if (member.type === "PropertyDefinition") return "field";
    return member.kind === "get" || member.kind === "set" ? "accessor" : "method";
  }
  return "field";
}
