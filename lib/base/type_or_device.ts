/** Names of types and devices, as far as the type checker knows them. */
import type { DType } from "./dtype.ts";

/** The name of an element type or of a device. Literals are checked; computed texts may be any. */
export type TypeOrDevice<T extends string> = string extends T ? T
  : T extends DType | "cpu" | "webgpu" | "meta" ? T
  : `Expected a dtype or a device but found ${T}`;
