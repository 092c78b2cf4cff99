/**
 * Shares the accessors of one function of a class with the class's private methods: those can be reached only through a
 * private name, and share its scope.
 *
 * Invariant: an access returns methods of the very class in which it was created, so the accessors that came with it
 * refer to the same variables.
 */
import { freeVariables } from "../bytecode/free.ts";
import type { Variable } from "../bytecode/scope.ts";
import { type FunctionNode, isClassNode } from "../bytecode/syntax.ts";
import { entryText } from "./access_text.ts";
import type { FreeBinding } from "./info.ts";
import { type Located, meansInside } from "./located.ts";

/** The function of a private method. */
export function privateMethodNode({ kind, unit: { node }, declaredAt }: Variable): FunctionNode | null {
  if (kind !== "private" || !isClassNode(node)) return null;
  for (const member of node.body.body) {
    if (member.type === "MethodDefinition" && member.kind === "method" && member.key.start === declaredAt) {
      return member.value;
    }
  }
  return null;
}

/**
 * The private names of the classes to which some private names belong, and the variables that their methods capture.
 */
export function classmates(variables: readonly Variable[], at: Located): readonly Variable[] {
  const { analysis } = at.module;
  const found = new Set<Variable>();
  for (const { kind, unit } of variables) {
    if (kind !== "private") continue;
    for (const each of analysis.scopes.get(unit.node)?.variables.values() ?? []) {
      if (each.kind !== "private") continue;
      found.add(each);
      const node = privateMethodNode(each), method = node && analysis.units.get(node);
      for (const free of method ? freeVariables(method, at.module) : []) {
        if (free.kind === "private" || free.reassigned) found.add(free);
      }
    }
  }
  return [...found].filter((each) => meansInside(at, each) && entryText(each) !== null);
}

/** Bindings of methods that were obtained through an access. */
const bindingsOfMethods = new WeakMap<object, ReadonlyMap<Variable, FreeBinding>>();

/** Returns the bindings that came with the access by which a private method was obtained. */
export function bindingsOfMethod(fn: object): ReadonlyMap<Variable, FreeBinding> | undefined {
  return bindingsOfMethods.get(fn);
}

/** A binding that records, for each private method that it returns, the bindings that came with it. */
export function withKin(binding: FreeBinding, kin: ReadonlyMap<Variable, FreeBinding>): FreeBinding {
  if (binding.kind !== "private" || binding.access.member !== "method") return binding;
  const { access } = binding;
  const get = (object: object): unknown => {
    const method = access.get(object);
    if (typeof method === "function") bindingsOfMethods.set(method, kin);
    return method;
  };
  return { kind: "private", access: { ...access, get } };
}
