/** Names of types and devices, as far as the type checker knows them. */
import type { DType } from "./dtype.ts";

/**
 * The name of an element type or of a device. What is written down has to be one that there is; what a program finds out
 * may be any.
 */
export type TypeOrDevice<T extends string> = string extends T ? T
  : T extends DType | "cpu" | "webgpu" | "meta" ? T
  : `Expected a dtype or a device but found ${T}`;
