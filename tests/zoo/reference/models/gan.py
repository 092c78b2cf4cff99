"""DCGAN, as in tests/zoo/models/gan.ts."""

import torch
from torch import nn
from torch.nn import functional as F

from zoo import Subject, specimen


class Generator(nn.Module):
    def __init__(self, noise, width, channels):
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(noise, 2 * width, 4, 1, 0, bias=False),
            nn.BatchNorm2d(2 * width),
            nn.ReLU(True),
            nn.ConvTranspose2d(2 * width, channels, 4, 2, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, x):
        return self.main(x)


class Discriminator(nn.Module):
    def __init__(self, channels, width):
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(channels, width, 4, 2, 1, bias=False),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(width, 2 * width, 3, 1, 1, bias=False),
            nn.BatchNorm2d(2 * width),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(2 * width, 1, 4, 1, 0, bias=False),
            nn.Sigmoid(),
        )

    def forward(self, x):
        return self.main(x).view(-1)


class DCGAN(nn.Module):
    def __init__(self):
        super().__init__()
        self.netG = Generator(4, 3, 2)
        self.netD = Discriminator(2, 3)


@specimen("gan", lambda: (torch.randn(4, 2, 8, 8).tanh(), torch.randn(4, 4, 1, 1)))
def gan():
    model = DCGAN()
    generator, discriminator = model.netG, model.netD

    def judged(images, real):
        found = discriminator(images)
        return F.binary_cross_entropy(found, torch.full_like(found, float(real)))

    def train():
        of_d = torch.optim.Adam(discriminator.parameters(), lr=0.01, betas=(0.5, 0.999))
        of_g = torch.optim.Adam(generator.parameters(), lr=0.01, betas=(0.5, 0.999))

        def step(real, noise):
            discriminator.zero_grad()
            on_real = judged(real, True)
            on_real.backward()
            fake = generator(noise)
            on_fake = judged(fake.detach(), False)
            on_fake.backward()
            of_d.step()
            generator.zero_grad()
            fooled = judged(fake, True)
            fooled.backward()
            of_g.step()
            return torch.stack([(on_real + on_fake).detach(), fooled.detach()])

        return step

    return Subject(
        model,
        forward=lambda real, noise: generator(noise),
        loss=lambda real, noise: judged(real, True) + judged(generator(noise), True),
        train=train,
    )
