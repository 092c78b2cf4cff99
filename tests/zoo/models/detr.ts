/**
 * DETR (Carion et al. 2020) as in its authors' demonstration: a convolution and nn.Transformer, learnt positions and
 * queries; predictions are matched to boxes on the host from lists, the indices come back as tensors; class weights,
 * absolute and generalised IoU losses; AdamW, clipped gradients.
 */
import {
  cat,
  cdist,
  diag,
  full,
  max,
  min,
  nn,
  noGrad,
  ones,
  optim,
  rand,
  stack,
  type Tensor,
  tensor,
} from "../../../mod.ts";
import { ONE, type Specimen } from "../specimen.ts";

const F = nn.functional;

/** Classes beside "no object". */
const CLASSES = 3;

function boxCxcywhToXyxy(x: Tensor): Tensor {
  const [cx, cy, w, h] = x.unbind(-1) as [Tensor, Tensor, Tensor, Tensor];
  return stack([cx.sub(w.mul(0.5)), cy.sub(h.mul(0.5)), cx.add(w.mul(0.5)), cy.add(h.mul(0.5))], { dim: -1 });
}

function boxArea(boxes: Tensor): Tensor {
  return boxes.at(":", 2).sub(boxes.at(":", 0)).mul(boxes.at(":", 3).sub(boxes.at(":", 1)));
}

/** Overlaps of every box with every other, less the empty share of what encloses both: [N, 4], [M, 4] → [N, M] */
function generalizedBoxIou(boxes1: Tensor, boxes2: Tensor): Tensor {
  let lt = max(boxes1.at(":", null, ":2"), boxes2.at(":", ":2"));
  let rb = min(boxes1.at(":", null, "2:"), boxes2.at(":", "2:"));
  let wh = rb.sub(lt).clamp({ min: 0 });
  const inter = wh.at(":", ":", 0).mul(wh.at(":", ":", 1));
  const union = boxArea(boxes1).at(":", null).add(boxArea(boxes2)).sub(inter);
  lt = min(boxes1.at(":", null, ":2"), boxes2.at(":", ":2"));
  rb = max(boxes1.at(":", null, "2:"), boxes2.at(":", "2:"));
  wh = rb.sub(lt).clamp({ min: 0 });
  const area = wh.at(":", ":", 0).mul(wh.at(":", ":", 1));
  return inter.div(union).sub(area.sub(union).div(area));
}

/** Gives each target in turn the cheapest prediction that is left: pairs by prediction. */
function assign(cost: readonly (readonly number[])[]): [number, number][] {
  const used = new Set<number>(), pairs: [number, number][] = [];
  for (const target of cost[0]?.keys() ?? []) {
    let best = -1;
    for (const [i, row] of cost.entries()) {
      if (used.has(i)) continue;
      if (best < 0 || (row[target] ?? 0) < (cost[best]?.[target] ?? 0)) best = i;
    }
    used.add(best);
    pairs.push([best, target]);
  }
  return pairs.sort(([a], [b]) => a - b);
}

class DETR extends nn.Module {
  readonly backbone: nn.Conv2d;
  readonly transformer: nn.Transformer;
  readonly linear_class: nn.Linear;
  readonly linear_bbox: nn.Linear;
  readonly query_pos: nn.Parameter;
  readonly row_embed: nn.Parameter;
  readonly col_embed: nn.Parameter;

  constructor(hidden: number) {
    super();
    this.backbone = new nn.Conv2d(3, hidden, 3, { stride: 2, padding: 1 });
    this.transformer = new nn.Transformer(hidden, 2, 1, 1, 12, 0, { batchFirst: true });
    this.linear_class = new nn.Linear(hidden, CLASSES + 1);
    this.linear_bbox = new nn.Linear(hidden, 4);
    this.query_pos = new nn.Parameter(rand(4, hidden));
    this.row_embed = new nn.Parameter(rand(6, hidden / 2));
    this.col_embed = new nn.Parameter(rand(6, hidden / 2));
  }

  override forward(image: Tensor): readonly [Tensor, Tensor] {
    let h = this.backbone.call(image);
    const [H = 1, W = 1] = h.shape.slice(-2);
    const pos = cat([
      this.col_embed.at({ stop: W }).unsqueeze(0).repeat(H, 1, 1),
      this.row_embed.at({ stop: H }).unsqueeze(1).repeat(1, W, 1),
    ], { dim: -1 }).flatten(0, 1).unsqueeze(0);
    const queries = this.query_pos.unsqueeze(0).expand(image.size(0), -1, -1);
    h = this.transformer.call(pos.add(h.flatten(2).permute(0, 2, 1).mul(0.1)), queries);
    return [this.linear_class.call(h), this.linear_bbox.call(h).sigmoid()];
  }
}

/** Pairs of predictions and targets for each image. */
function matched(logits: Tensor, boxes: Tensor, labels: Tensor, targets: Tensor): [number, number][][] {
  return noGrad(() => {
    const [B = 1, Q = 1] = logits.shape, sizes = labels.size(1);
    const outProb = logits.flatten(0, 1).softmax(-1),
      outBbox = boxes.flatten(0, 1),
      tgtBbox = targets.flatten(0, 1);
    const costClass = outProb.at(":", labels.flatten()).neg();
    const costBbox = cdist(outBbox, tgtBbox, { p: 1 });
    const costGiou = generalizedBoxIou(boxCxcywhToXyxy(outBbox), boxCxcywhToXyxy(tgtBbox)).neg();
    const C = costBbox.mul(5).add(costClass).add(costGiou.mul(2)).view(B, Q, -1).cpu();
    return C.split(sizes, -1).map((c, i) => assign(c.at(i).tolist() as number[][]));
  });
}

/** The loss of predictions against the targets that they are matched to. */
function setCriterion([logits, boxes]: readonly [Tensor, Tensor], labels: Tensor, targets: Tensor): Tensor {
  const pairs = matched(logits, boxes, labels, targets), device = logits.device;
  const batchIdx = tensor(pairs.flatMap((of, i) => of.map(() => i)), { device });
  const srcIdx = tensor(pairs.flatMap((of) => of.map(([src]) => src)), { device });
  const tgtIdx = tensor(pairs.flatMap((of) => of.map(([, tgt]) => tgt)), { device });
  const targetClasses = full([...logits.shape.slice(0, 2)], CLASSES, { dtype: "int64", device });
  targetClasses.set([batchIdx, srcIdx], labels.at(batchIdx, tgtIdx));
  const emptyWeight = ones(CLASSES + 1, { dtype: logits.dtype, device });
  emptyWeight.set([-1], 0.1);
  const lossCe = F.crossEntropy(logits.transpose(1, 2), targetClasses, emptyWeight);
  const src = boxes.at(batchIdx, srcIdx), tgt = targets.at(batchIdx, tgtIdx), count = batchIdx.size(0);
  const lossBbox = F.l1Loss(src, tgt, { reduction: "none" }).sum().div(count);
  const giou = diag(generalizedBoxIou(boxCxcywhToXyxy(src), boxCxcywhToXyxy(tgt)));
  return lossCe.add(lossBbox.mul(5)).add(giou.rsub(1).sum().div(count).mul(2));
}

export const detr: Specimen = {
  name: "detr",
  make() {
    const model = new DETR(8);
    const lossOf = (image: Tensor, labels: Tensor, targets: Tensor) =>
      setCriterion(model.call(image), labels, targets);
    const train = () => {
      const optimizer = new optim.AdamW([
        { params: model.namedParameters().filter(([n]) => !n.includes("backbone")).map(([, p]) => p) },
        { params: model.backbone.parameters(), lr: 1e-3 },
      ], { lr: 3e-3, weightDecay: 1e-4 });
      const step = (image: Tensor, labels: Tensor, targets: Tensor) => {
        const loss = lossOf(image, labels, targets);
        optimizer.zeroGrad();
        loss.backward();
        nn.utils.clipGradNorm_(model.parameters(), 0.1);
        optimizer.step();
        return loss.detach();
      };
      return { step };
    };
    return { model, forward: (image) => cat([...model.call(image)], -1), loss: lossOf, train };
  },
  counts: {
    forward: ONE,
    loss: { graphs: 3, breaks: 2, recompiles: 2 },
    step: { graphs: 6, breaks: 3, recompiles: 12 },
  },
  countsElsewhere: {
    forward: ONE,
    loss: { graphs: 4, breaks: 3, recompiles: 2 },
    step: { graphs: 7, breaks: 4, recompiles: 12 },
  },
};
