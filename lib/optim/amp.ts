/**
 * Automatic mixed precision for user-defined functions: the namespace `amp`, like `torch.amp`. The methods of a
 * `Function` run in the autocast region of its forward call. Invariant: backward chooses types as forward did.
 */
import { checkFunction, checkOptions, refuseSurplus } from "../base/checked_input.ts";
import { type DType, isFloat } from "../base/dtype.ts";
import { autocast, getAutocastDtype, isAutocastEnabled } from "../tensor/autocast.ts";
import { isTensor } from "../tensor/tensor.ts";
import type { FunctionContext } from "../autograd/function.ts";

export { autocast, type AutocastOptions, getAutocastDtype, isAutocastEnabled } from "../tensor/autocast.ts";
export { GradScaler, type GradScalerOptions, type GradScalerState } from "./grad_scaler.ts";

/** Options of `customFwd`. */
export interface CustomForwardOptions {
  /** The device, as in PyTorch; all devices have the same lists of ops. */
  readonly deviceType?: string;
  /** The type that floating arguments are converted to inside a region; autocast is then disabled in forward. */
  readonly castInputs?: DType | null;
}

/** Autocast options of a call of forward. */
type Region = { readonly enabled: boolean; readonly dtype?: "bfloat16" | "float16" };

/** The autocast regions of forward calls, by context. */
const regions = new WeakMap<FunctionContext, Region>();

function regionNow(): Region {
  const dtype = getAutocastDtype();
  return isAutocastEnabled() && (dtype === "bfloat16" || dtype === "float16")
    ? { enabled: true, dtype }
    : { enabled: false };
}

/**
 * Decorates a static `forward`, so that its backward, decorated by `customBwd`, chooses the same types, like
 * `torch.amp.custom_fwd`.
 */
export function customFwd<A extends readonly unknown[], R>(
  forward: (context: FunctionContext, ...args: A) => R,
  options: CustomForwardOptions = {},
): (context: FunctionContext, ...args: A) => R {
  if (arguments.length > 2) refuseSurplus("customFwd", 2, arguments);
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

/** Converts the floating tensors in arguments to a type. */
function castTo(dtype: DType, args: readonly unknown[]): unknown[] {
  return args.map((each) => isTensor(each) && isFloat(each.dtype) ? each.to(dtype) : each);
}

/**
 * Decorates a static `backward`, so that it chooses the types of its forward, decorated by `customFwd`, like
 * `torch.amp.custom_bwd`.
 */
export function customBwd<A extends readonly unknown[], R>(
  backward: (context: FunctionContext, ...grads: A) => R,
  options: Pick<CustomForwardOptions, "deviceType"> = {},
): (context: FunctionContext, ...grads: A) => R {
  if (arguments.length > 2) refuseSurplus("customBwd", 2, arguments);
  checkFunction(backward, "as a backward of customBwd");
  checkOptions("customBwd", { deviceType: ["string"] }, options);
  return (context, ...grads) => {
    const region = regions.get(context) ?? { enabled: false };
    return autocast(region, () => backward(context, ...grads));
  };
}
