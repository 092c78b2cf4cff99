/**
 * Automatic mixed precision for user-defined functions: the namespace `amp`, like `torch.amp`. The methods of a
 * `Function` run in the autocast region of its forward call. Invariant: backward chooses types as forward did.
 */
import { checkFunction, checkOptions } from "../base/checked_input.ts";
import { type DType, isFloat } from "../base/dtype.ts";
import { autocast, getAutocastDtype, isAutocastEnabled } from "../tensor/autocast.ts";
import { isTensor } from "../tensor/tensor.ts";
import type { FunctionContext } from "../autograd/function.ts";

export { autocast, type AutocastOptions, getAutocastDtype, isAutocastEnabled } from "../tensor/autocast.ts";
export { GradScaler, type GradScalerOptions, type GradScalerState } from "./grad_scaler.ts";

/** Options of `customFwd`. */
export interface CustomForwardOptions {
  /** The device that it is for, as PyTorch asks; every device has the same lists. */
  readonly deviceType?: string;
  /** The type that floating arguments are converted to within a region, which does not reach into forward then. */
  readonly castInputs?: DType | null;
}

/** Options of a region, as that of a call of forward. */
type Region = { readonly enabled: boolean; readonly dtype?: "bfloat16" | "float16" };

/** The regions in which forward ran, by its context. */
const regions = new WeakMap<FunctionContext, Region>();

function regionNow(): Region {
  const dtype = getAutocastDtype();
  return isAutocastEnabled() && (dtype === "bfloat16" || dtype === "float16")
    ? { enabled: true, dtype }
    : { enabled: false };
}

/** A static `forward` whose backward, made by `customBwd`, chooses types as it did, as `torch.amp.custom_fwd`. */
export function customFwd<A extends readonly unknown[], R>(
  forward: (context: FunctionContext, ...args: A) => R,
  options: CustomForwardOptions = {},
): (context: FunctionContext, ...args: A) => R {
  checkFunction(forward, "as a forward of customFwd");
  checkOptions("customFwd", { deviceType: ["string"], castInputs: ["string", "object"] }, options);
  const { castInputs = null } = options;
  return (context, ...args) => {
    const region = castInputs === null ? regionNow() : { enabled: false };
    regions.set(context, region);
    if (castInputs === null || !isAutocastEnabled()) return forward(context, ...args);
    return autocast(region, () => Reflect.apply(forward, null, [context, ...castTo(castInputs, args)]));
  };
}

/** Arguments of which the floating tensors have a type. */
function castTo(dtype: DType, args: readonly unknown[]): unknown[] {
  return args.map((each) => isTensor(each) && isFloat(each.dtype) ? each.to(dtype) : each);
}

/** A static `backward` that chooses types as the forward made by `customFwd` did, as `torch.amp.custom_bwd`. */
export function customBwd<A extends readonly unknown[], R>(
  backward: (context: FunctionContext, ...grads: A) => R,
  options: Pick<CustomForwardOptions, "deviceType"> = {},
): (context: FunctionContext, ...grads: A) => R {
  checkFunction(backward, "as a backward of customBwd");
  checkOptions("customBwd", { deviceType: ["string"] }, options);
  return (context, ...grads) => {
    const region = regions.get(context) ?? { enabled: false };
    return autocast(region, () => backward(context, ...grads));
  };
}
