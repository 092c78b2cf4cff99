"""Graph convolution and attention, as in tests/zoo/models/graph_network.ts."""

import torch
from torch import nn
from torch.nn import functional as F

from zoo import Subject, specimen


class GCNConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.lin = nn.Linear(inputs, outputs, bias=False)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x, edges):
        row, col = edges
        x = self.lin(x)
        degree = torch.zeros(len(x), dtype=x.dtype).index_add(0, col, torch.ones(len(col), dtype=x.dtype))
        scale = degree.pow(-0.5)
        messages = x[row] * (scale[row] * scale[col])[:, None]
        return torch.zeros_like(x).index_add(0, col, messages) + self.bias


class GATConv(nn.Module):
    def __init__(self, inputs, outputs, heads):
        super().__init__()
        self.heads = heads
        self.lin = nn.Linear(inputs, heads * outputs, bias=False)
        self.att_src = nn.Parameter(torch.randn(1, heads, outputs) * 0.5)
        self.att_dst = nn.Parameter(torch.randn(1, heads, outputs) * 0.5)
        self.bias = nn.Parameter(torch.zeros(heads * outputs))

    def forward(self, x, edges):
        source, target = edges
        h = self.lin(x).view(len(x), self.heads, -1)
        scores = (h * self.att_src).sum(-1)[source] + (h * self.att_dst).sum(-1)[target]
        weights = F.leaky_relu(scores, 0.2).exp()
        sums = torch.zeros(len(x), self.heads, dtype=x.dtype).index_add(0, target, weights)
        weights = weights / sums[target]
        return torch.zeros_like(h).index_add(0, target, h[source] * weights[..., None]).flatten(1) + self.bias


class GraphClassifier(nn.Module):
    def __init__(self, inputs, hidden, classes):
        super().__init__()
        self.conv1 = GCNConv(inputs, hidden)
        self.norm = nn.BatchNorm1d(hidden)
        self.conv2 = GATConv(hidden, hidden, 2)
        self.lin = nn.Linear(2 * hidden, classes)

    def forward(self, x, edges, batch):
        x = torch.relu(self.norm(self.conv1(x, edges)))
        x = F.elu(self.conv2(x, edges))
        means = [x[batch == graph].mean(0) for graph in range(2)]
        return self.lin(torch.stack(means))


def batch():
    pairs = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (4, 5), (5, 6), (6, 4)]
    edges = pairs + [(b, a) for a, b in pairs] + [(i, i) for i in range(7)]
    return (
        torch.randn(7, 4),
        torch.tensor(edges).t().contiguous(),
        torch.tensor([0, 0, 0, 0, 1, 1, 1]),
        torch.tensor([2, 0]),
    )


@specimen("graph_network", batch)
def graph_network():
    model = GraphClassifier(4, 4, 3)

    def train():
        optimizer = torch.optim.AdamW(
            [
                {"params": model.conv1.parameters(), "weight_decay": 0.05, "lr": 0.02},
                {"params": [*model.norm.parameters(), *model.conv2.parameters()]},
                {"params": model.lin.parameters(), "weight_decay": 0.0},
            ],
            lr=0.01,
        )

        def step(x, edges, batch, y):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x, edges, batch), y)
            loss.backward()
            optimizer.step()
            return loss.detach()

        return step

    return Subject(
        model,
        forward=lambda x, edges, batch, y: model(x, edges, batch),
        loss=lambda x, edges, batch, y: F.cross_entropy(model(x, edges, batch), y),
        train=train,
    )
