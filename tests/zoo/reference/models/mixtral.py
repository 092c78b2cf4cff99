"""Mixtral, as in tests/zoo/models/mixtral.ts."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from zoo import Subject, specimen


class RMSNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)


def rotated(x, angles):
    a, b = x.chunk(2, -1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


class Attention(nn.Module):
    def __init__(self, dim, heads, shared):
        super().__init__()
        self.size = dim // heads
        self.repeats = heads // shared
        self.q_proj = nn.Linear(dim, dim, bias=False)
        self.k_proj = nn.Linear(dim, shared * self.size, bias=False)
        self.v_proj = nn.Linear(dim, shared * self.size, bias=False)
        self.o_proj = nn.Linear(dim, dim, bias=False)

    def forward(self, x, angles, allowed):
        q, k, v = (
            project(x).unflatten(-1, (-1, self.size)).transpose(1, 2)
            for project in (self.q_proj, self.k_proj, self.v_proj)
        )
        k, v = (x.repeat_interleave(self.repeats, 1) for x in (rotated(k, angles), v))
        scores = rotated(q, angles) @ k.mT / math.sqrt(self.size)
        weights = scores.masked_fill(~allowed, -torch.inf).softmax(-1)
        return self.o_proj((weights @ v).transpose(1, 2).flatten(2))


class Expert(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.w1 = nn.Linear(dim, hidden, bias=False)
        self.w2 = nn.Linear(hidden, dim, bias=False)
        self.w3 = nn.Linear(dim, hidden, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class SparseMoe(nn.Module):
    def __init__(self, dim, count):
        super().__init__()
        self.gate = nn.Linear(dim, count, bias=False)
        self.experts = nn.ModuleList([Expert(dim, 2 * dim) for _ in range(count)])

    def forward(self, x):
        logits = self.gate(x)
        weights, chosen = logits.softmax(-1).topk(2, -1)
        weights = weights / weights.sum(-1, keepdim=True)
        out = 0
        for i, expert in enumerate(self.experts):
            out = out + expert(x) * (weights * (chosen == i)).sum(-1, keepdim=True)
        return out, logits.flatten(0, 1)


class Layer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.self_attn = Attention(dim, 4, 2)
        self.block_sparse_moe = SparseMoe(dim, 3)
        self.input_layernorm = RMSNorm(dim)
        self.post_attention_layernorm = RMSNorm(dim)

    def forward(self, x, angles, allowed):
        x = x + self.self_attn(self.input_layernorm(x), angles, allowed)
        hidden, logits = self.block_sparse_moe(self.post_attention_layernorm(x))
        return x + hidden, logits


class Mixtral(nn.Module):
    def __init__(self, vocabulary, dim, window):
        super().__init__()
        self.window = window
        self.embed_tokens = nn.Embedding(vocabulary, dim)
        self.layers = nn.ModuleList([Layer(dim) for _ in range(2)])
        self.norm = RMSNorm(dim)
        self.lm_head = nn.Linear(dim, vocabulary, bias=False)
        self.lm_head.weight = self.embed_tokens.weight
        self.size = dim // 4

    def forward(self, tokens):
        x = self.embed_tokens(tokens)
        places = torch.arange(tokens.size(1))
        frequencies = 10000.0 ** -(torch.arange(0, self.size, 2) / self.size)
        distance = places[:, None] - places
        allowed = (distance >= 0) & (distance < self.window)
        angles = (places[:, None] * frequencies).to(x.dtype)
        routes = []
        for layer in self.layers:
            x, logits = layer(x, angles, allowed)
            routes.append(logits)
        return self.lm_head(self.norm(x)), torch.cat(routes)


def balancing(logits):
    weights = logits.softmax(-1)
    chosen = F.one_hot(weights.topk(2, -1)[1], 3).to(weights.dtype).mean(0)
    return (chosen * weights.mean(0)).sum() * 3


@specimen("mixtral", lambda: (torch.randint(0, 16, (2, 7)),))
def mixtral():
    model = Mixtral(16, 8, 4)

    def loss(tokens):
        logits, routes = model(tokens)
        return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()) + 0.02 * balancing(routes)

    def train():
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.1)

        def step(tokens):
            value = loss(tokens)
            value.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            return value.detach()

        return step

    return Subject(model, forward=lambda tokens: model(tokens)[0], loss=loss, train=train)
