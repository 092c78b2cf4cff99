"""A variational autoencoder without its noise, as in tests/zoo/models/vae.ts."""

import torch
from torch import nn
from torch.nn import functional as F

from zoo import Subject, specimen


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 4, 3, stride=2, padding=1), nn.LeakyReLU(0.2), nn.Flatten()
        )
        self.fc21 = nn.Linear(64, 3)
        self.fc22 = nn.Linear(64, 3)
        self.fc3 = nn.Linear(3, 64)
        self.decoder = nn.Sequential(
            nn.Unflatten(1, (4, 4, 4)),
            nn.ELU(),
            nn.ConvTranspose2d(4, 1, 3, stride=2, padding=1, output_padding=1),
            nn.Sigmoid(),
        )

    def forward(self, x):
        hidden = self.encoder(x)
        mean = self.fc21(hidden)
        return self.decoder(self.fc3(mean)), mean, self.fc22(hidden)


@specimen("vae", lambda: (torch.rand(3, 1, 8, 8),))
def vae():
    model = VAE()

    def loss_of(x):
        found, mean, log_variance = model(x)
        divergence = -0.5 * (1 + log_variance - mean.pow(2) - log_variance.exp()).sum()
        return F.binary_cross_entropy(found, x, reduction="sum") + divergence

    def train():
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

        def step(x):
            optimizer.zero_grad()
            loss = loss_of(x)
            loss.backward()
            optimizer.step()
            return loss.detach() / x.shape[0]

        return step

    return Subject(model, forward=lambda x: model(x)[0], loss=loss_of, train=train)
