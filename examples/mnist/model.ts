/** A small convolutional network for 28×28 images. */
import { nn, type Tensor } from "../../mod.ts";

/** [N, 1, 28, 28] → logits [N, 10] */
export class ConvNet extends nn.Module {
  conv1 = new nn.Conv2d(1, 16, 3, { padding: 1 });
  bn1 = new nn.BatchNorm2d(16);
  conv2 = new nn.Conv2d(16, 32, 3, { padding: 1 });
  bn2 = new nn.BatchNorm2d(32);
  pool = new nn.MaxPool2d(2);
  fc1 = new nn.Linear(32 * 7 * 7, 64);
  fc2 = new nn.Linear(64, 10);

  override forward(x: Tensor): Tensor {
    x = this.pool.call(this.bn1.call(this.conv1.call(x)).relu());
    x = this.pool.call(this.bn2.call(this.conv2.call(x)).relu());
    return this.fc2.call(this.fc1.call(x.flatten(1)).relu());
  }
}
