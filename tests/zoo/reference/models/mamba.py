"""Mamba, as in tests/zoo/models/mamba.ts."""

import torch
from torch import nn
from torch.nn import functional as F

from zoo import Subject, specimen


class RMSNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


class MambaBlock(nn.Module):
    def __init__(self, dim, state, rank, conv):
        super().__init__()
        inner = 2 * dim
        self.sizes = [rank, state, state]
        self.in_proj = nn.Linear(dim, 2 * inner, bias=False)
        self.conv1d = nn.Conv1d(inner, inner, conv, groups=inner, padding=conv - 1)
        self.x_proj = nn.Linear(inner, rank + 2 * state, bias=False)
        self.dt_proj = nn.Linear(rank, inner)
        self.A_log = nn.Parameter(torch.log(torch.arange(1.0, state + 1).repeat(inner, 1)))
        self.D = nn.Parameter(torch.ones(inner))
        self.out_proj = nn.Linear(inner, dim, bias=False)

    def forward(self, x):
        length = x.size(1)
        x, gate = self.in_proj(x).chunk(2, -1)
        x = F.silu(self.conv1d(x.mT)[..., :length].mT)
        delta, b, c = self.x_proj(x).split(self.sizes, -1)
        delta = F.softplus(self.dt_proj(delta))[..., None]
        a = torch.exp(delta * -self.A_log.exp())
        inputs = delta * b[:, :, None] * x[..., None]
        state, states = 0, []
        for i in range(length):
            state = a[:, i] * state + inputs[:, i]
            states.append(state)
        y = (torch.stack(states, 1) * c[:, :, None]).sum(-1) + x * self.D
        return self.out_proj(y * F.silu(gate))


class ResidualBlock(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.mixer = MambaBlock(dim, 4, 2, 4)
        self.norm = RMSNorm(dim)

    def forward(self, x):
        return self.mixer(self.norm(x)) + x


class Mamba(nn.Module):
    def __init__(self, vocabulary, dim):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, dim)
        self.layers = nn.Sequential(ResidualBlock(dim), ResidualBlock(dim))
        self.norm_f = RMSNorm(dim)
        self.lm_head = nn.Linear(dim, vocabulary, bias=False)
        self.lm_head.weight = self.embedding.weight

    def forward(self, tokens):
        return self.lm_head(self.norm_f(self.layers(self.embedding(tokens))))


@specimen("mamba", lambda: (torch.randint(0, 16, (2, 6)),))
def mamba():
    model = Mamba(16, 6)

    def loss(tokens):
        return F.cross_entropy(model(tokens)[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())

    def train():
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.1, betas=(0.9, 0.95))

        def step(tokens):
            optimizer.zero_grad()
            value = loss(tokens)
            value.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            return value.detach()

        return step

    return Subject(model, forward=model, loss=loss, train=train)
