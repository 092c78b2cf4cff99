/**
 * Vision Transformer (Dosovitskiy et al. 2021) in timm's style: patch embedding, class token, one projection for
 * queries, keys and values taken apart by unbind, layer scale, drop path; AdamW with clipping and a warm-up made of a
 * function.
 */
import { cat, empty, nn, ones, optim, type Tensor, zeros } from "../../../mod.ts";
import { FIRST_AND_REST, ONE, type Specimen } from "../specimen.ts";

class PatchEmbed extends nn.Module {
  readonly numPatches: number;
  readonly proj: nn.Conv2d;
  readonly norm: nn.Module & { forward(x: Tensor): Tensor };

  constructor(imgSize: number, patchSize: number, inChans: number, embedDim: number) {
    super();
    this.numPatches = (imgSize / patchSize) ** 2;
    this.proj = new nn.Conv2d(inChans, embedDim, { kernelSize: patchSize, stride: patchSize });
    this.norm = new nn.Identity();
  }

  override forward(x: Tensor): Tensor {
    x = this.proj.call(x);
    x = x.flatten(2).transpose(1, 2);
    return this.norm.call(x);
  }
}

class Attention extends nn.Module {
  readonly headDim: number;
  readonly scale: number;
  readonly qkv: nn.Linear;
  readonly attn_drop: nn.Dropout;
  readonly proj: nn.Linear;
  readonly proj_drop: nn.Dropout;

  constructor(readonly dim: number, readonly numHeads: number, drop: number) {
    super();
    this.headDim = Math.floor(dim / numHeads);
    this.scale = this.headDim ** -0.5;
    this.qkv = new nn.Linear(dim, dim * 3, { bias: true });
    this.attn_drop = new nn.Dropout(drop);
    this.proj = new nn.Linear(dim, dim);
    this.proj_drop = new nn.Dropout(drop);
  }

  override forward(x: Tensor): Tensor {
    const [B = 1, N = 1, C = 1] = x.shape;
    const qkv = this.qkv.call(x).reshape(B, N, 3, this.numHeads, this.headDim).permute(2, 0, 3, 1, 4);
    let [q, k, v] = qkv.unbind(0);
    if (!q || !k || !v) throw new Error("Three parts");
    q = q.mul(this.scale);
    let attn = q.matmul(k.transpose(-2, -1));
    attn = attn.softmax(-1);
    attn = this.attn_drop.call(attn);
    x = attn.matmul(v);
    x = x.transpose(1, 2).reshape(B, N, C);
    x = this.proj.call(x);
    return this.proj_drop.call(x);
  }
}

class Mlp extends nn.Module {
  readonly fc1: nn.Linear;
  readonly act = new nn.GELU();
  readonly drop1: nn.Dropout;
  readonly fc2: nn.Linear;
  readonly drop2: nn.Dropout;

  constructor(inFeatures: number, hiddenFeatures: number, drop: number) {
    super();
    this.fc1 = new nn.Linear(inFeatures, hiddenFeatures);
    this.drop1 = new nn.Dropout(drop);
    this.fc2 = new nn.Linear(hiddenFeatures, inFeatures);
    this.drop2 = new nn.Dropout(drop);
  }

  override forward(x: Tensor): Tensor {
    return this.drop2.call(this.fc2.call(this.drop1.call(this.act.call(this.fc1.call(x)))));
  }
}

class LayerScale extends nn.Module {
  readonly gamma: nn.Parameter;

  constructor(dim: number, initValues: number, readonly inplace: boolean) {
    super();
    this.gamma = new nn.Parameter(ones([dim]).mul(initValues));
  }

  override forward(x: Tensor): Tensor {
    return this.inplace ? x.mul_(this.gamma) : x.mul(this.gamma);
  }
}

function dropPath(x: Tensor, dropProb: number, training: boolean): Tensor {
  if (dropProb === 0 || !training) return x;
  const keepProb = 1 - dropProb;
  const shape = [x.shape[0] ?? 1].concat(new Array<number>(x.ndim - 1).fill(1));
  return x.mul(empty(shape, { dtype: x.dtype, device: x.device }).bernoulli_(keepProb).div_(keepProb));
}

class Block extends nn.Module {
  readonly norm1: nn.LayerNorm;
  readonly attn: Attention;
  readonly ls1: LayerScale;
  readonly norm2: nn.LayerNorm;
  readonly mlp: Mlp;
  readonly ls2: LayerScale;

  constructor(dim: number, numHeads: number, readonly drop: number) {
    super();
    this.norm1 = new nn.LayerNorm(dim, { eps: 1e-6 });
    this.attn = new Attention(dim, numHeads, drop);
    this.ls1 = new LayerScale(dim, 0.5, true);
    this.norm2 = new nn.LayerNorm(dim, { eps: 1e-6 });
    this.mlp = new Mlp(dim, dim * 2, drop);
    this.ls2 = new LayerScale(dim, 0.5, false);
  }

  override forward(x: Tensor): Tensor {
    x = x.add(dropPath(this.ls1.call(this.attn.call(this.norm1.call(x))), this.drop, this.training));
    x = x.add(dropPath(this.ls2.call(this.mlp.call(this.norm2.call(x))), this.drop, this.training));
    return x;
  }
}

class VisionTransformer extends nn.Module {
  readonly patch_embed: PatchEmbed;
  readonly cls_token: nn.Parameter;
  readonly pos_embed: nn.Parameter;
  readonly pos_drop: nn.Dropout;
  readonly blocks: nn.Sequential;
  readonly norm: nn.LayerNorm;
  readonly head: nn.Linear;

  constructor(readonly embedDim: number, depth: number, options: {
    readonly numHeads: number;
    readonly numClasses: number;
    readonly drop: number;
  }) {
    super();
    this.patch_embed = new PatchEmbed(8, 4, 3, embedDim);
    this.cls_token = new nn.Parameter(zeros([1, 1, embedDim]));
    this.pos_embed = new nn.Parameter(zeros([1, this.patch_embed.numPatches + 1, embedDim]));
    this.pos_drop = new nn.Dropout({ p: options.drop });
    this.blocks = new nn.Sequential(
      ...Array.from({ length: depth }, (_, i) => new Block(embedDim, options.numHeads, options.drop * i)),
    );
    this.norm = new nn.LayerNorm(embedDim, { eps: 1e-6 });
    this.head = new nn.Linear(embedDim, options.numClasses);
    nn.init.truncNormal_(this.pos_embed, { std: 0.02 });
    nn.init.normal_(this.cls_token, { std: 1e-6 });
    this.apply((m) => {
      if (m instanceof nn.Linear) {
        nn.init.truncNormal_(m.weight, { std: 0.02 });
        if (m.bias !== null) nn.init.zeros_(m.bias);
      }
    });
  }

  private posEmbed(x: Tensor): Tensor {
    x = cat([this.cls_token.expand(x.shape[0] ?? 1, -1, -1), x], 1);
    x = x.add(this.pos_embed);
    return this.pos_drop.call(x);
  }

  override forward(x: Tensor): Tensor {
    x = this.patch_embed.call(x);
    x = this.posEmbed(x);
    x = this.blocks.call(x);
    x = this.norm.call(x);
    x = x.at(":", 0);
    return this.head.call(x);
  }
}

export const vit: Specimen = {
  name: "vit",
  make({ dropout }) {
    const model = new VisionTransformer(8, 2, { numHeads: 2, numClasses: 5, drop: dropout });
    const criterion = new nn.CrossEntropyLoss();
    const lossOf = (image: Tensor, target: Tensor) => criterion.call(model.call(image), target);
    const train = () => {
      const optimizer = new optim.AdamW(model.parameters(), {
        lr: 0.02,
        betas: [0.9, 0.95],
        weightDecay: 0.1,
      });
      const scheduler = new optim.lrScheduler.LambdaLR(optimizer, {
        lrLambda: (epoch) => epoch < 3 ? (epoch + 1) / 3 : 0.5 * (1 + Math.cos(Math.PI * (epoch - 3) / 8)),
      });
      const step = (image: Tensor, target: Tensor) => {
        const loss = lossOf(image, target);
        loss.backward();
        nn.utils.clipGradNorm_(model.parameters(), 0.5);
        optimizer.step();
        optimizer.zeroGrad();
        return loss.detach();
      };
      return { step, after: () => scheduler.step() };
    };
    return { model, forward: (image) => model.call(image), loss: lossOf, train };
  },
  random: true,
  counts: { forward: ONE, loss: ONE, step: FIRST_AND_REST },
};
