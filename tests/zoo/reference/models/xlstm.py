"""xLSTM, as in tests/zoo/models/xlstm.ts."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from zoo import Subject, specimen


class MatrixMemory(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.igate = nn.Linear(dim, heads)
        self.fgate = nn.Linear(dim, heads)
        self.ogate = nn.Linear(dim, dim)
        self.outnorm = nn.GroupNorm(heads, dim)
        nn.init.zeros_(self.fgate.weight)
        self.fgate.bias.data = torch.linspace(3, 6, heads)
        nn.init.normal_(self.igate.weight, 0.0, 0.1)

    def forward(self, x):
        length = x.size(1)
        query, key, value = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        sums = F.logsigmoid(self.fgate(x)).mT.cumsum(-1)
        hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
        logs = (sums[..., :, None] - sums[..., None, :]).masked_fill(hidden, -torch.inf)
        logs = logs + self.igate(x).mT[..., None, :]
        largest = logs.amax(-1, keepdim=True)
        weights = query @ key.mT / math.sqrt(query.size(-1)) * torch.exp(logs - largest)
        size = torch.maximum(weights.sum(-1, keepdim=True).abs(), torch.exp(-largest)) + 1e-6
        found = (weights / size @ value).transpose(1, 2).flatten(2)
        return self.outnorm(found.flatten(0, 1)).view_as(x) * self.ogate(x).sigmoid()


class ScalarMemory(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        size = dim // heads
        self.input = nn.Linear(dim, 4 * dim)
        self.recurrent_kernel = nn.Parameter(torch.randn(heads, size, 4 * size) * 0.2)

    def forward(self, x):
        batch, length, dim = x.shape
        heads = self.recurrent_kernel.size(0)
        gates = self.input(x).view(batch, length, heads, -1)
        hidden = cell = norm = x.new_zeros(batch, heads, dim // heads)
        scale, states = None, []
        for t in range(length):
            mixed = torch.einsum("bhd,hde->bhe", hidden, self.recurrent_kernel)
            enter, forget, new, out = (gates[:, t] + mixed).chunk(4, -1)
            kept = F.logsigmoid(forget) + (0 if scale is None else scale)
            scale = enter if scale is None else torch.maximum(enter, kept)
            cell = torch.exp(kept - scale) * cell + torch.exp(enter - scale) * torch.tanh(new)
            norm = torch.exp(kept - scale) * norm + torch.exp(enter - scale)
            hidden = out.sigmoid() * cell / norm
            states.append(hidden.flatten(1))
        return torch.stack(states, 1)


class Block(nn.Module):
    def __init__(self, dim, xlstm):
        super().__init__()
        self.xlstm = xlstm
        self.xlstm_norm = nn.LayerNorm(dim, bias=False)

    def forward(self, x):
        return x + self.xlstm(self.xlstm_norm(x))


class XLSTM(nn.Module):
    def __init__(self, vocabulary, dim):
        super().__init__()
        self.token_embedding = nn.Embedding(vocabulary, dim)
        kinds = (MatrixMemory, ScalarMemory, MatrixMemory)
        self.blocks = nn.Sequential(*(Block(dim, kind(dim, 2)) for kind in kinds))
        self.post_blocks_norm = nn.LayerNorm(dim, bias=False)
        self.lm_head = nn.Linear(dim, vocabulary, bias=False)

    def forward(self, tokens):
        return self.lm_head(self.post_blocks_norm(self.blocks(self.token_embedding(tokens))))


@specimen("xlstm", lambda: (torch.randint(0, 12, (2, 6)),))
def xlstm():
    model = XLSTM(12, 8)

    def loss(tokens):
        return F.cross_entropy(model(tokens)[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())

    def train():
        named = list(model.named_parameters())
        fixed = {name for name, p in named if p.ndim < 2 or "embedding" in name or "gate" in name}
        groups = [
            {"params": [p for name, p in named if name not in fixed], "weight_decay": 0.1},
            {"params": [p for name, p in named if name in fixed], "weight_decay": 0.0},
        ]
        optimizer = torch.optim.AdamW(groups, lr=0.01, betas=(0.9, 0.95))

        def step(tokens):
            optimizer.zero_grad()
            value = loss(tokens)
            value.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            return value.detach()

        return step

    return Subject(model, forward=model, loss=loss, train=train)
