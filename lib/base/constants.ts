/** Numbers and types by the names that PyTorch exports them under: `torch.pi`, `torch.float32`. */
import type { DType } from "./dtype.ts";

/** π */
export const pi: number = Math.PI;
/** e */
export const e: number = Math.E;
/** Infinity */
export const inf: number = Infinity;
/** NaN */
export const nan: number = NaN;
/** Adds a dimension where an index has it: null. */
export const newaxis: null = null;

/** The type "float32". */
export const float32: "float32" = "float32" satisfies DType;
/** The type "float32". */
export const float: "float32" = "float32" satisfies DType;
/** The type "float64". */
export const float64: "float64" = "float64" satisfies DType;
/** The type "float64". */
export const double: "float64" = "float64" satisfies DType;
/** The type "float16". */
export const float16: "float16" = "float16" satisfies DType;
/** The type "float16". */
export const half: "float16" = "float16" satisfies DType;
/** The type "bfloat16". */
export const bfloat16: "bfloat16" = "bfloat16" satisfies DType;
/** The type "int64". */
export const int64: "int64" = "int64" satisfies DType;
/** The type "int64". */
export const long: "int64" = "int64" satisfies DType;
/** The type "int32". */
export const int32: "int32" = "int32" satisfies DType;
/** The type "int32". */
export const int: "int32" = "int32" satisfies DType;
/** The type "int16". */
export const int16: "int16" = "int16" satisfies DType;
/** The type "int16". */
export const short: "int16" = "int16" satisfies DType;
/** The type "int8". */
export const int8: "int8" = "int8" satisfies DType;
/** The type "uint8". */
export const uint8: "uint8" = "uint8" satisfies DType;
/** The type "bool". */
export const bool: "bool" = "bool" satisfies DType;
/** The type "complex64". */
export const complex64: "complex64" = "complex64" satisfies DType;
/** The type "complex64". */
export const cfloat: "complex64" = "complex64" satisfies DType;
/** The type "complex128". */
export const complex128: "complex128" = "complex128" satisfies DType;
/** The type "complex128". */
export const cdouble: "complex128" = "complex128" satisfies DType;
