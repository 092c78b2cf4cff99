/**
 * Checks that a trace respects the user's marks on sizes: a dimension marked dynamic that became constant is an
 * error. Invariant: the trace is not changed.
 */
import { DynError } from "../../base/errors.ts";
import { codeOf } from "../functions/functions.ts";
import { argumentLabel, sourceText as placeText } from "../source.ts";
import type { OutputGraph } from "../trace/output_graph.ts";
import type { TensorValue } from "../variables/value.ts";
import type { Wrapper } from "../variables/wrap.ts";

/** The names of a function's parameters; none if its text is not available. */
export function parametersOf(fn: object): readonly string[] {
  return codeOf(fn)?.parameters.map((_, i, all) => argumentLabel(all, i)) ?? [];
}

/** Throws DynError if the program makes a constant of a dimension that the user has marked as dynamic. */
export function checkMarks(wrapper: Wrapper, output: OutputGraph): void {
  const { sizes } = output, { tensors } = wrapper;
  for (const symbol of sizes.symbols) {
    const constant = sizes.constantOf(symbol), { base, part } = sizes.sourceOf(symbol);
    if (constant === undefined || part.kind !== "shape") continue;
    const { real, source } = tensors.find((tensor) => tensor.source?.name === base) ?? {};
    const mark = real && source ? wrapper.markAt(real, source, part.dim) : undefined;
    if (!source || mark?.kind !== "dynamic" || !mark.strict) continue;
    const place = output.placeOfSizes([symbol]), others = placesOfSize(tensors, constant, base);
    throw new DynError(
      `Expected dimension ${part.dim} of ${
        placeText(source)
      } to be dynamic, as markDynamic or shapesSpec says, but found ` +
        `that the program needs it to be ${constant}${
          place ? `:\n  ${place.code} (${place.file}:${place.line})\n` : others === "" ? "; " : ";\n"
        }${others}maybeMarkDynamic allows that`,
    );
  }
}

/** Maximum number of places that a message names. */
const MOST_PLACES = 4;

/**
 * Names the constant dimensions of other inputs that have a size, of which one may be the reason for a constant: a line
 * for a message, or "" if there are none.
 */
function placesOfSize(tensors: readonly TensorValue[], size: number, except: string): string {
  const found = tensors.flatMap(({ meta, source }) =>
    source && source.name !== except
      ? meta.shape.flatMap((each, dim) => each === size ? [`dimension ${dim} of ${placeText(source)}`] : [])
      : []
  );
  if (found.length === 0) return "";
  const shown = found.slice(0, MOST_PLACES).join(", "), more = found.length > MOST_PLACES ? ", …" : "";
  return `Constant and of this size: ${shown}${more}; mark it, too, if it changes together\n`;
}
