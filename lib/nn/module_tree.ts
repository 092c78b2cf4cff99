/** Descendants of modules, and names of their members. Invariant: a name is one part of a dotted path. */
import { checkKind } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import type { Names } from "./name_options.ts";

/** An object with children of its kind. */
interface Tree<M> {
  memberModules(): [string, M][];
}

/** A module and its descendants that are not in `seen`, to which they are added; null: every occurrence. */
export function modulesBelow<M extends Tree<M>>(module: M, path: string, seen: Set<M> | null): [string, M][] {
  if (seen?.has(module)) return [];
  seen?.add(module);
  const found: [string, M][] = [[path, module]];
  for (const [name, child] of module.memberModules()) {
    for (const entry of modulesBelow(child, path ? `${path}.${name}` : name, seen)) found.push(entry);
  }
  return found;
}

/** The modules whose members are listed, with their paths. */
export function holders<M extends Tree<M>>(module: M, options: Names): readonly (readonly [string, M])[] {
  const { prefix, recurse, removeDuplicate } = options;
  return recurse ? modulesBelow(module, prefix, removeDuplicate ? new Set() : null) : [[prefix, module]];
}

/** The module that holds the last name of a dotted path, and that name. */
export function ownerAt<M>(
  module: { getSubmodule(path: string): M },
  path: string,
): { readonly owner: M; readonly name: string } {
  checkKind(path, "a string", "a path in a module");
  const names = path.split("."), name = names.pop() ?? "";
  return { owner: module.getSubmodule(names.join(".")), name };
}

/** The member at a dotted path; `members` lists those of its module by name. Throws DynError if there is none. */
export function memberAt<M, T>(
  module: { getSubmodule(path: string): M },
  path: string,
  [what, members]: readonly [what: string, members: (owner: M) => readonly (readonly [string, T])[]],
): T {
  const { owner, name } = ownerAt(module, path), found = members(owner).find(([key]) => key === name);
  if (!found) throw new DynError(`Expected ${what} at ${path} but found none`);
  return found[1];
}

/** A kind of member of a module, and a test of which existing values it may replace. */
interface Member {
  readonly what: string;
  readonly fits: (held: unknown) => boolean;
}

/** Throws DynError for a name that cannot be part of a path, or that names something else. */
export function checkMemberName(module: object, name: string, { what, fits }: Member): void {
  checkKind(name, "a string", `the name of ${what}`);
  if (name === "" || name.includes(".")) {
    throw new DynError(`Expected a name without dots for ${what} but found "${name}"`);
  }
  const held: unknown = Reflect.get(module, name);
  if (held === undefined || held === null || fits(held)) return;
  const kind = typeof held === "object" ? held.constructor.name : typeof held;
  throw new DynError(`Expected a free name for ${what} but found ${name}, a ${kind} of the module`);
}

/**
 * A property that stands for another one, so that what is assigned to the name of a member in state dicts, which
 * `namedChildren` and `namedBuffers` give, is what runs.
 */
export function aliasOf(field: string | number): PropertyDescriptor & ThisType<object> {
  return {
    configurable: true,
    get() {
      return Reflect.get(this, field);
    },
    set(value: unknown) {
      Reflect.set(this, field, value);
    },
  };
}

/** Lets programs assign to fields of a class by their names in state dicts. */
export function aliasFields(prototype: object, keys: Readonly<Record<string, string>>): void {
  for (const [field, key] of Object.entries(keys)) Object.defineProperty(prototype, key, aliasOf(field));
}

/** Throws DynError if the name of a member in state dicts, which differs from that of its field, is another member. */
export function checkKeys(module: object, keys: readonly (readonly [field: string, key: string])[]): void {
  for (const [field, key] of keys) {
    if (field === key || !Object.hasOwn(module, field)) continue;
    if (!Object.prototype.propertyIsEnumerable.call(module, key)) continue;
    throw new DynError(
      `Expected one member named ${key} but found two: assign to ${field}, whose name that is`,
    );
  }
}

/** The printed form of a module: its settings, and the texts of its children by `below`. */
export function treeText(
  module: { readonly constructor: { readonly name: string }; extraRepr(): string },
  below: readonly string[],
): string {
  const { constructor: { name } } = module, extra = module.extraRepr();
  if (below.length === 0) return `${name}(${extra})`;
  const lines = (extra === "" ? below : [extra, ...below]).map((each) =>
    `\n${each}`.replaceAll("\n", "\n  ")
  );
  return `${name}(${lines.join("")}\n)`;
}
