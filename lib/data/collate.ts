/** Collates samples of one kind into batches of tensors with the same structure. */
import { checkKind, refuseSurplus } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { tensor as makeTensor } from "../tensor/creation.ts";
import { stack } from "../tensor/generated_functions.ts";
import { Tensor } from "../tensor/tensor.ts";

/**
 * Joined samples: stacked tensors for tensors, numbers and booleans; arrays and objects member by member; otherwise
 * lists.
 */
export type Collated<S> = unknown extends S ? unknown
  : S extends Promise<infer T> ? Collated<T>
  : S extends Tensor | number | boolean ? Tensor
  : S extends readonly unknown[] ? { -readonly [K in keyof S]: Collated<S[K]> }
  : S extends object ? { [K in keyof S]: Collated<S[K]> }
  : readonly S[];

/** Checks that all samples are of the same kind as the first. Throws DynError otherwise. */
function ofOneKind<T>(samples: readonly unknown[], is: (value: unknown) => value is T): T[] {
  return samples.map((sample) => {
    if (is(sample)) return sample;
    throw new DynError(
      `Expected samples of one kind in a batch but found ${typeof samples[0]} and ${typeof sample}`,
    );
  });
}

const isTensorValue = (value: unknown): value is Tensor => value instanceof Tensor;
const isNumber = (value: unknown): value is number => typeof value === "number";
const isBoolean = (value: unknown): value is boolean => typeof value === "boolean";
const isArray = (value: unknown): value is readonly unknown[] => Array.isArray(value);
const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !isArray(value) && !isTensorValue(value);

/**
 * Stacks tensors, converts numbers (to int64, or float64 if one has a fraction) and booleans to tensors, and recurses
 * into arrays and plain objects, like torch.utils.data.default_collate.
 */
export function defaultCollate(samples: readonly unknown[]): unknown {
  if (arguments.length > 1) refuseSurplus("defaultCollate", 1, arguments);
  checkKind(samples, "a list", "defaultCollate");
  const [first] = samples;
  if (isTensorValue(first)) return stack(ofOneKind(samples, isTensorValue), 0);
  if (isNumber(first)) {
    const numbers = ofOneKind(samples, isNumber);
    return makeTensor(numbers, { dtype: numbers.every(Number.isInteger) ? "int64" : "float64" });
  }
  if (isBoolean(first)) return makeTensor(ofOneKind(samples, isBoolean));
  if (isArray(first)) {
    const lists = ofOneKind(samples, isArray);
    if (lists.some((list) => list.length !== first.length)) {
      throw new DynError(`Expected arrays of ${first.length} elements in a batch but found another length`);
    }
    return first.map((_, i) => defaultCollate(lists.map((list) => list[i])));
  }
  if (isObject(first)) {
    const objects = ofOneKind(samples, isObject);
    return Object.fromEntries(
      Object.keys(first).map((key) => [key, defaultCollate(objects.map((each) => Reflect.get(each, key)))]),
    );
  }
  return samples;
}

/**
 * Converts one sample: numbers, booleans and typed arrays become tensors, like torch.utils.data.default_convert;
 * tensors, texts and other values are unchanged.
 */
export function defaultConvert(sample: unknown): unknown {
  if (arguments.length > 1) refuseSurplus("defaultConvert", 1, arguments);
  if (isNumber(sample) || isBoolean(sample)) return makeTensor(sample);
  if (isArray(sample)) return sample.map(defaultConvert);
  if (!isObject(sample)) return sample;
  return Object.fromEntries(Object.entries(sample).map(([key, value]) => [key, defaultConvert(value)]));
}
