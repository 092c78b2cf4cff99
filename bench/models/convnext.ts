/** ConvNeXt-T (Liu et al. 2022), as in torchvision, without stochastic depth. */
import { nn, ones, type Tensor } from "../../mod.ts";

const WIDTHS = [96, 192, 384, 768] as const, DEPTHS = [3, 3, 9, 3] as const, EPS = { eps: 1e-6 };

/** Layer norm over the channels of images. */
class ChannelNorm extends nn.LayerNorm {
  override forward(x: Tensor): Tensor {
    return super.forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2);
  }
}

class Block extends nn.Module {
  readonly depthwise: nn.Conv2d;
  readonly norm: nn.LayerNorm;
  readonly wide: nn.Linear;
  readonly narrow: nn.Linear;
  readonly scale: nn.Parameter;

  constructor(width: number) {
    super();
    this.depthwise = new nn.Conv2d(width, width, 7, { padding: 3, groups: width });
    this.norm = new nn.LayerNorm(width, EPS);
    this.wide = new nn.Linear(width, 4 * width);
    this.narrow = new nn.Linear(4 * width, width);
    this.scale = new nn.Parameter(ones([width, 1, 1]).mul(1e-6));
  }

  override forward(x: Tensor): Tensor {
    const rows = this.norm.call(this.depthwise.call(x).permute(0, 2, 3, 1));
    const mixed = this.narrow.call(nn.functional.gelu(this.wide.call(rows)));
    return mixed.permute(0, 3, 1, 2).mul(this.scale).add(x);
  }
}

/** Maps images [batch, 3, height, width] to scores [batch, 1000]. */
export class ConvNeXt extends nn.Module {
  readonly features: nn.Sequential;
  readonly norm: nn.LayerNorm;
  readonly head: nn.Linear;

  constructor() {
    super();
    const layers = WIDTHS.flatMap((width, stage) => {
      const before = WIDTHS[stage - 1];
      const down = before === undefined
        ? [new nn.Conv2d(3, width, 4, { stride: 4 }), new ChannelNorm(width, EPS)]
        : [new ChannelNorm(before, EPS), new nn.Conv2d(before, width, 2, { stride: 2 })];
      return [...down, ...Array.from({ length: DEPTHS[stage] ?? 0 }, () => new Block(width))];
    });
    this.features = new nn.Sequential(...layers);
    this.norm = new nn.LayerNorm(WIDTHS[3], EPS);
    this.head = new nn.Linear(WIDTHS[3], 1000);
  }

  override forward(x: Tensor): Tensor {
    return this.head.call(this.norm.call(this.features.call(x).mean([-2, -1])));
  }
}
