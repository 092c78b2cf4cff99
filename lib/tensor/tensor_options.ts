/**
 * Types of arguments and results of tensor methods other than tensors. Invariant: independent of the tensor class.
 */
import type { DType, HostArray } from "../base/dtype.ts";
import type { DeviceName } from "../loops/device.ts";
import type { Element } from "./host.ts";

/** Tolerances of closeness: |self − other| ≤ atol + rtol·|other|; whether two NaN are close. */
export interface Nearness {
  /** Tolerance relative to the expected element; default 1e-5. */
  readonly rtol?: number | undefined;
  /** Absolute tolerance; default 1e-8. */
  readonly atol?: number | undefined;
  /** Whether NaN is near NaN; default false. */
  readonly equalNan?: boolean | undefined;
}

/** Tolerances by position, then by name. */
export type Tolerances = readonly [
  rtol?: number | Nearness,
  atol?: number | Nearness,
  equalNan?: boolean | Nearness,
];

/** Options of `Tensor.to`. */
export interface ConversionOptions {
  /** Element type of the result. */
  readonly dtype?: DType | null | undefined;
  /** Device of the result. */
  readonly device?: DeviceName | null | undefined;
  /** Whether to copy even if nothing changes. */
  readonly copy?: boolean | undefined;
  /** Accepted without effect. */
  readonly nonBlocking?: boolean | undefined;
}

/** Numbers, bools, nested arrays of them, typed arrays, or tensors T. */
export type DataOf<T> = Element | T | HostArray | readonly DataOf<T>[];

/** Options of tensor creation. */
export interface TensorOptions {
  /** Element type; by default that of the data. */
  readonly dtype?: DType | null | undefined;
  /** Device of the elements; default: the default device. */
  readonly device?: DeviceName | null | undefined;
  /** Whether to record operations on it; default false. */
  readonly requiresGrad?: boolean | undefined;
}
