/**
 * Runs packages without the compiler: in Deno and in browsers.
 *
 * ```ts ignore
 * import { loadPackage, PackageTensor } from "jsr:@x/dyn/runtime";
 * const model = await loadPackage("model.dyn");
 * const result = model.call(new PackageTensor(new Float32Array(4), [1, 4]));
 * ```
 *
 * @module
 */
export { loadPackage, type LoadPackageOptions, Package } from "./package.ts";
export type { ComplexType, DType, HostArray, RealType, SmallType, ValueType } from "../lib/base/dtype.ts";
export { PackageTensor } from "./tensor.ts";
