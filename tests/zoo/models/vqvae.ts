/**
 * VQ-VAE (van den Oord et al. 2017) as in Kim Seonghyeon's port: vectors replaced by the nearest of a codebook of
 * buffers, which follow averages of what was assigned to them, gradients passed straight through; residual
 * convolutions, transposed ones in the decoder; Adam.
 */
import { nn, optim, randn, type Tensor, zeros } from "../../../mod.ts";
import { ONE, type Specimen } from "../specimen.ts";

const F = nn.functional;

class Quantize extends nn.Module {
  declare embed: Tensor;
  declare cluster_size: Tensor;
  declare embed_avg: Tensor;

  constructor(readonly dim: number, readonly count: number, readonly decay = 0.9, readonly eps = 1e-5) {
    super();
    const embed = randn(dim, count);
    this.registerBuffer("embed", embed);
    this.registerBuffer("cluster_size", zeros(count));
    this.registerBuffer("embed_avg", embed.clone());
  }

  override forward(input: Tensor): readonly [Tensor, Tensor] {
    const flatten = input.reshape(-1, this.dim);
    const dist = flatten.pow(2).sum(1, { keepdim: true })
      .sub(flatten.mul(2).matmul(this.embed))
      .add(this.embed.pow(2).sum(0, { keepdim: true }));
    let [, ind] = dist.neg().max(1);
    const onehot = F.oneHot(ind, this.count).type(flatten.dtype);
    ind = ind.view(...input.shape.slice(0, -1));
    let quantize = F.embedding(ind, this.embed.transpose(0, 1));
    if (this.training) {
      const sums = flatten.detach().transpose(0, 1).matmul(onehot);
      this.cluster_size.detach().mul_(this.decay).add_(onehot.sum(0), { alpha: 1 - this.decay });
      this.embed_avg.detach().mul_(this.decay).add_(sums, { alpha: 1 - this.decay });
      const n = this.cluster_size.sum();
      const sizes = this.cluster_size.add(this.eps).div(n.add(this.count * this.eps)).mul(n);
      this.embed.detach().copy_(this.embed_avg.div(sizes.unsqueeze(0)));
    }
    const diff = quantize.detach().sub(input).pow(2).mean();
    quantize = input.add(quantize.sub(input).detach());
    return [quantize, diff];
  }
}

class ResBlock extends nn.Module {
  readonly conv: nn.Sequential;

  constructor(channels: number, hidden: number) {
    super();
    this.conv = new nn.Sequential(
      new nn.ReLU(),
      new nn.Conv2d(channels, hidden, 3, { padding: 1 }),
      new nn.ReLU({ inplace: true }),
      new nn.Conv2d(hidden, channels, 1),
    );
  }

  override forward(input: Tensor): Tensor {
    const out = this.conv.call(input);
    return out.add_(input);
  }
}

class VQVAE extends nn.Module {
  readonly enc: nn.Sequential;
  readonly quantize: Quantize;
  readonly dec: nn.Sequential;

  constructor(channels: number, dim: number) {
    super();
    this.enc = new nn.Sequential(
      new nn.Conv2d(1, channels, 4, { stride: 2, padding: 1 }),
      new nn.ReLU({ inplace: true }),
      new nn.Conv2d(channels, channels, 3, { padding: 1 }),
      new ResBlock(channels, 3),
      new nn.ReLU({ inplace: true }),
      new nn.Conv2d(channels, dim, 1),
    );
    this.quantize = new Quantize(dim, 6);
    this.dec = new nn.Sequential(
      new nn.Conv2d(dim, channels, 3, { padding: 1 }),
      new ResBlock(channels, 3),
      new nn.ReLU({ inplace: true }),
      new nn.ConvTranspose2d(channels, 1, 4, { stride: 2, padding: 1 }),
    );
  }

  override forward(input: Tensor): readonly [Tensor, Tensor] {
    const encoded = this.enc.call(input).permute(0, 2, 3, 1);
    const [quantized, diff] = this.quantize.call(encoded);
    return [this.dec.call(quantized.permute(0, 3, 1, 2)), diff];
  }
}

export const vqvae: Specimen = {
  name: "vqvae",
  make() {
    const model = new VQVAE(6, 4), criterion = new nn.MSELoss();
    const lossOf = (image: Tensor) => {
      const [out, latentLoss] = model.call(image);
      return criterion.call(out, image).add(latentLoss.mul(0.25));
    };
    const train = () => {
      const optimizer = new optim.Adam(model.parameters(), { lr: 3e-3 });
      const step = (image: Tensor) => {
        model.zeroGrad();
        const loss = lossOf(image);
        loss.backward();
        optimizer.step();
        return loss.detach();
      };
      return { step };
    };
    return { model, forward: (image) => model.call(image)[0], loss: lossOf, train };
  },
  counts: { forward: ONE, loss: ONE, step: ONE },
};
