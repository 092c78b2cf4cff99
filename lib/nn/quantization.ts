/**
 * Linear layers with 8-bit weights, like `torchao.quantization`: the linear layers of a trained model get int8
 * weights with a scale for each output. Invariant: a weight is its scale times the nearest integer from −127 to 127;
 * the float32 weight is not kept.
 */
import { checkFunction, checkInstance } from "../base/checked_input.ts";
import { isFloat } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import { linear } from "../tensor/generated_functions.ts";
import { noGrad } from "../tensor/modes.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { Linear } from "./linear.ts";
import { checkModule, Module } from "./module.ts";
import type { Parameter } from "./parameter.ts";

/** The largest integer of a weight or an activation: the range is symmetric. */
const MOST = 127;

/** A quantization scheme; made by `int8WeightOnly` and `int8DynamicActivationInt8Weight`. */
export interface QuantizationConfig {
  /** Whether inputs are rounded to eight bits too, by a scale for each row that is found as it comes. */
  readonly activations: "kept" | "int8";
}

/**
 * Weights of eight bits, inputs as they are: a layer reads a quarter of the bytes, which is what few rows cost. Compiled,
 * weights are widened inside of the product.
 */
export function int8WeightOnly(): QuantizationConfig {
  return { activations: "kept" };
}

/**
 * Weights and inputs of eight bits. Products are of the integers as floats, in whose sums up to 1,040 terms are exact:
 * results are those of integer units, at the speed of floats.
 */
export function int8DynamicActivationInt8Weight(): QuantizationConfig {
  return { activations: "int8" };
}

/** y = x·Wᵀ + b for a weight of eight bits. */
export class QuantizedLinear extends Module {
  /** Elements of a row that comes. */
  readonly inFeatures: number;
  /** Elements of a row that goes. */
  readonly outFeatures: number;
  /** int8 [outFeatures, inFeatures] */
  declare readonly weight: Tensor;
  /** Of each output [outFeatures]. */
  declare readonly scale: Tensor;
  /** [outFeatures] */
  readonly bias: Parameter | null;

  /**
   * Quantizes the weight of a layer, whose bias it takes. Throws DynError for a weight that is not finite or no float, and
   * for a layer with hooks, which may be what makes its weight (pruning) and would be lost.
   */
  constructor(layer: Linear, readonly config: QuantizationConfig) {
    super();
    checkInstance(layer, Linear, "QuantizedLinear");
    const { weight, bias, registeredHooks } = layer;
    if (Object.values(registeredHooks ?? {}).some(({ size }) => size > 0)) {
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

  /** x [..., inFeatures] → [..., outFeatures], of its type. */
  override forward(x: Tensor): Tensor {
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

/** Integers from −127 to 127, as floats, and the scale of each row [..., 1]. A row of zeros has the scale 1. */
function quantized(x: Tensor): { readonly integers: Tensor; readonly scale: Tensor } {
  const most = x.abs().amax(-1, true), scale = most.div(MOST);
  const safe = scale.maskedFill(scale.eq(0), 1);
  return { integers: x.div(safe).round().clamp(-MOST, MOST), scale: safe };
}

/**
 * Replaces the linear layers of a model for inference, in place, like `torchao.quantization.quantize_`; returns the
 * model. `filter` chooses among them by their dotted names, all unless given. Layers of derived classes with a
 * `forward` of their own stay as they are. A shared layer stays shared. Throws DynError for a linear layer as the
 * model itself, which cannot be replaced, and for weights that are not finite.
 */
export function quantize_<M extends Module>(
  model: M,
  config: QuantizationConfig,
  filter: (module: Linear, name: string) => boolean = () => true,
): M {
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
      if (!isPlainLinear(child) || !filter(child, path === "" ? field : `${path}.${field}`)) continue;
      const exchanged = made.get(child) ?? new QuantizedLinear(child, config);
      exchanged.train(child.training);
      made.set(child, exchanged);
      Reflect.set(parent, field, exchanged);
    }
  }
  return model;
}
