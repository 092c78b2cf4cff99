"""Swin Transformer, as in tests/zoo/models/swin.ts."""

import torch
from torch import nn
from torch.nn import functional as F

from zoo import Subject, specimen


def partition(x, size):
    batch, height, width, dim = x.shape
    x = x.view(batch, height // size, size, width // size, size, dim)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, size, size, dim)


def joined(windows, size, height, width):
    x = windows.view(-1, height // size, width // size, size, size, windows.shape[-1])
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, height, width, windows.shape[-1])


class WindowAttention(nn.Module):
    def __init__(self, dim, size, heads):
        super().__init__()
        self.size, self.heads, self.scale = size, heads, (dim / heads) ** -0.5
        span = 2 * size - 1
        self.relative_position_bias_table = nn.Parameter(torch.randn(span * span, heads) * 0.02)
        places = torch.stack(torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")).flatten(1)
        offsets = (places[:, :, None] - places[:, None, :]).permute(1, 2, 0) + size - 1
        index = offsets[..., 0] * span + offsets[..., 1]
        self.register_buffer("relative_position_index", index, persistent=False)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, mask):
        batch, count, dim = x.shape
        q, k, v = self.qkv(x).reshape(batch, count, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = (q * self.scale) @ k.transpose(-2, -1)
        area = self.size * self.size
        bias = self.relative_position_bias_table[self.relative_position_index.view(-1)]
        scores = scores + bias.view(area, area, -1).permute(2, 0, 1).unsqueeze(0)
        if mask is not None:
            windows = mask.shape[0]
            scores = scores.view(-1, windows, self.heads, count, count) + mask[None, :, None]
            scores = scores.view(-1, self.heads, count, count)
        mixed = scores.softmax(-1) @ v
        return self.proj(mixed.transpose(1, 2).reshape(batch, count, dim))


class Block(nn.Module):
    def __init__(self, dim, resolution, size, shift, heads):
        super().__init__()
        self.size, self.shift = size, shift
        self.norm1 = nn.LayerNorm(dim)
        self.attn = WindowAttention(dim, size, heads)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(
            nn.Linear(dim, 2 * dim), nn.GELU(), nn.Dropout(0), nn.Linear(2 * dim, dim), nn.Dropout(0)
        )
        mask = None
        if shift > 0:
            regions, count = torch.zeros(1, resolution, resolution, 1), 0
            cuts = [slice(0, -size), slice(-size, -shift), slice(-shift, None)]
            for rows in cuts:
                for columns in cuts:
                    regions[:, rows, columns, :] = count
                    count += 1
            flat = partition(regions, size).view(-1, size * size)
            differs = flat.unsqueeze(1) != flat.unsqueeze(2)
            mask = torch.where(differs, -100.0, 0.0)
        self.register_buffer("attn_mask", mask, persistent=False)

    def attend(self, x):
        _, height, width, dim = x.shape
        x = torch.roll(x, (-self.shift, -self.shift), (1, 2))
        windows = partition(x, self.size).view(-1, self.size * self.size, dim)
        windows = self.attn(windows, self.attn_mask).view(-1, self.size, self.size, dim)
        return torch.roll(joined(windows, self.size, height, width), (self.shift, self.shift), (1, 2))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class PatchMerging(nn.Module):
    def __init__(self, dim, outputs):
        super().__init__()
        self.norm = nn.LayerNorm(4 * dim)
        self.reduction = nn.Linear(4 * dim, outputs, bias=False)

    def forward(self, x):
        parts = [x[:, 0::2, 0::2], x[:, 1::2, 0::2], x[:, 0::2, 1::2], x[:, 1::2, 1::2]]
        return self.reduction(self.norm(torch.cat(parts, -1)))


class Swin(nn.Module):
    def __init__(self, dim, classes):
        super().__init__()
        self.patch_embed = nn.Conv2d(3, dim, 2, 2)
        self.layers = nn.ModuleList(
            [
                nn.Sequential(Block(dim, 8, 4, 0, 2), Block(dim, 8, 4, 2, 2), PatchMerging(dim, 2 * dim)),
                nn.Sequential(Block(2 * dim, 4, 4, 0, 2)),
            ]
        )
        self.norm = nn.LayerNorm(2 * dim)
        self.head = nn.Linear(2 * dim, classes)

    def forward(self, x):
        x = self.patch_embed(x).permute(0, 2, 3, 1)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x).mean((1, 2)))


def batch():
    return torch.randn(2, 3, 16, 16), torch.tensor([3, 1])


@specimen("swin", batch)
def swin():
    model = Swin(4, 5)

    def train():
        plain, decayed = [], []
        for name, parameter in model.named_parameters():
            flat = any(part in name for part in ("relative_position_bias_table", "bias", "norm"))
            (plain if flat else decayed).append(parameter)
        optimizer = torch.optim.AdamW(
            [{"params": decayed}, {"params": plain, "weight_decay": 0.0}], lr=0.01, weight_decay=0.05
        )

        def step(image, target):
            loss = F.cross_entropy(model(image), target)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5)
            optimizer.step()
            return loss.detach()

        return step

    return Subject(
        model,
        forward=lambda image, target: model(image),
        loss=lambda image, target: F.cross_entropy(model(image), target),
        train=train,
    )
