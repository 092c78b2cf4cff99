"""A normalising flow, as in tests/zoo/models/glow.ts."""

import math

import torch
from torch import nn

from zoo import Subject, specimen


class ActNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.log_scale = nn.Parameter(torch.zeros(1, dim))
        self.bias = nn.Parameter(torch.zeros(1, dim))
        self.register_buffer("initialized", torch.tensor(False))

    def forward(self, x):
        if self.training and not self.initialized:
            with torch.no_grad():
                self.bias.copy_(-x.mean(0, keepdim=True))
                self.log_scale.copy_(-torch.log(x.std(0, keepdim=True) + 1e-6))
                self.initialized.fill_(True)
        return (x + self.bias) * torch.exp(self.log_scale), self.log_scale.sum()


class InvertibleLinear(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.linalg.qr(torch.randn(dim, dim))[0])

    def forward(self, x):
        return x @ self.weight.mT, self.weight.det().abs().log()


class AffineCoupling(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim // 2, 8), nn.Tanh(), nn.Linear(8, dim))

    def forward(self, x):
        a, b = x.chunk(2, 1)
        scale, shift = self.net(a).chunk(2, 1)
        scale = scale.tanh()
        return torch.cat([a, b * scale.exp() + shift], 1), scale.sum(1)


class Glow(nn.Module):
    def __init__(self, dim):
        super().__init__()
        steps = [step(dim) for _ in range(2) for step in (ActNorm, InvertibleLinear, AffineCoupling)]
        self.flows = nn.ModuleList(steps)
        self.register_buffer("loc", torch.zeros(dim))
        self.register_buffer("scale", torch.ones(dim))

    def forward(self, x):
        total = 0
        for flow in self.flows:
            x, stretch = flow(x)
            total = total + stretch
        return total - (x.pow(2) / 2 + math.log(2 * math.pi) / 2).sum(-1)


@specimen("glow", lambda: (torch.randn(6, 4) * 2 + 1,))
def glow():
    model = Glow(4)

    def train():
        optimizer = torch.optim.Adamax(model.parameters(), lr=0.01)

        def step(x):
            optimizer.zero_grad()
            value = -model(x).mean()
            value.backward()
            optimizer.step()
            return value.detach()

        return step

    return Subject(model, forward=model, loss=lambda x: -model(x).mean(), train=train)
