"""HiFi-GAN, as in tests/zoo/models/vocoder.ts."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.parametrizations import spectral_norm, weight_norm

from zoo import Subject, specimen


def leaky(x):
    return F.leaky_relu(x, 0.1)


class ResBlock(nn.Module):
    def __init__(self, channels, size, dilations):
        super().__init__()

        def conv(dilation):
            same = (size * dilation - dilation) // 2
            return weight_norm(nn.Conv1d(channels, channels, size, padding=same, dilation=dilation))

        self.convs1 = nn.ModuleList([conv(d) for d in dilations])
        self.convs2 = nn.ModuleList([conv(1) for _ in dilations])

    def forward(self, x):
        for first, second in zip(self.convs1, self.convs2):
            x = second(leaky(first(leaky(x)))) + x
        return x


class Generator(nn.Module):
    def __init__(self, mels, channels, kernels):
        super().__init__()
        self.kernels = len(kernels)
        self.conv_pre = weight_norm(nn.Conv1d(mels, channels, 3, padding=1))
        self.ups = nn.ModuleList()
        self.resblocks = nn.ModuleList()
        for _ in range(2):
            channels //= 2
            self.ups.append(weight_norm(nn.ConvTranspose1d(2 * channels, channels, 4, 2, padding=1)))
            self.resblocks.extend(ResBlock(channels, size, (1, 2)) for size in kernels)
        self.conv_post = weight_norm(nn.Conv1d(channels, 1, 3, padding=1))

    def forward(self, x):
        x = self.conv_pre(x)
        for i, up in enumerate(self.ups):
            x = up(leaky(x))
            blocks = self.resblocks[i * self.kernels : (i + 1) * self.kernels]
            x = sum(block(x) for block in blocks) / self.kernels
        return torch.tanh(self.conv_post(F.leaky_relu(x)))


class Discriminator(nn.Module):
    def judge(self, x):
        features = []
        for conv in self.convs:
            x = leaky(conv(x))
            features.append(x)
        x = self.conv_post(x)
        return x.flatten(1), [*features, x]


class OverPeriods(Discriminator):
    def __init__(self, period):
        super().__init__()
        self.period = period

        def conv(inputs, outputs, stride):
            return weight_norm(nn.Conv2d(inputs, outputs, (3, 1), (stride, 1), padding=(1, 0)))

        self.convs = nn.ModuleList([conv(1, 2, 2), conv(2, 3, 1)])
        self.conv_post = conv(3, 1, 1)

    def forward(self, x):
        x = F.pad(x, (0, -x.size(-1) % self.period), "reflect")
        return self.judge(x.unflatten(-1, (-1, self.period)))


class OverScales(Discriminator):
    def __init__(self, norm):
        super().__init__()
        self.convs = nn.ModuleList(
            [norm(nn.Conv1d(1, 4, 5, padding=2)), norm(nn.Conv1d(4, 4, 5, 2, groups=2, padding=2))]
        )
        self.conv_post = norm(nn.Conv1d(4, 1, 3, padding=1))

    def forward(self, x):
        return self.judge(x)


class Discriminators(nn.Module):
    def __init__(self):
        super().__init__()
        self.periods = nn.ModuleList([OverPeriods(2), OverPeriods(3)])
        self.scales = nn.ModuleList([OverScales(spectral_norm), OverScales(weight_norm)])
        self.meanpool = nn.AvgPool1d(4, 2, padding=2)

    def forward(self, y, generated):
        found = [(d(y), d(generated)) for d in self.periods]
        full, half = self.scales
        found.append((full(y), full(generated)))
        found.append((half(self.meanpool(y)), half(self.meanpool(generated))))
        return found


class Vocoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.generator = Generator(4, 8, (3, 5))
        self.discriminators = Discriminators()


@specimen("vocoder", lambda: (torch.randn(2, 4, 5), torch.randn(2, 1, 20).tanh()))
def vocoder():
    model = Vocoder()
    generator, discriminators = model.generator, model.discriminators

    def generator_loss(y, generated):
        total = 45 * F.l1_loss(y, generated)
        for (_, real), (score, fake) in discriminators(y, generated):
            total = total + (1 - score).square().mean()
            total = total + sum(2 * (a - b).abs().mean() for a, b in zip(real, fake))
        return total

    def discriminator_loss(y, generated):
        judged = discriminators(y, generated)
        return sum((1 - real).square().mean() + fake.square().mean() for (real, _), (fake, _) in judged)

    def loss(mel, y):
        generated = generator(mel)
        return generator_loss(y, generated) + discriminator_loss(y, generated)

    def train():
        optimizers = [
            torch.optim.AdamW(each.parameters(), lr=2e-3, betas=(0.8, 0.99)) for each in (generator, discriminators)
        ]
        schedules = [torch.optim.lr_scheduler.ExponentialLR(each, 0.99) for each in optimizers]
        of_g, of_d = optimizers

        def step(mel, y):
            generated = generator(mel)
            discriminators.requires_grad_(True)
            of_d.zero_grad()
            loss_d = discriminator_loss(y, generated.detach())
            loss_d.backward()
            of_d.step()
            discriminators.requires_grad_(False)
            of_g.zero_grad()
            loss_g = generator_loss(y, generated)
            loss_g.backward()
            of_g.step()
            for schedule in schedules:
                schedule.step()
            return torch.stack([loss_d.detach(), loss_g.detach()])

        return step

    return Subject(model, forward=lambda mel, y: generator(mel), loss=loss, train=train)
