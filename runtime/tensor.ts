/**
 * Tensors of packages: elements in a row-major array. Invariant: the number of elements matches the shape.
 */
import {
  type DType,
  dtypeOfArray,
  type HostArray,
  hostArray,
  isComplex,
  itemSize,
} from "../lib/base/dtype.ts";
import { DynError } from "../lib/base/errors.ts";

/** A tensor as argument or result of a package. */
export class PackageTensor {
  /** Elements in row-major order; bfloat16 as 16 bits each, bool as a byte each. */
  readonly data: HostArray;
  /** Sizes of the dimensions. */
  readonly shape: readonly number[];
  /** Type of the elements. */
  readonly dtype: DType;

  /**
   * `dtype` defaults to that of the array; required for bfloat16 and bool. Throws DynError if the elements do not
   * match.
   */
  constructor(data: HostArray, shape: readonly number[], dtype: DType | undefined = dtypeOfArray(data)) {
    if (dtype === undefined || isComplex(dtype)) {
      throw new DynError(`Expected a real type of elements but found ${dtype ?? "an array without one"}`);
    }
    const count = shape.reduce((product, size) => product * size, 1);
    if (data.length !== count || data.BYTES_PER_ELEMENT !== itemSize(dtype)) {
      throw new DynError(
        `Expected ${count} elements of ${dtype} for shape [${
          shape.join(", ")
        }] but found ${data.length} of ` +
          `${data.BYTES_PER_ELEMENT} bytes`,
      );
    }
    this.data = data;
    this.shape = shape;
    this.dtype = dtype;
  }

  /** The bytes of its elements, without a copy. */
  get bytes(): Uint8Array {
    return new Uint8Array(this.data.buffer, this.data.byteOffset, this.data.byteLength);
  }
}

/** A tensor of zeros, and its bytes. */
export function emptyTensor(shape: readonly number[], dtype: DType): PackageTensor {
  const length = shape.reduce((product, size) => product * size, 1);
  return new PackageTensor(
    hostArray(dtype, new ArrayBuffer(length * itemSize(dtype)), { length }),
    shape,
    dtype,
  );
}
