/**
 * A speech encoder of Conformer blocks (Gulati et al. 2020) as in ESPnet: half-weighted feed-forward parts, attention
 * with relative positions whose scores are shifted by a padded view (Dai et al. 2019), a gated depthwise convolution
 * with a batch norm, padding masked by lengths; connectionist temporal classification; Adam, clipped gradients.
 */
import { arange, cat, cos, exp, finfo, nn, optim, sin, softmax, type Tensor, zeros } from "../../../mod.ts";
import { ONE, type Specimen } from "../specimen.ts";

const F = nn.functional;

class RelPositionMultiHeadedAttention extends nn.Module {
  readonly dK: number;
  readonly linear_q: nn.Linear;
  readonly linear_k: nn.Linear;
  readonly linear_v: nn.Linear;
  readonly linear_out: nn.Linear;
  readonly linear_pos: nn.Linear;
  readonly pos_bias_u: nn.Parameter;
  readonly pos_bias_v: nn.Parameter;

  constructor(readonly heads: number, dim: number, readonly dropout: nn.Dropout) {
    super();
    this.dK = dim / heads;
    this.linear_q = new nn.Linear(dim, dim);
    this.linear_k = new nn.Linear(dim, dim);
    this.linear_v = new nn.Linear(dim, dim);
    this.linear_out = new nn.Linear(dim, dim);
    this.linear_pos = new nn.Linear(dim, dim, { bias: false });
    this.pos_bias_u = new nn.Parameter(zeros(heads, this.dK));
    this.pos_bias_v = new nn.Parameter(zeros(heads, this.dK));
    nn.init.xavierUniform_(this.pos_bias_u);
    nn.init.xavierUniform_(this.pos_bias_v);
  }

  /** Moves row i of scores of distances by i: [B, H, T, 2T − 1] → [B, H, T, T] */
  private relShift(x: Tensor): Tensor {
    const [B = 1, H = 1, T = 1, spans = 1] = x.shape;
    const zeroPad = zeros([B, H, T, 1], { dtype: x.dtype, device: x.device });
    const padded = cat([zeroPad, x], { dim: -1 }).view(B, H, spans + 1, T);
    return padded.at(":", ":", "1:").viewAs(x).at(":", ":", ":", { stop: Math.floor(spans / 2) + 1 });
  }

  override forward(x: Tensor, posEmb: Tensor, mask: Tensor): Tensor {
    const B = x.size(0);
    const heads = (x: Tensor) => x.view(x.size(0), -1, this.heads, this.dK);
    const q = heads(this.linear_q.call(x));
    const k = heads(this.linear_k.call(x)).transpose(1, 2);
    const v = heads(this.linear_v.call(x)).transpose(1, 2);
    const p = heads(this.linear_pos.call(posEmb)).transpose(1, 2);
    const matrixAc = q.add(this.pos_bias_u).transpose(1, 2).matmul(k.transpose(-2, -1));
    const matrixBd = this.relShift(q.add(this.pos_bias_v).transpose(1, 2).matmul(p.transpose(-2, -1)));
    const scores = matrixAc.add(matrixBd).div(Math.sqrt(this.dK));
    const hidden = mask.unsqueeze(1).eq(0);
    const masked = scores.maskedFill(hidden, finfo(scores.dtype).min);
    const attn = this.dropout.call(softmax(masked, -1).maskedFill(hidden, 0));
    return this.linear_out.call(
      attn.matmul(v).transpose(1, 2).contiguous().view(B, -1, this.heads * this.dK),
    );
  }
}

class ConvolutionModule extends nn.Module {
  readonly pointwise_conv1: nn.Conv1d;
  readonly depthwise_conv: nn.Conv1d;
  readonly norm: nn.BatchNorm1d;
  readonly pointwise_conv2: nn.Conv1d;
  readonly activation: (x: Tensor) => Tensor = F.silu;

  constructor(channels: number, kernelSize: number) {
    super();
    const padding = (kernelSize - 1) / 2;
    this.pointwise_conv1 = new nn.Conv1d(channels, 2 * channels, 1);
    this.depthwise_conv = new nn.Conv1d(channels, channels, kernelSize, { padding, groups: channels });
    this.norm = new nn.BatchNorm1d(channels);
    this.pointwise_conv2 = new nn.Conv1d(channels, channels, 1);
  }

  override forward(x: Tensor): Tensor {
    x = x.transpose(1, 2);
    x = F.glu(this.pointwise_conv1.call(x), { dim: 1 });
    x = this.activation(this.norm.call(this.depthwise_conv.call(x)));
    return this.pointwise_conv2.call(x).transpose(1, 2);
  }
}

class EncoderLayer extends nn.Module {
  readonly feed_forward_macaron: nn.Sequential;
  readonly feed_forward: nn.Sequential;
  readonly self_attn: RelPositionMultiHeadedAttention;
  readonly conv_module: ConvolutionModule;
  readonly norm_mha: nn.LayerNorm;
  readonly norm_conv: nn.LayerNorm;
  readonly norm_final: nn.LayerNorm;
  readonly dropout: nn.Dropout;
  readonly ffScale = 0.5;

  constructor(dim: number, drop: number) {
    super();
    this.dropout = new nn.Dropout(drop);
    const feedForward = () =>
      new nn.Sequential(new nn.LayerNorm(dim), new nn.Linear(dim, 12), new nn.SiLU(), new nn.Linear(12, dim));
    this.feed_forward_macaron = feedForward();
    this.feed_forward = feedForward();
    this.self_attn = new RelPositionMultiHeadedAttention(2, dim, this.dropout);
    this.conv_module = new ConvolutionModule(dim, 3);
    this.norm_mha = new nn.LayerNorm(dim);
    this.norm_conv = new nn.LayerNorm(dim);
    this.norm_final = new nn.LayerNorm(dim);
  }

  override forward(x: Tensor, posEmb: Tensor, mask: Tensor): Tensor {
    x = x.add(this.dropout.call(this.feed_forward_macaron.call(x)).mul(this.ffScale));
    x = x.add(this.dropout.call(this.self_attn.call(this.norm_mha.call(x), posEmb, mask)));
    x = x.add(this.dropout.call(this.conv_module.call(this.norm_conv.call(x))));
    x = x.add(this.dropout.call(this.feed_forward.call(x)).mul(this.ffScale));
    return this.norm_final.call(x);
  }
}

class Conformer extends nn.Module {
  readonly embed: nn.Linear;
  readonly encoders: nn.ModuleList<EncoderLayer>;
  readonly ctc_lo: nn.Linear;

  constructor(inputs: number, readonly dim: number, vocabulary: number, drop: number) {
    super();
    this.embed = new nn.Linear(inputs, dim);
    this.encoders = new nn.ModuleList([new EncoderLayer(dim, drop)]);
    this.ctc_lo = new nn.Linear(dim, vocabulary);
  }

  /** Sines and cosines of the distances T − 1 to 1 − T. */
  private positions(x: Tensor): Tensor {
    const T = x.size(1), options = { dtype: x.dtype, device: x.device };
    const position = arange(T - 1, -T, -1, options).unsqueeze(1);
    const divTerm = exp(arange(0, this.dim, 2, options).mul(-(Math.log(10000) / this.dim)));
    const pe = zeros(2 * T - 1, this.dim, options);
    pe.set([":", "0::2"], sin(position.mul(divTerm)));
    pe.set([":", "1::2"], cos(position.mul(divTerm)));
    return pe.unsqueeze(0);
  }

  override forward(x: Tensor, lengths: Tensor): Tensor {
    const mask = arange(x.size(1), { device: x.device }).at(null).lt(lengths.at(":", null)).unsqueeze(-2);
    x = this.embed.call(x).mul(Math.sqrt(this.dim));
    const posEmb = this.positions(x);
    for (const layer of this.encoders) x = layer.call(x, posEmb, mask);
    return F.logSoftmax(this.ctc_lo.call(x), { dim: 2 });
  }
}

export const conformer: Specimen = {
  name: "conformer",
  make({ dropout }) {
    const model = new Conformer(4, 8, 6, dropout), criterion = new nn.CTCLoss({ zeroInfinity: true });
    const lossOf = (speech: Tensor, lengths: Tensor, text: Tensor, textLengths: Tensor) =>
      criterion.call(model.call(speech, lengths).transpose(0, 1), text, lengths, textLengths);
    const train = () => {
      const optimizer = new optim.Adam(model.parameters(), { lr: 3e-3, betas: [0.9, 0.98], eps: 1e-9 });
      const step = (...batch: [Tensor, Tensor, Tensor, Tensor]) => {
        optimizer.zeroGrad();
        const loss = lossOf(...batch);
        loss.backward();
        nn.utils.clipGradNorm_(model.parameters(), 1);
        optimizer.step();
        return loss.detach();
      };
      return { step };
    };
    return { model, forward: (speech, lengths) => model.call(speech, lengths), loss: lossOf, train };
  },
  random: true,
  counts: { forward: ONE, loss: ONE, step: ONE },
};
