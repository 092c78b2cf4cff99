/**
 * Linear layers with 8-bit weights, like `torchao.quantization`: the linear layers of a trained model get int8
 * weights with a scale for each output. Invariant: a weight is its scale times the nearest integer from −127 to 127;
 * the float32 weight is not kept.
 */
import { checkFunction, checkInstance, refuseSurplus } from "../base/checked_input.ts";
import { isFloat } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import { linear } from "../tensor/generated_functions.ts";
import { noGrad } from "../tensor/modes.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { Linear } from "./linear.ts";
import { checkModule, Module } from "./module.ts";
import { keyOf } from "./module_state.ts";
import type { Parameter } from "./parameter.ts";

/** The largest integer of a weight or an activation: ranges are symmetric. */
const MOST = 127;

/** A quantization scheme; made by `int8WeightOnly` and `int8DynamicActivationInt8Weight`. */
export interface QuantizationConfig {
  /** Whether inputs are also rounded to eight bits, with a dynamic scale per row. */
  readonly activations: "kept" | "int8";
}

/**
 * 8-bit weights with unchanged inputs: a layer reads a quarter of the bytes, which dominate the time for few rows.
 * Compiled, weights are converted within the product.
 */
export function int8WeightOnly(): QuantizationConfig {
  if (arguments.length > 0) refuseSurplus("int8WeightOnly", 0, arguments);
  return { activations: "kept" };
}

/**
 * 8-bit weights and inputs. Products are computed on integers as floats, which is exact for up to 1,040 terms: results
 * equal those of integer arithmetic, at the speed of floats.
 */
export function int8DynamicActivationInt8Weight(): QuantizationConfig {
  if (arguments.length > 0) refuseSurplus("int8DynamicActivationInt8Weight", 0, arguments);
  return { activations: "int8" };
}

/** y = x·Wᵀ + b with an 8-bit weight. */
export class QuantizedLinear extends Module {
  /** Number of inputs. */
  readonly inFeatures: number;
  /** Number of outputs. */
  readonly outFeatures: number;
  /** int8 [outFeatures, inFeatures] */
  declare readonly weight: Tensor;
  /** The scale of each output: [outFeatures]. */
  declare readonly scale: Tensor;
  /** [outFeatures] */
  readonly bias: Parameter | null;

  /**
   * Quantizes the weight of a layer and takes its bias. Throws DynError for a weight that is not finite or not
   * floating, and for a layer with hooks, which may compute its weight (pruning) and would be lost.
   */
  constructor(layer: Linear, readonly config: QuantizationConfig) {
    super();
    checkInstance(layer, Linear, "QuantizedLinear");
    const { weight, bias, registeredHooks } = layer;
    if (registeredHooks !== null) {
      throw new DynError(
        "Expected a layer without hooks to quantize but found one with hooks: remove them first",
      );
    }
    if (!isFloat(weight.dtype)) {
      throw new DynError(`Expected a weight of floats to quantize but found one of ${weight.dtype}`);
    }
    const [outFeatures = 0, inFeatures = 0] = weight.shape;
    this.outFeatures = outFeatures;
    this.inFeatures = inFeatures;
    this.bias = bias;
    const { integers, scale } = noGrad(() => quantized(weight.detach()));
    if (!scale.isfinite().all().item<boolean>()) {
      throw new DynError("Expected finite weights to quantize but found infinities or NaN among them");
    }
    this.registerBuffer("weight", integers.to("int8"));
    this.registerBuffer("scale", scale.squeeze(-1));
  }

  /** x [..., inFeatures] → [..., outFeatures], in the type of x. */
  override forward(x: Tensor): Tensor {
    if (arguments.length > 1) refuseSurplus("forward", 1, arguments);
    const weight = this.weight.to(x.dtype), scale = this.scale.to(x.dtype);
    const rows = this.config.activations === "kept" ? null : quantized(x);
    const product = linear(rows?.integers ?? x, weight).mul(scale),
      y = rows ? product.mul(rows.scale) : product;
    return this.bias === null ? y : y.add(this.bias);
  }

  /** The settings between the parentheses of its printed form. */
  override extraRepr(): string {
    const { inFeatures, outFeatures, bias, config } = this;
    const names = `inFeatures=${inFeatures}, outFeatures=${outFeatures}, bias=${bias !== null}`;
    return `${names}, activations=${config.activations}`;
  }
}

/** Returns whether a layer computes exactly what `Linear` does: subclasses may do more. */
const isPlainLinear = (module: unknown): module is Linear =>
  module instanceof Linear && Reflect.get(module, "forward") === Linear.prototype.forward;

/** Rounds to integers from −127 to 127, as floats, with the scale of each row [..., 1]; 1 for a row of zeros. */
function quantized(x: Tensor): { readonly integers: Tensor; readonly scale: Tensor } {
  const most = x.abs().amax(-1, true), scale = most.div(MOST);
  const safe = scale.maskedFill(scale.eq(0), 1);
  return { integers: x.div(safe).round().clamp(-MOST, MOST), scale: safe };
}

/**
 * Replaces the linear layers of a model for inference, in place, like `torchao.quantization.quantize_`; returns the
 * model. `filter` selects layers by their dotted names, by default all. Layers of derived classes with their own
 * `forward` are unchanged. Shared layers stay shared. Throws DynError if the model itself is a linear layer, which
 * cannot be replaced, and for weights that are not finite.
 */
export function quantize_<M extends Module>(
  model: M,
  config: QuantizationConfig,
  filter: (module: Linear, name: string) => boolean = () => true,
): M {
  if (arguments.length > 3) refuseSurplus("quantize_", 3, arguments);
  checkModule(model, "quantize_");
  checkFunction(filter, "that chooses layers as filter");
  if (model instanceof Linear) {
    throw new DynError(
      "Expected a model that holds linear layers but found a Linear: use new QuantizedLinear(layer, config)",
    );
  }
  const made = new Map<Linear, QuantizedLinear>();
  for (const [path, parent] of model.namedModules()) {
    for (const [field, child] of Object.entries(parent)) {
      const name = keyOf(parent, field);
      if (!isPlainLinear(child) || !filter(child, path === "" ? name : `${path}.${name}`)) continue;
      const exchanged = made.get(child) ?? new QuantizedLinear(child, config);
      exchanged.train(child.training);
      made.set(child, exchanged);
      Reflect.set(parent, field, exchanged);
    }
  }
  return model;
}
