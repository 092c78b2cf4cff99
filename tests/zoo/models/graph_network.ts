/**
 * Graph networks in the style of PyTorch Geometric's layers: normalised convolution over edges (Kipf and Welling 2017)
 * by indexAdd, attention over a node's neighbours (Veličković et al. 2018) by a softmax over scattered maxima and
 * sums, pooling of nodes into graphs; AdamW, two rates.
 */
import { empty, nn, optim, type Tensor, zeros } from "../../../mod.ts";
import { ONE, type Specimen } from "../specimen.ts";

const F = nn.functional;

class GCNConv extends nn.Module {
  readonly lin: nn.Linear;
  readonly bias: nn.Parameter;

  constructor(inChannels: number, outChannels: number) {
    super();
    this.lin = new nn.Linear(inChannels, outChannels, { bias: false });
    this.bias = new nn.Parameter(zeros([outChannels]));
  }

  override forward(x: Tensor, edgeIndex: Tensor): Tensor {
    const [row, col] = [edgeIndex.at(0), edgeIndex.at(1)];
    const numNodes = x.size(0);
    x = this.lin.call(x);
    const deg = zeros([numNodes], { dtype: x.dtype, device: x.device });
    deg.scatterAdd_(0, col, x.detach().at(":", 0).mul(0).add(1).indexSelect(0, row));
    const degInvSqrt = deg.pow(-0.5);
    const norm = degInvSqrt.at(row).mul(degInvSqrt.at(col));
    const messages = x.indexSelect(0, row).mul(norm.view(-1, 1));
    const out = zeros([numNodes, x.size(1)], { dtype: x.dtype, device: x.device });
    out.indexAdd_(0, col, messages);
    return out.add(this.bias);
  }
}

class GATConv extends nn.Module {
  readonly lin: nn.Linear;
  readonly att_src: nn.Parameter;
  readonly att_dst: nn.Parameter;
  readonly bias: nn.Parameter;

  constructor(
    inChannels: number,
    readonly outChannels: number,
    readonly heads: number,
    readonly dropout: number,
  ) {
    super();
    this.lin = new nn.Linear(inChannels, heads * outChannels, { bias: false });
    this.att_src = new nn.Parameter(empty([1, heads, outChannels]));
    this.att_dst = new nn.Parameter(empty([1, heads, outChannels]));
    this.bias = new nn.Parameter(zeros([heads * outChannels]));
    nn.init.xavierUniform_(this.att_src);
    nn.init.xavierUniform_(this.att_dst);
  }

  /** Shares of edges among those with the same end. */
  private softmax(alpha: Tensor, index: Tensor, numNodes: number): Tensor {
    const wide = index.view(-1, 1).expandAs(alpha);
    const largest = zeros([numNodes, this.heads], { dtype: alpha.dtype, device: alpha.device })
      .scatterReduce(0, wide, alpha.detach(), "amax", { includeSelf: false });
    const out = alpha.sub(largest.gather(0, wide)).exp();
    const sums = zeros([numNodes, this.heads], { dtype: alpha.dtype, device: alpha.device })
      .scatterAdd(0, wide, out);
    return out.div(sums.add(1e-16).gather(0, wide));
  }

  override forward(x: Tensor, edgeIndex: Tensor): Tensor {
    const [src, dst] = edgeIndex.unbind(0);
    if (!src || !dst) throw new Error("Two rows");
    const h = this.lin.call(x).view(-1, this.heads, this.outChannels), numNodes = h.size(0);
    const alphaSrc = h.mul(this.att_src).sum(-1), alphaDst = h.mul(this.att_dst).sum(-1);
    let alpha = alphaSrc.at(src).add(alphaDst.at(dst));
    alpha = F.leakyRelu(alpha, 0.2);
    alpha = this.softmax(alpha, dst, numNodes);
    alpha = F.dropout(alpha, { p: this.dropout, training: this.training });
    const messages = h.at(src).mul(alpha.unsqueeze(-1));
    const out = zeros(h.shape, { dtype: h.dtype, device: h.device }).indexAdd(0, dst, messages);
    return out.view(-1, this.heads * this.outChannels).add(this.bias);
  }
}

class GraphClassifier extends nn.Module {
  readonly conv1: GCNConv;
  readonly norm: nn.BatchNorm1d;
  readonly conv2: GATConv;
  readonly lin: nn.Linear;

  constructor(inChannels: number, hidden: number, numClasses: number, readonly dropout: number) {
    super();
    this.conv1 = new GCNConv(inChannels, hidden);
    this.norm = new nn.BatchNorm1d(hidden);
    this.conv2 = new GATConv(hidden, hidden, 2, dropout);
    this.lin = new nn.Linear(2 * hidden, numClasses);
  }

  override forward(x: Tensor, edgeIndex: Tensor, batch: Tensor): Tensor {
    x = this.conv1.call(x, edgeIndex);
    x = F.relu(this.norm.call(x), { inplace: true });
    x = F.elu(this.conv2.call(x, edgeIndex));
    const size = 2;
    const count = zeros([size], { dtype: x.dtype, device: x.device })
      .indexAdd_(0, batch, x.detach().at(":", 0).mul(0).add(1));
    const pooled = zeros([size, x.size(1)], { dtype: x.dtype, device: x.device }).indexAdd_(0, batch, x);
    x = pooled.div(count.unsqueeze(1).clamp({ min: 1 }));
    x = F.dropout(x, this.dropout, this.training);
    return this.lin.call(x);
  }
}

export const graphNetwork: Specimen = {
  name: "graph_network",
  make({ dropout }) {
    const model = new GraphClassifier(4, 4, 3, dropout);
    const lossOf = (x: Tensor, edgeIndex: Tensor, batch: Tensor, y: Tensor) =>
      F.crossEntropy(model.call(x, edgeIndex, batch), y);
    const train = () => {
      const optimizer = new optim.AdamW([
        { params: model.conv1.parameters(), weightDecay: 0.05, lr: 0.02 },
        { params: [...model.norm.parameters(), ...model.conv2.parameters()] },
        { params: model.lin.parameters(), weightDecay: 0 },
      ], { lr: 0.01 });
      const step = (x: Tensor, edgeIndex: Tensor, batch: Tensor, y: Tensor) => {
        optimizer.zeroGrad();
        const loss = lossOf(x, edgeIndex, batch, y);
        loss.backward();
        optimizer.step();
        return loss.detach();
      };
      return { step };
    };
    return {
      model,
      forward: (x: Tensor, edgeIndex: Tensor, batch: Tensor) => model.call(x, edgeIndex, batch),
      loss: lossOf,
      train,
    };
  },
  random: true,
  counts: { forward: ONE, loss: ONE, step: ONE },
};
