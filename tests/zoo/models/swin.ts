/**
 * Swin Transformer (Liu et al. 2021) in timm's style: windows by view and permute, cyclic shifts by roll, a table of
 * relative position biases read through an index buffer, masks for shifted windows, patch merging by strided slices.
 */
import { arange, cat, meshgrid, nn, optim, stack, type Tensor, zeros } from "../../../mod.ts";
import { ONE, type Specimen } from "../specimen.ts";

/** [B, H, W, C] → [B · windows, size, size, C] */
function windowPartition(x: Tensor, windowSize: number): Tensor {
  const [B = 1, H = 1, W = 1, C = 1] = x.shape;
  x = x.view(B, H / windowSize, windowSize, W / windowSize, windowSize, C);
  return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, windowSize, windowSize, C);
}

/** The inverse of windowPartition. */
function windowReverse(windows: Tensor, windowSize: number, [H, W]: readonly [number, number]): Tensor {
  const C = windows.shape[windows.ndim - 1] ?? 1;
  const x = windows.view(-1, H / windowSize, W / windowSize, windowSize, windowSize, C);
  return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, H, W, C);
}

class WindowAttention extends nn.Module {
  readonly scale: number;
  readonly relative_position_bias_table: nn.Parameter;
  declare relative_position_index: Tensor;
  readonly qkv: nn.Linear;
  readonly attn_drop: nn.Dropout;
  readonly proj: nn.Linear;
  readonly proj_drop: nn.Dropout;

  constructor(readonly dim: number, readonly windowSize: number, readonly numHeads: number, drop: number) {
    super();
    this.scale = (dim / numHeads) ** -0.5;
    const span = 2 * windowSize - 1;
    this.relative_position_bias_table = new nn.Parameter(zeros([span * span, numHeads]));
    const coords = stack(meshgrid([arange(windowSize), arange(windowSize)], { indexing: "ij" }));
    const coordsFlatten = coords.flatten(1);
    let relativeCoords = coordsFlatten.at(":", ":", null).sub(coordsFlatten.at(":", null, ":"));
    relativeCoords = relativeCoords.permute(1, 2, 0).contiguous();
    relativeCoords.at(":", ":", 0).add_(windowSize - 1);
    relativeCoords.at(":", ":", 1).add_(windowSize - 1);
    relativeCoords.at(":", ":", 0).mul_(span);
    this.registerBuffer("relative_position_index", relativeCoords.sum(-1), { persistent: false });
    this.qkv = new nn.Linear(dim, dim * 3);
    this.attn_drop = new nn.Dropout(drop);
    this.proj = new nn.Linear(dim, dim);
    this.proj_drop = new nn.Dropout(drop);
    nn.init.truncNormal_(this.relative_position_bias_table, { std: 0.02 });
  }

  private relPosBias(): Tensor {
    const area = this.windowSize * this.windowSize;
    const bias = this.relative_position_bias_table
      .at(this.relative_position_index.view(-1))
      .view(area, area, -1);
    return bias.permute(2, 0, 1).contiguous().unsqueeze(0);
  }

  override forward(x: Tensor, mask: Tensor | null = null): Tensor {
    const [B = 1, N = 1, C = 1] = x.shape;
    const qkv = this.qkv.call(x).reshape(B, N, 3, this.numHeads, -1).permute(2, 0, 3, 1, 4);
    const [q, k, v] = [qkv.at(0), qkv.at(1), qkv.at(2)];
    let attn = q.mul(this.scale).matmul(k.transpose(-2, -1));
    attn = attn.add(this.relPosBias());
    if (mask !== null) {
      const nW = mask.shape[0] ?? 1;
      attn = attn.view(-1, nW, this.numHeads, N, N).add(mask.unsqueeze(1).unsqueeze(0));
      attn = attn.view(-1, this.numHeads, N, N);
    }
    attn = attn.softmax(-1);
    attn = this.attn_drop.call(attn);
    x = attn.matmul(v).transpose(1, 2).reshape(B, N, C);
    return this.proj_drop.call(this.proj.call(x));
  }
}

class SwinBlock extends nn.Module {
  readonly norm1: nn.LayerNorm;
  readonly attn: WindowAttention;
  readonly norm2: nn.LayerNorm;
  readonly mlp: nn.Sequential;
  declare attn_mask: Tensor | null;

  constructor(
    readonly dim: number,
    readonly resolution: number,
    readonly windowSize: number,
    readonly shiftSize: number,
    options: { readonly numHeads: number; readonly drop: number },
  ) {
    super();
    this.norm1 = new nn.LayerNorm(dim);
    this.attn = new WindowAttention(dim, windowSize, options.numHeads, options.drop);
    this.norm2 = new nn.LayerNorm(dim);
    this.mlp = new nn.Sequential(
      new nn.Linear(dim, 2 * dim),
      new nn.GELU(),
      new nn.Dropout(options.drop),
      new nn.Linear(2 * dim, dim),
      new nn.Dropout(options.drop),
    );
    this.registerBuffer("attn_mask", this.attentionMask(), { persistent: false });
  }

  private attentionMask(): Tensor | null {
    const { resolution, windowSize, shiftSize } = this;
    if (shiftSize === 0) return null;
    const imgMask = zeros([1, resolution, resolution, 1]);
    let cnt = 0;
    const slices = [[0, -windowSize], [-windowSize, -shiftSize], [-shiftSize, resolution]] as const;
    for (const h of slices) {
      for (const w of slices) {
        imgMask.set([":", `${h[0]}:${h[1]}`, `${w[0]}:${w[1]}`, ":"], cnt);
        cnt += 1;
      }
    }
    const maskWindows = windowPartition(imgMask, windowSize).view(-1, windowSize * windowSize);
    const attnMask = maskWindows.unsqueeze(1).sub(maskWindows.unsqueeze(2));
    return attnMask.maskedFill(attnMask.ne(0), -100).maskedFill(attnMask.eq(0), 0);
  }

  private attend(x: Tensor): Tensor {
    const [B = 1, H = 1, W = 1, C = 1] = x.shape;
    const { shiftSize, windowSize } = this;
    const shiftedX = shiftSize > 0 ? x.roll([-shiftSize, -shiftSize], [1, 2]) : x;
    let windows = windowPartition(shiftedX, windowSize);
    windows = windows.view(-1, windowSize * windowSize, C);
    let attnWindows = this.attn.call(windows, this.attn_mask);
    attnWindows = attnWindows.view(-1, windowSize, windowSize, C);
    const joined = windowReverse(attnWindows, windowSize, [H, W]);
    const back = shiftSize > 0 ? joined.roll([shiftSize, shiftSize], { dims: [1, 2] }) : joined;
    return back.view(B, H, W, C);
  }

  override forward(x: Tensor): Tensor {
    const [B = 1, H = 1, W = 1, C = 1] = x.shape;
    x = x.add(this.attend(this.norm1.call(x)));
    x = x.reshape(B, -1, C);
    x = x.add(this.mlp.call(this.norm2.call(x)));
    return x.reshape(B, H, W, C);
  }
}

class PatchMerging extends nn.Module {
  readonly norm: nn.LayerNorm;
  readonly reduction: nn.Linear;

  constructor(dim: number, outDim: number) {
    super();
    this.norm = new nn.LayerNorm(4 * dim);
    this.reduction = new nn.Linear(4 * dim, outDim, { bias: false });
  }

  override forward(x: Tensor): Tensor {
    const x0 = x.at("...", "0::2", "0::2", ":");
    const x1 = x.at("...", "1::2", "0::2", ":");
    const x2 = x.at("...", "0::2", "1::2", ":");
    const x3 = x.at("...", "1::2", "1::2", ":");
    x = cat([x0, x1, x2, x3], -1);
    return this.reduction.call(this.norm.call(x));
  }
}

class Swin extends nn.Module {
  readonly patch_embed: nn.Conv2d;
  readonly layers: nn.ModuleList<nn.Sequential>;
  readonly norm: nn.LayerNorm;
  readonly head: nn.Linear;

  constructor(dim: number, numClasses: number, drop: number) {
    super();
    const options = { numHeads: 2, drop };
    this.patch_embed = new nn.Conv2d(3, dim, { kernelSize: 2, stride: 2 });
    this.layers = new nn.ModuleList([
      new nn.Sequential(
        new SwinBlock(dim, 8, 4, 0, options),
        new SwinBlock(dim, 8, 4, 2, options),
        new PatchMerging(dim, 2 * dim),
      ),
      new nn.Sequential(new SwinBlock(2 * dim, 4, 4, 0, options)),
    ]);
    this.norm = new nn.LayerNorm(2 * dim);
    this.head = new nn.Linear(2 * dim, numClasses);
  }

  override forward(x: Tensor): Tensor {
    x = this.patch_embed.call(x).permute(0, 2, 3, 1);
    for (const layer of this.layers) x = layer.call(x);
    x = this.norm.call(x);
    x = x.mean([1, 2]);
    return this.head.call(x);
  }
}

export const swin: Specimen = {
  name: "swin",
  make({ dropout }) {
    const model = new Swin(4, 5, dropout);
    const criterion = new nn.CrossEntropyLoss();
    const lossOf = (image: Tensor, target: Tensor) => criterion.call(model.call(image), target);
    const train = () => {
      const noDecay = model.namedParameters().filter(([name]) =>
        /relative_position_bias_table|bias|norm/.test(name)
      );
      const skipped = new Set(noDecay.map(([, p]) => p));
      const optimizer = new optim.AdamW([
        { params: model.parameters().filter((p) => !skipped.has(p)) },
        { params: skipped, weightDecay: 0 },
      ], { lr: 0.01, weightDecay: 0.05 });
      const step = (image: Tensor, target: Tensor) => {
        const loss = lossOf(image, target);
        optimizer.zeroGrad();
        loss.backward();
        nn.utils.clipGradNorm_(model.parameters(), 5);
        optimizer.step();
        return loss.detach();
      };
      return { step };
    };
    return { model, forward: (image) => model.call(image), loss: lossOf, train };
  },
  random: true,
  counts: { forward: ONE, loss: ONE, step: ONE },
};
