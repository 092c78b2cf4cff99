"""Vision Transformer, as in tests/zoo/models/vit.ts."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from zoo import Subject, specimen


class PatchEmbed(nn.Module):
    def __init__(self, image, patch, channels, dim):
        super().__init__()
        self.count = (image // patch) ** 2
        self.proj = nn.Conv2d(channels, dim, patch, stride=patch)

    def forward(self, x):
        return self.proj(x).flatten(2).transpose(1, 2)


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        batch, count, dim = x.shape
        parts = self.qkv(x).reshape(batch, count, 3, self.heads, dim // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4).unbind(0)
        weights = (q * (dim // self.heads) ** -0.5 @ k.transpose(-2, -1)).softmax(-1)
        return self.proj((weights @ v).transpose(1, 2).reshape(batch, count, dim))


class Mlp(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.fc1 = nn.Linear(dim, hidden)
        self.fc2 = nn.Linear(hidden, dim)

    def forward(self, x):
        return self.fc2(F.gelu(self.fc1(x)))


class LayerScale(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gamma = nn.Parameter(torch.full((dim,), 0.5))

    def forward(self, x):
        return x * self.gamma


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim, eps=1e-6)
        self.attn = Attention(dim, heads)
        self.ls1 = LayerScale(dim)
        self.norm2 = nn.LayerNorm(dim, eps=1e-6)
        self.mlp = Mlp(dim, 2 * dim)
        self.ls2 = LayerScale(dim)

    def forward(self, x):
        x = x + self.ls1(self.attn(self.norm1(x)))
        return x + self.ls2(self.mlp(self.norm2(x)))


class VisionTransformer(nn.Module):
    def __init__(self, dim, depth, heads, classes):
        super().__init__()
        self.patch_embed = PatchEmbed(8, 4, 3, dim)
        self.cls_token = nn.Parameter(torch.randn(1, 1, dim) * 0.02)
        self.pos_embed = nn.Parameter(torch.randn(1, self.patch_embed.count + 1, dim) * 0.02)
        self.blocks = nn.Sequential(*[Block(dim, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        x = self.patch_embed(x)
        x = torch.cat([self.cls_token.expand(x.shape[0], -1, -1), x], dim=1) + self.pos_embed
        return self.head(self.norm(self.blocks(x))[:, 0])


def batch():
    return torch.randn(4, 3, 8, 8), torch.tensor([4, 2, 0, 1])


@specimen("vit", batch)
def vit():
    model = VisionTransformer(8, 2, 2, 5)

    def rate(epoch):
        return (epoch + 1) / 3 if epoch < 3 else 0.5 * (1 + math.cos(math.pi * (epoch - 3) / 8))

    def train():
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.02, betas=(0.9, 0.95), weight_decay=0.1)
        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)

        def step(image, target):
            loss = F.cross_entropy(model(image), target)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
            optimizer.zero_grad()
            scheduler.step()
            return loss.detach()

        return step

    return Subject(
        model,
        forward=lambda image, target: model(image),
        loss=lambda image, target: F.cross_entropy(model(image), target),
        train=train,
    )
