/**
 * A function value located in the text that V8 has of it, and the variables to which names refer there.
 *
 * Invariant: nothing is evaluated.
 */
import type { ParsedModule } from "../bytecode/parse.ts";
import type { Variable } from "../bytecode/scope.ts";
import type { FunctionNode } from "../bytecode/syntax.ts";
import { moduleCell } from "./cells.ts";

/** A function value with the node of its text. */
export interface Located {
  readonly fn: object;
  readonly module: ParsedModule;
  readonly node: FunctionNode;
}

/** Kinds of variables that can be accessed by name alone. */
const NAMED: ReadonlySet<Variable["kind"]> = new Set<Variable["kind"]>([
  "let",
  "const",
  "var",
  "function",
  "class",
  "parameter",
  "import",
  "private",
]);

/** Returns whether a name refers to that variable throughout the function. */
export function meansInside(at: Located, variable: Variable): boolean {
  if (variable.kind === "this") return at.node.type === "ArrowFunctionExpression";
  return NAMED.has(variable.kind) && !namesInside(at).has(variable.name);
}

/**
 * Returns whether evaluating anything in a call of the function would spoil its `this`: where a derived constructor
 * shares it with arrow functions, V8 takes it for initialised afterwards, and refuses the call of `super`.
 */
export function losesThis({ module, node }: Located): boolean {
  const unit = module.analysis.units.get(node);
  if (unit?.functionKind !== "derivedConstructor") return false;
  return unit.dynamicScope || unit.pseudo.values().some(({ capturers }) => capturers.size > 0);
}

const declaredInside = new WeakMap<FunctionNode, ReadonlySet<string>>();

/**
 * Names that the function or anything in it declares. Computed in one pass over the module's scopes, of which bundles
 * have many.
 */
function namesInside({ module, node }: Located): ReadonlySet<string> {
  const known = declaredInside.get(node);
  if (known) return known;
  const names = new Set<string>();
  for (const [{ start, end }, { variables }] of module.analysis.scopes) {
    if (start < node.start || end > node.end) continue;
    for (const name of variables.keys()) names.add(name);
  }
  declaredInside.set(node, names);
  return names;
}

/**
 * Variables of the module itself that change, have no cell yet, and are visible in the whole function. V8 stores a
 * variable that no function captures where only the module's own code can access it.
 */
export function moduleVariablesAt(at: Located): readonly Variable[] {
  const { analysis, program } = at.module;
  const top = analysis.scopes.get(program);
  if (!top || program.sourceType !== "module") return [];
  return [...top.variables.values()].filter((v) =>
    v.reassigned && v.capturers.size > 0 && moduleCell(v) === null && meansInside(at, v)
  );
}
