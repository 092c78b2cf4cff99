/**
 * Sizes of a function's parameters as its user states them, dimension by dimension. Input: what `compile` was given;
 * output: marks by place. Invariant: what is not understood, or names no parameter, is an error.
 */
import { DynError } from "../base/errors.ts";
import type { DimensionMark } from "./automatic_dynamic.ts";
import { argumentSource } from "./source.ts";

/** A dimension: a symbol, in a range; a constant; of a size that nothing is known of; null: as it turns out. */
export type DimensionSpec =
  | "dynamic"
  | "static"
  | "unbacked"
  | { readonly min?: number | undefined; readonly max?: number | undefined }
  | null;

/** The dimensions of each parameter, by its name; the last ones may be left out. */
export type ShapesSpec = Readonly<Record<string, readonly DimensionSpec[]>>;

/** Marks by the place of a tensor. */
export type ShapeMarks = ReadonlyMap<string, readonly (DimensionMark | undefined)[]>;

/** Reads a specification. Throws DynError for one that is none. */
export function shapeMarks(spec: ShapesSpec): ShapeMarks {
  return new Map(
    Object.entries(spec).map(([parameter, dimensions]) => {
      if (!Array.isArray(dimensions)) {
        throw new DynError(
          `Expected a list of dimensions for ${parameter} but found ${Deno.inspect(dimensions)}`,
        );
      }
      const { name } = argumentSource(parameter, 0);
      return [name, dimensions.map((each: unknown) => markFor(each, parameter))];
    }),
  );
}

function markFor(spec: unknown, parameter: string): DimensionMark | undefined {
  if (spec === null) return undefined;
  if (spec === "static" || spec === "unbacked") return { kind: spec };
  if (spec === "dynamic") return { kind: "dynamic", min: 2, max: Infinity, strict: true };
  if (typeof spec === "object" && Object.keys(spec).every((key) => key === "min" || key === "max")) {
    const { min = 2, max = Infinity }: { min?: unknown; max?: unknown } = spec;
    if (typeof min === "number" && typeof max === "number" && min <= max) {
      return { kind: "dynamic", min, max, strict: true };
    }
  }
  throw new DynError(
    `Expected "dynamic", "static", "unbacked", a range { min, max } or null for a dimension of ${parameter} but ` +
      `found ${Deno.inspect(spec)}`,
  );
}

/** Throws DynError for a specification of a parameter that the function does not have. */
export function checkParameters(marks: ShapeMarks, parameters: readonly string[]): void {
  const known = parameters.map((parameter, at) => argumentSource(parameter, at).name);
  for (const name of marks.keys()) {
    if (known.includes(name)) continue;
    throw new DynError(
      `Expected shapesSpec to name parameters out of ${known.join(", ") || "none"} but found ${name}`,
    );
  }
}
