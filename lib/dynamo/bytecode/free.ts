/**
 * The free variables of a unit, in the order in which code objects list them.
 *
 * Invariant: the order is that of first use in the source, so that captures and `free` agree.
 */
import type { FreeVariable } from "./code.ts";
import type { ParsedModule } from "./parse.ts";
import type { Unit, Variable } from "./scope.ts";
import type { AstNode, ClassNode } from "./syntax.ts";

const lists = new WeakMap<Unit, readonly Variable[]>();

/** Variables of enclosing units that a unit or anything in it uses. `this` of a module itself is a constant. */
export function freeVariables(unit: Unit, module: ParsedModule): readonly Variable[] {
  let list = lists.get(unit);
  if (!list) {
    const top = module.analysis.program;
    lists.set(unit, list = [...unit.free].filter((v) => !(v.kind === "this" && v.unit === top)));
  }
  return list;
}

/** The free variable at an index, among all. Throws RangeError. */
export function freeVariableAt(
  unit: Unit,
  module: ParsedModule,
  index: number,
): { readonly all: readonly Variable[]; readonly variable: Variable } {
  const all = freeVariables(unit, module), variable = all[index];
  if (variable) return { all, variable };
  throw new RangeError(`Expected an index of a free variable below ${all.length} but found ${index}`);
}

/** Describes a free variable of `unit`. */
export function describeFree(variable: Variable, unit: Unit): FreeVariable {
  const lexical = variable.kind === "let" || variable.kind === "const" || variable.kind === "class" ||
    variable.kind === "import";
  // For a function called from outside, only the order of the enclosing frames is unknown.
  const outermost = variable.unit.kind === "program" || unit.parent === null;
  return {
    name: variable.name,
    kind: variable.kind,
    reassigned: variable.reassigned,
    mayBeUninitialized: variable.usedEarly || (lexical && outermost),
    declaredAt: variable.declaredAt,
  };
}

/** The variable that a class declares for a member's private name; null for other keys. */
export function privateNameOf(key: AstNode, owner: ClassNode, { analysis }: ParsedModule): Variable | null {
  if (key.type !== "PrivateIdentifier") return null;
  return analysis.scopes.get(owner)?.variables.get(`#${key.name}`) ?? null;
}
