"""Detection with a transformer, as in tests/zoo/models/detr.ts."""

import torch
from torch import nn
from torch.nn import functional as F

from zoo import Subject, specimen


def corners(boxes):
    center, size = boxes.split(2, -1)
    return torch.cat([center - size / 2, center + size / 2], -1)


def area(boxes):
    return (boxes[..., 2:] - boxes[..., :2]).prod(-1)


def generalized_iou(a, b):
    """Of boxes that broadcast."""
    inside = (torch.min(a[..., 2:], b[..., 2:]) - torch.max(a[..., :2], b[..., :2])).clamp(min=0).prod(-1)
    union = area(a) + area(b) - inside
    around = (torch.max(a[..., 2:], b[..., 2:]) - torch.min(a[..., :2], b[..., :2])).prod(-1)
    return inside / union - (around - union) / around


class DETR(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.backbone = nn.Conv2d(3, hidden, 3, stride=2, padding=1)
        self.transformer = nn.Transformer(hidden, 2, 1, 1, 12, 0.0, batch_first=True)
        self.linear_class = nn.Linear(hidden, 4)
        self.linear_bbox = nn.Linear(hidden, 4)
        self.query_pos = nn.Parameter(torch.rand(4, hidden))
        self.row_embed = nn.Parameter(torch.rand(6, hidden // 2))
        self.col_embed = nn.Parameter(torch.rand(6, hidden // 2))

    def forward(self, image):
        h = self.backbone(image)
        height, width = h.shape[-2:]
        columns = self.col_embed[:width].expand(height, -1, -1)
        rows = self.row_embed[:height, None].expand(-1, width, -1)
        positions = torch.cat([columns, rows], -1).flatten(0, 1)
        h = self.transformer(positions + 0.1 * h.flatten(2).mT, self.query_pos.expand(len(image), -1, -1))
        return self.linear_class(h), self.linear_bbox(h).sigmoid()


def assigned(cost):
    free = set(range(len(cost)))
    pairs = []
    for target in range(cost.size(1)):
        best = min(sorted(free), key=lambda i: cost[i, target].item())
        free.remove(best)
        pairs.append((best, target))
    return sorted(pairs)


def criterion(logits, boxes, labels, targets):
    classes = torch.full(logits.shape[:2], 3)
    found, wanted = [], []
    with torch.no_grad():
        probabilities = logits.softmax(-1)
    for i in range(len(logits)):
        with torch.no_grad():
            cost = 5 * torch.cdist(boxes[i], targets[i], p=1) - probabilities[i][:, labels[i]]
            cost = cost - 2 * generalized_iou(corners(boxes[i])[:, None], corners(targets[i]))
        for source, target in assigned(cost):
            classes[i, source] = labels[i, target]
            found.append(boxes[i, source])
            wanted.append(targets[i, target])
    found, wanted = torch.stack(found), torch.stack(wanted)
    weights = torch.tensor([1, 1, 1, 0.1], dtype=logits.dtype)
    by_class = F.cross_entropy(logits.mT, classes, weights)
    distance = (found - wanted).abs().sum() / len(found)
    overlap = (1 - generalized_iou(corners(found), corners(wanted))).mean()
    return by_class + 5 * distance + 2 * overlap


def batch():
    return torch.randn(2, 3, 8, 8), torch.tensor([[0, 2], [1, 1]]), torch.rand(2, 2, 4) * 0.4 + 0.3


@specimen("detr", batch)
def detr():
    model = DETR(8)

    def loss(image, labels, targets):
        return criterion(*model(image), labels, targets)

    def train():
        rest = [p for name, p in model.named_parameters() if "backbone" not in name]
        optimizer = torch.optim.AdamW(
            [{"params": rest}, {"params": model.backbone.parameters(), "lr": 1e-3}], lr=3e-3, weight_decay=1e-4
        )

        def step(*batch):
            value = loss(*batch)
            optimizer.zero_grad()
            value.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            optimizer.step()
            return value.detach()

        return step

    return Subject(model, forward=lambda image, *_: torch.cat(model(image), -1), loss=loss, train=train)
