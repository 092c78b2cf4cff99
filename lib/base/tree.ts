/**
 * Flattens nested arrays, plain objects and Maps into a list of leaves and rebuilds such values.
 *
 * A predicate may declare further leaves; their order is fixed. Invariant: `unflatten(spec, leaves)` rebuilds an equal
 * value with the same key order; everything that is not an array, a plain object or a Map is a leaf.
 */
import { DynError, InternalError } from "./errors.ts";

/** The structure of a value without its leaves. */
export type TreeSpec =
  | { readonly kind: "leaf" }
  | { readonly kind: "array"; readonly items: readonly TreeSpec[] }
  | { readonly kind: "object"; readonly keys: readonly string[]; readonly items: readonly TreeSpec[] }
  | { readonly kind: "map"; readonly keys: readonly unknown[]; readonly items: readonly TreeSpec[] };

/** Leaves and the structure that held them. */
interface Flattened {
  readonly leaves: readonly unknown[];
  readonly spec: TreeSpec;
}

const LEAF: TreeSpec = { kind: "leaf" };

/** Flattens a value; `isLeaf` may stop at containers that should stay whole. */
export function flatten(value: unknown, isLeaf: (value: unknown) => boolean = () => false): Flattened {
  const leaves: unknown[] = [];
  const visit = (each: unknown): TreeSpec => {
    if (!isLeaf(each)) {
      if (Array.isArray(each)) return { kind: "array", items: each.map(visit) };
      if (each instanceof Map) {
        return { kind: "map", keys: [...each.keys()], items: [...each.values()].map(visit) };
      }
      if (isPlainObject(each)) {
        return { kind: "object", keys: Object.keys(each), items: Object.values(each).map(visit) };
      }
    }
    leaves.push(each);
    return LEAF;
  };
  const spec = visit(value);
  return { leaves, spec };
}

/**
 * The leaves of a value in the order of a structure, whose keys the value may have in another order. Throws DynError if
 * it has another structure; `what`: as "the carry of a scan".
 */
export function flattenLike(
  spec: TreeSpec,
  value: unknown,
  { what, isLeaf }: { readonly what: string; readonly isLeaf: (value: unknown) => boolean },
): readonly unknown[] {
  const leaves: unknown[] = [];
  const visit = (each: TreeSpec, part: unknown): boolean => {
    switch (each.kind) {
      case "leaf":
        leaves.push(part);
        return !(Array.isArray(part) || part instanceof Map || isPlainObject(part));
      case "array":
        return Array.isArray(part) && part.length === each.items.length &&
          each.items.every((item, i) => visit(item, part[i]));
      case "object":
        return isPlainObject(part) && Object.keys(part).length === each.keys.length &&
          each.items.every((item, i) => {
            const key = String(each.keys[i]);
            return Object.hasOwn(part, key) && visit(item, part[key]);
          });
      case "map":
        return part instanceof Map && part.size === each.keys.length &&
          each.items.every((item, i) => part.has(each.keys[i]) && visit(item, part.get(each.keys[i])));
      default:
        return each satisfies never;
    }
  };
  if (visit(spec, value)) return leaves;
  const found = flatten(value, isLeaf).spec;
  throw new DynError(`Expected ${what} of the form ${specText(spec)} but found ${specText(found)}`);
}

/** Puts leaves into a structure. Throws `InternalError` if their number does not match. */
export function unflatten(spec: TreeSpec, leaves: readonly unknown[]): unknown {
  const count = leafCount(spec);
  if (count !== leaves.length) throw new InternalError(`Expected ${count} leaves but found ${leaves.length}`);
  const rest = leaves.values();
  const build = (each: TreeSpec): unknown => {
    switch (each.kind) {
      case "leaf":
        return rest.next().value;
      case "array":
        return each.items.map(build);
      case "object": {
        // Defined rather than assigned: a key may be `__proto__`.
        const object = {};
        each.items.forEach((item, i) =>
          Object.defineProperty(object, String(each.keys[i]), {
            value: build(item),
            writable: true,
            enumerable: true,
            configurable: true,
          })
        );
        return object;
      }
      case "map":
        return new Map(each.items.map((item, i) => [each.keys[i], build(item)]));
      default:
        return each satisfies never;
    }
  };
  return build(spec);
}

/** Applies `change` to every leaf and preserves the structure. */
export function mapTree(
  value: unknown,
  change: (leaf: unknown) => unknown,
  isLeaf?: (value: unknown) => boolean,
): unknown {
  const { leaves, spec } = flatten(value, isLeaf);
  return unflatten(spec, leaves.map(change));
}

/** Returns the number of leaves of a structure. */
export function leafCount(spec: TreeSpec): number {
  if (spec.kind === "leaf") return 1;
  return spec.items.reduce((sum, item) => sum + leafCount(item), 0);
}

/** A structure as text, for messages and comparison: `[*, { a: * }]`. */
export function specText(spec: TreeSpec): string {
  switch (spec.kind) {
    case "leaf":
      return "*";
    case "array":
      return `[${spec.items.map(specText).join(", ")}]`;
    case "object":
      return `{ ${
        spec.items.map((item, i) => `${JSON.stringify(spec.keys[i])}: ${specText(item)}`).join(", ")
      } }`;
    case "map":
      return `Map(${
        spec.items.map((item, i) => `${Deno.inspect(spec.keys[i])} => ${specText(item)}`).join(", ")
      })`;
    default:
      return spec satisfies never;
  }
}

// As they were when this module was loaded
const { getPrototypeOf, prototype: objectPrototype } = Object;

/** Returns whether a value is a plain object: its prototype is `Object.prototype` or null. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = getPrototypeOf(value);
  return prototype === objectPrototype || prototype === null;
}

/** Returns whether a value is an object or a function. */
export function isReference(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}
