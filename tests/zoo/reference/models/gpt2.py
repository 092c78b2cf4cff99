"""GPT-2, as in tests/zoo/models/gpt2.ts."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from zoo import Subject, specimen

VOCABULARY, POSITIONS, HIDDEN, HEADS = 24, 16, 8, 2


class Conv1D(nn.Module):
    def __init__(self, outputs, inputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) * 0.2)
        self.bias = nn.Parameter(torch.randn(outputs) * 0.02)

    def forward(self, x):
        return x @ self.weight + self.bias


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_attn = Conv1D(3 * HIDDEN, HIDDEN)
        self.c_proj = Conv1D(HIDDEN, HIDDEN)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = (
            part.view(batch, length, HEADS, -1).transpose(1, 2) for part in self.c_attn(x).split(HIDDEN, 2)
        )
        scores = q @ k.transpose(-1, -2) / math.sqrt(HIDDEN // HEADS)
        seen = torch.ones(length, length, dtype=torch.bool).tril()
        weights = scores.masked_fill(~seen, -3.4e38).softmax(-1)
        return self.c_proj((weights @ v).transpose(1, 2).reshape(x.shape))


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_fc = Conv1D(4 * HIDDEN, HIDDEN)
        self.c_proj = Conv1D(HIDDEN, 4 * HIDDEN)

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x), approximate="tanh"))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1 = nn.LayerNorm(HIDDEN)
        self.attn = Attention()
        self.ln_2 = nn.LayerNorm(HIDDEN)
        self.mlp = MLP()

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(VOCABULARY, HIDDEN)
        self.wpe = nn.Embedding(POSITIONS, HIDDEN)
        self.h = nn.ModuleList([Block(), Block()])
        self.ln_f = nn.LayerNorm(HIDDEN)

    def forward(self, ids):
        x = self.wte(ids) + self.wpe(torch.arange(ids.shape[1]))
        for block in self.h:
            x = block(x)
        return self.ln_f(x)


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.transformer = Transformer()
        self.lm_head = nn.Linear(HIDDEN, VOCABULARY, bias=False)
        self.lm_head.weight = self.transformer.wte.weight

    def forward(self, ids):
        return self.lm_head(self.transformer(ids))


@specimen("gpt2", lambda: (torch.randint(0, VOCABULARY, (4, 9)),))
def gpt2():
    model = LanguageModel()

    def loss_of(ids):
        return F.cross_entropy(model(ids)[:, :-1].reshape(-1, VOCABULARY), ids[:, 1:].reshape(-1))

    def train():
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, betas=(0.9, 0.95), weight_decay=0.1)

        def step(ids):
            total = 0
            optimizer.zero_grad(set_to_none=True)
            for micro in ids.chunk(2):
                loss = loss_of(micro) / 2
                loss.backward()
                total = total + loss.detach()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            return total

        return step

    def decode(ids):
        ids = ids[:1, :4]
        for _ in range(10):
            ids = torch.cat([ids, model(ids)[:, -1:].argmax(-1)], dim=1)
        return ids[0, 4:].tolist()

    return Subject(model, forward=model, loss=loss_of, train=train, decode=decode)
