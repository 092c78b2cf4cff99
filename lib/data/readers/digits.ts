/**
 * Readers of the MNIST and CIFAR files, compressed or not: uint8 images and int64 labels. Invariant: the sizes in a
 * file's header match its contents. http://yann.lecun.com/exdb/mnist, https://www.cs.toronto.edu/~kriz/cifar.html
 */
import { checkKind, optionsOf, refuseSurplus } from "../../base/checked_input.ts";
import { join } from "node:path";
import { DynError } from "../../base/errors.ts";
import { fromTypedArray } from "../../tensor/creation.ts";
import { cat } from "../../tensor/generated_functions.ts";
import type { Tensor } from "../../tensor/tensor.ts";
import { TensorDataset } from "../dataset.ts";
import { bytesOf, nameOf, type Source } from "./source.ts";

/** Options of datasets with a training part and a test part. */
export interface PartOptions {
  /** Whether to read the training part; default true. */
  readonly train?: boolean;
}

/** Reads an array of bytes in the format of MNIST's files. Throws DynError for other formats. */
export function readIdx(source: Source): Tensor {
  if (arguments.length > 1) refuseSurplus("readIdx", 1, arguments);
  const bytes = bytesOf(source), view = new DataView(bytes.buffer), name = nameOf(source);
  if (bytes.length < 4 || view.getUint16(0) !== 0 || bytes[2] !== 8) {
    throw new DynError(`Expected bytes in the format of MNIST's files but found ${name}`);
  }
  const ndim = bytes[3] ?? 0, shape = Array.from({ length: ndim }, (_, d) => view.getUint32(4 + 4 * d));
  const start = 4 + 4 * ndim, count = shape.reduce((a, b) => a * b, 1);
  if (bytes.length - start !== count) {
    throw new DynError(`Expected ${count} elements in ${name} but found ${bytes.length - start}`);
  }
  return fromTypedArray(bytes.slice(start), shape);
}

/** Returns the first name that is a file of a folder. Throws DynError if there is none. */
function fileIn(folder: string, names: readonly string[]): string {
  checkKind(folder, "a string", "the folder of a data set");
  for (const name of names) {
    const path = join(folder, name);
    try {
      if (Deno.statSync(path).isFile) return path;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  throw new DynError(`Expected ${names.join(" or ")} in ${folder} but found none`);
}

/** Reads MNIST, or a dataset in its format, from a folder with its four files: uint8 [N, 28, 28] and int64 [N]. */
export function mnist(folder: string, options: PartOptions = {}): TensorDataset<readonly [Tensor, Tensor]> {
  if (arguments.length > 2) refuseSurplus("mnist", 2, arguments);
  const part = optionsOf("mnist", options, ["train"]).train ?? true ? "train" : "t10k";
  const read = (kind: string, ndim: number) => {
    const name = `${part}-${kind}-idx${ndim}-ubyte`;
    return readIdx(fileIn(folder, [name, `${name}.gz`, name.replace("-idx", ".idx")]));
  };
  return new TensorDataset(read("images", 3), read("labels", 1).to("int64"));
}

const CIFAR_PIXELS = 3 * 32 * 32;

/** Reads images and labels of one CIFAR file, in which a number of label bytes precedes each image. */
function readCifar(path: string, labels: number): readonly [Tensor, Tensor] {
  const bytes = bytesOf(path), row = labels + CIFAR_PIXELS;
  if (bytes.length === 0 || bytes.length % row !== 0) {
    throw new DynError(`Expected rows of ${row} bytes in ${path} but found ${bytes.length} bytes`);
  }
  const rows = fromTypedArray(bytes, [bytes.length / row, row]);
  // The last label is the finest
  return [
    rows.narrow(1, labels, CIFAR_PIXELS).reshape(-1, 3, 32, 32),
    rows.select(1, labels - 1).to("int64"),
  ];
}

function cifar(paths: readonly string[], labels: number): TensorDataset<readonly [Tensor, Tensor]> {
  const parts = paths.map((path) => readCifar(path, labels));
  return new TensorDataset(cat(parts.map(([x]) => x)), cat(parts.map(([, y]) => y)));
}

/** Reads CIFAR-10 from the folder of its binary version: uint8 [N, 3, 32, 32] and int64 [N]. */
export function cifar10(folder: string, options: PartOptions = {}): TensorDataset<readonly [Tensor, Tensor]> {
  if (arguments.length > 2) refuseSurplus("cifar10", 2, arguments);
  const names = optionsOf("cifar10", options, ["train"]).train ?? true
    ? [1, 2, 3, 4, 5].map((k) => `data_batch_${k}.bin`)
    : ["test_batch.bin"];
  return cifar(names.map((name) => fileIn(folder, [name])), 1);
}

/** Reads CIFAR-100, with its fine labels, from the folder of its binary version. */
export function cifar100(
  folder: string,
  options: PartOptions = {},
): TensorDataset<readonly [Tensor, Tensor]> {
  if (arguments.length > 2) refuseSurplus("cifar100", 2, arguments);
  return cifar(
    [fileIn(folder, [optionsOf("cifar100", options, ["train"]).train ?? true ? "train.bin" : "test.bin"])],
    2,
  );
}
