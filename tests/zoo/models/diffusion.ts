/**
 * A diffusion model (Ho et al. 2020) as its popular ports write it: sinusoidal time embeddings, residual blocks of
 * group norm and SiLU that are shifted by the time, linear and full attention, skip connections kept on a stack,
 * noise schedules in buffers read by gathering; an exponential average of the weights beside the model.
 */
import { arange, cat, cumprod, linspace, nn, noGrad, optim, type Tensor } from "../../../mod.ts";
import { ONE, type Specimen } from "../specimen.ts";

const F = nn.functional;

class SinusoidalPosEmb extends nn.Module {
  constructor(readonly dim: number) {
    super();
  }

  override forward(x: Tensor): Tensor {
    const halfDim = this.dim / 2;
    const step = Math.log(10000) / (halfDim - 1);
    let emb = arange(halfDim, { dtype: x.dtype, device: x.device }).mul(-step).exp();
    emb = x.at(":", null).mul(emb.at(null, ":"));
    return cat([emb.sin(), emb.cos()], -1);
  }
}

class Block extends nn.Module {
  readonly proj: nn.Conv2d;
  readonly norm: nn.GroupNorm;
  readonly act = new nn.SiLU();

  constructor(dim: number, dimOut: number, groups: number) {
    super();
    this.proj = new nn.Conv2d(dim, dimOut, { kernelSize: 3, padding: 1 });
    this.norm = new nn.GroupNorm({ numGroups: groups, numChannels: dimOut });
  }

  override forward(x: Tensor, scaleShift: readonly [Tensor, Tensor] | null = null): Tensor {
    x = this.proj.call(x);
    x = this.norm.call(x);
    if (scaleShift !== null) {
      const [scale, shift] = scaleShift;
      x = x.mul(scale.add(1)).add(shift);
    }
    return this.act.call(x);
  }
}

class ResnetBlock extends nn.Module {
  readonly mlp: nn.Sequential;
  readonly block1: Block;
  readonly block2: Block;
  readonly res_conv: nn.Conv2d | nn.Identity;

  constructor(dim: number, dimOut: number, timeEmbDim: number) {
    super();
    this.mlp = new nn.Sequential(new nn.SiLU(), new nn.Linear(timeEmbDim, dimOut * 2));
    this.block1 = new Block(dim, dimOut, 2);
    this.block2 = new Block(dimOut, dimOut, 2);
    this.res_conv = dim !== dimOut ? new nn.Conv2d(dim, dimOut, 1) : new nn.Identity();
  }

  override forward(x: Tensor, timeEmb: Tensor): Tensor {
    const emb = this.mlp.call(timeEmb).at("...", null, null);
    const [scale, shift] = emb.chunk(2, { dim: 1 });
    if (!scale || !shift) throw new Error("Two halves");
    let h = this.block1.call(x, [scale, shift]);
    h = this.block2.call(h);
    return h.add(this.res_conv.call(x));
  }
}

class LinearAttention extends nn.Module {
  readonly scale: number;
  readonly to_qkv: nn.Conv2d;
  readonly to_out: nn.Sequential;

  constructor(dim: number, readonly heads: number, readonly dimHead: number) {
    super();
    this.scale = dimHead ** -0.5;
    const hiddenDim = dimHead * heads;
    this.to_qkv = new nn.Conv2d(dim, hiddenDim * 3, 1, { bias: false });
    this.to_out = new nn.Sequential(new nn.Conv2d(hiddenDim, dim, 1), new nn.GroupNorm(1, dim));
  }

  override forward(x: Tensor): Tensor {
    const [b = 1, , h = 1, w = 1] = x.shape;
    const parts = this.to_qkv.call(x).chunk(3, 1).map((t) => t.reshape(b, this.heads, this.dimHead, h * w));
    const [query, key, value] = parts;
    if (!query || !key || !value) throw new Error("Three parts");
    const q = query.softmax(-2).mul(this.scale), k = key.softmax(-1);
    const context = k.matmul(value.transpose(-1, -2));
    const out = context.transpose(-1, -2).matmul(q);
    return this.to_out.call(out.reshape(b, -1, h, w));
  }
}

class Attention extends nn.Module {
  readonly to_qkv: nn.Conv2d;
  readonly to_out: nn.Conv2d;

  constructor(dim: number, readonly heads: number, readonly dimHead: number) {
    super();
    this.to_qkv = new nn.Conv2d(dim, heads * dimHead * 3, 1, { bias: false });
    this.to_out = new nn.Conv2d(heads * dimHead, dim, 1);
  }

  override forward(x: Tensor): Tensor {
    const [b = 1, , h = 1, w = 1] = x.shape;
    const heads = (t: Tensor) => t.reshape(b, this.heads, this.dimHead, h * w).transpose(-1, -2);
    const [q, k, v] = this.to_qkv.call(x).chunk(3, { dim: 1 });
    if (!q || !k || !v) throw new Error("Three parts");
    const out = F.scaledDotProductAttention(heads(q), heads(k), heads(v));
    return this.to_out.call(out.transpose(-1, -2).reshape(b, -1, h, w));
  }
}

class Residual extends nn.Module {
  constructor(readonly fn: nn.Layer) {
    super();
  }

  override forward(x: Tensor): Tensor {
    return this.fn.call(x).add(x);
  }
}

class PreNorm extends nn.Module {
  readonly norm: nn.GroupNorm;

  constructor(dim: number, readonly fn: nn.Layer) {
    super();
    this.norm = new nn.GroupNorm(1, dim);
  }

  override forward(x: Tensor): Tensor {
    return this.fn.call(this.norm.call(x));
  }
}

class Unet extends nn.Module {
  readonly init_conv: nn.Conv2d;
  readonly time_mlp: nn.Sequential;
  readonly down1: ResnetBlock;
  readonly attn1: Residual;
  readonly downsample: nn.Conv2d;
  readonly mid: ResnetBlock;
  readonly mid_attn: Residual;
  readonly upsample: nn.Sequential;
  readonly up1: ResnetBlock;
  readonly final_conv: nn.Conv2d;

  constructor(dim: number, channels: number) {
    super();
    const timeDim = dim * 2;
    this.init_conv = new nn.Conv2d(channels, dim, { kernelSize: 3, padding: 1 });
    this.time_mlp = new nn.Sequential(
      new SinusoidalPosEmb(dim),
      new nn.Linear(dim, timeDim),
      new nn.GELU(),
      new nn.Linear(timeDim, timeDim),
    );
    this.down1 = new ResnetBlock(dim, dim, timeDim);
    this.attn1 = new Residual(new PreNorm(dim, new LinearAttention(dim, 2, 2)));
    this.downsample = new nn.Conv2d(dim, dim * 2, { kernelSize: 4, stride: 2, padding: 1 });
    this.mid = new ResnetBlock(dim * 2, dim * 2, timeDim);
    this.mid_attn = new Residual(new PreNorm(dim * 2, new Attention(dim * 2, 2, 2)));
    this.upsample = new nn.Sequential(
      new nn.Upsample({ scaleFactor: 2, mode: "nearest" }),
      new nn.Conv2d(dim * 2, dim, 3, { padding: 1 }),
    );
    this.up1 = new ResnetBlock(dim * 2, dim, timeDim);
    this.final_conv = new nn.Conv2d(dim, channels, 1);
  }

  override forward(x: Tensor, time: Tensor): Tensor {
    x = this.init_conv.call(x);
    const t = this.time_mlp.call(time.to(x.dtype)), h: Tensor[] = [];
    x = this.down1.call(x, t);
    x = this.attn1.call(x);
    h.push(x);
    x = this.downsample.call(x);
    x = this.mid.call(x, t);
    x = this.mid_attn.call(x);
    x = this.upsample.call(x);
    const skip = h.pop();
    if (!skip) throw new Error("A skip connection");
    x = cat([x, skip], { dim: 1 });
    x = this.up1.call(x, t);
    return this.final_conv.call(x);
  }
}

/** Entries of a schedule by time, as [B, 1, 1, 1]. */
function extract(a: Tensor, t: Tensor, xShape: readonly number[]): Tensor {
  const [b = 1] = t.shape;
  const out = a.gather(-1, t);
  return out.reshape(b, ...new Array<number>(xShape.length - 1).fill(1));
}

class GaussianDiffusion extends nn.Module {
  declare sqrt_alphas_cumprod: Tensor;
  declare sqrt_one_minus_alphas_cumprod: Tensor;
  declare loss_weight: Tensor;

  constructor(readonly model: Unet, timesteps: number) {
    super();
    const betas = linspace(1e-2, 0.3, timesteps);
    const alphasCumprod = cumprod(betas.rsub(1), 0);
    this.registerBuffer("sqrt_alphas_cumprod", alphasCumprod.sqrt());
    this.registerBuffer("sqrt_one_minus_alphas_cumprod", alphasCumprod.rsub(1).sqrt());
    const snr = alphasCumprod.div(alphasCumprod.rsub(1));
    this.registerBuffer("loss_weight", snr.clone().clamp_({ max: 5 }).div(snr));
  }

  qSample(xStart: Tensor, t: Tensor, noise: Tensor): Tensor {
    return extract(this.sqrt_alphas_cumprod, t, xStart.shape).mul(xStart).add(
      extract(this.sqrt_one_minus_alphas_cumprod, t, xStart.shape).mul(noise),
    );
  }

  override forward(xStart: Tensor, t: Tensor, noise: Tensor): Tensor {
    const x = this.qSample(xStart, t, noise);
    const modelOut = this.model.call(x, t);
    let loss = F.mseLoss(modelOut, noise, { reduction: "none" });
    loss = loss.flatten(1).mean(1);
    loss = loss.mul(extract(this.loss_weight, t, loss.shape));
    return loss.mean();
  }
}

class Trainer extends nn.Module {
  readonly diffusion = new GaussianDiffusion(new Unet(4, 2), 10);
  readonly ema: GaussianDiffusion = this.diffusion.clone();

  override forward(image: Tensor, t: Tensor, noise: Tensor): Tensor {
    return this.diffusion.call(image, t, noise);
  }

  updateEma(beta: number): void {
    noGrad(() => {
      const average = new Map(this.ema.namedParameters());
      for (const [name, current] of this.diffusion.namedParameters()) {
        average.get(name)?.lerp_(current, 1 - beta);
      }
    });
  }
}

export const diffusion: Specimen = {
  name: "diffusion",
  make() {
    const trainer = new Trainer();
    trainer.ema.requiresGrad_(false);
    const lossOf = (image: Tensor, t: Tensor, noise: Tensor) => trainer.call(image, t, noise);
    const train = () => {
      const optimizer = new optim.Adam(trainer.diffusion.parameters(), { lr: 0.005, betas: [0.9, 0.99] });
      const step = (image: Tensor, t: Tensor, noise: Tensor) => {
        const loss = lossOf(image, t, noise);
        loss.backward();
        nn.utils.clipGradNorm_(trainer.diffusion.parameters(), 1.0);
        optimizer.step();
        optimizer.zeroGrad();
        trainer.updateEma(0.9);
        return loss.detach();
      };
      return { step };
    };
    return {
      model: trainer,
      forward: (image: Tensor, t: Tensor) => trainer.ema.model.call(image, t),
      loss: lossOf,
      train,
    };
  },
  counts: { forward: ONE, loss: ONE, step: ONE },
};
