/**
 * Calls of an op, for its page: the shapes and types of results, and the errors of wrong calls. Samples are inferred from
 * metadata; ops without samples, and ops whose results depend on elements, run on the tensors of their example.
 */
import { type DType, DTYPES, isFloat } from "../lib/base/dtype.ts";
import { DynError } from "../lib/base/errors.ts";
import { isPlainObject } from "../lib/base/tree.ts";
import { contiguousMeta, type TensorMeta } from "../lib/graph/meta.ts";
import { parseCall } from "../lib/ops/call.ts";
import { formOf } from "../lib/ops/complex/form.ts";
import type { OpDefinition, Sample, SampleArgument } from "../lib/ops/definition.ts";
import { callOp } from "../lib/tensor/eager.ts";
import { entryOf, inferResults, mapTensors } from "../lib/tensor/plan.ts";
import { isTensor, Tensor } from "../lib/tensor/tensor.ts";
import * as dyn from "../mod.ts";

/** Facts about the calls of an op, for its page. */
export interface CallFacts {
  /** Calls with the types and shapes of their arguments and results. */
  readonly shapes: readonly string[];
  /** The types that its tensors may have, by the type of the result if it differs; null if it takes no tensor. */
  readonly types: string | null;
  readonly errors: readonly string[];
}

/** A valid call. */
interface Call {
  /** Its arguments; tensors whose type is open have the requested one. */
  readonly args: (dtype?: DType) => readonly unknown[];
  /** Whether its tensors have metadata only. */
  readonly isElementless: boolean;
}

type Described = Extract<SampleArgument, { readonly tensor: readonly number[] }>;

const isDescribed = (value: unknown): value is Described => isPlainObject(value) && "tensor" in value;

/** Returns the tensors in an argument. */
function tensorsIn<T>(value: unknown, is: (value: unknown) => value is T): readonly T[] {
  if (is(value)) return [value];
  const parts = Array.isArray(value) ? value : isPlainObject(value) ? Object.values(value) : [];
  return parts.flatMap((each) => tensorsIn(each, is));
}

function mapTensorsIn<T>(
  value: unknown,
  is: (value: unknown) => value is T,
  map: (tensor: T) => unknown,
): unknown {
  if (is(value)) return map(value);
  if (Array.isArray(value)) return value.map((each) => mapTensorsIn(each, is, map));
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, mapTensorsIn(each, is, map)]));
}

/** The call of a sample. Open is the type of tensors that specify none or, if all do, that of the first. */
function sampleCall({ args, options }: Sample): Call {
  const given = options ? [...args, options] : args, described = tensorsIn(given, isDescribed);
  const open = described.every(({ dtype }) => dtype !== undefined) ? described[0]?.dtype : undefined;
  return {
    isElementless: true,
    args: (asked) =>
      given.map((each) =>
        mapTensorsIn(each, isDescribed, ({ tensor, dtype }) => {
          const type = dtype === open ? asked ?? dtype : dtype;
          return Tensor.elementless(contiguousMeta(tensor, type ?? "float32", "cpu"));
        })
      ),
  };
}

/** The outermost call of an example; none if that is a method. Open is the type of its first tensor. */
function exampleCalls(text: string): Call[] {
  if (text.startsWith("tensor(")) return [];
  let given: readonly unknown[] = [];
  const watched = (space: object): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(space).map(([name, value]) => {
        if (typeof value !== "function") return [name, isPlainObject(value) ? watched(value) : value];
        return [name, (...args: unknown[]) => {
          given = args;
          return Reflect.apply(value, undefined, args);
        }];
      }),
    );
  const spaces = { ...dyn, nn: { functional: dyn.nn.functional } }, own = watched(spaces);
  new Function(...Object.keys(own), `return ${text}`)(...Object.values(own));
  const open = tensorsIn(given, isTensor)[0]?.dtype;
  const args = (asked?: DType) =>
    given.map((each) => mapTensorsIn(each, isTensor, (t) => t.dtype === open && asked ? t.to(asked) : t));
  return [{ isElementless: false, args }];
}

/** The metadata of the results, or the message of the error. */
function outcomeOf(
  definition: OpDefinition,
  given: readonly unknown[],
  isElementless: boolean,
): readonly TensorMeta[] | string {
  try {
    if (!isElementless) return tensorsIn(callOp(definition, given), isTensor).map(({ meta }) => meta);
    const args = parseCall(definition, given, isTensor), form = formOf(definition, args);
    return inferResults(form, mapTensors(entryOf(form), args, ({ meta }) => meta));
  } catch (error) {
    if (error instanceof DynError) return error.message;
    throw error;
  }
}

const argumentText = (value: unknown): string => {
  if (isTensor(value)) return `${value.dtype} [${value.shape.join(", ")}]`;
  if (Array.isArray(value)) return `[${value.map(argumentText).join(", ")}]`;
  if (!isPlainObject(value)) return JSON.stringify(value) ?? "undefined";
  return `{ ${Object.entries(value).map(([name, each]) => `${name}: ${argumentText(each)}`).join(", ")} }`;
};

const names = (types: readonly DType[]): string => {
  if (types.length === DTYPES.length) return "all";
  const floats = DTYPES.filter(isFloat);
  const list = floats.every((each) => types.includes(each))
    ? ["floats", ...types.filter((each) => !isFloat(each))]
    : types;
  return list.join(", ");
};

/** Wrong calls, derived from a valid one: dimensions and shapes that do not fit, and last a wrong kind. */
function wrongCalls(
  { params }: OpDefinition,
  { args, isElementless }: Call,
): readonly (readonly unknown[])[] {
  const given = args(), all = Object.keys(params);
  const odd = ({ dtype }: Tensor) =>
    isElementless ? Tensor.elementless(contiguousMeta([5, 7], dtype, "cpu")) : dyn.zeros(5, 7, { dtype });
  const first = Math.max(0, given.findIndex((each) => tensorsIn(each, isTensor).length > 0));
  return [
    ...all.filter((name) => /^dim\d?$/.test(name)).map((name) =>
      all.indexOf(name) < given.length ? given.with(all.indexOf(name), 9) : [...given, { [name]: 9 }]
    ),
    ...given.flatMap((each, at) => at > first && isTensor(each) ? [given.with(at, odd(each))] : []),
    ...given.length > 0 ? [given.with(first, "1")] : [],
  ];
}

const withoutNumbers = (text: string) => text.replaceAll(/-?[0-9]+/g, "");

/** Derives the facts from samples, or from an example. */
export function callFacts(definition: OpDefinition, example: string | undefined): CallFacts {
  const known = ({ args, isElementless }: Call) => {
    const outcome = outcomeOf(definition, args(), isElementless);
    return typeof outcome === "string" || outcome.length === 0 ? [] : [{ args, isElementless, outcome }];
  };
  const sampled = definition.samples.map(sampleCall).flatMap(known);
  const calls = sampled.length > 0 || example === undefined ? sampled : exampleCalls(example).flatMap(known);
  const shapes = calls.map(({ args, outcome }) => {
    const results = outcome.map(({ dtype, shape }) => `${dtype} [${shape.join(", ")}]`).join(", ");
    return `(${args().map(argumentText).join(", ")}) → ${results}`;
  });
  const errors = new Set((definition.errors ?? []).map((sample) => {
    const { args, isElementless } = sampleCall(sample),
      outcome = outcomeOf(definition, args(), isElementless);
    return typeof outcome === "string" ? outcome : `… ${sample.message} …`;
  }));
  const [plain] = calls, typed = calls.find(({ args }) => tensorsIn(args(), isTensor).length > 0);
  const results = new Map<string, DType[]>(), rejected: string[] = [];
  for (const dtype of typed ? DTYPES : []) {
    const outcome = typed ? outcomeOf(definition, typed.args(dtype), typed.isElementless) : [];
    if (typeof outcome === "string") rejected.push(outcome);
    const result = typeof outcome === "string" ? undefined : outcome[0]?.dtype;
    if (result === undefined) continue;
    const key = result === dtype ? "" : result;
    results.set(key, [...results.get(key) ?? [], dtype]);
  }
  if (errors.size === 0 && rejected[0] !== undefined) errors.add(rejected[0]);
  const call = typed ?? plain;
  for (const wrong of call ? wrongCalls(definition, call) : []) {
    const isTold = errors.size >= (wrong.includes("1") ? 1 : 2);
    const outcome = isTold || !call ? null : outcomeOf(definition, wrong, call.isElementless);
    const isSame = (other: string) => withoutNumbers(other) === withoutNumbers(String(outcome));
    if (typeof outcome === "string" && ![...errors].some(isSame)) errors.add(outcome);
  }
  return {
    shapes: [...new Set(shapes)].slice(0, 2),
    types: results.size === 0
      ? null
      : [...results].map(([result, types]) => result === "" ? names(types) : `${names(types)} → ${result}`)
        .join("; "),
    errors: [...errors],
  };
}
