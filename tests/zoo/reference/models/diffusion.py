"""A diffusion model, as in tests/zoo/models/diffusion.ts."""

import copy
import math

import torch
from torch import nn
from torch.nn import functional as F

from zoo import Subject, specimen


class TimeEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, t):
        half = self.dim // 2
        rates = torch.exp(torch.arange(half, dtype=t.dtype) * -(math.log(10000) / (half - 1)))
        angles = t[:, None] * rates[None]
        return torch.cat([angles.sin(), angles.cos()], -1)


class Block(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.proj = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.norm = nn.GroupNorm(2, outputs)

    def forward(self, x, scale=None, shift=None):
        x = self.norm(self.proj(x))
        return F.silu(x if scale is None else x * (scale + 1) + shift)


class ResnetBlock(nn.Module):
    def __init__(self, inputs, outputs, time):
        super().__init__()
        self.mlp = nn.Sequential(nn.SiLU(), nn.Linear(time, 2 * outputs))
        self.block1 = Block(inputs, outputs)
        self.block2 = Block(outputs, outputs)
        self.res_conv = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x, time):
        scale, shift = self.mlp(time)[..., None, None].chunk(2, dim=1)
        return self.block2(self.block1(x, scale, shift)) + self.res_conv(x)


class LinearAttention(nn.Module):
    def __init__(self, dim, heads, each):
        super().__init__()
        self.heads, self.each = heads, each
        self.to_qkv = nn.Conv2d(dim, 3 * heads * each, 1, bias=False)
        self.to_out = nn.Sequential(nn.Conv2d(heads * each, dim, 1), nn.GroupNorm(1, dim))

    def forward(self, x):
        batch, _, height, width = x.shape
        parts = self.to_qkv(x).chunk(3, dim=1)
        q, k, v = (part.reshape(batch, self.heads, self.each, -1) for part in parts)
        q, k = q.softmax(-2) * self.each**-0.5, k.softmax(-1)
        mixed = (k @ v.transpose(-1, -2)).transpose(-1, -2) @ q
        return self.to_out(mixed.reshape(batch, -1, height, width))


class Attention(nn.Module):
    def __init__(self, dim, heads, each):
        super().__init__()
        self.heads, self.each = heads, each
        self.to_qkv = nn.Conv2d(dim, 3 * heads * each, 1, bias=False)
        self.to_out = nn.Conv2d(heads * each, dim, 1)

    def forward(self, x):
        batch, _, height, width = x.shape
        parts = self.to_qkv(x).chunk(3, dim=1)
        q, k, v = (part.reshape(batch, self.heads, self.each, -1).transpose(-1, -2) for part in parts)
        mixed = (q @ k.transpose(-1, -2) * self.each**-0.5).softmax(-1) @ v
        return self.to_out(mixed.transpose(-1, -2).reshape(batch, -1, height, width))


class Residual(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, x):
        return self.fn(x) + x


class PreNorm(nn.Module):
    def __init__(self, dim, fn):
        super().__init__()
        self.fn = fn
        self.norm = nn.GroupNorm(1, dim)

    def forward(self, x):
        return self.fn(self.norm(x))


class Unet(nn.Module):
    def __init__(self, dim, channels):
        super().__init__()
        time = 2 * dim
        self.init_conv = nn.Conv2d(channels, dim, 3, padding=1)
        self.time_mlp = nn.Sequential(
            TimeEmbedding(dim), nn.Linear(dim, time), nn.GELU(), nn.Linear(time, time)
        )
        self.down1 = ResnetBlock(dim, dim, time)
        self.attn1 = Residual(PreNorm(dim, LinearAttention(dim, 2, 2)))
        self.downsample = nn.Conv2d(dim, 2 * dim, 4, 2, 1)
        self.mid = ResnetBlock(2 * dim, 2 * dim, time)
        self.mid_attn = Residual(PreNorm(2 * dim, Attention(2 * dim, 2, 2)))
        self.upsample = nn.Sequential(nn.Upsample(scale_factor=2), nn.Conv2d(2 * dim, dim, 3, padding=1))
        self.up1 = ResnetBlock(2 * dim, dim, time)
        self.final_conv = nn.Conv2d(dim, channels, 1)

    def forward(self, x, t):
        x, time = self.init_conv(x), self.time_mlp(t.to(x.dtype))
        skip = self.attn1(self.down1(x, time))
        x = self.mid_attn(self.mid(self.downsample(skip), time))
        return self.final_conv(self.up1(torch.cat([self.upsample(x), skip], dim=1), time))


class Diffusion(nn.Module):
    def __init__(self, model, steps):
        super().__init__()
        self.model = model
        kept = torch.cumprod(1 - torch.linspace(1e-2, 0.3, steps), 0)
        ratio = kept / (1 - kept)
        self.register_buffer("sqrt_alphas_cumprod", kept.sqrt())
        self.register_buffer("sqrt_one_minus_alphas_cumprod", (1 - kept).sqrt())
        self.register_buffer("loss_weight", ratio.clamp(max=5) / ratio)

    def forward(self, image, t, noise):
        at = lambda schedule, *ones: schedule.gather(-1, t).reshape(-1, *ones)
        noisy = at(self.sqrt_alphas_cumprod, 1, 1, 1) * image
        noisy = noisy + at(self.sqrt_one_minus_alphas_cumprod, 1, 1, 1) * noise
        off = F.mse_loss(self.model(noisy, t), noise, reduction="none").flatten(1).mean(1)
        return (off * at(self.loss_weight)).mean()


class Trainer(nn.Module):
    def __init__(self):
        super().__init__()
        self.diffusion = Diffusion(Unet(4, 2), 10)
        self.ema = copy.deepcopy(self.diffusion).requires_grad_(False)


def batch():
    return torch.randn(2, 2, 8, 8).tanh(), torch.tensor([3, 8]), torch.randn(2, 2, 8, 8)


@specimen("diffusion", batch)
def diffusion():
    trainer = Trainer()

    def train():
        optimizer = torch.optim.Adam(trainer.diffusion.parameters(), lr=0.005, betas=(0.9, 0.99))

        def step(image, t, noise):
            loss = trainer.diffusion(image, t, noise)
            loss.backward()
            nn.utils.clip_grad_norm_(trainer.diffusion.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            with torch.no_grad():
                for average, current in zip(trainer.ema.parameters(), trainer.diffusion.parameters()):
                    average.lerp_(current, 1 - 0.9)
            return loss.detach()

        return step

    return Subject(
        trainer,
        forward=lambda image, t, noise: trainer.ema.model(image, t),
        loss=lambda image, t, noise: trainer.diffusion(image, t, noise),
        train=train,
    )
