/**
 * What one function of a class tells of the class's private methods: they are reached through a private name only, and
 * share its scope, so that what it hands out serves them too.
 *
 * Input: variables that a function hands out. Output: those that its class's private methods need, and the bindings of
 * methods that were got through an access that was handed out. Invariant: an access gives methods of the very class
 * that it was made in, so what came with it means the same variables as in them.
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

/** The private names of the classes that some variables are private names of, and what their methods capture. */
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

/** What methods that came through an access capture. */
const bindingsOfMethods = new WeakMap<object, ReadonlyMap<Variable, FreeBinding>>();

/** What a private method captures, as far as the access by which it was got came with it. */
export function bindingsOfMethod(fn: object): ReadonlyMap<Variable, FreeBinding> | undefined {
  return bindingsOfMethods.get(fn);
}

/** A binding that notes for each private method that it gives what came with it. */
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
