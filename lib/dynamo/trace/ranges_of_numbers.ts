/**
 * Ranges whose bounds or steps are fractions that change between calls: `arange(0, n / 2)`, `arange(0, 1, 1 / n)`.
 * Invariant: their length is computed by the language, as the op computes it, and checked by each call to be a size;
 * their elements have the bits of a range of known numbers.
 */
import { getDefaultDtype, isDType, isFloat } from "../../base/dtype.ts";
import type { CallTarget } from "../../ops/table.ts";
import {
  binaryNumbers,
  expressionOf,
  hintOfNumber,
  mathNumbers,
  numberOfDim,
  type Numeric,
  relyOnWholeness,
  sizeOf,
} from "../variables/numbers.ts";
import { constant, type Value } from "../variables/value.ts";
import type { CallOp, Interpreter } from "./interpreter.ts";
import { optionsIn } from "./object_keys.ts";

/** Start, end and step. */
type Bounds = readonly [Numeric, Numeric, Numeric];

/**
 * The range of a call with fractions that change; null for other calls, and for bounds that follow from elements, or
 * from which no length follows in this call.
 */
export function rangeOfNumbers(
  m: Interpreter,
  { definition }: CallTarget,
  args: readonly Value[],
  call: CallOp,
): Value | null {
  if (definition.name !== "arange") return null;
  const last = args.at(-1), options = last?.kind === "object" ? last : null;
  const bounds = boundsOf(options ? args.slice(0, -1) : args);
  if (!bounds || bounds.every((each) => each.kind === "constant" || each.integer !== null)) return null;
  const dtype = options ? m.plainProperty(options, "dtype") : null;
  const asked = dtype?.kind === "constant" ? dtype.value ?? null : dtype;
  if (asked !== null && !(isDType(asked) && isFloat(asked))) return null;
  if (asked === null) {
    relyOnWholeness(m.output, bounds.map((each) => ({ ...factsOf(each), expression: expressionOf(each) })));
    if (bounds.every((each) => Number.isInteger(hintOfNumber(each)))) return null;
  }
  const length = lengthOf(m, bounds);
  if (!length) return null;
  const kept = options ? optionsIn(m, options) : {};
  const places = call(m.opNamed("arange"), [length, m.options({ ...kept, dtype: constant("float64") })]);
  const [start, , step] = bounds, steps = call(m.opNamed("mul"), [places, step]);
  return call(m.opNamed("to"), [
    call(m.opNamed("add"), [steps, start]),
    constant(asked ?? getDefaultDtype()),
  ]);
}

const factsOf = (each: Numeric) => ({
  hint: hintOfNumber(each),
  integer: each.kind === "number" ? each.integer : null,
});

/** The bounds and the step of arange(end), arange(start, end) and arange(start, end, step); null for other arguments. */
function boundsOf(args: readonly Value[]): Bounds | null {
  const numbers = args.flatMap((each): Numeric[] =>
    each.kind === "number" || (each.kind === "constant" && typeof each.value === "number") ? [each] : []
  );
  const [first, second, step = constant(1)] = numbers;
  if (!first || numbers.length < args.length || numbers.length > 3) return null;
  return second ? [first, second, step] : [constant(0), first, step];
}

/** The number of elements, ⌈(end − start) / step⌉, if each call can check it to be a size. */
function lengthOf({ output }: Interpreter, [start, end, step]: Bounds): Value | null {
  const numeric = (value: Value | null): Numeric | null =>
    value?.kind === "number" || value?.kind === "constant" ? value : null;
  const span = numeric(binaryNumbers(output, "-", [end, start]));
  const count = span && numeric(binaryNumbers(output, "/", [span, step]));
  const length = count?.kind === "number" ? mathNumbers(output, "ceil", [count]) : null;
  if (length?.kind !== "number" || length.hint < 2) return null;
  const size = sizeOf(output, length);
  return size === null ? null : numberOfDim(output, size);
}
