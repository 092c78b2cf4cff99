/**
 * Serialises tensors that belong to a graph: those made from numbers in the program's text. Invariant: elements are
 * restored bit for bit, except for the payload of NaN.
 */
import { isDType } from "../../base/dtype.ts";
import type { Plain } from "../../base/recording.ts";
import { DamagedForm, listIn, NotStorable, numberIn, recordIn, textIn } from "../../sym/stored/forms.ts";
import { fromTypedArray } from "../../tensor/creation.ts";
import { noGrad } from "../../tensor/modes.ts";
import { modes } from "../../tensor/tensor.ts";
import { readPrimitive, writePrimitive } from "./plain_values.ts";
import { isPlainTensor } from "./shapes.ts";

/** Tensors with more elements were not written in the program's text. */
const MOST_ELEMENTS = 4096;

type Attributes = Readonly<Record<string, unknown>>;

/** Writes the tensors of a graph. Throws NotStorable for large ones, and if it calls or holds anything else. */
export function writeHeld(attributes: Attributes): Plain {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, held]): [string, Plain] => {
      if (typeof held !== "object" || held === null || !isPlainTensor(held)) {
        throw new NotStorable(`${name}, which the graph calls or holds`);
      }
      const { dtype, device, shape, layout: { numel, contiguous } } = held;
      if (numel > MOST_ELEMENTS || !contiguous) {
        throw new NotStorable(`${name}, a tensor with too many elements`);
      }
      const elements = modes.without(() => noGrad(() => held.toTypedArray()));
      return [name, [dtype, device, [...shape], [...elements].map(writePrimitive)]];
    }),
  );
}

/** Reads tensors. Throws DamagedForm. */
export function readHeld(form: Plain): Attributes {
  return Object.fromEntries(
    Object.entries(recordIn(form)).map(([name, each]) => {
      const [type, device, shape = null, list = null] = listIn(each), dtype = textIn(type);
      if (!isDType(dtype)) throw new DamagedForm(`Expected a type of elements but found ${dtype}`);
      const sizes = listIn(shape).map(numberIn), elements = listIn(list).map(readPrimitive);
      const array = elements.every((element) => typeof element === "bigint")
        ? BigInt64Array.from(elements)
        : Float64Array.from(elements, Number);
      const options = { dtype, device: textIn(device) };
      return [name, modes.without(() => noGrad(() => fromTypedArray(array, sizes, options)))];
    }),
  );
}
