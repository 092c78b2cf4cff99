/** A digit classifier for web pages: maps pixels in [0, 1] to probabilities of the digits. */
import { nn, type Tensor } from "../../mod.ts";

/** [N, 1, 28, 28] → [N, 10] */
export class Classifier extends nn.Module {
  constructor(readonly net: nn.Module & { forward(x: Tensor): Tensor }) {
    super();
  }

  override forward(pixels: Tensor): Tensor {
    // Mean and standard deviation of the data set
    return this.net.call(pixels.sub(0.1307).div(0.3081)).softmax(1);
  }
}
