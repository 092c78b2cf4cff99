"""Gemma 2, as in tests/zoo/models/gemma.ts."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from zoo import Subject, specimen


def capped(x, limit):
    return torch.tanh(x / limit) * limit


class Norm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * (1 + self.weight)


class Attention(nn.Module):
    def __init__(self, dim, layer):
        super().__init__()
        self.window = 3 if layer % 2 == 0 else None
        self.q_proj = nn.Linear(dim, 16, bias=False)
        self.k_proj = nn.Linear(dim, 8, bias=False)
        self.v_proj = nn.Linear(dim, 8, bias=False)
        self.o_proj = nn.Linear(16, dim, bias=False)

    def forward(self, x):
        length = x.size(1)
        at = torch.arange(length)
        angles = at[:, None] * torch.exp(torch.arange(0, 4, 2).to(x) / 4 * -math.log(10000.0))
        angles = torch.cat([angles, angles], -1)

        def rotated(x):
            first, second = x.chunk(2, -1)
            return x * angles.cos() + torch.cat([-second, first], -1) * angles.sin()

        query, key, value = (
            part(x).unflatten(-1, (-1, 4)).transpose(1, 2) for part in (self.q_proj, self.k_proj, self.v_proj)
        )
        query, key = rotated(query), rotated(key).repeat_interleave(2, 1)
        scores = capped(query @ key.mT / 2, 5.0)
        seen = at <= at[:, None]
        if self.window:
            seen = seen & (at > at[:, None] - self.window)
        weights = torch.where(seen, scores, -torch.inf).softmax(-1)
        return self.o_proj((weights @ value.repeat_interleave(2, 1)).transpose(1, 2).flatten(2))


class Feed(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.gate_proj = nn.Linear(dim, hidden, bias=False)
        self.up_proj = nn.Linear(dim, hidden, bias=False)
        self.down_proj = nn.Linear(hidden, dim, bias=False)

    def forward(self, x):
        return self.down_proj(F.gelu(self.gate_proj(x), approximate="tanh") * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, dim, layer):
        super().__init__()
        self.self_attn = Attention(dim, layer)
        self.mlp = Feed(dim, 12)
        self.input_layernorm = Norm(dim)
        self.post_attention_layernorm = Norm(dim)
        self.pre_feedforward_layernorm = Norm(dim)
        self.post_feedforward_layernorm = Norm(dim)

    def forward(self, x):
        x = x + self.post_attention_layernorm(self.self_attn(self.input_layernorm(x)))
        return x + self.post_feedforward_layernorm(self.mlp(self.pre_feedforward_layernorm(x)))


class Gemma(nn.Module):
    def __init__(self, vocabulary, dim):
        super().__init__()
        self.dim = dim
        self.embed_tokens = nn.Embedding(vocabulary, dim)
        self.layers = nn.ModuleList([Layer(dim, 0), Layer(dim, 1)])
        self.norm = Norm(dim)

    def forward(self, tokens):
        x = self.embed_tokens(tokens) * math.sqrt(self.dim)
        for layer in self.layers:
            x = layer(x)
        return capped(F.linear(self.norm(x), self.embed_tokens.weight), 3.0)


@specimen("gemma", lambda: (torch.randint(0, 14, (2, 7)),))
def gemma():
    model = Gemma(14, 8)

    def loss(tokens):
        return F.cross_entropy(model(tokens)[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())

    def decode(tokens):
        """Beam search of each prompt by itself, without a cache."""
        found = []
        for prompt in tokens[:, :4]:
            beams = [(0.0, prompt)]
            for _ in range(4):
                longer = []
                for score, beam in beams:
                    scores = model(beam[None])[0, -1].log_softmax(-1)
                    longer += [(score + float(s), torch.cat([beam, torch.tensor([t])])) for t, s in enumerate(scores)]
                beams = sorted(longer, key=lambda each: -each[0])[:3]
            found += beams[0][1].tolist()
        return found

    def train():
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, betas=(0.9, 0.95), weight_decay=0.1)

        def step(tokens):
            optimizer.zero_grad()
            value = loss(tokens)
            value.backward()
            optimizer.step()
            return value.detach()

        return step

    return Subject(model, forward=model, loss=loss, train=train, decode=decode)
