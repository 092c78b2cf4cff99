/** The base of location-scale distributions. */
import type { Tensor } from "../tensor/tensor.ts";
import { type ArgConstraints, positive, real } from "./constraints.ts";
import { type ParametersOf, parametersOf } from "./given_parameters.ts";
import { checkParameters } from "./checked_parameters.ts";
import { Distribution } from "./distribution.ts";

/** A distribution with a location and a scale, whose samples are differentiable. */
export abstract class LocationScale extends Distribution {
  override readonly hasRsample = true;
  override readonly argConstraints: ArgConstraints = { loc: real, scale: positive };
  readonly loc: Tensor;
  readonly scale: Tensor;

  constructor(...given: ParametersOf<["loc", "scale"]>) {
    const { tensors: [l, s], validateArgs } = parametersOf(new.target.name, ["loc", "scale"], given);
    super(l.shape, [], validateArgs);
    [this.loc, this.scale] = [l, s];
    checkParameters(this, this.argConstraints, { validateArgs });
  }

  /** Each density is greatest at its location. */
  override get mode(): Tensor {
    return this.loc;
  }
}
