/**
 * A network over raw sound in the style of torchaudio's tutorial (M5, Dai et al. 2017), with a gated part as in
 * Wav2Letter: strided 1-d convolutions, batch norm, max pooling, GLU, a log-softmax over the mean of all times; SGD
 * with a one-cycle schedule, a frozen parameter, hooks before and after layers.
 */
import { nn, optim, type Tensor } from "../../../mod.ts";
import { FIRST_AND_REST, ONE, type Specimen } from "../specimen.ts";

const F = nn.functional;

class M5 extends nn.Module {
  readonly conv1: nn.Conv1d;
  readonly bn1: nn.BatchNorm1d;
  readonly pool1: nn.MaxPool1d;
  readonly conv2: nn.Conv1d;
  readonly bn2: nn.BatchNorm1d;
  readonly pool2: nn.AvgPool1d;
  readonly gated: nn.Sequential;
  readonly fc1: nn.Linear;
  /** Number of runs of the first layer. */
  calls = 0;

  constructor(nInput: number, nOutput: number, nChannel: number) {
    super();
    this.conv1 = new nn.Conv1d(nInput, nChannel, { kernelSize: 16, stride: 4 });
    this.bn1 = new nn.BatchNorm1d(nChannel);
    this.pool1 = new nn.MaxPool1d(2);
    this.conv2 = new nn.Conv1d(nChannel, nChannel, {
      kernelSize: 3,
      padding: "same",
      paddingMode: "reflect",
    });
    this.bn2 = new nn.BatchNorm1d(nChannel);
    this.pool2 = new nn.AvgPool1d(2);
    this.gated = new nn.Sequential(
      new nn.Conv1d(nChannel, 2 * nChannel, { kernelSize: 3, dilation: 2, padding: 2 }),
      new nn.GLU({ dim: 1 }),
      new nn.InstanceNorm1d(nChannel, { affine: true }),
    );
    this.fc1 = new nn.Linear(nChannel, nOutput);
    this.conv1.registerForwardHook(() => {
      this.calls++;
    });
    this.gated.registerForwardPreHook((_module, [x, ...rest]) => [x, ...rest]);
  }

  override forward(x: Tensor): Tensor {
    x = this.conv1.call(x);
    x = F.relu(this.bn1.call(x));
    x = this.pool1.call(x);
    x = this.conv2.call(x);
    x = F.relu(this.bn2.call(x));
    x = this.pool2.call(x);
    x = x.add(this.gated.call(x));
    x = F.avgPool1d(x, x.shape[x.ndim - 1] ?? 1);
    x = x.permute(0, 2, 1);
    x = this.fc1.call(x);
    return F.logSoftmax(x, 2);
  }
}

export const speech: Specimen = {
  name: "speech",
  make() {
    const model = new M5(1, 4, 4);
    // The bias before a norm does nothing
    model.conv1.bias?.requiresGrad_(false);
    const lossOf = (sound: Tensor, target: Tensor) => F.nllLoss(model.call(sound).squeeze(1), target);
    const train = () => {
      const optimizer = new optim.SGD(model.parameters().filter((p) => p.requiresGrad), {
        lr: 0.01,
        momentum: 0.9,
        weightDecay: 1e-4,
      });
      const scheduler = new optim.lrScheduler.OneCycleLR(optimizer, {
        maxLr: 0.1,
        totalSteps: 12,
        cycleMomentum: false,
      });
      const step = (sound: Tensor, target: Tensor) => {
        const loss = lossOf(sound, target);
        optimizer.zeroGrad();
        loss.backward();
        optimizer.step();
        return loss.detach();
      };
      return { step, after: () => scheduler.step() };
    };
    return { model, forward: (sound) => model.call(sound), loss: lossOf, train };
  },
  counts: { forward: ONE, loss: ONE, step: FIRST_AND_REST },
};
