/**
 * The members of a class inside a function, with the code and captures of each, so that the class can be created
 * without evaluating its text.
 *
 * Invariant: a computed key is a well-known symbol or the number of a key that is evaluated before the class.
 */
import type { ClassTemplate, CodeObject } from "./code.ts";
import { wellKnownSymbol } from "./class_keys.ts";
import { codeOfUnit, codeUnit, declarationOf, placeOf } from "./compile.ts";
import { freeVariables } from "./free.ts";
import type { Variable } from "./scope.ts";
import { isAnonymousFunction, isClassNode, staticKeyName } from "./syntax.ts";

/** A variable that code inside a class captures. */
export type ClassCapture =
  /** A variable that the class itself captures, by index in the template's `free`. */
  | { readonly kind: "outer"; readonly index: number }
  /** The class, by its own name. */
  | { readonly kind: "class" }
  | { readonly kind: "private"; readonly name: string; readonly declaration: string };

/** Code of a class with its captures. */
export interface MemberCode {
  readonly code: CodeObject;
  readonly captures: readonly ClassCapture[];
}

/**
 * A member of a class; `key`: a number refers to the template's keys, `declaration`: of a private name, as returned by
 * `placeOf`.
 */
export type ClassMember =
  | (
    & {
      readonly isStatic: boolean;
      readonly key: string | symbol | number;
      readonly declaration: string | null;
    }
    & (
      | ({ readonly kind: "method" | "get" | "set" } & MemberCode)
      | { readonly kind: "field"; readonly value: MemberCode | null }
    )
  )
  | ({ readonly kind: "block" } & MemberCode);

export interface ClassMembers {
  readonly derived: boolean;
  readonly constructorCode: MemberCode | null;
  /** In source order. */
  readonly members: readonly ClassMember[];
  /** Whether a key is a well-known symbol, by its name on the global `Symbol`. */
  readonly namesSymbols: boolean;
}

/** The members of a class; a text gives the reason why they are not available. */
export function classMembers(code: CodeObject, template: ClassTemplate): ClassMembers | string {
  const { unit, module } = codeUnit(code, template.span);
  const { node } = unit;
  if (!isClassNode(node)) return "no class";
  const outer = freeVariables(unit, module);
  const capture = (variable: Variable): ClassCapture => {
    const index = outer.indexOf(variable);
    if (index >= 0) return { kind: "outer", index };
    const { name, kind, declaredAt } = variable;
    return kind === "private" ? { kind, name, declaration: placeOf(module, declaredAt) } : { kind: "class" };
  };
  const memberCode = (of: Parameters<typeof module.analysis.units.get>[0]): MemberCode => {
    const inner = module.analysis.units.get(of);
    if (!inner) throw new Error("Expected a member of this module");
    return { code: codeOfUnit(inner, module), captures: freeVariables(inner, module).map(capture) };
  };
  const members: ClassMember[] = [];
  let evaluated = 0;
  let constructorCode: MemberCode | null = null;
  for (const member of node.body.body) {
    if (member.type === "StaticBlock") {
      members.push({ kind: "block", ...memberCode(member) });
      continue;
    }
    const { static: isStatic } = member;
    const key = !member.computed
      ? staticKeyName(member.key)
      : template.keys.length > 0
      ? evaluated++
      : wellKnownSymbol(member.key, module);
    const isNamed = member.type === "PropertyDefinition" && member.computed && member.value &&
      isAnonymousFunction(member.value);
    if (key === null || isNamed) return "a computed key";
    const declaration = member.key.type === "PrivateIdentifier"
      ? declarationOf(member.key, node, module)
      : null;
    const about = { isStatic, key, declaration };
    if (member.type === "PropertyDefinition") {
      members.push({ ...about, kind: "field", value: member.value ? memberCode(member) : null });
    } else if (member.kind === "constructor") constructorCode = memberCode(member.value);
    else members.push({ ...about, kind: member.kind, ...memberCode(member.value) });
  }
  const derived = node.superClass !== null && node.superClass !== undefined;
  const namesSymbols = members.some((member) => member.kind !== "block" && typeof member.key === "symbol");
  return { derived, constructorCode, members, namesSymbols };
}
