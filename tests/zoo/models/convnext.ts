/**
 * ConvNeXt (Liu et al. 2022) in torchvision's style: depthwise 7×7 convolutions, layer norm over channels by
 * permutation, learnt layer scales, truncated normal weights; AdamW with groups that do not decay, a cosine schedule.
 */
import { empty, nn, ones, optim, type Tensor } from "../../../mod.ts";
import { FIRST_AND_REST, ONE, type Specimen } from "../specimen.ts";

const F = nn.functional;

/** Layer norm of images, over their channels. */
class LayerNorm2d extends nn.LayerNorm {
  override forward(x: Tensor): Tensor {
    x = x.permute(0, 2, 3, 1);
    x = F.layerNorm(x, this.normalizedShape, this.weight, this.bias, this.eps);
    return x.permute(0, 3, 1, 2);
  }
}

class Permute extends nn.Module {
  constructor(readonly dims: readonly number[]) {
    super();
  }

  override forward(x: Tensor): Tensor {
    return x.permute(...this.dims);
  }
}

/** timm's form of stochastic depth. */
class DropPath extends nn.Module {
  constructor(readonly dropProb: number, readonly scaleByKeep = true) {
    super();
  }

  override forward(x: Tensor): Tensor {
    if (this.dropProb === 0 || !this.training) return x;
    const keepProb = 1 - this.dropProb;
    const shape = [x.shape[0] ?? 1, ...new Array<number>(x.ndim - 1).fill(1)];
    const randomTensor = empty(shape, { dtype: x.dtype, device: x.device }).bernoulli_(keepProb);
    if (keepProb > 0 && this.scaleByKeep) randomTensor.div_(keepProb);
    return x.mul(randomTensor);
  }
}

class CNBlock extends nn.Module {
  readonly block: nn.Sequential;
  readonly layer_scale: nn.Parameter;
  readonly stochastic_depth: DropPath;

  constructor(dim: number, layerScale: number, dropProb: number) {
    super();
    this.block = new nn.Sequential(
      new nn.Conv2d(dim, dim, { kernelSize: 7, padding: 3, groups: dim, bias: true }),
      new Permute([0, 2, 3, 1]),
      new nn.LayerNorm(dim, { eps: 1e-6 }),
      new nn.Linear({ inFeatures: dim, outFeatures: 4 * dim, bias: true }),
      new nn.GELU(),
      new nn.Linear({ inFeatures: 4 * dim, outFeatures: dim, bias: true }),
      new Permute([0, 3, 1, 2]),
    );
    this.layer_scale = new nn.Parameter(ones([dim, 1, 1]).mul(layerScale));
    this.stochastic_depth = new DropPath(dropProb);
  }

  override forward(input: Tensor): Tensor {
    let result = this.layer_scale.mul(this.block.call(input));
    result = this.stochastic_depth.call(result);
    result.add_(input);
    return result;
  }
}

class ConvNeXt extends nn.Module {
  readonly features: nn.Sequential;
  readonly avgpool = new nn.AdaptiveAvgPool2d(1);
  readonly classifier: nn.Sequential;

  constructor(dims: readonly number[], depths: readonly number[], options: {
    readonly numClasses: number;
    readonly dropPath: number;
  }) {
    super();
    const layers: nn.Layer[] = [];
    const [first = 4] = dims;
    layers.push(
      new nn.Sequential(
        new nn.Conv2d(3, first, { kernelSize: 2, stride: 2 }),
        new LayerNorm2d(first, { eps: 1e-6 }),
      ),
    );
    dims.forEach((dim, i) => {
      const depth = depths[i] ?? 1, next = dims[i + 1];
      layers.push(
        new nn.Sequential(
          ...Array.from({ length: depth }, (_, k) => new CNBlock(dim, 0.5, options.dropPath * (i + k) / 2)),
        ),
      );
      if (next !== undefined) {
        layers.push(
          new nn.Sequential(
            new LayerNorm2d(dim, { eps: 1e-6 }),
            new nn.Conv2d(dim, next, { kernelSize: 2, stride: 2 }),
          ),
        );
      }
    });
    this.features = new nn.Sequential(...layers);
    const last = dims[dims.length - 1] ?? first;
    this.classifier = new nn.Sequential(
      new LayerNorm2d(last, { eps: 1e-6 }),
      new nn.Flatten(1),
      new nn.Linear(last, options.numClasses),
    );
    for (const m of this.modules()) {
      if (m instanceof nn.Conv2d || m instanceof nn.Linear) {
        nn.init.truncNormal_(m.weight, { std: 0.02 });
        if (m.bias !== null) nn.init.zeros_(m.bias);
      }
    }
  }

  override forward(x: Tensor): Tensor {
    x = this.features.call(x);
    x = this.avgpool.call(x);
    return this.classifier.call(x);
  }
}

/** Weights decay; biases, norms and scales do not. */
function paramGroups(model: nn.Module, weightDecay: number) {
  const decay: nn.Parameter[] = [], noDecay: nn.Parameter[] = [];
  for (const [name, param] of model.namedParameters()) {
    if (!param.requiresGrad) continue;
    if (param.ndim <= 1 || name.endsWith(".bias") || name.endsWith("layer_scale")) noDecay.push(param);
    else decay.push(param);
  }
  return [{ params: noDecay, weightDecay: 0 }, { params: decay, weightDecay }];
}

export const convnext: Specimen = {
  name: "convnext",
  make({ dropout }) {
    const model = new ConvNeXt([4, 6], [1, 2], { numClasses: 5, dropPath: dropout });
    const lossOf = (image: Tensor, target: Tensor) => F.crossEntropy(model.call(image), target);
    const train = () => {
      const optimizer = new optim.AdamW(paramGroups(model, 0.05), { lr: 0.01 });
      const scheduler = new optim.lrScheduler.CosineAnnealingLR(optimizer, { tMax: 10, etaMin: 1e-4 });
      const step = (image: Tensor, target: Tensor) => {
        optimizer.zeroGrad();
        const loss = lossOf(image, target);
        loss.backward();
        optimizer.step();
        return loss.detach();
      };
      return { step, after: () => scheduler.step() };
    };
    return { model, forward: (image) => model.call(image), loss: lossOf, train };
  },
  random: true,
  counts: { forward: ONE, loss: ONE, step: FIRST_AND_REST },
};
