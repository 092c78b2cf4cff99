"""A Conformer encoder, as in tests/zoo/models/conformer.ts."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from zoo import Subject, specimen


class Attention(nn.Module):
    def __init__(self, heads, dim):
        super().__init__()
        self.heads, self.size = heads, dim // heads
        self.linear_q = nn.Linear(dim, dim)
        self.linear_k = nn.Linear(dim, dim)
        self.linear_v = nn.Linear(dim, dim)
        self.linear_out = nn.Linear(dim, dim)
        self.linear_pos = nn.Linear(dim, dim, bias=False)
        self.pos_bias_u = nn.Parameter(torch.randn(heads, self.size) * 0.5)
        self.pos_bias_v = nn.Parameter(torch.randn(heads, self.size) * 0.5)

    def forward(self, x, positions, mask):
        length = x.size(1)
        q, k, v, p = (
            each.unflatten(-1, (self.heads, self.size))
            for each in (self.linear_q(x), self.linear_k(x), self.linear_v(x), self.linear_pos(positions))
        )
        content = torch.einsum("bihd,bjhd->bhij", q + self.pos_bias_u, k)
        by_distance = torch.einsum("bihd,phd->bhip", q + self.pos_bias_v, p)
        rows = torch.arange(length)[:, None]
        place = length - 1 - rows + torch.arange(length)
        scores = (content + by_distance[:, :, rows, place]) / math.sqrt(self.size)
        hidden = ~mask[:, None, None]
        weights = scores.masked_fill(hidden, -torch.inf).softmax(-1)
        return self.linear_out(torch.einsum("bhij,bjhd->bihd", weights, v).flatten(2))


class Convolution(nn.Module):
    def __init__(self, channels, kernel):
        super().__init__()
        self.pointwise_conv1 = nn.Conv1d(channels, 2 * channels, 1)
        self.depthwise_conv = nn.Conv1d(channels, channels, kernel, padding=kernel // 2, groups=channels)
        self.norm = nn.BatchNorm1d(channels)
        self.pointwise_conv2 = nn.Conv1d(channels, channels, 1)

    def forward(self, x):
        x = F.glu(self.pointwise_conv1(x.mT), dim=1)
        return self.pointwise_conv2(F.silu(self.norm(self.depthwise_conv(x)))).mT


class EncoderLayer(nn.Module):
    def __init__(self, dim):
        super().__init__()

        def feed_forward():
            return nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 12), nn.SiLU(), nn.Linear(12, dim))

        self.feed_forward_macaron = feed_forward()
        self.feed_forward = feed_forward()
        self.self_attn = Attention(2, dim)
        self.conv_module = Convolution(dim, 3)
        self.norm_mha = nn.LayerNorm(dim)
        self.norm_conv = nn.LayerNorm(dim)
        self.norm_final = nn.LayerNorm(dim)

    def forward(self, x, positions, mask):
        x = x + self.feed_forward_macaron(x) / 2
        x = x + self.self_attn(self.norm_mha(x), positions, mask)
        x = x + self.conv_module(self.norm_conv(x))
        return self.norm_final(x + self.feed_forward(x) / 2)


class Conformer(nn.Module):
    def __init__(self, inputs, dim, vocabulary):
        super().__init__()
        self.dim = dim
        self.embed = nn.Linear(inputs, dim)
        self.encoders = nn.ModuleList([EncoderLayer(dim)])
        self.ctc_lo = nn.Linear(dim, vocabulary)

    def forward(self, x, lengths):
        length = x.size(1)
        mask = torch.arange(length) < lengths[:, None]
        x = self.embed(x) * math.sqrt(self.dim)
        distances = torch.arange(length - 1, -length, -1, dtype=x.dtype)[:, None]
        rates = torch.exp(torch.arange(0, self.dim, 2, dtype=x.dtype) * -(math.log(10000) / self.dim))
        waves = torch.stack([torch.sin(distances * rates), torch.cos(distances * rates)], -1).flatten(1)
        for layer in self.encoders:
            x = layer(x, waves, mask)
        return self.ctc_lo(x).log_softmax(-1)


def batch():
    return (
        torch.randn(2, 7, 4),
        torch.tensor([7, 6]),
        torch.tensor([[1, 3, 3], [5, 2, 0]]),
        torch.tensor([3, 2]),
    )


@specimen("conformer", batch)
def conformer():
    model = Conformer(4, 8, 6)

    def loss(speech, lengths, text, text_lengths):
        scores = model(speech, lengths).transpose(0, 1)
        return F.ctc_loss(scores, text, lengths, text_lengths, zero_infinity=True)

    def train():
        optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, betas=(0.9, 0.98), eps=1e-9)

        def step(*batch):
            optimizer.zero_grad()
            value = loss(*batch)
            value.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            return value.detach()

        return step

    return Subject(model, forward=lambda x, lengths, *_: model(x, lengths), loss=loss, train=train)
