/**
 * Sizes of a function's parameters as specified by the user, dimension by dimension. Invariant: an unknown form, or a
 * name that is not a parameter's, is an error.
 */
import { refuseChoice, refuseValue } from "../../base/checked_input.ts";
import type { DimensionMark } from "./dimension_marks.ts";
import { argumentSource } from "../source.ts";

/** A dimension: a symbol in a range; a constant; an unbacked size; null: determined automatically. */
export type DimensionSpec =
  | "dynamic"
  | "static"
  | "unbacked"
  | { readonly min?: number | undefined; readonly max?: number | undefined }
  | null;

/** The dimensions of each parameter, by its name; trailing ones may be omitted. */
export type ShapesSpec = Readonly<Record<string, readonly DimensionSpec[]>>;

/** Marks by the place of a tensor. */
export type ShapeMarks = ReadonlyMap<string, readonly (DimensionMark | undefined)[]>;

/** The function whose parameters a specification names. */
interface SpecifiedFunction {
  /** The names, as the user writes them. */
  readonly parameters: readonly string[];
  /** Returns the name of the parameter at a position in guards. */
  labelOf(index: number): string;
}

/** Throws DynError unless a value is a specification; independent of the function. */
export function checkSpec(spec: ShapesSpec): void {
  for (const [parameter, dimensions] of Object.entries(spec)) marksFor(dimensions, parameter);
}

/** Parses a specification. Throws DynError if it names a parameter that the function does not have. */
export function shapeMarks(spec: ShapesSpec, { parameters, labelOf }: SpecifiedFunction): ShapeMarks {
  return new Map(
    Object.entries(spec).map(([parameter, dimensions]) => {
      const index = parameters.indexOf(parameter);
      if (index < 0) refuseChoice("a parameter with dimensions", parameters, parameter);
      return [argumentSource(labelOf(index), index).name, marksFor(dimensions, parameter)];
    }),
  );
}

function marksFor(dimensions: unknown, parameter: string): readonly (DimensionMark | undefined)[] {
  if (Array.isArray(dimensions)) return dimensions.map((each: unknown) => markFor(each, parameter));
  refuseValue(`a list like ["dynamic", "static"] for the dimensions of ${parameter}`, dimensions);
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
  refuseValue(
    `"dynamic", "static", "unbacked", a range { min, max } or null for a dimension of ${parameter}`,
    spec,
  );
}
