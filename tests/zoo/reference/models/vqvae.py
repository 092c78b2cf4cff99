"""A vector-quantised autoencoder, as in tests/zoo/models/vqvae.ts."""

import torch
from torch import nn
from torch.nn import functional as F

from zoo import Subject, specimen


class Quantize(nn.Module):
    def __init__(self, dim, count, decay=0.9, eps=1e-5):
        super().__init__()
        self.dim, self.count, self.decay, self.eps = dim, count, decay, eps
        embed = torch.randn(dim, count)
        self.register_buffer("embed", embed)
        self.register_buffer("cluster_size", torch.zeros(count))
        self.register_buffer("embed_avg", embed.clone())

    def forward(self, x):
        flat = x.reshape(-1, self.dim)
        distances = flat.pow(2).sum(1, keepdim=True) - 2 * flat @ self.embed + self.embed.pow(2).sum(0)
        nearest = distances.argmin(1)
        quantized = self.embed.mT[nearest].view(x.shape)
        if self.training:
            with torch.no_grad():
                onehot = F.one_hot(nearest, self.count).to(flat.dtype)
                self.cluster_size.lerp_(onehot.sum(0), 1 - self.decay)
                self.embed_avg.lerp_(flat.mT @ onehot, 1 - self.decay)
                total = self.cluster_size.sum()
                sizes = (self.cluster_size + self.eps) / (total + self.count * self.eps) * total
                self.embed.copy_(self.embed_avg / sizes)
        return x + (quantized - x).detach(), (quantized - x).pow(2).mean()


class ResBlock(nn.Module):
    def __init__(self, channels, hidden):
        super().__init__()
        self.conv = nn.Sequential(
            nn.ReLU(), nn.Conv2d(channels, hidden, 3, padding=1), nn.ReLU(), nn.Conv2d(hidden, channels, 1)
        )

    def forward(self, x):
        return x + self.conv(x)


class VQVAE(nn.Module):
    def __init__(self, channels, dim):
        super().__init__()
        self.enc = nn.Sequential(
            nn.Conv2d(1, channels, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1),
            ResBlock(channels, 3),
            nn.ReLU(),
            nn.Conv2d(channels, dim, 1),
        )
        self.quantize = Quantize(dim, 6)
        self.dec = nn.Sequential(
            nn.Conv2d(dim, channels, 3, padding=1),
            ResBlock(channels, 3),
            nn.ReLU(),
            nn.ConvTranspose2d(channels, 1, 4, stride=2, padding=1),
        )

    def forward(self, x):
        quantized, difference = self.quantize(self.enc(x).permute(0, 2, 3, 1))
        return self.dec(quantized.permute(0, 3, 1, 2)), difference


@specimen("vqvae", lambda: (torch.randn(2, 1, 8, 8),))
def vqvae():
    model = VQVAE(6, 4)

    def loss(image):
        out, difference = model(image)
        return F.mse_loss(out, image) + 0.25 * difference

    def train():
        optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

        def step(image):
            optimizer.zero_grad()
            value = loss(image)
            value.backward()
            optimizer.step()
            return value.detach()

        return step

    return Subject(model, forward=lambda image: model(image)[0], loss=loss, train=train)
